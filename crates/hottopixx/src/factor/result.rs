//! The answer.

use super::{Completion, Method};
use crate::clean::Cleaning;
use crate::control::Stop;
use crate::matrix::Matrix;
use crate::methods::{Bounds, KeptDual};
use crate::select::portfolio::Judged;
use std::sync::Arc;

/// A hott row of the answer.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct HottRow {
    /// Row of the input, from 0.
    pub row: usize,
    /// Its weight on the diagonal of the localising matrix, pooled over the group; 1 for methods
    /// that choose rows outright.
    pub weight: f64,
    /// All rows of the input, this one included, that could stand in its place with nearly the
    /// same error. Increasing.
    pub group: Vec<usize>,
}

/// Errors of a factorization, against X with unit row sums; rows of zeros do not count. Where entries were not observed,
/// the rows are what was observed of them.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Errors {
    /// The largest l1 error of a row: the paper's (inf,1) norm of X - FW.
    pub inf1: f64,
    /// The mean over rows of the l1 error, each counting as much as [`Factor::weights`](super::Factor::weights) says.
    pub mean_l1: f64,
    /// Root of the mean squared error over all entries.
    pub rmse: f64,
    /// The l1 error of each row of the input.
    #[serde(skip)]
    pub per_row: Vec<f64>,
}

/// Wall-clock seconds of each step.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct Seconds {
    /// Normalising and finding where hott rows are.
    pub localize: f64,
    /// Choosing among candidates and exchanging.
    pub select: f64,
    /// Fitting all rows on the hott rows.
    pub clean: f64,
}

/// The answer: `X ~ F W`, in the units of the input. It serialises without what is a matrix or has an
/// entry per row.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Factorization {
    /// The method that was asked for.
    pub method: Method,
    /// Where the chosen rows come from, such as `gradient, cluster`, before any exchanges.
    pub chosen_from: Option<String>,
    /// The candidates that were judged, with their cleaned errors.
    pub judged: Vec<Judged>,
    /// Exchanges that refined the choice.
    pub exchanges: usize,
    /// The hott rows, one for each row of W and column of F: in the order of choice for greedy
    /// methods, otherwise the most distinctive (farthest from the mean row) first.
    pub hott: Vec<HottRow>,
    /// F, features x rank: dense for dense input, sparse for sparse input.
    #[serde(skip)]
    pub f: Matrix,
    /// W, rank x examples: the hott rows of the input.
    #[serde(skip)]
    pub w: Matrix,
    /// How well F W explains X.
    #[serde(rename = "error")]
    pub errors: Errors,
    /// The bounds of the linear program that was solved: the method's own. For [`Method::Auto`] the
    /// bound on the mean error of every choice of rows where that is made small, and otherwise that of
    /// minimax, where they ranged over all rows that may be hott.
    #[serde(rename = "certificate")]
    pub bounds: Option<Bounds>,
    /// What the caller should know about how the rows were chosen, in whole sentences.
    pub notes: Vec<String>,
    /// The diagonal of the localising matrix by row of the input, where the method has one.
    #[serde(skip)]
    pub diagonal: Option<Vec<f64>>,
    /// The dual behind the bound on the mean error, with [`Factor::keep_dual`](super::Factor::keep_dual) and where there is
    /// one: for [`Factor::start_dual`](super::Factor::start_dual).
    #[serde(skip)]
    pub dual: Option<Arc<KeptDual>>,
    /// How F was fitted; never [`Cleaning::Auto`].
    pub cleaning: Cleaning,
    /// Rows whose exact fit could not be proven optimal (rounding got in the way); their measured
    /// errors hold all the same. Always 0 unless cleaning was exact: the others prove nothing.
    pub inexact_rows: usize,
    /// Rows of zeros in the input, explained by nothing.
    pub zero_rows: Vec<usize>,
    /// Rows that were set aside as outliers: they cannot be hott, and of the errors only `per_row` has theirs. Increasing.
    pub outliers: Vec<usize>,
    /// What was not observed, with [`Missing::Observed`](super::Missing::Observed) and where there was any: W is then
    /// made of completed rows, and errors are those of observed entries.
    #[serde(rename = "missing", skip_serializing_if = "Option::is_none")]
    pub completion: Option<Completion>,
    /// Why the computation ended.
    pub stop: Stop,
    /// Time spent.
    pub seconds: Seconds,
}
