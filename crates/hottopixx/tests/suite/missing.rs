//! Entries that were not observed.

use hottopixx::control::{Control, Observer, Progress};
use hottopixx::matrix::{Dense, Matrix, Sparse};
use hottopixx::synth::{Family, Recipe};
use hottopixx::{Cleaning, Effort, Error, Factor, Method, Missing, Objective};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A noisy number in [0, 1) for each place.
fn draw(seed: u64, place: usize) -> f64 {
    let mut state = (seed << 32) ^ (place as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    for _ in 0..3 {
        state = (state ^ (state >> 31)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    }
    (state >> 11) as f64 / (1u64 << 53) as f64
}

/// The matrix with each entry replaced with this probability.
fn replaced(matrix: &Matrix, share: f64, seed: u64, by: f64) -> Matrix {
    let (f, n) = (matrix.rows(), matrix.cols());
    let mut out = Dense::zeros(f, n);
    for i in 0..f {
        matrix.row(i).add_to(1.0, out.row_mut(i));
    }
    for (place, value) in out.values_mut().iter_mut().enumerate() {
        if draw(seed, place) < share {
            *value = by;
        }
    }
    out.into()
}

fn rows(answer: &hottopixx::Factorization) -> Vec<usize> {
    answer.hott.iter().map(|hott| hott.row).collect()
}

fn observed(rank: usize) -> Factor {
    Factor::new(rank).missing(Missing::Observed).effort(Effort::Quick)
}

/// What the definition says, by the plain l1 fit on the columns where each row was observed.
#[test]
fn errors_are_those_of_observed_entries_on_completed_hott_rows() {
    let recipe = Recipe { seed: 3, noise: 4.0, ..Recipe::new(Family::Paper, 3).size(24, 30) };
    let x = replaced(&recipe.generate().unwrap().matrix, 0.3, 8, f64::NAN);
    for method in [Method::Auto, Method::Spa, Method::Gradient] {
        let answer = observed(3).method(method).run(&x).unwrap();
        let completion = answer.completion.as_ref().unwrap();
        let hott = rows(&answer);
        assert_eq!(answer.w, completion.matrix.select_rows(&hott));
        let mut missing = 0;
        for i in 0..24 {
            let Matrix::Dense(dense) = &x else { panic!() };
            let there: Vec<usize> = (0..30).filter(|&k| !dense.row(i)[k].is_nan()).collect();
            missing += 30 - there.len();
            let part = |row: &[f64]| there.iter().map(|&k| row[k]).collect::<Vec<f64>>();
            let Matrix::Dense(w) = &answer.w else { panic!() };
            let atoms: Vec<Vec<f64>> = (0..3).map(|h| part(w.row(h))).collect();
            let target = part(dense.row(i));
            let mass: f64 = target.iter().sum();
            let fit =
                hottopixx::l1::fit(&Dense::from_rows(&atoms).unwrap(), &target, None).unwrap();
            let error = answer.errors.per_row[i];
            assert!((error - fit.value / mass).abs() < 1e-9, "{i}: {error} {}", fit.value / mass);
            // F says the same, in the units of the input.
            let explained = |k: usize| -> f64 {
                answer.f.row(i).nonzeros().map(|(h, weight)| weight * w.row(h)[k]).sum()
            };
            let left: f64 = there.iter().map(|&k| (dense.row(i)[k] - explained(k)).abs()).sum();
            assert!((left / mass - error).abs() < 1e-9);
        }
        assert_eq!((completion.entries, completion.rows), (missing, 24));
        // The same rows by evaluate, which completes the same way.
        let again = observed(3).evaluate(&x, &hott).unwrap();
        assert!((again.errors.mean_l1 - answer.errors.mean_l1).abs() < 1e-12);
        // And by apply, which needs no guesses for the rows.
        let applied = observed(3).apply(&answer.w, &x).unwrap();
        assert!((applied.errors.mean_l1 - answer.errors.mean_l1).abs() < 1e-9);
        assert!((applied.errors.rmse - answer.errors.rmse).abs() < 1e-9);
    }
}

/// Enumeration over all choices: the answer is near the best, and the bound is below it and worth something.
#[test]
fn no_choice_is_below_the_bound() {
    let mut worth: f64 = 0.0;
    for seed in 0..6 {
        let recipe = Recipe { seed, noise: 8.0, ..Recipe::new(Family::Paper, 2).size(12, 40) };
        let x = replaced(&recipe.generate().unwrap().matrix, 0.25, seed, f64::NAN);
        let weights: Vec<f64> = (0..12).map(|i| 1.0 + (i % 3) as f64).collect();
        let factor = Factor::new(2).missing(Missing::Observed).weights(weights);
        let pairs = (0..12).flat_map(|a| (0..a).map(move |b| [a, b]));
        let error = |pair: [usize; 2]| factor.evaluate(&x, &pair).unwrap().errors.mean_l1;
        let best = pairs.map(error).fold(f64::INFINITY, f64::min);
        let answer = factor.run(&x).unwrap();
        let bounds = answer.bounds.clone().unwrap();
        assert!(answer.errors.mean_l1 <= 1.001 * best + 1e-12, "{seed}");
        assert!(bounds.lower_bound <= best, "{seed}: {} {best}", bounds.lower_bound);
        worth = worth.max(bounds.lower_bound / best);
        let path = factor.path(&x, &answer).unwrap();
        assert!(path.points[1].lower_bound.unwrap() <= best);
        let largest = factor.clone().objective(Objective::Max).run(&x).unwrap();
        assert!(largest.bounds.is_none_or(|b| b.lower_bound <= largest.errors.inf1));
    }
    assert!(worth > 0.5, "{worth}");
}

/// Planted rows are found where filling in zeros or means misses them.
#[test]
fn planted_rows_are_found_with_half_of_the_entries() {
    let (mut found, mut with_zeros) = (0, 0);
    for seed in 0..3 {
        let recipe = Recipe { seed, noise: 0.3, ..Recipe::new(Family::Paper, 4).size(60, 100) };
        let instance = recipe.generate().unwrap();
        let x = replaced(&instance.matrix, 0.5, seed, f64::NAN);
        found += instance.truth.recovered(&rows(&observed(4).run(&x).unwrap()));
        let zeros = replaced(&instance.matrix, 0.5, seed, 0.0);
        let filled = Factor::new(4).effort(Effort::Quick).run(&zeros).unwrap();
        with_zeros += instance.truth.recovered(&rows(&filled));
    }
    assert_eq!(found, 12, "{with_zeros}");
    assert!(with_zeros < 9, "{with_zeros}");
}

/// The same numbers, stored sparsely.
#[test]
fn sparse_matrices_may_have_missing_entries() {
    let recipe = Recipe { seed: 1, noise: 2.0, ..Recipe::new(Family::Paper, 3).size(20, 40) };
    let x = replaced(&recipe.generate().unwrap().matrix, 0.2, 4, f64::NAN);
    let entries = |i: usize| {
        let Matrix::Dense(dense) = &x else { panic!() };
        let row = dense.row(i).to_vec();
        row.into_iter().enumerate().filter(|(_, v)| *v != 0.0).map(move |(k, v)| (i, k, v))
    };
    let triplets: Vec<_> = (0..20).flat_map(entries).collect();
    let sparse = Matrix::from(Sparse::from_triplets(20, 40, &triplets).unwrap());
    let (one, two) = (observed(3).run(&x).unwrap(), observed(3).run(&sparse).unwrap());
    assert_eq!(rows(&one), rows(&two));
    assert!((one.errors.mean_l1 - two.errors.mean_l1).abs() < 1e-9);
    assert!(matches!(two.f, Matrix::Sparse(_)) && matches!(two.w, Matrix::Sparse(_)));
}

#[test]
fn what_cannot_leave_entries_out_says_so() {
    let x = Matrix::from(Dense::from_rows(&[[1.0, f64::NAN], [0.0, 1.0], [1.0, 1.0]]).unwrap());
    let refused = Factor::new(1).run(&x).unwrap_err();
    assert!(matches!(refused, Error::NotFinite { row: 0, col: 1, .. }));
    assert!(refused.to_string().ends_with("or say missing = observed"), "{refused}");
    let factor = observed(1);
    for method in [Method::Minimax, Method::Total] {
        let refused = factor.clone().method(method).run(&x).unwrap_err().to_string();
        assert!(
            refused.contains("is about all entries; choose one of auto, hottopixx, gradient, spa")
        );
    }
    let cleaning = factor.clone().cleaning(Cleaning::Incremental).run(&x).unwrap_err();
    assert!(cleaning.to_string().contains("incremental cleaning needs all entries"));
    // Nothing missing: nothing changes.
    let whole = Matrix::from(Dense::from_rows(&[[1.0, 0.5], [0.0, 1.0], [1.0, 1.0]]).unwrap());
    let answer = factor.method(Method::Minimax).run(&whole).unwrap();
    assert!(answer.completion.is_none() && answer.bounds.is_some());
    let infinite =
        Matrix::from(Dense::from_rows(&[[1.0, f64::NAN], [f64::INFINITY, 1.0]]).unwrap());
    assert!(matches!(observed(1).run(&infinite), Err(Error::NotFinite { row: 1, col: 0, .. })));
}

/// Rows of which nothing was observed are explained by nothing, as rows of zeros are; outliers and threads.
#[test]
fn rows_without_observed_entries_are_set_aside_and_threads_do_not_matter() {
    let recipe = Recipe { seed: 2, ..Recipe::new(Family::Outliers, 4).size(60, 100) };
    let instance = recipe.generate().unwrap();
    let Matrix::Dense(mut dense) = replaced(&instance.matrix, 0.1, 3, f64::NAN) else { panic!() };
    let plain = (0..60).find(|i| !instance.truth.outliers.contains(i)).unwrap();
    dense.row_mut(plain).fill(f64::NAN);
    let x = Matrix::from(dense);
    let factor = observed(4).outliers(hottopixx::Outliers::Auto);
    let answer = factor.clone().threads(1).run(&x).unwrap();
    assert_eq!(answer.zero_rows, [plain]);
    let planted = &instance.truth.outliers;
    assert!(planted.iter().all(|row| answer.outliers.contains(row)), "{:?}", answer.outliers);
    assert!(answer.outliers.len() <= planted.len() + 1, "{:?}", answer.outliers);
    let two = factor.threads(2).run(&x).unwrap();
    assert_eq!((&answer.f, &answer.w, &answer.errors), (&two.f, &two.w, &two.errors));
}

/// The rank that was planted, with and without entries that are missing anyway; the same on any number of threads.
#[test]
fn entries_that_are_held_out_tell_the_rank() {
    let recipe = Recipe { seed: 5, noise: 1.0, ..Recipe::new(Family::Paper, 4).size(60, 80) };
    let instance = recipe.generate().unwrap();
    let factor = Factor::new(8).effort(Effort::Quick);
    let found = factor.clone().threads(1).held_out(&instance.matrix, 0.1).unwrap();
    assert_eq!((found.suggested, found.errors.len()), (4, 8), "{found:?}");
    assert_eq!(factor.clone().threads(2).held_out(&instance.matrix, 0.1).unwrap(), found);
    let holed = replaced(&instance.matrix, 0.2, 1, f64::NAN);
    assert!(matches!(factor.held_out(&holed, 0.1), Err(Error::NotFinite { .. })));
    let found = factor.clone().missing(Missing::Observed).held_out(&holed, 0.1).unwrap();
    assert_eq!(found.suggested, 4, "{found:?}");
    for share in [0.0, 0.6, f64::NAN] {
        let refused = factor.held_out(&instance.matrix, share).unwrap_err();
        assert!(refused.to_string().contains("above 0 and at most 0.5"), "{refused}");
    }
    let program = factor.method(Method::Minimax).held_out(&instance.matrix, 0.1).unwrap_err();
    assert!(program.to_string().contains("is about all entries"), "{program}");
}

/// A walk that was stopped speaks of the ranks that it saw, not of as many small ones.
#[test]
fn a_stop_leaves_the_largest_ranks() {
    let recipe = Recipe { seed: 5, noise: 1.0, ..Recipe::new(Family::Paper, 4).size(60, 80) };
    let matrix = recipe.generate().unwrap().matrix;
    struct Until(Arc<AtomicBool>);
    impl Observer for Until {
        fn progress(&self, progress: &Progress<'_>) {
            if progress.task == "path of ranks" && progress.done == 3 {
                self.0.store(true, Ordering::Relaxed);
            }
        }
    }
    let flag = Arc::new(AtomicBool::new(false));
    let control = Control::default().with_stop_flag(flag.clone());
    let control = control.with_observer(Arc::new(Until(flag)));
    let factor = Factor::new(8).effort(Effort::Quick);
    let whole = factor.held_out(&matrix, 0.1).unwrap();
    let stopped = factor.control(control).held_out(&matrix, 0.1).unwrap();
    assert_eq!((whole.first, stopped.first, stopped.errors.len()), (1, 5, 4), "{stopped:?}");
    assert_eq!(stopped.errors, whole.errors[4..]);
    assert!(stopped.suggested == 5 && stopped.reason.contains("stopped before"), "{stopped:?}");
}

/// A sparse matrix says what the same numbers say as a dense one, with entries missing anyway as well.
#[test]
fn entries_of_sparse_matrices_are_held_out_too() {
    let recipe = Recipe { seed: 2, noise: 1.0, ..Recipe::new(Family::Paper, 3).size(40, 60) };
    let zeros = replaced(&recipe.generate().unwrap().matrix, 0.3, 1, 0.0);
    for holed in [0.0, 0.1] {
        let dense = replaced(&zeros, holed, 2, f64::NAN);
        let entry = |at: usize| (at / 60, at % 60, dense.row(at / 60).entry(at % 60));
        let triplets: Vec<_> = (0..40 * 60).map(entry).filter(|entry| entry.2 != 0.0).collect();
        let sparse = Matrix::from(Sparse::from_triplets(40, 60, &triplets).unwrap());
        let factor = Factor::new(5).missing(Missing::Observed).method(Method::Spa);
        let [found, expected] = [sparse, dense].map(|x| factor.held_out(&x, 0.2).unwrap());
        assert_eq!(found.suggested, expected.suggested);
        let pairs = found.errors.iter().zip(&expected.errors);
        assert!(pairs.clone().all(|(a, b)| (a - b).abs() < 1e-9), "{found:?} {expected:?}");
    }
    for (rows, remedy) in [(10_000, "give a share of at most 6.7e-2"), (40_000, "fewer rows")] {
        let wide = Matrix::from(Sparse::from_triplets(rows, 30_000, &[(0, 0, 1.0)]).unwrap());
        let refused = Factor::new(1).held_out(&wide, 0.1).unwrap_err().to_string();
        assert!(refused.contains(remedy), "{refused}");
    }
}
