//! Dense matrices, stored by rows.

use super::Buffer;
use super::scan::KeptScan;
use crate::Error;

/// A dense matrix; entry (i, j) is `values[i * cols + j]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Dense {
    rows: usize,
    cols: usize,
    values: Buffer<f64>,
    pub(super) scan: KeptScan,
}

impl Dense {
    /// Takes ownership of `rows * cols` values in row order.
    ///
    /// # Errors
    /// [`Error::Shape`] when the number of values is not `rows * cols`.
    pub fn new(rows: usize, cols: usize, values: Vec<f64>) -> Result<Self, Error> {
        Dense::from_buffer(rows, cols, values.into())
    }

    /// As [`Dense::new`], from numbers that may be shared.
    ///
    /// # Errors
    /// As [`Dense::new`].
    pub fn from_buffer(rows: usize, cols: usize, values: Buffer<f64>) -> Result<Self, Error> {
        if rows.checked_mul(cols) != Some(values.len()) {
            return Err(Error::Shape { rows, cols, found: values.len() });
        }
        Ok(Dense { rows, cols, values, scan: KeptScan::default() })
    }

    /// A matrix of zeros.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Dense { rows, cols, values: vec![0.0; rows * cols].into(), scan: KeptScan::default() }
    }

    /// A matrix from rows of equal length.
    ///
    /// # Errors
    /// [`Error::Shape`] when the rows differ in length.
    pub fn from_rows<R: AsRef<[f64]>>(rows: &[R]) -> Result<Self, Error> {
        let cols = rows.first().map_or(0, |r| r.as_ref().len());
        let values: Vec<f64> = rows.iter().flat_map(|r| r.as_ref().iter().copied()).collect();
        if rows.iter().any(|r| r.as_ref().len() != cols) {
            return Err(Error::Shape { rows: rows.len(), cols, found: values.len() });
        }
        Dense::new(rows.len(), cols, values)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    pub(super) fn is_foreign(&self) -> bool {
        self.values.is_foreign()
    }

    /// All values in row order.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// All values in row order, to change.
    pub fn values_mut(&mut self) -> &mut [f64] {
        self.scan.forget();
        self.values.make_mut()
    }

    /// All values in row order, given away.
    pub fn into_values(self) -> Vec<f64> {
        self.values.into_vec()
    }

    /// Row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.cols..(i + 1) * self.cols]
    }

    /// Row `i`, to change.
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        let cols = self.cols;
        &mut self.values_mut()[i * cols..(i + 1) * cols]
    }

    /// The transpose, copied in tiles that fit the cache.
    pub fn transpose(&self) -> Dense {
        let mut out = vec![0.0; self.cols * self.rows];
        crate::kernels::transpose(self.rows, self.cols, &self.values, &mut out);
        Dense { rows: self.cols, cols: self.rows, values: out.into(), scan: KeptScan::default() }
    }

    /// The given rows, in the given order.
    pub fn select_rows(&self, rows: &[usize]) -> Dense {
        let mut values = Vec::with_capacity(rows.len() * self.cols);
        for &i in rows {
            values.extend_from_slice(self.row(i));
        }
        let (values, scan) = (values.into(), self.scan.select(rows));
        Dense { rows: rows.len(), cols: self.cols, values, scan }
    }

    pub(super) fn scale_rows(&mut self, factors: &[f64]) {
        if self.cols == 0 {
            return;
        }
        let cols = self.cols;
        for (row, factor) in self.values_mut().chunks_exact_mut(cols).zip(factors) {
            row.iter_mut().for_each(|v| *v *= factor);
        }
    }

    pub(super) fn scale_columns(&mut self, factors: &[f64]) {
        for row in self.values_mut().chunks_exact_mut(factors.len().max(1)) {
            row.iter_mut().zip(factors).for_each(|(value, factor)| *value *= factor);
        }
    }
}
