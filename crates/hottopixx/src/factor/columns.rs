//! An answer on columns that were not there when it was found.
//!
//! W is made of rows of the data, so that of new examples W is known: the entries of the hott rows. What they say about
//! the other rows is `F W` with the F of the answer, and how far off that is tells whether the answer still holds.

use super::{Errors, Factor};
use crate::Error;
use crate::control::Stop;
use crate::kernels::parallel::*;
use crate::matrix::{Matrix, Row};

/// New columns, explained by their entries in the hott rows: `columns ~ F W`, in the units of the columns.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct AppliedColumns {
    /// Rank x new columns: the hott rows of the new columns.
    #[serde(skip)]
    pub w: Matrix,
    /// How well F W explains the new columns, row by row and every row over its sum there, as of a factorization.
    #[serde(rename = "error")]
    pub errors: Errors,
    /// The l1 error of each new column over its sum; 0 for columns of zeros.
    #[serde(skip)]
    pub per_column: Vec<f64>,
    /// Rows without an entry in the new columns.
    pub zero_rows: Vec<usize>,
    /// Why the computation ended.
    pub stop: Stop,
}

/// Rows whose errors are added up together; the sums of blocks are added in their order.
const BLOCK: usize = 64;

/// Absolute errors of some rows, by column; and by row the sum, the sum of squares and the sum of the entries.
type Sums = (Vec<f64>, Vec<[f64; 3]>);

impl Factor {
    /// Explains new columns of the rows that an answer was found on: F is that of the answer, and `hott` its hott rows.
    /// Nothing is fitted: it tells how well what was learnt predicts all rows from the hott ones. On the columns that
    /// the answer was found on, W is that of the answer, and errors are up to rounding. O(nonzeros of F * columns).
    ///
    /// # Errors
    /// [`Error::Length`] where the rows are not those of F, or the hott rows not as many as its columns,
    /// [`Error::HottRow`] for a hott row that there is not; entries must be nonnegative.
    pub fn apply_columns(
        &self,
        f: &Matrix,
        hott: &[usize],
        columns: &Matrix,
    ) -> Result<AppliedColumns, Error> {
        let length = |name, found, expected, what| Error::Length { name, found, expected, what };
        if columns.rows() != f.rows() {
            return Err(length("a new column", columns.rows(), f.rows(), "rows of F"));
        }
        if hott.len() != f.cols() {
            return Err(length("hott rows", hott.len(), f.cols(), "columns of F"));
        }
        if let Some(&row) = hott.iter().find(|row| **row >= f.rows()) {
            return Err(Error::HottRow { row, reason: "there is no such row".to_owned() });
        }
        columns.check_nonnegative()?;
        f.check_nonnegative()?;
        self.in_pool(|| self.explain_columns(f, hott, columns))
    }

    fn explain_columns(
        &self,
        f: &Matrix,
        hott: &[usize],
        columns: &Matrix,
    ) -> Result<AppliedColumns, Error> {
        let control = self.control.for_new_run();
        let (rows, n) = (columns.rows(), columns.cols());
        let w = columns.select_rows(hott);
        let known: Vec<Row<'_>> = (0..hott.len()).map(|k| w.row(k)).collect();
        let block = |first: usize| -> Option<Sums> {
            let (mut by_column, mut by_row) = (vec![0.0; n], Vec::new());
            let mut residual = vec![0.0; n];
            for i in first..(first + BLOCK).min(rows) {
                if control.stopped().is_some() {
                    return None;
                }
                columns.row(i).write_to(1.0, &mut residual);
                f.row(i).nonzeros().for_each(|(k, v)| known[k].add_to(-v, &mut residual));
                by_column.iter_mut().zip(&residual).for_each(|(sum, e)| *sum += e.abs());
                let sum: f64 = residual.iter().map(|e| e.abs()).sum();
                let squares: f64 = residual.iter().map(|e| e * e).sum();
                by_row.push([sum, squares, columns.row(i).sum()]);
            }
            Some((by_column, by_row))
        };
        let starts: Vec<usize> = (0..rows).step_by(BLOCK).collect();
        let blocks: Option<Vec<Sums>> = starts.into_par_iter().map(block).collect();
        let blocks =
            blocks.ok_or(Error::NoAnswer(control.cut_short().unwrap_or(Stop::Interrupted)))?;
        let (mut per_column, mut by_row) = (vec![0.0; n], Vec::with_capacity(rows));
        for (some, own) in blocks {
            per_column.iter_mut().zip(&some).for_each(|(sum, e)| *sum += e);
            by_row.extend(own);
        }
        let mut sums = vec![0.0; n];
        (0..rows).for_each(|i| columns.row(i).add_to(1.0, &mut sums));
        per_column
            .iter_mut()
            .zip(&sums)
            .for_each(|(e, sum)| *e = if *sum > 0.0 { *e / sum } else { 0.0 });
        Ok(AppliedColumns {
            errors: measured(&by_row, n),
            per_column,
            zero_rows: (0..rows).filter(|&i| by_row[i][2] == 0.0).collect(),
            stop: control.cut_short().unwrap_or(Stop::Finished),
            w,
        })
    }
}

/// Errors of rows of sum one; those without an entry do not count.
fn measured(by_row: &[[f64; 3]], columns: usize) -> Errors {
    let full: Vec<&[f64; 3]> = by_row.iter().filter(|row| row[2] > 0.0).collect();
    let count = full.len().max(1) as f64;
    let squares: f64 = full.iter().map(|[_, squares, sum]| squares / (sum * sum)).sum();
    Errors {
        inf1: full.iter().map(|[error, _, sum]| error / sum).fold(0.0, f64::max),
        mean_l1: full.iter().map(|[error, _, sum]| error / sum).sum::<f64>() / count,
        rmse: (squares / (count * columns.max(1) as f64)).sqrt(),
        per_row: by_row
            .iter()
            .map(|[error, _, sum]| if *sum > 0.0 { error / sum } else { 0.0 })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use crate::localise::instances::as_sparse;
    use crate::matrix::{Dense, Matrix};
    use crate::normalise::UnitRows;
    use crate::synth::{Family, Recipe};
    use crate::{Error, Factor, Method};

    fn parts(x: &Matrix, at: usize) -> [Matrix; 2] {
        let turned = x.transpose();
        let rows = |range: std::ops::Range<usize>| {
            turned.select_rows(&range.collect::<Vec<_>>()).transpose()
        };
        [rows(0..at), rows(at..x.cols())]
    }

    #[test]
    fn what_was_learnt_holds_for_other_columns_of_the_same_mixtures() {
        let recipe = Recipe::new(Family::Paper, 4).size(90, 300);
        let x = Recipe { noise: 0.2, ..recipe }.generate().unwrap().matrix;
        let sparse = as_sparse(&UnitRows::new(&x).unwrap()).to_matrix();
        for x in [x, sparse] {
            let [first, later] = parts(&x, 200);
            let factor = Factor::new(4).method(Method::Spa);
            let answer = factor.run(&first).unwrap();
            let hott: Vec<usize> = answer.hott.iter().map(|hott| hott.row).collect();
            let same = factor.apply_columns(&answer.f, &hott, &first).unwrap();
            assert_eq!(same.w, answer.w);
            assert!((same.errors.mean_l1 - answer.errors.mean_l1).abs() < 1e-12);
            assert!((same.errors.rmse - answer.errors.rmse).abs() < 1e-12);
            let per_row = same.errors.per_row.iter().zip(&answer.errors.per_row);
            assert!(per_row.into_iter().all(|(a, b)| (a - b).abs() < 1e-12));
            let new = factor.apply_columns(&answer.f, &hott, &later).unwrap();
            assert_eq!((new.w.rows(), new.w.cols(), new.per_column.len()), (4, 100, 100));
            assert!(new.errors.mean_l1 < 2.0 * answer.errors.mean_l1 + 1e-9);
            // Nothing learnt, nothing explained.
            let nothing = Matrix::from(Dense::zeros(90, 4));
            let none = factor.apply_columns(&nothing, &hott, &later).unwrap();
            assert!((none.errors.mean_l1 - 1.0).abs() < 1e-12);
            assert!(none.per_column.iter().all(|e| (e - 1.0).abs() < 1e-12));
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let f = Matrix::from(Dense::from_rows(&[[1.0], [0.5]]).unwrap());
        let columns = Matrix::from(Dense::from_rows(&[[2.0, 0.0], [1.0, 0.0]]).unwrap());
        let apply =
            |hott: &[usize], columns: &Matrix| Factor::new(1).apply_columns(&f, hott, columns);
        let fine = apply(&[0], &columns).unwrap();
        assert_eq!((fine.per_column, fine.errors.mean_l1), (vec![0.0, 0.0], 0.0));
        assert!(matches!(apply(&[2], &columns), Err(Error::HottRow { row: 2, .. })));
        assert!(matches!(apply(&[0, 1], &columns), Err(Error::Length { .. })));
        assert!(matches!(apply(&[0], &columns.select_rows(&[0])), Err(Error::Length { .. })));
        let negative = Matrix::from(Dense::from_rows(&[[1.0], [-1.0]]).unwrap());
        assert!(apply(&[0], &negative).is_err());
        let zero = Matrix::from(Dense::from_rows(&[[3.0], [0.0]]).unwrap());
        assert_eq!(apply(&[0], &zero).unwrap().zero_rows, [1]);
    }
}
