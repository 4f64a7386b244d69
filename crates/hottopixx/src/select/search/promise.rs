//! Which exchanges are worth scoring: an optimistic score for all of them at once.
//!
//! A fit with error e and dual y (hinge form) proves that with one more row j the error is no less
//! than `(e + 1) / max(1, x_j.y) - 1`: y scaled down until j prices at one is still feasible. Taken
//! over all remembered fits this bounds the score after every exchange, r times the number of rows
//! that may enter, by one product of the duals with X. The bound promises too much, by a factor that is
//! much the same for all exchanges and is learnt from those that were scored exactly.

use super::field::{Exchange, Field, Place};
use crate::Objective;
use crate::kernels::parallel::*;
use crate::kernels::{View, ViewMut, multiply};
use crate::matrix::Matrix;
use crate::rules::Rules;

/// Rows whose duals are priced together, and how many such tables are held at a time; fixed, so that
/// sums do not depend on the number of threads.
const PRICED: usize = 32;
const WAVE: usize = 8;
/// Rows have at least this much where another was observed, to be divided by.
const LEAST_OBSERVED: f64 = 1e-9;

/// What every exchange promises: by position that leaves and row of the pool that enters.
pub(super) struct Promises<'a> {
    pool: &'a [usize],
    /// What choices must obey.
    rules: &'a Rules,
    /// The score without each position.
    without: Vec<f64>,
    /// What entering could take off that, at most.
    gains: Vec<f64>,
}

impl Field<'_> {
    /// All exchanges with the rows of `pool`, whose rows (of the field's X) are `panel`. For the
    /// largest error the promise is scaled by `share` row by row. `None` when stopped.
    pub fn promises<'p>(
        &'p self,
        place: &Place,
        pool: &'p [usize],
        panel: &Matrix,
        share: f64,
    ) -> Option<Promises<'p>> {
        let (r, m) = (place.hott.len(), pool.len());
        let max = self.objective == Objective::Max;
        let mut without = vec![0.0f64; r];
        for (at, states) in place.states.iter().enumerate() {
            let weight = self.weight(at);
            for (h, total) in without.iter_mut().enumerate() {
                let error = states.after_leaving(h as u32).error;
                *total = if max { total.max(error) } else { *total + weight * error };
            }
        }
        let mut gains = vec![0.0f64; r * m];
        let chunks: Vec<usize> = (0..self.rows.len().div_ceil(PRICED)).collect();
        for wave in chunks.chunks(WAVE) {
            let tables: Vec<Vec<f64>> = wave
                .par_iter()
                .map(|&chunk| {
                    self.control.goes_on().then(|| self.table(place, chunk, pool, panel, share))
                })
                .collect::<Option<_>>()?;
            for table in tables {
                for (total, part) in gains.iter_mut().zip(table) {
                    *total = if max { total.max(part) } else { *total + part };
                }
            }
        }
        if max {
            // The table holds the largest error that is left.
            for (row, without) in gains.chunks_exact_mut(m.max(1)).zip(&without) {
                row.iter_mut().for_each(|left| *left = without - *left);
            }
        } else {
            let count = self.rows.len() as f64;
            without.iter_mut().chain(&mut gains).for_each(|v| *v /= count);
        }
        Some(Promises { pool, rules: self.rules, without, gains })
    }

    /// The table of some rows: the sum of promises, or the largest error that is left of them.
    fn table(
        &self,
        place: &Place,
        chunk: usize,
        pool: &[usize],
        panel: &Matrix,
        share: f64,
    ) -> Vec<f64> {
        let (r, m) = (place.hott.len(), pool.len());
        let rows = chunk * PRICED..((chunk + 1) * PRICED).min(self.rows.len());
        let mut promised = self.prices(place, rows.clone(), panel);
        let mut promised = promised.chunks_exact_mut(m.max(1));
        let mut table = vec![0.0f64; r * m];
        for at in rows {
            let (states, i) = (&place.states[at], self.rows[at]);
            let mut lines: Vec<(Option<u32>, f64, &[f64])> = Vec::new();
            for (h, state) in states.all() {
                let Some(line) = promised.next() else { break };
                for (v, &j) in line.iter_mut().zip(pool) {
                    // What could be taken off the error: all of it for the row itself.
                    *v = match j == i {
                        true => state.error,
                        false => (state.error + 1.0) * (1.0 - 1.0 / v.max(1.0)),
                    };
                }
                lines.push((h, state.error, line));
            }
            for &h in &place.leaving {
                let out = &mut table[h as usize * m..(h as usize + 1) * m];
                let own = lines.iter().find(|l| l.0 == Some(h)).unwrap_or(&lines[0]);
                let (_, error, line) = *own;
                match self.objective {
                    Objective::Mean => {
                        let weight = self.weight(at);
                        out.iter_mut().zip(line).for_each(|(o, p)| *o += weight * p);
                    }
                    Objective::Max => {
                        let left = |p: &f64| error - share * p.min(error);
                        out.iter_mut().zip(line).for_each(|(o, p)| *o = o.max(left(p)));
                    }
                }
            }
        }
        table
    }

    /// `x_j.y` for the duals of all remembered fits of some rows, in order, and each row j of the
    /// panel; zero where there is no dual. Where entries were not observed, in units of what row j has in the columns
    /// that were.
    fn prices(&self, place: &Place, rows: std::ops::Range<usize>, panel: &Matrix) -> Vec<f64> {
        let (n, m) = (self.x.examples(), panel.rows());
        let mut y = Vec::new();
        for at in rows.clone() {
            for (_, state) in place.states[at].all() {
                let start = y.len();
                if state.dual.len() == n {
                    y.extend_from_slice(&state.dual);
                    continue;
                }
                y.resize(start + n, 0.0);
                let (i, row) = (self.rows[at], self.x.row(self.rows[at]));
                let observed = |k: &usize| self.x.gaps(i).binary_search(&(*k as u32)).is_err();
                let support = row.nonzeros().filter(|(k, _)| observed(k));
                support.zip(&state.dual).for_each(|((k, _), v)| y[start + k] = *v);
            }
        }
        let duals = y.len() / n;
        let mut prices = vec![0.0; duals * m];
        match panel {
            Matrix::Dense(panel) => {
                self.spend(duals * n * m / 8);
                let a = View::by_rows(&y, duals, n, n);
                let b = View::by_rows(panel.values(), m, n, n).transposed();
                multiply(1.0, a, b, 0.0, ViewMut::by_rows(&mut prices, duals, m, m));
            }
            Matrix::Sparse(_) => {
                for j in 0..m {
                    let row = panel.row(j);
                    self.spend(duals * row.stored() / 2);
                    for (q, y) in y.chunks_exact(n).enumerate() {
                        prices[q * m + j] = row.dot(y);
                    }
                }
            }
        }
        if self.x.has_gaps() {
            self.divide_by_observed(place, rows, panel, &mut prices);
        }
        prices
    }

    /// Divides the prices of a row by what each row of the panel has in the columns where it was observed.
    fn divide_by_observed(
        &self,
        place: &Place,
        rows: std::ops::Range<usize>,
        panel: &Matrix,
        prices: &mut [f64],
    ) {
        let m = panel.rows();
        let mut lines = prices.chunks_exact_mut(m.max(1));
        let mut guessed = vec![0.0; self.x.examples()];
        for at in rows {
            let gaps = self.x.gaps(self.rows[at]);
            gaps.iter().for_each(|&k| guessed[k as usize] = 1.0);
            let observed: Vec<f64> = (0..m).map(|j| 1.0 - panel.row(j).dot(&guessed)).collect();
            gaps.iter().for_each(|&k| guessed[k as usize] = 0.0);
            self.spend(m * self.x.examples() / 2);
            for line in lines.by_ref().take(place.states[at].all().count()) {
                let costs = line.iter_mut().zip(&observed);
                costs.for_each(|(price, cost)| *price /= cost.max(LEAST_OBSERVED));
            }
        }
    }
}

impl Promises<'_> {
    /// The most promising exchanges, best first, by the score that is left when `share` of each
    /// promise is kept: for every row that may enter its best two positions, of those that the rules allow. Ties go to the lower row.
    pub fn best(&self, place: &Place, share: f64, most: usize) -> Vec<(Exchange, f64)> {
        let m = self.pool.len();
        let rules = self.rules.exchanges(&place.hott);
        let mut found: Vec<(f64, usize, usize)> = Vec::new();
        for (q, &j) in self.pool.iter().enumerate() {
            if place.hott.contains(&j) {
                continue;
            }
            let mut two = [(f64::INFINITY, 0); 2];
            let leaving = place.leaving.iter().map(|h| *h as usize);
            for h in leaving.filter(|&h| rules.allow(place.hott[h], j)) {
                let left = self.without[h] - share * self.gains[h * m + q];
                if left < two[0].0 {
                    two = [(left, h), two[0]];
                } else if left < two[1].0 {
                    two[1] = (left, h);
                }
            }
            found.extend(two.iter().filter(|t| t.0.is_finite()).map(|&(left, h)| (left, j, h)));
        }
        found.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
        found.truncate(most);
        let exchange =
            |(left, enter, h): (f64, usize, usize)| (Exchange { leave: h as u32, enter }, left);
        found.into_iter().map(exchange).collect()
    }

    /// The share of its promise that an exchange with this score has kept; `None` where it promised
    /// nothing.
    pub fn kept(&self, exchange: &Exchange, score: f64) -> Option<f64> {
        let q = self.pool.iter().position(|j| *j == exchange.enter)?;
        let gain = self.gains[exchange.leave as usize * self.pool.len() + q];
        (gain > 0.0).then(|| (self.without[exchange.leave as usize] - score) / gain)
    }
}
