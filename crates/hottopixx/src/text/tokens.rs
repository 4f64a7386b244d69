//! The words of documents, one after the other: four bytes each, in memory or, beyond a limit that the
//! caller may set, in a file that the caller provides. They are read in passes, a document at a time.

use crate::Error;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};

/// Bytes that are read or written at a time.
const BUFFER: usize = 1 << 20;

/// Something to write words to and to read them from again: a temporary file.
pub trait Scratch: Read + Write + Seek + Send + Sync {}

impl<T: Read + Write + Seek + Send + Sync> Scratch for T {}

/// Makes a [`Scratch`] when it turns out to be needed.
pub type OpenScratch = Box<dyn FnOnce() -> io::Result<Box<dyn Scratch>> + Send + Sync>;

/// Where words go that are too many.
struct Overflow {
    /// Words that stay in memory at most.
    most: usize,
    open: Option<OpenScratch>,
    file: Option<Box<dyn Scratch>>,
    /// Documents that are in the file, the first ones.
    documents: usize,
}

/// Words of documents.
#[derive(Default)]
pub(super) struct Tokens {
    /// The words of the documents that are in memory.
    text: Vec<u32>,
    /// The number of words of each document.
    lengths: Vec<u32>,
    overflow: Option<Overflow>,
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tokens").field("documents", &self.lengths.len()).finish_non_exhaustive()
    }
}

fn failed(error: io::Error) -> Error {
    Error::Scratch { reason: error.to_string() }
}

impl Tokens {
    /// Lets at most this many words stay in memory.
    pub fn overflow_to(&mut self, most: usize, open: OpenScratch) {
        self.overflow = Some(Overflow { most, open: Some(open), file: None, documents: 0 });
    }

    /// Number of documents.
    pub fn documents(&self) -> usize {
        self.lengths.len()
    }

    /// Bytes that are in memory.
    pub fn bytes(&self) -> usize {
        4 * (self.text.capacity() + self.lengths.capacity())
    }

    /// Adds the words of whole documents, each of the given length.
    ///
    /// # Errors
    /// [`Error::Scratch`] when a file cannot be made or written.
    pub fn add(
        &mut self,
        words: impl Iterator<Item = u32>,
        lengths: impl Iterator<Item = u32>,
    ) -> Result<(), Error> {
        self.text.extend(words);
        self.lengths.extend(lengths);
        match &mut self.overflow {
            Some(overflow) if self.text.len() > overflow.most => {
                let outside = self.lengths[..overflow.documents].iter();
                let place = 4 * outside.map(|&length| u64::from(length)).sum::<u64>();
                overflow.write(&self.text, place).map_err(failed)?;
                overflow.documents = self.lengths.len();
                self.text.clear();
                self.text.shrink_to(overflow.most);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Forgets all but the first `documents` documents.
    pub fn truncate(&mut self, documents: usize) {
        let outside = self.overflow.as_ref().map_or(0, |overflow| overflow.documents);
        let kept = self.lengths.len().min(documents);
        let inside = &self.lengths[outside.min(kept)..kept];
        self.text.truncate(inside.iter().map(|&length| length as usize).sum());
        self.lengths.truncate(kept);
        if let Some(overflow) = &mut self.overflow {
            overflow.documents = outside.min(kept);
        }
    }

    /// Hands every document to `take`, in order.
    ///
    /// # Errors
    /// [`Error::Scratch`] when a file cannot be read.
    pub fn each(&mut self, mut take: impl FnMut(&[u32])) -> Result<(), Error> {
        let mut outside = 0;
        if let Some(Overflow { file: Some(file), documents, .. }) = &mut self.overflow {
            outside = *documents;
            read(file.as_mut(), &self.lengths[..outside], &mut take).map_err(failed)?;
        }
        let mut start = 0;
        for &length in &self.lengths[outside..] {
            let end = start + length as usize;
            take(&self.text[start..end]);
            start = end;
        }
        Ok(())
    }
}

impl Overflow {
    /// Writes words at a place of the file, behind those of its documents.
    fn write(&mut self, words: &[u32], place: u64) -> io::Result<()> {
        if let Some(open) = self.open.take() {
            self.file = Some(open()?);
        }
        let Some(file) = &mut self.file else {
            return Err(io::Error::other("it could not be made"));
        };
        file.seek(SeekFrom::Start(place))?;
        let mut bytes = Vec::with_capacity(BUFFER.min(4 * words.len()));
        for some in words.chunks(BUFFER / 4) {
            bytes.clear();
            some.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
            file.write_all(&bytes)?;
        }
        Ok(())
    }
}

/// Documents of these lengths, from the beginning of a file.
fn read(file: &mut dyn Scratch, lengths: &[u32], take: &mut impl FnMut(&[u32])) -> io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    let mut file = BufReader::with_capacity(BUFFER, file);
    let (mut bytes, mut words) = (Vec::new(), Vec::new());
    for &length in lengths {
        bytes.resize(4 * length as usize, 0);
        file.read_exact(&mut bytes)?;
        words.clear();
        words.extend(bytes.as_chunks::<4>().0.iter().map(|four| u32::from_le_bytes(*four)));
        take(&words);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn all(tokens: &mut Tokens) -> Vec<Vec<u32>> {
        let mut out = Vec::new();
        tokens.each(|document| out.push(document.to_vec())).unwrap();
        out
    }

    #[test]
    fn words_come_back_from_memory_and_from_a_file() {
        let documents: Vec<Vec<u32>> =
            (0..50u32).map(|d| (0..d % 7).map(|k| d * k).collect()).collect();
        for most in [0, 1, 30, 1000] {
            let mut tokens = Tokens::default();
            tokens.overflow_to(most, Box::new(|| Ok(Box::new(Cursor::new(Vec::new())))));
            for some in documents.chunks(8) {
                let words = some.iter().flatten().copied();
                tokens.add(words, some.iter().map(|d| d.len() as u32)).unwrap();
            }
            assert_eq!(tokens.documents(), 50);
            assert!(most > 140 || tokens.text.len() <= most);
            // More than one pass, and more words after one.
            assert_eq!(
                (all(&mut tokens), all(&mut tokens)),
                (documents.clone(), documents.clone())
            );
            tokens.add([1, 2, 3].into_iter(), [3].into_iter()).unwrap();
            assert_eq!(all(&mut tokens)[50], [1, 2, 3]);
        }
    }

    #[test]
    fn a_file_that_fails_is_told() {
        let mut tokens = Tokens::default();
        tokens.overflow_to(1, Box::new(|| Err(io::Error::other("no room"))));
        let error = tokens.add([1, 2].into_iter(), [2].into_iter()).unwrap_err().to_string();
        assert!(error.contains("no room") && error.contains("memory"), "{error}");
    }
}
