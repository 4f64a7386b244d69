//! What would it cost to exchange one hott row for another? Many such questions at once.
//!
//! For a row x_i and the hott rows H let `e(H)` be its exact error. Exchanging h for j needs
//! `e(H - h + j)` for every row, but hardly ever a new fit:
//! - if the fit on `H + j` gives h no weight, then `e(H - h + j) = e(H + j)`;
//! - if j does not price in at the dual of the fit on H (`x_j.y <= 1` in hinge form), then
//!   `e(H + j) = e(H)`, and the same with H - h for H.
//!
//! The remaining fits start from the vertex of a neighbouring one and take a few pivots each.

use super::work::Work;
use crate::Objective;
use crate::clean::RowFit;
use crate::control::Control;
use crate::kernels::parallel::*;
use crate::l1::{Atoms, Basis, Design, Problem, Solver, Target};
use crate::normalise::UnitRows;

/// A row that might enter, and the positions in H of the rows it might replace.
#[derive(Debug, Clone)]
pub(crate) struct Swap {
    pub enter: usize,
    pub leave: Vec<usize>,
}

/// A price this close to 1 promises so little that the fit is not repeated.
const PRICE_TOLERANCE: f64 = 1e-4;
/// Rows of one task; fixed, so that sums do not depend on the number of threads.
const CHUNK: usize = 8;

/// What exchanges are scored on: H with fits by row of X, and the rows that count.
#[derive(Clone, Copy)]
pub(crate) struct Scoring<'a> {
    pub x: &'a UnitRows,
    pub hott: &'a [usize],
    pub fits: &'a [RowFit],
    pub rows: &'a [usize],
    pub objective: Objective,
    pub control: &'a Control,
}

impl Scoring<'_> {
    /// The score when the row at each of these positions of H is left out; `None` when stopped.
    pub fn without(&self, positions: &[usize]) -> Option<Vec<f64>> {
        let (hott, rank) = (self.hott, self.hott.len());
        self.over_rows(hott, positions.len(), |i, target, solver| {
            let mut row = RowProblem { design: target.design, x: target.x, rank, solver };
            let own = hott.iter().position(|h| *h == i);
            let fit = &self.fits[i];
            let without = |&h: &usize| match own {
                Some(position) if position != h => 0.0,
                _ if own.is_none() && fit.weights.iter().all(|w| w.0 as usize != h) => fit.error,
                _ => row.state(&all_but(rank, Some(h), None), Some(&fit.basis), false).error,
            };
            positions.iter().map(without).collect()
        })
    }

    /// The score after each exchange, in the order of `swaps` and their `leave` lists. `None` when
    /// the computation was stopped. Scores are exact up to [`PRICE_TOLERANCE`].
    pub fn after(&self, swaps: &[Swap]) -> Option<Vec<Vec<f64>>> {
        let entering = swaps.iter().map(|s| s.enter);
        let atoms: Vec<usize> = self.hott.iter().copied().chain(entering).collect();
        let width: usize = swaps.iter().map(|s| s.leave.len()).sum();
        let total = self.over_rows(&atoms, width, |i, target, solver| {
            row_errors(self.hott, swaps, &target, i, &self.fits[i], solver)
        })?;
        let mut total = total.into_iter();
        Some(swaps.iter().map(|s| total.by_ref().take(s.leave.len()).collect()).collect())
    }

    /// Scores `width` alternatives over the rows, in parallel: `errors` gives the error of a row
    /// under each, from the row fitted on its support by the given atoms. `None` when stopped.
    fn over_rows(
        &self,
        atoms: &[usize],
        width: usize,
        errors: impl Fn(usize, Target<'_>, &mut Solver) -> Vec<f64> + Sync,
    ) -> Option<Vec<f64>> {
        let Scoring { x, rows, objective, control, .. } = *self;
        let atoms = Atoms::new(&x.select_rows(atoms));
        let add = |total: &mut [f64], errors: &[f64], weight: f64| {
            for (t, &e) in total.iter_mut().zip(errors) {
                *t = match objective {
                    Objective::Mean => *t + weight * e,
                    Objective::Max => t.max(e),
                };
            }
        };
        let partial: Vec<Option<Vec<f64>>> = rows
            .par_chunks(CHUNK)
            .map_init(
                || Work::under(control),
                |work, chunk| {
                    let mut total = vec![0.0; width];
                    for &i in chunk {
                        let target = atoms.restrict_row(x, i, &mut work.gathered);
                        add(&mut total, &errors(i, target, &mut work.solver), x.weight(i));
                        // Asked afterwards: fits that were stopped on the way are not to be counted.
                        if control.stopped().is_some() {
                            return None;
                        }
                    }
                    Some(total)
                },
            )
            .collect();
        let mut total = vec![0.0; width];
        for part in partial {
            add(&mut total, &part?, 1.0);
        }
        if objective == Objective::Mean {
            total.iter_mut().for_each(|t| *t /= rows.len() as f64);
        }
        Some(total)
    }
}

/// A fit of one row on some atoms: its error, the atoms used, the vertex, and the price
/// `x_j.y` of every row that might enter.
struct State {
    error: f64,
    used: Vec<usize>,
    basis: Basis,
    prices: Vec<f64>,
}

/// The errors of row i after each exchange.
fn row_errors(
    hott: &[usize],
    swaps: &[Swap],
    target: &Target<'_>,
    i: usize,
    fit: &RowFit,
    solver: &mut Solver,
) -> Vec<f64> {
    let rank = hott.len();
    let mut row = RowProblem { design: target.design, x: target.x, rank, solver };
    let own = hott.iter().position(|h| *h == i);
    let whole = match own {
        Some(position) => State {
            error: 0.0,
            used: vec![position],
            basis: Basis::default(),
            prices: vec![0.0; swaps.len()],
        },
        None => row.state(&all_but(rank, None, None), Some(&fit.basis), true),
    };
    let mut without: Vec<Option<State>> = (0..rank).map(|_| None).collect();
    let mut errors = Vec::new();
    for (j, swap) in swaps.iter().enumerate() {
        if swap.enter == i {
            errors.extend(swap.leave.iter().map(|_| 0.0));
            continue;
        }
        let joined = (whole.prices[j] > 1.0 + PRICE_TOLERANCE)
            .then(|| row.state(&all_but(rank, None, Some(j)), Some(&whole.basis), false));
        let joined = joined.as_ref().unwrap_or(&whole);
        for &h in &swap.leave {
            if !joined.used.contains(&h) {
                errors.push(joined.error);
                continue;
            }
            if without[h].is_none() && whole.used.contains(&h) {
                without[h] =
                    Some(row.state(&all_but(rank, Some(h), None), Some(&whole.basis), true));
            }
            errors.push(match &without[h] {
                Some(state) if state.prices[j] <= 1.0 + PRICE_TOLERANCE => state.error,
                state => {
                    let start = state.as_ref().map_or(&joined.basis, |s| &s.basis);
                    row.state(&all_but(rank, Some(h), Some(j)), Some(start), false).error
                }
            });
        }
    }
    errors
}

struct RowProblem<'a> {
    design: &'a Design,
    x: &'a [f64],
    rank: usize,
    solver: &'a mut Solver,
}

impl RowProblem<'_> {
    fn state(&mut self, usable: &[u32], start: Option<&Basis>, priced: bool) -> State {
        let problem = Problem { design: self.design, x: self.x, usable, upper: None };
        let error = self.solver.improve(&problem, start).value;
        let weights = self.solver.weights();
        let entering = self.rank..if priced { self.design.atoms() } else { self.rank };
        State {
            error,
            used: usable.iter().map(|&j| j as usize).filter(|&j| weights[j] > 0.0).collect(),
            basis: self.solver.basis(),
            prices: entering.map(|j| self.design.relative_price(j, self.solver.dual())).collect(),
        }
    }
}

/// Atoms of H without position h, and with the j-th entering row.
fn all_but(rank: usize, without: Option<usize>, with: Option<usize>) -> Vec<u32> {
    let hott = (0..rank).filter(|h| Some(*h) != without);
    hott.chain(with.map(|j| rank + j)).map(|j| j as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clean::exact;
    use crate::matrix::{Dense, Matrix};

    #[test]
    fn scores_are_those_of_cleaning_again() {
        let mut state = 7u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as f64 / (1u64 << 31) as f64
        };
        let values = (0..30 * 12).map(|_| if next() < 0.4 { 0.0 } else { next() }).collect();
        let x = UnitRows::new(&Matrix::from(Dense::new(30, 12, values).unwrap())).unwrap();
        let hott = [0, 7, 11, 20];
        let fits = exact(&x, &hott, &Control::default());
        let rows: Vec<usize> = (0..30).collect();
        let swaps: Vec<Swap> =
            [3, 9, 25].map(|enter| Swap { enter, leave: vec![0, 1, 3] }).to_vec();
        for objective in [Objective::Mean, Objective::Max] {
            let control = Control::default();
            let scoring = Scoring {
                x: &x,
                hott: &hott,
                fits: &fits,
                rows: &rows,
                objective,
                control: &control,
            };
            let found = scoring.after(&swaps).unwrap();
            for (swap, found) in swaps.iter().zip(&found) {
                for (h, found) in swap.leave.iter().zip(found) {
                    let mut changed = hott;
                    changed[*h] = swap.enter;
                    let expected = objective
                        .score(exact(&x, &changed, &Control::default()).iter().map(|f| f.error));
                    assert!((found - expected).abs() < 2e-4, "{found} {expected}");
                }
            }
        }
    }
}
