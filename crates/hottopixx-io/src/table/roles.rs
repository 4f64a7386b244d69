//! What each column is: data, or what must not become data unasked. Row numbers and years are
//! larger than most data and would dominate every answer.

use super::cells::{Class, class, value, whole_value};
use super::heading::YEARS;
use super::layout::Aside;
use super::options::Decimal;
use super::sample::Numbered;
use std::collections::HashSet;

/// What a column is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Role {
    /// Why it is no data.
    pub aside: Option<Aside>,
    /// Whether its cells are all different.
    pub distinct: bool,
}

/// Names of columns that number their rows; also every name that ends in `id`.
const IDS: [&str; 21] = [
    "",
    "#",
    "id",
    "ids",
    "identifier",
    "index",
    "idx",
    "row",
    "rows",
    "rownames",
    "row.names",
    "unnamed: 0",
    "no",
    "no.",
    "nr",
    "nr.",
    "obs",
    "observation",
    "key",
    "individual",
    "subject",
];

/// Rows after which a first column that rises by one from row to row numbers them, whatever it begins with.
const RUN: usize = 8;

/// Names of columns that hold years.
const YEAR_NAMES: [&str; 9] =
    ["year", "years", "yr", "jahr", "annee", "année", "ano", "año", "anno"];

/// Names of other columns of time, and the largest number of those that begin anew.
const TIME_NAMES: [(&str, i64); 13] = [
    ("t", 0),
    ("date", 0),
    ("datum", 0),
    ("datetime", 0),
    ("time", 0),
    ("timestamp", 0),
    ("period", 0),
    ("week", 53),
    ("month", 12),
    ("monat", 12),
    ("day", 31),
    ("quarter", 4),
    ("qtr", 4),
];

/// Looks at the cells of a column in the first rows.
pub(super) struct Column<'a> {
    pub rows: &'a [Numbered],
    pub number: usize,
    pub name: Option<&'a str>,
    pub decimal: Decimal,
}

impl Column<'_> {
    fn cells(&self) -> impl Iterator<Item = &[u8]> {
        self.rows.iter().filter_map(|(record, _)| record.get(self.number))
    }

    /// What it is. Words must be the majority, so that one mistyped cell is refused instead of its
    /// column vanishing; of a first column, which may hold names, half of the cells are enough.
    pub fn role(&self) -> Role {
        let (mut numbers, mut words, mut missing) = (0, 0, 0);
        for cell in self.cells() {
            match class(cell, self.decimal) {
                Class::Number | Class::Thousands => numbers += 1,
                Class::Word => words += 1,
                Class::Missing => missing += 1,
            }
        }
        let text = words > numbers || (self.number == 0 && words > 0 && words == numbers);
        let unnamed = self.name.is_none_or(str::is_empty);
        let aside = if text {
            Some(Aside::Text)
        } else if numbers + words == 0 && missing > 0 && unnamed {
            Some(Aside::Empty)
        } else if missing + words > 0 {
            None
        } else {
            let whole = self.whole_numbers().and_then(|values| self.role_of_whole(&values));
            whole.or_else(|| self.is_clock().then_some(Aside::Time))
        };
        let mut seen = HashSet::new();
        let distinct = aside.is_some() && self.cells().all(|cell| seen.insert(cell.trim_ascii()));
        Role { aside, distinct }
    }

    /// Whether a column that is named so runs on as time does, in whole numbers or not.
    fn is_clock(&self) -> bool {
        let name = self.name.map(|name| name.trim().to_lowercase()).unwrap_or_default();
        let numbers = self.cells().map(|cell| value(cell.trim_ascii(), self.decimal));
        let values: Vec<f64> = numbers.map(|value| value.unwrap_or(f64::NAN)).collect();
        TIME_NAMES.iter().any(|(time, _)| *time == name)
            && values.len() >= 4
            && values.windows(2).all(|w| w[0] < w[1])
    }

    fn whole_numbers(&self) -> Option<Vec<i64>> {
        self.cells().map(|cell| whole_value(cell, self.decimal)).collect()
    }

    /// Whole numbers need both a telling name and telling values, since the columns of a table may
    /// be the words *year* and *id*; or values that count up.
    fn role_of_whole(&self, values: &[i64]) -> Option<Aside> {
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        let rises = |step: fn(i64, i64) -> bool| values.windows(2).all(|w| step(w[0], w[1]));
        let distinct = sorted.windows(2).all(|w| w[0] != w[1]);
        let rows = values.len();
        let named = self.name.map(|name| name.trim().to_lowercase());
        let name = named.as_deref().unwrap_or("-");
        let first_rows = if named.is_some() { 3 } else { 5 };
        // From another number it takes more rows: a column of measurements may rise by one for a while.
        let from_start = matches!(values.first(), Some(0 | 1));
        let counts_up = rises(|a, b| b == a + 1) && (from_start || rows >= RUN);
        let is_id = IDS.contains(&name) || ends_in_id(self.name.unwrap_or(""));
        // The same number may stand in several rows that follow each other.
        let blocks = rows >= 5 && rises(|a, b| b >= a) && sorted.first() < sorted.last();
        let numbered = (distinct && rows >= 2) || blocks;
        if (is_id && numbered) || (self.number == 0 && counts_up && rows >= first_rows) {
            return Some(Aside::Id);
        }
        let years = values.iter().all(|year| YEARS.contains(year));
        let named_year = YEAR_NAMES.contains(&name) && rows >= 2;
        let runs = rises(|a, b| b == a || b == a + 1)
            && rows >= 5
            && sorted.last().zip(sorted.first()).is_some_and(|(last, first)| last - first >= 4);
        if years && (named_year || runs) {
            return Some(Aside::Time);
        }
        let (_, cycle) = TIME_NAMES.iter().find(|(time, _)| *time == name)?;
        let cyclic = rows >= 4 && values.iter().all(|v| (1..=*cycle).contains(v));
        (cyclic && sorted.first() != sorted.last()).then_some(Aside::Time)
    }
}

/// `user_id`, `userId`, `gene id`, `ID`: but not *bid* or *grid*.
fn ends_in_id(name: &str) -> bool {
    let name = name.trim();
    let before = |suffix: &str| name.strip_suffix(suffix).and_then(|rest| rest.chars().last());
    before("Id").or(before("ID")).is_some_and(|c| !c.is_uppercase())
        || before("id").is_some_and(|c| !c.is_alphanumeric())
}
