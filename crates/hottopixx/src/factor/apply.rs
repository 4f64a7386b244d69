//! An answer on rows that were not there when it was found.

use super::pipeline::Prepared;
use super::units::weights_in_units;
use super::{Errors, Factor, Seconds};
use crate::clean::{Cleaning, measure};
use crate::control::{Stage, Stop};
use crate::matrix::Matrix;
use crate::{Constraints, Error, factor::clock::Clock};

/// New rows on the hott rows of an answer: `rows ~ F W`, in the units of the rows.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Applied {
    /// New rows x rank: dense for dense rows, sparse for sparse ones.
    #[serde(skip)]
    pub f: Matrix,
    /// How well F W explains the new rows, as of the rows of a factorization.
    #[serde(rename = "error")]
    pub errors: Errors,
    /// How they were fitted; never [`Cleaning::Auto`].
    pub cleaning: Cleaning,
    /// Rows whose exact fit could not be proven optimal; always 0 unless cleaning was exact.
    pub inexact_rows: usize,
    /// New rows of zeros, explained by nothing.
    pub zero_rows: Vec<usize>,
    /// Why the computation ended.
    pub stop: Stop,
    /// Time spent.
    pub seconds: Seconds,
}

impl Factor {
    /// Fits the rows of a matrix on the hott rows W of an answer that was found before, maybe on other rows. On
    /// the rows that it was found on, with the same cleaning and seed, F and errors are those of the answer,
    /// bit for bit (unless two hott rows are equal). The rank of the settings does not matter.
    ///
    /// Takes a copy of the rows with W below them.
    ///
    /// # Errors
    /// As [`Factor::evaluate`]; [`Error::Length`] where the rows have not the columns of W, [`Error::HottRow`] for a
    /// row of W that is zero.
    pub fn apply(&self, w: &Matrix, rows: &Matrix) -> Result<Applied, Error> {
        let (rank, count) = (w.rows(), rows.rows());
        if w.cols() != rows.cols() {
            let (name, what) =
                ("a row", "columns of W, the hott rows (is X turned as it was then?)");
            return Err(Error::Length { name, found: rows.cols(), expected: w.cols(), what });
        }
        let constraints = Constraints::default();
        let (candidates, cost, weights, start) = (None, None, None, None);
        let settings =
            Factor { rank, constraints, candidates, cost, weights, start, ..self.clone() };
        let settings = settings.groups(false);
        settings.in_pool(|| {
            let mut clock = Clock::new(&settings.control);
            w.check_nonnegative()?;
            let both = clock.time(Stage::Normalise, || settings.above(rows, w))?;
            let x = both.unit_rows()?;
            let prepared = Prepared::with_x(&settings, &both.matrix, x)?;
            let hott: Vec<usize> = (count..count + rank).collect();
            let hott = prepared.unit_rows(&hott).map_err(|error| match error {
                Error::HottRow { row, reason } => Error::HottRow { row: row - count, reason },
                other => other,
            })?;
            let fitted = clock.time(Stage::Clean, || prepared.cleaner().clean(hott.clone()));
            prepared.applied((&hott, count), &fitted.fits, clock.seconds)
        })
    }
}

impl Prepared<'_> {
    /// What is said of the first `count` rows of the input, with these fits of all of them on `hott`.
    fn applied(
        &self,
        (hott, count): (&[usize], usize),
        fits: &[crate::clean::RowFit],
        seconds: Seconds,
    ) -> Result<Applied, Error> {
        let x = &self.x;
        // The rows of W come last, and none of them is zero.
        let fits = &fits[..x.features() - hott.len()];
        let measured = measure(x, hott, fits);
        let mut per_row = vec![0.0; count];
        measured.l1.iter().enumerate().for_each(|(i, e)| per_row[x.input_row(i)] = *e);
        let exact = self.settings.cleaning == Cleaning::Exact;
        let inexact = fits.iter().filter(|fit| exact && !fit.optimal).count();
        Ok(Applied {
            f: weights_in_units(x, hott, fits, (count, self.matrix.is_dense()))?,
            errors: Errors {
                inf1: measured.inf1,
                mean_l1: measured.mean_l1,
                rmse: measured.rmse,
                per_row,
            },
            cleaning: self.settings.cleaning,
            inexact_rows: inexact,
            zero_rows: (0..count).filter(|&i| x.unit_row(i).is_none()).collect(),
            stop: self.settings.control.cut_short().unwrap_or(Stop::Finished),
            seconds,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::localise::instances::as_sparse;
    use crate::matrix::{Dense, Matrix, Sparse};
    use crate::normalise::UnitRows;
    use crate::synth::{Family, Recipe};
    use crate::{Cleaning, Effort, Error, Factor, Method};

    /// Narrow and wide, dense, filled and thin, with a row of zeros, a copy of a row and rows of all sizes.
    fn instances() -> Vec<Matrix> {
        let sizes = [(40, 30, 4), (70, 700, 5), (65, 260, 3)];
        let made = sizes.iter().flat_map(|&(features, examples, rank)| {
            let recipe = Recipe { features, examples, ..Recipe::new(Family::Paper, rank) };
            let instance = recipe.generate().unwrap();
            let mut x = Dense::zeros(features + 2, examples);
            for i in 0..features {
                instance.matrix.row(i).add_to(0.3 + (i % 7) as f64, x.row_mut(i));
            }
            let copied = x.row(features / 2).to_vec();
            x.row_mut(features + 1).copy_from_slice(&copied);
            let some = |every: usize| {
                let all = (0..features).flat_map(|i| (0..examples).map(move |k| (i, k)));
                let some = all.filter(|(i, k)| (3 * i + 5 * k) % every < 2);
                let triplets: Vec<_> = some.map(|(i, k)| (i, k, 1e-3 + x.row(i)[k])).collect();
                Matrix::from(Sparse::from_triplets(features + 1, examples, &triplets).unwrap())
            };
            let (filled, thin) = (some(5), some(60));
            [x.into(), filled, thin]
        });
        made.collect()
    }

    #[test]
    fn on_the_rows_that_it_was_found_on_an_answer_is_the_same_bit_for_bit() {
        for (k, x) in instances().iter().enumerate() {
            let others =
                [Cleaning::LeastSquares, Cleaning::Incremental].map(|c| (Method::Gradient, c));
            let exact = [Method::Spa, Method::Gradient, Method::Auto].map(|m| (m, Cleaning::Exact));
            for (method, cleaning) in exact.into_iter().chain(others) {
                let factor = Factor::new(4).method(method).cleaning(cleaning).groups(false);
                let answer = factor.clone().effort(Effort::Quick).run(x).unwrap();
                let again = factor.apply(&answer.w, x).unwrap();
                let case = format!("{k} {method} {cleaning}");
                assert_eq!(again.f, answer.f, "{case}");
                assert_eq!(again.errors, answer.errors, "{case}");
                assert_eq!(again.zero_rows, answer.zero_rows, "{case}");
                assert_eq!(again.inexact_rows, answer.inexact_rows, "{case}");
            }
        }
    }

    /// Every row by itself, and rows of another kind than W, to rounding.
    #[test]
    fn a_row_is_fitted_the_same_in_any_company() {
        let all = instances();
        let x = &all[3];
        let factor = Factor::new(5).method(Method::Spa);
        let answer = factor.run(x).unwrap();
        for i in [3, 17, 40] {
            let alone = factor.apply(&answer.w, &x.select_rows(&[i])).unwrap();
            assert!((alone.errors.inf1 - answer.errors.per_row[i]).abs() < 1e-12);
        }
        let sparse = as_sparse(&UnitRows::new(x).unwrap()).to_matrix();
        let other = factor.apply(&answer.w, &sparse).unwrap();
        assert!((other.errors.mean_l1 - answer.errors.mean_l1).abs() < 1e-12);
        assert!(matches!(other.f, Matrix::Sparse(_)));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let w = Matrix::from(Dense::from_rows(&[[1.0, 0.0], [0.0, 0.0]]).unwrap());
        let rows = Matrix::from(Dense::from_rows(&[[1.0, 2.0, 3.0]]).unwrap());
        let short = Factor::new(1).apply(&w, &rows).unwrap_err();
        assert_eq!(
            short.to_string(),
            "a row has 3 entries, but there are 2 columns of W, the hott rows (is X turned as it was then?)"
        );
        let rows = Matrix::from(Dense::from_rows(&[[1.0, 2.0]]).unwrap());
        let zero = Factor::new(1).apply(&w, &rows).unwrap_err();
        assert_eq!(zero, Error::HottRow { row: 1, reason: "all its entries are zero".to_string() });
        // Rows of zeros alone are explained by nothing, and that is an answer.
        let nothing = Matrix::from(Dense::zeros(2, 2));
        let applied = Factor::new(1).apply(&w.select_rows(&[0]), &nothing).unwrap();
        assert_eq!((applied.zero_rows, applied.errors.mean_l1), (vec![0, 1], 0.0));
    }
}
