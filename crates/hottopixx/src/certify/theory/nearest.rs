//! The rows of Y: for every row of X the nearest point of the hull of the hott rows, measured.

use super::{PENALTY, unless_stopped};
use crate::Error;
use crate::certify::rounding::{add_down, add_up, gamma, mul_up};
use crate::control::{Control, Stop};
use crate::kernels::parallel::*;
use crate::l1::{Atoms, Gathered, Problem, Solver};
use crate::matrix::{Dense, Entries, Matrix, Row, Sparse};
use crate::normalise::UnitRows;

/// A row that is not hott: its place in Y, measured.
pub(super) struct MeasuredRow {
    pub row: usize,
    /// At least `||x_j - y_j||_1`.
    pub error: f64,
    /// At most the smallest `||y_j - w_i||_1`.
    pub margin: f64,
    /// The hott row (its position) nearest to `x_j`, and at least how far that is.
    pub hott: usize,
    pub distance: f64,
}

pub(super) fn nearest_points(
    x: &UnitRows,
    hott: &[usize],
    control: &Control,
) -> Result<Vec<MeasuredRow>, Error> {
    let w = x.select_rows(hott);
    let atoms = Atoms::new(&with_penalty(&w));
    let usable: Vec<u32> = (0..hott.len() as u32).collect();
    let others: Vec<usize> = (0..x.features()).filter(|j| !hott.contains(j)).collect();
    let slack = mul_up(16.0, gamma(2 * x.examples() + hott.len() + 16));
    let rows: Result<Vec<MeasuredRow>, Stop> = others
        .par_iter()
        .map_init(
            || (Workspace::default(), vec![0.0; x.examples()]),
            |(work, point), &j| {
                unless_stopped(control)?;
                let weights = work.weights(&atoms, &usable, x.row(j), x.examples());
                Ok(measure(x, &w, j, &weights, point).widened(slack))
            },
        )
        .collect();
    rows.map_err(Error::NoAnswer)
}

/// W with one more column, which holds the penalty.
fn with_penalty(w: &Matrix) -> Matrix {
    let (r, n) = (w.rows(), w.cols());
    match w {
        Matrix::Dense(w) => {
            let mut wide = Dense::zeros(r, n + 1);
            for i in 0..r {
                wide.row_mut(i)[..n].copy_from_slice(w.row(i));
                wide.row_mut(i)[n] = PENALTY;
            }
            wide.into()
        }
        Matrix::Sparse(w) => {
            let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
            for i in 0..r {
                columns.extend(w.row(i).0.iter().copied().chain([n as u32]));
                values.extend(w.row(i).1.iter().copied().chain([PENALTY]));
                starts.push(values.len());
            }
            Sparse::new(r, n + 1, starts, columns, values)
                .expect("rows of a matrix, extended")
                .into()
        }
    }
}

#[derive(Default)]
struct Workspace {
    solver: Solver,
    gathered: Gathered,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl Workspace {
    /// Convex weights of the point of the hull nearest to `target`; empty when the fit gave none.
    fn weights(&mut self, atoms: &Atoms, usable: &[u32], target: Row<'_>, n: usize) -> Vec<f64> {
        self.values.clear();
        self.values.extend(target.values().chain([PENALTY]));
        let extended = match target.entries() {
            Entries::Dense(_) => Row::dense(&self.values),
            Entries::Sparse(columns, _) => {
                self.columns.clear();
                self.columns.extend(columns.iter().copied().chain([n as u32]));
                Row::sparse(&self.columns, &self.values)
            }
        };
        let target = atoms.restrict(extended, &mut self.gathered);
        let problem = Problem { design: target.design, x: target.x, usable, upper: None };
        self.solver.fit(&problem, None);
        // The penalty leaves the sum at one up to rounding; a point *of the hull* is wanted.
        let weights = self.solver.weights().iter().map(|c| c.max(0.0));
        let sum: f64 = weights.clone().sum();
        if sum > 0.0 && sum.is_finite() { weights.map(|c| c / sum).collect() } else { Vec::new() }
    }
}

impl MeasuredRow {
    /// What was measured, off by at most `slack`, on the safe side.
    fn widened(self, slack: f64) -> MeasuredRow {
        MeasuredRow {
            error: add_up(self.error, slack),
            margin: add_down(self.margin, -slack).max(0.0),
            distance: add_up(self.distance, slack),
            ..self
        }
    }
}

/// Measures row j against its point in the hull. `point` has n zeros, before and after.
fn measure(x: &UnitRows, w: &Matrix, j: usize, weights: &[f64], point: &mut [f64]) -> MeasuredRow {
    x.row(j).add_to(1.0, point);
    let (hott, distance) = closest(w, point);
    point.fill(0.0);
    if weights.is_empty() {
        return MeasuredRow { row: j, error: distance, margin: 0.0, hott, distance };
    }
    for (i, &weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
        w.row(i).add_to(weight, point);
    }
    let (_, margin) = closest(w, point);
    x.row(j).add_to(-1.0, point);
    let error = point.iter().map(|e| e.abs()).sum();
    point.fill(0.0);
    MeasuredRow { row: j, error, margin, hott, distance }
}

/// The row of W nearest to a nonnegative point, and its l1 distance. Looks at the support of W
/// only: elsewhere the distance is the point's own weight.
fn closest(w: &Matrix, point: &[f64]) -> (usize, f64) {
    let sum: f64 = point.iter().sum();
    let distance = |i: usize| match w {
        Matrix::Dense(w) => w.row(i).iter().zip(point).map(|(a, b)| (a - b).abs()).sum::<f64>(),
        Matrix::Sparse(_) => {
            let entries = w.row(i).nonzeros();
            let change: f64 = entries.map(|(k, v)| (v - point[k]).abs() - point[k]).sum();
            (sum + change).max(0.0)
        }
    };
    (0..w.rows()).map(|i| (i, distance(i))).min_by(|a, b| a.1.total_cmp(&b.1)).expect("r >= 1")
}
