//! What holds for every *choice* of rows, about the error that is reported.
//!
//! The [linear programs](crate::localise::lp) bound fractional diagonals d with weights
//! `0 <= c_ij <= d_j`. A choice S of r rows is d in {0, 1}, and its reported error,
//! `e_i(S) = min ||x_i - sum_{j in S} c_j x_j||_1` over all `c >= 0`, knows no upper bounds. Here both
//! are taken at their word, which makes bounds on real data many times tighter:
//!
//! 1. *Caps.* Free weights never need to exceed `u_ij`, the weighted median of `x_ik / x_jk` (`l1/caps.rs`).
//!    So `e_i(S) = min over 0 <= c_j <= u_ij d_j`, and every y with `|y| <= 1` gives a cut
//!    `e_i(S) >= b - sum_j a_j d_j`, `b = y.x_i`, `a_j = u_ij (y.x_j)_+`.
//! 2. *Threshold.* Fix T. A choice whose largest error is at most T has `sum_j a_j d_j >= b - T` for every
//!    cut. Where `b > T` and d is 0 or 1, coefficients above `b - T` may be lowered to it: one such row
//!    suffices. Divided by `b - T` the cut becomes a *covering row*, `sum_j min(1, a_j / (b - T)) d_j >= 1`.
//! 3. *Proof.* Multipliers `lambda >= 0` for which `sum_c lambda_c (b_c - T)` is larger than the r largest of
//!    `sum_c lambda_c min(a_cj, b_c - T)` together prove that *no choice of r rows has a largest error of T or
//!    less*: a [`ChoiceCertificate`], checked by code of its own.
//!
//! Covering rows are found by a cutting plane search (`covering`): a master program, the same simplex as that
//! of the linear programs, minimises `sum d`; the oracle looks for rows of X whose cuts are violated at d. For a set R of rows with
//! `d(R) < 1` whose coefficients are lowered, the deepest y is the dual of a fit without R and with bounds
//! `u_ij d_j / (1 - d(R))` on the others, violated if and only if that fit misses more than T; given y, the
//! best R are the j with `a_j > b - T`. The oracle alternates between the two.
//!
//! On top of it: [`bound`], the largest T that is proven; [`rank_needed`], how many rows it takes to
//! explain all within tau; [`search`], which branches on rows until no choice is left that could be better.
//!
//! [`ChoiceCertificate`]: crate::certify::ChoiceCertificate

mod bound;
mod cover;
mod covering;
mod incumbent;
mod rank;
mod search;

pub use bound::{ChoiceBound, bound};
pub use rank::{RankBracket, rank_needed};
pub use search::{ChoiceSearch, ExactChoice, SearchSettings, search};

use crate::matrix::Shape;

/// Work (rows x candidates x entries of a row) up to which bounds for choices are a matter of seconds.
const AFFORDABLE: f64 = 1e8;

/// Whether [`bound`] is a matter of seconds for data of this shape with this many rows that may be hott.
#[doc(hidden)]
pub fn is_affordable(shape: Shape, candidates: usize) -> bool {
    shape.entries as f64 * candidates as f64 <= AFFORDABLE
}

#[cfg(test)]
mod tests;
