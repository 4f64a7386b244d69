//! Candidate sets of hott rows, judged by their exact cleaned error.

use super::race::{Nearness, Race};
use super::{cluster, top};
use crate::clean::{Cleaner, FittedChoice};
use crate::localise::{Question, snpa_ruled, spa_ruled};

/// A set of rows that might be the hott ones, and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Method and reading, such as `gradient, cluster`.
    pub origin: String,
    /// The rows of X.
    pub rows: Vec<usize>,
}

/// Origins of sets that are no method's own answer, of which there are several similar ones.
const SEARCHED: [&str; 2] = ["exchange", "search"];

/// A candidate's score.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Judged {
    /// Where the candidate comes from.
    pub origin: String,
    /// Its objective, mean or largest l1 error after cleaning, over the rows that it was judged on: all
    /// of them, unless it was clearly worse than another before.
    pub score: f64,
}

/// Above this many times f r^2, the greedy method that fits all f rows after each of r choices is not
/// affordable: at 5e7 (20,000 x 100,000, rank 50) it took half a minute, where all other readings
/// take a second.
const AFFORDABLE_FITS: f64 = 5e6;

/// All ways to read hott rows off a diagonal: its largest entries, its pools, and the greedy
/// methods on rows weighted by it (weighted SNPA only while `f r^2` is at most 5e6). Stopped, it
/// gives those there was time for: the largest entries always.
pub fn readings(question: &Question<'_>, method: &str, diagonal: &[f64]) -> Vec<Candidate> {
    let Question { x, rank, allowed, control, rules, .. } = *question;
    let obeying = |rows: Vec<usize>| match rules.obeyed_by(&rows) {
        true => rows,
        // Where rows are refused, those with the next largest entries take their places.
        false => {
            rules.choose(&[rows, top(diagonal, x.features(), allowed)].concat(), rank, allowed)
        }
    };
    let named = |reading: &str, rows| Candidate { origin: format!("{method}, {reading}"), rows };
    let mut sets = vec![named("top", obeying(top(diagonal, rank, allowed)))];
    sets.extend(
        cluster(x, diagonal, rank, allowed, control).map(|rows| named("cluster", obeying(rows))),
    );
    let spa = spa_ruled(question, Some(diagonal)).rows;
    sets.push(named("weighted spa", spa));
    if x.features() as f64 * (rank as f64).powi(2) <= AFFORDABLE_FITS {
        let rows = snpa_ruled(question, diagonal).rows;
        sets.push(named("weighted snpa", rows));
    }
    sets
}

/// The best of some candidates.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// Its rows, with all rows of X fitted on them.
    pub fitted: FittedChoice,
    /// Every candidate's score.
    pub judged: Vec<Judged>,
    /// Its position among them.
    pub best: usize,
    /// The candidates' rows, the best first, ties to the earlier one.
    pub sets: Vec<Vec<usize>>,
}

/// The candidate with the lowest cleaned error over all rows. Equal sets are judged once; ties go to
/// the earlier candidate. A candidate with fewer than `rank` rows (a stopped method) is passed over.
/// When the control stops, the best so far is returned; the first complete candidate is always judged.
/// `None` when none is complete.
///
/// `known`, if there is one, is a candidate whose fits are there already; it counts as the first, and
/// its origin is the first of `candidates`, which must be the same set.
pub fn judge(
    cleaner: &Cleaner<'_>,
    rank: usize,
    candidates: &[Candidate],
    known: Option<FittedChoice>,
) -> Option<Verdict> {
    verdict(cleaner, rank, candidates, (known, Nearness::None))
}

/// As [`judge`] where the first candidate is an earlier answer: the winner is likely to be no worse than another by more
/// than a thousandth, for which most of the others need not be fitted on all rows. All its fits began from nothing.
pub fn judge_nearby(
    cleaner: &Cleaner<'_>,
    rank: usize,
    candidates: &[Candidate],
) -> Option<Verdict> {
    verdict(cleaner, rank, candidates, (None, Nearness::Start))
}

fn verdict(
    cleaner: &Cleaner<'_>,
    rank: usize,
    candidates: &[Candidate],
    (known, nearness): (Option<FittedChoice>, Nearness),
) -> Option<Verdict> {
    let distinct = distinct(candidates, rank);
    let entry = |c: &&Candidate| (c.rows.clone(), SEARCHED.contains(&&c.origin[..]));
    let mut race = Race::new(cleaner, distinct.iter().map(entry), known, nearness);
    let best = race.run()?;
    let seen = (0..distinct.len()).filter(|&at| race.runners[at].seen > 0);
    let judged: Vec<Judged> = seen
        .map(|at| {
            let (candidate, score) = (distinct[at], cleaner.objective.score(race.errors(at)));
            Judged { origin: candidate.origin.clone(), score }
        })
        .collect();
    let mut order: Vec<usize> = (0..judged.len()).collect();
    order.sort_unstable_by(|&a, &b| {
        let (one, other) = (judged[a].score, judged[b].score);
        (a != best).cmp(&(b != best)).then(one.total_cmp(&other)).then(a.cmp(&b))
    });
    let sets = order.into_iter().map(|at| distinct[at].rows.clone()).collect();
    Some(Verdict { fitted: race.finish(best), judged, best, sets })
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
    use crate::Cleaning;
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
            let verdict = judge(&cleaner, 3, &sets, None).unwrap();
            let origins: Vec<&str> = verdict.judged.iter().map(|j| j.origin.as_str()).collect();
            assert_eq!(origins, ["mixtures", "truth"]);
            assert_eq!(verdict.fitted.hott, truth);
            assert_eq!(verdict.fitted.fits.len(), 30);
            assert_eq!((verdict.best, &verdict.sets[0]), (1, &truth));
            assert!(judge(&cleaner, 3, &sets[..1], None).is_none());
        }
    }

    #[test]
    fn after_a_stop_one_set_is_judged() {
        let instance = paper((30, 60, 3, 0), 0.3, 1);
        let late = Control::default().with_deadline(Instant::now());
        let (objective, cleaning) = (Objective::Mean, Cleaning::Exact);
        let cleaner = Cleaner { x: &instance.x, cleaning, objective, seed: 0, control: &late };
        let sets = [set("first", &[0, 1, 2]), set("second", &[3, 4, 5])];
        let verdict = judge(&cleaner, 3, &sets, None).unwrap();
        assert_eq!((verdict.fitted.hott, verdict.judged.len()), (vec![0, 1, 2], 1));
    }
}
