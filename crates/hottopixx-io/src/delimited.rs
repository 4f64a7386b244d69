//! Tables of numbers, apart by commas or tabs, with header and row names where there are any.
//!
//! Reference: RFC 4180 (quoted cells, either line end); a byte order mark is skipped. The first line
//! is a header when it holds words where numbers belong, when it is one cell shorter than the others
//! (R), or when its first cell is empty and the others can be names (pandas). The first column holds
//! row names when it holds words. A few words among many numbers are taken for slips, not for names:
//! a row or column must not vanish because of one mistyped cell.

use crate::budget::Budget;
use crate::error::{Fault, FileLocation, check_value, quote};
use crate::load::Parsed;
use crate::scan::number;
use csv::ByteRecord;
use hottopixx::matrix::Dense;
use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

/// Reads one table.
pub(crate) fn read(reader: impl Read, separator: u8, budget: Budget) -> Result<Parsed, Fault> {
    let mut records = Records::new(reader, separator, budget);
    let Some((first, line)) = records.next()?.map(|(r, line)| (r.clone(), line)) else {
        return Err(Fault::file("there is no line in it", "give at least one row of numbers"));
    };
    let second = records.next()?.map(|(r, line)| (r.clone(), line));
    let header = FirstLine::detect(&first, line, second.as_ref().map_or(0, |(r, _)| r.len()))?;
    let width = first.len() + usize::from(header.short);
    let mut table = Table::new(width, header.names_rows, budget);
    if header.cells.is_none() {
        table.row(&first, line)?;
    }
    if let Some((second, line)) = second {
        table.row(&second, line)?;
    }
    while let Some((record, line)) = records.next()? {
        table.row(record, line)?;
    }
    table.finish(header.cells)
}

/// The records of a file with their lines; the bytes of one record are held to the budget.
struct Records<R> {
    csv: csv::Reader<Metered<R>>,
    record: ByteRecord,
    since: Rc<Cell<u64>>,
}

impl<R: Read> Records<R> {
    fn new(reader: R, separator: u8, budget: Budget) -> Self {
        let since = Rc::new(Cell::new(0));
        let limit = budget.limit().saturating_add(BUFFER as u64);
        let since_record = Rc::clone(&since);
        let metered =
            Metered { reader, since: since_record, limit, after_return: false, ended: false };
        let csv = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(separator)
            .buffer_capacity(BUFFER)
            .from_reader(metered);
        Records { csv, record: ByteRecord::new(), since }
    }

    fn next(&mut self) -> Result<Option<(&ByteRecord, u64)>, Fault> {
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

const BUFFER: usize = 1 << 16;

/// Turns every line end into one `\n`, so that lines can be counted, and fails when one record takes
/// more bytes than the budget allows: an open quote never ends.
struct Metered<R> {
    reader: R,
    since: Rc<Cell<u64>>,
    limit: u64,
    after_return: bool,
    ended: bool,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let n = self.reader.read(buffer)?;
            self.since.set(self.since.get().saturating_add(n as u64));
            if self.since.get() > self.limit {
                let what = "one row is larger than the memory allowed, or a quote is never closed";
                return Err(io::Error::other(crate::error::Corrupt(what)));
            }
            if n == 0 && !self.ended && !buffer.is_empty() {
                // The last line gets an end as well.
                self.ended = true;
                buffer[0] = b'\n';
                return Ok(1);
            }
            let kept = self.unify_line_ends(&mut buffer[..n]);
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

/// What a cell can be taken for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Number,
    /// Empty, or one of the usual words for a missing or infinite value.
    Missing,
    Word,
}

fn class(cell: &[u8]) -> Class {
    let cell = cell.trim_ascii();
    match number(cell) {
        Some(value) if value.is_finite() => Class::Number,
        Some(_) => Class::Missing,
        None => {
            let missing: [&[u8]; 7] = [b"", b"na", b"n/a", b"null", b"none", b"?", b"-"];
            let lower = cell.to_ascii_lowercase();
            if missing.contains(&&lower[..]) { Class::Missing } else { Class::Word }
        }
    }
}

/// What the first line turned out to be.
struct FirstLine {
    cells: Option<ByteRecord>,
    /// Whether it proves that the first column holds row names.
    names_rows: bool,
    /// Whether it has no cell for the row names.
    short: bool,
}

impl FirstLine {
    /// Looks at the first line; `second` is the number of cells of the next.
    fn detect(first: &ByteRecord, line: u64, second: usize) -> Result<FirstLine, Fault> {
        let count = |c: Class| first.iter().filter(|cell| class(cell) == c).count();
        let (words, numbers) = (count(Class::Word), count(Class::Number));
        let short = first.len() + 1 == second && words > numbers;
        if short || (first.len() > 1 && names_columns_only(first)) {
            return Ok(FirstLine { cells: Some(first.clone()), names_rows: true, short });
        }
        // A word in the first cell proves nothing where it can be the name of a row.
        let skip = usize::from(first.len() > 1);
        let slip = first.iter().enumerate().skip(skip).find(|(_, c)| class(c) == Class::Word);
        let words = first.iter().skip(skip).filter(|cell| class(cell) == Class::Word).count();
        match slip {
            Some((k, cell)) if words < numbers => Err(Fault::Malformed {
                place: FileLocation::Cell { line, column: k as u64 + 1 },
                what: format!("{} is not a number", quote(cell)),
                remedy: "correct it or, if this is a header, give every column a word as name"
                    .to_owned(),
            }),
            slip => {
                let cells = slip.is_some().then(|| first.clone());
                Ok(FirstLine { cells, names_rows: false, short: false })
            }
        }
    }
}

/// An empty first cell, then words or distinct whole numbers: what pandas writes.
fn names_columns_only(first: &ByteRecord) -> bool {
    let mut cells: Vec<&[u8]> = first.iter().map(<[u8]>::trim_ascii).collect();
    let possible = cells.first().is_some_and(|c| c.is_empty())
        && cells[1..].iter().all(|c| class(c) == Class::Word || crate::scan::whole(c).is_some());
    cells.sort_unstable();
    possible && cells.windows(2).all(|w| w[0] != w[1])
}

/// The rows read so far. The first column is kept both as numbers and as text until the end shows
/// which of the two it is.
struct Table {
    width: usize,
    values: Vec<f64>,
    firsts: Vec<Vec<u8>>,
    words: usize,
    names_rows: bool,
    fault_if_numbers: Option<Fault>,
    bytes: u128,
    budget: Budget,
}

impl Table {
    fn new(width: usize, names_rows: bool, budget: Budget) -> Self {
        Table {
            width,
            values: Vec::new(),
            firsts: Vec::new(),
            words: 0,
            names_rows,
            fault_if_numbers: None,
            bytes: 0,
            budget,
        }
    }

    fn row(&mut self, record: &ByteRecord, line: u64) -> Result<(), Fault> {
        if record.len() != self.width {
            let what = format!("there are {} cells where {} belong", record.len(), self.width);
            return Err(Fault::line(line, what, "give every row the same number of cells"));
        }
        let text = &record[0];
        self.bytes += 8 * self.width as u128 + 24 + text.len() as u128;
        self.budget.check(self.bytes, FileLocation::Line(line), || {
            format!("a table of {} rows so far", self.firsts.len() + 1)
        })?;
        self.words += usize::from(class(text) == Class::Word);
        self.firsts.push(text.to_vec());
        let first = entry(text, line, 1).unwrap_or_else(|fault| {
            self.fault_if_numbers.get_or_insert(fault);
            0.0
        });
        self.values.push(first);
        for (k, cell) in record.iter().enumerate().skip(1) {
            self.values.push(entry(cell, line, k as u64 + 1)?);
        }
        Ok(())
    }

    fn finish(mut self, header: Option<ByteRecord>) -> Result<Parsed, Fault> {
        let rows = self.firsts.len();
        if rows == 0 {
            let what = "there is a header but no row of numbers";
            return Err(Fault::file(what, "give at least one row of numbers"));
        }
        let words = self.words > 0 && 2 * self.words >= rows;
        let names_rows = self.width > 1 && (self.names_rows || words);
        if let (false, Some(fault)) = (names_rows, self.fault_if_numbers) {
            return Err(fault);
        }
        let mut cols = self.width;
        if names_rows {
            let mut place = 0..;
            self.values.retain(|_| place.next().is_some_and(|k| k % self.width != 0));
            cols -= 1;
        }
        let mut parsed = Parsed::new(Dense::new(rows, cols, self.values)?);
        if names_rows {
            parsed.row_names = Some(self.firsts.iter().map(|name| text(name)).collect());
        }
        parsed.col_names = header.map(|header| {
            header.iter().skip(header.len().saturating_sub(cols)).map(text).collect()
        });
        Ok(parsed)
    }
}

/// A name; bytes that are not UTF-8 are replaced rather than refused, since names are only shown.
fn text(cell: &[u8]) -> String {
    String::from_utf8_lossy(cell.trim_ascii()).into_owned()
}

/// One entry of the matrix.
fn entry(cell: &[u8], line: u64, column: u64) -> Result<f64, Fault> {
    let cell = cell.trim_ascii();
    let place = || FileLocation::Cell { line, column };
    if let Some(value) = number(cell) {
        return check_value(value, place);
    }
    let (what, remedy) = if cell.is_empty() {
        ("the cell is empty".to_owned(), "fill missing values first, for instance with 0")
    } else {
        (format!("{} is not a number", quote(cell)), "correct the cell or drop its row")
    };
    Err(Fault::Malformed { place: place(), what, remedy: remedy.to_owned() })
}
