//! One column of a table, with or without a header.

use super::{DocumentColumns, Output};
use crate::budget::Budget;
use crate::error::{Corrupt, Fault, quote};
use csv::ByteRecord;
use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

/// Rows that are looked at to find out which column is text.
const LOOKED_AT: usize = 100;
/// A cell of text has this many words, on the average of its column.
const WORDS: f64 = 3.0;
/// A name of a column is not longer.
const LONGEST_NAME: usize = 40;

pub(super) fn read(
    reader: impl Read,
    separator: u8,
    columns: &DocumentColumns,
    out: &mut Output<'_>,
) -> Result<(), Fault> {
    let mut records = Records::new(reader, separator);
    let first = records.some(LOOKED_AT)?;
    let layout = Layout::of(&first, columns)?;
    if columns.text.is_none() {
        out.names.notes.push(format!("Documents: column {}.", layout.name(&first)));
    }
    let rest = std::iter::from_fn(|| records.next().transpose());
    let rows = first.into_iter().skip(usize::from(layout.header)).map(Ok).chain(rest);
    for row in rows {
        let (record, line) = row?;
        let cell = |column: usize| record.get(column);
        let Some(text) = cell(layout.text) else {
            let what =
                format!("there are {} cells, but text is in {}", record.len(), layout.text + 1);
            return Err(Fault::line(line, what, "check the quotes of the line"));
        };
        let [title, date] = [layout.title, layout.date].map(|column| {
            column.map(|k| String::from_utf8_lossy(cell(k).unwrap_or_default()).trim().to_owned())
        });
        out.add(text, title, date)?;
    }
    Ok(())
}

/// Whether some column of the first rows is text.
pub(super) fn has_text(reader: impl Read, separator: u8) -> Result<bool, Fault> {
    let first = Records::new(reader, separator).some(LOOKED_AT)?;
    // The first row may be a header, whose short names would count as text.
    let below = if first.len() > 1 { &first[1..] } else { &first[..] };
    Ok(words_by_column(below).iter().any(|words| *words >= WORDS))
}

/// Records with the lines on which they begin.
type Rows = Vec<(ByteRecord, u64)>;

/// Which column is what, and whether the first row names them.
struct Layout {
    header: bool,
    text: usize,
    title: Option<usize>,
    date: Option<usize>,
}

impl Layout {
    fn of(rows: &Rows, columns: &DocumentColumns) -> Result<Layout, Fault> {
        let Some((first, _)) = rows.first() else {
            return Err(Fault::file(
                "there is no line in it",
                "give a table with a column of text",
            ));
        };
        let named = [&columns.text, &columns.title, &columns.date];
        let is_name = |name: &String| first.iter().any(|cell| cell.trim_ascii() == name.as_bytes());
        let header = named.into_iter().flatten().any(is_name) || looks_like_header(rows);
        let place = |name: &String| -> Result<usize, Fault> {
            let by_name =
                first.iter().position(|cell| header && cell.trim_ascii() == name.as_bytes());
            let by_number = name.parse().ok().filter(|k| (1..=first.len()).contains(k));
            by_name.or(by_number.map(|k: usize| k - 1)).ok_or_else(|| {
                let what = format!("there is no column {}", quote(name.as_bytes()));
                let names: Vec<String> = first.iter().take(12).map(quote).collect();
                let remedy = match header {
                    true => format!("its columns are {}", names.join(", ")),
                    false => format!("give a number from 1 to {}, it has no header", first.len()),
                };
                Fault::file(what, remedy)
            })
        };
        let text = match &columns.text {
            Some(name) => place(name)?,
            None => longest(&rows[usize::from(header)..])?,
        };
        let title = columns.title.as_ref().map(place).transpose()?;
        let date = columns.date.as_ref().map(place).transpose()?;
        Ok(Layout { header, text, title, date })
    }

    /// How a sentence calls the text column.
    fn name(&self, rows: &Rows) -> String {
        match rows.first().and_then(|(first, _)| first.get(self.text)) {
            Some(cell) if self.header => quote(cell),
            _ => format!("{}", self.text + 1),
        }
    }
}

/// Short cells of at most three words, none of them a number or twice the same, above a longer text.
fn looks_like_header(rows: &Rows) -> bool {
    let Some((first, _)) = rows.first() else { return false };
    let mut cells: Vec<&[u8]> = first.iter().map(<[u8]>::trim_ascii).collect();
    let short = cells.iter().all(|cell| {
        (1..=LONGEST_NAME).contains(&cell.len())
            && words(cell) <= 3
            && crate::scan::number(cell).is_none()
    });
    cells.sort_unstable();
    let distinct = cells.windows(2).all(|pair| pair[0] != pair[1]);
    short && distinct && words_by_column(&rows[1..]).iter().any(|words| *words >= WORDS)
}

fn words(cell: &[u8]) -> usize {
    cell.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count()
}

/// The mean number of words in the cells of each column that are not empty.
fn words_by_column(rows: &[(ByteRecord, u64)]) -> Vec<f64> {
    let width = rows.iter().map(|(record, _)| record.len()).max().unwrap_or(0);
    let mut sums = vec![(0.0, 0.0); width];
    for (record, _) in rows {
        for (cell, (sum, count)) in record.iter().zip(&mut sums) {
            let words = words(cell) as f64;
            *sum += words;
            *count += f64::from(u8::from(words > 0.0));
        }
    }
    sums.iter().map(|(sum, count)| sum / f64::max(*count, 1.0)).collect()
}

/// The column with the most words.
fn longest(rows: &[(ByteRecord, u64)]) -> Result<usize, Fault> {
    let means = words_by_column(rows);
    let best = means.iter().copied().fold(0.0, f64::max);
    means.iter().position(|mean| *mean == best && best > 0.0).ok_or_else(|| {
        Fault::file("no column holds text", "name the column of the documents with --column")
    })
}

/// The records of a table; the bytes of one are held to what memory allows.
struct Records<R> {
    csv: csv::Reader<Bounded<R>>,
    record: ByteRecord,
    since: Rc<Cell<u64>>,
}

impl<R: Read> Records<R> {
    fn new(reader: R, separator: u8) -> Self {
        let since = Rc::new(Cell::new(0));
        let limit = Budget::new(None).limit();
        let bounded = Bounded { reader, since: Rc::clone(&since), limit };
        let mut builder = csv::ReaderBuilder::new();
        builder.has_headers(false).flexible(true).delimiter(separator);
        Records { csv: builder.from_reader(bounded), record: ByteRecord::new(), since }
    }

    fn next(&mut self) -> Result<Option<(ByteRecord, u64)>, Fault> {
        self.since.set(0);
        let more = self.csv.read_byte_record(&mut self.record).map_err(|e| {
            let line = e.position().map_or(1, csv::Position::line);
            match e.into_kind() {
                csv::ErrorKind::Io(e) => Fault::Io(e),
                _ => Fault::line(line, "the line cannot be read", "check its quotes"),
            }
        })?;
        let line = self.record.position().map_or(1, csv::Position::line);
        if line == 1
            && let Some(rest) = self.record.get(0).and_then(|c| c.strip_prefix(b"\xef\xbb\xbf"))
        {
            let cells = std::iter::once(rest).chain(self.record.iter().skip(1));
            self.record = cells.map(<[u8]>::to_vec).collect::<Vec<_>>().into();
        }
        Ok(more.then(|| (self.record.clone(), line)))
    }

    /// At most this many records.
    fn some(&mut self, most: usize) -> Result<Rows, Fault> {
        let mut rows = Vec::new();
        while rows.len() < most
            && let Some(row) = self.next()?
        {
            rows.push(row);
        }
        Ok(rows)
    }
}

/// Fails when one record takes more bytes than memory allows: an open quote never ends.
struct Bounded<R> {
    reader: R,
    since: Rc<Cell<u64>>,
    limit: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.reader.read(buffer)?;
        self.since.set(self.since.get().saturating_add(n as u64));
        if self.since.get() > self.limit {
            let what = "one row is larger than the memory allowed, or a quote is never closed";
            return Err(io::Error::other(Corrupt(what)));
        }
        Ok(n)
    }
}
