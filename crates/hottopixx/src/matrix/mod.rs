//! Nonnegative matrices as the caller gives them: dense or sparse, rows are features.
//!
//! Both kinds are stored by rows, because everything in this crate works on rows: hott topics
//! *are* rows, cleaning fits one row at a time, and the localising matrix is updated by rows.
//! Where columns are needed (the incremental gradient), the transpose is built once. The numbers
//! live in a [`Buffer`]: clones share them, and they may be part of a mapped file.

mod buffer;
mod dense;
mod fingerprint;
mod gaps;
mod row;
mod scan;
mod shape;
mod sparse;

pub use buffer::Buffer;
#[doc(hidden)]
pub use buffer::Foreign;
pub use dense::Dense;
pub(crate) use fingerprint::fingerprint;
pub(crate) use gaps::Gaps;
pub use row::{Entries, Row};
#[doc(hidden)]
pub use scan::Scan;
pub use shape::Shape;
pub use sparse::Sparse;

use crate::Error;

/// A matrix of `rows` features by `cols` examples.
#[derive(Debug, Clone, PartialEq)]
pub enum Matrix {
    /// Every entry is stored.
    Dense(Dense),
    /// Only the nonzero entries are stored.
    Sparse(Sparse),
}

impl Matrix {
    /// Number of rows, the features.
    pub fn rows(&self) -> usize {
        match self {
            Matrix::Dense(m) => m.rows(),
            Matrix::Sparse(m) => m.rows(),
        }
    }

    /// Number of columns, the examples.
    pub fn cols(&self) -> usize {
        match self {
            Matrix::Dense(m) => m.cols(),
            Matrix::Sparse(m) => m.cols(),
        }
    }

    /// Whether all entries are stored.
    pub(crate) fn is_dense(&self) -> bool {
        matches!(self, Matrix::Dense(_))
    }

    /// Its rows and below them those of another matrix with as many columns, of the kind that this one is.
    /// O(entries of both).
    ///
    /// # Errors
    /// [`Error::Shape`] where the columns are not as many.
    pub(crate) fn above(&self, other: &Matrix) -> Result<Matrix, Error> {
        let (rows, cols) = (self.rows() + other.rows(), self.cols());
        match self {
            Matrix::Dense(m) => {
                let mut values = Vec::with_capacity(rows * cols);
                values.extend_from_slice(m.values());
                for i in 0..other.rows() {
                    let start = values.len();
                    values.resize(start + other.cols(), 0.0);
                    other.row(i).add_to(1.0, &mut values[start..]);
                }
                Ok(Dense::new(rows, cols, values)?.into())
            }
            Matrix::Sparse(m) => {
                let (mut starts, mut columns) = (m.starts().to_vec(), m.columns().to_vec());
                let mut values = m.values().to_vec();
                for i in 0..other.rows() {
                    for (k, value) in other.row(i).nonzeros() {
                        columns.push(k as u32);
                        values.push(value);
                    }
                    starts.push(values.len());
                }
                Ok(Sparse::new(rows, cols, starts, columns, values)?.into())
            }
        }
    }

    /// Whether the numbers are in memory of another owner, such as a mapped file.
    pub fn is_foreign(&self) -> bool {
        match self {
            Matrix::Dense(m) => m.is_foreign(),
            Matrix::Sparse(m) => m.is_foreign(),
        }
    }

    /// What one pass over the entries tells; the pass is made when it is first asked for.
    pub fn scan(&self) -> &Scan {
        match self {
            Matrix::Dense(m) => m.scan.get(|| Scan::new(self)),
            Matrix::Sparse(m) => m.scan.get(|| Scan::new(self)),
        }
    }

    /// The first row whose sum or number of entries is no longer that of [`Matrix::scan`]: only numbers in
    /// memory of another owner can change, and only of those is it asked. One pass over the entries. What
    /// leaves all sums as they were goes unnoticed.
    pub(crate) fn changed_row(&self) -> Option<usize> {
        if !self.is_foreign() {
            return None;
        }
        let (then, now) = (self.scan(), Scan::new(self));
        (0..self.rows()).find(|&i| {
            then.sums()[i].to_bits() != now.sums()[i].to_bits()
                || then.nonzeros()[i] != now.nonzeros()[i]
        })
    }

    /// Number of entries that are not zero.
    pub fn nonzeros(&self) -> usize {
        self.scan().nonzeros().iter().sum()
    }

    /// Row `i`, borrowed. Panics when `i` is not a row.
    #[inline]
    pub fn row(&self, i: usize) -> Row<'_> {
        match self {
            Matrix::Dense(m) => Row::dense(m.row(i)),
            Matrix::Sparse(m) => {
                let (columns, values) = m.row(i);
                Row::sparse(columns, values)
            }
        }
    }

    /// The transpose, of the same kind. O(rows * cols) or O(nonzeros).
    pub fn transpose(&self) -> Matrix {
        match self {
            Matrix::Dense(m) => Matrix::Dense(m.transpose()),
            Matrix::Sparse(m) => Matrix::Sparse(m.transpose()),
        }
    }

    /// The given rows, in the given order. Panics when one of them is not a row.
    pub fn select_rows(&self, rows: &[usize]) -> Matrix {
        match self {
            Matrix::Dense(m) => Matrix::Dense(m.select_rows(rows)),
            Matrix::Sparse(m) => Matrix::Sparse(m.select_rows(rows)),
        }
    }

    /// Multiplies row `i` by `factors[i]`, in place.
    pub(crate) fn scale_rows(&mut self, factors: &[f64]) {
        match self {
            Matrix::Dense(m) => m.scale_rows(factors),
            Matrix::Sparse(m) => m.scale_rows(factors),
        }
    }

    /// Multiplies column `k` by `factors[k]`, in place.
    pub(crate) fn scale_columns(&mut self, factors: &[f64]) {
        match self {
            Matrix::Dense(m) => m.scale_columns(factors),
            Matrix::Sparse(m) => m.scale_columns(factors),
        }
    }

    /// Checks what every later step relies on: at least one entry, all finite, none negative
    /// ([`Matrix::scan`]).
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::NotFinite`] or [`Error::Negative`] with the first bad place.
    pub fn check_nonnegative(&self) -> Result<(), Error> {
        if self.rows() == 0 || self.cols() == 0 {
            return Err(Error::Empty { rows: self.rows(), cols: self.cols() });
        }
        self.scan().fault().map_or(Ok(()), |fault| Err(fault.clone()))
    }
}

impl From<Dense> for Matrix {
    fn from(m: Dense) -> Self {
        Matrix::Dense(m)
    }
}

impl From<Sparse> for Matrix {
    fn from(m: Sparse) -> Self {
        Matrix::Sparse(m)
    }
}
