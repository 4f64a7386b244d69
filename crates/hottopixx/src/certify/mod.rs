//! What is proven about an answer.

/// The objective of a linear program over localising matrices.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// `min p.d` with every row explained within tau (Algorithm 3; Algorithm 2 at tau = 0).
    Cost {
        /// The l1 error that every row may have.
        tau: f64,
    },
    /// The smallest largest l1 error of a row.
    Minimax,
    /// The smallest sum of the rows' l1 errors.
    Total,
}
