//! Hottopixx: the localising matrix by incremental gradients (Algorithm 4 of the paper, corrected).
//!
//! Minimises `sum_i ||x_i - c_i X||_1 + p . diag(C)` over `Phi_0` with `trace(C) = r` by dual
//! decomposition: beta is the multiplier of the trace, and the Lagrangian is followed one example
//! (column of X) at a time,
//!
//! ```text
//! c_i += s sign(x_ik - c_i X_.k) X_.k^T        C_ii -= s (beta + p_i) / n
//! ```
//!
//! for all n columns (an *epoch*), with projections onto `Phi_0` and, at its end,
//! `beta += s_d (trace(C) - r)` (dense; `sparse` says what it does instead). As printed, step 6 has the diagonal term n times too strong and
//! with the wrong sign of beta, and recovers nothing; here one epoch applies it once. There is no
//! `2 eps` guarantee, since neither tau nor the multipliers w of the rows are used.
//!
//! A row of C needs no other row within an epoch. Rows are therefore independent tasks, and all
//! of them visit the columns in one order that depends on the seed and the epoch only: the
//! result is the same, bit for bit, for any number of threads. `dense` takes K columns at a time
//! and spends nearly all its time in matrix products; `sparse` visits, for row i, only the
//! columns in which feature i occurs.

mod dense;
mod lists;
mod screen;
mod sparse;

pub use sparse::memory;

use super::{Localisation, candidate_rows, check_cost, spread};
use crate::Error;
use crate::control::{Control, Progress, Stage, Stop};
use crate::matrix::Matrix;
use crate::normalise::UnitRows;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Settings of Algorithm 4; the defaults are the paper's (section 5), save where noted.
#[derive(Debug, Clone, PartialEq)]
pub struct HottopixxSettings {
    /// Passes over all examples (50). Four are already useful on noisy data.
    pub epochs: usize,
    /// The primal step s at the end (0.1): within one epoch an entry of C moves by at most about s.
    pub primal_step: f64,
    /// How many times larger the step of the first epoch is (10); it falls geometrically from
    /// there. 1 keeps it constant, as the paper does, and leaves hott rows with small weights
    /// behind: with 50 constant steps of 0.1 no entry gets far.
    pub first_step_factor: f64,
    /// The dual step s_d (0.01).
    pub dual_step: f64,
    /// Fixes the order of the examples and the default cost (0).
    pub seed: u64,
    /// The cost vector p, one entry for each row of X. The default, `None`, is
    /// `0.02 (1 - ||x_j||^2 / max_i ||x_i||^2)`, since hott rows are extreme, plus distinct
    /// entries from (0, 0.002) to break ties: enough to decide between a hott row and a mixture
    /// close to it, too little to compete with the error.
    pub cost: Option<Vec<f64>>,
    /// Columns of C for sparse X, at most. Where more rows are allowed, those that take most off
    /// the errors by themselves are candidates. The default, `None`, is 200, or 10 for each hott
    /// row where that is more. Many more do harm, since steps of size s leave some noise in every
    /// column, which takes its share of the trace: with 12 hott rows, 1500 columns and the default
    /// steps the diagonal of a hott row is 0.1 instead of 0.4.
    pub columns: Option<usize>,
}

impl Default for HottopixxSettings {
    fn default() -> Self {
        HottopixxSettings {
            epochs: 50,
            primal_step: 0.1,
            first_step_factor: 10.0,
            dual_step: 0.01,
            seed: 0,
            cost: None,
            columns: None,
        }
    }
}

/// Columns of C for sparse X: at least so many, and so many for each hott row.
const COLUMNS: (usize, usize) = (200, 10);

/// Scales of the default cost vector: of the part that prefers extreme rows, and the random part.
const COST_SCALES: (f64, f64) = (0.02, 0.002);

impl HottopixxSettings {
    /// # Errors
    /// [`Error::Setting`] for a value out of range, [`Error::Length`] for a cost vector that does
    /// not fit.
    fn check(&self, features: usize) -> Result<(), Error> {
        let setting = |name, value: String, remedy: &str| {
            Err(Error::Setting { name, value, remedy: remedy.into() })
        };
        if self.epochs == 0 {
            return setting("epochs", "0".into(), "run at least one epoch");
        }
        for (name, step) in [
            ("primal_step", self.primal_step),
            ("dual_step", self.dual_step),
            ("first_step_factor", self.first_step_factor),
        ] {
            if !(step > 0.0 && step.is_finite()) {
                return setting(name, step.to_string(), "give a positive number, such as 0.1");
            }
        }
        check_cost(self.cost.as_deref(), features)
    }

    /// The primal step of epoch t: from `first_step_factor * primal_step` down to `primal_step`.
    fn step(&self, t: usize) -> f64 {
        let left = 1.0 - t as f64 / (self.epochs - 1).max(1) as f64;
        self.primal_step * self.first_step_factor.powf(left)
    }

    /// p: the caller's, or the default.
    fn costs(&self, x: &UnitRows) -> Vec<f64> {
        self.cost.clone().unwrap_or_else(|| {
            let norm = |i| x.row(i).values().iter().map(|v| v * v).sum::<f64>();
            let norms: Vec<f64> = (0..x.features()).map(norm).collect();
            let largest = norms.iter().copied().fold(0.0, f64::max);
            let mut random = stream(self.seed, u64::MAX);
            let (extreme, tie) = COST_SCALES;
            let cost = |norm| extreme * (1.0 - norm / largest) + tie * random.random::<f64>();
            norms.into_iter().map(cost).collect()
        })
    }
}

/// The random numbers of one epoch.
fn stream(seed: u64, epoch: u64) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(epoch);
    random
}

/// The order in which every row visits the columns in this epoch (Fisher-Yates).
fn order(seed: u64, epoch: usize, columns: usize) -> Vec<u32> {
    let mut random = stream(seed, epoch as u64);
    let mut order: Vec<u32> = (0..columns as u32).collect();
    for at in (1..columns).rev() {
        order.swap(at, random.random_range(0..=at));
    }
    order
}

/// What one epoch needs to know.
struct Epoch<'a> {
    /// The columns of X in the order of their visits.
    order: &'a [u32],
    /// The primal step s.
    step: f64,
    /// `beta + p_i`, for each candidate.
    pull: &'a [f64],
}

impl Epoch<'_> {
    /// Where and in which direction a walk through the columns begins that is not to jump about.
    fn walk(&self) -> (u32, bool) {
        let start = self.order.first().copied().unwrap_or(0);
        (start, self.order.get(1).is_none_or(|second| *second > start))
    }
}

/// A localising matrix that can be improved by epochs: dense or sparse.
trait Iterate {
    /// One pass over the columns, leaving C in `Phi_0`. Returns early, with rows that
    /// have not moved, when told to stop.
    fn epoch(&mut self, epoch: &Epoch<'_>, control: &Control) -> Option<Stop>;
    /// By how much the last projection lowered the diagonal to meet the trace, if it did.
    fn lowered(&self) -> Option<f64> {
        None
    }
    /// `diag(C)`, one entry for each candidate.
    fn diagonal(&self) -> Vec<f64>;
    /// `sum_i ||x_i - c_i X||_1`.
    fn loss(&self) -> f64;
}

/// Runs Algorithm 4 for `rank` hott rows among the rows where `allowed` is true.
///
/// Dense X: `4 f m n` flops an epoch for m candidates, in matrix products, and `f m` numbers of
/// memory. Sparse X: m is limited by [`HottopixxSettings::columns`]; for each nonzero of X an epoch
/// visits the candidates of its document, and [`memory`] is an upper bound.
///
/// # Errors
/// [`Error::Setting`], [`Error::Length`], or [`Error::Rank`] when fewer than `rank` rows are
/// allowed.
pub fn hottopixx(
    x: &UnitRows,
    rank: usize,
    allowed: &[bool],
    settings: &HottopixxSettings,
    control: &Control,
) -> Result<Localisation, Error> {
    settings.check(x.features())?;
    let mut candidates = candidate_rows(allowed, rank)?;
    let allowed = candidates.len();
    let lists = matches!(x.x(), Matrix::Sparse(_)).then(|| lists::Lists::rows(x, settings.seed));
    if let Some(lists) = &lists {
        let most = settings.columns.unwrap_or(COLUMNS.0.max(COLUMNS.1 * rank)).max(rank);
        if most < allowed {
            // Told to stop, any will do: there will be no epoch.
            candidates = screen::screen(lists, &candidates, x.examples(), most, control)
                .unwrap_or_else(|_| candidates[..most].to_vec());
        }
    }
    let p = settings.costs(x);
    let p: Vec<f64> = candidates.iter().map(|&i| p[i]).collect();
    let mut iterate: Box<dyn Iterate + '_> = match (x.x(), lists) {
        (Matrix::Dense(dense), None) => Box::new(dense::DenseIterate::new(dense, &candidates)),
        (_, lists) => {
            let lists = lists.unwrap_or_else(|| lists::Lists::rows(x, settings.seed));
            let (n, candidates) = (x.examples(), candidates.clone());
            Box::new(sparse::SparseIterate::new(lists, n, candidates, rank))
        }
    };
    let (epochs, stop) = descend(iterate.as_mut(), x.examples(), rank, &p, settings, control);
    let diagonal = iterate.diagonal();
    let cost: f64 = p.iter().zip(&diagonal).map(|(p, d)| p * d).sum();
    Ok(Localisation {
        diagonal: spread(&candidates, &diagonal, x.features()),
        iterations: epochs,
        objective: iterate.loss() + cost,
        converged: epochs == settings.epochs,
        stop,
        screened: (candidates.len() < allowed).then_some((candidates.len(), allowed)),
    })
}

/// The epochs: how many were completed, and why they ended.
fn descend(
    iterate: &mut dyn Iterate,
    columns: usize,
    rank: usize,
    p: &[f64],
    settings: &HottopixxSettings,
    control: &Control,
) -> (usize, Stop) {
    let mut beta = 0.0;
    for t in 0..settings.epochs {
        let order = order(settings.seed, t, columns);
        let pull: Vec<f64> = p.iter().map(|p| beta + p).collect();
        let epoch = Epoch { order: &order, step: settings.step(t), pull: &pull };
        if let Some(stop) = iterate.epoch(&epoch, control) {
            return (t, stop);
        }
        let trace: f64 = iterate.diagonal().iter().sum();
        beta += match iterate.lowered() {
            Some(b) => b / settings.step(t) / ((t + 1) as f64).sqrt(),
            None => settings.dual_step * (trace - rank as f64),
        };
        control.report(&Progress {
            stage: Stage::Localise,
            task: "hottopixx",
            done: t + 1,
            total: Some(settings.epochs),
            value: Some(trace),
        });
    }
    (settings.epochs, Stop::Finished)
}

#[cfg(test)]
mod tests;
