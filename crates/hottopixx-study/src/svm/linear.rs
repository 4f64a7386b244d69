//! A linear support vector machine by dual coordinate descent (Hsieh, Chang, Lin, Keerthi and
//! Sundararajan, 2008), trained until the duality gap says that it is done.
//!
//! With examples x_i, classes y_i = ±1 and a constant feature for the threshold,
//! `min_w ||w||^2 / 2 + C sum_i max(0, 1 - y_i w.x_i)^2`. The dual has one variable a_i >= 0 for
//! each example, `w = sum_i a_i y_i x_i`, and is minimised exactly over one of them at a time:
//! O(nonzeros) for a pass over all examples. Any a gives a bound from below, so the gap between the
//! two objectives is a proof.

use hottopixx::matrix::Matrix;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

/// The price of errors, C.
const PENALTY: f64 = 1.0;
/// Relative gap at which training ends.
const GAP: f64 = 1e-3;
/// Passes over the examples, at most.
const PASSES: usize = 1000;

/// A trained machine.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearSvm {
    weights: Vec<f64>,
    threshold: f64,
    /// The relative duality gap that was reached.
    pub gap: f64,
}

impl LinearSvm {
    /// Trains on rows of `examples`, each divided by its norm; `positive` has one entry for each
    /// row that trains, the first ones.
    pub fn train(examples: &Matrix, positive: &[bool]) -> Self {
        let count = positive.len();
        let class = |i: usize| if positive[i] { 1.0 } else { -1.0 };
        let scale: Vec<f64> = (0..count).map(|i| inverse_norm(examples, i)).collect();
        // x_i.x_i is 1 after scaling (0 for a row of zeros), plus the constant feature.
        let square = |i: usize| if scale[i] > 0.0 { 2.0 } else { 1.0 };
        let shift = 0.5 / PENALTY;
        let mut machine =
            LinearSvm { weights: vec![0.0; examples.cols()], threshold: 0.0, gap: f64::INFINITY };
        let mut dual = vec![0.0; count];
        let mut order: Vec<usize> = (0..count).collect();
        let mut random = ChaCha8Rng::seed_from_u64(0);
        for pass in 0..PASSES {
            order.shuffle(&mut random);
            for &i in &order {
                let slope = class(i) * machine.score(examples, i, scale[i]) - 1.0 + shift * dual[i];
                let better = (dual[i] - slope / (square(i) + shift)).max(0.0);
                let step = (better - dual[i]) * class(i);
                if step != 0.0 {
                    dual[i] = better;
                    examples.row(i).add_to(step * scale[i], &mut machine.weights);
                    machine.threshold += step;
                }
            }
            if pass % 10 == 9 {
                machine.gap = machine.measure(examples, &dual, &scale, &class);
                if machine.gap <= GAP {
                    break;
                }
            }
        }
        machine
    }

    /// The share of the rows from `first` on that it puts in the wrong class.
    pub fn error(&self, examples: &Matrix, positive: &[bool], first: usize) -> f64 {
        let wrong = (first..examples.rows()).filter(|&i| {
            let score = self.score(examples, i, inverse_norm(examples, i));
            (score > 0.0) != positive[i]
        });
        wrong.count() as f64 / (examples.rows() - first).max(1) as f64
    }

    fn score(&self, examples: &Matrix, i: usize, scale: f64) -> f64 {
        scale * examples.row(i).dot(&self.weights) + self.threshold
    }

    /// The gap between both objectives, relative to the primal one.
    fn measure(
        &self,
        examples: &Matrix,
        dual: &[f64],
        scale: &[f64],
        class: &dyn Fn(usize) -> f64,
    ) -> f64 {
        let norm = self.weights.iter().map(|w| w * w).sum::<f64>() + self.threshold.powi(2);
        let loss = |i: usize| (1.0 - class(i) * self.score(examples, i, scale[i])).max(0.0).powi(2);
        let primal = 0.5 * norm + PENALTY * (0..dual.len()).map(loss).sum::<f64>();
        let quadratic = dual.iter().map(|a| a * a).sum::<f64>() * 0.5 / PENALTY;
        let bound = dual.iter().sum::<f64>() - 0.5 * norm - 0.5 * quadratic;
        (primal - bound) / primal.max(f64::MIN_POSITIVE)
    }
}

fn inverse_norm(examples: &Matrix, i: usize) -> f64 {
    let norm = examples.row(i).squared_norm().sqrt();
    if norm > 0.0 { 1.0 / norm } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hottopixx::matrix::Dense;

    fn matrix(rows: &[[f64; 2]]) -> Matrix {
        Dense::from_rows(rows).unwrap().into()
    }

    #[test]
    fn separates_what_can_be_separated() {
        let x = matrix(&[[1.0, 0.1], [0.9, 0.2], [0.1, 1.0], [0.2, 0.8], [3.0, 1.0], [1.0, 4.0]]);
        let positive = [true, true, false, false, true, false];
        let machine = LinearSvm::train(&x, &positive[..4]);
        assert!(machine.gap <= GAP);
        assert_eq!(machine.error(&x, &positive, 4), 0.0);
    }

    #[test]
    fn reaches_the_optimum_of_a_small_problem() {
        // Both examples are orthogonal unit vectors of different classes: by symmetry the threshold
        // is 0 and w = a (1, -1) with a / 2 C + a = 1, a = 2/3.
        let machine = LinearSvm::train(&matrix(&[[2.0, 0.0], [0.0, 5.0]]), &[true, false]);
        assert!((machine.weights[0] - 2.0 / 3.0).abs() < 1e-2, "{machine:?}");
        assert!((machine.weights[1] + 2.0 / 3.0).abs() < 1e-2 && machine.threshold.abs() < 1e-2);
    }

    #[test]
    fn rows_of_zeros_are_of_the_common_class() {
        let x = matrix(&[[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [1.0, 0.0]]);
        let machine = LinearSvm::train(&x, &[true, true, false]);
        assert!(machine.gap <= GAP && machine.threshold > 0.0);
    }
}
