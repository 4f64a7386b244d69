//! Rows that the caller chose.

use super::Factorization;
use super::clock::Clock;
use super::pipeline::{Cleaned, Prepared};
use crate::Error;
use crate::control::Stage;
use crate::methods::Localised;

impl Prepared<'_> {
    /// The answer for these rows of X: the way of a factorization from cleaning on.
    ///
    /// # Errors
    /// As [`Prepared::report`].
    pub fn evaluate(&self, rows: Vec<usize>, mut clock: Clock<'_>) -> Result<Factorization, Error> {
        let cleaned = clock.time(Stage::Clean, || Cleaned::of_given(self, rows));
        self.report(Localised::default(), cleaned, clock.seconds)
    }

    /// Rows of X for the caller's hott rows.
    pub fn unit_rows(&self, hott: &[usize]) -> Result<Vec<usize>, Error> {
        let refuse = |row, reason: String| Err(Error::HottRow { row, reason });
        let mut rows = Vec::with_capacity(hott.len());
        for (k, &row) in hott.iter().enumerate() {
            if row >= self.x.input_rows() {
                let last = self.x.input_rows() - 1;
                return refuse(row, format!("the last row is {last}, counting from 0"));
            }
            if hott[..k].contains(&row) {
                return refuse(row, "it is named twice".to_string());
            }
            match self.x.unit_row(row) {
                Some(i) => rows.push(i),
                None => return refuse(row, "all its entries are zero".to_string()),
            }
        }
        Ok(rows)
    }
}
