//! Sparse word counts: documents of T tokens drawn from topics that have anchor words.
//!
//! Words have Zipf-like marginals `q_w ~ 1 / (10 + rank of w)`. An anchor word belongs to one topic,
//! `p(k | w) = 1`; any other word has 0.3 of its mass spread evenly over the topics and 0.7 drawn
//! from a Dirichlet distribution of parameter 0.3, so that no other word is nearly an anchor.
//! Then `p(w | k) ~ q_w p(k | w)`. A document has topic shares from a Dirichlet distribution of
//! parameter 0.2; each token is drawn from a topic that is drawn from the shares or, with
//! probability `noise`, uniformly from the vocabulary. X has words as
//! rows and documents as columns. Rows of words by documents are far from separable at this
//! sparsity, rows of [`crate::text::cooccurrence`] are close to it.
//!
//! Anchors are as frequent as the word in the first twentieth of the ranks. Should one never be
//! drawn all the same, it is written once into the document with most of its topic, so that every
//! topic can be found. Words that never occur are rows of zeros.

use super::draw::{permutation, stream, to_unit_sum};
use super::{Instance, Recipe, Truth, setting};
use crate::Error;
use crate::kernels::parallel::*;
use crate::matrix::{Dense, Sparse};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Gamma};

const WORD_CONCENTRATION: f64 = 0.3;
const SPREAD: f64 = 0.3;
const DOCUMENT_CONCENTRATION: f64 = 0.2;
const ZIPF_SHIFT: f64 = 10.0;

/// Streams of the seed: order of words, topics, then one for each document.
const ORDER: u64 = 0;
const TOPICS: u64 = 1;
const FIRST_DOCUMENT: u64 = 16;

pub(super) fn generate(recipe: &Recipe) -> Result<Instance, Error> {
    let Recipe { features, examples, rank, tokens, seed, .. } = *recipe;
    if u32::try_from(features.max(examples)).is_err() {
        return Err(setting("features", features, "give at most 2^32 words and documents"));
    }
    if recipe.noise >= 1.0 {
        let remedy = "it is the share of tokens without a topic: give less than 1";
        return Err(setting("noise", recipe.noise, remedy));
    }
    let order = permutation(&mut stream(seed, ORDER), features);
    let anchors = rank * (recipe.duplicates + 1); // checked by the recipe
    let words = cumulative_topics(seed, &order, rank, anchors);
    let documents: Vec<Document> = (0..examples)
        .into_par_iter()
        .map(|d| {
            let mut rng = stream(seed, FIRST_DOCUMENT + d as u64);
            Document::draw(&mut rng, &words, tokens, recipe.noise)
        })
        .collect();
    let mut groups: Vec<Vec<usize>> =
        (0..rank).map(|k| (k..anchors).step_by(rank).map(|a| order[a]).collect()).collect();
    let hott = (0..rank).map(|k| order[k]).collect();
    let matrix = counts(features, documents, &groups)?.into();
    groups.iter_mut().for_each(|group| group.sort_unstable());
    let truth = Truth {
        family: recipe.family.name().to_owned(),
        seed,
        features,
        examples,
        hott,
        groups,
        outliers: Vec::new(),
        epsilon: None,
        alpha: None,
        shape: None,
        spectra: None,
    };
    Ok(Instance { matrix, truth })
}

/// Row k: `p(w | k)` added up over words. Word `order[a]` is an anchor of topic `a % rank` for the
/// first `anchors` places of the order.
fn cumulative_topics(seed: u64, order: &[usize], rank: usize, anchors: usize) -> Dense {
    let mut rng = stream(seed, TOPICS);
    let mut topics = Dense::zeros(rank, order.len());
    let anchor_weight = 1.0 / (ZIPF_SHIFT + order.len() as f64 / 20.0);
    let mut shares = vec![0.0; rank];
    for (place, &word) in order.iter().enumerate() {
        if place < anchors {
            topics.row_mut(place % rank)[word] = anchor_weight;
            continue;
        }
        let weight = 1.0 / (ZIPF_SHIFT + (place - anchors) as f64);
        dirichlet(&mut rng, WORD_CONCENTRATION, &mut shares);
        for (k, share) in shares.iter().enumerate() {
            let given_word = SPREAD / rank as f64 + (1.0 - SPREAD) * share;
            topics.row_mut(k)[word] = weight * given_word;
        }
    }
    for k in 0..rank {
        to_unit_sum(topics.row_mut(k));
        let mut sum = 0.0;
        for v in topics.row_mut(k) {
            sum += *v;
            *v = sum;
        }
    }
    topics
}

fn dirichlet(rng: &mut ChaCha8Rng, concentration: f64, out: &mut [f64]) {
    let gamma = Gamma::new(concentration, 1.0).expect("a positive shape and scale");
    out.iter_mut().for_each(|v| *v = gamma.sample(rng));
    to_unit_sum(out);
}

/// One document: its topic shares and its counts by word, words increasing.
struct Document {
    shares: Vec<f64>,
    counts: Vec<(u32, u32)>,
}

impl Document {
    /// O(T log f).
    fn draw(rng: &mut ChaCha8Rng, cumulative: &Dense, tokens: usize, noise: f64) -> Self {
        let mut shares = vec![0.0; cumulative.rows()];
        dirichlet(rng, DOCUMENT_CONCENTRATION, &mut shares);
        let mut words: Vec<u32> = (0..tokens)
            .map(|_| {
                if rng.random::<f64>() < noise {
                    return rng.random_range(0..cumulative.cols() as u32);
                }
                let topic = pick_share(rng.random(), &shares);
                let row = cumulative.row(topic);
                let u = rng.random::<f64>() * row[row.len() - 1];
                row.partition_point(|c| *c <= u).min(row.len() - 1) as u32
            })
            .collect();
        words.sort_unstable();
        let counts = words.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)).collect();
        Document { shares, counts }
    }
}

/// The topic on which `u` in [0, 1) falls.
fn pick_share(u: f64, shares: &[f64]) -> usize {
    let mut left = u;
    for (k, share) in shares.iter().enumerate() {
        if left < *share {
            return k;
        }
        left -= share;
    }
    // Rounding only: the shares sum to one. The largest is certainly not zero.
    (0..shares.len()).max_by(|&a, &b| shares[a].total_cmp(&shares[b])).unwrap_or(0)
}

/// Words x documents; anchors that never occur are written once.
fn counts(
    words: usize,
    mut documents: Vec<Document>,
    groups: &[Vec<usize>],
) -> Result<Sparse, Error> {
    let mut seen = vec![false; words];
    documents.iter().flat_map(|d| &d.counts).for_each(|&(w, _)| seen[w as usize] = true);
    for (k, group) in groups.iter().enumerate() {
        let most =
            |a: &usize, b: &usize| documents[*a].shares[k].total_cmp(&documents[*b].shares[k]);
        let Some(at) = (0..documents.len()).max_by(most) else { break };
        for &word in group.iter().filter(|w| !seen[**w]) {
            documents[at].counts.push((word as u32, 1));
        }
    }
    let mut starts = vec![0];
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    for document in documents {
        columns.extend(document.counts.iter().map(|c| c.0));
        values.extend(document.counts.iter().map(|c| f64::from(c.1)));
        starts.push(columns.len());
    }
    Ok(Sparse::new(starts.len() - 1, words, starts, columns, values)?.transpose())
}
