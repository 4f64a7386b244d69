//! Entries of a sparse matrix whose shape is known, gathered by ranges of rows.
//!
//! Putting entries straight where they belong is a miss of the cache for each when the text is not in
//! the order of rows. Entries are therefore first thrown into a few hundred buckets of neighbouring
//! rows, which is quick, and then from each bucket into its rows, which fit the cache.

use crate::budget::Budget;
use crate::coordinate::{Layout, MatrixEntry, each_piece};
use crate::error::{Fault, FileLocation};
use crate::load::Parsed;
use crate::scan::Lines;
use hottopixx::matrix::Sparse;
use rayon::prelude::*;
use std::io::Read;

/// Buckets at most, and entries of a part of one.
const BUCKETS: usize = 256;
const PART: usize = 1024;

/// Entries below which one thread is enough.
const FEW: usize = 1 << 12;

/// The matrix of a text with one entry per line, of which the first lines have been read.
pub(crate) fn read<R: Read>(
    lines: Lines<R>,
    layout: &Layout,
    budget: Budget,
) -> Result<Parsed, Fault> {
    let (rows, cols) = layout.shape();
    let (rows, cols) = budget.sparse(rows, cols, FileLocation::Line(layout.shape_at))?;
    budget.entries(layout.count, FileLocation::Line(layout.at))?;
    let mut buckets = Buckets::new(rows);
    each_piece(lines, layout, |entries, line| {
        let count = buckets.count + entries.len();
        if count > budget.max_entries() {
            budget.entries(count as u64, FileLocation::Line(line))?;
        }
        buckets.append(entries);
        Ok(())
    })?;
    Ok(Parsed::new(buckets.into_sparse(rows, cols)?))
}

/// Entries by ranges of rows, in each in the order in which they came.
struct Buckets {
    buckets: Vec<Bucket>,
    /// The rows of a bucket are those with the same number but for this many last bits.
    shift: u32,
    count: usize,
}

/// Entries in parts, so that growing copies nothing.
#[derive(Default)]
struct Bucket {
    full: Vec<Vec<MatrixEntry>>,
    last: Vec<MatrixEntry>,
}

/// A bucket, its first row and the entries before it, and its parts of the three arrays of the matrix.
type Job<'a> = (Bucket, (usize, usize), &'a mut [usize], &'a mut [u32], &'a mut [f64]);

impl Buckets {
    /// For rows below `rows`.
    fn new(rows: usize) -> Self {
        let mut shift = 0;
        while rows >> shift >= BUCKETS {
            shift += 1;
        }
        let buckets = (0..(rows >> shift) + 1).map(|_| Bucket::default()).collect();
        Buckets { buckets, shift, count: 0 }
    }

    fn append(&mut self, entries: &[MatrixEntry]) {
        self.count += entries.len();
        for entry in entries {
            let bucket = &mut self.buckets[(entry.row >> self.shift) as usize];
            if bucket.last.len() == bucket.last.capacity() {
                bucket.grow();
            }
            bucket.last.push(*entry);
        }
    }

    /// The matrix; repeated places are added.
    fn into_sparse(self, rows: usize, cols: usize) -> Result<Sparse, Fault> {
        let mut starts = vec![0usize; rows + 1];
        let (mut columns, mut values) = (vec![0u32; self.count], vec![0.0; self.count]);
        // Each bucket has its own rows, and so its own part of all three arrays.
        let mut jobs = Vec::new();
        let (mut s, mut c, mut v) = (&mut starts[1..], &mut columns[..], &mut values[..]);
        let (mut first, mut base) = (0, 0);
        for bucket in self.buckets {
            let (ours, rest) = s.split_at_mut((1 << self.shift).min(rows - first));
            s = rest;
            let (columns, rest) = c.split_at_mut(bucket.len());
            c = rest;
            let (values, rest) = v.split_at_mut(bucket.len());
            v = rest;
            let range = (first, base);
            first += ours.len();
            base += values.len();
            jobs.push((bucket, range, ours, columns, values));
        }
        let spread = |(bucket, (first, base), ends, columns, values): Job<'_>| {
            bucket.spread(first, base, ends, columns, values);
        };
        // Waking threads takes longer than spreading some entries.
        if self.count < FEW {
            jobs.into_iter().for_each(spread);
        } else {
            jobs.into_par_iter().for_each(spread);
        }
        Ok(Sparse::new(rows, cols, starts, columns, values)?)
    }
}

impl Bucket {
    #[cold]
    fn grow(&mut self) {
        let capacity = if self.last.is_empty() { PART / 16 } else { PART };
        let full = std::mem::replace(&mut self.last, Vec::with_capacity(capacity));
        if !full.is_empty() {
            self.full.push(full);
        }
    }

    fn len(&self) -> usize {
        self.full.iter().map(Vec::len).sum::<usize>() + self.last.len()
    }

    /// Puts the entries into their rows, from `first` on. `ends` becomes where these end, counted
    /// with the `base` entries before them.
    fn spread(
        self,
        first: usize,
        base: usize,
        ends: &mut [usize],
        columns: &mut [u32],
        values: &mut [f64],
    ) {
        let parts = || self.full.iter().chain(std::iter::once(&self.last)).flatten();
        for entry in parts() {
            ends[entry.row as usize - first] += 1;
        }
        // Where each row begins for now; filling it moves that to its end.
        let mut begin = 0;
        for end in ends.iter_mut() {
            begin += std::mem::replace(end, begin);
        }
        for entry in parts() {
            let at = &mut ends[entry.row as usize - first];
            columns[*at] = entry.column;
            values[*at] = entry.value;
            *at += 1;
        }
        let (mut begin, mut row) = (0, Vec::new());
        for end in ends {
            sort(&mut columns[begin..*end], &mut values[begin..*end], &mut row);
            begin = *end;
            *end += base;
        }
    }
}

/// Sorts a row by column where it is not, in `row`; repeated places stay in the order of the text.
fn sort(columns: &mut [u32], values: &mut [f64], row: &mut Vec<(u32, f64)>) {
    if columns.is_sorted() {
        return;
    }
    row.clear();
    row.extend(columns.iter().copied().zip(values.iter().copied()));
    row.sort_by_key(|entry| entry.0);
    for ((column, value), sorted) in columns.iter_mut().zip(values).zip(row) {
        (*column, *value) = *sorted;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_in_any_order_make_the_same_matrix() {
        for rows in [1, 2, 255, 256, 257, 100_000] {
            let entries: Vec<MatrixEntry> = (0..30_000u32)
                .map(|k| MatrixEntry {
                    row: k.wrapping_mul(2_654_435_761) % rows,
                    column: k % 7,
                    value: f64::from(k) / 3.0,
                })
                .collect();
            let mut buckets = Buckets::new(rows as usize);
            entries.chunks(777).for_each(|some| buckets.append(some));
            let list = entries.iter().map(|e| (e.row as usize, e.column as usize, e.value));
            let list: Vec<_> = list.collect();
            let want = Sparse::from_triplets(rows as usize, 7, &list).unwrap();
            assert_eq!(buckets.into_sparse(rows as usize, 7).unwrap(), want, "{rows} rows");
        }
    }
}
