//! The bounded l1 regression on which everything rests:
//!
//! `fit(A, x, u) = min over 0 <= c <= u of ||x - cA||_1`
//!
//! Cleaning (equation (2) of the paper), the simplicial constant alpha, the hull distances of
//! AGKM (Algorithm 1) and the oracle of the linear program on the diagonal are all this one
//! problem. It is solved exactly by a walk over vertices in the manner of Barrodale and
//! Roberts (SIAM J. Numer. Anal. 10, 1973), with bounds, long steps, a warm start from any earlier
//! vertex, and a dual that proves the answer.
//!
//! ```
//! use hottopixx::l1;
//! use hottopixx::matrix::Dense;
//!
//! let atoms = Dense::from_rows(&[[0.8, 0.2, 0.0], [0.0, 0.2, 0.8]]).unwrap();
//! let fit = l1::fit(&atoms, &[0.4, 0.2, 0.4], None).unwrap();
//! assert!((fit.weights[0] - 0.5).abs() < 1e-12 && (fit.weights[1] - 0.5).abs() < 1e-12);
//! assert!(fit.value < 1e-12);
//! ```

mod basis;
mod bound;
mod caps;
mod design;
mod line_search;
mod many;
mod near;
mod smooth;
mod solver;
mod vertex;
mod walk;

#[doc(hidden)]
pub use basis::Basis;
pub(crate) use caps::{MOST_LOOKS, WeightCaps, near_cap};
pub(crate) use design::Loss;
pub(crate) use design::{Atoms, Design, Gathered, Target};
pub(crate) use many::{MOST_GATHERED, ManyAtoms, ManySolver};
pub(crate) use near::NearSolver;
pub(crate) use smooth::Enough;
pub(crate) use solver::{Improved, Problem, Solver};

use crate::kernels::parallel::*;
use crate::matrix::Dense;
use crate::{Error, kernels};

/// How a fit ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Status {
    /// Value and bound agree to 1e-9 of the target's size.
    Optimal,
    /// The pivots ran out or rounding got in the way: the weights keep their bounds and the lower
    /// bound holds, but they are apart.
    Inexact,
    /// As [`Status::Inexact`], because a deadline or an interruption came first.
    Stopped,
}

/// The scalars of a fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// The l1 error of the weights found.
    pub value: f64,
    /// No weights have a smaller error than this.
    pub lower_bound: f64,
    /// How the fit ended.
    pub status: Status,
    /// Pivots it took.
    pub pivots: usize,
}

/// The answer of [`fit`].
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// c, one weight for each atom.
    pub weights: Vec<f64>,
    /// `||x - cA||_1`.
    pub value: f64,
    /// The dual y, `|y| <= 1`, one for each column: `y.x - sum_j u_j (A_j.y)_+ <= fit(A, x, u)`.
    pub dual: Vec<f64>,
    /// What the dual proves: no weights have a smaller error.
    pub lower_bound: f64,
    /// How the fit ended.
    pub status: Status,
    /// Pivots it took.
    pub pivots: usize,
}

/// `min ||x - cA||_1` over `0 <= c <= upper` (no upper bounds for `None`). `atoms` has one row for
/// each weight and may have entries of any sign; the scale of the data does not matter.
///
/// # Errors
/// [`Error::Length`] when `x` or `upper` have the wrong length, [`Error::NotFinite`] for entries
/// that are no finite numbers, [`Error::Setting`] for bounds that are negative or NaN.
pub fn fit(atoms: &Dense, x: &[f64], upper: Option<&[f64]>) -> Result<Fit, Error> {
    check(atoms, x, upper)?;
    // Unit scale: tolerances of the walk are absolute. Sums are taken of shares of the largest
    // entry, which cannot overflow.
    let scale_x = Scale::of(x);
    let scales: Vec<Scale> = (0..atoms.rows()).map(|j| Scale::of(atoms.row(j))).collect();
    let mut scaled = atoms.clone();
    for (j, scale) in scales.iter().enumerate() {
        scaled.row_mut(j).iter_mut().for_each(|v| *v = scale.divide(*v));
    }
    let target: Vec<f64> = x.iter().map(|v| scale_x.divide(*v)).collect();
    let scaled_bound = |(&u, s): (&f64, &Scale)| match u {
        u if u == 0.0 || u.is_infinite() => u,
        u => u * s.over(scale_x),
    };
    let bounds: Option<Vec<f64>> = upper.map(|u| u.iter().zip(&scales).map(scaled_bound).collect());

    let signed = atoms.values().iter().chain(x).any(|v| *v < 0.0);
    let design = Design::new(&scaled, if signed { Loss::Absolute } else { Loss::Hinge });
    let all: Vec<u32> = (0..atoms.rows() as u32).filter(|&j| !scales[j as usize].zero).collect();
    // An atom whose weights would be no numbers of this format cannot be used, but the bound counts it.
    let usable: Vec<u32> = all
        .iter()
        .copied()
        .filter(|&j| RATIOS.contains(&scale_x.over(scales[j as usize])))
        .collect();
    let problem =
        |usable| Problem { design: &design, x: &target, usable, upper: bounds.as_deref() };
    let mut solver = Solver::new();
    let improved = solver.improve(&problem(&usable), None);
    let mut dual = solver.dual().to_vec();
    let lower_bound = bound::prove(&problem(&all), &mut dual, improved.value);
    let summary = improved.with_bound(&problem(&all), lower_bound);

    let weights: Vec<f64> = (0..atoms.rows())
        .map(|j| {
            let c = solver.weights()[j];
            let c = if c == 0.0 { 0.0 } else { c * scale_x.over(scales[j]) };
            c.clamp(0.0, upper.map_or(f64::INFINITY, |u| u[j]))
        })
        .collect();
    if design.loss == Loss::Hinge {
        dual.iter_mut().for_each(|y| *y -= 1.0);
    }
    Ok(Fit {
        weights,
        value: scale_x.multiply(summary.value),
        dual,
        lower_bound: scale_x.multiply(summary.lower_bound),
        status: summary.status,
        pivots: summary.pivots,
    })
}

/// Ratios of scales with which a weight is an ordinary number.
const RATIOS: std::ops::RangeInclusive<f64> = 1e-290..=1e290;

/// The l1 norm of a vector as a product `largest * rest`, since the sum itself may overflow.
#[derive(Debug, Clone, Copy)]
struct Scale {
    largest: f64,
    rest: f64,
    zero: bool,
}

impl Scale {
    fn of(v: &[f64]) -> Self {
        let largest = kernels::max_abs(v);
        if largest == 0.0 {
            return Scale { largest: 1.0, rest: 1.0, zero: true };
        }
        Scale { largest, rest: v.iter().map(|e| (e / largest).abs()).sum(), zero: false }
    }

    fn divide(self, v: f64) -> f64 {
        v / self.largest / self.rest
    }

    fn multiply(self, v: f64) -> f64 {
        v * self.rest * self.largest
    }

    /// The ratio of two scales; zero or infinite where it is beyond the format.
    fn over(self, other: Scale) -> f64 {
        self.largest / other.largest * (self.rest / other.rest)
    }
}

fn check(atoms: &Dense, x: &[f64], upper: Option<&[f64]>) -> Result<(), Error> {
    if x.len() != atoms.cols() {
        let what = "columns of the atoms";
        return Err(Error::Length { name: "x", found: x.len(), expected: atoms.cols(), what });
    }
    if let Some(k) = x.iter().position(|v| !v.is_finite()) {
        return Err(Error::NotFinite { row: 0, col: k, value: x[k] });
    }
    if let Some(k) = atoms.values().iter().position(|v| !v.is_finite()) {
        let (row, col) = (k / atoms.cols(), k % atoms.cols());
        return Err(Error::NotFinite { row, col, value: atoms.values()[k] });
    }
    if let Some(u) = upper {
        if u.len() != atoms.rows() {
            let (found, expected) = (u.len(), atoms.rows());
            return Err(Error::Length { name: "upper", found, expected, what: "atoms" });
        }
        if let Some(bad) = u.iter().find(|v| v.is_nan() || **v < 0.0) {
            let remedy = "upper bounds must be 0 or more (infinite for none)".to_string();
            return Err(Error::Setting { name: "upper", value: bad.to_string(), remedy });
        }
    }
    Ok(())
}

/// Weight of the column that stands for `sum c = 1`.
const PENALTY: f64 = 2.0;

/// The l1 distance of row `i` of `points` from the convex hull of its other rows; 2 for a
/// single row, the largest distance rows of unit sum can have. Rows must sum to one.
///
/// The constraint `sum c = 1` becomes one more column of weight 2 (an exact penalty: for unit
/// rows, mending the sum costs at most as much as it is wrong).
pub fn hull_distance(points: &Dense, i: usize) -> f64 {
    let (rows, n) = (points.rows(), points.cols());
    if rows < 2 {
        return 2.0;
    }
    let mut atoms = Dense::zeros(rows - 1, n + 1);
    for (to, from) in (0..rows).filter(|j| *j != i).enumerate() {
        atoms.row_mut(to)[..n].copy_from_slice(points.row(from));
        atoms.row_mut(to)[n] = PENALTY;
    }
    let mut x = points.row(i).to_vec();
    x.push(PENALTY);
    fit(&atoms, &x, None).expect("finite rows of equal length").value
}

/// alpha of the paper (Definition 2.1): the smallest distance of a row from the hull of the others.
/// Rows in parallel in the current thread pool.
pub fn alpha(points: &Dense) -> f64 {
    let (r, n) = (points.rows(), points.cols());
    let distances: Vec<f64> = if r.saturating_mul(r).saturating_mul(n) > SMALL_HULLS {
        wide_hull_distances(points)
    } else {
        (0..r).into_par_iter().map(|i| hull_distance(points, i)).collect()
    };
    distances.into_iter().fold(f64::INFINITY, f64::min)
}

/// Up to this `r^2 n`, hull distances are found one by one on all points.
const SMALL_HULLS: usize = 10_000_000;

/// [`hull_distance`] of every row, for many columns: one design for all rows, which each leaves its
/// own atom out of, and [`NearSolver`] from least squares, holding the penalty's column. As exact.
/// O(r n) memory.
fn wide_hull_distances(points: &Dense) -> Vec<f64> {
    let (r, n) = (points.rows(), points.cols());
    // With the penalty's column all rows have the sum 3; they are scaled to one.
    const SUM: f64 = 1.0 + PENALTY;
    let mut atoms = Dense::zeros(r, n + 1);
    for j in 0..r {
        let atom = atoms.row_mut(j);
        atom[..n].iter_mut().zip(points.row(j)).for_each(|(a, v)| *a = v / SUM);
        atom[n] = PENALTY / SUM;
    }
    // Least squares need no penalty: fits of unit rows have sums near one, and are scaled to it.
    let mut gram = vec![0.0; r * r];
    kernels::gemm(r, n, r, 1.0, points.values(), points.values(), true, 0.0, &mut gram);
    let design = Design::new(&atoms, Loss::Hinge);
    (0..r)
        .into_par_iter()
        .map_init(NearSolver::default, |near, i| {
            near.held = Some(n as u32);
            let usable: Vec<u32> = (0..r as u32).filter(|&j| j as usize != i).collect();
            let entry = |j: u32, k: u32| gram[j as usize * r + k as usize];
            let block: Vec<f64> =
                usable.iter().flat_map(|&j| usable.iter().map(move |&k| entry(j, k))).collect();
            let target: Vec<f64> = usable.iter().map(|&j| entry(i as u32, j)).collect();
            let mut start = crate::squares::approximate(&block, &target);
            let sum = start.iter().sum::<f64>().max(f64::MIN_POSITIVE);
            start.iter_mut().for_each(|c| *c /= sum);
            let x = atoms.row(i);
            let problem = Problem { design: &design, x, usable: &usable, upper: None };
            SUM * near.fit(&problem, &[], None, &start).value
        })
        .collect()
}

#[cfg(test)]
mod tests;
