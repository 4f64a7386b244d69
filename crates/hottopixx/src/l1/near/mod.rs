//! Bounded fits that walk only among the points whose side is in doubt.
//!
//! The side of a point whose residual is large beside `x_k + (cA)_k` does not change during a short walk, and on a
//! fixed side its loss is linear: `2 (x_k - (cA)_k)` above the fit, 0 below. So such *far* points are
//! folded into the linear term of the objective, and the walk sees the *near* ones only, a small
//! part of them and on the usable atoms only, which also fits into the cache. (Portnoy and Koenker's
//! preprocessing for quantile regression, with linear terms in place of their globs.) Afterwards
//! all residuals are formed once. If a few far points are found on the other side, they join the
//! near ones and the walk goes on from where it stood. If many are, the walk went further than the
//! linear terms can be trusted: an exact line search on all points says how far to follow it, and
//! near points are chosen anew around that place. When no far point has turned, all optimality
//! conditions of the whole problem hold: the answer is exact, not an approximation. If points still
//! turn after some rounds, as on data full of ties and near-duplicates, the solver goes on with all
//! points from the vertex that was reached.
//!
//! With many atoms the vertex to begin at is found by Newton steps on a smoothed loss
//! ([`super::smooth`]), after which still fewer points are in doubt.
//!
//! With u usable atoms and k free weights, the first round costs about `4 u n` flops, later ones
//! half of that, and a pivot `k * near` instead of `k n`.
//!
//! Without upper bounds the linear problem of a round might have no minimum. But c = 0 has the error
//! `x.1`, and the error is at least `c.(A 1) - x.1`; so no optimal weight is above `2 x.1 / (A_j 1)`,
//! and a bound somewhat above that changes nothing.

mod approach;
mod points;
mod start;

use super::Summary;
use super::basis::Basis;
use super::bound::prove;
use super::design::Loss;
use super::line_search::{Breakpoint, find_crossing};
use super::smooth::Smooth;
use super::solver::{Improved, Problem, Solver, ZERO};
use crate::control::Control;
use crate::kernels::{Inverse, axpy, axpy4, positive_sum};
use points::{NearProblem, places};

/// The walk is believed when at most one near point in this many has turned.
const BELIEVED: usize = 4;
/// Rounds after which the solver goes on with all points, from where it stands.
const ROUNDS: usize = 12;
/// Problems with at least this many points, and this many per usable atom, are wide.
const WIDE: usize = 400;
const WIDE_ATOMS: usize = 12;
/// Where there are no upper bounds, weights are kept below this times `x.1 / (A_j 1)`.
const CAP: f64 = 2.5;
/// Points whose residuals are formed at a time, so that they stay in the cache.
const TILE: usize = 2048;

/// Solver for many bounded fits on wide data; reuse one.
#[derive(Debug, Default)]
pub struct NearSolver {
    solver: Solver,
    near: NearProblem,
    smooth: Smooth,
    inverse: Inverse,
    residual: Vec<f64>,
    keys: Vec<u16>,
    is_near: Vec<bool>,
    /// Twice the indicator of the far points above the fit.
    far: Vec<f64>,
    /// By position in `usable`.
    upper: Vec<f64>,
    /// Of the problem: `||x||_1`.
    mass: f64,
    weights: Vec<f64>,
    old_weights: Vec<f64>,
    old_residual: Vec<f64>,
    breakpoints: Vec<Breakpoint>,
    /// A point that is known to be met at the optimum, and so heavy that starts must meet it.
    pub(super) held: Option<u32>,
    dual: Vec<f64>,
    basis: Basis,
    control: Control,
}

/// How the rounds ended.
enum End {
    /// No far point turned: the answer is that of the whole problem.
    Settled,
    /// Points went on turning: where the next walk would begin, in terms of the near points.
    Undecided(Basis),
    /// The control stopped them.
    Stopped,
}

impl NearSolver {
    /// A solver whose fits `control` can stop.
    pub fn under(control: &Control) -> Self {
        NearSolver {
            solver: Solver::under(control),
            control: control.clone(),
            ..NearSolver::default()
        }
    }

    /// Whether problems of this shape are solved faster here than by [`Solver`].
    pub fn pays(points: usize, usable: usize) -> bool {
        points >= WIDE.max(WIDE_ATOMS * usable)
    }

    /// Solves `problem`, which must have the hinge loss, starting from the best of
    /// the vertex `warm`, the weights `start` (atom, weight), and the weights `other` (by position
    /// in `usable`). The bound of the summary costs O(u n): see [`NearSolver::improve`] for fits
    /// that need none.
    pub fn fit(
        &mut self,
        p: &Problem<'_>,
        start: &[(u32, f64)],
        warm: Option<&Basis>,
        other: &[f64],
    ) -> Summary {
        let improved = self.improve(p, start, warm, other);
        let lower_bound = prove(p, &mut self.dual, improved.value);
        improved.with_bound(p, lower_bound)
    }

    /// As [`NearSolver::fit`] without a proof.
    pub fn improve(
        &mut self,
        p: &Problem<'_>,
        start: &[(u32, f64)],
        warm: Option<&Basis>,
        other: &[f64],
    ) -> Improved {
        assert!(p.design.loss == Loss::Hinge, "hinge fits only");
        self.set_bounds(p);
        let warm = self.choose_start(p, start, warm, other);
        if self.value(p) <= ZERO * self.mass {
            // Nothing is missed, which the dual 0 of the norm proves.
            self.dual.clear();
            self.dual.resize(p.x.len(), 1.0);
            self.basis = warm.cloned().unwrap_or_default();
            return Improved { value: self.value(p), pivots: 0, stopped: false };
        }
        self.choose_near(p, 1);
        self.near.gather(p, &self.far);
        let basis = match warm {
            Some(basis) => self.inwards(p, basis),
            None => self.crash(p),
        };
        let (pivots, end) = self.rounds(ROUNDS, p, basis);
        let (pivots, stopped) = match end {
            End::Settled => (pivots, false),
            End::Stopped => {
                self.step_back(p);
                (pivots, true)
            }
            End::Undecided(basis) => {
                let basis = self.outwards(p, &basis);
                let whole = self.solver.improve(p, Some(&basis));
                return self.take_whole(p, whole, pivots);
            }
        };
        let basis = self.solver.basis();
        self.dual.clone_from(&self.far);
        for (&k, &y) in self.near.points.iter().zip(self.solver.dual()) {
            self.dual[k as usize] = y;
        }
        self.basis = self.outwards(p, &basis);
        Improved { value: self.value(p), pivots, stopped }
    }

    /// Walks and mends the near points until no far point turns: the pivots it took and how it
    /// ended. The weights and residuals are those of the last walk.
    fn rounds(&mut self, most: usize, p: &Problem<'_>, mut basis: Basis) -> (usize, End) {
        let control = self.control.clone();
        let mut watch = control.watch();
        let mut pivots = 0;
        for round in 1..=most {
            let near = &self.near;
            let inner = Problem {
                design: &near.design,
                x: &near.x,
                usable: &near.usable,
                upper: Some(&self.upper),
            };
            let (walked, stopped) = self.solver.walk_from(&inner, Some(&basis));
            pivots += walked;
            std::mem::swap(&mut self.weights, &mut self.old_weights);
            std::mem::swap(&mut self.residual, &mut self.old_residual);
            self.weights.clear();
            self.weights.extend_from_slice(self.solver.weights());
            self.form_residual(p);
            let turned = self.turned(p);
            if stopped || watch.spend(6 * p.usable.len() * p.x.len()).is_some() {
                return (pivots, End::Stopped);
            }
            if turned.is_empty() {
                return (pivots, End::Settled);
            }
            if turned.len() * BELIEVED <= self.near.points.len() {
                basis = self.solver.basis();
                self.take_in(p, &turned);
            } else {
                self.step_back(p);
                self.choose_near(p, 1 + round / 3);
                self.near.gather(p, &self.far);
                basis = self.crash(p);
            }
        }
        (pivots, End::Undecided(basis))
    }

    /// Takes over an answer that the solver found on all points.
    fn take_whole(&mut self, p: &Problem<'_>, whole: Improved, pivots: usize) -> Improved {
        self.weights.clear();
        self.weights.extend(p.usable.iter().map(|&j| self.solver.weights()[j as usize]));
        self.form_residual(p);
        self.dual.clear();
        self.dual.extend_from_slice(self.solver.dual());
        self.basis = self.solver.basis();
        Improved { pivots: pivots + whole.pivots, value: self.value(p), ..whole }
    }

    /// The upper bounds of the usable atoms, or what takes their place; and the mass, which they are made of.
    fn set_bounds(&mut self, p: &Problem<'_>) {
        self.mass = p.mass();
        let mass = self.mass;
        self.upper.clear();
        self.upper.extend(p.usable.iter().map(|&j| {
            let sum = p.design.linear[j as usize];
            match p.upper {
                Some(upper) => upper[j as usize],
                None if sum > 0.0 => CAP * mass / sum,
                None => 0.0,
            }
        }));
    }

    /// `||x - cA||_1` from the residuals.
    fn value(&self, p: &Problem<'_>) -> f64 {
        let spent: f64 = (p.usable.iter().zip(&self.weights))
            .map(|(&j, c)| p.design.linear[j as usize] * c)
            .sum();
        (2.0 * positive_sum(&self.residual) + spent - self.mass).max(0.0)
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

    fn form_residual(&mut self, p: &Problem<'_>) {
        self.residual.clear();
        self.residual.extend_from_slice(p.x);
        let used: Vec<(f64, &[f64])> = (p.usable.iter().zip(&self.weights))
            .filter(|(_, c)| **c != 0.0)
            .map(|(&j, &c)| (-c, p.design.atom(j as usize)))
            .collect();
        for (tile, residual) in self.residual.chunks_mut(TILE).enumerate() {
            let part = tile * TILE..tile * TILE + residual.len();
            let mut fours = used.chunks_exact(4);
            for four in &mut fours {
                let weights = std::array::from_fn(|l| four[l].0);
                axpy4(weights, std::array::from_fn(|l| &four[l].1[part.clone()]), residual);
            }
            for (weight, atom) in fours.remainder() {
                axpy(*weight, &atom[part.clone()], residual);
            }
        }
    }

    /// Goes from the old weights towards the new ones as far as the objective falls.
    fn step_back(&mut self, p: &Problem<'_>) {
        let mut slope = 0.0;
        for (at, &j) in p.usable.iter().enumerate() {
            slope += p.design.linear[j as usize] * (self.weights[at] - self.old_weights[at]);
        }
        let moves = self.old_residual.iter().zip(&self.residual);
        for (&old, &new) in moves.clone() {
            let rate = new - old;
            let rises = (old > 0.0) | ((old == 0.0) & (rate > 0.0));
            slope += if rises { 2.0 * rate } else { 0.0 };
        }
        let mut crossed = Vec::new();
        places(moves.map(|(old, new)| old * new < 0.0), &mut crossed);
        self.breakpoints.clear();
        self.breakpoints.extend(crossed.iter().map(|&point| {
            let (old, new) = (self.old_residual[point as usize], self.residual[point as usize]);
            Breakpoint { step: old / (old - new), jump: 2.0 * (new - old).abs(), point }
        }));
        let step = find_crossing(&mut self.breakpoints, -slope)
            .map_or(1.0, |crossing| self.breakpoints[crossing.at].step);
        for (new, old) in self.weights.iter_mut().zip(&self.old_weights) {
            *new = old + step * (*new - old);
        }
        for (new, old) in self.residual.iter_mut().zip(&self.old_residual) {
            *new = old + step * (*new - old);
        }
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

#[cfg(test)]
mod tests {
    use super::super::design::Design;
    use super::*;
    use crate::matrix::Dense;

    /// Rounds that end with new near points hand on a vertex in terms of these. The last walk's, whose points are
    /// others, once stood in its place: no vertex of anything, or with points that were not there any more.
    #[test]
    fn a_vertex_that_is_handed_on_is_one_of_the_points_at_hand() {
        let mut state = 55u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as f64 / (1u64 << 31) as f64
        };
        let (m, n) = (32, 650);
        let atoms = Dense::new(m, n, (0..m * n).map(|_| next().powi(2)).collect()).unwrap();
        let x: Vec<f64> = (0..n).map(|_| next().powi(2)).collect();
        let design = Design::new(&atoms, Loss::Hinge);
        let usable: Vec<u32> = (0..m as u32).collect();
        let p = Problem { design: &design, x: &x, usable: &usable, upper: None };
        let mut near = NearSolver::default();
        near.set_bounds(&p);
        near.choose_start(&p, &[], None, &vec![0.0; m]);
        near.choose_near(&p, 1);
        near.near.gather(&p, &near.far);
        let basis = near.crash(&p);
        let (_, End::Undecided(basis)) = near.rounds(1, &p, basis) else {
            panic!("one round is not enough here")
        };
        // Those where the smoothed fit misses least: offered to hold the free weights.
        let misses = |at: usize| near.smooth.residual[at].abs();
        let holds = |at: &usize| basis.active.contains(&(*at as u32));
        let (held, others): (Vec<usize>, Vec<usize>) = (0..near.near.points.len()).partition(holds);
        assert_eq!((held.len(), basis.active.len()), (2 * basis.free.len(), held.len()));
        let most = held.iter().map(|&at| misses(at)).fold(0.0, f64::max);
        assert!(others.iter().all(|&at| misses(at) >= most));
        let found = NearSolver::default().fit(&p, &[], None, &vec![0.0; m]).value;
        let expected = Solver::new().fit(&p, None).value;
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }
}
