//! One pivot: what leaves the basis, the edge that this opens, how far the duals go along it, and
//! what enters.

use super::{FEASIBLE, Master, SHORTLIST, VariablePlace};
use crate::kernels::{axpy, dot};

/// Smallest entry of a pivot row that may be divided by.
const PIVOT: f64 = 1e-9;
/// An entry that is divided by without a second thought.
const SAFE: f64 = 1e-6;

/// What leaves the basis.
#[derive(Debug, Clone, Copy)]
pub(super) enum Leaving {
    /// A violated constraint becomes tight.
    Constraint(usize),
    /// The free variable at this position goes to its lower (+1) or upper (-1) bound.
    Variable { position: usize, sign: f64 },
}

/// The same by what it is, not by where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    Constraint(u32),
    Variable(u32),
}

/// What enters: where the ratio test stopped.
#[derive(Debug, Clone, Copy)]
pub(super) enum Entering {
    Variable(usize),
    /// A tight constraint, by its position, becomes loose.
    Tight(usize),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Breakpoint {
    ratio: f64,
    size: f64,
    what: Entering,
}

impl Master {
    /// The largest violation of a free variable's bounds or of a constraint, with its size.
    pub(super) fn choose_leaving(&mut self) -> Option<(Leaving, f64)> {
        let mut best = self.tolerance;
        let mut found = None;
        for (position, &v) in self.free.iter().enumerate() {
            let value = self.values[v as usize];
            let (lower, upper) = self.range(v as usize);
            let (under, over) = (lower - value, value - upper);
            let (violation, sign) = if under > over { (under, 1.0) } else { (over, -1.0) };
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
    pub(super) fn violation(&self, c: usize) -> f64 {
        let constraint = &self.constraints[c];
        if constraint.tight {
            return 0.0;
        }
        let slack = constraint.slack.map_or(0.0, |t| self.values[t as usize]);
        constraint.right - dot(&constraint.columns, &self.values[self.slacks..]) - slack
    }

    /// Looks at all constraints and lists the most violated ones, the worst first.
    pub(super) fn list_violated(&mut self) {
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
    pub(super) fn edge(&mut self, leaving: Leaving) {
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
    pub(super) fn ratio_test(&mut self, mut slope: f64) -> Option<(Entering, f64)> {
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
                VariablePlace::Lower if alpha > PIVOT => z.max(0.0) / alpha,
                VariablePlace::Upper if alpha < -PIVOT => z.min(0.0) / alpha,
                _ => continue,
            };
            breakpoints.push(Breakpoint { ratio, size: alpha.abs(), what: Entering::Variable(v) });
        }
        breakpoints
            .sort_unstable_by(|a, b| a.ratio.total_cmp(&b.ratio).then(b.size.total_cmp(&a.size)));
        let mut stop = None;
        for (k, b) in breakpoints.iter().enumerate() {
            slope -= match b.what {
                Entering::Variable(v) => {
                    let (lower, upper) = self.range(v);
                    b.size * (upper - lower)
                }
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
                    let flipped = self.place[v] == VariablePlace::Lower;
                    self.place[v] =
                        if flipped { VariablePlace::Upper } else { VariablePlace::Lower };
                }
            }
            (breakpoints[best].what, breakpoints[best].ratio)
        });
        self.breakpoints = breakpoints;
        chosen
    }

    /// Moves the duals by `step` along the edge and exchanges `leaving` and `entering`. False when
    /// the inverse must be rebuilt.
    pub(super) fn pivot(&mut self, leaving: Leaving, entering: Entering, step: f64) -> bool {
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
        let rest = |sign: f64| if sign > 0.0 { VariablePlace::Lower } else { VariablePlace::Upper };
        match (leaving, entering) {
            (Leaving::Constraint(c), Entering::Variable(v)) => {
                let (row, column) = (over_tight(self, v), over_free(self, c));
                let stable = self.inverse.grow(&row, &column, self.entry(c, v)).is_ok();
                self.constraints[c].tight = true;
                self.tight.push(c as u32);
                self.multipliers.push(step);
                self.place[v] = VariablePlace::Free;
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
                self.place[v] = VariablePlace::Free;
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
}
