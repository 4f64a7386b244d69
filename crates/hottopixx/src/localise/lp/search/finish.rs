//! The outcome of a search: the best point, measured from the data once more.

use super::Search;
use super::progress::{StageResult, relative_gap};
use crate::Goal;
use crate::control::Control;
use crate::kernels::dot;
use crate::kernels::parallel::*;
use crate::localise::lp::cuts::total;
use crate::localise::lp::{LpOutcome, LpSettings, LpStatus};
use crate::normalise::UnitRows;

/// By how much a row of the final point may miss more than tau: as much as the verifier accepts.
const EXCESS: f64 = 1e-9;

impl Search<'_> {
    /// The outcome: what is said of the best point is computed from the data once more, and the
    /// status is read from that.
    pub(super) fn finish(
        self,
        settings: &LpSettings,
        cost: Vec<f64>,
        at: StageResult,
    ) -> LpOutcome {
        let columns = self.oracle.columns();
        let mut diagonal = vec![0.0; self.x.features()];
        let mut localising = Vec::new();
        if let Some(point) = &at.best {
            columns.iter().zip(&point.d).for_each(|(&j, &d)| diagonal[j] = d);
            // Mixtures of points may be off by rounding.
            settings.must.iter().for_each(|&j| diagonal[j] = 1.0);
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
        let mut measured = self.measured(settings.goal, &diagonal, &cost, &errors);
        if at.upper.is_infinite() {
            measured.objective = f64::INFINITY;
        }
        let lower_bound = if measured.objective.is_infinite() && !at.infeasible {
            // What the multipliers prove is about minimax.
            self.trivial_bound(settings.goal, &cost)
        } else {
            at.lower
        };
        let gap = relative_gap(measured.objective, lower_bound, floor);
        // A point may miss tau by rounding, which each multiplier turns into a lower objective.
        let worth: f64 = at.multipliers.iter().map(|m| m.1).sum();
        let crossing = (measured.excess * worth + 1e-12) / measured.objective.abs().max(floor);
        let status = if at.infeasible {
            LpStatus::Infeasible
        } else if measured.objective.is_infinite() || measured.excess > EXCESS {
            LpStatus::Limit
        } else if gap <= self.gap && gap >= -crossing.max(self.gap) {
            LpStatus::Optimal
        } else {
            LpStatus::Feasible
        };
        LpOutcome {
            status,
            objective: measured.objective,
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
struct Measured {
    objective: f64,
    /// By how much a row misses tau.
    excess: f64,
}

impl Search<'_> {
    fn measured(&self, goal: Goal, diagonal: &[f64], cost: &[f64], errors: &[f64]) -> Measured {
        let worst = errors.iter().copied().fold(0.0, f64::max);
        match goal {
            Goal::Cost { tau } => {
                Measured { objective: dot(cost, diagonal), excess: (worst - tau).max(0.0) }
            }
            Goal::Minimax => Measured { objective: worst, excess: 0.0 },
            Goal::Total => Measured { objective: total(errors, &self.pool.weights), excess: 0.0 },
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
