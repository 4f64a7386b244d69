//! Rows that count more or less in the mean error.

use hottopixx::matrix::Matrix;
use hottopixx::synth::{Family, Recipe};
use hottopixx::{Dense, Effort, Factor, Method, Objective};

fn instance(seed: u64) -> Matrix {
    let recipe = Recipe { noise: 12.0, seed, ..Recipe::new(Family::Paper, 3).size(12, 16) };
    recipe.generate().unwrap().matrix
}

fn weights(seed: u64) -> Vec<f64> {
    let one = if seed.is_multiple_of(2) { 60.0 } else { 0.0 };
    (0..12).map(|i| ((i * 7 + seed as usize * 5) % 11) as f64 + f64::from(i == 3) * one).collect()
}

/// The errors of a choice, weighed by hand.
fn mean(x: &Matrix, rows: &[usize], weights: &[f64]) -> f64 {
    let errors = Factor::new(rows.len()).evaluate(x, rows).unwrap().errors.per_row;
    let sum: f64 = errors.iter().zip(weights).map(|(e, w)| e * w).sum();
    sum / weights.iter().sum::<f64>()
}

/// Against all choices of two rows: the answer of auto is the best, the error that it tells is the weighted one, and the bound is
/// not above; for every method the error is the weighted one.
#[test]
fn the_weighted_mean_is_made_small_told_and_bounded() {
    let mut told = Vec::new();
    for seed in 0..6 {
        let (x, weights) = (instance(seed), weights(seed));
        let pairs = (0..12).flat_map(|a| (0..a).map(move |b| [a, b]));
        let best = pairs.map(|rows| mean(&x, &rows, &weights)).fold(f64::INFINITY, f64::min);
        for method in [Method::Auto, Method::Spa, Method::Gradient, Method::Total] {
            let factor = Factor::new(2).method(method).weights(weights.clone());
            let answer = factor.run(&x).unwrap();
            let rows: Vec<usize> = answer.hott.iter().map(|hott| hott.row).collect();
            let expected = mean(&x, &rows, &weights);
            assert!((answer.errors.mean_l1 - expected).abs() < 1e-12, "{method}");
            if method == Method::Auto {
                assert!(expected <= 1.0 * best + 1e-9, "{seed}: {expected} {best}");
                let bounds = answer.bounds.unwrap();
                assert!(bounds.lower_bound <= best && bounds.objective == answer.errors.mean_l1);
                told.push(bounds.lower_bound / best);
            }
        }
    }
    // Weights differ by a factor of sixty and more: bounds are worth something on the whole.
    assert!(told.iter().sum::<f64>() > 0.3 * told.len() as f64, "{told:?}");
}

/// A row of weight two counts as if it stood there twice, one of weight zero as if it were not to be explained.
#[test]
fn weights_are_copies() {
    let x = instance(2);
    let mut twice = Dense::zeros(13, 16);
    (0..12).for_each(|i| x.row(i).add_to(1.0, twice.row_mut(i)));
    x.row(5).add_to(1.0, twice.row_mut(12));
    let mut weights = vec![1.0; 12];
    weights[5] = 2.0;
    let one = Factor::new(3).weights(weights.clone()).evaluate(&x, &[0, 1, 2]).unwrap();
    let two = Factor::new(3).evaluate(&twice.into(), &[0, 1, 2]).unwrap();
    assert!((one.errors.mean_l1 - two.errors.mean_l1).abs() < 1e-12);
    // The same weights everywhere are none, to the last bit of the choice.
    let quick = || Factor::new(3).effort(Effort::Quick);
    let same = quick().weights(vec![0.3; 12]).run(&x).unwrap();
    assert_eq!(same.hott, quick().run(&x).unwrap().hott);
    // The largest error does not know of them.
    let max = || quick().objective(Objective::Max);
    assert_eq!(max().weights(weights).run(&x).unwrap().hott, max().run(&x).unwrap().hott);
    for (weights, sentence) in [
        (vec![1.0; 5], "weights has 5 entries, but there are 12 rows of the matrix"),
        (vec![-1.0; 12], "weights = -1 is not possible: entry 0"),
        (vec![0.0; 12], "a row that is not zero must have a weight"),
    ] {
        let error = Factor::new(3).weights(weights).run(&x).unwrap_err().to_string();
        assert!(error.contains(sentence), "{error}");
    }
}

/// The program `total` with a row of weight k is that with k copies of the row, of which one may be hott: by cutting planes and
/// by the first-order method, which has the larger one.
#[test]
fn the_program_total_counts_weights() {
    for (features, examples, gap) in [(14, 20, 1e-5), (60, 300, 2e-3)] {
        let recipe = Recipe::new(Family::Paper, 3).size(features, examples);
        let x = Recipe { noise: 6.0, seed: 4, ..recipe }.generate().unwrap().matrix;
        let copies: Vec<usize> = (0..features).map(|i| 1 + i * i % 3).collect();
        let rows: Vec<usize> =
            (0..features).flat_map(|i| std::iter::repeat_n(i, copies[i])).collect();
        let is_first = |at: usize| at == 0 || rows[at] != rows[at - 1];
        let total = || Factor::new(3).method(Method::Total).gap(gap);
        let weights: Vec<f64> = copies.iter().map(|&count| count as f64).collect();
        let weighed = total().weights(weights).run(&x).unwrap();
        let copied = total().candidates((0..rows.len()).map(is_first).collect());
        let copied = copied.run(&x.select_rows(&rows)).unwrap();
        let (weighed, copied) = (weighed.bounds.unwrap(), copied.bounds.unwrap());
        // Weights are 1 on average.
        let scale = rows.len() as f64 / features as f64;
        let (high, low) = (weighed.objective * scale, weighed.lower_bound * scale);
        assert!(high - low <= 1.02 * gap * high, "{weighed:?}");
        assert!(low <= copied.objective * (1.0 + 1e-9), "{weighed:?} {copied:?}");
        assert!(copied.lower_bound <= high * (1.0 + 1e-9), "{weighed:?} {copied:?}");
    }
}
