//! What can be said for sure about an answer.
//!
//! Theorem 3.2 of the paper promises that the hott topics are found, under a condition on a matrix
//! that nobody sees. [`theory()`] constructs such a matrix and so decides for the data at hand.

mod theory;

pub use theory::{Theory, theory};
