//! Least squares: small nonnegative problems on a Gram matrix, and rows of X fitted by them.
//!
//! They are never the answer that is promised (that is the l1 fit, [`crate::l1`]), but they are where
//! its solvers start, what the greedy methods project with, and the fast way to clean.

mod coordinate;
mod inverse;
mod nnls;
mod rows;

pub(crate) use coordinate::{approximate, cholesky_solve, descend, minimise_in_box};
pub(crate) use inverse::inverse;
pub(crate) use nnls::{Domain, Nnls};
pub(crate) use rows::{least_squares, least_squares_of};
