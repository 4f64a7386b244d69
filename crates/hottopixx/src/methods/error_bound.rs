//! What `auto` proves about the error of every choice of rows, beside looking for a good one.
//!
//! The mean error by the first-order method: one Y bounds every rank, so that a few of them bound all
//! errors along a path. The largest error by the bound for choices where that is
//! a matter of seconds, otherwise by the dual of minimax with the weights that rows can use, which is about all choices
//! though the program was about fractional ones; and where there was no program either, by the mean error,
//! which is never above it.

use super::{Localised, Question};
use crate::certify::{prove_max, prove_mean, prove_means};
use crate::choice;
use crate::localise::first_order::{
    self, FirstOrderOutcome, FirstOrderSettings, Weights, first_order,
};
use crate::select::portfolio::{Candidate, readings};
use crate::{Effort, Error};

/// The share of a time limit that the bound may take.
const SHARE: f64 = 0.3;

/// Entries of X x candidates up to which choices are bounded: 200 words and 10 rows, 8e6, take 6 CPU seconds.
const CHOICES: f64 = 1e7;

/// A bound on the error that the objective names, after cleaning, of every choice of this many rows, whatever
/// their weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ErrorBound {
    /// The bound, as the verifier has it.
    pub lower_bound: f64,
    /// Steps of the first-order method behind it, or thresholds that were tried.
    pub rounds: usize,
    /// Cuts behind it.
    pub cuts: usize,
}

/// Rows of Y that are not zero: what a linear program proves its bound with.
pub(super) type Dual = Vec<(usize, Vec<f64>)>;

/// How far the first-order method goes: gap, steps, flops. `None` for none at all.
fn reach(effort: Effort) -> Option<(f64, usize, f64)> {
    match effort {
        Effort::Quick => None,
        // Some seconds of one processor: half a minute's worth would bring another percent.
        Effort::Normal => Some((0.03, 300, 3e11)),
        Effort::Thorough => Some((0.002, 3000, 1e13)),
    }
}

/// Whether the first-order method may take part.
fn is_affordable(question: &Question<'_>, budget: u64) -> bool {
    let (f, n) = (question.x.features(), question.x.examples());
    let bytes = first_order::bytes(f, question.candidates(), n);
    first_order::fits_memory(f, n) && bytes <= budget
}

/// The first-order method for free weights; `None` where it has no bound.
fn relaxed(
    question: &Question<'_>,
    reach: (f64, usize, f64),
) -> Result<Option<FirstOrderOutcome>, Error> {
    let Question { x, rank, allowed, control, .. } = *question;
    let (gap, steps, work) = reach;
    let settings = FirstOrderSettings { weights: Weights::Free, gap, steps, work };
    let found = first_order(x, rank, allowed, &settings, control)?;
    Ok(found.filter(|found| found.lower_bound.is_finite()))
}

/// The bound on the mean error with the readings of the diagonal behind it; `None` where it is not
/// affordable, was stopped, or the verifier did not accept it.
pub(super) fn mean_bound(
    question: &Question<'_>,
    effort: Effort,
    budget: u64,
) -> Result<Option<(ErrorBound, Localised)>, Error> {
    let Some(reach) = reach(effort).filter(|_| is_affordable(question, budget)) else {
        return Ok(None);
    };
    let control = question.control.for_share(SHARE);
    let Some(found) = relaxed(&question.under(&control), reach)? else { return Ok(None) };
    let Question { x, rank, allowed, .. } = *question;
    let Ok(lower_bound) = prove_mean(x, rank, allowed, &found.dual, &control) else {
        return Ok(None);
    };
    let candidates = readings(question, "total", &found.diagonal);
    let other = Localised { candidates, diagonal: Some(found.diagonal), ..Default::default() };
    Ok(Some((ErrorBound { lower_bound, rounds: found.steps, cuts: 0 }, other)))
}

/// The bound on the largest error, with the best rows that were met on the way; `None` where nothing above
/// zero is proven. `dual` is that of minimax, where it was solved.
pub(super) fn max_bound(
    question: &Question<'_>,
    effort: Effort,
    budget: u64,
    dual: Option<&Dual>,
) -> Result<Option<(ErrorBound, Localised)>, Error> {
    let Question { x, rank, allowed, .. } = *question;
    let most = match effort {
        Effort::Quick => return Ok(None),
        Effort::Normal => CHOICES,
        Effort::Thorough => 10.0 * CHOICES,
    };
    let control = question.control.for_share(SHARE);
    let mut met = Localised::default();
    if x.shape().entries as f64 * question.candidates() as f64 <= most {
        match choice::bound(&question.under(&control), &[]) {
            Ok(found) => {
                let (lower_bound, rounds, cuts) = (found.bound, found.thresholds, found.cuts);
                let origin = "choices".to_string();
                met.candidates.push(Candidate { origin, rows: found.rows });
                if lower_bound > 0.0 {
                    return Ok(Some((ErrorBound { lower_bound, rounds, cuts }, met)));
                }
            }
            Err(Error::NoAnswer(_)) => {}
            Err(error) => return Err(error),
        }
    }
    if let Some(dual) = dual
        && let Ok(lower_bound) = prove_max(x, rank, allowed, dual, &control)
        && lower_bound > 0.0
    {
        return Ok(Some((ErrorBound { lower_bound, rounds: 0, cuts: dual.len() }, met)));
    }
    let of_mean = mean_bound(question, effort, budget)?;
    Ok(of_mean.map(|(bound, mut other)| {
        other.candidates.append(&mut met.candidates);
        (bound, other)
    }))
}

/// Bounds on the mean error of every choice of 1, 2, ... rows up to the rank: the best of what duals made for
/// each of them prove or, where that is too much, for ranks that double. Empty where they are not affordable, or stopped before the first of them.
pub(crate) fn mean_bounds(
    question: &Question<'_>,
    effort: Effort,
    budget: u64,
) -> Result<Vec<f64>, Error> {
    let Some((gap, steps, work)) = reach(effort).filter(|_| is_affordable(question, budget)) else {
        return Ok(Vec::new());
    };
    let Question { x, rank: most, allowed, control, .. } = *question;
    let step = 4.0 * (x.features() * x.examples()) as f64 * question.candidates() as f64;
    let ranks: Vec<usize> = if most as f64 * steps as f64 * step <= work {
        (1..=most).rev().collect()
    } else {
        std::iter::successors(Some(most), |r| (*r > 1).then(|| r.div_ceil(2))).collect()
    };
    let reach = (gap, steps, work / ranks.len() as f64);
    let mut bounds: Vec<f64> = Vec::new();
    for rank in ranks {
        let Some(found) = relaxed(&Question { rank, ..*question }, reach)? else { break };
        let Ok(proven) = prove_means(x, most, allowed, &found.dual, control) else { break };
        bounds.resize(most, 0.0);
        bounds.iter_mut().zip(proven).for_each(|(bound, proven)| *bound = proven.max(*bound));
    }
    // Fewer rows explain no more.
    for k in (1..bounds.len()).rev() {
        bounds[k - 1] = bounds[k - 1].max(bounds[k]);
    }
    Ok(bounds)
}
