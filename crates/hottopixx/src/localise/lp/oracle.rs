//! The oracle: how well a diagonal explains each row, and a cut where it does not.
//!
//! `phi_i(d) = min ||x_i - cX||_1` over `0 <= c <= d` is one bounded l1 fit on the support of d,
//! started from the vertex of the row's last fit. Most rows need none: weights found for an earlier
//! diagonal, cut down to the new one, miss by at most the weight taken away (rows of X have unit
//! sum), and where that is good enough nothing is solved.

use super::cuts::{Cut, Dual};
use crate::l1::{Atoms, Basis, Design, Gathered, Problem, Solver};
use crate::normalise::UnitRows;
use rayon::prelude::*;

/// Diagonals below this count as zero.
const SUPPORT: f64 = 1e-12;

/// The best weights known for a row, and what they miss.
#[derive(Debug, Clone)]
pub(super) struct RowState {
    /// (column in play, weight > 0), columns increasing.
    pub weights: Vec<(u32, f64)>,
    /// `||x_i - cX||_1` for these weights.
    pub value: f64,
    basis: Option<Basis>,
}

/// Row fits over the columns in play.
pub(super) struct Oracle<'a> {
    x: &'a UnitRows,
    /// Rows of X that may have weight.
    columns: Vec<usize>,
    atoms: Atoms,
    rows: Vec<RowState>,
    /// Fits and pivots so far.
    pub fits: usize,
    pub pivots: usize,
}

#[derive(Default)]
struct Workspace {
    gathered: Gathered,
    solver: Solver,
    dual: Vec<f64>,
}

impl<'a> Oracle<'a> {
    /// Nothing is explained yet: every row misses 1.
    pub fn new(x: &'a UnitRows, columns: Vec<usize>) -> Self {
        let atoms = Atoms::new(&x.x().select_rows(&columns));
        let nothing = RowState { weights: Vec::new(), value: 1.0, basis: None };
        Oracle { x, columns, atoms, rows: vec![nothing; x.features()], fits: 0, pivots: 0 }
    }

    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    pub fn row(&self, i: usize) -> &RowState {
        &self.rows[i]
    }

    /// Number of rows to be explained.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Gives rows weights (columns increasing) from elsewhere where they are better.
    pub fn offer(&mut self, weights: Vec<Vec<(u32, f64)>>) {
        let values: Vec<f64> =
            weights.par_iter().enumerate().map(|(i, weights)| self.measure(i, weights)).collect();
        for ((row, weights), value) in self.rows.iter_mut().zip(weights).zip(values) {
            if value < row.value {
                (row.weights, row.value) = (weights, value);
            }
        }
    }

    /// `||x_i - cX||_1`. O(n) for each weight.
    fn measure(&self, i: usize, weights: &[(u32, f64)]) -> f64 {
        let mut residual = self.x.dense_row(i);
        for &(j, weight) in weights {
            self.x.row(self.columns[j as usize]).add_to(-weight, &mut residual);
        }
        residual.iter().map(|e| e.abs()).sum()
    }

    /// What row i misses at most with its weights cut down to d.
    pub fn ceiling(&self, i: usize, d: &[f64]) -> f64 {
        let row = &self.rows[i];
        row.value + row.weights.iter().map(|&(j, c)| (c - d[j as usize]).max(0.0)).sum::<f64>()
    }

    /// Solves the rows exactly for the diagonal d; returns a cut for each row that misses more
    /// than `allowed(i)`. Rows in parallel; the answer does not depend on the number of threads.
    pub fn solve(
        &mut self,
        rows: &[usize],
        d: &[f64],
        allowed: impl Fn(usize) -> f64 + Sync,
    ) -> Vec<Cut> {
        let usable: Vec<u32> = (0..d.len() as u32).filter(|&j| d[j as usize] > SUPPORT).collect();
        let this = &*self;
        let solved: Vec<(RowState, usize, Option<Cut>)> = rows
            .par_iter()
            .map_init(Workspace::default, |work, &i| this.fit(work, i, &usable, d, allowed(i)))
            .collect();
        let mut cuts = Vec::new();
        for (&i, (state, pivots, cut)) in rows.iter().zip(solved) {
            self.rows[i] = state;
            self.pivots += pivots;
            cuts.extend(cut);
        }
        self.fits += rows.len();
        cuts
    }

    /// One fit: weights, pivots, and a cut if it misses more than `allowed`.
    fn fit(
        &self,
        work: &mut Workspace,
        i: usize,
        usable: &[u32],
        d: &[f64],
        allowed: f64,
    ) -> (RowState, usize, Option<Cut>) {
        let Workspace { gathered, solver, dual } = work;
        let target = self.atoms.restrict(self.x.row(i), gathered);
        let problem = Problem { design: target.design, x: target.x, usable, upper: Some(d) };
        let summary = solver.fit(&problem, self.rows[i].basis.as_ref());
        let weights = usable.iter().map(|&j| (j, solver.weights()[j as usize]));
        let state = RowState {
            weights: weights.filter(|w| w.1 > 0.0).collect(),
            value: summary.value,
            basis: Some(solver.basis()),
        };
        let cut = (state.value > allowed).then(|| self.cut(i, target.design, solver.dual(), dual));
        (state, summary.pivots, cut)
    }

    /// The cut of a fit. The kernel's dual is in [0, 2] on the points it looked at; less one it is
    /// the l1 dual, which is -1 at the points it did not look at. O(columns * points).
    fn cut(&self, i: usize, design: &Design, hinge: &[f64], y: &mut Vec<f64>) -> Cut {
        let price = |j: usize| design.price(j, hinge) - self.atoms.sum(j);
        let columns = (0..self.columns.len()).map(|j| price(j).max(0.0)).collect();
        y.clear();
        y.resize(self.x.examples(), -1.0);
        let row = self.x.row(i);
        if hinge.len() == y.len() {
            y.iter_mut().zip(hinge).for_each(|(y, h)| *y += h);
        } else {
            row.nonzeros().zip(hinge).for_each(|((k, _), h)| y[k] += h);
        }
        Cut { row: i, columns, right: row.dot(y), dual: Dual::new(y) }
    }
}
