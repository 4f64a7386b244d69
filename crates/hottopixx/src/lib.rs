//! Find the few rows of a nonnegative matrix that explain all the others, and prove how good they are.
//!
//! Given an `f x n` nonnegative matrix X whose rows are features, choose `r` of its rows, the *hott
//! topics*, such that every row is nearly a nonnegative combination of them (separable nonnegative
//! matrix factorization):
//!
//! ```text
//! X ~ F W,   W = r rows of X,   F >= 0 is f x r,   ||x_i - f_i W||_1 small for every row i
//! ```
//!
//! Rows count after they are divided by their sums, so an error of 0.1 means a tenth of the row. The
//! crate follows *Factoring nonnegative matrices with linear programs* by Bittorf, Recht, Ré and Tropp
//! ("the paper"), whose symbols and equation numbers the documentation uses.
//!
//! ```
//! use hottopixx::{Dense, Factor, Method};
//!
//! // Rows 0 and 1 explain rows 2 and 3.
//! let x = Dense::from_rows(&[[4.0, 0.0, 1.0], [0.0, 2.0, 1.0], [4.0, 2.0, 2.0], [8.0, 2.0, 3.0]])?.into();
//! let answer = Factor::new(2).method(Method::Minimax).run(&x)?;
//! let mut rows: Vec<usize> = answer.hott.iter().map(|hott| hott.row).collect();
//! rows.sort_unstable(); // the most distinctive row comes first
//! assert_eq!(rows, [0, 1]);
//! assert!(answer.errors.inf1 < 1e-9);
//! // No choice of two rows has a smaller largest error than this: proven.
//! assert!(answer.bounds.is_some_and(|bounds| bounds.lower_bound <= answer.errors.inf1 + 1e-9));
//! # Ok::<(), hottopixx::Error>(())
//! ```
//!
//! # Methods
//!
//! | [`Method`] | what it does | requires | proves a bound |
//! |---|---|---|---|
//! | `Auto` (default) | several of the others, judged by their exact error, then improved by exchanging rows | – | on the error that it makes small |
//! | `Hottopixx` | the paper's incremental gradient method (Algorithm 4, corrected) | – | no |
//! | `Lp` | the paper's linear program (Algorithm 3): every row within tau | `tau` | yes |
//! | `Minimax` | the linear program that makes the largest error small | – | yes |
//! | `Total` | the linear program that makes the sum of all errors small | – | yes |
//! | `Gradient` | the Frobenius form, on the Gram matrix | – | no |
//! | `Agkm` | Algorithm 1 (Arora, Ge, Kannan, Moitra) | `epsilon`, `alpha` | no |
//! | `Spa`, `Snpa`, `Xray` | greedy: successive projections onto the span, hull or cone | – | no |
//!
//! A method of your own is a [`methods::Localiser`], given to [`Factor::localiser`].
//!
//! # Where things are
//!
//! Data flows one way, and most modules bear the names of the steps:
//! [`matrix`] → [`normalise`] → [`localise`] → select → [`clean`] → [`Factorization`].
//!
//! - [`Factor`] runs it all: `run`, `evaluate` a choice of your own, `apply` an answer to new rows, `certify` with bounds that an
//!   independent verifier has checked, `path` of errors against the rank; [`Comparison`] runs every method.
//! - [`choice`] bounds every choice of rows, tells how many rows are needed, and searches for the best.
//! - [`certify`] holds the verifier and the paper's theorem, [`l1`] the exact l1 regression that
//!   everything rests on, [`control`] deadlines, interruption and progress, [`text`] words and
//!   their counts, [`topics`] topics of documents, [`unmix`] materials of scenes, [`synth`] instances with known answers.

#![deny(unsafe_code)]

pub mod certify;
#[doc(hidden)]
pub mod checkpoint;
pub mod choice;
pub mod clean;
pub mod clock;
mod complete;
pub mod control;
mod effort;
mod error;
mod factor;
mod goal;
#[doc(hidden)]
pub mod kernels;
pub mod l1;
pub mod localise;
pub mod matrix;
pub mod methods;
pub mod normalise;
mod objective;
mod order;
#[doc(hidden)]
pub mod project;
mod rules;
#[doc(hidden)]
pub mod select;
mod squares;
pub mod synth;
pub mod text;
pub mod topics;
pub mod unmix;

pub use clean::Cleaning;
pub use control::{Control, Stop};
pub use effort::Effort;
pub use error::Error;
pub use factor::{
    Applied, AppliedColumns, Certified, Changes, Compared, Comparison, Completion, Errors, Factor,
    Factorization, Footprint, HeldOut, HottRow, Method, Missing, Moved, Outliers, RankNeeded,
    RankPath, RankPoint, Seconds, Skipped, Work,
};
pub use goal::Goal;
pub use matrix::{Dense, Matrix, Sparse};
pub use methods::{Bounded, Bounds, KeptDual, USUAL_BUDGET};
pub use objective::Objective;
pub use rules::Constraints;
pub use select::portfolio::Judged;
