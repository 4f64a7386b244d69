//! The answer: topics, documents' shares of them, and what is needed for new documents.

use super::figures::{self, Measure};
use super::shares::{ByWord, fit_documents};
use super::{AnchorBound, JudgedAnchors};
use crate::Error;
use crate::control::{Control, Stop};
use crate::matrix::{Dense, Sparse};

/// What names a topic.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Anchor {
    /// Numbers of its words in [`TopicModel::words`]: one, or several that name the topic together.
    pub words: Vec<usize>,
    /// Its words, joined by `+`.
    pub name: String,
    /// Words that could stand in its place: their rows lie on the topic's almost alone.
    pub stand_ins: Vec<usize>,
    /// Whether the caller gave it.
    pub given: bool,
}

/// How well mixtures of the anchors' rows explain the rows of all words, rows summing to one: 0 is
/// perfect, 1 is no better than nothing.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TopicErrors {
    /// The mean l1 error, each word counting as often as it occurs.
    pub weighted_l1: f64,
    /// The mean l1 error over words: much of it is the noise of rare ones.
    pub mean_l1: f64,
}

/// Wall-clock seconds of each step.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct TopicSeconds {
    /// Choosing words and counting which occur together.
    pub cooccurrence: f64,
    /// Choosing anchors and writing all words as mixtures of them.
    pub anchors: f64,
    /// Fitting documents and EM steps.
    pub polish: f64,
}

/// Topics of a corpus. It serialises without its matrices, which are empty when it is read back: whoever keeps
/// them puts them in again.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TopicModel {
    /// The words that topics are made of, alphabetical where they come from text.
    pub words: Vec<String>,
    /// How often each of them occurs.
    pub tokens: Vec<f64>,
    /// In how many documents.
    pub documents: Vec<usize>,
    /// What names each topic.
    pub anchors: Vec<Anchor>,
    /// p(word | topic) after the polish: topics x words, rows summing to one.
    #[serde(skip, default = "none")]
    pub topics: Dense,
    /// p(word | topic) as the anchors give it, in the same order.
    #[serde(skip, default = "none")]
    pub anchored: Dense,
    /// p(topic | word) as the anchors give it: words x topics.
    #[serde(skip, default = "none")]
    pub given_word: Dense,
    /// How much more often documents of a topic have a word than others, topics x words: with b the share of
    /// documents that have it, each counting with the square of its share of the topic, and q the share of all
    /// documents, `b ln(b / q) + (1 - b) ln((1 - b) / (1 - q))` where b is above q, else 0. It is what a
    /// document of the topic tells about the word; times twice the number of documents it is Dunning's
    /// log-likelihood ratio (1993). With one topic, p(word | topic).
    #[serde(skip, default = "none")]
    pub keyness: Dense,
    /// Shares of topics in documents: documents x topics, rows summing to one. Documents without a word of
    /// the vocabulary have the shares of the corpus.
    #[serde(skip, default = "none")]
    pub shares: Dense,
    /// The share of each topic in all tokens.
    pub proportions: Vec<f64>,
    /// What a token of each word counts when shares are found: words of many documents say less.
    pub evidence: Vec<f64>,
    /// NPMI coherence of the ten words of the largest keyness of each topic, those that it is shown with, -1 to 1,
    /// against this corpus.
    pub coherence: Vec<f64>,
    /// Documents that show each topic best.
    pub typical: Vec<Vec<usize>>,
    /// How well the anchors explain the words.
    pub errors: TopicErrors,
    /// How much better other words could do as anchors; `None` for anchors of several words, or where
    /// there was no time.
    pub bound: Option<AnchorBound>,
    /// `exp(-log-likelihood of a token)` after the polish, over the words of the co-occurrence.
    pub perplexity: f64,
    /// As [`TopicModel::perplexity`], with the topics of the anchors.
    pub anchored_perplexity: f64,
    /// EM steps taken.
    pub steps: usize,
    /// Tokens that every topic is given of every document beforehand.
    pub prior: f64,
    /// Words in fewer documents were set aside.
    pub min_df: usize,
    /// Words in fewer documents name no topic.
    pub candidate_df: usize,
    /// Documents that have no word of the vocabulary.
    pub empty_documents: usize,
    /// The choices of anchors that were judged, the best first; empty when all were given.
    pub judged: Vec<JudgedAnchors>,
    /// What was chosen and why, in whole sentences.
    pub notes: Vec<String>,
    /// What the caller may want to change, in whole sentences.
    pub advice: Vec<String>,
    /// Why the computation ended.
    pub stop: Stop,
    /// Time spent.
    pub seconds: TopicSeconds,
}

fn none() -> Dense {
    Dense::zeros(0, 0)
}

impl TopicModel {
    /// Number of topics.
    pub fn rank(&self) -> usize {
        self.topics.rows()
    }

    /// The words that the EM steps began with, beside anchors that were given: what [`Topics::start`](super::Topics::start)
    /// takes when there are more documents. (The names of topics may be other words, to which the steps led.)
    pub fn start(&self) -> Vec<String> {
        let words = self.judged.first().map_or(&[][..], |best| &best.words);
        words.iter().map(|&word| self.words[word].clone()).collect()
    }

    /// The words that say most about a topic, the first first, with their p(word | topic).
    pub fn top_words(&self, topic: usize, count: usize, measure: Measure) -> Vec<(usize, f64)> {
        figures::top_words(self, topic, count, measure)
    }

    /// How much topics have in common: `sum over words of sqrt(p(w | k) p(w | l))`, topics x topics, from 0 for
    /// topics without a common word to 1 for equal ones (the Bhattacharyya coefficient).
    pub fn similarity(&self) -> Dense {
        figures::similarity(&self.topics)
    }

    /// Shares of topics in other documents, given as documents x words of this model: each document is
    /// fitted as those of the corpus were. Parallel over documents.
    ///
    /// # Errors
    /// [`Error::Length`] when the columns are not this model's words.
    pub fn transform(&self, counts: &Sparse, control: &Control) -> Result<Dense, Error> {
        let by_word = ByWord::new(&self.topics, &self.evidence.clone().into());
        transform(&by_word, self.prior, &self.proportions, counts, control)
    }
}

/// As [`TopicModel::transform`], with the parts of a model that it takes.
pub(super) fn transform(
    topics: &ByWord,
    prior: f64,
    proportions: &[f64],
    counts: &Sparse,
    control: &Control,
) -> Result<Dense, Error> {
    let (found, expected) = (counts.cols(), topics.evidence.len());
    if found != expected {
        return Err(Error::Length { name: "counts", found, expected, what: "words of the model" });
    }
    Ok(fit_documents(counts, topics, prior, proportions, control))
}
