//! Cleaning by nonnegative least squares: fast at any size, not the l1 minimum.

use super::{RowFit, measure_rows};
use crate::l1::Basis;
use crate::localise::greedy::least_squares_of;
use crate::normalise::UnitRows;

/// Fits the given rows on the rows `hott` with the least sum of squares, `min ||x - z W||_2` over
/// `z >= 0`, on the Gram matrix of the hott rows: one product of X with W, and for each row a problem
/// of the size of the rank. The l1 errors are measured. O(rank * nonzeros + rows rank^3).
pub fn least_squares(x: &UnitRows, hott: &[usize], rows: &[usize]) -> Vec<RowFit> {
    let weights = least_squares_of(x, hott, rows);
    let fit = |(&i, c): (&usize, Vec<f64>)| match hott.iter().position(|h| *h == i) {
        Some(position) => RowFit::itself(position),
        None => RowFit {
            weights: (0u32..).zip(c).filter(|w| w.1 > 0.0).collect(),
            error: 0.0,
            optimal: false,
            basis: Basis::default(),
        },
    };
    let mut fits: Vec<RowFit> = rows.iter().zip(weights).map(fit).collect();
    let measured = measure_rows(x, hott, rows, &fits);
    fits.iter_mut().zip(measured).for_each(|(fit, error)| fit.error = error.0);
    fits
}
