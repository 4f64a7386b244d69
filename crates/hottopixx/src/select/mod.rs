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

mod coarse;
mod diagonal;
pub mod groups;
pub mod portfolio;
mod race;
pub(crate) mod search;
mod swap;

pub use diagonal::{cluster, top};
pub(crate) use swap::Scoring;

/// All rows in a fixed random order: of any size, the first of them are a fair sample.
fn shuffled_rows(f: usize) -> Vec<usize> {
    // The finaliser of splitmix64, a bijection: no ties.
    let key = |i: usize| {
        let mut z = (i as u64).wrapping_add(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    let mut rows: Vec<usize> = (0..f).collect();
    rows.sort_by_cached_key(|&i| key(i));
    rows
}
