//! The whole pipeline behind one builder: settings in, factorization out.
//!
//! [`Factor`] is what a caller asks for (`settings`), [`Factorization`] what comes of it (`result`),
//! and `pipeline` how: every step on one screen. Certifying, evaluating, comparing and paths of ranks
//! are siblings that go parts of the same way.

mod apply;
mod certified;
mod changes;
mod checked;
mod clock;
mod columns;
mod compare;
mod evaluate;
mod held_out;
mod memory;
mod method;
mod missing;
mod outliers;
mod path;
mod pipeline;
mod report;
mod result;
mod settings;
mod units;

pub use apply::Applied;
pub use certified::{Certified, RankNeeded};
pub use changes::{Changes, Moved};
pub use columns::AppliedColumns;
pub use compare::{Compared, Comparison, Skipped};
pub use held_out::HeldOut;
pub use memory::{Footprint, Work};
pub use method::Method;
pub use missing::{Completion, Missing};
pub use outliers::Outliers;
pub use path::{RankPath, RankPoint};
pub use result::{Errors, Factorization, HottRow, Seconds};
pub use settings::Factor;
pub(crate) use settings::in_pool;

use crate::control::Stage;
use crate::matrix::Matrix;
use crate::{Constraints, Error};
use clock::Clock;
use pipeline::Prepared;

impl Factor {
    /// Factors the matrix. A method that is stopped before it has rows of its own gives those of
    /// successive projection, and a note says so.
    ///
    /// # Errors
    /// When the matrix or a setting is not usable (a setting that the method does not use among
    /// them), or when the computation was stopped before there was any answer; see [`Error`].
    pub fn run(&self, matrix: &Matrix) -> Result<Factorization, Error> {
        self.in_pool(|| pipeline::run(self, matrix))
    }

    /// Cleans a given choice of rows of the input and measures it: the errors of any answer.
    /// The rank of the settings does not matter.
    ///
    /// # Errors
    /// As [`Factor::run`], and [`Error::HottRow`] for rows that cannot be hott.
    pub fn evaluate(&self, matrix: &Matrix, hott: &[usize]) -> Result<Factorization, Error> {
        let constraints = Constraints::default();
        let settings = Factor { rank: hott.len(), constraints, ..self.clone() };
        settings.in_pool(|| {
            let mut clock = Clock::new(&settings.control);
            let completed = clock.time(Stage::Normalise, || settings.completed(matrix))?;
            let x = completed.unit_rows()?;
            let prepared = Prepared::with_x(&settings, &completed.matrix, x)?;
            let rows = prepared.unit_rows(hott)?;
            let answer = prepared.evaluate(rows, clock)?;
            Ok(completed.told_with(answer))
        })
    }
}
