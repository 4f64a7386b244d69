//! The records of a table with their lines, whatever ends a line and stands between cells.

use super::options::Delimiter;
use crate::budget::Budget;
use crate::error::Fault;
use csv_core::ReadRecordResult;
use std::io::{self, Read};
use std::ops::Index;
use std::sync::{Mutex, PoisonError};

/// The cells of one record, without quotes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Record {
    /// All cells, one after the other.
    bytes: Vec<u8>,
    /// Where each cell ends.
    ends: Vec<usize>,
}

impl Record {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn get(&self, cell: usize) -> Option<&[u8]> {
        (cell < self.len()).then(|| &self[cell])
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &[u8]> + ExactSizeIterator {
        (0..self.len()).map(|cell| &self[cell])
    }
}

impl Index<usize> for Record {
    type Output = [u8];

    fn index(&self, cell: usize) -> &[u8] {
        let begin = cell.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[begin..self.ends[cell]]
    }
}

/// The records of a file with their lines; the bytes of one record are held to the budget.
pub(crate) struct Records<R> {
    parser: csv_core::Reader,
    delimiter: u8,
    input: Unified<R>,
    /// Bytes of the input; those of `ahead` are not parsed yet.
    buffer: Vec<u8>,
    ahead: std::ops::Range<usize>,
    record: Record,
    budget: Budget,
}

impl<R: Read> Records<R> {
    pub fn new(reader: R, delimiter: Delimiter, budget: Budget) -> Self {
        let (delimiter, fold) = match delimiter {
            Delimiter::Byte(byte) => (byte, None),
            Delimiter::Blanks => (b' ', Some(Fold::default())),
        };
        Records {
            parser: parser(delimiter),
            delimiter,
            input: Unified { reader, after_return: false, ended: false, fold },
            buffer: vec![0; BUFFER],
            ahead: 0..0,
            record: Record::default(),
            budget,
        }
    }

    /// The next record and its line, from 1; blank lines are none.
    pub fn next(&mut self) -> Result<Option<(&Record, u64)>, Fault> {
        let first_line = self.parser.line();
        let Record { bytes, ends } = &mut self.record;
        // Whatever they have room for; what is not used is taken off in the end.
        bytes.resize(bytes.capacity().max(64), 0);
        ends.resize(ends.capacity().max(8), 0);
        let (mut taken, mut written, mut cells) = (0, 0, 0);
        let more = loop {
            if self.ahead.is_empty() {
                self.ahead = 0..self.input.read(&mut self.buffer)?;
            }
            let input = &self.buffer[self.ahead.clone()];
            let (result, read, wrote, ended) =
                self.parser.read_record(input, &mut bytes[written..], &mut ends[cells..]);
            self.ahead.start += read;
            written += wrote;
            cells += ended;
            taken += read as u64;
            // An open quote never ends.
            if taken > self.budget.longest_line() {
                return Err(self.budget.too_long(first_line));
            }
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => bytes.resize(2 * bytes.len(), 0),
                ReadRecordResult::OutputEndsFull => ends.resize(2 * ends.len(), 0),
                ReadRecordResult::Record => break true,
                ReadRecordResult::End => break false,
            }
        };
        bytes.truncate(written);
        ends.truncate(cells);
        // The parser stands behind the record's end; where it began would count blank lines before it.
        let inside = bytes.iter().filter(|b| **b == b'\n').count() as u64;
        let line = self.parser.line().saturating_sub(1 + inside).max(first_line);
        Ok(more.then_some((&self.record, line)))
    }
}

/// Parsers that no table needs any more. To build the automaton of one takes longer than to read a short table, and
/// several separators are tried on every table. (A copy of a parser does not work: it lacks a part of the automaton.)
static SPARE: Mutex<Vec<(u8, csv_core::Reader)>> = Mutex::new(Vec::new());
/// How many are kept at most.
const SPARES: usize = 16;

/// A parser at the start of a file.
fn parser(delimiter: u8) -> csv_core::Reader {
    let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
    match spare.iter().position(|(other, _)| *other == delimiter) {
        Some(at) => {
            let mut parser = spare.swap_remove(at).1;
            parser.reset();
            parser
        }
        None => csv_core::ReaderBuilder::new().delimiter(delimiter).build(),
    }
}

impl<R> Drop for Records<R> {
    fn drop(&mut self) {
        let mut spare = SPARE.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < SPARES {
            spare.push((self.delimiter, std::mem::take(&mut self.parser)));
        }
    }
}

const BUFFER: usize = if cfg!(fuzzing) { 1 << 8 } else { 1 << 16 };

/// Turns every line end into one `\n`, so that lines can be counted, and gives one to the last line.
struct Unified<R> {
    reader: R,
    after_return: bool,
    ended: bool,
    fold: Option<Fold>,
}

impl<R: Read> Read for Unified<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // One byte of room for a blank that is due from the bytes before.
        let room = usize::from(self.fold.is_some());
        if buffer.len() <= room {
            return Ok(0);
        }
        loop {
            let n = self.reader.read(&mut buffer[room..])?;
            if n == 0 && !self.ended {
                self.ended = true;
                buffer[0] = b'\n';
                return Ok(1);
            }
            let mut kept = self.unify_line_ends(&mut buffer[room..room + n]);
            if let Some(fold) = &mut self.fold {
                kept = fold.apply(&mut buffer[..room + kept]);
            }
            if n == 0 || kept > 0 {
                return Ok(kept);
            }
        }
    }
}

impl<R> Unified<R> {
    /// Works in place and returns the number of bytes left.
    fn unify_line_ends(&mut self, buffer: &mut [u8]) -> usize {
        if !self.after_return && !buffer.contains(&b'\r') {
            return buffer.len();
        }
        let mut kept = 0;
        for k in 0..buffer.len() {
            let byte = buffer[k];
            if !(byte == b'\n' && self.after_return) {
                buffer[kept] = if byte == b'\r' { b'\n' } else { byte };
                kept += 1;
            }
            self.after_return = byte == b'\r';
        }
        kept
    }
}

/// Makes one blank of every run of blanks and tabs outside quotes, none at either end of a line.
#[derive(Default)]
struct Fold {
    quoted: bool,
    /// Whether the line has a cell already.
    begun: bool,
    /// Whether a blank is due before the next cell.
    due: bool,
}

impl Fold {
    /// Works in place on all bytes but the first, which is room for a blank from the bytes before;
    /// returns the number of bytes left.
    fn apply(&mut self, buffer: &mut [u8]) -> usize {
        let mut kept = 0;
        for k in 1..buffer.len() {
            let byte = buffer[k];
            if !self.quoted {
                match byte {
                    b'\n' => (self.begun, self.due) = (false, false),
                    b' ' | b'\t' => {
                        self.due = self.begun;
                        continue;
                    }
                    _ => self.begun = true,
                }
            }
            if std::mem::take(&mut self.due) {
                buffer[kept] = b' ';
                kept += 1;
            }
            self.quoted ^= byte == b'"';
            buffer[kept] = byte;
            kept += 1;
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time, so that every place is once the end of a buffer.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0.read(&mut buffer[..1])
        }
    }

    #[test]
    fn runs_of_blanks_are_one_separator() {
        let text = b"  a \t b\n\"x  y\"   1  \r\n\n 2\t3";
        let read = |reader: &mut dyn Read| {
            let mut records = Records::new(reader, Delimiter::Blanks, Budget::new(None));
            let mut out = Vec::new();
            while let Some((record, line)) = records.next().unwrap() {
                let cells = record.iter().map(|c| String::from_utf8_lossy(c).into_owned());
                out.push((line, cells.collect::<Vec<_>>().join("|")));
            }
            out
        };
        let want = [(1, "a|b"), (2, "x  y|1"), (4, "2|3")].map(|(k, t)| (k, t.to_owned()));
        assert_eq!(read(&mut &text[..]), want);
        assert_eq!(read(&mut Slow(text)), want);
    }
}
