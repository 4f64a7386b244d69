//! What to look at: words of a topic by several measures, coherence, similarity, typical documents.
//!
//! Words are shown by their *keyness*, which counts documents, not tokens: a name that one document repeats a
//! hundred times has many tokens of a topic and tells nothing about its other documents.

use super::TopicModel;
use crate::kernels::parallel::*;
use crate::matrix::{Dense, Sparse};

/// The balance of [`Measure::Relevance`] that people find easiest to read (Sievert and Shirley 2014).
pub const USUAL_LAMBDA: f64 = 0.6;
/// Words of a topic whose coherence is measured.
const COHERENT: usize = 10;
/// Documents that are named for every topic.
const TYPICAL: usize = 10;
/// The least number of tokens of a word that is named for its lift: rarer ones are chance.
const LEAST_TOKENS: f64 = 5.0;

/// A topic has at least this part of what a word's frequency is, for [`Measure::TermScore`].
const FAINT: f64 = 1e-3;

/// What makes a word one of a topic's first words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Measure {
    /// p(word | topic).
    Probability,
    /// `lambda ln p(w | k) + (1 - lambda) ln(p(w | k) / p(w))`, as in LDAvis: 1 is probability, 0 is lift.
    Relevance(f64),
    /// The harmonic mean of the ranks, from 0 to 1, of p(w | k) and of p(k | w), the latter counting this
    /// much (Bischof and Airoldi's FREX): frequent and exclusive.
    Frex(f64),
    /// `p(w | k) ln(p(w | k) / g(w))`, g the geometric mean of p(w | l) over all topics l (Blei and Lafferty, *Topic
    /// models*, 2009), no p(w | l) below a thousandth of the word's frequency: frequent words that are rare
    /// in other topics. With one topic, p(w | k).
    TermScore,
    /// How much more often documents of the topic have the word than others: [`TopicModel::keyness`].
    Keyness,
}

/// See [`TopicModel::top_words`]. O(words + count log count); [`Measure::Frex`] takes O(words (topics + log
/// words)).
pub(super) fn top_words(
    model: &TopicModel,
    topic: usize,
    count: usize,
    measure: Measure,
) -> Vec<(usize, f64)> {
    let p = model.topics.row(topic);
    let all: f64 = model.tokens.iter().sum();
    let scores: Vec<f64> = match measure {
        Measure::Probability => p.to_vec(),
        Measure::Relevance(lambda) => (0..p.len())
            .map(|w| match p[w] > 0.0 && model.tokens[w] >= LEAST_TOKENS {
                true => p[w].ln() - (1.0 - lambda) * (model.tokens[w] / all).ln(),
                false => f64::NEG_INFINITY,
            })
            .collect(),
        Measure::Frex(weight) => {
            frex(p, &topic_given_word(&model.topics, &model.proportions), topic, weight)
        }
        Measure::TermScore => term_scores(&model.topics, &model.tokens, topic),
        Measure::Keyness => model.keyness.row(topic).to_vec(),
    };
    first_words(&scores, p, count).into_iter().map(|w| (w, p[w])).collect()
}

/// Of the words with p(word | topic) above zero, those of the largest scores, the more probable first where scores are
/// equal.
fn first_words(scores: &[f64], p: &[f64], count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p.len()).filter(|&w| p[w] > 0.0).collect();
    let first = |a: &usize, b: &usize| {
        scores[*b].total_cmp(&scores[*a]).then(p[*b].total_cmp(&p[*a])).then(a.cmp(b))
    };
    if count < order.len() {
        order.select_nth_unstable_by(count, first);
        order.truncate(count);
    }
    order.sort_unstable_by(first);
    order
}

/// p(topic | word), words x topics, by Bayes' rule from p(word | topic) and the topics' proportions.
pub(super) fn topic_given_word(topics: &Dense, proportions: &[f64]) -> Dense {
    let mut out = topics.transpose();
    for w in 0..out.rows() {
        let row = out.row_mut(w);
        row.iter_mut().zip(proportions).for_each(|(v, p)| *v *= p);
        let total: f64 = row.iter().sum();
        if total > 0.0 {
            row.iter_mut().for_each(|v| *v /= total);
        }
    }
    out
}

/// See [`Measure::Frex`]: a number for every word.
pub(super) fn frex(p: &[f64], given_word: &Dense, topic: usize, weight: f64) -> Vec<f64> {
    let shares: Vec<f64> = (0..p.len()).map(|w| given_word.row(w)[topic]).collect();
    let (exclusive, frequent) = (ranks(&shares), ranks(p));
    let both = exclusive.iter().zip(&frequent);
    both.map(|(e, f)| 1.0 / (weight / e + (1.0 - weight) / f)).collect()
}

/// See [`Measure::TermScore`]: a number for every word. O(words * topics).
pub(super) fn term_scores(topics: &Dense, tokens: &[f64], topic: usize) -> Vec<f64> {
    let (p, all) = (topics.row(topic), tokens.iter().sum::<f64>().max(f64::MIN_POSITIVE));
    if topics.rows() == 1 {
        return p.to_vec();
    }
    let least = |w: usize| (FAINT * tokens[w] / all).max(f64::MIN_POSITIVE);
    let mut mean = vec![0.0; p.len()];
    for k in 0..topics.rows() {
        let logs = topics.row(k).iter().enumerate().map(|(w, v)| v.max(least(w)).ln());
        mean.iter_mut().zip(logs).for_each(|(m, log)| *m += log / topics.rows() as f64);
    }
    (0..p.len()).map(|w| p[w] * (p[w].max(least(w)).ln() - mean[w])).collect()
}

/// See [`TopicModel::keyness`]: topics x words. `by_word` is words x documents, `lengths` are the documents' words.
/// Parallel over words; O(nonzeros * topics).
pub(super) fn keyness(topics: &Dense, shares: &Dense, by_word: &Sparse, lengths: &[f64]) -> Dense {
    let rank = shares.cols();
    if rank == 1 {
        return topics.clone();
    }
    let (mut totals, mut documents) = (vec![0.0; rank], 0.0);
    let squares = |d: usize| shares.row(d).iter().map(|share| share * share);
    for d in (0..shares.rows()).filter(|&d| lengths[d] > 0.0) {
        documents += 1.0;
        totals.iter_mut().zip(squares(d)).for_each(|(total, square)| *total += square);
    }
    let mut out = Dense::zeros(by_word.rows(), rank);
    out.values_mut().par_chunks_mut(rank).enumerate().for_each(|(w, row)| {
        let with = by_word.row(w).0;
        for &d in with {
            row.iter_mut().zip(squares(d as usize)).for_each(|(sum, square)| *sum += square);
        }
        let q = with.len() as f64 / documents;
        for (sum, total) in row.iter_mut().zip(&totals) {
            // Rounding may lead the share of a word that is everywhere above one.
            *sum = information((*sum / total.max(f64::MIN_POSITIVE)).min(1.0), q);
        }
    });
    out.transpose()
}

/// `b ln(b / q) + (1 - b) ln((1 - b) / (1 - q))` where b is above q, else 0.
fn information(b: f64, q: f64) -> f64 {
    // x ln(x / y), which is 0 at x = 0.
    let part = |x: f64, y: f64| if x > 0.0 { x * (x / y).ln() } else { 0.0 };
    if b > q && q > 0.0 { part(b, q) + part(1.0 - b, 1.0 - q) } else { 0.0 }
}

/// The share of values that are not larger, for each value.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let n = values.len() as f64;
    values.iter().map(|v| sorted.partition_point(|s| s <= v) as f64 / n).collect()
}

/// See [`TopicModel::similarity`].
pub(super) fn similarity(topics: &Dense) -> Dense {
    let rank = topics.rows();
    let roots: Vec<f64> = topics.values().iter().map(|v| v.sqrt()).collect();
    let mut out = Dense::zeros(rank, rank);
    for k in 0..rank {
        for l in 0..rank {
            let row = |k: usize| &roots[k * topics.cols()..(k + 1) * topics.cols()];
            out.row_mut(k)[l] = crate::kernels::dot(row(k), row(l));
        }
    }
    out
}

/// The mean over pairs of the ten words that a topic is shown with, those of the largest keyness, of the normalised
/// pointwise mutual information `ln(p(a, b) / (p(a) p(b))) / -ln p(a, b)`, where p is the share of documents with the
/// words; pairs that never meet count -1. Words without keyness, where a topic has fewer than ten with some, are no words of
/// the topic. `by_word` is words x documents.
pub(super) fn coherence(keyness: &Dense, topics: &Dense, by_word: &Sparse) -> Vec<f64> {
    let shown = |k: usize| {
        let mut words = first_words(keyness.row(k), topics.row(k), COHERENT);
        words.retain(|&w| keyness.row(k)[w] > 0.0);
        words
    };
    (0..topics.rows()).into_par_iter().map(|k| npmi_of(&shown(k), by_word)).collect()
}

/// The mean NPMI over pairs of some words, 0 without pairs; `by_word` is words x documents.
pub(super) fn npmi_of(words: &[usize], by_word: &Sparse) -> f64 {
    let documents = by_word.cols().max(1) as f64;
    let (mut sum, mut pairs) = (0.0, 0);
    for (at, &a) in words.iter().enumerate() {
        for &b in &words[..at] {
            let (a, b) = (by_word.row(a).0, by_word.row(b).0);
            sum += npmi(a.len() as f64, b.len() as f64, common(a, b) as f64, documents);
            pairs += 1;
        }
    }
    if pairs == 0 { 0.0 } else { sum / f64::from(pairs) }
}

fn npmi(a: f64, b: f64, both: f64, documents: f64) -> f64 {
    if both == 0.0 {
        return -1.0;
    }
    if both == documents {
        return 1.0; // both are everywhere: the limit
    }
    (both * documents / (a * b)).ln() / -(both / documents).ln()
}

/// The number of common entries of two increasing lists.
fn common(a: &[u32], b: &[u32]) -> usize {
    let (mut i, mut j, mut count) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        count += usize::from(a[i] == b[j]);
        let (left, right) = (a[i], b[j]);
        i += usize::from(left <= right);
        j += usize::from(right <= left);
    }
    count
}

/// For each topic, the documents with the largest share of it, long ones before short ones: a document of L
/// tokens counts `share * L / (L + mean L)`.
pub(super) fn typical(shares: &Dense, lengths: &[f64]) -> Vec<Vec<usize>> {
    let mean = lengths.iter().sum::<f64>() / lengths.len().max(1) as f64;
    let of = |k: usize| {
        let score = |d: usize| shares.row(d)[k] * lengths[d] / (lengths[d] + mean);
        let mut best: Vec<(f64, usize)> = Vec::with_capacity(TYPICAL + 1);
        for d in (0..shares.rows()).filter(|&d| lengths[d] > 0.0) {
            let s = score(d);
            if best.len() < TYPICAL || s > best[best.len() - 1].0 {
                let at = best.partition_point(|b| b.0 >= s);
                best.insert(at, (s, d));
                best.truncate(TYPICAL);
            }
        }
        best.into_iter().map(|(_, d)| d).collect()
    };
    (0..shares.cols()).into_par_iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coherence_is_that_of_the_formula() {
        // Words 0 and 1 meet in 2 of 4 documents and occur in 2 each; word 2 meets neither.
        let by_word = Sparse::from_triplets(
            3,
            4,
            &[(0, 0, 1.0), (0, 1, 3.0), (1, 0, 1.0), (1, 1, 1.0), (2, 3, 1.0)],
        )
        .unwrap();
        let topics = Dense::from_rows(&[[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]]).unwrap();
        let found = coherence(&topics, &topics, &by_word);
        assert!((found[0] - 1.0).abs() < 1e-12 && found[1] == -1.0, "{found:?}");
        // The second topic hardly has word 0, and all words are among its first ten.
        let faint = Dense::from_rows(&[[0.5, 0.5, 0.0], [0.1, 0.2, 0.7]]).unwrap();
        let keyness = Dense::from_rows(&[[0.5, 0.4, 0.0], [0.0, 0.1, 0.6]]).unwrap();
        assert_eq!(coherence(&keyness, &faint, &by_word)[1], -1.0);
        let keyness = Dense::from_rows(&[[0.5, 0.4, 0.0], [0.0, 0.0, 0.6]]).unwrap();
        assert_eq!(coherence(&keyness, &faint, &by_word)[1], 0.0);
        // Words are those of the largest keyness, where the topic has them at all.
        assert_eq!(first_words(&[0.1, 0.9, 0.5, 0.5], &[0.2, 0.0, 0.3, 0.5], 2), [3, 2]);
        assert!((npmi(4.0, 2.0, 1.0, 8.0) - 0.0).abs() < 1e-12);
        assert_eq!(common(&[1, 3, 5, 9], &[3, 4, 9]), 2);
    }

    #[test]
    fn term_scores_prefer_words_of_one_topic() {
        let topics = Dense::from_rows(&[[0.5, 0.3, 0.2], [0.5, 0.01, 0.49]]).unwrap();
        let scores = term_scores(&topics, &[50.0, 15.0, 35.0], 0);
        assert_eq!(scores[0], 0.0);
        assert!((scores[1] - 0.3 * 0.5 * 30f64.ln()).abs() < 1e-12 && scores[2] < 0.0);
        let one = Dense::from_rows(&[[0.2, 0.8]]).unwrap();
        assert_eq!(term_scores(&one, &[2.0, 8.0], 0), [0.2, 0.8]);
    }

    #[test]
    fn keyness_counts_documents_by_their_shares() {
        // Word 0 is in documents 0 and 1, word 1 in all but the last, which is empty; word 2 in document 2.
        let by_word = Sparse::from_triplets(
            3,
            4,
            &[(0, 0, 9.0), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 1.0), (1, 2, 1.0), (2, 2, 5.0)],
        )
        .unwrap();
        let shares = Dense::from_rows(&[[1.0, 0.0], [0.5, 0.5], [0.0, 1.0], [0.9, 0.1]]).unwrap();
        let topics = Dense::from_rows(&[[0.5, 0.5, 0.0], [0.1, 0.2, 0.7]]).unwrap();
        let found = keyness(&topics, &shares, &by_word, &[10.0, 2.0, 6.0, 0.0]);
        // Squares are 1 and 1/4 for the first topic, 1/4 and 1 for the second: all documents of the first
        // have word 0, and 0.8 of those of the second word 2.
        assert!((found.row(0)[0] - 1.5f64.ln()).abs() < 1e-12, "{found:?}");
        assert_eq!((&found.row(0)[1..], &found.row(1)[..2]), (&[0.0; 2][..], &[0.0; 2][..]));
        let expected = 0.8 * (0.8 * 3.0f64).ln() + 0.2 * (0.2 * 1.5f64).ln();
        assert!((found.row(1)[2] - expected).abs() < 1e-12);
        let one = topics.select_rows(&[0]);
        let shares = Dense::from_rows(&[[1.0]; 4]).unwrap();
        assert_eq!(keyness(&one, &shares, &by_word, &[10.0, 2.0, 6.0, 0.0]), one);
    }

    #[test]
    fn similar_topics_share_words() {
        let topics = Dense::from_rows(&[[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]).unwrap();
        let s = similarity(&topics);
        assert_eq!((s.row(0)[0], s.row(0)[1]), (1.0, 0.0));
        assert!((s.row(2)[0] - 0.5f64.sqrt()).abs() < 1e-12 && (s.row(2)[2] - 1.0).abs() < 1e-12);
    }

    #[test]
    fn long_documents_are_typical_before_short_ones() {
        let shares = Dense::from_rows(&[[1.0, 0.0], [0.9, 0.1], [0.2, 0.8], [0.5, 0.5]]).unwrap();
        let found = typical(&shares, &[1.0, 50.0, 40.0, 0.0]);
        assert_eq!(found, [vec![1, 2, 0], vec![2, 1, 0]]);
    }
}
