//! The solver: its state, what goes in and what comes out.

use super::basis::Basis;
use super::design::{Design, Loss};
use super::line_search::Breakpoint;
use super::{Status, Summary};
use crate::kernels::{Inverse, dot};

/// Sides of a point: above the fit, below it, or held on it.
pub(super) const ABOVE: f64 = 1.0;
pub(super) const BELOW: f64 = -1.0;
pub(super) const ACTIVE: f64 = 0.0;

/// A fit is called optimal when value and bound differ by no more than this, relative to the
/// target.
pub(super) const OPTIMAL_GAP: f64 = 1e-9;

/// One l1 fit: `min ||x - cA||_1` over `0 <= c <= upper`, using only the atoms in `usable`.
#[derive(Debug, Clone, Copy)]
pub struct Problem<'a> {
    /// The atoms.
    pub design: &'a Design,
    /// The target, one value for each point of the design.
    pub x: &'a [f64],
    /// Atoms that may have weight.
    pub usable: &'a [u32],
    /// Upper bounds by atom (of the design, not of `usable`); `None` for no bounds.
    pub upper: Option<&'a [f64]>,
}

impl Problem<'_> {
    pub(super) fn upper(&self, atom: usize) -> f64 {
        self.upper.map_or(f64::INFINITY, |u| u[atom])
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Place {
    Lower,
    Upper,
    Free,
}

/// Solver with its workspace; reuse one for many fits.
#[derive(Debug, Default)]
pub struct Solver {
    // By atom of the design.
    pub(super) weights: Vec<f64>,
    pub(super) place: Vec<Place>,
    pub(super) gradient: Vec<f64>,
    pub(super) reduced: Vec<f64>,
    // By point.
    pub(super) residual: Vec<f64>,
    pub(super) rate: Vec<f64>,
    pub(super) steps: Vec<f64>,
    /// +1 above the fit, -1 below, 0 for active points.
    pub(super) side: Vec<f64>,
    // The vertex.
    pub(super) free: Vec<u32>,
    pub(super) active: Vec<u32>,
    pub(super) inverse: Inverse,
    pub(super) dual_active: Vec<f64>,
    pub(super) delta: Vec<f64>,
    // Scratch.
    pub(super) breakpoints: Vec<Breakpoint>,
    pub(super) small: Vec<f64>,
    pub(super) other: Vec<f64>,
    pub(super) dual: Vec<f64>,
    pub(super) perturbed: bool,
    pub(super) noise: u64,
    /// Length of recent steps, a guess for the next.
    pub(super) typical_step: f64,
    /// Value minus bound of the last fit.
    pub(super) gap: f64,
}

impl Solver {
    /// A solver with empty buffers.
    pub fn new() -> Self {
        Solver::default()
    }

    /// Solves `problem`, from the vertex `warm` where one is given. Afterwards [`Solver::weights`],
    /// [`Solver::dual`] and [`Solver::basis`] hold the answer.
    pub fn fit(&mut self, problem: &Problem<'_>, warm: Option<&Basis>) -> Summary {
        self.reset(problem);
        if let Some(basis) = warm {
            self.take_basis(problem, basis);
        }
        self.refresh(problem, false);
        self.walk(problem)
    }

    /// The weights c, by atom of the design.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The dual by point, in the form of the design's loss: `[-1, 1]` for [`Loss::Absolute`];
    /// `[0, 2]` for [`Loss::Hinge`], where `y - 1` (and -1 off the support) is the l1 dual.
    pub fn dual(&self) -> &[f64] {
        &self.dual
    }

    /// The final vertex, to start a similar problem from.
    pub fn basis(&self) -> Basis {
        let upper = (0..self.place.len() as u32)
            .filter(|&j| self.place[j as usize] == Place::Upper)
            .collect();
        Basis { free: self.free.clone(), active: self.active.clone(), upper }
    }

    fn reset(&mut self, p: &Problem<'_>) {
        let (m, n) = (p.design.atoms(), p.design.points());
        assert_eq!(p.x.len(), n, "one target value for each point");
        self.weights.clear();
        self.weights.resize(m, 0.0);
        self.place.clear();
        self.place.resize(m, Place::Lower);
        self.gradient.clear();
        self.gradient.resize(m, 0.0);
        self.reduced.clear();
        self.reduced.resize(m, 0.0);
        self.residual.clear();
        self.residual.resize(n, 0.0);
        self.rate.clear();
        self.rate.resize(n, 0.0);
        self.steps.clear();
        self.steps.resize(n, 0.0);
        self.side.clear();
        self.side.resize(n, BELOW);
        self.free.clear();
        self.active.clear();
        self.inverse.clear();
        self.perturbed = false;
        self.typical_step = 1e-3;
        self.noise = 0x9E37_79B9_7F4A_7C15;
    }

    /// Value and bound from the final weights and dual, each evaluated for itself.
    ///
    /// The bound is `y.x - x.1 - sum_j u_j (A_j.y - q_j)_+` (hinge) for a y made feasible by
    /// scaling where a weight has no upper bound, so it holds whatever the walk did.
    pub(super) fn summarise(&mut self, p: &Problem<'_>, pivots: usize) -> Summary {
        let loss = p.design.loss;
        let (up, down) = (loss.up(), loss.down());
        let offset: f64 = match loss {
            Loss::Absolute => 0.0,
            Loss::Hinge => -p.x.iter().sum::<f64>(),
        };
        let mut value: f64 =
            self.residual.iter().map(|&e| if e > 0.0 { up * e } else { -down * e }).sum();
        value += p
            .usable
            .iter()
            .map(|&j| p.design.linear[j as usize] * self.weights[j as usize])
            .sum::<f64>();
        value += offset;

        self.dual.clear();
        self.dual.extend(self.side.iter().map(|s| if *s == ABOVE { up } else { -down }));
        for (&k, &y) in self.active.iter().zip(&self.dual_active) {
            self.dual[k as usize] = y.clamp(-down, up);
        }
        let mut scale = 1.0f64;
        let mut feasible = true;
        for j in p.usable.iter().map(|j| *j as usize) {
            let (q, z) = (p.design.linear[j], self.reduced[j]);
            if z < 0.0 && p.upper(j).is_infinite() {
                if q > 0.0 {
                    scale = scale.min(q / (q - z));
                } else {
                    feasible &= z > -OPTIMAL_GAP;
                }
            }
        }
        if scale < 1.0 {
            self.dual.iter_mut().for_each(|y| *y *= scale);
        }
        let mut bound = dot(&self.dual, p.x) + offset;
        for j in p.usable.iter().map(|j| *j as usize) {
            let (q, z, u) = (p.design.linear[j], self.reduced[j], p.upper(j));
            if u.is_finite() && u > 0.0 {
                bound -= u * (scale * (q - z) - q).max(0.0);
            }
        }
        // A norm is not negative, but this may be a part of one, see `near`.
        self.gap = if feasible { value - bound } else { f64::INFINITY };
        let value = value.max(0.0);
        let lower_bound = if feasible { bound.clamp(0.0, value) } else { 0.0 };
        let mass: f64 = p.x.iter().map(|v| v.abs()).sum();
        let proven = value - lower_bound <= OPTIMAL_GAP * mass;
        let status = if proven { Status::Optimal } else { Status::Inexact };
        Summary { value, lower_bound, status, pivots }
    }
}
