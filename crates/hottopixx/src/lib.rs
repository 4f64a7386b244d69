//! Find the few rows of a nonnegative matrix that explain all the others.
//!
//! Given an `f x n` nonnegative matrix whose rows are features, `hottopixx` chooses `r` of its
//! rows, the *hott topics*, such that every other row is nearly a nonnegative combination of
//! them: `X ~ F W` with `W` the chosen rows (separable nonnegative matrix factorization).
//! It follows *Factoring nonnegative matrices with linear programs* by Bittorf, Recht, Ré and
//! Tropp ("the paper"), whose symbols and equation numbers the documentation uses.
//!
//! Data flows one way, and the modules bear the names of the steps:
//! [`matrix`] → [`normalise`] → [`localise`] → [`select`] → [`clean`] → [`Factorization`].

pub mod certify;
pub mod checkpoint;
pub mod clean;
pub mod control;
mod error;
mod factor;
mod goal;
pub mod kernels;
pub mod l1;
pub mod localise;
pub mod matrix;
pub mod methods;
pub mod normalise;
mod objective;
pub mod project;
pub mod select;
mod squares;
pub mod synth;
pub mod text;

pub use clean::Cleaning;
pub use error::Error;
pub use factor::{
    Certified, Compared, Comparison, Errors, Factor, Factorization, Footprint, HottRow, Method,
    RankPath, RankPoint, Seconds, Skipped,
};
pub use goal::Goal;
pub use methods::{Bounds, USUAL_BUDGET};
pub use objective::Objective;
pub use select::portfolio::Judged;
