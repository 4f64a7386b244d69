//! The inner loops that everything else calls: inner products, sums of vectors, the
//! moves of residuals, matrix products, the steps of the incremental gradient, the inverse of a
//! simplex basis.
//!
//! All `unsafe` code of the crate lives in this folder.

mod capped;
mod entering;
mod gemm;
mod inverse;
mod mixture;
mod nearness;
pub(crate) mod parallel;
mod prefetch;
mod single;
mod steps;
mod vector;

pub(crate) use capped::{
    add_capped_above, add_capped_positive, clip_capped, dual_clip, dual_step, mass_above,
    mass_after_shift, mass_below,
};
pub(crate) use entering::{ENTERING_BLOCK, Support, roots_after_entering};
pub use gemm::{Real, View, ViewMut, gemm, gemm_while, multiply};
pub(crate) use inverse::{Inverse, independent_block};
pub(crate) use mixture::{add_mixture, log_likelihood, mixture_pass};
pub(crate) use nearness::{NEARNESS_KEYS, nearness_keys};
pub(crate) use prefetch::prefetch;
pub(crate) use single::{Above, add_above, clip, l1_distance};
pub(crate) use steps::{LANES, PanelSteps, QUAD, pack_gram, packed_gram_len, take_steps};
pub use vector::{
    advance, axpy, axpy4, dot, max_abs, norms, positive_sum, scaled_distance, speed_below,
    steps_to_zero, transpose, transpose_while,
};
