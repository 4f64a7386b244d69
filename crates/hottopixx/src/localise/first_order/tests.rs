use super::*;
use crate::Goal;
use crate::localise::instances::{as_sparse, paper};
use crate::localise::lp::{LpSettings, lp};

/// Duplicates share their weight in many ways, which takes the method long to settle.
const GAP: f64 = 0.02;

fn settings(weights: Weights) -> FirstOrderSettings {
    FirstOrderSettings { weights, gap: GAP, steps: 4000, work: f64::INFINITY, at_hand: None }
}

#[test]
fn meets_the_cutting_planes_on_the_papers_program() {
    let control = Control::default();
    for (seed, noise) in [(1, 0.5), (2, 3.0)] {
        let instance = paper((30, 60, 4, 1), noise, seed);
        let allowed: Vec<bool> = (0..instance.x.features()).map(|i| i % 7 != 3).collect();
        let exact = lp(&instance.x, 4, &allowed, &LpSettings::new(Goal::Total), &control).unwrap();
        for x in [instance.x.clone(), as_sparse(&instance.x)] {
            let found = first_order(&x, 4, &allowed, &settings(Weights::UpToDiagonal), &control);
            let found = found.unwrap().unwrap();
            assert!(found.steps < 4000, "the gap was reached");
            let (low, high) = (found.lower_bound, found.objective);
            assert!(high - low <= GAP * high, "{low} {high}");
            // Single precision.
            assert!(low <= exact.objective * (1.0 + 1e-4), "{low} {}", exact.objective);
            assert!(high >= exact.lower_bound * (1.0 - 1e-4), "{high} {}", exact.lower_bound);
            assert!((found.diagonal.iter().sum::<f64>() - 4.0).abs() < 1e-9);
            assert!((0..allowed.len()).all(|i| allowed[i] || found.diagonal[i] == 0.0));
        }
    }
}

#[test]
fn a_stop_gives_the_best_so_far_or_nothing() {
    let instance = paper((30, 60, 4, 1), 3.0, 2);
    let allowed = vec![true; instance.x.features()];
    let late = Control::default().with_deadline(std::time::Instant::now());
    let found = first_order(&instance.x, 4, &allowed, &settings(Weights::Free), &late).unwrap();
    assert!(found.is_none_or(|found| found.lower_bound == f64::NEG_INFINITY));
    assert!(late.cut_short().is_some());
}
