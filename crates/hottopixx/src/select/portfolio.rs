//! Candidate sets of hott rows, judged by their exact cleaned error.

use super::{cluster, top};
use crate::clean::{Cleaner, Cleaning, Selection, refit, row_operations};
use crate::control::{Progress, Stage};
use crate::localise::{Question, snpa_weighted, spa_controlled};
use crate::normalise::UnitRows;

/// A set of rows that might be the hott ones, and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Method and reading, such as `gradient, cluster`.
    pub origin: String,
    /// The rows of X.
    pub rows: Vec<usize>,
}

/// A candidate's score.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Judged {
    /// Where the candidate comes from.
    pub origin: String,
    /// Its objective, mean or largest l1 error after exact cleaning, over the judging rows.
    pub score: f64,
}

/// Above so many times f r^2, the greedy method that fits all f rows after each of r choices is not
/// affordable: at 5e7 (20,000 x 100,000, rank 50) it took half a minute, where all other readings
/// take a second.
const AFFORDABLE_FITS: f64 = 5e6;

/// All ways to read hott rows off a diagonal: its largest entries, its pools, and the greedy
/// methods on rows weighted by it (weighted SNPA only while `f r^2` is at most 5e6). Stopped, it
/// gives those there was time for: the largest entries always.
pub fn readings(question: &Question<'_>, method: &str, diagonal: &[f64]) -> Vec<Candidate> {
    let Question { x, rank, allowed, control, .. } = *question;
    let named = |reading: &str, rows| Candidate { origin: format!("{method}, {reading}"), rows };
    let mut sets = vec![named("top", top(diagonal, rank, allowed))];
    sets.extend(cluster(x, diagonal, rank, allowed, control).map(|rows| named("cluster", rows)));
    let spa = spa_controlled(x, Some(diagonal), rank, allowed, control).rows;
    sets.push(named("weighted spa", spa));
    if x.features() as f64 * (rank as f64).powi(2) <= AFFORDABLE_FITS {
        let rows = snpa_weighted(x, diagonal, rank, allowed, control).rows;
        sets.push(named("weighted snpa", rows));
    }
    sets
}

/// Rows on which candidates are compared when there are many rows; the winner is cleaned on all.
const JUDGING_ROWS: usize = 1000;
/// Operations for each candidate up to which it is that many; fewer rows where a fit takes more, but
/// never fewer than [`FEWEST_ROWS`].
const JUDGING_OPERATIONS: f64 = 2e10;
const FEWEST_ROWS: usize = 100;

/// How many rows candidates are compared on, by the shape of X alone.
fn judging_rows(x: &UnitRows, rank: usize) -> usize {
    let rows = (JUDGING_OPERATIONS / row_operations(x.shape(), rank)) as usize;
    rows.clamp(FEWEST_ROWS, JUDGING_ROWS)
}

/// The best of some candidates.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// Its rows.
    pub hott: Vec<usize>,
    /// All rows fitted on them, where judging took all rows.
    pub selection: Option<Selection>,
    /// Every candidate's score.
    pub judged: Vec<Judged>,
    /// Its position among them.
    pub best: usize,
}

impl Verdict {
    /// All rows fitted on the best candidate: those fits that judging has made, or new ones. Taken
    /// once.
    pub fn cleaned(&mut self, cleaner: &Cleaner<'_>) -> Selection {
        let known = self.selection.take();
        known.unwrap_or_else(|| cleaner.clean(std::mem::take(&mut self.hott)))
    }
}

/// The candidate with the lowest cleaned error. Equal sets are judged once; ties go to the earlier
/// candidate. A candidate with fewer than `rank` rows (a stopped method) is passed over. When the
/// control stops, the best so far is returned; the first complete candidate is always judged. `None`
/// when none is complete.
///
/// Exact fits judge on a sample of the rows where there are many; least squares, which stand in where
/// exact fits are not affordable, on all rows.
pub fn judge(cleaner: &Cleaner<'_>, rank: usize, candidates: &[Candidate]) -> Option<Verdict> {
    let Cleaner { x, objective, control, .. } = *cleaner;
    let by_squares = cleaner.cleaning == Cleaning::LeastSquares;
    let distinct = distinct(candidates, rank);
    let f = x.features();
    let most = judging_rows(x, rank);
    let sample = if distinct.len() == 1 && most == JUDGING_ROWS { f } else { f.min(most) };
    let rows: Vec<usize> = (0..sample).map(|k| k * f / sample).collect();
    let mut judged: Vec<Judged> = Vec::new();
    let mut best: Option<Selection> = None;
    let mut winner = 0;
    // After a stop there is nothing to compare: one is cleaned, once.
    let hurried = distinct.len() > 1 && !control.goes_on();
    for (done, candidate) in distinct.iter().enumerate() {
        if best.is_some() && (hurried || control.stopped().is_some()) {
            break;
        }
        let hott = candidate.rows.clone();
        let selection = if by_squares || hurried {
            cleaner.clean(hott)
        } else {
            let fits = refit(x, &hott, &rows, None, control);
            let score = objective.score(fits.iter().map(|fit| fit.error));
            Selection { hott, fits, score }
        };
        if best.as_ref().is_none_or(|b| selection.score < b.score) {
            winner = judged.len();
        }
        judged.push(Judged { origin: candidate.origin.clone(), score: selection.score });
        if winner + 1 == judged.len() {
            best = Some(selection);
        }
        control.report(&Progress {
            stage: Stage::Select,
            task: "judge",
            done: done + 1,
            total: Some(distinct.len()),
            figure: best.as_ref().map(|b| ("best", b.score)),
            bound: None,
        });
    }
    let best = best?;
    let hott = best.hott.clone();
    let selection = (best.fits.len() == f).then_some(best);
    Some(Verdict { hott, selection, judged, best: winner })
}

/// The complete candidates, each set of rows once.
fn distinct(candidates: &[Candidate], rank: usize) -> Vec<&Candidate> {
    let mut seen = std::collections::HashSet::new();
    let mut keep = |candidate: &&Candidate| {
        let mut set = candidate.rows.clone();
        set.sort_unstable();
        candidate.rows.len() == rank && seen.insert(set)
    };
    candidates.iter().filter(|c| keep(c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Objective;
    use crate::control::Control;
    use crate::localise::instances::paper;
    use std::time::Instant;

    fn set(origin: &str, rows: &[usize]) -> Candidate {
        Candidate { origin: origin.to_string(), rows: rows.to_vec() }
    }

    #[test]
    fn the_best_complete_set_wins_and_equal_sets_are_judged_once() {
        let instance = paper((30, 60, 3, 0), 0.3, 1);
        let truth: Vec<usize> = instance.topics.iter().map(|topic| topic[0]).collect();
        let others: Vec<usize> = (0..30).filter(|i| !truth.contains(i)).collect();
        let reversed: Vec<usize> = truth.iter().rev().copied().collect();
        let sets = [
            set("incomplete", &truth[..2]),
            set("mixtures", &others[..3]),
            set("truth", &truth),
            set("truth again", &reversed),
        ];
        for cleaning in [Cleaning::Exact, Cleaning::LeastSquares] {
            let control = Control::default();
            let (objective, seed) = (Objective::Mean, 0);
            let cleaner = Cleaner { x: &instance.x, cleaning, objective, seed, control: &control };
            let verdict = judge(&cleaner, 3, &sets).unwrap();
            let origins: Vec<&str> = verdict.judged.iter().map(|j| j.origin.as_str()).collect();
            assert_eq!(origins, ["mixtures", "truth"]);
            assert_eq!(verdict.hott, truth);
            // With so few rows all were fitted, and the fits are handed on.
            assert_eq!(verdict.selection.unwrap().fits.len(), 30);
            assert!(judge(&cleaner, 3, &sets[..1]).is_none());
        }
    }

    #[test]
    fn after_a_stop_one_set_is_judged() {
        let instance = paper((30, 60, 3, 0), 0.3, 1);
        let late = Control::default().with_deadline(Instant::now());
        let (objective, cleaning) = (Objective::Mean, Cleaning::Exact);
        let cleaner = Cleaner { x: &instance.x, cleaning, objective, seed: 0, control: &late };
        let sets = [set("first", &[0, 1, 2]), set("second", &[3, 4, 5])];
        let verdict = judge(&cleaner, 3, &sets).unwrap();
        assert_eq!((verdict.hott, verdict.judged.len()), (vec![0, 1, 2], 1));
    }
}
