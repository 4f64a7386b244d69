//! What can be said for sure about an answer: bounds that a reader may check, and the paper's
//! theorem where its conditions hold.
//!
//! # The programs and their bounds
//! All linear programs of the paper range over localising matrices C (f x f) with diagonal d:
//! `0 <= C_ij <= C_jj = d_j <= 1`, the trace `sum d = r` where a rank is given, `d_j = 0` for rows
//! that may not be hott. With `e_i = ||x_i - c_i X||_1` the [`Goal`]s are
//!
//! - [`Goal::Cost`]: `min p.d` with every `e_i <= tau` (Algorithm 3; Algorithm 2 for `tau = 0`);
//! - [`Goal::Minimax`]: `min max_i e_i`;
//! - [`Goal::Total`]: `min sum_i w_i e_i`, with the weights of the rows of X, 1 where they have none.
//!
//! Any matrix Y (f x n) bounds them from below. Let `G = Y X^T` and
//! `a_j = p_j - G_jj - sum_{i != j} (G_ij)_+` (p = 0 for the last two goals). Since
//! `<Y_i, x_i - c_i X> <= e_i ||Y_i||_inf` and `C_ij G_ij <= d_j (G_ij)_+`,
//!
//! - cost: `p.d >= <Y,X> - tau sum_i ||Y_i||_inf + S(a)`;
//! - minimax: `max e_i >= <Y,X> + S(a)` when `sum_i ||Y_i||_inf <= 1`;
//! - total: `sum w_i e_i >= <Y,X> + S(a)` when every `||Y_i||_inf <= w_i`;
//!
//! where S(a) is the sum of the r smallest `a_j` over the rows that may be hott or, without a
//! trace constraint, the sum of `min(0, a_j)`. A minimax bound above tau proves that the program
//! of [`Goal::Cost`] has no answer at all.
//!
//! A Y that is larger is divided by its norm, and proves as much less: any Y proves its bound. (One that is not zero in a
//! row of weight 0 proves nothing.)
//!
//! A [`Certificate`] holds the problem, d, C and Y. [`verify()`] believes none of it: it recomputes
//! everything from X, in O(nonzeros of C * n + dual rows * f * n), and shares no code with the solvers but
//! plain matrix products in double precision. Its figures are rounded towards the safe side at every step,
//! bounds down and errors up, so they hold for X in exact arithmetic: the numbers as they were
//! given, each row divided by its exact sum.
//!
//! # Choices of rows
//! The programs range over fractional d and weights up to d. About choices of r rows with any weights, as
//! they are reported, a [`ChoiceCertificate`] says more: see [`verify_choice`]. A single Y bounds their mean
//! error ([`prove_means`]) and their largest ([`prove_max`]).
//!
//! # The theorem
//! Theorem 3.2 of the paper promises that the hott topics are found, under a condition on a matrix
//! that nobody sees. [`theory()`] constructs such a matrix and so decides for the data at hand.
//!
//! [`Goal`]: crate::Goal
//! [`Goal::Cost`]: crate::Goal::Cost
//! [`Goal::Minimax`]: crate::Goal::Minimax
//! [`Goal::Total`]: crate::Goal::Total

mod certificate;
mod checks;
mod choice;
mod figures;
mod refusal;
mod rounding;
mod theory;
mod verify;

pub use certificate::{Certificate, Claims};
pub use choice::{ChoiceCertificate, ChoiceCut, verify_choice};
pub use figures::{Audit, DualAudit};
#[doc(hidden)]
pub use figures::{Precision, before_merging, prove_max, prove_mean, prove_means};
pub(crate) use figures::{prove_mean_ruled, prove_means_observed};
pub use refusal::Refusal;
pub use theory::{Theory, theory};
#[doc(hidden)]
pub use verify::prove_bound;
pub use verify::{Verified, verify};

#[cfg(test)]
mod exact;
#[cfg(test)]
mod tests;
