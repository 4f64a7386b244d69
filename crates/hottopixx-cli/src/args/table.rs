//! What the user may say about a table (.csv, .tsv); everything left unsaid is detected.

use crate::values;
use clap::Args;
use hottopixx_io::{
    ColumnList, Decimal, Delimiter, Header, IndexColumn, Missing, TableOptionError, TableOptions,
};
use serde::{Deserialize, Serialize};

/// How tables are read.
#[derive(Debug, Clone, Default, PartialEq, Args, Serialize, Deserialize)]
#[command(next_help_heading = "Tables (.csv, .tsv)")]
#[serde(default)]
pub struct TableArgs {
    /// Whether the first line names the columns: yes, no or auto
    #[arg(long, value_name = "WHETHER", value_parser = values::word::<Header>)]
    header: Option<String>,
    /// The column that names the rows, by name or number from 1, or none
    /// (default: auto)
    #[arg(long, value_name = "COLUMN", value_parser = values::word::<IndexColumn>)]
    index: Option<String>,
    /// What stands between cells: a character, tab, space or auto
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    delimiter: Option<String>,
    /// What stands before decimals: a point, a comma, or auto
    #[arg(long, value_name = "CHARACTER", value_parser = decimal)]
    decimal: Option<String>,
    /// The columns that are data, such as price,4-7 (names, numbers from 1,
    /// ranges); default: all of numbers that are not ids, years or other times
    #[arg(long, value_name = "LIST", value_parser = values::word::<ColumnList>)]
    columns: Option<String>,
    /// Columns to leave out
    #[arg(long, value_name = "LIST", value_parser = values::word::<ColumnList>)]
    drop: Option<String>,
    /// Missing values (empty, NA, NaN, ?, -): refuse, observed (left out of fits
    /// and errors; in files of any format), zero, drop-rows or drop-columns
    /// (default: refuse)
    #[arg(long, value_name = "WHAT", value_parser = values::word::<Missing>)]
    missing: Option<String>,
}

fn delimiter(word: &str) -> Result<String, TableOptionError> {
    if word == "auto" { Ok(word.to_owned()) } else { values::word::<Delimiter>(word) }
}

fn decimal(word: &str) -> Result<String, TableOptionError> {
    if word == "auto" { Ok(word.to_owned()) } else { values::word::<Decimal>(word) }
}

impl TableArgs {
    /// The options, or why a word is none: one that was typed is checked already, one from a
    /// certificate is not.
    pub fn options(&self) -> Result<TableOptions, TableOptionError> {
        let said = |word: &Option<String>| word.clone().filter(|word| word != "auto");
        Ok(TableOptions {
            header: parsed(&self.header)?.unwrap_or_default(),
            index: parsed(&self.index)?.unwrap_or_default(),
            delimiter: parsed(&said(&self.delimiter))?,
            decimal: parsed(&said(&self.decimal))?,
            columns: parsed(&self.columns)?,
            drop: parsed(&self.drop)?,
            missing: parsed(&self.missing)?.unwrap_or_default(),
        })
    }

    /// What becomes of missing values, where it is said.
    pub fn missing(&self) -> Option<Missing> {
        parsed(&self.missing).ok().flatten()
    }

    /// The first of these flags that is given.
    pub fn first_given(&self, flags: &[&str]) -> Option<&'static str> {
        let given = self.named().into_iter().filter(|(_, word)| word.is_some());
        given.map(|(flag, _)| flag).find(|flag| flags.contains(flag))
    }

    /// The flags as they would be typed.
    pub fn flags(&self) -> Vec<String> {
        self.named()
            .into_iter()
            .filter_map(|(flag, word)| Some([flag.to_owned(), word.clone()?]))
            .flatten()
            .collect()
    }

    /// The first flag that is given here with another word than there.
    pub fn differing(&self, other: &TableArgs) -> Option<&'static str> {
        let pairs = self.named().into_iter().zip(other.named());
        let mut differing =
            pairs.filter(|((_, given), (_, there))| given.is_some() && given != there);
        differing.next().map(|((flag, _), _)| flag)
    }

    fn named(&self) -> [(&'static str, &Option<String>); 7] {
        [
            ("--header", &self.header),
            ("--index", &self.index),
            ("--delimiter", &self.delimiter),
            ("--decimal", &self.decimal),
            ("--columns", &self.columns),
            ("--drop", &self.drop),
            ("--missing", &self.missing),
        ]
    }
}

fn parsed<T: std::str::FromStr<Err = TableOptionError>>(
    word: &Option<String>,
) -> Result<Option<T>, TableOptionError> {
    word.as_deref().map(str::parse).transpose()
}
