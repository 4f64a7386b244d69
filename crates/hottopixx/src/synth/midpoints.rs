//! Middle points (Gillis and Vavasis): the midpoints m of all pairs of hott rows, each pushed away
//! from the mean of the hott rows, `m + delta (m - mean)`, clipped at zero and brought back to
//! unit sum; hott rows stay as they are. The push makes midpoints look extreme to greedy methods.
//!
//! With `ill` = S, hott rows are first replaced by `(1 - S) w_i + S y_i`, y_i a mixture of three
//! rows that all share: nearly dependent hott rows, for which few methods remain.
//!
//! All r (r - 1) / 2 midpoints need f = r + r (r - 1) / 2 rows, and r more for each duplicate. With fewer rows there is a random
//! part of the midpoints; further rows are points elsewhere between two hott rows, between a
//! quarter and three quarters of the way, pushed alike.

use super::draw::stream;
use super::rows::{RowKind, TOPICS, alpha, assemble, mixture, random_topics};
use super::{Instance, Recipe};
use crate::Error;
use crate::matrix::Dense;
use rand::RngExt;
use rand::seq::index::sample;
use rand_chacha::ChaCha8Rng;

/// Shared rows that ill-conditioned hott rows are mixed with.
const SHARED: usize = 3;

/// Hott rows and all their midpoints.
pub(super) fn natural_features(rank: usize) -> usize {
    rank.saturating_add(rank.saturating_mul(rank.saturating_sub(1)) / 2)
}

pub(super) fn generate(recipe: &Recipe) -> Result<Instance, Error> {
    let mut rng = stream(recipe.seed, TOPICS);
    let mut w = random_topics(&mut rng, recipe.rank, recipe.examples);
    if recipe.ill > 0.0 {
        let shares = vec![recipe.ill; recipe.rank];
        share_mass(&mut rng, &mut w, &shares);
    }
    let kinds = kinds(&mut rng, recipe);
    assemble(recipe, &w, &kinds, alpha(&w, false), 0.0)
}

/// `w_i <- (1 - s_i) w_i + s_i y_i` with y_i a random mixture of a few shared rows.
pub(super) fn share_mass(rng: &mut ChaCha8Rng, w: &mut Dense, shares: &[f64]) {
    let shared = random_topics(rng, SHARED, w.cols());
    let mut common = vec![0.0; w.cols()];
    for (i, s) in shares.iter().enumerate() {
        mixture(rng, &shared, &mut common);
        w.row_mut(i).iter_mut().zip(&common).for_each(|(v, y)| *v = (1.0 - s) * *v + s * y);
        super::draw::to_unit_sum(w.row_mut(i));
    }
}

fn kinds(rng: &mut ChaCha8Rng, recipe: &Recipe) -> Vec<RowKind> {
    let (rank, push) = (recipe.rank, recipe.noise);
    let copies = rank * (recipe.duplicates + 1); // checked by the recipe
    let mut kinds: Vec<RowKind> = (0..copies).map(|k| RowKind::Copy(k % rank)).collect();
    let wanted = recipe.features - copies;
    if rank == 1 {
        kinds.extend((0..wanted).map(|_| RowKind::Between { pair: (0, 0), share: 0.5, push }));
        return kinds;
    }
    // Pairs by their numbers: r^2 / 2 of them need not be stored when few are wanted.
    let pairs = rank * (rank - 1) / 2;
    for k in sample(rng, pairs, wanted.min(pairs)) {
        kinds.push(RowKind::Between { pair: pair(k, rank), share: 0.5, push });
    }
    while kinds.len() < recipe.features {
        let pair = pair(rng.random_range(0..pairs), rank);
        let share = rng.random_range(0.25..0.75);
        kinds.push(RowKind::Between { pair, share, push });
    }
    kinds
}

/// The k-th of the pairs (0, 1), (0, 2), ..., (r - 2, r - 1).
fn pair(mut k: usize, rank: usize) -> (usize, usize) {
    let mut first = 0;
    while k >= rank - 1 - first {
        k -= rank - 1 - first;
        first += 1;
    }
    (first, first + 1 + k)
}

#[cfg(test)]
mod tests {
    use super::pair;

    #[test]
    fn pairs_are_numbered_without_gaps() {
        let all: Vec<_> = (0..6).map(|k| pair(k, 4)).collect();
        assert_eq!(all, [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]);
    }
}
