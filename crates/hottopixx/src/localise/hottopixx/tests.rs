//! Recovery, determinism and stopping of Algorithm 4.

use super::*;
use crate::localise::instances::{Instance, as_sparse, paper};
use crate::localise::spa_weighted;

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
    assert!((0.7..1.4).contains(&ratio), "{} {}", ends[0].objective, ends[1].objective);
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

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    let dense = paper((200, 150, 4, 0), 0.95, 6);
    let sparse = Instance { x: as_sparse(&dense.x), topics: dense.topics.clone() };
    let settings = HottopixxSettings { epochs: 5, ..Default::default() };
    for instance in [dense, sparse] {
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

#[test]
fn rates_count_the_flops_of_the_products() {
    let x = paper((20, 40, 3, 0), 0.5, 1).x;
    let mut allowed = [true; 20];
    allowed[4] = false;
    let settings = HottopixxSettings { epochs: 3, ..Default::default() };
    let rates = dense_rates(&x, 3, &allowed, &settings, &Control::default()).unwrap();
    assert_eq!((rates.rows, rates.candidates, rates.seconds.len()), (20, 19, 3));
    assert_eq!(rates.flops, (4 * 20 * 19 * 40) as f64);
    assert_eq!(rates.bytes, dense_memory(20, 40, 19, None));
    assert!(rates.panel > 0 && rates.seconds.iter().all(|s| *s >= 0.0));
    assert!(dense_rates(&x, 0, &allowed, &settings, &Control::default()).is_err());
}

/// What a jumbo takes: X in single precision and little else, or a window of it.
#[test]
fn the_memory_of_the_dense_method_is_known_beforehand() {
    let (f, n, m) = (1600, 64_000, 1600);
    let single = 4 * f as u64 * n as u64;
    let all = dense_memory(f, n, m, None);
    assert!(all > single && all < single + 50_000_000, "{all}");
    let part = dense_memory(f, n, m, Some(100_000_000));
    assert!(part > 50_000_000 && part < 130_000_000, "{part}");
}
