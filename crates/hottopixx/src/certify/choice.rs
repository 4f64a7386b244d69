//! Proofs that no choice of r rows explains every row within a threshold, with any weights.
//!
//! # What is proven
//! X is the matrix whose numbers were given, each row divided by its exact sum, and
//! `e_i(S) = min ||x_i - sum_{j in S} c_j x_j||_1` over `c >= 0`. Accepted means: for every set S of at most r
//! rows that may be hott, some `e_i(S)` is *above* T.
//!
//! # Why
//! For cut c of row i at y, `|y| <= 1`, let `b_c = y.x_i` and `a_cj = u_ij (y.x_j)_+`, where `u_ij` is the
//! largest weight that a fit of `x_i` needs on `x_j` (`figures/caps.rs`). Then `e_i(S) >= b_c - sum_{j in S} a_cj`.
//! If all errors of S were at most T, then `sum_{j in S} min(a_cj, b_c - T) >= b_c - T` wherever `b_c > T`:
//! either a term is as large as the right side, or none was lowered. With multipliers
//! `lambda_c >= 0`, the r largest of `sum_c lambda_c min(a_cj, b_c - T)` would sum to at least
//! `sum_c lambda_c (b_c - T)`. The verifier finds that they do not. Smaller b and larger a prove less, so b is
//! rounded down and a up.

use super::figures::{RefusingWatch, Rows};
use super::refusal::{Refusal, finite};
use super::rounding::{Sum, add_down, largest_size, mul_down, mul_up};
use crate::control::Control;
use crate::kernels::parallel::*;
use crate::normalise::UnitRows;

/// A proof that every choice of `rank` rows (or fewer) leaves some row with an error above `threshold`,
/// whatever the weights. Rows are rows of X with unit rows.
#[derive(Debug, Clone, PartialEq)]
pub struct ChoiceCertificate {
    /// r.
    pub rank: usize,
    /// Whether a row may be hott.
    pub allowed: Vec<bool>,
    /// T.
    pub threshold: f64,
    /// The cuts with their multipliers.
    pub cuts: Vec<ChoiceCut>,
}

/// A cut of a row, and what it counts.
#[derive(Debug, Clone, PartialEq)]
pub struct ChoiceCut {
    /// i.
    pub row: usize,
    /// y, of length n, no entry larger than one.
    pub y: Vec<f64>,
    /// lambda, not negative.
    pub multiplier: f64,
}

/// Checks that `certificate` proves what it says about `x`: see the module for what that is. No tolerance
/// and no solver is involved, and rounding is accounted for.
///
/// O(cuts * candidates * n log n), parallel over cuts; looks at `control` every few milliseconds.
///
/// # Errors
/// The first [`Refusal`] met; NaN anywhere is refused.
pub fn verify_choice(
    x: &UnitRows,
    certificate: &ChoiceCertificate,
    control: &Control,
) -> Result<(), Refusal> {
    check(x, certificate)?;
    let threshold = certificate.threshold;
    let rows = Rows::new(x, control)?;
    let covered: Vec<(f64, Vec<f64>)> = certificate
        .cuts
        .par_iter()
        .map_init(
            || RefusingWatch::new(control),
            |watch, cut| cut.terms(&rows, certificate, threshold, watch),
        )
        .collect::<Result<_, Refusal>>()?;
    let needed: Sum = covered.iter().map(|terms| terms.0).collect();
    let mut columns: Vec<f64> = (0..x.features())
        .map(|j| covered.iter().map(|terms| terms.1[j]).collect::<Sum>().upper())
        .collect();
    columns.sort_unstable_by(|a, b| b.total_cmp(a));
    let most: Sum = columns.into_iter().take(certificate.rank).collect();
    let (needed, found) = (needed.lower(), most.upper());
    if needed > found {
        return Ok(());
    }
    Err(Refusal::Covered { threshold, needed, found })
}

/// Everything that needs no arithmetic.
fn check(x: &UnitRows, certificate: &ChoiceCertificate) -> Result<(), Refusal> {
    let (f, n) = (x.features(), x.examples());
    if certificate.allowed.len() != f {
        let (what, found) = ("the list of rows that may be hott", certificate.allowed.len());
        return Err(Refusal::Shape { what, found, expected: f });
    }
    finite("the threshold", None, &[certificate.threshold])?;
    for cut in &certificate.cuts {
        if cut.row >= f {
            return Err(Refusal::DualRow { row: cut.row, rows: f });
        }
        if cut.y.len() != n {
            let what = "the dual of a cut";
            return Err(Refusal::Shape { what, found: cut.y.len(), expected: n });
        }
        finite("the multiplier of a cut", Some(cut.row), &[cut.multiplier])?;
        finite("the dual of a cut", Some(cut.row), &cut.y)?;
        let size = largest_size(&cut.y);
        if cut.multiplier < 0.0 || size > 1.0 {
            return Err(Refusal::Cut { row: cut.row, multiplier: cut.multiplier, size });
        }
    }
    Ok(())
}

impl ChoiceCut {
    /// `lambda (b - T)`, rounded down, and `lambda min(a_j, b - T)` by row of X, rounded up; zeros where
    /// `b <= T`.
    fn terms(
        &self,
        rows: &Rows<'_>,
        certificate: &ChoiceCertificate,
        threshold: f64,
        watch: &mut RefusingWatch<'_>,
    ) -> Result<(f64, Vec<f64>), Refusal> {
        let allowed = &certificate.allowed;
        let mut columns = vec![0.0; allowed.len()];
        let depth = add_down(rows.bounds(self.row, &self.y).low, -threshold);
        if depth <= 0.0 || depth.is_nan() || self.multiplier == 0.0 {
            return Ok((0.0, columns));
        }
        let given = rows.given(self.row);
        for j in (0..allowed.len()).filter(|&j| allowed[j]) {
            watch.spend(4 * given.len())?;
            let price = rows.bounds(j, &self.y).high;
            if price > 0.0 {
                let a = mul_up(rows.cap(self.row, &given, j), price);
                // Where a is no number, the depth.
                columns[j] = mul_up(self.multiplier, if a < depth { a } else { depth });
            }
        }
        Ok((mul_down(self.multiplier, depth), columns))
    }
}
