//! Every method on the same data, side by side.

use super::clock::Clock;
use super::pipeline::Prepared;
use super::{Factor, Factorization, HottRow, Method};
use crate::clock::Instant;
use crate::control::Stop;
use crate::matrix::Matrix;
use crate::methods::is_affordable;
use crate::normalise::UnitRows;
use crate::{Error, Objective};

/// What every method made of the same data.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// The answers, in the order of [`Method::ALL`].
    pub answers: Vec<Compared>,
    /// Methods that were stopped before they had an answer.
    pub no_answer: Vec<Method>,
    /// Methods that were not run, or that have proven that there is nothing to find.
    pub skipped: Vec<(Method, Skipped)>,
    /// Whether the caller stopped it all before every method had its turn.
    pub interrupted: bool,
}

/// One method's answer beside those of the others. It serialises without the answer.
#[derive(Debug, Clone, serde::Serialize)]
#[non_exhaustive]
pub struct Compared {
    /// The answer.
    #[serde(skip)]
    pub answer: Factorization,
    /// Wall-clock seconds it took.
    pub seconds: f64,
    /// Its error over the least error of all methods, by the objective.
    pub ratio: f64,
    /// Hott rows shared with [`Method::Auto`], counting groups; `None` when that has no answer.
    pub agreement: Option<usize>,
}

/// Why a method has no answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Skipped {
    /// It lacks settings that only the caller knows, see [`Method::requires`].
    Needs(&'static [&'static str]),
    /// It may take long at this size; a [`Factor::gap`] runs it all the same.
    Long,
    /// It has proven that there is none ([`Error::Infeasible`]).
    Infeasible(Error),
}

impl Comparison {
    /// Runs every method with the settings that `settings` gives for it, judged by `objective`.
    ///
    /// # Errors
    /// The first error that is about the data or the settings, not about one method's luck.
    pub fn run(
        matrix: &Matrix,
        objective: Objective,
        mut settings: impl FnMut(Method) -> Factor,
    ) -> Result<Self, Error> {
        let mut comparison = Comparison {
            answers: Vec::new(),
            no_answer: Vec::new(),
            skipped: Vec::new(),
            interrupted: false,
        };
        let x = match UnitRows::new(matrix) {
            Err(error @ Error::NotFinite { .. }) => {
                settings(Method::Auto).refuse_missing(matrix)?;
                return Err(error);
            }
            other => other?,
        };
        for method in Method::ALL {
            let begun = Instant::now();
            let factor = settings(method).only_used();
            let stop = factor.control.stopped();
            if stop == Some(Stop::Interrupted) {
                comparison.interrupted = true;
                break;
            }
            if let Some(why) = factor.reason_to_skip(matrix) {
                comparison.skipped.push((method, why));
                continue;
            }
            // A limit that all methods share may have passed: the first had its turn.
            if stop.is_some() && method != Method::ALL[0] {
                comparison.no_answer.push(method);
                continue;
            }
            match factor.run_normalised(matrix, &x) {
                Ok(answer) => comparison.answers.push(Compared {
                    answer,
                    seconds: begun.elapsed().as_secs_f64(),
                    ratio: f64::NAN,
                    agreement: None,
                }),
                Err(error @ Error::Infeasible { .. }) => {
                    comparison.skipped.push((method, Skipped::Infeasible(error)));
                }
                Err(Error::NoAnswer(_)) => comparison.no_answer.push(method),
                Err(error) => return Err(error),
            }
        }
        comparison.judge(objective);
        Ok(comparison)
    }

    /// Fills in the ratios to the least error and the agreement with `auto`.
    fn judge(&mut self, objective: Objective) {
        let error = |entry: &Compared| match objective {
            Objective::Mean => entry.answer.errors.mean_l1,
            Objective::Max => entry.answer.errors.inf1,
        };
        let least = self.answers.iter().map(error).fold(f64::INFINITY, f64::min);
        let auto = self.answers.iter().find(|entry| entry.answer.method == Method::Auto);
        let auto = auto.map(|entry| entry.answer.hott.clone());
        for entry in &mut self.answers {
            // Two answers that are exact up to rounding are equally good.
            let floor = 1e-12;
            entry.ratio = error(entry).max(floor) / least.max(floor);
            entry.agreement = auto.as_ref().map(|auto| shared(auto, &entry.answer.hott));
        }
    }
}

impl Factor {
    /// Why not to run the method beside others: it lacks a number that only the caller knows, or
    /// it would take long and was not asked for.
    fn reason_to_skip(&self, matrix: &Matrix) -> Option<Skipped> {
        let (given, requires) = (self.given(), self.method.requires());
        if !requires.iter().all(|name| given.iter().any(|(known, _)| known == name)) {
            return Some(Skipped::Needs(requires));
        }
        let long = self.method.proves_bound()
            && self.method != Method::Lp
            && self.gap.is_none()
            && !self.affords_programs(matrix);
        long.then_some(Skipped::Long)
    }

    /// As [`Factor::run`] for a matrix that was normalised before.
    fn run_normalised(&self, matrix: &Matrix, x: &UnitRows) -> Result<Factorization, Error> {
        let method = self.method_with_settings()?;
        self.in_pool(|| {
            let prepared = Prepared::with_x(self, matrix, x.clone())?;
            Ok(prepared.factor(method.as_ref(), Clock::new(&self.control))?.0)
        })
    }

    /// Whether a linear program on this matrix is a matter of seconds or, with a deadline, likely
    /// to be done before it. Without a deadline the size alone decides.
    fn affords_programs(&self, matrix: &Matrix) -> bool {
        let (features, examples) = (matrix.rows(), matrix.cols());
        let candidates = match &self.candidates {
            Some(mask) => mask.iter().filter(|m| **m).count(),
            None => features,
        };
        is_affordable(features, candidates, examples, self.rank, &self.control)
    }
}

/// How many rows of `other` can be paired with a row of `one` whose group they share.
fn shared(one: &[HottRow], other: &[HottRow]) -> usize {
    let mut free = vec![true; one.len()];
    let same = |a: &HottRow, b: &HottRow| a.group.contains(&b.row) || b.group.contains(&a.row);
    let paired = |row: &&HottRow| {
        let exact = (0..one.len()).find(|&k| free[k] && one[k].row == row.row);
        let found = exact.or_else(|| (0..one.len()).find(|&k| free[k] && same(&one[k], row)));
        found.inspect(|&k| free[k] = false).is_some()
    };
    other.iter().filter(paired).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::{Family, Recipe};

    #[test]
    fn groups_count_once() {
        let hott =
            |row: usize, group: &[usize]| HottRow { row, weight: 1.0, group: group.to_vec() };
        let auto = [hott(3, &[3, 7]), hott(9, &[9])];
        assert_eq!(shared(&auto, &auto), 2);
        assert_eq!(shared(&auto, &[hott(7, &[7]), hott(3, &[3])]), 1);
        assert_eq!(shared(&auto, &[hott(7, &[7]), hott(1, &[1, 9])]), 2);
        assert_eq!(shared(&auto, &[hott(1, &[1])]), 0);
    }

    #[test]
    fn every_method_has_its_place() {
        let recipe = Recipe::new(Family::Paper, 3).size(12, 40).noise(0.5);
        let matrix = recipe.generate().unwrap().matrix;
        let run = |tau: Option<f64>| {
            Comparison::run(&matrix, Objective::Mean, |method| {
                let factor = Factor::new(3).method(method);
                match tau {
                    Some(tau) => factor.tau(tau),
                    None => factor,
                }
            })
            .unwrap()
        };
        let plain = run(None);
        let skipped: Vec<Method> = plain.skipped.iter().map(|(method, _)| *method).collect();
        assert_eq!(skipped, [Method::Lp, Method::Agkm]);
        assert_eq!(plain.answers.len(), Method::ALL.len() - 2);
        let least = plain.answers.iter().map(|a| a.ratio).fold(f64::INFINITY, f64::min);
        assert_eq!((least, plain.answers[0].agreement), (1.0, Some(3)));
        // No three rows explain all others perfectly, noise being what it is.
        let (method, why) = &run(Some(1e-9)).skipped[0];
        assert!(*method == Method::Lp && matches!(why, Skipped::Infeasible(_)), "{why:?}");
    }
}
