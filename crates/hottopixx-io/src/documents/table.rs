//! One column of a table, with or without a header.

use super::{DocumentColumns, Output};
use crate::error::{Fault, quote};
use crate::table::{
    ColumnList, Columns, Delimiter, Header, Numbered, Record, Records, SEPARATORS, Sample, decoded,
    is_missing, text,
};
use std::io::Read;

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
    let (mut records, delimiter) = records(reader, separator, columns)?;
    let first = some(&mut records, LOOKED_AT)?;
    let layout = Layout::of(&first, columns)?;
    let mut found = layout.name(&first);
    if delimiter != Delimiter::Byte(separator) && columns.delimiter.is_none() {
        found += &format!(" (cells are apart by {})", quote(delimiter.to_string().as_bytes()));
    }
    if columns.text.is_none() {
        out.names.notes.push(format!("Documents: column {found}."));
    }
    for (record, line) in &first[usize::from(layout.header)..] {
        layout.add(record, *line, out)?;
    }
    while let Some((record, line)) = records.next()? {
        layout.add(record, line, out)?;
    }
    Ok(())
}

/// Whether some column of the first rows, of those that are named if any are, is text.
pub(super) fn has_text(
    reader: impl Read,
    separator: u8,
    columns: &DocumentColumns,
) -> Result<bool, Fault> {
    let first = some(&mut records(reader, separator, columns)?.0, LOOKED_AT)?;
    let words = words_by_column(&first);
    let of_text = |column: usize| words.get(column).is_some_and(|words| *words >= WORDS);
    Ok(match &columns.text {
        None => (0..words.len()).any(of_text),
        Some(_) => Layout::of(&first, columns)?.text.into_iter().any(of_text),
    })
}

/// Which column is what, and whether the first row names them.
struct Layout {
    header: bool,
    /// One at least.
    text: Vec<usize>,
    title: Option<usize>,
    date: Option<usize>,
}

impl Layout {
    fn of(rows: &[Numbered], columns: &DocumentColumns) -> Result<Layout, Fault> {
        let Some((first, _)) = rows.first() else {
            return Err(Fault::file(
                "there is no line in it",
                "give a table with a column of text",
            ));
        };
        let names: Vec<String> = first.iter().map(text).collect();
        let header = match columns.header {
            Header::Yes => true,
            Header::No => false,
            Header::Auto => are_names(&names, columns) || looks_like_header(rows),
        };
        let known = Columns { names: header.then_some(&names[..]), width: first.len() };
        let text = match &columns.text {
            Some(list) => known.list(list)?,
            None => vec![longest(&rows[usize::from(header)..])?],
        };
        let place = |name: &Option<String>| name.as_ref().map(|name| known.one(name)).transpose();
        Ok(Layout { header, text, title: place(&columns.title)?, date: place(&columns.date)? })
    }

    /// Hands on the document in a record.
    fn add(&self, record: &Record, line: u64, out: &mut Output<'_>) -> Result<(), Fault> {
        let [title, date] = [self.title, self.date].map(|column| {
            let cell = column.map(|k| record.get(k).unwrap_or_default());
            cell.map(|cell| decoded(cell).trim().to_owned())
        });
        let mut text: Vec<u8> = Vec::new();
        for &column in &self.text {
            let Some(cell) = record.get(column) else {
                let what =
                    format!("there are {} cells, but text is in {}", record.len(), column + 1);
                return Err(Fault::line(line, what, "check the quotes of the line"));
            };
            if !is_missing(cell.trim_ascii()) {
                if !text.is_empty() {
                    text.push(b'\n');
                }
                text.extend_from_slice(cell);
            }
        }
        if text.is_empty() {
            return out.add_missing(line, title, date);
        }
        out.add(&text, title, date)
    }

    /// How a sentence calls the text columns.
    fn name(&self, rows: &[Numbered]) -> String {
        let name = |&column: &usize| match rows.first().and_then(|(first, _)| first.get(column)) {
            Some(cell) if self.header => quote(cell),
            _ => format!("{}", column + 1),
        };
        self.text.iter().map(name).collect::<Vec<_>>().join(", ")
    }
}

/// Whether the caller calls columns by these names: they are found with them and not without.
fn are_names(names: &[String], columns: &DocumentColumns) -> bool {
    let width = names.len();
    let [with, without] = [Some(names), None].map(|names| Columns { names, width });
    let of_text = |list: &ColumnList| with.list(list).is_ok() && without.list(list).is_err();
    let is_one = |name: &String| with.one(name).is_ok() && without.one(name).is_err();
    columns.text.as_ref().is_some_and(of_text)
        || columns.title.iter().chain(&columns.date).any(is_one)
}

/// Short cells of at most three words, none of them a number or twice the same, above a longer text.
fn looks_like_header(rows: &[Numbered]) -> bool {
    let Some((first, _)) = rows.first() else { return false };
    let mut cells: Vec<&[u8]> = first.iter().map(<[u8]>::trim_ascii).collect();
    let short = cells.iter().all(|cell| {
        (1..=LONGEST_NAME).contains(&cell.len())
            && words(cell) <= 3
            && crate::scan::number(cell).is_none()
    });
    cells.sort_unstable();
    let distinct = cells.windows(2).all(|pair| pair[0] != pair[1]);
    short && distinct && rows.len() > 1 && words_by_column(rows).iter().any(|words| *words >= WORDS)
}

fn words(cell: &[u8]) -> usize {
    cell.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count()
}

/// The mean number of words in the cells of each column that are not empty; the first row, which may be
/// a header, counts only where there is no other.
fn words_by_column(rows: &[Numbered]) -> Vec<f64> {
    let width = rows.iter().map(|(record, _)| record.len()).max().unwrap_or(0);
    let mut sums = vec![(0, 0); width];
    for (record, _) in &rows[usize::from(rows.len() > 1)..] {
        for (cell, (sum, cells)) in record.iter().zip(&mut sums) {
            *sum += words(cell);
            *cells += usize::from(words(cell) > 0);
        }
    }
    sums.into_iter().map(|(sum, cells)| sum as f64 / cells.max(1) as f64).collect()
}

/// The column with the most words.
fn longest(rows: &[Numbered]) -> Result<usize, Fault> {
    let means = words_by_column(rows);
    let best = means.iter().copied().fold(0.0, f64::max);
    means.iter().position(|mean| *mean == best && best > 0.0).ok_or_else(|| {
        Fault::file("no column holds text", "name the column of the documents with --column")
    })
}

/// What stands between the cells: that which gives most lines one and the same number of cells, two at
/// least; `usual` where several or none do.
fn separator_of(sample: &Sample, usual: u8) -> Result<Delimiter, Fault> {
    let alike = |delimiter: Delimiter| -> Result<usize, Fault> {
        if !sample.has(delimiter) {
            return Ok(0);
        }
        let mut widths = std::collections::BTreeMap::new();
        let records = sample.records(delimiter)?;
        for (record, _) in records.iter().take(LOOKED_AT).filter(|(r, _)| r.len() > 1) {
            *widths.entry(record.len()).or_insert(0) += 1;
        }
        Ok(widths.into_values().max().unwrap_or(0))
    };
    let usual = Delimiter::Byte(usual);
    let (mut best, mut most) = (usual, alike(usual)?);
    for separator in SEPARATORS.map(Delimiter::Byte) {
        let count = alike(separator)?;
        if count > most {
            (best, most) = (separator, count);
        }
    }
    Ok(best)
}

/// The records from the first on, with what stands between their cells: what was said, what Excel
/// declares in a line above, or what is found out.
fn records(
    mut reader: impl Read,
    usual: u8,
    columns: &DocumentColumns,
) -> Result<(Records<impl Read>, Delimiter), Fault> {
    let budget = columns.budget();
    let sample = Sample::take(&mut reader, budget)?;
    let declared = sample.declared();
    let delimiter = match columns.delimiter.or(declared) {
        Some(delimiter) => delimiter,
        None => separator_of(&sample, usual)?,
    };
    let whole = std::io::Cursor::new(sample.bytes).chain(reader);
    let mut records = Records::new(whole, delimiter, budget);
    if declared.is_some() {
        records.next()?;
    }
    Ok((records, delimiter))
}

/// At most this many records.
fn some(records: &mut Records<impl Read>, most: usize) -> Result<Vec<Numbered>, Fault> {
    let mut rows = Vec::new();
    while rows.len() < most
        && let Some((record, line)) = records.next()?
    {
        rows.push((record.clone(), line));
    }
    Ok(rows)
}
