//! What one pass over the entries of a matrix tells: sums and counts by row, and the first bad entry.
//!
//! Checking, scaling rows to unit sum, counting and document frequencies all rest on these numbers.
//! They are found in one pass, when they are first asked for, and kept with the matrix until its
//! entries change: a matrix from a mapped file is read once, not once for each of them.

use super::{Entries, Matrix};
use crate::Error;
use crate::kernels::parallel::*;
use std::sync::{Arc, OnceLock};

/// Sums and counts of the rows of a matrix, and the first entry that is negative or not finite.
#[derive(Debug, Clone)]
pub struct Scan {
    sums: Vec<f64>,
    nonzeros: Vec<usize>,
    fault: Option<Error>,
}

impl Scan {
    /// One pass, in parallel over rows; each row is added up in order of column. O(entries stored).
    pub(super) fn new(matrix: &Matrix) -> Self {
        let rows: Vec<(f64, usize, bool)> = (0..matrix.rows())
            .into_par_iter()
            .map(|i| {
                let (Entries::Dense(values) | Entries::Sparse(_, values)) = matrix.row(i).entries();
                facts(values)
            })
            .collect();
        let first = rows.iter().position(|(_, _, good)| !good);
        Scan {
            sums: rows.iter().map(|row| row.0).collect(),
            nonzeros: rows.iter().map(|row| row.1).collect(),
            fault: first.map(|row| first_fault(matrix, row)),
        }
    }

    /// The sum of each row.
    pub fn sums(&self) -> &[f64] {
        &self.sums
    }

    /// The number of entries of each row that are not zero: of counts, the document frequencies.
    pub fn nonzeros(&self) -> &[usize] {
        &self.nonzeros
    }

    /// [`Error::Negative`] or [`Error::NotFinite`] for the first bad entry, if there is one.
    pub fn fault(&self) -> Option<&Error> {
        self.fault.as_ref()
    }

    /// The scan of the given rows, in the given order; `None` where a bad entry has to be found anew.
    fn select(&self, rows: &[usize]) -> Option<Scan> {
        self.fault.is_none().then(|| Scan {
            sums: rows.iter().map(|&i| self.sums[i]).collect(),
            nonzeros: rows.iter().map(|&i| self.nonzeros[i]).collect(),
            fault: None,
        })
    }
}

/// Sum, number of entries that are not zero, and whether all are finite and none is negative. The
/// additions wait for each other, so that the rest costs no time.
fn facts(values: &[f64]) -> (f64, usize, bool) {
    let (mut sum, mut nonzeros, mut good) = (0.0, 0, true);
    for &v in values {
        sum += v;
        nonzeros += usize::from(v != 0.0);
        good &= is_good(v);
    }
    (sum, nonzeros, good)
}

fn is_good(v: f64) -> bool {
    (0.0..f64::INFINITY).contains(&v)
}

/// The first bad entry of a row that has one.
fn first_fault(matrix: &Matrix, row: usize) -> Error {
    let (columns, values): (&[u32], &[f64]) = match matrix.row(row).entries() {
        Entries::Dense(values) => (&[], values),
        Entries::Sparse(columns, values) => (columns, values),
    };
    let k = values.iter().position(|v| !is_good(*v)).expect("a row with a bad entry");
    let (col, value) = (columns.get(k).map_or(k, |&column| column as usize), values[k]);
    if value.is_finite() {
        Error::Negative { row, col, value }
    } else {
        Error::NotFinite { row, col, value }
    }
}

/// A matrix's own scan, once there is one. It says nothing that the entries do not say.
#[derive(Debug, Clone, Default)]
pub(super) struct KeptScan(OnceLock<Arc<Scan>>);

impl KeptScan {
    /// The scan that is kept, or the one that `make` then makes.
    pub fn get(&self, make: impl FnOnce() -> Scan) -> &Scan {
        self.0.get_or_init(|| Arc::new(make()))
    }

    /// Forgets the scan: the entries are about to change.
    pub fn forget(&mut self) {
        self.0.take();
    }

    /// What is known of the given rows, for a matrix made of them.
    pub fn select(&self, rows: &[usize]) -> KeptScan {
        let known = self.0.get().and_then(|scan| scan.select(rows));
        KeptScan(known.map(Arc::new).map_or_else(OnceLock::new, OnceLock::from))
    }
}

impl PartialEq for KeptScan {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use crate::Error;
    use crate::matrix::{Dense, Matrix, Sparse};

    fn both(rows: &[[f64; 3]]) -> [Matrix; 2] {
        let stored = |i: usize| (0..3).map(move |k| (i, k, rows[i][k]));
        let triplets: Vec<_> =
            (0..rows.len()).flat_map(stored).filter(|entry| entry.2 != 0.0).collect();
        [
            Dense::from_rows(rows).unwrap().into(),
            Sparse::from_triplets(rows.len(), 3, &triplets).unwrap().into(),
        ]
    }

    #[test]
    fn sums_counts_and_the_first_bad_entry() {
        for matrix in both(&[[1.0, 0.0, 2.5], [0.0, 0.0, 0.0], [0.25, 0.5, 4.0]]) {
            let scan = matrix.scan();
            assert_eq!((scan.sums(), scan.nonzeros()), (&[3.5, 0.0, 4.75][..], &[2, 0, 3][..]));
            assert!(scan.fault().is_none() && matrix.nonzeros() == 5);
        }
        let infinite = |row, col| Error::NotFinite { row, col, value: f64::INFINITY };
        let below = |row, col| Error::Negative { row, col, value: -1.0 };
        for (rows, fault) in [
            ([[1.0, 0.0, -1.0], [f64::INFINITY, 0.0, 0.0]], below(0, 2)),
            ([[1.0, 0.0, 0.0], [0.0, f64::INFINITY, -1.0]], infinite(1, 1)),
        ] {
            for matrix in both(&rows) {
                assert_eq!(matrix.check_nonnegative(), Err(fault.clone()));
            }
        }
    }

    #[test]
    fn entries_that_change_are_scanned_again() {
        for matrix in both(&[[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]) {
            let sums = |matrix: &Matrix| matrix.scan().sums().to_vec();
            assert_eq!(sums(&matrix), [3.0, 3.0]);
            assert_eq!(sums(&matrix.select_rows(&[1, 0, 1])), [3.0, 3.0, 3.0]);
            assert_eq!(matrix.select_rows(&[1]).nonzeros(), 1);
            let mut scaled = matrix.clone();
            scaled.scale_rows(&[2.0, 0.0]);
            assert_eq!((sums(&scaled), scaled.nonzeros()), (vec![6.0, 0.0], 2));
            let mut changed = matrix.clone();
            let values = match &mut changed {
                Matrix::Dense(m) => m.values_mut(),
                Matrix::Sparse(m) => m.values_mut(),
            };
            values[0] = -1.0;
            assert_eq!(
                changed.check_nonnegative(),
                Err(Error::Negative { row: 0, col: 0, value: -1.0 })
            );
            // A row of the bad matrix is judged by its own entries.
            assert!(changed.select_rows(&[1]).check_nonnegative().is_ok());
            assert_eq!(sums(&matrix), [3.0, 3.0]);
            if let Matrix::Dense(mut dense) = matrix {
                dense.row_mut(1)[0] = 4.0;
                assert_eq!(sums(&dense.into()), [3.0, 7.0]);
            }
        }
    }
}
