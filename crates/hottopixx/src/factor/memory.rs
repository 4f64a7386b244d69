//! How much memory a run takes, from the shape of the matrix alone.
//!
//! The figures are upper bounds put together from what each step allocates: steps follow one
//! another, so a run needs the matrix, the largest step, and the answer. They are known from the
//! header of a file, before anything is loaded, and a test holds runs to them.

use super::{Factor, Method, Missing};
use crate::matrix::Shape;
use crate::methods::{bytes, is_affordable};

/// Bytes that a run takes at most, by what they are for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
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

/// What is done with a matrix, as far as memory goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// [`Factor::run`].
    Run,
    /// [`Factor::evaluate`].
    Evaluate,
    /// [`Factor::apply`].
    Apply,
    /// [`Factor::certify`], with or without given rows, and the certificate in full.
    Certify,
    /// [`Factor::rank_needed`].
    Rank,
    /// [`Comparison::run`](super::Comparison::run): every method that needs no setting of the caller's.
    Compare,
}

impl Footprint {
    /// The program itself, its threads and small things.
    pub const PROGRAM: u64 = 48 << 20;

    /// The most that the data take at one time, the matrix included.
    pub fn data(&self) -> u64 {
        let steps = self.localise.max(self.clean);
        self.matrix.saturating_add(self.answer).saturating_add(steps)
    }

    /// The most that is in memory at one time, with the program itself.
    pub fn peak(&self) -> u64 {
        Self::PROGRAM.saturating_add(self.data())
    }

    fn times(self, factor: u64) -> Self {
        let [matrix, localise, clean, answer] =
            [self.matrix, self.localise, self.clean, self.answer].map(|b| b.saturating_mul(factor));
        Footprint { matrix, localise, clean, answer }
    }
}

/// Sizes up to which the figures are counted, so that no product of three of them overflows: rows, and
/// entries of a dense matrix. Beyond, at least as much is needed in proportion.
#[cfg(target_pointer_width = "64")]
const COUNTED: (usize, usize) = (1 << 26, 1 << 52);
#[cfg(not(target_pointer_width = "64"))]
const COUNTED: (usize, usize) = (1 << 20, 1 << 31);

/// A shape that can be counted with, and how many times the figures for it the true ones are at least:
/// sizes may be what a file of some bytes claims, and planning is arithmetic whatever it says.
fn countable(shape: Shape) -> (Shape, u64) {
    let (rows, cols) = (shape.rows.min(COUNTED.0), shape.cols.min(COUNTED.1 / COUNTED.0 * 64));
    let cols = if shape.dense { cols.min(COUNTED.1 / rows.max(1)) } else { cols };
    let entries = if shape.dense { rows * cols } else { shape.entries.min(COUNTED.1) };
    let larger = |all: usize, part: usize| all.div_ceil(part.max(1)) as u64;
    let factor = larger(shape.rows, rows).saturating_mul(larger(shape.cols, cols));
    (Shape { rows, cols, entries, dense: shape.dense }, factor)
}

impl Factor {
    /// An upper bound on the memory that a run on a matrix of this shape takes. Arithmetic alone, for any
    /// shape.
    pub fn footprint(&self, shape: Shape) -> Footprint {
        self.footprint_of(Work::Run, shape)
    }

    /// The same for other things to do with a matrix.
    pub fn footprint_of(&self, work: Work, shape: Shape) -> Footprint {
        let (shape, factor) = countable(shape);
        self.counted(work, shape).times(factor)
    }

    /// Whether a comparison leaves the method out at this size.
    fn takes_long(&self, Shape { rows, cols, .. }: Shape) -> bool {
        let program = matches!(self.method, Method::Minimax | Method::Total);
        let some = |mask: &Vec<bool>| mask.iter().filter(|may| **may).count();
        let candidates = self.candidates.as_ref().map_or(rows, some);
        let affordable = || is_affordable(rows, candidates, cols, self.rank, &self.control);
        program && self.gap.is_none() && !affordable()
    }

    fn counted(&self, work: Work, shape: Shape) -> Footprint {
        let (f, n, r) = (shape.f(), shape.n(), (self.rank as u64).min(shape.f()));
        // W by atom, by point and as a matrix; the points of one row and their residuals a thread.
        let gathered = if shape.dense { 0 } else { 16 * r * shape.longest_row() };
        let threads = self.thread_count() as u64;
        let clean = 4 * shape.some_rows(r) + threads * (gathered + 96 * n) + 48 * f * r;
        let copies = 1 + u64::from(self.example_weights.is_some());
        // Completing takes the matrix with zeros, scaled, turned and completed twice, the places, and both factors.
        let copies = copies + if self.missing == Missing::Observed { 7 } else { 0 };
        // A byte for each entry of the dual of an earlier answer, and of the one that is kept.
        let duals = u64::from(self.keep_dual) + u64::from(self.start_dual.is_some());
        let kept = f.saturating_mul(n).saturating_mul(duals);
        let answer = bytes::answer(shape, r).saturating_add(kept);
        let matrix = copies * shape.bytes();
        // Settings without which there is no run take no memory.
        let own = |factor: &Factor| {
            let method = factor.method_with_settings();
            method.map_or(0, |method| method.bytes(shape, r as usize, threads as usize))
        };
        let (localise, clean) = match work {
            Work::Run => (own(self), clean),
            Work::Evaluate => (0, clean),
            // The rows once more, with W below them.
            Work::Apply => {
                let copy = shape.bytes().saturating_add(shape.some_rows(r));
                (0, clean.saturating_add(copy))
            }
            Work::Compare => {
                let with = |method: Method| Factor { method, ..self.clone() }.only_used();
                let methods = Method::ALL.into_iter().map(with).filter(|f| !f.takes_long(shape));
                (methods.map(|factor| own(&factor)).max().unwrap_or(0), clean)
            }
            Work::Certify => (own(self).max(bytes::choices(shape, threads)), clean),
            Work::Rank => (bytes::choices(shape, threads), clean),
        };
        let answer = match work {
            Work::Certify => answer.saturating_add(bytes::certificate(shape)),
            _ => answer,
        };
        Footprint { matrix, localise, clean, answer }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Work; 6] =
        [Work::Run, Work::Evaluate, Work::Apply, Work::Certify, Work::Rank, Work::Compare];

    /// Shapes as a file of some bytes may claim them: nothing overflows, and larger ones take more.
    #[test]
    fn any_claim_can_be_counted() {
        let sizes = [1, 1000, 1 << 26, 1 << 31, u32::MAX as usize, 1 << 40, 100_000_000_000_000];
        for (rows, cols) in sizes.iter().flat_map(|r| sizes.map(|c| (*r, c))) {
            for dense in [false, true] {
                let entries = if dense { rows.saturating_mul(cols) } else { 1 };
                let shape = Shape { rows, cols, entries, dense };
                for (work, method) in ALL.iter().flat_map(|w| Method::ALL.map(|m| (*w, m))) {
                    for rank in [1, 1000, usize::MAX] {
                        let factor = Factor::new(rank).method(method).threads(1024);
                        let needed = factor.footprint_of(work, shape).peak();
                        assert!(needed / 8 >= rows.max(cols) as u64, "{shape:?} {work:?} {needed}");
                    }
                }
            }
        }
    }
}
