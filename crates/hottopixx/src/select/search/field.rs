//! What choices are compared on during the search, and the fits it remembers.
//!
//! For a row x_i, hott rows H and their exact fit with dual y (hinge form, `x_h.y <= 1` for all h in
//! H), another row j changes nothing unless it *prices in*, `x_j.y > 1`; and leaving out a row h that
//! the fit does not use changes nothing either. So beside the fit on H the search keeps, for every
//! row, the fits without each row that is used: from them the error after any exchange is known
//! (nothing changed) or a few pivots away.

use crate::Objective;
use crate::control::Control;
use crate::kernels::parallel::*;
use crate::l1::{Atoms, Basis, Design, Problem, Solver, Target};
use crate::normalise::UnitRows;
use crate::order::smallest_first;
use crate::rules::Rules;
use crate::select::work::Work;
use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};

/// A price this close to 1 promises so little that the fit is not repeated.
const PRICE_TOLERANCE: f64 = 1e-6;
/// Rows of one task; fixed, so that sums do not depend on the number of threads.
const CHUNK: usize = 8;
/// Up to this many rows times positions, all of them may leave; otherwise a quarter of the positions,
/// and at least [`LEAVING`].
const ALL_FITS: usize = 2000;
const LEAVING: usize = 5;
/// One row in this many is looked at first, where that makes at least [`LEAST_LOOK`].
const LOOK: usize = 4;
const LEAST_LOOK: usize = 64;
/// Of the exchanges scored together, this many are scored on all rows.
const FULL: usize = 3;
/// What the mean counts beside the largest error: enough to decide between equals.
const TIE: f64 = 1e-6;

/// Some rows of X, on all columns or on merged ones.
pub(super) struct Field<'a> {
    pub x: Cow<'a, UnitRows>,
    /// Rows of X that count.
    pub rows: Vec<usize>,
    pub objective: Objective,
    pub control: &'a Control,
    /// What choices must obey.
    pub rules: &'a Rules,
    /// Operations spent so far, roughly: the same on every machine, for any number of threads.
    pub work: AtomicU64,
}

/// A fit of a row on H, or on H without one row.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    pub error: f64,
    /// Positions in H that have weight.
    pub used: Vec<u32>,
    pub basis: Basis,
    /// y on the support of the row; empty where the row is hott itself, and nothing prices in.
    pub dual: Vec<f64>,
}

/// A row's fit on H, and on H without each position that it uses and that may leave.
#[derive(Debug, Clone, Default)]
pub(super) struct RowStates {
    pub whole: State,
    pub without: Vec<(u32, State)>,
}

impl RowStates {
    /// The fit once the row at position h of H has left.
    pub fn after_leaving(&self, h: u32) -> &State {
        self.without.iter().find(|w| w.0 == h).map_or(&self.whole, |w| &w.1)
    }

    /// All fits: the one on H, then those without the position that is named.
    pub fn all(&self) -> impl Iterator<Item = (Option<u32>, &State)> {
        let without = self.without.iter().map(|(h, state)| (Some(*h), state));
        std::iter::once((None, &self.whole)).chain(without)
    }
}

/// A choice of rows with what is known about it on a field.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub hott: Vec<usize>,
    pub states: Vec<RowStates>,
    /// Positions whose rows may leave: fits without them are remembered.
    pub leaving: Vec<u32>,
    pub score: f64,
}

/// The row at position `leave` of H goes, row `enter` of X takes its place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Exchange {
    pub leave: u32,
    pub enter: usize,
}

impl Field<'_> {
    /// The objective from the rows' errors, in order.
    pub fn score(&self, errors: &[f64]) -> f64 {
        let counted = errors.iter().enumerate().map(|(at, error)| self.weight(at) * error);
        let mean = Objective::Mean.score(counted);
        match self.objective {
            Objective::Mean => mean,
            Objective::Max => Objective::Max.score(errors.iter().copied()) + TIE * mean,
        }
    }

    /// How much a row counts in the mean, by its position among those of the field.
    pub fn weight(&self, at: usize) -> f64 {
        self.x.weight(self.rows[at])
    }

    /// Adds to the count of operations.
    pub fn spend(&self, operations: usize) {
        self.work.fetch_add(operations as u64, Ordering::Relaxed);
    }

    /// All rows fitted on `hott`; from an earlier place with one position changed, only the fits
    /// that the change can touch. Which positions are worth leaving is seen on a part of the rows
    /// where there are many. `None` when stopped.
    pub fn place(&self, hott: Vec<usize>, earlier: Option<(&Place, u32)>) -> Option<Place> {
        let all: Vec<u32> = (0..hott.len() as u32).collect();
        let rows: Vec<usize> = (0..self.rows.len()).collect();
        let few = self.objective == Objective::Max || rows.len() * hott.len() <= ALL_FITS;
        let mut states = vec![RowStates::default(); rows.len()];
        let mut leaving = all.clone();
        let look: Vec<usize> =
            if few { rows.clone() } else { rows.iter().copied().step_by(2 * LOOK).collect() };
        self.fit_rows(&hott, &look, &all, earlier, &mut states)?;
        if !few {
            leaving = self.least_missed(&hott, &look, &states);
            let rest: Vec<usize> = rows.iter().copied().filter(|at| at % (2 * LOOK) != 0).collect();
            self.fit_rows(&hott, &rest, &leaving, earlier, &mut states)?;
        }
        let errors: Vec<f64> = states.iter().map(|s| s.whole.error).collect();
        Some(Place { hott, states, leaving, score: self.score(&errors) })
    }

    /// The positions whose rows are missed least by the rows looked at, increasing.
    fn least_missed(&self, hott: &[usize], look: &[usize], states: &[RowStates]) -> Vec<u32> {
        let mut losses = vec![0.0; hott.len()];
        for &at in look {
            let (states, weight) = (&states[at], self.weight(at));
            for (h, state) in &states.without {
                losses[*h as usize] += weight * (state.error - states.whole.error);
            }
        }
        let rules = self.rules.exchanges(hott);
        let mut order: Vec<u32> = (0..hott.len() as u32).collect();
        order.retain(|&h| rules.may_leave(hott[h as usize]));
        let loss = |h: u32| losses[h as usize];
        order.sort_unstable_by(|&a, &b| loss(a).total_cmp(&loss(b)).then(a.cmp(&b)));
        order.truncate(LEAVING.max(hott.len() / 4));
        order.sort_unstable();
        order
    }

    /// Fits some rows, by position in the field's, on H and without each of these positions that they
    /// use.
    fn fit_rows(
        &self,
        hott: &[usize],
        rows: &[usize],
        leaving: &[u32],
        earlier: Option<(&Place, u32)>,
        states: &mut [RowStates],
    ) -> Option<()> {
        let atoms = Atoms::new(&self.x.select_rows(hott));
        let fitted: Vec<Vec<RowStates>> = rows
            .par_chunks(CHUNK)
            .map_init(
                || Work::under(self.control),
                |work, rows| {
                    let mut states = Vec::with_capacity(rows.len());
                    for &at in rows {
                        let i = self.rows[at];
                        let target = atoms.restrict_row(&self.x, i, &mut work.gathered);
                        let mut row = RowFits { field: self, target, solver: &mut work.solver };
                        let before = earlier.map(|(p, h)| (&p.states[at], h));
                        states.push(row.states(hott, leaving, i, before));
                        // Asked afterwards: fits that were stopped on the way are not to count.
                        if self.control.stopped().is_some() {
                            return None;
                        }
                    }
                    Some(states)
                },
            )
            .collect::<Option<_>>()?;
        for (&at, fitted) in rows.iter().zip(fitted.into_iter().flatten()) {
            states[at] = fitted;
        }
        Some(())
    }

    /// The scores after each exchange, exact up to [`PRICE_TOLERANCE`], infinite for those that were
    /// given up; `None` when stopped. For the mean and many rows, only the exchanges that do best on a
    /// part of the rows are scored on all of them.
    pub fn after(&self, place: &Place, exchanges: &[Exchange]) -> Option<Vec<f64>> {
        let all: Vec<usize> = (0..self.rows.len()).collect();
        let mut scores = vec![f64::INFINITY; exchanges.len()];
        if self.objective == Objective::Max || all.len() < 2 * LEAST_LOOK {
            let errors = self.errors_after(place, exchanges, &all)?;
            for (e, score) in scores.iter_mut().enumerate() {
                *score = self.score(&errors.iter().map(|row| row[e]).collect::<Vec<_>>());
            }
            return Some(scores);
        }
        let (look, rest): (Vec<usize>, Vec<usize>) = all.iter().partition(|at| *at % LOOK == 0);
        let first = self.errors_after(place, exchanges, &look)?;
        let sum = |rows: &[usize], errors: &[Vec<f64>], e: usize| -> f64 {
            rows.iter().zip(errors).map(|(&at, row)| self.weight(at) * row[e]).sum()
        };
        let mut open: Vec<usize> = (0..exchanges.len()).collect();
        let before = |at: usize| place.states[look[at]].whole.error;
        let lost =
            |at: usize, row: &Vec<f64>, e: usize| self.weight(look[at]) * (row[e] - before(at));
        open.retain(|&e| !loses(first.iter().enumerate().map(|(at, row)| lost(at, row, e))));
        let seen = |e: usize| sum(&look, &first, e);
        smallest_first(&mut open, seen);
        open.truncate(FULL);
        let left: Vec<Exchange> = open.iter().map(|&e| exchanges[e]).collect();
        if !left.is_empty() {
            let second = self.errors_after(place, &left, &rest)?;
            for (at, &e) in open.iter().enumerate() {
                scores[e] = (seen(e) + sum(&rest, &second, at)) / all.len() as f64;
            }
        }
        Some(scores)
    }

    /// The errors of some rows, by position in the field's, after each exchange.
    fn errors_after(
        &self,
        place: &Place,
        exchanges: &[Exchange],
        rows: &[usize],
    ) -> Option<Vec<Vec<f64>>> {
        let mut entering: Vec<usize> = exchanges.iter().map(|e| e.enter).collect();
        entering.sort_unstable();
        entering.dedup();
        let rank = place.hott.len();
        let atoms: Vec<usize> = place.hott.iter().chain(&entering).copied().collect();
        let atoms = Atoms::new(&self.x.select_rows(&atoms));
        let column = |e: &Exchange| rank + entering.partition_point(|&j| j < e.enter);
        let errors: Vec<Vec<Vec<f64>>> = rows
            .par_chunks(CHUNK)
            .map_init(
                || Work::under(self.control),
                |work, rows| {
                    let mut errors = Vec::with_capacity(rows.len());
                    for &at in rows {
                        let (i, states) = (self.rows[at], &place.states[at]);
                        let target = atoms.restrict_row(&self.x, i, &mut work.gathered);
                        let mut row = RowFits { field: self, target, solver: &mut work.solver };
                        let error = |e: &Exchange| match e.enter == i {
                            true => 0.0,
                            false => row.error(states.after_leaving(e.leave), rank, e, column(e)),
                        };
                        errors.push(exchanges.iter().map(error).collect());
                        if self.control.stopped().is_some() {
                            return None;
                        }
                    }
                    Some(errors)
                },
            )
            .collect::<Option<_>>()?;
        Some(errors.into_iter().flatten().collect())
    }
}

/// Whether the differences of a part of the rows have a mean above zero by more than its standard
/// error.
fn loses(differences: impl Iterator<Item = f64>) -> bool {
    let differences: Vec<f64> = differences.collect();
    let count = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / count;
    let squares: f64 = differences.iter().map(|d| (d - mean).powi(2)).sum();
    mean > (squares / (count - 1.0).max(1.0) / count).sqrt()
}

/// Fits of one row.
struct RowFits<'a, 'b> {
    field: &'a Field<'b>,
    target: Target<'a>,
    solver: &'a mut Solver,
}

impl RowFits<'_, '_> {
    /// The fit on H and those without each row that it uses and that may leave. What an exchange at position h left as
    /// it was is taken over: fits that neither used the row that left nor price the new one in.
    fn states(
        &mut self,
        hott: &[usize],
        leaving: &[u32],
        i: usize,
        before: Option<(&RowStates, u32)>,
    ) -> RowStates {
        let rank = hott.len();
        let whole = match hott.iter().position(|h| *h == i) {
            Some(position) => State { used: vec![position as u32], ..State::default() },
            None => self.kept_or_fitted(rank, None, before.map(|(b, h)| (&b.whole, h))),
        };
        let used = whole.used.iter().copied().filter(|u| leaving.contains(u));
        let without = used.map(|u| {
            let earlier = before.and_then(|(b, h)| {
                let known = b.without.iter().find(|w| w.0 == u && u != h);
                known.map(|w| (&w.1, h))
            });
            let start = Some((&whole, rank as u32)).filter(|w| !w.0.dual.is_empty());
            let state = match earlier {
                Some(_) => self.kept_or_fitted(rank, Some(u), earlier),
                None => self.fitted(rank, Some(u), start.map(|s| &s.0.basis)),
            };
            (u, state)
        });
        let without = without.collect();
        RowStates { whole, without }
    }

    fn kept_or_fitted(
        &mut self,
        rank: usize,
        without: Option<u32>,
        earlier: Option<(&State, u32)>,
    ) -> State {
        if let Some((state, changed)) = earlier
            && !state.dual.is_empty()
            && !state.used.contains(&changed)
            && self.price(changed as usize, state) <= 1.0 + PRICE_TOLERANCE
        {
            return state.clone();
        }
        let start = earlier.map(|e| &e.0.basis).filter(|basis| !basis.free.is_empty());
        self.fitted(rank, without, start)
    }

    fn price(&self, atom: usize, state: &State) -> f64 {
        self.field.spend(self.target.x.len());
        self.target.design.relative_price(atom, &state.dual)
    }

    fn fitted(&mut self, rank: usize, without: Option<u32>, start: Option<&Basis>) -> State {
        let usable: Vec<u32> = (0..rank as u32).filter(|h| Some(*h) != without).collect();
        let error = self.fit(&usable, start);
        let weights = self.solver.weights();
        State {
            error,
            used: usable.into_iter().filter(|&h| weights[h as usize] > 0.0).collect(),
            basis: self.solver.basis(),
            dual: self.solver.dual().to_vec(),
        }
    }

    fn fit(&mut self, usable: &[u32], start: Option<&Basis>) -> f64 {
        let Target { design, x } = self.target;
        let problem = Problem { design, x, usable, upper: None };
        let improved = self.solver.improve(&problem, start);
        let free = start.map_or(0, |basis| basis.free.len());
        self.field.spend(operations(design, improved.pivots, free));
        improved.value
    }

    /// The error after an exchange, from the fit without the row that leaves.
    fn error(&mut self, state: &State, rank: usize, exchange: &Exchange, column: usize) -> f64 {
        if state.dual.is_empty() {
            return state.error; // a hott row that stays
        }
        if self.price(column, state) <= 1.0 + PRICE_TOLERANCE {
            return state.error;
        }
        let staying = (0..rank as u32).filter(|h| *h != exchange.leave);
        let usable: Vec<u32> = staying.chain([column as u32]).collect();
        self.fit(&usable, Some(&state.basis)).min(state.error)
    }
}

/// Operations of a fit: pivots over all points, and the vertex it begins at.
fn operations(design: &Design, pivots: usize, free: usize) -> usize {
    let points = design.points();
    (pivots + 2) * (free + 4) * points + free * free * free
}
