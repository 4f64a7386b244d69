//! How much of a document each topic is, document by document.
//!
//! With `p(w | k)` fixed, the shares theta of a document with counts h make
//!
//! ```text
//! sum over w of h_w ln(sum over k of theta_k p(w | k))
//! ```
//!
//! large, a concave function. EM (Hofmann, *Probabilistic latent semantic analysis*, 1999) raises it at
//! every step: with `g_k = sum over w of h_w theta_k p(w | k) / p(w)`, the tokens that topic k accounts for,
//! `theta_k <- g_k / sum of g`. Short documents are then too sure of their topics, and topics that are
//! polished on them wrong. So shares have a Dirichlet *prior* with parameter a, and are inferred by
//! variational Bayes (Blei, Ng and Jordan, *Latent Dirichlet allocation*, 2003): weights
//! `theta_k <- exp(digamma(a + g_k))`, scaled, and in the end shares `(a + g_k) / (K a + sum of g)`. With
//! a = 0 it is EM.
//!
//! Tokens of words that are everywhere say little about what a document is about, and there are many of
//! them. So a token of word w counts as *evidence* e_w for the shares ([`evidence`]), in the sum for g_k; for
//! p(w | k) every token counts the same.

use crate::control::Control;
use crate::kernels;
use crate::kernels::parallel::*;
use crate::matrix::{Dense, Sparse};
use std::sync::Arc;

/// Steps after which a fit ends, whatever it is still worth.
pub(super) const FIT_STEPS: usize = 100;
/// A fit ends when no step moves more of the document than this.
const STILL: f64 = 1e-3;
/// The same where shares are only a start.
const ROUGH: (usize, f64) = (15, 2e-2);
/// Documents that one thread fits between two looks at the clock.
const PIECE: usize = 64;

/// What a token of each word counts for the shares of its document: `ln((1 + n) / (1 + df)) + 1` as in
/// tf-idf, scaled so that the mean over all tokens is one.
pub(super) fn evidence(tokens: &[f64], df: &[usize], documents: usize) -> Arc<[f64]> {
    let rarity = |df: &usize| ((1.0 + documents as f64) / (1.0 + *df as f64)).ln() + 1.0;
    let all: f64 = tokens.iter().sum();
    let sum: f64 = tokens.iter().zip(df).map(|(tokens, df)| tokens * rarity(df)).sum();
    df.iter().map(|df| rarity(df) * all / sum.max(f64::MIN_POSITIVE)).collect()
}

/// p(w | k) by words, words x topics: what a pass over documents reads.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ByWord {
    pub rank: usize,
    pub values: Vec<f64>,
    /// What a token of each word counts for shares.
    pub evidence: Arc<[f64]>,
}

impl ByWord {
    /// From topics x words.
    pub fn new(topics: &Dense, evidence: &Arc<[f64]>) -> Self {
        let values = topics.transpose().into_values();
        ByWord { rank: topics.rows(), values, evidence: evidence.clone() }
    }

    /// Topics x words.
    pub fn topics(&self) -> Dense {
        let words = self.values.len() / self.rank.max(1);
        let by_word = Dense::new(words, self.rank, self.values.clone()).expect("words x topics");
        by_word.transpose()
    }

    pub fn row(&self, word: u32) -> &[f64] {
        &self.values[word as usize * self.rank..][..self.rank]
    }
}

/// One document: words and how often they occur.
pub(super) type Document<'a> = (&'a [u32], &'a [f64]);

/// What one EM step needs for a document: `next_k = sum over w of e_w h_w p(w | k) / p(w)`, before it is
/// multiplied by theta, and `ratios` becomes `h_w / p(w)` for every word. O(words * topics).
pub(super) fn expect(
    (words, counts): Document<'_>,
    topics: &ByWord,
    theta: &[f64],
    next: &mut [f64],
    ratios: &mut Vec<f64>,
) {
    ratios.resize(words.len(), 0.0);
    kernels::mixture_pass(words, counts, &topics.evidence, &topics.values, theta, next, ratios);
}

/// Makes weights of `next`, as [`expect`] gave it, and returns how far they are from those before.
/// `next` is then the weights before they are scaled.
pub(super) fn maximise(theta: &mut [f64], next: &mut [f64], prior: f64) -> f64 {
    for (n, t) in next.iter_mut().zip(theta.iter()) {
        *n *= t;
        if prior > 0.0 {
            *n = exp_digamma(*n + prior);
        }
    }
    scale_into(theta, next)
}

/// `theta` becomes `values` scaled to sum one, unless these are all zero; returns how far it moved.
fn scale_into(theta: &mut [f64], values: &[f64]) -> f64 {
    let total: f64 = values.iter().sum();
    if total <= 0.0 {
        return 0.0;
    }
    let mut moved = 0.0;
    for (t, v) in theta.iter_mut().zip(values) {
        moved += (v / total - *t).abs();
        *t = v / total;
    }
    moved
}

/// `exp(digamma(x))` for x > 0, to about nine digits: the recurrence from 6 on, then the asymptotic series.
fn exp_digamma(x: f64) -> f64 {
    // sum of 1 / (x + i) for i below 6 as one fraction; with x >= 6 there is nothing to add.
    let (mut above, mut below, mut x) = (0.0, 1.0, x);
    while x < 6.0 {
        above = above * x + below;
        below *= x;
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series = y * (1.0 / 12.0 - y * (1.0 / 120.0 - y * (1.0 / 252.0 - y / 240.0)));
    x * (-0.5 / x - series - above / below).exp()
}

/// What a pass over a document writes to.
#[derive(Default)]
pub(super) struct Scratch {
    next: Vec<f64>,
    ratios: Vec<f64>,
}

/// The shares of one document; `theta` is where they start from. Words that no topic has do not count.
pub(super) fn fit_document(
    document: Document<'_>,
    topics: &ByWord,
    prior: f64,
    theta: &mut [f64],
    scratch: &mut Scratch,
    (steps, still): (usize, f64),
) {
    let Scratch { next, ratios } = scratch;
    for _ in 0..steps {
        expect(document, topics, theta, next, ratios);
        if maximise(theta, next, prior) < still {
            break;
        }
    }
    if prior > 0.0 {
        expect(document, topics, theta, next, ratios);
        next.iter_mut().zip(theta.iter()).for_each(|(n, t)| *n = *n * t + prior);
        scale_into(theta, next);
    }
}

/// The shares of all documents, documents x topics, rows summing to one; a document without words that
/// a topic has gets `fallback`. Parallel over documents; O(nonzeros * topics) a step. What `control` leaves no time
/// for gets `fallback` as well.
pub(super) fn fit_documents(
    counts: &Sparse,
    topics: &ByWord,
    prior: f64,
    fallback: &[f64],
    control: &Control,
) -> Dense {
    fit_with(counts, topics, prior, fallback, (FIT_STEPS, STILL), control)
}

/// As [`fit_documents`], for what EM steps with all documents begin with: it need not be exact.
pub(super) fn rough_shares(
    counts: &Sparse,
    topics: &ByWord,
    prior: f64,
    control: &Control,
) -> Dense {
    let even = vec![1.0 / topics.rank as f64; topics.rank];
    fit_with(counts, topics, prior, &even, ROUGH, control)
}

fn fit_with(
    counts: &Sparse,
    topics: &ByWord,
    prior: f64,
    fallback: &[f64],
    accuracy: (usize, f64),
    control: &Control,
) -> Dense {
    let rank = topics.rank;
    let mut shares = Dense::zeros(counts.rows(), rank);
    shares.values_mut().par_chunks_mut(PIECE * rank.max(1)).enumerate().for_each(
        |(piece, some)| {
            let goes_on = control.goes_on();
            let mut scratch = Scratch { next: vec![0.0; rank], ratios: Vec::new() };
            for (k, theta) in some.chunks_mut(rank.max(1)).enumerate() {
                let document = counts.row(piece * PIECE + k);
                let known = document.0.iter().any(|w| topics.row(*w).iter().any(|v| *v > 0.0));
                if !known || !goes_on {
                    theta.copy_from_slice(fallback);
                    continue;
                }
                theta.fill(1.0 / rank as f64);
                fit_document(document, topics, prior, theta, &mut scratch, accuracy);
            }
        },
    );
    shares
}

/// The log-likelihood of documents with these shares, per token, and the tokens that count.
pub(super) fn likelihood(counts: &Sparse, topics: &ByWord, shares: &Dense) -> (f64, f64) {
    let one = |d: usize| {
        let (mut next, mut ratios) = (vec![0.0; topics.rank], Vec::new());
        let mut tokens = 0.0;
        let document = counts.row(d);
        expect(document, topics, shares.row(d), &mut next, &mut ratios);
        let sum = kernels::log_likelihood(document.1, &ratios);
        for (&word, &h) in document.0.iter().zip(document.1) {
            tokens += if topics.row(word).iter().any(|v| *v > 0.0) { h } else { 0.0 };
        }
        (sum, tokens)
    };
    let all: Vec<(f64, f64)> = (0..counts.rows()).into_par_iter().map(one).collect();
    all.into_iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topics() -> ByWord {
        let topics = Dense::from_rows(&[[0.5, 0.3, 0.2, 0.0], [0.0, 0.2, 0.3, 0.5]]).unwrap();
        ByWord::new(&topics, &vec![1.0; 4].into())
    }

    #[test]
    fn common_words_are_less_evidence() {
        let found = evidence(&[90.0, 10.0], &[99, 9], 99);
        // ln(100 / 100) + 1 and ln(100 / 10) + 1, scaled to mean 1 over 100 tokens.
        let mean = (90.0 + 10.0 * (10f64.ln() + 1.0)) / 100.0;
        assert!((found[0] - 1.0 / mean).abs() < 1e-12);
        assert!((found[1] - (10f64.ln() + 1.0) / mean).abs() < 1e-12);
        let mut topics = topics();
        let counts = Sparse::from_triplets(1, 4, &[(0, 0, 2.0), (0, 3, 2.0)]).unwrap();
        let share = |topics: &ByWord| {
            fit_documents(&counts, topics, 0.1, &[0.5; 2], &Control::default()).row(0)[0]
        };
        assert!((share(&topics) - 0.5).abs() < 1e-6);
        topics.evidence = vec![1.5, 1.0, 1.0, 0.5].into();
        assert!((share(&topics) - 3.1 / 4.2).abs() < 1e-2, "{}", share(&topics));
    }

    #[test]
    fn shares_maximise_the_likelihood() {
        let topics = topics();
        let counts = Sparse::from_triplets(1, 4, &[(0, 0, 5.0), (0, 1, 2.0), (0, 3, 1.0)]).unwrap();
        let shares = fit_documents(&counts, &topics, 0.0, &[0.5, 0.5], &Control::default());
        let at = |theta: f64| {
            let shares = Dense::from_rows(&[[theta, 1.0 - theta]]).unwrap();
            likelihood(&counts, &topics, &shares).0
        };
        let best = at(shares.row(0)[0]);
        // The whole line is searched; EM ends when it moves by less than a thousandth.
        let (most, place) = (1..1000)
            .map(|k| (at(f64::from(k) / 1000.0), k))
            .fold((f64::NEG_INFINITY, 0), |a, b| if b.0 > a.0 { b } else { a });
        assert!(best >= most - 1e-4, "{best} {most}");
        assert!((shares.row(0)[0] - f64::from(place) / 1000.0).abs() < 0.01);
    }

    #[test]
    fn every_step_raises_the_likelihood() {
        let topics = topics();
        let counts = Sparse::from_triplets(1, 4, &[(0, 0, 1.0), (0, 2, 4.0), (0, 3, 2.0)]).unwrap();
        let (mut theta, mut next, mut ratios) = (vec![0.9, 0.1], vec![0.0; 2], Vec::new());
        let mut last = f64::NEG_INFINITY;
        for _ in 0..30 {
            expect(counts.row(0), &topics, &theta, &mut next, &mut ratios);
            let now = kernels::log_likelihood(counts.row(0).1, &ratios);
            assert!(now >= last - 1e-12, "{now} after {last}");
            last = now;
            maximise(&mut theta, &mut next, 0.0);
            assert!((theta.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn the_prior_keeps_short_documents_in_doubt() {
        // digamma(1) = -gamma, digamma(1/2) = -gamma - 2 ln 2, digamma(10) = 2.2517525890667…
        let gamma = 0.577_215_664_901_532_9_f64;
        for (x, psi) in
            [(1.0, -gamma), (0.5, -gamma - 2.0 * 2f64.ln()), (10.0, 2.251_752_589_066_721)]
        {
            assert!((exp_digamma(x).ln() - psi).abs() < 1e-8, "{x}");
        }
        let topics = topics();
        let share = |tokens: f64, prior: f64| {
            let counts = Sparse::from_triplets(1, 4, &[(0, 0, tokens)]).unwrap();
            fit_documents(&counts, &topics, prior, &[0.5; 2], &Control::default()).row(0)[0]
        };
        assert!(share(1.0, 0.0) > 0.999);
        assert!(share(1.0, 0.1) < share(100.0, 0.1) && share(1.0, 0.1) > 0.8);
        assert!((share(1.0, 0.1) - 1.1 / 1.2).abs() < 1e-9);
    }

    #[test]
    fn documents_without_known_words_get_the_fallback() {
        let topics = Dense::from_rows(&[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]).unwrap();
        let topics = ByWord::new(&topics, &vec![1.0; 3].into());
        let counts = Sparse::from_triplets(3, 3, &[(1, 2, 4.0), (2, 0, 1.0), (2, 2, 9.0)]).unwrap();
        let shares = fit_documents(&counts, &topics, 0.0, &[0.25, 0.75], &Control::default());
        assert_eq!((shares.row(0), shares.row(1)), (&[0.25, 0.75][..], &[0.25, 0.75][..]));
        assert!(shares.row(2)[0] > 0.99);
    }
}
