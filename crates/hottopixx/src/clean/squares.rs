//! Cleaning by nonnegative least squares: fast at any size, not the l1 minimum.

use super::exact::same_as_hott;
use super::{RowFit, measure_rows};
use crate::control::Control;
use crate::normalise::UnitRows;
use crate::squares::least_squares_of;

/// Fits the given rows on the rows `hott` with the least sum of squares, `min ||x - z W||_2` over
/// `z >= 0`, on the Gram matrix of the hott rows: one product of X with W, and for each row a problem
/// of the size of the rank. The l1 errors are measured. O(rank * nonzeros + rows rank^3).
///
/// Rows that `control` leaves no time for get the one hott row that serves them best.
pub fn least_squares(
    x: &UnitRows,
    hott: &[usize],
    rows: &[usize],
    control: &Control,
) -> Vec<RowFit> {
    weighted(x, hott, rows, least_squares_of(x, hott, rows, control))
}

/// The given rows with the given weights by position in `hott`, and their errors; hott rows
/// explain themselves.
pub(super) fn weighted(
    x: &UnitRows,
    hott: &[usize],
    rows: &[usize],
    weights: Vec<Vec<f64>>,
) -> Vec<RowFit> {
    let fit = |(&i, c): (&usize, Vec<f64>)| match same_as_hott(x, hott, i) {
        Some(position) => RowFit::itself(position),
        None => {
            RowFit { weights: (0u32..).zip(c).filter(|w| w.1 > 0.0).collect(), ..RowFit::default() }
        }
    };
    let mut fits: Vec<RowFit> = rows.iter().zip(weights).map(fit).collect();
    let measured = measure_rows(x, hott, rows, &fits.iter().collect::<Vec<_>>());
    for (fit, (error, squares)) in fits.iter_mut().zip(measured) {
        (fit.error, fit.squares) = (error, Some(squares));
    }
    fits
}
