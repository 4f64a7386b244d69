//! Exact cleaning, one l1 fit per row.
//!
//! Rows with many more columns than there are hott rows are fitted on the columns whose side is in
//! doubt, starting from the least squares fit ([`crate::l1::NearSolver`]); the others on all of
//! them. Both are exact.

use super::squares::{least_squares, weighted};
use crate::control::Control;
use crate::kernels::parallel::*;
use crate::l1::{Atoms, Basis, Gathered, NearSolver, Problem, Solver, Status};
use crate::matrix::Shape;
use crate::normalise::UnitRows;
use crate::squares::least_squares_of;
use std::borrow::Cow;

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
    /// The sum of the squares of what is left of the row, where it was measured along with the
    /// error.
    pub squares: Option<f64>,
}

impl RowFit {
    /// A hott row explains itself.
    pub(crate) fn itself(position: usize) -> Self {
        let weights = vec![(position as u32, 1.0)];
        RowFit { weights, optimal: true, squares: Some(0.0), ..RowFit::default() }
    }
}

/// The position in `hott` of the row itself, or of one that is the same, bit by bit: it needs no fit. So what
/// explains a row depends on its entries and on the hott rows alone, in their order, and not on whether
/// the row is one of them or a copy. O(rank), as good as always.
pub(super) fn same_as_hott(x: &UnitRows, hott: &[usize], i: usize) -> Option<usize> {
    let itself = hott.iter().position(|h| *h == i);
    itself.or_else(|| hott.iter().position(|&h| x.row(h).is_same(x.row(i))))
}

/// Fits every row of X on the rows `hott` (rows of X) with the least l1 error. Rows that `control`
/// leaves no time for are fitted by least squares, and say that they are not optimal.
///
/// O(pivots * k * nonzeros of the row) for each row, k the number of hott rows it uses, for wide
/// rows much less: about a dozen passes over their nonzeros of the hott rows. Rows in
/// parallel in the current thread pool. The answer does not depend on the number of threads.
pub fn exact(x: &UnitRows, hott: &[usize], control: &Control) -> Vec<RowFit> {
    let rows: Vec<usize> = (0..x.features()).collect();
    refit(x, hott, &rows, Starts::Cold, control)
}

/// Where fits begin, beside least squares; fits are by row of X. It changes how long they take, and which
/// of several best weights are found.
#[derive(Clone, Copy)]
pub(crate) enum Starts<'a> {
    /// Nothing is known.
    Cold,
    /// At the vertices of fits on the same hott rows, or on some of them.
    Vertices(&'a [RowFit]),
    /// At the weights of fits on these other hott rows, as far as they are the same; a row that was not fitted
    /// has none.
    Others(&'a [usize], &'a [RowFit]),
}

impl Starts<'_> {
    /// For fits on `hott`.
    fn of<'b>(&'b self, hott: &[usize]) -> impl Fn(usize) -> (Option<&'b Basis>, Vec<(u32, f64)>) {
        let position = |j: &usize| hott.iter().position(|h| h == j).map(|at| at as u32);
        let places: Vec<Option<u32>> = match self {
            Starts::Others(others, _) => others.iter().map(position).collect(),
            _ => Vec::new(),
        };
        move |i| match self {
            Starts::Cold => (None, Vec::new()),
            Starts::Vertices(fits) => (Some(&fits[i].basis), Vec::new()),
            Starts::Others(_, fits) => {
                let place = |&(j, weight): &(u32, f64)| Some((places[j as usize]?, weight));
                (None, fits[i].weights.iter().filter_map(place).collect())
            }
        }
    }
}

/// As [`exact`] for some rows of X.
pub(crate) fn refit(
    x: &UnitRows,
    hott: &[usize],
    rows: &[usize],
    starts: Starts<'_>,
    control: &Control,
) -> Vec<RowFit> {
    let atoms = Atoms::new(&x.select_rows(hott));
    let usable: Vec<u32> = (0..hott.len() as u32).collect();
    // Most rows of a thin sparse matrix need no pivot, which the start from zero sees at once.
    let filled = x.is_dense() || is_well_filled(x.shape());
    let is_wide = |points: usize| filled && NearSolver::pays(points, hott.len());
    let any_wide = rows.iter().any(|&i| is_wide(x.row(i).stored()));
    let mut squares = if any_wide { least_squares_of(x, hott, rows, control) } else { Vec::new() };
    let start = starts.of(hott);
    let fitted: Vec<Option<RowFit>> = rows
        .par_iter()
        .enumerate()
        .map_init(
            || Workspace::under(control),
            |work, (at, &i)| {
                if let Some(position) = same_as_hott(x, hott, i) {
                    return Some(RowFit::itself(position));
                }
                if control.stopped().is_some() {
                    return None;
                }
                let target = atoms.restrict_row(x, i, &mut work.gathered);
                let problem =
                    Problem { design: target.design, x: target.x, usable: &usable, upper: None };
                // Weights are those of X; the target is the observed part of the row, scaled to sum one.
                let (share, (basis, mut weights)) = (x.share(i), start(i));
                weights.iter_mut().for_each(|weight| weight.1 /= share);
                let fit = if is_wide(problem.x.len()) {
                    let squares: Cow<'_, [f64]> = match share == 1.0 {
                        true => Cow::Borrowed(&squares[at]),
                        false => Cow::Owned(squares[at].iter().map(|c| c / share).collect()),
                    };
                    let starts = (basis, &weights[..]);
                    Some(proven_near(&mut work.near, &problem, starts, &squares))
                } else {
                    proven(&mut work.solver, &problem, basis)
                };
                fit.map(|mut fit| {
                    fit.weights.iter_mut().for_each(|weight| weight.1 *= share);
                    fit
                })
            },
        )
        .collect();
    let places: Vec<usize> = (0..rows.len()).filter(|&at| fitted[at].is_none()).collect();
    let left: Vec<usize> = places.iter().map(|&at| rows[at]).collect();
    let rest = if any_wide {
        let weights = places.iter().map(|&at| std::mem::take(&mut squares[at])).collect();
        weighted(x, hott, &left, weights)
    } else {
        least_squares(x, hott, &left, control)
    };
    let mut rest = rest.into_iter();
    fitted.into_iter().map(|fit| fit.or_else(|| rest.next()).expect("one for each row")).collect()
}

/// Sparse rows are fitted like dense ones where more than this share of X is stored: co-occurrences of
/// words rather than documents.
const WELL_FILLED: f64 = 0.05;

fn is_well_filled(shape: Shape) -> bool {
    shape.entries as f64 > WELL_FILLED * shape.rows as f64 * shape.cols as f64
}

/// One fit, from a vertex where one is given, as a [`RowFit`]; `None` when it was stopped on its way
/// up from nothing.
fn proven(solver: &mut Solver, problem: &Problem<'_>, basis: Option<&Basis>) -> Option<RowFit> {
    let summary = solver.fit(problem, basis);
    (summary.status != Status::Stopped).then(|| RowFit {
        weights: used(problem, |at| solver.weights()[problem.usable[at] as usize]),
        error: summary.value,
        optimal: summary.status == Status::Optimal,
        basis: solver.basis(),
        squares: None,
    })
}

/// As [`proven`] for wide problems, from the best of a vertex, weights (atom, weight) and the weights of least
/// squares for the usable atoms; stopped, it is no worse than these.
fn proven_near(
    near: &mut NearSolver,
    problem: &Problem<'_>,
    (basis, weights): (Option<&Basis>, &[(u32, f64)]),
    squares: &[f64],
) -> RowFit {
    let summary = near.fit(problem, weights, basis, squares);
    RowFit {
        weights: used(problem, |at| near.weights()[at]),
        error: summary.value,
        optimal: summary.status == Status::Optimal,
        basis: near.basis().clone(),
        squares: None,
    }
}

/// The usable atoms that have weight, from the weights by position in `usable`.
fn used(problem: &Problem<'_>, weight: impl Fn(usize) -> f64) -> Vec<(u32, f64)> {
    let all = problem.usable.iter().enumerate().map(|(at, &j)| (j, weight(at)));
    all.filter(|w| w.1 > 0.0).collect()
}

struct Workspace {
    gathered: Gathered,
    solver: Solver,
    near: NearSolver,
}

impl Workspace {
    fn under(control: &Control) -> Self {
        let (solver, near) = (Solver::under(control), NearSolver::under(control));
        Workspace { gathered: Gathered::default(), solver, near }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::localise::instances::{as_sparse, paper};

    /// Wide rows take another way than narrow ones, to the same errors.
    #[test]
    fn wide_fits_are_those_of_the_plain_solver() {
        let x = paper((24, 700, 5, 1), 8.0, 3).x;
        for x in [&x, &as_sparse(&x)] {
            let hott = [1, 4, 9, 16, 20];
            assert!(NearSolver::pays(x.examples(), hott.len()));
            let atoms = Atoms::new(&x.select_rows(&hott));
            let (mut gathered, mut solver) = (Gathered::default(), Solver::new());
            let free = Control::default();
            let cold = exact(x, &hott, &free);
            let rows: Vec<usize> = (0..24).collect();
            // Weights that are known from other rows, three of which are the same.
            let others = [9, 2, 1, 20, 7];
            let known = exact(x, &others, &free);
            let nearby = refit(x, &hott, &rows, Starts::Others(&others, &known), &free);
            let again = refit(x, &hott, &rows, Starts::Vertices(&cold), &free);
            for (i, (fit, again)) in cold.iter().zip(&again).enumerate() {
                let target = atoms.restrict(x.row(i), &mut gathered);
                let (design, x, usable) = (target.design, target.x, &[0, 1, 2, 3, 4]);
                let expected = solver.fit(&Problem { design, x, usable, upper: None }, None).value;
                assert!((fit.error - expected).abs() < 1e-12, "{} {expected}", fit.error);
                assert!((again.error - expected).abs() < 1e-12);
                assert!((nearby[i].error - expected).abs() < 1e-12);
                assert!(fit.optimal && again.optimal && nearby[i].optimal);
            }
        }
    }
}
