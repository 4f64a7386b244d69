//! How a table was read, for those who want to know.

use super::options::{Decimal, Delimiter, Missing};
use crate::error::quote;
use std::fmt;

/// How a table was read: what was said about it, and what was found out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableLayout {
    /// What stands between cells.
    pub delimiter: Delimiter,
    /// Whether that is what the extension promises.
    pub usual_delimiter: bool,
    /// What stands before decimals.
    pub decimal: Decimal,
    /// Whether a line names the columns.
    pub header: bool,
    /// The column that names the rows.
    pub index: Option<TableColumn>,
    /// What that column holds.
    pub index_role: Option<Aside>,
    /// How many columns are data.
    pub columns: usize,
    /// Columns that were set aside without being asked to.
    pub set_aside: Vec<(TableColumn, Aside)>,
    /// Lines that are titles, comments or empty cells only.
    pub skipped_lines: usize,
    /// Missing values that were found, and what became of them.
    pub missing: Option<(usize, Missing)>,
    /// Rows left out because of them.
    pub dropped_rows: usize,
    /// Columns left out because of them.
    pub dropped_columns: Vec<TableColumn>,
}

/// A column of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableColumn {
    /// Its number, from 1.
    pub number: usize,
    /// Its name, if it has one.
    pub name: Option<String>,
}

impl fmt::Display for TableColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) if !name.is_empty() => f.write_str(&quote(name.as_bytes())),
            _ => write!(f, "{}", self.number),
        }
    }
}

/// Why a column is no data, or what it holds beside data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aside {
    /// It holds words.
    Text,
    /// It numbers the rows.
    Id,
    /// It holds years, or other times.
    Time,
    /// It holds nothing.
    Empty,
    /// It holds the classes that the first line names.
    Classes,
}

impl fmt::Display for Aside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Aside::Text => "text",
            Aside::Id => "numbers the rows",
            Aside::Time => "time",
            Aside::Empty => "empty",
            Aside::Classes => "classes",
        })
    }
}

/// Columns named in one sentence.
const SHOWN: usize = 6;

impl TableLayout {
    /// Whether this is a plain table of numbers, about which there is nothing to say.
    pub fn is_plain(&self) -> bool {
        !self.header
            && self.index.is_none()
            && self.usual_delimiter
            && self.decimal == Decimal::Point
            && self.set_aside.is_empty()
            && self.skipped_lines == 0
            && self.missing.is_none()
    }

    /// What was found, in one line.
    pub fn sentence(&self) -> String {
        let names = match &self.index {
            Some(column) if column.name.as_ref().is_some_and(|name| !name.is_empty()) => {
                format!("names from column {column}")
            }
            Some(column) => format!("names from column {}", column.number),
            None => "no row names".to_owned(),
        };
        let delimiter = match self.delimiter {
            Delimiter::Byte(b'\t') => "tab".to_owned(),
            Delimiter::Blanks => "blanks".to_owned(),
            Delimiter::Byte(byte) => format!("'{}'", char::from(byte)),
        };
        let decimal = match self.decimal {
            Decimal::Point => "point",
            Decimal::Comma => "comma",
        };
        format!(
            "read as: header {}, {names}, {} of numbers, delimiter {delimiter}, decimal {decimal}",
            if self.header { "yes" } else { "no" },
            counted(self.columns, "column"),
        )
    }

    /// What was left out, in one line each.
    pub fn omissions(&self) -> Vec<String> {
        let mut out = Vec::new();
        if !self.set_aside.is_empty() {
            let columns = self.set_aside.iter().map(|(column, why)| format!("{column} ({why})"));
            out.push(format!(
                "set aside: {}; --columns takes other columns as data",
                shortened(columns)
            ));
        }
        let treated = self.missing.filter(|(_, policy)| *policy != Missing::Refuse);
        if let Some((count, policy)) = treated {
            let what = counted(count, "missing value");
            out.push(match policy {
                Missing::Refuse | Missing::Zero => format!("{what} taken as 0"),
                Missing::Observed => format!("{what} taken as not observed"),
                Missing::DropRows => {
                    format!("{what}: {} left out", counted(self.dropped_rows, "row"))
                }
                Missing::DropColumns => {
                    let columns = self.dropped_columns.iter().map(TableColumn::to_string);
                    format!("{what}: left out the columns {}", shortened(columns))
                }
            });
        }
        if self.skipped_lines > 0 {
            out.push(format!(
                "{} skipped: titles, comments or empty",
                counted(self.skipped_lines, "line")
            ));
        }
        out
    }
}

fn counted(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

fn shortened(items: impl ExactSizeIterator<Item = String>) -> String {
    let more = items.len().saturating_sub(SHOWN);
    let mut shown = items.take(SHOWN).collect::<Vec<_>>().join(", ");
    if more > 0 {
        shown.push_str(&format!(" and {more} more"));
    }
    shown
}
