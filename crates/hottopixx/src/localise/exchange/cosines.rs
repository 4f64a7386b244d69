//! The cosines between rows of weighed columns.

use super::place::Exchange;
use crate::control::Control;
use crate::kernels::gemm_while;
use crate::kernels::parallel::*;
use crate::localise::shuffled_rows;
use crate::matrix::{Entries, Shape};
use crate::normalise::UnitRows;
use crate::rules::{Exchanges, Rules};

/// Columns that are copied at a time for the matrix product.
const PANEL: usize = 1024;
/// Sparse rows with more than this share of entries are multiplied as if they were dense.
const NEARLY_DENSE: f64 = 0.03;
/// Lighter columns are weighed like this: squares of their entries would vanish.
const LEAST_MASS: f64 = 1e-100;

/// `u_i . u_j` for the rows i that are explained and the rows j that may be chosen, the *pool*. Rows of
/// the pool are named by their position in it.
pub(super) struct Cosines<'a> {
    x: &'a UnitRows,
    /// What choices must obey.
    rules: &'a Rules,
    /// Rows of X that are explained, increasing.
    pub rows: Vec<usize>,
    /// Rows of X that may be chosen, increasing.
    pub pool: Vec<usize>,
    /// The root of one over the weight of each column.
    roots: Vec<f64>,
    /// One over the length of each row of X in these weights.
    lengths: Vec<f64>,
    /// The cosines, one line of the pool's length per explained row.
    values: Vec<f32>,
}

impl<'a> Cosines<'a> {
    /// Bytes beside the cosines themselves.
    pub fn room(shape: Shape, rows: usize, pool: usize) -> u64 {
        let panels = 4 * PANEL.min(shape.cols) as u64 * (rows + pool) as u64;
        16 * (shape.f() + shape.n()) + if is_nearly_dense(shape) { panels } else { shape.bytes() }
    }

    /// `None` when stopped.
    pub fn new(
        (x, rules): (&'a UnitRows, &'a Rules),
        rows: Vec<usize>,
        pool: Vec<usize>,
        power: f64,
        control: &Control,
    ) -> Option<Self> {
        let roots = roots(x, power, control)?;
        let length = |i: usize| -> f64 {
            let squares: f64 = x.row(i).nonzeros().map(|(k, v)| (v * roots[k]).powi(2)).sum();
            1.0 / squares.sqrt().max(f64::MIN_POSITIVE)
        };
        let lengths: Vec<f64> = (0..x.features())
            .into_par_iter()
            .map(|i| control.goes_on().then(|| length(i)))
            .collect::<Option<_>>()?;
        let mut cosines = Cosines { x, rules, rows, pool, roots, lengths, values: Vec::new() };
        cosines.values = match is_nearly_dense(x.shape()) {
            true => cosines.by_panels(control)?,
            false => cosines.by_entries(control)?,
        };
        Some(cosines)
    }

    /// The line of an explained row, by its position.
    pub fn line(&self, at: usize) -> &[f32] {
        &self.values[at * self.pool.len()..][..self.pool.len()]
    }

    /// The cosines of some rows of the pool, by position, with all of the pool. Each row of the pool is read once for
    /// all of them. `None` when stopped.
    pub fn of_pool(&self, positions: &[usize], control: &Control) -> Option<Vec<Vec<f32>>> {
        let explained = |position: &usize| self.rows.binary_search(&self.pool[*position]);
        let scaled = |position: &usize| {
            let row = self.pool[*position];
            let mut scaled = vec![0.0; self.x.examples()];
            let scale = |k: usize| self.roots[k] * self.roots[k] * self.lengths[row];
            self.x.row(row).nonzeros().for_each(|(k, v)| scaled[k] = v * scale(k));
            scaled
        };
        let others: Vec<Vec<f64>> =
            positions.iter().filter(|p| explained(p).is_err()).map(scaled).collect();
        let cosines = |&j: &usize| {
            let cosine = |other: &Vec<f64>| (self.x.row(j).dot(other) * self.lengths[j]) as f32;
            control.goes_on().then(|| others.iter().map(cosine).collect())
        };
        let found: Vec<Vec<f32>> = self.pool.par_iter().map(cosines).collect::<Option<_>>()?;
        let mut apart =
            (0..others.len()).map(|other| found.iter().map(|cosines| cosines[other]).collect());
        let line = |position| match explained(position) {
            Ok(at) => Some(self.line(at).to_vec()),
            Err(_) => apart.next(),
        };
        positions.iter().map(line).collect()
    }

    /// The position of a row of X in the pool.
    pub fn position(&self, row: usize) -> Option<usize> {
        self.pool.binary_search(&row).ok()
    }

    /// The same for some of the pool, by position, increasing.
    pub fn among(&self, positions: &[usize]) -> Cosines<'a> {
        let m = self.pool.len();
        let pick = |line: &[f32]| -> Vec<f32> { positions.iter().map(|&p| line[p]).collect() };
        Cosines {
            x: self.x,
            rules: self.rules,
            rows: self.rows.clone(),
            pool: self.rows_of(positions),
            roots: self.roots.clone(),
            lengths: self.lengths.clone(),
            values: self.values.par_chunks(m).flat_map_iter(pick).collect(),
        }
    }

    /// The same for a random part of the explained rows; `None` where it would not be much less.
    pub fn few(&self, most: usize) -> Option<Cosines<'a>> {
        if 2 * self.rows.len() < 3 * most {
            return None;
        }
        let mut positions = shuffled_rows(self.rows.len());
        positions.truncate(most);
        positions.sort_unstable();
        Some(Cosines {
            x: self.x,
            rules: self.rules,
            rows: positions.iter().map(|&at| self.rows[at]).collect(),
            pool: self.pool.clone(),
            roots: self.roots.clone(),
            lengths: self.lengths.clone(),
            values: positions.iter().flat_map(|&at| self.line(at)).copied().collect(),
        })
    }

    /// How much an explained row counts, by its position.
    pub fn weight(&self, at: usize) -> f32 {
        self.x.weight(self.rows[at]) as f32
    }

    /// What exchanges of one row the rules allow for the rows at these positions of the pool.
    pub fn exchanges(&self, hott: &[usize]) -> Exchanges<'a> {
        self.rules.exchanges(&self.rows_of(hott))
    }

    /// Whether the rules allow this one.
    pub fn allow(&self, hott: &[usize], exchange: Exchange) -> bool {
        self.exchanges(hott).allow(self.pool[hott[exchange.leave]], self.pool[exchange.enter])
    }

    /// The rows of X at these positions of the pool.
    pub fn rows_of(&self, positions: &[usize]) -> Vec<usize> {
        positions.iter().map(|&p| self.pool[p]).collect()
    }

    /// `U_S U_P^T` by panels of columns, copied in single precision: `2 s m n` flops in matrix products.
    fn by_panels(&self, control: &Control) -> Option<Vec<f32>> {
        let (n, s, m) = (self.x.examples(), self.rows.len(), self.pool.len());
        let mut values = vec![0.0f32; s * m];
        for first in (0..n).step_by(PANEL) {
            let width = PANEL.min(n - first);
            let panel = |rows: &[usize]| -> Option<Vec<f32>> {
                let mut panel = vec![0.0f32; rows.len() * width];
                let done = panel.par_chunks_mut(width).zip(rows).all(|(out, &i)| {
                    self.copy(i, first, out);
                    control.goes_on()
                });
                done.then_some(panel)
            };
            let (a, b) = (panel(&self.rows)?, panel(&self.pool)?);
            let go_on = || control.goes_on();
            if !gemm_while(go_on, s, width, m, 1.0, &a, &b, true, 1.0, &mut values) {
                return None;
            }
        }
        Some(values)
    }

    /// `u_i` on the columns from `first` on.
    fn copy(&self, i: usize, first: usize, out: &mut [f32]) {
        let (row, roots) = (self.x.row(i), &self.roots);
        let scale = self.lengths[i] * row.factor();
        let until = first + out.len();
        match row.entries() {
            Entries::Dense(values) => {
                let columns = values[first..until].iter().zip(&roots[first..until]);
                out.iter_mut()
                    .zip(columns)
                    .for_each(|(out, (v, root))| *out = (v * root * scale) as f32);
            }
            Entries::Sparse(columns, values) => {
                let start = columns.partition_point(|&k| (k as usize) < first);
                let end = columns.partition_point(|&k| (k as usize) < until);
                for (&k, v) in columns[start..end].iter().zip(&values[start..end]) {
                    out[k as usize - first] = (v * roots[k as usize] * scale) as f32;
                }
            }
        }
    }

    /// The same for sparse rows: each explained row visits, in each of its columns, the rows of the pool
    /// that have an entry there.
    pub(super) fn by_entries(&self, control: &Control) -> Option<Vec<f32>> {
        let (n, m) = (self.x.examples(), self.pool.len());
        // The pool by columns: where each begins, and (position, u_jk).
        let mut starts = vec![0usize; n + 1];
        let mut watch = control.watch();
        for &j in &self.pool {
            self.x.row(j).nonzeros().for_each(|(k, _)| starts[k + 1] += 1);
            if watch.spend(self.x.row(j).stored()).is_some() {
                return None;
            }
        }
        (0..n).for_each(|k| starts[k + 1] += starts[k]);
        let mut next = starts.clone();
        let mut entries = vec![(0u32, 0.0f32); starts[n]];
        for (position, &j) in self.pool.iter().enumerate() {
            for (k, v) in self.x.row(j).nonzeros() {
                entries[next[k]] = (position as u32, (v * self.lengths[j] * self.roots[k]) as f32);
                next[k] += 1;
            }
            if watch.spend(4 * self.x.row(j).stored()).is_some() {
                return None;
            }
        }
        let mut values = vec![0.0f32; self.rows.len() * m];
        let done = values.par_chunks_mut(m).zip(&self.rows).all(|(line, &i)| {
            for (k, v) in self.x.row(i).nonzeros() {
                let v = (v * self.lengths[i] * self.roots[k]) as f32;
                for &(position, u) in &entries[starts[k]..starts[k + 1]] {
                    line[position as usize] += v * u;
                }
            }
            control.goes_on()
        });
        done.then_some(values)
    }
}

fn is_nearly_dense(shape: Shape) -> bool {
    shape.entries as f64 > NEARLY_DENSE * shape.rows as f64 * shape.cols as f64
}

/// `m_k^(-p/2)` for each column, m being the mean row; zero for columns of zeros.
fn roots(x: &UnitRows, power: f64, control: &Control) -> Option<Vec<f64>> {
    let mut mass = vec![0.0; x.examples()];
    let mut watch = control.watch();
    for i in 0..x.features() {
        x.row(i).add_to(1.0, &mut mass);
        if watch.spend(x.row(i).stored()).is_some() {
            return None;
        }
    }
    let f = x.features() as f64;
    let root = |mass: f64| match mass > 0.0 {
        true => (mass / f).max(LEAST_MASS).powf(-0.5 * power),
        false => 0.0,
    };
    Some(mass.into_iter().map(root).collect())
}
