//! Sparse matrices in compressed rows (CSR), with 32-bit column numbers.

use super::Buffer;
use super::scan::KeptScan;
use crate::Error;
use crate::kernels::parallel::*;

/// Numbers that one thread checks at a time.
const PIECE: usize = 1 << 14;

/// A sparse matrix: row i holds `columns[starts[i]..starts[i + 1]]`, increasing, and the values there.
#[derive(Debug, Clone, PartialEq)]
pub struct Sparse {
    rows: usize,
    cols: usize,
    starts: Buffer<usize>,
    columns: Buffer<u32>,
    values: Buffer<f64>,
    pub(super) scan: KeptScan,
}

impl Sparse {
    /// From the three arrays of the CSR format. Columns of a row may come in any order and repeat;
    /// repeated entries are added, as in scipy.
    ///
    /// # Errors
    /// [`Error::Shape`] when the arrays do not fit each other or there are more than 2^32 columns,
    /// [`Error::IndexOutOfRange`] when a column does not exist.
    pub fn new(
        rows: usize,
        cols: usize,
        starts: Vec<usize>,
        columns: Vec<u32>,
        values: Vec<f64>,
    ) -> Result<Self, Error> {
        let matrix = Sparse::checked(rows, cols, starts.into(), columns.into(), values.into())?;
        Ok(if matrix.first_unsorted().is_none() { matrix } else { matrix.sorted_and_merged() })
    }

    /// As [`Sparse::new`], from numbers that may be shared, for rows whose columns increase already:
    /// nothing is copied.
    ///
    /// # Errors
    /// As [`Sparse::new`], and [`Error::Order`] for the first row whose columns do not increase.
    pub fn from_sorted_buffers(
        rows: usize,
        cols: usize,
        starts: Buffer<usize>,
        columns: Buffer<u32>,
        values: Buffer<f64>,
    ) -> Result<Self, Error> {
        let matrix = Sparse::checked(rows, cols, starts, columns, values)?;
        match matrix.first_unsorted() {
            None => Ok(matrix),
            Some(row) => Err(Error::Order { row }),
        }
    }

    /// Checks that the arrays fit each other and that every column exists, on all threads.
    fn checked(
        rows: usize,
        cols: usize,
        starts: Buffer<usize>,
        columns: Buffer<u32>,
        values: Buffer<f64>,
    ) -> Result<Self, Error> {
        let found = values.len();
        let well_formed = starts.len() == rows.saturating_add(1)
            && starts.first() == Some(&0)
            && starts.last() == Some(&found)
            && columns.len() == found
            && (1..starts.len())
                .into_par_iter()
                .with_min_len(PIECE)
                .all(|i| starts[i - 1] <= starts[i])
            && u32::try_from(cols).is_ok();
        if !well_formed {
            return Err(Error::Shape { rows, cols, found });
        }
        let outside = |c: &u32| *c as usize >= cols;
        let pieces = columns.par_chunks(PIECE).enumerate();
        let first = pieces.find_map_first(|(k, piece)| {
            // Without a branch for each column, this goes as fast as memory does.
            if (piece.iter().copied().max().unwrap_or(0) as usize) < cols {
                return None;
            }
            piece.iter().position(outside).map(|at| k * PIECE + at)
        });
        if let Some(k) = first {
            let row = starts.partition_point(|start| *start <= k) - 1;
            return Err(Error::IndexOutOfRange { row, col: columns[k] as usize, rows, cols });
        }
        Ok(Sparse { rows, cols, starts, columns, values, scan: KeptScan::default() })
    }

    /// The first row whose columns do not increase.
    fn first_unsorted(&self) -> Option<usize> {
        let unsorted = |i: usize| (!self.row(i).0.is_sorted_by(|a, b| a < b)).then_some(i);
        (0..self.rows).into_par_iter().with_min_len(256).find_map_first(unsorted)
    }

    /// From (row, column, value) triplets in any order; repeated places are added.
    ///
    /// # Errors
    /// [`Error::IndexOutOfRange`] for the first triplet outside the matrix, [`Error::Shape`] for
    /// more than 2^32 columns.
    pub fn from_triplets(
        rows: usize,
        cols: usize,
        triplets: &[(usize, usize, f64)],
    ) -> Result<Self, Error> {
        if let Some(&(row, col, _)) = triplets.iter().find(|t| t.0 >= rows || t.1 >= cols) {
            return Err(Error::IndexOutOfRange { row, col, rows, cols });
        }
        let mut starts = vec![0usize; rows + 1];
        for t in triplets {
            starts[t.0 + 1] += 1;
        }
        for i in 0..rows {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut columns = vec![0u32; triplets.len()];
        let mut values = vec![0.0; triplets.len()];
        for &(i, j, v) in triplets {
            columns[next[i]] = j as u32;
            values[next[i]] = v;
            next[i] += 1;
        }
        Sparse::new(rows, cols, starts, columns, values)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    pub(super) fn is_foreign(&self) -> bool {
        self.columns.is_foreign() && self.values.is_foreign()
    }

    /// Where each row begins in [`Sparse::columns`] and [`Sparse::values`]; one more than rows.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// Column numbers of all stored entries.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Values of all stored entries.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Values of all stored entries, to change (not their places).
    pub fn values_mut(&mut self) -> &mut [f64] {
        self.scan.forget();
        self.values.make_mut()
    }

    /// The three arrays: starts, columns and values. Copied only where they are shared.
    pub fn into_parts(self) -> (Vec<usize>, Vec<u32>, Vec<f64>) {
        (self.starts.into_vec(), self.columns.into_vec(), self.values.into_vec())
    }

    /// Columns and values of row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let span = self.starts[i]..self.starts[i + 1];
        (&self.columns[span.clone()], &self.values[span])
    }

    /// The transpose by counting sort, O(nonzeros + rows + cols); its rows are sorted.
    /// Panics when the matrix has more than 2^32 rows.
    pub fn transpose(&self) -> Sparse {
        assert!(u32::try_from(self.rows).is_ok(), "more than 2^32 rows");
        let mut starts = vec![0usize; self.cols + 1];
        for &c in self.columns.iter() {
            starts[c as usize + 1] += 1;
        }
        for j in 0..self.cols {
            starts[j + 1] += starts[j];
        }
        let mut next = starts.clone();
        let mut columns = vec![0u32; self.values.len()];
        let mut values = vec![0.0; self.values.len()];
        for i in 0..self.rows {
            let (cs, vs) = self.row(i);
            for (&c, &v) in cs.iter().zip(vs) {
                let at = &mut next[c as usize];
                columns[*at] = i as u32;
                values[*at] = v;
                *at += 1;
            }
        }
        let (starts, columns, values) = (starts.into(), columns.into(), values.into());
        let scan = KeptScan::default();
        Sparse { rows: self.cols, cols: self.rows, starts, columns, values, scan }
    }

    /// The given rows, in the given order.
    pub fn select_rows(&self, rows: &[usize]) -> Sparse {
        let entries = rows.iter().map(|&i| self.row(i).0.len()).sum();
        let mut starts = Vec::with_capacity(rows.len() + 1);
        starts.push(0);
        let (mut columns, mut values) = (Vec::with_capacity(entries), Vec::with_capacity(entries));
        for &i in rows {
            let (cs, vs) = self.row(i);
            columns.extend_from_slice(cs);
            values.extend_from_slice(vs);
            starts.push(values.len());
        }
        let (starts, columns, values) = (starts.into(), columns.into(), values.into());
        let scan = self.scan.select(rows);
        Sparse { rows: rows.len(), cols: self.cols, starts, columns, values, scan }
    }

    pub(super) fn scale_rows(&mut self, factors: &[f64]) {
        self.scan.forget();
        let values = self.values.make_mut();
        for (i, factor) in factors.iter().enumerate() {
            let span = self.starts[i]..self.starts[i + 1];
            values[span].iter_mut().for_each(|v| *v *= factor);
        }
    }

    pub(super) fn scale_columns(&mut self, factors: &[f64]) {
        self.scan.forget();
        let values = self.values.make_mut().iter_mut().zip(self.columns.iter());
        values.for_each(|(value, &k)| *value *= factors[k as usize]);
    }

    /// Every row sorted by column, repeated places added.
    fn sorted_and_merged(self) -> Sparse {
        let mut columns = Vec::with_capacity(self.columns.len());
        let mut values: Vec<f64> = Vec::with_capacity(self.values.len());
        let mut starts = vec![0usize];
        let mut row: Vec<(u32, f64)> = Vec::new();
        for i in 0..self.rows {
            let (cs, vs) = self.row(i);
            let begin = columns.len();
            if cs.is_sorted_by(|a, b| a < b) {
                columns.extend_from_slice(cs);
                values.extend_from_slice(vs);
                starts.push(columns.len());
                continue;
            }
            row.clear();
            row.extend(cs.iter().copied().zip(vs.iter().copied()));
            row.sort_by_key(|e| e.0); // stable: repeated entries are added in the order given
            for &(c, v) in &row {
                if columns.len() > begin && columns.last() == Some(&c) {
                    *values.last_mut().expect("as long as columns") += v;
                } else {
                    columns.push(c);
                    values.push(v);
                }
            }
            starts.push(columns.len());
        }
        let (starts, columns, values) = (starts.into(), columns.into(), values.into());
        Sparse { starts, columns, values, scan: KeptScan::default(), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_must_increase_where_that_is_promised() {
        let build = |columns: Vec<u32>| {
            let (starts, values) = (vec![0, 2, 2, 4], vec![1.0, 2.0, 3.0, 4.0]);
            Sparse::from_sorted_buffers(3, 4, starts.into(), columns.into(), values.into())
        };
        assert!(build(vec![0, 3, 1, 2]).is_ok());
        assert_eq!(build(vec![0, 3, 2, 2]), Err(Error::Order { row: 2 }));
        assert_eq!(build(vec![3, 0, 2, 1]), Err(Error::Order { row: 0 }));
        let outside = Error::IndexOutOfRange { row: 2, col: 4, rows: 3, cols: 4 };
        assert_eq!(build(vec![0, 3, 1, 4]), Err(outside));
        let same = Sparse::new(1, 4, vec![0, 3], vec![2, 0, 2], vec![1.0, 2.0, 3.0]).unwrap();
        assert_eq!((same.columns(), same.values()), (&[0, 2][..], &[2.0, 4.0][..]));
    }

    #[test]
    fn empty_rows_before_a_column_that_does_not_exist() {
        let error = Sparse::new(3, 2, vec![0, 0, 0, 1], vec![9], vec![1.0]).unwrap_err();
        assert_eq!(error, Error::IndexOutOfRange { row: 2, col: 9, rows: 3, cols: 2 });
    }
}
