//! The steps: when to look, when to begin anew, when to end.

use super::caps::CapGuide;
use super::columns::top;
use super::iterate::{Iterate, Play, Point};
use super::{FirstOrderOutcome, FirstOrderSettings, Weights};
use crate::control::{Control, Progress, Stage, Stop};
use crate::normalise::UnitRows;
use rayon::prelude::*;
use std::borrow::Cow;

/// Steps between two looks at what the point is worth, with a pricing of all columns. The first comes early: columns
/// that are missed on a sample of the rows are worth more than steps without them.
const LOOK_EVERY: usize = 20;
const FIRST_LOOK: usize = 10;
/// The primal weight w to begin with is this over the number of rows, within the range. Of 0.02 to 0.3, larger ones
/// proved most on few words and smaller ones on many (250 to 2,031); a scene of 1,008 pixels hardly cared.
const WEIGHT_OF_ROWS: f32 = 50.0;
const FIRST_WEIGHTS: std::ops::RangeInclusive<f32> = 0.01..=0.2;
/// Steps and flops after which a bound that is still below zero is given up, as it is after as many flops on
/// a sample of the rows: where errors are small and rows nearly dependent (spectra), thousands of steps
/// would be needed.
const HOPELESS_STEPS: usize = 60;
const HOPELESS_WORK: f64 = 2e10;

/// See [`first_order`](super::first_order).
pub(super) fn run(
    x: &UnitRows,
    rank: usize,
    candidates: Vec<usize>,
    settings: &FirstOrderSettings,
    control: &Control,
) -> Option<FirstOrderOutcome> {
    let dense = dense(x, control)?;
    let (lambdas, scale) = match settings.weights {
        Weights::Free => lambdas(x),
        Weights::UpToDiagonal => (Vec::new(), 1.0),
    };
    let settings =
        &FirstOrderSettings { at_hand: settings.at_hand.map(|sum| sum * scale), ..*settings };
    let targets = targets(x, &dense, &lambdas);
    let guide = (settings.weights == Weights::Free).then(|| CapGuide::new(&dense, x.examples()));
    let (n, guide) = (x.examples(), guide.as_ref());
    let (candidates, rows) = (&candidates[..], &dense[..]);
    let problem = Problem {
        x: &targets,
        rows,
        unit: x,
        lambdas,
        scale,
        n,
        rank,
        candidates,
        guide,
        settings,
        control,
    };
    let (columns, work) = problem.first_columns()?;
    let all: Vec<usize> = (0..x.features()).collect();
    let play = problem.play(&targets, &all, columns)?;
    let start = problem.start(&play);
    Some(problem.solve(play, start, work))
}

/// X in single precision, f x n.
fn dense(x: &UnitRows, control: &Control) -> Option<Vec<f32>> {
    let n = x.examples();
    let mut out = vec![0.0f32; x.features() * n];
    let done = out.par_chunks_mut(n).enumerate().all(|(i, out)| {
        x.row(i).nonzeros().for_each(|(k, value)| out[k] = value as f32);
        control.goes_on()
    });
    done.then_some(out)
}

/// How much each row of X counts, over the largest of these, and one over that: its weight, over the share of the row that
/// was observed. Empty where all count the same.
fn lambdas(x: &UnitRows) -> (Vec<f32>, f64) {
    if x.weights().is_empty() && !x.has_gaps() {
        return (Vec::new(), 1.0);
    }
    let counts: Vec<f64> = (0..x.features()).map(|i| x.weight(i) / x.share(i)).collect();
    let scale = 1.0 / counts.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    (counts.iter().map(|count| (count * scale) as f32).collect(), scale)
}

/// X, f x n, with zeros where entries were not observed, rows times what they count.
fn targets<'a>(x: &UnitRows, dense: &'a [f32], lambdas: &[f32]) -> Cow<'a, [f32]> {
    if lambdas.is_empty() {
        return Cow::Borrowed(dense);
    }
    let mut targets = dense.to_vec();
    for ((i, row), lambda) in targets.chunks_exact_mut(x.examples()).enumerate().zip(lambdas) {
        row.iter_mut().for_each(|v| *v *= lambda);
        x.gaps(i).iter().for_each(|&k| row[k as usize] = 0.0);
    }
    Cow::Owned(targets)
}

/// What is solved, and how far.
pub(super) struct Problem<'a> {
    /// The rows to explain, f x n: X times lambda, with zeros where entries were not observed.
    pub x: &'a [f32],
    /// The rows that explain them: X.
    rows: &'a [f32],
    unit: &'a UnitRows,
    /// How much rows count, see [`Play::lambdas`], and what that was divided by.
    pub lambdas: Vec<f32>,
    scale: f64,
    pub n: usize,
    pub rank: usize,
    /// Rows that may be hott, increasing.
    pub candidates: &'a [usize],
    /// Where caps come from; `None` where all are one.
    pub guide: Option<&'a CapGuide>,
    settings: &'a FirstOrderSettings,
    pub control: &'a Control,
}

/// The best that was found so far.
struct Best {
    objective: f64,
    columns: Vec<usize>,
    point: Point,
    lower_bound: f64,
    dual: Vec<f32>,
}

impl<'a> Problem<'a> {
    fn row(&self, i: usize) -> &[f32] {
        &self.rows[i * self.n..][..self.n]
    }

    /// Rows of X as atoms.
    pub fn gather(&self, rows: &[usize]) -> Vec<f32> {
        rows.iter().flat_map(|&i| self.row(i)).copied().collect()
    }

    /// Rows that are to be explained.
    pub fn targets(&self, rows: &[usize]) -> Vec<f32> {
        rows.iter().flat_map(|&i| &self.x[i * self.n..][..self.n]).copied().collect()
    }

    /// The rows `explained` of X, which are those of `x`, with the given columns in play.
    pub fn play<'b>(
        &self,
        x: &'b [f32],
        explained: &[usize],
        columns: Vec<usize>,
    ) -> Option<Play<'b>>
    where
        'a: 'b,
    {
        let gaps = match self.unit.has_gaps() {
            true => explained.iter().map(|&i| self.unit.gaps(i)).collect(),
            false => Vec::new(),
        };
        let lambdas = match self.lambdas.is_empty() {
            true => Vec::new(),
            false => explained.iter().map(|&i| self.lambdas[i]).collect(),
        };
        let own = columns.iter().map(|j| explained.binary_search(j).ok()).collect::<Vec<_>>();
        let atoms = self.gather(&columns);
        let caps = self.caps(explained.par_iter().copied(), &columns)?;
        Some(Play { x, n: self.n, rank: self.rank, columns, own, atoms, caps, lambdas, gaps })
    }

    /// The caps of some rows of X for the columns `atoms`, row-major.
    pub fn caps(
        &self,
        rows: impl IndexedParallelIterator<Item = usize>,
        atoms: &[usize],
    ) -> Option<Vec<f32>> {
        match self.guide {
            None => Some(vec![1.0; rows.len() * atoms.len()]),
            Some(guide) => guide.caps(rows, atoms, self.control),
        }
    }

    /// The same for all rows of X.
    pub fn all_caps(&self, atoms: &[usize]) -> Option<Vec<f32>> {
        self.caps((0..self.x.len() / self.n).into_par_iter(), atoms)
    }

    /// Equal levels, nothing explained, Y = 0.
    pub fn start(&self, play: &Play<'_>) -> Point {
        let (f, m) = (play.rows(), play.columns.len());
        let d = vec![self.rank as f32 / m as f32; m];
        let mut c = vec![0.0; f * m];
        super::iterate::put_levels(&mut c, &d, &play.own);
        Point { c, d, y: vec![0.0; play.x.len()] }
    }

    /// The primal weight to begin with.
    pub fn first_weight(&self) -> f32 {
        let rows = (self.x.len() / self.n) as f32;
        (WEIGHT_OF_ROWS / rows).clamp(*FIRST_WEIGHTS.start(), *FIRST_WEIGHTS.end())
    }

    /// Whether a bound that is about a choice at hand is given up after this much work.
    pub fn is_hopeless(&self, bound: f64, work: f64) -> bool {
        self.settings.at_hand.is_some() && bound <= 0.0 && work >= HOPELESS_WORK
    }

    fn solve<'b>(&self, mut play: Play<'b>, start: Point, mut work: f64) -> FirstOrderOutcome {
        let mut iterate = Iterate::new(&play, start, self.first_weight());
        let mut best: Option<Best> = None;
        let mut steps = 0;
        let mut last_gap = f64::INFINITY;
        while self.control.goes_on() && iterate.step(&play, self.control) {
            steps += 1;
            work += play.work();
            let last = steps >= self.settings.steps || work + play.work() > self.settings.work;
            if steps % LOOK_EVERY != 0 && steps != FIRST_LOOK && !last {
                continue;
            }
            let Some(look) = iterate.look(&play, self.control) else { break };
            work += play.work();
            let in_play = look.product - top(&look.prices, self.rank);
            let gap = look.error - in_play;
            let mut outside = Vec::new();
            if play.columns.len() < self.candidates.len() {
                let Some(found) = self.price(&play, &iterate.feasible.y, &look) else { break };
                outside = found;
                work += 2.0 * self.x.len() as f64 * self.candidates.len() as f64;
            }
            let prices = look.prices.iter().chain(outside.iter().map(|(_, price)| price));
            let bound = look.product - top(&prices.copied().collect::<Vec<_>>(), self.rank);
            keep(&mut best, &play, &iterate.feasible, look.error, bound);
            let known = best.as_ref().expect("just kept");
            self.report(steps, known);
            let enough = self.settings.is_enough(known.objective, known.lower_bound);
            let hopeless = steps >= HOPELESS_STEPS && self.is_hopeless(in_play, work);
            if last || enough || hopeless {
                break;
            }
            let shrunk = gap < 0.4 * last_gap && last_gap.is_finite();
            let old = gap < 0.8 * last_gap && iterate.age() as f64 > 0.36 * steps as f64;
            if let Some(columns) = self.changed(&play, &iterate.feasible, &look, outside) {
                let Some((next, point)) = self.change(&play, &iterate.feasible, columns) else {
                    break;
                };
                play = next;
                iterate = Iterate::new(&play, point, iterate.weight());
                last_gap = gap;
            } else if last_gap.is_infinite() {
                last_gap = gap;
            } else if shrunk || old {
                iterate.restart();
                last_gap = gap;
            }
        }
        self.outcome(best, &play, iterate, steps)
    }

    fn report(&self, steps: usize, best: &Best) {
        let mean = |sum: f64| sum / self.scale * self.n as f64 / self.x.len() as f64;
        self.control.report(&Progress {
            stage: Stage::Localise,
            task: "bound",
            done: steps,
            total: Some(self.settings.steps),
            figure: Some(("relaxed error", mean(best.objective))),
            bound: best.lower_bound.is_finite().then(|| mean(best.lower_bound)),
        });
    }

    fn outcome(
        &self,
        best: Option<Best>,
        play: &Play<'_>,
        iterate: Iterate,
        steps: usize,
    ) -> FirstOrderOutcome {
        let stop = match self.control.cut_short() {
            Some(stop) if steps < self.settings.steps => stop,
            _ => Stop::Finished,
        };
        let f = self.x.len() / self.n;
        let best = best.unwrap_or_else(|| Best {
            objective: f64::INFINITY,
            columns: play.columns.clone(),
            dual: vec![0.0; self.x.len()],
            point: iterate.feasible,
            lower_bound: f64::NEG_INFINITY,
        });
        let levels = with_trace(&best.point.d, self.rank);
        let m = levels.len();
        let mut diagonal = vec![0.0; f];
        best.columns.iter().zip(&levels).for_each(|(&j, level)| diagonal[j] = *level);
        let localising = best.point.c.chunks_exact(m).enumerate().map(|(i, row)| {
            let entry = |q: usize| match best.columns[q] {
                j if j == i => levels[q],
                _ => f64::from(row[q]).max(0.0).min(self.most(levels[q])),
            };
            let entries = (0..m).map(|q| (best.columns[q] as u32, entry(q)));
            entries.filter(|(_, weight)| *weight > 0.0).collect()
        });
        FirstOrderOutcome {
            localising: localising.collect(),
            diagonal,
            dual: best.dual,
            objective: best.objective,
            lower_bound: best.lower_bound,
            steps,
            stop,
        }
    }

    /// The weight that a level allows at most, caps apart.
    fn most(&self, level: f64) -> f64 {
        match self.settings.weights {
            Weights::UpToDiagonal => level,
            Weights::Free => 2.0 * level,
        }
    }
}

/// Keeps what is better than before.
fn keep(best: &mut Option<Best>, play: &Play<'_>, point: &Point, error: f64, bound: f64) {
    let Some(known) = best else {
        let (columns, dual) = (play.columns.clone(), point.y.clone());
        let point = point.clone();
        *best = Some(Best { objective: error, columns, point, lower_bound: bound, dual });
        return;
    };
    if error < known.objective {
        (known.objective, known.columns) = (error, play.columns.clone());
        known.point.c.clone_from(&point.c);
        known.point.d.clone_from(&point.d);
    }
    if bound > known.lower_bound {
        known.lower_bound = bound;
        known.dual.clone_from(&point.y);
    }
}

/// Levels in double precision that sum to the rank: scaled down, or raised where there is room.
fn with_trace(levels: &[f32], rank: usize) -> Vec<f64> {
    let mut levels: Vec<f64> = levels.iter().map(|l| f64::from(*l).clamp(0.0, 1.0)).collect();
    let (sum, rank) = (levels.iter().sum::<f64>(), rank as f64);
    if sum > rank {
        levels.iter_mut().for_each(|l| *l *= rank / sum);
    } else {
        let room = levels.len() as f64 - sum;
        let share = if room > 0.0 { (rank - sum) / room } else { 0.0 };
        levels.iter_mut().for_each(|l| *l += share * (1.0 - *l));
    }
    levels
}
