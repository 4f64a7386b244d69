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
//! `(1 - s) sum_j C_ij` and the cost changes by at most `(1 - s) sum_j |p_j| d_j`. If it is below,
//! diagonals are raised by what is missing: raising `C_jj` and multiplying the rest of row j by
//! `(1 - new) / (1 - old)` makes its residual smaller by that factor, so no error grows, and the cost
//! changes by at most what is missing times `|p_j|`, j the cheapest row with room for it. The figures
//! are those of the point so mended.

use super::certificate::{Certificate, Claims};
use super::figures::{Audit, Point, Rows, audit, dual, point};
use super::rounding::{Sum, add_down, add_up, div_up, mul_up};
use crate::Goal;
use crate::control::{Control, Stop};
use crate::normalise::UnitRows;

/// How far the trace may be from the rank, relative to it, and errors above tau: solvers that work
/// in floating point meet such constraints to about this much. What is allowed is accounted for.
const FEASIBLE: f64 = 1e-9;
/// How far a figure may be from what is claimed, relative to figures above one. The same sums in
/// another order differ by less than 1e-12 at ordinary sizes; a change of 1e-3 in one entry moves
/// some figure by far more.
const AGREEMENT: f64 = 1e-9;
/// Objectives below this count as this much in the gap.
const FLOOR: f64 = 1e-9;

/// What holds for sure of a certificate that was accepted.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
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

/// Why a certificate was not accepted. Rows and columns count from 0 and are those of X with unit
/// rows, of C or of Y.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A part that does not fit X.
    #[error(
        "{what} has {found} entries, but X asks for {expected}: certificate of another matrix?"
    )]
    Shape {
        /// The part.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length it must have.
        expected: usize,
    },
    /// A row of Y that X does not have, or that comes out of order.
    #[error("row {row} of the dual is out of place: rows must increase and be below {rows}")]
    DualRow {
        /// The row.
        row: usize,
        /// Rows of X.
        rows: usize,
    },
    /// NaN or infinite.
    #[error("{what}, row {row}: {value} is no finite number")]
    NotFinite {
        /// The part.
        what: &'static str,
        /// The row in it.
        row: usize,
        /// The value.
        value: f64,
    },
    /// tau is negative.
    #[error("tau = {tau} is not possible: errors cannot be negative")]
    Tau {
        /// tau.
        tau: f64,
    },
    /// More hott rows than rows that may be hott.
    #[error("rank {rank} is not possible: {allowed} rows may be hott")]
    Rank {
        /// The rank.
        rank: usize,
        /// Rows that may be hott.
        allowed: usize,
    },
    /// A cost where the goal has none.
    #[error("row {row} costs {value}, but the goal knows no costs: set it to 0")]
    Cost {
        /// The row.
        row: usize,
        /// Its cost.
        value: f64,
    },
    /// `d_j` outside 0 to 1.
    #[error("the diagonal is {value} at row {row}: it must be between 0 and 1")]
    Diagonal {
        /// The row.
        row: usize,
        /// `d_j`.
        value: f64,
    },
    /// `d_j > 0` for a row that may not be hott.
    #[error("the diagonal is {value} at row {row}, which may not be hott")]
    Forbidden {
        /// The row.
        row: usize,
        /// `d_j`.
        value: f64,
    },
    /// `C_jj` is not `d_j`.
    #[error("C has {found} at row {row} of its diagonal, which is claimed to be {claimed}")]
    DiagonalOfC {
        /// The row.
        row: usize,
        /// `C_jj`.
        found: f64,
        /// `d_j`.
        claimed: f64,
    },
    /// `C_ij < 0` or `C_ij > d_j`.
    #[error("C is {value} at row {row}, column {col}: it must be between 0 and {diagonal}")]
    Weight {
        /// i.
        row: usize,
        /// j.
        col: usize,
        /// `C_ij`.
        value: f64,
        /// `d_j`.
        diagonal: f64,
    },
    /// The trace is not the rank.
    #[error("the diagonal sums to {found} instead of {rank}")]
    Trace {
        /// `sum d`.
        found: f64,
        /// The rank.
        rank: usize,
    },
    /// A row that is not explained well enough.
    #[error("the error of row {row} is {found}, more than tau = {tau}")]
    Error {
        /// The row.
        row: usize,
        /// Its l1 error.
        found: f64,
        /// The largest error allowed.
        tau: f64,
    },
    /// Numbers so large that floating point has no bound for them.
    #[error("{what} is beyond the range of numbers: nothing is proven")]
    Range {
        /// The figure.
        what: &'static str,
    },
    /// Told to stop before everything was checked.
    #[error("not checked to the end: {0}")]
    Stopped(Stop),
    /// A figure of the audit that is not what X, C or Y give.
    #[error("{what} of row {row} is {found}, not {claimed}: the data or the certificate changed")]
    Audit {
        /// The figure.
        what: &'static str,
        /// The row.
        row: usize,
        /// As recomputed.
        found: f64,
        /// As claimed.
        claimed: f64,
    },
    /// The objective is not as claimed.
    #[error("the objective is {found}, not {claimed}")]
    Objective {
        /// As recomputed.
        found: f64,
        /// As claimed.
        claimed: f64,
    },
    /// The lower bound is not as claimed.
    #[error("the dual proves a lower bound of {found}, not {claimed}")]
    LowerBound {
        /// As recomputed.
        found: f64,
        /// As claimed.
        claimed: f64,
    },
    /// A bound above the value that it bounds.
    #[error(
        "the lower bound {lower_bound} is above the objective {objective}, by more than the \
         {explained} that errors above tau explain"
    )]
    Crossing {
        /// The objective.
        objective: f64,
        /// The lower bound.
        lower_bound: f64,
        /// The largest excess over tau times the sum of the dual's norms.
        explained: f64,
    },
}

impl Refusal {
    /// The row of X, C or Y that the refusal is about, if it is about one.
    pub fn row(&self) -> Option<usize> {
        match self {
            Refusal::DualRow { row, .. }
            | Refusal::NotFinite { row, .. }
            | Refusal::Cost { row, .. }
            | Refusal::Diagonal { row, .. }
            | Refusal::Forbidden { row, .. }
            | Refusal::DiagonalOfC { row, .. }
            | Refusal::Weight { row, .. }
            | Refusal::Error { row, .. }
            | Refusal::Audit { row, .. } => Some(*row),
            _ => None,
        }
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
    let objective = in_range("the objective", objective(certificate, &trace, &errors))?;
    let lower_bound = in_range("the lower bound", dual.lower_bound)?;
    if let Some(claims) = &certificate.claims {
        check_claims(claims, objective, lower_bound, &audit)?;
    }
    // With tau raised by the excess the point is feasible, and Y proves so much less.
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

fn agree(found: f64, claimed: f64) -> bool {
    claimed.is_finite() && (found - claimed).abs() <= AGREEMENT * claimed.abs().max(1.0)
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
    /// At least `1 - r / sum d` if the trace is above r.
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
        let share = if over > 0.0 { div_up(over, r.max(sum.low)).min(1.0) } else { 0.0 };
        Ok(Trace { over, under, share })
    }

    /// The errors of the mended point: those of the point, and more if it has to be scaled down.
    fn errors(&self, point: &Point) -> Vec<f64> {
        let mended = |(&error, &weight): (&f64, &f64)| add_up(error, mul_up(self.share, weight));
        point.errors.iter().zip(&point.weights).map(mended).collect()
    }
}

/// The value of the goal at the mended point, rounded up.
fn objective(certificate: &Certificate, trace: &Trace, errors: &[f64]) -> f64 {
    match certificate.goal {
        Goal::Minimax => largest(errors),
        Goal::Total => errors.iter().copied().collect::<Sum>().upper(),
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

/// Whether the parts fit X and each other, so that the loops cannot leave them.
fn check_shapes(x: &UnitRows, certificate: &Certificate) -> Result<(), Refusal> {
    let (f, n) = (x.features(), x.examples());
    let c = &certificate.localising;
    for (what, found) in [
        ("the cost", certificate.cost.len()),
        ("the list of rows that may be hott", certificate.allowed.len()),
        ("the diagonal", certificate.diagonal.len()),
        ("a column of C", c.rows()),
        ("a row of C", c.cols()),
    ] {
        if found != f {
            return Err(Refusal::Shape { what, found, expected: f });
        }
    }
    let mut next = 0;
    for (row, y) in &certificate.dual {
        if *row < next || *row >= f {
            return Err(Refusal::DualRow { row: *row, rows: f });
        }
        if y.len() != n {
            let what = "a row of the dual";
            return Err(Refusal::Shape { what, found: y.len(), expected: n });
        }
        next = row + 1;
    }
    Ok(())
}

/// Refuses the first value that is no number. A part with one value a row gives no row: the place
/// is the row.
pub(super) fn finite(
    what: &'static str,
    row: Option<usize>,
    values: &[f64],
) -> Result<(), Refusal> {
    match values.iter().position(|v| !v.is_finite()) {
        Some(k) => Err(Refusal::NotFinite { what, row: row.unwrap_or(k), value: values[k] }),
        None => Ok(()),
    }
}

/// The problem itself: tau, rank and cost.
fn check_problem(certificate: &Certificate) -> Result<(), Refusal> {
    finite("the cost", None, &certificate.cost)?;
    match certificate.goal {
        Goal::Cost { tau } => {
            finite("tau", None, &[tau])?;
            if tau < 0.0 {
                return Err(Refusal::Tau { tau });
            }
        }
        Goal::Minimax | Goal::Total => {
            if let Some(row) = certificate.cost.iter().position(|p| *p != 0.0) {
                return Err(Refusal::Cost { row, value: certificate.cost[row] });
            }
        }
    }
    let allowed = certificate.allowed.iter().filter(|a| **a).count();
    match certificate.rank {
        Some(rank) if rank > allowed => Err(Refusal::Rank { rank, allowed }),
        _ => Ok(()),
    }
}

/// `0 <= d_j <= 1`, and 0 where a row may not be hott.
fn check_diagonal(certificate: &Certificate) -> Result<(), Refusal> {
    finite("the diagonal", None, &certificate.diagonal)?;
    let diagonal = certificate.diagonal.iter().zip(&certificate.allowed);
    for (row, (&value, allowed)) in diagonal.enumerate() {
        if !(0.0..=1.0).contains(&value) {
            return Err(Refusal::Diagonal { row, value });
        }
        if !allowed && value != 0.0 {
            return Err(Refusal::Forbidden { row, value });
        }
    }
    Ok(())
}

/// `0 <= C_ij <= d_j = C_jj`; entries that are not stored are zero.
fn check_weights(certificate: &Certificate) -> Result<(), Refusal> {
    let d = &certificate.diagonal;
    for row in 0..certificate.localising.rows() {
        let (columns, values) = certificate.localising.row(row);
        finite("C", Some(row), values)?;
        let mut on_diagonal = 0.0;
        for (&col, &value) in columns.iter().zip(values) {
            let col = col as usize;
            if col == row {
                on_diagonal = value;
            } else if !(0.0..=d[col]).contains(&value) {
                return Err(Refusal::Weight { row, col, value, diagonal: d[col] });
            }
        }
        if on_diagonal != d[row] {
            return Err(Refusal::DiagonalOfC { row, found: on_diagonal, claimed: d[row] });
        }
    }
    Ok(())
}

fn check_claims(
    claims: &Claims,
    objective: f64,
    lower_bound: f64,
    audit: &Audit,
) -> Result<(), Refusal> {
    check_audit(&claims.audit, audit)?;
    if !agree(objective, claims.objective) {
        return Err(Refusal::Objective { found: objective, claimed: claims.objective });
    }
    if !agree(lower_bound, claims.lower_bound) {
        return Err(Refusal::LowerBound { found: lower_bound, claimed: claims.lower_bound });
    }
    Ok(())
}

fn check_audit(claimed: &Audit, found: &Audit) -> Result<(), Refusal> {
    for (what, claimed, found) in [
        ("the sum of squares", &claimed.squares, &found.squares),
        ("the centre", &claimed.centres, &found.centres),
        ("the sum of weights", &claimed.weights, &found.weights),
        ("the error", &claimed.errors, &found.errors),
    ] {
        if claimed.len() != found.len() {
            let (what, expected) = ("the audit of rows", found.len());
            return Err(Refusal::Shape { what, found: claimed.len(), expected });
        }
        if let Some(row) = (0..found.len()).find(|&i| !agree(found[i], claimed[i])) {
            return Err(Refusal::Audit { what, row, found: found[row], claimed: claimed[row] });
        }
    }
    if claimed.dual.len() != found.dual.len() {
        let (what, expected) = ("the audit of the dual", found.dual.len());
        return Err(Refusal::Shape { what, found: claimed.dual.len(), expected });
    }
    for (claimed, found) in claimed.dual.iter().zip(&found.dual) {
        let row = found.row;
        for (what, claimed, found) in [
            ("the dual's row number", claimed.row as f64, found.row as f64),
            ("the dual's sum", claimed.sum, found.sum),
            ("the dual's largest entry", claimed.norm, found.norm),
            ("the dual's product", claimed.product, found.product),
        ] {
            if !agree(found, claimed) {
                return Err(Refusal::Audit { what, row, found, claimed });
            }
        }
    }
    Ok(())
}
