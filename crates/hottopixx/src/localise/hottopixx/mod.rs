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
//! result is the same, bit for bit, for any number of threads. `dense` takes K columns at a time,
//! a panel, and spends nearly all its time in matrix products; `sparse` visits, for row i, only the
//! columns in which feature i occurs.

mod budget;
mod dense;
mod lists;
mod panels;
mod screen;
mod sparse;

pub(crate) use budget::Effect;
use dense::DenseIterate;
use lists::Lists;
use sparse::SparseIterate;

use super::{Localisation, candidate_rows, check_cost, spread};
use crate::Error;
use crate::checkpoint::{get_u64, put_u64};
use crate::control::{Control, Progress, Stage, Stop};
use crate::matrix::Shape;
use crate::normalise::UnitRows;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::io::{self, Read, Write};

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
    /// Bytes that the method may take beside X; the default, `None`, is as many as it can use. With
    /// fewer, dense X is gathered anew in each epoch, a window at a time, and C has fewer columns
    /// for sparse X. The answer then depends on the limit.
    pub memory: Option<u64>,
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
            memory: None,
        }
    }
}

/// Visits of examples after which the diagonal has settled.
const SETTLED: usize = 640_000;
/// The fewest epochs all the same, for dense and for sparse X, whose rows visit few examples.
const LEAST_EPOCHS: (usize, usize) = (10, 25);

/// More rows than this and fewer examples than that take more epochs, this many.
const MANY_ROWS: (usize, usize) = (2000, 1000);
const MANY_ROWS_EPOCHS: usize = 100;

/// Epochs that suffice for X of this shape: 50, as in the paper, and fewer where these would be
/// more than 640,000 visits of examples, but at least 10, or 25 for sparse X. What counts is the
/// number of steps: dense X of 1600 x 64000 has settled after 3 epochs, of 40 x 400 hardly after 50.
///
/// Dense X with few examples and many rows, such as the pixels of an image, gets up to 100: an epoch is
/// short there, and many rows compete.
#[doc(hidden)]
pub fn usual_epochs(shape: Shape) -> usize {
    let least = if shape.dense { LEAST_EPOCHS.0 } else { LEAST_EPOCHS.1 };
    if shape.dense && shape.rows > MANY_ROWS.0 && shape.cols < MANY_ROWS.1 {
        return MANY_ROWS_EPOCHS;
    }
    (SETTLED / shape.cols.max(1)).clamp(least, HottopixxSettings::default().epochs)
}

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
            let norms: Vec<f64> = (0..x.features()).map(|i| x.row(i).squared_norm()).collect();
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

/// Where all rows of sparse X begin to walk through the columns in this epoch, and whether upwards.
fn column_walk(seed: u64, epoch: usize, columns: usize) -> (u32, bool) {
    let mut random = stream(seed, epoch as u64);
    (random.random_range(0..columns as u32), random.random())
}

/// `0..count` in random order (Fisher-Yates).
fn shuffled(count: usize, random: &mut impl Rng) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count as u32).collect();
    for at in (1..count).rev() {
        order.swap(at, random.random_range(0..=at));
    }
    order
}

/// What one epoch needs to know.
struct Epoch<'a> {
    /// Its number, from 0.
    number: usize,
    /// Whether no other follows.
    last: bool,
    /// Where walks through the columns of sparse X begin, and whether they go upwards; dense X has
    /// an order of panels.
    column_walk: (u32, bool),
    /// The primal step s.
    step: f64,
    /// `beta + p_i`, for each candidate.
    pull: &'a [f64],
}

/// A localising matrix that can be improved by epochs: dense or sparse.
trait Iterate {
    /// One pass over the columns, leaving C in `Phi_0`. Returns early when told to stop, with a C of
    /// which only the diagonal is of use.
    fn epoch(&mut self, epoch: &Epoch<'_>, control: &Control) -> Option<Stop>;
    /// By how much the last projection lowered the diagonal to meet the trace, if it did.
    fn lowered(&self) -> Option<f64> {
        None
    }
    /// `diag(C)`, one entry for each candidate.
    fn diagonal(&self) -> Vec<f64>;
    /// `sum_i ||x_i - c_i X||_1`, which takes about as long as half an epoch; `None` when stopped.
    fn loss(&mut self, control: &Control) -> Option<f64>;
    /// Writes C, all that one epoch leaves to the next.
    fn write(&self, out: &mut dyn Write) -> io::Result<()>;
    /// Takes C from what [`Iterate::write`] wrote for the same X and candidates.
    fn read(&mut self, input: &mut dyn Read) -> io::Result<()>;
}

/// Runs Algorithm 4 for `rank` hott rows among the rows where `allowed` is true.
///
/// Dense X: `4 f m n` flops per epoch for m candidates, in matrix products, and memory for a copy
/// of X and for C in single precision, `4 f (n + m)` bytes and little more. Sparse X: m is limited
/// by [`HottopixxSettings::columns`]; for each nonzero of X an epoch visits the candidates of its
/// document.
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
    localise(x, rank, allowed, settings, true, control)
}

/// As [`hottopixx`] without the objective, which nothing but curiosity needs.
pub(crate) fn unmeasured(
    x: &UnitRows,
    rank: usize,
    allowed: &[bool],
    settings: &HottopixxSettings,
    control: &Control,
) -> Result<Localisation, Error> {
    localise(x, rank, allowed, settings, false, control)
}

fn localise(
    x: &UnitRows,
    rank: usize,
    allowed: &[bool],
    settings: &HottopixxSettings,
    measured: bool,
    control: &Control,
) -> Result<Localisation, Error> {
    settings.check(x.features())?;
    let candidates = candidate_rows(allowed, rank)?;
    let allowed = candidates.len();
    let Some((candidates, mut iterate)) = begin(x, rank, candidates, settings, control) else {
        let stop = control.cut_short().unwrap_or(Stop::Interrupted);
        return Ok(Localisation::nothing(x.features(), stop));
    };
    let p = settings.costs(x);
    let p: Vec<f64> = candidates.iter().map(|&i| p[i]).collect();
    let (epochs, stop) = descend(iterate.as_mut(), x.examples(), rank, &p, settings, control)?;
    let diagonal = iterate.diagonal();
    let cost: f64 = p.iter().zip(&diagonal).map(|(p, d)| p * d).sum();
    let loss = if measured && stop == Stop::Finished { iterate.loss(control) } else { None };
    Ok(Localisation {
        diagonal: spread(&candidates, &diagonal, x.features()),
        iterations: epochs,
        objective: loss.map_or(f64::NAN, |loss| loss + cost),
        converged: epochs == settings.epochs,
        stop,
        screened: (candidates.len() < allowed).then_some((candidates.len(), allowed)),
    })
}

/// The candidates that get a column of C, and C = 0; `None` when stopped.
fn begin<'a>(
    x: &'a UnitRows,
    rank: usize,
    mut candidates: Vec<usize>,
    settings: &HottopixxSettings,
    control: &Control,
) -> Option<(Vec<usize>, Box<dyn Iterate + 'a>)> {
    if x.is_dense() {
        let dense = settings.dense(x.shape(), candidates.len());
        let iterate = DenseIterate::new(x, &candidates, settings.seed, &dense);
        return Some((candidates, Box::new(iterate)));
    }
    let lists = Lists::rows(x, settings.seed, control)?;
    let most = settings.column_count(x.shape(), rank, candidates.len());
    if most < candidates.len() {
        candidates = screen::screen(&lists, &candidates, x.examples(), most, control).ok()?;
    }
    let iterate = SparseIterate::new(lists, x.examples(), candidates.clone(), rank, control)?;
    Some((candidates, Box::new(iterate)))
}

/// The epochs: how many were completed, and why they ended.
fn descend(
    iterate: &mut dyn Iterate,
    columns: usize,
    rank: usize,
    p: &[f64],
    settings: &HottopixxSettings,
    control: &Control,
) -> Result<(usize, Stop), Error> {
    let (first, mut beta) = resume(iterate, settings.epochs, control)
        .map_err(|error| Error::Checkpoint { reason: error.to_string() })?;
    for t in first..settings.epochs {
        let column_walk = column_walk(settings.seed, t, columns);
        let pull: Vec<f64> = p.iter().map(|p| beta + p).collect();
        let last = t + 1 == settings.epochs;
        let epoch = Epoch { number: t, last, column_walk, step: settings.step(t), pull: &pull };
        if let Some(stop) = iterate.epoch(&epoch, control) {
            return Ok((t, stop));
        }
        let diagonal = iterate.diagonal();
        let trace: f64 = diagonal.iter().sum();
        beta += match iterate.lowered() {
            Some(b) => b / settings.step(t) / ((t + 1) as f64).sqrt(),
            None => settings.dual_step * (trace - rank as f64),
        };
        keep(iterate, t + 1, settings.epochs, beta, control);
        control.report(&Progress {
            stage: Stage::Localise,
            task: "hottopixx",
            done: t + 1,
            total: Some(settings.epochs),
            figure: Some(("diagonal gap", diagonal_gap(&diagonal, rank))),
            bound: None,
        });
    }
    Ok((settings.epochs, Stop::Finished))
}

/// The epochs that an earlier run has done and its beta, its C going to `iterate`.
fn resume(iterate: &mut dyn Iterate, epochs: usize, control: &Control) -> io::Result<(usize, f64)> {
    let Some(keeper) = control.keeper() else { return Ok((0, 0.0)) };
    let Some(mut state) = keeper.resume()? else { return Ok((0, 0.0)) };
    let done = get_u64(state.as_mut())?;
    let beta = f64::from_bits(get_u64(state.as_mut())?);
    iterate.read(state.as_mut())?;
    match usize::try_from(done) {
        _ if !beta.is_finite() => Err(io::Error::other("its multiplier is not a number")),
        Ok(done) if done <= epochs => Ok((done, beta)),
        _ => Err(io::Error::other(format!("it is at epoch {done} of {epochs}"))),
    }
}

/// Between two epochs C is projected: its entries are from 0 to 1.
fn check_weights<'a>(mut weights: impl Iterator<Item = &'a f32>) -> io::Result<()> {
    match weights.all(|weight| (0.0..=1.0).contains(weight)) {
        true => Ok(()),
        false => Err(io::Error::other("it has a weight that is not from 0 to 1")),
    }
}

/// Gives the state after `done` epochs to the keeper when it is due, and at the end.
fn keep(iterate: &dyn Iterate, done: usize, epochs: usize, beta: f64, control: &Control) {
    if let Some(keeper) = control.keeper()
        && (keeper.due() || done == epochs)
    {
        keeper.save(&|out| {
            put_u64(out, done as u64)?;
            put_u64(out, beta.to_bits())?;
            iterate.write(out)
        });
    }
}

/// How far the hott rows stand out: the r-th largest entry of the diagonal minus the next.
fn diagonal_gap(diagonal: &[f64], rank: usize) -> f64 {
    let mut sorted = diagonal.to_vec();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    sorted[rank - 1] - sorted.get(rank).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests;
