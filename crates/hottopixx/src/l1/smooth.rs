//! A start for the walk on many atoms: Newton steps on a smoothed loss.
//!
//! A walk from a vertex that was only guessed takes some pivots for every free weight. The hinge
//! `2 (e)_+` with its corner rounded, slope `clamp(1 + e / (gamma s), 0, 2)`, has a minimum that Newton's
//! method reaches in a few steps, and as gamma falls it comes to the vertex that is sought (Madsen
//! and Nielsen, SIAM J. Optim. 3, 1993). The scale of a point is `s_k = x_k + (cA)_k` where it begins: with one
//! width for all, all light columns would be within it when few heavy ones are. A step with k free weights and
//! p close points, `|e| < gamma s`, costs `k^2 p` flops; gamma is halved after each, so all of them cost about
//! as much as two with all points. As a start nothing depends on the outcome but the number of pivots that follow.
//!
//! Where a fit need not be exact ([`Smooth::approach`]) the slopes of the rounded loss are a dual that
//! proves how good the weights are, and there is no walk. There, each step goes to the minimum of the
//! quadratic model within the bounds: with bounds that many weights meet, steps that are cut off at
//! them lead nowhere.

use super::design::Design;
use crate::kernels::{View, ViewMut, axpy, axpy4, dot, max_abs, multiply, positive_sum};
use crate::squares::{cholesky_solve, minimise_in_box};

/// Fewer close points, for each free weight, decide nothing.
const FEWEST: f64 = 1.5;
/// Most steps, and most when they are to prove something.
const STEPS: usize = 10;
const APPROACH_STEPS: usize = 16;
/// No point's scale is less than this part of the largest: the Hessian divides by it.
const LIGHTEST: f64 = 1e-9;
/// Halvings of the line search.
const HALVINGS: usize = 10;
/// Points that are taken at a time, so that they stay in the cache.
const TILE: usize = 256;
/// Rows of the Hessian that are formed at a time.
const BLOCK: usize = 32;

/// When an error is good enough.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Enough {
    /// No better error is asked for.
    pub value: f64,
    /// What may be between the error and what the dual proves.
    pub gap: f64,
}

/// Weights near the minimum, with the residuals there; buffers to be reused.
#[derive(Debug, Default)]
pub(super) struct Smooth {
    pub weights: Vec<f64>,
    pub residual: Vec<f64>,
    trial: Vec<f64>,
    trial_residual: Vec<f64>,
    /// `s_k = x_k + (cA)_k` at the weights it began with, or [`LIGHTEST`].
    scale: Vec<f64>,
    /// The dual in [0, 2] of the last weights that were priced.
    pub slopes: Vec<f64>,
    gradient: Vec<f64>,
    free: Vec<usize>,
    /// Free atoms on a tile of points.
    part: Vec<f64>,
    hessian: Vec<f64>,
}

impl Smooth {
    /// Improves the weights `start` of a hinge problem over all atoms of `design`. The loss of the
    /// point `held`, which is met at the minimum, has no end of its rounded corner.
    pub fn run(
        &mut self,
        design: &Design,
        x: &[f64],
        upper: &[f64],
        start: &[f64],
        held: Option<usize>,
    ) {
        start.clone_into(&mut self.trial);
        self.form_residual(design, x);
        let mut best = self.value(design);
        self.keep();
        self.set_scale(x);
        let mut gamma = self.widest();
        for _ in 0..STEPS {
            self.price(design, gamma, held);
            if !self.step(design, upper, gamma, held) {
                break;
            }
            self.form_residual(design, x);
            let value = self.value(design);
            if value < best {
                best = value;
                self.keep();
            }
            gamma *= 0.5;
        }
    }

    /// Goes on from the weights `start` until the smoothed slopes, taken as a dual, prove that the
    /// error is within `enough.gap` of the least, or until it is no more than `enough.value`; `value`
    /// is the error at `start`, of which the design may see a part. Returns what is between the
    /// error of [`Smooth::weights`] and what [`Smooth::slopes`] prove. With slopes y and the gradient
    /// g that is
    ///
    /// `sum_k |e_k| (1 - |e_k| / (gamma s_k))_+  +  sum_j (c_j (g_j)_+ + (u_j - c_j) (-g_j)_+)`:
    ///
    /// the corner that was rounded, and how far the weights are from the minimum of the rounded loss.
    /// Gamma is halved as long as the first is too large.
    pub fn approach(
        &mut self,
        (design, x): (&Design, &[f64]),
        upper: &[f64],
        start: &[f64],
        value: f64,
        enough: Enough,
    ) -> f64 {
        start.clone_into(&mut self.trial);
        self.form_residual(design, x);
        let elsewhere = value - self.value(design);
        self.set_scale(x);
        let mut gamma = self.widest().max(f64::MIN_POSITIVE);
        for _ in 0..APPROACH_STEPS {
            self.price(design, gamma, None);
            let (corner, off) = (self.corner(gamma), self.distance(upper));
            let done = corner + off <= enough.gap;
            if done || self.value(design) + elsewhere <= enough.value {
                break;
            }
            if corner > 0.5 * enough.gap && off <= corner {
                gamma *= 0.5;
                self.price(design, gamma, None);
            }
            self.step_within(design, x, upper, gamma);
        }
        // The last step may have moved the weights.
        self.price(design, gamma, None);
        let gap = self.corner(gamma) + self.distance(upper);
        self.keep();
        gap
    }

    /// The scale of every point at the trial weights.
    fn set_scale(&mut self, x: &[f64]) {
        let of_point = |(x, e): (&f64, &f64)| 2.0 * x - e;
        self.scale.clear();
        self.scale.extend(x.iter().zip(&self.trial_residual).map(of_point));
        let least = LIGHTEST * max_abs(&self.scale);
        self.scale.iter_mut().for_each(|s| *s = s.max(least));
    }

    /// Residuals beside the scales of their points.
    fn relative(&self) -> impl Iterator<Item = f64> {
        self.trial_residual.iter().zip(&self.scale).map(|(e, s)| e / s)
    }

    /// The largest of these: no corner need be rounded any further.
    fn widest(&self) -> f64 {
        self.relative().map(f64::abs).fold(0.0, f64::max)
    }

    /// What rounding the corner costs: `sum |e| (1 - |e| / (gamma s))` over the close points.
    fn corner(&self, gamma: f64) -> f64 {
        let parts = self.trial_residual.iter().zip(self.relative());
        parts.map(|(e, share)| e.abs() * (1.0 - share.abs() / gamma).max(0.0)).sum()
    }

    /// The points whose corner has been rounded where they are, and the one that is held.
    fn close(&self, gamma: f64, held: Option<usize>) -> Vec<usize> {
        let close =
            |(k, share): (usize, f64)| (share.abs() < gamma || held == Some(k)).then_some(k);
        self.relative().enumerate().filter_map(close).collect()
    }

    /// What moving each weight to the bound that its gradient asks for would gain.
    fn distance(&self, upper: &[f64]) -> f64 {
        let weights = self.trial.iter().zip(upper).zip(&self.gradient);
        weights.map(|((c, u), g)| if *g > 0.0 { c * g } else { (c - u) * g }).sum()
    }

    fn keep(&mut self) {
        self.weights.clone_from(&self.trial);
        self.residual.clone_from(&self.trial_residual);
    }

    fn form_residual(&mut self, design: &Design, x: &[f64]) {
        let residual = &mut self.trial_residual;
        x.clone_into(residual);
        let mut j = 0;
        while j + 4 <= self.trial.len() {
            let weights = std::array::from_fn(|l| -self.trial[j + l]);
            axpy4(weights, std::array::from_fn(|l| design.atom(j + l)), residual);
            j += 4;
        }
        for (j, c) in self.trial.iter().enumerate().skip(j) {
            axpy(-c, design.atom(j), residual);
        }
    }

    fn value(&self, design: &Design) -> f64 {
        2.0 * positive_sum(&self.trial_residual) + dot(&design.linear, &self.trial)
    }

    /// Slopes of the smoothed loss at the trial weights, and its gradient. O(u s).
    fn price(&mut self, design: &Design, gamma: f64, held: Option<usize>) {
        self.slopes.clear();
        let points = self.trial_residual.iter().zip(&self.scale);
        self.slopes.extend(points.map(|(e, s)| (1.0 + e / (gamma * s)).clamp(0.0, 2.0)));
        if let Some(k) = held {
            self.slopes[k] = 1.0 + self.trial_residual[k] / (gamma * self.scale[k]);
        }
        self.gradient.clear();
        let slopes = &self.slopes;
        let gradient = (0..design.atoms()).map(|j| design.linear[j] - design.price(j, slopes));
        self.gradient.extend(gradient);
    }

    /// One Newton step from where [`Smooth::price`] was called, cut off at the bounds; false when
    /// too few points are close.
    fn step(&mut self, design: &Design, upper: &[f64], gamma: f64, held: Option<usize>) -> bool {
        let close = self.close(gamma, held);
        self.find_free(upper);
        if (close.len() as f64) < FEWEST * self.free.len() as f64 || self.free.is_empty() {
            return false;
        }
        self.form_hessian(design, &close);
        let mut move_by: Vec<f64> = self.free.iter().map(|&j| -gamma * self.gradient[j]).collect();
        if !cholesky_solve(&mut self.hessian, &mut move_by) {
            return false;
        }
        for (&j, d) in self.free.iter().zip(move_by) {
            self.trial[j] = (self.trial[j] + d).clamp(0.0, upper[j]);
        }
        true
    }

    /// Weights between their bounds, and those that gain by leaving one.
    fn find_free(&mut self, upper: &[f64]) {
        self.free.clear();
        for (j, &g) in self.gradient.iter().enumerate() {
            let c = self.trial[j];
            if (c > 0.0 || g < 0.0) && (c < upper[j] || g > 0.0) {
                self.free.push(j);
            }
        }
    }

    /// One Newton step from where [`Smooth::price`] was called, to the minimum of the quadratic model
    /// over the free weights within their bounds, and as far as the smoothed loss falls. `2 k^2 s`
    /// flops and some `k^3`, k weights being free.
    fn step_within(&mut self, design: &Design, x: &[f64], upper: &[f64], gamma: f64) {
        let close = self.close(gamma, None);
        self.find_free(upper);
        if self.free.is_empty() {
            return;
        }
        self.form_hessian(design, &close);
        let of_free = |of: &dyn Fn(usize) -> f64| self.free.iter().map(|&j| of(j)).collect();
        let (mut gain, mut weights, bounds): (Vec<f64>, Vec<f64>, Vec<f64>) = (
            of_free(&|j| -gamma * self.gradient[j]),
            of_free(&|j| self.trial[j]),
            of_free(&|j| upper[j]),
        );
        minimise_in_box(&self.hessian, &mut gain, &mut weights, &bounds);
        let (old, old_residual) = (self.trial.clone(), self.trial_residual.clone());
        self.free.iter().zip(weights).for_each(|(&j, c)| self.trial[j] = c);
        self.form_residual(design, x);
        // Slope of the loss at a share of the way; it grows.
        let spent: f64 = (design.linear.iter().zip(&self.trial).zip(&old))
            .map(|((q, new), old)| q * (new - old))
            .sum();
        let slope = |share: f64| {
            let points = old_residual.iter().zip(&self.trial_residual).zip(&self.scale);
            let part = |((old, new), scale): ((&f64, &f64), &f64)| {
                let rate = new - old;
                (1.0 + (old + share * rate) / (gamma * scale)).clamp(0.0, 2.0) * rate
            };
            spent + points.map(part).sum::<f64>()
        };
        if slope(1.0) <= 0.0 {
            return;
        }
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if slope(middle) > 0.0 { high = middle } else { low = middle }
        }
        let mix = |new: &mut f64, old: &f64| *new = old + high * (*new - old);
        self.trial.iter_mut().zip(&old).for_each(|(new, old)| mix(new, old));
        self.trial_residual.iter_mut().zip(&old_residual).for_each(|(new, old)| mix(new, old));
    }

    /// `A diag(s)^-1 A^T` over the free atoms and the close points: the Hessian times gamma.
    fn form_hessian(&mut self, design: &Design, close: &[usize]) {
        let m = self.free.len();
        self.hessian.clear();
        self.hessian.resize(m * m, 0.0);
        for points in close.chunks(TILE) {
            let s = points.len();
            let mut by_scale = [0.0; TILE];
            points.iter().zip(&mut by_scale).for_each(|(&k, b)| *b = self.scale[k].sqrt().recip());
            self.part.clear();
            for &j in &self.free {
                let atom = design.atom(j);
                self.part.extend(points.iter().zip(&by_scale).map(|(&k, b)| b * atom[k]));
            }
            // The half below the diagonal; the other is the same.
            for first in (0..m).step_by(BLOCK) {
                let end = m.min(first + BLOCK);
                let rows = View::by_rows(&self.part[first * s..], end - first, s, s);
                let others = View::by_rows(&self.part, end, s, s);
                let half = ViewMut::by_rows(&mut self.hessian[first * m..], end - first, end, m);
                multiply(1.0, rows, others.transposed(), 1.0, half);
            }
        }
        for i in 0..m {
            for j in i + 1..m {
                self.hessian[i * m + j] = self.hessian[j * m + i];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::l1::{Loss, Problem, Solver};
    use crate::matrix::Dense;

    /// Much nearer to the minimum than its start, and within the bounds.
    #[test]
    fn comes_close_to_the_minimum() {
        let mut state = 5u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as f64 / (1u64 << 31) as f64
        };
        let (m, n) = (8, 400);
        let atoms = Dense::new(m, n, (0..m * n).map(|_| next()).collect()).unwrap();
        let weights: Vec<f64> = (0..m).map(|j| if j < 5 { 0.2 } else { 0.0 }).collect();
        let mut x: Vec<f64> = (0..n).map(|_| 0.2 * next()).collect();
        (0..m).for_each(|j| axpy(weights[j], atoms.row(j), &mut x));
        let design = Design::new(&atoms, Loss::Hinge);
        let usable: Vec<u32> = (0..m as u32).collect();
        let problem = Problem { design: &design, x: &x, usable: &usable, upper: None };
        let least = Solver::new().fit(&problem, None).value;
        let error = |c: &[f64]| {
            let mut residual = x.clone();
            c.iter().enumerate().for_each(|(j, c)| axpy(-c, atoms.row(j), &mut residual));
            residual.iter().map(|e| e.abs()).sum::<f64>()
        };
        let mut smooth = Smooth::default();
        smooth.run(&design, &x, &vec![1.0; m], &weights, None);
        assert!(smooth.weights.iter().all(|c| (0.0..=1.0).contains(c)));
        let (before, after) = (error(&weights), error(&smooth.weights));
        assert!(after - least < 0.05 * (before - least), "{before} {after} {least}");
    }
}
