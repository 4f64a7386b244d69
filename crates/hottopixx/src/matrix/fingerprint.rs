//! Telling matrices apart by a number.

use super::{Entries, Matrix};
use crate::kernels::parallel::*;

/// A number that differs, as good as surely, for different matrices or settings. O(nonzeros),
/// parallel over rows; does not depend on the number of threads.
pub(crate) fn fingerprint(matrix: &Matrix, settings: &str) -> u64 {
    let row = |i: usize| {
        let hash = Hash::default();
        match matrix.row(i).entries() {
            Entries::Dense(values) => hash.words(values.iter().map(|v| v.to_bits())),
            Entries::Sparse(columns, values) => hash
                .words(columns.iter().map(|&k| u64::from(k)))
                .words(values.iter().map(|v| v.to_bits())),
        }
        .0
    };
    let rows: Vec<u64> = (0..matrix.rows()).into_par_iter().map(row).collect();
    let shape = [matrix.rows() as u64, matrix.cols() as u64];
    Hash::default().words(shape).words(rows).words(settings.bytes().map(u64::from)).0
}

/// Multiply and rotate, a word at a time (the hash of Firefox and rustc): fast, and nobody is
/// trying to deceive it.
#[derive(Default)]
struct Hash(u64);

impl Hash {
    fn words(mut self, words: impl IntoIterator<Item = u64>) -> Self {
        for word in words {
            self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Dense;

    #[test]
    fn fingerprints_tell_matrices_and_settings_apart() {
        let with = |v: f64| Matrix::from(Dense::from_rows(&[[1.0, 2.0], [3.0, v]]).unwrap());
        let first = fingerprint(&with(4.0), "rank 2");
        assert_eq!(first, fingerprint(&with(4.0), "rank 2"));
        assert_ne!(first, fingerprint(&with(4.5), "rank 2"));
        assert_ne!(first, fingerprint(&with(4.0), "rank 3"));
        assert_ne!(first, fingerprint(&with(4.0).transpose(), "rank 2"));
    }
}
