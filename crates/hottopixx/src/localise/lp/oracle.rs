//! The oracle: how well a diagonal explains each row, and a cut where it does not.
//!
//! `phi_i(d) = min ||x_i - cX||_1` over `0 <= c <= d` is one bounded l1 fit on the support of d,
//! started from the vertex of the row's last fit. Most rows need none: weights found for an earlier
//! diagonal, cut down to the new one, miss by at most the weight taken away (rows of X have unit
//! sum), and where that is good enough nothing is solved.

use super::cuts::{Cut, Dual};
use crate::control::Control;
use crate::kernels::axpy;
use crate::l1::{Atoms, Basis, Design, Gathered, Improved, NearSolver, Problem, Solver};
use crate::normalise::UnitRows;
use crate::squares::descend;
use rayon::prelude::*;

/// Diagonals below this count as zero.
const SUPPORT: f64 = 1e-12;
/// Sweeps of the least squares that such fits start from.
const SWEEPS: usize = 80;

/// The best weights known for a row, and what they miss.
#[derive(Debug, Clone)]
pub(crate) struct RowState {
    /// (column in play, weight > 0), columns increasing.
    pub weights: Vec<(u32, f64)>,
    /// `||x_i - cX||_1` for these weights.
    pub value: f64,
    basis: Option<Basis>,
}

/// Row fits over the columns in play.
pub(crate) struct Oracle<'a> {
    x: &'a UnitRows,
    /// Rows of X that may have weight, in the order in which they came into play.
    columns: Vec<usize>,
    atoms: Atoms,
    /// `x_i.x_j` for all rows i and columns j in play; `None` when stopped before there were any,
    /// and then nothing is fitted.
    gram: Option<Vec<f64>>,
    rows: Vec<RowState>,
    /// Fits and pivots so far.
    pub fits: usize,
    pub pivots: usize,
}

/// A row after its fit, the pivots it took, and a cut if it misses too much.
pub(crate) type Fitted = (RowState, usize, Option<Cut>);

/// The buffers of fits, one for each thread.
pub(crate) struct Workspace {
    gathered: Gathered,
    solver: Solver,
    near: NearSolver,
    dual: Vec<f64>,
}

impl Workspace {
    pub fn under(control: &Control) -> Self {
        let (gathered, dual) = (Gathered::default(), Vec::new());
        let (solver, near) = (Solver::under(control), NearSolver::under(control));
        Workspace { gathered, solver, near, dual }
    }
}

impl<'a> Oracle<'a> {
    /// Nothing is explained yet: every row misses 1.
    pub fn new(x: &'a UnitRows, columns: Vec<usize>, control: &Control) -> Self {
        let atoms = Atoms::new(&x.select_rows(&columns));
        let nothing = RowState { weights: Vec::new(), value: 1.0, basis: None };
        let gram = x.gram_columns_under(&columns, control);
        Oracle { x, columns, atoms, gram, rows: vec![nothing; x.features()], fits: 0, pivots: 0 }
    }

    /// Brings more rows of X into play, behind the others.
    pub fn add_columns(&mut self, new: &[usize], control: &Control) {
        self.columns.extend_from_slice(new);
        self.atoms = Atoms::new(&self.x.select_rows(&self.columns));
        self.gram = self.x.gram_columns_under(&self.columns, control);
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

    /// Gives rows weights (columns increasing) from elsewhere where they are better, as long as
    /// there is time to measure them.
    pub fn offer(&mut self, weights: Vec<Vec<(u32, f64)>>, control: &Control) {
        let measured = |(i, weights): (usize, &Vec<(u32, f64)>)| {
            control.goes_on().then(|| self.measure(i, weights))
        };
        let values: Vec<Option<f64>> = weights.par_iter().enumerate().map(measured).collect();
        for ((row, weights), value) in self.rows.iter_mut().zip(weights).zip(values) {
            if let Some(value) = value
                && value < row.value
            {
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
    /// than `allowed(i)`. Rows that `control` leaves no time for stay as they are. Rows in
    /// parallel; the answer does not depend on the number of threads.
    pub fn solve(
        &mut self,
        rows: &[usize],
        d: &[f64],
        allowed: impl Fn(usize) -> f64 + Sync,
        control: &Control,
    ) -> Vec<Cut> {
        let usable: Vec<u32> = (0..d.len() as u32).filter(|&j| d[j as usize] > SUPPORT).collect();
        let this = &*self;
        let solved: Vec<Option<Fitted>> = rows
            .par_iter()
            .map_init(
                || Workspace::under(control),
                |work, &i| {
                    let stopped = control.stopped().is_some();
                    if stopped { None } else { this.fit(work, i, &usable, d, allowed(i)) }
                },
            )
            .collect();
        let mut cuts = Vec::new();
        for (&i, fitted) in rows.iter().zip(solved) {
            let Some((state, pivots, cut)) = fitted else { continue };
            self.keep(i, state, pivots);
            cuts.extend(cut);
        }
        cuts
    }

    /// Keeps what a fit of row i came to, for the next to start from.
    pub fn keep(&mut self, i: usize, state: RowState, pivots: usize) {
        self.rows[i] = state;
        self.fits += 1;
        self.pivots += pivots;
    }

    /// One fit with weights on the columns `usable` of at most `d` (by column): weights, pivots, and a
    /// cut if it misses more than `allowed`. `None` when it was stopped: the weights the row has may
    /// be better.
    pub fn fit(
        &self,
        work: &mut Workspace,
        i: usize,
        usable: &[u32],
        d: &[f64],
        allowed: f64,
    ) -> Option<Fitted> {
        let Workspace { gathered, solver, near, dual } = work;
        let target = self.atoms.restrict(self.x.row(i), gathered);
        let problem = Problem { design: target.design, x: target.x, usable, upper: Some(d) };
        let row = &self.rows[i];
        let wide = NearSolver::pays(target.x.len(), usable.len());
        let (fitted, weights, hinge, basis): (_, Vec<f64>, &[f64], _) = if wide {
            let squares = self.least_squares(self.gram.as_ref()?, i, usable, d);
            let fitted = near.improve(&problem, &row.weights, row.basis.as_ref(), &squares);
            (fitted, near.weights().to_vec(), near.dual(), near.basis().clone())
        } else {
            let fitted = solver.improve(&problem, row.basis.as_ref());
            let weights = usable.iter().map(|&j| solver.weights()[j as usize]).collect();
            (fitted, weights, solver.dual(), solver.basis())
        };
        let Improved { value, pivots, stopped } = fitted;
        if stopped {
            return None;
        }
        let weights = usable.iter().copied().zip(weights).filter(|w| w.1 > 0.0).collect();
        let cut = (value > allowed).then(|| self.cut(i, target.design, hinge, dual));
        Some((RowState { weights, value, basis: Some(basis) }, pivots, cut))
    }

    /// `min ||x_i - cX||_2` over `0 <= c <= d`, nearly: coordinate descent on the Gram matrix, from
    /// the row's weights. A good place to start the l1 fit from when d has moved far, at a cost
    /// that does not depend on n.
    fn least_squares(&self, gram: &[f64], i: usize, usable: &[u32], d: &[f64]) -> Vec<f64> {
        let m = self.columns.len();
        let inner = |row: usize, j: u32| gram[row * m + j as usize];
        let block: Vec<f64> = usable
            .iter()
            .flat_map(|&a| usable.iter().map(move |&b| inner(self.columns[a as usize], b)))
            .collect();
        let u = usable.len();
        let mut c = vec![0.0; u];
        for &(j, weight) in &self.rows[i].weights {
            if let Ok(at) = usable.binary_search(&j) {
                c[at] = weight.min(d[j as usize]);
            }
        }
        // gap_j = x_j.(x_i - cX), minus the gradient.
        let mut gap: Vec<f64> = usable.iter().map(|&j| inner(i, j)).collect();
        for (at, &c) in c.iter().enumerate() {
            axpy(-c, &block[at * u..(at + 1) * u], &mut gap);
        }
        let upper: Vec<f64> = usable.iter().map(|&j| d[j as usize]).collect();
        descend(&block, &mut gap, &mut c, Some(&upper), SWEEPS, 1e-5);
        c
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
