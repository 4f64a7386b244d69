//! Small nonnegative least squares on a Gram matrix, by a warm-started active set method.
//!
//! `min_c 1/2 c A c - b c` over the cone `c >= 0`, or over the simplex `c >= 0, sum c = 1`, with
//! `A = W W^T` (k x k) and `b = W x`. Lawson and Hanson's method; on the simplex the optimum on
//! the free variables is `u - lambda v` with `A u = b`, `A v = 1`, and lambda the multiplier of
//! the sum. There, `A + kappa 1 1^T` takes the place of A, and `b + kappa 1` of b: this adds
//! `kappa / 2 (sum c - 1)^2`, which is zero, and makes the block regular for all points that are
//! affinely independent, the origin among them. A variable whose point depends on the free ones
//! never has a reason to enter, so no other degeneracy arises. The answer is exact up to rounding.
//!
//! Started from the answer of the last greedy step it usually changes one or two variables, so
//! its cost is a few factorizations of the free block, and one for the many rows whose answer
//! stays optimal. A variable that enters adds a row to the factor, one that leaves asks for the rows after it anew:
//! from nothing, k free variables take `k^3` flops, and not `k^4` as with a factorization each.

use crate::kernels::{axpy, dot};

/// Where the coefficients may lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Domain {
    /// `c >= 0`.
    Cone,
    /// `c >= 0` and `sum c = 1`: the convex hull of the rows.
    Simplex,
}

/// The tolerance where nothing else is asked for.
const TOLERANCE: f64 = 1e-12;
/// A pivot of the factorization below this share of its diagonal entry counts as dependent.
const DEPENDENT: f64 = 1e-13;

/// Scratch of the solver, to be reused from row to row.
pub(crate) struct Nnls {
    /// A multiplier above this share of the largest entry of A and b counts as a reason to go on.
    tolerance: f64,
    /// Variables that are not held at zero.
    free: Vec<usize>,
    /// kappa on the simplex, zero on the cone.
    shift: f64,
    /// Cholesky factor of A on `free`, by rows.
    factor: Vec<f64>,
    stride: usize,
    /// How many of its rows are known.
    factored: usize,
    target: Vec<f64>,
    ones: Vec<f64>,
    lambda: f64,
}

impl Default for Nnls {
    fn default() -> Self {
        Nnls::to(TOLERANCE)
    }
}

impl Nnls {
    /// A solver that ends where no multiplier is above this share of the largest entry of A and b.
    pub(crate) fn to(tolerance: f64) -> Self {
        let (free, factor, target, ones) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (stride, factored) = (0, 0);
        Nnls { tolerance, free, shift: 0.0, factor, stride, factored, target, ones, lambda: 0.0 }
    }

    /// Improves the feasible `c` until it is optimal. `a` is k x k row-major, `b` of length k.
    pub(crate) fn solve(&mut self, a: &[f64], b: &[f64], c: &mut [f64], domain: Domain) {
        let k = b.len();
        let scale = (0..k).map(|j| a[j * k + j]).chain(b.iter().copied()).fold(0.0, f64::max);
        let tolerance = self.tolerance * scale;
        self.free.clear();
        self.free.extend((0..k).filter(|&j| c[j] > 0.0));
        self.shift = if domain == Domain::Simplex { scale } else { 0.0 };
        self.lambda = 0.0;
        self.factored = 0;
        // Variables that could not enter because they depend on free ones; forgotten at each move.
        let mut barred = vec![false; k];
        if !self.free.is_empty() {
            self.descend(a, b, c);
        }
        for _ in 0..4 * k + 10 {
            let gain = |j: usize| b[j] - dot_row(a, k, j, c) - self.lambda;
            let entering = (0..k)
                .filter(|&j| c[j] == 0.0 && !barred[j])
                .map(|j| (gain(j), j))
                .fold((tolerance, k), |best, next| if next.0 > best.0 { next } else { best });
            let (_, entering) = entering;
            if entering == k {
                return;
            }
            self.free.push(entering);
            if self.descend(a, b, c) {
                barred.fill(false);
            } else {
                barred[entering] = true;
            }
        }
    }

    /// Walks to the optimum on the free variables, holding those that meet a bound on the way.
    /// False when nothing moved.
    fn descend(&mut self, a: &[f64], b: &[f64], c: &mut [f64]) -> bool {
        let mut moved = false;
        loop {
            if let Some(dependent) = self.factorize(a, b.len()) {
                let j = self.leave(dependent);
                if c[j] == 0.0 {
                    continue;
                }
                c[j] = 0.0; // cannot happen from a valid start; stay feasible
                moved = true;
                continue;
            }
            self.aim(b);
            let (step, blocking) = self.longest_step(c);
            for (&j, &target) in self.free.iter().zip(&self.target) {
                moved |= step > 0.0 && target != c[j];
                c[j] += step * (target - c[j]);
            }
            let Some(at) = blocking else { return moved };
            c[self.leave(at)] = 0.0;
            if self.free.is_empty() {
                return moved;
            }
        }
    }

    /// Takes a variable out of the free ones, and with it the rows of the factor that depend on it.
    fn leave(&mut self, at: usize) -> usize {
        self.factored = self.factored.min(at);
        self.free.remove(at)
    }

    /// How far towards the target the variables stay nonnegative, and which one is zero there.
    fn longest_step(&self, c: &[f64]) -> (f64, Option<usize>) {
        let (mut step, mut blocking) = (1.0, None);
        for (at, (&j, &target)) in self.free.iter().zip(&self.target).enumerate() {
            if target <= 0.0 {
                let room = if c[j] > 0.0 { c[j] / (c[j] - target) } else { 0.0 };
                if room < step || blocking.is_none() {
                    (step, blocking) = (room.min(step), Some(at));
                }
            }
        }
        (step, blocking)
    }

    /// The optimum on the free variables: `u` on the cone, `u - lambda v` on the simplex.
    fn aim(&mut self, b: &[f64]) {
        let m = self.free.len();
        self.target.clear();
        self.target.extend(self.free.iter().map(|&j| b[j] + self.shift));
        cholesky_solve(&self.factor, self.stride, &mut self.target);
        self.lambda = 0.0;
        if self.shift > 0.0 {
            self.ones.clear();
            self.ones.resize(m, 1.0);
            cholesky_solve(&self.factor, self.stride, &mut self.ones);
            let surplus = self.target.iter().sum::<f64>() - 1.0;
            self.lambda = surplus / self.ones.iter().sum::<f64>();
            for (t, v) in self.target.iter_mut().zip(&self.ones) {
                *t -= self.lambda * v;
            }
        }
    }

    /// Makes room for a factor of m rows.
    fn reserve(&mut self, m: usize) {
        if m <= self.stride {
            return;
        }
        let wider = m.max(2 * self.stride);
        let mut factor = vec![0.0; wider * wider];
        for p in 0..self.factored {
            let row = &self.factor[p * self.stride..][..=p];
            factor[p * wider..][..=p].copy_from_slice(row);
        }
        (self.factor, self.stride) = (factor, wider);
    }

    /// Cholesky of A on the free variables, from the first row that is not known; the place of the first dependent one,
    /// if any.
    fn factorize(&mut self, a: &[f64], k: usize) -> Option<usize> {
        let m = self.free.len();
        self.reserve(m);
        let stride = self.stride;
        for p in self.factored..m {
            for q in 0..=p {
                let (done, now) = self.factor.split_at(p * stride);
                let row_q = if q < p { &done[q * stride..q * stride + q] } else { &now[..q] };
                let inner = dot(&now[..q], row_q);
                let rest = a[self.free[p] * k + self.free[q]] + self.shift - inner;
                if q < p {
                    let pivot = self.factor[q * stride + q];
                    self.factor[p * stride + q] = rest / pivot;
                } else if rest <= DEPENDENT * (a[self.free[p] * k + self.free[p]] + self.shift) {
                    return Some(p);
                } else {
                    self.factor[p * stride + p] = rest.sqrt();
                }
            }
            self.factored = p + 1;
        }
        None
    }
}

fn dot_row(a: &[f64], k: usize, j: usize, c: &[f64]) -> f64 {
    dot(&a[j * k..(j + 1) * k], c)
}

/// Solves `L L^T z = v` in place.
fn cholesky_solve(factor: &[f64], stride: usize, v: &mut [f64]) {
    for p in 0..v.len() {
        let row = &factor[p * stride..][..=p];
        let inner = dot(&row[..p], &v[..p]);
        v[p] = (v[p] - inner) / row[p];
    }
    for p in (0..v.len()).rev() {
        let row = &factor[p * stride..][..=p];
        v[p] /= row[p];
        let value = v[p];
        axpy(-value, &row[..p], &mut v[..p]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Feasible, and no multiplier has the wrong sign; also for more rows than dimensions.
        #[test]
        fn meets_the_optimality_conditions(
            w in prop::collection::vec(0.0..1.0f64, 6 * 4),
            x in prop::collection::vec(-0.2..1.0f64, 4),
            start in prop::collection::vec(0.01..0.2f64, 6),
            cone in any::<bool>(),
            origin in any::<bool>(),
        ) {
            let zero = [0.0; 4];
            let row = |i: usize| if origin && i == 0 { &zero } else { &w[i * 4..i * 4 + 4] };
            let a: Vec<f64> = (0..36).map(|at| dot(row(at / 6), row(at % 6))).collect();
            let b: Vec<f64> = (0..6).map(|i| dot(row(i), &x)).collect();
            let sum: f64 = start.iter().sum();
            // A warm start on independent points, as in the greedy methods.
            let first = |i: usize| if i == 1 { 1.0 } else { 0.0 };
            let mut c: Vec<f64> = (0..6).map(|i| if cone { first(i) * sum } else { first(i) }).collect();
            let domain = if cone { Domain::Cone } else { Domain::Simplex };
            Nnls::default().solve(&a, &b, &mut c, domain);
            let sum: f64 = c.iter().sum();
            prop_assert!(c.iter().all(|v| *v >= 0.0));
            prop_assert!(cone || (sum - 1.0).abs() <= 1e-9);
            let gain: Vec<f64> = (0..6).map(|j| b[j] - dot(&a[j * 6..j * 6 + 6], &c)).collect();
            let lambda = if cone { 0.0 } else { dot(&gain, &c) / sum };
            for j in 0..6 {
                prop_assert!(gain[j] - lambda <= 1e-7, "{:?} {:?}", gain, c);
                prop_assert!(c[j] <= 1e-7 || (gain[j] - lambda).abs() <= 1e-7, "{:?} {:?}", gain, c);
            }
        }
    }
}
