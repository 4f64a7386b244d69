//! The paper's linear programs, solved exactly, with a bound that is honest at every moment.
//!
//! Three programs over localising matrices C, with `d = diag(C)`, `0 <= C_ij <= d_j <= 1`, d = 1 for rows that must be hott
//! and, unless the trace is left open, `sum d = r`:
//!
//! ```text
//! cost     min p.d               s.t. ||x_i - c_i X||_1 <= tau for all i   (Algorithm 3; 2 at tau = 0)
//! minimax  min t                 s.t. ||x_i - c_i X||_1 <= t   for all i
//! total    min sum_i ||x_i - c_i X||_1                     (what Algorithm 4 goes after)
//! ```
//!
//! As printed these have `f^2` variables. But given d the rows of C decouple, and the programs are
//! in the f numbers d alone, with convex functions
//! `phi_i(d) = min ||x_i - cX||_1 over 0 <= c <= d` whose subgradients are duals of l1 fits.
//! (`C_ii = d_i` loses nothing: `c_i < d_i` can be raised to `d_i` when the other weights are
//! scaled by `(1 - d_i) / (1 - c_i)`, which scales the residual by the same factor.) Kelley's
//! cutting planes then alternate between a small `master` program, whose optimum is a lower
//! bound, and the `oracle`, which fits the rows at the master's d and returns what is violated
//! as `cuts`.
//!
//! # What it costs, and why it is fast
//! - *Rounds*: 5 to 25 at all sizes, since every round brings a cut for every violated row.
//! - *Rows*: a row is fitted only if its old weights, cut down to the new d, are not good enough.
//!   For `cost` with a tau above the noise these are the hott rows and their neighbours, since the
//!   oracle is asked near a feasible diagonal. For minimax under noise every row is about as bad
//!   as any other, and all must be fitted to know what a diagonal is worth; but as long as the cuts of a few of
//!   the worst rows raise the bound, only these are (`search/rounds`). The few rounds with all rows are what limits it.
//! - *Accuracy*: a cut is valid whatever the fit behind it, and the first rounds of minimax are far from
//!   its optimum. There a fit ends as soon as its dual proves that it is within a twentieth of what is
//!   open between bound and best point, or as soon as it misses no more than it may: some Newton steps
//!   on a smoothed loss in place of hundreds of pivots (`l1`, `near/approach`). Where rounds gain little
//!   fits become exact.
//! - *Pivots*: an exact fit starts from the row's last vertex, or from bounded least squares on the Gram
//!   matrix (whose cost does not depend on n) when d has moved far. The last rounds need none.
//! - *n*: far points are folded into a linear term (`l1::NearSolver`), so a
//!   pivot costs `k n / 6` or less, k the number of diagonals that the row uses. A cut is `m n`,
//!   m the columns in play; those of dense data are one matrix product.
//! - *f*: of many candidates only some are in play; the others are priced with the multipliers, and
//!   brought in if they pay. The bound counts all of them.
//! - *Master*: `(cuts + 2k) m` flops per pivot, independent of n.
//!
//! Merging columns of X gives a relaxation whose bound counts, too, and is cheaper still. It was
//! tried and left out: on noisy data merged columns average the noise away, which is all that
//! minimax sees (at 8 columns per bucket the bound falls to a third), and with `cost` few fits are
//! left to save.

pub(crate) mod cuts;
mod ground;
pub(crate) mod master;
pub(crate) mod oracle;
mod search;

use crate::Error;
use crate::Goal;
use crate::control::{Control, Stop};
use crate::localise::{candidate_rows, check_cost};
use crate::normalise::UnitRows;

/// Which program, and how far to go.
#[derive(Debug, Clone, PartialEq)]
pub struct LpSettings {
    /// The objective, with tau where it has one.
    pub goal: Goal,
    /// Whether the diagonal must sum to the rank. Without, only [`Goal::Cost`] makes sense, and
    /// the trace of the answer is an estimate of the rank (Gillis and Luce), too low under noise.
    pub trace: bool,
    /// The cost p of [`Goal::Cost`], one entry for each row of X. `None`: `-||x_j||_2^2`, for hott
    /// rows are extreme; without the trace constraint, 1 with a slight preference for such rows.
    pub cost: Option<Vec<f64>>,
    /// Rows of X that must be hott, increasing: their diagonals are one.
    pub must: Vec<usize>,
    /// Relative gap between objective and bound at which to stop. `None`: 1e-6 for
    /// [`Goal::Cost`], 1e-4 for the others.
    pub gap: Option<f64>,
    /// Up to this many candidates (default 1200; 2000 for [`Goal::Minimax`], which gives a little weight
    /// to every row that is explained badly, for itself) all are in play from the start. Of more, only the
    /// greedy method's first and the cheapest are; the multipliers then tell which others would
    /// pay, and bring them in. Changes the cost, not the answer.
    pub all_in_play: usize,
}

impl LpSettings {
    /// Trace constraint on, default cost and gap.
    pub fn new(goal: Goal) -> Self {
        let all_in_play = if goal == Goal::Minimax { 2000 } else { 1200 };
        LpSettings { goal, trace: true, cost: None, must: Vec::new(), gap: None, all_in_play }
    }

    fn check(&self, features: usize) -> Result<(), Error> {
        let refuse = |name, value: f64, remedy: &str| {
            Err(Error::Setting { name, value: value.to_string(), remedy: remedy.to_string() })
        };
        if let Goal::Cost { tau } = self.goal
            && !(tau >= 0.0 && tau.is_finite())
        {
            return refuse("tau", tau, "give the l1 error that every row may have, 0 or more");
        }
        if let Some(gap) = self.gap
            && !(gap > 0.0 && gap.is_finite())
        {
            return refuse("gap", gap, "give a relative gap above 0, such as 1e-4");
        }
        if !self.trace && !matches!(self.goal, Goal::Cost { .. }) {
            let remedy = "without the trace constraint all diagonals would be 1; \
                          only the program with tau can do without it"
                .to_string();
            return Err(Error::Setting { name: "trace", value: "off".to_string(), remedy });
        }
        check_cost(self.cost.as_deref(), features)
    }

    fn check_must(&self, allowed: &[bool], rank: usize) -> Result<(), Error> {
        let may = |row: &usize| allowed.get(*row).is_some_and(|allowed| *allowed);
        if let Some(row) = self.must.iter().find(|row| !may(row)) {
            let remedy = "it is not among the rows that may be hott".to_string();
            return Err(Error::Setting { name: "must", value: row.to_string(), remedy });
        }
        if !self.must.is_sorted_by(|a, b| a < b) || self.must.len() > rank {
            let value = self.must.len().to_string();
            let remedy = "give rows in increasing order, no more than the rank".to_string();
            return Err(Error::Setting { name: "must", value, remedy });
        }
        Ok(())
    }

    /// The gap asked for, or the default.
    pub fn gap(&self) -> f64 {
        self.gap.unwrap_or(if matches!(self.goal, Goal::Cost { .. }) { 1e-6 } else { 1e-4 })
    }
}

/// How a linear program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LpStatus {
    /// Objective and bound differ by no more than the gap asked for.
    Optimal,
    /// The point is feasible and the bound holds, but a limit (time, an interruption, rounding)
    /// was met before they came together.
    Feasible,
    /// Proven: no diagonal explains all rows within tau.
    Infeasible,
    /// A limit was met before a feasible point was found, and before infeasibility was proven.
    Limit,
}

impl LpStatus {
    /// The word for it in results.
    pub fn name(self) -> &'static str {
        match self {
            LpStatus::Optimal => "optimal",
            LpStatus::Feasible => "feasible",
            LpStatus::Infeasible => "infeasible",
            LpStatus::Limit => "limit",
        }
    }
}

/// The answer of a linear program, with everything that proves it.
#[derive(Debug, Clone, PartialEq)]
pub struct LpOutcome {
    /// How it ended.
    pub status: LpStatus,
    /// The objective of the best feasible point; infinite where there is none.
    pub objective: f64,
    /// What the duals prove: no feasible point has a lower objective. For
    /// [`LpStatus::Infeasible`] a bound on the smallest tau that is feasible, and for
    /// [`LpStatus::Limit`] what the costs alone say about the objective.
    pub lower_bound: f64,
    /// `(objective - lower_bound) / |objective|`; infinite without a point.
    pub gap: f64,
    /// d of the best point, one entry for each row of X. Without a feasible point, the diagonal
    /// with the smallest largest error.
    pub diagonal: Vec<f64>,
    /// Rows of C at the best point: (row of X, weight > 0), increasing, with `C_ii = d_i`.
    pub localising: Vec<Vec<(u32, f64)>>,
    /// The rows of Y that are not zero, each over all examples: the dual matrix behind the bound.
    pub dual: Vec<(usize, Vec<f64>)>,
    /// The cost p that was minimised; zeros unless [`Goal::Cost`].
    pub cost: Vec<f64>,
    /// Master programs solved.
    pub rounds: usize,
    /// Cuts found.
    pub cuts: usize,
    /// Row fits carried out.
    pub fits: usize,
    /// Pivots of all row fits.
    pub pivots: usize,
    /// Why it ended.
    pub stop: Stop,
}

/// Solves one of the linear programs over the rows that are `allowed` to be hott, starting from the
/// greedy answer. Stops at the gap, at what `control` says, or when infeasibility is proven; the best
/// point and the bound come back in any case. Rows are fitted in parallel in the current thread
/// pool; the answer does not depend on the number of threads.
///
/// # Errors
/// [`Error::Rank`] when there are fewer than `rank` candidates, or more than `rank` of them must be hott;
/// [`Error::Setting`] and [`Error::Length`] for settings that make no sense. Infeasibility is a status, not an error.
pub fn lp(
    x: &UnitRows,
    rank: usize,
    allowed: &[bool],
    settings: &LpSettings,
    control: &Control,
) -> Result<LpOutcome, Error> {
    settings.check(x.features())?;
    let columns = candidate_rows(allowed, rank)?;
    settings.check_must(allowed, rank)?;
    Ok(search::run(x, rank, columns, settings, control))
}

#[cfg(test)]
mod tests;
