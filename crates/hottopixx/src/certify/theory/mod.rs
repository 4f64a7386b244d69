//! Does the paper's robustness theorem apply to this X and these hott rows?
//!
//! Theorem 3.2 speaks of a separable `Y = F W` near X that nobody sees. Here one is constructed: W
//! is the chosen rows of X, and row j of Y is the point of their convex hull that is nearest to
//! `x_j` in l1. Y *is* separable with hott rows W, so its figures are no estimates: alpha is the
//! simplicial constant of W, epsilon the largest `||x_j - y_j||_1`, d0 the smallest distance of
//! another row of Y from a hott row. Rows very near a hott row would make d0 small; they may be
//! moved onto it instead, as the duplicates that the paper allows, which may cost epsilon. If then
//! `epsilon < min(alpha d0, alpha^2) / (9 (r + 1))`, the theorem applies to X as it stands.
//!
//! # Rounding
//! "Holds" is a statement about the matrix as it was given, so alpha and d0 are bounds from below
//! and epsilon is one from above:
//!
//! - *alpha*: for any y with `||y||_inf <= 1`, hott row i is at least `<y, w_i> - max_j <y, w_j>`
//!   from the hull of the others. y comes from an l1 fit, and its products are rounded to the safe
//!   side; a poor y makes alpha smaller, never wrong.
//! - *epsilon, d0*: norms over n columns of combinations of at most r + 2 rows. No term takes part in
//!   more than n roundings in the sum of its row, n in the norm and r + 16 in between, and the
//!   sizes of all terms sum to less than 16, so a norm is off by at most `16 gamma(2n + r + 16)`, in
//!   whatever order it was added. That the weights of a row of Y sum to one only up to rounding is
//!   part of it.
//!
//! # The proof, with its rows mended
//! Write `m = min(alpha d0, alpha^2)`. The paper's proof ends with
//! `epsilon < sqrt(1 + q/4) - 1 < q/9`, `q = m / (r + 1)`. What it needs is
//! `q/9 <= sqrt(1 + q/4) - 1`, which holds for `q <= 9/4`, and `m <= 4` makes `q <= 2` always.
//!
//! It also applies its lemma, which is about weights that sum to one, to rows of C that do so only
//! up to `2 epsilon`. For the Y above the conclusion stands: let c be row i of a C in
//! `Phi_{2 epsilon}(X)`, i hott, s its sum, w its weight on i and the duplicates of i, z the point
//! of the hull that the rest of c makes of Y when it is scaled to sum to one. The paper's lemmas
//! give `||y_i - z||_1 >= m / 2`; `(1 - w)(y_i - z)` sums to zero, so its norm is twice its
//! positive part, and
//!
//! `(1 - w) m / 2 <= ||x_i - cX||_1 + |s - 1| + ||c(X - Y)||_1 <= 4 epsilon + ||c(X - Y)||_1`
//!
//! Hott rows have no noise in Y. Without duplicates the last term is at most `(s - w) epsilon`, so
//! `1 - w <= (8 epsilon + 4 epsilon^2) / (m - 2 epsilon) < 1 / (r + 1)` at the paper's threshold
//! (for r = 2 because `d0 <= 2 - 2/r`). With duplicates it may be `s epsilon`, and
//! `1 - w <= (10 epsilon + 4 epsilon^2) / m` asks for 11 in the place of 9. In both cases every
//! hott row with its duplicates has more of the trace r than all rows that are neither.

mod duplicates;
mod nearest;
mod sentence;

use super::figures::Rows;
use super::refusal::Refusal;
use super::rounding::add_down;
use crate::Error;
use crate::control::{Control, Stop};
use crate::kernels::parallel::*;
use crate::l1::fit;
use crate::matrix::Dense;
use crate::normalise::UnitRows;
use duplicates::best_duplicates;
use nearest::nearest_points;

/// Weight of the column that holds the sum of a row's weights to one: an exact penalty for unit
/// rows, mending the sum costs at most as much as it is wrong.
const PENALTY: f64 = 2.0;

/// The figures of Theorem 3.2 for some hott rows of X, and whether its condition holds.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Theory {
    /// At most the smallest l1 distance of a hott row from the hull of the others; 0 where nothing
    /// is proven.
    pub alpha: f64,
    /// d0, at most the smallest l1 distance of another row of Y from a hott row; `None` when all
    /// other rows, if any, are duplicates of hott rows.
    pub margin: Option<f64>,
    /// At least the largest l1 distance of a row of X from its row of Y.
    pub epsilon: f64,
    /// `min(alpha d0, alpha^2) / (9 (r + 1))`, rounded down; with 11 for 9 when there are
    /// duplicates.
    pub threshold: f64,
    /// Whether `epsilon < threshold`.
    pub holds: bool,
    /// For each hott row, in the order given, the rows that count as its duplicates, increasing.
    pub duplicates: Vec<Vec<usize>>,
}

impl Theory {
    /// r, the number of hott rows.
    pub fn rank(&self) -> usize {
        self.duplicates.len()
    }
}

/// Constructs a separable matrix near X with the rows `hott` (of X) as its hott rows, and checks
/// the condition of Theorem 3.2 on it.
///
/// One l1 fit on r atoms for every row of X, as in [`clean::exact`](crate::clean::exact), and
/// O(n + nonzeros of W) more; memory O(r n) and O(n) per thread. Parallel over rows; the answer
/// does not depend on the number of threads.
///
/// # Errors
/// [`Error::Rank`] without hott rows, [`Error::HottRow`] for rows that X does not have or that are
/// named twice, [`Error::NoAnswer`] when `control` stops the work.
pub fn theory(x: &UnitRows, hott: &[usize], control: &Control) -> Result<Theory, Error> {
    check(x, hott)?;
    let alpha = alpha(x, hott, control)?;
    let rows = nearest_points(x, hott, control)?;
    Ok(best_duplicates(&rows, hott, alpha))
}

fn check(x: &UnitRows, hott: &[usize]) -> Result<(), Error> {
    if hott.is_empty() {
        return Err(Error::Rank { rank: 0, available: x.features(), what: "rows" });
    }
    for (k, &row) in hott.iter().enumerate() {
        let reason = if row >= x.features() {
            format!("X has {} rows", x.features())
        } else if hott[..k].contains(&row) {
            "it is named twice".to_string()
        } else {
            continue;
        };
        return Err(Error::HottRow { row, reason });
    }
    Ok(())
}

/// A bound from below on the simplicial constant of the hott rows.
fn alpha(x: &UnitRows, hott: &[usize], control: &Control) -> Result<f64, Error> {
    if hott.len() < 2 {
        return Ok(2.0);
    }
    let rows = Rows::new(x, control).map_err(stopped)?;
    let mut w = Dense::zeros(hott.len(), x.examples() + 1);
    for (k, &i) in hott.iter().enumerate() {
        x.row(i).add_to(1.0, &mut w.row_mut(k)[..x.examples()]);
        w.row_mut(k)[x.examples()] = PENALTY;
    }
    let distance = |k| unless_stopped(control).map(|()| hull_bound(&rows, &w, hott, k));
    let distances: Vec<f64> = (0..hott.len())
        .into_par_iter()
        .map(distance)
        .collect::<Result<_, Stop>>()
        .map_err(Error::NoAnswer)?;
    Ok(distances.into_iter().fold(f64::INFINITY, f64::min))
}

/// At most the l1 distance of hott row `hott[k]` from the hull of the others, and at least 0. `w` has
/// the hott rows with one more column for the penalty.
fn hull_bound(rows: &Rows, w: &Dense, hott: &[usize], k: usize) -> f64 {
    let others: Vec<usize> = (0..hott.len()).filter(|j| *j != k).collect();
    let Ok(found) = fit(&w.select_rows(&others), w.row(k), None) else { return 0.0 };
    let columns = w.cols() - 1;
    let Some(dual) = found.dual.get(..columns) else { return 0.0 };
    let y: Vec<f64> = dual.iter().map(|v| v.clamp(-1.0, 1.0)).collect();
    let inside = others.iter().map(|&j| rows.bounds(hott[j], &y).high);
    let inside = inside.fold(f64::NEG_INFINITY, f64::max);
    add_down(rows.bounds(hott[k], &y).low, -inside).max(0.0)
}

/// The verifier's arithmetic ends early for one reason only.
fn stopped(refusal: Refusal) -> Error {
    match refusal {
        Refusal::Stopped(stop) => Error::NoAnswer(stop),
        _ => Error::NoAnswer(Stop::Finished),
    }
}

fn unless_stopped(control: &Control) -> Result<(), Stop> {
    control.stopped().map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests;
