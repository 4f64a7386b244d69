//! How large a matrix is, known before it is loaded.

use super::Matrix;

/// The size of a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// f, the rows.
    pub rows: usize,
    /// n, the columns.
    pub cols: usize,
    /// Stored entries: all of a dense matrix.
    pub entries: usize,
    /// Whether all entries are stored.
    pub dense: bool,
}

impl From<&Matrix> for Shape {
    fn from(matrix: &Matrix) -> Self {
        let (rows, cols) = (matrix.rows(), matrix.cols());
        let (entries, dense) = match matrix {
            Matrix::Dense(m) => (m.values().len(), true),
            Matrix::Sparse(m) => (m.values().len(), false),
        };
        Shape { rows, cols, entries, dense }
    }
}

impl Shape {
    /// Bytes of the matrix itself.
    pub fn bytes(self) -> u64 {
        let entries = self.entries as u64;
        if self.dense {
            entries.saturating_mul(8)
        } else {
            entries.saturating_mul(12).saturating_add(self.f().saturating_mul(8))
        }
    }

    /// f, to count with.
    pub(crate) fn f(self) -> u64 {
        self.rows as u64
    }

    /// n, to count with.
    pub(crate) fn n(self) -> u64 {
        self.cols as u64
    }

    /// Bytes of a copy of `m` of its rows; of sparse rows nothing is known but that they have no
    /// more entries than all.
    pub(crate) fn some_rows(self, m: u64) -> u64 {
        let full = m.min(self.f()).saturating_mul(self.n());
        if self.dense { 8 * full } else { 12 * full.min(self.entries as u64) + 8 * m }
    }

    /// The largest number of entries that one row can have.
    pub(crate) fn longest_row(self) -> u64 {
        self.n().min(self.entries as u64)
    }
}
