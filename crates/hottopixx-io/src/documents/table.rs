//! One column of a table, with or without a header.

use super::{DocumentColumns, Output};
use crate::budget::Budget;
use crate::error::{Fault, quote};
use crate::table::{Delimiter, Numbered, Records, SEPARATORS, Sample};
use csv::ByteRecord;
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
    let mut records = records(reader, separator)?;
    let first = some(&mut records, LOOKED_AT)?;
    let layout = Layout::of(&first, columns)?;
    if columns.text.is_none() {
        out.names.notes.push(format!("Documents: column {}.", layout.name(&first)));
    }
    for (record, line) in &first[usize::from(layout.header)..] {
        layout.add(record, *line, out)?;
    }
    while let Some((record, line)) = records.next()? {
        layout.add(record, line, out)?;
    }
    Ok(())
}

/// Whether some column of the first rows is text.
pub(super) fn has_text(reader: impl Read, separator: u8) -> Result<bool, Fault> {
    let first = some(&mut records(reader, separator)?, LOOKED_AT)?;
    Ok(words_by_column(&first).iter().any(|words| *words >= WORDS))
}

/// Which column is what, and whether the first row names them.
struct Layout {
    header: bool,
    text: usize,
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

    /// Hands on the document in a record.
    fn add(&self, record: &ByteRecord, line: u64, out: &mut Output<'_>) -> Result<(), Fault> {
        let Some(text) = record.get(self.text) else {
            let what =
                format!("there are {} cells, but text is in {}", record.len(), self.text + 1);
            return Err(Fault::line(line, what, "check the quotes of the line"));
        };
        let [title, date] = [self.title, self.date].map(|column| {
            let cell = column.map(|k| record.get(k).unwrap_or_default());
            cell.map(|cell| String::from_utf8_lossy(cell).trim().to_owned())
        });
        out.add(text, title, date)
    }

    /// How a sentence calls the text column.
    fn name(&self, rows: &[Numbered]) -> String {
        match rows.first().and_then(|(first, _)| first.get(self.text)) {
            Some(cell) if self.header => quote(cell),
            _ => format!("{}", self.text + 1),
        }
    }
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
    short && distinct && words_by_column(&rows[1..]).iter().any(|words| *words >= WORDS)
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

/// The records from the first on, with what stands between their cells found out.
fn records(mut reader: impl Read, usual: u8) -> Result<Records<impl Read>, Fault> {
    let budget = Budget::new(None);
    let sample = Sample::take(&mut reader, budget.limit())?;
    let separator = separator_of(&sample, usual)?;
    Ok(Records::new(std::io::Cursor::new(sample.bytes).chain(reader), separator, budget))
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
