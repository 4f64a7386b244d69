//! From the first lines and what the caller says to what becomes of each column.

use super::columns::Columns;
use super::heading::Heading;
use super::layout::{Aside, TableColumn, TableLayout};
use super::options::{Decimal, Delimiter, IndexColumn, TableOptions};
use super::roles::{Column, Role};
use super::sample::{Numbered, Sample, decimal};
use crate::error::Fault;

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
        let rows: Vec<Numbered> =
            records.into_iter().skip(heading.above).filter(|(r, _)| heading.is_row(r)).collect();
        let roles = roles(&heading, &rows, decimal);
        let division = Division::make(&heading, &roles, options)?;
        if division.data.is_empty() {
            return Err(no_numbers(options, rows.is_empty()));
        }
        let Division { index, data, set_aside } = division;
        let open = options.index == IndexColumn::Auto
            && index.is_none()
            && options.columns.is_none()
            && data.len() > 1
            && data[0] == 0;
        let index_role = index.and_then(|k| roles[k].aside);
        let usual_delimiter = delimiter == own;
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

/// What each column is, by its cells in these rows.
fn roles(heading: &Heading, rows: &[Numbered], decimal: Decimal) -> Vec<Role> {
    let name = |k: usize| heading.names.as_ref().map(|names| names[k].as_str());
    let columns = 0..heading.width;
    let mut roles: Vec<Role> =
        columns.map(|number| Column { rows, number, name: name(number), decimal }.role()).collect();
    if let (true, Some(last)) = (heading.classes, roles.last_mut()) {
        last.aside = Some(Aside::Classes);
    }
    roles
}

/// Which columns name the rows, are data, or neither.
struct Division {
    index: Option<usize>,
    data: Vec<usize>,
    set_aside: Vec<(usize, Aside)>,
}

impl Division {
    fn make(heading: &Heading, roles: &[Role], options: &TableOptions) -> Result<Self, Fault> {
        let columns = Columns { names: heading.names.as_deref(), width: heading.width };
        let chosen = options.columns.as_ref().map(|list| columns.list(list)).transpose()?;
        let is_chosen = |k: &usize| chosen.as_ref().is_some_and(|chosen| chosen.contains(k));
        let index = match &options.index {
            IndexColumn::None => None,
            IndexColumn::Column(item) => Some(columns.one(item)?),
            IndexColumn::Auto if heading.names_rows => Some(0).filter(|k| !is_chosen(k)),
            IndexColumn::Auto => usual_index(roles).filter(|k| !is_chosen(k)),
        };
        let mut division = match chosen {
            Some(data) => Division { index, data, set_aside: Vec::new() },
            None => Division::by_role(index, roles, options.index == IndexColumn::None),
        };
        if let Some(list) = &options.drop {
            let dropped = columns.list(list)?;
            division.data.retain(|k| !dropped.contains(k));
            division.set_aside.retain(|(k, _)| !dropped.contains(k));
        }
        Ok(division)
    }

    /// `all_numbers` where the caller says that no column names the rows, and so means all numbers.
    fn by_role(index: Option<usize>, roles: &[Role], all_numbers: bool) -> Self {
        let is_number = |why: Aside| matches!(why, Aside::Id | Aside::Time);
        let mut division = Division { index, data: Vec::new(), set_aside: Vec::new() };
        for (k, role) in roles.iter().enumerate().filter(|(k, _)| Some(*k) != index) {
            match role.aside {
                Some(why) if !(all_numbers && is_number(why)) => division.set_aside.push((k, why)),
                _ => division.data.push(k),
            }
        }
        // Numbers that could be those of rows are data where there are no others, unless words name
        // the rows: then there are none.
        let named = index.is_some_and(|k| roles[k].aside == Some(Aside::Text));
        if division.data.is_empty() && !named {
            let numbers = division.set_aside.extract_if(.., |(_, why)| is_number(*why));
            division.data = numbers.map(|(k, _)| k).collect();
        }
        division
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
        "name what stands between cells with --delimiter, and before decimals with --decimal; a table of texts is for hottopixx \
         topics",
    )
}
