//! Successive nonnegative projection (SNPA; Gillis, 2014): SPA with the hull in place of the span.
//!
//! After each choice every row is projected onto the convex hull of the chosen rows and the
//! origin. Unlike SPA it needs no linear independence of the hott rows, and it is more robust
//! when they are ill-conditioned. All projections are small quadratic programs on the Gram matrix
//! of the chosen rows, warm started: see `nnls`. O(nonzeros) a step for the new row of the Gram
//! matrix, and O(k^2) to O(k^3) for each row of X.

use super::fits::{Fits, Pick};
use super::{Greedy, best};
use crate::control::Control;
use crate::localise::Question;
use crate::normalise::UnitRows;
use crate::squares::Domain;

/// SNPA: `rank` rows of X, or all allowed ones if these are fewer.
pub fn snpa(x: &UnitRows, rank: usize, allowed: &[bool], control: &Control) -> Greedy {
    snpa_ruled(&Question::new(x, rank, allowed, control), &vec![1.0; x.features()])
}

/// As [`snpa_ruled`] for a choice that need not obey anything.
#[cfg(test)]
pub fn snpa_weighted(
    x: &UnitRows,
    weights: &[f64],
    rank: usize,
    allowed: &[bool],
    control: &Control,
) -> Greedy {
    snpa_ruled(&Question::new(x, rank, allowed, control), weights)
}

/// SNPA on the rows scaled by `weights`, such as the diagonal of a localising matrix, for a choice that obeys the
/// rules of the question. Once the weighted rows are explained, it goes on by SPA without weights.
pub fn snpa_ruled(question: &Question<'_>, weights: &[f64]) -> Greedy {
    let pick: &Pick = &|fits, open, floor| best(&fits.norms, open, floor);
    Fits::new(question.x.squares(), weights, Domain::Simplex, question.control)
        .run("snpa", pick, question)
}
