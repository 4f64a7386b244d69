//! EM steps on the counts, in which p(w | k) moves too: likelihood for the topics that the anchors found.
//!
//! The start decides where EM ends; from the anchors it is a good one, and always the same. One step is
//! a pass over the documents ([`super::shares`]) that also sums
//! `p(w | k) <- p(w | k) * sum over d of h_dw theta_dk / p_d(w)`, scaled to one: with the shares it
//! raises the likelihood (or leaves it). Documents are dealt out to [`BLOCKS`] blocks whose sums are
//! added in their order, so that the number of threads does not matter; no more of these sums are in memory than there
//! are threads.

use super::shares::{ByWord, expect, maximise};
use crate::control::{Control, Progress, Stage};
use crate::kernels;
use crate::kernels::parallel::*;
use crate::matrix::{Dense, Sparse};
use std::sync::Arc;

/// Parts of the documents with sums of their own.
const BLOCKS: usize = 16;
/// A step that raises the log-likelihood of a token by less ends the polish.
const LEAST_GAIN: f64 = 1e-5;
/// What every word is given of every topic before the first step: a zero would stay one.
const FLOOR: f64 = 1e-3;

/// Topics after some steps.
#[derive(Debug, Clone)]
pub(super) struct Polished {
    pub topics: ByWord,
    /// Documents x topics.
    pub shares: Dense,
    /// Steps taken.
    pub steps: usize,
}

/// Mixes a little of the words' frequencies into every topic, so that EM can give any word to any.
pub(super) fn with_floor(topics: &Dense, frequency: &[f64], evidence: &Arc<[f64]>) -> ByWord {
    let mut topics = topics.clone();
    for k in 0..topics.rows() {
        let row = topics.row_mut(k).iter_mut().zip(frequency);
        row.for_each(|(v, f)| *v = (1.0 - FLOOR) * *v + FLOOR * f);
    }
    ByWord::new(&topics, evidence)
}

/// Topics of other words than the shares were found with: p(w | k) in proportion to the tokens of word w
/// in each document times the document's share of topic k. O(nonzeros * topics).
pub(super) fn of_shares(counts: &Sparse, shares: &Dense, evidence: &Arc<[f64]>) -> ByWord {
    let rank = shares.cols();
    let mut values = vec![0.0; counts.cols() * rank];
    for d in 0..counts.rows() {
        let (words, tokens) = counts.row(d);
        for (&word, h) in words.iter().zip(tokens) {
            let sums = &mut values[word as usize * rank..][..rank];
            sums.iter_mut().zip(shares.row(d)).for_each(|(s, t)| *s += h * t);
        }
    }
    let mut totals = vec![0.0; rank];
    values.chunks(rank).for_each(|row| totals.iter_mut().zip(row).for_each(|(t, v)| *t += v));
    for row in values.chunks_mut(rank) {
        row.iter_mut().zip(&totals).for_each(|(v, t)| *v /= t.max(f64::MIN_POSITIVE));
    }
    ByWord { rank, values, evidence: evidence.clone() }
}

/// At most `steps` steps from these topics and shares. O(steps * nonzeros * topics). Ends early when the
/// likelihood stands still or `control` says so.
pub(super) fn polish(
    counts: &Sparse,
    start: ByWord,
    shares: Dense,
    prior: f64,
    steps: usize,
    control: &Control,
) -> Polished {
    let tokens: f64 = counts.values().iter().sum();
    let mut polished = Polished { topics: start, shares, steps: 0 };
    let mut last = f64::NEG_INFINITY;
    while polished.steps < steps && control.goes_on() {
        let Some(likelihood) = step(counts, &mut polished, prior, control) else { break };
        polished.steps += 1;
        control.report(&Progress {
            stage: Stage::Clean,
            task: "polish",
            done: polished.steps,
            total: Some(steps),
            figure: Some(("log-likelihood of a token", likelihood / tokens)),
            bound: None,
        });
        if likelihood - last < LEAST_GAIN * tokens {
            break;
        }
        last = likelihood;
    }
    polished
}

/// One step; returns the log-likelihood before it, or `None`, with nothing changed but some shares, when
/// it was stopped.
fn step(counts: &Sparse, polished: &mut Polished, prior: f64, control: &Control) -> Option<f64> {
    let (rank, documents) = (polished.topics.rank, counts.rows());
    let topics = &polished.topics;
    let block = documents.div_ceil(BLOCKS).max(1);
    let (mut all, mut likelihood) = (vec![0.0; topics.values.len()], 0.0);
    let at_once = rayon::current_num_threads().max(1);
    let some = polished.shares.values_mut().chunks_mut(at_once * block * rank);
    for (first, shares) in some.enumerate() {
        let parts = shares.par_chunks_mut(block * rank).enumerate().map(|(b, shares)| {
            let b = first * at_once + b;
            let mut sums = vec![0.0; topics.values.len()];
            let (mut next, mut ratios) = (vec![0.0; rank], Vec::new());
            let (mut likelihood, mut watch) = (0.0, control.watch());
            for (k, theta) in shares.chunks_mut(rank).enumerate() {
                let document = counts.row(b * block + k);
                if watch.spend(4 * rank * (document.0.len() + 1)).is_some() {
                    return None;
                }
                expect(document, topics, theta, &mut next, &mut ratios);
                kernels::add_mixture(document.0, &ratios, theta, &mut sums);
                likelihood += kernels::log_likelihood(document.1, &ratios);
                maximise(theta, &mut next, prior);
            }
            Some((sums, likelihood))
        });
        for part in parts.collect::<Vec<_>>() {
            let (sums, some) = part?;
            all.iter_mut().zip(&sums).for_each(|(a, s)| *a += s);
            likelihood += some;
        }
    }
    polished.topics = scaled(&polished.topics, all);
    Some(likelihood)
}

/// `p(w | k) * sums`, every topic scaled to one; a topic that has lost all words stays as it was.
fn scaled(topics: &ByWord, mut sums: Vec<f64>) -> ByWord {
    let rank = topics.rank;
    let mut totals = vec![0.0; rank];
    for (sums, before) in sums.chunks_mut(rank).zip(topics.values.chunks(rank)) {
        for ((s, b), t) in sums.iter_mut().zip(before).zip(&mut totals) {
            *s *= b;
            *t += *s;
        }
    }
    for (sums, before) in sums.chunks_mut(rank).zip(topics.values.chunks(rank)) {
        for ((s, b), t) in sums.iter_mut().zip(before).zip(&totals) {
            *s = if *t > 0.0 { *s / t } else { *b };
        }
    }
    ByWord { rank, values: sums, evidence: topics.evidence.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth::{Family, Recipe};
    use crate::topics::shares::likelihood;

    fn start() -> (Sparse, ByWord, Dense) {
        let recipe = Recipe::new(Family::Multinomial, 3).size(60, 200).tokens(40);
        let crate::matrix::Matrix::Sparse(counts) = recipe.generate().unwrap().matrix.transpose()
        else {
            panic!("counts are sparse")
        };
        let rows: Vec<Vec<f64>> = (0..3)
            .map(|k| (0..60).map(|w| f64::from(1 + (w * (k + 2) + k) % 7)).collect())
            .map(|row: Vec<f64>| row.iter().map(|v| v / row.iter().sum::<f64>()).collect())
            .collect();
        let shares = Dense::new(200, 3, vec![1.0 / 3.0; 600]).unwrap();
        let even = vec![1.0; 60].into();
        (counts, ByWord::new(&Dense::from_rows(&rows).unwrap(), &even), shares)
    }

    #[test]
    fn the_likelihood_never_falls() {
        let (counts, topics, shares) = start();
        let mut last = f64::NEG_INFINITY;
        let (mut topics, mut shares) = (topics, shares);
        for _ in 0..20 {
            let now = likelihood(&counts, &topics, &shares).0;
            assert!(now >= last - 1e-9 * last.abs().min(1e9), "{now} after {last}");
            last = now;
            let out = polish(&counts, topics, shares, 0.0, 1, &Control::default());
            (topics, shares) = (out.topics, out.shares);
            for k in 0..3 {
                let sum: f64 = topics.topics().row(k).iter().sum();
                assert!((sum - 1.0).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn words_that_come_later_follow_the_shares() {
        let counts = Sparse::from_triplets(2, 2, &[(0, 0, 3.0), (0, 1, 1.0), (1, 1, 4.0)]).unwrap();
        let shares = Dense::from_rows(&[[1.0, 0.0], [0.25, 0.75]]).unwrap();
        let topics = of_shares(&counts, &shares, &vec![1.0; 2].into()).topics();
        assert_eq!((topics.row(0), topics.row(1)), (&[0.6, 0.4][..], &[0.0, 1.0][..]));
    }

    #[test]
    fn threads_do_not_matter() {
        let run = |threads: usize| {
            let (counts, topics, shares) = start();
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| polish(&counts, topics, shares, 0.1, 7, &Control::default()))
        };
        let (one, three) = (run(1), run(3));
        assert_eq!(one.topics, three.topics);
        assert_eq!(one.shares, three.shares);
        assert_eq!(one.steps, 7);
    }
}
