//! The cutting plane loop: master, oracle, bounds, and when to stop.

use super::cuts::{Pool, least};
use super::master::{Master, Outcome, Row};
use super::oracle::Oracle;
use super::{LpOutcome, LpSettings, LpStatus};
use crate::Goal;
use crate::control::{Control, Progress, Stage, Stop};
use crate::kernels::{axpy, dot};
use crate::localise::greedy::spa_controlled;
use crate::normalise::UnitRows;
use crate::squares::least_squares;
use rayon::prelude::*;

/// By how much a row may miss more than tau and still count as explained: rounding.
const FEASIBLE: f64 = 5e-10;
/// By how much a row of the final point may miss more than tau: as much as the verifier accepts.
const EXCESS: f64 = 1e-9;
/// Rounds after which the search gives up; far above what any instance has needed.
const ROUNDS: usize = 500;
/// Rounds without progress after which it gives up: rounding is all that is left.
const IDLE: usize = 25;
/// How often a master that got stuck begins anew.
const RESTARTS: u64 = 2;
/// Progress is a fall of the gap by this share.
const PROGRESS: f64 = 1e-6;
/// Where `cost` asks the oracle: this share of the way from the master's point to the best one.
const INSIDE: f64 = 0.6;
/// Rows beyond the rank that the greedy method brings into play.
const FURTHER: usize = 50;
/// The gap at which the first stage ends while columns are left out, and how it falls from stage
/// to stage.
const FIRST_STAGE: f64 = 0.1;
const STAGE: f64 = 0.3;
/// Of the time that is left, rounds may take this share; the rest is for pricing and measuring.
const ROUNDS_SHARE: f64 = 0.85;
/// Cuts that were not tight for this many rounds are left out of the master program.
const IDLE_ROUNDS: u32 = 6;

/// A diagonal with weights that keep to it.
#[derive(Debug, Clone)]
struct Point {
    d: Vec<f64>,
    /// By row of X: (column in play, weight).
    weights: Vec<Vec<(u32, f64)>>,
    /// What each row misses at most.
    values: Vec<f64>,
}

impl Point {
    /// The oracle's weights, cut down to d.
    fn new(oracle: &Oracle<'_>, d: Vec<f64>) -> Self {
        let rows = oracle.rows();
        let clipped = |i: usize| {
            let weights = oracle.row(i).weights.iter().map(|&(j, c)| (j, c.min(d[j as usize])));
            weights.filter(|w| w.1 > 0.0).collect()
        };
        Point {
            weights: (0..rows).map(clipped).collect(),
            values: (0..rows).map(|i| oracle.ceiling(i, &d)).collect(),
            d,
        }
    }

    fn worst(&self) -> f64 {
        self.values.iter().copied().fold(0.0, f64::max)
    }

    /// `(1 - s) self + s other`: by convexity it misses no more than the mixture of what both miss.
    fn mix(&self, other: &Point, s: f64) -> Point {
        let mixed = |a: &[f64], b: &[f64]| -> Vec<f64> {
            a.iter().zip(b).map(|(a, b)| (1.0 - s) * a + s * b).collect()
        };
        let merge = |a: &Vec<(u32, f64)>, b: &Vec<(u32, f64)>| {
            let mut sum = std::collections::BTreeMap::new();
            a.iter().for_each(|&(j, c)| *sum.entry(j).or_insert(0.0) += (1.0 - s) * c);
            b.iter().for_each(|&(j, c)| *sum.entry(j).or_insert(0.0) += s * c);
            sum.into_iter().collect()
        };
        Point {
            d: mixed(&self.d, &other.d),
            weights: self.weights.iter().zip(&other.weights).map(|(a, b)| merge(a, b)).collect(),
            values: mixed(&self.values, &other.values),
        }
    }
}

/// One program under way.
struct Search<'a> {
    x: &'a UnitRows,
    rank: usize,
    trace: Option<usize>,
    gap: f64,
    /// For the rounds, and for all of it.
    control: Control,
    whole: &'a Control,
    oracle: Oracle<'a>,
    /// Rows that may be hott but are not in play.
    closed: Vec<usize>,
    /// A point within tau, with room to spare, to mix others with.
    anchor: Option<Point>,
    pool: Pool,
    rounds: usize,
}

/// Counts rounds that brought nothing.
struct Patience {
    gap: f64,
    idle: usize,
}

impl Patience {
    fn new() -> Self {
        Patience { gap: f64::INFINITY, idle: 0 }
    }

    /// Looks at the gap after a round; true when there was no progress for [`IDLE`] rounds.
    fn is_over(&mut self, at: &Progressed) -> bool {
        let gap = at.upper - at.lower;
        if gap < self.gap * (1.0 - PROGRESS) || self.gap.is_infinite() {
            (self.gap, self.idle) = (gap, 0);
        } else {
            self.idle += 1;
        }
        self.idle >= IDLE
    }
}

/// Where the minimisation of one goal stands.
struct Progressed {
    /// What bound and multipliers speak of: minimax, where no point within tau was found.
    goal: Goal,
    best: Option<Point>,
    upper: f64,
    lower: f64,
    multipliers: Vec<(usize, f64)>,
    /// Whether the cuts cannot hold together.
    infeasible: bool,
    stop: Stop,
}

pub(super) fn run(
    x: &UnitRows,
    rank: usize,
    columns: Vec<usize>,
    settings: &LpSettings,
    whole: &Control,
) -> LpOutcome {
    let cost = cost(x, settings);
    let mut allowed = vec![false; x.features()];
    columns.iter().for_each(|&j| allowed[j] = true);
    let control = whole.for_share(ROUNDS_SHARE);
    let (mut start, columns, closed) =
        in_play(x, rank, &allowed, &cost, settings.all_in_play, &control);
    start.truncate(rank);
    let oracle = Oracle::new(x, columns, &control);
    let mut search = Search {
        x,
        rank,
        trace: settings.trace.then_some(rank),
        gap: settings.gap(),
        control,
        whole,
        oracle,
        closed,
        anchor: None,
        pool: Pool::default(),
        rounds: 0,
    };
    let first = search.start(&start);
    let result = search.run(settings.goal, first, &cost);
    search.finish(settings, cost, result)
}

/// Which rows come into play at first (greedy order, columns of C, and those left out): all
/// if there are no more than `most`.
fn in_play(
    x: &UnitRows,
    rank: usize,
    allowed: &[bool],
    cost: &[f64],
    most: usize,
    control: &Control,
) -> (Vec<usize>, Vec<usize>, Vec<usize>) {
    let candidates: Vec<usize> = (0..allowed.len()).filter(|&j| allowed[j]).collect();
    let greedy = |count: usize| {
        let mut rows = spa_controlled(x, None, count, allowed, control).rows;
        // Stopped: any rows will do.
        let others: Vec<usize> = candidates
            .iter()
            .copied()
            .filter(|j| !rows.contains(j))
            .take(count - rows.len())
            .collect();
        rows.extend(others);
        rows
    };
    if candidates.len() <= most.max(rank) {
        return (greedy(rank), candidates, Vec::new());
    }
    let greedy = greedy((rank + FURTHER).min(candidates.len()));
    let mut play = vec![false; allowed.len()];
    greedy.iter().for_each(|&j| play[j] = true);
    if cost.iter().any(|c| *c != 0.0) {
        let mut cheapest = candidates.clone();
        cheapest.sort_by(|&a, &b| cost[a].total_cmp(&cost[b]).then(a.cmp(&b)));
        cheapest[..(2 * rank).min(candidates.len())].iter().for_each(|&j| play[j] = true);
    }
    let (open, closed) = candidates.into_iter().partition(|&j| play[j]);
    (greedy, open, closed)
}

/// The cost p by row of X; zeros where the goal has none.
fn cost(x: &UnitRows, settings: &LpSettings) -> Vec<f64> {
    if !matches!(settings.goal, Goal::Cost { .. }) {
        return vec![0.0; x.features()];
    }
    if let Some(cost) = &settings.cost {
        return cost.clone();
    }
    let square = |i| x.row(i).squared_norm();
    let squares: Vec<f64> = (0..x.features()).map(square).collect();
    if settings.trace {
        return squares.iter().map(|s| -s).collect();
    }
    let largest = squares.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    squares.iter().map(|s| 1.0 + 1e-3 * (1.0 - s / largest)).collect()
}

impl Search<'_> {
    /// Minimises over the columns in play, prices those left out with the multipliers, and brings
    /// in what pays, until nothing does. While columns are left out there is no use in going to the
    /// last digit: each stage ends at a part of the gap of the one before.
    fn run(&mut self, goal: Goal, first: Point, cost: &[f64]) -> Progressed {
        let mut start = first;
        let wanted = self.gap;
        let mut open_gap = FIRST_STAGE;
        let mut kept: Option<Progressed> = None;
        loop {
            self.gap = if self.closed.is_empty() { wanted } else { open_gap.max(wanted) };
            let mut at = match goal {
                Goal::Cost { tau } => self.minimise_cost(start.clone(), tau, cost),
                goal => self.minimise(goal, start.clone(), f64::NEG_INFINITY),
            };
            // A later stage need not find a better point than an earlier one.
            if let Some(earlier) = kept.take() {
                at.take_point(earlier, self.oracle.columns().len());
            }
            if self.closed.is_empty() {
                self.gap = wanted;
                return at;
            }
            let Some((bound, paying)) = self.price_closed(&at, cost) else {
                // What was proven is about the columns in play alone.
                self.gap = wanted;
                let lower = self.trivial_bound(goal, cost);
                let (multipliers, stop) = (Vec::new(), self.why());
                return Progressed { lower, multipliers, infeasible: false, stop, ..at };
            };
            at.lower = bound;
            at.infeasible &= matches!(goal, Goal::Cost { tau } if bound > tau + FEASIBLE);
            let gap = at.gap(self.floor(goal, cost));
            let reached = at.upper.is_finite() && gap <= wanted;
            let stuck = paying.is_empty() && self.gap <= wanted;
            if reached || stuck || at.infeasible || at.stop != Stop::Finished {
                self.gap = wanted;
                return at;
            }
            open_gap = STAGE * gap.min(open_gap);
            if !paying.is_empty() && !self.bring_in(&paying) {
                self.gap = wanted;
                return Progressed { stop: self.why(), ..at };
            }
            if !matches!(goal, Goal::Cost { .. }) || at.upper.is_infinite() {
                start = at.best.clone().unwrap_or(start);
            }
            start.d.resize(self.oracle.columns().len(), 0.0);
            kept = Some(at);
        }
    }

    /// Why something was left undone.
    fn why(&self) -> Stop {
        self.control.stopped().unwrap_or(Stop::Interrupted)
    }

    /// What holds of every point without any cut.
    fn trivial_bound(&self, goal: Goal, cost: &[f64]) -> f64 {
        match goal {
            Goal::Cost { .. } => {
                let open = self.oracle.columns().iter().chain(&self.closed);
                least(&mut open.map(|&j| cost[j]).collect::<Vec<_>>(), self.trace)
            }
            _ => 0.0,
        }
    }

    /// What the multipliers prove when all rows that may be hott count, and the rows left out that
    /// would lower the bound, the most promising first; `None` when stopped. O(cuts * entries of X
    /// left out).
    fn price_closed(&self, at: &Progressed, cost: &[f64]) -> Option<(f64, Vec<usize>)> {
        let tau = if let Goal::Cost { tau } = at.goal { tau } else { 0.0 };
        let price = |j: usize| if matches!(at.goal, Goal::Cost { .. }) { cost[j] } else { 0.0 };
        let labels: Vec<usize> = at.multipliers.iter().map(|m| m.0).collect();
        let control = self.whole.to_finish();
        let prices = self.pool.price(self.x, &self.closed, &labels, &control)?;
        let mut open: Vec<f64> = self.oracle.columns().iter().map(|&j| price(j)).collect();
        let mut closed: Vec<f64> = self.closed.iter().map(|&j| price(j)).collect();
        let mut value = 0.0;
        for (&(label, multiplier), prices) in at.multipliers.iter().zip(&prices) {
            let cut = &self.pool.cuts[label];
            value += multiplier * (cut.right - tau);
            axpy(-multiplier, &cut.columns, &mut open);
            axpy(-multiplier, prices, &mut closed);
        }
        let mut all = open.clone();
        all.extend_from_slice(&closed);
        let bound = value + least(&mut all, self.trace);
        // In play, the last column with weight has this coefficient: cheaper ones pay.
        let threshold = match self.trace {
            Some(rank) => *open.select_nth_unstable_by(rank - 1, f64::total_cmp).1,
            None => 0.0,
        };
        let mut paying: Vec<usize> = (0..closed.len()).filter(|&k| closed[k] < threshold).collect();
        paying.sort_by(|&a, &b| closed[a].total_cmp(&closed[b]).then(a.cmp(&b)));
        paying.truncate((self.oracle.columns().len() / 2).max(FURTHER));
        Some((bound, paying.into_iter().map(|k| self.closed[k]).collect()))
    }

    /// Brings rows into play; false, and none are, when stopped.
    fn bring_in(&mut self, rows: &[usize]) -> bool {
        if !self.pool.add_columns(self.x, rows, &self.control) {
            return false;
        }
        self.closed.retain(|j| !rows.contains(j));
        self.oracle.add_columns(rows, &self.control);
        true
    }

    /// Objectives below this count as zero when gaps are measured.
    fn floor(&self, goal: Goal, cost: &[f64]) -> f64 {
        match goal {
            Goal::Cost { .. } => {
                1e-9 * self.rank as f64 * cost.iter().fold(0.0f64, |m, c| m.max(c.abs()))
            }
            _ => 1e-9,
        }
    }

    /// The greedy rows with diagonals of one, all rows fitted on them by least squares.
    fn start(&mut self, rows: &[usize]) -> Point {
        let position = |row: &usize| self.oracle.columns().iter().position(|j| j == row);
        let chosen: Vec<usize> = rows.iter().filter_map(position).collect();
        let mut d = vec![0.0; self.oracle.columns().len()];
        chosen.iter().for_each(|&j| d[j] = 1.0);
        if self.control.stopped().is_some() {
            return Point::new(&self.oracle, d); // which explains nothing yet
        }
        let weights = least_squares(self.x, rows, &self.control);
        let weights = weights
            .into_iter()
            .map(|row| {
                let mut row: Vec<(u32, f64)> =
                    row.into_iter().map(|(k, w)| (chosen[k] as u32, w.min(1.0))).collect();
                row.sort_unstable_by_key(|w| w.0);
                row
            })
            .collect();
        self.oracle.offer(weights, &self.control);
        Point::new(&self.oracle, d)
    }

    /// `min p.d` with every row within tau. Feasible points are mixtures of one with room to spare
    /// (`first`, or what minimax finds) and the master's points.
    fn minimise_cost(&mut self, first: Point, tau: f64, cost: &[f64]) -> Progressed {
        let mut anchor = self.anchor.take().unwrap_or(first);
        anchor.d.resize(self.oracle.columns().len(), 0.0);
        if anchor.worst() > tau {
            self.fit(&anchor.d.clone(), |_| tau);
            anchor = Point::new(&self.oracle, anchor.d);
        }
        if anchor.worst() > tau + FEASIBLE {
            let found = self.minimise(Goal::Minimax, anchor, tau);
            let feasible = found.best.as_ref().is_some_and(|p| p.worst() <= tau + FEASIBLE);
            if !feasible {
                let infeasible = found.lower > tau + FEASIBLE;
                return Progressed { infeasible, upper: f64::INFINITY, ..found };
            }
            anchor = found.best.expect("a feasible point");
        }
        self.anchor = Some(anchor.clone());
        self.descend(anchor, tau, cost)
    }

    /// The loop for `cost`, from a feasible point. The oracle is asked between the best feasible
    /// diagonal and the master's (in-out separation): there most rows are explained by the weights
    /// they have, and the cuts of the others are deep. Asking at the master's own points takes
    /// about as many rounds and ten times as many fits.
    fn descend(&mut self, anchor: Point, tau: f64, cost: &[f64]) -> Progressed {
        let goal = Goal::Cost { tau };
        let costs: Vec<f64> = self.oracle.columns().iter().map(|&j| cost[j]).collect();
        let scale = costs.iter().fold(0.0f64, |m, c| m.max(c.abs())).max(f64::MIN_POSITIVE);
        let scaled: Vec<f64> = costs.iter().map(|c| c / scale).collect();
        let value = |d: &[f64]| d.iter().zip(&costs).map(|(d, c)| d * c).sum::<f64>();
        let mut master = self.master(goal, &scaled, 0);
        let mut at = Progressed::new(goal, value(&anchor.d), Some(anchor.clone()));
        at.lower = scale * self.pool.bound(&[], goal, &scaled, self.trace);
        let floor = self.floor(goal, cost);
        let (mut mixed_from, mut mixed_by): (Option<Point>, f64) = (None, 0.0);
        let (mut inside, mut share_inside) = (anchor.d.clone(), INSIDE);
        let mut patience = Patience::new();
        while self.rounds < ROUNDS {
            let outcome = self.bound(&mut master, goal, &scaled, scale, &mut at);
            if outcome == Outcome::Infeasible {
                break; // only rounding leads here: there is a feasible point
            }
            let outside = self.diagonal(&master);
            let d = between(&inside, &outside, share_inside);
            let cuts = self.fit(&d, |_| tau + FEASIBLE);
            let point = Point::new(&self.oracle, d);
            let s = share(&anchor, &point, tau);
            let mixed = (1.0 - s) * value(&anchor.d) + s * value(&point.d);
            if mixed < at.upper {
                inside = between(&point.d, &anchor.d, s);
                (at.upper, mixed_by, mixed_from) = (mixed, s, Some(point));
            }
            self.report("lp", &at);
            at.stop = self.control.stopped().unwrap_or(Stop::Finished);
            let exhausted = cuts == 0 && share_inside == 0.0;
            let over = exhausted || patience.is_over(&at);
            if at.gap(floor) <= self.gap || over || at.stop != Stop::Finished {
                break;
            }
            // A cut that does not rule out the master's point brings nothing: ask nearer to it.
            let deep = self.pool.cuts[self.pool.cuts.len() - cuts..]
                .iter()
                .any(|cut| cut.right - tau - dot(&cut.columns, &outside) > FEASIBLE);
            share_inside = match share_inside {
                _ if deep => INSIDE,
                share if share > 0.1 => 0.4 * share,
                _ => 0.0,
            };
            self.extend(&mut master, goal, cuts);
        }
        if let Some(point) = mixed_from {
            at.best = Some(if mixed_by < 1.0 { anchor.mix(&point, mixed_by) } else { point });
        }
        at
    }

    /// `min t` or `min sum t_i`. Stops early when the objective is at most `enough` (minimax for
    /// feasibility), or the bound above it.
    fn minimise(&mut self, goal: Goal, first: Point, enough: f64) -> Progressed {
        let value = |point: &Point| match goal {
            Goal::Total => point.values.iter().sum(),
            _ => point.worst(),
        };
        // First cuts, where the greedy answer is worst.
        let least = if goal == Goal::Total { 0.0 } else { 0.5 * first.worst() };
        self.fit(&first.d, |_| least);
        let first = Point::new(&self.oracle, first.d);
        let mut at = Progressed::new(goal, value(&first), Some(first));
        at.lower = 0.0;
        let (rows, columns) = (self.x.features(), self.oracle.columns().len());
        let zero = vec![0.0; columns];
        let mut master = self.master(goal, &zero, 0);
        let floor = self.floor(goal, &zero);
        let mut patience = Patience::new();
        while self.rounds < ROUNDS {
            if self.bound(&mut master, goal, &zero, 1.0, &mut at) == Outcome::Infeasible {
                break; // only rounding leads here: t may be as large as it likes
            }
            let d = self.diagonal(&master);
            let room = if enough >= 0.0 { 1e-12 } else { 0.25 * self.gap };
            let may_miss: Vec<f64> = match goal {
                Goal::Total => {
                    let all: f64 = (0..rows).map(|i| master.slack(i)).sum();
                    let share = room * all.max(floor) / rows as f64;
                    (0..rows).map(|i| master.slack(i) + share).collect()
                }
                _ => vec![master.slack(0) * (1.0 + room) + room * floor; rows],
            };
            let cuts = self.fit(&d, |i| may_miss[i]);
            let point = Point::new(&self.oracle, d);
            if value(&point) < at.upper {
                at.upper = value(&point);
                at.best = Some(point);
            }
            self.report(if goal == Goal::Total { "total" } else { "minimax" }, &at);
            at.stop = self.control.stopped().unwrap_or(Stop::Finished);
            let decided = at.upper <= enough || (enough >= 0.0 && at.lower > enough + FEASIBLE);
            let closed = enough < 0.0 && at.gap(floor) <= self.gap;
            let over = cuts == 0 || patience.is_over(&at);
            if decided || closed || over || at.stop != Stop::Finished {
                break;
            }
            self.extend(&mut master, goal, cuts);
        }
        at
    }

    /// Fits the rows that may miss more than allowed at d, and pools the cuts of those that do.
    /// Returns how many.
    fn fit(&mut self, d: &[f64], allowed: impl Fn(usize) -> f64 + Sync) -> usize {
        let open: Vec<usize> =
            (0..self.x.features()).filter(|&i| self.oracle.ceiling(i, d) > allowed(i)).collect();
        let cuts = self.oracle.solve(&open, d, allowed, &self.control);
        let found = cuts.len();
        self.pool.cuts.extend(cuts);
        found
    }

    /// A master program with all cuts of the pool; `seed` changes how it breaks ties.
    fn master(&self, goal: Goal, cost: &[f64], seed: u64) -> Master {
        let slacks = match goal {
            Goal::Cost { .. } => 0,
            Goal::Minimax => 1,
            Goal::Total => self.x.features(),
        };
        let mut master = Master::new(slacks, cost, self.trace.map(|r| r as f64), seed);
        self.extend(&mut master, goal, self.pool.cuts.len());
        master
    }

    /// Gives the master the last `count` cuts of the pool.
    fn extend(&self, master: &mut Master, goal: Goal, count: usize) {
        let first = self.pool.cuts.len() - count;
        for (label, cut) in self.pool.cuts.iter().enumerate().skip(first) {
            let (slack, right) = match goal {
                Goal::Cost { tau } => (None, cut.right - tau),
                Goal::Minimax => (Some(0), cut.right),
                Goal::Total => (Some(cut.row as u32), cut.right),
            };
            master.add_cut(Row { columns: &cut.columns, slack, right, label });
        }
    }

    /// Solves the master program and raises the lower bound. `cost` is in units of `scale`.
    fn bound(
        &mut self,
        master: &mut Master,
        goal: Goal,
        cost: &[f64],
        scale: f64,
        at: &mut Progressed,
    ) -> Outcome {
        self.rounds += 1;
        master.drop_idle(IDLE_ROUNDS);
        let mut outcome = master.solve(&self.control);
        for seed in 1..=RESTARTS {
            if outcome != Outcome::Stuck || self.control.stopped().is_some() {
                break;
            }
            // From the first vertex, on another way.
            *master = self.master(goal, cost, seed);
            outcome = master.solve(&self.control);
        }
        let multipliers: Vec<(usize, f64)> = master.cut_multipliers().collect();
        let proven = scale * self.pool.bound(&multipliers, goal, cost, self.trace);
        if proven > at.lower {
            at.lower = proven;
            at.multipliers = self.pool.feasible(&multipliers, goal);
            at.multipliers.iter_mut().for_each(|m| m.1 *= scale);
        }
        outcome
    }

    /// The master's diagonal, made to keep `0 <= d <= 1` and the trace: rounding, or a master that
    /// got stuck, may have left it anywhere. Nothing is believed of it but where to look.
    fn diagonal(&self, master: &Master) -> Vec<f64> {
        let mut d: Vec<f64> = (0..master.columns()).map(|j| master.column(j)).collect();
        if let Some(rank) = self.trace {
            keep_trace(&mut d, rank as f64);
        }
        d
    }

    fn report(&self, task: &str, at: &Progressed) {
        self.control.report(&Progress {
            stage: Stage::Localise,
            task,
            done: self.rounds,
            total: None,
            figure: Some(("best", at.upper)),
        });
    }

    /// The outcome: what is said of the best point is computed from the data once more, and the
    /// status is read from that.
    fn finish(self, settings: &LpSettings, cost: Vec<f64>, at: Progressed) -> LpOutcome {
        let columns = self.oracle.columns();
        let mut diagonal = vec![0.0; self.x.features()];
        let mut localising = Vec::new();
        if let Some(point) = &at.best {
            columns.iter().zip(&point.d).for_each(|(&j, &d)| diagonal[j] = d);
            localising = point
                .weights
                .iter()
                .enumerate()
                .map(|(i, row)| on_diagonal(i, row, columns, &diagonal))
                .collect();
        }
        // Stopped, what the oracle has said of the rows must do: no less than the errors, but for
        // rounding.
        let errors = errors(self.x, &localising, &self.whole.to_finish())
            .unwrap_or_else(|| at.best.as_ref().map_or_else(Vec::new, |p| p.values.clone()));
        let floor = self.floor(settings.goal, &cost);
        let mut claims = Claims::new(settings.goal, &diagonal, &cost, &errors);
        if at.upper.is_infinite() {
            claims.objective = f64::INFINITY;
        }
        let lower_bound = if claims.objective.is_infinite() && !at.infeasible {
            // What the multipliers prove is about minimax.
            self.trivial_bound(settings.goal, &cost)
        } else {
            at.lower
        };
        let gap = relative_gap(claims.objective, lower_bound, floor);
        // A point may miss tau by rounding, which each multiplier turns into a lower objective.
        let worth: f64 = at.multipliers.iter().map(|m| m.1).sum();
        let crossing = (claims.excess * worth + 1e-12) / claims.objective.abs().max(floor);
        let status = if at.infeasible {
            LpStatus::Infeasible
        } else if claims.objective.is_infinite() || claims.excess > EXCESS {
            LpStatus::Limit
        } else if gap <= self.gap && gap >= -crossing.max(self.gap) {
            LpStatus::Optimal
        } else {
            LpStatus::Feasible
        };
        LpOutcome {
            status,
            objective: claims.objective,
            lower_bound,
            gap,
            diagonal,
            localising,
            dual: self.pool.dual_rows(&at.multipliers, self.x.examples()),
            cost,
            rounds: self.rounds,
            cuts: self.pool.cuts.len(),
            fits: self.oracle.fits,
            pivots: self.oracle.pivots,
            stop: at.stop,
        }
    }
}

/// What a point amounts to, from its diagonal and errors.
struct Claims {
    objective: f64,
    /// By how much a row misses tau.
    excess: f64,
}

impl Claims {
    fn new(goal: Goal, diagonal: &[f64], cost: &[f64], errors: &[f64]) -> Self {
        let worst = errors.iter().copied().fold(0.0, f64::max);
        match goal {
            Goal::Cost { tau } => {
                Claims { objective: dot(cost, diagonal), excess: (worst - tau).max(0.0) }
            }
            Goal::Minimax => Claims { objective: worst, excess: 0.0 },
            Goal::Total => Claims { objective: errors.iter().sum(), excess: 0.0 },
        }
    }
}

/// `||x_i - c_i X||_1` for the rows of a localising matrix, or `None` when stopped: O(nonzeros of
/// C * n).
fn errors(x: &UnitRows, localising: &[Vec<(u32, f64)>], control: &Control) -> Option<Vec<f64>> {
    let error = |residual: &mut Vec<f64>, (i, row): (usize, &Vec<(u32, f64)>)| {
        if control.stopped().is_some() {
            return None;
        }
        x.row(i).write_to(1.0, residual);
        row.iter().for_each(|&(j, c)| x.row(j as usize).add_to(-c, residual));
        Some(residual.iter().map(|e| e.abs()).sum())
    };
    localising.par_iter().enumerate().map_init(|| vec![0.0; x.examples()], error).collect()
}

/// `(objective - bound) / |objective|`, objectives below `floor` counting as that; infinite where
/// there is no point. Below zero when a point that misses tau by rounding is below the bound.
fn relative_gap(objective: f64, bound: f64, floor: f64) -> f64 {
    if objective.is_infinite() {
        return f64::INFINITY;
    }
    (objective - bound) / objective.abs().max(floor)
}

impl Progressed {
    fn new(goal: Goal, upper: f64, best: Option<Point>) -> Self {
        Progressed {
            goal,
            best,
            upper,
            lower: f64::NEG_INFINITY,
            multipliers: Vec::new(),
            infeasible: false,
            stop: Stop::Finished,
        }
    }

    /// Takes over the point of an earlier stage of the same goal if it is better.
    fn take_point(&mut self, earlier: Progressed, columns: usize) {
        if self.goal == earlier.goal && earlier.upper < self.upper {
            (self.upper, self.best) = (earlier.upper, earlier.best);
            self.best.iter_mut().for_each(|point| point.d.resize(columns, 0.0));
        }
    }

    fn gap(&self, floor: f64) -> f64 {
        relative_gap(self.upper, self.lower, floor)
    }
}

/// Moves d in [0, 1] onto `sum d = rank`: scaled down, or up towards one, all in proportion.
fn keep_trace(d: &mut [f64], rank: f64) {
    let sum: f64 = d.iter().sum();
    if sum > rank {
        d.iter_mut().for_each(|d| *d *= rank / sum);
    } else if sum < rank {
        let room = d.len() as f64 - sum;
        let share = ((rank - sum) / room).min(1.0);
        d.iter_mut().for_each(|d| *d += share * (1.0 - *d));
    }
}

/// `share * inside + (1 - share) * outside`.
fn between(inside: &[f64], outside: &[f64], share: f64) -> Vec<f64> {
    inside.iter().zip(outside).map(|(i, o)| share * i + (1.0 - share) * o).collect()
}

/// The largest s for which `(1 - s) anchor + s point` surely misses no more than tau in any row; a
/// row where the anchor itself has no room may miss it by rounding.
fn share(anchor: &Point, point: &Point, tau: f64) -> f64 {
    let mut s: f64 = 1.0;
    for (&from, &value) in anchor.values.iter().zip(&point.values) {
        let most = if tau - from > FEASIBLE { tau } else { tau + FEASIBLE };
        if value > most {
            s = s.min(((most - from) / (value - from)).max(0.0));
        }
    }
    s
}

/// Row i of C in rows of X, its own weight raised to d_i and the others scaled to match; no weight
/// above its diagonal, which a mixture may be by rounding.
fn on_diagonal(i: usize, row: &[(u32, f64)], columns: &[usize], d: &[f64]) -> Vec<(u32, f64)> {
    let own = |j: u32| columns[j as usize] == i;
    let now = row.iter().find(|w| own(w.0)).map_or(0.0, |w| w.1);
    let factor = if now < 1.0 { ((1.0 - d[i]) / (1.0 - now)).min(1.0) } else { 0.0 };
    let others = row.iter().filter(|w| !own(w.0)).map(|&(j, c)| (columns[j as usize], c * factor));
    let mut row: Vec<(u32, f64)> = others.map(|(j, c)| (j as u32, c.min(d[j]))).collect();
    row.push((i as u32, d[i]));
    row.retain(|w| w.1 > 0.0);
    row.sort_unstable_by_key(|w| w.0);
    row
}
