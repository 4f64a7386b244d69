//! How many rows? Entries are held out, guessed from the others, and compared.
//!
//! The error of the rows that are explained falls with every hott row, whether it stands for something or not. That of
//! entries which nobody has seen does not: a row more that only follows the noise guesses them no better. So a random
//! part of the entries is taken for missing (*speckled* cross-validation: Wold 1978), rows are chosen at the
//! largest rank without them, and along the path to fewer rows (`path`) the entries that were held out are compared
//! with what F and W say of them. The rank is the last one whose row made a difference: the error of the guesses
//! fell by a good part of what other rows gained, and by more than chance explains, row by row.

use super::path::walk;
use super::pipeline::Prepared;
use super::{Factor, Missing};
use crate::Error;
use crate::clean::{Cleaning, FittedChoice};
use crate::control::{Control, Stop};
use crate::matrix::{Dense, Matrix, Sparse};
use crate::normalise::UnitRows;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A row makes a difference if it takes this share of what the rows before it took off the error on average, and this many
/// standard errors.
const GAIN: f64 = 0.1;
const SURE: f64 = 3.0;

/// Entries that are held out at most, each of which takes some hundred bytes and is guessed in every sweep of the model that
/// completes; and entries, each of which takes a random number.
const MOST_HELD: f64 = 2e7;
const MOST_LOOKED_AT: f64 = 1e9;

/// What entries that were held out say about the rank.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct HeldOut {
    /// The share of the observed entries that was held out.
    pub share: f64,
    /// The rank of the first of the errors: 1, unless it was stopped.
    pub first: usize,
    /// For `first`, `first + 1`, ... rows the mean over rows of the l1 error of the guesses, scaled to a whole row of sum
    /// one.
    pub errors: Vec<f64>,
    /// The last rank whose row made a difference.
    pub suggested: usize,
    /// Why, in a sentence.
    pub reason: String,
    /// Why it ended: where it was stopped, it knows nothing of lower ranks.
    #[serde(skip_serializing)]
    pub stop: Stop,
}

impl Factor {
    /// Holds out this share of the entries, chosen by the seed, and says for how many rows, up to the rank of the settings, they are
    /// guessed well. Takes a run of the method and a path. Entries may be missing already
    /// ([`Missing::Observed`]).
    ///
    /// # Errors
    /// As [`Factor::run`] and [`Factor::path`]; [`Error::Setting`] for a share outside (0, 0.5], for matrices of which it
    /// is too many entries, and for methods that cannot leave entries out.
    pub fn held_out(&self, matrix: &Matrix, share: f64) -> Result<HeldOut, Error> {
        let refuse = |remedy: &str| {
            let (name, value) = ("held_out", share.to_string());
            Err(Error::Setting { name, value, remedy: remedy.to_string() })
        };
        if !(share > 0.0 && share <= 0.5) {
            return refuse(
                "give the share of the entries that are held out, above 0 and at most 0.5",
            );
        }
        let entries = matrix.rows() as f64 * matrix.cols() as f64;
        if entries > MOST_LOOKED_AT {
            return refuse(&format!(
                "the matrix has more than {MOST_LOOKED_AT:e} entries, zeros among them: give fewer rows or columns"
            ));
        }
        if share * entries > MOST_HELD {
            return refuse(&format!(
                "{MOST_HELD:e} entries, zeros among them, can be held out: give a share of at most {:.1e}",
                MOST_HELD / entries
            ));
        }
        if self.missing == Missing::Refuse {
            matrix.check_nonnegative()?;
        }
        let (seen, places) = speckled(matrix, share, self.seed, &self.control)?;
        let constraints = self.constraints.of_parts();
        let (missing, outliers) = (Missing::Observed, None);
        let settings = Factor { missing, outliers, constraints, groups: false, ..self.clone() };
        settings.in_pool(|| {
            let method = settings.method_with_settings()?;
            let completed = settings.completed(&seen)?;
            let prepared = Prepared::with_x(&settings, &completed.matrix, completed.unit_rows()?)?;
            if prepared.settings.cleaning != Cleaning::Exact {
                return refuse(
                    "it needs exact cleaning, which was not asked for or would take too long here",
                );
            }
            let rows = prepared.unit_rows(&prepared.chosen(method.as_ref())?)?;
            let (mut first, mut errors) = (0, Vec::new());
            let x = &prepared.x;
            let control = &prepared.settings.control;
            walk(x, rows, settings.objective, control, &mut |fitted| {
                if let Some(found) = guessed(x, matrix, &places, fitted, control) {
                    first = fitted.hott.len();
                    errors.push(found);
                }
            });
            errors.reverse();
            let stop = control.cut_short().unwrap_or(Stop::Finished);
            if stop != Stop::Finished && errors.len() < 2 {
                return Err(Error::NoAnswer(stop)); // one rank alone says nothing
            }
            Ok(judged(x, (first, &errors), share, stop))
        })
    }
}

/// The matrix without some of its entries, and these by row. Of a sparse matrix, zeros are held out like other entries. O(all
/// entries); until it is stopped.
fn speckled(
    matrix: &Matrix,
    share: f64,
    seed: u64,
    control: &Control,
) -> Result<(Matrix, Vec<Vec<u32>>), Error> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut places = vec![Vec::new(); matrix.rows()];
    for (i, held) in places.iter_mut().enumerate() {
        if control.stopped().is_some() {
            break;
        }
        let row = matrix.row(i);
        let chosen = |_: &usize| random.random::<f64>() < share;
        let columns = (0..matrix.cols()).filter(chosen).filter(|&k| !row.entry(k).is_nan());
        held.extend(columns.map(|k| k as u32));
    }
    let seen = match matrix {
        Matrix::Dense(dense) => {
            let mut values = dense.values().to_vec();
            for (row, held) in values.chunks_exact_mut(dense.cols().max(1)).zip(&places) {
                held.iter().for_each(|&k| row[k as usize] = f64::NAN);
            }
            Dense::new(dense.rows(), dense.cols(), values)?.into()
        }
        Matrix::Sparse(sparse) => {
            let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
            for (i, held) in places.iter().enumerate() {
                let (stored, kept) = sparse.row(i);
                let stays = |entry: &(&u32, &f64)| held.binary_search(entry.0).is_err();
                let stored = stored.iter().zip(kept).filter(stays);
                let all = stored.map(|(&k, &v)| (k, v)).chain(held.iter().map(|&k| (k, f64::NAN)));
                all.for_each(|(k, v)| {
                    columns.push(k);
                    values.push(v);
                });
                starts.push(columns.len());
            }
            Sparse::new(sparse.rows(), sparse.cols(), starts, columns, values)?.into()
        }
    };
    Ok((seen, places))
}

/// For each row of X the l1 error of the guesses for its entries that were held out, as if all entries were: rows sum to
/// one. `None` when stopped. O(held out * rank).
fn guessed(
    x: &UnitRows,
    matrix: &Matrix,
    places: &[Vec<u32>],
    fitted: &FittedChoice,
    control: &Control,
) -> Option<Vec<f64>> {
    let hott: Vec<Vec<f64>> = fitted.hott.iter().map(|&h| x.dense_row(h)).collect();
    let error = |(i, fit): (usize, &crate::clean::RowFit)| {
        if control.stopped().is_some() {
            return None;
        }
        let row = x.input_row(i);
        let guess = |k: usize| -> f64 {
            fit.weights.iter().map(|&(h, weight)| weight * hott[h as usize][k]).sum()
        };
        let miss = |&k: &u32| {
            let k = k as usize;
            (matrix.row(row).entry(k) / x.sums()[i] - guess(k)).abs()
        };
        let held = &places[row];
        let missed: f64 = held.iter().map(miss).sum();
        Some(if held.is_empty() { 0.0 } else { missed * x.examples() as f64 / held.len() as f64 })
    };
    fitted.fits.iter().enumerate().map(error).collect()
}

/// What the errors of every row say, for `first`, `first + 1`, ... hott rows.
fn judged(x: &UnitRows, (first, errors): (usize, &[Vec<f64>]), share: f64, stop: Stop) -> HeldOut {
    let count = x.features().max(1) as f64;
    let weighted = |row: &[f64]| -> f64 {
        row.iter().enumerate().map(|(i, e)| x.weight(i) * e).sum::<f64>() / count
    };
    let means: Vec<f64> = errors.iter().map(|row| weighted(row)).collect();
    // Whether the last row of the k-th rank makes a difference to one row less, or to explaining nothing.
    let matters = |k: usize| {
        if k == 0 && first > 1 {
            return false; // nobody knows
        }
        let before = |i: usize| if k == 0 { 1.0 } else { errors[k - 1][i] };
        let gains: Vec<f64> =
            (0..x.features()).map(|i| x.weight(i) * (before(i) - errors[k][i])).collect();
        let gain = gains.iter().sum::<f64>() / count;
        let spread: f64 = gains.iter().map(|g| (g - gain).powi(2)).sum();
        let chance = (spread / (count - 1.0).max(1.0) / count).sqrt();
        // What each row before it has taken off, on average, of the error that explaining nothing has.
        let usual = if k == 0 { 1.0 } else { (1.0 - means[k - 1]) / (first + k - 1) as f64 };
        gain > GAIN * usual && gain > SURE * chance
    };
    let last = (0..errors.len()).rev().find(|&k| matters(k));
    let suggested = first + last.unwrap_or(0);
    let at = means.get(last.unwrap_or(0)).copied().unwrap_or(0.0);
    let percent = 100.0 * share;
    let reason = match last {
        Some(k) if k + 1 == errors.len() => format!(
            "Even the last row guesses entries better that were held out ({percent} %; error {at:.4}): a larger rank may be \
             better still."
        ),
        None if first > 1 => format!(
            "More than {first} rows guess entries no better that were held out ({percent} %; error {at:.4}); it was stopped \
             before it looked at fewer."
        ),
        _ => format!(
            "Entries that were held out ({percent} %) are guessed with an error of {at:.4}, and no better with more rows."
        ),
    };
    HeldOut { share, first, errors: means, suggested, reason, stop }
}
