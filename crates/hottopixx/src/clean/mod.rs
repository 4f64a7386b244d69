//! Cleaning: from hott rows to F, equation (2) of the paper,
//!
//! `F = argmin over Z >= 0 of ||X - Z W||_{inf,1}`, W the hott rows of X.
//!
//! The rows of Z decouple, so each is an l1 fit on the hott rows ([`crate::l1`]), exact and in
//! parallel. The paper's two epochs of incremental gradients are offered as the fast choice; they
//! are far from the minimum (see [`incremental`]) and the result says when they were used.

mod exact;
mod incremental;
mod measure;

pub use exact::{RowFit, exact};
pub(crate) use exact::{refit, warm};
pub use incremental::{IncrementalSettings, incremental};
pub use measure::{Measured, measure};
