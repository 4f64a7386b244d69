//! Entries that were not observed: NaN in the caller's matrix.
//!
//! A matrix with such entries is split once: numbers without them (zero in their place, to be completed
//! later) and the places, by row. Everything else of the crate sees matrices of numbers only.

use super::{Dense, Entries, Matrix};
use crate::Error;
use crate::kernels::parallel::*;

/// The places that were not observed, columns increasing within each row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Gaps {
    starts: Vec<usize>,
    columns: Vec<u32>,
}

impl Gaps {
    /// Columns that were not observed, by row.
    pub fn new(rows: Vec<Vec<u32>>) -> Self {
        let mut starts = vec![0];
        for row in &rows {
            starts.push(starts[starts.len() - 1] + row.len());
        }
        Gaps { starts, columns: rows.concat() }
    }

    /// Those of row `i`, increasing.
    pub fn row(&self, i: usize) -> &[u32] {
        &self.columns[self.starts[i]..self.starts[i + 1]]
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.columns.len()
    }

    /// Rows that they are counted over.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// The same with rows below in which everything was observed.
    pub fn with_whole_rows(mut self, count: usize) -> Gaps {
        let last = self.columns.len();
        self.starts.extend(std::iter::repeat_n(last, count));
        self
    }

    /// The same by column of a matrix with `cols` of them.
    pub fn transpose(&self, cols: usize) -> Gaps {
        let mut by_column: Vec<Vec<u32>> = vec![Vec::new(); cols];
        for i in 0..self.rows() {
            self.row(i).iter().for_each(|&k| by_column[k as usize].push(i as u32));
        }
        Gaps::new(by_column)
    }
}

impl Matrix {
    /// As [`Matrix::check_nonnegative`], but entries may be NaN: not observed.
    ///
    /// # Errors
    /// As [`Matrix::check_nonnegative`].
    pub fn check_observed(&self) -> Result<(), Error> {
        match self.check_nonnegative() {
            Err(Error::NotFinite { value, .. }) if value.is_nan() => {}
            other => return other,
        }
        let bad = |v: &f64| !(v.is_nan() || (0.0..f64::INFINITY).contains(v));
        let fault = |row: usize| {
            let (col, value) = self.row(row).nonzeros().find(|(_, v)| bad(v))?;
            Some(match value.is_finite() {
                true => Error::Negative { row, col, value },
                false => Error::NotFinite { row, col, value },
            })
        };
        (0..self.rows()).into_par_iter().find_map_first(fault).map_or(Ok(()), Err)
    }

    /// The matrix with zeros where it has NaN, and these places; `None` where it has none. Sparse matrices
    /// keep the places as stored entries. O(entries).
    pub(crate) fn split_observed(&self) -> Option<(Matrix, Gaps)> {
        let gaps_of = |i: usize| -> Vec<u32> {
            let missing = |v: &f64| v.is_nan();
            match self.row(i).entries() {
                Entries::Dense(values) => {
                    (0u32..).zip(values).filter(|(_, v)| missing(v)).map(|(k, _)| k).collect()
                }
                Entries::Sparse(columns, values) => {
                    let places = columns.iter().zip(values).filter(|(_, v)| missing(v));
                    places.map(|(k, _)| *k).collect()
                }
            }
        };
        let gaps = Gaps::new((0..self.rows()).into_par_iter().map(gaps_of).collect());
        (gaps.count() > 0).then(|| (self.with_entries(&gaps, |_, _| 0.0), gaps))
    }

    /// The matrix with other numbers in these places, `entry(row, column)`, which must be stored.
    pub(crate) fn with_entries(&self, gaps: &Gaps, entry: impl Fn(usize, usize) -> f64) -> Matrix {
        let mut out = self.clone();
        match &mut out {
            Matrix::Dense(dense) => fill(dense, gaps, entry),
            Matrix::Sparse(sparse) => {
                let mut places = Vec::with_capacity(gaps.count());
                for i in 0..gaps.rows() {
                    let (start, columns) = (sparse.starts()[i], sparse.row(i).0);
                    for &k in gaps.row(i) {
                        if let Ok(at) = columns.binary_search(&k) {
                            places.push((start + at, entry(i, k as usize)));
                        }
                    }
                }
                let values = sparse.values_mut();
                places.into_iter().for_each(|(at, value)| values[at] = value);
            }
        }
        out
    }
}

fn fill(dense: &mut Dense, gaps: &Gaps, entry: impl Fn(usize, usize) -> f64) {
    let cols = dense.cols();
    let values = dense.values_mut();
    for i in 0..gaps.rows() {
        for &k in gaps.row(i) {
            values[i * cols + k as usize] = entry(i, k as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Sparse;

    #[test]
    fn places_are_split_off_and_filled_dense_and_sparse() {
        let nan = f64::NAN;
        let dense = Dense::from_rows(&[[1.0, nan, 2.0], [0.0, 3.0, 0.0], [nan, nan, 4.0]]).unwrap();
        let places = [(0, 0, 1.0), (0, 1, nan), (0, 2, 2.0), (1, 1, 3.0), (2, 0, nan), (2, 1, nan)];
        let triplets: Vec<_> = places.into_iter().chain([(2, 2, 4.0)]).collect();
        let sparse = Sparse::from_triplets(3, 3, &triplets).unwrap();
        for matrix in [Matrix::from(dense), sparse.into()] {
            let (zeros, gaps) = matrix.split_observed().unwrap();
            assert_eq!((gaps.row(0), gaps.row(1), gaps.row(2)), (&[1][..], &[][..], &[0, 1][..]));
            assert_eq!((gaps.count(), gaps.transpose(3).row(1)), (3, &[0, 2][..]));
            assert_eq!(zeros.scan().sums(), [3.0, 3.0, 4.0]);
            assert!(zeros.split_observed().is_none() && matrix.check_observed().is_ok());
            for (bad, row) in [(-1.0, 1), (f64::INFINITY, 1)] {
                let worse =
                    matrix.with_entries(&Gaps::new(vec![vec![], vec![1], vec![]]), |_, _| bad);
                let fault = worse.check_observed().unwrap_err().to_string();
                assert!(fault.starts_with(&format!("row {row}, column 1 is {bad}")), "{fault}");
            }
            let filled = zeros.with_entries(&gaps, |i, k| (10 * i + k) as f64);
            assert_eq!(filled.scan().sums(), [4.0, 3.0, 45.0]);
        }
    }
}
