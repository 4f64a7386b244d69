//! The best choice found so far.

use super::cover::Cover;
use crate::clean::FittedChoice;
use crate::control::{Control, Stop};
use crate::localise::{Question, spa_controlled};
use crate::normalise::UnitRows;
use crate::order::largest_first;
use crate::select::search::search;
use crate::{Effort, Error, Objective};
use std::collections::BTreeSet;

/// Rows of X and their largest error, cleaned exactly.
#[derive(Debug, Clone)]
pub(super) struct Incumbent {
    pub rows: Vec<usize>,
    pub error: f64,
    /// Sets that were looked at already.
    seen: BTreeSet<Vec<usize>>,
}

/// The largest error of a choice, by exact cleaning; `None` when it was stopped, or when a fit is not
/// known to be the best.
pub(super) fn largest_error(x: &UnitRows, rows: &[usize], control: &Control) -> Option<f64> {
    let selection = FittedChoice::new(x, rows.to_vec(), Objective::Max, None, control);
    selection.fits.iter().all(|fit| fit.optimal).then_some(selection.score)
}

/// The columns with the largest entries of d, as rows of X, increasing; ties by column.
pub(super) fn rounded(cover: &Cover<'_>, d: &[f64], rank: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..d.len()).collect();
    largest_first(&mut order, |i| d[i]);
    let mut rows: Vec<usize> = order.iter().take(rank).map(|&j| cover.columns[j]).collect();
    rows.sort_unstable();
    rows
}

impl Incumbent {
    /// From the rows given (the greedy ones where there are none), after exchanges that make the largest
    /// error smaller.
    ///
    /// # Errors
    /// [`Error::NoAnswer`] when it was stopped before there were greedy rows.
    pub fn start(question: &Question<'_>, rows: &[usize]) -> Result<Self, Error> {
        let Question { x, rank, allowed, control, .. } = *question;
        let rows = match rows {
            [] => spa_controlled(x, None, rank, allowed, control).rows,
            rows => rows.to_vec(),
        };
        if rows.len() < rank {
            return Err(Error::NoAnswer(control.cut_short().unwrap_or(Stop::TimeLimit)));
        }
        let start = FittedChoice::new(x, rows, Objective::Max, None, control);
        let best = refined(question, start);
        let mut rows = best.hott;
        rows.sort_unstable();
        Ok(Incumbent { seen: BTreeSet::from([rows.clone()]), rows, error: best.score })
    }

    /// No choice yet; one is taken if its largest error is at most tau.
    pub fn within(tau: f64) -> Self {
        Incumbent { rows: Vec::new(), error: tau.next_up(), seen: BTreeSet::new() }
    }

    /// Takes a choice if it is better; whether it was.
    pub fn offer(&mut self, x: &UnitRows, rows: Vec<usize>, control: &Control) -> bool {
        if !self.seen.insert(rows.clone()) {
            return false;
        }
        match largest_error(x, &rows, control) {
            Some(error) if error < self.error => {
                (self.rows, self.error) = (rows, error);
                true
            }
            _ => false,
        }
    }
}

/// The choice with the smallest largest error that the search of `auto` finds from here on.
pub(super) fn refined(question: &Question<'_>, start: FittedChoice) -> FittedChoice {
    let starts = [start.hott.clone()];
    let found = search(question, Objective::Max, Effort::Normal, (&starts, start.score), &[]);
    found.sets.into_iter().fold(start, |best, rows| {
        let fitted = FittedChoice::new(question.x, rows, Objective::Max, None, question.control);
        if fitted.score < best.score { fitted } else { best }
    })
}
