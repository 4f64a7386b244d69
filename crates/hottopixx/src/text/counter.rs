//! From documents to counts of words.
//!
//! A [`Counter`] takes documents as they come, a block at a time, tokenises a block on all threads
//! and keeps one number per word of the text: four bytes per token, and each distinct word once. Stop
//! words and phrases are decided when everything has been seen. The [`Corpus`] that comes of it has
//! its words in alphabetical order, whatever the order of the documents and the number of threads.

use super::phrases::join_phrases;
use super::stop_words::Frequency;
use super::{Corpus, StopWords, Tokeniser};
use crate::Error;
use crate::matrix::Sparse;
use rayon::prelude::*;
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
#[derive(Debug, Clone, Default)]
pub struct Counter {
    reading: Reading,
    ids: HashMap<Box<str>, u32>,
    /// The words of all documents, one after the other.
    text: Vec<u32>,
    /// Where each document ends.
    ends: Vec<usize>,
}

/// The words of some documents, numbered in the order in which they first occur.
#[derive(Default)]
struct Piece {
    ids: HashMap<Box<str>, u32>,
    words: Vec<Box<str>>,
    text: Vec<u32>,
    ends: Vec<usize>,
}

impl Piece {
    fn add(&mut self, document: &str, reading: &Reading) {
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
        self.ends.push(self.text.len());
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

    /// Documents so far.
    pub fn documents(&self) -> usize {
        self.ends.len()
    }

    /// Fails when what is held takes more than `limit` bytes.
    ///
    /// # Errors
    /// [`Error::Setting`].
    pub fn check_memory(&self, limit: u64) -> Result<(), Error> {
        // A word: its place in the map, its letters.
        let held = 4 * self.text.capacity() + 8 * self.ends.capacity() + 64 * self.ids.capacity();
        if held as u64 <= limit {
            return Ok(());
        }
        Err(Error::Setting {
            name: "memory",
            value: format!("{limit} bytes"),
            remedy: format!(
                "the words of {} documents already take more: allow more, or give fewer documents",
                self.ends.len()
            ),
        })
    }

    /// Adds documents, in order; some thousand at a time keep all threads busy.
    ///
    /// # Errors
    /// [`Error::Setting`] when there are more than 2^32 - 2 different words.
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
        let before = self.text.len();
        let global = |id: &u32| if *id == BREAK { BREAK } else { ids[*id as usize] };
        self.text.extend(piece.text.iter().map(global));
        self.ends.extend(piece.ends.iter().map(|end| before + end));
        Ok(())
    }

    /// The counts of everything that was added. O(tokens + words log words).
    ///
    /// # Errors
    /// [`Error::Empty`] without documents, or when no word is left in them.
    pub fn finish(self) -> Result<Corpus, Error> {
        let Counter { reading, ids, mut text, mut ends } = self;
        let mut words: Vec<String> = vec![String::new(); ids.len()];
        for (word, id) in ids {
            words[id as usize] = word.into();
        }
        let (tokens, documents) = occurrences(&text, &ends, words.len());
        let all: Vec<Frequency<'_>> = (0..words.len())
            .map(|i| Frequency { word: &words[i], tokens: tokens[i], documents: documents[i] })
            .collect();
        let left_out = reading.stop_words.of(&all, ends.len());
        let mut notes: Vec<String> =
            Some(left_out.reason).filter(|r| !r.is_empty()).into_iter().collect();
        let mut stop = left_out.words;
        if reading.phrases {
            let phrases = join_phrases(&mut text, &mut ends, &words, &stop);
            notes.push(match phrases.len() {
                0 => "Phrases: no two words stand side by side often enough.".to_owned(),
                1 => "Phrases: 1 pair of words was joined.".to_owned(),
                n => format!("Phrases: {n} pairs of words were joined."),
            });
            stop.resize(stop.len() + phrases.len(), false);
            words.extend(phrases);
        }
        let (counts, words) = counted(&text, &ends, &words, &stop)?;
        Ok(Corpus::new(counts, words, notes))
    }
}

/// For each word, how often it occurs and in how many documents.
fn occurrences(text: &[u32], ends: &[usize], words: usize) -> (Vec<u64>, Vec<usize>) {
    let (mut tokens, mut documents) = (vec![0u64; words], vec![0; words]);
    let mut last = vec![usize::MAX; words];
    let mut start = 0;
    for (d, &end) in ends.iter().enumerate() {
        for &id in text[start..end].iter().filter(|id| **id != BREAK) {
            let i = id as usize;
            tokens[i] += 1;
            documents[i] += usize::from(std::mem::replace(&mut last[i], d) != d);
        }
        start = end;
    }
    (tokens, documents)
}

/// Documents x words, words in alphabetical order, without those of `stop` and those that do not occur.
fn counted(
    text: &[u32],
    ends: &[usize],
    words: &[String],
    stop: &[bool],
) -> Result<(Sparse, Vec<String>), Error> {
    let (tokens, _) = occurrences(text, ends, words.len());
    let mut order: Vec<usize> = (0..words.len()).filter(|&i| tokens[i] > 0 && !stop[i]).collect();
    order.sort_unstable_by(|&a, &b| words[a].cmp(&words[b]));
    if order.is_empty() {
        return Err(Error::Empty { rows: ends.len(), cols: 0 });
    }
    let mut column = vec![BREAK; words.len()];
    order.iter().enumerate().for_each(|(k, &i)| column[i] = k as u32);
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut document: Vec<u32> = Vec::new();
    let mut start = 0;
    for &end in ends {
        document.clear();
        let known = text[start..end].iter().filter(|id| **id != BREAK);
        document.extend(known.map(|id| column[*id as usize]).filter(|c| *c != BREAK));
        document.sort_unstable();
        for same in document.chunk_by(|a, b| a == b) {
            columns.push(same[0]);
            values.push(same.len() as f64);
        }
        starts.push(values.len());
        start = end;
    }
    let words: Vec<String> = order.iter().map(|&i| words[i].clone()).collect();
    Ok((Sparse::new(ends.len(), words.len(), starts, columns, values)?, words))
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
        assert_eq!(part.frequencies(), (vec![1.0, 3.0], vec![1, 1]));
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
}
