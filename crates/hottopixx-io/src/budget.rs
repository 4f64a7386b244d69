//! How much memory a matrix may take, checked before it is taken.
//!
//! Sizes in a header are claims: a file of thirty bytes can claim 10^18 rows. Every parser asks here
//! before it allocates anything in proportion to such a claim, and grows lists of entries only by
//! what it has really read.

use crate::error::{Fault, FileLocation};
use crate::machine::usual_memory;

/// Bytes that one matrix may take, with what is needed to build it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    limit: u64,
}

/// Bytes an entry takes while its matrix is built: a triplet (16), then a place in a row (12).
const ENTRY: u128 = 28;

/// Bytes that one byte of a line takes while it is read.
const LINE: u64 = 16;
/// Lines up to this length, and titles of documents up to this sum, are read whatever the limit.
pub(crate) const SHORT: u64 = 1 << 16;

impl Budget {
    /// The given limit, or three quarters of the memory of this machine.
    pub fn new(limit: Option<u64>) -> Budget {
        Budget { limit: limit.unwrap_or_else(usual_memory) }
    }

    /// For bytes that are in memory already.
    pub fn unlimited() -> Budget {
        Budget { limit: u64::MAX }
    }

    /// Bytes allowed.
    pub fn limit(self) -> u64 {
        self.limit
    }

    /// The longest line of text that can be read: it is held as bytes that grow by doubling, as cells, for
    /// each separator that may stand between them, and as numbers.
    pub fn longest_line(self) -> u64 {
        (self.limit / LINE).max(SHORT)
    }

    /// What is wrong with a longer one.
    pub fn too_long(self, line: u64) -> Fault {
        let longest = self.longest_line();
        let what = format!("the line is longer than {longest} bytes, or a quote is never closed");
        Fault::line(line, what, "check that this is text with line ends, or allow more memory")
    }

    /// Bytes that a text of this length takes in a list of texts: its place there, and what allocators hand
    /// out for it, which is 32 bytes at least and 8 more than asked for.
    pub fn text(length: usize) -> u128 {
        let own = if length == 0 { 0 } else { (length + 8).next_multiple_of(16).max(32) };
        (size_of::<String>() + own) as u128
    }

    /// Fails when `needed` bytes are more than allowed.
    pub fn check(
        self,
        needed: u128,
        place: FileLocation,
        what: impl FnOnce() -> String,
    ) -> Result<(), Fault> {
        if needed <= u128::from(self.limit) {
            return Ok(());
        }
        Err(Fault::TooLarge { place, what: what(), needed, limit: self.limit })
    }

    /// Checks the shape of a dense matrix; its sizes and their product then fit `usize`.
    pub fn dense(self, rows: u64, cols: u64, place: FileLocation) -> Result<(usize, usize), Fault> {
        let needed = u128::from(rows).saturating_mul(u128::from(cols)).saturating_mul(8);
        self.check(needed, place.clone(), || format!("a matrix of {rows} x {cols}"))?;
        sizes(rows, cols, place)
    }

    /// Checks the shape of a sparse matrix: at most 2^32 - 1 rows and columns, and room for where
    /// each row begins, also when the matrix is transposed.
    pub fn sparse(
        self,
        rows: u64,
        cols: u64,
        place: FileLocation,
    ) -> Result<(usize, usize), Fault> {
        let needed = (u128::from(rows) + u128::from(cols) + 2) * 16;
        self.check(needed, place.clone(), || format!("a sparse matrix of {rows} x {cols}"))?;
        sizes(rows, cols, place)
    }

    /// Checks a number of stored entries.
    pub fn entries(self, count: u64, place: FileLocation) -> Result<(), Fault> {
        let needed = u128::from(count) * ENTRY;
        self.check(needed, place, || format!("a matrix of {count} nonzeros"))
    }

    /// The largest number of stored entries that [`Budget::entries`] lets pass.
    pub fn max_entries(self) -> usize {
        usize::try_from(u128::from(self.limit) / ENTRY).unwrap_or(usize::MAX)
    }
}

/// Sizes as numbers of this machine: at most 2^32 - 1 rows and columns.
pub(crate) fn sizes(rows: u64, cols: u64, place: FileLocation) -> Result<(usize, usize), Fault> {
    match (u32::try_from(rows), u32::try_from(cols)) {
        (Ok(rows), Ok(cols)) => Ok((rows as usize, cols as usize)),
        _ => Err(Fault::Malformed {
            place,
            what: format!("{rows} x {cols} is too large"),
            remedy: format!("at most {} rows and columns are possible", u32::MAX),
        }),
    }
}
