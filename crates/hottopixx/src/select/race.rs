//! Several choices of rows compared on all rows of X, most of them on a part only.
//!
//! The mean error: all candidates are fitted on a random part of the rows that doubles from look to
//! look, and one whose errors are above those of the leader by five standard errors of the mean
//! difference, row by row, is out: by three where it comes from our own search, which promises nothing.
//! Those that are near each other end on all rows.
//!
//! *Near an earlier answer* ([`Nearness::Start`]) what is nearly as good is good enough: a candidate is out as soon as it is
//! likely to be better than the leader by no more than a thousandth. Every fit begins from nothing, so that those of the
//! winner are final.
//!
//! The largest error: after a first look the leader is fitted on all rows. The others meet its worst
//! rows first, and the first row with a larger error than the leader's largest ends it for them, for
//! certain.

use crate::Objective;
use crate::clean::{Cleaner, Cleaning, FittedChoice, RowFit, Starts, least_squares, refit};
use crate::control::{Progress, Stage};
use crate::localise::shuffled_rows;
use crate::order::{largest_first, smallest_first};

/// Rows of the first look, and of each step against the leader's worst rows.
const FIRST_LOOK: usize = 64;
/// Standard errors beyond which a difference is believed, and those that are enough to leave one of
/// several similar sets of a search.
const SURE: f64 = 5.0;
const LIKELY: f64 = 3.0;
/// Standard errors that are enough near an earlier answer, and what is then nearly as good, relative to the error: half of
/// what such answers may be worse than others.
const LIKELY_NEARBY: f64 = 2.0;
const NEARLY: f64 = 1e-3;

/// What a race is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nearness {
    /// The best of all sets.
    None,
    /// A set that is nearly the best, where one of an earlier answer is among them.
    Start,
}

/// One candidate: how many rows it was fitted on, in the race's order.
pub(super) struct Runner {
    hott: Vec<usize>,
    /// Standard errors beyond which it is believed to be worse than another.
    sure: f64,
    /// By row of X; those not seen yet are empty.
    fits: Vec<RowFit>,
    pub seen: usize,
}

impl Runner {
    /// Its errors on the rows it has seen, by row.
    fn errors<'a>(&'a self, order: &'a [usize]) -> impl Iterator<Item = (usize, f64)> + 'a {
        order[..self.seen].iter().map(|&i| (i, self.fits[i].error))
    }
}

pub(super) struct Race<'a> {
    cleaner: &'a Cleaner<'a>,
    nearness: Nearness,
    pub runners: Vec<Runner>,
    /// In which order rows are looked at.
    pub order: Vec<usize>,
}

impl<'a> Race<'a> {
    /// A race between these sets, of each of which is said whether it is one of several similar ones of a
    /// search; `known` is the first of them, fitted on all rows.
    pub fn new(
        cleaner: &'a Cleaner<'a>,
        sets: impl Iterator<Item = (Vec<usize>, bool)>,
        known: Option<FittedChoice>,
        nearness: Nearness,
    ) -> Self {
        let f = cleaner.x.features();
        let runner = |(hott, searched): (Vec<usize>, bool)| {
            let sure = match nearness {
                Nearness::Start => LIKELY_NEARBY,
                Nearness::None if searched => LIKELY,
                Nearness::None => SURE,
            };
            Runner { hott, sure, fits: vec![RowFit::default(); f], seen: 0 }
        };
        let mut runners: Vec<Runner> = sets.map(runner).collect();
        if let (Some(known), Some(first)) = (known, runners.first_mut()) {
            *first = Runner { hott: known.hott, fits: known.fits, seen: f, ..*first };
        }
        Race { cleaner, nearness, runners, order: shuffled_rows(f) }
    }

    /// The position of the winner, fitted on all rows; `None` when there is nobody.
    pub fn run(&mut self) -> Option<usize> {
        if self.runners.is_empty() {
            return None;
        }
        let f = self.order.len();
        // After a stop there is nothing to compare: one is cleaned, once.
        let hurried = self.runners.len() > 1 && !self.cleaner.control.goes_on();
        let best = if self.runners.len() == 1 || hurried {
            0
        } else {
            match self.cleaner.objective {
                Objective::Mean => self.by_mean(),
                Objective::Max => self.by_largest(),
            }
        };
        self.see(best, f);
        Some(best)
    }

    /// The winner with its fits.
    pub fn finish(mut self, best: usize) -> FittedChoice {
        let Runner { hott, fits, .. } = self.runners.swap_remove(best);
        let x = self.cleaner.x;
        let score = self.cleaner.objective.score_of(x, fits.iter().map(|fit| fit.error));
        FittedChoice { hott, fits, score }
    }

    /// What the errors of a candidate count on the rows it has seen.
    pub fn errors(&self, at: usize) -> impl Iterator<Item = f64> {
        let Cleaner { x, objective, .. } = *self.cleaner;
        let seen = self.runners[at].errors(&self.order);
        seen.map(move |(i, error)| objective.counted(x, i, error))
    }

    /// Fits a candidate on the rows up to this many.
    fn see(&mut self, at: usize, until: usize) {
        let Cleaner { x, control, .. } = *self.cleaner;
        let runner = &self.runners[at];
        if runner.seen >= until {
            return;
        }
        let rows = &self.order[runner.seen..until];
        let fits = match self.cleaner.cleaning {
            Cleaning::LeastSquares => least_squares(x, &runner.hott, rows, control),
            _ => refit(x, &runner.hott, rows, self.starts(at, until), control),
        };
        let runner = &mut self.runners[at];
        rows.iter().zip(fits).for_each(|(&i, fit)| runner.fits[i] = fit);
        runner.seen = until;
    }

    /// The fits of another candidate that has most rows in common with this one, at least half, and has been
    /// fitted on the rows up to this many.
    fn starts(&self, at: usize, until: usize) -> Starts<'_> {
        if self.nearness == Nearness::Start {
            return Starts::Cold;
        }
        let hott = &self.runners[at].hott;
        let common = |other: &&Runner| other.hott.iter().filter(|h| hott.contains(h)).count();
        let ahead = |other: &&Runner| other.seen >= until && 2 * common(other) >= hott.len();
        let most = self.runners.iter().filter(ahead).max_by_key(common);
        most.map_or(Starts::Cold, |other| Starts::Others(&other.hott, &other.fits))
    }

    fn by_mean(&mut self) -> usize {
        let f = self.order.len();
        let mut alive: Vec<usize> = (0..self.runners.len()).collect();
        let (mut until, mut leader) = (FIRST_LOOK.min(f), 0);
        loop {
            for (done, &at) in alive.iter().enumerate() {
                if done > 0 && self.cleaner.control.stopped().is_some() {
                    alive.truncate(done);
                    break;
                }
                self.see(at, until);
                self.report(done + 1, alive.len(), None);
            }
            let sum = |at: usize| -> f64 { self.errors(at).take(until).sum() };
            let sums: Vec<f64> = alive.iter().map(|&at| sum(at)).collect();
            let (mut least, mut first) = (f64::INFINITY, true);
            for (&at, &sum) in alive.iter().zip(&sums) {
                if first || sum < least {
                    (leader, least, first) = (at, sum, false);
                }
            }
            self.report(alive.len(), alive.len(), Some(least / until as f64));
            if until == f || self.cleaner.control.stopped().is_some() {
                return leader;
            }
            alive.retain(|&at| at == leader || !self.clearly_worse(at, leader, until));
            let more = match self.nearness {
                Nearness::Start => until + until / 2,
                Nearness::None => 2 * until,
            };
            until = if alive.len() == 1 { f } else { more.min(f) };
        }
    }

    /// Whether the errors on the first rows are above those of the leader, beyond all chance: row by
    /// row, since a hard row is hard for both. Near an earlier answer, whether they are likely not to be below them by much.
    fn clearly_worse(&self, at: usize, leader: usize, until: usize) -> bool {
        let one = &self.runners[at];
        let pairs = self.errors(at).zip(self.errors(leader)).take(until);
        let differences: Vec<f64> = pairs.map(|(a, b)| a - b).collect();
        let count = differences.len() as f64;
        let mean = differences.iter().sum::<f64>() / count;
        let squares: f64 = differences.iter().map(|d| (d - mean).powi(2)).sum();
        // The rows are drawn from f without replacement.
        let unseen = 1.0 - count / self.order.len() as f64;
        let error = (squares / (count - 1.0).max(1.0) / count * unseen).sqrt();
        let nearly = match self.nearness {
            Nearness::Start => NEARLY * self.errors(leader).take(until).sum::<f64>() / count,
            Nearness::None => 0.0,
        };
        mean > one.sure * error - nearly
    }

    fn by_largest(&mut self) -> usize {
        let f = self.order.len();
        let largest = |race: &Race<'_>, at: usize| race.errors(at).fold(0.0, f64::max);
        for at in 0..self.runners.len() {
            if at > 0 && self.cleaner.control.stopped().is_some() {
                return 0;
            }
            self.see(at, FIRST_LOOK.min(f));
        }
        let first: Vec<f64> = (0..self.runners.len()).map(|at| largest(self, at)).collect();
        let mut contenders: Vec<usize> = (0..self.runners.len()).collect();
        smallest_first(&mut contenders, |i| first[i]);
        let mut best = contenders[0];
        self.see(best, f);
        // The rest of the rows, the leader's worst first.
        let (look, fits) = (FIRST_LOOK.min(f), &self.runners[best].fits);
        let error = |i: usize| fits[i].error;
        largest_first(&mut self.order[look..], error);
        for (done, &at) in contenders.iter().enumerate().skip(1) {
            let least = largest(self, best);
            self.report(done, contenders.len(), Some(least));
            while largest(self, at) < least && self.runners[at].seen < f {
                if self.cleaner.control.stopped().is_some() {
                    return best;
                }
                let until = (2 * self.runners[at].seen).max(FIRST_LOOK).min(f);
                self.see(at, until);
            }
            if self.runners[at].seen == f && largest(self, at) < least {
                best = at;
            }
        }
        best
    }

    fn report(&self, done: usize, total: usize, best: Option<f64>) {
        self.cleaner.control.report(&Progress {
            stage: Stage::Select,
            task: "judge",
            done,
            total: Some(total),
            figure: best.map(|score| ("best", score)),
            bound: None,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Control;
    use crate::localise::instances::paper;

    /// The winner is that of cleaning every set on all rows, by either objective, and most sets do
    /// not see them all.
    #[test]
    fn the_winner_is_the_best_on_all_rows() {
        let instance = paper((900, 40, 5, 0), 2.0, 4);
        let truth: Vec<usize> = instance.topics.iter().map(|topic| topic[0]).collect();
        let mut sets: Vec<Vec<usize>> =
            (0..8).map(|k| (0..5).map(|h| 50 * k + 9 * h).collect()).collect();
        let mut nearly = truth.clone();
        nearly[0] = (0..900).find(|i| !truth.contains(i)).unwrap();
        sets.extend([nearly, truth]);
        let control = Control::default();
        for objective in Objective::ALL {
            let (x, cleaning) = (&instance.x, Cleaning::Exact);
            let cleaner = Cleaner { x, cleaning, objective, seed: 0, control: &control };
            let score = |set: &Vec<usize>| cleaner.clean(set.clone()).score;
            let scores: Vec<f64> = sets.iter().map(score).collect();
            let least = scores.iter().copied().fold(f64::INFINITY, f64::min);
            let mut race = Race::new(
                &cleaner,
                sets.iter().map(|set| (set.clone(), false)),
                None,
                Nearness::None,
            );
            let best = race.run().unwrap();
            assert_eq!(scores[best], least, "{objective}: {scores:?}");
            let unseen = race.runners.iter().filter(|runner| runner.seen < 900).count();
            assert!(unseen >= 5, "{objective}: only {unseen} were out early");
            let won = race.finish(best);
            assert!((won.score - least).abs() < 1e-12 && won.fits.len() == 900);
        }
    }

    /// Near an earlier answer the winner is worse than the best by next to nothing, what is nearly the same is not seen on
    /// all rows, and fits are those from nothing.
    #[test]
    fn near_an_answer_what_is_nearly_as_good_is_enough() {
        let instance = paper((900, 40, 5, 0), 2.0, 4);
        let truth: Vec<usize> = instance.topics.iter().map(|topic| topic[0]).collect();
        let mut sets: Vec<Vec<usize>> = vec![truth.clone()];
        for (k, topic) in instance.topics.iter().enumerate() {
            let mut other = truth.clone();
            other[k] = (0..900).find(|i| !topic.contains(i) && !truth.contains(i)).unwrap();
            sets.push(other);
        }
        let control = Control::default();
        let (x, cleaning, objective) = (&instance.x, Cleaning::Exact, Objective::Mean);
        let cleaner = Cleaner { x, cleaning, objective, seed: 0, control: &control };
        let scores: Vec<f64> = sets.iter().map(|set| cleaner.clean(set.clone()).score).collect();
        let least = scores.iter().copied().fold(f64::INFINITY, f64::min);
        let entries = sets.iter().map(|set| (set.clone(), true));
        let mut race = Race::new(&cleaner, entries, None, Nearness::Start);
        let best = race.run().unwrap();
        assert!(scores[best] <= (1.0 + 2.0 * NEARLY) * least, "{scores:?}");
        assert!(race.runners.iter().any(|runner| runner.seen < 900));
        let won = race.finish(best);
        assert_eq!(won.fits, cleaner.clean(sets[best].clone()).fits);
    }
}
