//! The oracle: how well a diagonal explains each row, and a cut where it does not.
//!
//! `phi_i(d) = min ||x_i - cX||_1` over `0 <= c <= d` is one bounded l1 fit on the support of d,
//! started from the vertex of the row's last fit. Most rows need none: weights found for an earlier
//! diagonal, cut down to the new one, miss by at most the weight taken away (rows of X have unit
//! sum), and where that is good enough nothing is solved.

use super::cuts::{Cut, Dual};
use super::ground::Ground;
use crate::control::Control;
use crate::kernels::gemm_while;
use crate::kernels::parallel::*;
use crate::l1::{Atoms, Basis, Design, Enough, Gathered, Improved, NearSolver, Problem, Solver};
use crate::normalise::UnitRows;

/// Diagonals below this count as zero.
const SUPPORT: f64 = 1e-12;
/// Numbers in the duals that are priced at a time.
const PRICED: usize = 1 << 23;

/// The best weights known for a row, and what they miss.
#[derive(Debug, Clone)]
pub(crate) struct RowState {
    /// (column in play, weight > 0), columns increasing.
    pub weights: Vec<(u32, f64)>,
    /// `||x_i - cX||_1` for these weights.
    pub value: f64,
    basis: Option<Basis>,
    /// Whether the last fit ended before a vertex.
    approached: bool,
}

/// Row fits over the columns in play.
pub(crate) struct Oracle<'a> {
    x: &'a UnitRows,
    /// Rows of X that may have weight, in the order in which they came into play.
    pub(super) columns: Vec<usize>,
    pub(super) atoms: Atoms,
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

/// What a fit came to, in the terms of its problem.
struct Answer {
    value: f64,
    /// By position in `usable`.
    weights: Vec<f64>,
    /// The vertex, if it ended at one.
    basis: Option<Basis>,
    pivots: usize,
}

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
        let nothing = RowState { weights: Vec::new(), value: 1.0, basis: None, approached: false };
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

    /// Fits the rows for the diagonal d; returns a cut for each row that misses more than
    /// `allowed(i)`. Each error and what its cut proves at d are within `accuracy` of one another; at
    /// 0 fits are exact. Rows that `control` leaves no time for stay as they are. Rows in
    /// parallel; the answer does not depend on the number of threads.
    pub fn solve(
        &mut self,
        rows: &[usize],
        d: &[f64],
        allowed: impl Fn(usize) -> f64 + Sync,
        accuracy: f64,
        control: &Control,
    ) -> Vec<Cut> {
        let usable: Vec<u32> = (0..d.len() as u32).filter(|&j| d[j as usize] > SUPPORT).collect();
        let this = &*self;
        let ground = Ground::shared(this, &usable, d, rows.len());
        let enough = |i: usize| Enough { value: allowed(i), gap: accuracy };
        let solved: Vec<Option<Fitted>> = rows
            .par_iter()
            .map_init(
                || Workspace::under(control),
                |work, &i| {
                    let stopped = control.stopped().is_some();
                    if stopped { None } else { this.fit_on(&ground, work, i, enough(i)) }
                },
            )
            .collect();
        let mut cuts = Vec::new();
        for (&i, fitted) in rows.iter().zip(solved) {
            let Some((state, pivots, cut)) = fitted else { continue };
            self.keep(i, state, pivots);
            cuts.extend(cut);
        }
        self.price(&mut cuts, control);
        cuts
    }

    /// Keeps what a fit of row i came to, for the next to start from.
    pub fn keep(&mut self, i: usize, state: RowState, pivots: usize) {
        self.rows[i] = state;
        self.fits += 1;
        self.pivots += pivots;
    }

    /// One exact fit with weights on the columns `usable` of at most `d` (by column): weights, pivots,
    /// and a cut if it misses more than `allowed`. `None` when it was stopped: the weights the row
    /// has may be better.
    pub fn fit(
        &self,
        work: &mut Workspace,
        i: usize,
        usable: &[u32],
        d: &[f64],
        allowed: f64,
    ) -> Option<Fitted> {
        self.fit_on(&Ground::of_one(self, usable, d), work, i, Enough { value: allowed, gap: 0.0 })
    }

    /// One fit. An error above `enough.value` brings a cut.
    fn fit_on(
        &self,
        ground: &Ground<'_>,
        work: &mut Workspace,
        i: usize,
        enough: Enough,
    ) -> Option<Fitted> {
        let Workspace { gathered, solver, near, dual } = work;
        let target = self.atoms.restrict(self.x.row(i), gathered);
        let problem = ground.problem(&target);
        let (points, usable) = (target.x.len(), ground.usable.len());
        // Good weights without a vertex are of no use to the solver of narrow problems.
        let rough = enough.gap > 0.0 || self.rows[i].approached;
        let wide =
            NearSolver::pays(points, usable) || (rough && NearSolver::can_approach(points, usable));
        let Answer { value, weights, basis, pivots } = if wide {
            self.fit_wide(ground, near, &problem, i, enough)?
        } else {
            let warm =
                self.rows[i].basis.as_ref().map(|basis| ground.basis_inwards(&problem, basis));
            let Improved { value, pivots, stopped } = solver.improve(&problem, warm.as_ref());
            if stopped {
                return None;
            }
            let weights = problem.usable.iter().map(|&j| solver.weights()[j as usize]).collect();
            Answer { value, weights, basis: Some(solver.basis()), pivots }
        };
        let basis = basis.map(|basis| ground.basis_outwards(&problem, &basis));
        let weights = ground.usable.iter().copied().zip(weights).filter(|w| w.1 > 0.0).collect();
        let design = (!ground.priced_later).then_some(target.design);
        let hinge = if wide { near.dual() } else { solver.dual() };
        let cut = (value > enough.value).then(|| self.cut(i, design, hinge, dual));
        let approached = basis.is_none();
        Some((RowState { weights, value, basis, approached }, pivots, cut))
    }

    /// One fit on many points: as good as is asked for where that is possible without walking to a
    /// vertex, exact otherwise.
    fn fit_wide(
        &self,
        ground: &Ground<'_>,
        near: &mut NearSolver,
        problem: &Problem<'_>,
        i: usize,
        enough: Enough,
    ) -> Option<Answer> {
        let row = &self.rows[i];
        let mut other = ground.least_squares(self.gram.as_ref()?, i, &row.weights);
        let inwards = |&(j, c): &(u32, f64)| Some((ground.inwards(problem, j)?, c));
        let start: Vec<(u32, f64)> = row.weights.iter().filter_map(inwards).collect();
        if enough.gap > 0.0 {
            if let Some(value) = near.approach(problem, &start, &other, enough) {
                let weights = near.weights().to_vec();
                return Some(Answer { value, weights, basis: None, pivots: 0 });
            }
            other.copy_from_slice(near.weights());
        }
        let warm = row.basis.as_ref().map(|basis| ground.basis_inwards(problem, basis));
        let Improved { value, pivots, stopped } =
            near.improve(problem, &start, warm.as_ref(), &other);
        let (weights, basis) = (near.weights().to_vec(), Some(near.basis().clone()));
        (!stopped).then_some(Answer { value, weights, basis, pivots })
    }

    /// The cut of a fit. The kernel's dual is in [0, 2] on the points it looked at; less one it is
    /// the l1 dual, which is -1 at the points it did not look at. O(columns * points), or without
    /// columns where no design is given.
    fn cut(&self, i: usize, design: Option<&Design>, hinge: &[f64], y: &mut Vec<f64>) -> Cut {
        let columns = design.map_or_else(Vec::new, |design| {
            let price = |j: usize| design.price(j, hinge) - self.atoms.sum(j);
            (0..self.columns.len()).map(|j| price(j).max(0.0)).collect()
        });
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

    /// Gives cuts of dense data their columns, `(x_j.y)_+`, many cuts in one matrix product; when
    /// stopped, those without are dropped.
    fn price(&self, cuts: &mut Vec<Cut>, control: &Control) {
        let Some(design) = self.atoms.shared() else { return };
        let (m, n) = (self.columns.len(), self.x.examples());
        let (mut y, mut prices) = (Vec::new(), Vec::new());
        let mut priced = 0;
        for batch in cuts.chunks_mut((PRICED / n.max(1)).max(32)) {
            y.clear();
            y.resize(batch.len() * n, 0.0);
            y.chunks_mut(n).zip(&*batch).for_each(|(y, cut)| cut.dual.add_to(1.0, y));
            prices.resize(batch.len() * m, 0.0);
            let (k, goes_on) = (batch.len(), || control.goes_on());
            if !gemm_while(goes_on, k, n, m, 1.0, &y, design.values(), true, 0.0, &mut prices) {
                break;
            }
            for (cut, prices) in batch.iter_mut().zip(prices.chunks(m)) {
                cut.columns = prices.iter().map(|price| price.max(0.0)).collect();
            }
            priced += batch.len();
        }
        cuts.truncate(priced);
    }
}
