//! The whole pipeline through the public interface.

use hottopixx::certify::verify;
use hottopixx::control::{Control, Observer, Progress, Stage, Stop};
use hottopixx::localise::lp::LpStatus;
use hottopixx::matrix::{Dense, Matrix, Sparse};
use hottopixx::synth::{Family, Recipe};
use hottopixx::{Bounded, Cleaning, Error, Factor, Factorization, Method, Objective, Seconds};
use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

fn paper(rank: usize, duplicates: usize, seed: u64) -> hottopixx::synth::Instance {
    let recipe = Recipe::new(Family::Paper, rank).size(30, 60).noise(0.5);
    recipe.duplicates(duplicates).seed(seed).generate().unwrap()
}

/// The method with the numbers that some of them require, about right for [`paper`] (measured
/// for rank 4: epsilon 0.009 to 0.010, alpha 0.72 to 0.76).
fn told(rank: usize, method: Method) -> Factor {
    Factor::new(rank).method(method).tau(0.1).epsilon(0.01).alpha(0.7).only_used()
}

fn sorted(answer: &Factorization) -> Vec<usize> {
    let mut rows: Vec<usize> = answer.hott.iter().map(|h| h.row).collect();
    rows.sort_unstable();
    rows
}

fn as_sparse(matrix: &Matrix) -> Matrix {
    let triplets: Vec<_> = (0..matrix.rows())
        .flat_map(|i| matrix.row(i).nonzeros().map(move |(k, v)| (i, k, v)).collect::<Vec<_>>())
        .collect();
    Sparse::from_triplets(matrix.rows(), matrix.cols(), &triplets).unwrap().into()
}

/// `||D^-1 (X - F W)||` row by row, D the row sums: the errors again, from F and W alone.
fn errors_from_factors(matrix: &Matrix, answer: &Factorization) -> Vec<f64> {
    (0..matrix.rows())
        .map(|i| {
            let mut residual = vec![0.0; matrix.cols()];
            matrix.row(i).add_to(1.0, &mut residual);
            for (k, weight) in answer.f.row(i).nonzeros() {
                answer.w.row(k).add_to(-weight, &mut residual);
            }
            let sum = matrix.row(i).sum();
            residual.iter().map(|e| e.abs()).sum::<f64>() / if sum > 0.0 { sum } else { 1.0 }
        })
        .collect()
}

#[test]
fn every_method_finds_planted_topics_dense_and_sparse() {
    for duplicates in [0, 1] {
        let instance = paper(4, duplicates, 5);
        for matrix in [instance.matrix.clone(), as_sparse(&instance.matrix)] {
            for method in Method::ALL {
                let answer = told(4, method).run(&matrix).unwrap();
                let rows: Vec<usize> = answer.hott.iter().map(|h| h.row).collect();
                assert_eq!(instance.truth.recovered(&rows), 4, "{} {rows:?}", method.name());
                for hott in &answer.hott {
                    assert!(hott.group.contains(&hott.row));
                }
            }
        }
    }
}

#[test]
fn factors_are_in_the_units_of_the_input() {
    let instance = paper(3, 0, 1);
    let Matrix::Dense(mut dense) = instance.matrix else { panic!("dense") };
    for i in 0..dense.rows() {
        let scale = 10f64.powi(i as i32 % 5 - 2);
        dense.row_mut(i).iter_mut().for_each(|v| *v *= scale);
    }
    dense.row_mut(7).fill(0.0); // a row of zeros is set aside
    let matrix = Matrix::from(dense);
    for cleaning in Cleaning::ALL {
        for matrix in [matrix.clone(), as_sparse(&matrix)] {
            let answer = Factor::new(3).cleaning(cleaning).run(&matrix).unwrap();
            let exact = matches!(cleaning, Cleaning::Auto | Cleaning::Exact);
            let used = if exact { Cleaning::Exact } else { cleaning };
            assert_eq!(answer.cleaning, used);
            assert_eq!(answer.zero_rows, [7]);
            assert_eq!((answer.f.rows(), answer.f.cols()), (30, 3));
            assert_eq!((answer.w.rows(), answer.w.cols()), (3, 60));
            for (k, hott) in answer.hott.iter().enumerate() {
                assert!(answer.w.row(k).values().eq(matrix.row(hott.row).values()));
            }
            let again = errors_from_factors(&matrix, &answer);
            for (row, (found, again)) in answer.errors.per_row.iter().zip(&again).enumerate() {
                assert!((found - again).abs() < 1e-12, "row {row}: {found} {again}");
            }
            let largest = again.iter().copied().fold(0.0, f64::max);
            assert!((answer.errors.inf1 - largest).abs() < 1e-12);
            let mean = again.iter().sum::<f64>() / 29.0;
            assert!((answer.errors.mean_l1 - mean).abs() < 1e-12);
        }
    }
}

#[test]
fn evaluate_measures_any_choice_and_auto_is_never_worse_than_the_greedy_ones() {
    let matrix =
        Recipe::new(Family::Outliers, 4).size(40, 30).noise(3.0).generate().unwrap().matrix;
    for objective in [Objective::Mean, Objective::Max] {
        let score = |answer: &Factorization| match objective {
            Objective::Mean => answer.errors.mean_l1,
            Objective::Max => answer.errors.inf1,
        };
        let auto = Factor::new(4).objective(objective).run(&matrix).unwrap();
        for method in [Method::Spa, Method::Snpa, Method::Xray] {
            let greedy = Factor::new(4).method(method).run(&matrix).unwrap();
            assert!(score(&auto) <= score(&greedy) + 1e-12);
            let rows: Vec<usize> = greedy.hott.iter().map(|h| h.row).collect();
            let evaluated = Factor::new(1).evaluate(&matrix, &rows).unwrap();
            assert_eq!(evaluated.errors, greedy.errors);
            assert_eq!(evaluated.f, greedy.f);
        }
    }
}

#[test]
fn settings_and_data_that_cannot_work_are_refused() {
    let matrix =
        Matrix::from(Dense::from_rows(&[[1.0, 0.0], [0.0, 0.0], [0.5, 0.5], [0.0, 2.0]]).unwrap());
    for rank in [0, 4] {
        let error = Factor::new(rank).run(&matrix).unwrap_err();
        assert!(matches!(error, Error::Rank { available: 3, .. }), "{error}");
    }
    let few = Factor::new(2).candidates(vec![true, true, false, false]);
    assert!(matches!(few.run(&matrix).unwrap_err(), Error::Rank { available: 1, .. }));
    let short = Factor::new(2).cost(vec![1.0]);
    assert!(matches!(short.run(&matrix).unwrap_err(), Error::Length { name: "cost", .. }));
    for bad in [vec![0, 9], vec![0, 0], vec![0, 1]] {
        let error = Factor::new(1).evaluate(&matrix, &bad).unwrap_err();
        assert!(matches!(error, Error::HottRow { .. }), "{error}");
    }
}

#[test]
fn only_candidates_become_hott() {
    let instance = paper(3, 1, 9);
    // Of each pair of duplicates only one may be hott.
    let mut mask = vec![true; 30];
    instance.truth.groups.iter().for_each(|group| mask[group[0]] = false);
    for method in Method::ALL {
        let factor = told(3, method).candidates(mask.clone());
        let rows = sorted(&factor.run(&instance.matrix).unwrap());
        let mut expected: Vec<usize> = instance.truth.groups.iter().map(|g| g[1]).collect();
        expected.sort_unstable();
        assert_eq!(rows, expected, "{}", method.name());
    }
}

#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    let matrix =
        Recipe::new(Family::Outliers, 4).size(60, 50).noise(3.0).generate().unwrap().matrix;
    for method in Method::ALL {
        for matrix in [matrix.clone(), as_sparse(&matrix)] {
            // Outliers of this size are within no smaller tau.
            let factor = told(4, method).tau(1.0).only_used();
            let answer = |threads| factor.clone().threads(threads).run(&matrix);
            let (one, two, three) = (answer(1).unwrap(), answer(2).unwrap(), answer(3).unwrap());
            for other in [two, three] {
                assert_eq!(
                    (&one.hott, &one.f, &one.errors),
                    (&other.hott, &other.f, &other.errors)
                );
                assert_eq!(one.diagonal, other.diagonal);
                assert_eq!(one.bounds, other.bounds);
            }
        }
    }
}

#[test]
fn programs_come_with_bounds_and_the_others_without() {
    let instance = paper(4, 0, 3);
    for method in Method::ALL {
        let answer = told(4, method).run(&instance.matrix).unwrap();
        let bounds = answer.bounds;
        assert_eq!(bounds.is_some(), method.proves_bound() || method == Method::Auto);
        let Some(bounds) = bounds else { continue };
        if method == Method::Auto {
            // About the answer itself and every other choice of rows.
            assert_eq!((bounds.goal, bounds.objective), (Bounded::Mean, answer.errors.mean_l1));
            assert!(0.0 < bounds.lower_bound && bounds.lower_bound <= bounds.objective);
            continue;
        }
        let gap = if method == Method::Lp { 1e-6 } else { 1e-4 };
        assert_eq!(bounds.status, LpStatus::Optimal, "{}", method.name());
        assert!(bounds.gap <= gap && bounds.lower_bound <= bounds.objective, "{bounds:?}");
    }
}

/// With the largest error as its objective, `auto` bounds the largest error that it reports.
#[test]
fn auto_bounds_the_error_that_it_makes_small() {
    for noise in [0.5, 3.0] {
        let recipe = Recipe::new(Family::Paper, 4).size(30, 60).noise(noise);
        let matrix = recipe.generate().unwrap().matrix;
        let answer = Factor::new(4).objective(Objective::Max).run(&matrix).unwrap();
        let bounds = answer.bounds.unwrap();
        assert_eq!((bounds.goal, bounds.objective), (Bounded::Max, answer.errors.inf1));
        assert!(bounds.lower_bound <= bounds.objective, "{bounds:?}");
        assert!(bounds.gap < 0.3, "{bounds:?}");
    }
}

#[test]
fn minimax_finds_the_vertices_among_all_midpoints() {
    // Half of the family's usual noise.
    for seed in 0..3 {
        let recipe = Recipe::new(Family::Midpoints, 6).noise(0.3).seed(seed);
        let instance = recipe.generate().unwrap();
        let answer = Factor::new(6).method(Method::Minimax).run(&instance.matrix).unwrap();
        let rows: Vec<usize> = answer.hott.iter().map(|h| h.row).collect();
        assert_eq!(instance.truth.recall(&rows), 1.0, "{rows:?}");
    }
}

#[test]
fn every_program_is_certified_and_no_tampering_passes() {
    for matrix in [paper(4, 1, 7).matrix, as_sparse(&paper(4, 0, 8).matrix)] {
        for method in [Method::Lp, Method::Minimax, Method::Total] {
            let certified = told(4, method).certify(&matrix, None).unwrap();
            let verified = certified.verified.clone().unwrap();
            let gap = if method == Method::Lp { 1e-6 } else { 1e-4 };
            assert!(verified.gap <= 1.01 * gap, "{}: {verified:?}", method.name());
            let difference =
                (verified.lower_bound - certified.bounds.as_ref().unwrap().lower_bound).abs();
            assert!(difference <= 1e-9 * verified.objective.abs().max(1.0), "{difference}");
            assert!(certified.bounded_inf1 >= certified.answer.errors.inf1 - 1e-9);
            assert_eq!(certified.theory.as_ref().unwrap().rank(), 4);
            let x = &certified.x;
            for k in 0..4 {
                let mut bad = certified.certificate.clone();
                match k {
                    0 => bad.diagonal[11] += 0.01,
                    1 => bad.localising.values_mut()[5] += 0.01,
                    2 => bad.dual[0].1[17] -= 0.01,
                    _ => bad.claims.as_mut().unwrap().lower_bound += 0.01,
                }
                assert!(verify(x, &bad, &Control::default()).is_err(), "{} {k}", method.name());
            }
        }
    }
}

#[test]
fn a_given_choice_is_held_against_the_best_possible() {
    let instance = paper(3, 0, 4);
    let found = Factor::new(3).method(Method::Minimax).certify(&instance.matrix, None).unwrap();
    let given = Factor::new(1).method(Method::Minimax);
    let given = given.certify(&instance.matrix, Some(&[0, 1, 2])).unwrap();
    assert_eq!(given.bounds, found.bounds);
    assert!(given.bounded_inf1 >= found.bounds.as_ref().unwrap().lower_bound);
    assert_eq!(given.answer.hott.iter().map(|h| h.row).collect::<Vec<_>>(), [0, 1, 2]);
    let error = Factor::new(3).certify(&instance.matrix, None).unwrap_err();
    assert!(error.to_string().contains("minimax"), "{error}");
}

#[test]
fn no_pair_of_rows_beats_the_bound() {
    let recipe = Recipe::new(Family::Outliers, 2).size(9, 12).noise(3.0);
    let matrix = recipe.generate().unwrap().matrix;
    let minimax = Factor::new(2).method(Method::Minimax);
    let mut best = f64::INFINITY;
    for i in 0..9 {
        for j in 0..i {
            let pair = minimax.certify(&matrix, Some(&[i, j])).unwrap();
            assert!(
                pair.bounded_inf1 >= pair.bounds.as_ref().unwrap().lower_bound - 1e-9,
                "rows {i} and {j}"
            );
            best = best.min(pair.bounded_inf1);
        }
    }
    // The program is a relaxation of the choice, and no empty one.
    let bound = minimax.certify(&matrix, None).unwrap().bounds.unwrap().lower_bound;
    assert!(bound > 0.3 * best, "{bound} {best}");
}

#[test]
fn what_the_programs_require_and_what_is_infeasible() {
    let instance = paper(3, 0, 2);
    for method in Method::ALL {
        let told = method.requires();
        match Factor::new(3).method(method).run(&instance.matrix) {
            Ok(_) => assert!(told.is_empty(), "{}", method.name()),
            Err(Error::Setting { name, .. }) => assert_eq!(Some(&name), told.first()),
            Err(error) => panic!("{error}"),
        }
    }
    let agkm = Factor::new(3).method(Method::Agkm).epsilon(0.1).run(&instance.matrix);
    assert!(matches!(agkm.unwrap_err(), Error::Setting { name: "alpha", .. }));
    for bad in [f64::NAN, -0.1, f64::INFINITY] {
        let error = Factor::new(3).method(Method::Lp).tau(bad).run(&instance.matrix).unwrap_err();
        assert!(matches!(error, Error::Setting { name: "tau", .. }), "{error}");
    }
    let lp = |tau| Factor::new(3).method(Method::Lp).tau(tau).run(&instance.matrix);
    let Error::Infeasible { tau, bound, enough, .. } = lp(1e-4).unwrap_err() else { panic!() };
    assert!(tau == 1e-4 && tau < bound && bound <= enough, "{tau} {bound} {enough}");
    assert!(lp(enough).is_ok());
    assert!(matches!(lp(0.999 * bound), Err(Error::Infeasible { .. })));
}

#[test]
fn algorithm_1_says_when_its_clusters_are_not_the_rank() {
    let instance = paper(4, 0, 6);
    let run = |rank| told(rank, Method::Agkm).run(&instance.matrix).unwrap();
    assert!(run(4).notes.iter().all(|note| !note.contains("clusters")));
    let (few, many) = (run(2), run(6));
    assert!(few.notes.iter().any(|n| n.contains("4 clusters for rank 2")), "{:?}", few.notes);
    assert!(many.notes.iter().any(|n| n.contains("4 clusters for rank 6")), "{:?}", many.notes);
    assert_eq!((few.hott.len(), many.hott.len()), (2, 6));
}

/// Given all that any method requires, and a gap.
fn all_told(rank: usize, method: Method) -> Factor {
    Factor::new(rank).method(method).tau(1.0).epsilon(0.05).alpha(0.5).gap(1e-3).only_used()
}

/// Rows of successive projection are there whatever the time, and a note says whose they are.
#[test]
fn a_deadline_in_the_past_leaves_the_rows_of_successive_projection() {
    let instance = paper(3, 0, 2);
    let spa: Vec<usize> =
        sorted(&Factor::new(3).method(Method::Spa).run(&instance.matrix).unwrap());
    for method in Method::ALL {
        let late = Control::default().with_deadline(std::time::Instant::now());
        let answer = all_told(3, method).control(late).run(&instance.matrix).unwrap();
        assert_eq!(answer.stop, Stop::TimeLimit, "{}", method.name());
        assert_eq!(answer.hott.len(), 3, "{}", method.name());
        assert!(answer.errors.mean_l1 < 2.0);
        if method.proves_bound() {
            continue; // they begin with a point of their own
        }
        assert_eq!(sorted(&answer), spa, "{}", method.name());
        let said = answer.notes.iter().any(|note| note.contains("successive projection"));
        assert_eq!(said, method != Method::Spa, "{}: {:?}", method.name(), answer.notes);
    }
}

/// Raises a flag with the report of a given number.
struct Tripwire {
    reports: AtomicUsize,
    at: usize,
    flag: Arc<AtomicBool>,
}

impl Tripwire {
    /// A control that is told to stop with report number `at`, from 1, and its tripwire.
    fn at(at: usize) -> (Control, Arc<Self>) {
        let flag = Arc::new(AtomicBool::new(false));
        let wire = Arc::new(Tripwire { reports: AtomicUsize::new(0), at, flag: flag.clone() });
        (Control::default().with_stop_flag(flag).with_observer(wire.clone()), wire)
    }
}

impl Observer for Tripwire {
    fn progress(&self, _: &Progress<'_>) {
        if self.reports.fetch_add(1, Ordering::Relaxed) + 1 == self.at {
            self.flag.store(true, Ordering::Relaxed);
        }
    }
}

/// Wherever a run is stopped, it gives as many rows as were asked for, and says that it is finished
/// only if nothing is missing.
#[test]
fn a_run_that_says_finished_has_the_bytes_of_one_without_limits() {
    let recipe = Recipe::new(Family::NearDuplicates, 4).size(40, 120);
    let matrix = recipe.generate().unwrap().matrix;
    let mut cut_short = 0;
    for method in Method::ALL {
        let factor = all_told(4, method).threads(1).epochs(8).only_used();
        let free = factor.run(&matrix).unwrap();
        let (control, wire) = Tripwire::at(usize::MAX);
        factor.clone().control(control).run(&matrix).unwrap();
        let total = wire.reports.load(Ordering::Relaxed);
        let mut moments = vec![1, 2, 3, 5, 8, total / 2, total - total / 5, total];
        moments.retain(|at| (1..=total).contains(at));
        for at in moments {
            let (control, _) = Tripwire::at(at);
            let answer = factor.clone().control(control.clone()).run(&matrix).unwrap();
            let name = format!("{} at {at} of {total}", method.name());
            let mut rows = sorted(&answer);
            rows.dedup();
            assert_eq!(rows.len(), 4, "{name}");
            if answer.stop == Stop::Finished {
                assert_eq!((&answer.hott, &answer.f, &answer.w), (&free.hott, &free.f, &free.w));
            } else {
                assert_eq!(answer.stop, Stop::Interrupted, "{name}");
                cut_short += 1;
            }
            // What one run was told does not stick to the next with the same control.
            let evaluated = Factor::new(4).control(control.for_new_run());
            assert_eq!(evaluated.evaluate(&matrix, &rows).unwrap().stop, Stop::Interrupted);
        }
    }
    assert!(cut_short > 30, "{cut_short}");
}

/// Near-duplicates are what groups are for, and groups are what comes last.
#[test]
fn groups_that_were_left_out_are_no_finished_run() {
    let recipe = Recipe::new(Family::NearDuplicates, 4).size(40, 120);
    let matrix = recipe.generate().unwrap().matrix;
    let factor = Factor::new(4).method(Method::Spa).threads(1);
    assert!(factor.run(&matrix).unwrap().hott.iter().any(|hott| hott.group.len() > 1));
    let flag = Arc::new(AtomicBool::new(true));
    let control = Control::default().with_stop_flag(flag.clone());
    let factor = factor.control(control);
    let answer = factor.run(&matrix).unwrap();
    assert_eq!(answer.stop, Stop::Interrupted);
    assert!(answer.hott.iter().all(|hott| hott.group.len() == 1));
    flag.store(false, Ordering::Relaxed);
    assert_eq!(factor.run(&matrix).unwrap().stop, Stop::Finished);
}

/// The answers for an instance of the paper's family and for its rows in another order.
fn permuted(seed: u64, shift: usize) {
    let instance = paper(3, 0, seed);
    let f = instance.matrix.rows();
    // 7 is coprime to 30: a permutation that is not a mere rotation.
    let order: Vec<usize> = (0..f).map(|i| (i * 7 + shift) % f).collect();
    let permuted = instance.matrix.select_rows(&order);
    for method in [Method::Spa, Method::Snpa, Method::Xray, Method::Gradient, Method::Auto] {
        let plain = Factor::new(3).method(method).run(&instance.matrix).unwrap();
        let moved = Factor::new(3).method(method).run(&permuted).unwrap();
        let mut back: Vec<usize> = moved.hott.iter().map(|h| order[h.row]).collect();
        back.sort_unstable();
        assert_eq!(sorted(&plain), back, "{method}, seed {seed}, shift {shift}");
        assert!((plain.errors.mean_l1 - moved.errors.mean_l1).abs() < 1e-12);
    }
}

/// Exchanges were once proposed by every second row alone, which found different ones.
#[test]
fn orders_of_the_rows_that_once_mattered() {
    permuted(321, 3);
    permuted(274, 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn permuting_rows_permutes_the_answer(seed in 0u64..1000, shift in 1usize..29) {
        permuted(seed, shift);
    }
}

/// A setting that would change nothing is a mistake of the caller's, not a wish.
#[test]
fn settings_that_a_method_does_not_use_are_refused_by_name() {
    let matrix = paper(3, 0, 1).matrix;
    let spa = || Factor::new(3).method(Method::Spa);
    let refused = [
        ("tau", spa().tau(0.1)),
        ("gap", spa().gap(0.1)),
        ("epochs", spa().epochs(3)),
        ("epsilon", spa().epsilon(0.1)),
        ("alpha", spa().alpha(0.1)),
        ("trace", spa().trace(false)),
        ("cost", spa().cost(vec![1.0; matrix.rows()])),
        ("tau", spa().method(Method::Minimax).tau(0.1)),
        ("epochs", spa().method(Method::Auto).epochs(3)),
    ];
    for (expected, factor) in refused {
        match factor.run(&matrix) {
            Err(Error::Setting { name, remedy, .. }) => {
                assert_eq!(name, expected);
                assert!(remedy.contains("does not use it"), "{remedy}");
            }
            other => panic!("{expected}: {:?}", other.map(|answer| answer.stop)),
        }
        assert!(factor.only_used().run(&matrix).is_ok());
    }
}

/// Each step says that it begins, in order, and the seconds are those of the steps.
#[test]
fn every_step_is_announced() {
    #[derive(Default)]
    struct Steps(std::sync::Mutex<Vec<Stage>>);
    impl Observer for Steps {
        fn progress(&self, progress: &Progress<'_>) {
            let mut steps = self.0.lock().unwrap();
            if steps.last() != Some(&progress.stage) {
                steps.push(progress.stage);
            }
        }
    }
    let matrix = paper(3, 0, 1).matrix;
    for method in [Method::Auto, Method::Spa, Method::Minimax] {
        let steps = Arc::new(Steps::default());
        let control = Control::default().with_observer(steps.clone());
        let answer = Factor::new(3).method(method).control(control).run(&matrix).unwrap();
        let expected = [Stage::Normalise, Stage::Localise, Stage::Select, Stage::Clean];
        assert_eq!(*steps.0.lock().unwrap(), expected, "{method}");
        let Seconds { localize, select, clean } = answer.seconds;
        assert!(localize > 0.0 && select > 0.0 && clean > 0.0);
    }
}

/// A checkpoint goes on wherever the answer is the same: on a machine with more memory, or with less.
#[test]
fn a_limit_on_memory_that_changes_nothing_is_no_other_run() {
    let matrix = Recipe::new(Family::Paper, 3).size(30, 3000).generate().unwrap().matrix;
    let factor = || Factor::new(3).method(Method::Hottopixx);
    let usual = factor().fingerprint(&matrix);
    for bytes in [1 << 28, 1 << 33, 1 << 40] {
        assert_eq!(factor().memory(bytes).fingerprint(&matrix), usual, "{bytes}");
    }
    // In windows the examples come in another order.
    assert_ne!(factor().memory(1).fingerprint(&matrix), usual);
    assert_ne!(factor().seed(1).fingerprint(&matrix), usual);
}

/// Weights of examples are repetitions, also for methods that see squares: without being told they would see
/// the squares of the weights.
#[test]
fn weights_of_examples_are_repetitions() {
    // Nothing is planted: rows that have little to do with each other, so that every weight matters.
    let entry =
        |i: usize, k: usize| (((i * 37 + k * 101 + i * i * k * 13) % 97) as f64 / 97.0).powi(2);
    let weights: Vec<usize> = (0..12).map(|k| [3, 0, 1, 9][k % 4]).collect();
    let (mut scaled, mut repeated) = (Vec::new(), Vec::new());
    for i in 0..24 {
        let row: Vec<f64> = (0..12).map(|k| entry(i, k)).collect();
        repeated.push(row.iter().zip(&weights).flat_map(|(&v, &w)| vec![v; w]).collect::<Vec<_>>());
        scaled.push(row.iter().zip(&weights).map(|(v, &w)| v * w as f64).collect::<Vec<_>>());
    }
    let repeated = Matrix::from(Dense::from_rows(&repeated).unwrap());
    let scaled = Matrix::from(Dense::from_rows(&scaled).unwrap());
    let given: Vec<f64> = weights.iter().map(|&w| w as f64).collect();
    let mut untold = 0;
    for method in [Method::Spa, Method::Snpa, Method::Xray, Method::Gradient] {
        let plain = Factor::new(5).method(method);
        let expected = plain.run(&repeated).unwrap();
        for matrix in [scaled.clone(), as_sparse(&scaled)] {
            let told = plain.clone().example_weights(given.clone()).run(&matrix).unwrap();
            assert_eq!(sorted(&told), sorted(&expected), "{method}");
            assert!((told.errors.mean_l1 - expected.errors.mean_l1).abs() < 1e-9);
        }
        untold += usize::from(sorted(&plain.run(&scaled).unwrap()) != sorted(&expected));
    }
    assert!(untold > 0, "the instance does not tell weights from their squares");
    for (wrong, part) in [(vec![1.0; 3], "12"), (vec![f64::NAN; 12], "entry 0")] {
        let error = Factor::new(5).example_weights(wrong).run(&scaled).unwrap_err().to_string();
        assert!(error.contains("example_weights") && error.contains(part), "{error}");
    }
}
