//! `auto` from an answer that was found before, on nearly the same data: what is better near it.
//!
//! An answer costs most where nothing is known: greedy methods, programs and exchanges from several starts agree on
//! which region is a good one. When documents are added to a corpus the region stays, and exchanges in least squares
//! (`localise/exchange`) from the old rows alone find what is better there. The search in l1 follows
//! only where squares are a poor guide (`factor/pipeline`). Where X is small, everything is done as if nothing were known: the
//! old rows are one more set to judge.

use super::auto::Auto;
use super::error_bound::mean_bound_kept;
use super::{ErrorBound, KeptDual, Localised, Localiser, Question};
use crate::localise::exchange::NEAR_ONE;
use crate::localise::spa_ruled;
use crate::matrix::Shape;
use crate::{Effort, Error, Objective};
use std::sync::Arc;

/// The share of the usual work that goes into the bound.
const SHARE: f64 = 0.1;

/// Up to this many rows all of `auto` takes no time to speak of, and what it finds from nothing may be better.
const FEW_ROWS: usize = 300;

/// Whether it pays to look only near rows to begin with, where X has this many.
pub(crate) fn nearby_pays(rows: usize) -> bool {
    rows > FEW_ROWS
}

/// How much is searched near rows to begin with: what a longer search would find there was found when they were.
pub(crate) fn effort_nearby(effort: Effort) -> Effort {
    match effort {
        Effort::Normal => Effort::Quick,
        other => other,
    }
}

/// Whether to search in l1 as well, with rows to begin with and this error. Well below 1, exchanges in least squares have
/// found their way on many rows already, and little is left: on corpora a thousandth of the error.
pub(crate) fn search_pays_nearby(effort: Effort, objective: Objective, error: f64) -> bool {
    effort == Effort::Thorough || objective == Objective::Max || error >= NEAR_ONE
}

/// `auto`, with rows to begin with.
#[derive(Debug, Clone)]
pub(crate) struct Nearby {
    /// Settings.
    pub auto: Auto,
    /// Rows of the input.
    pub rows: Vec<usize>,
    /// The dual behind the bound of the answer that they are of, where it was kept.
    pub dual: Option<Arc<KeptDual>>,
}

impl Localiser for Nearby {
    fn name(&self) -> &'static str {
        self.auto.name()
    }

    fn localise(&self, question: &Question<'_>) -> Result<Localised, Error> {
        let mut found = Localised::rows("start", self.mended(question));
        if !nearby_pays(question.x.features()) {
            let whole = self.auto.localise(question)?;
            return Ok(Localised { beside: found.candidates, ..whole });
        }
        if question.control.stopped().is_some() {
            return Ok(found);
        }
        let effort = effort_nearby(self.auto.effort);
        Auto { effort, ..self.auto }.exchange(question, &mut found, true);
        if question.control.stopped().is_none() {
            self.bound(question, &mut found)?;
        }
        found.hints.reverse();
        let mut seen = std::collections::HashSet::new();
        found.hints.retain(|j| seen.insert(*j));
        Ok(found)
    }

    fn bytes(&self, shape: Shape, rank: usize, threads: usize) -> u64 {
        self.auto.bytes(shape, rank, threads)
    }
}

impl Nearby {
    /// Adds the bound: what the dual of the earlier answer proves, if that is there and not worn out. A new one, if it is
    /// to last, is worth the usual work.
    fn bound(&self, question: &Question<'_>, found: &mut Localised) -> Result<(), Error> {
        if let Some((bound, dual)) = self.bound_kept(question) {
            found.error_bound = Some(bound);
            found.dual = self.auto.keep.then_some(dual);
            return Ok(());
        }
        let share = if self.dual.is_some() { 1.0 } else { SHARE };
        if let Some((bound, other)) = self.auto.bound(question, (&found.candidates, share), None)? {
            found.hints.extend(other.candidates.into_iter().flat_map(|set| set.rows));
            found.diagonal = other.diagonal;
            found.dual = other.dual;
            found.error_bound = Some(bound);
        }
        Ok(())
    }

    fn bound_kept(&self, question: &Question<'_>) -> Option<(ErrorBound, Arc<KeptDual>)> {
        let Auto { effort, objective, .. } = self.auto;
        let dual = self.dual.as_ref()?;
        let asked = objective == Objective::Mean && effort == Effort::Normal;
        let bound = asked.then(|| mean_bound_kept(question, dual)).flatten()?;
        Some((bound, dual.clone()))
    }

    /// The rows to begin with, in rows of X: as many as can be, completed by successive projection.
    fn mended(&self, question: &Question<'_>) -> Vec<usize> {
        let Question { x, rank, allowed, rules, .. } = *question;
        let mut rows: Vec<usize> = Vec::new();
        for i in self.rows.iter().filter_map(|&row| x.unit_row(row)) {
            if allowed[i] && !rows.contains(&i) {
                rows.push(i);
            }
        }
        if rows.len() == rank && rules.obeyed_by(&rows) {
            return rows;
        }
        let others = spa_ruled(question, None).rows;
        rules.choose(&[rows, others].concat(), rank, allowed)
    }
}
