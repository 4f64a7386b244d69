//! Section 5 of the paper: r hott rows uniform on the unit simplex in R^n, each duplicated d
//! times, the other f - r (d + 1) rows uniform convex combinations of them, and noise on every
//! row, duplicates included, of at most `eta * alpha^2 / (20 + 13 alpha)` in l1.

use super::draw::stream;
use super::rows::{TOPICS, alpha, assemble, noise_bound, random_topics, separable_kinds};
use super::{Instance, Recipe};
use crate::Error;

pub(super) fn generate(recipe: &Recipe) -> Result<Instance, Error> {
    let w = random_topics(&mut stream(recipe.seed, TOPICS), recipe.rank, recipe.examples);
    let alpha = alpha(&w, recipe.noise > 0.0);
    let bound = noise_bound(recipe.noise, alpha);
    assemble(recipe, &w, &separable_kinds(recipe), alpha, bound)
}
