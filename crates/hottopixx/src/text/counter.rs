//! From text to counts.
//!
//! A [`Counter`] takes documents as they come, a block at a time, tokenises a block on all threads
//! and keeps one number per word of the text ([`Tokens`]), and each distinct word once. Stop words and
//! phrases, and which words are kept, are decided when everything has been seen, in passes over these
//! numbers. The [`Corpus`] that comes of it has its words in alphabetical order, whatever the order of
//! the documents, the number of threads and where the numbers were.

use super::phrases::Phrases;
use super::stop_words::Frequency;
use super::tokens::{OpenScratch, Tokens};
use super::vocabulary::kept_words;
use super::{Corpus, StopWords, Tokeniser, VocabularyRules};
use crate::Error;
use crate::kernels::parallel::*;
use crate::matrix::Sparse;
use std::collections::HashMap;

/// Documents that one thread tokenises at a time.
const PIECE: usize = 256;

/// Stands between words that are no neighbours.
pub(super) const BREAK: u32 = u32::MAX;

/// How documents are read.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct Reading {
    /// What counts as a word.
    pub tokeniser: Tokeniser,
    /// Which words are left out.
    pub stop_words: StopWords,
    /// Whether two words that stand side by side much more often than by chance become one, with a
    /// blank between them (default false).
    pub phrases: bool,
}

/// Takes documents and counts their words.
#[derive(Debug, Default)]
pub struct Counter {
    reading: Reading,
    ids: HashMap<Box<str>, u32>,
    tokens: Tokens,
}

/// The words of some documents, numbered in the order in which they first occur.
#[derive(Default)]
struct Piece {
    ids: HashMap<Box<str>, u32>,
    words: Vec<Box<str>>,
    text: Vec<u32>,
    lengths: Vec<u32>,
}

impl Piece {
    fn add(&mut self, document: &str, reading: &Reading) {
        let before = self.text.len();
        reading.tokeniser.each(document, |word| match word {
            Some(word) => {
                let id = match self.ids.get(word) {
                    Some(&id) => id,
                    None => {
                        let id = self.words.len() as u32;
                        self.ids.insert(word.into(), id);
                        self.words.push(word.into());
                        id
                    }
                };
                self.text.push(id);
            }
            None if reading.phrases => self.text.push(BREAK),
            None => {}
        });
        // No document of a gigabyte at most has more.
        self.lengths.push((self.text.len() - before) as u32);
    }
}

impl Counter {
    /// Reads documents so.
    ///
    /// # Errors
    /// As [`StopWords::check`].
    pub fn new(reading: Reading) -> Result<Self, Error> {
        reading.stop_words.check()?;
        Ok(Counter { reading, ..Counter::default() })
    }

    /// Keeps at most `most` bytes of the documents' words in memory, and the others in a file. To be called
    /// before documents are added.
    pub fn overflow_to(mut self, most: u64, open: OpenScratch) -> Self {
        self.tokens.overflow_to(usize::try_from(most / 4).unwrap_or(usize::MAX), open);
        self
    }

    /// Documents so far.
    pub fn documents(&self) -> usize {
        self.tokens.documents()
    }

    /// Fails when what is held in memory takes more than `limit` bytes.
    ///
    /// # Errors
    /// [`Error::Setting`].
    pub fn check_memory(&self, limit: u64) -> Result<(), Error> {
        // A word: its place in the map, its letters.
        let held = self.tokens.bytes() + 64 * self.ids.capacity();
        if held as u64 <= limit {
            return Ok(());
        }
        let what = format!("{} different words of {} documents", self.ids.len(), self.documents());
        Err(too_large(&what, held as u64, limit, "allow more, or give fewer documents"))
    }

    /// Adds documents, in order; some thousand at a time keep all threads busy.
    ///
    /// # Errors
    /// [`Error::Setting`] when there are more than 2^32 - 2 different words; [`Error::Scratch`] when a file
    /// cannot be written.
    pub fn add<D: AsRef<str> + Sync>(&mut self, documents: &[D]) -> Result<(), Error> {
        let reading = &self.reading;
        let pieces: Vec<Piece> = documents
            .par_chunks(PIECE)
            .map(|some| {
                let mut piece = Piece::default();
                some.iter().for_each(|document| piece.add(document.as_ref(), reading));
                piece
            })
            .collect();
        pieces.into_iter().try_for_each(|piece| self.take(piece))
    }

    fn take(&mut self, piece: Piece) -> Result<(), Error> {
        let mut ids = Vec::with_capacity(piece.words.len());
        for word in piece.words {
            let next = u32::try_from(self.ids.len()).unwrap_or(BREAK);
            let id = *self.ids.entry(word).or_insert(next);
            if id == BREAK {
                return Err(Error::Setting {
                    name: "words",
                    value: "2^32 - 1".to_owned(),
                    remedy: "there are too many different words: give fewer documents".to_owned(),
                });
            }
            ids.push(id);
        }
        let global = |id: u32| if id == BREAK { BREAK } else { ids[id as usize] };
        self.tokens.add(piece.text.into_iter().map(global), piece.lengths.into_iter())
    }

    /// The counts of everything that was added. O(tokens + words log words).
    ///
    /// # Errors
    /// [`Error::Empty`] without documents, or when no word is left in them; [`Error::Scratch`] when a file cannot
    /// be read.
    pub fn finish(self) -> Result<Corpus, Error> {
        self.finished(None, u64::MAX)
    }

    /// As [`Counter::finish`], with the words alone that a [`Vocabulary`](super::Vocabulary) of these rules
    /// keeps: the same topics come of them, from fewer counts.
    ///
    /// # Errors
    /// As [`Counter::finish`], and [`Error::Setting`] when the counts would take more than `limit` bytes.
    pub fn finish_for(self, rules: VocabularyRules, limit: u64) -> Result<Corpus, Error> {
        self.finished(Some(rules), limit)
    }

    fn finished(self, rules: Option<VocabularyRules>, limit: u64) -> Result<Corpus, Error> {
        let Counter { reading, ids, mut tokens } = self;
        let mut words: Vec<String> = vec![String::new(); ids.len()];
        for (word, id) in ids {
            words[id as usize] = word.into();
        }
        counts_of(&reading, words, &mut tokens, rules, limit)
    }

    /// As [`Counter::finish`], of everything that was added so far; documents may be added afterwards. Stop
    /// words, phrases and words are decided on all documents each time: it does not matter in how many
    /// parts they came.
    ///
    /// # Errors
    /// As [`Counter::finish`].
    pub fn so_far(&mut self) -> Result<Corpus, Error> {
        let mut words: Vec<String> = vec![String::new(); self.ids.len()];
        for (word, &id) in &self.ids {
            words[id as usize] = word.to_string();
        }
        counts_of(&self.reading, words, &mut self.tokens, None, u64::MAX)
    }

    /// Forgets all but the first `documents` documents.
    pub fn truncate(&mut self, documents: usize) {
        self.tokens.truncate(documents);
    }
}

/// The counts of documents whose words have these numbers.
fn counts_of(
    reading: &Reading,
    mut words: Vec<String>,
    tokens: &mut Tokens,
    rules: Option<VocabularyRules>,
    limit: u64,
) -> Result<Corpus, Error> {
    let documents = tokens.documents();
    let mut seen = Occurrences::of(tokens, None, words.len())?;
    let all: Vec<Frequency<'_>> = (0..words.len())
        .map(|i| Frequency { word: &words[i], tokens: seen.tokens[i], documents: seen.df[i] })
        .collect();
    let left_out = reading.stop_words.of(&all, documents);
    let mut notes: Vec<String> =
        Some(left_out.reason).filter(|r| !r.is_empty()).into_iter().collect();
    let mut stop = left_out.words;
    let mut phrases = None;
    if reading.phrases {
        let found = Phrases::find(tokens, &seen.tokens, &words, &stop)?;
        notes.push(found.sentence());
        stop.resize(stop.len() + found.names.len(), false);
        words.extend_from_slice(&found.names);
        seen = Occurrences::of(tokens, Some(&found), words.len())?;
        phrases = Some(found);
    }
    let mut order: Vec<usize> =
        (0..words.len()).filter(|&i| seen.tokens[i] > 0 && !stop[i]).collect();
    order.sort_unstable_by(|&a, &b| words[a].cmp(&words[b]));
    let distinct = order.len();
    if distinct == 0 {
        return Err(Error::Empty { rows: documents, cols: 0 });
    }
    if let Some(rules) = rules {
        seen.keep(&mut order, rules, documents);
    }
    seen.check_counts(&order, documents, limit)?;
    let entries = order.iter().map(|&i| seen.df[i]).sum();
    let counts = counted(tokens, phrases.as_ref(), words.len(), &order, entries)?;
    let words = order.iter().map(|&i| std::mem::take(&mut words[i])).collect();
    Ok(Corpus::new(counts, words, distinct, notes))
}

fn too_large(what: &str, bytes: u64, limit: u64, remedy: &str) -> Error {
    let mib = |bytes: u64| bytes.div_ceil(1 << 20);
    Error::Setting {
        name: "memory",
        value: format!("{} MiB", mib(limit)),
        remedy: format!("{what} take {} MiB: {remedy}", mib(bytes)),
    }
}

/// For each word, how often it occurs and in how many documents.
struct Occurrences {
    tokens: Vec<u64>,
    df: Vec<usize>,
}

impl Occurrences {
    /// Of this many words, after phrases are joined.
    fn of(tokens: &mut Tokens, phrases: Option<&Phrases>, words: usize) -> Result<Self, Error> {
        let mut seen = Occurrences { tokens: vec![0; words], df: vec![0; words] };
        let (mut last, mut d, mut joined) = (vec![usize::MAX; words], 0, Vec::new());
        tokens.each(|document| {
            for &id in after(phrases, document, &mut joined).iter().filter(|id| **id != BREAK) {
                let i = id as usize;
                seen.tokens[i] += 1;
                seen.df[i] += usize::from(std::mem::replace(&mut last[i], d) != d);
            }
            d += 1;
        })?;
        Ok(seen)
    }

    /// Leaves the words, in alphabetical order, that these rules keep; all where they keep none.
    fn keep(&self, order: &mut Vec<usize>, rules: VocabularyRules, documents: usize) {
        let tokens: Vec<f64> = order.iter().map(|&i| self.tokens[i] as f64).collect();
        let df: Vec<usize> = order.iter().map(|&i| self.df[i]).collect();
        let kept = kept_words(&tokens, &df, documents, rules).kept;
        if !kept.is_empty() {
            *order = kept.into_iter().map(|place| order[place]).collect();
        }
    }

    /// Fails when the counts of these words take more than `limit` bytes.
    fn check_counts(&self, order: &[usize], documents: usize, limit: u64) -> Result<(), Error> {
        let entries: usize = order.iter().map(|&i| self.df[i]).sum();
        let bytes = 12 * entries as u64 + 8 * documents as u64;
        if bytes <= limit {
            return Ok(());
        }
        let what = format!("counts of {} words in {documents} documents", order.len());
        let remedy = "allow more, or keep fewer words (a larger minimum document frequency, fewer \
                      words at most)";
        Err(too_large(&what, bytes, limit, remedy))
    }
}

/// A document after phrases are joined.
fn after<'a>(
    phrases: Option<&Phrases>,
    document: &'a [u32],
    joined: &'a mut Vec<u32>,
) -> &'a [u32] {
    match phrases {
        None => document,
        Some(phrases) => {
            phrases.join(document, joined);
            joined
        }
    }
}

/// Documents x the words of `order`, of all that there are; `entries` are not zero.
fn counted(
    tokens: &mut Tokens,
    phrases: Option<&Phrases>,
    words: usize,
    order: &[usize],
    entries: usize,
) -> Result<Sparse, Error> {
    let mut column = vec![BREAK; words];
    order.iter().enumerate().for_each(|(k, &i)| column[i] = k as u32);
    let mut starts = Vec::with_capacity(tokens.documents() + 1);
    starts.push(0);
    let (mut columns, mut values) = (Vec::with_capacity(entries), Vec::with_capacity(entries));
    let (mut known, mut joined): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
    tokens.each(|document| {
        known.clear();
        let document = after(phrases, document, &mut joined).iter().filter(|id| **id != BREAK);
        known.extend(document.map(|id| column[*id as usize]).filter(|c| *c != BREAK));
        known.sort_unstable();
        for same in known.chunk_by(|a, b| a == b) {
            columns.push(same[0]);
            values.push(same.len() as f64);
        }
        starts.push(values.len());
    })?;
    Sparse::new(starts.len() - 1, order.len(), starts, columns, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corpus(documents: &[&str], reading: Reading) -> Corpus {
        let mut counter = Counter::new(reading).unwrap();
        for some in documents.chunks(2) {
            counter.add(some).unwrap();
        }
        counter.finish().unwrap()
    }

    fn plain() -> Reading {
        Reading { stop_words: StopWords::None, ..Reading::default() }
    }

    #[test]
    fn counts_words_in_alphabetical_order() {
        let corpus = corpus(
            &["b a b", "", "c b c c"].map(|t| t),
            Reading { tokeniser: Tokeniser { min_length: 1, numbers: false }, ..plain() },
        );
        assert_eq!(corpus.words(), ["a", "b", "c"]);
        let counts = corpus.counts();
        assert_eq!((counts.rows(), counts.starts()), (3, &[0, 2, 2, 4][..]));
        assert_eq!(
            (counts.columns(), counts.values()),
            (&[0, 1, 1, 2][..], &[1.0, 2.0, 1.0, 3.0][..])
        );
        assert_eq!(corpus.frequencies(), (vec![1.0, 3.0, 3.0], vec![1, 2, 1]));
        let part = corpus.select(&[0, 2]);
        assert_eq!(
            (part.words(), part.counts().columns()),
            (&["a".to_owned(), "c".to_owned()][..], &[0, 1][..])
        );
    }

    #[test]
    fn threads_and_blocks_do_not_matter() {
        let documents: Vec<String> = (0..1000)
            .map(|d| format!("word{} common word{} other", d % 37, (d * d) % 91))
            .collect();
        let whole = |threads: usize, block: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut counter = Counter::new(plain()).unwrap();
                documents.chunks(block).for_each(|some| counter.add(some).unwrap());
                counter.finish().unwrap()
            })
        };
        assert_eq!(whole(1, 1000), whole(3, 300));
    }

    #[test]
    fn documents_may_come_in_parts_and_go_again() {
        let documents: Vec<String> = (0..300)
            .map(|d| format!("The new york is of word{} and word{} late{}", d % 7, d % 11, d / 200))
            .collect();
        let reading = Reading { phrases: true, ..Reading::default() };
        let whole = |some: &[String]| {
            let mut counter = Counter::new(reading.clone()).unwrap();
            counter.add(some).unwrap();
            counter.finish().unwrap()
        };
        for most in [None, Some(40), Some(1 << 20)] {
            let mut counter = Counter::new(reading.clone()).unwrap();
            if let Some(most) = most {
                let open = || Ok(Box::new(std::io::Cursor::new(Vec::new())) as Box<_>);
                counter = counter.overflow_to(most, Box::new(open));
            }
            documents[..150].chunks(60).for_each(|some| counter.add(some).unwrap());
            assert_eq!(counter.so_far().unwrap(), whole(&documents[..150]));
            counter.add(&["other words that are not to stay", "late9"]).unwrap();
            counter.truncate(150);
            counter.truncate(400);
            assert_eq!(counter.so_far().unwrap(), whole(&documents[..150]));
            counter.truncate(70);
            documents[70..].chunks(90).for_each(|some| counter.add(some).unwrap());
            assert_eq!(counter.so_far().unwrap(), whole(&documents));
            assert_eq!(counter.documents(), 300);
        }
    }

    #[test]
    fn stop_words_and_phrases_are_decided_on_the_whole() {
        let documents = [
            "The prime minister spoke to the press.",
            "A prime minister and the queen",
            "He is the prime minister; the number was prime.",
            "The queen of the press is the minister",
        ];
        let many: Vec<&str> = documents.iter().cycle().take(40).copied().collect();
        let found = corpus(&many, Reading { phrases: true, ..Reading::default() });
        assert!(found.words().contains(&"prime minister".to_owned()), "{:?}", found.words());
        assert!(
            found.words().contains(&"prime".to_owned())
                && !found.words().contains(&"the".to_owned())
        );
        assert!(found.notes()[0].contains("english") && found.notes()[1].contains("pair"));
        assert!(Counter::new(plain()).unwrap().finish().is_err());
    }

    #[test]
    fn files_and_kept_words_do_not_matter() {
        let documents: Vec<String> = (0..400)
            .map(|d| format!("new york word{} common word{} other rare{d}", d % 37, (d * d) % 91))
            .collect();
        let reading = Reading { phrases: true, ..plain() };
        let counter = |most: Option<u64>| {
            let mut counter = Counter::new(reading.clone()).unwrap();
            if let Some(most) = most {
                let open = || Ok(Box::new(std::io::Cursor::new(Vec::new())) as Box<_>);
                counter = counter.overflow_to(most, Box::new(open));
            }
            documents.chunks(90).for_each(|some| counter.add(some).unwrap());
            counter
        };
        let whole = counter(None).finish().unwrap();
        assert!(whole.words().contains(&"new york".to_owned()));
        assert_eq!(counter(Some(100)).finish().unwrap(), whole);
        assert_eq!(counter(Some(1 << 20)).finish().unwrap(), whole);

        let rules = VocabularyRules { min_df: Some(2), ..VocabularyRules::default() };
        let vocabulary = super::super::Vocabulary::choose(&whole, rules, 3).unwrap();
        let kept = counter(Some(100)).finish_for(rules, 1 << 20).unwrap();
        assert_eq!(kept, whole.select(&vocabulary.kept));
        assert_eq!(
            super::super::Vocabulary::choose(&kept, rules, 3).unwrap().reason,
            vocabulary.reason
        );
        let error = counter(None).finish_for(rules, 1000).unwrap_err().to_string();
        assert!(error.contains("counts of") && error.contains("allow more"), "{error}");
        assert!(
            counter(None).check_memory(1000).unwrap_err().to_string().contains("different words")
        );
    }
}
