//! One instance of the campaign: a matrix and the questions asked about it, all of it a function of
//! a seed and an index.

use super::families::CampaignFamily;
use hottopixx::matrix::{Dense, Matrix, Sparse};

/// How the errors that rows may have are chosen, given the smallest that is feasible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taus {
    /// Well above, well below, or a plain number.
    Plain,
    /// Within 1e-12, 1e-9 or 1e-6 of the threshold.
    AtThreshold,
}

/// A matrix and what is asked about it. Rows are those of the matrix, zero rows included.
#[derive(Debug, Clone)]
pub struct CampaignInstance {
    /// What it is meant to break.
    pub family: CampaignFamily,
    /// Where it comes from, for messages: `SEED/INDEX` or the name of a file.
    pub name: String,
    /// The matrix as the caller would give it.
    pub matrix: Dense,
    /// Whether it is handed over in sparse form.
    pub sparse: bool,
    /// r.
    pub rank: usize,
    /// Whether a row may be hott.
    pub allowed: Vec<bool>,
    /// p; `None` for the solver's own.
    pub cost: Option<Vec<f64>>,
    /// Whether the program with tau prescribes the trace.
    pub trace: bool,
    /// Which taus are asked for.
    pub taus: Taus,
    /// Values of tau to ask for besides those.
    pub also: Vec<f64>,
    /// Rows to clean with and to measure alpha of.
    pub hott: Vec<usize>,
    /// Whether all linear programs are part of it, with references: on wide matrices, where those
    /// take seconds, only minimax is, in exact arithmetic alone.
    pub programs: bool,
    /// Fixes what the checks draw at random.
    pub seed: u64,
}

impl CampaignInstance {
    /// The matrix in the form in which it is handed over.
    pub fn input(&self) -> Matrix {
        if !self.sparse {
            return self.matrix.clone().into();
        }
        let (rows, cols) = (self.matrix.rows(), self.matrix.cols());
        let entries = self.matrix.values().iter().enumerate().filter(|(_, v)| **v != 0.0);
        let triplets: Vec<_> = entries.map(|(at, &v)| (at / cols, at % cols, v)).collect();
        Sparse::from_triplets(rows, cols, &triplets).expect("places of a matrix").into()
    }

    /// Size, rank and options in a few words.
    pub fn description(&self) -> String {
        let (f, n) = (self.matrix.rows(), self.matrix.cols());
        let mut text = format!("{} {f} x {n}, rank {}", self.family.name(), self.rank);
        if self.sparse {
            text += ", sparse";
        }
        if self.allowed.iter().any(|allowed| !allowed) {
            let rows: Vec<usize> = (0..f).filter(|&i| self.allowed[i]).collect();
            text += &format!(", candidates {rows:?}");
        }
        if !self.trace {
            text += ", trace free";
        }
        if let Some(cost) = &self.cost {
            text += &format!(", cost {cost:?}");
        }
        text
    }
}
