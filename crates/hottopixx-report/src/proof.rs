//! A certified answer as it is reported: the program's claims, what became of them, the theorem.

use crate::Certificate;
use hottopixx::Certified;
use hottopixx::certify::Theory;
use serde::Serialize;

/// The program's claims and what the verifier made of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Proof {
    /// What the program says of itself.
    #[serde(flatten)]
    pub claims: Certificate,
    /// The bound that the dual proves, recomputed from X.
    pub independent_bound: f64,
    /// Whether every inequality holds.
    pub verified: bool,
    /// Why not, otherwise.
    pub refusal: Option<String>,
}

impl From<&Certified> for Proof {
    fn from(certified: &Certified) -> Self {
        Proof {
            claims: Certificate::from(&certified.bounds),
            independent_bound: certified.certificate.lower_bound,
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
    pub fn new(certified: &Certified, row: impl Fn(usize) -> usize) -> Self {
        let Theory { alpha, margin, epsilon, threshold, holds, duplicates, .. } = &certified.theory;
        let input =
            |rows: &Vec<usize>| rows.iter().map(|&i| row(certified.x.input_row(i))).collect();
        Theorem {
            alpha: *alpha,
            margin: *margin,
            epsilon: *epsilon,
            threshold: *threshold,
            holds: *holds,
            duplicates: duplicates.iter().map(input).collect(),
            sentence: certified.theory.sentence(),
        }
    }
}
