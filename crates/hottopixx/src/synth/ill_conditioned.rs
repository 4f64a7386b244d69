//! Hott rows that are nearly dependent: row i keeps only `t_i = (1 - S)^(i / (r - 1))` of its own
//! mass, a geometric decay from 1 to 1 - S, and takes the rest from three rows that all share, so
//! that the singular values of W beyond the first few decay geometrically. The other rows and the
//! noise are those of the paper's family; alpha, and with it the noise, is small here.

use super::draw::stream;
use super::midpoints::share_mass;
use super::rows::{TOPICS, alpha, assemble, noise_bound, random_topics, separable_kinds};
use super::{Instance, Recipe};
use crate::Error;

/// S where the recipe leaves it at 0.
const DEFAULT_ILL: f64 = 0.9;

pub(super) fn generate(recipe: &Recipe) -> Result<Instance, Error> {
    let ill = if recipe.ill > 0.0 { recipe.ill } else { DEFAULT_ILL };
    let last = recipe.rank.saturating_sub(1).max(1) as f64;
    let shares: Vec<f64> =
        (0..recipe.rank).map(|i| 1.0 - (1.0 - ill).powf(i as f64 / last)).collect();
    let mut rng = stream(recipe.seed, TOPICS);
    let mut w = random_topics(&mut rng, recipe.rank, recipe.examples);
    share_mass(&mut rng, &mut w, &shares);
    let alpha = alpha(&w, recipe.noise > 0.0);
    let bound = noise_bound(recipe.noise, alpha);
    assemble(recipe, &w, &separable_kinds(recipe), alpha, bound)
}
