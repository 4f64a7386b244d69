//! Nonnegative matrices as the caller gives them: dense or sparse, rows are features.
//!
//! Both kinds are stored by rows, because everything in this crate works on rows: hott topics
//! *are* rows, cleaning fits one row at a time, and the localising matrix is updated by rows.
//! Where columns are needed (the incremental gradient), the transpose is built once.

mod dense;
mod sparse;

pub use dense::Dense;
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

/// One row of a [`Matrix`], borrowed.
#[derive(Debug, Clone, Copy)]
pub enum Row<'a> {
    /// All entries of the row.
    Dense(&'a [f64]),
    /// Column numbers (increasing) and the values that stand there.
    Sparse(&'a [u32], &'a [f64]),
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

    /// Number of entries that are not zero.
    pub fn nonzeros(&self) -> usize {
        match self {
            Matrix::Dense(m) => m.values().iter().filter(|v| **v != 0.0).count(),
            Matrix::Sparse(m) => m.values().iter().filter(|v| **v != 0.0).count(),
        }
    }

    /// Row `i`, borrowed. Panics when `i` is not a row.
    pub fn row(&self, i: usize) -> Row<'_> {
        match self {
            Matrix::Dense(m) => Row::Dense(m.row(i)),
            Matrix::Sparse(m) => {
                let (columns, values) = m.row(i);
                Row::Sparse(columns, values)
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

    /// Checks what every later step relies on: at least one entry, all finite, none negative.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::NotFinite`] or [`Error::Negative`] with the first bad place.
    pub fn check_nonnegative(&self) -> Result<(), Error> {
        if self.rows() == 0 || self.cols() == 0 {
            return Err(Error::Empty { rows: self.rows(), cols: self.cols() });
        }
        for i in 0..self.rows() {
            let bad = |v: &f64| !(v.is_finite() && *v >= 0.0);
            let (col, value) = match self.row(i) {
                Row::Dense(values) => match values.iter().position(bad) {
                    Some(k) => (k, values[k]),
                    None => continue,
                },
                Row::Sparse(columns, values) => match values.iter().position(bad) {
                    Some(k) => (columns[k] as usize, values[k]),
                    None => continue,
                },
            };
            return Err(if value.is_finite() {
                Error::Negative { row: i, col, value }
            } else {
                Error::NotFinite { row: i, col, value }
            });
        }
        Ok(())
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

impl<'a> Row<'a> {
    /// The stored entries as (column, value), columns increasing; zeros of a dense row are left out.
    pub fn nonzeros(self) -> impl Iterator<Item = (usize, f64)> + 'a {
        let (dense, columns, values): (bool, &[u32], &[f64]) = match self {
            Row::Dense(values) => (true, &[], values),
            Row::Sparse(columns, values) => (false, columns, values),
        };
        let column = move |k: usize| if dense { k } else { columns[k] as usize };
        values.iter().enumerate().filter(|(_, v)| **v != 0.0).map(move |(k, &v)| (column(k), v))
    }

    /// Sum of the entries, added in order of column.
    pub fn sum(self) -> f64 {
        self.values().iter().sum()
    }

    /// The stored values.
    pub fn values(self) -> &'a [f64] {
        match self {
            Row::Dense(values) | Row::Sparse(_, values) => values,
        }
    }

    /// Inner product with a dense vector of full length.
    pub fn dot(self, dense: &[f64]) -> f64 {
        match self {
            Row::Dense(values) => crate::kernels::dot(values, dense),
            Row::Sparse(columns, values) => {
                columns.iter().zip(values).map(|(&k, v)| dense[k as usize] * v).sum()
            }
        }
    }

    /// `target += factor * row`, target dense and of full length.
    pub fn add_to(self, factor: f64, target: &mut [f64]) {
        match self {
            Row::Dense(values) => crate::kernels::axpy(factor, values, target),
            Row::Sparse(columns, values) => {
                for (&k, v) in columns.iter().zip(values) {
                    target[k as usize] += factor * v;
                }
            }
        }
    }

    /// The l1 distance to another row of the same matrix.
    pub fn l1_distance(self, other: Row<'_>) -> f64 {
        match (self, other) {
            (Row::Dense(a), Row::Dense(b)) => a.iter().zip(b).map(|(x, y)| (x - y).abs()).sum(),
            (a, b) => {
                // Merge of two increasing column lists.
                let (mut left, mut right) = (a.nonzeros().peekable(), b.nonzeros().peekable());
                let mut total = 0.0;
                loop {
                    match (left.peek().copied(), right.peek().copied()) {
                        (None, None) => return total,
                        (Some((_, v)), None) => {
                            total += v.abs();
                            left.next();
                        }
                        (None, Some((_, v))) => {
                            total += v.abs();
                            right.next();
                        }
                        (Some((j, v)), Some((k, w))) => {
                            total += match j.cmp(&k) {
                                std::cmp::Ordering::Less => v.abs(),
                                std::cmp::Ordering::Greater => w.abs(),
                                std::cmp::Ordering::Equal => (v - w).abs(),
                            };
                            if j <= k {
                                left.next();
                            }
                            if k <= j {
                                right.next();
                            }
                        }
                    }
                }
            }
        }
    }
}
