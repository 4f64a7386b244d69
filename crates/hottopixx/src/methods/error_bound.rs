//! What `auto` proves about the error of every choice of rows, beside looking for a good one.
//!
//! The mean error by the first-order method: one Y bounds every rank, so that a few of them bound all
//! errors along a path. Where X has too many columns for the steps that it takes, columns are merged first:
//! that lowers no error by more than rounding, so what is proven about the merged matrix holds for X. The largest error by the bound for choices where that is
//! a matter of seconds, otherwise by the dual of minimax with the weights that rows can use, which is about all choices
//! though the program was about fractional ones; and where there was no program either, by the mean error,
//! which is never above it.

use super::{KeptDual, Localised, Question};
use crate::certify::{
    Precision, before_merging, prove_max, prove_mean_ruled, prove_means, prove_means_observed,
};
use crate::choice;
use crate::localise::exchange::NEAR_ONE;
use crate::localise::first_order::{
    self, FirstOrderOutcome, FirstOrderSettings, Weights, first_order,
};
use crate::matrix::Shape;
use crate::normalise::UnitRows;
use crate::select::coarse::merging;
use crate::select::portfolio::{Candidate, readings};
use crate::{Effort, Error};
use std::borrow::Cow;
use std::sync::Arc;

/// The share of a time limit that the bound may take.
const SHARE: f64 = 0.3;

/// A dual that proves less than this share of what it once did is made anew, which takes as long as the rest of a run from
/// nothing: a tenth of documents that are added takes 5 to 32 percent of it, most where many words are rare.
const WORN: f64 = 0.5;

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

/// How much is put into a bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Means {
    /// How much work `auto` does.
    pub effort: Effort,
    /// The share of what is usual then.
    pub share: f64,
    /// Bytes that it may take.
    pub budget: u64,
    /// Whether the dual is kept.
    pub keep: bool,
}

/// How far the first-order method goes: gap, steps, flops for X of this shape. `None` for none at all.
fn reach(means: Means, shape: Shape) -> Option<(f64, usize, f64)> {
    let (gap, steps, work) = usual_reach(means.effort, shape)?;
    Some((gap, steps, means.share * work))
}

fn usual_reach(effort: Effort, shape: Shape) -> Option<(f64, usize, f64)> {
    match effort {
        Effort::Quick => None,
        // Some seconds of one processor, up to four times that for large X: half a minute's worth
        // would bring another percent.
        Effort::Normal => {
            let more = (shape.entries as f64 / USUAL_ENTRIES).clamp(1.0, 4.0);
            // On small X steps are cheap, and where errors are small as well it needs thousands.
            let step = 4.0 * (shape.rows as f64).powi(2) * shape.cols as f64;
            let steps = (1e10 / step).clamp(300.0, 3000.0) as usize;
            Some((0.03, steps, 3e11 * more))
        }
        Effort::Thorough => Some((0.002, 3000, 1e13)),
    }
}

const USUAL_ENTRIES: f64 = 4e6;

/// Columns are merged where they leave fewer steps of the work than one for this many rows: after fewer, next
/// to nothing is proven (20 are plenty for 2,000 words).
const ROWS_PER_STEP: f64 = 150.0;
/// Steps that are then left, and the fewest columns that are worth the trouble.
const STEPS_WHEN_MERGED: f64 = 40.0;
const LEAST_COLUMNS: usize = 64;

/// Columns that X should have for this much work within this memory: its own, or fewer. `None` where it
/// would be too few.
fn columns_for_bound(shape: Shape, candidates: usize, work: f64, budget: u64) -> Option<usize> {
    let Shape { rows, cols, .. } = shape;
    let fits = |columns: usize| {
        let verifier = 4.0 * (rows as f64).powi(2);
        first_order::fits_memory(rows, columns)
            && first_order::bytes(rows, candidates, columns) as f64 + verifier <= budget as f64
    };
    let needed = |columns, steps| first_order::work(rows, candidates, columns, steps);
    if work >= needed(cols, rows as f64 / ROWS_PER_STEP) && fits(cols) {
        return Some(cols);
    }
    let share = work / needed(cols, STEPS_WHEN_MERGED);
    let mut columns = cols.min((share * cols as f64) as usize);
    while columns >= LEAST_COLUMNS && !fits(columns) {
        columns /= 2;
    }
    (columns >= LEAST_COLUMNS).then_some(columns)
}

/// Bytes that [`mean_bound`] takes at most: X with merged columns, the method, then the verifier.
pub(super) fn mean_bound_bytes(shape: Shape, means: Means) -> u64 {
    let columns = reach(means, shape)
        .and_then(|(_, _, work)| columns_for_bound(shape, shape.rows, work, means.budget));
    let Some(columns) = columns else { return 0 };
    let f = shape.f();
    let merged = if columns < shape.cols { 8 * f * columns as u64 } else { 0 };
    let method = first_order::bytes(shape.rows, shape.rows, columns);
    method.saturating_add(merged).saturating_add(4u64.saturating_mul(f).saturating_mul(f))
}

/// What the first-order method works on, and what it may take.
struct Relaxation<'a> {
    /// X, or X with merged columns.
    x: Cow<'a, UnitRows>,
    /// Columns of X itself.
    columns: usize,
    /// Which of them were merged, and into how many, where any were.
    merged: Option<(Vec<u32>, usize)>,
    /// Gap, steps, flops.
    reach: (f64, usize, f64),
}

impl<'a> Relaxation<'a> {
    /// `None` where it is not affordable, or stopped. Columns that look alike to the rows at hand are merged
    /// where X has too many, but for data of which these explain next to nothing.
    fn new(question: &Question<'a>, means: Means, at_hand: &AtHand) -> Option<Self> {
        let (x, shape) = (question.x, question.x.shape());
        let reach = reach(means, shape)?;
        let merged = columns_for_bound(shape, question.candidates(), reach.2, means.budget)?;
        let merged = match merged < shape.cols {
            true if at_hand.error.is_some_and(|error| error >= NEAR_ONE) => return None,
            true if x.has_gaps() => return None,
            true => Some(merging(x, &at_hand.rows, merged, question.control)?),
            false => None,
        };
        Self::merged_like(question, merged, reach)
    }

    /// X with columns merged like this, where any are.
    fn merged_like(
        question: &Question<'a>,
        merged: Option<(Vec<u32>, usize)>,
        reach: (f64, usize, f64),
    ) -> Option<Self> {
        let (x, columns) = (question.x, question.x.examples());
        let x = match &merged {
            Some((bucket, count)) => {
                Cow::Owned(x.merge_columns_under(bucket, *count, question.control)?)
            }
            None => Cow::Borrowed(x),
        };
        Some(Relaxation { x, columns, merged, reach })
    }

    /// What is kept of a dual that proved this bound; nothing where entries are missing.
    fn kept(&self, x: &UnitRows, dual: &[f32], proved: f64) -> Option<Arc<KeptDual>> {
        if x.has_gaps() {
            return None;
        }
        let all = || ((0..self.columns as u32).collect(), self.columns);
        let merged = self.merged.clone().unwrap_or_else(all);
        Some(Arc::new(KeptDual::new(x, merged, dual, proved)))
    }

    /// The first-order method for free weights; `None` where it has no bound. `at_hand` is the mean error
    /// of the best choice that is known.
    fn solve(
        &self,
        question: &Question<'_>,
        at_hand: Option<f64>,
    ) -> Result<Option<FirstOrderOutcome>, Error> {
        let Question { rank, allowed, control, .. } = *question;
        let (gap, steps, work) = self.reach;
        let at_hand = at_hand.map(|mean| mean * self.x.features() as f64);
        let settings = FirstOrderSettings { weights: Weights::Free, gap, steps, work, at_hand };
        let found = first_order(&self.x, rank, allowed, &settings, control)?;
        Ok(found.filter(|found| found.lower_bound.is_finite()))
    }

    /// What a dual proves about the choices that obey the rules of the question, as far as these are heeded; 0 where there
    /// are none.
    fn prove_ruled(&self, question: &Question<'_>, dual: &[f32]) -> f64 {
        let Question { rank, allowed, control, rules, .. } = *question;
        if rules.is_free() || self.x.has_gaps() {
            return 0.0;
        }
        let bound = prove_mean_ruled(&self.x, rank, (allowed, rules), dual, control).unwrap_or(0.0);
        match self.columns > self.x.examples() {
            true => before_merging(bound, self.columns),
            false => bound,
        }
    }

    /// What a dual proves about X for 1, 2, ... `most` rows; empty where the verifier did not accept it.
    fn prove(&self, question: &Question<'_>, most: usize, dual: &[f32]) -> Vec<f64> {
        self.prove_in(question, most, (dual, Precision::Double))
    }

    fn prove_in(
        &self,
        question: &Question<'_>,
        most: usize,
        (dual, precision): (&[f32], Precision),
    ) -> Vec<f64> {
        let Question { allowed, control, .. } = *question;
        if self.x.has_gaps() {
            return prove_means_observed(&self.x, most, allowed, dual, control).unwrap_or_default();
        }
        let mut bounds =
            prove_means(&self.x, most, allowed, (dual, precision), control).unwrap_or_default();
        if self.columns > self.x.examples() {
            bounds.iter_mut().for_each(|bound| *bound = before_merging(*bound, self.columns));
        }
        bounds
    }
}

/// The best choice of rows so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct AtHand {
    /// The rows.
    pub rows: Vec<usize>,
    /// Their mean error, nearly; `None` where it is not known.
    pub error: Option<f64>,
}

/// The bound on the mean error with the readings of the diagonal behind it; `None` where it is not
/// affordable, was stopped, or the verifier did not accept it.
pub(super) fn mean_bound(
    question: &Question<'_>,
    means: Means,
    at_hand: &AtHand,
) -> Result<Option<(ErrorBound, Localised)>, Error> {
    let control = question.control.for_share(SHARE);
    let limited = question.under(&control);
    let Some(relaxation) = Relaxation::new(&limited, means, at_hand) else {
        return Ok(None);
    };
    let Some(found) = relaxation.solve(&limited, at_hand.error)? else { return Ok(None) };
    let proven = relaxation.prove(&limited, question.rank, &found.dual);
    let Some(&lower_bound) = proven.last() else { return Ok(None) };
    let lower_bound = lower_bound.max(relaxation.prove_ruled(&limited, &found.dual));
    let candidates = readings(question, "total", &found.diagonal);
    let dual = means.keep.then(|| relaxation.kept(question.x, &found.dual, lower_bound)).flatten();
    let diagonal = Some(found.diagonal);
    let other = Localised { candidates, diagonal, dual, ..Default::default() };
    Ok(Some((ErrorBound { lower_bound, rounds: found.steps, cuts: 0 }, other)))
}

/// The bound on the mean error that the dual of an earlier answer proves; `None` where it is about other rows or columns,
/// was stopped, or proves too much less than it did ([`WORN`]).
pub(super) fn mean_bound_kept(question: &Question<'_>, kept: &KeptDual) -> Option<ErrorBound> {
    let control = question.control.for_share(SHARE);
    let limited = question.under(&control);
    if question.x.has_gaps() {
        return None;
    }
    let dual = kept.of_rows(question.x)?;
    let merged = kept.merged().map(|(bucket, count)| (bucket.to_vec(), count));
    let relaxation = Relaxation::merged_like(&limited, merged, (0.0, 0, 0.0))?;
    let dual_in_single = (&dual[..], Precision::Single);
    let proven = *relaxation.prove_in(&limited, question.rank, dual_in_single).last()?;
    let lower_bound = proven.max(relaxation.prove_ruled(&limited, &dual));
    let holds = lower_bound > 0.0 && lower_bound >= WORN * kept.proved();
    holds.then_some(ErrorBound { lower_bound, rounds: 0, cuts: 0 })
}

/// The bound on the largest error, with the best rows that were met on the way; `None` where nothing above
/// zero is proven. `dual` is that of minimax, where it was solved.
pub(super) fn max_bound(
    question: &Question<'_>,
    means: Means,
    dual: Option<&Dual>,
    at_hand: &AtHand,
) -> Result<Option<(ErrorBound, Localised)>, Error> {
    let Question { x, rank, allowed, .. } = *question;
    let most = match means.effort {
        Effort::Quick => return Ok(None),
        Effort::Normal => means.share * CHOICES,
        Effort::Thorough => 10.0 * means.share * CHOICES,
    };
    let control = question.control.for_share(SHARE);
    let mut met = Localised::default();
    let whole = !x.has_gaps();
    if whole && x.shape().entries as f64 * question.candidates() as f64 <= most {
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
    if whole
        && let Some(dual) = dual
        && let Ok(lower_bound) = prove_max(x, rank, allowed, dual, &control)
        && lower_bound > 0.0
    {
        return Ok(Some((ErrorBound { lower_bound, rounds: 0, cuts: dual.len() }, met)));
    }
    let of_mean = mean_bound(question, means, at_hand)?;
    Ok(of_mean.map(|(bound, mut other)| {
        other.candidates.append(&mut met.candidates);
        (bound, other)
    }))
}

/// Bounds on the mean error of every choice of 1, 2, ... rows up to the rank: the best of what duals made for
/// each of them prove or, where that is too much, for ranks that double. Empty where they are not affordable, or
/// stopped before the first of them. `at_hand` are the rows of the last rank.
pub(crate) fn mean_bounds(
    question: &Question<'_>,
    effort: Effort,
    budget: u64,
    at_hand: &AtHand,
) -> Result<Vec<f64>, Error> {
    let means = Means { effort, share: 1.0, budget, keep: false };
    let Some(mut relaxation) = Relaxation::new(question, means, at_hand) else {
        return Ok(Vec::new());
    };
    let most = question.rank;
    let (gap, steps, work) = relaxation.reach;
    let (f, n) = (relaxation.x.features() as f64, relaxation.x.examples() as f64);
    let step = 4.0 * f * n * question.candidates() as f64;
    let ranks: Vec<usize> = if most as f64 * steps as f64 * step <= work {
        (1..=most).rev().collect()
    } else {
        std::iter::successors(Some(most), |r| (*r > 1).then(|| r.div_ceil(2))).collect()
    };
    relaxation.reach = (gap, steps, work / ranks.len() as f64);
    let mut bounds: Vec<f64> = Vec::new();
    for rank in ranks {
        let question = Question { rank, ..*question };
        let Some(found) = relaxation.solve(&question, None)? else { break };
        let proven = relaxation.prove(&question, most, &found.dual);
        if proven.is_empty() {
            break;
        }
        bounds.resize(most, 0.0);
        bounds.iter_mut().zip(proven).for_each(|(bound, proven)| *bound = proven.max(*bound));
    }
    // Fewer rows explain no more.
    for k in (1..bounds.len()).rev() {
        bounds[k - 1] = bounds[k - 1].max(bounds[k]);
    }
    Ok(bounds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Objective;
    use crate::clean::FittedChoice;
    use crate::control::Control;
    use crate::localise::instances::{as_sparse, paper};

    /// Columns are merged only where too few steps would be left, and to what the work and the memory
    /// allow.
    #[test]
    fn columns_are_merged_for_want_of_work_or_memory() {
        let shape = |rows, cols| Shape { rows, cols, entries: rows * cols, dense: true };
        let plenty = u64::MAX;
        assert_eq!(columns_for_bound(shape(1000, 1000), 1000, 3e11, plenty), Some(1000));
        let few = columns_for_bound(shape(6000, 6000), 6000, 9e11, plenty).unwrap();
        let needed = |columns| first_order::work(6000, 6000, columns, STEPS_WHEN_MERGED);
        assert!(needed(few) <= 9e11 && needed(few + few / 20) > 9e11, "{few}");
        let fewer = columns_for_bound(shape(6000, 6000), 6000, 9e11, 450 << 20).unwrap();
        assert!(fewer < few && first_order::bytes(6000, 6000, fewer) <= 450 << 20, "{fewer}");
        assert_eq!(columns_for_bound(shape(100_000, 100_000), 100_000, 3e11, plenty), None);
    }

    /// What is proven after merging columns holds for X: no two rows are below, and it is worth
    /// something.
    #[test]
    fn no_choice_is_below_a_bound_from_merged_columns() {
        let instance = paper((9, 240, 2, 1), 6.0, 4);
        let control = Control::default();
        let allowed = vec![true; instance.x.features()];
        for x in [instance.x.clone(), as_sparse(&instance.x)] {
            let question = Question::new(&x, 2, &allowed, &control);
            let error = |hott: Vec<usize>| {
                FittedChoice::new(&x, hott, Objective::Mean, None, &control).score
            };
            let f = x.features();
            let pairs = (0..f).flat_map(|a| (0..a).map(move |b| vec![a, b]));
            let best = pairs.map(error).fold(f64::INFINITY, f64::min);
            let merged = merging(&x, &[0, 1], 80, &control).unwrap();
            assert!(merged.1 < 240);
            let reach = (0.01, 400, f64::INFINITY);
            let relaxation = Relaxation::merged_like(&question, Some(merged), reach).unwrap();
            let found = relaxation.solve(&question, None).unwrap().unwrap();
            let proven = relaxation.prove(&question, 2, &found.dual);
            assert!(proven[1] <= best && proven[1] > 0.3 * best, "{proven:?} {best}");
            // What is kept of it proves nearly as much.
            let kept = relaxation.kept(&x, &found.dual, proven[1]).unwrap();
            let again = mean_bound_kept(&question, &kept).unwrap().lower_bound;
            assert!((again - proven[1]).abs() < 0.01 * best, "{again} {proven:?}");
            // A choice that is hardly worse than the relaxation leaves more to do than one far above.
            let far = relaxation.solve(&question, Some(10.0)).unwrap().unwrap();
            assert!(far.steps < found.steps, "{} {}", far.steps, found.steps);
        }
    }
}
