//! Greedy methods: take the row that the rows taken so far explain worst, `rank` times.
//!
//! They differ in what "explain" means: [`spa`] projects onto the span of the chosen rows,
//! [`snpa`] onto the convex hull of them and the origin, [`xray`] onto their cone. All three are
//! exact on separable data without noise and cost about one product with X for each row chosen, several of
//! them in one pass over X (`inner`), so they are the fastest methods here; they fail on instances where extreme rows are not hott
//! (such as midpoints pushed outward), which is where the convex methods earn their keep.
//!
//! No function here returns fewer than `rank` rows while that many are allowed, unless it was
//! stopped: when the chosen rows explain everything, the farthest rows from their span follow,
//! then the rows with the lowest index. Ties go to the lowest index.

mod fits;
mod inner;
mod snpa;
mod spa;
mod xray;

pub(crate) use inner::MOST as GRAM_BATCH;
#[cfg(test)]
pub(crate) use snpa::snpa_weighted;
pub use snpa::{snpa, snpa_ruled};
#[cfg(test)]
pub(crate) use spa::spa_weighted;
pub use spa::{spa, spa_controlled, spa_ruled};
pub use xray::{xray, xray_ruled};

use crate::control::{Control, Progress, Stage, Stop};
use crate::kernels::parallel::*;
use crate::normalise::UnitRows;

/// A residual below this share of the squared norm of the largest row is rounding error: nothing
/// is left to explain.
const EXHAUSTED: f64 = 1e-22;

/// What a greedy method chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Greedy {
    /// The rows, in the order in which they were chosen.
    pub rows: Vec<usize>,
    /// Why it ended; unless [`Stop::Finished`], there may be fewer rows than asked for.
    pub stop: Stop,
}

/// The allowed row with the largest score above `floor`, the first of equals. Chosen rows must
/// have been taken out of `open`.
fn best(scores: &[f64], open: &[bool], floor: f64) -> Option<usize> {
    let mut found: Option<usize> = None;
    for i in (0..scores.len()).filter(|&i| open[i] && scores[i] > floor) {
        if found.is_none_or(|at| scores[i] > scores[at]) {
            found = Some(i);
        }
    }
    found
}

/// `||x_i||_2^2` for every row.
fn squared_norms(x: &UnitRows) -> Vec<f64> {
    (0..x.features()).into_par_iter().map(|i| x.row(i).squared_norm()).collect()
}

/// `factor_i x_i - sum_q coefficients_q x_{rows_q}` as a dense vector, into `out` (length n).
fn residual(x: &UnitRows, i: usize, factor: f64, rows: &[usize], c: &[f64], out: &mut [f64]) {
    x.row(i).write_to(factor, out);
    for (&row, &weight) in rows.iter().zip(c).filter(|(_, c)| **c != 0.0) {
        x.row(row).add_to(-weight, out);
    }
}

fn report(control: &Control, task: &str, done: usize, total: usize, value: f64) {
    control.report(&Progress {
        stage: Stage::Localise,
        task,
        done,
        total: Some(total),
        figure: Some(("residual", value)),
        bound: None,
    });
}

#[cfg(test)]
mod tests;
