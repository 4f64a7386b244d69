//! What a dual matrix Y proves about a program, in exact arithmetic, and what a point is worth: the
//! formulas of [`hottopixx::certify`], without its rounding and without its code.

use super::exact::{ExactRows, ScaledIntegers, product, rational};
use hottopixx::Goal;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

/// A program over localising matrices: all that decides its optimum.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// X.
    pub rows: &'a ExactRows,
    /// What is made small.
    pub goal: Goal,
    /// r of `sum d = r`; `None` where the trace is free.
    pub rank: Option<usize>,
    /// p.
    pub cost: &'a [f64],
    /// Whether a row may be hott.
    pub allowed: &'a [bool],
}

/// What Y proves.
#[derive(Debug, Clone)]
pub struct Proven {
    /// No feasible point has a smaller value.
    pub bound: BigRational,
    /// `sum_i ||Y_i||_inf`: what an error of one more is worth.
    pub norms: BigRational,
}

/// What a point (d, C) is worth.
#[derive(Debug, Clone)]
pub struct Worth {
    /// The value of the goal.
    pub objective: BigRational,
    /// The largest error of a row.
    pub worst: BigRational,
}

impl Question<'_> {
    /// `<Y,X> - tau sum ||Y_i|| + S(a)` for costs; for the other goals, which have no tau, a Y that
    /// is too large is scaled down to where its bound holds.
    pub fn proven(&self, dual: &[(usize, Vec<f64>)]) -> Proven {
        let flat = ScaledIntegers::of(dual.iter().flat_map(|(_, y)| y));
        let width = dual.first().map_or(1, |(_, y)| y.len().max(1));
        let unit = flat.unit();
        let y: Vec<(usize, &[BigInt])> =
            dual.iter().map(|row| row.0).zip(flat.values.chunks(width)).collect();
        let norm = |row: &[BigInt]| row.iter().map(Signed::abs).max().unwrap_or_default();
        let norms: Vec<BigInt> = y.iter().map(|row| norm(row.1)).collect();
        let sum = |values: &mut dyn Iterator<Item = BigRational>| -> BigRational {
            values.fold(BigRational::zero(), |sum, v| sum + v)
        };
        let products = sum(&mut y.iter().map(|(i, row)| self.rows.product(row, *i))) * &unit;
        let bound = products + self.cheapest(&self.prices(&y, &unit));
        let total = BigRational::from(norms.iter().sum::<BigInt>()) * &unit;
        let bound = match self.goal {
            Goal::Cost { tau } => bound - rational(tau) * &total,
            Goal::Minimax => scaled_down(bound, total.clone()),
            Goal::Total => {
                let largest = norms.iter().max().cloned().unwrap_or_default();
                scaled_down(bound, BigRational::from(largest) * &unit)
            }
        };
        Proven { bound, norms: total }
    }

    /// `a_j = p_j - G_jj - sum_{i != j} (G_ij)_+`, `G = Y X^T`.
    fn prices(&self, y: &[(usize, &[BigInt])], unit: &BigRational) -> Vec<BigRational> {
        let price = |j: usize| {
            let mut taken = BigRational::zero();
            for (i, row) in y {
                let g = self.rows.product(row, j);
                if *i == j || g.is_positive() {
                    taken += g;
                }
            }
            let start = match self.goal {
                Goal::Cost { .. } => rational(self.cost[j]),
                Goal::Minimax | Goal::Total => BigRational::zero(),
            };
            start - taken * unit
        };
        (0..self.rows.len()).map(price).collect()
    }

    /// S(a): the r smallest prices of rows that may be hott or, with a free trace, all below zero.
    fn cheapest(&self, prices: &[BigRational]) -> BigRational {
        let allowed = prices.iter().zip(self.allowed).filter(|(_, allowed)| **allowed);
        let mut prices: Vec<&BigRational> = allowed.map(|(a, _)| a).collect();
        prices.sort_unstable();
        let count = self.rank.unwrap_or_else(|| prices.iter().filter(|a| a.is_negative()).count());
        prices.iter().take(count).fold(BigRational::zero(), |sum, a| sum + *a)
    }

    /// The value of the goal at d with these rows of C, and the largest error. Judges no constraint.
    pub fn worth(&self, diagonal: &[f64], localising: &[Vec<(usize, f64)>]) -> Worth {
        let errors: Vec<BigRational> = localising
            .iter()
            .enumerate()
            .map(|(i, weights)| self.rows.distance(1.0, i, weights))
            .collect();
        let worst = errors.iter().max().cloned().unwrap_or_default();
        let objective = match self.goal {
            Goal::Cost { .. } => product(self.cost, diagonal),
            Goal::Minimax => worst.clone(),
            Goal::Total => errors.iter().fold(BigRational::zero(), |sum, e| sum + e),
        };
        Worth { objective, worst }
    }
}

/// The bound of `Y / size` where Y is too large, and zero where it proves less: errors are not
/// negative.
fn scaled_down(bound: BigRational, size: BigRational) -> BigRational {
    let bound = if size > BigRational::one() { bound / size } else { bound };
    bound.max(BigRational::zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(a: i64, b: i64) -> BigRational {
        BigRational::new(a.into(), b.into())
    }

    /// Two unit vectors and the point between them, which is all that may be hott: half of each
    /// vector is left unexplained.
    #[test]
    fn weak_duality_on_three_rows() {
        let matrix: [&[f64]; 3] = [&[1.0, 0.0], &[0.0, 3.0], &[2.0, 2.0]];
        let rows = ExactRows::of(matrix);
        let (cost, allowed) = ([0.0; 3], [false, false, true]);
        let minimax = Question {
            rows: &rows,
            goal: Goal::Minimax,
            rank: Some(1),
            cost: &cost,
            allowed: &allowed,
        };
        let dual = vec![(0, vec![1.0, -1.0])];
        assert_eq!(minimax.proven(&dual).bound, ratio(1, 1));
        // Twice as large it proves the same, not twice as much.
        assert_eq!(minimax.proven(&[(0, vec![2.0, -2.0])]).bound, ratio(1, 1));
        assert!(minimax.proven(&[]).bound.is_zero());
        let tau = Question { goal: Goal::Cost { tau: 0.5 }, cost: &[0.0, 0.0, 7.0], ..minimax };
        assert_eq!(tau.proven(&dual).bound, ratio(15, 2));
        let point = vec![vec![(2, 1.0)], vec![(2, 0.5)], vec![(2, 1.0)]];
        let worth = minimax.worth(&[0.0, 0.0, 1.0], &point);
        assert_eq!((worth.objective, worth.worst), (ratio(1, 1), ratio(1, 1)));
        assert_eq!(tau.worth(&[0.0, 0.0, 1.0], &point).objective, ratio(7, 1));
        let total = Question { goal: Goal::Total, ..minimax };
        assert_eq!(total.worth(&[0.0, 0.0, 1.0], &point).objective, ratio(2, 1));
    }
}
