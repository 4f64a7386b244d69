//! How much memory a run takes, from the shape of the matrix alone.
//!
//! The figures are upper bounds put together from what each step allocates: steps follow one
//! another, so a run needs the matrix, the largest step, and the answer. They are known from the
//! header of a file, before anything is loaded, and a test holds runs to them.

use super::Factor;
use crate::matrix::Shape;
use crate::methods::bytes;

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

impl Footprint {
    /// The program itself, its threads and small things.
    pub const PROGRAM: u64 = 48 << 20;

    /// The most that the data take at one time, the matrix included.
    pub fn data(&self) -> u64 {
        self.matrix + self.answer + self.localise.max(self.clean)
    }

    /// The most that is in memory at one time, with the program itself.
    pub fn peak(&self) -> u64 {
        Self::PROGRAM + self.data()
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
        // Settings without which there is no run take no memory.
        let method = self.method_with_settings();
        let localise = method.map_or(0, |method| method.bytes(shape, r as usize, threads as usize));
        Footprint { matrix: shape.bytes(), localise, clean, answer: bytes::answer(shape, r) }
    }
}
