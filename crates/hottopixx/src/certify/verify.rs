//! The verifier: every inequality of the program, checked from X and the certificate alone.

use super::certificate::{Certificate, Goal};
use super::figures::{Audit, largest, recompute};
use crate::normalise::UnitRows;

/// How far a constraint may be violated: all of them are of unit size, and solvers that work in
/// floating point meet such constraints to about this much.
const FEASIBLE: f64 = 1e-9;
/// How far a figure may be from what is recomputed. The same sums in another order differ by less
/// than 1e-12 at ordinary sizes; a change of 1e-3 in one entry moves some figure by far more.
const AGREEMENT: f64 = 1e-9;

/// What holds for sure of a certificate that was accepted.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Verified {
    /// The value of the goal at (d, C), recomputed.
    pub objective: f64,
    /// No feasible point has a smaller value.
    pub lower_bound: f64,
    /// `(objective - lower_bound) / |objective|`; objectives below 1e-9 count as 1e-9.
    pub gap: f64,
    /// `||X - CX||_{inf,1}`, the largest l1 error of a row.
    pub inf1: f64,
    /// `sum d`.
    pub trace: f64,
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
    /// A row of Y that is too large for a bound on the total.
    #[error("the dual's row {row} has an entry of size {found}: the bound holds up to 1")]
    DualNorm {
        /// The row.
        row: usize,
        /// `||Y_i||_inf`.
        found: f64,
    },
    /// A Y that is too large for a bound on the largest error.
    #[error("the largest entries of the dual's rows sum to {found}: the bound holds up to 1")]
    DualNorms {
        /// `sum_i ||Y_i||_inf`.
        found: f64,
    },
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
    #[error("the lower bound {lower_bound} is above the objective {objective}")]
    Crossing {
        /// The objective.
        objective: f64,
        /// The lower bound.
        lower_bound: f64,
    },
}

/// Checks every claim of `certificate` about `x`; accepted means that it *is* a feasible point of
/// the program it names, with the value and the bound it names, up to 1e-9.
///
/// O(nonzeros of C * n + dual rows * nonzeros of X), parallel over rows.
///
/// # Errors
/// The first [`Refusal`] met; NaN anywhere is refused.
pub fn verify(x: &UnitRows, certificate: &Certificate) -> Result<Verified, Refusal> {
    check_shapes(x, certificate)?;
    check_finite(certificate)?;
    check_problem(certificate)?;
    check_diagonal(certificate)?;
    check_weights(certificate)?;
    let figures = recompute(x, certificate);
    check_audit(&certificate.audit, &figures.audit)?;
    check_errors(certificate.goal, &figures.audit)?;
    check_norms(certificate.goal, &figures.audit)?;
    let (objective, lower_bound) = (figures.objective, figures.lower_bound);
    if !agree(objective, certificate.objective) {
        return Err(Refusal::Objective { found: objective, claimed: certificate.objective });
    }
    if !agree(lower_bound, certificate.lower_bound) {
        return Err(Refusal::LowerBound { found: lower_bound, claimed: certificate.lower_bound });
    }
    // An error may be FEASIBLE above tau, and Y says what that is worth.
    let worth: f64 = figures.audit.dual.iter().map(|y| y.norm).sum();
    if !at_most(lower_bound, objective, FEASIBLE * (1.0 + objective.abs() + worth)) {
        return Err(Refusal::Crossing { objective, lower_bound });
    }
    Ok(Verified {
        objective,
        lower_bound,
        gap: (objective - lower_bound).max(0.0) / objective.abs().max(AGREEMENT),
        inf1: largest(&figures.audit.errors),
        trace: certificate.diagonal.iter().sum(),
    })
}

/// `a <= b + tolerance`, and false for NaN.
fn at_most(a: f64, b: f64, tolerance: f64) -> bool {
    a <= b + tolerance
}

fn agree(found: f64, claimed: f64) -> bool {
    (found - claimed).abs() <= AGREEMENT
}

/// Whether the parts fit X and each other, so that the loops cannot leave them.
pub(super) fn check_shapes(x: &UnitRows, certificate: &Certificate) -> Result<(), Refusal> {
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

fn check_finite(certificate: &Certificate) -> Result<(), Refusal> {
    if let Goal::Cost { tau } = certificate.goal {
        finite("tau", None, &[tau])?;
    }
    finite("the cost", None, &certificate.cost)?;
    finite("the diagonal", None, &certificate.diagonal)?;
    for i in 0..certificate.localising.rows() {
        finite("C", Some(i), certificate.localising.row(i).1)?;
    }
    for (row, y) in &certificate.dual {
        finite("the dual", Some(*row), y)?;
    }
    Ok(())
}

/// Refuses the first value that is no number. A part with one value a row gives no row: the place
/// is the row.
fn finite(what: &'static str, row: Option<usize>, values: &[f64]) -> Result<(), Refusal> {
    match values.iter().position(|v| !v.is_finite()) {
        Some(k) => Err(Refusal::NotFinite { what, row: row.unwrap_or(k), value: values[k] }),
        None => Ok(()),
    }
}

/// The problem itself: tau, rank and cost.
fn check_problem(certificate: &Certificate) -> Result<(), Refusal> {
    match certificate.goal {
        Goal::Cost { tau } if tau < 0.0 => return Err(Refusal::Tau { tau }),
        Goal::Cost { .. } => {}
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

fn check_diagonal(certificate: &Certificate) -> Result<(), Refusal> {
    for (row, (&value, allowed)) in
        certificate.diagonal.iter().zip(&certificate.allowed).enumerate()
    {
        if !at_most(0.0, value, FEASIBLE) || !at_most(value, 1.0, FEASIBLE) {
            return Err(Refusal::Diagonal { row, value });
        }
        if !allowed && !at_most(value, 0.0, FEASIBLE) {
            return Err(Refusal::Forbidden { row, value });
        }
    }
    let found: f64 = certificate.diagonal.iter().sum();
    match certificate.rank {
        Some(rank) if !at_most((found - rank as f64).abs(), 0.0, FEASIBLE * rank.max(1) as f64) => {
            Err(Refusal::Trace { found, rank })
        }
        _ => Ok(()),
    }
}

/// `0 <= C_ij <= d_j = C_jj`; entries that are not stored are zero.
fn check_weights(certificate: &Certificate) -> Result<(), Refusal> {
    let d = &certificate.diagonal;
    for row in 0..certificate.localising.rows() {
        let (columns, values) = certificate.localising.row(row);
        let mut on_diagonal = 0.0;
        for (&col, &value) in columns.iter().zip(values) {
            let col = col as usize;
            if col == row {
                on_diagonal = value;
            } else if !at_most(0.0, value, FEASIBLE) || !at_most(value, d[col], FEASIBLE) {
                return Err(Refusal::Weight { row, col, value, diagonal: d[col] });
            }
        }
        if !at_most((on_diagonal - d[row]).abs(), 0.0, FEASIBLE) {
            return Err(Refusal::DiagonalOfC { row, found: on_diagonal, claimed: d[row] });
        }
    }
    Ok(())
}

fn check_errors(goal: Goal, audit: &Audit) -> Result<(), Refusal> {
    if let Goal::Cost { tau } = goal
        && let Some(row) = audit.errors.iter().position(|e| !at_most(*e, tau, FEASIBLE))
    {
        return Err(Refusal::Error { row, found: audit.errors[row], tau });
    }
    Ok(())
}

/// Whether Y is small enough for its bound. FEASIBLE too large is a bound FEASIBLE too high: Y may
/// be divided by what is too much.
fn check_norms(goal: Goal, audit: &Audit) -> Result<(), Refusal> {
    match goal {
        Goal::Cost { .. } => Ok(()),
        Goal::Minimax => {
            let found: f64 = audit.dual.iter().map(|y| y.norm).sum();
            if at_most(found, 1.0, FEASIBLE) { Ok(()) } else { Err(Refusal::DualNorms { found }) }
        }
        Goal::Total => match audit.dual.iter().find(|y| !at_most(y.norm, 1.0, FEASIBLE)) {
            Some(y) => Err(Refusal::DualNorm { row: y.row, found: y.norm }),
            None => Ok(()),
        },
    }
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
