//! The goals of the linear programs, which solvers and verifier share and nothing else.

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
    /// The sum of the l1 errors of all rows, each times the weight of its row.
    Total,
}
