//! An answer to one of the linear programs together with what proves it.

use super::figures::{Audit, recompute};
use super::verify::check_shapes;
use crate::matrix::Sparse;
use crate::normalise::UnitRows;

/// What a linear program over localising matrices makes small.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// `p.d` with every row's l1 error at most tau (Algorithm 3 of the paper).
    Cost {
        /// The largest l1 error allowed to a row.
        tau: f64,
    },
    /// The largest l1 error of a row.
    Minimax,
    /// The sum of the l1 errors of all rows.
    Total,
}

/// A point of a linear program and a bound on all points, for anyone to [verify](super::verify()).
/// Rows are rows of X with unit rows; [`UnitRows::input_row`] leads back to the caller's.
#[derive(Debug, Clone, PartialEq)]
pub struct Certificate {
    /// What is made small.
    pub goal: Goal,
    /// r of the constraint `sum d = r`; `None` where the trace is free.
    pub rank: Option<usize>,
    /// p, one cost a row; zeros unless the goal is [`Goal::Cost`].
    pub cost: Vec<f64>,
    /// Whether a row may be hott.
    pub allowed: Vec<bool>,
    /// d, the diagonal of C.
    pub diagonal: Vec<f64>,
    /// C, f x f with its diagonal.
    pub localising: Sparse,
    /// The rows of Y that are not zero, by increasing row, each of length n.
    pub dual: Vec<(usize, Vec<f64>)>,
    /// The value of the goal at (d, C).
    pub objective: f64,
    /// What Y proves: no feasible (d, C) has a smaller value.
    pub lower_bound: f64,
    /// Figures by row, against which X, C and Y are compared.
    pub audit: Audit,
}

impl Certificate {
    /// States what (d, C) and Y amount to for this X: objective, bound and audit are computed
    /// here, with the verifier's loops and at the verifier's cost. Nothing is judged; parts whose
    /// shapes do not fit leave the figures NaN and the audit empty, which no verifier accepts.
    #[expect(clippy::too_many_arguments, reason = "the problem, the point and the dual, once each")]
    pub fn new(
        x: &UnitRows,
        goal: Goal,
        rank: Option<usize>,
        cost: Vec<f64>,
        allowed: Vec<bool>,
        diagonal: Vec<f64>,
        localising: Sparse,
        dual: Vec<(usize, Vec<f64>)>,
    ) -> Certificate {
        let (objective, lower_bound, audit) = (f64::NAN, f64::NAN, Audit::default());
        let mut certificate = Certificate {
            goal,
            rank,
            cost,
            allowed,
            diagonal,
            localising,
            dual,
            objective,
            lower_bound,
            audit,
        };
        if check_shapes(x, &certificate).is_ok() {
            let figures = recompute(x, &certificate);
            certificate.objective = figures.objective;
            certificate.lower_bound = figures.lower_bound;
            certificate.audit = figures.audit;
        }
        certificate
    }
}
