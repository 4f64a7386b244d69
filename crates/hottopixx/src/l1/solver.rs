//! The solver: its state, what goes in and what comes out.

use super::basis::Basis;
use super::bound::prove;
use super::design::{Design, Loss};
use super::line_search::Breakpoint;
use super::{Status, Summary};
use crate::control::Control;
use crate::kernels::{Inverse, axpy, axpy4, norms};

/// Sides of a point: above the fit, below it, or held on it.
pub(super) const ABOVE: f64 = 1.0;
pub(super) const BELOW: f64 = -1.0;
pub(super) const ACTIVE: f64 = 0.0;

/// A fit is called optimal when value and bound differ by no more than this, relative to the
/// target.
pub(super) const OPTIMAL_GAP: f64 = 1e-9;
/// An error below this share of the target is rounding: it is zero, and no error is smaller.
pub(super) const ZERO: f64 = 1e-13;

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
    /// What is added to the hinge form so that it is the norm: `-x.1`.
    pub(super) fn offset(&self) -> f64 {
        match self.design.loss {
            Loss::Absolute => 0.0,
            Loss::Hinge => -self.x.iter().sum::<f64>(),
        }
    }

    /// `||x||_1`, the scale of all errors.
    pub(super) fn mass(&self) -> f64 {
        norms(self.x).0
    }

    pub(super) fn upper(&self, atom: usize) -> f64 {
        self.upper.map_or(f64::INFINITY, |u| u[atom])
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum WeightPlace {
    Lower,
    Upper,
    Free,
}

/// Solver with its workspace; reuse one for many fits.
#[derive(Debug, Default)]
pub struct Solver {
    // By atom of the design.
    pub(super) weights: Vec<f64>,
    pub(super) place: Vec<WeightPlace>,
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
    /// Atoms and points that may not enter for now: entering made the basis singular.
    pub(super) barred_atoms: Vec<u32>,
    pub(super) barred_points: Vec<u32>,
    /// Whether the last refresh had to give up a part of the basis.
    pub(super) gave_up: bool,
    control: Control,
}

impl Solver {
    /// A solver with empty buffers, which nothing stops.
    pub fn new() -> Self {
        Solver::default()
    }

    /// A solver whose fits `control` can stop.
    pub fn under(control: &Control) -> Self {
        Solver { control: control.clone(), ..Solver::default() }
    }

    /// Solves `problem`, from the vertex `warm` where one is given. Afterwards [`Solver::weights`],
    /// [`Solver::dual`] and [`Solver::basis`] hold the answer. The bound of the summary costs
    /// O(m n): see [`Solver::improve`] for fits that need none.
    pub fn fit(&mut self, problem: &Problem<'_>, warm: Option<&Basis>) -> Summary {
        let improved = self.improve(problem, warm);
        let lower_bound = prove(problem, &mut self.dual, improved.value);
        improved.with_bound(problem, lower_bound)
    }

    /// As [`Solver::fit`] without a proof: what the weights miss is measured, that no others miss
    /// less is only the walk's opinion.
    pub fn improve(&mut self, problem: &Problem<'_>, warm: Option<&Basis>) -> Improved {
        let (pivots, stopped) = self.walk_from(problem, warm);
        Improved { value: self.measure(problem), pivots, stopped }
    }

    /// As [`Solver::improve`] for those who measure for themselves: the pivots it took, and whether
    /// it was stopped.
    pub(super) fn walk_from(
        &mut self,
        problem: &Problem<'_>,
        warm: Option<&Basis>,
    ) -> (usize, bool) {
        self.reset(problem);
        if let Some(basis) = warm {
            self.take_basis(problem, basis);
        }
        self.refresh(problem, false);
        let control = self.control.clone();
        let walked = self.walk(problem, &mut control.watch());
        self.form_dual(problem);
        walked
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
            .filter(|&j| self.place[j as usize] == WeightPlace::Upper)
            .collect();
        Basis { free: self.free.clone(), active: self.active.clone(), upper }
    }

    fn reset(&mut self, p: &Problem<'_>) {
        let (m, n) = (p.design.atoms(), p.design.points());
        assert_eq!(p.x.len(), n, "one target value for each point");
        self.weights.clear();
        self.weights.resize(m, 0.0);
        self.place.clear();
        self.place.resize(m, WeightPlace::Lower);
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
        self.barred_atoms.clear();
        self.barred_points.clear();
        self.perturbed = false;
        self.typical_step = 1e-3;
        self.noise = 0x9E37_79B9_7F4A_7C15;
    }

    /// Residuals `x - cA` from the data and the present weights: O(k n).
    pub(super) fn form_residual(&mut self, p: &Problem<'_>) {
        self.residual.copy_from_slice(p.x);
        let used: Vec<(f64, &[f64])> = (p.usable.iter())
            .map(|&j| (-self.weights[j as usize], p.design.atom(j as usize)))
            .filter(|(c, _)| *c != 0.0)
            .collect();
        let mut fours = used.chunks_exact(4);
        for four in &mut fours {
            let factors = std::array::from_fn(|l| four[l].0);
            axpy4(factors, std::array::from_fn(|l| four[l].1), &mut self.residual);
        }
        for (factor, atom) in fours.remainder() {
            axpy(*factor, atom, &mut self.residual);
        }
    }

    /// What the residuals, as they stand, amount to. Not below zero for a whole problem, but this
    /// may be a part of one, see `near`.
    pub(super) fn value(&self, p: &Problem<'_>) -> f64 {
        let (up, down) = (p.design.loss.up(), p.design.loss.down());
        let missed: f64 =
            self.residual.iter().map(|&e| if e > 0.0 { up * e } else { -down * e }).sum();
        let spent = |&j: &u32| p.design.linear[j as usize] * self.weights[j as usize];
        let spent: f64 = p.usable.iter().map(spent).sum();
        missed + spent + p.offset()
    }

    /// The dual of the vertex as the walk knows it.
    fn form_dual(&mut self, p: &Problem<'_>) {
        let (up, down) = (p.design.loss.up(), p.design.loss.down());
        self.dual.clear();
        self.dual.extend(self.side.iter().map(|s| if *s == ABOVE { up } else { -down }));
        for (&k, &y) in self.active.iter().zip(&self.dual_active) {
            self.dual[k as usize] = y.clamp(-down, up);
        }
    }

    /// The error of the weights from the data alone: residuals of active points are what they
    /// are, not what they should be. Where nothing is missed, the dual becomes that of the norm at
    /// zero, which proves it.
    fn measure(&mut self, p: &Problem<'_>) -> f64 {
        self.form_residual(p);
        let value = self.value(p).max(0.0);
        if value <= ZERO * p.mass() {
            self.dual.fill(0.5 * (p.design.loss.up() - p.design.loss.down()));
        }
        value
    }
}

/// What a walk came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Improved {
    /// The l1 error of the weights found, measured on the data.
    pub value: f64,
    /// Pivots it took.
    pub pivots: usize,
    /// Whether it was stopped before its end.
    pub stopped: bool,
}

impl Improved {
    /// With a bound that was proven: the gap decides how it is called.
    pub(super) fn with_bound(self, p: &Problem<'_>, lower_bound: f64) -> Summary {
        let Improved { value, pivots, stopped } = self;
        let proven = (value - lower_bound).abs() <= OPTIMAL_GAP * p.mass();
        let status = match () {
            () if proven => Status::Optimal,
            () if stopped => Status::Stopped,
            () => Status::Inexact,
        };
        Summary { value, lower_bound, status, pivots }
    }
}
