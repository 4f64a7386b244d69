//! Lines and their words, read in large blocks: [`Lines`] keeps one block in memory and hands out
//! lines in place.

use super::numbers::{number, whole};
use crate::error::{Fault, FileLocation, check_value, quote};
use std::io::{ErrorKind, Read};
use std::ops::Range;

/// Bytes read at a time; few of them in fuzzing, whose files are small: they then have several blocks as well.
const BLOCK: usize = if cfg!(fuzzing) { 1 << 7 } else { 1 << 18 };

/// The lines of a stream, without their ends (`\n` or `\r\n`).
pub(crate) struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    begin: usize,
    end: usize,
    number: u64,
    longest: usize,
    finished: bool,
}

/// One line, and its number from 1.
#[derive(Clone, Copy)]
pub(crate) struct Line<'a> {
    pub number: u64,
    pub bytes: &'a [u8],
}

impl<R: Read> Lines<R> {
    /// Lines of at most `longest` bytes; a longer one is a fault.
    pub fn new(reader: R, longest: u64) -> Self {
        let longest = usize::try_from(longest).unwrap_or(usize::MAX);
        Lines { reader, buffer: Vec::new(), begin: 0, end: 0, number: 0, longest, finished: false }
    }

    /// What is left when lines are not wanted any more: the reader, what it has given already,
    /// whether that is all, and the number of the last line.
    pub fn into_rest(mut self) -> (R, Vec<u8>, bool, u64) {
        self.buffer.truncate(self.end);
        self.buffer.drain(..self.begin);
        (self.reader, self.buffer, self.finished, self.number)
    }

    /// The next line; `None` at the end.
    pub fn next(&mut self) -> Result<Option<Line<'_>>, Fault> {
        Ok(self.advance()?.map(|span| Line { number: self.number, bytes: &self.buffer[span] }))
    }

    /// The next line that is not blank and does not begin with `comment`.
    pub fn next_full(&mut self, comment: Option<u8>) -> Result<Option<Line<'_>>, Fault> {
        while let Some(span) = self.advance()? {
            let first = self.buffer[span.clone()].iter().find(|b| !b.is_ascii_whitespace());
            if first.is_some() && first.copied() != comment {
                return Ok(Some(Line { number: self.number, bytes: &self.buffer[span] }));
            }
        }
        Ok(None)
    }

    /// Where in the block the next line stands.
    fn advance(&mut self) -> Result<Option<Range<usize>>, Fault> {
        let mut searched = 0;
        let length = loop {
            let waiting = &self.buffer[self.begin..self.end];
            if let Some(k) = waiting[searched..].iter().position(|b| *b == b'\n') {
                break searched + k;
            }
            searched = waiting.len();
            if self.finished {
                if searched == 0 {
                    return Ok(None);
                }
                break searched;
            }
            if searched > self.longest {
                return Err(Fault::line(
                    self.number + 1,
                    format!("the line is longer than {} bytes", self.longest),
                    "check that this is text with line ends, or allow more memory",
                ));
            }
            self.fill()?;
        };
        let mut span = self.begin..self.begin + length;
        self.begin = (span.end + 1).min(self.end);
        self.number += 1;
        if self.buffer[span.clone()].ends_with(b"\r") {
            span.end -= 1;
        }
        if self.number == 1 && self.buffer[span.clone()].starts_with(b"\xef\xbb\xbf") {
            span.start += 3;
        }
        Ok(Some(span))
    }

    /// Moves what is left of the block to its front and reads on behind it.
    fn fill(&mut self) -> Result<(), Fault> {
        self.buffer.copy_within(self.begin..self.end, 0);
        self.end -= self.begin;
        self.begin = 0;
        if self.buffer.len() - self.end < BLOCK / 2 {
            self.buffer.resize(self.end + BLOCK.max(self.end), 0);
        }
        loop {
            match self.reader.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.finished = true,
                Ok(n) => self.end += n,
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) => return Err(e.into()),
            }
            return Ok(());
        }
    }
}

impl<'a> Line<'a> {
    /// The words of the line, apart by spaces and tabs.
    pub fn words(self) -> Words<'a> {
        Words { line: self }
    }

    /// A fault at this line.
    pub fn fault(self, what: impl Into<String>, remedy: impl Into<String>) -> Fault {
        Fault::line(self.number, what, remedy)
    }

    /// An entry of the matrix: a number, finite and not negative.
    pub fn entry(self, word: &[u8]) -> Result<f64, Fault> {
        let value = self.number_in(word)?;
        check_value(value, || FileLocation::Line(self.number))
    }

    /// Any number, also one that is not finite.
    pub fn number_in(self, word: &[u8]) -> Result<f64, Fault> {
        number(word).ok_or_else(|| {
            self.fault(format!("{} is not a number", quote(word)), "correct the line")
        })
    }

    /// A whole number without sign that fits 64 bits.
    pub fn whole(self, word: &[u8]) -> Result<u64, Fault> {
        whole(word).ok_or_else(|| {
            let what = format!("{} is not a whole number below 2^64", quote(word));
            self.fault(what, "correct the line")
        })
    }
}

/// Iterator over the words of a line; what is left of the line stays readable.
pub(crate) struct Words<'a> {
    line: Line<'a>,
}

impl<'a> Words<'a> {
    /// The next word, or a fault that says what the line should hold.
    pub fn expect(&mut self, should: &str) -> Result<&'a [u8], Fault> {
        let line = self.line;
        self.next().ok_or_else(|| line.fault("the line is too short", format!("give {should}")))
    }

    /// A fault when there is another word.
    pub fn expect_end(&mut self, should: &str) -> Result<(), Fault> {
        let line = self.line;
        match self.next() {
            None => Ok(()),
            Some(word) => {
                let what = format!("{} is one word too many", quote(word));
                Err(line.fault(what, format!("give {should}")))
            }
        }
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.line.bytes;
        let begin = rest.iter().position(|b| !b.is_ascii_whitespace())?;
        let rest = &rest[begin..];
        let length = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        let (word, rest) = rest.split_at(length);
        self.line.bytes = rest;
        Some(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_any_length_and_ending() {
        let long = "x".repeat(3 * BLOCK);
        let text = format!("\u{feff}a\r\n\n{long}\nlast");
        let mut lines = Lines::new(text.as_bytes(), 1 << 30);
        for (k, want) in ["a", "", &long, "last"].iter().enumerate() {
            let line = lines.next().unwrap().unwrap();
            assert_eq!((line.number, line.bytes), (k as u64 + 1, want.as_bytes()));
        }
        assert!(lines.next().unwrap().is_none());
        let mut short = Lines::new(long.as_bytes(), 1000);
        assert!(short.next().is_err());
    }

    #[test]
    fn full_lines_skip_blanks_and_comments() {
        let mut lines = Lines::new(&b"% one\n  \n 2 3\n%\n"[..], 100);
        let line = lines.next_full(Some(b'%')).unwrap().unwrap();
        assert_eq!((line.number, line.bytes), (3, &b" 2 3"[..]));
        assert!(lines.next_full(Some(b'%')).unwrap().is_none());
    }
}
