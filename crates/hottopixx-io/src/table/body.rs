//! The rows of a table, read as planned.

use super::Entries;
use super::cells::{Class, class, refusal, text, value};
use super::layout::{Aside, TableLayout};
use super::options::Missing;
use super::plan::Plan;
use super::records::Record;
use super::sample::is_comment;
use crate::budget::Budget;
use crate::error::{Fault, FileLocation, check_value};
use crate::load::Parsed;
use hottopixx::matrix::Dense;

/// The rows read so far.
pub(super) struct Body<'a> {
    plan: &'a Plan,
    policy: Missing,
    entries: Entries,
    budget: Budget,
    values: Vec<f64>,
    rows: usize,
    names: Vec<String>,
    first: Option<OpenColumn>,
    missing: usize,
    /// Which columns of data hold a missing value.
    holed: Vec<bool>,
    dropped_rows: usize,
    skipped_lines: usize,
    bytes: u128,
}

/// The first column, of which only the end shows whether it names the rows: kept both as numbers and
/// as text until then.
#[derive(Default)]
struct OpenColumn {
    cells: Vec<String>,
    words: usize,
    fault_if_numbers: Option<Fault>,
}

impl<'a> Body<'a> {
    pub fn new(
        plan: &'a Plan,
        open: bool,
        policy: Missing,
        entries: Entries,
        budget: Budget,
    ) -> Self {
        Body {
            plan,
            policy,
            entries,
            budget,
            values: Vec::new(),
            rows: 0,
            names: Vec::new(),
            first: open.then(OpenColumn::default),
            missing: 0,
            holed: vec![false; plan.data.len()],
            dropped_rows: 0,
            skipped_lines: plan.heading.titles,
            bytes: 0,
        }
    }

    /// Takes one record.
    pub fn row(&mut self, record: &Record, line: u64) -> Result<(), Fault> {
        let width = self.plan.heading.width;
        let empty = || record.iter().all(|cell| cell.trim_ascii().is_empty());
        if (record.len() != width && is_comment(record)) || (width > 1 && empty()) {
            self.skipped_lines += 1;
            return Ok(());
        }
        if record.len() != width {
            let what = format!("there are {} cells where {width} belong", record.len());
            let remedy = "give every row the same number of cells, or name what stands between \
                          them with --delimiter";
            return Err(Fault::line(line, what, remedy));
        }
        let name = self.plan.index.or(self.first.is_some().then_some(0)).map(|k| &record[k]);
        self.bytes += 8 * self.plan.data.len() as u128
            + name.map_or(0, |name| Budget::text(name.trim_ascii().len()));
        self.budget.check(self.bytes, FileLocation::Line(line), || {
            format!("a table of {} rows so far", self.rows + 1)
        })?;
        self.check_empty(record, line)?;
        let begin = self.values.len();
        for place in 0..self.plan.data.len() {
            let value = self.entry(record, place, line)?;
            self.values.push(value);
        }
        if self.policy == Missing::DropRows
            && self.entries == Entries::Checked
            && self.values[begin..].iter().any(|value| value.is_nan())
        {
            self.values.truncate(begin);
            self.dropped_rows += 1;
            return Ok(());
        }
        self.rows += 1;
        if let Some(first) = &mut self.first {
            let cell = &record[0];
            first.words += usize::from(class(cell, self.plan.decimal) == Class::Word);
            first.cells.push(text(cell));
        } else if let Some(name) = name {
            self.names.push(text(name));
        }
        Ok(())
    }

    /// A column without a name that was empty so far must stay so: it might hold anything.
    fn check_empty(&self, record: &Record, line: u64) -> Result<(), Fault> {
        let empty = self.plan.set_aside.iter().filter(|(_, why)| *why == Aside::Empty);
        for (k, _) in empty {
            if class(&record[*k], self.plan.decimal) != Class::Missing {
                let number = k + 1;
                return Err(Fault::Malformed {
                    place: FileLocation::Cell { line, column: number as u64 },
                    what: "a cell of a column that is empty above is not".to_owned(),
                    remedy: format!("fill the column, or leave it out with --drop #{number}"),
                });
            }
        }
        Ok(())
    }

    /// One entry; NaN for a missing one that is not refused.
    fn entry(&mut self, record: &Record, place: usize, line: u64) -> Result<f64, Fault> {
        let column = self.plan.data[place];
        let cell = record[column].trim_ascii();
        let at = || FileLocation::Cell { line, column: column as u64 + 1 };
        let fault = match value(cell, self.plan.decimal) {
            Some(value) if !value.is_nan() => {
                if self.entries == Entries::Any {
                    return Ok(value);
                }
                match check_value(value, at) {
                    Ok(value) => return Ok(value),
                    Err(fault) => fault,
                }
            }
            _ => {
                let class = class(cell, self.plan.decimal);
                let kept = self.policy != Missing::Refuse || self.entries == Entries::Any;
                if class == Class::Missing && kept {
                    self.missing += 1;
                    self.holed[place] = true;
                    let zero = self.policy == Missing::Zero && self.entries == Entries::Checked;
                    return Ok(if zero { 0.0 } else { f64::NAN });
                }
                let name = self.plan.column(column).name.filter(|name| is_simple(name));
                let name = name.unwrap_or_else(|| format!("#{}", column + 1));
                refusal(cell, class, at(), &name)
            }
        };
        match &mut self.first {
            Some(first) if column == 0 => {
                first.fault_if_numbers.get_or_insert(fault);
                Ok(0.0)
            }
            _ => Err(fault),
        }
    }

    /// The matrix and its names.
    pub fn finish(mut self) -> Result<Parsed, Fault> {
        let mut layout = self.plan.layout();
        let mut data = self.plan.data.clone();
        self.check_rows()?;
        if let Some(first) = self.first.take() {
            if 2 * first.words >= self.rows {
                self.names = first.cells;
                layout.index = Some(self.plan.column(0));
                layout.index_role = Some(Aside::Text);
                self.leave_out(&mut data, |place| place == 0);
            } else if let Some(fault) = first.fault_if_numbers {
                return Err(fault);
            }
        }
        if self.entries == Entries::Checked {
            self.leave_out_holed(&mut data, &mut layout)?;
        }
        layout.columns = data.len();
        layout.skipped_lines = self.skipped_lines;
        layout.dropped_rows = self.dropped_rows;
        layout.missing = (self.missing > 0).then_some((self.missing, self.policy));
        let mut parsed = Parsed::new(Dense::new(self.rows, data.len(), self.values)?);
        parsed.row_names = layout.index.is_some().then_some(self.names);
        let names = self.plan.heading.names.as_ref();
        parsed.col_names = names.map(|names| data.iter().map(|k| names[*k].clone()).collect());
        parsed.table = Some(layout);
        Ok(parsed)
    }

    fn check_rows(&self) -> Result<(), Fault> {
        if self.rows > 0 {
            return Ok(());
        }
        Err(if self.dropped_rows > 0 {
            let what = "every row has a missing value";
            Fault::file(
                what,
                "say --missing zero or drop-columns, or leave columns out with --drop",
            )
        } else {
            let what = "there is a header but no row of numbers";
            Fault::file(what, "give at least one row of numbers, or say --header no")
        })
    }

    fn leave_out_holed(
        &mut self,
        data: &mut Vec<usize>,
        layout: &mut TableLayout,
    ) -> Result<(), Fault> {
        if self.policy != Missing::DropColumns || self.missing == 0 {
            return Ok(());
        }
        let holed = std::mem::take(&mut self.holed);
        let gone = data.iter().zip(&holed).filter(|(_, holed)| **holed);
        layout.dropped_columns = gone.map(|(k, _)| self.plan.column(*k)).collect();
        self.leave_out(data, |place| holed[place]);
        if data.is_empty() {
            let what = "every column has a missing value";
            return Err(Fault::file(what, "say --missing zero or drop-rows"));
        }
        Ok(())
    }

    /// Takes columns out of the values that were read.
    fn leave_out(&mut self, data: &mut Vec<usize>, gone: impl Fn(usize) -> bool) {
        let width = data.len();
        let mut place = (0..width).cycle();
        self.values.retain(|_| place.next().is_some_and(|place| !gone(place)));
        let mut place = 0..width;
        data.retain(|_| place.next().is_some_and(|place| !gone(place)));
        // What is left keeps its marks.
        let mut place = 0..width;
        self.holed.retain(|_| place.next().is_some_and(|place| !gone(place)));
    }
}

/// A name that can be typed as it is.
fn is_simple(name: &str) -> bool {
    !name.is_empty() && name.len() <= 40 && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}
