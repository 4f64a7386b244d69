//! Building a vertex from its lists of free weights and active points, and mending it.
//!
//! Used at the start of a fit, to take over an old vertex whose weights may no longer keep their
//! bounds, and now and then during the walk, to be rid of accumulated rounding.

use super::basis::Basis;
use super::solver::{ABOVE, ACTIVE, BELOW, Problem, Solver, WeightPlace};
use crate::kernels::{dot, independent_block, max_abs};

/// A point counts as met when its residual is below this, relative to the largest target.
const UNMET: f64 = 1e-13;

impl Solver {
    /// Takes over what still makes sense of an old vertex.
    pub(super) fn take_basis(&mut self, p: &Problem<'_>, basis: &Basis) {
        for &j in &basis.upper {
            if (j as usize) < self.place.len()
                && p.upper(j as usize).is_finite()
                && p.usable.contains(&j)
            {
                self.place[j as usize] = WeightPlace::Upper;
            }
        }
        for &j in &basis.free {
            if p.usable.contains(&j) && p.upper(j as usize) > 0.0 {
                self.free.push(j);
                self.place[j as usize] = WeightPlace::Free;
            }
        }
        for &k in &basis.active {
            if (k as usize) < self.side.len() && self.side[k as usize] != ACTIVE {
                self.active.push(k);
                self.side[k as usize] = ACTIVE;
            }
        }
    }

    /// Recomputes inverse, weights, residuals, sides and gradient from the lists of free weights
    /// and active points, dropping pairs that are dependent, whose weights leave their bounds, or
    /// whose points are not met. With `keep_sides`, points with residual zero stay on the side they
    /// were.
    pub(super) fn refresh(&mut self, p: &Problem<'_>, keep_sides: bool) {
        self.gave_up = false;
        self.drop_dependent(p);
        let scale = max_abs(p.x);
        while !self.free.is_empty() {
            let missed = self.solve_weights(p);
            let worst = (0..self.free.len())
                .map(|f| {
                    let c = self.small[f];
                    (f, (-c).max(c - p.upper(self.free[f] as usize)))
                })
                .max_by(|a, b| a.1.total_cmp(&b.1));
            match worst {
                Some((f, violation)) if violation > 1e-13 => {
                    self.drop_free(p, f, self.small[f] > 0.0)
                }
                // A basis so near to a singular one that its points cannot be met.
                Some(_) if missed > UNMET * scale => {
                    self.gave_up = true;
                    let f = self.most_sensitive();
                    self.drop_free(p, f, false);
                }
                _ => break,
            }
        }
        for j in p.usable.iter().map(|j| *j as usize) {
            self.weights[j] = match self.place[j] {
                WeightPlace::Upper => p.upper(j),
                _ => 0.0,
            };
        }
        for (f, &j) in self.free.iter().enumerate() {
            let j = j as usize;
            self.weights[j] = self.small[f].clamp(0.0, p.upper(j));
        }
        self.form_residual(p);
        let zero = 1e-14 * scale;
        for (e, side) in self.residual.iter_mut().zip(&mut self.side) {
            if *side == ACTIVE || (e.abs() <= zero && keep_sides) {
                *e = 0.0;
            } else {
                *side = if *e > 0.0 { ABOVE } else { BELOW };
            }
        }
        self.fresh_gradient(p);
        self.perturbed = false;
    }

    /// The position of the free weight that answers most to a change of the active points.
    fn most_sensitive(&self) -> usize {
        let size = |f: usize| {
            (0..self.active.len()).map(|a| self.inverse.row(a)[f].abs()).fold(0.0, f64::max)
        };
        (0..self.free.len()).max_by(|&a, &b| size(a).total_cmp(&size(b))).unwrap_or(0)
    }

    fn drop_dependent(&mut self, p: &Problem<'_>) {
        self.block(p);
        let (rows, cols) = (self.free.len(), self.active.len());
        if rows == cols && self.inverse.rebuild(&mut self.small.clone(), rows).is_ok() {
            return;
        }
        self.gave_up |= rows == cols;
        let (keep_free, keep_active) = independent_block(&mut self.small, rows, cols);
        let free: Vec<u32> = keep_free.iter().map(|&f| self.free[f]).collect();
        let active: Vec<u32> = keep_active.iter().map(|&a| self.active[a]).collect();
        for &j in &self.free {
            self.place[j as usize] = WeightPlace::Lower;
        }
        for &k in &self.active {
            self.side[k as usize] = BELOW;
        }
        for &j in &free {
            self.place[j as usize] = WeightPlace::Free;
        }
        for &k in &active {
            self.side[k as usize] = ACTIVE;
        }
        (self.free, self.active) = (free, active);
        self.block(p);
        if self.inverse.rebuild(&mut self.small, self.free.len()).is_err() {
            self.forget_basis();
        }
    }

    fn forget_basis(&mut self) {
        for &j in &self.free {
            self.place[j as usize] = WeightPlace::Lower;
        }
        for &k in &self.active {
            self.side[k as usize] = BELOW;
        }
        self.free.clear();
        self.active.clear();
        self.inverse.clear();
    }

    /// M into `small`, free x active.
    fn block(&mut self, p: &Problem<'_>) {
        self.small.clear();
        for &j in &self.free {
            let design = p.design;
            self.small.extend(self.active.iter().map(|&k| design.entry(j as usize, k as usize)));
        }
    }

    /// Free weights into `small`, from `c_free M = x_active - (weights at upper bounds)`, and by how
    /// much an active point is missed with them.
    fn solve_weights(&mut self, p: &Problem<'_>) -> f64 {
        let at_upper: Vec<usize> = (p.usable.iter().map(|j| *j as usize))
            .filter(|&j| self.place[j] == WeightPlace::Upper)
            .collect();
        self.other.clear();
        for &k in &self.active {
            let column = p.design.point(k as usize);
            let bound: f64 = at_upper.iter().map(|&j| p.upper(j) * column[j]).sum();
            self.other.push(p.x[k as usize] - bound);
        }
        let (free, active) = (&self.free, &self.active);
        let times_m = |c: &[f64], out: &mut Vec<f64>| {
            out.clear();
            out.extend(active.iter().map(|&k| {
                let column = p.design.point(k as usize);
                free.iter().zip(c).map(|(&j, c)| c * column[j as usize]).sum::<f64>()
            }));
        };
        self.inverse.left_solve(&self.other, times_m, &mut self.small)
    }

    /// Puts the free weight at position f on a bound and releases the point that depends on it most.
    fn drop_free(&mut self, p: &Problem<'_>, f: usize, to_upper: bool) {
        let j = self.free[f] as usize;
        let a = (0..self.active.len())
            .max_by(|&a, &b| self.inverse.row(a)[f].abs().total_cmp(&self.inverse.row(b)[f].abs()))
            .expect("as many active points as free weights");
        let stable = self.inverse.shrink(a, f).is_ok();
        self.free.swap_remove(f);
        self.side[self.active.swap_remove(a) as usize] = BELOW;
        self.place[j] = if to_upper { WeightPlace::Upper } else { WeightPlace::Lower };
        if !stable {
            self.drop_dependent(p);
        }
    }

    /// `g_j = q_j - sum over points that are not active of y_k A_jk`, from scratch: O(m n).
    fn fresh_gradient(&mut self, p: &Problem<'_>) {
        let (up, down) = (p.design.loss.up(), p.design.loss.down());
        for (y, &side) in self.rate.iter_mut().zip(&self.side) {
            *y = if side == ACTIVE {
                0.0
            } else if side == ABOVE {
                up
            } else {
                -down
            };
        }
        for j in p.usable.iter().map(|j| *j as usize) {
            self.gradient[j] = p.design.linear[j] - dot(&self.rate, p.design.atom(j));
        }
    }
}
