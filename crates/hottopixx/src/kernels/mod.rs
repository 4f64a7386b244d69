//! The inner loops that everything else calls: inner products, sums of vectors, the
//! moves of residuals, matrix products, the inverse of a simplex basis.
//!
//! All `unsafe` code of the crate lives in this folder.

mod gemm;
mod inverse;
mod vector;

pub use gemm::gemm;
pub(crate) use inverse::{Inverse, independent_block};
pub use vector::{advance, axpy, axpy4, dot, max_abs, speed_below, steps_to_zero, transpose};
