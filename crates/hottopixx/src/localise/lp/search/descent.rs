//! The program with tau: from a point within tau down to the cheapest one.

use super::point::{Point, between, share};
use super::progress::{Patience, StageResult};
use super::{FEASIBLE, ROUNDS, Search};
use crate::Goal;
use crate::control::Stop;
use crate::kernels::dot;
use crate::localise::lp::master::MasterOutcome;

/// Where `cost` asks the oracle: this share of the way from the master's point to the best one.
const INSIDE: f64 = 0.6;

impl Search<'_> {
    /// `min p.d` with every row within tau. Feasible points are mixtures of one with room to spare
    /// (`first`, or what minimax finds) and the master's points.
    pub(super) fn minimise_cost(&mut self, first: Point, tau: f64, cost: &[f64]) -> StageResult {
        let mut anchor = self.anchor.take().unwrap_or(first);
        anchor.d.resize(self.oracle.columns().len(), 0.0);
        if anchor.worst() > tau {
            self.fit(&anchor.d.clone(), |_| tau, 0.0);
            anchor = Point::new(&self.oracle, anchor.d);
        }
        if anchor.worst() > tau + FEASIBLE {
            let found = self.minimise(Goal::Minimax, anchor, tau);
            let feasible = found.best.as_ref().is_some_and(|p| p.worst() <= tau + FEASIBLE);
            if !feasible {
                let infeasible = found.lower > tau + FEASIBLE;
                return StageResult { infeasible, upper: f64::INFINITY, ..found };
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
    pub(super) fn descend(&mut self, anchor: Point, tau: f64, cost: &[f64]) -> StageResult {
        let goal = Goal::Cost { tau };
        let costs: Vec<f64> = self.oracle.columns().iter().map(|&j| cost[j]).collect();
        let scale = costs.iter().fold(0.0f64, |m, c| m.max(c.abs())).max(f64::MIN_POSITIVE);
        let scaled: Vec<f64> = costs.iter().map(|c| c / scale).collect();
        let value = |d: &[f64]| d.iter().zip(&costs).map(|(d, c)| d * c).sum::<f64>();
        let mut master = self.master(goal, &scaled, 0);
        let mut at = StageResult::new(goal, value(&anchor.d), Some(anchor.clone()));
        at.lower = scale * self.pool.bound(&[], goal, &scaled, &self.diagonals);
        let floor = self.floor(goal, cost);
        let (mut mixed_from, mut mixed_by): (Option<Point>, f64) = (None, 0.0);
        let (mut inside, mut share_inside) = (anchor.d.clone(), INSIDE);
        let mut patience = Patience::new();
        while self.rounds < ROUNDS {
            let outcome = self.bound(&mut master, goal, &scaled, scale, &mut at);
            if outcome == MasterOutcome::Infeasible {
                break; // only rounding leads here: there is a feasible point
            }
            let outside = self.diagonal(&master);
            let d = between(&inside, &outside, share_inside);
            let cuts = self.fit(&d, |_| tau + FEASIBLE, 0.0);
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
}
