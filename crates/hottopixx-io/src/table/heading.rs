//! What stands above the rows: titles, comments, a line of sizes, and the line of names.
//!
//! The first line is a header when it holds words where the rows below hold numbers, when it is one
//! cell shorter than they are (R), or when its first cell is empty and the others can be names
//! (pandas). Numbers are names when they are years, or count up, and the rows below do not. A few
//! words among many numbers are taken for slips, not for names: a row must not vanish because of one
//! mistyped cell.

use super::cells::{Class, class, text, value, whole_value};
use super::options::{Decimal, Header};
use super::records::Record;
use super::sample::{Numbered, is_comment, usual_width};
use crate::error::{Fault, FileLocation, quote};
use crate::scan::whole;

/// Where the rows begin, and what names their columns.
pub(super) struct Heading {
    /// Cells of a row.
    pub width: usize,
    /// Records above the rows.
    pub above: usize,
    /// Those of them that are neither header nor sizes.
    pub titles: usize,
    /// A name for each column.
    pub names: Option<Vec<String>>,
    /// Whether the header proves that the first column names the rows.
    pub names_rows: bool,
    /// Whether the last column holds the classes that the first line names.
    pub classes: bool,
}

/// First cells of a header that name a column of names: no row is called so.
const CORNERS: [&str; 38] = [
    "name",
    "names",
    "id",
    "ids",
    "index",
    "idx",
    "row",
    "rows",
    "rowname",
    "rownames",
    "row.names",
    "label",
    "labels",
    "key",
    "code",
    "feature",
    "features",
    "variable",
    "variables",
    "item",
    "product",
    "gene",
    "genes",
    "term",
    "terms",
    "token",
    "word",
    "words",
    "symbol",
    "country",
    "region",
    "city",
    "sample",
    "samples",
    "species",
    "document",
    "doc",
    "unnamed: 0",
];

impl Heading {
    /// Whether a record is a row: as wide as the others, and not empty.
    pub fn is_row(&self, record: &Record) -> bool {
        record.len() == self.width && record.iter().any(|cell| !cell.trim_ascii().is_empty())
    }

    /// Looks at the first records of a table.
    pub fn find(
        records: &[Numbered],
        whole_file: bool,
        header: Header,
        decimal: Decimal,
    ) -> Result<Heading, Fault> {
        let look = Look { decimal };
        let titles = if header == Header::No { 0 } else { look.titles(records) };
        let (first, rest) = match records[titles..].split_first() {
            Some(((first, line), rest)) => ((first, *line), rest),
            None => return Err(no_rows()),
        };
        let short = header != Header::No && look.is_short(first.0, rest);
        let trailing = header != Header::No && is_trailing(first.0, rest);
        let width = match rest.first() {
            _ if short || trailing => first.0.len() + 1,
            Some(_) if header == Header::Yes => usual_width(rest),
            _ => first.0.len(),
        };
        let plain = Heading {
            width,
            above: titles,
            titles,
            names: None,
            names_rows: false,
            classes: false,
        };
        if header == Header::Auto && look.is_sizes(first.0, rest, whole_file) {
            let width = usual_width(rest);
            let classes = first.0.len() > 2;
            return Ok(Heading { width, above: titles + 1, classes, ..plain });
        }
        let pandas = first.0.len() > 1 && look.names_columns_only(first.0);
        let is_header = match header {
            Header::Yes => true,
            Header::No => false,
            Header::Auto => short || pandas || look.is_header(first, rest)?,
        };
        if !is_header {
            let names = look.commented_names(records[..titles].last(), width);
            let titles = titles - usize::from(names.is_some());
            return Ok(Heading { names, titles, ..plain });
        }
        let mut names: Vec<String> = first.0.iter().map(text).collect();
        if short {
            names.insert(0, String::new());
        } else if trailing {
            names.push(String::new());
        }
        if names.len() != width {
            let what = format!("the header has {} cells where {width} belong", names.len());
            return Err(Fault::line(first.1, what, "give every column a name"));
        }
        for name in &mut names {
            let inside = name.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
            if let Some(inside) = inside.map(str::to_owned) {
                *name = inside;
            }
        }
        // A header may be written as a comment.
        if let Some(stripped) = names[0].strip_prefix(['#', '%']) {
            names[0] = stripped.trim().to_owned();
        }
        let names_rows = short || pandas;
        Ok(Heading { above: titles + 1, names: Some(names), names_rows, ..plain })
    }
}

/// Rows that end with a separator where the header does not.
fn is_trailing(first: &Record, rest: &[Numbered]) -> bool {
    let empty =
        |record: &Record| record.iter().next_back().is_some_and(|c| c.trim_ascii().is_empty());
    let longer = |record: &Record| record.len() == first.len() + 1 && empty(record);
    !rest.is_empty() && rest.iter().all(|(record, _)| longer(record) || is_comment(record))
}

pub(super) fn no_rows() -> Fault {
    Fault::file("there is no line in it", "give at least one row of numbers")
}

struct Look {
    decimal: Decimal,
}

impl Look {
    fn class(&self, cell: &[u8]) -> Class {
        class(cell, self.decimal)
    }

    fn count(&self, record: &Record, what: Class) -> usize {
        record.iter().filter(|cell| self.class(cell) == what).count()
    }

    /// Records before the table: comments, `sep=;`, lines of one cell, lines with too few cells and
    /// no number.
    fn titles(&self, records: &[Numbered]) -> usize {
        let width = usual_width(records);
        let usual = records.iter().filter(|(record, _)| record.len() == width).count();
        let is_title = |(record, _): &Numbered| {
            let written = record.iter().filter(|cell| !cell.trim_ascii().is_empty()).count();
            let narrow = record.len() < width && usual >= 2;
            let lone = record.len() == width && width > 2 && written <= 1;
            record.get(0) == Some(b"sep=")
                || (record.len() != width && is_comment(record))
                || ((narrow || lone) && self.count(record, Class::Number) == 0)
        };
        let titles = records.iter().take_while(|record| is_title(record)).count();
        // The last one is a header without a cell for the names of rows, as R writes it.
        match titles.checked_sub(1).map(|last| (&records[last], records.get(titles..))) {
            Some(((record, _), Some(rest)))
                if !is_comment(record)
                    && (is_trailing(record, rest)
                        || (record.len() > 1 && self.is_short(record, rest))) =>
            {
                titles - 1
            }
            _ => titles,
        }
    }

    /// A first line that has one cell less than the next ones, and is made of names.
    fn is_short(&self, first: &Record, rest: &[Numbered]) -> bool {
        let Some((second, _)) = rest.first() else { return false };
        let (words, numbers) = (self.count(first, Class::Word), self.count(first, Class::Number));
        let same = rest.iter().filter(|(record, _)| record.len() == second.len()).count();
        let named = rest
            .iter()
            .all(|(record, _)| record.get(0).is_none_or(|cell| self.class(cell) == Class::Word));
        first.len() + 1 == second.len()
            && 2 * same > rest.len()
            && (words > numbers || named)
            && self.count(second, Class::Number) > 0
            && !is_trailing(first, rest)
    }

    /// The names in a comment directly above the rows, as numpy writes them: `# a b`.
    fn commented_names(&self, above: Option<&Numbered>, width: usize) -> Option<Vec<String>> {
        let (record, _) = above.filter(|(r, _)| is_comment(r) && r.len() == width + 1)?;
        let named = record.iter().skip(1).all(|cell| self.class(cell) == Class::Word);
        (record[0].len() == 1 && named).then(|| record.iter().skip(1).map(text).collect())
    }

    /// `150,4,setosa,versicolor,virginica`, as scikit-learn's files begin: numbers of rows and of
    /// features, names of classes, whose number is the last cell of every row.
    fn is_sizes(&self, first: &Record, rest: &[Numbered], whole_file: bool) -> bool {
        let [rows, features] = [0, 1].map(|k| first.get(k).and_then(whole));
        let width = usual_width(rest) as u64;
        rows.is_some_and(|rows| rows == rest.len() as u64 || !whole_file)
            && rows > Some(1)
            && features.and_then(|features| features.checked_add(1)) == Some(width)
            && first.iter().skip(2).all(|cell| self.class(cell) == Class::Word)
            && first.len() > 2
    }

    /// An empty first cell, then words or distinct whole numbers: what pandas writes.
    fn names_columns_only(&self, first: &Record) -> bool {
        let mut cells: Vec<&[u8]> = first.iter().map(<[u8]>::trim_ascii).collect();
        let can_name = |c: &&[u8]| self.class(c) == Class::Word || whole(c).is_some();
        let possible =
            cells.first().is_some_and(|c| c.is_empty()) && cells[1..].iter().all(can_name);
        cells.sort_unstable();
        possible && cells.windows(2).all(|w| w[0] != w[1])
    }

    /// Whether a column holds numbers in most of the rows.
    fn holds_numbers(&self, rest: &[Numbered], column: usize) -> bool {
        let (mut numbers, mut words) = (0, 0);
        for cell in rest.iter().filter_map(|(record, _)| record.get(column)) {
            match self.class(cell) {
                Class::Number | Class::Thousands => numbers += 1,
                Class::Word => words += 1,
                Class::Missing => {}
            }
        }
        numbers >= words && numbers > 0
    }

    fn is_header(&self, (first, line): (&Record, u64), rest: &[Numbered]) -> Result<bool, Fault> {
        // Where there are no rows to compare with, every column may be one of numbers.
        let of_numbers = |k: &usize| rest.is_empty() || self.holds_numbers(rest, *k);
        let columns: Vec<usize> = (0..first.len()).filter(of_numbers).collect();
        if columns.is_empty() {
            return Ok(true);
        }
        // A word in the first cell proves nothing where it can be the name of a row.
        let beside: Vec<usize> =
            columns.iter().copied().filter(|k| *k > 0 || first.len() == 1).collect();
        let which = |class| {
            let found = beside.iter().copied().filter(|k| self.class(&first[*k]) == class);
            found.collect::<Vec<usize>>()
        };
        let (words, numbers) = (which(Class::Word), which(Class::Number));
        let corner = self.class(&first[0]) == Class::Word;
        let over_numbers = corner && !rest.is_empty() && columns.contains(&0);
        if numbers.is_empty() {
            return Ok(!words.is_empty() || (over_numbers && first.len() > 1));
        }
        let mut named = numbers;
        if self.class(&first[0]) == Class::Number && columns.contains(&0) && !beside.contains(&0) {
            named.insert(0, 0);
        }
        if words.len() >= named.len() {
            return Ok(true);
        }
        if self.are_names(first, rest, &named, corner.then_some(over_numbers)) {
            return Ok(true);
        }
        match words.first() {
            None => Ok(false),
            Some(&k) => Err(Fault::Malformed {
                place: FileLocation::Cell { line, column: k as u64 + 1 },
                what: format!("{} is not a number", quote(&first[k])),
                remedy: "correct it or, if this is a header, say --header yes".to_owned(),
            }),
        }
    }

    /// Whether the numbers in these cells of the first line are names. `corner` is given where the
    /// first cell is a word: whether the column below holds numbers.
    fn are_names(
        &self,
        first: &Record,
        rest: &[Numbered],
        columns: &[usize],
        corner: Option<bool>,
    ) -> bool {
        let pick = |record: &Record| -> Option<Vec<i64>> {
            columns.iter().map(|k| whole_value(record.get(*k)?, self.decimal)).collect()
        };
        let Some(cells) = pick(first) else { return false };
        if rest.is_empty() {
            return false;
        }
        let ordered =
            cells.windows(2).all(|w| w[0] < w[1]) || cells.windows(2).all(|w| w[0] > w[1]);
        let known = corner.is_some()
            && CORNERS
                .contains(&text(&first[0]).trim_start_matches('#').trim().to_lowercase().as_str());
        if known && ordered {
            return true;
        }
        if cells.len() < 2 || !ordered {
            return false;
        }
        let below =
            || rest.iter().flat_map(|(record, _)| columns.iter().filter_map(|k| record.get(*k)));
        if cells.iter().all(|year| YEARS.contains(year)) {
            let years = below()
                .filter(|cell| whole_value(cell, self.decimal).is_some_and(|v| YEARS.contains(&v)));
            return 2 * years.count() < below().count();
        }
        let counts_up = |cells: &[i64]| cells.windows(2).all(|w| w[0] + 1 == w[1]);
        let rows_count_up = || rest.iter().any(|(r, _)| pick(r).is_some_and(|c| counts_up(&c)));
        if !(counts_up(&cells) && (0..=1).contains(&cells[0])) || rows_count_up() {
            return false;
        }
        let fractions = || {
            below().filter_map(|c| value(c.trim_ascii(), self.decimal)).any(|v| v.fract() != 0.0)
        };
        match corner {
            Some(true) => true,
            Some(false) => cells.len() >= 4,
            None => cells.len() >= 5 || (cells.len() >= 3 && fractions()),
        }
    }
}

/// Numbers that are taken for years.
pub(super) const YEARS: std::ops::RangeInclusive<i64> = 1500..=2200;
