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
//! epoch applies the vector once, and entries never go below zero. The constant is applied
//! lazily: with `due` the part of it that is due by now, the scratch holds `u_j = c_j + due`, so
//! that `c_j = (u_j - due)_+` needs no bookkeeping, entries that no document brings up stay at
//! `u_j = 0`, and a visit without a step writes nothing.
//!
//! *Order.* All rows go through the documents in one random order (see [`Lists`]), from a place
//! and in a direction that change from epoch to epoch.
//!
//! *Trace.* The epoch ends with the projection onto `{ C in Phi_0 : trace(C) = r }`, which lowers
//! all diagonal entries by some b. Dual ascent would need a step that suits the trace, which
//! starts near the number of candidates, as well as the price of a hott row, which grows with the
//! number of rows it explains; b knows both. Subtracting it once is what `beta = b / s` would have
//! done in the course of the epoch, so `beta += b / (s sqrt(t + 1))` after epoch t = 0, 1, ..., damped
//! because C follows beta only by steps of s.
//! Without beta, all rows explain themselves to some part in every epoch, only to be cut again.
//!
//! *Well-filled X.* Where an epoch would visit more than some hundred million candidates, every row
//! goes through a part of its documents only, the same part for all rows as far as they occur in
//! it, and another one in the next epoch: what counts is the number of steps.
//!
//! *State.* Between epochs there is nothing but the lists of C, beta and the number of the epoch.
//! *Cost.* An epoch visits, for each nonzero of X, the candidates of its document. *Memory.* See
//! [`memory`]: known beforehand.

use super::lists::Lists;
use super::{Epoch, Iterate, check_weights, screen};
use crate::checkpoint::{get_u64, get_words, put_u64, put_words};
use crate::control::{Control, Stop};
use crate::kernels::parallel::*;
use crate::matrix::Shape;
use crate::project::trace_levels;
use std::io::{self, Read, Write};

/// Candidates that an epoch visits at most.
pub(super) const EPOCH_VISITS: f64 = 2e8;
/// Documents of a row that an epoch visits at least.
const LEAST_VISITS: usize = 32;

/// Blocks of rows that a thread takes at a time, with about equally many visits.
const BLOCKS: usize = 512;

/// C by rows, each a list of (candidate, value) with values above zero, candidates increasing.
pub(super) struct SparseIterate {
    /// X by rows.
    x: Lists,
    /// For each document, the candidates in it.
    documents: Lists,
    candidates: Vec<usize>,
    /// The candidate's number for each row of X.
    number: Vec<Option<u32>>,
    rank: usize,
    /// Where blocks of rows end.
    ends: Vec<usize>,
    rows: Vec<Vec<(u32, f32)>>,
    /// The multiplier of the last projection.
    lowered: f64,
    /// The share of its documents that a row visits in an epoch.
    part: f64,
    /// The diagonal of the last projection: of C, unless an epoch was stopped.
    levels: Vec<f32>,
}

/// Threads that are provided for, whatever their number.
const THREADS: u64 = 16;

/// Upper bound in bytes of what the method holds at any time besides X itself, for this many
/// columns of C.
pub(super) fn memory(shape: Shape, columns: usize) -> u64 {
    let sizes = [shape.rows, shape.cols, shape.entries, columns.min(shape.rows)];
    let [f, n, z, m] = sizes.map(|v| v as u64);
    let threads = THREADS;
    let word = 8;
    // X by rows and by documents, with the permutation or the counting sort's places.
    let lists = 2 * 8 * z + word * (f + n + 2) + word * (n + 1).max(f);
    // Prices by blocks; 16 bytes and a place per row and thread.
    let screening = (screen::BLOCKS as u64 + 4) * word * f + threads * 24 * f;
    // C, all its entries by columns for the projection, and copies of the longest of these.
    let c = f * (24 + 8 * m) + word * f * m + (24 + 6 * word) * m + threads * (4 * m + word * f);
    lists + word * 4 * f + screening.max(c) + BLOCKS as u64 * word
}

impl SparseIterate {
    /// C = 0 for the rows in `x`, documents `0..examples`; `None` when stopped.
    pub(super) fn new(
        x: Lists,
        examples: usize,
        candidates: Vec<usize>,
        rank: usize,
        control: &Control,
    ) -> Option<Self> {
        let mut number = vec![None; x.len()];
        candidates.iter().enumerate().for_each(|(q, &i)| number[i] = Some(q as u32));
        let documents = x.turned(&candidates, examples, control)?;
        // Reading the scratch at the end of a row is like some visits.
        let ends = x.blocks(BLOCKS, 1 + candidates.len() / 64);
        let rows = vec![Vec::new(); x.len()];
        let (lowered, levels) = (0.0, vec![0.0; candidates.len()]);
        let visits: f64 = (0..x.len())
            .flat_map(|i| x.list(i))
            .map(|entry| documents.list(entry.0 as usize).len() as f64)
            .sum();
        let part = (EPOCH_VISITS / visits.max(1.0)).min(1.0);
        Some(SparseIterate {
            x,
            documents,
            candidates,
            number,
            rank,
            ends,
            rows,
            lowered,
            part,
            levels,
        })
    }

    /// How many of its documents a row visits in an epoch.
    fn visits(&self, documents: usize) -> usize {
        let part = (self.part * documents as f64).ceil() as usize;
        part.max(LEAST_VISITS).min(documents)
    }

    /// All visits of row `i`, in the epoch's order; `u` is zero before and after.
    fn advance(&self, i: usize, c: &mut Vec<(u32, f32)>, epoch: &Epoch<'_>, u: &mut [f32]) {
        for &(j, value) in c.iter() {
            u[j as usize] = value;
        }
        let own = self.number[i].map(|q| q as usize);
        let visits = self.x.list(i);
        let step = epoch.step as f32;
        let most = self.visits(visits.len());
        let share = epoch.step / most.max(1) as f64;
        let pull = own.map_or(0.0, |q| (share * epoch.pull[q]) as f32);
        let (start, forward) = epoch.column_walk;
        let (before, after) = visits.split_at(visits.partition_point(|visit| visit.0 < start));
        let mut done = 0;
        let visit = |x: f32, members: &[(u32, f32)]| {
            let due = (f64::from(done) * share) as f32;
            done += 1u32;
            if x > fitted(members, u, due) {
                for &(j, weight) in members {
                    let entry = &mut u[j as usize];
                    *entry = larger(*entry, due) + 2.0 * step * weight;
                }
            }
            if let Some(q) = own {
                u[q] = larger(u[q], due) - pull;
            }
        };
        if forward {
            self.documents.visit(after.iter().chain(before).take(most), visit);
        } else {
            let back = before.iter().rev().chain(after.iter().rev());
            self.documents.visit(back.take(most), visit);
        }
        collect(u, step, own, c);
    }

    /// Stored diagonal entries, which may be negative before the projection.
    fn diagonal_before(&self) -> Vec<f64> {
        let entry = |(q, &i): (usize, &usize)| {
            let row = &self.rows[i];
            let found = row.binary_search_by_key(&(q as u32), |e| e.0);
            found.map_or(0.0, |at| f64::from(row[at].1))
        };
        self.candidates.iter().enumerate().map(entry).collect()
    }

    /// Diagonals of the projection: entries off the diagonal are gathered by column.
    fn levels(&self) -> (f64, Vec<f64>) {
        let off_diagonal = || {
            let rows = self.rows.iter().zip(&self.number);
            rows.flat_map(|(row, own)| row.iter().filter(|e| Some(e.0) != *own))
        };
        let mut lengths = vec![0usize; self.candidates.len()];
        off_diagonal().for_each(|e| lengths[e.0 as usize] += 1);
        let mut columns: Vec<Vec<f64>> = lengths.into_iter().map(Vec::with_capacity).collect();
        off_diagonal().for_each(|e| columns[e.0 as usize].push(f64::from(e.1)));
        trace_levels(self.diagonal_before(), columns, self.rank as f64)
    }

    /// The projection onto `Phi_0` with the trace, keeping only what is above zero.
    fn project(&mut self) {
        let (lowered, levels) = self.levels();
        self.lowered = lowered;
        self.levels = levels.into_iter().map(|level| level as f32).collect();
        let levels = &self.levels;
        self.rows.par_iter_mut().zip(&self.number).for_each(|(row, own)| {
            row.retain_mut(|(j, value)| {
                let level = levels[*j as usize];
                *value = if *own == Some(*j) { level } else { value.min(level) };
                *value > 0.0
            });
            // A diagonal entry may be raised from zero.
            if let Some(q) = *own
                && levels[q as usize] > 0.0
                && let Err(at) = row.binary_search_by_key(&q, |e| e.0)
            {
                row.reserve_exact(1);
                row.insert(at, (q, levels[q as usize]));
            }
        });
    }
}

/// The larger of two numbers, neither of which is NaN: one instruction.
fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// `(c X)_k`, in four partial sums.
fn fitted(members: &[(u32, f32)], u: &[f32], due: f32) -> f32 {
    let term = |&(j, weight): &(u32, f32)| larger(u[j as usize] - due, 0.0) * weight;
    let mut sums = [0f32; 4];
    let mut fours = members.chunks_exact(4);
    for four in &mut fours {
        sums.iter_mut().zip(four).for_each(|(sum, entry)| *sum += term(entry));
    }
    let rest: f32 = fours.remainder().iter().map(term).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// Moves the scratch into the list of a row, and clears it. The diagonal entry is kept even when
/// negative: the projection has to see it.
fn collect(u: &mut [f32], due: f32, own: Option<usize>, c: &mut Vec<(u32, f32)>) {
    let kept = |(j, value): (usize, &f32)| (*value > due || own == Some(j)).then_some(j);
    let length = u.iter().enumerate().filter_map(kept).count();
    c.clear();
    c.reserve_exact(length);
    c.extend(u.iter().enumerate().filter_map(kept).map(|j| (j as u32, u[j] - due)));
    u.fill(0.0);
}

impl Iterate for SparseIterate {
    fn epoch(&mut self, epoch: &Epoch<'_>, control: &Control) -> Option<Stop> {
        let mut rows = std::mem::take(&mut self.rows);
        let mut left = &mut rows[..];
        let mut blocks = Vec::with_capacity(self.ends.len());
        let mut start = 0;
        for &end in &self.ends {
            let (block, rest) = left.split_at_mut(end - start);
            blocks.push((start, block));
            (left, start) = (rest, end);
        }
        let stops: Vec<Option<Stop>> = blocks
            .into_par_iter()
            .with_max_len(1)
            .map(|(start, block)| {
                let stop = control.stopped();
                if stop.is_none() {
                    let mut u = vec![0f32; self.candidates.len()];
                    for (i, c) in block.iter_mut().enumerate() {
                        self.advance(start + i, c, epoch, &mut u);
                    }
                }
                stop
            })
            .collect();
        self.rows = rows;
        let stop = stops.into_iter().flatten().next();
        // Rows that have moved and rows that have not make no C: its diagonal stays as it was.
        if stop.is_none() {
            self.project();
        }
        stop
    }

    fn lowered(&self) -> Option<f64> {
        Some(self.lowered)
    }

    fn diagonal(&self) -> Vec<f64> {
        self.levels.iter().map(|level| f64::from(*level)).collect()
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        self.rows.iter().try_for_each(|row| {
            put_u64(out, row.len() as u64)?;
            put_words(out, row.iter().flat_map(|&(j, value)| [j, value.to_bits()]))
        })
    }

    fn read(&mut self, input: &mut dyn Read) -> io::Result<()> {
        let m = self.candidates.len();
        self.rows.iter_mut().try_for_each(|row| {
            let length = get_u64(input)?;
            if length > m as u64 {
                return Err(io::Error::other("a row of it is too long"));
            }
            let mut words = Vec::with_capacity(2 * length as usize);
            get_words(input, 2 * length as usize, |word| words.push(word))?;
            *row = words.chunks_exact(2).map(|e| (e[0], f32::from_bits(e[1]))).collect();
            if row.iter().any(|e| e.0 as usize >= m) {
                return Err(io::Error::other("it has a column that does not exist"));
            }
            check_weights(row.iter().map(|e| &e.1))
        })?;
        self.levels = self.diagonal_before().into_iter().map(|level| level as f32).collect();
        Ok(())
    }

    fn loss(&mut self, control: &Control) -> Option<f64> {
        let losses: Option<Vec<f64>> = (0..self.x.len())
            .into_par_iter()
            .map_init(
                || vec![0f32; self.candidates.len()],
                |dense, i| {
                    if !control.goes_on() {
                        return None;
                    }
                    self.rows[i].iter().for_each(|&(j, v)| dense[j as usize] = v);
                    let sum: f64 = self.rows[i].iter().map(|e| f64::from(e.1)).sum();
                    let loss = hinge(self.x.list(i), &self.documents, dense) + sum - 1.0;
                    self.rows[i].iter().for_each(|&(j, _)| dense[j as usize] = 0.0);
                    Some(loss)
                },
            )
            .collect();
        Some(losses?.iter().sum())
    }
}

/// `2 sum_{k in supp(x)} (x_k - (c X)_k)_+`.
fn hinge(x: &[(u32, f32)], documents: &Lists, c: &[f32]) -> f64 {
    let mut sum = 0.0;
    documents.visit(x.iter(), |x, members| {
        let weighted = |&(j, w): &(u32, f32)| f64::from(c[j as usize]) * f64::from(w);
        sum += (f64::from(x) - members.iter().map(weighted).sum::<f64>()).max(0.0);
    });
    2.0 * sum
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
        let free = Control::default();
        let lists = Lists::rows(&x, 0, &free).unwrap();
        let all: Vec<usize> = (0..f).collect();
        let documents = lists.turned(&all, x.examples(), &free).unwrap();
        let single: Vec<f32> = c.iter().map(|v| *v as f32).collect();
        let exact = hinge(lists.list(i), &documents, &single) + c.iter().sum::<f64>() - 1.0;
        let mut rest = x.dense_row(i);
        (0..f).for_each(|j| x.row(j).add_to(-c[j], &mut rest));
        let truncated = x.row(i).nonzeros().map(|(k, _)| rest[k].abs()).sum();
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
                prop_assert!((exact - direct).abs() < 1e-5, "{} {}", exact, direct);
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
