//! Successive projection (SPA): pivoted Cholesky of the Gram matrix `X X^T`.
//!
//! Step k takes the row p with the largest residual norm, `R_p = ||x_p||^2 - sum_q L_pq^2`, and
//! appends the column `L_ik = <x_i, e_p> / ||e_p||`, where `e_p` is the residual of the pivot row.
//! There are two ways to it:
//!
//! - as long as the residual of the pivot is an ordinary part of its row, from its column of the
//!   Gram matrix: `<x_i, e_p> = <x_i, x_p> - sum_q L_iq L_pq`. The terms are at most
//!   `||x_i|| ||x_p||`, so rounding (u) changes `L_ik` by about `u ||x_i|| ||x_p|| / ||e_p||`, which is
//!   `100 u ||x_i||` at worst where `R_p > 1e-4 ||x_p||^2`. Columns come in batches, see
//!   [`super::inner`]: far fewer passes over X than rows chosen.
//! - below that, this difference would lose its digits, all of them in the end. Then `e_p` is formed
//!   explicitly (and made orthogonal to the chosen rows a second time), at the price of one product
//!   with X, and the column is accurate relative to `||e_p||` however small that is.
//!
//! The norms `R_i` still lose digits by subtraction; they are computed afresh from the rows
//! themselves each time the largest has fallen by 1e-10. `2 f n` flops per chosen row (times
//! nonzeros over `f n` for sparse X) and O(f rank) memory.
//!
//! The span of the chosen rows does not depend on their scale, so SPA on rows scaled by weights
//! is SPA with scores `w_i^2 R_i`.

use super::inner::{Inner, largest};
use super::{EXHAUSTED, Greedy, best, report, residual, squared_norms};
use crate::control::{Control, Stop};
use crate::kernels;
use crate::kernels::parallel::*;
use crate::localise::Question;
use crate::normalise::UnitRows;
use crate::rules::{Rules, Selection};

/// Norms that fell by this factor since they were last computed from the rows are computed again.
const REFRESH: f64 = 1e-10;
/// A residual above this share of its row is taken from the Gram matrix.
pub(super) const ORDINARY: f64 = 1e-4;
/// Rows of one task when a column of L is formed.
const CHUNK: usize = 4096;

/// SPA: `rank` rows of X, or all allowed ones if these are fewer.
///
/// ```
/// use hottopixx::{matrix::{Dense, Matrix}, normalise::UnitRows, localise::spa};
/// let x = Dense::from_rows(&[[1.0, 1.0], [3.0, 0.0], [0.0, 2.0]]).unwrap();
/// let x = UnitRows::new(&Matrix::from(x)).unwrap();
/// assert_eq!(spa(&x, 2, &[true; 3]), [1, 2]);
/// ```
pub fn spa(x: &UnitRows, rank: usize, allowed: &[bool]) -> Vec<usize> {
    spa_controlled(x, None, rank, allowed, &Control::default()).rows
}

/// As [`spa_controlled`] with weights, to its end.
#[cfg(test)]
pub fn spa_weighted(x: &UnitRows, weights: &[f64], rank: usize, allowed: &[bool]) -> Vec<usize> {
    spa_controlled(x, Some(weights), rank, allowed, &Control::default()).rows
}

/// SPA that can be watched and stopped; with weights, such as the diagonal of a localising matrix, on the
/// rows scaled by them. Once the weighted rows are explained (at the latest when only weights of zero
/// are left), it goes on without weights.
pub fn spa_controlled(
    x: &UnitRows,
    weights: Option<&[f64]>,
    rank: usize,
    allowed: &[bool],
    control: &Control,
) -> Greedy {
    let question = Question::new(x, rank, allowed, control);
    complete(&question, Vec::new(), weights)
}

/// As [`spa_controlled`] for a choice that obeys the rules of the question: it begins with the rows that must be
/// chosen, and passes over rows with which it could not be completed any more.
pub fn spa_ruled(question: &Question<'_>, weights: Option<&[f64]>) -> Greedy {
    complete(question, question.rules.must().to_vec(), weights)
}

/// Goes on by SPA from rows already chosen, which can be completed, until there are `rank`, first with the
/// weights, then without, then by index.
pub(super) fn complete(
    question: &Question<'_>,
    chosen: Vec<usize>,
    weights: Option<&[f64]>,
) -> Greedy {
    let Question { x, allowed, control, rules, .. } = *question;
    let rank = question.rank.min(question.candidates());
    if chosen.len() >= rank {
        return Greedy { rows: chosen, stop: Stop::Finished };
    }
    let mut span = Span::new(x.squares(), allowed, control);
    span.selection = Selection::new(rules, rank, allowed);
    chosen.iter().for_each(|&row| span.selection.take(row));
    for (k, &row) in chosen.iter().enumerate() {
        span.open[row] = false;
        let added = span.add(row, |most| chosen[k + 1..].iter().copied().take(most).collect());
        if let Err(stop) = added {
            return Greedy { rows: chosen, stop };
        }
    }
    for weights in [weights, None] {
        if let Err(stop) = span.grow(weights, rank) {
            return Greedy { rows: span.chosen, stop };
        }
    }
    for row in 0..x.features() {
        if span.open[row] && span.selection.admits(row) {
            span.selection.take(row);
            span.chosen.push(row);
        }
    }
    Greedy { rows: span.chosen, stop: Stop::Finished }
}

/// The chosen rows and what is left of all rows after projecting onto their span.
struct Span<'a> {
    x: &'a UnitRows,
    control: &'a Control,
    /// Rows that may still be chosen.
    open: Vec<bool>,
    chosen: Vec<usize>,
    /// The same as the rules count it.
    selection: Selection<'a>,
    /// The rows of `chosen` that were independent of those before, one for each column of L.
    basis: Vec<usize>,
    /// Column q of L: `<x_i, e_q> / ||e_q||` for every row i.
    columns: Vec<Vec<f64>>,
    /// `||x_i||^2`, and `R_i`, the squared residual norms.
    starts: Vec<f64>,
    norms: Vec<f64>,
    inner: Inner<'a>,
    /// The largest squared norm of a row, and the largest `R_i` when these were last computed
    /// from the rows.
    largest: f64,
    fresh: f64,
}

impl<'a> Span<'a> {
    fn new(x: &'a UnitRows, allowed: &[bool], control: &'a Control) -> Self {
        let starts = squared_norms(x);
        let largest = starts.iter().copied().fold(0.0, f64::max);
        let (open, chosen, basis, columns) = (allowed.to_vec(), vec![], vec![], vec![]);
        let (norms, inner) = (starts.clone(), Inner::new(x, control));
        let fresh = largest;
        let selection = Selection::new(Rules::free(), 0, &[]);
        Span {
            x,
            control,
            open,
            chosen,
            selection,
            basis,
            columns,
            starts,
            norms,
            inner,
            largest,
            fresh,
        }
    }

    /// Chooses rows by the largest `w_i^2 R_i` until there are `rank` or nothing is left.
    fn grow(&mut self, weights: Option<&[f64]>, rank: usize) -> Result<(), Stop> {
        while self.chosen.len() < rank {
            if let Some(stop) = self.control.stopped() {
                return Err(stop);
            }
            if self.largest_open() < REFRESH * self.fresh {
                self.refresh()?;
            }
            let floor = EXHAUSTED * self.largest;
            let score = |(i, &norm): (usize, &f64)| match weights {
                _ if norm <= floor => 0.0,
                Some(w) => w[i] * w[i] * norm,
                None => norm,
            };
            let scores: Vec<f64> = self.norms.iter().enumerate().map(score).collect();
            let Some(row) = best(&scores, &self.open, 0.0) else { break };
            self.open[row] = false;
            if !self.selection.admits(row) {
                continue;
            }
            self.selection.take(row);
            let (open, missing) = (self.open.clone(), rank - self.chosen.len() - 1);
            if missing == 0 {
                // Nobody asks what the last one leaves.
                self.chosen.push(row);
                break;
            }
            self.add(row, |most| largest(&scores, &open, most.min(2 * missing)))?;
            report(self.control, "spa", self.chosen.len(), rank, self.largest_open());
        }
        Ok(())
    }

    fn largest_open(&self) -> f64 {
        (0..self.norms.len()).filter(|&i| self.open[i]).map(|i| self.norms[i]).fold(0.0, f64::max)
    }

    /// Appends a row to the span: one column of L. `likely` names rows that may follow. Stopped, it
    /// changes nothing but `open`.
    fn add(&mut self, row: usize, likely: impl FnOnce(usize) -> Vec<usize>) -> Result<(), Stop> {
        let column = if self.norms[row] > ORDINARY * self.starts[row] {
            let column = self.column_from_products(row, likely);
            Some(column.ok_or_else(|| self.why())?)
        } else {
            self.column_from_residual(row)
        };
        self.chosen.push(row);
        self.norms[row] = 0.0;
        let Some(column) = column else { return Ok(()) };
        for (i, l) in column.iter().enumerate() {
            self.norms[i] = (self.norms[i] - l * l).max(0.0);
        }
        self.basis.push(row);
        self.columns.push(column);
        Ok(())
    }

    /// Why a step was left undone.
    fn why(&self) -> Stop {
        self.control.cut_short().unwrap_or(Stop::Interrupted)
    }

    /// The next column of L from the inner products of all rows with `row`; `None` when stopped.
    /// O(f k).
    fn column_from_products(
        &mut self,
        row: usize,
        likely: impl FnOnce(usize) -> Vec<usize>,
    ) -> Option<Vec<f64>> {
        let mut column = self.inner.take(row, likely)?;
        let columns = &self.columns;
        column.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, part)| {
            for earlier in columns {
                kernels::axpy(-earlier[row], &earlier[chunk * CHUNK..][..part.len()], part);
            }
        });
        let norm = column[row].sqrt();
        column.iter_mut().for_each(|v| *v /= norm);
        Some(column)
    }

    /// The next column of L from the residual of `row` itself; `None` when nothing is left of it.
    fn column_from_residual(&self, row: usize) -> Option<Vec<f64>> {
        let mut e = vec![0.0; self.x.examples()];
        let c = self.coefficients(|q| self.columns[q][row]);
        residual(self.x, row, 1.0, &self.basis, &c, &mut e);
        // Once more: the first pass leaves a part of size rounding error x condition in the span.
        let inner: Vec<f64> = self.basis.iter().map(|&q| self.x.row(q).dot(&e)).collect();
        let inner = self.forward(&inner);
        let c = self.coefficients(|q| inner[q]);
        for (&q, &weight) in self.basis.iter().zip(&c) {
            self.x.row(q).add_to(-weight, &mut e);
        }
        let norm = kernels::dot(&e, &e).sqrt();
        if norm * norm <= EXHAUSTED * self.largest {
            return None;
        }
        e.iter_mut().for_each(|v| *v /= norm);
        Some(self.x.times(&e))
    }

    /// `L_BB^{-1} v`, B the basis rows, by forward substitution. O(k^2).
    fn forward(&self, v: &[f64]) -> Vec<f64> {
        let mut solved: Vec<f64> = Vec::with_capacity(v.len());
        for (q, (&row, value)) in self.basis.iter().zip(v).enumerate() {
            let known: f64 = solved.iter().zip(&self.columns).map(|(s, l)| s * l[row]).sum();
            solved.push((value - known) / self.columns[q][row]);
        }
        solved
    }

    /// Weights c on the basis rows with `c X_B = sum_q l_q e_q / ||e_q||`: back substitution with
    /// the triangular block of L, `c = L_BB^{-T} l`.
    fn coefficients(&self, l: impl Fn(usize) -> f64) -> Vec<f64> {
        let k = self.basis.len();
        let mut c: Vec<f64> = (0..k).map(l).collect();
        for q in (0..k).rev() {
            c[q] /= self.columns[q][self.basis[q]];
            let value = c[q];
            for (p, earlier) in c.iter_mut().enumerate().take(q) {
                *earlier -= self.columns[p][self.basis[q]] * value;
            }
        }
        c
    }

    /// Computes all residual norms from the rows. An error d in the coefficients shows up only as
    /// `||d||^2`, since residuals are orthogonal to the span. O(f (n + nonzeros of the basis)).
    fn refresh(&mut self) -> Result<(), Stop> {
        let this = &*self;
        let norms: Result<Vec<f64>, Stop> = (0..this.x.features())
            .into_par_iter()
            .map_init(
                || vec![0.0; this.x.examples()],
                |e, i| {
                    if !this.open[i] {
                        return Ok(0.0);
                    }
                    if let Some(stop) = this.control.stopped() {
                        return Err(stop);
                    }
                    let c = this.coefficients(|q| this.columns[q][i]);
                    residual(this.x, i, 1.0, &this.basis, &c, e);
                    Ok(kernels::dot(e, e))
                },
            )
            .collect();
        self.norms = norms?;
        self.fresh = self.largest_open();
        Ok(())
    }
}
