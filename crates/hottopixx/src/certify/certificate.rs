//! An answer to one of the linear programs together with what proves it.

use super::figures::Audit;
use super::refusal::Refusal;
use super::verify::{Verified, examine};
use crate::Goal;
use crate::control::Control;
use crate::localise::lp::{LpOutcome, LpSettings, LpStatus};
use crate::matrix::Sparse;
use crate::normalise::UnitRows;

/// A point of a linear program and a bound on all points, for anyone to [verify](super::verify()).
/// Rows are rows of X with unit rows; [`UnitRows::input_row`] leads back to the caller's.
#[derive(Debug, Clone, PartialEq)]
pub struct Certificate {
    /// What is made small.
    pub goal: Goal,
    /// r of the constraint `sum d = r`; `None` where the trace is free.
    pub rank: Option<usize>,
    /// p, one cost per row; zeros unless the goal is [`Goal::Cost`].
    pub cost: Vec<f64>,
    /// Whether a row may be hott.
    pub allowed: Vec<bool>,
    /// Rows that must be hott, increasing: `d_j = 1`.
    pub must: Vec<usize>,
    /// d, the diagonal of C.
    pub diagonal: Vec<f64>,
    /// C, f x f with its diagonal.
    pub localising: Sparse,
    /// The rows of Y that are not zero, by increasing row, each of length n.
    pub dual: Vec<(usize, Vec<f64>)>,
    /// What is said to come of it. Without claims there is less to refuse, and no less to prove.
    pub claims: Option<Claims>,
}

/// What a certificate says of itself, which [`verify`](super::verify()) compares with what it finds.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Claims {
    /// [`Verified::objective`].
    pub objective: f64,
    /// [`Verified::lower_bound`].
    pub lower_bound: f64,
    /// Figures by row, against which X, C and Y are compared.
    pub audit: Audit,
}

impl Certificate {
    /// The certificate of a solved program: its point, cut down exactly to what the program allows
    /// where rounding let it out, and its dual. Without a feasible point (infeasible, or stopped)
    /// it is one of [`Goal::Minimax`], whose bound says which tau cannot be feasible. `allowed` has
    /// an entry for each row of X.
    pub fn of(
        rank: usize,
        allowed: &[bool],
        settings: &LpSettings,
        outcome: &LpOutcome,
    ) -> Certificate {
        let feasible = matches!(outcome.status, LpStatus::Optimal | LpStatus::Feasible);
        let mut diagonal: Vec<f64> = outcome
            .diagonal
            .iter()
            .zip(allowed)
            .map(|(d, allowed)| if *allowed && *d > 0.0 { d.min(1.0) } else { 0.0 })
            .collect();
        // Stopped before anything was found, there is no diagonal to speak of.
        settings.must.iter().for_each(|&j| diagonal[j] = 1.0);
        Certificate {
            goal: if feasible { settings.goal } else { Goal::Minimax },
            rank: settings.trace.then_some(rank),
            cost: if feasible { outcome.cost.clone() } else { vec![0.0; allowed.len()] },
            allowed: allowed.to_vec(),
            must: settings.must.clone(),
            localising: within_diagonal(&diagonal, &outcome.localising),
            diagonal,
            dual: outcome.dual.clone(),
            claims: None,
        }
    }

    /// The same with Y = 0, which proves the trivial bound (no error is negative, and this many
    /// rows cost what the cheapest cost) and takes next to no time to verify.
    pub fn without_dual(self) -> Certificate {
        Certificate { dual: Vec::new(), claims: None, ..self }
    }

    /// [Verifies](super::verify()) and, if that succeeds, takes what was found for its claims: who
    /// reads the certificate later will notice any change.
    ///
    /// # Errors
    /// As [`verify`](super::verify()).
    pub fn seal(&mut self, x: &UnitRows, control: &Control) -> Result<Verified, Refusal> {
        let (verified, audit) = examine(x, self, control)?;
        let Verified { objective, lower_bound, .. } = verified;
        self.claims = Some(Claims { objective, lower_bound, audit });
        Ok(verified)
    }
}

/// C with `0 <= C_ij <= d_j` and `C_jj = d_j`, exactly; rows that are not given have their diagonal
/// only.
fn within_diagonal(d: &[f64], rows: &[Vec<(u32, f64)>]) -> Sparse {
    let mut triplets = Vec::new();
    for (i, &own) in d.iter().enumerate() {
        let row = rows.get(i).map_or(&[][..], Vec::as_slice);
        for &(j, weight) in row.iter().filter(|w| w.0 as usize != i) {
            triplets.push((i, j as usize, weight.max(0.0).min(d[j as usize])));
        }
        triplets.push((i, i, own));
    }
    triplets.retain(|entry| entry.2 != 0.0);
    Sparse::from_triplets(d.len(), d.len(), &triplets).expect("rows and columns are those of X")
}
