//! Bounded fits that walk only among the points whose side is in doubt.
//!
//! The side of a point whose residual is large does not change during a short walk, and on a fixed
//! side its loss is linear: `2 (x_k - (cA)_k)` above the fit, 0 below. So such *far* points are
//! folded into the linear term of the objective, and the walk sees the *near* ones only, a small
//! part of them and on the usable atoms only, which also fits into the cache. (Portnoy and Koenker's
//! preprocessing for quantile regression, with linear terms in place of their globs.) Afterwards
//! all residuals are formed once. If a few far points are found on the other side, they join the
//! near ones and the walk goes on from where it stood. If many are, the walk went further than the
//! linear terms can be trusted: an exact line search on all points says how far to follow it, and
//! near points are chosen anew around that place. When no far point has turned, all optimality
//! conditions of the whole problem hold: the answer is exact, not an approximation. After some
//! rounds all points count as near, so it ends.
//!
//! With u usable atoms and k free weights, a round costs about `4 u n` flops and a pivot
//! `k * near` instead of `k n`.

use super::basis::Basis;
use super::design::{Design, Loss};
use super::line_search::{Breakpoint, find_crossing};
use super::solver::{Problem, Solver};
use crate::kernels::{Inverse, axpy, dot, max_abs};

/// The near points are at first those with the smallest residuals: one in this many, ...
const NEAR_SHARE: usize = 6;
/// ... on wide data so many and one in that many, since starts are better there, ...
const NEAR_WIDE: (usize, usize) = (500, 24);
/// ... but at least so many for each usable atom.
const NEAR_ATOMS: usize = 5;
/// The walk is believed when at most one near point in this many has turned.
const BELIEVED: usize = 4;
/// Rounds after which all points are near.
const ROUNDS: usize = 12;
/// Points offered to the first basis for each of its weights.
const CRASH: usize = 2;

/// Solver for many bounded fits on wide data; reuse one.
#[derive(Debug, Default)]
pub struct NearSolver {
    solver: Solver,
    near: Near,
    inverse: Inverse,
    residual: Vec<f64>,
    is_near: Vec<bool>,
    /// Twice the indicator of the far points above the fit.
    far: Vec<f64>,
    /// By position in `usable`.
    weights: Vec<f64>,
    old_weights: Vec<f64>,
    old_residual: Vec<f64>,
    breakpoints: Vec<Breakpoint>,
    dual: Vec<f64>,
    basis: Basis,
}

/// The problem on the near points and usable atoms.
#[derive(Debug)]
struct Near {
    points: Vec<u32>,
    design: Design,
    x: Vec<f64>,
    upper: Vec<f64>,
    usable: Vec<u32>,
}

impl Default for Near {
    fn default() -> Self {
        let (points, x, upper, usable) = Default::default();
        Near { points, design: Design::empty(), x, upper, usable }
    }
}

/// What a fit came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NearSummary {
    /// `||x - cA||_1`, measured over all points.
    pub value: f64,
    /// Pivots it took.
    pub pivots: usize,
}

impl NearSolver {
    /// Solves `problem`, which must have upper bounds and the hinge loss, starting from the best of
    /// the vertex `warm`, the weights `start` (atom, weight), and the weights `other` (by position
    /// in `usable`).
    pub fn fit(
        &mut self,
        p: &Problem<'_>,
        start: &[(u32, f64)],
        warm: Option<&Basis>,
        other: &[f64],
    ) -> NearSummary {
        assert!(p.design.loss == Loss::Hinge && p.upper.is_some(), "bounded hinge fits only");
        let warm = self.choose_start(p, start, warm, other);
        self.choose_near(p, 1);
        let mut pivots = 0;
        let mut basis = match warm {
            Some(basis) => self.inwards(p, basis),
            None => self.crash(p),
        };
        for round in 1.. {
            self.near.gather(p, &self.far);
            let near = &self.near;
            let inner = Problem {
                design: &near.design,
                x: &near.x,
                usable: &near.usable,
                upper: Some(&near.upper),
            };
            pivots += self.solver.fit(&inner, Some(&basis)).pivots;
            std::mem::swap(&mut self.weights, &mut self.old_weights);
            std::mem::swap(&mut self.residual, &mut self.old_residual);
            self.weights.clear();
            self.weights.extend_from_slice(self.solver.weights());
            self.form_residual(p);
            let turned = self.turned(p);
            if turned.is_empty() {
                break;
            }
            if turned.len() * BELIEVED <= self.near.points.len() {
                basis = self.solver.basis();
                self.take_in(&turned);
            } else {
                self.step_back(p);
                self.choose_near(p, if round < ROUNDS { 1 + round / 3 } else { usize::MAX });
                basis = self.crash(p);
            }
        }
        let basis = self.solver.basis();
        self.dual.clone_from(&self.far);
        for (&k, &y) in self.near.points.iter().zip(self.solver.dual()) {
            self.dual[k as usize] = y;
        }
        self.basis = self.outwards(p, &basis);
        NearSummary { value: self.value(p), pivots }
    }

    /// Takes the best of three starts: the vertex `warm` under the present bounds, the weights
    /// `start`, and the weights `other`. Returns the vertex if it is the best.
    fn choose_start<'b>(
        &mut self,
        p: &Problem<'_>,
        start: &[(u32, f64)],
        warm: Option<&'b Basis>,
        other: &[f64],
    ) -> Option<&'b Basis> {
        let mut best = f64::INFINITY;
        let mut chosen = None;
        let starts = [(warm, None), (None, Some(start)), (None, None)];
        for (basis, from) in starts.into_iter().skip(usize::from(warm.is_none())) {
            match (basis, from) {
                (Some(basis), _) => self.take_vertex(p, basis),
                (None, Some(start)) => self.take_weights(p, start),
                (None, None) => other.clone_into(&mut self.weights),
            }
            self.form_residual(p);
            let value = self.value(p);
            if value < best {
                best = value;
                chosen = basis;
                self.old_weights.clone_from(&self.weights);
                self.old_residual.clone_from(&self.residual);
            }
            if basis.is_some() && value == 0.0 {
                break;
            }
        }
        std::mem::swap(&mut self.weights, &mut self.old_weights);
        std::mem::swap(&mut self.residual, &mut self.old_residual);
        chosen
    }

    /// The weights at a vertex, cut down to their bounds: those at their upper bounds there, and
    /// the free ones such that the residuals of the active points are zero.
    fn take_vertex(&mut self, p: &Problem<'_>, basis: &Basis) {
        let position = |j: &u32| p.usable.binary_search(j).ok();
        self.weights.clear();
        self.weights.resize(p.usable.len(), 0.0);
        for at in basis.upper.iter().filter_map(position) {
            self.weights[at] = p.upper(p.usable[at] as usize);
        }
        let free: Vec<usize> = basis.free.iter().filter_map(position).collect();
        if free.len() != basis.active.len() {
            return;
        }
        let right: Vec<f64> = basis.active.iter().map(|&k| self.left_over(p, k as usize)).collect();
        let entry = |at: usize, k: &u32| p.design.entry(p.usable[at] as usize, *k as usize);
        let mut block: Vec<f64> =
            free.iter().flat_map(|&at| basis.active.iter().map(move |k| entry(at, k))).collect();
        if self.inverse.rebuild(&mut block, free.len()).is_ok() {
            let mut solved = Vec::new();
            self.inverse.left_times(&right, &mut solved);
            for (&at, &weight) in free.iter().zip(&solved) {
                self.weights[at] = weight.clamp(0.0, p.upper(p.usable[at] as usize));
            }
        }
    }

    /// The residual of one point.
    fn left_over(&self, p: &Problem<'_>, k: usize) -> f64 {
        let column = p.design.point(k);
        let fitted: f64 =
            p.usable.iter().zip(&self.weights).map(|(&j, c)| c * column[j as usize]).sum();
        p.x[k] - fitted
    }

    /// `||x - cA||_1` from the residuals.
    fn value(&self, p: &Problem<'_>) -> f64 {
        let above: f64 = self.residual.iter().map(|e| e.max(0.0)).sum();
        let spent: f64 = (p.usable.iter().zip(&self.weights))
            .map(|(&j, c)| p.design.linear[j as usize] * c)
            .sum();
        (2.0 * above + spent - p.x.iter().sum::<f64>()).max(0.0)
    }

    /// The weights, by position in the problem's `usable`.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The dual in [0, 2], by point.
    pub fn dual(&self) -> &[f64] {
        &self.dual
    }

    /// The final vertex, to start a similar problem from.
    pub fn basis(&self) -> &Basis {
        &self.basis
    }

    fn take_weights(&mut self, p: &Problem<'_>, start: &[(u32, f64)]) {
        self.weights.clear();
        self.weights.resize(p.usable.len(), 0.0);
        for &(j, weight) in start {
            if let Ok(at) = p.usable.binary_search(&j) {
                self.weights[at] = weight.clamp(0.0, p.upper(j as usize));
            }
        }
    }

    fn form_residual(&mut self, p: &Problem<'_>) {
        self.residual.clear();
        self.residual.extend_from_slice(p.x);
        for (&j, &weight) in p.usable.iter().zip(&self.weights) {
            if weight != 0.0 {
                axpy(-weight, p.design.atom(j as usize), &mut self.residual);
            }
        }
    }

    /// Near are the points with the smallest residuals; the sides of the others are taken as known.
    /// `times` as many as at first.
    fn choose_near(&mut self, p: &Problem<'_>, times: usize) {
        let n = p.x.len();
        let part = (n / NEAR_SHARE).min(NEAR_WIDE.0 + n / NEAR_WIDE.1);
        let wanted = part.max(NEAR_ATOMS * p.usable.len() + 32);
        let wanted = wanted.saturating_mul(times).min(n);
        let mut sizes: Vec<f64> = self.residual.iter().map(|e| e.abs()).collect();
        let band = if wanted < n {
            *sizes.select_nth_unstable_by(wanted, f64::total_cmp).1
        } else {
            f64::INFINITY
        };
        self.is_near.clear();
        self.is_near.extend(self.residual.iter().map(|e| e.abs() <= band));
        self.far.clear();
        self.far.extend(
            (self.residual.iter().zip(&self.is_near)).map(
                |(&e, &near)| {
                    if e > 0.0 && !near { 2.0 } else { 0.0 }
                },
            ),
        );
        self.near.points.clear();
        self.near.points.extend((0..n as u32).filter(|&k| self.is_near[k as usize]));
    }

    /// Far points that are on the other side now.
    fn turned(&self, p: &Problem<'_>) -> Vec<u32> {
        let zero = 1e-14 * max_abs(p.x);
        let wrong = |k: usize| {
            let e = self.residual[k];
            !self.is_near[k] && if self.far[k] > 0.0 { e < -zero } else { e > zero }
        };
        (0..self.residual.len()).filter(|&k| wrong(k)).map(|k| k as u32).collect()
    }

    fn take_in(&mut self, turned: &[u32]) {
        for &k in turned {
            self.is_near[k as usize] = true;
            self.far[k as usize] = 0.0;
        }
        self.near.points.extend_from_slice(turned);
    }

    /// Goes from the old weights towards the new ones as far as the objective falls.
    fn step_back(&mut self, p: &Problem<'_>) {
        let mut slope = 0.0;
        for (at, &j) in p.usable.iter().enumerate() {
            slope += p.design.linear[j as usize] * (self.weights[at] - self.old_weights[at]);
        }
        self.breakpoints.clear();
        for (k, (&old, &new)) in self.old_residual.iter().zip(&self.residual).enumerate() {
            let rate = new - old;
            if old > 0.0 || (old == 0.0 && rate > 0.0) {
                slope += 2.0 * rate;
            }
            if old * new < 0.0 {
                let (step, jump) = (old / (old - new), 2.0 * rate.abs());
                self.breakpoints.push(Breakpoint { step, jump, point: k as u32 });
            }
        }
        let step = find_crossing(&mut self.breakpoints, -slope)
            .map_or(1.0, |crossing| self.breakpoints[crossing.at].step);
        for (new, old) in self.weights.iter_mut().zip(&self.old_weights) {
            *new = old + step * (*new - old);
        }
        for (new, old) in self.residual.iter_mut().zip(&self.old_residual) {
            *new = old + step * (*new - old);
        }
    }

    /// A first basis from weights without one: the weights between their bounds are free, and the
    /// points where the residual is smallest are offered to hold them.
    fn crash(&self, p: &Problem<'_>) -> Basis {
        let mut basis = Basis::default();
        for (at, (&j, &c)) in p.usable.iter().zip(&self.weights).enumerate() {
            let upper = p.upper(j as usize);
            if c > 1e-9 && c < upper - 1e-9 {
                basis.free.push(at as u32);
            } else if c > 0.0 {
                basis.upper.push(at as u32);
            }
        }
        let wanted = (CRASH * basis.free.len()).min(self.near.points.len());
        let mut order: Vec<u32> = (0..self.near.points.len() as u32).collect();
        if 0 < wanted && wanted < order.len() {
            let size = |at: &u32| self.residual[self.near.points[*at as usize] as usize].abs();
            order.select_nth_unstable_by(wanted, |a, b| size(a).total_cmp(&size(b)).then(a.cmp(b)));
        }
        order.truncate(wanted);
        order.sort_unstable();
        basis.active = order;
        basis
    }

    /// A basis of the whole problem in terms of usable atoms and near points.
    fn inwards(&self, p: &Problem<'_>, basis: &Basis) -> Basis {
        let atoms = |list: &[u32]| -> Vec<u32> {
            let position = |j| p.usable.binary_search(j).ok().map(|at| at as u32);
            list.iter().filter_map(position).collect()
        };
        // The near points are still in order here.
        let point = |k: &u32| self.near.points.binary_search(k).ok().map(|at| at as u32);
        Basis {
            free: atoms(&basis.free),
            active: basis.active.iter().filter_map(point).collect(),
            upper: atoms(&basis.upper),
        }
    }

    fn outwards(&self, p: &Problem<'_>, basis: &Basis) -> Basis {
        let atoms = |list: &[u32]| list.iter().map(|&at| p.usable[at as usize]).collect();
        Basis {
            free: atoms(&basis.free),
            active: basis.active.iter().map(|&at| self.near.points[at as usize]).collect(),
            upper: atoms(&basis.upper),
        }
    }
}

impl Near {
    /// Gathers the near points, and adds the far ones to the linear term: `q_j - A_j.far`.
    fn gather(&mut self, p: &Problem<'_>, far: &[f64]) {
        let (atoms, points) = (p.usable.len(), self.points.len());
        self.x.clear();
        self.x.extend(self.points.iter().map(|&k| p.x[k as usize]));
        self.upper.clear();
        self.upper.extend(p.usable.iter().map(|&j| p.upper(j as usize)));
        self.usable.clear();
        self.usable.extend(0..atoms as u32);
        let design = &mut self.design;
        (design.atoms, design.points, design.loss) = (atoms, points, Loss::Hinge);
        design.linear.clear();
        design.by_atom.clear();
        for &j in p.usable {
            let atom = p.design.atom(j as usize);
            design.linear.push(p.design.linear[j as usize] - dot(atom, far));
            design.by_atom.extend(self.points.iter().map(|&k| atom[k as usize]));
        }
        design.by_point.clear();
        for &k in &self.points {
            let column = p.design.point(k as usize);
            design.by_point.extend(p.usable.iter().map(|&j| column[j as usize]));
        }
    }
}
