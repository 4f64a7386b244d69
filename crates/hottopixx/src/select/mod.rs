//! From diagonals and greedy answers to hott rows.
//!
//! The paper takes `I = {i : C_ii = 1}`, which never holds in practice: after 50 epochs the r-th
//! diagonal is about 0.3, and duplicates share their weight even at an optimum of the LP. What
//! works is to build several candidate sets and keep the one with the lowest *exact cleaned error*,
//! which needs no ground truth; and, since real data are far from separable, to refine it by
//! exchanging one row at a time while that error falls.
//!
//! - [`top`] and [`cluster`] read a diagonal; the greedy methods run on rows weighted by it;
//! - [`portfolio`] collects candidate sets and judges them in a `race`;
//! - `search` looks for better ones by exchanging rows;
//! - [`groups`] finds, for each hott row, the rows that could stand in its place.

pub(crate) mod coarse;
mod diagonal;
pub mod groups;
pub mod portfolio;
mod race;
pub(crate) mod search;
mod swap;
mod work;

pub use diagonal::{cluster, top};
pub(crate) use swap::Scoring;
