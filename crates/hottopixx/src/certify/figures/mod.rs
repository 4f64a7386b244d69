//! The arithmetic of a certificate, which shares nothing with the solvers but plain matrix products.
//!
//! Every figure is an inequality about the exact numbers: X is the matrix as it was given, each
//! row divided by its exact sum. Let `v_j` be row j as given, `s_j` its sum, `x_j = v_j / s_j`, and
//! k the `depth` of a sum, `g_k` for `gamma(k)`.
//!
//! - *Sums*: entries are not negative, so `s_j` is within `g_k s_j` of what is computed.
//! - *Products*: `<y, x_j> = <y, v_j> / s_j`, and the computed `<y, v_j>` is off by at most
//!   `g_k sum_l |y_l| v_jl <= g_k ||y||_inf s_j`: the error follows from the norm and costs nothing.
//!   That holds for any order of additions, k the most roundings of a term (`products`).
//! - *Errors*: `x_i - c_i X = (1 - C_ii) x_i - sum_{j != i} C_ij x_j`. With m terms, each of which
//!   is rounded at most `m + 3` times, the l1 norm is off by at most
//!   `(g_{m+3} + the error of one over the sums) (1 - C_ii + sum_{j != i} C_ij)`.
//!
//! All sums are taken in order of row and column, so the figures do not depend on the number of
//! threads.

mod audit;
mod caps;
mod dual;
mod free;
mod observed;
mod point;
mod products;
mod rows;

pub(super) use audit::audit;
pub use audit::{Audit, DualAudit};
pub(super) use dual::dual;
pub(crate) use free::prove_mean_ruled;
pub use free::{before_merging, prove_max, prove_mean, prove_means};
pub(crate) use observed::prove_means_observed;
pub(super) use point::{PointFigures, point};
pub use products::Precision;
pub(super) use rows::Rows;

use super::refusal::Refusal;
use crate::control::Control;

/// Multiply-adds between two looks at the clock: a few milliseconds.
const PATIENCE: usize = 1 << 21;
/// What an underflow can amount to in units of `x_j`: `2^-1074` over a sum, and sums are
/// [ordinary](rows::SUMS).
const UNDERFLOW: f64 = 1e-200;

/// Asks now and then whether to stop.
pub(super) struct RefusingWatch<'a> {
    control: &'a Control,
    work: usize,
}

impl<'a> RefusingWatch<'a> {
    /// One that asks at its first work.
    pub(super) fn new(control: &'a Control) -> Self {
        RefusingWatch { control, work: PATIENCE }
    }

    pub(super) fn spend(&mut self, work: usize) -> Result<(), Refusal> {
        self.work += work;
        if self.work < PATIENCE {
            return Ok(());
        }
        self.work = 0;
        self.control.stopped().map_or(Ok(()), |stop| Err(Refusal::Stopped(stop)))
    }
}

/// `value`, or `otherwise` where it is no number.
#[inline]
fn or(value: f64, otherwise: f64) -> f64 {
    if value.is_nan() { otherwise } else { value }
}
