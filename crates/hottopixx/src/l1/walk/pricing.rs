//! Duals and reduced costs at a vertex, and the violated condition that the walk follows.

use super::edge::Entering;
use crate::kernels::{axpy, max_abs};
use crate::l1::solver::{Problem, Solver, WeightPlace};

/// Violations of the optimality conditions below this are rounding; data have unit scale.
const TOLERANCE: f64 = 1e-12;
/// Reduced costs of free weights up to this are zero; otherwise duals are corrected this many
/// times.
const CORRECT: f64 = 1e-13;
const CORRECTIONS: usize = 3;

/// The edge to follow, if any, and whether the duals behind it are solved to rounding.
pub(super) struct Priced {
    pub best: Option<(Entering, f64)>,
    pub accurate: bool,
}

impl Solver {
    /// Duals of the active points and reduced costs, and the most violated optimality condition
    /// per unit of weight moved, with its slope (< 0).
    ///
    /// `M y = g_free` is solved with the inverse; the reduced costs of free weights, `g - M y`, are
    /// then zero up to the inverse's error, and correct y where they are not.
    pub(super) fn price(&mut self, p: &Problem<'_>, bland: bool) -> Priced {
        let (up, down) = (p.design.loss.up(), p.design.loss.down());
        self.small.clear();
        self.small.extend(self.free.iter().map(|&j| self.gradient[j as usize]));
        self.inverse.times(&self.small, &mut self.dual_active);
        self.reduced.copy_from_slice(&self.gradient);
        for (&y, &k) in self.dual_active.iter().zip(&self.active) {
            subtract(p, y, k as usize, &mut self.reduced);
        }
        let accurate = self.correct_duals(p);
        let mut best: Option<(Entering, f64)> = None;
        let mut best_score = 0.0;
        for (position, &y) in self.dual_active.iter().enumerate() {
            let (violation, sign) = if y > up { (y - up, 1.0) } else { (-down - y, -1.0) };
            if violation > TOLERANCE {
                let moved: f64 = self.inverse.row(position).iter().map(|v| v.abs()).sum();
                let score = if bland { 1.0 } else { violation / moved };
                if score > best_score && !self.barred_points.contains(&self.active[position]) {
                    best_score = score;
                    best = Some((Entering::Active { position, sign }, -violation));
                }
            }
        }
        for atom in p.usable.iter().map(|j| *j as usize) {
            let (violation, sign) = match self.place[atom] {
                WeightPlace::Free => continue,
                WeightPlace::Lower if p.upper(atom) > 0.0 => (-self.reduced[atom], 1.0),
                WeightPlace::Lower => continue,
                WeightPlace::Upper => (self.reduced[atom], -1.0),
            };
            let score = if bland && best_score == 0.0 { 1.0 } else { violation };
            if violation > TOLERANCE
                && score > best_score
                && !self.barred_atoms.contains(&(atom as u32))
            {
                best_score = score;
                best = Some((Entering::Atom { atom, sign }, -violation));
            }
        }
        Priced { best, accurate }
    }

    /// Corrects y by the reduced costs of free weights, which are to be zero; false when that
    /// does not help: the inverse must be rebuilt.
    pub(super) fn correct_duals(&mut self, p: &Problem<'_>) -> bool {
        let mut off = f64::INFINITY;
        for _ in 0..CORRECTIONS {
            self.small.clear();
            self.small.extend(self.free.iter().map(|&j| self.reduced[j as usize]));
            let now = max_abs(&self.small);
            if now <= CORRECT {
                return true;
            }
            if now >= 0.5 * off {
                break;
            }
            off = now;
            self.inverse.times(&self.small, &mut self.other);
            for at in 0..self.other.len() {
                self.dual_active[at] += self.other[at];
                subtract(p, self.other[at], self.active[at] as usize, &mut self.reduced);
            }
        }
        false
    }
}

/// `out -= y A_k` on the usable atoms.
pub(super) fn subtract(p: &Problem<'_>, y: f64, k: usize, out: &mut [f64]) {
    let column = p.design.point(k);
    if p.usable.len() == column.len() {
        axpy(-y, column, out);
    } else {
        for &j in p.usable {
            out[j as usize] -= y * column[j as usize];
        }
    }
}
