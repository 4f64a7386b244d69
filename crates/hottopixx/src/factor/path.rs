//! Errors against the number of hott rows, from one answer.
//!
//! From the R rows of an answer one row at a time is left out, always the one that is missed
//! least, down to a single row. Each step knows from the fits at hand what leaving a row out costs
//! (see `select/swap`), and fits only the rows again that leaned on it: the whole path takes about as
//! long as cleaning R times, and the method runs once. The sets are nested, so the path also says
//! in which order the rows matter. At lower ranks another choice of rows may do better: the errors
//! are those of the rows named. How much better at most is said by a bound on the mean error of every choice
//! of this many rows, where that takes seconds (`methods/error_bound.rs`).

use super::pipeline::Prepared;
use super::{Errors, Factor, Factorization};
use crate::clean::{Cleaning, FittedChoice, RowFit, Starts, measure, refit};
use crate::control::{Control, Progress, Stage, Stop};
use crate::matrix::Matrix;
use crate::methods::{AtHand, USUAL_BUDGET, mean_bounds};
use crate::normalise::UnitRows;
use crate::select::Scoring;
use crate::{Error, Objective};

/// Rows on which the cost of leaving a hott row out is measured, at most.
const SCORED_ROWS: usize = 160;

/// A rank stands out when its last row gains this many times what any later one does.
const STANDS_OUT: f64 = 1.5;
/// Gains of error below this are as good as none.
const NO_GAIN: f64 = 5e-3;

/// Errors for every number of hott rows up to that of an answer.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct RankPath {
    /// One point for each rank, from 1 on; fewer at the low end when it was stopped.
    pub points: Vec<RankPoint>,
    /// The rank after which further rows gain little.
    pub suggested: usize,
    /// Why, in a sentence.
    pub reason: String,
    /// Why it ended.
    #[serde(skip_serializing)]
    pub stop: Stop,
}

/// The errors with this many hott rows.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct RankPoint {
    /// How many.
    pub rank: usize,
    /// The rows of the input, in the order of the answer.
    pub hott: Vec<usize>,
    /// Their errors; those of single rows are left out.
    #[serde(rename = "error")]
    pub errors: Errors,
    /// No choice of this many rows has a smaller mean error, whatever the weights: proven by the verifier.
    /// `None` where that was not looked at: with [`Effort::Quick`](crate::Effort::Quick), for large data, after a stop.
    pub lower_bound: Option<f64>,
}

impl Factor {
    /// The errors of the answer's rows and of fewer and fewer of them, with bounds on the mean error of every
    /// choice of this many rows.
    ///
    /// # Errors
    /// As [`Factor::run`]; [`Error::Setting`] when the matrix is too large for exact cleaning or
    /// another cleaning is asked for, because leaving rows out is priced by exact fits.
    pub fn path(&self, matrix: &Matrix, answer: &Factorization) -> Result<RankPath, Error> {
        let hott: Vec<usize> = answer.hott.iter().map(|hott| hott.row).collect();
        if hott.len() > 1
            && let Some(stop) = self.control.for_new_run().stopped()
        {
            return Ok(of_the_answer(hott, answer, stop));
        }
        let constraints = self.constraints.of_parts();
        let settings = Factor { rank: hott.len(), constraints, ..self.clone() };
        settings.in_pool(|| {
            let completed = settings.completed(matrix)?;
            let x = completed.unit_rows()?;
            let prepared = Prepared::with_x(&settings, &completed.matrix, x)?;
            if prepared.settings.cleaning != Cleaning::Exact {
                return Err(Error::Setting {
                    name: "path",
                    value: "true".to_string(),
                    remedy:
                        "it needs exact cleaning, which was not asked for or would take too long \
                             here"
                            .to_string(),
                });
            }
            let rows = prepared.unit_rows(&hott)?;
            let control = &prepared.settings.control;
            let guides = rows.clone();
            let mut path = walk(&prepared.x, rows, self.objective, control, &mut |_| {});
            if control.cut_short().is_none() {
                let budget = self.memory.unwrap_or(USUAL_BUDGET);
                let error = path.points.last().map(|point| point.errors.mean_l1);
                let at_hand = AtHand { rows: guides, error };
                let bounds = mean_bounds(&prepared.question(), self.effort, budget, &at_hand)?;
                for point in &mut path.points {
                    point.lower_bound = bounds.get(point.rank - 1).copied();
                }
                path.stop = control.cut_short().unwrap_or(Stop::Finished);
            }
            Ok(path)
        })
    }
}

/// What is known without any time: the last point.
fn of_the_answer(hott: Vec<usize>, answer: &Factorization, stop: Stop) -> RankPath {
    let errors = Errors { per_row: Vec::new(), ..answer.errors.clone() };
    let points = vec![RankPoint { rank: hott.len(), hott, errors, lower_bound: None }];
    let (suggested, reason) = suggest(&points, Objective::Mean);
    RankPath { points, suggested, reason, stop }
}

/// From these rows to one, by leaving out the row that is missed least; every choice on the way is `seen`, the largest first.
pub(super) fn walk(
    x: &UnitRows,
    hott: Vec<usize>,
    objective: Objective,
    control: &Control,
    seen: &mut dyn FnMut(&FittedChoice),
) -> RankPath {
    let total = hott.len();
    let mut fitted = FittedChoice::new(x, hott, objective, None, control);
    let mut points = vec![point(x, &fitted)];
    seen(&fitted);
    while fitted.hott.len() > 1 && control.cut_short().is_none() {
        control.report(&Progress {
            stage: Stage::Select,
            task: "path of ranks",
            done: total - fitted.hott.len(),
            total: Some(total),
            figure: Some(("error", fitted.score)),
            bound: None,
        });
        let Some(position) = missed_least(x, &fitted, objective, control) else { break };
        fitted = without(x, fitted, position, objective, control);
        // Rows that were fitted in a hurry say nothing about the rank.
        if control.cut_short().is_some() {
            break;
        }
        points.push(point(x, &fitted));
        seen(&fitted);
    }
    points.reverse();
    let (suggested, reason) = suggest(&points, objective);
    RankPath { points, suggested, reason, stop: control.cut_short().unwrap_or(Stop::Finished) }
}

fn point(x: &UnitRows, fitted: &FittedChoice) -> RankPoint {
    let measured = measure(x, &fitted.hott, &fitted.fits);
    let (inf1, mean_l1, rmse) = (measured.inf1, measured.mean_l1, measured.rmse);
    let errors = Errors { inf1, mean_l1, rmse, per_row: Vec::new() };
    let hott: Vec<usize> = fitted.hott.iter().map(|&h| x.input_row(h)).collect();
    RankPoint { rank: hott.len(), hott, errors, lower_bound: None }
}

/// The position of the hott row without which the error is least; `None` when stopped.
fn missed_least(
    x: &UnitRows,
    fitted: &FittedChoice,
    objective: Objective,
    control: &Control,
) -> Option<usize> {
    let f = x.features();
    let rows: Vec<usize> = if f <= SCORED_ROWS {
        (0..f).collect()
    } else {
        // The hott rows themselves lose most: they are always among the scored ones.
        let mut rows: Vec<usize> = (0..SCORED_ROWS).map(|k| k * f / SCORED_ROWS).collect();
        rows.extend(&fitted.hott);
        rows.sort_unstable();
        rows.dedup();
        rows
    };
    let positions: Vec<usize> = (0..fitted.hott.len()).collect();
    let FittedChoice { hott, fits, .. } = fitted;
    let scores = Scoring { x, hott, fits, rows: &rows, objective, control }.without(&positions)?;
    (0..scores.len()).min_by(|&a, &b| scores[a].total_cmp(&scores[b]))
}

/// The choice without the hott row at this position. Rows that gave it no weight keep their
/// fits, which stay optimal.
fn without(
    x: &UnitRows,
    old: FittedChoice,
    position: usize,
    objective: Objective,
    control: &Control,
) -> FittedChoice {
    let FittedChoice { mut hott, mut fits, .. } = old;
    hott.remove(position);
    let gone = position as u32;
    let leaned = |fit: &RowFit| fit.weights.iter().any(|w| w.0 == gone);
    let again: Vec<usize> = (0..fits.len()).filter(|&i| leaned(&fits[i])).collect();
    for fit in &mut fits {
        fit.weights.iter_mut().filter(|w| w.0 > gone).for_each(|w| w.0 -= 1);
        // The vertex names positions as well. What is left of it is where the next fit begins.
        fit.basis.free.retain(|j| *j != gone);
        fit.basis.free.iter_mut().filter(|j| **j > gone).for_each(|j| *j -= 1);
    }
    for (&i, fit) in again.iter().zip(refit(x, &hott, &again, Starts::Vertices(&fits), control)) {
        fits[i] = fit;
    }
    let score = objective.score_of(x, fits.iter().map(|fit| fit.error));
    FittedChoice { hott, fits, score }
}

/// The rank that stands out: row k lowers the error by g_k (the first from 1, which explaining nothing
/// costs), and the rank is the k for which `g_k / max(g_j, j > k)` is largest. The first row nearly
/// always gains most, so that it stands out only when no later one gains anything.
fn suggest(points: &[RankPoint], objective: Objective) -> (usize, String) {
    let (which, error): (_, fn(&Errors) -> f64) = match objective {
        Objective::Mean => ("mean", |errors| errors.mean_l1),
        Objective::Max => ("largest", |errors| errors.inf1),
    };
    let most = points.last().map_or(0, |point| point.hott.len());
    if points.len() < most {
        return (most, "It was stopped early: no number of rows can be suggested.".to_owned());
    }
    let errors: Vec<f64> = points.iter().map(|point| error(&point.errors)).collect();
    let before = |k: usize| if k == 0 { 1.0 } else { errors[k - 1] };
    let gains: Vec<f64> = (0..most).map(|k| before(k) - errors[k]).collect();
    let later = |k: usize| gains[k + 1..].iter().copied().fold(0.0, f64::max);
    let ratio = |k: usize| gains[k] / later(k).max(NO_GAIN);
    let first_alone = most > 1 && later(0) <= NO_GAIN;
    let ranks = usize::from(!first_alone)..most.saturating_sub(1);
    let best = ranks.max_by(|&a, &b| ratio(a).total_cmp(&ratio(b)).then(b.cmp(&a)));
    match best.filter(|&k| ratio(k) >= STANDS_OUT) {
        Some(k) => (
            k + 1,
            format!(
                "The last of {} rows lowers the {which} error by {:.4}, to {:.4}; none after it by more \
                 than {:.4}.",
                k + 1,
                gains[k],
                errors[k],
                later(k)
            ),
        ),
        None => (
            most,
            format!(
                "The {which} error falls evenly, to {:.4}: no number of rows stands out, more explain \
                 more.",
                errors.last().copied().unwrap_or(f64::NAN)
            ),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Method;
    use crate::synth::{Family, Recipe};

    #[test]
    fn the_elbow_is_the_planted_rank_and_errors_are_those_of_the_rows() {
        for (rank, seed) in [(3, 0), (5, 1), (4, 2)] {
            let recipe = Recipe::new(Family::Paper, rank).size(40, 120).noise(0.5).seed(seed);
            let instance = recipe.generate().unwrap();
            let factor = Factor::new(10).method(Method::Spa).threads(1).groups(false);
            let answer = factor.run(&instance.matrix).unwrap();
            let path = factor.path(&instance.matrix, &answer).unwrap();
            assert_eq!(path.points.len(), 10);
            assert_eq!(path.suggested, rank, "{}", path.reason);
            assert_eq!(instance.truth.recall(&path.points[rank - 1].hott), 1.0);
            for (k, point) in path.points.iter().enumerate() {
                assert_eq!(point.hott.len(), k + 1);
                let again = factor.evaluate(&instance.matrix, &point.hott).unwrap().errors;
                assert!((again.mean_l1 - point.errors.mean_l1).abs() < 1e-9, "rank {}", k + 1);
                assert!((again.inf1 - point.errors.inf1).abs() < 1e-9, "rank {}", k + 1);
                let bound = point.lower_bound.unwrap();
                assert!(0.0 <= bound && bound <= again.mean_l1, "rank {}: {bound}", k + 1);
            }
            // No single row does what the planted ones do, and the bound proves it.
            let planted = path.points[rank - 1].errors.mean_l1;
            assert!(path.points[0].lower_bound > Some(planted), "{:?}", path.points[0]);
            let falls = |pair: &[RankPoint]| pair[0].lower_bound >= pair[1].lower_bound;
            assert!(path.points.windows(2).all(falls));
            let nested = |pair: &[RankPoint]| pair[0].hott.iter().all(|h| pair[1].hott.contains(h));
            assert!(path.points.windows(2).all(nested));
        }
    }

    /// After a stop the path holds what it knows exactly, and says that it is not all.
    #[test]
    fn a_path_that_was_stopped_says_so() {
        let recipe = Recipe::new(Family::Paper, 4).size(30, 80).noise(0.5);
        let matrix = recipe.generate().unwrap().matrix;
        let factor = Factor::new(6).method(Method::Spa).threads(1);
        let answer = factor.run(&matrix).unwrap();
        let late = Control::default().with_deadline(std::time::Instant::now());
        let path = factor.clone().control(late).path(&matrix, &answer).unwrap();
        assert_eq!((path.points.len(), path.stop), (1, Stop::TimeLimit));
        assert_eq!(path.points[0].errors.mean_l1, answer.errors.mean_l1);
        assert_eq!(path.points[0].lower_bound, None);
        assert!(path.reason.contains("stopped early"), "{}", path.reason);
        assert_eq!(factor.path(&matrix, &answer).unwrap().stop, Stop::Finished);
    }

    #[test]
    fn an_even_fall_has_no_elbow() {
        let point = |k: usize| RankPoint {
            rank: k,
            hott: (0..k).collect(),
            errors: Errors { inf1: 1.0, mean_l1: 1.0 - 0.1 * k as f64, rmse: 0.0, per_row: vec![] },
            lower_bound: None,
        };
        let points: Vec<RankPoint> = (1..=8).map(point).collect();
        let (rank, reason) = suggest(&points[5..], Objective::Mean);
        assert!(rank == 8 && reason.contains("stopped early"), "{reason}");
        let (rank, reason) = suggest(&points, Objective::Mean);
        assert!(rank == 8 && reason.contains("no number of rows stands out"), "{reason}");
    }

    #[test]
    fn approximate_cleaning_has_no_path() {
        let recipe = Recipe::new(Family::Paper, 3).size(12, 40);
        let matrix = recipe.generate().unwrap().matrix;
        let factor = Factor::new(3).method(Method::Spa).cleaning(Cleaning::LeastSquares);
        let answer = factor.run(&matrix).unwrap();
        assert!(matches!(factor.path(&matrix, &answer), Err(Error::Setting { name: "path", .. })));
    }
}
