//! The paper's family with one row in twenty (at least one) replaced by an outlier: a point
//! uniform on the face of a random tenth of the examples, more extreme than any hott row, that no
//! topic explains. Outliers are not hott: for a given rank, one hott row less costs a mean error
//! on every row that uses it, one outlier less only its own. Greedy methods take outliers first,
//! and so does whoever minimises the largest error instead of the mean.

use super::draw::stream;
use super::rows::{RowKind, TOPICS, alpha, assemble, noise_bound, random_topics, separable_kinds};
use super::{Instance, Recipe, setting};
use crate::Error;

/// Rows for each outlier.
const ROWS_PER_OUTLIER: usize = 20;

pub(super) fn generate(recipe: &Recipe) -> Result<Instance, Error> {
    let outliers = (recipe.features / ROWS_PER_OUTLIER).max(1);
    let hott = recipe.rank * (recipe.duplicates + 1); // checked by the recipe
    let mut kinds = separable_kinds(recipe);
    let regular = recipe.features - outliers;
    if regular < hott {
        let remedy = format!("{hott} hott rows leave no room for {outliers} outliers: give more");
        return Err(setting("features", recipe.features, remedy));
    }
    kinds[regular..].fill(RowKind::Outlier);
    let w = random_topics(&mut stream(recipe.seed, TOPICS), recipe.rank, recipe.examples);
    let alpha = alpha(&w, recipe.noise > 0.0);
    assemble(recipe, &w, &kinds, alpha, noise_bound(recipe.noise, alpha))
}
