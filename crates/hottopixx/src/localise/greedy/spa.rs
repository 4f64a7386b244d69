//! Successive projection (SPA): pivoted Cholesky of the Gram matrix `X X^T`.
//!
//! Step k takes the row p with the largest residual norm, `R_p = ||x_p||^2 - sum_q L_pq^2`, and
//! appends the column `L_ik = <x_i, e_p> / ||e_p||`, where `e_p` is the residual of the pivot
//! row. Textbook pivoted Cholesky gets `<x_i, e_p>` from a row of the Gram matrix minus products
//! of L, which loses all digits once `R_p` is below the rounding error of `||x||^2`. Here `e_p`
//! is formed explicitly (and made orthogonal to the chosen rows a second time) at the price of
//! the same single product with X, so columns of L are accurate relative to `||e_p||`. The norms
//! `R_i` still lose digits by subtraction; they are computed afresh from the rows themselves each
//! time the largest has fallen by 1e-10. O(nonzeros) a step and O(f rank) memory.
//!
//! The span of the chosen rows does not depend on their scale, so SPA on rows scaled by weights
//! is SPA with scores `w_i^2 R_i`.

use super::{EXHAUSTED, Greedy, best, report, residual, squared_norms};
use crate::control::{Control, Stop};
use crate::kernels;
use crate::normalise::UnitRows;
use rayon::prelude::*;

/// Norms that fell by this factor since they were last computed from the rows are computed again.
const REFRESH: f64 = 1e-10;

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

/// SPA on the rows scaled by `weights`, such as the diagonal of a localising matrix. Once the
/// weighted rows are explained (at the latest when only weights of zero are left), it goes on
/// without weights.
pub fn spa_weighted(x: &UnitRows, weights: &[f64], rank: usize, allowed: &[bool]) -> Vec<usize> {
    spa_controlled(x, Some(weights), rank, allowed, &Control::default()).rows
}

/// SPA with or without weights that can be watched and stopped.
pub fn spa_controlled(
    x: &UnitRows,
    weights: Option<&[f64]>,
    rank: usize,
    allowed: &[bool],
    control: &Control,
) -> Greedy {
    complete(x, Vec::new(), weights, rank, allowed, control)
}

/// Goes on by SPA from rows already chosen until there are `rank`, first with the weights, then
/// without, then by index.
pub(super) fn complete(
    x: &UnitRows,
    chosen: Vec<usize>,
    weights: Option<&[f64]>,
    rank: usize,
    allowed: &[bool],
    control: &Control,
) -> Greedy {
    let rank = rank.min(allowed.iter().filter(|a| **a).count());
    let mut span = Span::new(x, allowed);
    for row in chosen {
        span.open[row] = false;
        span.add(row);
    }
    for weights in [weights, None] {
        if let Some(stop) = span.grow(weights, rank, control) {
            return Greedy { rows: span.chosen, stop };
        }
    }
    for row in 0..x.features() {
        if span.chosen.len() < rank && span.open[row] {
            span.chosen.push(row);
        }
    }
    Greedy { rows: span.chosen, stop: Stop::Finished }
}

/// The chosen rows and what is left of all rows after projecting onto their span.
struct Span<'a> {
    x: &'a UnitRows,
    /// Rows that may still be chosen.
    open: Vec<bool>,
    chosen: Vec<usize>,
    /// The rows of `chosen` that were independent of those before, one for each column of L.
    basis: Vec<usize>,
    /// Column q of L: `<x_i, e_q> / ||e_q||` for every row i.
    columns: Vec<Vec<f64>>,
    /// `R_i`, the squared residual norms.
    norms: Vec<f64>,
    /// The largest squared norm of a row, and the largest `R_i` when these were last computed
    /// from the rows.
    largest: f64,
    fresh: f64,
}

impl<'a> Span<'a> {
    fn new(x: &'a UnitRows, allowed: &[bool]) -> Self {
        let norms = squared_norms(x);
        let largest = norms.iter().copied().fold(0.0, f64::max);
        let (open, chosen, basis, columns) = (allowed.to_vec(), vec![], vec![], vec![]);
        Span { x, open, chosen, basis, columns, norms, largest, fresh: largest }
    }

    /// Chooses rows by the largest `w_i^2 R_i` until there are `rank` or nothing is left.
    fn grow(&mut self, weights: Option<&[f64]>, rank: usize, control: &Control) -> Option<Stop> {
        while self.chosen.len() < rank {
            if let Some(stop) = control.stopped() {
                return Some(stop);
            }
            if self.largest_open() < REFRESH * self.fresh {
                self.refresh();
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
            self.add(row);
            report(control, "spa", self.chosen.len(), rank, self.largest_open());
        }
        None
    }

    fn largest_open(&self) -> f64 {
        (0..self.norms.len()).filter(|&i| self.open[i]).map(|i| self.norms[i]).fold(0.0, f64::max)
    }

    /// Appends a row to the span: one column of L.
    fn add(&mut self, row: usize) {
        self.chosen.push(row);
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
            self.norms[row] = 0.0;
            return;
        }
        e.iter_mut().for_each(|v| *v /= norm);
        let column = self.x.times(&e);
        for (remaining, l) in self.norms.iter_mut().zip(&column) {
            *remaining = (*remaining - l * l).max(0.0);
        }
        self.norms[row] = 0.0;
        self.basis.push(row);
        self.columns.push(column);
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
    fn refresh(&mut self) {
        let this = &*self;
        self.norms = (0..this.x.features())
            .into_par_iter()
            .map_init(
                || vec![0.0; this.x.examples()],
                |e, i| {
                    if !this.open[i] {
                        return 0.0;
                    }
                    let c = this.coefficients(|q| this.columns[q][i]);
                    residual(this.x, i, 1.0, &this.basis, &c, e);
                    kernels::dot(e, e)
                },
            )
            .collect();
        self.fresh = self.largest_open();
    }
}
