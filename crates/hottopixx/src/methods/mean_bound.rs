//! What `auto` proves about the mean error of every choice of rows, beside looking for a good one.

use super::{Localised, Question};
use crate::certify::prove_mean;
use crate::localise::first_order::{self, FirstOrderSettings, Weights, first_order};
use crate::select::portfolio::readings;
use crate::{Effort, Error};

/// The share of a time limit that the bound may take.
const SHARE: f64 = 0.3;

/// A bound on the mean error after cleaning of every choice of so many rows, whatever their weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct MeanBound {
    /// The bound, as the verifier has it.
    pub lower_bound: f64,
    /// Steps of the first-order method behind it.
    pub steps: usize,
}

/// How far the first-order method goes: gap, steps, flops. `None` for none at all.
fn reach(effort: Effort) -> Option<(f64, usize, f64)> {
    match effort {
        Effort::Quick => None,
        // Some seconds of one processor: half a minute's worth would bring another percent.
        Effort::Normal => Some((0.02, 300, 5e11)),
        Effort::Thorough => Some((0.002, 3000, 1e13)),
    }
}

/// The bound with the readings of the diagonal behind it; `None` where it is not affordable, was
/// stopped, or the verifier did not accept it.
pub(super) fn mean_bound(
    question: &Question<'_>,
    effort: Effort,
    budget: u64,
) -> Result<Option<(MeanBound, Localised)>, Error> {
    let Question { x, rank, allowed, .. } = *question;
    let (f, n) = (x.features(), x.examples());
    let Some((gap, steps, work)) = reach(effort) else { return Ok(None) };
    let bytes = first_order::bytes(f, question.candidates(), n);
    if !first_order::fits_memory(f, n) || bytes > budget {
        return Ok(None);
    }
    let control = question.control.for_share(SHARE);
    let settings = FirstOrderSettings { weights: Weights::Free, gap, steps, work };
    let Some(found) = first_order(x, rank, allowed, &settings, &control)? else { return Ok(None) };
    if !found.lower_bound.is_finite() {
        return Ok(None);
    }
    let Ok(lower_bound) = prove_mean(x, rank, allowed, &found.dual, &control) else {
        return Ok(None);
    };
    let candidates = readings(question, "total", &found.diagonal);
    let other = Localised { candidates, diagonal: Some(found.diagonal), ..Default::default() };
    Ok(Some((MeanBound { lower_bound, steps: found.steps }, other)))
}
