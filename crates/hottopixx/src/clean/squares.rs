//! Cleaning by nonnegative least squares: fast at any size, not the l1 minimum.

use super::{RowFit, measure};
use crate::l1::Basis;
use crate::localise::greedy;
use crate::normalise::UnitRows;

/// Fits every row on the rows `hott` with the least sum of squares, `min ||x - z W||_2` over `z >= 0`,
/// on the Gram matrix of the hott rows: one product of X with W, and for each row a problem of the
/// size of the rank. The l1 errors are measured. O(rank * nonzeros + f rank^3).
pub fn least_squares(x: &UnitRows, hott: &[usize]) -> Vec<RowFit> {
    let weights = greedy::least_squares(x, hott);
    let fit = |(i, weights): (usize, Vec<(usize, f64)>)| match hott.iter().position(|h| *h == i) {
        Some(position) => RowFit::itself(position),
        None => RowFit {
            weights: weights.into_iter().map(|(j, w)| (j as u32, w)).collect(),
            error: 0.0,
            optimal: false,
            basis: Basis::default(),
        },
    };
    let mut fits: Vec<RowFit> = weights.into_iter().enumerate().map(fit).collect();
    let measured = measure(x, hott, &fits);
    fits.iter_mut().zip(measured.l1).for_each(|(fit, error)| fit.error = error);
    fits
}
