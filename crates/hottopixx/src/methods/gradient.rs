//! The Frobenius form of Algorithm 4.

use super::{Localised, Localiser, Question, bytes, no_answer, screen, screened};
use crate::Error;
use crate::localise::frobenius::frobenius;
use crate::localise::{FrobeniusSettings, Localisation};
use crate::matrix::Shape;

/// The Frobenius form, by accelerated projected gradients on the Gram matrix.
#[derive(Debug, Clone, Copy)]
pub struct Gradient {
    /// Rows that it may choose from; its cost grows with their square.
    pub screened: usize,
}

impl Default for Gradient {
    fn default() -> Self {
        Gradient { screened: 500 }
    }
}

impl Localiser for Gradient {
    fn name(&self) -> &'static str {
        "gradient"
    }

    fn localise(&self, question: &Question<'_>) -> Result<Localised, Error> {
        let allowed = screen(question, self.screened).ok_or_else(|| no_answer(question.control))?;
        let found = diagonal(question, &allowed)?;
        if found.iterations == 0 {
            return Err(no_answer(question.control));
        }
        Ok(Localised::diagonal(self.name(), question, found.diagonal))
    }

    fn bytes(&self, shape: Shape, rank: usize, threads: usize) -> u64 {
        let m = shape.f().min(screened(self.screened, rank) as u64);
        let threads = threads as u64;
        bytes::hulls(shape, rank as u64, threads) + bytes::frobenius(shape, m, threads)
    }
}

/// The diagonal over the rows that are `allowed`, which may be fewer than the question allows.
fn diagonal(question: &Question<'_>, allowed: &[bool]) -> Result<Localisation, Error> {
    // With the trace fixed the error alone should decide, unless the caller has other wishes.
    let mu = if question.cost.is_some() { 0.05 } else { 0.0 };
    let cost = question.cost.map(<[f64]>::to_vec);
    let settings = FrobeniusSettings { mu, cost, ..Default::default() };
    frobenius(question.x, question.rank, allowed, &settings, question.control)
}
