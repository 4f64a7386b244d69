//! Building a vertex from its lists of free weights and active points, and mending it.
//!
//! Used at the start of a fit, to take over an old vertex whose weights may no longer keep their
//! bounds, and now and then during the walk, to be rid of accumulated rounding.

use super::basis::Basis;
use super::solver::{ABOVE, ACTIVE, BELOW, Place, Problem, Solver};
use crate::kernels::{axpy, dot, independent_block, max_abs};

impl Solver {
    /// Takes over what still makes sense of an old vertex.
    pub(super) fn take_basis(&mut self, p: &Problem<'_>, basis: &Basis) {
        for &j in &basis.upper {
            if (j as usize) < self.place.len()
                && p.upper(j as usize).is_finite()
                && p.usable.contains(&j)
            {
                self.place[j as usize] = Place::Upper;
            }
        }
        for &j in &basis.free {
            if p.usable.contains(&j) && p.upper(j as usize) > 0.0 {
                self.free.push(j);
                self.place[j as usize] = Place::Free;
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
    /// and active points, dropping pairs that are dependent or whose weights leave their bounds.
    /// With `keep_sides`, points with residual zero stay on the side they were.
    pub(super) fn refresh(&mut self, p: &Problem<'_>, keep_sides: bool) {
        self.drop_dependent(p);
        loop {
            self.solve_weights(p);
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
                _ => break,
            }
        }
        for j in p.usable.iter().map(|j| *j as usize) {
            self.weights[j] = match self.place[j] {
                Place::Upper => p.upper(j),
                _ => 0.0,
            };
        }
        for (f, &j) in self.free.iter().enumerate() {
            let j = j as usize;
            self.weights[j] = self.small[f].clamp(0.0, p.upper(j));
        }
        self.residual.copy_from_slice(p.x);
        for j in p.usable.iter().map(|j| *j as usize) {
            if self.weights[j] != 0.0 {
                axpy(-self.weights[j], p.design.atom(j), &mut self.residual);
            }
        }
        let zero = 1e-14 * max_abs(p.x);
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

    fn drop_dependent(&mut self, p: &Problem<'_>) {
        self.block(p);
        let (rows, cols) = (self.free.len(), self.active.len());
        if rows == cols && self.inverse.rebuild(&mut self.small.clone(), rows).is_ok() {
            return;
        }
        let (keep_free, keep_active) = independent_block(&mut self.small, rows, cols);
        let free: Vec<u32> = keep_free.iter().map(|&f| self.free[f]).collect();
        let active: Vec<u32> = keep_active.iter().map(|&a| self.active[a]).collect();
        for &j in &self.free {
            self.place[j as usize] = Place::Lower;
        }
        for &k in &self.active {
            self.side[k as usize] = BELOW;
        }
        for &j in &free {
            self.place[j as usize] = Place::Free;
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
            self.place[j as usize] = Place::Lower;
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

    /// Free weights into `small`, from `c_free M = x_active - (weights at upper bounds)`.
    fn solve_weights(&mut self, p: &Problem<'_>) {
        self.other.clear();
        for &k in &self.active {
            let column = p.design.point(k as usize);
            let bound: f64 = p
                .usable
                .iter()
                .filter(|j| self.place[**j as usize] == Place::Upper)
                .map(|j| p.upper(*j as usize) * column[*j as usize])
                .sum();
            self.other.push(p.x[k as usize] - bound);
        }
        self.inverse.left_times(&self.other, &mut self.small);
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
        self.place[j] = if to_upper { Place::Upper } else { Place::Lower };
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
