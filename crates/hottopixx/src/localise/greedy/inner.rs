//! Inner products of all rows with the rows that a greedy method chooses, fetched in batches.
//!
//! A greedy step needs `<x_i, x_p>` for all i and the row p it has just chosen: one pass over X, most
//! of it spent waiting for memory. But the next choices are among the rows with the largest
//! residuals, so their columns of `X X^T` are computed in the same pass, as a matrix product: twelve
//! of them cost about as much as one alone. What was guessed wrongly is kept for later. The size
//! of a batch follows from how many of the last were used, never from the number of threads.

use crate::control::Control;
use crate::normalise::UnitRows;

/// Columns of the first batch, the fewest and the most of later ones.
const FIRST: usize = 32;
const FEWEST: usize = 4;
pub(crate) const MOST: usize = 64;

/// Columns of the Gram matrix that are not used yet: at most two batches of length f.
pub(super) struct Inner<'a> {
    x: &'a UnitRows,
    control: &'a Control,
    /// (row, its column), the latest batch last.
    held: Vec<(usize, Vec<f64>)>,
    batch: usize,
    /// Columns taken since the last batch.
    taken: usize,
}

impl<'a> Inner<'a> {
    pub(super) fn new(x: &'a UnitRows, control: &'a Control) -> Self {
        Inner { x, control, held: Vec::new(), batch: FIRST, taken: 0 }
    }

    /// `<x_i, x_row>` for every i. If it is not there yet, it is fetched together with the first of
    /// `likely(most)`: at most `most` rows that may be asked for next, the most likely first. `None`
    /// when stopped.
    pub(super) fn column(
        &mut self,
        row: usize,
        likely: impl FnOnce(usize) -> Vec<usize>,
    ) -> Option<&[f64]> {
        let at = self.place(row, likely)?;
        Some(&self.held[at].1)
    }

    /// As [`Inner::column`], given away: for a row that is not asked for again.
    pub(super) fn take(
        &mut self,
        row: usize,
        likely: impl FnOnce(usize) -> Vec<usize>,
    ) -> Option<Vec<f64>> {
        let at = self.place(row, likely)?;
        self.taken += 1;
        Some(self.held.remove(at).1)
    }

    fn place(&mut self, row: usize, likely: impl FnOnce(usize) -> Vec<usize>) -> Option<usize> {
        if !self.holds(row) {
            self.fetch(row, likely);
        }
        self.held.iter().position(|c| c.0 == row)
    }

    fn holds(&self, row: usize) -> bool {
        self.held.iter().any(|c| c.0 == row)
    }

    fn fetch(&mut self, row: usize, likely: impl FnOnce(usize) -> Vec<usize>) {
        // A guess is worth about a tenth of a pass: batches grow while a quarter comes true.
        if self.taken > 0 {
            let good = 4 * self.taken >= self.batch;
            let size = if good { 2 * self.batch } else { self.batch / 2 };
            self.batch = size.clamp(FEWEST, MOST);
            self.taken = 0;
        }
        let mut rows = likely(self.batch + self.held.len());
        rows.retain(|&i| i != row && !self.holds(i));
        rows.insert(0, row);
        rows.truncate(self.batch);
        let m = rows.len();
        let Some(columns) = self.x.gram_columns_under(&rows, self.control) else { return };
        let keep = MOST.min(self.held.len());
        self.held.drain(..self.held.len() - keep);
        for (at, &i) in rows.iter().enumerate() {
            self.held.push((i, columns.iter().skip(at).step_by(m).copied().collect()));
        }
    }
}

/// The at most `most` open rows with the largest positive scores, largest first, ties by index.
pub(super) fn largest(scores: &[f64], open: &[bool], most: usize) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..scores.len()).filter(|&i| open[i] && scores[i] > 0.0).collect();
    let order = |a: &usize, b: &usize| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b));
    if most < rows.len() {
        rows.select_nth_unstable_by(most, order);
        rows.truncate(most);
    }
    rows.sort_unstable_by(order);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::localise::instances::{as_sparse, paper};

    #[test]
    fn columns_are_those_of_the_gram_matrix_whatever_was_guessed() {
        let x = paper((90, 30, 4, 0), 1.0, 5).x;
        for x in [&x, &as_sparse(&x)] {
            let control = Control::default();
            let mut inner = Inner::new(x, &control);
            let mut order: Vec<usize> = (0..90).map(|i| (37 * i + 5) % 90).collect();
            order.truncate(70);
            for (k, &row) in order.iter().enumerate() {
                // Good guesses, then bad ones, then none.
                let column = inner.take(row, |most| match k / 25 {
                    0 => order[k + 1..].iter().copied().take(most).collect(),
                    1 => (0..90).filter(|i| !order[..k].contains(i)).take(most).collect(),
                    _ => vec![],
                });
                let column = column.expect("nobody stops it");
                assert!(inner.held.len() <= 2 * MOST);
                for (found, expected) in column.iter().zip(x.gram_columns(&[row])) {
                    assert!((found - expected).abs() < 1e-15);
                }
            }
        }
    }

    #[test]
    fn the_largest_come_first_and_ties_by_index() {
        let scores = [1.0, 3.0, 0.0, 3.0, 2.0, 9.0];
        let open = [true, true, true, true, true, false];
        assert_eq!(largest(&scores, &open, 2), [1, 3]);
        assert_eq!(largest(&scores, &open, 3), [1, 3, 4]);
        assert_eq!(largest(&scores, &open, 9), [1, 3, 4, 0]);
    }
}
