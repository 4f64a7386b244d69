//! The master program: a small dense linear program in the diagonal, by a dual simplex method.
//!
//! ```text
//! min  c.v   s.t.  a_c.v >= b_c (cuts),  sum of the diagonal = r (trace),  0 <= v <= u
//! ```
//!
//! The variables v are the *columns* d_j of the diagonal, in [0, 1], and the *slacks* t (one for
//! minimax, one a row for total), unbounded above. Cuts are dense, there are a few hundred of
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

use crate::control::Control;
use crate::kernels::{Inverse, axpy, dot, max_abs};

/// Violations of constraints and bounds below this are rounding; coefficients have unit scale.
const FEASIBLE: f64 = 1e-11;
/// Smallest entry of a pivot row that may be divided by.
const PIVOT: f64 = 1e-9;
/// An entry that is divided by without a second thought.
const SAFE: f64 = 1e-6;
/// Pivots after which the inverse is computed afresh.
const REFRESH_EVERY: usize = 60;
/// Violated constraints kept in view between full looks.
const SHORTLIST: usize = 40;
/// Size of the random costs that break ties, relative to the costs; far below any gap asked for.
const TIE_BREAK: f64 = 1e-11;

/// Corrections of multipliers, and reduced costs of free variables that need none.
const CORRECTIONS: usize = 3;
const ROUNDED: f64 = 1e-14;

/// Gains of the dual objective that are none, pivots with such gains (and one for each free
/// variable) after which the costs are perturbed, how often, and by how much.
const NO_GAIN: f64 = 1e-11;
const STALLS: usize = 20;
const PERTURBED: usize = 3;
const PERTURBATION: f64 = 1e-8;
/// How many times larger violations may then be.
const COARSER: f64 = 10.0;
/// Tight constraints must be met to this much.
const UNMET: f64 = 1e-10;

/// How a call of [`Master::solve`] ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// All constraints hold at the current point and the multipliers are feasible.
    Optimal,
    /// No point satisfies the cuts.
    Infeasible,
    /// Rounding or the pivot limit got in the way. The multipliers are as valid as ever, the point
    /// need not satisfy the cuts.
    Stuck,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
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
pub(super) struct Row<'a> {
    /// Coefficients of the columns.
    pub columns: &'a [f64],
    /// The slack that has coefficient 1, if any.
    pub slack: Option<u32>,
    /// The smallest value allowed.
    pub right: f64,
    /// Comes back with the multiplier.
    pub label: usize,
}

/// What leaves the basis.
#[derive(Debug, Clone, Copy)]
enum Leaving {
    /// A violated constraint becomes tight.
    Constraint(usize),
    /// The free variable at this position goes to its lower (+1) or upper (-1) bound.
    Variable { position: usize, sign: f64 },
}

/// The same by what it is, not by where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Left {
    Constraint(u32),
    Variable(u32),
}

/// What enters: where the ratio test stopped.
#[derive(Debug, Clone, Copy)]
enum Entering {
    Variable(usize),
    /// A tight constraint, by its position, becomes loose.
    Tight(usize),
}

#[derive(Debug, Clone, Copy)]
struct Breakpoint {
    ratio: f64,
    size: f64,
    what: Entering,
}

/// The master program and its current basis. Variables are counted slacks first.
#[derive(Debug, Default)]
pub(super) struct Master {
    slacks: usize,
    cost: Vec<f64>,
    constraints: Vec<Constraint>,
    place: Vec<Place>,
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
}

impl Master {
    /// A program without cuts: `slacks` slacks of cost 1, and columns of the given costs whose sum
    /// is `trace` (if given). Ties among columns are broken by random costs, the larger the `seed`.
    pub fn new(slacks: usize, columns: &[f64], trace: Option<f64>, seed: u64) -> Self {
        let mut master = Master {
            slacks,
            cost: vec![1.0; slacks],
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
        master.place.resize(variables, Place::Lower);
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

    /// The dual feasible vertex without cuts: the cheapest columns are at one, as many as the trace
    /// allows; the last of them is free and carries the trace constraint.
    fn start(&mut self) {
        self.free.clear();
        self.tight.clear();
        self.inverse.clear();
        self.place.fill(Place::Lower);
        self.constraints.iter_mut().for_each(|c| c.tight = false);
        let mut order: Vec<usize> = (self.slacks..self.cost.len()).collect();
        order.sort_by(|&a, &b| self.cost[a].total_cmp(&self.cost[b]).then(a.cmp(&b)));
        let Some(trace) = self.constraints.first().filter(|c| c.equality).map(|c| c.right) else {
            order
                .iter()
                .filter(|&&v| self.cost[v] < 0.0)
                .for_each(|&v| self.place[v] = Place::Upper);
            return;
        };
        let whole = (trace.ceil() as usize).clamp(1, order.len());
        order[..whole - 1].iter().for_each(|&v| self.place[v] = Place::Upper);
        let last = order[whole - 1];
        self.place[last] = Place::Free;
        self.free.push(last as u32);
        self.tight.push(0);
        self.constraints[0].tight = true;
        self.inverse.rebuild(&mut [1.0], 1).expect("one is regular");
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.cost.len() - self.slacks
    }

    /// Adds a cut.
    pub fn add_cut(&mut self, row: Row<'_>) {
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
    pub fn solve(&mut self, control: &Control) -> Outcome {
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
                    break Outcome::Stuck;
                }
                Ok((leaving, slope, entering, step)) => {
                    pivots += 1;
                    fresh += 1;
                    stalls = if step * slope > NO_GAIN { 0 } else { stalls + 1 };
                    if stalls >= STALLS + self.free.len() {
                        if perturbed >= PERTURBED {
                            break Outcome::Stuck;
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
            Outcome::Optimal if !self.barred.is_empty() => Outcome::Stuck,
            outcome => outcome,
        };
        self.barred.clear();
        for constraint in &mut self.constraints {
            constraint.idle = if constraint.tight { 0 } else { constraint.idle + 1 };
        }
        outcome
    }

    /// Breaks ties among the costs: pivots that raise no bound may go round in circles. Any costs
    /// will do to find a point that keeps the cuts, and bounds are computed for the true ones.
    fn perturb_costs(&mut self) {
        if self.true_cost.is_empty() {
            self.true_cost.clone_from(&self.cost);
        }
        let scale = PERTURBATION * max_abs(&self.true_cost).max(1.0);
        for v in self.slacks..self.cost.len() {
            self.cost[v] += scale * (0.5 + self.random());
        }
        self.price();
    }

    /// Takes perturbations back; whether there were any.
    fn restore_costs(&mut self) -> bool {
        let perturbed = !self.true_cost.is_empty();
        if perturbed {
            self.cost = std::mem::take(&mut self.true_cost);
        }
        perturbed
    }

    /// What leaves, in terms that survive a change of basis.
    fn left_by(&self, leaving: Leaving) -> Left {
        match leaving {
            Leaving::Constraint(c) => Left::Constraint(c as u32),
            Leaving::Variable { position, .. } => Left::Variable(self.free[position]),
        }
    }

    /// Goes back to the basis before a pivot that made it singular.
    fn take_back(&mut self, before: (Vec<u32>, Vec<u32>, Vec<Place>)) {
        (self.free, self.tight, self.place) = before;
        self.constraints.iter_mut().for_each(|c| c.tight = false);
        for &c in &self.tight {
            self.constraints[c as usize].tight = true;
        }
    }

    /// Operations of a pivot, about.
    fn work(&self) -> usize {
        let k = self.free.len();
        2 * k * k + (k + SHORTLIST) * self.cost.len()
    }

    /// What leaves and by how much it is violated, what enters, and how far the duals go; or why there
    /// is nothing to do.
    /// With `corrected`, values are solved for to rounding.
    fn next_pivot(&mut self, corrected: bool) -> Result<(Leaving, f64, Entering, f64), Outcome> {
        self.rest_columns();
        self.evaluate(corrected);
        let (leaving, slope) = self.choose_leaving().ok_or(Outcome::Optimal)?;
        self.edge(leaving);
        let (entering, step) = self.ratio_test(slope).ok_or(Outcome::Infeasible)?;
        Ok((leaving, slope, entering, step))
    }

    /// Value of a column of the diagonal, within its bounds.
    pub fn column(&self, j: usize) -> f64 {
        self.values[self.slacks + j].clamp(0.0, 1.0)
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

    fn upper(&self, variable: usize) -> f64 {
        if variable < self.slacks { f64::INFINITY } else { 1.0 }
    }

    fn entry(&self, constraint: usize, variable: usize) -> f64 {
        let constraint = &self.constraints[constraint];
        match variable.checked_sub(self.slacks) {
            Some(column) => constraint.columns[column],
            None => f64::from(u8::from(constraint.slack == Some(variable as u32))),
        }
    }

    /// Multipliers `M lambda = c_free` and reduced costs `z = c - lambda A`. Those of free variables
    /// are zero but for the inverse's error, and correct the multipliers.
    fn price(&mut self) {
        self.small.clear();
        self.small.extend(self.free.iter().map(|&v| self.cost[v as usize]));
        self.inverse.times(&self.small, &mut self.multipliers);
        self.reduced.copy_from_slice(&self.cost);
        let mut change = self.multipliers.clone();
        let mut off = f64::INFINITY;
        for _ in 0..CORRECTIONS {
            for (&c, &change) in self.tight.iter().zip(&change) {
                let constraint = &self.constraints[c as usize];
                axpy(-change, &constraint.columns, &mut self.reduced[self.slacks..]);
                if let Some(slack) = constraint.slack {
                    self.reduced[slack as usize] -= change;
                }
            }
            self.small.clear();
            self.small.extend(self.free.iter().map(|&v| self.reduced[v as usize]));
            let now = max_abs(&self.small);
            if now <= ROUNDED || now >= 0.5 * off {
                break;
            }
            off = now;
            self.inverse.times(&self.small, &mut change);
            axpy(1.0, &change, &mut self.multipliers);
        }
    }

    /// Puts every column that is not free at the bound its reduced cost asks for.
    fn rest_columns(&mut self) {
        for v in self.slacks..self.cost.len() {
            match self.place[v] {
                Place::Lower if self.reduced[v] < -1e-13 => self.place[v] = Place::Upper,
                Place::Upper if self.reduced[v] > 1e-13 => self.place[v] = Place::Lower,
                _ => {}
            }
        }
    }

    /// Values of all variables: the free ones from `v_free M = b - (columns at one)`, where asked
    /// for corrected until the tight constraints hold to rounding. Returns by how much one does not,
    /// where it was corrected.
    fn evaluate(&mut self, corrected: bool) -> f64 {
        let mut at_one = Vec::new();
        for v in 0..self.values.len() {
            let upper = self.place[v] == Place::Upper;
            self.values[v] = if upper { 1.0 } else { 0.0 };
            if upper {
                at_one.push(v - self.slacks);
            }
        }
        self.small.clear();
        for &c in &self.tight {
            let constraint = &self.constraints[c as usize];
            let rest: f64 = at_one.iter().map(|&j| constraint.columns[j]).sum();
            self.small.push(constraint.right - rest);
        }
        let mut free = std::mem::take(&mut self.fall);
        let times_m = |v: &[f64], out: &mut Vec<f64>| {
            out.clear();
            out.extend(self.tight.iter().map(|&c| {
                let entries = self.free.iter().map(|&v| self.entry(c as usize, v as usize));
                entries.zip(v).map(|(entry, v)| entry * v).sum::<f64>()
            }));
        };
        let missed = if corrected {
            self.inverse.left_solve(&self.small, times_m, &mut free)
        } else {
            self.inverse.left_times(&self.small, &mut free);
            0.0
        };
        for (&v, &value) in self.free.iter().zip(&free) {
            self.values[v as usize] = value;
        }
        self.fall = free;
        missed
    }

    /// The largest violation of a free variable's bounds or of a constraint, with its size.
    fn choose_leaving(&mut self) -> Option<(Leaving, f64)> {
        let mut best = self.tolerance;
        let mut found = None;
        for (position, &v) in self.free.iter().enumerate() {
            let value = self.values[v as usize];
            let over = value - self.upper(v as usize);
            let (violation, sign) = if -value > over { (-value, 1.0) } else { (over, -1.0) };
            if violation > best && !self.barred.contains(&Left::Variable(v)) {
                best = violation;
                found = Some((Leaving::Variable { position, sign }, violation));
            }
        }
        for &c in &self.shortlist {
            let violation = self.violation(c as usize);
            if violation > best && !self.barred.contains(&Left::Constraint(c)) {
                best = violation;
                found = Some((Leaving::Constraint(c as usize), violation));
            }
        }
        if found.is_none() {
            self.list_violated();
            let worst = *self.shortlist.first()? as usize;
            found = Some((Leaving::Constraint(worst), self.violation(worst)));
        }
        found
    }

    /// By how much a constraint is violated; nothing if it is tight.
    fn violation(&self, c: usize) -> f64 {
        let constraint = &self.constraints[c];
        if constraint.tight {
            return 0.0;
        }
        let slack = constraint.slack.map_or(0.0, |t| self.values[t as usize]);
        constraint.right - dot(&constraint.columns, &self.values[self.slacks..]) - slack
    }

    /// Looks at all constraints and lists the most violated ones, the worst first.
    fn list_violated(&mut self) {
        let all = (0..self.constraints.len()).map(|c| (self.violation(c), c as u32));
        let open =
            |v: &(f64, u32)| v.0 > self.tolerance && !self.barred.contains(&Left::Constraint(v.1));
        let mut violated: Vec<(f64, u32)> = all.filter(open).collect();
        violated.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        violated.truncate(SHORTLIST);
        self.shortlist.clear();
        self.shortlist.extend(violated.iter().map(|v| v.1));
    }

    /// How the duals change along the edge: multipliers fall at `fall`, reduced costs at `alpha`.
    ///
    /// For a constraint c whose multiplier grows, `fall = M^{-1} A_c,free`; for a variable whose
    /// reduced cost leaves zero, `fall` is its column of the inverse. `alpha = A_c - fall A_tight`.
    fn edge(&mut self, leaving: Leaving) {
        self.alpha.fill(0.0);
        match leaving {
            Leaving::Constraint(c) => {
                let column: Vec<f64> =
                    self.free.iter().map(|&v| self.entry(c, v as usize)).collect();
                self.inverse.times(&column, &mut self.fall);
                let constraint = &self.constraints[c];
                self.alpha[self.slacks..].copy_from_slice(&constraint.columns);
                if let Some(slack) = constraint.slack {
                    self.alpha[slack as usize] = 1.0;
                }
            }
            Leaving::Variable { position, sign } => {
                self.fall.clear();
                let size = self.tight.len();
                self.fall.extend((0..size).map(|a| sign * self.inverse.row(a)[position]));
            }
        }
        for (&c, &fall) in self.tight.iter().zip(&self.fall) {
            let constraint = &self.constraints[c as usize];
            axpy(-fall, &constraint.columns, &mut self.alpha[self.slacks..]);
            if let Some(slack) = constraint.slack {
                self.alpha[slack as usize] -= fall;
            }
        }
    }

    /// How far the duals can go: the first breakpoint behind which the dual objective no longer
    /// rises. Columns passed on the way are flipped to their other bounds. `None` if it rises for
    /// ever: the program is infeasible.
    fn ratio_test(&mut self, mut slope: f64) -> Option<(Entering, f64)> {
        let mut breakpoints = std::mem::take(&mut self.breakpoints);
        breakpoints.clear();
        for (position, (&c, &fall)) in self.tight.iter().zip(&self.fall).enumerate() {
            if fall > PIVOT && !self.constraints[c as usize].equality {
                let ratio = self.multipliers[position].max(0.0) / fall;
                breakpoints.push(Breakpoint { ratio, size: fall, what: Entering::Tight(position) });
            }
        }
        for v in 0..self.cost.len() {
            let (alpha, z) = (self.alpha[v], self.reduced[v]);
            let ratio = match self.place[v] {
                Place::Lower if alpha > PIVOT => z.max(0.0) / alpha,
                Place::Upper if alpha < -PIVOT => z.min(0.0) / alpha,
                _ => continue,
            };
            breakpoints.push(Breakpoint { ratio, size: alpha.abs(), what: Entering::Variable(v) });
        }
        breakpoints
            .sort_unstable_by(|a, b| a.ratio.total_cmp(&b.ratio).then(b.size.total_cmp(&a.size)));
        let mut stop = None;
        for (k, b) in breakpoints.iter().enumerate() {
            slope -= match b.what {
                Entering::Variable(v) => b.size * self.upper(v),
                Entering::Tight(_) => f64::INFINITY,
            };
            // At slope zero the program is on the brink of infeasibility, not beyond it.
            if slope <= FEASIBLE {
                stop = Some(k);
                break;
            }
        }
        let chosen = stop.map(|stop| {
            // Of (nearly) equal ratios the largest entry is the safest to divide by.
            let at = breakpoints[stop].ratio;
            let tied = |b: &Breakpoint| b.ratio <= at + 1e-14 + 1e-12 * at;
            let mut best = (stop..breakpoints.len())
                .take_while(|&k| tied(&breakpoints[k]))
                .max_by(|&a, &b| breakpoints[a].size.total_cmp(&breakpoints[b].size))
                .unwrap_or(stop);
            if breakpoints[best].size < SAFE {
                // Any earlier breakpoint will do as well: the dual objective rises all the way.
                best = (0..stop).rev().find(|&k| breakpoints[k].size >= SAFE).unwrap_or(best);
            }
            for b in &breakpoints[..best.min(stop)] {
                if let Entering::Variable(v) = b.what {
                    let flipped = self.place[v] == Place::Lower;
                    self.place[v] = if flipped { Place::Upper } else { Place::Lower };
                }
            }
            (breakpoints[best].what, breakpoints[best].ratio)
        });
        self.breakpoints = breakpoints;
        chosen
    }

    /// Moves the duals by `step` along the edge and exchanges `leaving` and `entering`. False when
    /// the inverse must be rebuilt.
    fn pivot(&mut self, leaving: Leaving, entering: Entering, step: f64) -> bool {
        axpy(-step, &self.fall, &mut self.multipliers);
        axpy(-step, &self.alpha, &mut self.reduced);
        if let Entering::Variable(v) = entering {
            self.reduced[v] = 0.0;
        }
        let over_free = |this: &Self, c: usize| -> Vec<f64> {
            this.free.iter().map(|&v| this.entry(c, v as usize)).collect()
        };
        let over_tight = |this: &Self, v: usize| -> Vec<f64> {
            this.tight.iter().map(|&c| this.entry(c as usize, v)).collect()
        };
        let rest = |sign: f64| if sign > 0.0 { Place::Lower } else { Place::Upper };
        match (leaving, entering) {
            (Leaving::Constraint(c), Entering::Variable(v)) => {
                let (row, column) = (over_tight(self, v), over_free(self, c));
                let stable = self.inverse.grow(&row, &column, self.entry(c, v)).is_ok();
                self.constraints[c].tight = true;
                self.tight.push(c as u32);
                self.multipliers.push(step);
                self.place[v] = Place::Free;
                self.free.push(v as u32);
                stable
            }
            (Leaving::Constraint(c), Entering::Tight(position)) => {
                let column = over_free(self, c);
                self.constraints[self.tight[position] as usize].tight = false;
                self.constraints[c].tight = true;
                self.tight[position] = c as u32;
                self.multipliers[position] = step;
                self.inverse.replace_active(position, &column).is_ok()
            }
            (Leaving::Variable { position, sign }, Entering::Variable(v)) => {
                let row = over_tight(self, v);
                self.place[self.free[position] as usize] = rest(sign);
                self.reduced[self.free[position] as usize] = sign * step;
                self.place[v] = Place::Free;
                self.free[position] = v as u32;
                self.inverse.replace_free(position, &row).is_ok()
            }
            (Leaving::Variable { position, sign }, Entering::Tight(at)) => {
                let stable = self.inverse.shrink(at, position).is_ok();
                let leaving = self.free.swap_remove(position) as usize;
                self.place[leaving] = rest(sign);
                self.reduced[leaving] = sign * step;
                self.constraints[self.tight.swap_remove(at) as usize].tight = false;
                self.multipliers.swap_remove(at);
                stable
            }
        }
    }

    /// Computes inverse, multipliers and reduced costs afresh; a basis that has become singular is
    /// given up for the first one.
    fn refresh(&mut self) {
        if !self.rebuild() {
            self.start();
        }
        self.price();
    }

    /// Computes the inverse afresh; false when the basis is singular, or so nearly that its
    /// constraints cannot be met.
    fn rebuild(&mut self) -> bool {
        let mut block: Vec<f64> = Vec::with_capacity(self.free.len() * self.tight.len());
        for &v in &self.free {
            block.extend(self.tight.iter().map(|&c| self.entry(c as usize, v as usize)));
        }
        self.inverse.rebuild(&mut block, self.free.len()).is_ok() && self.evaluate(true) <= UNMET
    }

    /// A number in [0, 1), the same in every run.
    fn random(&mut self) -> f64 {
        self.noise ^= self.noise << 13;
        self.noise ^= self.noise >> 7;
        self.noise ^= self.noise << 17;
        (self.noise >> 11) as f64 / (1u64 << 53) as f64
    }
}
