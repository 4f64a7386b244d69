//! The dual behind a bound on the mean error, kept for when the data have changed a little.
//!
//! Any Y with `|Y| <= 1` proves a bound, whatever it was made for: after a tenth more documents that of the earlier ones
//! proves nearly as much, for the price of the verifier alone. For the same reason it need not be kept exactly: in 127ths of
//! one, a byte an entry, less than a thousandth of the bound is lost.

use crate::normalise::UnitRows;
use std::fmt;

/// Parts of one that entries are kept in.
const PARTS: f32 = 127.0;
/// What the bytes begin with.
const MARK: &[u8; 8] = b"hpxdual1";

/// A dual, rows of the input x columns, some of which may have been merged: what a bound on the mean error was proven
/// with, for [`Factor::start_dual`](crate::Factor::start_dual).
#[derive(Clone, PartialEq)]
pub struct KeptDual {
    /// The bound that it proved when it was made.
    proved: f64,
    /// For each column of the input the merged one that it is in.
    merged: Vec<u32>,
    /// How many these are.
    width: usize,
    /// By row of the input; zeros for those that were set aside.
    entries: Vec<i8>,
}

impl KeptDual {
    /// Keeps Y, by row of X, for columns that were merged like this.
    pub(super) fn new(
        x: &UnitRows,
        (merged, width): (Vec<u32>, usize),
        y: &[f32],
        proved: f64,
    ) -> Self {
        let mut entries = vec![0; x.input_rows() * width];
        for (i, row) in y.chunks_exact(width.max(1)).enumerate() {
            let line = &mut entries[x.input_row(i) * width..][..width];
            line.iter_mut().zip(row).for_each(|(kept, y)| *kept = (y * PARTS).round() as i8);
        }
        KeptDual { proved, merged, width, entries }
    }

    /// Y by row of X; `None` where X has other rows or columns than it is about.
    pub(super) fn of_rows(&self, x: &UnitRows) -> Option<Vec<f32>> {
        let rows = x.input_rows();
        if (self.merged.len(), self.entries.len()) != (x.examples(), rows * self.width) {
            return None;
        }
        let line = |i: usize| &self.entries[x.input_row(i) * self.width..][..self.width];
        let rows = (0..x.features()).flat_map(line);
        Some(rows.map(|&kept| (f32::from(kept) / PARTS).clamp(-1.0, 1.0)).collect())
    }

    /// For each column the merged one that it is in, and how many these are; `None` where none were merged.
    pub(super) fn merged(&self) -> Option<(&[u32], usize)> {
        (self.width < self.merged.len()).then_some((&self.merged, self.width))
    }

    /// The bound that it proved when it was made.
    pub(super) fn proved(&self) -> f64 {
        self.proved
    }

    /// All of it: a mark, the bound, the sizes, the merged column of each column, the entries; numbers with the least byte
    /// first.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MARK.to_vec();
        bytes.extend(self.proved.to_le_bytes());
        let sizes = [self.merged.len(), self.width, self.entries.len()];
        bytes.extend(sizes.iter().flat_map(|&size| (size as u64).to_le_bytes()));
        bytes.extend(self.merged.iter().flat_map(|column| column.to_le_bytes()));
        bytes.extend(self.entries.iter().map(|entry| entry.to_le_bytes()[0]));
        bytes
    }

    /// What [`KeptDual::to_bytes`] gave; `None` for bytes that it did not give.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (mark, rest) = bytes.split_at_checked(MARK.len())?;
        let (numbers, rest) = rest.split_at_checked(32)?;
        let number = |at: usize| numbers[8 * at..][..8].try_into().ok().map(u64::from_le_bytes);
        let proved = f64::from_bits(number(0)?);
        let size = |at: usize| number(at).and_then(|size| usize::try_from(size).ok());
        let (columns, width, count) = (size(1)?, size(2)?, size(3)?);
        let (merged, entries) = rest.split_at_checked(columns.checked_mul(4)?)?;
        let merged: Vec<u32> =
            merged.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
        let fits = mark == MARK
            && proved.is_finite()
            && width <= columns
            && entries.len() == count
            && count.checked_rem(width) == Some(0)
            && merged.iter().all(|&column| (column as usize) < width);
        let entries = entries.iter().map(|&byte| i8::from_le_bytes([byte])).collect();
        fits.then_some(KeptDual { proved, merged, width, entries })
    }
}

impl fmt::Debug for KeptDual {
    /// The sizes, and a number that differs for others as good as surely.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let hash = self.to_bytes().into_iter().fold(0xcbf2_9ce4_8422_2325, mix);
        write!(f, "KeptDual({} x {}, {hash:016x})", self.entries.len(), self.width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::localise::instances::unit_rows;

    #[test]
    fn what_is_kept_is_read_again_and_nothing_else() {
        let x = unit_rows(&[vec![1.0, 2.0, 3.0], vec![2.0, 0.0, 1.0]]);
        let y = [1.0, -1.0, 0.5, -0.25];
        let kept = KeptDual::new(&x, (vec![0, 1, 1], 2), &y, 0.5);
        let again = kept.of_rows(&x).unwrap();
        assert!(again.iter().zip(y).all(|(a, b)| (a - b).abs() <= 0.5 / PARTS && a.abs() <= 1.0));
        let bytes = kept.to_bytes();
        assert_eq!(KeptDual::from_bytes(&bytes), Some(kept.clone()));
        assert_eq!(format!("{kept:?}"), format!("{:?}", KeptDual::from_bytes(&bytes).unwrap()));
        for at in 0..bytes.len() {
            assert_eq!(KeptDual::from_bytes(&bytes[..at]), None);
        }
        let mut other = bytes.clone();
        other[40] = 2; // a merged column that there is not
        assert_eq!(KeptDual::from_bytes(&other), None);
        assert_eq!(kept.of_rows(&unit_rows(&[vec![1.0, 2.0, 3.0]])), None);
        assert_eq!(kept.of_rows(&unit_rows(&[vec![1.0, 2.0], vec![2.0, 1.0]])), None);
    }
}
