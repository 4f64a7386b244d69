//! A start for the walk on many atoms: Newton steps on a smoothed loss.
//!
//! A walk from a vertex that was only guessed takes some pivots for every free weight. The hinge
//! `2 (e)_+` with its corner rounded, slope `clamp(1 + e / gamma, 0, 2)`, has a minimum that Newton's
//! method reaches in a few steps, and as gamma falls it comes to the vertex that is sought (Madsen
//! and Nielsen, SIAM J. Optim. 3, 1993). A step with k free weights and s points closer than gamma
//! costs `k^2 s` flops; gamma is halved after each, so all of them cost about as much as two with all
//! points. Nothing depends on the outcome but the number of pivots that follow.

use super::design::Design;
use crate::kernels::{axpy, axpy4, dot, max_abs};

/// Fewer points closer than gamma, for each free weight, decide nothing.
const FEWEST: f64 = 1.5;
/// Most steps.
const STEPS: usize = 10;
/// Points that are taken at a time, so that they stay in the cache.
const TILE: usize = 256;

/// Weights near the minimum, with the residuals there; buffers to be reused.
#[derive(Debug, Default)]
pub(super) struct Smooth {
    pub weights: Vec<f64>,
    pub residual: Vec<f64>,
    trial: Vec<f64>,
    trial_residual: Vec<f64>,
    slopes: Vec<f64>,
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
        let mut gamma = max_abs(&self.trial_residual);
        for _ in 0..STEPS {
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
        let above: f64 = self.trial_residual.iter().map(|e| e.max(0.0)).sum();
        2.0 * above + dot(&design.linear, &self.trial)
    }

    /// One Newton step, cut off at the bounds; false when too few points are close.
    fn step(&mut self, design: &Design, upper: &[f64], gamma: f64, held: Option<usize>) -> bool {
        let close: Vec<usize> = (0..self.trial_residual.len())
            .filter(|&k| self.trial_residual[k].abs() < gamma || held == Some(k))
            .collect();
        self.slopes.clear();
        self.slopes.extend(self.trial_residual.iter().map(|e| (1.0 + e / gamma).clamp(0.0, 2.0)));
        if let Some(k) = held {
            self.slopes[k] = 1.0 + self.trial_residual[k] / gamma;
        }
        self.gradient.clear();
        let slopes = &self.slopes;
        let gradient = (0..design.atoms()).map(|j| design.linear[j] - design.price(j, slopes));
        self.gradient.extend(gradient);
        self.free.clear();
        for (j, &g) in self.gradient.iter().enumerate() {
            let c = self.trial[j];
            if (c > 0.0 || g < 0.0) && (c < upper[j] || g > 0.0) {
                self.free.push(j);
            }
        }
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

    /// `A A^T` over the free atoms and the close points: its lower triangle.
    fn form_hessian(&mut self, design: &Design, close: &[usize]) {
        let m = self.free.len();
        self.hessian.clear();
        self.hessian.resize(m * m, 0.0);
        for points in close.chunks(TILE) {
            let s = points.len();
            self.part.clear();
            for &j in &self.free {
                let atom = design.atom(j);
                self.part.extend(points.iter().map(|&k| atom[k]));
            }
            for (p, row) in self.hessian.chunks_exact_mut(m).enumerate() {
                let one = &self.part[p * s..(p + 1) * s];
                for (q, entry) in row[..=p].iter_mut().enumerate() {
                    *entry += dot(one, &self.part[q * s..(q + 1) * s]);
                }
            }
        }
    }
}

/// Solves `H z = v` in place from the lower triangle of H, which is overwritten; false when H is
/// not positive definite.
fn cholesky_solve(h: &mut [f64], v: &mut [f64]) -> bool {
    let m = v.len();
    for p in 0..m {
        let (done, now) = h.split_at_mut(p * m);
        for q in 0..p {
            let known = dot(&now[..q], &done[q * m..q * m + q]);
            now[q] = (now[q] - known) / done[q * m + q];
        }
        let rest = now[p] - dot(&now[..p], &now[..p]);
        if rest <= 1e-12 * now[p] {
            return false;
        }
        now[p] = rest.sqrt();
    }
    for p in 0..m {
        v[p] = (v[p] - dot(&h[p * m..p * m + p], &v[..p])) / h[p * m + p];
    }
    for p in (0..m).rev() {
        v[p] /= h[p * m + p];
        let value = v[p];
        axpy(-value, &h[p * m..p * m + p], &mut v[..p]);
    }
    true
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
