//! Where a fit begins: the best of the starts offered, and a first basis for weights without one.

use super::NearSolver;
use super::points::NearProblem;
use crate::l1::basis::Basis;
use crate::l1::solver::Problem;

/// Points offered to the first basis for each of its weights.
const CRASH: usize = 2;
/// Usable atoms from which the first basis is worth Newton steps on a smoothed loss.
const SMOOTHED: usize = 32;
/// Near points that are left for each usable atom after that. Half as many are not enough on word counts: most of them
/// turn, and rounds are repeated.
const NARROWED: usize = 32;

impl NearSolver {
    /// Takes the best of three starts: the vertex `warm` under the present bounds, the weights
    /// `start`, and the weights `other`. Returns the vertex if it is the best.
    pub(super) fn choose_start<'b>(
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
    pub(super) fn take_vertex(&mut self, p: &Problem<'_>, basis: &Basis) {
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
    pub(super) fn left_over(&self, p: &Problem<'_>, k: usize) -> f64 {
        let column = p.design.point(k);
        let fitted: f64 =
            p.usable.iter().zip(&self.weights).map(|(&j, c)| c * column[j as usize]).sum();
        p.x[k] - fitted
    }

    pub(super) fn take_weights(&mut self, p: &Problem<'_>, start: &[(u32, f64)]) {
        self.weights.clear();
        self.weights.resize(p.usable.len(), 0.0);
        for &(j, weight) in start {
            if let Ok(at) = p.usable.binary_search(&j) {
                self.weights[at] = weight.clamp(0.0, self.upper[at]);
            }
        }
    }

    /// A first basis from weights without one, improved on the near points where they are many: the
    /// weights between their bounds are free, and the points where the residual is smallest are
    /// offered to hold them.
    pub(super) fn crash(&mut self, p: &Problem<'_>) -> Basis {
        if p.usable.len() >= SMOOTHED {
            let NearProblem { design, x, .. } = &self.near;
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
    pub(super) fn held_place(&self) -> Option<usize> {
        self.held.and_then(|k| self.near.points.binary_search(&k).ok())
    }
}
