//! The incremental gradient on sparse X: row i visits only the documents that feature i occurs in.
//!
//! The paper sums the error over the support of X only, which drops what C X puts where X is
//! zero, and then rates wrong choices as perfect. For `c >= 0` and unit row sums the exact error
//! needs the support only, too:
//!
//! ```text
//! ||x - c X||_1 = 2 sum_{k in supp(x)} (x_k - (c X)_k)_+  +  sum(c) - 1
//! ```
//!
//! A visit to document k follows the hinge, `c += 2 s X_.k` where the residual is positive, and
//! its share `s / nnz(x_i)` of the constant vector 1 that is the gradient of `sum(c)`, so that one
//! epoch applies the vector once. It is applied lazily: an entry is brought up to date, and kept
//! nonnegative, when a document that contains it is visited. Entries that no visited document
//! contains stay zero, so a row of C never has more entries than its feature has neighbours. One
//! row is a dense scratch vector while it is worked on and sparse between epochs.

use super::{Epoch, Iterate};
use crate::checkpoint::{get_u64, put_u64};
use crate::control::{Control, Stop};
use crate::matrix::Sparse;
use crate::project::Squisher;
use rayon::prelude::*;
use std::io::{self, Read, Write};

/// Rows between two looks at the clock.
const ROWS: usize = 512;

/// C by rows, each a list of (candidate, value) with values above zero, candidates increasing.
pub(super) struct SparseIterate<'a> {
    x: &'a Sparse,
    candidates: &'a [usize],
    /// The candidate's number for each row of X.
    number: Vec<Option<u32>>,
    /// The candidate rows of X, transposed: for each document, the candidates in it.
    documents: Sparse,
    rows: Vec<Vec<(u32, f64)>>,
}

/// One row of C as a dense vector, with the lazily applied part of the gradient.
struct Scratch {
    value: Vec<f64>,
    /// How much of the constant vector each entry has already had.
    applied: Vec<f64>,
    /// Entries that may differ from zero, and whether an entry is among them.
    touched: Vec<u32>,
    seen: Vec<bool>,
    /// The documents of the row with their place in the epoch's order.
    visits: Vec<(u32, u32, f64)>,
}

impl Scratch {
    fn new(candidates: usize) -> Self {
        Scratch {
            value: vec![0.0; candidates],
            applied: vec![0.0; candidates],
            touched: Vec::new(),
            seen: vec![false; candidates],
            visits: Vec::new(),
        }
    }

    /// Entry `j` after `due` of the constant vector, and never below zero.
    fn bring_up(&mut self, j: usize, due: f64) -> f64 {
        self.value[j] = (self.value[j] - (due - self.applied[j])).max(0.0);
        self.applied[j] = due;
        self.value[j]
    }

    fn touch(&mut self, j: usize, due: f64) {
        if !self.seen[j] {
            self.seen[j] = true;
            self.touched.push(j as u32);
            self.applied[j] = due;
        }
    }
}

impl<'a> SparseIterate<'a> {
    pub(super) fn new(x: &'a Sparse, candidates: &'a [usize]) -> Self {
        let mut number = vec![None; x.rows()];
        candidates.iter().enumerate().for_each(|(q, &i)| number[i] = Some(q as u32));
        let documents = x.select_rows(candidates).transpose();
        SparseIterate { x, candidates, number, documents, rows: vec![Vec::new(); x.rows()] }
    }

    /// All visits of row `i`; `place[k]` is when document k has its turn.
    fn advance(
        &self,
        i: usize,
        c: &mut Vec<(u32, f64)>,
        place: &[u32],
        epoch: &Epoch<'_>,
        s: &mut Scratch,
    ) {
        let own = self.number[i].map(|q| q as usize);
        for &(j, value) in c.iter() {
            s.touch(j as usize, 0.0);
            s.value[j as usize] = value;
        }
        let (documents, values) = self.x.row(i);
        s.visits.clear();
        s.visits.extend(documents.iter().zip(values).map(|(&k, &v)| (place[k as usize], k, v)));
        s.visits.sort_unstable_by_key(|v| v.0);
        let share = epoch.step / documents.len() as f64;
        let visits = std::mem::take(&mut s.visits);
        for (t, &(_, k, x)) in visits.iter().enumerate() {
            let due = t as f64 * share;
            let (members, weights) = self.documents.row(k as usize);
            let mut fitted = 0.0;
            for (&j, weight) in members.iter().zip(weights) {
                s.touch(j as usize, due);
                fitted += s.bring_up(j as usize, due) * weight;
            }
            if x > fitted {
                for (&j, weight) in members.iter().zip(weights) {
                    s.value[j as usize] += 2.0 * epoch.step * weight;
                }
            }
            if let Some(q) = own {
                s.touch(q, due);
                s.value[q] -= share * epoch.pull[q];
            }
        }
        s.visits = visits;
        collect(s, epoch.step, own, c);
    }

    /// The levels of all columns: entries above their diagonal are gathered by column.
    fn levels(&self) -> Vec<f64> {
        let diagonal = self.diagonal_before();
        let mut starts = vec![0usize; diagonal.len() + 1];
        let above = |e: &&(u32, f64)| e.1 > diagonal[e.0 as usize];
        for (j, _) in self.rows.iter().flatten().filter(above) {
            starts[*j as usize + 1] += 1;
        }
        for j in 0..diagonal.len() {
            starts[j + 1] += starts[j];
        }
        let mut next = starts.clone();
        let mut gathered = vec![0.0; starts[diagonal.len()]];
        for (j, value) in self.rows.iter().flatten().filter(above) {
            gathered[next[*j as usize]] = *value;
            next[*j as usize] += 1;
        }
        (0..diagonal.len())
            .into_par_iter()
            .map_init(Squisher::default, |squisher, j| {
                let column = &gathered[starts[j]..starts[j + 1]];
                squisher.level(diagonal[j], column.iter().copied())
            })
            .collect()
    }

    /// Stored diagonal entries, which may be negative before the projection.
    fn diagonal_before(&self) -> Vec<f64> {
        let entry = |(q, &i): (usize, &usize)| {
            let row = &self.rows[i];
            row.binary_search_by_key(&(q as u32), |e| e.0).map_or(0.0, |at| row[at].1)
        };
        self.candidates.iter().enumerate().map(entry).collect()
    }

    /// The projection onto `Phi_0`, keeping only what is above zero.
    fn project(&mut self) {
        let levels = self.levels();
        let number = &self.number;
        self.rows.par_iter_mut().enumerate().for_each(|(i, row)| {
            let own = number[i];
            row.retain_mut(|(j, value)| {
                let level = levels[*j as usize];
                *value = if own == Some(*j) { level } else { value.min(level) };
                *value > 0.0
            });
            // A diagonal entry may be raised from zero.
            if let Some(q) = own
                && levels[q as usize] > 0.0
                && let Err(at) = row.binary_search_by_key(&q, |e| e.0)
            {
                row.insert(at, (q, levels[q as usize]));
            }
        });
    }
}

/// Moves the scratch into the list of a row, entries increasing, and clears the scratch. The
/// diagonal entry is kept even when negative: the projection has to see it.
fn collect(s: &mut Scratch, due: f64, own: Option<usize>, c: &mut Vec<(u32, f64)>) {
    c.clear();
    let mut touched = std::mem::take(&mut s.touched);
    touched.sort_unstable();
    for &j in &touched {
        let at = j as usize;
        let value =
            if own == Some(at) { s.value[at] - (due - s.applied[at]) } else { s.bring_up(at, due) };
        if value > 0.0 || own == Some(at) {
            c.push((j, value));
        }
        (s.value[at], s.applied[at], s.seen[at]) = (0.0, 0.0, false);
    }
    touched.clear();
    s.touched = touched;
}

impl Iterate for SparseIterate<'_> {
    fn epoch(&mut self, epoch: &Epoch<'_>, control: &Control) -> Option<Stop> {
        let mut place = vec![0u32; epoch.order.len()];
        epoch.order.iter().enumerate().for_each(|(at, &k)| place[k as usize] = at as u32);
        let mut rows = std::mem::take(&mut self.rows);
        let mut stopped = None;
        for (block, chunk) in rows.chunks_mut(ROWS).enumerate() {
            stopped = control.stopped();
            if stopped.is_some() {
                break;
            }
            chunk.par_iter_mut().enumerate().for_each_init(
                || Scratch::new(self.candidates.len()),
                |scratch, (i, c)| self.advance(block * ROWS + i, c, &place, epoch, scratch),
            );
        }
        self.rows = rows;
        self.project();
        stopped
    }

    fn diagonal(&self) -> Vec<f64> {
        self.diagonal_before()
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for row in &self.rows {
            put_u64(out, row.len() as u64)?;
            for &(j, value) in row {
                put_u64(out, u64::from(j))?;
                put_u64(out, value.to_bits())?;
            }
        }
        Ok(())
    }

    fn read(&mut self, input: &mut dyn Read) -> io::Result<()> {
        for row in &mut self.rows {
            let length = get_u64(input)? as usize;
            row.clear();
            for _ in 0..length {
                let j = get_u64(input)? as u32;
                row.push((j, f64::from_bits(get_u64(input)?)));
            }
        }
        Ok(())
    }

    fn loss(&mut self) -> f64 {
        let m = self.candidates.len();
        let losses: Vec<f64> = (0..self.x.rows())
            .into_par_iter()
            .map_init(
                || vec![0.0; m],
                |dense, i| {
                    self.rows[i].iter().for_each(|&(j, v)| dense[j as usize] = v);
                    let (documents, values) = self.x.row(i);
                    let loss = hinge(&self.documents, documents, values, dense)
                        + self.rows[i].iter().map(|e| e.1).sum::<f64>()
                        - 1.0;
                    self.rows[i].iter().for_each(|&(j, _)| dense[j as usize] = 0.0);
                    loss
                },
            )
            .collect();
        losses.iter().sum()
    }
}

/// `2 sum_{k in supp(x)} (x_k - (c X)_k)_+`.
fn hinge(transposed: &Sparse, support: &[u32], x: &[f64], c: &[f64]) -> f64 {
    let positive = |(&k, x): (&u32, &f64)| {
        let (members, weights) = transposed.row(k as usize);
        let fitted: f64 = members.iter().zip(weights).map(|(&j, w)| c[j as usize] * w).sum();
        (x - fitted).max(0.0)
    };
    2.0 * support.iter().zip(x).map(positive).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::localise::instances::{as_sparse, unit_rows};
    use crate::matrix::{Dense, Matrix};
    use crate::normalise::UnitRows;
    use proptest::prelude::*;

    fn losses(x: &UnitRows, c: &[f64], i: usize) -> (f64, f64, f64) {
        let f = x.features();
        let x = as_sparse(x);
        let Matrix::Sparse(sparse) = &x.to_matrix() else { unreachable!() };
        let (support, values) = sparse.row(i);
        let sum: f64 = c.iter().sum();
        let exact = hinge(&sparse.transpose(), support, values, c) + sum - 1.0;
        let mut rest = x.dense_row(i);
        (0..f).for_each(|j| x.row(j).add_to(-c[j], &mut rest));
        let truncated = support.iter().map(|&k| rest[k as usize].abs()).sum();
        (exact, rest.iter().map(|e| e.abs()).sum(), truncated)
    }

    proptest! {
        #[test]
        fn the_loss_needs_the_support_only(
            entries in prop::collection::vec((0.0..1.0f64, any::<bool>()), 6 * 5),
            c in prop::collection::vec(0.0..0.8f64, 6),
        ) {
            let mut values: Vec<f64> = entries.iter().map(|(v, keep)| if *keep { *v } else { 0.0 }).collect();
            (0..6).for_each(|i| values[i * 5 + i % 5] += 0.1);
            let x = UnitRows::new(&Matrix::from(Dense::new(6, 5, values).unwrap())).unwrap();
            for i in 0..6 {
                let (exact, direct, _) = losses(&x, &c, i);
                prop_assert!((exact - direct).abs() < 1e-12, "{} {}", exact, direct);
            }
        }
    }

    /// Rows 3 and 4 explain rows 1 and 2 perfectly if the error off the support is ignored.
    #[test]
    fn the_truncated_loss_is_wrong() {
        let x = unit_rows(&[vec![1.0, 0.0], vec![0.0, 1.0], vec![0.5, 0.5], vec![0.5, 0.5]]);
        for i in 0..2 {
            let (exact, direct, truncated) = losses(&x, &[0.0, 0.0, 1.0, 1.0], i);
            assert_eq!((exact, direct, truncated), (1.0, 1.0, 0.0));
        }
        let (exact, direct, _) = losses(&x, &[0.0, 0.0, 0.5, 0.5], 2);
        assert_eq!((exact, direct), (0.0, 0.0));
    }
}
