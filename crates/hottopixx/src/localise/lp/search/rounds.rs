//! What a round is made of: the master program, the fits of the rows that it gets wrong, their
//! cuts, the bound; and the loop for minimax and total.

use super::point::Point;
use super::progress::{Accuracy, Few, Patience, StageResult};
use super::{FEASIBLE, ROUNDS, Search};
use crate::Goal;
use crate::control::{Progress, Stage, Stop};
use crate::localise::lp::cuts::total;
use crate::localise::lp::master::{CutRow, Master, MasterOutcome};
use crate::order::largest_first;

/// How often a master that got stuck begins anew.
const RESTARTS: u64 = 2;
/// Cuts that were not tight for this many rounds are left out of the master program.
const IDLE_ROUNDS: u32 = 6;

impl Search<'_> {
    /// `min t` or `min sum w_i t_i`. Stops early when the objective is at most `enough` (minimax for
    /// feasibility), or the bound above it.
    pub(super) fn minimise(&mut self, goal: Goal, first: Point, enough: f64) -> StageResult {
        let weights = self.pool.weights.clone();
        let value = |point: &Point| match goal {
            Goal::Total => total(&point.values, &weights),
            _ => point.worst(),
        };
        // First cuts, where the greedy answer is worst.
        let least = if goal == Goal::Total { 0.0 } else { 0.5 * first.worst() };
        let mut accuracy = Accuracy::new(goal == Goal::Minimax && enough < 0.0);
        self.fit(&first.d, |_| least, accuracy.of(first.worst()));
        let first = Point::new(&self.oracle, first.d);
        let mut at = StageResult::new(goal, value(&first), Some(first));
        at.lower = 0.0;
        let (rows, columns) = (self.x.features(), self.oracle.columns().len());
        let zero = vec![0.0; columns];
        let mut master = self.master(goal, &zero, 0);
        let floor = self.floor(goal, &zero);
        let mut patience = Patience::new();
        let mut few = Few::new(goal == Goal::Minimax && enough < 0.0);
        while self.rounds < ROUNDS {
            if self.bound(&mut master, goal, &zero, 1.0, &mut at) == MasterOutcome::Infeasible {
                break; // only rounding leads here: t may be as large as it likes
            }
            let d = self.diagonal(&master);
            let room = if enough >= 0.0 { 1e-12 } else { 0.25 * self.gap };
            let may_miss: Vec<f64> = match goal {
                Goal::Total => {
                    let slacks: Vec<f64> = (0..rows).map(|i| master.slack(i)).collect();
                    let share = room * total(&slacks, &weights).max(floor) / rows as f64;
                    slacks.into_iter().map(|slack| slack + share).collect()
                }
                _ => vec![master.slack(0) * (1.0 + room) + room * floor; rows],
            };
            let most = few.rows(&at, rows, self.rank);
            let allowed_gap = accuracy.of(at.upper - at.lower);
            let cuts = self.fit_worst(most, &d, |i| may_miss[i], allowed_gap);
            let point = Point::new(&self.oracle, d);
            if value(&point) < at.upper {
                at.upper = value(&point);
                at.best = Some(point);
            }
            self.report(if goal == Goal::Total { "total" } else { "minimax" }, &at);
            at.stop = self.control.stopped().unwrap_or(Stop::Finished);
            let decided = at.upper <= enough || (enough >= 0.0 && at.lower > enough + FEASIBLE);
            let closed = enough < 0.0 && at.gap(floor) <= self.gap;
            // Rounds with few rows say nothing about the others.
            let all = most >= rows;
            let over = all && ((accuracy.is_exact() && cuts == 0) || patience.is_over(&at));
            if all {
                accuracy.after(at.upper - at.lower, cuts);
            }
            if decided || closed || over || at.stop != Stop::Finished {
                break;
            }
            self.extend(&mut master, goal, cuts);
        }
        at
    }

    /// Fits the rows that may miss more than allowed at d, to this accuracy (0: exactly), and pools
    /// the cuts of those that do. Returns how many.
    pub(super) fn fit(
        &mut self,
        d: &[f64],
        allowed: impl Fn(usize) -> f64 + Sync,
        accuracy: f64,
    ) -> usize {
        self.fit_worst(usize::MAX, d, allowed, accuracy)
    }

    /// As [`Search::fit`], for `most` rows: those whose weights, cut down to d, miss the most.
    fn fit_worst(
        &mut self,
        most: usize,
        d: &[f64],
        allowed: impl Fn(usize) -> f64 + Sync,
        accuracy: f64,
    ) -> usize {
        let ceilings: Vec<f64> =
            (0..self.x.features()).map(|i| self.oracle.ceiling(i, d)).collect();
        let mut open: Vec<usize> =
            (0..ceilings.len()).filter(|&i| ceilings[i] > allowed(i)).collect();
        if most < open.len() {
            largest_first(&mut open, |i| ceilings[i]);
            open.truncate(most);
            open.sort_unstable();
        }
        let cuts = self.oracle.solve(&open, d, allowed, accuracy, &self.control);
        let found = cuts.len();
        self.pool.cuts.extend(cuts);
        found
    }

    /// A master program with all cuts of the pool; `seed` changes how it breaks ties.
    pub(super) fn master(&self, goal: Goal, cost: &[f64], seed: u64) -> Master {
        let slacks = match goal {
            Goal::Cost { .. } => Vec::new(),
            Goal::Minimax => vec![1.0],
            Goal::Total if self.pool.weights.is_empty() => vec![1.0; self.x.features()],
            Goal::Total => self.pool.weights.clone(),
        };
        let trace = self.diagonals.rank.map(|r| r as f64);
        let mut master = Master::new(&slacks, cost, trace, seed);
        self.diagonals.must.iter().for_each(|&j| master.fix(j, Some(true)));
        self.extend(&mut master, goal, self.pool.cuts.len());
        master
    }

    /// Gives the master the last `count` cuts of the pool.
    pub(super) fn extend(&self, master: &mut Master, goal: Goal, count: usize) {
        let first = self.pool.cuts.len() - count;
        for (label, cut) in self.pool.cuts.iter().enumerate().skip(first) {
            let (slack, right) = match goal {
                Goal::Cost { tau } => (None, cut.right - tau),
                Goal::Minimax => (Some(0), cut.right),
                Goal::Total => (Some(cut.row as u32), cut.right),
            };
            master.add_cut(CutRow { columns: &cut.columns, slack, right, label });
        }
    }

    /// Solves the master program and raises the lower bound. `cost` is in units of `scale`.
    pub(super) fn bound(
        &mut self,
        master: &mut Master,
        goal: Goal,
        cost: &[f64],
        scale: f64,
        at: &mut StageResult,
    ) -> MasterOutcome {
        self.rounds += 1;
        master.drop_idle(IDLE_ROUNDS);
        let mut outcome = master.solve(&self.control);
        for seed in 1..=RESTARTS {
            if outcome != MasterOutcome::Stuck || self.control.stopped().is_some() {
                break;
            }
            // From the first vertex, on another way.
            *master = self.master(goal, cost, seed);
            outcome = master.solve(&self.control);
        }
        let multipliers: Vec<(usize, f64)> = master.cut_multipliers().collect();
        let proven = scale * self.pool.bound(&multipliers, goal, cost, &self.diagonals);
        if proven > at.lower {
            at.lower = proven;
            at.multipliers = self.pool.feasible(&multipliers, goal);
            at.multipliers.iter_mut().for_each(|m| m.1 *= scale);
        }
        outcome
    }

    /// The master's diagonal, made to keep `0 <= d <= 1` and the trace: rounding, or a master that
    /// got stuck, may have left it anywhere. Nothing is believed of it but where to look.
    pub(super) fn diagonal(&self, master: &Master) -> Vec<f64> {
        let mut d: Vec<f64> = (0..master.columns()).map(|j| master.column(j)).collect();
        self.diagonals.keep_trace(&mut d);
        d
    }

    pub(super) fn report(&self, task: &str, at: &StageResult) {
        self.control.report(&Progress {
            stage: Stage::Localise,
            task,
            done: self.rounds,
            total: None,
            figure: Some(("best", at.upper)),
            bound: Some(at.lower).filter(|bound| bound.is_finite()),
        });
    }
}
