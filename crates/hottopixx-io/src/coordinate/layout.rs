//! What the first lines of a coordinate file say about the others, and one line read by it.

use crate::error::Fault;
use crate::scan::{Line, plain_triplet};

/// What the first lines of a file say about the others.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    /// Largest first and second index of a line.
    pub sizes: [u64; 2],
    /// What the three words of a line are called.
    pub what: [&'static str; 3],
    /// The line that states these sizes.
    pub shape_at: u64,
    /// Number of entries, and the line that states it.
    pub count: u64,
    pub at: u64,
    /// Lines hold no value; every entry is 1.
    pub pattern: bool,
    /// Every entry stands for its mirror image as well.
    pub symmetric: bool,
    /// The first index is the column, the second the row.
    pub swapped: bool,
    /// Lines that begin with this are skipped.
    pub comment: Option<u8>,
    /// Bytes that a line may have.
    pub longest: usize,
}

impl Layout {
    /// The same entries for the transpose.
    pub fn transposed(self, transpose: bool) -> Layout {
        Layout { swapped: self.swapped != transpose, ..self }
    }

    /// Rows and columns of the matrix.
    pub fn shape(&self) -> (u64, u64) {
        let [first, second] = self.sizes;
        if self.swapped { (second, first) } else { (first, second) }
    }

    /// Entries that the matrix has at most.
    pub fn most(&self) -> u64 {
        self.count.saturating_mul(if self.symmetric { 2 } else { 1 })
    }

    /// One line, as an entry counted from 0, with a message for whatever is wrong.
    pub(super) fn entry(&self, line: Line<'_>) -> Result<(u32, u32, f64), Fault> {
        if let Some((i, j, value)) = plain_triplet(line.bytes).filter(|_| !self.pattern)
            && let Some(entry) = self.checked(i, j, value)
        {
            return Ok(entry);
        }
        let [first, second, third] = self.what;
        let should = if self.pattern {
            format!("{first} and {second}")
        } else {
            format!("{first}, {second} and {third}")
        };
        let mut words = line.words();
        let i = index(line, words.expect(&should)?, self.sizes[0], first)?;
        let j = index(line, words.expect(&should)?, self.sizes[1], second)?;
        let value = if self.pattern { 1.0 } else { line.entry(words.expect(&should)?)? };
        words.expect_end(&should)?;
        Ok((i, j, value))
    }

    /// An entry counted from 0, unless something is wrong with it.
    #[inline]
    pub(super) fn checked(&self, i: u64, j: u64, value: f64) -> Option<(u32, u32, f64)> {
        // The caller has checked that the sizes fit 32 bits; 0 becomes larger than all of them.
        let inside = i.wrapping_sub(1) < self.sizes[0] && j.wrapping_sub(1) < self.sizes[1];
        let sound = inside && (0.0..f64::INFINITY).contains(&value);
        sound.then(|| ((i - 1) as u32, (j - 1) as u32, value))
    }

    /// Whether a line holds an entry: it is not blank and no comment.
    pub(super) fn is_full(&self, line: &[u8]) -> bool {
        let first = line.iter().find(|b| !b.is_ascii_whitespace());
        first.is_some() && first.copied() != self.comment
    }
}

/// An index from 1 to `size`, as one from 0; the caller has checked that `size` fits 32 bits.
fn index(line: Line<'_>, word: &[u8], size: u64, what: &str) -> Result<u32, Fault> {
    let index = line.whole(word)?;
    if index == 0 || index > size {
        let what = format!("{what} {index} does not exist");
        return Err(line.fault(what, format!("give a number from 1 to {size}")));
    }
    Ok((index - 1) as u32)
}
