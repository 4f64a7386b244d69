//! Which words name the topics.
//!
//! Rows of rare words are extreme because they are noise, so successive projection alone picks them.
//! Several choices are made that trust rare words more or less: rows scaled by `df / (df + share * n)`, a
//! word of few documents counting less, and words of few documents barred. Which of them is best the documents
//! decide: topics from each are polished for some steps on a sample and judged by the likelihood of the
//! second half of other documents whose first half gave the shares. The l1 error over words, each
//! counting as often as it occurs, breaks what the likelihood leaves open.

use super::polish::{polish, with_floor};
use super::recovery::{Recovery, recover};
use super::shares::{ByWord, fit_documents, likelihood, rough_shares};
use crate::control::Control;
use crate::localise::spa_controlled;
use crate::matrix::{Dense, Sparse};
use crate::normalise::UnitRows;
use crate::order::largest_first;
use std::cmp::Reverse;
use std::sync::Arc;

/// Shares of the documents at which a word counts half.
const HALF_WEIGHTS: [f64; 4] = [0.01, 0.03, 0.1, 0.3];
/// Shares of the documents that a word must be in to be a candidate.
const CUTS: [f64; 3] = [0.02, 0.05, 0.1];
/// Documents that a choice is polished on, and as many that it is judged by.
const SAMPLE: usize = 3000;
/// Steps of that polish.
const STEPS: usize = 12;

/// What a choice is called that an earlier answer began with.
pub(super) const EARLIER: &str = "those of the earlier documents";
/// When a choice made anew has this share of its words, the documents are about the same things still.
const MOSTLY: f64 = 0.75;
/// By how much the log-likelihood of a held-out token of another choice must be larger than that of the earlier one.
const CLEARLY: f64 = 1e-3;

/// A choice of anchors and what the documents say of it.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct JudgedAnchors {
    /// How they were chosen.
    pub origin: String,
    /// The words.
    pub words: Vec<usize>,
    /// Log-likelihood of a token in the second halves of documents whose first halves gave the shares.
    pub held_out: f64,
    /// The mean l1 error of words' rows, each word counting as often as it occurs.
    pub weighted_error: f64,
}

impl JudgedAnchors {
    /// What choices are compared by.
    fn worth(&self) -> f64 {
        self.held_out + if self.origin == EARLIER { CLEARLY } else { 0.0 }
    }
}

/// How words were chosen, and which.
type Choice = (String, Vec<usize>);

/// Words that an earlier answer began with, and whether to judge all other choices whatever they are.
pub(super) struct Start {
    pub words: Vec<usize>,
    pub everywhere: bool,
}

/// What anchors are chosen from.
pub(super) struct Field<'a> {
    /// Documents x words.
    pub counts: &'a Sparse,
    /// The co-occurrence of words, rows of sum one.
    pub x: &'a UnitRows,
    /// The number of documents with each word.
    pub documents: &'a [usize],
    /// Which words may name a topic.
    pub candidates: &'a [bool],
    /// What a token of each word counts for shares.
    pub evidence: &'a Arc<[f64]>,
    /// p(word).
    pub probability: &'a [f64],
    pub prior: f64,
    pub control: &'a Control,
}

impl Field<'_> {
    /// Different choices of words that make `rank` anchors with the given ones, with their origins. At
    /// least one.
    fn choices(&self, given: &[Vec<usize>], rank: usize) -> Vec<Choice> {
        let n = self.counts.rows() as f64;
        let df = self.documents;
        let allowed_from = |least: f64| -> Vec<bool> {
            let word = |i: usize| self.x.input_row(i);
            let allowed = |i: usize| self.candidates[word(i)] && df[word(i)] as f64 >= least;
            (0..self.x.features()).map(allowed).collect()
        };
        let mut choices: Vec<Choice> = Vec::new();
        let mut add = |origin: String, weights: Option<&[f64]>, allowed: &[bool]| {
            let enough = allowed.iter().filter(|a| **a).count() >= rank;
            if !enough || (!choices.is_empty() && !self.control.goes_on()) {
                return;
            }
            let rows = spa_controlled(self.x, weights, rank, allowed, self.control).rows;
            let mut words: Vec<usize> = rows.iter().map(|&i| self.x.input_row(i)).collect();
            self.leave_out(given, &mut words);
            words.truncate(rank - given.len());
            if !choices.iter().any(|(_, other)| same(other, &words)) {
                choices.push((origin, words));
            }
        };
        let all = allowed_from(0.0);
        for share in HALF_WEIGHTS {
            let weight = |i: usize| {
                let df = df[self.x.input_row(i)] as f64;
                df / (df + share * n)
            };
            let weights: Vec<f64> = (0..self.x.features()).map(weight).collect();
            add(
                format!("rare words count less, those of {} % of documents half", 100.0 * share),
                Some(&weights),
                &all,
            );
        }
        for share in CUTS {
            add(format!("words of {} % or more", 100.0 * share), None, &allowed_from(share * n));
        }
        choices
    }

    /// Of more words than are wanted, first those go that the given anchors explain best.
    fn leave_out(&self, given: &[Vec<usize>], words: &mut Vec<usize>) {
        if given.is_empty() {
            return;
        }
        words.retain(|word| !given.iter().any(|anchor| anchor.contains(word)));
        let errors = recover(self.x, given, Recovery::L2, self.control).errors;
        largest_first(words, |i| errors[i]);
    }

    /// The choices that go with the anchors that are given, to make `rank` together; judged, the best
    /// first, or those to begin with where none is clearly better.
    pub fn judged(
        &self,
        given: &[Vec<usize>],
        start: Option<Start>,
        rank: usize,
    ) -> Vec<JudgedAnchors> {
        let sample = Sample::of(self.counts);
        let (mut choices, mut others) = (self.choices(given, rank), Vec::new());
        if let Some(Start { words, everywhere }) = start {
            if !everywhere {
                others = unlike(&words, &mut choices);
            }
            choices.retain(|(_, other)| !same(other, &words));
            choices.insert(0, (EARLIER.to_owned(), words));
        }
        let mut judged: Vec<JudgedAnchors> = Vec::new();
        for choices in [choices, others] {
            // Where the choice to begin with has held its ground, no other ones are looked at.
            if judged.first().is_some_and(|best| best.origin == EARLIER) {
                break;
            }
            for (origin, words) in choices {
                if !judged.is_empty() && !self.control.goes_on() {
                    break;
                }
                judged.push(self.judge(origin, given, words, &sample));
            }
            judged.sort_by(|a, b| {
                let order = b.worth().total_cmp(&a.worth());
                order.then(a.weighted_error.total_cmp(&b.weighted_error))
            });
        }
        judged
    }

    fn judge(
        &self,
        origin: String,
        given: &[Vec<usize>],
        words: Vec<usize>,
        sample: &Sample,
    ) -> JudgedAnchors {
        let mut anchors = given.to_vec();
        anchors.extend(words.iter().map(|&word| vec![word]));
        let rank = anchors.len();
        let recovered = recover(self.x, &anchors, Recovery::L2, self.control);
        let topics = recovered.topics(self.probability);
        let weighted_error = weighted(&recovered.errors, self.probability);
        let start = with_floor(&topics, self.probability, self.evidence);
        let even = vec![1.0 / rank as f64; rank];
        let shares = |counts: &Sparse, topics: &ByWord| {
            fit_documents(counts, topics, self.prior, &even, self.control)
        };
        let first = rough_shares(&sample.train, &start, self.prior, self.control);
        let polished = polish(&sample.train, start, first, self.prior, STEPS, self.control);
        let topics = with_floor(&polished.topics.topics(), self.probability, self.evidence);
        let seen = shares(&sample.seen, &topics);
        let (sum, tokens) = likelihood(&sample.hidden, &topics, &seen);
        JudgedAnchors { origin, words, held_out: sum / tokens.max(1.0), weighted_error }
    }
}

/// Leaves the choice that has most words in common with these, if that is most of them, and gives those it takes away;
/// otherwise leaves all.
fn unlike(words: &[usize], choices: &mut Vec<Choice>) -> Vec<Choice> {
    let common = |other: &[usize]| other.iter().filter(|word| words.contains(word)).count();
    // Of several the first: the order of the others stays.
    choices.sort_by_key(|(_, other)| Reverse(common(other)));
    let near = choices
        .first()
        .is_some_and(|(_, other)| common(other) as f64 >= MOSTLY * words.len() as f64);
    if near { choices.split_off(1) } else { Vec::new() }
}

/// Whether two choices are the same, in any order.
fn same(one: &[usize], other: &[usize]) -> bool {
    one.len() == other.len() && one.iter().all(|word| other.contains(word))
}

/// The mean of errors, each counting with its weight.
pub(super) fn weighted(errors: &[f64], weights: &[f64]) -> f64 {
    let total: f64 = weights.iter().sum();
    errors.iter().zip(weights).map(|(e, w)| e * w).sum::<f64>() / total.max(f64::MIN_POSITIVE)
}

/// Documents to learn from, and others in two halves.
struct Sample {
    train: Sparse,
    seen: Sparse,
    hidden: Sparse,
}

impl Sample {
    /// Documents at equal distances; with few of them the same ones serve for both, which is better than
    /// nothing.
    fn of(counts: &Sparse) -> Self {
        let n = counts.rows();
        let step = (n / (2 * SAMPLE)).max(1);
        let place = |offset: usize| -> Vec<usize> { (offset..n).step_by(2 * step).collect() };
        let (train, test) = if n >= 200 { (place(0), place(step)) } else { (place(0), place(0)) };
        let test = counts.select_rows(&test);
        let [seen, hidden] = [false, true].map(|second| half(&test, second));
        Sample { train: counts.select_rows(&train), seen, hidden }
    }
}

/// The first or the second half of every document's tokens: every second token of the list in which a
/// word stands as often as it occurs.
fn half(counts: &Sparse, second: bool) -> Sparse {
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for d in 0..counts.rows() {
        let (words, tokens) = counts.row(d);
        let mut odd = false;
        for (&word, &h) in words.iter().zip(tokens) {
            let even_places = ((h + if odd { 0.0 } else { 1.0 }) / 2.0).floor();
            odd ^= h % 2.0 == 1.0;
            let part = if second { h - even_places } else { even_places };
            if part > 0.0 {
                columns.push(word);
                values.push(part);
            }
        }
        starts.push(values.len());
    }
    Sparse::new(counts.rows(), counts.cols(), starts, columns, values).expect("a part of a matrix")
}

/// For every anchor, the words with the largest p(topic | word), the anchor's own left out: those that could stand in its
/// place.
pub(super) fn stand_ins(
    given_word: &Dense,
    anchors: &[Vec<usize>],
    candidates: &[bool],
    most: usize,
) -> Vec<Vec<usize>> {
    let of = |k: usize| {
        let mut words: Vec<usize> = (0..given_word.rows())
            .filter(|&i| candidates[i] && !anchors[k].contains(&i) && given_word.row(i)[k] > 0.5)
            .collect();
        largest_first(&mut words, |i| given_word.row(i)[k]);
        words.truncate(most);
        words
    };
    (0..anchors.len()).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_choices_that_are_much_alike_stand_for_all() {
        let choices = || -> Vec<Choice> {
            let words = [vec![1, 2, 8, 9], vec![4, 3, 2, 9], vec![1, 2, 3, 7]];
            words.into_iter().map(|words| (format!("{}", words[0]), words)).collect()
        };
        let mut near = choices();
        let others = unlike(&[1, 2, 3, 4], &mut near);
        assert_eq!((near.len(), &near[0].1[..]), (1, &[4, 3, 2, 9][..]));
        assert_eq!((others.len(), &others[0].1[..]), (2, &[1, 2, 3, 7][..]));
        let mut far = choices();
        assert!(unlike(&[1, 5, 6, 7], &mut far).is_empty() && far.len() == 3);
    }

    #[test]
    fn halves_add_up() {
        let counts = Sparse::from_triplets(
            2,
            3,
            &[(0, 0, 3.0), (0, 1, 2.0), (0, 2, 1.0), (1, 0, 1.0), (1, 2, 1.0)],
        )
        .unwrap();
        let [first, second] = [false, true].map(|second| half(&counts, second));
        assert_eq!((first.columns(), first.values()), (&[0, 1, 0][..], &[2.0, 1.0, 1.0][..]));
        assert_eq!(
            (second.columns(), second.values()),
            (&[0, 1, 2, 2][..], &[1.0, 1.0, 1.0, 1.0][..])
        );
    }

    #[test]
    fn errors_are_weighted_by_frequency() {
        assert_eq!(weighted(&[1.0, 0.0, 0.5], &[1.0, 2.0, 1.0]), 0.375);
    }
}
