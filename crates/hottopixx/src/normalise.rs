//! Rows to unit sum, as the paper assumes everywhere (section 2, "Notation").
//!
//! A row of zeros has no direction: it is set aside here, explained by nothing, and comes back as
//! a zero row of F. Every index that leaves the crate is a row of the matrix as the caller gave it.
//!
//! Nothing is copied: X is the caller's matrix and a factor for each row, one over its sum. So it
//! takes no memory of its own and the matrix may be part of a mapped file.

use crate::control::Control;
use crate::kernels::parallel::*;
use crate::matrix::{Dense, Gaps, Matrix, Row, Shape};
use crate::{Error, kernels};
use std::sync::Arc;

/// X with unit row sums: the `f x n` matrix that every algorithm of the paper works on.
#[derive(Debug, Clone)]
pub struct UnitRows {
    /// Rows before they are scaled.
    raw: Matrix,
    /// For each row of X, where it stands in `raw`, and one over its sum there.
    places: Vec<usize>,
    factors: Vec<f64>,
    /// Row of the input for each row of X, increasing.
    kept: Vec<usize>,
    /// Sum of that row in the input.
    sums: Vec<f64>,
    input_rows: usize,
    /// See [`UnitRows::squares`].
    squares: Option<Arc<UnitRows>>,
    /// How much each row counts in a mean, 1 on average; empty where all count the same.
    weights: Vec<f64>,
    /// Where entries were not observed; see [`UnitRows::observing`].
    observed: Option<Arc<Observed>>,
}

/// What was observed of a matrix whose other entries are guesses.
#[derive(Debug)]
struct Observed {
    /// Places of guesses, by row of the input.
    gaps: Gaps,
    /// The share of each row's sum that was observed, by row of the input.
    shares: Vec<f64>,
}

/// Sums in this range can be divided by, and products of two entries neither overflow nor vanish.
const ORDINARY: std::ops::RangeInclusive<f64> = 1e-100..=1e100;

/// Numbers that are copied at a time for products of some rows.
const COPIED: usize = 4_000_000;

impl UnitRows {
    /// Checks the matrix, sets zero rows aside and scales the others by one over their sums. O(nonzeros).
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::Negative`], [`Error::NotFinite`], [`Error::Overflow`], or
    /// [`Error::AllZero`] when no row is left.
    pub fn new(input: &Matrix) -> Result<Self, Error> {
        input.check_nonnegative()?;
        let all = input.scan().sums();
        if let Some(row) = all.iter().position(|sum| !sum.is_finite()) {
            return Err(Error::Overflow { row });
        }
        let kept: Vec<usize> = (0..input.rows()).filter(|&i| all[i] > 0.0).collect();
        if kept.is_empty() {
            return Err(Error::AllZero { rows: input.rows() });
        }
        let sums: Vec<f64> = kept.iter().map(|&i| all[i]).collect();
        let ordinary = sums.iter().all(|sum| ORDINARY.contains(sum));
        let (raw, factors) = if ordinary {
            (input.clone(), sums.iter().map(|sum| 1.0 / sum).collect())
        } else {
            let copy = scaled_copy(input, all);
            let factors = kept.iter().map(|&i| 1.0 / copy.row(i).sum()).collect();
            (copy, factors)
        };
        let (places, input_rows) = (kept.clone(), input.rows());
        let (squares, weights, observed) = (None, Vec::new(), None);
        Ok(UnitRows { raw, places, factors, kept, sums, input_rows, squares, weights, observed })
    }

    /// X of a matrix that was completed in these places. As atoms rows are what they are, completed; as targets of
    /// fits they are their observed entries alone, and errors count in shares of their sums:
    ///
    /// `e_i = min ||(x_i - c X)_O||_1 / sum of x_i over O`,  O the columns observed in row i.
    ///
    /// The row of zeros, which nothing explains, must be one in the observed entries as well.
    pub(crate) fn observing(mut self, gaps: Gaps) -> Self {
        let share = |i: usize| {
            let row = self.raw.row(i);
            let guessed: f64 = entries_at(row, gaps.row(i)).sum();
            let all = row.sum();
            if guessed == 0.0 || all == 0.0 { 1.0 } else { observed_sum(row, gaps.row(i)) / all }
        };
        let shares = (0..self.raw.rows()).map(share).collect();
        self.observed = Some(Arc::new(Observed { gaps, shares }));
        self
    }

    /// Whether some entries are guesses.
    pub(crate) fn has_gaps(&self) -> bool {
        self.observed.is_some()
    }

    /// The columns in which row `i` of X was not observed, increasing.
    #[inline]
    pub(crate) fn gaps(&self, i: usize) -> &[u32] {
        self.observed.as_ref().map_or(&[], |observed| observed.gaps.row(self.kept[i]))
    }

    /// The share of row `i` that was observed: the sum of its target.
    #[inline]
    pub(crate) fn share(&self, i: usize) -> f64 {
        self.observed.as_ref().map_or(1.0, |observed| observed.shares[self.kept[i]])
    }

    /// X with a weight for every row of the input, by which its error counts in a mean.
    ///
    /// # Errors
    /// [`Error::Length`] where they are not as many, [`Error::Setting`] where one is no number from 0 on, or all are zero.
    pub(crate) fn weighed(mut self, by_input_row: &[f64]) -> Result<UnitRows, Error> {
        let (name, found, expected) = ("weights", by_input_row.len(), self.input_rows);
        if found != expected {
            return Err(Error::Length { name, found, expected, what: "rows of the matrix" });
        }
        let refuse = |value: String, remedy: String| Err(Error::Setting { name, value, remedy });
        if let Some(row) = by_input_row.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
            let remedy = format!("entry {row} must be a finite number that is not negative");
            return refuse(by_input_row[row].to_string(), remedy);
        }
        let weights: Vec<f64> = self.kept.iter().map(|&i| by_input_row[i]).collect();
        // Divided by the largest first: sums of huge numbers would overflow.
        let largest = weights.iter().copied().fold(0.0, f64::max);
        if largest == 0.0 {
            return refuse(
                "0".to_string(),
                "a row that is not zero must have a weight".to_string(),
            );
        }
        let mean = weights.iter().map(|w| w / largest).sum::<f64>() / weights.len() as f64;
        self.weights = weights.iter().map(|w| w / largest / mean).collect();
        Ok(self)
    }

    /// How much a row counts in a mean, 1 on average.
    #[inline]
    pub(crate) fn weight(&self, i: usize) -> f64 {
        self.weights.get(i).copied().unwrap_or(1.0)
    }

    /// The weights of all rows, 1 on average; empty where all count the same.
    pub(crate) fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// X without some rows of the input, as if they were zero. Rows count the same.
    pub(crate) fn without(&self, input_rows: &[usize]) -> UnitRows {
        let stays: Vec<usize> =
            (0..self.features()).filter(|&i| !input_rows.contains(&self.kept[i])).collect();
        let of = |all: &[usize]| stays.iter().map(|&i| all[i]).collect();
        let numbers = |all: &[f64]| stays.iter().map(|&i| all[i]).collect();
        UnitRows {
            raw: self.raw.clone(),
            places: of(&self.places),
            factors: numbers(&self.factors),
            kept: of(&self.kept),
            sums: numbers(&self.sums),
            input_rows: self.input_rows,
            squares: self.squares.as_ref().map(|x| Arc::new(x.without(input_rows))),
            weights: Vec::new(),
            observed: self.observed.clone(),
        }
    }

    /// The size of X.
    pub fn shape(&self) -> Shape {
        let raw = Shape::from(&self.raw);
        let rows = self.features();
        let entries = if raw.dense { rows * raw.cols } else { raw.entries };
        Shape { rows, entries, ..raw }
    }

    /// Whether all entries are stored.
    pub fn is_dense(&self) -> bool {
        matches!(self.raw, Matrix::Dense(_))
    }

    /// The given rows of X, in the given order, as a matrix of their own.
    pub fn select_rows(&self, rows: &[usize]) -> Matrix {
        let places: Vec<usize> = rows.iter().map(|&i| self.places[i]).collect();
        let mut out = self.raw.select_rows(&places);
        let factors: Vec<f64> = rows.iter().map(|&i| self.factors[i]).collect();
        out.scale_rows(&factors);
        out
    }

    /// X as a matrix of its own.
    pub fn to_matrix(&self) -> Matrix {
        self.select_rows(&(0..self.features()).collect::<Vec<_>>())
    }

    /// f, the number of rows that are not zero.
    pub fn features(&self) -> usize {
        self.kept.len()
    }

    /// n, the number of columns.
    pub fn examples(&self) -> usize {
        self.raw.cols()
    }

    /// Number of rows of the input, zero rows included.
    pub fn input_rows(&self) -> usize {
        self.input_rows
    }

    /// Row `i` of X.
    #[inline]
    pub fn row(&self, i: usize) -> Row<'_> {
        self.raw.row(self.places[i]).scaled(self.factors[i])
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
        self.merge_columns_under(bucket, buckets, &Control::default()).expect("nobody stops it")
    }

    /// As [`UnitRows::merge_columns`]; `None` when `control` stopped it, and where entries were not observed: what
    /// merged columns hold would differ from row to row.
    pub(crate) fn merge_columns_under(
        &self,
        bucket: &[u32],
        buckets: usize,
        control: &Control,
    ) -> Option<UnitRows> {
        if self.has_gaps() {
            return None;
        }
        let mut merged = Dense::zeros(self.features(), buckets);
        let rows = merged.values_mut().par_chunks_mut(buckets.max(1)).enumerate();
        let all = rows.all(|(i, out)| {
            let goes_on = control.goes_on();
            if goes_on {
                for (k, value) in self.row(i).nonzeros() {
                    out[bucket[k] as usize] += value;
                }
            }
            goes_on
        });
        all.then(|| UnitRows {
            raw: merged.into(),
            places: (0..self.features()).collect(),
            factors: vec![1.0; self.features()],
            kept: self.kept.clone(),
            sums: self.sums.clone(),
            input_rows: self.input_rows,
            squares: None,
            weights: self.weights.clone(),
            observed: None,
        })
    }

    /// The same, told what the columns of the input have been multiplied with: column k stands for `w_k` copies of
    /// the example `x_k / w_k`. Sums over the copies are what they are in X, but a sum of squares is
    /// `w_k (x_k / w_k)^2`: what [`UnitRows::squares`] gives holds `x_k / sqrt(w_k)` (0 for weight 0), so that inner
    /// products of its rows are those of the copies. Takes a copy of X.
    pub(crate) fn with_example_weights(mut self, weights: &[f64]) -> Self {
        let over = |w: &f64| if *w > 0.0 { 1.0 / w.sqrt() } else { 0.0 };
        let mut squares = self.clone();
        squares.raw.scale_columns(&weights.iter().map(over).collect::<Vec<_>>());
        self.squares = Some(Arc::new(squares));
        self
    }

    /// The rows as sums of squares are to see them: X itself, unless examples have weights. Its rows need not
    /// sum to one.
    pub(crate) fn squares(&self) -> &UnitRows {
        self.squares.as_deref().unwrap_or(self)
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

    /// `X X_S^T`, the columns S of the Gram matrix: f x |S| and row-major. One pass over X:
    /// `2 f |S| n` flops in matrix products for dense X; for sparse X, a row visits its examples
    /// and the entries of `X_S` there.
    pub fn gram_columns(&self, rows: &[usize]) -> Vec<f64> {
        self.gram_columns_under(rows, &Control::default()).expect("nobody stops it")
    }

    /// As [`UnitRows::gram_columns`], to the same bytes; `None` when `control` stopped it.
    pub(crate) fn gram_columns_under(&self, rows: &[usize], control: &Control) -> Option<Vec<f64>> {
        let (f, m) = (self.features(), rows.len());
        let chosen = self.select_rows(rows);
        match (&self.raw, &chosen) {
            (Matrix::Dense(x), Matrix::Dense(s)) => {
                let stored = x.rows();
                let mut gram = vec![0.0; stored * m];
                let (x, n) = (x.values(), x.cols());
                let (s, goes_on) = (s.values(), || control.goes_on());
                if !kernels::gemm_while(goes_on, stored, n, m, 1.0, x, s, true, 0.0, &mut gram) {
                    return None;
                }
                if m > 0 {
                    for (i, (&place, factor)) in self.places.iter().zip(&self.factors).enumerate() {
                        gram.copy_within(place * m..(place + 1) * m, i * m);
                        gram[i * m..(i + 1) * m].iter_mut().for_each(|v| *v *= factor);
                    }
                }
                gram.truncate(f * m);
                Some(gram)
            }
            _ => self.sparse_products(&(0..f).collect::<Vec<_>>(), &chosen, control),
        }
    }

    /// `X_R X_S^T`, rows R and columns S of the Gram matrix: |R| x |S| and row-major. For dense X
    /// some rows are copied at a time, at most `COPIED` numbers.
    pub fn gram_block(&self, rows: &[usize], columns: &[usize]) -> Vec<f64> {
        if rows.len() == self.features() && rows.iter().enumerate().all(|(at, i)| at == *i) {
            return self.gram_columns(columns);
        }
        let (m, n) = (columns.len(), self.examples());
        let chosen = self.select_rows(columns);
        let Matrix::Dense(s) = &chosen else {
            let products = self.sparse_products(rows, &chosen, &Control::default());
            return products.expect("nobody stops it");
        };
        let mut gram = vec![0.0; rows.len() * m];
        let size = (COPIED / n.max(1)).max(1);
        for (rows, gram) in rows.chunks(size).zip(gram.chunks_mut(size * m.max(1))) {
            if let Matrix::Dense(a) = self.select_rows(rows) {
                kernels::gemm(rows.len(), n, m, 1.0, a.values(), s.values(), true, 0.0, gram);
            }
        }
        gram
    }

    /// `X_R S^T` for sparse X: a row visits its examples and the entries of S there. `None` when
    /// stopped.
    fn sparse_products(&self, rows: &[usize], s: &Matrix, control: &Control) -> Option<Vec<f64>> {
        let m = s.rows();
        let mut gram = vec![0.0; rows.len() * m];
        let examples = s.transpose();
        let all = gram.par_chunks_mut(m.max(1)).zip(rows).all(|(out, &i)| {
            let goes_on = control.goes_on();
            if goes_on {
                for (k, value) in self.row(i).nonzeros() {
                    examples.row(k).add_to(value, out);
                }
            }
            goes_on
        });
        all.then_some(gram)
    }
}

/// The stored entries of a row in these columns, increasing.
fn entries_at<'a>(row: Row<'a>, columns: &'a [u32]) -> impl Iterator<Item = f64> + 'a {
    let there = move |k: &usize| columns.binary_search(&(*k as u32)).is_ok();
    row.nonzeros().filter(move |(k, _)| there(k)).map(|(_, value)| value)
}

/// The sum of the entries of a row outside these columns, in order of column.
fn observed_sum(row: Row<'_>, gaps: &[u32]) -> f64 {
    let there = |k: &usize| gaps.binary_search(&(*k as u32)).is_err();
    row.nonzeros().filter(|(k, _)| there(k)).map(|(_, value)| value).sum()
}

/// The input with rows of extraordinary sums brought to sums between one and two, by powers of two:
/// exact, but for entries that underflow, which are less than `2^-1022` of their row. Subnormal sums
/// have no such power: their rows are lifted first.
fn scaled_copy(input: &Matrix, sums: &[f64]) -> Matrix {
    let lift = |sum: f64| if sum > 0.0 && sum < 1e-290 { 2f64.powi(664) } else { 1.0 };
    let factor = |sum: f64| {
        let lifted = sum * lift(sum);
        if ORDINARY.contains(&sum) || sum == 0.0 { 1.0 } else { 1.0 / power_below(lifted) }
    };
    let mut out = input.clone();
    out.scale_rows(&sums.iter().map(|&sum| lift(sum)).collect::<Vec<_>>());
    out.scale_rows(&sums.iter().map(|&sum| factor(sum)).collect::<Vec<_>>());
    out
}

/// The largest power of two that is not above a normal number.
fn power_below(value: f64) -> f64 {
    f64::from_bits(value.to_bits() & f64::INFINITY.to_bits())
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
            assert_eq!(unit.gram_block(&[1, 0], &[1]), [1.0, 0.25]);
            assert_eq!(unit.gram_block(&[0, 1], &[1]), [0.25, 1.0]);
        }
    }

    /// Products of huge entries would overflow before they are scaled: such a matrix is copied.
    #[test]
    fn extreme_scales_come_out_as_ordinary_ones() {
        let input = Dense::from_rows(&[[1e300, 3e300], [0.0, 0.0], [2e-300, 0.0]]).unwrap();
        let unit = UnitRows::new(&Matrix::from(input)).unwrap();
        let gram = unit.gram_columns(&[0, 1]);
        for (found, expected) in gram.iter().zip([0.625, 0.25, 0.25, 1.0]) {
            assert!((found - expected).abs() < 1e-15);
        }
        assert!((unit.row(0).squared_norm() - 0.625).abs() < 1e-15);
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
