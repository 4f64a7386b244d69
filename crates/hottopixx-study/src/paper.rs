//! The instances of the paper's section 5: its grid of settings, with as many repeats as wanted.

use hottopixx::synth::{Family, Recipe};

/// f, the numbers of rows.
pub const FEATURES: [usize; 3] = [40, 80, 160];
/// n, the numbers of columns.
pub const EXAMPLES: [usize; 3] = [400, 800, 1600];
/// r, the numbers of hott topics.
pub const RANKS: [usize; 3] = [3, 5, 10];
/// d, how often every hott row is repeated.
pub const DUPLICATES: [usize; 3] = [0, 1, 2];
/// eta: the noise in units of what the theorem on AGKM can bear.
pub const ETAS: [f64; 5] = [0.25, 0.95, 4.0, 10.0, 100.0];
/// Repeats of every setting in the paper: 2025 instances.
pub const REPEATS: u64 = 5;

/// Every setting with every seed below `repeats`, seeds fastest.
pub fn recipes(repeats: u64) -> Vec<Recipe> {
    let mut recipes = Vec::new();
    for features in FEATURES {
        for examples in EXAMPLES {
            for rank in RANKS {
                for duplicates in DUPLICATES {
                    for eta in ETAS {
                        let recipe = Recipe::new(Family::Paper, rank).size(features, examples);
                        let recipe = recipe.duplicates(duplicates).noise(eta);
                        recipes.extend((0..repeats).map(|seed| recipe.clone().seed(seed)));
                    }
                }
            }
        }
    }
    recipes
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_grid_is_the_papers() {
        assert_eq!(super::recipes(1).len(), 405);
        assert_eq!(super::recipes(super::REPEATS).len(), 2025);
    }
}
