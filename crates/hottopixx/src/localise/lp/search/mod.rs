//! The cutting plane search: its state, and the stages in which rows come into play.
//!
//! A stage minimises over the rows in play: `descent` for the program with tau, `rounds` for the
//! others and for what all of them do in every round. `play` says which rows those are and prices
//! the ones left out, `point` is a diagonal with its weights, and `finish` measures the best point
//! and puts the outcome together.

mod descent;
mod finish;
mod play;
mod point;
mod progress;
mod rounds;

use super::cuts::{Diagonals, Pool};
use super::oracle::Oracle;
use super::{LpOutcome, LpSettings};
use crate::Goal;
use crate::control::{Control, Stop};
use crate::normalise::UnitRows;
use play::in_play;
use point::Point;
use progress::StageResult;

/// By how much a row may miss more than tau and still count as explained: rounding.
const FEASIBLE: f64 = 5e-10;
/// Rounds after which the search gives up; far above what any instance has needed.
const ROUNDS: usize = 500;
/// The gap at which the first stage ends while columns are left out, and how it falls from stage
/// to stage.
const FIRST_STAGE: f64 = 0.1;
const STAGE: f64 = 0.3;
/// Of the time that is left, rounds may take this share; the rest is for pricing and measuring.
const ROUNDS_SHARE: f64 = 0.85;

/// One program under way.
struct Search<'a> {
    x: &'a UnitRows,
    rank: usize,
    diagonals: Diagonals,
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
    let (must, most) = (&settings.must[..], settings.all_in_play);
    let (mut start, columns, closed) = in_play(x, rank, &allowed, &cost, must, most, &control);
    let column = |row: &usize| columns.iter().position(|j| j == row);
    let must = must.iter().filter_map(column).collect();
    start.truncate(rank);
    let oracle = Oracle::new(x, columns, &control);
    let weights = if settings.goal == Goal::Total { x.weights().to_vec() } else { Vec::new() };
    let mut search = Search {
        x,
        rank,
        diagonals: Diagonals { rank: settings.trace.then_some(rank), must },
        gap: settings.gap(),
        control,
        whole,
        oracle,
        closed,
        anchor: None,
        pool: Pool { weights, ..Pool::default() },
        rounds: 0,
    };
    let first = search.start(&start);
    let result = search.run(settings.goal, first, &cost);
    search.finish(settings, cost, result)
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
    fn run(&mut self, goal: Goal, first: Point, cost: &[f64]) -> StageResult {
        let mut start = first;
        let wanted = self.gap;
        let mut open_gap = FIRST_STAGE;
        let mut kept: Option<StageResult> = None;
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
                return StageResult { lower, multipliers, infeasible: false, stop, ..at };
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
                return StageResult { stop: self.why(), ..at };
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
                self.diagonals.least(&mut open.map(|&j| cost[j]).collect::<Vec<_>>())
            }
            _ => 0.0,
        }
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
}
