//! The records of a table with their lines, whatever ends a line and stands between cells.

use super::options::Delimiter;
use crate::budget::Budget;
use crate::error::Fault;
use csv::ByteRecord;
use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

/// The records of a file with their lines; the bytes of one record are held to the budget.
pub(crate) struct Records<R> {
    csv: csv::Reader<Metered<R>>,
    record: ByteRecord,
    since: Rc<Cell<u64>>,
}

impl<R: Read> Records<R> {
    pub fn new(reader: R, delimiter: Delimiter, budget: Budget) -> Self {
        let since = Rc::new(Cell::new(0));
        let limit = budget.longest_line().saturating_add(BUFFER as u64);
        let (delimiter, fold) = match delimiter {
            Delimiter::Byte(byte) => (byte, None),
            Delimiter::Blanks => (b' ', Some(Fold::default())),
        };
        let metered = Metered {
            reader,
            since: Rc::clone(&since),
            limit,
            after_return: false,
            ended: false,
            fold,
        };
        let csv = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .buffer_capacity(BUFFER)
            .from_reader(metered);
        Records { csv, record: ByteRecord::new(), since }
    }

    /// The next record and its line, from 1; blank lines are none.
    pub fn next(&mut self) -> Result<Option<(&ByteRecord, u64)>, Fault> {
        self.since.set(0);
        let more = self.csv.read_byte_record(&mut self.record).map_err(|e| {
            let line = e.position().map_or(1, csv::Position::line);
            match e.into_kind() {
                csv::ErrorKind::Io(e) => Fault::Io(e),
                _ => Fault::line(line, "the line cannot be read", "check its quotes"),
            }
        })?;
        // The reader stands behind the record's end; its own start would count blank lines before it.
        let inside = self.record.as_slice().iter().filter(|b| **b == b'\n').count() as u64;
        let begin = self.record.position().map_or(1, csv::Position::line);
        let line = self.csv.position().line().saturating_sub(1 + inside).max(begin);
        Ok(more.then_some((&self.record, line)))
    }
}

const BUFFER: usize = if cfg!(fuzzing) { 1 << 8 } else { 1 << 16 };

/// Turns every line end into one `\n`, so that lines can be counted, and fails when one record takes
/// more bytes than the budget allows: an open quote never ends.
struct Metered<R> {
    reader: R,
    since: Rc<Cell<u64>>,
    limit: u64,
    after_return: bool,
    ended: bool,
    fold: Option<Fold>,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // One byte of room for a blank that is due from the bytes before.
        let room = usize::from(self.fold.is_some());
        if buffer.len() <= room {
            return Ok(0);
        }
        loop {
            let n = self.reader.read(&mut buffer[room..])?;
            self.since.set(self.since.get().saturating_add(n as u64));
            if self.since.get() > self.limit {
                let what = "one row is longer than the memory allows, or a quote is never closed";
                return Err(io::Error::other(crate::error::Corrupt(what)));
            }
            if n == 0 && !self.ended {
                // The last line gets an end as well.
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

impl<R> Metered<R> {
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
