//! How much memory topics take, from the counts alone.
//!
//! Upper bounds put together from what each step allocates, as for factorizations (`factor/memory.rs`): steps follow one another,
//! so a run needs the counts, their copies and the largest step. A test of the program holds runs to it.

use super::Topics;
use crate::text::{CORE_WORDS, Corpus, DENSE_ABOVE, kept_words};

/// Documents that choices of anchors are judged with.
const JUDGED: u64 = 4 * 3000;
/// What the bound takes: 200 words with their rows, in both precisions, and its duals.
const BOUND_ROWS: u64 = 200 * 48;

/// A sparse matrix of this many rows and entries.
fn sparse(rows: u64, entries: u64) -> u64 {
    12 * entries + 8 * (rows + 1)
}

impl Topics {
    /// An upper bound on the bytes that [`Topics::fit`] takes with this corpus, the corpus included. O(entries).
    pub fn footprint(&self, corpus: &Corpus) -> u64 {
        let counts = corpus.counts();
        let (n, entries) = (counts.rows() as u64, counts.columns().len() as u64);
        let (tokens, df) = corpus.frequencies();
        let kept = kept_words(&tokens, &df, counts.rows(), self.rules()).kept;
        let kept_entries: u64 = kept.iter().map(|&word| df[word] as u64).sum();
        let (words, rank) = (kept.len() as u64, self.rank as u64);
        let core = words.min(CORE_WORDS as u64);
        let threads = match self.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        } as u64;

        let mut held = sparse(n, entries) + 96 * tokens.len() as u64;
        held += if words < tokens.len() as u64 { sparse(n, kept_entries) } else { 0 };
        held += if core < words { sparse(n, kept_entries) } else { 0 };
        let company = sparse(core, kept_entries) + 8 * n + threads * 20 * core;
        // Pairs of words that meet, and their matrix, which may be built from rows.
        let square = |d: usize| (counts.row(d).0.len() as u64).pow(2);
        let pairs = (0..counts.rows()).map(square).sum::<u64>().min(core * core);
        let few = (DENSE_ABOVE * (core * core) as f64) as u64;
        let (rows, matrix) = match pairs > few {
            true => (12 * (few + 512 * core), 8 * core * core),
            false => (12 * pairs, 12 * pairs),
        };
        // Two copies of the counts, by documents and by words; one more for what is given back late.
        let met = 3 * sparse(n.max(core), kept_entries) + rows + matrix;

        // Topics in several forms; the sums of a step for every thread.
        let topics = 8 * words * rank;
        let judging =
            2 * sparse(JUDGED, kept_entries * JUDGED.min(n) / n.max(1)) + 16 * JUDGED * rank;
        let choosing = judging + (threads + 8) * 8 * core * rank + BOUND_ROWS * core;
        let polishing = (8 * rank + 32) * n + (threads + 4) * topics;
        let figures = (8 * rank + 32) * n + sparse(words, kept_entries) + 10 * topics;
        held + company.max(met).max(matrix + choosing.max(polishing).max(figures))
    }
}
