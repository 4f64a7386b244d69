//! Tables of numbers: what stands between cells, a header, row names and columns that are no data are
//! detected, unless the caller says.
//!
//! Reference: RFC 4180 (quoted cells, either line end), and what spreadsheets, pandas, R, numpy and
//! statistical offices write: semicolons and decimal commas, a header one cell short, comments,
//! titles, years as names of columns. The first 256 KiB decide ([`plan`]): between cells stands what
//! makes records of equal length with most numbers in them ([`sample`]), a header holds names
//! ([`heading`]), and a column is data when it holds numbers that are neither row numbers nor years
//! ([`roles`]). Everything below is then read as decided, and what does not fit is refused with its
//! place. What was decided is told in a [`TableLayout`].

mod body;
mod cells;
mod columns;
mod heading;
mod layout;
mod options;
mod plan;
mod records;
mod roles;
mod sample;

pub use layout::{Aside, TableColumn, TableLayout};
pub use options::{
    ColumnList, Decimal, Delimiter, Header, IndexColumn, Missing, TableOptionError, TableOptions,
    list_items,
};

pub(crate) use cells::{decoded, is_missing, text};
pub(crate) use columns::Columns;
pub(crate) use records::{Record, Records};
pub(crate) use sample::{Numbered, SEPARATORS, Sample};

use crate::budget::Budget;
use crate::error::Fault;
use crate::format::Format;
use crate::load::Parsed;
use body::Body;
use plan::Plan;
use std::io::Read;

/// Which entries are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entries {
    /// Finite and nonnegative ones.
    Checked,
    /// All; missing ones are NaN, whatever the options say about them.
    Any,
}

/// Changes when the same file and options give another matrix than before.
pub(crate) const VERSION: u8 = 2;

/// What the format promises to stand between cells.
fn own_delimiter(format: Format) -> Delimiter {
    Delimiter::Byte(if format == Format::Tsv { b'\t' } else { b',' })
}

/// Reads one table.
pub(crate) fn read(
    mut reader: impl Read,
    format: Format,
    options: &TableOptions,
    budget: Budget,
    entries: Entries,
) -> Result<Parsed, Fault> {
    let sample = Sample::take(&mut reader, budget)?;
    let plan = Plan::make(&sample, own_delimiter(format), options)?;
    // Where the sample is all there is, nothing can turn out later.
    let open = plan.open && !sample.whole;
    let mut body = Body::new(&plan, open, options.missing, entries, budget);
    let whole = std::io::Cursor::new(sample.bytes).chain(reader);
    let mut records = Records::new(whole, plan.delimiter, budget);
    for _ in 0..plan.heading.above {
        records.next()?;
    }
    while let Some((record, line)) = records.next()? {
        body.row(record, line)?;
    }
    body.finish()
}

/// How a table would be read, from its first lines alone, and the first lines themselves: at most
/// `shown` records.
pub(crate) fn detect(
    mut reader: impl Read,
    format: Format,
    options: &TableOptions,
    budget: Budget,
    shown: usize,
) -> Result<Detected, Fault> {
    let sample = Sample::take(&mut reader, budget)?;
    let plan = Plan::make(&sample, own_delimiter(format), options)?;
    let records = sample.records(plan.delimiter)?;
    let rows = &records[plan.heading.above.min(records.len())..];
    let text = |record: &Record| record.iter().map(cells::text).collect::<Vec<String>>();
    Ok(Detected {
        layout: plan.layout(),
        column_names: plan.heading.names.clone(),
        first_rows: rows.iter().take(shown).map(|(record, _)| text(record)).collect(),
        sample_rows: rows.len() as u64,
        sample_bytes: sample.bytes.len() as u64,
        whole: sample.whole,
    })
}

/// What the first lines of a table show.
pub(crate) struct Detected {
    pub layout: TableLayout,
    pub column_names: Option<Vec<String>>,
    pub first_rows: Vec<Vec<String>>,
    pub sample_rows: u64,
    pub sample_bytes: u64,
    pub whole: bool,
}
