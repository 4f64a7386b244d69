//! A certified answer as it is reported: the program's claims, what became of them, the theorem.

use hottopixx::certify::{Theory, Verified};
use hottopixx::{Bounds, Certified};
use serde::Serialize;

/// What is proven.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Proof {
    /// Value, bound, gap and trace as the verifier found them; nothing where it refused.
    #[serde(flatten)]
    pub claims: Option<Bounds>,
    /// The bound that the dual proves, recomputed from X; 0 where nothing was proven.
    pub independent_bound: f64,
    /// All figures of the verifier, if it accepted.
    pub checked: Option<Verified>,
    /// Whether every inequality holds.
    pub verified: bool,
    /// Why not, otherwise.
    pub refusal: Option<String>,
}

impl From<&Certified> for Proof {
    fn from(certified: &Certified) -> Self {
        let checked = certified.verified.as_ref().ok().copied();
        Proof {
            claims: certified.bounds.clone(),
            independent_bound: checked.map_or(0.0, |found| found.lower_bound),
            checked,
            verified: certified.verified.is_ok(),
            refusal: certified.verified.as_ref().err().map(ToString::to_string),
        }
    }
}

/// The figures of Theorem 3.2, and what they mean.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Theorem {
    /// The least l1 distance of a hott row from the hull of the others.
    pub alpha: f64,
    /// d0, the least l1 distance of another row from a hott row.
    pub margin: Option<f64>,
    /// The largest l1 distance of a row from a separable matrix nearby.
    pub epsilon: f64,
    /// What epsilon must stay below.
    pub threshold: f64,
    /// Whether it does.
    pub holds: bool,
    /// Rows of the input that count as duplicates of each hott row.
    pub duplicates: Vec<Vec<usize>>,
    /// All that in words.
    pub sentence: String,
}

impl Theorem {
    /// `row` leads from rows of the matrix that was certified to rows of the input.
    /// `None` where there was no time for the theorem.
    pub fn new(certified: &Certified, row: impl Fn(usize) -> usize) -> Option<Self> {
        let theory = certified.theory.as_ref()?;
        let Theory { alpha, margin, epsilon, threshold, holds, duplicates, .. } = theory;
        let input =
            |rows: &Vec<usize>| rows.iter().map(|&i| row(certified.x.input_row(i))).collect();
        Some(Theorem {
            alpha: *alpha,
            margin: *margin,
            epsilon: *epsilon,
            threshold: *threshold,
            holds: *holds,
            duplicates: duplicates.iter().map(input).collect(),
            sentence: theory.sentence(),
        })
    }
}
