//! One row of a matrix, borrowed.

use crate::kernels;

/// A row: stored entries and a factor by which each of them counts, so that a row divided by its
/// sum needs no copy.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    entries: Entries<'a>,
    factor: f64,
}

/// The stored entries of a row.
#[derive(Debug, Clone, Copy)]
pub enum Entries<'a> {
    /// All entries of the row.
    Dense(&'a [f64]),
    /// Column numbers (increasing) and the values that stand there.
    Sparse(&'a [u32], &'a [f64]),
}

impl<'a> Row<'a> {
    /// A row with all its entries.
    pub fn dense(values: &'a [f64]) -> Self {
        Row { entries: Entries::Dense(values), factor: 1.0 }
    }

    /// A row with the values at these columns (increasing), zero elsewhere.
    pub fn sparse(columns: &'a [u32], values: &'a [f64]) -> Self {
        Row { entries: Entries::Sparse(columns, values), factor: 1.0 }
    }

    /// This row times a number.
    #[inline]
    pub fn scaled(self, factor: f64) -> Self {
        Row { factor: self.factor * factor, ..self }
    }

    /// The entries as they are stored, each counting once.
    pub fn unscaled(self) -> Self {
        Row { factor: 1.0, ..self }
    }

    /// The entries as they are stored: each counts [`Row::factor`] times.
    pub fn entries(self) -> Entries<'a> {
        self.entries
    }

    /// What the stored entries are multiplied by.
    pub fn factor(self) -> f64 {
        self.factor
    }

    /// Whether another row has the same entries, bit by bit, stored in the same way.
    pub(crate) fn is_same(self, other: Row<'_>) -> bool {
        let same = match (self.entries, other.entries) {
            (Entries::Dense(one), Entries::Dense(two)) => one == two,
            (Entries::Sparse(c, one), Entries::Sparse(d, two)) => one == two && c == d,
            _ => false,
        };
        same && self.factor == other.factor
    }

    /// Number of stored entries.
    pub fn stored(self) -> usize {
        self.raw().len()
    }

    fn raw(self) -> &'a [f64] {
        match self.entries {
            Entries::Dense(values) | Entries::Sparse(_, values) => values,
        }
    }

    /// The values of the stored entries, columns increasing.
    pub fn values(self) -> impl Iterator<Item = f64> + 'a {
        self.raw().iter().map(move |v| v * self.factor)
    }

    /// The entry in a column; zero where none is stored. O(log entries) of a sparse row.
    pub fn entry(self, column: usize) -> f64 {
        let stored = match self.entries {
            Entries::Dense(values) => values[column],
            Entries::Sparse(columns, values) => {
                columns.binary_search(&(column as u32)).map_or(0.0, |at| values[at])
            }
        };
        self.factor * stored
    }

    /// The entries that are not zero as (column, value), columns increasing.
    #[inline]
    pub fn nonzeros(self) -> impl Iterator<Item = (usize, f64)> + 'a {
        let (dense, columns, values): (bool, &[u32], &[f64]) = match self.entries {
            Entries::Dense(values) => (true, &[], values),
            Entries::Sparse(columns, values) => (false, columns, values),
        };
        let column = move |k: usize| if dense { k } else { columns[k] as usize };
        let stored = values.iter().enumerate().filter(|(_, v)| **v != 0.0);
        stored.map(move |(k, &v)| (column(k), v * self.factor))
    }

    /// Sum of the entries, added in order of column.
    pub fn sum(self) -> f64 {
        self.factor * self.raw().iter().sum::<f64>()
    }

    /// Sum of the squared entries.
    pub fn squared_norm(self) -> f64 {
        self.factor * self.factor * kernels::dot(self.raw(), self.raw())
    }

    /// Inner product with a dense vector of full length.
    pub fn dot(self, dense: &[f64]) -> f64 {
        self.factor
            * match self.entries {
                Entries::Dense(values) => kernels::dot(values, dense),
                Entries::Sparse(columns, values) => {
                    columns.iter().zip(values).map(|(&k, v)| dense[k as usize] * v).sum()
                }
            }
    }

    /// `target += factor * row`, target dense and of full length.
    #[inline]
    pub fn add_to(self, factor: f64, target: &mut [f64]) {
        let factor = factor * self.factor;
        match self.entries {
            Entries::Dense(values) => kernels::axpy(factor, values, target),
            Entries::Sparse(columns, values) => {
                for (&k, v) in columns.iter().zip(values) {
                    target[k as usize] += factor * v;
                }
            }
        }
    }

    /// `target = factor * row`, target dense and of full length.
    pub fn write_to(self, factor: f64, target: &mut [f64]) {
        match self.entries {
            Entries::Dense(values) => {
                let factor = factor * self.factor;
                target.iter_mut().zip(values).for_each(|(t, v)| *t = factor * v);
            }
            Entries::Sparse(..) => {
                target.fill(0.0);
                self.add_to(factor, target);
            }
        }
    }

    /// The l1 distance to another row of the same length.
    pub fn l1_distance(self, other: Row<'_>) -> f64 {
        if let (Entries::Dense(a), Entries::Dense(b)) = (self.entries, other.entries) {
            return kernels::scaled_distance(self.factor, a, other.factor, b);
        }
        // Merge of two increasing column lists.
        let (mut left, mut right) = (self.nonzeros().peekable(), other.nonzeros().peekable());
        let mut total = 0.0;
        loop {
            match (left.peek().copied(), right.peek().copied()) {
                (None, None) => return total,
                (Some((_, v)), None) => {
                    total += v.abs();
                    left.next();
                }
                (None, Some((_, v))) => {
                    total += v.abs();
                    right.next();
                }
                (Some((j, v)), Some((k, w))) => {
                    total += match j.cmp(&k) {
                        std::cmp::Ordering::Less => v.abs(),
                        std::cmp::Ordering::Greater => w.abs(),
                        std::cmp::Ordering::Equal => (v - w).abs(),
                    };
                    if j <= k {
                        left.next();
                    }
                    if k <= j {
                        right.next();
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Dense and sparse rows, with and without a factor, do the same as plain loops.
    #[test]
    fn dense_and_sparse_rows_agree() {
        let values = [0.0, 3.0, 0.0, 1.0, 2.0];
        let (columns, stored) = ([1, 3, 4], [3.0, 1.0, 2.0]);
        let other = [1.0, 0.5, 2.0, 0.0, 1.0];
        for factor in [1.0, 0.25] {
            let dense = Row::dense(&values).scaled(factor);
            let sparse = Row::sparse(&columns, &stored).scaled(factor);
            let plain: Vec<f64> = values.iter().map(|v| factor * v).collect();
            let dot: f64 = plain.iter().zip(&other).map(|(a, b)| a * b).sum();
            let distance: f64 = plain.iter().zip(&other).map(|(a, b)| (a - b).abs()).sum();
            assert_eq!((dense.stored(), sparse.stored()), (5, 3));
            for row in [dense, sparse] {
                assert_eq!(row.dot(&other), dot);
                assert_eq!(row.sum(), plain.iter().sum::<f64>());
                assert_eq!(row.squared_norm(), plain.iter().map(|v| v * v).sum::<f64>());
                assert_eq!(row.l1_distance(Row::dense(&other)), distance);
                assert_eq!(Row::dense(&other).l1_distance(row), distance);
                let nonzeros: Vec<(usize, f64)> = row.nonzeros().collect();
                assert_eq!(nonzeros, [(1, 3.0 * factor), (3, factor), (4, 2.0 * factor)]);
                let mut target = other;
                row.add_to(2.0, &mut target);
                let expected: Vec<f64> =
                    other.iter().zip(&plain).map(|(o, p)| o + 2.0 * p).collect();
                assert_eq!(target[..], expected[..]);
                row.write_to(1.0, &mut target);
                assert_eq!(target[..], plain[..]);
            }
            assert_eq!(dense.l1_distance(sparse), 0.0);
        }
    }
}
