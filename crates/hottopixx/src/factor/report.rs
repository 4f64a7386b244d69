//! From fits to the answer: F, W, errors and groups in the caller's rows and units.

use super::checked::Checked;
use super::pipeline::{Cleaned, Prepared};
use super::units::weights_in_units;
use super::{Errors, Factorization, HottRow, Method, Seconds};
use crate::Error;
use crate::Objective;
use crate::clean::{Cleaning, FittedChoice, measure};
use crate::control::Stop;
use crate::localise::lp::LpStatus;
use crate::methods::{Bounded, Bounds, ErrorBound, Localised};

/// Said where [`Cleaning::Auto`] came to least squares.
const TOO_LARGE: &str = "The exact fit of all rows would take very long at this size, so F was \
    fitted by least squares; exact cleaning may be asked for.";

impl Prepared<'_> {
    /// The answer, assembled once. Its `stop` is read last: whatever was left undone on the way has
    /// told the control of the run.
    ///
    /// # Errors
    /// [`Error::Unrepresentable`] where F has no numbers, [`Error::Changed`] where X is no longer what it
    /// was when the run began.
    pub fn report(
        &self,
        found: Localised,
        cleaned: Cleaned,
        seconds: Seconds,
    ) -> Result<Factorization, Error> {
        let Cleaned { fitted: FittedChoice { hott, fits, .. }, groups, judged, best, exchanges } =
            cleaned;
        let (x, settings) = (&self.x, &self.settings);
        let measured = measure(x, &hott, &fits);
        if let Some(row) = self.matrix.changed_row() {
            return Err(Error::Changed { row });
        }
        let input = |i: &usize| x.input_row(*i);
        // One number per row of the input, zero for those that were set aside.
        let by_input_row = |values: &[f64]| {
            let mut all = vec![0.0; x.input_rows()];
            (0..x.features()).for_each(|i| all[x.input_row(i)] = values[i]);
            all
        };
        let weight = |group: &[usize]| match &found.diagonal {
            Some(d) if settings.method != Method::Auto => {
                group.iter().map(|i| d[*i]).sum::<f64>().min(1.0)
            }
            _ => 1.0,
        };
        let hott_row = |(h, group): (&usize, &Vec<usize>)| HottRow {
            row: input(h),
            weight: weight(group),
            group: group.iter().map(input).collect(),
        };
        let inexact = fits.iter().filter(|fit| !fit.optimal).count();
        let too_large = settings.too_large.then(|| TOO_LARGE.to_string());
        Ok(Factorization {
            method: settings.method,
            chosen_from: best.map(|best| judged[best].origin.clone()),
            judged,
            exchanges,
            hott: hott.iter().zip(&groups).map(hott_row).collect(),
            f: weights_in_units(x, &hott, &fits, (x.input_rows(), self.matrix.is_dense()))?,
            w: self.matrix.select_rows(&hott.iter().map(input).collect::<Vec<_>>()),
            errors: Errors {
                inf1: measured.inf1,
                mean_l1: measured.mean_l1,
                rmse: measured.rmse,
                per_row: by_input_row(&measured.l1),
            },
            bounds: found
                .error_bound
                .map(|bound| about_answer(bound, (measured.mean_l1, measured.inf1), settings))
                .or(found.bounds),
            notes: too_large.into_iter().chain(found.notes).collect(),
            diagonal: found.diagonal.as_deref().map(by_input_row),
            dual: found.dual,
            cleaning: settings.cleaning,
            inexact_rows: if settings.cleaning == Cleaning::Exact { inexact } else { 0 },
            zero_rows: (0..x.input_rows()).filter(|&i| x.unit_row(i).is_none()).collect(),
            outliers: Vec::new(),
            completion: None,
            stop: settings.control.cut_short().unwrap_or(Stop::Finished),
            seconds,
        })
    }
}

/// The error of the answer that was made small, the mean or the largest, beside the bound for every choice
/// of rows.
fn about_answer(bound: ErrorBound, (mean, largest): (f64, f64), settings: &Checked) -> Bounds {
    let ErrorBound { lower_bound, rounds, cuts } = bound;
    let (goal, error) = match settings.objective {
        Objective::Mean => (Bounded::Mean, mean),
        Objective::Max => (Bounded::Max, largest),
    };
    // Rounding may leave a measured error a little below a bound that it meets.
    let gap = if error > 0.0 { ((error - lower_bound) / error).max(0.0) } else { 0.0 };
    Bounds {
        goal,
        status: if gap <= BEST { LpStatus::Optimal } else { LpStatus::Feasible },
        objective: error,
        lower_bound,
        gap,
        trace: settings.rank as f64,
        rounds,
        cuts,
    }
}

/// No choice of rows is better than this share of the error: rounding.
const BEST: f64 = 1e-6;
