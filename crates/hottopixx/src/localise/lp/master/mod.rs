//! The master program: a small dense linear program in the diagonal, by a dual simplex method.
//!
//! ```text
//! min  c.v   s.t.  a_c.v >= b_c (cuts),  sum of the diagonal = r (trace),  0 <= v <= u
//! ```
//!
//! The variables v are the *columns* d_j of the diagonal, in [0, 1], and the *slacks* t (one for
//! minimax, one per row for total), unbounded above. Cuts are dense, there are a few hundred of
//! them, and they arrive in batches, after each of which only some constraints are violated: the
//! dual simplex method goes on from where it stood. At a vertex k variables are free and k
//! constraints tight, and k is about the number of fractional diagonals, far below the number of
//! cuts and columns: only the inverse of that k x k block is kept ([`Inverse`]). Values are computed
//! afresh from it in every pivot; multipliers and reduced costs move along the edge and are computed
//! afresh with the inverse now and then. Violated cuts are looked for among the worst of the last
//! full look, and among all when none of those is left. A pivot costs `(k + SHORTLIST) * columns`
//! flops, a full look `cuts * columns`.
//!
//! All columns have two finite bounds. So any basis is made dual feasible by resting each column
//! at the bound its reduced cost asks for, and the ratio test may run past a column's breakpoint
//! by flipping it to its other bound (a long step, as in the l1 fit), which saves most pivots.
//!
//! Nothing here is trusted: bounds are recomputed from the multipliers alone ([`super::cuts`]).

mod basis;
mod pivot;
mod pricing;

use crate::control::Control;
use crate::kernels::Inverse;
use pivot::{Breakpoint, Entering, Leaving, Left};

/// Violations of constraints and bounds below this are rounding; coefficients have unit scale.
const FEASIBLE: f64 = 1e-11;
/// Pivots after which the inverse is computed afresh.
const REFRESH_EVERY: usize = 60;
/// Violated constraints kept in view between full looks.
const SHORTLIST: usize = 40;
/// Size of the random costs that break ties, relative to the costs; far below any gap asked for.
const TIE_BREAK: f64 = 1e-11;

/// Gains of the dual objective that are none, pivots with such gains (and one for each free
/// variable) after which the costs are perturbed, and how often.
const NO_GAIN: f64 = 1e-11;
const STALLS: usize = 20;
const PERTURBED: usize = 3;
/// How many times larger violations may then be.
const COARSER: f64 = 10.0;

/// How a call of [`Master::solve`] ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MasterOutcome {
    /// All constraints hold at the current point and the multipliers are feasible.
    Optimal,
    /// No point satisfies the cuts.
    Infeasible,
    /// Rounding or the pivot limit got in the way. The multipliers are as valid as ever, the point
    /// need not satisfy the cuts.
    Stuck,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VariablePlace {
    Lower,
    Upper,
    Free,
}

#[derive(Debug)]
struct Constraint {
    /// Coefficients of the columns.
    columns: Vec<f64>,
    /// The slack that has coefficient 1, if any.
    slack: Option<u32>,
    right: f64,
    equality: bool,
    tight: bool,
    /// Calls of `solve` since it was last tight.
    idle: u32,
    /// What the caller knows the constraint by.
    label: usize,
}

/// A constraint in the caller's terms.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CutRow<'a> {
    /// Coefficients of the columns.
    pub columns: &'a [f64],
    /// The slack that has coefficient 1, if any.
    pub slack: Option<u32>,
    /// The smallest value allowed.
    pub right: f64,
    /// Comes back with the multiplier.
    pub label: usize,
}

/// The master program and its current basis. Variables are counted slacks first.
#[derive(Debug, Default)]
pub(crate) struct Master {
    slacks: usize,
    cost: Vec<f64>,
    constraints: Vec<Constraint>,
    place: Vec<VariablePlace>,
    values: Vec<f64>,
    reduced: Vec<f64>,
    free: Vec<u32>,
    tight: Vec<u32>,
    inverse: Inverse,
    multipliers: Vec<f64>,
    /// How multipliers (by position of tight constraints) and reduced costs fall along the edge.
    fall: Vec<f64>,
    alpha: Vec<f64>,
    breakpoints: Vec<Breakpoint>,
    small: Vec<f64>,
    /// The most violated constraints of the last full look.
    shortlist: Vec<u32>,
    /// What may not leave again in this call: the basis became singular.
    barred: Vec<Left>,
    /// Violations up to this are none, in this call.
    tolerance: f64,
    /// The costs while others stand in their place; empty otherwise.
    true_cost: Vec<f64>,
    noise: u64,
    /// Columns that are held at 0 or 1; empty where none is.
    fixed: Vec<Option<bool>>,
}

impl Master {
    /// A program without cuts: slacks and columns of the given costs, the sum of the latter being
    /// `trace` (if given). Ties among columns are broken by random costs, the larger the `seed`.
    pub fn new(slacks: &[f64], columns: &[f64], trace: Option<f64>, seed: u64) -> Self {
        let mut master = Master {
            slacks: slacks.len(),
            cost: slacks.to_vec(),
            noise: 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(2 * seed + 1),
            ..Master::default()
        };
        let scale = columns.iter().fold(0.0f64, |m, c| m.max(c.abs()));
        let scale = if scale > 0.0 { scale } else { 1.0 };
        for cost in columns {
            let tie_break = TIE_BREAK * 100f64.powi(seed as i32) * scale * master.random();
            master.cost.push(cost + tie_break);
        }
        let variables = master.cost.len();
        master.place.resize(variables, VariablePlace::Lower);
        master.values.resize(variables, 0.0);
        master.reduced.resize(variables, 0.0);
        master.alpha.resize(variables, 0.0);
        if let Some(trace) = trace {
            master.constraints.push(Constraint {
                columns: vec![1.0; columns.len()],
                slack: None,
                right: trace,
                equality: true,
                tight: false,
                idle: 0,
                label: usize::MAX,
            });
        }
        master.start();
        master
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.cost.len() - self.slacks
    }

    /// Adds a cut.
    pub fn add_cut(&mut self, row: CutRow<'_>) {
        self.constraints.push(Constraint {
            columns: row.columns.to_vec(),
            slack: row.slack,
            right: row.right,
            equality: false,
            tight: false,
            idle: 0,
            label: row.label,
        });
    }

    /// Forgets cuts that were not tight in the last `idle` calls of [`Master::solve`].
    pub fn drop_idle(&mut self, idle: u32) {
        let mut renamed = vec![u32::MAX; self.constraints.len()];
        let mut kept = 0;
        for (old, constraint) in self.constraints.iter().enumerate() {
            if constraint.tight || constraint.equality || constraint.idle < idle {
                renamed[old] = kept;
                kept += 1;
            }
        }
        let mut old = 0;
        self.constraints.retain(|_| {
            old += 1;
            renamed[old - 1] != u32::MAX
        });
        self.tight.iter_mut().for_each(|c| *c = renamed[*c as usize]);
    }

    /// Goes on to the optimum from the current basis, or until `control` stops it.
    pub fn solve(&mut self, control: &Control) -> MasterOutcome {
        let limit = 500 + 20 * (self.constraints.len() + self.cost.len());
        // The inverse may be an old one.
        let (mut pivots, mut fresh, mut repairs) = (0, 1, 0);
        let (mut stalls, mut perturbed) = (0, 0);
        self.tolerance = FEASIBLE;
        let mut watch = control.watch();
        self.price();
        self.shortlist.clear();
        let outcome = loop {
            match self.next_pivot(fresh == 0) {
                // An end is certain only when seen without rounding.
                Err(end) if fresh == 0 || repairs > 3 => break end,
                Err(_) => {
                    repairs += 1;
                    self.refresh();
                    fresh = 0;
                }
                Ok(_) if pivots >= limit || watch.spend(self.work()).is_some() => {
                    break MasterOutcome::Stuck;
                }
                Ok((leaving, slope, entering, step)) => {
                    pivots += 1;
                    fresh += 1;
                    stalls = if step * slope > NO_GAIN { 0 } else { stalls + 1 };
                    if stalls >= STALLS + self.free.len() {
                        if perturbed >= PERTURBED {
                            break MasterOutcome::Stuck;
                        }
                        // Below this violations are the rounding that it goes round in.
                        self.tolerance *= COARSER;
                        self.perturb_costs();
                        (perturbed, stalls) = (perturbed + 1, 0);
                        continue;
                    }
                    let before = (self.free.clone(), self.tight.clone(), self.place.clone());
                    let left = self.left_by(leaving);
                    if !self.pivot(leaving, entering, step) {
                        if !self.rebuild() {
                            self.take_back(before);
                            self.barred.push(left);
                        }
                        self.refresh();
                        fresh = 0;
                    } else if fresh >= REFRESH_EVERY {
                        self.refresh();
                        fresh = 0;
                    }
                }
            }
        };
        if self.restore_costs() {
            self.price();
        }
        let outcome = match outcome {
            // What was barred may still be violated.
            MasterOutcome::Optimal if !self.barred.is_empty() => MasterOutcome::Stuck,
            outcome => outcome,
        };
        self.barred.clear();
        for constraint in &mut self.constraints {
            constraint.idle = if constraint.tight { 0 } else { constraint.idle + 1 };
        }
        outcome
    }

    /// Operations of a pivot, about.
    fn work(&self) -> usize {
        let k = self.free.len();
        2 * k * k + (k + SHORTLIST) * self.cost.len()
    }

    /// What leaves and by how much it is violated, what enters, and how far the duals go; or why there
    /// is nothing to do.
    /// With `corrected`, values are solved for to rounding.
    fn next_pivot(
        &mut self,
        corrected: bool,
    ) -> Result<(Leaving, f64, Entering, f64), MasterOutcome> {
        self.rest_columns();
        self.evaluate(corrected);
        let (leaving, slope) = self.choose_leaving().ok_or(MasterOutcome::Optimal)?;
        self.edge(leaving);
        let (entering, step) = self.ratio_test(slope).ok_or(MasterOutcome::Infeasible)?;
        Ok((leaving, slope, entering, step))
    }

    /// Value of a column of the diagonal, within its bounds.
    pub fn column(&self, j: usize) -> f64 {
        let (lower, upper) = self.range(self.slacks + j);
        self.values[self.slacks + j].clamp(lower, upper)
    }

    /// Value of a slack.
    pub fn slack(&self, t: usize) -> f64 {
        self.values[t].max(0.0)
    }

    /// Multipliers of the tight cuts, never negative, by label.
    pub fn cut_multipliers(&self) -> impl Iterator<Item = (usize, f64)> {
        self.tight.iter().zip(&self.multipliers).filter_map(|(&c, &multiplier)| {
            let constraint = &self.constraints[c as usize];
            (!constraint.equality && multiplier > 0.0).then_some((constraint.label, multiplier))
        })
    }

    /// Holds a column at 0 or 1, or lets it go. The basis stays dual feasible, so that the next call
    /// of [`Master::solve`] goes on from it.
    pub fn fix(&mut self, j: usize, at: Option<bool>) {
        if self.fixed.is_empty() {
            self.fixed.resize(self.columns(), None);
        }
        self.fixed[j] = at;
    }

    /// The bounds of a variable.
    #[inline]
    fn range(&self, variable: usize) -> (f64, f64) {
        let Some(column) = variable.checked_sub(self.slacks) else { return (0.0, f64::INFINITY) };
        match self.fixed.get(column) {
            Some(Some(false)) => (0.0, 0.0),
            Some(Some(true)) => (1.0, 1.0),
            _ => (0.0, 1.0),
        }
    }

    #[inline]
    fn entry(&self, constraint: usize, variable: usize) -> f64 {
        let constraint = &self.constraints[constraint];
        match variable.checked_sub(self.slacks) {
            Some(column) => constraint.columns[column],
            None => f64::from(u8::from(constraint.slack == Some(variable as u32))),
        }
    }
}
