//! Exact cleaning, one l1 fit a row.

use crate::l1::{Atoms, Basis, Gathered, Problem, Solver, Status};
use crate::normalise::UnitRows;
use rayon::prelude::*;

/// A row of X fitted on the hott rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RowFit {
    /// (position of the hott row, weight > 0), positions increasing.
    pub weights: Vec<(u32, f64)>,
    /// The l1 error of the row.
    pub error: f64,
    /// Whether the error is known to be the smallest possible.
    pub optimal: bool,
    /// The vertex of the fit, to start similar fits from.
    pub basis: Basis,
}

impl RowFit {
    /// A hott row explains itself.
    pub(crate) fn itself(position: usize) -> Self {
        let weights = vec![(position as u32, 1.0)];
        RowFit { weights, error: 0.0, optimal: true, basis: Basis::default() }
    }
}

/// Fits every row of X on the rows `hott` (rows of X) with the least l1 error.
///
/// O(pivots * k * nonzeros of the row) for each row, k the number of hott rows it uses; rows in
/// parallel in the current thread pool. The answer does not depend on the number of threads.
pub fn exact(x: &UnitRows, hott: &[usize]) -> Vec<RowFit> {
    let rows: Vec<usize> = (0..x.features()).collect();
    refit(x, hott, &rows, None)
}

/// As [`exact`] for some rows of X, from earlier fits (by row of X) where there are any.
pub(crate) fn refit(
    x: &UnitRows,
    hott: &[usize],
    rows: &[usize],
    earlier: Option<&[RowFit]>,
) -> Vec<RowFit> {
    let atoms = Atoms::new(&x.select_rows(hott));
    let usable: Vec<u32> = (0..hott.len() as u32).collect();
    rows.par_iter()
        .map_init(Workspace::default, |work, &i| {
            if let Some(position) = hott.iter().position(|h| *h == i) {
                return RowFit::itself(position);
            }
            let target = atoms.restrict(x.row(i), &mut work.gathered);
            let problem =
                Problem { design: target.design, x: target.x, usable: &usable, upper: None };
            warm(&mut work.solver, &problem, earlier.map(|fits| &fits[i].basis))
        })
        .collect()
}

/// One fit, from a vertex where one is given, as a [`RowFit`].
pub(crate) fn warm(solver: &mut Solver, problem: &Problem<'_>, basis: Option<&Basis>) -> RowFit {
    let summary = solver.fit(problem, basis);
    let weights = problem.usable.iter().map(|&j| (j, solver.weights()[j as usize]));
    RowFit {
        weights: weights.filter(|w| w.1 > 0.0).collect(),
        error: summary.value,
        optimal: summary.status == Status::Optimal,
        basis: solver.basis(),
    }
}

#[derive(Default)]
struct Workspace {
    gathered: Gathered,
    solver: Solver,
}
