//! Cleaning: from hott rows to F, equation (2) of the paper,
//!
//! `F = argmin over Z >= 0 of ||X - Z W||_{inf,1}`, W the hott rows of X.
//!
//! The rows of Z decouple, so each is an l1 fit on the hott rows ([`crate::l1`]), exact and in
//! parallel. The paper's two epochs of incremental gradients are offered as the fast choice; they
//! are far from the minimum (see [`incremental`]), farther than [`least_squares`], which is what
//! matrices too large for exact fits get ([`is_affordable`]). The result says which one was used.

mod exact;
mod fitted;
mod incremental;
mod measure;
mod squares;

pub use exact::{RowFit, exact};
pub(crate) use exact::{Starts, refit};
pub use fitted::Cleaning;
pub(crate) use fitted::{Cleaner, Distances, FittedChoice};
pub use incremental::{IncrementalSettings, incremental};
use measure::measure_rows;
#[doc(hidden)]
pub use measure::{Measured, measure};
pub use squares::least_squares;

use crate::matrix::Shape;

/// Operations of exact cleaning up to which it counts as affordable: a minute or two of one core.
const AFFORDABLE: f64 = 1e11;

/// What rows of sparse data take of that: few hott rows meet their support, and most rows need no
/// pivot at all. Measured at 44739 x 351849 and 47153 x 781265 with 100 hott rows.
const SPARSE_SHARE: f64 = 0.02;

/// Operations that the exact l1 fit of a row on `rank` hott rows takes, roughly: about three pivots
/// a hott row, each over the columns in doubt (for wide rows one in 24 and some more, otherwise all),
/// and some passes over all columns. `points` is the number of nonzeros of the row.
fn fit_operations(points: f64, rank: usize) -> f64 {
    let k = rank as f64;
    let in_doubt = points.min(500.0 + points / 24.0 + 5.0 * k);
    3.0 * k * (k * in_doubt + k * k) + 10.0 * k * points
}

/// Whether all rows can be cleaned exactly in reasonable time, by the shape of X alone: the same
/// answer on every machine.
#[doc(hidden)]
pub fn is_affordable(x: Shape, rank: usize) -> bool {
    x.rows as f64 * row_operations(x, rank) <= AFFORDABLE
}

/// Operations that the exact fit of a row of X takes on average, by the shape of X alone.
pub(crate) fn row_operations(x: Shape, rank: usize) -> f64 {
    let points = x.entries as f64 / x.rows as f64;
    fit_operations(points, rank) * if x.dense { 1.0 } else { SPARSE_SHARE }
}
