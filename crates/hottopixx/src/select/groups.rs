//! Which rows could stand in the place of a hott row?
//!
//! Near-duplicates tie in error, and there the error is the measure, not the identity: the answer
//! names, for every hott row h, the rows that do nearly all of its work. Leaving h out raises the
//! error by some loss; j belongs to the group of h when exchanging h for j raises it by at most a
//! tenth of that loss. The measure does not depend on the rank or on how noisy the data are. Where
//! scoring would take long, it is done on merged columns (see `coarse`), where all errors
//! are somewhat smaller, and for near-duplicates only.

use super::coarse::coarse;
use super::swap::{Scoring, Swap};
use crate::Objective;
use crate::clean::{FittedChoice, RowFit, Starts, refit};
use crate::localise::Question;
use crate::order::largest_first;
use std::borrow::Cow;

/// Share of the loss of a hott row up to which another row counts as interchangeable with it.
pub const GROUP_TOLERANCE: f64 = 0.1;
/// Rows tried for each hott row: those that lean on it most.
const TRIED: usize = 4;
/// Rows on which exchanges are scored, at most.
const SCORED_ROWS: usize = 128;
/// Operations beyond which less is done: only rows with most of their weight, [`LEANING`], on a hott
/// row are tried for it; columns are merged to [`MERGED`], or four for each hott row; and rows are
/// scored as far as [`SCORING`] operations go, but at least [`FEWEST_ROWS`].
const OPERATIONS: f64 = 3e7;
const LEANING: f64 = 0.5;
const MERGED: usize = 400;
const SCORING: f64 = 5e7;
const FEWEST_ROWS: usize = 16;

/// For each hott row the rows (of X) that could replace it, itself included, increasing.
/// Stopped early, the groups hold the hott rows alone.
pub fn groups(
    question: &Question<'_>,
    objective: Objective,
    fitted: &FittedChoice,
) -> Vec<Vec<usize>> {
    let Question { x, allowed, control, .. } = *question;
    let hott = &fitted.hott;
    let points = x.shape().entries as f64 / x.features() as f64;
    let all_rows = x.features().min(SCORED_ROWS);
    let costly = operations(all_rows, TRIED * hott.len(), hott.len(), points) > OPERATIONS;
    let mut swaps = candidates(fitted, allowed, if costly { LEANING } else { 0.0 });
    let rules = question.rules.exchanges(hott);
    swaps.retain(|swap| rules.allow(hott[swap.leave[0]], swap.enter));
    let mut groups: Vec<Vec<usize>> = hott.iter().map(|&h| vec![h]).collect();
    if swaps.is_empty() {
        return groups;
    }
    let buckets = MERGED.max(4 * hott.len());
    let merged = if costly && x.examples() >= 2 * buckets && !x.has_gaps() {
        let Some(merged) = coarse(x, hott, buckets, control) else { return groups };
        Some(merged)
    } else {
        None
    };
    let f = x.features();
    let most = if costly {
        let points = if merged.is_some() { buckets as f64 } else { points };
        let row = operations(1, swaps.len(), hott.len(), points);
        ((SCORING / row) as usize).clamp(FEWEST_ROWS, SCORED_ROWS)
    } else {
        SCORED_ROWS
    };
    let rows: Vec<usize> = match objective {
        Objective::Mean if f > most => (0..most).map(|k| k * f / most).collect(),
        // The largest error may come from any row: the worst ones, where all are too many.
        Objective::Max if f > most && costly => {
            let errors: Vec<f64> = fitted.fits.iter().map(|fit| fit.error).collect();
            let mut worst: Vec<usize> = (0..f).collect();
            largest_first(&mut worst, |i| errors[i]);
            worst.truncate(most);
            worst
        }
        _ => (0..f).collect(),
    };
    let (x, fits) = match &merged {
        Some(merged) => {
            let mut fits = vec![RowFit::default(); f];
            for (&i, fit) in rows.iter().zip(refit(merged, hott, &rows, Starts::Cold, control)) {
                fits[i] = fit;
            }
            (merged, Cow::Owned(fits))
        }
        None => (x, Cow::Borrowed(&fitted.fits)),
    };
    let before = objective.score(rows.iter().map(|&i| objective.counted(x, i, fits[i].error)));
    let mut positions: Vec<usize> = swaps.iter().map(|swap| swap.leave[0]).collect();
    positions.dedup(); // they come in order
    let scoring = Scoring { x, hott, fits: &fits, rows: &rows, objective, control };
    let scored = scoring.without(&positions).zip(scoring.after(&swaps));
    if let Some((without, table)) = scored {
        for (swap, found) in swaps.iter().zip(table) {
            let (position, score) = (swap.leave[0], found[0]);
            let at = positions.binary_search(&position).expect("in order");
            if score <= before + GROUP_TOLERANCE * (without[at] - before) + 1e-12 {
                groups[position].push(swap.enter);
            }
        }
    }
    groups.iter_mut().for_each(|g| g.sort_unstable());
    groups
}

/// Operations of scoring `swaps` exchanges on `rows` rows, roughly: some pivots each, from a
/// vertex that must be factored first.
fn operations(rows: usize, swaps: usize, rank: usize, points: f64) -> f64 {
    let k = rank as f64;
    rows as f64 * swaps as f64 * (k * k * k + 10.0 * k * points)
}

/// For each hott row the allowed rows with the largest share of their weight on it, at least
/// `share`.
fn candidates(fitted: &FittedChoice, allowed: &[bool], share: f64) -> Vec<Swap> {
    let rank = fitted.hott.len();
    let mut leaning: Vec<Vec<(f64, usize)>> = vec![Vec::new(); rank];
    for (i, fit) in fitted.fits.iter().enumerate() {
        if !allowed[i] || fitted.hott.contains(&i) {
            continue;
        }
        let total: f64 = fit.weights.iter().map(|w| w.1).sum();
        if let Some(&(position, weight)) = fit.weights.iter().max_by(|a, b| a.1.total_cmp(&b.1)) {
            // What the row would look like in the hott row's place: mostly that row, little error.
            let likeness = weight / total.max(1.0) - fit.error;
            if weight >= share * total {
                leaning[position as usize].push((likeness, i));
            }
        }
    }
    let mut swaps = Vec::new();
    for (position, rows) in leaning.iter_mut().enumerate() {
        rows.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        swaps.extend(
            rows.iter().take(TRIED).map(|&(_, enter)| Swap { enter, leave: vec![position] }),
        );
    }
    swaps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Control;
    use crate::localise::instances::unit_rows;
    use std::time::Instant;

    /// Two topics and their mixtures; row 5 is the first topic with a share moved to a column of its
    /// own.
    fn with_stand_in(share: f64) -> Vec<Vec<f64>> {
        let topic = |a: f64, b: f64| vec![a, 0.5 * a, b, 0.5 * b, 0.0];
        let mut rows = vec![topic(1.0, 0.0), topic(0.0, 1.0)];
        rows.extend([0.3, 0.5, 0.8].map(|s| topic(s, 1.0 - s)));
        rows.push(vec![1.0 - share, 0.5 * (1.0 - share), 0.0, 0.0, 1.5 * share]);
        rows
    }

    fn found(rows: &[Vec<f64>], control: &Control) -> Vec<Vec<usize>> {
        let x = unit_rows(rows);
        let fitted = FittedChoice::new(&x, vec![0, 1], Objective::Mean, None, &Control::default());
        let allowed = vec![true; rows.len()];
        let question = Question::new(&x, 2, &allowed, control);
        groups(&question, Objective::Mean, &fitted)
    }

    /// A row belongs to the group exactly when taking it costs at most a tenth of going without.
    #[test]
    fn the_tolerance_is_what_it_says() {
        let (mut inside, mut outside) = (0, 0);
        for k in 0..40 {
            let rows = with_stand_in(f64::from(k) / 100.0);
            let x = unit_rows(&rows);
            let score = |hott: &[usize]| {
                FittedChoice::new(&x, hott.to_vec(), Objective::Mean, None, &Control::default())
                    .score
            };
            let (before, instead, without) = (score(&[0, 1]), score(&[5, 1]), score(&[1]));
            let belongs = instead <= before + GROUP_TOLERANCE * (without - before) + 1e-12;
            let groups = found(&rows, &Control::default());
            assert_eq!(groups[0].contains(&5), belongs, "share {k} %: {groups:?}");
            assert_eq!(groups[1], [1]);
            if belongs { inside += 1 } else { outside += 1 }
        }
        assert!(inside > 3 && outside > 3, "{inside} {outside}");
    }

    #[test]
    fn stopped_the_groups_hold_the_hott_rows_alone() {
        let late = Control::default().with_deadline(Instant::now());
        assert_eq!(found(&with_stand_in(0.01), &late), [[0], [1]]);
        assert!(late.cut_short().is_some());
    }
}
