//! Text: words x documents counts, what to do with them before factoring, and topics of documents
//! afterwards.
//!
//! Rows of a words x documents matrix are too sparse to be nearly separable. Rows of the words x
//! words co-occurrence matrix are much closer to it (Arora et al., *A practical algorithm for topic
//! modeling with provable guarantees*), and there are as many whatever the number of documents:
//! see [`cooccurrence`]. Rare words look extreme because they are noisy: let
//! only words of some document frequency be candidates ([`candidates_by_df`]).
//!
//! Documents become counts by a [`Counter`] ([`Tokeniser`], [`StopWords`], phrases), and a
//! [`Vocabulary`] says which words are worth keeping. In a [`Corpus`] rows are documents; everywhere
//! else rows are words and columns documents.

mod cooccurrence;
pub(crate) mod corpus;
mod counter;
#[doc(hidden)]
pub mod pairs;
mod phrases;
mod stop_words;
mod tokens;
mod topics;
mod vocabulary;
mod words;

#[doc(hidden)]
pub use cooccurrence::{
    DENSE_ABOVE, cooccurrence_bytes, cooccurrence_controlled, cooccurrence_within,
};
pub use cooccurrence::{MAX_COOCCURRENCES, add_cooccurrence, cooccurrence};
pub use corpus::Corpus;
pub use counter::{Counter, Reading};
pub use stop_words::StopWords;
#[doc(hidden)]
pub use tokens::{OpenScratch, Scratch};
pub use topics::{document_topics, topic_given_word};
#[doc(hidden)]
pub use vocabulary::CORE_WORDS;
pub(crate) use vocabulary::kept_words;
pub use vocabulary::{USUAL_WORDS, Vocabulary, VocabularyRules};
pub use words::Tokeniser;

use crate::Error;
use crate::matrix::Matrix;

/// How counts are weighted before they are factored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// As they are.
    #[default]
    None,
    /// `x * (ln((1 + n) / (1 + df)) + 1)`, n the number of documents and df those with the word:
    /// the smooth variant of scikit-learn, in which a word of all documents keeps weight 1.
    /// Without scaling of documents. A weight is common to its whole row, and rows are scaled to
    /// unit sum before they are factored: F and W change their units, but no choice of hott rows
    /// changes.
    Tfidf,
    /// `ln(1 + x)`: the second occurrence counts less than the first.
    Log,
}

impl Weight {
    /// Every weight, in the order in which they are listed to users.
    pub const ALL: [Weight; 3] = [Weight::None, Weight::Tfidf, Weight::Log];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Weight::None => "none",
            Weight::Tfidf => "tfidf",
            Weight::Log => "log",
        }
    }

    /// The weighted matrix; zeros stay zeros. O(entries stored).
    pub fn apply(self, counts: &Matrix) -> Matrix {
        let mut out = counts.clone();
        match self {
            Weight::None => {}
            Weight::Tfidf => {
                let n = counts.cols() as f64;
                let idf = |df: usize| ((1.0 + n) / (1.0 + df as f64)).ln() + 1.0;
                let factors: Vec<f64> =
                    counts.scan().nonzeros().iter().map(|&df| idf(df)).collect();
                out.scale_rows(&factors);
            }
            Weight::Log => {
                let values = match &mut out {
                    Matrix::Dense(m) => m.values_mut(),
                    Matrix::Sparse(m) => m.values_mut(),
                };
                values.iter_mut().for_each(|v| *v = v.ln_1p());
            }
        }
        out
    }
}

impl std::str::FromStr for Weight {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        crate::error::one_of("weight", name, Weight::ALL, Weight::name)
    }
}

/// For each word, the number of documents in which it occurs.
pub fn document_frequency(counts: &Matrix) -> Vec<usize> {
    counts.scan().nonzeros().to_vec()
}

/// Which words occur in at least `n` documents: those that may be hott.
pub fn candidates_by_df(counts: &Matrix, n: usize) -> Vec<bool> {
    counts.scan().nonzeros().iter().map(|&df| df >= n).collect()
}

/// The words that occur in at least `min_df` documents, numbered anew, and their rows in `counts`,
/// increasing.
pub fn filter_min_df(counts: &Matrix, min_df: usize) -> (Matrix, Vec<usize>) {
    let frequent = candidates_by_df(counts, min_df);
    let kept: Vec<usize> = (0..counts.rows()).filter(|&i| frequent[i]).collect();
    (counts.select_rows(&kept), kept)
}

/// Fewer rows or columns say nothing about which are words.
const FEWEST: usize = 20;
/// Words differ in their totals so many times more than documents do.
const ZIPF: f64 = 2.0;

/// Whether the columns of counts are words, and not the rows, by the sums of both; `None` where nothing tells.
/// Words differ in frequency much more than documents do in length (Zipf): the coefficient of variation of
/// their sums is then much the larger one.
#[doc(hidden)]
pub fn words_are_columns(rows: &[f64], columns: &[f64]) -> Option<bool> {
    if rows.len().min(columns.len()) < FEWEST {
        return None;
    }
    let [rows, columns] = [rows, columns].map(variation);
    if columns > ZIPF * rows {
        Some(true)
    } else if rows > ZIPF * columns {
        Some(false)
    } else {
        None
    }
}

/// The standard deviation over the mean.
fn variation(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let square = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n;
    square.sqrt() / mean.max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{Dense, Sparse};

    /// Three words, four documents.
    fn both() -> [Matrix; 2] {
        let rows = [[1.0, 2.0, 0.0, 4.0], [0.0, 0.0, 3.0, 0.0], [1.0, 1.0, 1.0, 1.0]];
        let triplets: Vec<_> = (0..3)
            .flat_map(|i| (0..4).map(move |j| (i, j)))
            .filter(|&(i, j)| rows[i][j] != 0.0)
            .map(|(i, j)| (i, j, rows[i][j]))
            .collect();
        [
            Dense::from_rows(&rows).unwrap().into(),
            Sparse::from_triplets(3, 4, &triplets).unwrap().into(),
        ]
    }

    #[test]
    fn frequencies_and_filters_agree_on_both_kinds() {
        for counts in both() {
            assert_eq!(document_frequency(&counts), [3, 1, 4]);
            assert_eq!(candidates_by_df(&counts, 3), [true, false, true]);
            let (kept, rows) = filter_min_df(&counts, 2);
            assert_eq!((kept.rows(), rows), (2, vec![0, 2]));
        }
    }

    #[test]
    fn weights_follow_their_formulas() {
        for counts in both() {
            assert_eq!(Weight::None.apply(&counts), counts);
            let tfidf = Weight::Tfidf.apply(&counts);
            let expect = 4.0 * ((5.0_f64 / 4.0).ln() + 1.0);
            let last = |m: &Matrix, i| m.row(i).nonzeros().last().unwrap();
            assert_eq!(last(&tfidf, 0), (3, expect));
            assert_eq!(last(&tfidf, 2), (3, 1.0));
            assert_eq!(last(&Weight::Log.apply(&counts), 0), (3, 5.0_f64.ln()));
        }
        assert_eq!("tfidf".parse(), Ok(Weight::Tfidf));
        assert!("idf".parse::<Weight>().is_err());
    }
}
