//! What the verifier checks without arithmetic: shapes, the problem, the bounds of d and C; and
//! whether claimed figures are those that were found.

use super::certificate::{Certificate, Claims};
use super::figures::Audit;
use super::refusal::{Refusal, finite};
use crate::Goal;
use crate::normalise::UnitRows;

/// How far a figure may be from what is claimed, relative to figures above one. The same sums in
/// another order differ by less than 1e-12 at ordinary sizes; a change of 1e-3 in one entry moves
/// some figure by far more.
pub(super) const AGREEMENT: f64 = 1e-9;

pub(super) fn agree(found: f64, claimed: f64) -> bool {
    claimed.is_finite() && (found - claimed).abs() <= AGREEMENT * claimed.abs().max(1.0)
}

/// Whether the parts fit X and each other, so that the loops cannot leave them.
pub(super) fn check_shapes(x: &UnitRows, certificate: &Certificate) -> Result<(), Refusal> {
    let f = x.features();
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
    check_dual(x, &certificate.dual)
}

/// Whether the rows of a dual are rows of X, increasing, and as long.
pub(super) fn check_dual(x: &UnitRows, dual: &[(usize, Vec<f64>)]) -> Result<(), Refusal> {
    let (f, n) = (x.features(), x.examples());
    let mut next = 0;
    for (row, y) in dual {
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

/// The problem itself: tau, rank and cost.
pub(super) fn check_problem(certificate: &Certificate) -> Result<(), Refusal> {
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
    let Certificate { rank, must, .. } = certificate;
    let may = |row: &usize| certificate.allowed.get(*row).is_some_and(|allowed| *allowed);
    if !must.is_sorted_by(|a, b| a < b) || !must.iter().all(may) {
        return Err(Refusal::Must);
    }
    match *rank {
        Some(rank) if rank > allowed => Err(Refusal::Rank { rank, allowed }),
        Some(rank) if must.len() > rank => Err(Refusal::Must),
        _ => Ok(()),
    }
}

/// `0 <= d_j <= 1`, 0 where a row may not be hott, and 1 where it must be.
pub(super) fn check_diagonal(certificate: &Certificate) -> Result<(), Refusal> {
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
    match certificate.must.iter().find(|row| certificate.diagonal[**row] != 1.0) {
        Some(&row) => Err(Refusal::LeftOut { row, value: certificate.diagonal[row] }),
        None => Ok(()),
    }
}

/// `0 <= C_ij <= d_j = C_jj`; entries that are not stored are zero.
pub(super) fn check_weights(certificate: &Certificate) -> Result<(), Refusal> {
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

pub(super) fn check_claims(
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

pub(super) fn check_audit(claimed: &Audit, found: &Audit) -> Result<(), Refusal> {
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
