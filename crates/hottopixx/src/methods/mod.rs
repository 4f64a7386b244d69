//! Ways to find hott rows, one file per kind, behind one interface.
//!
//! A [`Localiser`] answers a [`Question`] with candidate sets of rows ([`Localised`]); what is made of
//! them (judging, exchanging, cleaning) is the same for all. The algorithms themselves are in
//! [`localise`](crate::localise); here is what each needs around it: its settings, how its diagonal is
//! read, what it proves, and the memory it takes.

mod agkm;
mod auto;
mod error_bound;
mod gradient;
mod greedy;
mod hottopixx;
mod kept;
mod nearby;
mod programs;

pub(crate) use agkm::Agkm;
pub(crate) use auto::Auto;
pub(crate) use error_bound::{AtHand, ErrorBound, mean_bounds};
pub(crate) use gradient::Gradient;
pub(crate) use greedy::{Snpa, Spa, Xray};
pub(crate) use hottopixx::Hottopixx;
pub use hottopixx::USUAL_BUDGET;
pub use kept::KeptDual;
pub(crate) use nearby::{Nearby, effort_nearby, nearby_pays, search_pays_nearby};
pub use programs::{Bounded, Bounds};
pub(crate) use programs::{Program, Solved, is_affordable};

pub use crate::localise::Question;
pub use crate::select::portfolio::Candidate;

use crate::Error;
use crate::control::{Control, Stop};
use crate::localise::spa_controlled;
use crate::matrix::Shape;
use crate::select::portfolio::readings;
use std::sync::Arc;

/// A way to find hott rows.
///
/// ```
/// use hottopixx::{Error, Factor, matrix::Dense};
/// use hottopixx::methods::{Localised, Localiser, Question};
///
/// /// The rows with the largest entry.
/// #[derive(Debug)]
/// struct Peaks;
///
/// impl Localiser for Peaks {
///     fn name(&self) -> &'static str {
///         "peaks"
///     }
///     fn localise(&self, question: &Question<'_>) -> Result<Localised, Error> {
///         let peak = |i: usize| question.x.row(i).values().fold(0.0, f64::max);
///         let mut rows: Vec<usize> =
///             (0..question.x.features()).filter(|&i| question.allowed[i]).collect();
///         rows.sort_by(|&a, &b| peak(b).total_cmp(&peak(a)));
///         rows.truncate(question.rank);
///         Ok(Localised::rows(self.name(), rows))
///     }
/// }
///
/// let x = Dense::from_rows(&[[1.0, 1.0], [3.0, 0.0], [0.0, 2.0]])?;
/// let answer = Factor::new(2).localiser(Peaks).run(&x.into())?;
/// assert_eq!(answer.hott.iter().map(|hott| hott.row).collect::<Vec<_>>(), [1, 2]);
/// # Ok::<(), Error>(())
/// ```
pub trait Localiser: std::fmt::Debug + Send + Sync {
    /// The name that results carry.
    fn name(&self) -> &'static str;

    /// Looks for the rows. Asks the question's control at least every 50 ms; stopped, it gives what
    /// it has, which may be fewer rows than the rank.
    ///
    /// # Errors
    /// [`Error::NoAnswer`] when it was stopped before it had anything, [`Error::Setting`] for
    /// settings that make no sense, [`Error::Infeasible`] where it has proven that there are no such
    /// rows.
    fn localise(&self, question: &Question<'_>) -> Result<Localised, Error>;

    /// Bytes that it takes at most beside a matrix of this shape, on this many threads.
    fn bytes(&self, _shape: Shape, _rank: usize, _threads: usize) -> u64 {
        0
    }
}

/// What a [`Localiser`] found.
#[derive(Debug, Clone, Default)]
pub struct Localised {
    /// Sets of rows that might be the hott ones.
    pub(crate) candidates: Vec<Candidate>,
    /// More such sets, which a search does not begin with: they are judged beside what it finds.
    pub(crate) beside: Vec<Candidate>,
    /// The diagonal of the method, where it has one.
    pub(crate) diagonal: Option<Vec<f64>>,
    /// Rows worth trying in exchanges.
    pub(crate) hints: Vec<usize>,
    /// What a linear program proves about every choice of rows.
    pub(crate) bounds: Option<Bounds>,
    /// What is proven about the error that is made small, of every choice of rows.
    pub(crate) error_bound: Option<ErrorBound>,
    /// The answer of that program, where it is the method's own.
    pub(crate) program: Option<Solved>,
    /// The dual behind that, where it is to be kept.
    pub(crate) dual: Option<Arc<KeptDual>>,
    /// What the caller should know.
    pub(crate) notes: Vec<String>,
}

impl Localised {
    /// One set of rows of X, in the order of choice.
    pub fn rows(origin: &str, rows: Vec<usize>) -> Self {
        let candidates = vec![Candidate { origin: origin.to_string(), rows }];
        Localised { candidates, ..Default::default() }
    }

    /// The diagonal of a localising matrix, one entry in [0, 1] per row of X, read in all ways.
    pub fn diagonal(origin: &str, question: &Question<'_>, diagonal: Vec<f64>) -> Self {
        let candidates = readings(question, origin, &diagonal);
        Localised { candidates, diagonal: Some(diagonal), ..Default::default() }
    }

    /// With a sentence that the caller should read.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }
}

/// That nothing was found in time; asked where something was just left undone.
fn no_answer(control: &Control) -> Error {
    Error::NoAnswer(control.cut_short().unwrap_or(Stop::Interrupted))
}

/// Rows that a costly method may choose from: all allowed ones when they are no more than `most` (or
/// three times the rank), otherwise the first that SPA comes across. `None` when stopped.
fn screen(question: &Question<'_>, most: usize) -> Option<Vec<bool>> {
    let most = screened(most, question.rank);
    if question.candidates() <= most {
        return Some(question.allowed.to_vec());
    }
    let mut mask = vec![false; question.allowed.len()];
    let first = spa_controlled(question.x, None, most, question.allowed, question.control);
    first.rows.iter().for_each(|&i| mask[i] = true);
    // Some choice among them must obey the rules.
    let obeying = question.rules.choose(&first.rows, question.rank, question.allowed);
    obeying.iter().for_each(|&i| mask[i] = true);
    (first.stop == Stop::Finished).then_some(mask)
}

/// How many rows [`screen`] leaves at most.
fn screened(most: usize, rank: usize) -> usize {
    most.max(3 * rank)
}

/// Upper bounds on the memory of the parts that several methods are made of.
pub(crate) mod bytes {
    use crate::localise::greedy::GRAM_BATCH;
    use crate::matrix::Shape;

    /// SPA: a column of L per row chosen, a batch of Gram columns, some vectors of length n. Batches
    /// that are not used up yet stay beside the next one.
    pub fn spa(shape: Shape, rank: u64) -> u64 {
        let batch = 2 * GRAM_BATCH as u64;
        8 * shape.f() * (rank + batch) + shape.some_rows(batch) + 32 * shape.n()
    }

    /// SNPA and XRAY: SPA, and the fits of all rows.
    pub fn hulls(shape: Shape, rank: u64, threads: u64) -> u64 {
        spa(shape, rank) + 24 * shape.f() * rank + 8 * threads * shape.n()
    }

    /// The Gram matrix of m candidates, C, and what the accelerated gradient keeps of it. Every thread packs some
    /// hundred rows of the Gram matrix at a time for its part of a product, and the allocator may keep as much of an earlier one.
    pub fn frobenius(shape: Shape, m: u64, threads: u64) -> u64 {
        let packed = threads * 16 * PACKED * m;
        8 * m * m + 48 * shape.f() * m + 2 * shape.some_rows(m) + packed
    }

    /// Rows that a product packs at a time, at most.
    const PACKED: u64 = 512;

    /// What is there at the end: unit rows, F with its triplets, W.
    pub fn answer(shape: Shape, rank: u64) -> u64 {
        let r = rank.min(shape.f());
        64 * shape.f() + 44 * shape.f() * r + shape.some_rows(r)
    }

    /// A linear program: m atoms in play (three copies), their Gram columns, cuts.
    pub fn program(shape: Shape, m: u64, threads: u64) -> u64 {
        4 * shape.some_rows(m) + 24 * shape.f() * m + threads * 96 * shape.n()
    }

    /// What threads gather of m atoms at the columns of one row (of a dense row, where less than half of it
    /// is not zero): by atom and by point, in buffers that grow by doubling.
    pub fn gathered(shape: Shape, m: u64, threads: u64) -> u64 {
        let columns = if shape.dense { shape.n() / 2 } else { shape.longest_row() };
        m.saturating_mul(columns).saturating_mul(32 * threads)
    }

    /// Bounds for choices of rows: caps of weights between all rows, and the programs behind them.
    pub fn choices(shape: Shape, threads: u64) -> u64 {
        let (f, gathered) = (shape.f(), gathered(shape, shape.f(), threads));
        gathered.saturating_add(program(shape, f, threads) + 24 * f * f)
    }

    /// A certificate: X of its own, C and the dual, whose rows are dense.
    pub fn certificate(shape: Shape) -> u64 {
        let f = shape.f();
        shape.bytes() + 24 * f * f + f.saturating_mul(shape.n()).saturating_mul(8)
    }
}
