//! Sparse words by documents in which anchor words are hott, at any size.
//!
//! Unlike [`multinomial`](super::Family::Multinomial), whose rows are far from separable, this
//! family is separable *as words by documents*, so that the method for sparse X can be tried on
//! it. Every document has one topic, one in five a second one; topic t has a share
//! `~ 1 / (t + 1 + r / 5)` of the documents. In a document of weight w (0.25 plus an exponential
//! variable) for topic t there are
//!
//! - the *anchor* words of t, with value w;
//! - *core* words of t, each with some probability rho, with value w times a factor of the word,
//!   times `exp(noise * gaussian)`. Most belong to two topics, with shares a and 1 - a of their
//!   mass, a in (0.3, 0.7), and rho in (0.65, 0.95); some to t alone, with rho in (0.6, 0.75);
//!
//! and *background* words, drawn by a Zipf-Mandelbrot law, whatever the topics are. They make up
//! what the average number of nonzeros per document lacks. The shift of the law is chosen such that
//! no background word is in more than a tenth of the documents (stop words are gone).
//!
//! Why the anchors are the answer. For unit rows a row j with weight c takes
//! `2 sum_k min(x_ik, c x_jk) - c` off the l1 error of row i: it must have more than half of its mass
//! where i has any. An anchor has rho of its mass there for each of its core words i, and with
//! `c = a` takes `a (2 rho - 1)` or more off each. A core word of two topics has at most 0.7 of its
//! mass in either, hence takes little or nothing off other words; a background word takes nothing.
//! A core word of one topic is absent from some of its documents, and takes that much less off
//! all the words of two topics. (With words of one topic only, it would take as much off the
//! others, the anchor among them, as the anchor off it and the others: a tie. With words of two
//! topics only, weights above 0.7 on the diagonal of C would be of use to the anchor alone, and
//! the trace would be spent on other rows as well.)
//!
//! Documents are drawn in blocks with one stream each, and blocks are merged word by word: O(n T)
//! time and about 20 bytes per nonzero, of which 12 are the result.

use super::draw::{permutation, stream};
use super::{Instance, Recipe, Truth, setting};
use crate::Error;
use crate::kernels::parallel::*;
use crate::matrix::Sparse;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::weighted::WeightedAliasIndex;
use rand_distr::{Distribution, Exp1, StandardNormal};

/// Share of the documents that have a second topic, unless it is the first again.
const SECOND_TOPIC: f64 = 0.2;
/// Layers of core words, at most: each has one word of every two topics that stand side by side.
const LAYERS: usize = 13;
/// Once in this many layers, words belong to one topic alone.
const ALONE: usize = 3;
/// How likely a core word of two topics is in a document of one of them, and one of a single topic.
const PRESENCE: (f64, f64) = (0.65, 0.95);
const PRESENCE_ALONE: (f64, f64) = (0.6, 0.75);
/// A core word's share of the first of its topics.
const SHARE: (f64, f64) = (0.3, 0.7);
/// The largest share of the documents that a background word is in.
const MOST_FREQUENT: f64 = 0.1;
/// Weights below this are not drawn.
const LEAST_WEIGHT: f64 = 0.25;
/// The noise that still leaves something of the weights.
const MOST_NOISE: f64 = 2.0;
/// Documents drawn from one stream.
const BLOCK: usize = 1 << 14;

/// Streams of the seed: order of words, core words, then one for each block of documents.
const ORDER: u64 = 0;
const CORE: u64 = 1;
const FIRST_BLOCK: u64 = 16;

pub(super) fn generate(recipe: &Recipe) -> Result<Instance, Error> {
    let Recipe { features, examples, seed, .. } = *recipe;
    if u32::try_from(features.max(examples)).is_err() {
        return Err(setting("features", features, "give at most 2^32 words and documents"));
    }
    if recipe.noise > MOST_NOISE {
        let remedy = format!("it shakes weights by exp(noise): give at most {MOST_NOISE}");
        return Err(setting("noise", recipe.noise, remedy));
    }
    let model = Model::new(recipe);
    let blocks: Vec<DocumentBlock> = (0..examples.div_ceil(BLOCK))
        .into_par_iter()
        .map(|b| model.block(b, examples.min((b + 1) * BLOCK) - b * BLOCK))
        .collect();
    let groups: Vec<Vec<usize>> = model
        .anchors
        .iter()
        .map(|words| {
            let mut group: Vec<usize> = words.iter().map(|&w| w as usize).collect();
            group.sort_unstable();
            group
        })
        .collect();
    let truth = Truth {
        family: recipe.family.name().to_owned(),
        seed,
        features,
        examples,
        hott: model.anchors.iter().map(|words| words[0] as usize).collect(),
        groups,
        outliers: Vec::new(),
        epsilon: None,
        alpha: None,
        shape: None,
        spectra: None,
    };
    Ok(Instance { matrix: merge(features, examples, blocks)?.into(), truth })
}

/// A core word as one of its topics sees it.
#[derive(Clone, Copy)]
struct Core {
    word: u32,
    presence: f64,
    /// Times the weight of the topic in the document.
    factor: f64,
}

/// All that the documents are drawn from: O(f + r).
struct Model {
    seed: u64,
    words: usize,
    noise: f64,
    /// The topic of a document, by alias table.
    topic: WeightedAliasIndex<f64>,
    anchors: Vec<Vec<u32>>,
    core: Vec<Vec<Core>>,
    background: Vec<u32>,
    /// The place of a background word in `background`; none when there are no such words.
    zipf: Option<WeightedAliasIndex<f64>>,
    /// Background words of a document, on average.
    drawn: f64,
}

impl Model {
    fn new(recipe: &Recipe) -> Self {
        let Recipe { features, rank, duplicates, tokens, seed, .. } = *recipe;
        let order: Vec<u32> = permutation(&mut stream(seed, ORDER), features)
            .into_iter()
            .map(|word| word as u32)
            .collect();
        let anchored = rank * (duplicates + 1); // checked by the recipe
        let (anchors, rest) = order.split_at(anchored);
        let shares: Vec<f64> = (0..rank).map(|t| topic_share(t, rank)).collect();
        let (sum, squares) = shares.iter().fold((0.0, 0.0), |(s, q), v| (s + v, q + v * v));
        let topics = 1.0 + SECOND_TOPIC * (1.0 - squares / (sum * sum));
        // At most half of what is left of the words and of a document's nonzeros is core.
        let alone = if rank == 1 { 1.0 } else { 1.0 / ALONE as f64 };
        let present = alone * 0.5 * (PRESENCE_ALONE.0 + PRESENCE_ALONE.1)
            + (1.0 - alone) * (PRESENCE.0 + PRESENCE.1);
        let per_layer = topics * present;
        let layers =
            LAYERS.min(rest.len() / (2 * rank)).min((0.5 * tokens as f64 / per_layer) as usize);
        let (core, background) = rest.split_at(layers * rank);
        let planted = topics * (duplicates + 1) as f64 + layers as f64 * per_layer;
        let drawn = (tokens as f64 - planted).max(0.0).min(background.len() as f64 / 4.0);
        Model {
            seed,
            words: features,
            noise: recipe.noise,
            anchors: (0..rank)
                .map(|t| anchors.iter().copied().skip(t).step_by(rank).collect())
                .collect(),
            core: core_words(&mut stream(seed, CORE), core, &shares),
            topic: alias(shares),
            background: background.to_vec(),
            zipf: (!background.is_empty()).then(|| alias(zipf(background.len(), drawn))),
            drawn,
        }
    }

    /// `length` documents from number `block * BLOCK` on.
    fn block(&self, block: usize, length: usize) -> DocumentBlock {
        let mut rng = stream(self.seed, FIRST_BLOCK + block as u64);
        let mut document = Document { entries: Vec::new(), last: vec![u32::MAX; self.words] };
        let mut entries: Vec<(u32, u32, f32)> = Vec::new();
        for at in 0..length {
            let number = (block * BLOCK + at) as u32;
            document.entries.clear();
            self.draw(&mut rng, number, &mut document);
            entries.extend(document.entries.iter().map(|&(w, v)| (w, number, v as f32)));
        }
        DocumentBlock::sort(self.words, &entries)
    }

    /// One document. The first r documents have topics 0, 1, ..., so that none is without any.
    fn draw(&self, rng: &mut ChaCha8Rng, number: u32, document: &mut Document) {
        let drawn = self.topic.sample(rng);
        let first = if (number as usize) < self.core.len() { number as usize } else { drawn };
        self.draw_topic(rng, first, number, document);
        if rng.random::<f64>() < SECOND_TOPIC {
            let second = self.topic.sample(rng);
            if second != first {
                self.draw_topic(rng, second, number, document);
            }
        }
        let Some(zipf) = &self.zipf else { return };
        let wanted = (self.drawn * (0.5 + rng.random::<f64>())).round() as usize;
        let wanted = document.entries.len() + wanted;
        // Words that come up twice are drawn again, within reason.
        for _ in 0..4 * wanted {
            if document.entries.len() >= wanted {
                break;
            }
            let word = self.background[zipf.sample(rng)];
            if document.last[word as usize] != number {
                document.add(word, number, weight(rng));
            }
        }
    }

    fn draw_topic(&self, rng: &mut ChaCha8Rng, t: usize, number: u32, document: &mut Document) {
        let weight = weight(rng);
        for (copy, &word) in self.anchors[t].iter().enumerate() {
            let shaken = if copy == 0 { weight } else { weight * self.shake(rng) };
            document.add(word, number, shaken);
        }
        for core in &self.core[t] {
            if rng.random::<f64>() < core.presence {
                document.add(core.word, number, weight * core.factor * self.shake(rng));
            }
        }
    }

    fn shake(&self, rng: &mut ChaCha8Rng) -> f64 {
        let gaussian: f64 = StandardNormal.sample(rng);
        (self.noise * gaussian).exp()
    }
}

/// Proportional to the number of documents of topic t.
fn topic_share(t: usize, rank: usize) -> f64 {
    1.0 / ((t + 1) as f64 + rank as f64 / 5.0)
}

fn weight(rng: &mut ChaCha8Rng) -> f64 {
    let exponential: f64 = Exp1.sample(rng);
    LEAST_WEIGHT + exponential
}

fn alias(weights: Vec<f64>) -> WeightedAliasIndex<f64> {
    WeightedAliasIndex::new(weights).expect("weights are positive and there is at least one")
}

/// The core words of every topic: in each layer the topics stand in a random circle, and a word
/// belongs to each pair of neighbours or, in some layers, to each topic.
fn core_words(rng: &mut ChaCha8Rng, words: &[u32], shares: &[f64]) -> Vec<Vec<Core>> {
    let rank = shares.len();
    let mut core = vec![Vec::new(); rank];
    for (number, layer) in words.chunks_exact(rank).enumerate() {
        let alone = rank == 1 || number % ALONE == 0;
        let circle = permutation(rng, rank);
        for (at, &word) in layer.iter().enumerate() {
            let (low, high) = if alone { PRESENCE_ALONE } else { PRESENCE };
            let presence = rng.random_range(low..high);
            let share = rng.random_range(SHARE.0..SHARE.1);
            let pair = [(circle[at], share), (circle[(at + 1) % rank], 1.0 - share)];
            for &(t, share) in if alone { &pair[..1] } else { &pair[..] } {
                core[t].push(Core { word, presence, factor: share / (rank as f64 * shares[t]) });
            }
        }
    }
    core
}

/// `1 / (q + rank)`, with the least q that keeps the first word out of nine documents in ten when
/// `drawn` are drawn for each; evenly when there are too few words for that.
fn zipf(words: usize, drawn: f64) -> Vec<f64> {
    let first = |q: f64| {
        // The sum of 1 / (q + k), k = 1..words, by its integral.
        1.0 / ((q + 1.0) * ((q + words as f64 + 0.5) / (q + 0.5)).ln())
    };
    let (mut low, mut high) = (0.0, 10.0 * words as f64);
    for _ in 0..60 {
        let q = 0.5 * (low + high);
        if drawn * first(q) > MOST_FREQUENT {
            low = q;
        } else {
            high = q;
        }
    }
    (1..=words).map(|rank| 1.0 / (high + rank as f64)).collect()
}

/// One document under way.
struct Document {
    /// Words and values, words in any order.
    entries: Vec<(u32, f64)>,
    /// The number of the last document that each word was in.
    last: Vec<u32>,
}

impl Document {
    /// Adds to the value of a word.
    fn add(&mut self, word: u32, number: u32, value: f64) {
        let last = &mut self.last[word as usize];
        if *last != number {
            *last = number;
            self.entries.push((word, value));
        } else if let Some(entry) = self.entries.iter_mut().find(|e| e.0 == word) {
            entry.1 += value;
        }
    }
}

/// Some documents, by words: word w has the entries from `starts[w]` up to `starts[w + 1]`.
struct DocumentBlock {
    starts: Vec<u32>,
    entries: Vec<(u32, f32)>,
}

impl DocumentBlock {
    /// From (word, document, value) with increasing documents, by counting.
    fn sort(words: usize, entries: &[(u32, u32, f32)]) -> Self {
        let mut starts = vec![0u32; words + 1];
        entries.iter().for_each(|e| starts[e.0 as usize + 1] += 1);
        (0..words).for_each(|w| starts[w + 1] += starts[w]);
        let mut next = starts.clone();
        let mut sorted = vec![(0u32, 0f32); entries.len()];
        for &(word, document, value) in entries {
            let at = &mut next[word as usize];
            sorted[*at as usize] = (document, value);
            *at += 1;
        }
        DocumentBlock { starts, entries: sorted }
    }

    fn word(&self, w: usize) -> &[(u32, f32)] {
        &self.entries[self.starts[w] as usize..self.starts[w + 1] as usize]
    }
}

/// Words x documents: each word's entries from one block after the other, words in parallel.
fn merge(words: usize, documents: usize, blocks: Vec<DocumentBlock>) -> Result<Sparse, Error> {
    let mut starts = vec![0usize];
    for w in 0..words {
        let length: usize = blocks.iter().map(|block| block.word(w).len()).sum();
        starts.push(starts[w] + length);
    }
    let mut columns = vec![0u32; starts[words]];
    let mut values = vec![0f64; starts[words]];
    let mut rows = Vec::with_capacity(words);
    let (mut columns_left, mut values_left) = (&mut columns[..], &mut values[..]);
    for w in 0..words {
        let length = starts[w + 1] - starts[w];
        let (c, rest) = columns_left.split_at_mut(length);
        columns_left = rest;
        let (v, rest) = values_left.split_at_mut(length);
        values_left = rest;
        rows.push((c, v));
    }
    rows.into_par_iter().enumerate().for_each(|(w, (columns, values))| {
        let entries = blocks.iter().flat_map(|block| block.word(w));
        for ((column, value), &(document, v)) in columns.iter_mut().zip(values).zip(entries) {
            (*column, *value) = (document, f64::from(v));
        }
    });
    drop(blocks);
    Sparse::new(words, documents, starts, columns, values)
}
