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
mod design;
mod line_search;
mod near;
mod smooth;
mod solver;
mod squares;
mod vertex;
mod walk;

pub use basis::Basis;
pub use design::{Atoms, Design, Gathered, Loss, Target};
pub use near::NearSolver;
pub use solver::{Improved, Problem, Solver};
pub(crate) use squares::{descend, squares};

use crate::matrix::Dense;
use crate::{Error, kernels};
use rayon::prelude::*;

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
    // Unit scale: tolerances of the walk are absolute.
    let size = |v: &[f64]| v.iter().map(|e| e.abs()).sum::<f64>();
    let whole = |s: f64| if s > 0.0 { s } else { 1.0 };
    let scale_x = whole(size(x));
    let scales: Vec<f64> = (0..atoms.rows()).map(|j| whole(size(atoms.row(j)))).collect();
    let mut scaled = atoms.clone();
    for (j, scale) in scales.iter().enumerate() {
        scaled.row_mut(j).iter_mut().for_each(|v| *v /= scale);
    }
    let target: Vec<f64> = x.iter().map(|v| v / scale_x).collect();
    let bounds: Option<Vec<f64>> =
        upper.map(|u| u.iter().zip(&scales).map(|(u, s)| u * s / scale_x).collect());

    let signed = atoms.values().iter().chain(x).any(|v| *v < 0.0);
    let design = Design::new(&scaled, if signed { Loss::Absolute } else { Loss::Hinge });
    let usable: Vec<u32> =
        (0..atoms.rows() as u32).filter(|&j| size(atoms.row(j as usize)) > 0.0).collect();
    let problem =
        Problem { design: &design, x: &target, usable: &usable, upper: bounds.as_deref() };
    let mut solver = Solver::new();
    let summary = solver.fit(&problem, None);

    let weights: Vec<f64> = (0..atoms.rows())
        .map(|j| {
            let c = solver.weights()[j] * scale_x / scales[j];
            c.clamp(0.0, upper.map_or(f64::INFINITY, |u| u[j]))
        })
        .collect();
    let dual = match design.loss {
        Loss::Absolute => solver.dual().to_vec(),
        Loss::Hinge => solver.dual().iter().map(|y| y - 1.0).collect(),
    };
    Ok(Fit {
        weights,
        value: summary.value * scale_x,
        dual,
        lower_bound: summary.lower_bound * scale_x,
        status: summary.status,
        pivots: summary.pivots,
    })
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
            let mut start = squares(&block, &target);
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
