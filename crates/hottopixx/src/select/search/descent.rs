//! Exchanges until none gains: a local optimum of a field.

use super::field::{Exchange, Field, Place};
use super::promise::Promises;
use crate::control::{Progress, Stage};
use crate::matrix::Matrix;
use std::sync::atomic::Ordering;

/// Least gain of an exchange, against what can be gained or is explained already: enough that
/// rounding does not make near-duplicates swap for ever.
const LEAST_GAIN: f64 = 1e-6;
/// An error up to this is rounding: there is nothing to gain.
const EXPLAINED: f64 = 1e-12;
/// The share of a promise that is kept, to begin with, and how quickly experience replaces it.
pub(super) const FIRST_SHARE: f64 = 0.1;
const LEARNING: f64 = 0.1;

/// How hard a descent tries.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trying {
    /// Exchanges scored in vain after which the place counts as a local optimum.
    pub vain: usize,
    /// Exchanges scored together, of which the best is made.
    pub batch: usize,
    /// Rows that stay in the pool between two looks at all rows.
    pub pool: usize,
    /// Rounds between two looks at all rows.
    pub refresh: usize,
    /// Operations of the field after which no more exchanges are looked for.
    pub work: u64,
}

/// A walk over places of one field.
pub(super) struct Walker<'a, 'b> {
    pub field: &'a Field<'b>,
    /// The rows that may enter, and their rows of the field's X.
    pub pool: &'a [usize],
    pub panel: &'a Matrix,
    pub trying: Trying,
    /// The share of its promise that an exchange keeps, as experience has it.
    pub share: f64,
    /// The error on all rows that is to be beaten, for those who watch.
    pub best: f64,
    /// Exchanges made.
    pub made: usize,
}

impl Walker<'_, '_> {
    /// Exchanges rows until none gains, or the control stops: the place reached, and the rows that
    /// promised most when all were last looked at.
    pub fn descend(&mut self, start: Place) -> (Place, Vec<usize>) {
        let mut place = start;
        let mut narrow: Option<(Vec<usize>, Matrix)> = None;
        let mut leaders = Vec::new();
        let mut round = 0;
        while place.score > EXPLAINED && !self.is_spent() {
            self.report();
            let wide = narrow.is_none();
            let (pool, panel) = match &narrow {
                Some((pool, panel)) => (&pool[..], panel),
                None => (self.pool, self.panel),
            };
            let Some(promises) = self.field.promises(&place, pool, panel, self.share) else {
                break;
            };
            if wide {
                let list = promises.best(&place, self.share, 2 * pool.len());
                leaders = distinct(&list, self.trying.pool);
            }
            match self.gaining(&place, &promises) {
                None => break, // stopped
                Some(None) if wide => break,
                Some(None) => narrow = None,
                Some(Some(exchange)) => {
                    let mut hott = place.hott.clone();
                    hott[exchange.leave as usize] = exchange.enter;
                    match self.field.place(hott, Some((&place, exchange.leave))) {
                        Some(reached) if reached.score < place.score => place = reached,
                        _ => break, // stopped, or rounding
                    }
                    self.made += 1;
                    round += 1;
                    if wide && self.pool.len() > 2 * leaders.len() {
                        narrow = Some((leaders.clone(), self.field.x.select_rows(&leaders)));
                    } else if round % self.trying.refresh == 0 {
                        narrow = None;
                    }
                }
            }
        }
        (place, leaders)
    }

    /// The best exchange of the first batch, most promising first, in which one gains. Learns what
    /// promises are worth on the way. `None` when stopped.
    fn gaining(&mut self, place: &Place, promises: &Promises<'_>) -> Option<Option<Exchange>> {
        let list = promises.best(place, self.share, self.trying.vain);
        for batch in list.chunks(self.trying.batch) {
            let exchanges: Vec<Exchange> = batch.iter().map(|e| e.0).collect();
            let scores = self.field.after(place, &exchanges)?;
            for (exchange, score) in exchanges.iter().zip(&scores).filter(|e| e.1.is_finite()) {
                if let Some(kept) = promises.kept(exchange, *score) {
                    self.share += LEARNING * (kept.clamp(0.02, 1.0) - self.share);
                }
            }
            let next = best(&exchanges, &scores, place.score);
            if next.is_some() {
                return Some(next);
            }
        }
        Some(None)
    }

    /// Whether the work is done that was allowed.
    pub fn is_spent(&self) -> bool {
        self.spent() >= self.trying.work
    }

    fn spent(&self) -> u64 {
        self.field.work.load(Ordering::Relaxed)
    }

    fn report(&self) {
        self.field.control.report(&Progress {
            stage: Stage::Select,
            task: "search",
            done: (100 * self.spent() / self.trying.work.max(1)).min(100) as usize,
            total: Some(100),
            figure: Some(("best", self.best)),
            bound: None,
        });
    }
}

/// The exchange with the least score, if it gains; ties go to the earlier one.
fn best(exchanges: &[Exchange], scores: &[f64], before: f64) -> Option<Exchange> {
    let least = before - LEAST_GAIN * before.min(1.0 - before).max(EXPLAINED);
    let (mut found, mut score) = (None, least);
    for (exchange, &after) in exchanges.iter().zip(scores) {
        if after < score {
            (found, score) = (Some(*exchange), after);
        }
    }
    found
}

/// The rows that enter in the first of these exchanges, each once.
fn distinct(list: &[(Exchange, f64)], most: usize) -> Vec<usize> {
    let mut seen = std::collections::HashSet::new();
    let rows = list.iter().map(|e| e.0.enter).filter(|j| seen.insert(*j));
    rows.take(most).collect()
}
