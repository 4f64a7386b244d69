//! The norm in which Y takes its steps.
//!
//! With steps of w for C, those of Y converge in any norm M with `w A^T A <= M`. Let D be the column sums of
//! the m atoms, whose rows sum to one. `D >= A^T A` allows steps for each column by itself, large where columns are
//! rare (Pock and Chambolle, 2011), but it is met in one direction only: `A D^-1 A^T 1 = 1`, all weights up or
//! down together, which moves the fit along the mean row. In all others A is much smaller, by a factor of
//! four to six for words. So that direction gets its own term:
//!
//! ```text
//! A^T A = B^T B + D 1 1^T D / m,   B = A - 1 (D 1)^T / m     (1^T B = 0)
//! M = w (s^2 D + D 1 1^T D / m),   s = |B D^-1/2|
//! ```
//!
//! and the steps of all the rest grow by `1 / s^2`. Maximising over the box in this norm is as easy as clipping:
//!
//! ```text
//! y' = clip(y + D^-1 (x - fit) / (w s^2) - t),   D 1.(y' - y) = m s^2 t
//! ```
//!
//! with one number t for each row, the root of a decreasing, piecewise linear function, found by Newton's
//! method inside a bracket in a few passes over the row.

use crate::kernels::{dual_step, mass_after_shift};
use rayon::prelude::*;

/// Iterations of the power method for s, and what is added since it comes from below.
const POWER_STEPS: usize = 20;
const MARGIN: f64 = 1.1;
/// s is at least this: equal atoms would make it zero.
const LEAST_NORM: f64 = 1e-2;
/// Passes over a row at most, and the share of its mass by which t may be off.
const PASSES: usize = 30;
const OFF: f64 = 1e-6;
/// Columns that no atom has count as this much: their Y may take any step.
const LEAST_MASS: f64 = 1e-9;
/// Rows of one task; fixed, so that sums do not depend on the number of threads.
const CHUNK: usize = 32;

/// M, for all rows of Y.
pub(super) struct Metric {
    /// D / m: the mean row of the atoms.
    mass: Vec<f32>,
    /// `1 / (w s^2 D)`.
    steps: Vec<f32>,
    atoms: usize,
    /// `s^2`.
    stiffness: f64,
    /// Whether there is a term for the direction of all columns together.
    shifts: bool,
}

impl Metric {
    /// For atoms (m x n) and a weight w. O(m n).
    pub fn new(atoms: &[f32], n: usize, weight: f32) -> Self {
        let m = atoms.len() / n;
        let mut mass = vec![0.0f64; n];
        for atom in atoms.chunks_exact(n) {
            mass.iter_mut().zip(atom).for_each(|(sum, a)| *sum += f64::from(*a));
        }
        mass.iter_mut().for_each(|sum| *sum = sum.max(LEAST_MASS) / m as f64);
        let norm = (MARGIN * norm(atoms, &mass)).clamp(LEAST_NORM, 1.0);
        Metric::with_norm(mass, m, norm, weight)
    }

    /// For rows of Y that are zero in columns of their own: steps of each column by itself, `M = w D`, which holds on
    /// any part of the columns.
    pub fn by_column(atoms: &[f32], n: usize, weight: f32) -> Self {
        let metric = Metric::new(atoms, n, weight);
        let mass = metric.mass.iter().map(|mass| f64::from(*mass)).collect();
        Metric { shifts: false, ..Metric::with_norm(mass, metric.atoms, 1.0, weight) }
    }

    fn with_norm(mass: Vec<f64>, m: usize, norm: f64, weight: f32) -> Self {
        let n = mass.len();
        let mass: Vec<f32> = mass.into_iter().map(|v| v as f32).collect();
        let steps = vec![0.0; n];
        let mut metric = Metric { mass, steps, atoms: m, stiffness: norm * norm, shifts: true };
        metric.weigh(weight);
        metric
    }

    /// The same for another weight.
    pub fn weigh(&mut self, weight: f32) {
        let all = f64::from(weight) * self.stiffness * self.atoms as f64;
        let step = |mass: &f32| (1.0 / (all * f64::from(*mass))) as f32;
        self.steps = self.mass.iter().map(step).collect();
    }

    /// The step of one row before it is clipped, in place of `fit`, and t, which begins as that of the
    /// last step.
    pub fn step(&self, y: &[f32], fit: &mut [f32], x: &[f32], t: &mut f32) {
        dual_step(y, fit, x, &self.steps);
        if !self.shifts {
            *t = 0.0;
            return;
        }
        // Clipping nothing and shifting nothing, this is the sum over y itself.
        let before = y.iter().zip(&self.mass).map(|(y, mass)| f64::from(y * mass)).sum::<f64>();
        let (mut low, mut high) =
            ((-1.0 - before) / self.stiffness - OFF, (1.0 - before) / self.stiffness + OFF);
        let mut shift = f64::from(*t).clamp(low, high);
        for _ in 0..PASSES {
            let (sum, free) = mass_after_shift(fit, &self.mass, shift as f32);
            let excess = f64::from(sum) - before - self.stiffness * shift;
            if excess.abs() <= OFF {
                break;
            }
            if excess > 0.0 {
                low = shift
            } else {
                high = shift
            }
            let newton = shift + excess / (f64::from(free) + self.stiffness);
            shift = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        }
        *t = shift as f32;
    }

    /// `|Y - Y_0|^2 / w`, summed over rows.
    pub fn squared_distance(&self, y: &[f32], from: &[f32]) -> f64 {
        let n = self.mass.len();
        let rows = y.par_chunks(n * CHUNK).zip(from.par_chunks(n * CHUNK));
        let parts: Vec<f64> = rows
            .map(|(y, from)| {
                let rows = y.chunks_exact(n).zip(from.chunks_exact(n));
                rows.map(|(y, from)| self.squared_row(y, from)).sum()
            })
            .collect();
        self.atoms as f64 * parts.iter().sum::<f64>()
    }

    fn squared_row(&self, y: &[f32], from: &[f32]) -> f64 {
        let (mut squares, mut sum) = (0.0f64, 0.0f64);
        for ((y, from), mass) in y.iter().zip(from).zip(&self.mass) {
            let (way, mass) = (f64::from(y - from), f64::from(*mass));
            squares += mass * way * way;
            sum += mass * way;
        }
        self.stiffness * squares + if self.shifts { sum * sum } else { 0.0 }
    }
}

/// `|B D^-1/2|` by the power method from a fixed start, from below; `mass` is `D / m`. O(m n).
fn norm(atoms: &[f32], mass: &[f64]) -> f64 {
    let n = mass.len();
    let m = (atoms.len() / n) as f64;
    // Z = D^-1/2 z of unit z; neither constant nor regular, so that no direction is missed for long.
    let mut z: Vec<f64> = (0..n).map(|k| ((k * 7919 + 13) % 101) as f64 - 50.0).collect();
    let mut norm = 0.0;
    for _ in 0..POWER_STEPS {
        let length = z.iter().map(|v| v * v).sum::<f64>().sqrt();
        if length == 0.0 {
            return norm;
        }
        let scaled: Vec<f64> =
            z.iter().zip(mass).map(|(v, mass)| v / length / (m * mass).sqrt()).collect();
        let mean: f64 = scaled.iter().zip(mass).map(|(v, mass)| v * mass).sum();
        // u = B D^-1/2 z, and B^T u, a chunk of atoms at a time.
        let parts: Vec<(f64, f64, Vec<f64>)> = atoms
            .par_chunks(n * CHUNK)
            .map(|atoms| {
                let (mut squares, mut sum, mut back) = (0.0, 0.0, vec![0.0; n]);
                for atom in atoms.chunks_exact(n) {
                    let dot: f64 = atom.iter().zip(&scaled).map(|(a, v)| f64::from(*a) * v).sum();
                    let u = dot - mean;
                    squares += u * u;
                    sum += u;
                    back.iter_mut().zip(atom).for_each(|(b, a)| *b += u * f64::from(*a));
                }
                (squares, sum, back)
            })
            .collect();
        let (mut squares, mut sum) = (0.0, 0.0);
        z.fill(0.0);
        for (part, total, back) in parts {
            squares += part;
            sum += total;
            z.iter_mut().zip(back).for_each(|(z, b)| *z += b);
        }
        z.iter_mut().zip(mass).for_each(|(z, mass)| *z = (*z - sum * mass) / (m * mass).sqrt());
        norm = squares.sqrt();
    }
    norm
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng, rngs::SmallRng};

    /// Rows of unit sum that share a good part of their mass, as words do.
    fn atoms(m: usize, n: usize, random: &mut SmallRng) -> Vec<f32> {
        let common: Vec<f32> = (0..n).map(|_| random.random::<f32>().powi(3)).collect();
        let mut rows = Vec::new();
        for _ in 0..m {
            let row: Vec<f32> =
                common.iter().map(|c| c + 0.3 * random.random::<f32>().powi(6)).collect();
            let sum: f32 = row.iter().sum();
            rows.extend(row.into_iter().map(|v| v / sum));
        }
        rows
    }

    /// `w |A v|^2 <= v.M v` for many v, without which the iteration need not converge, and nearly with
    /// equality for some.
    #[test]
    fn the_norm_is_above_that_of_the_atoms() {
        let (m, n, weight) = (40, 60, 0.3);
        let mut random = SmallRng::seed_from_u64(5);
        let atoms = atoms(m, n, &mut random);
        let metric = Metric::new(&atoms, n, weight);
        assert!(metric.stiffness < 0.2, "{}", metric.stiffness);
        let mut closest = 0.0f64;
        for trial in 0..200 {
            let draw = |_| if trial == 0 { 1.0 } else { random.random_range(-1.0f32..1.0) };
            let mut v: Vec<f32> = (0..n).map(draw).collect();
            // Some steps towards the directions that matter most.
            for _ in 0..trial % 7 {
                let along: Vec<f32> = atoms.chunks_exact(n).map(|a| dot(a, &v)).collect();
                let mean = along.iter().sum::<f32>() / m as f32;
                for k in 0..n {
                    let back = (0..m).map(|j| (along[j] - mean) * atoms[j * n + k]).sum::<f32>();
                    v[k] = back / metric.mass[k];
                }
            }
            let own: f64 = atoms.chunks_exact(n).map(|a| f64::from(dot(a, &v)).powi(2)).sum();
            let allowed = metric.squared_distance(&v, &vec![0.0; n]);
            assert!(own <= 1.0001 * allowed, "{own} {allowed}");
            closest = closest.max(own / allowed);
        }
        assert!(closest > 0.8, "{closest}");
    }

    fn dot(a: &[f32], b: &[f32]) -> f32 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    /// The step is the maximum over the box: no entry could do better, in the norm and with the shift.
    #[test]
    fn steps_are_best_within_the_box() {
        let (m, n, weight) = (30, 25, 0.05);
        let mut random = SmallRng::seed_from_u64(9);
        let atoms = atoms(m, n, &mut random);
        let metric = Metric::new(&atoms, n, weight);
        let (mut held, mut free) = (0, 0);
        for trial in 0..50 {
            let size = 0.02 * 1.2f32.powi(-trial);
            let y: Vec<f32> = (0..n).map(|_| random.random_range(-1.0..1.0)).collect();
            let x: Vec<f32> = (0..n).map(|_| size * random.random::<f32>()).collect();
            let fit: Vec<f32> = (0..n).map(|_| size * random.random::<f32>()).collect();
            let (mut new, mut shift) = (fit.clone(), 0.0);
            metric.step(&y, &mut new, &x, &mut shift);
            new.iter_mut().for_each(|v| *v = (*v - shift).clamp(-1.0, 1.0));
            let d = |k: usize| m as f64 * f64::from(metric.mass[k]);
            let way = |k: usize| f64::from(new[k] - y[k]);
            let along: f64 = (0..n).map(|k| d(k) * way(k)).sum::<f64>() / m as f64;
            for k in 0..n {
                let slope = f64::from(x[k] - fit[k])
                    - f64::from(weight) * d(k) * (metric.stiffness * way(k) + along);
                let rounding = 1e-5 * f64::from(size) + 1e-4 * f64::from(weight) * d(k);
                match new[k] {
                    1.0 => assert!(slope > -rounding, "{slope}"),
                    -1.0 => assert!(slope < rounding, "{slope}"),
                    _ => assert!(slope.abs() < rounding, "{slope} {rounding}"),
                }
                if new[k].abs() == 1.0 { held += 1 } else { free += 1 }
            }
        }
        assert!(held > 100 && free > 100, "{held} {free}");
    }
}
