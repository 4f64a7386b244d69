//! How far the minimisation of a goal has got, and when it is not worth going on.

use super::point::Point;
use crate::Goal;
use crate::control::Stop;

/// Rounds without progress after which it gives up: rounding is all that is left.
const IDLE: usize = 25;
/// Progress is a fall of the gap by this share.
const PROGRESS: f64 = 1e-6;

/// Where the minimisation of one goal stands.
pub(super) struct StageResult {
    /// What bound and multipliers speak of: minimax, where no point within tau was found.
    pub goal: Goal,
    pub best: Option<Point>,
    pub upper: f64,
    pub lower: f64,
    pub multipliers: Vec<(usize, f64)>,
    /// Whether the cuts cannot hold together.
    pub infeasible: bool,
    pub stop: Stop,
}

impl StageResult {
    pub(super) fn new(goal: Goal, upper: f64, best: Option<Point>) -> Self {
        StageResult {
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
    pub(super) fn take_point(&mut self, earlier: StageResult, columns: usize) {
        if self.goal == earlier.goal && earlier.upper < self.upper {
            (self.upper, self.best) = (earlier.upper, earlier.best);
            self.best.iter_mut().for_each(|point| point.d.resize(columns, 0.0));
        }
    }

    pub(super) fn gap(&self, floor: f64) -> f64 {
        relative_gap(self.upper, self.lower, floor)
    }
}

/// `(objective - bound) / |objective|`, objectives below `floor` counting as that; infinite where
/// there is no point. Below zero when a point that misses tau by rounding is below the bound.
pub(super) fn relative_gap(objective: f64, bound: f64, floor: f64) -> f64 {
    if objective.is_infinite() {
        return f64::INFINITY;
    }
    (objective - bound) / objective.abs().max(floor)
}

/// Counts rounds that brought nothing.
pub(super) struct Patience {
    gap: f64,
    idle: usize,
}

impl Patience {
    pub(super) fn new() -> Self {
        Patience { gap: f64::INFINITY, idle: 0 }
    }

    /// Looks at the gap after a round; true when there was no progress for [`IDLE`] rounds.
    pub(super) fn is_over(&mut self, at: &StageResult) -> bool {
        let gap = at.upper - at.lower;
        if gap < self.gap * (1.0 - PROGRESS) || self.gap.is_infinite() {
            (self.gap, self.idle) = (gap, 0);
        } else {
            self.idle += 1;
        }
        self.idle >= IDLE
    }
}

/// How far the fits of a round may be from exact, as a share of what is between the best point and
/// the bound: they are never what limits a round by much.
const ROUGH: f64 = 0.05;
/// A round that leaves more than this share of the gap asks for better fits, by this factor and down to
/// that share. Exact ones take ten times as long, and are asked for when even these change nothing.
const SLOW: f64 = 0.5;
const BETTER: f64 = 0.2;
const LEAST: f64 = 1e-3;
const NOTHING: f64 = 0.99;

/// How exact the fits of minimax must be. Cuts are valid whatever the fits are, so the first rounds,
/// whose diagonals are far from the best, do not need exact ones; and a round in which nothing was
/// found is believed only if its fits were exact.
pub(super) struct Accuracy {
    share: f64,
    gap: f64,
}

impl Accuracy {
    /// Exact from the start unless `rough`.
    pub(super) fn new(rough: bool) -> Self {
        Accuracy { share: if rough { ROUGH } else { 0.0 }, gap: f64::INFINITY }
    }

    /// What fits may miss when so much is open; 0 for exact ones.
    pub(super) fn of(&self, gap: f64) -> f64 {
        self.share * gap.max(0.0)
    }

    pub(super) fn is_exact(&self) -> bool {
        self.share == 0.0
    }

    /// Looks at what a round has left open, and at the cuts it found.
    pub(super) fn after(&mut self, gap: f64, cuts: usize) {
        if cuts == 0 || (self.share <= LEAST && gap > NOTHING * self.gap) {
            self.share = 0.0;
        } else if gap > SLOW * self.gap && self.share > 0.0 {
            self.share = (self.share * BETTER).max(LEAST);
        }
        self.gap = gap;
    }
}

/// Minimax fits the worst rows alone, one in this many and at least this many times the rank, ...
const WORST_ROWS: usize = 16;
const WORST_PER_RANK: usize = 2;
/// ... as long as the last round raised the bound by at least this share of what is open.
const WORTH_MORE: f64 = 0.01;

/// Whether a few rows are enough for the next round of minimax. At a diagonal far from the best one the
/// cuts of the worst rows tell all that the master needs, and most fits would be of no use: the bound
/// rises nearly as far in a round, at a fraction of the cost. When it rises no more all rows are
/// fitted, which tells what the diagonal is worth.
pub(super) struct Few {
    allowed: bool,
    /// The bound before the last round.
    lower: f64,
}

impl Few {
    pub(super) fn new(allowed: bool) -> Self {
        Few { allowed, lower: 0.0 }
    }

    /// How many rows the next round fits at most, after the bound of its master.
    pub(super) fn rows(&mut self, at: &StageResult, rows: usize, rank: usize) -> usize {
        let raised = at.lower - self.lower > WORTH_MORE * (at.upper - self.lower);
        self.lower = at.lower;
        if self.allowed && raised {
            (rows / WORST_ROWS).max(WORST_PER_RANK * rank).min(rows)
        } else {
            rows
        }
    }
}
