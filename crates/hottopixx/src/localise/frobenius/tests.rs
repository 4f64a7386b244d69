//! Recovery and optimality of the Frobenius form.

use super::*;
use crate::localise::instances::{Instance, as_sparse, midpoints, paper};

fn solve(instance: &Instance, settings: &FrobeniusSettings) -> Localisation {
    let allowed = vec![true; instance.x.features()];
    let rank = instance.topics.len();
    frobenius(&instance.x, rank, &allowed, settings, &Control::default()).unwrap()
}

#[test]
fn recovers_where_greedy_methods_fail() {
    let instance = midpoints(100, 5, 0.6, 2);
    let localisation = solve(&instance, &FrobeniusSettings::default());
    assert!(instance.pools_lead(&localisation.diagonal), "{:?}", localisation.diagonal);
    assert!((localisation.diagonal.iter().sum::<f64>() - 5.0).abs() < 1e-9);
    let all = vec![true; instance.x.features()];
    assert!(!instance.recovered(&crate::localise::spa(&instance.x, 5, &all)));
}

#[test]
fn duplicates_share_the_weight() {
    let instance = paper((40, 200, 4, 2), 0.95, 4);
    let localisation = solve(&instance, &FrobeniusSettings::default());
    assert!(instance.pools_lead(&localisation.diagonal), "{:?}", localisation.diagonal);
    let sparse = Instance { x: as_sparse(&instance.x), topics: instance.topics.clone() };
    let again = solve(&sparse, &FrobeniusSettings::default());
    let gap = localisation.diagonal.iter().zip(&again.diagonal).map(|(a, b)| (a - b).abs());
    assert!(gap.fold(0.0, f64::max) < 1e-6);
}

#[test]
fn only_candidates_get_weight() {
    let instance = paper((30, 100, 3, 1), 0.5, 8);
    let mut allowed = vec![true; 30];
    instance.topics.iter().for_each(|t| allowed[t[0]] = false);
    let settings = FrobeniusSettings::default();
    let control = Control::default();
    let end = frobenius(&instance.x, 3, &allowed, &settings, &control).unwrap();
    assert!((0..30).all(|i| allowed[i] || end.diagonal[i] == 0.0));
    let second: Vec<usize> = instance.topics.iter().map(|t| t[1]).collect();
    let smallest = second.iter().map(|&i| end.diagonal[i]).fold(1.0, f64::min);
    let others = (0..30).filter(|i| !second.contains(i)).map(|i| end.diagonal[i]);
    assert!(smallest > others.fold(0.0, f64::max));
}

/// At the optimum a projected gradient step stays where it is, and no feasible point is better.
#[test]
fn is_optimal() {
    for trace in [true, false] {
        let instance = paper((20, 60, 3, 0), 4.0, 6);
        let settings = FrobeniusSettings {
            tolerance: 1e-12,
            iterations: 20_000,
            trace,
            mu: 0.05,
            ..Default::default()
        };
        let candidates: Vec<usize> = (0..20).collect();
        let free = Control::default();
        let program =
            Program::new(&instance.x, &candidates, trace.then_some(3.0), &settings, &free).unwrap();
        let end = program.descend(&settings, &free);
        assert!(end.converged);
        let (mut gradient, mut moved) = (vec![0.0; 400], end.c.clone());
        program.gradient(&end.c, &mut gradient, &free).unwrap();
        axpy(-1.0 / program.lipschitz(), &gradient, &mut moved);
        program.project(&mut moved, &mut 0.0);
        let gap = moved.iter().zip(&end.c).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(gap < 1e-9, "{gap}");
        // The objective is the one of the definition.
        let mut squares = 0.0;
        for i in 0..20 {
            let mut rest = instance.x.dense_row(i);
            (0..20).for_each(|j| instance.x.row(j).add_to(-end.c[i * 20 + j], &mut rest));
            squares += dot(&rest, &rest);
        }
        let mean = program.energy / 20.0;
        let cost = 0.05 * mean * program.diagonal(&end.c).iter().sum::<f64>();
        assert!((program.objective(&end.c) - (0.5 * squares + cost)).abs() < 1e-12);
    }
}

#[test]
fn refuses_bad_settings_and_stops_when_told() {
    let instance = paper((20, 40, 3, 0), 0.5, 1);
    let all = [true; 20];
    let run = |rank, settings: FrobeniusSettings, control: Control| {
        frobenius(&instance.x, rank, &all, &settings, &control)
    };
    let default = FrobeniusSettings::default;
    assert!(matches!(run(21, default(), Control::default()), Err(Error::Rank { .. })));
    let negative = FrobeniusSettings { mu: -1.0, ..default() };
    assert!(matches!(run(3, negative, Control::default()), Err(Error::Setting { .. })));
    let short = FrobeniusSettings { cost: Some(vec![1.0]), ..default() };
    assert!(matches!(run(3, short, Control::default()), Err(Error::Length { .. })));
    let now = Control::default().with_deadline(std::time::Instant::now());
    let end = run(3, default(), now).unwrap();
    assert_eq!((end.stop, end.iterations, end.converged), (Stop::TimeLimit, 0, false));
}
