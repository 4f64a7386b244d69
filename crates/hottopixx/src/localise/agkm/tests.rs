//! Recovery where the theorem promises it, and the hull distances against the plain ones.

use super::*;
use crate::l1;
use crate::localise::instances::{as_sparse, paper, unit_rows};
use crate::synth::{self, Family, Recipe};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

fn run(x: &UnitRows, epsilon: f64, alpha: f64) -> Agkm {
    let allowed = vec![true; x.features()];
    agkm(x, &allowed, &AgkmSettings { epsilon, alpha }, &Control::default()).unwrap()
}

/// An instance of section 5, with what Algorithm 1 needs to know about it.
fn section_five(duplicates: usize, eta: f64, seed: u64) -> (UnitRows, synth::Truth, f64, f64) {
    let recipe = Recipe::new(Family::Paper, 4).size(30, 80);
    let instance = recipe.duplicates(duplicates).noise(eta).seed(seed).generate().unwrap();
    let (epsilon, alpha) = (instance.truth.epsilon.unwrap(), instance.truth.alpha.unwrap());
    (UnitRows::new(&instance.matrix).unwrap(), instance.truth, epsilon, alpha)
}

/// Every cluster holds all copies of one topic, and every topic has one.
fn assert_recovers(found: &Agkm, truth: &synth::Truth) {
    assert_eq!((found.stop, found.clusters.len()), (Stop::Finished, truth.groups.len()));
    assert_eq!(truth.recall(&found.rows), 1.0, "{:?} {:?}", found.rows, truth.groups);
    for (row, cluster) in found.rows.iter().zip(&found.clusters) {
        let topic = truth.groups.iter().find(|group| group.contains(row)).unwrap();
        assert!(topic.iter().all(|copy| cluster.contains(copy)), "{topic:?} {cluster:?}");
    }
    assert!(found.distances.iter().all(|d| (0.0..=2.0).contains(d)));
    assert!(found.rows.is_sorted_by(|a, b| found.distances[*a] >= found.distances[*b]));
    assert!(found.gap < 1e-9, "{}", found.gap);
}

#[test]
fn recovers_what_the_theorem_promises() {
    for (duplicates, eta, seed) in [(0, 0.25, 1), (1, 0.25, 2), (2, 0.95, 3), (0, 0.95, 4)] {
        let (x, truth, epsilon, alpha) = section_five(duplicates, eta, seed);
        let found = run(&x, epsilon, alpha);
        assert!(found.hypothesis);
        assert_recovers(&found, &truth);
        let sparse = run(&as_sparse(&x), epsilon, alpha);
        assert_eq!(sparse.clusters, found.clusters);
    }
}

#[test]
fn without_noise_duplicates_are_one_topic_and_mixtures_none() {
    let hott = [[6.0, 1.0, 0.0, 1.0], [0.0, 5.0, 1.0, 2.0], [1.0, 0.0, 3.0, 4.0]];
    let mix = |c: [f64; 3]| (0..4).map(|k| (0..3).map(|t| c[t] * hott[t][k]).sum()).collect();
    // A factor of a third makes duplicates that differ by rounding.
    let parts = [[0.2, 0.5, 0.3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0 / 3.0, 0.0]];
    let more = [[0.9, 0.0, 0.1], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.6, 0.4]];
    let rows: Vec<Vec<f64>> = parts.into_iter().chain(more).map(mix).collect();
    for x in [unit_rows(&rows), as_sparse(&unit_rows(&rows))] {
        let found = run(&x, 0.0, 0.5);
        let mut clusters = found.clusters.clone();
        clusters.sort();
        assert_eq!(clusters, [vec![1, 6], vec![2, 3], vec![5]]);
        assert!([0, 4, 7].iter().all(|&i| found.distances[i] < ROUNDING), "{:?}", found.distances);
        assert!(found.hypothesis);
    }
}

#[test]
fn distances_are_those_from_the_hull_of_the_others() {
    // Far more noise than the theorem allows, but the settings keep every other row in N_k.
    let x = paper((12, 7, 4, 0), 8.0, 5).x;
    let Matrix::Dense(points) = &x.to_matrix() else { panic!("dense") };
    for found in [run(&x, 0.0, 1.0), run(&as_sparse(&x), 1e-9, 1.0)] {
        for (i, distance) in found.distances.iter().enumerate() {
            let expected = l1::hull_distance(points, i);
            assert!((distance - expected).abs() < 1e-12, "row {i}: {distance} {expected}");
        }
    }
}

#[test]
fn permuted_rows_and_threads_do_not_matter() {
    let (x, _, epsilon, alpha) = section_five(1, 2.0, 6);
    let found = run(&x, epsilon, alpha);
    assert!(!found.hypothesis);
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(|| run(&x, epsilon, alpha)), found, "{threads} threads");
    }
    let order: Vec<usize> = (0..30).map(|i| (7 * i + 3) % 30).collect();
    let rows: Vec<Vec<f64>> = order.iter().map(|&i| x.dense_row(i)).collect();
    let permuted = run(&unit_rows(&rows), epsilon, alpha);
    let back = |rows: &[usize]| rows.iter().map(|&i| order[i]).collect::<Vec<usize>>();
    assert_eq!(back(&permuted.rows), found.rows);
    for (cluster, expected) in permuted.clusters.iter().zip(&found.clusters) {
        let mut cluster = back(cluster);
        cluster.sort_unstable();
        assert_eq!(cluster, *expected);
    }
}

#[test]
fn candidates_explain_each_other() {
    let (x, truth, epsilon, alpha) = section_five(2, 0.5, 7);
    let mut allowed = vec![true; 30];
    truth.groups.iter().for_each(|group| allowed[group[0]] = false);
    let settings = AgkmSettings { epsilon, alpha };
    let found = agkm(&x, &allowed, &settings, &Control::default()).unwrap();
    assert_eq!((found.rows.len(), truth.recall(&found.rows)), (4, 1.0));
    assert!(found.clusters.concat().iter().all(|&i| allowed[i]));
    assert!((0..30).all(|i| allowed[i] || found.distances[i] == 0.0));

    // Without its topic a mixture of it can no longer be explained.
    let x = unit_rows(&[vec![1.0, 0.0], vec![0.0, 1.0], vec![1.0, 1.0]]);
    let settings = AgkmSettings { epsilon: 0.0, alpha: 2.0 };
    let found = agkm(&x, &[false, true, true], &settings, &Control::default()).unwrap();
    assert_eq!((found.rows, found.distances), (vec![1, 2], vec![0.0, 1.0, 1.0]));
    let none = agkm(&x, &[false; 3], &settings, &Control::default()).unwrap();
    assert_eq!((none.rows.len(), none.stop), (0, Stop::Finished));
}

#[test]
fn no_row_far_away_makes_one_cluster() {
    let (x, _, _, alpha) = section_five(0, 0.5, 8);
    for epsilon in [0.5, 5.0, 1e300] {
        let found = run(&x, epsilon, alpha);
        assert_eq!((found.rows, found.clusters), (vec![0], vec![(0..30).collect()]));
        assert!(found.distances.iter().all(|d| *d == 2.0) && !found.hypothesis);
    }
    let single = run(&unit_rows(&[vec![1.0, 2.0]]), 0.0, 2.0);
    assert_eq!((single.rows, single.distances), (vec![0], vec![2.0]));
}

/// A chain of rows, each close to the next: one cluster, though its ends are far apart.
#[test]
fn clusters_are_connected_components() {
    let x = unit_rows(&[vec![6.0, 4.0], vec![2.0, 8.0], vec![4.0, 6.0], vec![0.0, 10.0]]);
    let components =
        |rows: &[usize]| super::components(&x, rows.to_vec(), 0.41, &Control::default()).unwrap();
    assert_eq!(components(&[0, 1, 2]), [[0, 1, 2]]);
    assert_eq!(components(&[0, 1, 3]), [vec![1, 3], vec![0]]);
    let (rows, clusters) =
        representatives(vec![vec![1, 3], vec![0], vec![2]], &[0.5, 0.9, 0.5, 0.9]);
    assert_eq!((rows, clusters), (vec![1, 0, 2], vec![vec![1, 3], vec![0], vec![2]]));
}

#[test]
fn impossible_settings_are_refused() {
    let x = unit_rows(&[vec![1.0, 0.0], vec![0.0, 1.0]]);
    let name = |epsilon, alpha| {
        let settings = AgkmSettings { epsilon, alpha };
        match agkm(&x, &[true; 2], &settings, &Control::default()) {
            Err(Error::Setting { name, .. }) => name,
            other => panic!("{other:?}"),
        }
    };
    for epsilon in [-1e-3, f64::NAN, f64::INFINITY] {
        assert_eq!(name(epsilon, 1.0), "epsilon");
    }
    for alpha in [0.0, -1.0, 2.1, f64::NAN, f64::INFINITY] {
        assert_eq!(name(0.1, alpha), "alpha");
    }
    let settings = AgkmSettings { epsilon: 0.0, alpha: 2.0 };
    let error = agkm(&x, &[true; 3], &settings, &Control::default()).unwrap_err();
    assert!(matches!(error, Error::Length { name: "allowed", found: 3, expected: 2, .. }));
}

#[test]
fn stops_when_told_and_reports() {
    struct Flag(AtomicUsize, Arc<AtomicBool>);
    impl crate::control::Observer for Flag {
        fn progress(&self, progress: &Progress<'_>) {
            assert_eq!((progress.task, progress.total), ("agkm", Some(30)));
            if self.0.fetch_add(1, Ordering::Relaxed) == 9 {
                self.1.store(true, Ordering::Relaxed);
            }
        }
    }
    let (x, _, epsilon, alpha) = section_five(0, 0.5, 9);
    let settings = AgkmSettings { epsilon, alpha };
    let late = Control::default().with_deadline(std::time::Instant::now());
    let nothing = agkm(&x, &[true; 30], &settings, &late).unwrap();
    assert_eq!((nothing.rows.len(), nothing.stop), (0, Stop::TimeLimit));

    let stop = Arc::new(AtomicBool::new(false));
    let observer = Arc::new(Flag(AtomicUsize::new(0), stop.clone()));
    let control = Control::default().with_stop_flag(stop).with_observer(observer.clone());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let part = pool.install(|| agkm(&x, &[true; 30], &settings, &control)).unwrap();
    assert_eq!((part.stop, observer.0.load(Ordering::Relaxed)), (Stop::Interrupted, 10));
    let whole = run(&x, epsilon, alpha);
    assert_eq!(part.distances[..10], whole.distances[..10]);
    assert!(part.distances[10..].iter().all(|d| *d == 0.0));
}
