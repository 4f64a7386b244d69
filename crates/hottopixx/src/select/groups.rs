//! Which rows could stand in the place of a hott row?
//!
//! Near-duplicates tie in error, and there the error is the measure, not the identity: the answer
//! names, for every hott row h, the rows that do nearly all of its work. Leaving h out raises the
//! error by some loss; j belongs to the group of h when exchanging h for j raises it by at most a
//! tenth of that loss. The measure does not depend on the rank or on how noisy the data are.

use super::exchange::Selection;
use super::swap::{Swap, scores, scores_without};
use crate::Objective;
use crate::control::Control;
use crate::normalise::UnitRows;

/// Share of the loss of a hott row up to which another row counts as interchangeable with it.
pub const GROUP_TOLERANCE: f64 = 0.1;
/// Rows tried for each hott row: those that lean on it most.
const TRIED: usize = 4;
/// Rows on which exchanges are scored, at most.
const SCORED_ROWS: usize = 128;

/// For each hott row the rows (of X) that could replace it, itself included, increasing.
/// Stopped early, the groups hold the hott rows alone.
pub fn groups(
    x: &UnitRows,
    selection: &Selection,
    allowed: &[bool],
    objective: Objective,
    control: &Control,
) -> Vec<Vec<usize>> {
    let hott = &selection.hott;
    let swaps = candidates(selection, allowed);
    let f = x.features();
    let rows: Vec<usize> = match objective {
        Objective::Mean if f > SCORED_ROWS => {
            (0..SCORED_ROWS).map(|k| k * f / SCORED_ROWS).collect()
        }
        _ => (0..f).collect(),
    };
    let mut groups: Vec<Vec<usize>> = hott.iter().map(|&h| vec![h]).collect();
    let before = objective.score(rows.iter().map(|&i| selection.fits[i].error));
    let scored = scores_without(x, hott, &selection.fits, &rows, objective, control).zip(scores(
        x,
        hott,
        &selection.fits,
        &swaps,
        &rows,
        objective,
        control,
    ));
    if let Some((without, table)) = scored {
        for (swap, found) in swaps.iter().zip(table) {
            let (position, score) = (swap.leave[0], found[0]);
            if score <= before + GROUP_TOLERANCE * (without[position] - before) + 1e-12 {
                groups[position].push(swap.enter);
            }
        }
    }
    groups.iter_mut().for_each(|g| g.sort_unstable());
    groups
}

/// For each hott row the allowed rows with the largest share of their weight on it.
fn candidates(selection: &Selection, allowed: &[bool]) -> Vec<Swap> {
    let rank = selection.hott.len();
    let mut leaning: Vec<Vec<(f64, usize)>> = vec![Vec::new(); rank];
    for (i, fit) in selection.fits.iter().enumerate() {
        if !allowed[i] || selection.hott.contains(&i) {
            continue;
        }
        let total: f64 = fit.weights.iter().map(|w| w.1).sum();
        if let Some(&(position, weight)) = fit.weights.iter().max_by(|a, b| a.1.total_cmp(&b.1)) {
            // What the row would look like in the hott row's place: mostly that row, little error.
            let likeness = weight / total.max(1.0) - fit.error;
            leaning[position as usize].push((likeness, i));
        }
    }
    let mut swaps = Vec::new();
    for (position, rows) in leaning.iter_mut().enumerate() {
        rows.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        swaps.extend(
            rows.iter().take(TRIED).map(|&(_, enter)| Swap { enter, leave: vec![position] }),
        );
    }
    swaps
}
