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

use super::Summary;
use super::basis::Basis;
use super::bound::prove;
use super::design::{Design, Loss};
use super::line_search::{Breakpoint, find_crossing};
use super::smooth::Smooth;
use super::solver::{Improved, Problem, Solver, ZERO};
use crate::control::Control;
use crate::kernels::{Inverse, axpy, axpy4, dot, max_abs, transpose};

/// The near points are at first those with the smallest residuals: one in this many, ...
const NEAR_SHARE: usize = 6;
/// ... on wide data so many and one in that many, since starts are better there, ...
const NEAR_WIDE: (usize, usize) = (500, 24);
/// ... but at least so many for each usable atom, and at least so many times the root of atoms times
/// points: the least squares fit of u atoms to noisy points is off by `sqrt(u / n)` of the noise.
const NEAR_ATOMS: usize = 5;
const NEAR_SWING: f64 = 2.4;
/// The walk is believed when at most one near point in this many has turned.
const BELIEVED: usize = 4;
/// Rounds after which the solver goes on with all points, from where it stands.
const ROUNDS: usize = 12;
/// Points offered to the first basis for each of its weights.
const CRASH: usize = 2;
/// Usable atoms from which the first basis is worth Newton steps on a smoothed loss.
const SMOOTHED: usize = 32;
/// Near points that are left for each usable atom after that.
const NARROWED: usize = 8;
/// Problems with at least so many points, and so many for each usable atom, are wide.
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
    near: Near,
    smooth: Smooth,
    inverse: Inverse,
    residual: Vec<f64>,
    is_near: Vec<bool>,
    /// Twice the indicator of the far points above the fit.
    far: Vec<f64>,
    /// By position in `usable`.
    upper: Vec<f64>,
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
    /// Points went on turning.
    Undecided,
    /// The control stopped them.
    Stopped,
}

/// The problem on the near points and usable atoms.
#[derive(Debug)]
struct Near {
    points: Vec<u32>,
    design: Design,
    x: Vec<f64>,
    usable: Vec<u32>,
}

impl Default for Near {
    fn default() -> Self {
        let (points, x, usable) = Default::default();
        Near { points, design: Design::empty(), x, usable }
    }
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
        if self.value(p) <= ZERO * p.mass() {
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
        let (pivots, end) = self.rounds(p, basis);
        let (pivots, stopped) = match end {
            End::Settled => (pivots, false),
            End::Stopped => {
                self.step_back(p);
                (pivots, true)
            }
            End::Undecided => {
                let basis = self.outwards(p, &self.solver.basis());
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
    fn rounds(&mut self, p: &Problem<'_>, mut basis: Basis) -> (usize, End) {
        let control = self.control.clone();
        let mut watch = control.watch();
        let mut pivots = 0;
        for round in 1..=ROUNDS {
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
        (pivots, End::Undecided)
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

    /// The upper bounds of the usable atoms, or what takes their place.
    fn set_bounds(&mut self, p: &Problem<'_>) {
        let mass: f64 = p.x.iter().sum();
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
                (None, None) => {
                    self.weights.clear();
                    let capped = other.iter().zip(&self.upper).map(|(c, u)| c.min(*u));
                    self.weights.extend(capped);
                }
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
            self.weights[at] = self.upper[at];
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
                self.weights[at] = weight.clamp(0.0, self.upper[at]);
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
                self.weights[at] = weight.clamp(0.0, self.upper[at]);
            }
        }
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

    /// Near are the points with the smallest residuals; the sides of the others are taken as known.
    /// `times` as many as at first.
    fn choose_near(&mut self, p: &Problem<'_>, times: usize) {
        let n = p.x.len();
        let part = (n / NEAR_SHARE).min(NEAR_WIDE.0 + n / NEAR_WIDE.1);
        let swing = NEAR_SWING * (p.usable.len() as f64 * n as f64).sqrt();
        let wanted = part.max(NEAR_ATOMS * p.usable.len() + 32).max(swing as usize);
        let wanted = wanted.saturating_mul(times).min(n);
        let mut sizes: Vec<f64> = self.residual.iter().map(|e| e.abs()).collect();
        let band = if wanted < n {
            *sizes.select_nth_unstable_by(wanted, f64::total_cmp).1
        } else {
            f64::INFINITY
        };
        self.is_near.clear();
        self.is_near.extend(self.residual.iter().map(|e| e.abs() <= band));
        if let Some(k) = self.held {
            self.is_near[k as usize] = true;
        }
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

    fn take_in(&mut self, p: &Problem<'_>, turned: &[u32]) {
        self.near.extend(p, turned, &self.far);
        for &k in turned {
            self.is_near[k as usize] = true;
            self.far[k as usize] = 0.0;
        }
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

    /// A first basis from weights without one, improved on the near points where they are many: the
    /// weights between their bounds are free, and the points where the residual is smallest are
    /// offered to hold them.
    fn crash(&mut self, p: &Problem<'_>) -> Basis {
        if p.usable.len() >= SMOOTHED {
            let Near { design, x, .. } = &self.near;
            self.smooth.run(design, x, &self.upper, &self.weights, self.held_place());
            self.narrow(NARROWED * p.usable.len());
        } else {
            self.smooth.weights.clone_from(&self.weights);
            let residual = self.near.points.iter().map(|&k| self.residual[k as usize]);
            self.smooth.residual.clear();
            self.smooth.residual.extend(residual);
        }
        let (points, smooth) = (&self.near.points, &self.smooth);
        let mut basis = Basis::default();
        for (at, (&upper, &c)) in self.upper.iter().zip(&smooth.weights).enumerate() {
            if c > 1e-9 && c < upper - 1e-9 {
                basis.free.push(at as u32);
            } else if c > 0.0 && (p.upper.is_some() || c > 1e-9) {
                basis.upper.push(at as u32);
            }
        }
        let wanted = (CRASH * basis.free.len()).min(points.len());
        let mut order: Vec<u32> = (0..points.len() as u32).collect();
        if 0 < wanted && wanted < order.len() {
            let size = |at: &u32| smooth.residual[*at as usize].abs();
            order.select_nth_unstable_by(wanted, |a, b| size(a).total_cmp(&size(b)).then(a.cmp(b)));
        }
        order.truncate(wanted);
        order.extend(self.held_place().map(|at| at as u32));
        order.sort_unstable();
        order.dedup();
        basis.active = order;
        basis
    }

    /// Where the held point is among the near ones, which must be in order.
    fn held_place(&self) -> Option<usize> {
        self.held.and_then(|k| self.near.points.binary_search(&k).ok())
    }

    /// Leaves about `wanted` near points, those closest to the smoothed fit; the sides of the others
    /// are taken as known.
    fn narrow(&mut self, wanted: usize) {
        let residual = &mut self.smooth.residual;
        if wanted >= residual.len() {
            return;
        }
        let mut sizes: Vec<f64> = residual.iter().map(|e| e.abs()).collect();
        let band = *sizes.select_nth_unstable_by(wanted, f64::total_cmp).1;
        let held = self.held;
        let stays: Vec<bool> = (residual.iter().zip(&self.near.points))
            .map(|(e, &k)| e.abs() <= band || held == Some(k))
            .collect();
        for ((&k, &e), _) in
            self.near.points.iter().zip(&*residual).zip(&stays).filter(|(_, stays)| !**stays)
        {
            self.is_near[k as usize] = false;
            self.far[k as usize] = if e > 0.0 { 2.0 } else { 0.0 };
        }
        self.near.keep(&stays, &self.far);
        let mut stays = stays.iter();
        residual.retain(|_| *stays.next().expect("one for each point"));
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
        self.usable.clear();
        self.usable.extend(0..p.usable.len() as u32);
        self.x.clear();
        let design = &mut self.design;
        (design.atoms, design.points, design.loss) = (p.usable.len(), 0, Loss::Hinge);
        design.whole = false;
        design.linear.clear();
        design.linear.extend(p.usable.iter().map(|&j| {
            let atom = p.design.atom(j as usize);
            p.design.linear[j as usize] - dot(atom, far)
        }));
        design.by_point.clear();
        let points = std::mem::take(&mut self.points);
        self.append(p, &points);
    }

    /// Takes in more points, which were far.
    fn extend(&mut self, p: &Problem<'_>, points: &[u32], far: &[f64]) {
        for &k in points.iter().filter(|k| far[**k as usize] != 0.0) {
            let column = p.design.point(k as usize);
            for (linear, &j) in self.design.linear.iter_mut().zip(p.usable) {
                *linear += far[k as usize] * column[j as usize];
            }
        }
        self.append(p, points);
    }

    /// Keeps some of the points, by place; the others go to the linear term.
    fn keep(&mut self, stays: &[bool], far: &[f64]) {
        let design = &mut self.design;
        let (m, mut kept) = (design.atoms, 0);
        for (at, &stays) in stays.iter().enumerate().take(self.points.len()) {
            let k = self.points[at];
            if stays {
                (self.points[kept], self.x[kept]) = (k, self.x[at]);
                design.by_point.copy_within(at * m..(at + 1) * m, kept * m);
                kept += 1;
            } else if far[k as usize] != 0.0 {
                let column = &design.by_point[at * m..(at + 1) * m];
                axpy(-far[k as usize], column, &mut design.linear);
            }
        }
        self.points.truncate(kept);
        self.x.truncate(kept);
        design.by_point.truncate(kept * m);
        self.lay_out();
    }

    fn append(&mut self, p: &Problem<'_>, points: &[u32]) {
        self.points.extend_from_slice(points);
        self.x.extend(points.iter().map(|&k| p.x[k as usize]));
        let design = &mut self.design;
        for &k in points {
            let column = p.design.point(k as usize);
            if p.usable.len() == column.len() {
                design.by_point.extend_from_slice(column);
            } else {
                design.by_point.extend(p.usable.iter().map(|&j| column[j as usize]));
            }
        }
        self.lay_out();
    }

    /// The layout by atom from that by point.
    fn lay_out(&mut self) {
        let design = &mut self.design;
        design.points = self.points.len();
        design.by_atom.resize(design.by_point.len(), 0.0);
        transpose(design.points, design.atoms, &design.by_point, &mut design.by_atom);
    }
}
