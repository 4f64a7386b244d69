//! The step along an edge, and the change of basis at its end.

use super::edge::{Entering, Event};
use super::pricing::subtract;
use crate::kernels::advance;
use crate::l1::solver::{ABOVE, ACTIVE, Problem, Solver, WeightPlace};

impl Solver {
    /// Moves along the edge and changes the basis. False when the inverse must be rebuilt.
    pub(super) fn pivot(
        &mut self,
        p: &Problem<'_>,
        entering: Entering,
        event: Event,
        step: f64,
    ) -> bool {
        if let Entering::Active { position, sign } = entering {
            self.side[self.active[position] as usize] = sign;
        }
        for (&delta, &j) in self.delta.iter().zip(&self.free) {
            let j = j as usize;
            self.weights[j] = (self.weights[j] + step * delta).clamp(0.0, p.upper(j));
        }
        let passed = std::mem::take(&mut self.breakpoints);
        for b in &passed {
            let k = b.point as usize;
            self.take_from_gradient(p, k);
            self.side[k] = -self.side[k];
            self.give_to_gradient(p, k);
        }
        self.breakpoints = passed;
        advance(step, &self.rate, &self.side, &mut self.residual);
        if let Event::Point(k) = event {
            self.take_from_gradient(p, k);
            self.residual[k] = 0.0;
            self.side[k] = ACTIVE;
        }
        self.change_basis(p, entering, event, step)
    }

    pub(super) fn change_basis(
        &mut self,
        p: &Problem<'_>,
        entering: Entering,
        event: Event,
        step: f64,
    ) -> bool {
        let design = p.design;
        let column = |free: &[u32], k: usize| -> Vec<f64> {
            free.iter().map(|&j| design.entry(j as usize, k)).collect()
        };
        match (entering, event) {
            (Entering::Atom { atom, sign }, Event::Point(k)) => {
                let row: Vec<f64> =
                    self.active.iter().map(|&a| design.entry(atom, a as usize)).collect();
                let stable =
                    self.inverse.grow(&row, &column(&self.free, k), design.entry(atom, k)).is_ok();
                self.weights[atom] = (self.weights[atom] + sign * step).clamp(0.0, p.upper(atom));
                self.free.push(atom as u32);
                self.active.push(k as u32);
                self.place[atom] = WeightPlace::Free;
                stable
            }
            (Entering::Atom { atom, sign }, Event::FreeBound(f)) => {
                let row: Vec<f64> =
                    self.active.iter().map(|&a| design.entry(atom, a as usize)).collect();
                let stable = self.inverse.replace_free(f, &row).is_ok();
                self.weights[atom] = (self.weights[atom] + sign * step).clamp(0.0, p.upper(atom));
                self.rest_at_bound(p, self.free[f] as usize, self.delta[f] > 0.0);
                self.free[f] = atom as u32;
                self.place[atom] = WeightPlace::Free;
                stable
            }
            (Entering::Atom { atom, sign }, Event::OwnBound) => {
                self.rest_at_bound(p, atom, sign > 0.0);
                true
            }
            (Entering::Active { position, .. }, event) => {
                self.give_to_gradient(p, self.active[position] as usize);
                match event {
                    Event::Point(k) => {
                        self.active[position] = k as u32;
                        self.inverse.replace_active(position, &column(&self.free, k)).is_ok()
                    }
                    Event::FreeBound(f) => {
                        self.rest_at_bound(p, self.free[f] as usize, self.delta[f] > 0.0);
                        let stable = self.inverse.shrink(position, f).is_ok();
                        self.free.swap_remove(f);
                        self.active.swap_remove(position);
                        stable
                    }
                    Event::OwnBound => true, // a point has no bound: never chosen
                }
            }
        }
    }

    pub(super) fn rest_at_bound(&mut self, p: &Problem<'_>, atom: usize, at_upper: bool) {
        (self.place[atom], self.weights[atom]) =
            if at_upper { (WeightPlace::Upper, p.upper(atom)) } else { (WeightPlace::Lower, 0.0) };
    }

    /// `g += y_k A_k`: point k no longer counts in the gradient.
    pub(super) fn take_from_gradient(&mut self, p: &Problem<'_>, k: usize) {
        self.shift_gradient(p, k, 1.0);
    }

    /// `g -= y_k A_k`: point k counts in the gradient, on its present side.
    pub(super) fn give_to_gradient(&mut self, p: &Problem<'_>, k: usize) {
        self.shift_gradient(p, k, -1.0);
    }

    pub(super) fn shift_gradient(&mut self, p: &Problem<'_>, k: usize, sign: f64) {
        let y = if self.side[k] == ABOVE { p.design.loss.up() } else { -p.design.loss.down() };
        if y == 0.0 {
            return;
        }
        subtract(p, -sign * y, k, &mut self.gradient);
    }
}
