//! How much better other words could do as anchors, at most.
//!
//! Anchors are chosen for the documents' sake, not for the least error over words; how far the two are
//! apart is told by what no choice of as many words can do better than: the bound on the mean l1 error
//! that `auto` proves ([`prove_mean`]). Rare words' rows are mostly noise, and thousands of
//! them would take minutes, so error and bound are about the most frequent of the words that may name a
//! topic, the anchors among them, with their whole rows. (Merged columns would take less time, but merging
//! hides the noise that any choice leaves: the bound falls by a third.)

use crate::certify::prove_mean;
use crate::clean::exact;
use crate::control::Control;
use crate::localise::first_order::{FirstOrderSettings, Weights, first_order};
use crate::normalise::UnitRows;
use crate::order::largest_first;

/// Words that error and bound are about, at most.
const WORDS: usize = 200;
/// How far the first-order method goes: about a second of one processor.
const SETTINGS: FirstOrderSettings =
    FirstOrderSettings { weights: Weights::Free, gap: 0.03, steps: 300, work: 6e10, at_hand: None };

/// What the anchors leave unexplained, and what any choice of as many words does.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct AnchorBound {
    /// The number of words it is about: the most frequent of those that may name a topic, with the anchors.
    pub words: usize,
    /// The mean over them of the l1 error that mixtures of the anchors' rows leave, by exact fits.
    pub mean_l1: f64,
    /// No choice of as many of these words as there are topics leaves a smaller mean, whatever the weights.
    pub lower_bound: f64,
}

/// The error and the bound; `None` for anchors of several words, which are no choice of rows, or when
/// `control` has no time for it. `documents` says in how many documents each word is, `candidates` which may
/// name a topic.
pub(super) fn anchor_bound(
    x: &UnitRows,
    anchors: &[Vec<usize>],
    documents: &[usize],
    candidates: &[bool],
    control: &Control,
) -> Option<AnchorBound> {
    let single = |words: &Vec<usize>| if words.len() == 1 { x.unit_row(words[0]) } else { None };
    let anchors: Vec<usize> = anchors.iter().map(single).collect::<Option<_>>()?;
    let rows = judged_rows(x, &anchors, documents, candidates);
    let some = UnitRows::new(&x.select_rows(&rows)).ok()?;
    let place = |row: &usize| rows.binary_search(row).ok();
    let hott: Vec<usize> = anchors.iter().map(place).collect::<Option<_>>()?;
    let allowed = vec![true; rows.len()];
    let found = first_order(&some, hott.len(), &allowed, &SETTINGS, control).ok()??;
    let lower_bound = prove_mean(&some, hott.len(), &allowed, &found.dual, control).ok()?;
    let fits = exact(&some, &hott, control);
    if !control.goes_on() {
        return None;
    }
    let mean_l1 = fits.iter().map(|fit| fit.error).sum::<f64>() / rows.len() as f64;
    Some(AnchorBound { words: rows.len(), mean_l1, lower_bound })
}

/// The anchors, and of the other words that may name a topic the most frequent; increasing.
fn judged_rows(
    x: &UnitRows,
    anchors: &[usize],
    documents: &[usize],
    candidates: &[bool],
) -> Vec<usize> {
    let df = |i: usize| documents[x.input_row(i)] as f64;
    let is_other = |i: &usize| candidates[x.input_row(*i)] && !anchors.contains(i);
    let mut others: Vec<usize> = (0..x.features()).filter(is_other).collect();
    largest_first(&mut others, df);
    others.truncate(WORDS.saturating_sub(anchors.len()));
    let mut rows = [anchors, &others].concat();
    rows.sort_unstable();
    rows.dedup();
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{Dense, Matrix};

    /// Rows of 60 words that are mixtures of three, with a little of a pattern that is none.
    fn rows(columns: usize) -> UnitRows {
        let row = |i: usize| -> Vec<f64> {
            let part = |k: usize| {
                if i < 3 { f64::from(u8::from(i == k)) } else { ((i * (k + 3)) % 7) as f64 }
            };
            (0..columns).map(|j| part(j % 3) + 0.1 * ((i * j) % 5) as f64).collect()
        };
        let rows: Vec<Vec<f64>> = (0..60).map(row).collect();
        UnitRows::new(&Matrix::from(Dense::from_rows(&rows).unwrap())).unwrap()
    }

    #[test]
    fn no_choice_is_below_the_bound() {
        for columns in [30, 300] {
            let x = rows(columns);
            let control = Control::default();
            let of = |words: [usize; 3]| {
                let anchors: Vec<Vec<usize>> = words.iter().map(|&w| vec![w]).collect();
                anchor_bound(&x, &anchors, &[5; 60], &[true; 60], &control).unwrap()
            };
            let planted = of([0, 1, 2]);
            assert_eq!(planted.words, x.features());
            assert!(planted.lower_bound > 0.0 && planted.lower_bound <= planted.mean_l1);
            // What is proven does not depend on the anchors, and holds for other ones.
            for other in [[3, 4, 5], [10, 11, 30], [0, 1, 59]] {
                let other = of(other);
                assert_eq!(other.lower_bound, planted.lower_bound);
                assert!(other.mean_l1 >= planted.lower_bound, "{other:?}");
            }
        }
    }

    #[test]
    fn only_frequent_words_are_judged_and_anchors_of_several_words_are_not() {
        let x = rows(30);
        let mut documents = vec![1; 60];
        documents[..20].fill(9);
        let anchors = [vec![0], vec![40]];
        let candidates: Vec<bool> = documents.iter().map(|df| *df >= 5).collect();
        let bound = |anchors: &[Vec<usize>]| {
            anchor_bound(&x, anchors, &documents, &candidates, &Control::default())
        };
        let found = bound(&anchors).unwrap();
        assert_eq!(found.words, 21);
        let tandem = [vec![0], vec![1, 2]];
        assert_eq!(bound(&tandem), None);
    }
}
