//! The verifier: every inequality of the program, checked from X and the certificate alone.
//!
//! # What is proven
//! X is the matrix whose numbers were given, each row divided by its exact sum. Accepted means:
//!
//! - Every feasible point of the program has a value of at least [`Verified::lower_bound`].
//! - There is a point that satisfies all constraints exactly and has a value of at most
//!   [`Verified::objective`] and errors of at most [`Verified::inf1`]; for [`Goal::Cost`] its errors
//!   may be [`Verified::excess`] above tau.
//!
//! Assumed are IEEE 754 arithmetic and the numbers as they are in memory, nothing else: no solver,
//! no tolerance. How rounding is kept out: `certify/rounding.rs`.
//!
//! # The point
//! `0 <= C_ij <= d_j = C_jj <= 1`, and `d_j = 0` for rows that may not be hott, are comparisons of
//! numbers as given. Only the trace of numbers that were rounded cannot be r exactly. If it is
//! above, d and C are multiplied by `s = r / sum d`: an error grows by at most
//! `(1 - s) sum_j C_ij` and the cost changes by at most `(1 - s) sum_j |p_j| d_j`. (Where m rows must be hott, the columns of
//! the others alone are, by `s = (r - m) / (sum d - m)`.) If it is below,
//! diagonals are raised by what is missing: raising `C_jj` and multiplying the rest of row j by
//! `(1 - new) / (1 - old)` makes its residual smaller by that factor, so no error grows, and the cost
//! changes by at most what is missing times `|p_j|`, j the cheapest row with room for it. The figures
//! are those of the point so mended.

use super::certificate::Certificate;
use super::checks::{
    AGREEMENT, agree, check_claims, check_diagonal, check_problem, check_shapes, check_weights,
};
use super::figures::{Audit, PointFigures, Rows, audit, dual, point};
use super::refusal::Refusal;
use super::rounding::{Sum, add_down, add_up, div_up, mul_up};
use crate::Goal;
use crate::control::Control;
use crate::normalise::UnitRows;

/// How far the trace may be from the rank, relative to it, and errors above tau: solvers that work
/// in floating point meet such constraints to about this much. What is allowed is accounted for.
const FEASIBLE: f64 = 1e-9;
/// Objectives below this count as this much in the gap.
const FLOOR: f64 = 1e-9;

/// What holds for sure of a certificate that was accepted.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct Verified {
    /// At least the value of the goal at a point that satisfies every constraint: (d, C), with a
    /// trace that is the rank exactly.
    pub objective: f64,
    /// No feasible point has a smaller value.
    pub lower_bound: f64,
    /// `(objective - lower_bound) / |objective|`; objectives below 1e-9 count as 1e-9. Negative only
    /// for [`Goal::Cost`], as far as [`Verified::excess`] explains.
    pub gap: f64,
    /// At least `||X - CX||_{inf,1}`, the largest l1 error of a row, at that point.
    pub inf1: f64,
    /// For [`Goal::Cost`], at least what any error is above tau at that point, up to 1e-9; else 0.
    pub excess: f64,
    /// `sum d`, to the nearest number.
    pub trace: f64,
    /// At least `|sum d - r|`, which the figures allow for; 0 where the trace is free.
    pub trace_error: f64,
    /// `sum_i ||Y_i||_inf`, rounded up: what an excess of one would be worth.
    pub dual_norm: f64,
    /// What the bound was divided by because Y was larger than its goal allows; 1 where it was not.
    pub dual_scale: f64,
}

impl Verified {
    /// How far the value is below the bound: 0, or as much as errors above tau can explain.
    pub fn crossing(&self) -> f64 {
        (self.lower_bound - self.objective).max(0.0)
    }

    /// Whether what a solver says of its answer is what was found: its value, and a bound that is
    /// no better than the one proven.
    ///
    /// # Errors
    /// [`Refusal::Objective`] or [`Refusal::LowerBound`].
    pub fn supports(&self, objective: f64, lower_bound: f64) -> Result<(), Refusal> {
        if !agree(self.objective, objective) {
            return Err(Refusal::Objective { found: self.objective, claimed: objective });
        }
        // Sums of terms as large as Y are rounded as much.
        let rounding = AGREEMENT * (1.0 + lower_bound.abs() + self.dual_norm);
        if self.lower_bound >= lower_bound - rounding {
            return Ok(());
        }
        Err(Refusal::LowerBound { found: self.lower_bound, claimed: lower_bound })
    }
}

/// Checks every claim of `certificate` about `x`: see the module's documentation for what is proven.
///
/// O(nonzeros of C * n + dual rows * nonzeros of X), parallel over rows; looks at `control` every
/// few milliseconds.
///
/// # Errors
/// The first [`Refusal`] met; NaN anywhere is refused.
pub fn verify(
    x: &UnitRows,
    certificate: &Certificate,
    control: &Control,
) -> Result<Verified, Refusal> {
    examine(x, certificate, control).map(|(verified, _)| verified)
}

/// The bound that the dual of `certificate` proves for its problem, whatever its point: the part of
/// [`verify`] for programs that turned out to have no point at all.
///
/// # Errors
/// As [`verify`], but for what concerns d and C.
pub fn prove_bound(
    x: &UnitRows,
    certificate: &Certificate,
    control: &Control,
) -> Result<f64, Refusal> {
    check_shapes(x, certificate)?;
    check_problem(certificate)?;
    let dual = dual(&Rows::new(x, control)?, certificate, control)?;
    in_range("the lower bound", dual.lower_bound)
}

/// As [`verify`], with the figures by row.
pub(super) fn examine(
    x: &UnitRows,
    certificate: &Certificate,
    control: &Control,
) -> Result<(Verified, Audit), Refusal> {
    check_shapes(x, certificate)?;
    check_problem(certificate)?;
    check_diagonal(certificate)?;
    check_weights(certificate)?;
    let trace = Trace::of(certificate)?;
    let rows = Rows::new(x, control)?;
    let point = point(&rows, certificate, control)?;
    let errors = trace.errors(&point);
    let excess = excess(certificate.goal, &errors)?;
    let dual = dual(&rows, certificate, control)?;
    let audit = audit(&rows, certificate, &point, &dual, control)?;
    let objective = in_range("the objective", objective(x, certificate, &trace, &errors))?;
    let lower_bound = in_range("the lower bound", dual.lower_bound)?;
    if let Some(claims) = &certificate.claims {
        check_claims(claims, objective, lower_bound, &audit)?;
    }
    // With tau raised by the excess the point is feasible, and Y proves that much less.
    let explained = mul_up(excess, dual.norm_sum);
    if lower_bound > objective && !at_most(add_down(lower_bound, -objective), explained) {
        return Err(Refusal::Crossing { objective, lower_bound, explained });
    }
    let verified = Verified {
        objective,
        lower_bound,
        gap: (objective - lower_bound) / objective.abs().max(FLOOR),
        inf1: in_range("the largest error", largest(&errors))?,
        excess,
        trace: certificate.diagonal.iter().sum(),
        trace_error: trace.over.max(trace.under),
        dual_norm: dual.norm_sum,
        dual_scale: dual.divisor,
    };
    Ok((verified, audit))
}

/// `a <= b`, and false for NaN.
fn at_most(a: f64, b: f64) -> bool {
    a <= b
}

fn in_range(what: &'static str, value: f64) -> Result<f64, Refusal> {
    if value.is_finite() { Ok(value) } else { Err(Refusal::Range { what }) }
}

/// The largest value; infinite when one of them is no number.
fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most, &v| if v <= most { most } else { v.max(most) })
}

/// How far the trace is from the rank, and what mending it costs.
struct Trace {
    /// At least `sum d - r`.
    over: f64,
    /// At least `r - sum d`.
    under: f64,
    /// At least `1 - s` if the trace is above r.
    share: f64,
}

impl Trace {
    fn of(certificate: &Certificate) -> Result<Self, Refusal> {
        let Some(rank) = certificate.rank else {
            return Ok(Trace { over: 0.0, under: 0.0, share: 0.0 });
        };
        let r = rank as f64;
        let sum = certificate.diagonal.iter().copied().collect::<Sum>().bounds();
        let over = add_up(sum.high, -r).max(0.0);
        let under = add_up(r, -sum.low).max(0.0);
        if !at_most(over.max(under), FEASIBLE * r.max(1.0)) {
            let found = certificate.diagonal.iter().sum();
            return Err(Refusal::Trace { found, rank });
        }
        // m is exact, and 1 - s is `over` in parts of what is scaled: `sum d - m`, or `r - m` where that is not less.
        let scaled = add_down(r.max(sum.low), -(certificate.must.len() as f64));
        let share = match over > 0.0 {
            true if scaled > 0.0 => div_up(over, scaled).min(1.0),
            true => 1.0,
            false => 0.0,
        };
        Ok(Trace { over, under, share })
    }

    /// The errors of the mended point: those of the point, and more if it has to be scaled down.
    fn errors(&self, point: &PointFigures) -> Vec<f64> {
        let mended = |(&error, &weight): (&f64, &f64)| add_up(error, mul_up(self.share, weight));
        point.errors.iter().zip(&point.weights).map(mended).collect()
    }
}

/// The value of the goal at the mended point, rounded up.
fn objective(x: &UnitRows, certificate: &Certificate, trace: &Trace, errors: &[f64]) -> f64 {
    match certificate.goal {
        Goal::Minimax => largest(errors),
        Goal::Total => {
            let counted = |(i, &error): (usize, &f64)| match x.weights() {
                [] => error,
                weights => mul_up(weights[i], error),
            };
            errors.iter().enumerate().map(counted).collect::<Sum>().upper()
        }
        Goal::Cost { .. } => {
            let (p, d) = (&certificate.cost, &certificate.diagonal);
            let cost: Sum = p.iter().zip(d).map(|(p, d)| mul_up(*p, *d)).collect();
            let sizes: Sum = p.iter().zip(d).map(|(p, d)| mul_up(p.abs(), *d)).collect();
            // One row with room takes what is missing; without such a row any may have to.
            let room = |j: &usize| certificate.allowed[*j] && add_up(d[*j], trace.under) <= 1.0;
            let dearest = p.iter().map(|p| p.abs()).fold(0.0, f64::max);
            let raised =
                (0..p.len()).filter(room).map(|j| p[j].abs()).fold(f64::INFINITY, f64::min);
            let mended =
                mul_up(trace.share, sizes.upper()).max(mul_up(trace.under, raised.min(dearest)));
            add_up(cost.upper(), mended)
        }
    }
}

/// At least how far any error is above tau.
fn excess(goal: Goal, errors: &[f64]) -> Result<f64, Refusal> {
    let Goal::Cost { tau } = goal else { return Ok(0.0) };
    let mut most = 0.0;
    for (row, &error) in errors.iter().enumerate() {
        let over = if error <= tau { 0.0 } else { add_up(error, -tau) };
        if !at_most(over, FEASIBLE) {
            return Err(Refusal::Error { row, found: error, tau });
        }
        most = over.max(most);
    }
    Ok(most)
}
