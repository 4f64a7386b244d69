//! Where the hott rows are: methods that read X and point at rows.
//!
//! Two kinds of methods live here. The *convex* ones look for a localising matrix C with
//! `X ~ C X` (section 3 of the paper) and return its diagonal, on which hott rows carry large
//! weights: [`mod@hottopixx`], the paper's incremental gradient method (Algorithm 4, corrected), and
//! [`frobenius()`], the same program with the squared error, which needs the Gram matrix only. The
//! greedy ones choose rows outright, one after the other: [`spa`], [`snpa`] and [`xray`]. Turning diagonals
//! and greedy answers into one set of hott rows is the business of [`select`](crate::select).
//! [`mod@exchange`] improves such choices by exchanging rows in least squares.
//! Beside them stands [`agkm()`], the paper's Algorithm 1, which looks at each row for itself: it
//! requires the noise and alpha, and finds the number of hott rows.
//!
//! Every index is a row of [`UnitRows`](crate::normalise::UnitRows). Every method takes the rows
//! that may be hott as a mask, the *candidates*; the others only have to be explained. No result
//! depends on the number of threads.

pub(crate) mod agkm;
#[doc(hidden)]
pub mod exchange;
pub(crate) mod first_order;
pub(crate) mod frobenius;
pub(crate) mod greedy;
pub mod hottopixx;
pub mod lp;
mod question;

pub use agkm::{Agkm, AgkmSettings, agkm};
pub use frobenius::{FrobeniusSettings, frobenius};
#[cfg(test)]
pub(crate) use greedy::spa_weighted;
pub use greedy::{Greedy, snpa, spa, xray};
pub(crate) use greedy::{snpa_ruled, spa_controlled, spa_ruled, xray_ruled};
pub use hottopixx::{HottopixxSettings, hottopixx};
pub use question::Question;

use crate::Error;
use crate::control::Stop;

/// The diagonal of a localising matrix, and how it was come by.
#[derive(Debug, Clone, PartialEq)]
pub struct Localisation {
    /// `diag(C)`, one entry in [0, 1] for each row of X; zero for rows that are not candidates.
    pub diagonal: Vec<f64>,
    /// Iterations or epochs carried out.
    pub iterations: usize,
    /// The objective at the end, in the method's own terms; NaN when there was no time to compute
    /// it.
    pub objective: f64,
    /// Whether the stopping test was met; methods that run a fixed number of epochs do not have
    /// one and say `true` when all of them were run.
    pub converged: bool,
    /// Why the method ended.
    pub stop: Stop,
    /// How many rows could get a weight, of how many that were allowed, where the method itself
    /// left some out.
    pub screened: Option<(usize, usize)>,
}

impl Localisation {
    /// What a method has that was stopped before its first step.
    fn nothing(features: usize, stop: Stop) -> Self {
        Localisation {
            diagonal: vec![0.0; features],
            iterations: 0,
            objective: f64::NAN,
            converged: false,
            stop,
            screened: None,
        }
    }
}

/// All rows in a fixed random order: of any size, the first of them are a fair sample.
pub(crate) fn shuffled_rows(f: usize) -> Vec<usize> {
    // The finaliser of splitmix64, a bijection: no ties.
    let key = |i: usize| {
        let mut z = (i as u64).wrapping_add(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    let mut rows: Vec<usize> = (0..f).collect();
    rows.sort_by_cached_key(|&i| key(i));
    rows
}

/// The rows that may be hott, increasing; an error unless there are `rank` of them.
fn candidate_rows(allowed: &[bool], rank: usize) -> Result<Vec<usize>, Error> {
    let candidates: Vec<usize> = (0..allowed.len()).filter(|&i| allowed[i]).collect();
    if rank == 0 || rank > candidates.len() {
        let available = candidates.len();
        return Err(Error::Rank { rank, available, what: "rows that may be hott" });
    }
    Ok(candidates)
}

/// A cost vector needs one finite entry for each row of X.
fn check_cost(cost: Option<&[f64]>, features: usize) -> Result<(), Error> {
    let Some(cost) = cost else { return Ok(()) };
    if cost.len() != features {
        let (found, expected) = (cost.len(), features);
        return Err(Error::Length { name: "cost", found, expected, what: "rows of X" });
    }
    match cost.iter().position(|p| !p.is_finite()) {
        Some(i) => {
            let remedy = format!("entry {i} must be a finite number");
            Err(Error::Setting { name: "cost", value: cost[i].to_string(), remedy })
        }
        None => Ok(()),
    }
}

/// Spreads the diagonal of the candidates over all rows of X.
fn spread(candidates: &[usize], diagonal: &[f64], features: usize) -> Vec<f64> {
    let mut out = vec![0.0; features];
    for (&row, &value) in candidates.iter().zip(diagonal) {
        out[row] = value;
    }
    out
}

#[cfg(test)]
pub(crate) mod instances;
