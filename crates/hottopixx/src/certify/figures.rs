//! The arithmetic of a certificate, by plain loops that share nothing with the solvers: every sum
//! is taken in order of row and column, so the figures do not depend on the number of threads.

use super::certificate::{Certificate, Goal};
use crate::normalise::UnitRows;
use rayon::prelude::*;

/// Figures by row that a verifier recomputes and compares. They pin X, C and Y down: an entry
/// that was changed is noticed even where every inequality would still hold.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Audit {
    /// `e_i = ||x_i - c_i X||_1` for each row of X.
    pub errors: Vec<f64>,
    /// The sum of row i of C.
    pub weights: Vec<f64>,
    /// The sum of the squares of `x_i`.
    pub squares: Vec<f64>,
    /// `sum_k x_ik (k + 1) / n`: where the row has its weight. Squares alone overlook a change of
    /// an entry that is about as large as the sum of squares, and columns that changed places.
    pub centres: Vec<f64>,
    /// The rows of Y, in the order of [`Certificate::dual`].
    pub dual: Vec<DualAudit>,
}

/// The figures of one row of Y.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct DualAudit {
    /// i.
    pub row: usize,
    /// `<Y_i, x_i>`.
    pub product: f64,
    /// The sum of `Y_i`.
    pub sum: f64,
    /// `||Y_i||_inf`.
    pub norm: f64,
}

/// All that follows from X, the problem, C and Y.
pub(super) struct Figures {
    pub(super) objective: f64,
    pub(super) lower_bound: f64,
    pub(super) audit: Audit,
}

/// Recomputes every figure. The shapes must fit.
/// O(nonzeros of C * n + dual rows * nonzeros of X), parallel over rows.
pub(super) fn recompute(x: &UnitRows, certificate: &Certificate) -> Figures {
    let audit = audit(x, certificate);
    let objective = match certificate.goal {
        Goal::Cost { .. } => {
            certificate.cost.iter().zip(&certificate.diagonal).map(|(p, d)| p * d).sum()
        }
        Goal::Minimax => largest(&audit.errors),
        Goal::Total => audit.errors.iter().sum(),
    };
    let products: f64 = audit.dual.iter().map(|y| y.product).sum();
    let bound = products + cheapest(certificate, &prices(x, certificate));
    let lower_bound = match certificate.goal {
        Goal::Cost { tau } => bound - tau * audit.dual.iter().map(|y| y.norm).sum::<f64>(),
        // Errors are not negative, which needs no Y. (Not `max`, which would hide a NaN.)
        Goal::Minimax | Goal::Total if bound < 0.0 => 0.0,
        Goal::Minimax | Goal::Total => bound,
    };
    Figures { objective, lower_bound, audit }
}

/// The largest value; NaN when one of them is.
pub(super) fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most, &v| if most >= v || f64::is_nan(most) { most } else { v })
}

fn audit(x: &UnitRows, certificate: &Certificate) -> Audit {
    let (f, n) = (x.features(), x.examples());
    let rows = || (0..f).into_par_iter();
    let errors = rows()
        .map_init(|| vec![0.0; n], |residual, i| row_error(x, certificate, i, residual))
        .collect();
    let dual = certificate.dual.par_iter().map(|(i, y)| DualAudit {
        row: *i,
        product: product(x, *i, y),
        sum: y.iter().sum(),
        norm: largest(&y.iter().map(|v| v.abs()).collect::<Vec<_>>()),
    });
    Audit {
        errors,
        weights: rows().map(|i| certificate.localising.row(i).1.iter().sum()).collect(),
        squares: rows().map(|i| x.row(i).nonzeros().map(|(_, v)| v * v).sum()).collect(),
        centres: rows()
            .map(|i| x.row(i).nonzeros().map(|(k, v)| v * (k + 1) as f64 / n as f64).sum())
            .collect(),
        dual: dual.collect(),
    }
}

/// `||x_i - c_i X||_1`. `residual` has n zeros, before and after.
fn row_error(x: &UnitRows, certificate: &Certificate, i: usize, residual: &mut [f64]) -> f64 {
    let (columns, weights) = certificate.localising.row(i);
    for (k, value) in x.row(i).nonzeros() {
        residual[k] += value;
    }
    for (&j, weight) in columns.iter().zip(weights) {
        for (k, value) in x.row(j as usize).nonzeros() {
            residual[k] -= weight * value;
        }
    }
    let mut error = 0.0;
    for j in std::iter::once(i).chain(columns.iter().map(|j| *j as usize)) {
        // Each column is taken once: it is cleared when it is counted.
        for (k, _) in x.row(j).nonzeros() {
            error += std::mem::take(&mut residual[k]).abs();
        }
    }
    error
}

/// `<y, x_j>`.
fn product(x: &UnitRows, j: usize, y: &[f64]) -> f64 {
    x.row(j).nonzeros().map(|(k, value)| y[k] * value).sum()
}

/// `a_j = p_j - G_jj - sum_{i != j} (G_ij)_+` for every row j of X.
fn prices(x: &UnitRows, certificate: &Certificate) -> Vec<f64> {
    let price = |j: usize| {
        let start = match certificate.goal {
            Goal::Cost { .. } => certificate.cost[j],
            Goal::Minimax | Goal::Total => 0.0,
        };
        certificate.dual.iter().fold(start, |a, (i, y)| {
            let g = product(x, j, y);
            if *i != j && g <= 0.0 { a } else { a - g }
        })
    };
    (0..x.features()).into_par_iter().map(price).collect()
}

/// S(a): the least of `a.d` over the diagonals that the problem allows.
fn cheapest(certificate: &Certificate, prices: &[f64]) -> f64 {
    let allowed = prices.iter().zip(&certificate.allowed).filter(|(_, allowed)| **allowed);
    let mut prices: Vec<f64> = allowed.map(|(a, _)| *a).collect();
    match certificate.rank {
        Some(rank) => {
            prices.sort_by(f64::total_cmp);
            prices.iter().take(rank).sum()
        }
        None => prices.iter().filter(|a| a.is_nan() || **a < 0.0).sum(),
    }
}
