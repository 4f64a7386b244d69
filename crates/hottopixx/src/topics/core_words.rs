//! The most frequent words, with which topics are found, among all words that are kept.
//!
//! Co-occurrence takes the square of the number of words and says little about rare ones, but documents
//! are told apart by rare words too. So anchors, and most EM steps, take the core, and the last steps all.

use super::company::{Company, companies};
use super::shares::evidence;
use crate::matrix::{Dense, Sparse};
use crate::order::largest_first;
use crate::text::{Corpus, Vocabulary};
use std::sync::Arc;

/// Words whose company has a smaller part of the median breadth are no anchors; nor do those of a smaller part of the
/// median coherence give a topic its name when it needs another one. (As anchors they may serve: on manual pages the
/// documents were told apart worse without them.)
const TELLING: f64 = 0.5;
/// Broad words for each topic without which narrow ones may be anchors as well.
const ENOUGH: usize = 3;
/// Narrow words that a sentence names.
const NAMED: usize = 4;

/// The words that topics are found with: those of the co-occurrence.
pub(super) struct Core {
    /// Their places among the words that are kept.
    pub places: Vec<usize>,
    /// The documents with these words alone; `None` when they are all words.
    corpus: Option<Corpus>,
    /// The number of documents with each.
    pub documents: Vec<usize>,
    /// What a token of each counts for shares.
    pub evidence: Arc<[f64]>,
    /// Which of them may be anchors.
    pub candidates: Vec<bool>,
    /// Which of them may take the place of an anchor as the name of a topic.
    pub names: Vec<bool>,
}

impl Core {
    /// The core of a vocabulary for `rank` topics.
    pub fn of(kept: &Corpus, vocabulary: &Vocabulary, rank: usize) -> Self {
        let places = vocabulary.core.clone();
        let corpus = (places.len() < kept.words().len()).then(|| kept.select(&places));
        let documents: Vec<usize> = places.iter().map(|&w| vocabulary.documents[w]).collect();
        let taken = corpus.as_ref().unwrap_or(kept);
        let least = vocabulary.candidate_df;
        let frequent: Vec<bool> = documents.iter().map(|df| *df >= least).collect();
        let companies = companies(taken.counts(), &documents, least);
        let all = |tells: fn(&Company) -> bool| -> Vec<bool> {
            companies.iter().map(|company| company.as_ref().is_some_and(tells)).collect()
        };
        let broad = all(|company| company.breadth >= TELLING);
        let names = all(|company| company.breadth.min(company.coherence) >= TELLING);
        let evidence = evidence(&taken.frequencies().0, &documents, kept.documents());
        let enough = broad.iter().filter(|b| **b).count() >= ENOUGH * rank;
        let candidates = if enough { broad } else { frequent };
        Core { places, corpus, documents, evidence, candidates, names }
    }

    /// Which words are frequent enough to name a topic but too narrow, in a sentence; `None` when none is.
    pub fn narrow(&self, kept: &Corpus, vocabulary: &Vocabulary) -> Option<String> {
        let frequent = |w: &usize| self.documents[*w] >= vocabulary.candidate_df;
        let mut out: Vec<usize> =
            (0..self.places.len()).filter(|w| frequent(w) && !self.candidates[*w]).collect();
        largest_first(&mut out, |w| self.documents[w] as f64);
        let named: Vec<&str> =
            out.iter().take(NAMED).map(|&w| self.corpus(kept).words()[w].as_str()).collect();
        let more = if out.len() > NAMED { ", …" } else { "" };
        (!out.is_empty()).then(|| {
            format!(
                "Not as names of topics: {} of these, for few other words go with them ({}{more}).",
                out.len(),
                named.join(", ")
            )
        })
    }

    pub fn corpus<'a>(&'a self, kept: &'a Corpus) -> &'a Corpus {
        self.corpus.as_ref().unwrap_or(kept)
    }

    pub fn counts<'a>(&'a self, kept: &'a Corpus) -> &'a Sparse {
        self.corpus(kept).counts()
    }

    /// What tokens of all words that are kept count, where these are more.
    pub fn all_evidence(&self, kept: &Corpus) -> Option<Arc<[f64]>> {
        self.corpus.as_ref()?;
        let (tokens, documents) = kept.frequencies();
        Some(evidence(&tokens, &documents, kept.documents()))
    }

    /// p(word | topic) of these words alone, every topic scaled to one.
    pub fn taken(&self, topics: &Dense) -> Dense {
        if self.corpus.is_none() {
            return topics.clone();
        }
        let mut out = Dense::zeros(topics.rows(), self.places.len());
        for k in 0..topics.rows() {
            let row = topics.row(k);
            let total: f64 = self.places.iter().map(|&w| row[w]).sum();
            let taken = out.row_mut(k).iter_mut().zip(&self.places);
            taken.for_each(|(v, &w)| *v = row[w] / total.max(f64::MIN_POSITIVE));
        }
        out
    }

    /// Something about each of these words, as columns, among those of all words.
    pub fn spread(&self, topics: &Dense, words: usize) -> Dense {
        let mut out = Dense::zeros(topics.rows(), words);
        for k in 0..topics.rows() {
            let row = out.row_mut(k);
            self.places.iter().zip(topics.row(k)).for_each(|(&w, v)| row[w] = *v);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::StopWords;

    #[test]
    fn a_part_of_the_words_finds_its_place_among_all() {
        let counts = Dense::from_rows(&[[1.0, 2.0, 0.0], [0.0, 1.0, 3.0]]).unwrap().into();
        let kept = Corpus::from_counts(&counts, None, &StopWords::None).unwrap();
        let vocabulary = Vocabulary {
            kept: vec![0, 1, 2],
            documents: vec![1, 2, 1],
            core: vec![1, 2],
            min_df: 1,
            candidate_df: 1,
            reason: String::new(),
        };
        let core = Core::of(&kept, &vocabulary, 1);
        assert_eq!((core.counts(&kept).cols(), &core.documents[..]), (2, &[2, 1][..]));
        assert_eq!(core.all_evidence(&kept).unwrap().len(), 3);
        let topics = Dense::from_rows(&[[0.5, 0.125, 0.375]]).unwrap();
        assert_eq!(core.taken(&topics).row(0), [0.25, 0.75]);
        assert_eq!(core.spread(&core.taken(&topics), 3).row(0), [0.0, 0.25, 0.75]);
        let all = Vocabulary { core: vec![0, 1, 2], ..vocabulary };
        assert!(Core::of(&kept, &all, 1).all_evidence(&kept).is_none());
    }
}
