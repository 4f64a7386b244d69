//! A certified answer as it is reported: the program's claims, what became of them, the theorem.

use hottopixx::certify::{Theory, Verified};
use hottopixx::choice::{ChoiceBound, ChoiceSearch};
use hottopixx::{Bounds, Certified};
use serde::Serialize;

use crate::summary::{six, six_down};
use crate::text::count;

/// What is proven.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Proof {
    /// Value, bound, gap and trace as the verifier found them; nothing where it refused.
    #[serde(flatten)]
    pub claims: Option<Bounds>,
    /// The bound that the dual proves, recomputed from X; 0 where nothing was proven.
    pub independent_bound: f64,
    /// No choice of this many rows has a smaller largest error, whatever the weights; null where that was
    /// not looked at.
    pub choice_bound: Option<f64>,
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
            choice_bound: certified.choice.as_ref().map(|choice| choice.bound),
            checked,
            verified: certified.verified.is_ok(),
            refusal: certified.verified.as_ref().err().map(ToString::to_string),
        }
    }
}

/// What is known of every choice of rows with free weights.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChoiceProof {
    /// The bound that is verified and the best choice that was met, in rows of the input; without the cuts
    /// behind it.
    #[serde(flatten)]
    pub found: ChoiceBound,
    /// `(error - bound) / error`, with the bound of the search where there was one.
    pub gap: f64,
    /// What a search for the best choice came to, where it was asked for.
    pub search: Option<ChoiceSearch>,
}

impl ChoiceProof {
    /// `row` leads from rows of the matrix that was certified to rows of the input.
    pub fn new(certified: &Certified, row: impl Fn(usize) -> usize) -> Option<Self> {
        let choice = certified.choice.as_ref()?;
        let search = certified.exact;
        let bound = search.map_or(choice.bound, |search| search.bound);
        let gap = if choice.gap() == 0.0 { 0.0 } else { (choice.error - bound) / choice.error };
        let rows = choice.rows.iter().map(|&i| row(certified.x.input_row(i))).collect();
        let mut found = choice.clone();
        (found.rows, found.certificate) = (rows, None);
        Some(ChoiceProof { found, gap, search })
    }

    /// What it means, in sentences.
    pub fn sentence(&self, rank: usize) -> String {
        let rows: Vec<String> = self.found.rows.iter().map(ToString::to_string).collect();
        let (chosen, rows) = (count(rank, "row"), rows.join(", "));
        let verified = format!(
            "no choice of {chosen} has a largest error below {}; weights free, as in the error above",
            six_down(self.found.bound)
        );
        let best = format!("rows {rows} have {}", six(self.found.error));
        match self.search {
            Some(ChoiceSearch { optimal: true, nodes, .. }) => format!(
                "{best}, and no choice of {chosen} is better: proven by a search of {}. Verified on its own: {verified}.",
                count(nodes, "node")
            ),
            Some(ChoiceSearch { bound, nodes, .. }) => format!(
                "{verified}. A search of {} was stopped: nothing below {} is possible, and {best}.",
                count(nodes, "node"),
                six_down(bound)
            ),
            None => format!("{verified}. {best}, {:.1} % above.", 100.0 * self.gap),
        }
    }
}

/// The figures of Theorem 3.2 in rows of the input, and what they mean.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Theorem {
    /// The figures.
    #[serde(flatten)]
    pub figures: Theory,
    /// All that in words.
    pub sentence: String,
}

impl Theorem {
    /// `row` leads from rows of the matrix that was certified to rows of the input.
    /// `None` where there was no time for the theorem.
    pub fn new(certified: &Certified, row: impl Fn(usize) -> usize) -> Option<Self> {
        let theory = certified.theory.as_ref()?;
        let input =
            |rows: &Vec<usize>| rows.iter().map(|&i| row(certified.x.input_row(i))).collect();
        let duplicates = theory.duplicates.iter().map(input).collect();
        Some(Theorem {
            figures: Theory { duplicates, ..theory.clone() },
            sentence: theory.sentence(),
        })
    }
}
