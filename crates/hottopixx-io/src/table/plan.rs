//! From the first lines and what the caller says to what becomes of each column.

use super::columns::Columns;
use super::heading::Heading;
use super::layout::{Aside, TableColumn, TableLayout};
use super::options::{Decimal, Delimiter, IndexColumn, TableOptions};
use super::roles::{Column, Role};
use super::sample::{Numbered, Sample, decimal};
use crate::error::Fault;
use csv::ByteRecord;

/// What becomes of each column.
pub(super) struct Plan {
    pub delimiter: Delimiter,
    pub decimal: Decimal,
    pub heading: Heading,
    /// The column that names the rows.
    pub index: Option<usize>,
    index_role: Option<Aside>,
    /// Whether the first column may turn out to be it, further down.
    pub open: bool,
    /// Columns of data, in the order of the matrix.
    pub data: Vec<usize>,
    /// Columns that were set aside unasked.
    pub set_aside: Vec<(usize, Aside)>,
    usual_delimiter: bool,
}

impl Plan {
    /// Looks at the first lines. `own` is what the format promises to stand between cells.
    pub fn make(sample: &Sample, own: Delimiter, options: &TableOptions) -> Result<Plan, Fault> {
        let delimiter = match options.delimiter {
            Some(delimiter) => delimiter,
            None => sample.delimiter(own)?,
        };
        let records = sample.records(delimiter)?;
        let decimal = match options.decimal {
            Some(decimal) => decimal,
            None => decimal(&records)?,
        };
        let heading = Heading::find(&records, sample.whole, options.header, decimal)?;
        let (above, width) = (heading.above, heading.width);
        let is_row =
            |r: &ByteRecord| r.len() == width && !r.iter().all(|c| c.trim_ascii().is_empty());
        let rows: Vec<Numbered> =
            records.into_iter().skip(above).filter(|(record, _)| is_row(record)).collect();
        let name = |k: usize| heading.names.as_ref().map(|names| names[k].as_str());
        let mut roles: Vec<Role> = (0..heading.width)
            .map(|number| Column { rows: &rows, number, name: name(number), decimal }.role())
            .collect();
        if let (true, Some(last)) = (heading.classes, roles.last_mut()) {
            last.aside = Some(Aside::Classes);
        }
        let columns = Columns { names: heading.names.as_deref(), width: heading.width };
        let chosen = options.columns.as_ref().map(|list| columns.list(list)).transpose()?;
        let is_chosen = |k: &usize| chosen.as_ref().is_some_and(|chosen| chosen.contains(k));
        let index = match &options.index {
            IndexColumn::None => None,
            IndexColumn::Column(item) => Some(columns.one(item)?),
            IndexColumn::Auto if heading.names_rows => Some(0).filter(|k| !is_chosen(k)),
            IndexColumn::Auto => usual_index(&roles).filter(|k| !is_chosen(k)),
        };
        let mut set_aside = Vec::new();
        let mut data = match chosen {
            Some(chosen) => chosen,
            None => {
                let kept = |k: &usize| match roles[*k].aside {
                    _ if index == Some(*k) => false,
                    // Whoever says that no column names the rows means all numbers.
                    Some(Aside::Id | Aside::Time) if options.index == IndexColumn::None => true,
                    Some(why) => {
                        set_aside.push((*k, why));
                        false
                    }
                    None => true,
                };
                (0..heading.width).filter(kept).collect()
            }
        };
        if let Some(list) = &options.drop {
            let dropped = columns.list(list)?;
            data.retain(|k| !dropped.contains(k));
            set_aside.retain(|(k, _)| !dropped.contains(k));
        }
        if data.is_empty() {
            return Err(no_numbers(options, rows.is_empty()));
        }
        let open = options.index == IndexColumn::Auto
            && index.is_none()
            && options.columns.is_none()
            && data.len() > 1
            && data[0] == 0;
        let usual_delimiter = delimiter == own;
        let index_role = index.and_then(|k| roles[k].aside);
        Ok(Plan {
            delimiter,
            decimal,
            heading,
            index,
            index_role,
            open,
            data,
            set_aside,
            usual_delimiter,
        })
    }

    /// A column as messages call it.
    pub fn column(&self, number: usize) -> TableColumn {
        let names = self.heading.names.as_ref();
        TableColumn { number: number + 1, name: names.map(|names| names[number].clone()) }
    }

    /// The layout, as far as it is known before the rows are read.
    pub fn layout(&self) -> TableLayout {
        let aside = self.set_aside.iter().map(|(k, why)| (self.column(*k), *why));
        TableLayout {
            delimiter: self.delimiter,
            usual_delimiter: self.usual_delimiter,
            decimal: self.decimal,
            header: self.heading.names.is_some(),
            index: self.index.map(|k| self.column(k)),
            index_role: self.index_role,
            columns: self.data.len(),
            set_aside: aside.collect(),
            skipped_lines: self.heading.titles,
            missing: None,
            dropped_rows: 0,
            dropped_columns: Vec::new(),
        }
    }
}

/// The first column of different words, else the first column if it holds words at all; else one
/// that numbers the rows, else one of different times. A table of one column has none.
fn usual_index(roles: &[Role]) -> Option<usize> {
    let is = |role: &Role, aside: Aside| role.aside == Some(aside);
    if roles.len() < 2 {
        return None;
    }
    let first = |test: &dyn Fn(&Role) -> bool| roles.iter().position(test);
    first(&|role| is(role, Aside::Text) && role.distinct)
        .or_else(|| is(&roles[0], Aside::Text).then_some(0))
        .or_else(|| first(&|role| is(role, Aside::Id)))
        .or_else(|| first(&|role| is(role, Aside::Time) && role.distinct))
}

fn no_numbers(options: &TableOptions, no_rows: bool) -> Fault {
    if no_rows {
        let what = "there is a header but no row of numbers";
        return Fault::file(what, "give at least one row of numbers");
    }
    if options.drop.is_some() || options.columns.is_some() {
        return Fault::file("no column is left", "choose others with --columns and --drop");
    }
    Fault::file(
        "there is no column of numbers in it",
        "name what stands between cells with --delimiter, and before decimals with --decimal",
    )
}
