//! Entries of a sparse matrix in the order of the file, gathered into rows at the end.

use crate::budget::Budget;
use crate::error::{Fault, FileLocation};
use hottopixx::matrix::Sparse;

/// A growing list of (row, column, value), held to a budget.
pub(crate) struct Triplets {
    rows: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<f64>,
    most: usize,
    budget: Budget,
    sorted: bool,
}

impl Triplets {
    /// An empty list; it grows by what is pushed, never by what a header promises.
    pub fn new(budget: Budget) -> Self {
        Triplets {
            rows: Vec::new(),
            columns: Vec::new(),
            values: Vec::new(),
            most: budget.max_entries(),
            budget,
            sorted: true,
        }
    }

    /// Adds one entry. The caller has checked the place; `line` is for the message.
    #[inline]
    pub fn push(&mut self, row: u32, column: u32, value: f64, line: u64) -> Result<(), Fault> {
        if self.values.len() >= self.most {
            self.budget.entries(self.values.len() as u64 + 1, FileLocation::Line(line))?;
        }
        self.sorted &= self.rows.last().is_none_or(|last| *last <= row);
        self.rows.push(row);
        self.columns.push(column);
        self.values.push(value);
        Ok(())
    }

    /// From the three arrays of the COO format, of equal length.
    pub fn from_arrays(
        rows: Vec<u32>,
        columns: Vec<u32>,
        values: Vec<f64>,
        budget: Budget,
    ) -> Self {
        let sorted = rows.is_sorted();
        Triplets { rows, columns, values, most: budget.max_entries(), budget, sorted }
    }

    /// Takes one off every column number: for files that turn out to count from 1.
    pub fn count_columns_from_one(&mut self) {
        self.columns.iter_mut().for_each(|c| *c -= 1);
    }

    /// The matrix; repeated places are added. The shape has passed [`Budget::sparse`].
    pub fn into_sparse(self, rows: usize, cols: usize) -> Result<Sparse, Fault> {
        let outside = |i: &u32| *i as usize >= rows;
        if let Some(k) = self.rows.iter().position(outside) {
            let (row, col) = (self.rows[k] as usize, self.columns[k] as usize);
            return Err(hottopixx::Error::IndexOutOfRange { row, col, rows, cols }.into());
        }
        let mut starts = vec![0usize; rows + 1];
        for i in &self.rows {
            starts[*i as usize + 1] += 1;
        }
        for i in 0..rows {
            starts[i + 1] += starts[i];
        }
        if self.sorted {
            return Ok(Sparse::new(rows, cols, starts, self.columns, self.values)?);
        }
        let mut next = starts.clone();
        let mut columns = vec![0u32; self.values.len()];
        let mut values = vec![0.0; self.values.len()];
        for ((i, j), v) in self.rows.iter().zip(&self.columns).zip(&self.values) {
            let at = &mut next[*i as usize];
            columns[*at] = *j;
            values[*at] = *v;
            *at += 1;
        }
        drop((self.rows, self.columns, self.values));
        Ok(Sparse::new(rows, cols, starts, columns, values)?)
    }
}
