//! Rows to unit sum, as the paper assumes everywhere (section 2, "Notation").
//!
//! A row of zeros has no direction: it is set aside here, explained by nothing, and comes back as
//! a zero row of F. Every index that leaves the crate is a row of the matrix as the caller gave it.

use crate::matrix::{Dense, Matrix, Row};
use crate::{Error, kernels};
use rayon::prelude::*;

/// X with unit row sums: the `f x n` matrix that every algorithm of the paper works on.
#[derive(Debug, Clone)]
pub struct UnitRows {
    x: Matrix,
    /// Row of the input for each row of `x`, increasing.
    kept: Vec<usize>,
    /// Sum of that row in the input.
    sums: Vec<f64>,
    input_rows: usize,
}

impl UnitRows {
    /// Checks the matrix, sets zero rows aside and divides the others by their sums.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::Negative`], [`Error::NotFinite`], [`Error::Overflow`], or
    /// [`Error::AllZero`] when no row is left.
    pub fn new(input: &Matrix) -> Result<Self, Error> {
        input.check_nonnegative()?;
        let (mut kept, mut sums) = (Vec::new(), Vec::new());
        for i in 0..input.rows() {
            let sum = input.row(i).sum();
            if !sum.is_finite() {
                return Err(Error::Overflow { row: i });
            }
            if sum > 0.0 {
                kept.push(i);
                sums.push(sum);
            }
        }
        if kept.is_empty() {
            return Err(Error::AllZero { rows: input.rows() });
        }
        let mut x =
            if kept.len() == input.rows() { input.clone() } else { input.select_rows(&kept) };
        // Dividing subnormal sums directly would overflow the reciprocal: scale such rows twice.
        let tiny = 1e-290;
        let lift: Vec<f64> = sums.iter().map(|s| if *s < tiny { 1e200 } else { 1.0 }).collect();
        x.scale_rows(&lift);
        let factors: Vec<f64> = sums.iter().zip(&lift).map(|(s, l)| 1.0 / (s * l)).collect();
        x.scale_rows(&factors);
        Ok(UnitRows { x, kept, sums, input_rows: input.rows() })
    }

    /// X, rows summing to one.
    pub fn x(&self) -> &Matrix {
        &self.x
    }

    /// f, the number of rows that are not zero.
    pub fn features(&self) -> usize {
        self.kept.len()
    }

    /// n, the number of columns.
    pub fn examples(&self) -> usize {
        self.x.cols()
    }

    /// Number of rows of the input, zero rows included.
    pub fn input_rows(&self) -> usize {
        self.input_rows
    }

    /// Row `i` of X.
    pub fn row(&self, i: usize) -> Row<'_> {
        self.x.row(i)
    }

    /// The input's row for row `i` of X.
    pub fn input_row(&self, i: usize) -> usize {
        self.kept[i]
    }

    /// The row of X for a row of the input; `None` for zero rows and rows that do not exist.
    pub fn unit_row(&self, input_row: usize) -> Option<usize> {
        self.kept.binary_search(&input_row).ok()
    }

    /// Sums of the input's rows, one for each row of X: the units to restore.
    pub fn sums(&self) -> &[f64] {
        &self.sums
    }

    /// `X B` for a B that adds columns up: column k of X goes to column `bucket[k]` of the result,
    /// which has unit rows again and is dense. `||(x - cX) B||_1 <= ||x - cX||_1`: errors on
    /// merged columns are never larger.
    pub fn merge_columns(&self, bucket: &[u32], buckets: usize) -> UnitRows {
        let mut merged = Dense::zeros(self.features(), buckets);
        merged.values_mut().par_chunks_mut(buckets.max(1)).enumerate().for_each(|(i, out)| {
            for (k, value) in self.row(i).nonzeros() {
                out[bucket[k] as usize] += value;
            }
        });
        UnitRows {
            x: merged.into(),
            kept: self.kept.clone(),
            sums: self.sums.clone(),
            input_rows: self.input_rows,
        }
    }

    /// `X v`, parallel over rows. O(nonzeros).
    pub fn times(&self, v: &[f64]) -> Vec<f64> {
        (0..self.features()).into_par_iter().map(|i| self.row(i).dot(v)).collect()
    }

    /// Row `i` of X as a dense vector of length n.
    pub fn dense_row(&self, i: usize) -> Vec<f64> {
        let mut out = vec![0.0; self.examples()];
        self.row(i).add_to(1.0, &mut out);
        out
    }

    /// `X x_i`, row i of the Gram matrix. O(nonzeros).
    pub fn gram_row(&self, i: usize) -> Vec<f64> {
        match self.row(i) {
            Row::Dense(values) => self.times(values),
            Row::Sparse(..) => self.times(&self.dense_row(i)),
        }
    }

    /// `X X_S^T`, the columns S of the Gram matrix: f x |S| and row-major. O(f * nonzeros of X_S),
    /// f |S| n for dense X.
    pub fn gram_columns(&self, rows: &[usize]) -> Vec<f64> {
        let (f, m) = (self.features(), rows.len());
        let mut gram = vec![0.0; f * m];
        let chosen = self.x.select_rows(rows);
        match (&self.x, &chosen) {
            (Matrix::Dense(x), Matrix::Dense(s)) => {
                kernels::gemm(f, x.cols(), m, 1.0, x.values(), s.values(), true, 0.0, &mut gram);
            }
            _ => gram.par_chunks_mut(m).enumerate().for_each_init(
                || vec![0.0; self.examples()],
                |scratch, (i, out)| {
                    self.row(i).add_to(1.0, scratch);
                    for (j, value) in out.iter_mut().enumerate() {
                        *value = chosen.row(j).dot(scratch);
                    }
                    for (k, _) in self.row(i).nonzeros() {
                        scratch[k] = 0.0;
                    }
                },
            ),
        }
        gram
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Sparse;

    #[test]
    fn sets_zero_rows_aside_and_keeps_the_callers_indices() {
        let dense = Dense::from_rows(&[[0.0, 0.0], [1.0, 3.0], [0.0, 0.0], [5.0, 0.0]]).unwrap();
        let sparse = Sparse::from_triplets(4, 2, &[(3, 0, 5.0), (1, 1, 3.0), (1, 0, 1.0)]).unwrap();
        for input in [Matrix::from(dense), Matrix::from(sparse)] {
            let unit = UnitRows::new(&input).unwrap();
            assert_eq!(unit.features(), 2);
            assert_eq!((unit.input_row(0), unit.input_row(1)), (1, 3));
            assert_eq!((unit.unit_row(3), unit.unit_row(2)), (Some(1), None));
            assert_eq!(unit.sums(), [4.0, 5.0]);
            assert_eq!(unit.dense_row(0), [0.25, 0.75]);
            assert_eq!(unit.gram_columns(&[0, 1]), [0.625, 0.25, 0.25, 1.0]);
            assert_eq!(unit.gram_columns(&[1]), [0.25, 1.0]);
            assert_eq!(unit.merge_columns(&[1, 1], 2).dense_row(0), [0.0, 1.0]);
            assert_eq!(unit.gram_row(1), [0.25, 1.0]);
        }
    }

    #[test]
    fn names_the_first_bad_entry() {
        let with = |v: f64| Matrix::from(Dense::from_rows(&[[1.0, 2.0], [3.0, v]]).unwrap());
        let place = |e| match e {
            Error::Negative { row, col, .. } | Error::NotFinite { row, col, .. } => (row, col),
            other => panic!("{other}"),
        };
        for v in [-1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(place(UnitRows::new(&with(v)).unwrap_err()), (1, 1));
        }
        let zero = Matrix::from(Dense::zeros(3, 2));
        assert_eq!(UnitRows::new(&zero).unwrap_err(), Error::AllZero { rows: 3 });
        let empty = Matrix::from(Dense::zeros(0, 2));
        assert_eq!(UnitRows::new(&empty).unwrap_err(), Error::Empty { rows: 0, cols: 2 });
        let huge = Matrix::from(Dense::from_rows(&[[1e308, 1e308]]).unwrap());
        assert_eq!(UnitRows::new(&huge).unwrap_err(), Error::Overflow { row: 0 });
        let tiny = Matrix::from(Dense::from_rows(&[[5e-324, 5e-324]]).unwrap());
        assert_eq!(UnitRows::new(&tiny).unwrap().dense_row(0), [0.5, 0.5]);
    }
}
