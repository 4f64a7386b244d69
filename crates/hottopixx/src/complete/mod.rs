//! Entries that were not observed, completed from those that were.
//!
//! Hott rows are rows of X, and a row that is to explain others needs a number in every column where these
//! were observed. So X is completed before rows are chosen, by a model of the rank that is asked for:
//!
//! 1. *Low rank.* `X ~ A B^T` by alternating least squares over the observed entries alone, each side whitened before the
//!    other is solved on it. Signs are free, so that nothing but the number of observed entries stands in the
//!    way: exactly separable data are recovered exactly. With half of the entries missing, one random start in a dozen
//!    ends far from the others, at ten times their error: of some starts the one with the least error is taken.
//! 2. *Nonnegative.* Of the rows that this completes, successive projection takes as many as the rank; from
//!    these the sides are alternated some more with nonnegative least squares, rows being shrunk towards what they have in
//!    common, and columns likewise (`prior`). That is masked nonnegative matrix factorization from a separable start, by
//!    empirical Bayes: least squares alone would follow the noise.
//!
//! Observed entries stay as they are. Guesses are never counted in an error: they only say what a hott row is like
//! where it was not observed. A sweep costs `r^2` for each entry that was observed or not, whichever are fewer in its row,
//! and `r^3` per row and column, twice with what they have in common.

mod prior;
mod sweep;

use crate::control::Control;
use crate::localise::spa_controlled;
use crate::matrix::{Gaps, Matrix};
use crate::normalise::UnitRows;
use sweep::{Side, Solving};

/// Sweeps of both kinds at most and at least, and operations for the first and the second kind.
const FREE_SWEEPS: (usize, usize) = (3, 20);
const NONNEGATIVE_SWEEPS: (usize, usize) = (2, 30);
const WORK: f64 = 1e10;
/// Random starts, where this many times the most sweeps are affordable.
const STARTS: usize = 3;
/// What is added to the diagonal of whitened systems, relative to it: rows with few observed entries stay near zero.
const RIDGE: f64 = 1e-4;
/// Rows with fewer observed entries than this many times the rank are not among those to begin with.
const WELL_OBSERVED: usize = 2;

/// The matrix, zero in these places, with guesses there instead, from a model of this rank. A row of which nothing above
/// zero was observed keeps its zeros. Stopped, guesses are those of the model so far. Does not depend on the
/// number of threads.
pub(crate) fn complete(zeros: &Matrix, gaps: &Gaps, rank: usize, control: &Control) -> Matrix {
    let sums = zeros.scan().sums();
    let mut unit = zeros.clone();
    // Rows are divided by the mean of what was observed.
    let observed = |i: usize| (zeros.cols() - gaps.row(i).len()).max(1) as f64;
    let means: Vec<f64> = sums.iter().enumerate().map(|(i, sum)| sum / observed(i)).collect();
    let over = |mean: &f64| if *mean > 0.0 { 1.0 / mean } else { 0.0 };
    unit.scale_rows(&means.iter().map(over).collect::<Vec<_>>());
    let rows = Side::new(unit.clone(), gaps.clone());
    let columns = Side::new(unit.transpose(), gaps.transpose(zeros.cols()));
    let rank = rank.min(zeros.rows()).min(zeros.cols()).max(1);
    let work = rows.work(rank) + columns.work(rank);
    let sweeps = |(least, most): (usize, usize)| ((WORK / work) as usize).clamp(least, most);

    let low_rank = |seed: usize| {
        let mut b = columns.random_start(&rows, rank, seed as u64);
        let mut a = Vec::new();
        for _ in 0..sweeps(FREE_SWEEPS) {
            sweep::whiten(&mut b, rank);
            let Some(solved) = rows.solve(&b, rank, Solving::Free(RIDGE), control) else { break };
            a = solved.values;
            sweep::whiten(&mut a, rank);
            let solved = columns.solve(&a, rank, Solving::Free(RIDGE), control);
            let Some(solved) = solved else { break };
            b = solved.values;
        }
        (a, b)
    };
    let (mut a, mut b) = low_rank(0);
    if WORK / work >= (STARTS * FREE_SWEEPS.1) as f64 {
        let mut least = rows.squares_left(&a, &b, rank);
        for seed in 1..STARTS {
            let (other_a, other_b) = low_rank(seed);
            if control.stopped().is_some() {
                break;
            }
            let left = rows.squares_left(&other_a, &other_b, rank);
            if left < least {
                (a, b, least) = (other_a, other_b, left);
            }
        }
    }
    let guessed = |a: &[f64], b: &[f64]| {
        unit.with_entries(gaps, |i, k| match means[i] > 0.0 && !a.is_empty() {
            true => product(a, b, rank, i, k).max(0.0),
            false => 0.0,
        })
    };
    let free = guessed(&a, &b);
    let fitted = start(&free, gaps, rank, control).and_then(|b| {
        let sweeps = sweeps(NONNEGATIVE_SWEEPS);
        prior::alternate((&rows, &columns), &b, rank, sweeps, &means, control)
    });
    let completed = fitted.map_or(free, |(a, b)| guessed(&a, &b));
    zeros.with_entries(gaps, |i, k| means[i] * completed.row(i).entry(k))
}

/// Rows that stick out of a completed matrix, as columns x rank; `None` when stopped, or where there are too few.
fn start(free: &Matrix, gaps: &Gaps, rank: usize, control: &Control) -> Option<Vec<f64>> {
    let x = UnitRows::new(free).ok()?;
    let observed = |i: usize| x.examples() - gaps.row(x.input_row(i)).len();
    let well: Vec<bool> = (0..x.features()).map(|i| observed(i) >= WELL_OBSERVED * rank).collect();
    let enough = well.iter().filter(|well| **well).count() >= rank;
    let allowed = if enough { well } else { vec![true; x.features()] };
    let hott = spa_controlled(&x, None, rank, &allowed, control).rows;
    (hott.len() == rank).then(|| {
        let mut b = vec![0.0; x.examples() * rank];
        for (q, &h) in hott.iter().enumerate() {
            x.row(h).nonzeros().for_each(|(k, value)| b[k * rank + q] = value);
        }
        b
    })
}

fn product(a: &[f64], b: &[f64], rank: usize, i: usize, k: usize) -> f64 {
    crate::kernels::dot(&a[i * rank..(i + 1) * rank], &b[k * rank..(k + 1) * rank])
}

#[cfg(test)]
mod tests;
