//! `auto` from an answer that was found before, on nearly the same data: what is better near it.
//!
//! An answer costs most where nothing is known: greedy methods, programs and exchanges from several starts agree on
//! which region is a good one. When documents are added to a corpus the region stays, and exchanges in least squares
//! (`localise/exchange`) from the old rows alone find what is better there; the search in l1 that follows is a short
//! one (`factor/pipeline`).

use super::auto::Auto;
use super::{Localised, Localiser, Question};
use crate::localise::spa_ruled;
use crate::matrix::Shape;
use crate::{Effort, Error};

/// The share of the usual work that goes into the bound.
const SHARE: f64 = 0.1;

/// Up to this many rows a whole search takes no time to speak of.
const FEW_ROWS: usize = 300;

/// How much is searched near rows to begin with: what a longer search would find there was found when they were.
pub(crate) fn effort_nearby(effort: Effort, rows: usize) -> Effort {
    match effort {
        Effort::Normal if rows > FEW_ROWS => Effort::Quick,
        other => other,
    }
}

/// `auto`, with rows to begin with.
#[derive(Debug, Clone)]
pub(crate) struct Nearby {
    /// Settings.
    pub auto: Auto,
    /// Rows of the input.
    pub rows: Vec<usize>,
}

impl Localiser for Nearby {
    fn name(&self) -> &'static str {
        self.auto.name()
    }

    fn localise(&self, question: &Question<'_>) -> Result<Localised, Error> {
        let mut found = Localised::rows("start", self.mended(question));
        if question.control.stopped().is_some() {
            return Ok(found);
        }
        let effort = effort_nearby(self.auto.effort, question.x.features());
        Auto { effort, ..self.auto }.exchange(question, &mut found);
        if question.control.stopped().is_none()
            && let Some((bound, other)) =
                self.auto.bound(question, (&found.candidates, SHARE), None)?
        {
            found.hints.extend(other.candidates.into_iter().flat_map(|set| set.rows));
            found.diagonal = other.diagonal;
            found.error_bound = Some(bound);
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
