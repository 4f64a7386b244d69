//! The program `total` at the speed of matrix products: a bound for thousands of rows.
//!
//! ```text
//! min sum_i ||x_i - c_i X||_1     0 <= C_ij <= u_ij d_j,  C_jj = d_j <= 1,  sum d = r
//! ```
//!
//! with `u = 1` it is the program of [`lp`](super::lp) with [`Goal::Total`](crate::Goal::Total). With
//! the weights that a row can use at all (`caps`) it is a relaxation of what is reported: the best
//! choice of r rows when weights are free. Any Y with `|Y| <= 1` bounds it from below,
//!
//! ```text
//! <Y, X> - (sum of the r largest s_j),   s_j = y_j.x_j + sum_{i != j} u_ij (y_i.x_j)_+
//! ```
//!
//! which is what the iteration (`iterate`) makes large: cutting planes ([`lp`](super::lp)) are exact
//! but take minutes beyond some hundred rows, where this is within a few percent after a hundred
//! steps of two matrix products each.
//!
//! Most columns of C are zero at the optimum. Only those in play take part in the products: to
//! begin with, all if they are few, otherwise those that a run on a sample of the rows gives weight
//! or nearly so. The others are priced now and then and brought in when they pay; what has lost all
//! weight is dropped. Where rows are many, a part of them comes first: columns and levels that suit it
//! nearly suit all.
//!
//! The figures of the outcome are in single precision, to decide when to end: what is reported is
//! computed anew from Y by the verifier ([`certify`](crate::certify)).

mod caps;
mod columns;
mod iterate;
mod metric;
mod project;
mod search;

use crate::Error;
use crate::control::{Control, Stop};
use crate::localise::candidate_rows;
use crate::normalise::UnitRows;

/// What a row may weigh in the explanation of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weights {
    /// At most the diagonal: the paper's program.
    UpToDiagonal,
    /// As much as cleaning allows, which is anything: a relaxation of every choice of rows.
    Free,
}

/// How far to go.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FirstOrderSettings {
    /// Which program.
    pub weights: Weights,
    /// Relative gap between the value and the bound at which to stop.
    pub gap: f64,
    /// Steps at most.
    pub steps: usize,
    /// Flops in matrix products at most, so that the answer does not depend on the clock.
    pub work: f64,
    /// The error (sum over rows) of a choice of rows at hand, where there is one. The value of the
    /// relaxation is below it whatever is done here, so that what is still open between value and bound
    /// matters less and less beside the difference: see [`FirstOrderSettings::is_enough`].
    pub at_hand: Option<f64>,
}

/// The share of the distance between the value of the relaxation and the error at hand that may be left
/// open between bound and value, and the share of the value itself.
const OPEN: f64 = 0.3;
const OPEN_OF_VALUE: f64 = 0.2;

impl FirstOrderSettings {
    /// Whether more steps would change little of what is known about the choice at hand, or the gap that
    /// was asked for is reached.
    fn is_enough(&self, value: f64, bound: f64) -> bool {
        let beside = self.at_hand.map_or(0.0, |error| OPEN * (error - value));
        value - bound <= beside.min(OPEN_OF_VALUE * value).max(self.gap * value)
    }
}

/// What came of it; sums over rows.
#[derive(Debug, Clone)]
pub struct FirstOrderOutcome {
    /// The diagonal of the best point, one entry per row of X, with the rank as its sum.
    pub diagonal: Vec<f64>,
    /// Rows of C there: (row of X, weight > 0), increasing.
    pub localising: Vec<Vec<(u32, f64)>>,
    /// Y, f x n and row-major: the dual of the best bound.
    pub dual: Vec<f32>,
    /// The value of the point, errors times the weights of their rows, in single precision.
    pub objective: f64,
    /// What Y proves, in single precision; minus infinity where no bound counts.
    pub lower_bound: f64,
    /// Steps taken.
    pub steps: usize,
    /// Why it ended.
    pub stop: Stop,
}

/// Numbers in single precision (X, four of the size of Y, four of the size of C) beyond which the
/// method is not offered.
const MOST_NUMBERS: f64 = 6e8;

/// Whether X is small enough to be held densely a few times.
pub fn fits_memory(features: usize, examples: usize) -> bool {
    6.0 * features as f64 * examples as f64 <= MOST_NUMBERS
}

/// Flops of this many steps, with those that find the columns to begin with.
pub fn work(features: usize, candidates: usize, examples: usize, steps: f64) -> f64 {
    let in_play = candidates.min(columns::FIRST_IN_PLAY) as f64;
    let step = 4.0 * features as f64 * in_play * examples as f64;
    steps * step + columns::sample_work(features, candidates, examples)
}

/// Bytes that [`first_order`] takes at most.
pub fn bytes(features: usize, candidates: usize, examples: usize) -> u64 {
    let (f, n) = (features as f64, examples as f64);
    let m = candidates.min(columns::MOST_IN_PLAY) as f64;
    // Saturates: sizes may be what a file claims.
    (4.0 * (8.0 * f * n + 8.0 * f * m + m * n)) as u64
}

/// Runs the method over the rows that are `allowed` to be hott. Stops at the gap, at the limits of the
/// settings, or at what `control` says; `None` when it was stopped before there was any point. The
/// answer does not depend on the number of threads.
///
/// # Errors
/// [`Error::Rank`] when there are fewer than `rank` candidates.
pub fn first_order(
    x: &UnitRows,
    rank: usize,
    allowed: &[bool],
    settings: &FirstOrderSettings,
    control: &Control,
) -> Result<Option<FirstOrderOutcome>, Error> {
    let candidates = candidate_rows(allowed, rank)?;
    Ok(search::run(x, rank, candidates, settings, control))
}

#[cfg(test)]
mod tests;
