//! The greedy methods, which choose rows outright.

use super::{Localised, Localiser, Question, bytes};
use crate::Error;
use crate::localise::{snpa_ruled, spa_ruled, xray_ruled};
use crate::matrix::Shape;

/// Successive projection.
#[derive(Debug, Clone, Copy)]
pub struct Spa;

/// Successive nonnegative projection.
#[derive(Debug, Clone, Copy)]
pub struct Snpa;

/// XRAY (Kumar, Sindhwani, Kambadur).
#[derive(Debug, Clone, Copy)]
pub struct Xray;

impl Localiser for Spa {
    fn name(&self) -> &'static str {
        "spa"
    }

    fn localise(&self, question: &Question<'_>) -> Result<Localised, Error> {
        Ok(Localised::rows("spa", spa_ruled(question, None).rows))
    }

    fn bytes(&self, shape: Shape, rank: usize, _threads: usize) -> u64 {
        bytes::spa(shape, rank as u64)
    }
}

impl Localiser for Snpa {
    fn name(&self) -> &'static str {
        "snpa"
    }

    fn localise(&self, question: &Question<'_>) -> Result<Localised, Error> {
        let ones = vec![1.0; question.x.features()];
        Ok(Localised::rows("snpa", snpa_ruled(question, &ones).rows))
    }

    fn bytes(&self, shape: Shape, rank: usize, threads: usize) -> u64 {
        bytes::hulls(shape, rank as u64, threads as u64)
    }
}

impl Localiser for Xray {
    fn name(&self) -> &'static str {
        "xray"
    }

    fn localise(&self, question: &Question<'_>) -> Result<Localised, Error> {
        Ok(Localised::rows("xray", xray_ruled(question).rows))
    }

    fn bytes(&self, shape: Shape, rank: usize, threads: usize) -> u64 {
        bytes::hulls(shape, rank as u64, threads as u64)
    }
}
