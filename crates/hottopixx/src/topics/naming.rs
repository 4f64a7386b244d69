//! What topics are called, and everything about them together.

use super::anchors::{EARLIER, JudgedAnchors, stand_ins, weighted};
use super::core_words::Core;
use super::recovery::Recovered;
use super::{Anchor, TopicErrors, TopicModel, TopicSeconds, advice, figures};
use crate::control::Stop;
use crate::matrix::Dense;
use crate::order::largest_first;
use crate::text::{Corpus, Vocabulary};
use std::borrow::Cow;

/// A word belongs to a topic with at least this share of it.
const BELONGS: f64 = 0.5;
/// An anchor names its topic if it is among this many of its first words; else one of the first `SHOWN` does.
const NAMES: usize = 5;
const SHOWN: usize = 10;
/// Stand-ins that are named.
const STAND_INS: usize = 5;

/// Topics and shares, before and after the polish.
pub(super) struct Fitted {
    /// p(word | topic) by the anchors, in their order.
    pub anchored: Dense,
    /// The number of the anchor for each topic.
    pub order: Vec<usize>,
    pub topics: Dense,
    /// The share of each topic in the corpus: that of documents without words.
    pub proportions: Vec<f64>,
    pub shares: Dense,
    /// See [`TopicModel::keyness`].
    pub keyness: Dense,
    /// See [`TopicModel::coherence`].
    pub coherence: Vec<f64>,
    /// The number of words of each document.
    pub lengths: Vec<f64>,
    /// What a token of each word counts for shares.
    pub evidence: Vec<f64>,
    pub steps: usize,
    pub before: f64,
    pub after: f64,
}

/// Words, and which of them name topics.
pub(super) struct Named<'a> {
    pub kept: Cow<'a, Corpus>,
    pub core: Core,
    pub vocabulary: Vocabulary,
    /// In the numbers of the core.
    pub anchors: Vec<Vec<usize>>,
    /// The first so many were given.
    pub given: usize,
    pub judged: Vec<JudgedAnchors>,
    /// Anchors that were replaced after the polish.
    pub moved: usize,
}

impl Named<'_> {
    /// Where the polish has led a topic away from its anchor, so that most of the word is in other topics or
    /// it is not among the first words of this one by keyness, the topic takes the name of the first of these that
    /// belongs to it and has coherent company; else of the first that belongs to it and may be an anchor; else of the
    /// first that belongs to it; else of the first. Says whether any has changed.
    pub fn follow(&mut self, fitted: &Fitted) -> bool {
        let Fitted { topics, proportions, order, keyness, .. } = fitted;
        let given_topic = figures::topic_given_word(topics, proportions);
        let mut taken: Vec<usize> = self.anchors.concat();
        for (place, &k) in order.iter().enumerate() {
            let own = |w: usize| keyness.row(place)[self.core.places[w]];
            let belongs = |w: usize| given_topic.row(self.core.places[w])[place] >= BELONGS;
            let mut first: Vec<usize> = (0..self.core.places.len()).collect();
            largest_first(&mut first, own);
            first.truncate(SHOWN);
            let names = |w: &usize| belongs(*w) && first.iter().take(NAMES).any(|f| f == w);
            if k < self.given || self.anchors[k].iter().any(names) {
                continue;
            }
            let free = || first.iter().copied().filter(|w| !taken.contains(w));
            let Core { names, candidates, .. } = &self.core;
            let best = free()
                .find(|&w| belongs(w) && names[w])
                .or_else(|| free().find(|&w| belongs(w) && candidates[w]))
                .or_else(|| free().find(|&w| belongs(w)))
                .or_else(|| free().next());
            if let Some(word) = best {
                taken.push(word);
                self.anchors[k] = vec![word];
                self.moved += 1;
            }
        }
        self.moved > 0
    }

    /// Everything together, the most frequent topic first.
    pub fn model(
        mut self,
        recovered: &Recovered,
        fitted: Fitted,
        probability: &[f64],
    ) -> TopicModel {
        let places = &self.core.places;
        self.anchors.iter_mut().flatten().for_each(|word| *word = places[*word]);
        for judged in &mut self.judged {
            judged.words.iter_mut().for_each(|word| *word = places[*word]);
        }
        let words = self.kept.words().len();
        let given_word = self.core.spread(&recovered.given_word.transpose(), words).transpose();
        let Fitted { order, topics, shares, keyness, coherence, lengths, .. } = fitted;
        let (tokens, documents) = self.kept.frequencies();
        let errors = TopicErrors {
            weighted_l1: weighted(&recovered.errors, probability),
            mean_l1: weighted(&recovered.errors, &vec![1.0; recovered.errors.len()]),
        };
        let mut candidates = vec![false; words];
        places.iter().zip(&self.core.candidates).for_each(|(&w, may)| candidates[w] = *may);
        let mut notes = vec![self.vocabulary.reason.clone()];
        notes.extend(self.core.narrow(&self.kept, &self.vocabulary));
        notes.extend(self.judged.first().map(|best| chosen(best, self.judged.len(), self.moved)));
        TopicModel {
            typical: figures::typical(&shares, &lengths),
            keyness,
            advice: advice::advice(&self.kept, &coherence, &lengths, &errors),
            coherence,
            anchors: self.named(&order, &given_word, &candidates),
            given_word: columns(&given_word, &order),
            anchored: self.core.spread(&fitted.anchored.select_rows(&order), words),
            proportions: fitted.proportions,
            evidence: fitted.evidence,
            empty_documents: lengths.iter().filter(|l| **l == 0.0).count(),
            words: self.kept.words().to_vec(),
            perplexity: fitted.after,
            anchored_perplexity: fitted.before,
            steps: fitted.steps,
            min_df: self.vocabulary.min_df,
            candidate_df: self.vocabulary.candidate_df,
            judged: self.judged,
            prior: 0.0,
            stop: Stop::Finished,
            seconds: TopicSeconds::default(),
            topics,
            shares,
            tokens,
            documents,
            errors,
            bound: None,
            notes,
        }
    }

    fn named(&self, order: &[usize], given_word: &Dense, candidates: &[bool]) -> Vec<Anchor> {
        let others = stand_ins(given_word, &self.anchors, candidates, STAND_INS);
        let anchor = |&k: &usize| {
            let names: Vec<&str> =
                self.anchors[k].iter().map(|&i| self.kept.words()[i].as_str()).collect();
            Anchor {
                words: self.anchors[k].clone(),
                name: names.join("+"),
                stand_ins: others[k].clone(),
                given: k < self.given,
            }
        };
        order.iter().map(anchor).collect()
    }
}

fn chosen(best: &JudgedAnchors, count: usize, moved: usize) -> String {
    let by = "by the likelihood of held-out halves of documents";
    let mut sentence = match (best.origin == EARLIER, count) {
        (true, 1) => format!("Anchors: {EARLIER}, to which all documents lead again"),
        (true, _) => format!("Anchors: {EARLIER}, for no other choice is clearly better {by}"),
        _ => format!(
            "Anchors: successive projection, {}, the best of {count} choices {by}",
            best.origin
        ),
    };
    if moved > 0 {
        sentence += &format!(
            "; {moved} of them replaced, because the polish led their topics to other words"
        );
    }
    sentence + "."
}

/// Some columns, in this order.
fn columns(matrix: &Dense, order: &[usize]) -> Dense {
    let mut out = Dense::zeros(matrix.rows(), order.len());
    for i in 0..matrix.rows() {
        let row = matrix.row(i);
        out.row_mut(i).iter_mut().zip(order).for_each(|(v, &k)| *v = row[k]);
    }
    out
}
