//! The steps: when to look, when to begin anew, when to end.

use super::caps::CapGuide;
use super::columns::{positions, spread, top};
use super::iterate::{Iterate, Play, Point, put_levels};
use super::{FirstOrderOutcome, FirstOrderSettings, Weights};
use crate::control::{Control, Progress, Stage, Stop};
use crate::kernels::parallel::*;
use crate::normalise::UnitRows;
use std::borrow::Cow;

/// Steps between two looks at what the point is worth, with a pricing of all columns. The first comes early, and so do
/// those on a part of the rows: columns that are missed are worth more than steps without them.
const LOOK_EVERY: usize = 20;
const FIRST_LOOK: usize = 10;
/// The primal weight w to begin with is this over the number of rows, within the range: of 0.02 to 0.2, larger ones
/// proved most on few words and smaller ones on many (185 to 5,829).
const WEIGHT_OF_ROWS: f32 = 100.0;
const FIRST_WEIGHTS: std::ops::RangeInclusive<f32> = 0.05..=0.2;
/// Steps and flops after which a bound that is still below zero is given up, as it is after as many flops on
/// a sample of the rows: where errors are small and rows nearly dependent (spectra), thousands of steps
/// would be needed.
const HOPELESS_STEPS: usize = 60;
const HOPELESS_WORK: f64 = 2e10;

/// Where a step over all rows takes more flops than this, one row in this many, if that makes at least this many, is taken
/// first for some steps: the levels and the columns in play are nearly those of all rows, and found at that
/// part of the cost.
const PART_PAYS: f64 = 2e9;
const PART: usize = 8;
const LEAST_PART: usize = 256;
const PART_STEPS: usize = 40;

/// See [`first_order`](super::first_order).
pub(super) fn run(
    x: &UnitRows,
    rank: usize,
    candidates: Vec<usize>,
    settings: &FirstOrderSettings,
    control: &Control,
) -> Option<FirstOrderOutcome> {
    let dense = dense(x, control)?;
    let (lambdas, scale) = lambdas(x);
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
    let (columns, mut work) = problem.first_columns()?;
    let all: Vec<usize> = (0..x.features()).collect();
    let (play, start) = problem.begin(&targets, &all, columns, &mut work)?;
    let mut run = Run::new(&problem, play, start, settings.steps, work)?;
    run.go();
    Some(run.outcome())
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

/// How much each row of X counts (its weight, over the share of the row that was observed), over the largest of these,
/// and one over that. Empty where all count the same.
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
    /// How much rows count, see [`Play::lambdas`], and what that was multiplied by.
    lambdas: Vec<f32>,
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
    /// Rows of X as atoms.
    pub fn gather(&self, rows: &[usize]) -> Vec<f32> {
        rows.iter().flat_map(|&i| &self.rows[i * self.n..][..self.n]).copied().collect()
    }

    /// Rows that are to be explained.
    pub fn targets(&self, rows: &[usize]) -> Vec<f32> {
        rows.iter().flat_map(|&i| &self.x[i * self.n..][..self.n]).copied().collect()
    }

    /// How much some rows count; empty where all count the same.
    pub fn counts(&self, rows: &[usize]) -> Vec<f32> {
        match self.lambdas.is_empty() {
            true => Vec::new(),
            false => rows.iter().map(|&i| self.lambdas[i]).collect(),
        }
    }

    /// The rows `explained` of X, which are those of `x`, with the given columns in play.
    pub fn play<'b>(
        &self,
        x: &'b [f32],
        explained: &'b [usize],
        columns: Vec<usize>,
    ) -> Option<Play<'b>>
    where
        'a: 'b,
    {
        let gaps = match self.unit.has_gaps() {
            true => explained.iter().map(|&i| self.unit.gaps(i)).collect(),
            false => Vec::new(),
        };
        let lambdas = self.counts(explained);
        let own = positions(&columns, explained);
        let atoms = self.gather(&columns);
        let caps = self.caps(explained.par_iter().copied(), &columns)?;
        let (n, rank) = (self.n, self.rank);
        Some(Play { x, n, explained, rank, columns, own, atoms, caps, lambdas, gaps })
    }

    /// The caps of some rows of X for the columns `atoms`, row-major.
    pub fn caps(&self, rows: impl Parallel<Item = usize>, atoms: &[usize]) -> Option<Vec<f32>> {
        match self.guide {
            None => Some(vec![1.0; rows.len() * atoms.len()]),
            Some(guide) => guide.caps(rows, atoms, self.control),
        }
    }

    /// Equal levels, nothing explained, Y = 0.
    pub fn start(&self, play: &Play<'_>) -> Point {
        let (f, m) = (play.rows(), play.columns.len());
        let d = vec![self.rank as f32 / m as f32; m];
        let mut c = vec![0.0; f * m];
        put_levels(&mut c, &d, &play.own);
        Point { c, d, y: vec![0.0; play.x.len()] }
    }

    /// The primal weight to begin with.
    pub fn first_weight(&self) -> f32 {
        let rows = self.x.len() / self.n;
        (WEIGHT_OF_ROWS / rows as f32).clamp(*FIRST_WEIGHTS.start(), *FIRST_WEIGHTS.end())
    }

    /// Whether a bound that is about a choice at hand is given up after this much work.
    pub fn is_hopeless(&self, bound: f64, work: f64) -> bool {
        self.settings.at_hand.is_some() && bound <= 0.0 && work >= HOPELESS_WORK
    }

    /// All rows in play and a point to begin with, where it pays that of a run on a part of the rows; the flops
    /// of that are added to `work`. `None` when stopped, and where what the part proves is not worth going on.
    fn begin<'b>(
        &self,
        x: &'b [f32],
        all: &'b [usize],
        columns: Vec<usize>,
        work: &mut f64,
    ) -> Option<(Play<'b>, Point)>
    where
        'a: 'b,
    {
        let step = 4.0 * x.len() as f64 * columns.len() as f64;
        if step < PART_PAYS || all.len() < PART * LEAST_PART {
            let play = self.play(x, all, columns)?;
            let start = self.start(&play);
            return Some((play, start));
        }
        let part = spread(all.len(), all.len() / PART);
        let rows = self.targets(&part);
        let play = self.play(&rows, &part, columns)?;
        let start = self.start(&play);
        let mut run = Run::new(self, play, start, PART_STEPS, *work)?;
        run.go();
        *work = run.work;
        let bound = run.best.as_ref().map_or(f64::NEG_INFINITY, |best| best.lower_bound);
        if !self.control.goes_on() || self.is_hopeless(bound, *work) {
            return None;
        }
        self.extended(&run, x, all)
    }

    /// The point of a run on a part of the rows as a start for all of them: the same levels, and where a
    /// row was not in the part, nothing explained.
    fn extended<'b>(
        &self,
        part: &Run<'_, '_>,
        x: &'b [f32],
        all: &'b [usize],
    ) -> Option<(Play<'b>, Point)>
    where
        'a: 'b,
    {
        let (n, m) = (self.n, part.play.columns.len());
        let play = self.play(x, all, part.play.columns.clone())?;
        let found = &part.iterate.feasible;
        let mut point = Point { d: found.d.clone(), ..self.start(&play) };
        for (k, &i) in part.play.explained.iter().enumerate() {
            point.c[i * m..][..m].copy_from_slice(&found.c[k * m..][..m]);
            point.y[i * n..][..n].copy_from_slice(&found.y[k * n..][..n]);
        }
        put_levels(&mut point.c, &point.d, &play.own);
        Some((play, point))
    }

    /// The weight that a level allows at most, caps apart.
    fn most(&self, level: f64) -> f64 {
        match self.settings.weights {
            Weights::UpToDiagonal => level,
            Weights::Free => 2.0 * level,
        }
    }
}

/// The iteration on the rows and columns in play, and the best that came of it.
struct Run<'a, 'b> {
    problem: &'a Problem<'a>,
    play: Play<'b>,
    iterate: Iterate,
    best: Option<Best>,
    steps: usize,
    most_steps: usize,
    work: f64,
    last_gap: f64,
}

impl<'a, 'b> Run<'a, 'b> {
    fn new(
        problem: &'a Problem<'a>,
        play: Play<'b>,
        start: Point,
        most_steps: usize,
        work: f64,
    ) -> Option<Self> {
        let weight = problem.first_weight();
        let iterate = Iterate::new(&play, start, weight, problem.control)?;
        let last_gap = f64::INFINITY;
        Some(Run { problem, play, iterate, best: None, steps: 0, most_steps, work, last_gap })
    }

    /// Steps until there is enough, or something limits them.
    fn go(&mut self) {
        let Problem { settings, control, .. } = *self.problem;
        while control.goes_on() && self.iterate.step(&self.play, control) {
            self.steps += 1;
            self.work += self.play.work();
            let last =
                self.steps >= self.most_steps || self.work + self.play.work() > settings.work;
            let every = if self.is_whole() { LOOK_EVERY } else { FIRST_LOOK };
            let due = self.steps.is_multiple_of(every) || self.steps == FIRST_LOOK || last;
            if due && (self.look(last).is_none() || last) {
                break;
            }
        }
    }

    /// Looks at what the point is worth and changes columns or begins anew where that pays; `None` when
    /// there is enough, or no hope, or it was stopped.
    fn look(&mut self, last: bool) -> Option<()> {
        let Problem { settings, control, rank, .. } = *self.problem;
        let look = self.iterate.look(&self.play, control)?;
        self.work += self.play.work();
        let in_play = look.product - top(&look.prices, rank);
        let gap = look.error - in_play;
        let mut outside = Vec::new();
        if self.play.columns.len() < self.problem.candidates.len() {
            let (found, work) = self.problem.price(&self.play, &self.iterate.feasible.y, &look)?;
            outside = found;
            self.work += work;
        }
        let prices = look.prices.iter().chain(outside.iter().map(|(_, price)| price));
        let bound = look.product - top(&prices.copied().collect::<Vec<_>>(), rank);
        keep(&mut self.best, &self.play, &self.iterate.feasible, look.error, bound);
        let known = self.best.as_ref().expect("just kept");
        self.report(known);
        let enough = self.is_whole() && settings.is_enough(known.objective, known.lower_bound);
        let hopeless = self.steps >= HOPELESS_STEPS && self.problem.is_hopeless(in_play, self.work);
        if last || enough || hopeless {
            return None;
        }
        let known_gap = self.last_gap.is_finite();
        let shrunk = known_gap && gap < 0.4 * self.last_gap;
        let old = gap < 0.8 * self.last_gap && self.iterate.age() as f64 > 0.36 * self.steps as f64;
        let point = &self.iterate.feasible;
        if let Some(columns) = self.problem.changed(&self.play, point, &look, outside) {
            let play = self.problem.change(&self.play, columns)?;
            let before = std::mem::replace(&mut self.play, play).columns;
            if !self.iterate.change(&before, &self.play, control) {
                return None;
            }
        }
        if !known_gap {
            self.last_gap = gap;
        } else if shrunk || old {
            self.iterate.restart();
            self.last_gap = gap;
        }
        Some(())
    }

    /// Whether all rows are in it.
    fn is_whole(&self) -> bool {
        self.play.x.len() == self.problem.x.len()
    }

    /// Says how far it is; what a part of the rows says is no bound.
    fn report(&self, best: &Best) {
        let mean = |sum: f64| sum / self.problem.scale / self.play.rows() as f64;
        let known = self.is_whole() && best.lower_bound.is_finite();
        self.problem.control.report(&Progress {
            stage: Stage::Localise,
            task: "bound",
            done: self.steps,
            total: Some(self.most_steps),
            figure: Some(("relaxed error", mean(best.objective))),
            bound: known.then(|| mean(best.lower_bound)),
        });
    }

    fn outcome(self) -> FirstOrderOutcome {
        let Run { problem, play, iterate, best, steps, most_steps, .. } = self;
        let stop = match problem.control.cut_short() {
            Some(stop) if steps < most_steps => stop,
            _ => Stop::Finished,
        };
        let f = play.rows();
        let best = best.unwrap_or_else(|| Best {
            objective: f64::INFINITY,
            dual: vec![0.0; play.x.len()],
            columns: play.columns,
            point: iterate.feasible,
            lower_bound: f64::NEG_INFINITY,
        });
        let levels = with_trace(&best.point.d, problem.rank);
        let m = levels.len();
        let mut diagonal = vec![0.0; f];
        best.columns.iter().zip(&levels).for_each(|(&j, level)| diagonal[j] = *level);
        let localising = best.point.c.chunks_exact(m).enumerate().map(|(i, row)| {
            let entry = |q: usize| match best.columns[q] {
                j if j == i => levels[q],
                _ => f64::from(row[q]).max(0.0).min(problem.most(levels[q])),
            };
            let entries = (0..m).map(|q| (best.columns[q] as u32, entry(q)));
            entries.filter(|(_, weight)| *weight > 0.0).collect()
        });
        FirstOrderOutcome {
            localising: localising.collect(),
            diagonal,
            dual: best.dual,
            objective: best.objective / problem.scale,
            lower_bound: best.lower_bound / problem.scale,
            steps,
            stop,
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
