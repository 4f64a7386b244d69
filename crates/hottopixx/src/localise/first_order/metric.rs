//! The norm in which Y takes its steps.
//!
//! With steps of w for C, those of Y converge in any norm M with `w A^T A <= M`. Let D be the column sums of
//! the m atoms, whose rows sum to one. `D >= A^T A` allows steps for each column by itself, large where columns are
//! rare (Pock and Chambolle, 2011), but it is met in one direction only: `A D^-1 A^T 1 = 1`, all weights up or
//! down together, which moves the fit along the mean row. In all others A is much smaller. So that direction
//! gets its own term:
//!
//! ```text
//! A^T A = B^T B + D 1 1^T D / m,   B = A - 1 (D 1)^T / m     (1^T B = 0)
//! M = w (s^2 E + D 1 1^T D / m),   s = |B E^-1/2|
//! ```
//!
//! with a diagonal E that has the sum of D. Of the directions that are left, a few are far larger than the rest:
//! columns that go together, a dozen at a time (names of countries, of teams). E takes more from these and less from the
//! others: where the sum of `s^2 E` is least, each column has the share of the largest directions that
//! it has of E, `diag(Z Z^T) ~ E` with Z the eigenvectors of `E^-1/2 B^T B E^-1/2` at its largest eigenvalue, and
//! a few rounds of `E <- E (share of Z / share of E)^a` come near (`balance`). For six thousand words that makes
//! steps four times as long as with E = D.
//!
//! Maximising over the box in this norm is as easy as clipping:
//!
//! ```text
//! y' = clip(y + E^-1 (x - fit) / (w s^2) - t E^-1 D 1),   D 1.(y' - y) = m s^2 t
//! ```
//!
//! with one number t for each row, the root of a decreasing, piecewise linear function, found by Newton's
//! method inside a bracket in a few passes over the row.

use super::iterate::Play;
use crate::control::Control;
use crate::kernels::parallel::*;
use crate::kernels::{dual_clip, dual_step, gemm_while, mass_after_shift};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Iterations of the power method for s, and what is added since it comes from below.
const POWER_STEPS: usize = 20;
const MARGIN: f64 = 1.1;
/// s is at least this: equal atoms would make it zero.
const LEAST_NORM: f64 = 1e-2;
/// Rounds that find E, the vectors that stand for the largest directions, how often each is multiplied by
/// `E^-1/2 B^T B E^-1/2`, the exponent of a round, and the factor by which the shares may differ.
const ROUNDS: usize = 8;
const VECTORS: usize = 8;
const PRODUCTS: usize = 4;
const EXPONENT: f64 = 0.2;
const APART: f64 = 20.0;
/// Passes over a row at most, and the share of its mass by which t may be off.
const PASSES: usize = 40;
const OFF: f64 = 1e-6;
/// Columns that no atom has count as this much: their Y may take any step.
const LEAST_MASS: f64 = 1e-9;
/// Rows of one task; fixed, so that sums do not depend on the number of threads.
const CHUNK: usize = 32;

/// M, for all rows of Y.
pub(super) struct Metric {
    /// D / m: the mean row of the atoms.
    mass: Vec<f32>,
    /// E / m.
    scale: Vec<f32>,
    /// `E^-1 D 1`.
    turn: Vec<f32>,
    /// `1 / (w s^2 E)`.
    steps: Vec<f32>,
    atoms: usize,
    /// `s^2`.
    stiffness: f64,
    /// Whether there is a term for the direction of all columns together.
    shifts: bool,
}

impl Metric {
    /// For what is in play and a weight w. O(m n); `None` when stopped.
    pub fn of(play: &Play<'_>, weight: f32, control: &Control) -> Option<Self> {
        match play.gaps.is_empty() {
            true => Metric::new(&play.atoms, play.n, weight, control),
            false => Some(Metric::by_column(&play.atoms, play.n, weight)),
        }
    }

    /// For rows of Y that are zero in columns of their own: steps of each column by itself, `M = w D`, which holds on
    /// any part of the columns.
    fn by_column(atoms: &[f32], n: usize, weight: f32) -> Self {
        let mass = mean_row(atoms, n);
        Metric { shifts: false, ..Metric::with_norm(&mass, &mass, atoms.len() / n, 1.0, weight) }
    }

    fn new(atoms: &[f32], n: usize, weight: f32, control: &Control) -> Option<Self> {
        let mass = mean_row(atoms, n);
        let scale = balance(atoms, &mass, control)?;
        let norm = (MARGIN * norm(atoms, &mass, &scale, control)?).clamp(LEAST_NORM, 1.0);
        Some(Metric::with_norm(&mass, &scale, atoms.len() / n, norm, weight))
    }

    fn with_norm(mass: &[f64], scale: &[f64], atoms: usize, norm: f64, weight: f32) -> Self {
        let single = |v: &[f64]| v.iter().map(|v| *v as f32).collect::<Vec<f32>>();
        let turn = mass.iter().zip(scale).map(|(mass, scale)| (mass / scale) as f32).collect();
        let (stiffness, steps) = (norm * norm, Vec::new());
        let (mass, scale) = (single(mass), single(scale));
        let mut metric = Metric { mass, scale, turn, steps, atoms, stiffness, shifts: true };
        metric.weigh(weight);
        metric
    }

    /// The same for another weight.
    pub fn weigh(&mut self, weight: f32) {
        let all = f64::from(weight) * self.stiffness * self.atoms as f64;
        let step = |scale: &f32| (1.0 / (all * f64::from(*scale))) as f32;
        self.steps = self.scale.iter().map(step).collect();
    }

    /// The step of one row: `fit` receives y', `y` its reflection pulled to the anchor as [`dual_clip`] does.
    /// t begins as that of the last step.
    pub fn step(
        &self,
        y: &mut [f32],
        fit: &mut [f32],
        x: &[f32],
        t: &mut f32,
        pull: (f32, &[f32]),
    ) {
        *t = self.shift(y, fit, x, *t);
        dual_clip(y, fit, (*t, &self.turn), pull);
    }

    /// The step of one row before it is shifted and clipped, in place of `fit`, and t, near the given one.
    fn shift(&self, y: &[f32], fit: &mut [f32], x: &[f32], near: f32) -> f32 {
        dual_step(y, fit, x, &self.steps);
        if !self.shifts {
            return 0.0;
        }
        // Clipping nothing and shifting nothing, this is the sum over y itself.
        let before = y.iter().zip(&self.mass).map(|(y, mass)| f64::from(y * mass)).sum::<f64>();
        let (mut low, mut high) =
            ((-1.0 - before) / self.stiffness - OFF, (1.0 - before) / self.stiffness + OFF);
        let mut shift = f64::from(near).clamp(low, high);
        for _ in 0..PASSES {
            let (sum, free) = mass_after_shift(fit, &self.mass, &self.turn, shift as f32);
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
        shift as f32
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
        let columns = y.iter().zip(from).zip(self.mass.iter().zip(&self.scale));
        for ((y, from), (mass, scale)) in columns {
            let way = f64::from(y - from);
            squares += f64::from(*scale) * way * way;
            sum += f64::from(*mass) * way;
        }
        self.stiffness * squares + if self.shifts { sum * sum } else { 0.0 }
    }
}

/// D / m, atoms (m x n) with rows of unit sum.
fn mean_row(atoms: &[f32], n: usize) -> Vec<f64> {
    let m = atoms.len() / n;
    let mut mass = vec![0.0f64; n];
    for atom in atoms.chunks_exact(n) {
        mass.iter_mut().zip(atom).for_each(|(sum, a)| *sum += f64::from(*a));
    }
    mass.iter_mut().for_each(|sum| *sum = sum.max(LEAST_MASS) / m as f64);
    mass
}

/// E / m, of unit sum, near the one with the least `s^2`; `mass` is `D / m`. The largest directions are those that
/// random vectors turn to when they are multiplied a few times. O(m n); `None` when stopped.
fn balance(atoms: &[f32], mass: &[f64], control: &Control) -> Option<Vec<f64>> {
    let n = mass.len();
    let m = atoms.len() / n;
    let go_on = || control.goes_on();
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let mut scale = mass.to_vec();
    let (mut u, mut v) = (vec![0.0f32; VECTORS * m], vec![0.0f32; VECTORS * n]);
    for _ in 0..ROUNDS {
        let root: Vec<f32> = scale.iter().map(|s| (1.0 / (m as f64 * s).sqrt()) as f32).collect();
        let divide = |v: &mut [f32]| {
            let rows = v.chunks_exact_mut(n);
            rows.for_each(|v| v.iter_mut().zip(&root).for_each(|(v, root)| *v *= root));
        };
        u.iter_mut().for_each(|u| *u = random.random::<f32>() - 0.5);
        for product in 0..PRODUCTS {
            // u B = u A for centred u.
            u.chunks_exact_mut(m).for_each(centre);
            if product > 0 {
                let most = u.iter().fold(0.0f32, |most, u| most.max(u.abs()));
                if most == 0.0 {
                    return Some(scale); // equal atoms
                }
                u.iter_mut().for_each(|u| *u /= most);
            }
            if !gemm_while(go_on, VECTORS, m, n, 1.0, &u, atoms, false, 0.0, &mut v) {
                return None;
            }
            divide(&mut v);
            if product + 1 == PRODUCTS {
                break;
            }
            divide(&mut v);
            if !gemm_while(go_on, VECTORS, n, m, 1.0, &v, atoms, true, 0.0, &mut u) {
                return None;
            }
        }
        let square = |k: usize| v.chunks_exact(n).map(|v| f64::from(v[k]).powi(2)).sum::<f64>();
        let shares: Vec<f64> = (0..n).map(square).collect();
        let all: f64 = shares.iter().sum();
        if all <= 0.0 || !all.is_finite() {
            return Some(scale);
        }
        for (scale, share) in scale.iter_mut().zip(&shares) {
            *scale *= (share / all / *scale).clamp(1.0 / APART, APART).powf(EXPONENT);
        }
        let all: f64 = scale.iter().sum();
        scale.iter_mut().for_each(|s| *s /= all);
    }
    Some(scale)
}

fn centre(row: &mut [f32]) {
    let mean = row.iter().sum::<f32>() / row.len() as f32;
    row.iter_mut().for_each(|v| *v -= mean);
}

/// `|B E^-1/2|` by the power method from a fixed start, from below; `mass` is `D / m`, `scale` is `E / m`. O(m n);
/// `None` when stopped.
fn norm(atoms: &[f32], mass: &[f64], scale: &[f64], control: &Control) -> Option<f64> {
    let n = mass.len();
    let m = (atoms.len() / n) as f64;
    // Z = E^-1/2 z of unit z; neither constant nor regular, so that no direction is missed for long.
    let mut z: Vec<f64> = (0..n).map(|k| ((k * 7919 + 13) % 101) as f64 - 50.0).collect();
    let mut norm = 0.0;
    for _ in 0..POWER_STEPS {
        if !control.goes_on() {
            return None;
        }
        let length = z.iter().map(|v| v * v).sum::<f64>().sqrt();
        if length == 0.0 {
            return Some(norm);
        }
        let scaled: Vec<f64> =
            z.iter().zip(scale).map(|(v, scale)| v / length / (m * scale).sqrt()).collect();
        let mean: f64 = scaled.iter().zip(mass).map(|(v, mass)| v * mass).sum();
        // u = B E^-1/2 z, and B^T u, a chunk of atoms at a time.
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
        for ((z, mass), scale) in z.iter_mut().zip(mass).zip(scale) {
            *z = (*z - sum * mass) / (m * scale).sqrt();
        }
        norm = squares.sqrt();
    }
    Some(norm)
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
        let metric = Metric::new(&atoms, n, weight, &Control::default()).unwrap();
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

    /// A few columns that only go with each other do not hold back the steps of all.
    #[test]
    fn small_clusters_are_balanced() {
        let (m, n) = (60, 80);
        let mut random = SmallRng::seed_from_u64(3);
        let mut atoms = atoms(m, n, &mut random);
        for (j, atom) in atoms.chunks_exact_mut(n).enumerate() {
            let within = j < 4;
            atom.iter_mut().enumerate().for_each(|(k, v)| match (within, k < 4) {
                (true, true) => *v = 0.2,
                (true, false) => *v *= 0.2,
                (false, true) => *v = 0.0,
                (false, false) => (),
            });
        }
        let mass = mean_row(&atoms, n);
        let control = Control::default();
        let stiffness = |scale: &[f64]| norm(&atoms, &mass, scale, &control).unwrap().powi(2);
        let scale = balance(&atoms, &mass, &control).unwrap();
        let (plain, balanced) = (stiffness(&mass), stiffness(&scale));
        assert!((scale.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(balanced < 0.5 * plain, "{balanced} {plain}");
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
        let metric = Metric::new(&atoms, n, weight, &Control::default()).unwrap();
        let (mut held, mut free) = (0, 0);
        for trial in 0..50 {
            let size = 0.02 * 1.2f32.powi(-trial);
            let y: Vec<f32> = (0..n).map(|_| random.random_range(-1.0..1.0)).collect();
            let x: Vec<f32> = (0..n).map(|_| size * random.random::<f32>()).collect();
            let fit: Vec<f32> = (0..n).map(|_| size * random.random::<f32>()).collect();
            let (mut new, mut shift) = (fit.clone(), 0.0);
            metric.step(&mut y.clone(), &mut new, &x, &mut shift, (0.5, &y));
            let d = |k: usize| m as f64 * f64::from(metric.mass[k]);
            let e = |k: usize| m as f64 * f64::from(metric.scale[k]);
            let way = |k: usize| f64::from(new[k] - y[k]);
            let along: f64 = (0..n).map(|k| d(k) * way(k)).sum::<f64>() / m as f64;
            for k in 0..n {
                let slope = f64::from(x[k] - fit[k])
                    - f64::from(weight) * (e(k) * metric.stiffness * way(k) + d(k) * along);
                let rounding = 1e-5 * f64::from(size) + 1e-4 * f64::from(weight) * d(k).max(e(k));
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
