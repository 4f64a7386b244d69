//! Why the verifier does not accept a certificate.

use crate::control::Stop;

/// Why a certificate was not accepted. Rows and columns count from 0 and are those of X with unit
/// rows, of C or of Y.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A part that does not fit X.
    #[error(
        "{what} has {found} entries, but X asks for {expected}: certificate of another matrix?"
    )]
    Shape {
        /// The part.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length it must have.
        expected: usize,
    },
    /// A row of Y that X does not have, or that comes out of order.
    #[error("row {row} of the dual is out of place: rows must increase and be below {rows}")]
    DualRow {
        /// The row.
        row: usize,
        /// Rows of X.
        rows: usize,
    },
    /// NaN or infinite.
    #[error("{what}, row {row}: {value} is no finite number")]
    NotFinite {
        /// The part.
        what: &'static str,
        /// The row in it.
        row: usize,
        /// The value.
        value: f64,
    },
    /// tau is negative.
    #[error("tau = {tau} is not possible: errors cannot be negative")]
    Tau {
        /// tau.
        tau: f64,
    },
    /// More hott rows than rows that may be hott.
    #[error("rank {rank} is not possible: {allowed} rows may be hott")]
    Rank {
        /// The rank.
        rank: usize,
        /// Rows that may be hott.
        allowed: usize,
    },
    /// A cost where the goal has none.
    #[error("row {row} costs {value}, but the goal knows no costs: set it to 0")]
    Cost {
        /// The row.
        row: usize,
        /// Its cost.
        value: f64,
    },
    /// `d_j` outside 0 to 1.
    #[error("the diagonal is {value} at row {row}: it must be between 0 and 1")]
    Diagonal {
        /// The row.
        row: usize,
        /// `d_j`.
        value: f64,
    },
    /// `d_j > 0` for a row that may not be hott.
    #[error("the diagonal is {value} at row {row}, which may not be hott")]
    Forbidden {
        /// The row.
        row: usize,
        /// `d_j`.
        value: f64,
    },
    /// The rows that must be hott are not rows that may be, increasing, and no more than the rank.
    #[error(
        "the rows that must be hott are not rows that may be, in increasing order and no more than the rank"
    )]
    Must,
    /// `d_j < 1` for a row that must be hott.
    #[error("the diagonal is {value} at row {row}, which must be hott")]
    LeftOut {
        /// The row.
        row: usize,
        /// `d_j`.
        value: f64,
    },
    /// `C_jj` is not `d_j`.
    #[error("C has {found} at row {row} of its diagonal, which is claimed to be {claimed}")]
    DiagonalOfC {
        /// The row.
        row: usize,
        /// `C_jj`.
        found: f64,
        /// `d_j`.
        claimed: f64,
    },
    /// `C_ij < 0` or `C_ij > d_j`.
    #[error("C is {value} at row {row}, column {col}: it must be between 0 and {diagonal}")]
    Weight {
        /// i.
        row: usize,
        /// j.
        col: usize,
        /// `C_ij`.
        value: f64,
        /// `d_j`.
        diagonal: f64,
    },
    /// The trace is not the rank.
    #[error("the diagonal sums to {found} instead of {rank}")]
    Trace {
        /// `sum d`.
        found: f64,
        /// The rank.
        rank: usize,
    },
    /// A row that is not explained well enough.
    #[error("the error of row {row} is {found}, more than tau = {tau}")]
    Error {
        /// The row.
        row: usize,
        /// Its l1 error.
        found: f64,
        /// The largest error allowed.
        tau: f64,
    },
    /// Numbers so large that floating point has no bound for them.
    #[error("{what} is beyond the range of numbers: nothing is proven")]
    Range {
        /// The figure.
        what: &'static str,
    },
    /// Told to stop before everything was checked.
    #[error("not checked to the end: {0}")]
    Stopped(Stop),
    /// A figure of the audit that is not what X, C or Y give.
    #[error("{what} of row {row} is {found}, not {claimed}: the data or the certificate changed")]
    Audit {
        /// The figure.
        what: &'static str,
        /// The row.
        row: usize,
        /// As recomputed.
        found: f64,
        /// As claimed.
        claimed: f64,
    },
    /// A cut that is none: its multiplier is negative, or its dual larger than one.
    #[error(
        "a cut of row {row} has the multiplier {multiplier} and a dual of size {size}: at least 0 and at most 1 are allowed"
    )]
    Cut {
        /// The row.
        row: usize,
        /// Its multiplier.
        multiplier: f64,
        /// The largest entry of its dual.
        size: f64,
    },
    /// The cuts do not prove that no choice stays within the threshold.
    #[error(
        "the cuts do not prove that every choice has an error above {threshold}: some might cover \
         {found} where {needed} is needed"
    )]
    Covered {
        /// The threshold.
        threshold: f64,
        /// What a choice within the threshold would have to cover.
        needed: f64,
        /// What a choice may cover.
        found: f64,
    },
    /// The objective is not as claimed.
    #[error("the objective is {found}, not {claimed}")]
    Objective {
        /// As recomputed.
        found: f64,
        /// As claimed.
        claimed: f64,
    },
    /// The lower bound is not as claimed.
    #[error("the dual proves a lower bound of {found}, not {claimed}")]
    LowerBound {
        /// As recomputed.
        found: f64,
        /// As claimed.
        claimed: f64,
    },
    /// A bound above the value that it bounds.
    #[error(
        "the lower bound {lower_bound} is above the objective {objective}, by more than the \
         {explained} that errors above tau explain"
    )]
    Crossing {
        /// The objective.
        objective: f64,
        /// The lower bound.
        lower_bound: f64,
        /// The largest excess over tau times the sum of the dual's norms.
        explained: f64,
    },
}

impl Refusal {
    /// The row of X, C or Y that the refusal is about, if it is about one.
    pub fn row(&self) -> Option<usize> {
        match self {
            Refusal::DualRow { row, .. }
            | Refusal::NotFinite { row, .. }
            | Refusal::Cost { row, .. }
            | Refusal::Diagonal { row, .. }
            | Refusal::Forbidden { row, .. }
            | Refusal::LeftOut { row, .. }
            | Refusal::DiagonalOfC { row, .. }
            | Refusal::Weight { row, .. }
            | Refusal::Error { row, .. }
            | Refusal::Cut { row, .. }
            | Refusal::Audit { row, .. } => Some(*row),
            _ => None,
        }
    }
}

/// Refuses the first value that is no number. A part with one value per row gives no row: the place
/// is the row.
pub(super) fn finite(
    what: &'static str,
    row: Option<usize>,
    values: &[f64],
) -> Result<(), Refusal> {
    match values.iter().position(|v| !v.is_finite()) {
        Some(k) => Err(Refusal::NotFinite { what, row: row.unwrap_or(k), value: values[k] }),
        None => Ok(()),
    }
}
