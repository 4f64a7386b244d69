//! Sums over documents for every two terms, some rows of the result at a time.
//!
//! Both matrices that n documents leave behind once n has gone are of this kind: the co-occurrence
//! of words ([`cooccurrence`](super::cooccurrence())), with the entries
//! `sum over d of (h h^T - diag h)_ij / (L (L - 1))`, and the Gram matrix `X X^T` of features x
//! documents, with the entries `sum over d of h_i h_j`. Rows of both are mixtures of each other with
//! the same weights as rows of X where these are exact mixtures.
//!
//! A result does not depend on how the work is divided. Every entry is summed on its own, in the
//! order of documents within blocks of [`BLOCK_DOCUMENTS`], and blocks are added two by two in the
//! order of a binary counter ([`add_blocks`]). So rows may be computed anywhere, in any number
//! of pieces, and blocks too, as long as they are added in that order.

use crate::Error;
use crate::kernels::{self, prefetch};
use crate::matrix::{Dense, Entries, Matrix, Row, Sparse};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use std::ops::Range;

/// Documents whose sum is formed one after the other; blocks of them are added two by two.
pub const BLOCK_DOCUMENTS: usize = 1 << 20;

/// Rows of dense Gram matrices that are computed together, beginning at multiples of this.
pub const DENSE_TILE: usize = 256;

/// Rows of [`PairSums::matrix`] that are under way at a time.
pub const STEP: usize = 256;

/// Documents that are asked for before they are needed.
const AHEAD: usize = 4;

/// Columns, increasing, and values.
pub type SparseRow = (Vec<u32>, Vec<f64>);

/// What is summed over the documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairKind {
    /// `(h h^T - diag h) / (L (L - 1))`, documents of fewer than two tokens skipped.
    Cooccurrence,
    /// `h h^T`.
    Gram,
}

/// Columns added up: column j of a result goes to column `of[j]` of `count`. Multiplication by a
/// matrix of zeros and ones, so that l1 errors on merged columns are never larger than on all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buckets {
    /// The bucket of each column.
    pub of: Vec<u32>,
    /// Number of buckets.
    pub count: usize,
}

impl Buckets {
    /// Columns dealt out at random, the same number to each bucket or one less. The seed fixes
    /// them on every machine.
    pub fn random(columns: usize, count: usize, seed: u64) -> Self {
        let mut of: Vec<u32> = (0..columns).map(|j| (j % count.max(1)) as u32).collect();
        of.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        Buckets { of, count }
    }
}

/// Documents and their factors, ready for sums over them.
#[derive(Debug)]
pub struct PairSums<'a> {
    documents: Vec<Row<'a>>,
    /// What the products of a document count; 0 for documents that say nothing.
    factors: Vec<f64>,
    kind: PairKind,
    terms: usize,
    buckets: Option<&'a Buckets>,
    /// Documents in a block.
    block: usize,
}

impl<'a> PairSums<'a> {
    /// Documents x terms in pieces, in order. All pieces have as many columns as the first.
    pub fn new(pieces: &'a [Matrix], kind: PairKind) -> Self {
        let documents: Vec<Row<'a>> =
            pieces.iter().flat_map(|piece| (0..piece.rows()).map(|d| piece.row(d))).collect();
        let factor = |document: &Row<'_>| match kind {
            PairKind::Gram => 1.0,
            PairKind::Cooccurrence => match document.sum() {
                length if length >= 2.0 => 1.0 / (length * (length - 1.0)),
                _ => 0.0,
            },
        };
        let factors = documents.par_iter().map(factor).collect();
        let terms = pieces.first().map_or(0, Matrix::cols);
        PairSums { documents, factors, kind, terms, buckets: None, block: BLOCK_DOCUMENTS }
    }

    /// With columns added up.
    pub fn with_buckets(mut self, buckets: &'a Buckets) -> Self {
        self.buckets = Some(buckets);
        self
    }

    /// Columns of the result.
    pub fn width(&self) -> usize {
        self.buckets.map_or(self.terms, |buckets| buckets.count)
    }

    /// Some rows of the result as a matrix of their own, sparse where that takes less memory, and
    /// dense from the beginning where the first rows are.
    ///
    /// # Errors
    /// [`Error::Shape`] when there are more than 2^32 documents.
    pub fn matrix(&self, terms: Range<usize>) -> Result<Matrix, Error> {
        let (by_term, width) = (self.by_term(terms.clone())?, self.width());
        let mut steps = terms.clone().step_by(STEP);
        let some = |at: usize| self.rows(&by_term, terms.start, at..(at + STEP).min(terms.end));
        let first = steps.next().map(some).unwrap_or_default();
        let stored: usize = first.iter().map(|row| row.0.len()).sum();
        // A sparse entry takes 12 bytes, a dense one 8.
        let dense = 3 * stored > 2 * first.len() * width;
        if !dense {
            let mut rows = first;
            steps.for_each(|at| rows.extend(some(at)));
            return collect(rows, width, false);
        }
        let mut out = Dense::zeros(terms.len(), width);
        write(&first, 0, &mut out);
        steps.for_each(|at| write(&some(at), at - terms.start, &mut out));
        Ok(out.into())
    }

    /// The entries of these terms: terms x documents, the transpose of some columns. O(documents *
    /// log of their lengths + entries).
    fn by_term(&self, terms: Range<usize>) -> Result<Matrix, Error> {
        let mut starts = vec![0usize; terms.len() + 1];
        for document in &self.documents {
            within(*document, &terms, |i, _| starts[i + 1] += 1);
        }
        for i in 0..terms.len() {
            starts[i + 1] += starts[i];
        }
        let stored = starts[terms.len()];
        let (mut columns, mut values, mut next) =
            (vec![0u32; stored], vec![0.0; stored], starts.clone());
        for (d, document) in self.documents.iter().enumerate() {
            within(*document, &terms, |i, value| {
                (columns[next[i]], values[next[i]]) = (d as u32, value);
                next[i] += 1;
            });
        }
        Ok(Sparse::new(terms.len(), self.documents.len(), starts, columns, values)?.into())
    }

    /// Some rows of the result, in parallel. `by_term` has a row for each term from `first` on.
    pub(super) fn rows(
        &self,
        by_term: &Matrix,
        first: usize,
        terms: Range<usize>,
    ) -> Vec<SparseRow> {
        terms
            .into_par_iter()
            .map_init(
                || vec![0.0; self.width()],
                |sums, i| self.row(by_term.row(i - first), i, sums),
            )
            .collect()
    }

    /// Row i of the result, from the documents that have the term: block by block, and blocks in
    /// the order of a binary counter. `sums` has the width of the result, is zero before and after.
    fn row(&self, entries: Row<'_>, i: usize, sums: &mut [f64]) -> SparseRow {
        let coming = match entries.entries() {
            Entries::Sparse(columns, _) => columns,
            Entries::Dense(_) => &[],
        };
        if entries.stored() == 0 {
            return SparseRow::default();
        }
        let walk = entries.nonzeros().enumerate().inspect(|(k, _)| self.fetch(coming, *k));
        let mut entries = walk.map(|(_, entry)| entry).peekable();
        let blocks = self.documents.len().div_ceil(self.block).max(1);
        add_blocks(
            (1..=blocks).map(|block| {
                let end = block * self.block;
                let some = std::iter::from_fn(|| entries.next_if(|(d, _)| *d < end));
                self.block(some, i, sums);
                drain(sums)
            }),
            add_rows,
        )
        .unwrap_or_default()
    }

    /// Documents are visited out of order: asks for those to come, given where the walk stands.
    fn fetch(&self, coming: &[u32], k: usize) {
        const LINE: usize = 64;
        if let Some(&d) = coming.get(k + 2 * AHEAD) {
            prefetch(&self.documents, d as usize);
            prefetch(&self.factors, d as usize);
        }
        if let Some(&d) = coming.get(k + AHEAD)
            && let Entries::Sparse(columns, values) = self.documents[d as usize].entries()
        {
            (0..columns.len()).step_by(LINE / 4).for_each(|at| prefetch(columns, at));
            (0..values.len()).step_by(LINE / 8).for_each(|at| prefetch(values, at));
        }
    }

    /// `sums += ` what the documents of one block say about term i.
    fn block(&self, entries: impl Iterator<Item = (usize, f64)>, i: usize, sums: &mut [f64]) {
        let (mut own, mut itself) = (0.0, 0.0);
        for (d, h) in entries.filter(|e| self.factors[e.0] > 0.0) {
            let (document, factor) = (self.documents[d], self.factors[d]);
            match self.buckets {
                None => document.add_to(h * factor, sums),
                Some(buckets) => {
                    for (j, value) in document.nonzeros() {
                        sums[buckets.of[j] as usize] += h * factor * value;
                    }
                    itself += h.min(h * h) * factor;
                }
            }
            own += (h * (h - 1.0)).max(0.0) * factor;
        }
        if self.kind == PairKind::Gram {
            return;
        }
        // A token does not stand beside itself: h_i (h_i - 1) where the loop added h_i^2.
        match self.buckets {
            None => sums[i] = own,
            Some(buckets) => {
                let sum = &mut sums[buckets.of[i] as usize];
                *sum = (*sum - itself).max(0.0);
            }
        }
    }
}

/// Calls `take` with (place in the range, value) of every nonzero of the row within the range.
fn within(row: Row<'_>, range: &Range<usize>, mut take: impl FnMut(usize, f64)) {
    let (first, columns, values) = match row.entries() {
        Entries::Dense(values) => (0, None, &values[range.clone()]),
        Entries::Sparse(columns, values) => {
            let from = columns.partition_point(|c| (*c as usize) < range.start);
            let to = from + columns[from..].partition_point(|c| (*c as usize) < range.end);
            (range.start, Some(&columns[from..to]), &values[from..to])
        }
    };
    for (k, value) in values.iter().enumerate().filter(|(_, value)| **value != 0.0) {
        take(columns.map_or(k, |columns| columns[k] as usize - first), *value);
    }
}

/// What is not zero, and zeros again.
fn drain(sums: &mut [f64]) -> SparseRow {
    let stored = sums.iter().filter(|v| **v != 0.0).count();
    let (mut columns, mut values) = (Vec::with_capacity(stored), Vec::with_capacity(stored));
    for (j, sum) in sums.iter_mut().enumerate() {
        if *sum != 0.0 {
            columns.push(j as u32);
            values.push(*sum);
            *sum = 0.0;
        }
    }
    (columns, values)
}

/// The sum of two rows.
fn add_rows(a: SparseRow, b: SparseRow) -> SparseRow {
    if a.0.is_empty() || b.0.is_empty() {
        return if a.0.is_empty() { b } else { a };
    }
    let (mut columns, mut values) =
        (Vec::with_capacity(a.0.len() + b.0.len()), Vec::with_capacity(a.0.len() + b.0.len()));
    let (mut left, mut right) = (0, 0);
    while left < a.0.len() || right < b.0.len() {
        let (l, r) = (a.0.get(left), b.0.get(right));
        let take_left = r.is_none_or(|r| l.is_some_and(|l| l <= r));
        let take_right = l.is_none_or(|l| r.is_some_and(|r| r <= l));
        columns.push(if take_left { a.0[left] } else { b.0[right] });
        values.push(match (take_left, take_right) {
            (true, true) => a.1[left] + b.1[right],
            (true, false) => a.1[left],
            _ => b.1[right],
        });
        left += usize::from(take_left);
        right += usize::from(take_right);
    }
    (columns, values)
}

/// Adds things up in the order of a binary counter: two neighbours that are sums of as many are
/// added as soon as they are there, and what is left in the end from the last to the first. The
/// order depends on their number alone. At most log2 of them are held at a time.
pub fn add_blocks<T>(blocks: impl Iterator<Item = T>, add: impl Fn(T, T) -> T) -> Option<T> {
    let mut held: Vec<(u32, T)> = Vec::new();
    for block in blocks {
        let mut sum = (0, block);
        while let Some((level, before)) = held.pop_if(|(level, _)| *level == sum.0) {
            sum = (level + 1, add(before, sum.1));
        }
        held.push(sum);
    }
    let mut total = held.pop()?.1;
    while let Some((_, before)) = held.pop() {
        total = add(before, total);
    }
    Some(total)
}

/// One matrix from its rows, giving each row's memory back as it goes.
pub(super) fn collect(rows: Vec<SparseRow>, width: usize, dense: bool) -> Result<Matrix, Error> {
    let count = rows.len();
    if dense {
        let mut out = Dense::zeros(count, width);
        rows.into_iter().enumerate().for_each(|(i, row)| write(&[row], i, &mut out));
        return Ok(out.into());
    }
    let mut starts = vec![0];
    starts.extend(rows.iter().scan(0, |end, row| {
        *end += row.0.len();
        Some(*end)
    }));
    let pairs = starts[count];
    let (mut columns, mut values) = (vec![0u32; pairs], vec![0.0; pairs]);
    // In parallel: most of the time goes into memory that is touched for the first time.
    let mut places = Vec::with_capacity(count);
    let (mut free_columns, mut free_values) = (&mut columns[..], &mut values[..]);
    for row in rows {
        let (some_columns, some_values);
        (some_columns, free_columns) = free_columns.split_at_mut(row.0.len());
        (some_values, free_values) = free_values.split_at_mut(row.0.len());
        places.push((row, some_columns, some_values));
    }
    places.into_par_iter().for_each(|(row, columns, values)| {
        columns.copy_from_slice(&row.0);
        values.copy_from_slice(&row.1);
    });
    Ok(Sparse::new(count, width, starts, columns, values)?.into())
}

/// Writes rows into a matrix of zeros, from row `first` on.
fn write(rows: &[SparseRow], first: usize, out: &mut Dense) {
    for (i, (columns, values)) in rows.iter().enumerate() {
        let target = out.row_mut(first + i);
        columns.iter().zip(values).for_each(|(j, v)| target[*j as usize] = *v);
    }
}

/// Rows `D_R^T D` of the Gram matrix of a dense block of documents x features, in matrix products of
/// [`DENSE_TILE`] rows: as long as the range begins at a multiple of it, the bytes do not depend on
/// the range. `2 |R| f n` flops.
pub fn dense_gram(documents: &Dense, features: Range<usize>) -> Dense {
    let x = documents.transpose();
    let (f, n) = (x.rows(), x.cols());
    let mut out = Dense::zeros(features.len(), f);
    let tiles = out.values_mut().chunks_mut(DENSE_TILE * f.max(1));
    for (tile, out) in features.step_by(DENSE_TILE).zip(tiles) {
        let rows = out.len() / f.max(1);
        let some = &x.values()[tile * n..(tile + rows) * n];
        kernels::gemm(rows, n, f, 1.0, some, x.values(), true, 0.0, out);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::{Family, Recipe};
    use crate::text::cooccurrence;

    fn counts() -> Matrix {
        Recipe::new(Family::Multinomial, 3).size(300, 90).tokens(25).generate().unwrap().matrix
    }

    /// Documents x words in pieces of 1, 2, 3, ... documents.
    fn pieces(counts: &Matrix) -> Vec<Matrix> {
        let documents = counts.transpose();
        let (mut pieces, mut first) = (Vec::new(), 0);
        while first < documents.rows() {
            let end = (first + pieces.len() + 1).min(documents.rows());
            pieces.push(documents.select_rows(&(first..end).collect::<Vec<_>>()));
            first = end;
        }
        pieces
    }

    fn rows(matrix: &Matrix) -> Vec<Vec<(usize, f64)>> {
        (0..matrix.rows()).map(|i| matrix.row(i).nonzeros().collect()).collect()
    }

    /// Rows computed apart, from documents in pieces and in blocks, are the bytes of the whole.
    #[test]
    fn no_division_of_the_work_changes_a_bit() {
        let counts = counts();
        let (whole, pieces) = (rows(&cooccurrence(&counts).unwrap()), pieces(&counts));
        let sums = PairSums::new(&pieces, PairKind::Cooccurrence);
        for cuts in [vec![0, 300], vec![0, 7, 150, 150, 299, 300]] {
            let apart: Vec<_> = cuts
                .windows(2)
                .flat_map(|cut| rows(&sums.matrix(cut[0]..cut[1]).unwrap()))
                .collect();
            assert_eq!(apart, whole);
        }
        // Blocks of 16 documents: together, and each alone and added by whoever has them.
        let documents = [counts.transpose()];
        let together = PairSums { block: 16, ..PairSums::new(&documents, PairKind::Cooccurrence) };
        let blocks: Vec<Matrix> = (0..90_usize)
            .step_by(16)
            .map(|d| documents[0].select_rows(&(d..(d + 16).min(90)).collect::<Vec<_>>()))
            .collect();
        let alone: Vec<Dense> = blocks
            .iter()
            .map(|block| {
                let block = std::slice::from_ref(block);
                let sums = PairSums::new(block, PairKind::Cooccurrence).matrix(0..300).unwrap();
                let all: Vec<_> = (0..300)
                    .map(|i| sums.row(i).nonzeros().map(|(j, v)| (j as u32, v)).unzip())
                    .collect();
                let mut out = Dense::zeros(300, 300);
                write(&all, 0, &mut out);
                out
            })
            .collect();
        let added = add_blocks(alone.into_iter(), |mut a, b| {
            a.values_mut().iter_mut().zip(b.values()).for_each(|(a, b)| *a += b);
            a
        })
        .unwrap();
        let blocked = rows(&together.matrix(0..300).unwrap());
        assert_eq!(rows(&added.into()), blocked);
        assert_ne!(blocked, whole, "blocks are added in another order than documents");
        for (a, b) in blocked.iter().flatten().zip(whole.iter().flatten()) {
            assert!(a.0 == b.0 && (a.1 - b.1).abs() <= 1e-14 * b.1.abs());
        }
    }

    #[test]
    fn merged_columns_are_sums_of_columns() {
        let (counts, buckets) = (counts(), Buckets::random(300, 12, 5));
        let documents = [counts.transpose()];
        for kind in [PairKind::Cooccurrence, PairKind::Gram] {
            let all = PairSums::new(&documents, kind).matrix(0..300).unwrap();
            let merged = PairSums::new(&documents, kind).with_buckets(&buckets);
            assert_eq!(merged.width(), 12);
            let merged = merged.matrix(0..300).unwrap();
            for i in 0..300 {
                let mut expected = vec![0.0; 12];
                all.row(i).nonzeros().for_each(|(j, v)| expected[buckets.of[j] as usize] += v);
                let mut found = vec![0.0; 12];
                merged.row(i).add_to(1.0, &mut found);
                for (a, b) in found.iter().zip(&expected) {
                    assert!((a - b).abs() <= 1e-13 * b.abs(), "{a} {b}");
                }
            }
        }
        let sizes = (0..12).map(|k| buckets.of.iter().filter(|b| **b == k).count());
        assert!(sizes.into_iter().all(|size| size == 25));
    }

    /// Dense and sparse Gram matrices agree, and tiles make no difference.
    #[test]
    fn gram_matrices_are_products() {
        let instance = Recipe::new(Family::Paper, 4).size(600, 50).generate().unwrap();
        let documents = instance.matrix.transpose();
        let Matrix::Dense(dense) = &documents else { panic!("the family is dense") };
        let whole = dense_gram(dense, 0..600);
        let apart: Vec<f64> =
            [0..256, 256..512, 512..600].map(|r| dense_gram(dense, r).into_values()).concat();
        assert_eq!(whole.values(), apart);
        let pieces = [documents.clone()];
        let same = PairSums::new(&pieces, PairKind::Gram).matrix(0..600).unwrap();
        assert!(matches!(same, Matrix::Dense(_)));
        for i in 0..600 {
            let row = instance.matrix.row(i);
            let mut x = vec![0.0; 50];
            row.add_to(1.0, &mut x);
            for j in [0, 300, 599] {
                let expected = instance.matrix.row(j).dot(&x);
                assert!((whole.row(i)[j] - expected).abs() <= 1e-12 * expected);
            }
            assert!(same.row(i).l1_distance(Row::dense(whole.row(i))) < 1e-9);
        }
    }

    #[test]
    fn the_order_of_a_binary_counter() {
        let order = |n: usize| {
            let names = (0..n).map(|k| k.to_string());
            add_blocks(names, |a, b| format!("({a}{b})")).unwrap_or_default()
        };
        assert_eq!(order(0), "");
        assert_eq!(order(3), "((01)2)");
        assert_eq!(order(7), "(((01)(23))((45)6))");
    }
}
