//! Recovery, determinism and stopping of Algorithm 4.

use super::*;
use crate::localise::instances::{Instance, as_sparse, paper};
use crate::localise::spa_weighted;
use crate::synth::{Family, Recipe};

fn solve(instance: &Instance, settings: &HottopixxSettings) -> Localisation {
    let allowed = vec![true; instance.x.features()];
    let rank = instance.topics.len();
    hottopixx(&instance.x, rank, &allowed, settings, &Control::default()).unwrap()
}

#[test]
fn recovers_the_papers_instances() {
    for (shape, seed) in [((40, 200, 3, 0), 1), ((40, 200, 5, 1), 2), ((40, 200, 4, 2), 3)] {
        let instance = paper(shape, 0.95, seed);
        let end = solve(&instance, &HottopixxSettings::default());
        assert_eq!((end.iterations, end.converged, end.stop), (50, true, Stop::Finished));
        assert!(instance.pools_lead(&end.diagonal), "{shape:?} {:?}", end.diagonal);
        let greedy = spa_weighted(&instance.x, &end.diagonal, shape.2, &[true; 40]);
        assert!(instance.recovered(&greedy), "{shape:?} {greedy:?}");
        // The trace is a soft constraint, and nearly met.
        let trace: f64 = end.diagonal.iter().sum();
        assert!((trace - shape.2 as f64).abs() < 0.15 * shape.2 as f64, "{trace}");
    }
}

#[test]
fn sparse_and_dense_agree_on_the_hott_rows() {
    let dense = paper((30, 120, 4, 1), 0.95, 5);
    let sparse = Instance { x: as_sparse(&dense.x), topics: dense.topics.clone() };
    let settings = HottopixxSettings::default();
    let ends = [solve(&dense, &settings), solve(&sparse, &settings)];
    assert!(dense.pools_lead(&ends[0].diagonal));
    assert!(dense.pools_lead(&ends[1].diagonal));
    let ratio = ends[0].objective / ends[1].objective;
    assert!((0.9..1.1).contains(&ratio), "{} {}", ends[0].objective, ends[1].objective);
}

/// A separable sparse matrix: each topic has documents of its own, mixtures have those of two.
#[test]
fn recovers_topics_of_sparse_data() {
    let topic =
        |t: usize| (0..60).map(move |k| if k / 15 == t { 1.0 + (k % 7) as f64 } else { 0.0 });
    let mut rows: Vec<Vec<f64>> = (0..4).map(|t| topic(t).collect()).collect();
    for i in 0..16 {
        let (s, t) = (i % 4, (i + 1 + i / 4) % 4);
        let share = if s == t { 0.5 } else { 0.25 + 0.03 * i as f64 };
        let other = topic((t + usize::from(s == t)) % 4);
        rows.push(topic(s).zip(other).map(|(a, b)| share * a + (1.0 - share) * b).collect());
    }
    let x = as_sparse(&crate::localise::instances::unit_rows(&rows));
    let instance = Instance { x, topics: (0..4).map(|t| vec![t]).collect() };
    let end = solve(&instance, &HottopixxSettings::default());
    assert!(instance.pools_lead(&end.diagonal), "{:?}", end.diagonal);
}

fn documents(rank: usize, seed: u64) -> Instance {
    let recipe = Recipe::new(Family::Documents, rank).size(1500, 2500).tokens(40).seed(seed);
    let made = recipe.generate().unwrap();
    let x = UnitRows::new(&made.matrix).unwrap();
    let topics = made.truth.hott.iter().map(|&h| vec![x.unit_row(h).unwrap()]).collect();
    Instance { x, topics }
}

/// The columns are screened, and the anchors lead.
#[test]
fn finds_the_anchors_of_documents() {
    let instance = documents(12, 3);
    let all = instance.x.features();
    let solve = |epochs, columns| {
        solve(&instance, &HottopixxSettings { epochs, columns, ..Default::default() })
    };
    for (columns, kept) in [(None, 200), (Some(100), 100)] {
        let end = solve(25, columns);
        assert_eq!(end.screened, Some((kept, all)));
        assert!(end.diagonal.iter().filter(|d| **d > 0.0).count() <= kept);
        assert!(instance.pools_lead(&end.diagonal), "{columns:?}");
        let trace: f64 = end.diagonal.iter().sum();
        assert!((trace - 12.0).abs() < 1e-3, "{trace}");
    }
    // Nothing is left out without need, and there are columns for all hott rows.
    assert_eq!(solve(1, Some(all)).screened, None);
    assert_eq!(solve(1, Some(1)).screened, Some((12, all)));
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    let dense = paper((200, 150, 4, 0), 0.95, 6);
    let sparse = Instance { x: as_sparse(&dense.x), topics: dense.topics.clone() };
    let settings = HottopixxSettings { epochs: 5, ..Default::default() };
    for instance in [dense, sparse, documents(5, 1)] {
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| solve(&instance, &settings))
        };
        let (one, two) = (with(1), with(2));
        assert!(one.diagonal.iter().zip(&two.diagonal).all(|(a, b)| a.to_bits() == b.to_bits()));
        assert_eq!(one.objective.to_bits(), two.objective.to_bits());
        let other_seed = solve(&instance, &HottopixxSettings { seed: 1, ..settings.clone() });
        assert_ne!(one.diagonal, other_seed.diagonal);
    }
}

#[test]
fn only_candidates_get_weight_and_the_cost_decides_between_duplicates() {
    let dense = paper((24, 80, 3, 1), 0.0, 7);
    let sparse = Instance { x: as_sparse(&dense.x), topics: dense.topics.clone() };
    let mut allowed = vec![true; 24];
    allowed[dense.topics[0][0]] = false;
    let mut cost = vec![0.02; 24];
    dense.topics.iter().for_each(|t| cost[t[1]] = 0.0);
    let settings = HottopixxSettings { cost: Some(cost), ..Default::default() };
    for instance in [dense, sparse] {
        let end = hottopixx(&instance.x, 3, &allowed, &settings, &Control::default()).unwrap();
        assert_eq!(end.diagonal[instance.topics[0][0]], 0.0);
        for topic in &instance.topics {
            assert!(end.diagonal[topic[1]] > end.diagonal[topic[0]], "{:?}", end.diagonal);
        }
    }
}

#[test]
fn refuses_bad_settings_and_stops_when_told() {
    let instance = paper((20, 40, 3, 0), 0.5, 1);
    let all = [true; 20];
    let run = |rank, settings: HottopixxSettings, control: Control| {
        hottopixx(&instance.x, rank, &all, &settings, &control)
    };
    let default = HottopixxSettings::default;
    assert!(matches!(run(0, default(), Control::default()), Err(Error::Rank { .. })));
    let none = HottopixxSettings { epochs: 0, ..default() };
    assert!(matches!(run(3, none, Control::default()), Err(Error::Setting { .. })));
    let step = HottopixxSettings { primal_step: f64::NAN, ..default() };
    assert!(matches!(run(3, step, Control::default()), Err(Error::Setting { .. })));
    let short = HottopixxSettings { cost: Some(vec![1.0]), ..default() };
    assert!(matches!(run(3, short, Control::default()), Err(Error::Length { .. })));
    let now = Control::default().with_deadline(std::time::Instant::now());
    let end = run(3, default(), now).unwrap();
    assert_eq!((end.stop, end.iterations, end.converged), (Stop::TimeLimit, 0, false));
}
