//! Each hott row has d near copies `(1 - t) w_i + t y`, with y a random mixture of the hott rows
//! and t uniform in (0, 0.1]; the other rows and the noise are those of the paper's family.
//! There is no margin d_0 (Theorem 3.2) to speak of: near copies share the weight on the diagonal
//! of the localising matrix, and under noise they may look more extreme than the hott row. They
//! count as their topic in [`super::Truth::groups`].

use super::draw::stream;
use super::rows::{RowKind, TOPICS, alpha, assemble, noise_bound, random_topics};
use super::{Instance, Recipe, setting};
use crate::Error;

/// The largest t.
const NEAR: f64 = 0.1;

/// Near copies where the recipe leaves them at 0.
const DEFAULT_COPIES: usize = 2;

pub(super) fn generate(recipe: &Recipe) -> Result<Instance, Error> {
    let copies = copies(recipe)?;
    let w = random_topics(&mut stream(recipe.seed, TOPICS), recipe.rank, recipe.examples);
    let alpha = alpha(&w, recipe.noise > 0.0);
    let near =
        (0..copies).flat_map(|_| (0..recipe.rank).map(|topic| RowKind::Near { topic, most: NEAR }));
    let kinds: Vec<RowKind> = (0..recipe.rank)
        .map(RowKind::Copy)
        .chain(near)
        .chain(std::iter::repeat(RowKind::Mix))
        .take(recipe.features)
        .collect();
    assemble(recipe, &w, &kinds, alpha, noise_bound(recipe.noise, alpha))
}

/// As many as asked for, or as many as fit when the default does not.
fn copies(recipe: &Recipe) -> Result<usize, Error> {
    if recipe.duplicates > 0 {
        return Ok(recipe.duplicates);
    }
    match (recipe.features / recipe.rank - 1).min(DEFAULT_COPIES) {
        0 => {
            let remedy = "near copies need at least twice as many rows as the rank";
            Err(setting("features", recipe.features, remedy))
        }
        fit => Ok(fit),
    }
}
