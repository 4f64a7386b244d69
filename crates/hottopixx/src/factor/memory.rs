//! How much memory a run takes, from the shape of the matrix alone.
//!
//! The figures are upper bounds put together from what each step allocates: steps follow one
//! another, so a run needs the matrix, the largest step, and the answer. They are known from the
//! header of a file, before anything is loaded, and a test holds runs to them.

use super::{Factor, Method};
use crate::Goal;
use crate::localise::HottopixxSettings;
use crate::localise::greedy::GRAM_BATCH;
use crate::localise::hottopixx::usual_epochs;
use crate::localise::lp::LpSettings;
use crate::matrix::Shape;

/// Bytes that a run takes at most, by what they are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Footprint {
    /// The matrix.
    pub matrix: u64,
    /// Finding where hott rows are.
    pub localise: u64,
    /// Choosing among candidates and fitting all rows.
    pub clean: u64,
    /// F, W and errors.
    pub answer: u64,
}

/// What Algorithm 4 and its answer may take beside the matrix unless [`Factor::memory`] says
/// otherwise: 8 GiB, which dense X of 1600 x 64,000 and sparse X of 100,000 x 1,000,000 do not come
/// near. A constant and not what the machine has, so that the answer is the same on any machine.
pub const USUAL_BUDGET: u64 = 8 << 30;

/// The program itself, its threads and small things.
const PROGRAM: u64 = 48 << 20;

impl Footprint {
    /// The most that the data take at one time, the matrix included.
    pub fn data(&self) -> u64 {
        self.matrix + self.answer + self.localise.max(self.clean)
    }

    /// The most that is in memory at one time, with the program itself.
    pub fn peak(&self) -> u64 {
        PROGRAM + self.data()
    }
}

impl Factor {
    /// An upper bound on the memory that a run on a matrix of this shape takes.
    pub fn footprint(&self, shape: Shape) -> Footprint {
        let (f, n, r) = (shape.f(), shape.n(), (self.rank as u64).min(shape.f()));
        // W by atom, by point and as a matrix; the points of one row and their residuals a thread.
        let gathered = if shape.dense { 0 } else { 16 * r * shape.longest_row() };
        let threads = self.thread_count() as u64;
        let clean = 4 * shape.some_rows(r) + threads * (gathered + 96 * n) + 48 * f * r;
        let localise = self.localise_bytes(shape);
        Footprint { matrix: shape.bytes(), localise, clean, answer: self.answer(shape) }
    }

    /// The bytes that Algorithm 4 and its answer may take.
    pub(super) fn budget(&self) -> u64 {
        self.memory.unwrap_or(USUAL_BUDGET)
    }

    /// Settings of Algorithm 4, with what is left of the memory allowed when there is an answer.
    pub(super) fn hottopixx_settings(&self, shape: Shape) -> HottopixxSettings {
        let memory = Some(self.budget().saturating_sub(self.answer(shape)));
        let epochs = self.epochs.unwrap_or_else(|| usual_epochs(shape));
        HottopixxSettings { epochs, seed: self.seed, memory, ..Default::default() }
    }

    /// Unit rows, F with its triplets, W.
    fn answer(&self, shape: Shape) -> u64 {
        let r = (self.rank as u64).min(shape.f());
        64 * shape.f() + 44 * shape.f() * r + shape.some_rows(r)
    }

    fn localise_bytes(&self, shape: Shape) -> u64 {
        let (f, n, r) = (shape.f(), shape.n(), (self.rank as u64).min(shape.f()));
        let threads = self.thread_count() as u64;
        // A column of L for each row chosen, a batch of Gram columns, some vectors of length n.
        // Batches that are not used up yet stay beside the next one.
        let batch = 2 * GRAM_BATCH as u64;
        let spa = |r: u64| 8 * f * (r + batch) + shape.some_rows(batch) + 32 * n;
        let hulls = spa(r) + 24 * f * r + 8 * threads * n;
        // The Gram matrix, C, and what the accelerated gradient keeps of it.
        let frobenius = |m: u64| 8 * m * m + 48 * f * m + 2 * shape.some_rows(m);
        // Atoms in play (three copies), their Gram columns, cuts.
        let program = |m: u64| 4 * shape.some_rows(m) + 24 * f * m + threads * 96 * n;
        let screened = |most: usize| f.min(most.max(3 * self.rank) as u64);
        match self.method {
            Method::Spa => spa(r),
            Method::Snpa | Method::Xray => hulls,
            Method::Agkm => program(f),
            Method::Lp | Method::Minimax | Method::Total => {
                program(f.min(LpSettings::new(Goal::Minimax).all_in_play as u64))
            }
            Method::Gradient => hulls + frobenius(screened(super::job::GRADIENT_SCREENED)),
            Method::Hottopixx => {
                let settings = self.hottopixx_settings(shape);
                hulls.max(settings.bytes(shape, self.rank, shape.rows))
            }
            Method::Auto => {
                let m = screened(super::job::AUTO_SCREENED);
                hulls + spa(3 * r + 60) + frobenius(m).max(program(m))
            }
        }
    }
}
