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

mod gram;
mod rows;

pub use gram::{DENSE_TILE, dense_gram};
pub use rows::{SparseRow, add_blocks};
pub(super) use rows::{add_rows, collect, write};

use crate::Error;
use crate::control::{Control, Stop, Watch};
use crate::kernels::parallel::*;
use crate::kernels::prefetch;
use crate::matrix::{Dense, Entries, Matrix, Row, Sparse};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rows::drain;
use std::ops::Range;

/// Documents whose sum is formed one after the other; blocks of them are added two by two.
pub const BLOCK_DOCUMENTS: usize = 1 << 20;

/// Rows of [`PairSums::matrix`] that are under way at a time.
pub const STEP: usize = 256;

/// Documents that are asked for before they are needed.
const AHEAD: usize = 4;

/// What is summed over the documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairKind {
    /// `(h h^T - diag h) / (L (L - 1))`, documents of fewer than two tokens skipped.
    Cooccurrence,
    /// `h h^T`.
    Gram,
}

impl PairKind {
    fn name(self) -> &'static str {
        match self {
            PairKind::Cooccurrence => "cooccurrence",
            PairKind::Gram => "gram",
        }
    }
}

impl std::str::FromStr for PairKind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let all = [PairKind::Cooccurrence, PairKind::Gram];
        crate::error::one_of("matrix", name, all, PairKind::name)
    }
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
        let rows = self.rows_controlled(by_term, first, terms, &Control::default());
        rows.expect("nothing stops it")
    }

    /// The same, until `control` says stop.
    ///
    /// # Errors
    /// [`Error::NoAnswer`] then.
    pub(super) fn rows_controlled(
        &self,
        by_term: &Matrix,
        first: usize,
        terms: Range<usize>,
        control: &Control,
    ) -> Result<Vec<SparseRow>, Error> {
        let rows: Option<Vec<SparseRow>> = terms
            .into_par_iter()
            .map_init(
                || (vec![0.0; self.width()], control.watch()),
                |(sums, watch), i| match control.goes_on() {
                    true => self.row(by_term.row(i - first), i, sums, watch),
                    false => None,
                },
            )
            .collect();
        rows.ok_or_else(|| Error::NoAnswer(control.cut_short().unwrap_or(Stop::Interrupted)))
    }

    /// Row i of the result, from the documents that have the term: block by block, and blocks in
    /// the order of a binary counter. `sums` has the width of the result, is zero before and after.
    /// `None` when it was stopped.
    fn row(
        &self,
        entries: Row<'_>,
        i: usize,
        sums: &mut [f64],
        watch: &mut Watch<'_>,
    ) -> Option<SparseRow> {
        let coming = match entries.entries() {
            Entries::Sparse(columns, _) => columns,
            Entries::Dense(_) => &[],
        };
        if entries.stored() == 0 {
            return Some(SparseRow::default());
        }
        let walk = entries.nonzeros().enumerate().inspect(|(k, _)| self.fetch(coming, *k));
        let mut entries = walk.map(|(_, entry)| entry).peekable();
        let blocks = self.documents.len().div_ceil(self.block).max(1);
        let row = add_blocks(
            (1..=blocks).map(|block| {
                let end = block * self.block;
                let some = std::iter::from_fn(|| entries.next_if(|(d, _)| *d < end));
                self.block(some, i, sums, watch);
                drain(sums)
            }),
            add_rows,
        );
        watch.spend(sums.len()).is_none().then(|| row.unwrap_or_default())
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

    /// `sums += ` what the documents of one block say about term i, as far as `watch` lets it.
    fn block(
        &self,
        entries: impl Iterator<Item = (usize, f64)>,
        i: usize,
        sums: &mut [f64],
        watch: &mut Watch<'_>,
    ) {
        let (mut own, mut itself) = (0.0, 0.0);
        for (d, h) in entries.filter(|e| self.factors[e.0] > 0.0) {
            let (document, factor) = (self.documents[d], self.factors[d]);
            // Documents lie here and there: reaching one costs as much as some products.
            if watch.spend(document.stored() + 8).is_some() {
                break;
            }
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

#[cfg(test)]
mod tests;
