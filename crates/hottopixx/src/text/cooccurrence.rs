//! Words x words co-occurrence, the unbiased estimate.
//!
//! For a document with counts h and length `L = sum h`, two of its tokens drawn without putting the
//! first back are the words (i, j) with probability
//!
//! ```text
//! (h h^T - diag h)_ij / (L (L - 1)),
//! ```
//!
//! so that the sum Q over documents estimates, up to a factor, the joint distribution of two tokens
//! of one document without the bias that counting a token against itself would bring. Row i of Q,
//! scaled to unit sum, is the distribution of the words beside word i.

use super::pairs::{PairKind, PairSums, SparseRow, add_rows, collect, write};
use crate::Error;
use crate::control::Control;
use crate::matrix::{Dense, Matrix, Shape};

/// The largest number of co-occurring pairs that is stored: about 6 GiB.
pub const MAX_COOCCURRENCES: usize = 1 << 29;

/// Above this share of nonzero pairs the result is dense.
pub const DENSE_ABOVE: f64 = 0.3;

/// Words handled between two looks at the number of pairs.
const BLOCK: usize = 512;

/// Q, f x f, from counts words x documents.
///
/// Documents of fewer than two tokens say nothing and are skipped. Counts need not be whole
/// numbers: the formula is taken as it stands, except that `h_i (h_i - 1)`, negative for weights
/// below one, is then 0. A word that never occurs beside another token has a row of zeros.
///
/// O(sum over documents of nonzeros squared), in parallel over words and in the order of documents
/// that [`pairs`](super::pairs) tells: the result does not depend on the number of threads.
///
/// # Errors
/// As [`Matrix::check_nonnegative`]; [`Error::Setting`] when more than [`MAX_COOCCURRENCES`] pairs
/// occur.
pub fn cooccurrence(counts: &Matrix) -> Result<Matrix, Error> {
    cooccurrence_controlled(counts, &Control::default())
}

/// As [`cooccurrence`], asking `control` after every few million products.
///
/// # Errors
/// Also [`Error::NoAnswer`] when it was stopped: half a matrix is none.
pub fn cooccurrence_controlled(counts: &Matrix, control: &Control) -> Result<Matrix, Error> {
    cooccurrence_within(counts, u64::MAX, control)
}

/// Bytes that a pair of words takes while the matrix is put together: its place in a row and in the whole,
/// which grows by doubling.
const PAIR: u64 = 36;

/// Bytes that [`cooccurrence_within`] takes for f words beside the counts, with this many pairs.
pub fn cooccurrence_bytes(counts: Shape, pairs: u64) -> u64 {
    let transposed = Shape { rows: counts.cols, ..counts }.bytes();
    let threads = rayon::current_num_threads() as u64;
    let rows = (64 + 8 * threads).saturating_mul(counts.f()) + 48 * counts.n();
    let all = pairs.min(counts.f().saturating_mul(counts.f()));
    transposed.saturating_add(rows).saturating_add(all.saturating_mul(PAIR))
}

/// As [`cooccurrence_controlled`], taking at most about this many bytes beside the counts.
///
/// # Errors
/// Also [`Error::Setting`] when there are more pairs than these bytes hold, as soon as they are found.
pub fn cooccurrence_within(
    counts: &Matrix,
    bytes: u64,
    control: &Control,
) -> Result<Matrix, Error> {
    counts.check_nonnegative()?;
    let left = bytes.saturating_sub(cooccurrence_bytes(counts.into(), 0));
    let most = usize::try_from(left / PAIR).unwrap_or(usize::MAX).min(MAX_COOCCURRENCES);
    let f = counts.rows();
    let documents = [counts.transpose()];
    let sums = PairSums::new(&documents, PairKind::Cooccurrence);
    // Rows as they come, until they are too many for a sparse matrix: then they go to a dense one at once.
    let (mut rows, mut dense): (Vec<SparseRow>, Option<Dense>) = (Vec::with_capacity(f), None);
    let mut pairs = 0;
    for block in (0..f).step_by(BLOCK) {
        let done = sums.rows_controlled(counts, 0, block..(block + BLOCK).min(f), control)?;
        pairs += done.iter().map(|r| r.0.len()).sum::<usize>();
        if pairs > most {
            let (name, value) = ("cooccurrence", format!("more than {most} pairs of words"));
            let remedy = match most {
                MAX_COOCCURRENCES => "",
                _ => "allow more memory, or ",
            };
            let remedy =
                format!("{remedy}drop rare words first (a larger minimum document frequency)");
            return Err(Error::Setting { name, value, remedy });
        }
        match &mut dense {
            Some(dense) => write(&done, block, dense),
            None => rows.extend(done),
        }
        if dense.is_none() && pairs as f64 > DENSE_ABOVE * (f as f64) * (f as f64) {
            let mut out = Dense::zeros(f, f);
            let rows = std::mem::take(&mut rows).into_iter().enumerate();
            rows.for_each(|(i, row)| write(&[row], i, &mut out));
            dense = Some(out);
        }
    }
    dense.map_or_else(|| collect(rows, f, false), |dense| Ok(dense.into()))
}

/// The co-occurrence of more documents added to that of earlier ones, entry (a, b) to entry (`places[a]`, `places[b]`):
/// Q is a sum over documents. `places` are increasing; both matrices are square. The sum of documents in two parts is that
/// of all of them up to rounding, since lengths are those of the same words. O(entries of both).
///
/// # Errors
/// [`Error::Length`] where places and matrices do not fit each other.
pub fn add_cooccurrence(sums: Matrix, more: &Matrix, places: &[usize]) -> Result<Matrix, Error> {
    let f = sums.rows();
    let length = |name, found, expected, what| Error::Length { name, found, expected, what };
    if sums.cols() != f {
        return Err(length("a row of the co-occurrence", sums.cols(), f, "words"));
    }
    if (more.rows(), more.cols()) != (places.len(), places.len()) {
        return Err(length("places", places.len(), more.rows(), "words of the new documents"));
    }
    if places.last().is_some_and(|&last| last >= f) || !places.is_sorted_by(|a, b| a < b) {
        return Err(length("places", places.len(), f, "words, in increasing order"));
    }
    match sums {
        Matrix::Dense(mut dense) => {
            for (a, &i) in places.iter().enumerate() {
                let row = dense.row_mut(i);
                more.row(a).nonzeros().for_each(|(b, value)| row[places[b]] += value);
            }
            Ok(dense.into())
        }
        Matrix::Sparse(sparse) => {
            let mut rows: Vec<SparseRow> = Vec::with_capacity(f);
            let mut next = places.iter().enumerate().peekable();
            for i in 0..f {
                let (columns, values) = sparse.row(i);
                let before = (columns.to_vec(), values.to_vec());
                rows.push(match next.next_if(|(_, place)| **place == i) {
                    Some((a, _)) => {
                        let moved = more.row(a).nonzeros().map(|(b, v)| (places[b] as u32, v));
                        add_rows(before, moved.unzip())
                    }
                    None => before,
                });
            }
            let pairs: usize = rows.iter().map(|row| row.0.len()).sum();
            collect(rows, f, pairs as f64 > DENSE_ABOVE * (f as f64) * (f as f64))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Dense;
    use crate::synth::{Family, Recipe};
    use std::iter::repeat_n;

    fn entry(q: &Matrix, i: usize, j: usize) -> f64 {
        q.row(i).nonzeros().find(|e| e.0 == j).map_or(0.0, |e| e.1)
    }

    #[test]
    fn equals_the_frequency_of_ordered_pairs_of_tokens() {
        // Brute force: list the tokens of each document and walk all ordered pairs of them.
        let counts = [[3.0, 0.0, 1.0, 0.0], [1.0, 2.0, 0.0, 0.0], [0.0, 1.0, 0.0, 5.0]];
        let mut expect = [[0.0; 3]; 3];
        for column in (0..4).map(|d| counts.map(|row| row[d])) {
            let tokens: Vec<usize> = (0..3).flat_map(|w| repeat_n(w, column[w] as usize)).collect();
            let pairs = tokens.len() * tokens.len().saturating_sub(1);
            for (a, &i) in tokens.iter().enumerate() {
                for (b, &j) in tokens.iter().enumerate() {
                    if a != b {
                        expect[i][j] += 1.0 / pairs as f64;
                    }
                }
            }
        }
        let q = cooccurrence(&Dense::from_rows(&counts).unwrap().into()).unwrap();
        for (i, row) in expect.iter().enumerate() {
            for (j, value) in row.iter().enumerate() {
                assert!((entry(&q, i, j) - value).abs() < 1e-14, "({i}, {j})");
            }
        }
    }

    #[test]
    fn sums_to_the_number_of_documents_and_is_symmetric() {
        let recipe = Recipe::new(Family::Multinomial, 3).size(700, 80).tokens(20);
        let counts = recipe.generate().unwrap().matrix;
        let q = cooccurrence(&counts).unwrap();
        assert!(matches!(q, Matrix::Sparse(_)));
        let total: f64 = (0..700).map(|i| q.row(i).sum()).sum();
        assert!((total - 80.0).abs() < 1e-9, "{total}");
        let transposed = q.transpose();
        for i in 0..700 {
            assert!(q.row(i).l1_distance(transposed.row(i)) < 1e-12);
        }
        let Matrix::Sparse(sparse) = &counts else { panic!("counts are sparse") };
        let mut dense = Dense::zeros(700, 80);
        for i in 0..700 {
            let (columns, values) = sparse.row(i);
            for (j, v) in columns.iter().zip(values) {
                dense.row_mut(i)[*j as usize] = *v;
            }
        }
        let same = cooccurrence(&dense.into()).unwrap();
        assert!((0..700).all(|i| q.row(i).l1_distance(same.row(i)) < 1e-12));
    }

    #[test]
    fn documents_can_be_added() {
        // Words 0, 2, 3 and 4 of five; the later documents have words 2 and 4 only, and as many as make it dense.
        let first = [[2.0, 0.0], [0.0, 0.0], [1.0, 3.0], [0.0, 1.0], [1.0, 1.0]];
        let later = [[2.0, 0.0, 1.0], [4.0, 1.0, 1.0]];
        let all: Vec<Vec<f64>> = (0..5)
            .map(|i| {
                let more = [2, 4].iter().position(|w| *w == i).map_or([0.0; 3], |a| later[a]);
                [&first[i][..], &more].concat()
            })
            .collect();
        let of = |rows: Dense| cooccurrence(&rows.into()).unwrap();
        let (expected, more) =
            (of(Dense::from_rows(&all).unwrap()), of(Dense::from_rows(&later).unwrap()));
        let dense = of(Dense::from_rows(&first).unwrap());
        let mut triplets = Vec::new();
        (0..5).for_each(|i| triplets.extend(dense.row(i).nonzeros().map(|(j, v)| (i, j, v))));
        let sparse = Matrix::from(crate::matrix::Sparse::from_triplets(5, 5, &triplets).unwrap());
        for before in [dense, sparse] {
            let sum = add_cooccurrence(before.clone(), &more, &[2, 4]).unwrap();
            assert!((0..5).all(|i| sum.row(i).l1_distance(expected.row(i)) < 1e-14));
            for wrong in [&[2][..], &[4, 2], &[2, 5]] {
                assert!(add_cooccurrence(before.clone(), &more, wrong).is_err(), "{wrong:?}");
            }
        }
    }

    #[test]
    fn stops_when_it_is_told_to() {
        let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
        let counts = Recipe::new(Family::Multinomial, 3).size(700, 3000).tokens(80);
        let counts = counts.generate().unwrap().matrix;
        let stopped = cooccurrence_controlled(&counts, &Control::default().with_stop_flag(flag));
        assert_eq!(stopped, Err(Error::NoAnswer(crate::control::Stop::Interrupted)));
    }

    #[test]
    fn short_documents_and_small_weights_do_no_harm() {
        // Document 0 has one token; word 1 has weight one half in document 1, of length 2.5.
        let counts = Dense::from_rows(&[[1.0, 2.0], [0.0, 0.5]]).unwrap().into();
        let q = cooccurrence(&counts).unwrap();
        let factor = 1.0 / (2.5 * 1.5);
        assert!((entry(&q, 0, 0) - 2.0 * factor).abs() < 1e-15);
        assert!((entry(&q, 0, 1) - factor).abs() < 1e-15);
        assert_eq!(entry(&q, 1, 1), 0.0);
        let alone = Dense::from_rows(&[[1.0, 0.0], [0.0, 1.0]]).unwrap().into();
        assert_eq!(cooccurrence(&alone).unwrap().nonzeros(), 0);
    }
}
