//! Twice the examples should take twice the time.

use super::rates::epoch_seconds;
use crate::clock::on_threads;
use anyhow::Result;
use hottopixx::synth::{Family, Recipe};
use serde::Serialize;

/// Seconds of an epoch for some number of examples.
#[derive(Debug, Clone, Serialize)]
pub struct Doubling {
    /// The family of the instance.
    pub family: &'static str,
    /// Rows.
    pub features: usize,
    /// Columns.
    pub examples: usize,
    /// Seconds of an epoch.
    pub seconds: f64,
    /// Against half as many examples.
    pub ratio: Option<f64>,
}

/// Epochs at some sizes, each with twice the examples of the one before; features stay the same.
pub fn doublings(threads: usize, quick: bool) -> Result<Vec<Doubling>> {
    let small = if quick { 8 } else { 1 };
    let mut table = Vec::new();
    for (family, features, first, tokens) in [
        (Family::Paper, 1600 / small, 8000 / small, 0),
        (Family::Documents, 20_000 / small, 80_000 / small, 60),
    ] {
        let mut before = None;
        for examples in [first, 2 * first, 4 * first, 8 * first] {
            let recipe = Recipe::new(family, 20).size(features, examples).noise(0.0);
            let recipe = if tokens > 0 { recipe.tokens(tokens) } else { recipe };
            let matrix = recipe.generate()?.matrix;
            let seconds = on_threads(threads, || epoch_seconds(&matrix, 20))??;
            let ratio = before.map(|before| seconds / before);
            before = Some(seconds);
            table.push(Doubling { family: family.name(), features, examples, seconds, ratio });
        }
    }
    Ok(table)
}
