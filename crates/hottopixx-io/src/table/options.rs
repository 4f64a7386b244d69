//! What the caller may say about a table; everything left unsaid is detected.

use std::fmt;
use std::str::FromStr;

/// How a table is to be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableOptions {
    /// Whether the first line holds the names of the columns.
    pub header: Header,
    /// Which column names the rows.
    pub index: IndexColumn,
    /// What stands between cells; `None` counts over the first lines.
    pub delimiter: Option<Delimiter>,
    /// What stands before decimals; `None` looks at the first lines.
    pub decimal: Option<Decimal>,
    /// The columns that are data; `None` takes every column of numbers that is neither a number of
    /// rows nor a time.
    pub columns: Option<ColumnList>,
    /// Columns to leave out.
    pub drop: Option<ColumnList>,
    /// What becomes of missing values.
    pub missing: Missing,
}

/// A word that an option of tables does not take.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {remedy}")]
pub struct TableOptionError {
    what: String,
    remedy: &'static str,
}

fn unknown(word: &str, remedy: &'static str) -> TableOptionError {
    let what = format!("{} is not possible", crate::error::quote(word.as_bytes()));
    TableOptionError { what, remedy }
}

/// Gives an enum its names: [`FromStr`] and [`fmt::Display`].
macro_rules! named {
    ($type:ty, $remedy:literal, $($variant:path => $name:literal),+) => {
        impl FromStr for $type {
            type Err = TableOptionError;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                match word {
                    $($name => Ok($variant),)+
                    _ => Err(unknown(word, $remedy)),
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $($variant => $name,)+
                })
            }
        }
    };
}

/// Whether the first line holds the names of the columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Header {
    /// Look at it.
    #[default]
    Auto,
    /// It does.
    Yes,
    /// It is the first row.
    No,
}

named!(Header, "choose yes, no or auto",
    Header::Auto => "auto", Header::Yes => "yes", Header::No => "no");

/// What stands before decimals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Decimal {
    /// A point.
    #[default]
    Point,
    /// A comma.
    Comma,
}

named!(Decimal, "choose . or , (or auto)", Decimal::Point => ".", Decimal::Comma => ",");

/// What becomes of missing values: empty cells, `NA`, `NaN`, `?`, `-` and the like.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Missing {
    /// The table is refused.
    #[default]
    Refuse,
    /// They are zero.
    Zero,
    /// Rows with one are left out.
    DropRows,
    /// Columns with one are left out.
    DropColumns,
    /// They are NaN, in files of any format: not observed.
    Observed,
}

named!(Missing, "choose refuse, observed, zero, drop-rows or drop-columns",
    Missing::Refuse => "refuse", Missing::Zero => "zero",
    Missing::DropRows => "drop-rows", Missing::DropColumns => "drop-columns",
    Missing::Observed => "observed");

/// What stands between cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delimiter {
    /// This byte, once.
    Byte(u8),
    /// Any number of blanks and tabs.
    Blanks,
}

impl Delimiter {
    /// Whether this byte is one, or a part of one.
    pub(super) fn is(self, byte: u8) -> bool {
        match self {
            Delimiter::Byte(delimiter) => byte == delimiter,
            Delimiter::Blanks => matches!(byte, b' ' | b'\t'),
        }
    }
}

impl FromStr for Delimiter {
    type Err = TableOptionError;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        match (word, word.as_bytes()) {
            ("tab" | "\\t", _) => Ok(Delimiter::Byte(b'\t')),
            ("space" | "blanks" | " ", _) => Ok(Delimiter::Blanks),
            ("comma", _) => Ok(Delimiter::Byte(b',')),
            ("semicolon", _) => Ok(Delimiter::Byte(b';')),
            (_, [byte]) if !byte.is_ascii_alphanumeric() && !b"\"\n\r.-+".contains(byte) => {
                Ok(Delimiter::Byte(*byte))
            }
            _ => Err(unknown(word, "give one character such as ; or the word tab or space")),
        }
    }
}

impl fmt::Display for Delimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Delimiter::Blanks => f.write_str("space"),
            Delimiter::Byte(b'\t') => f.write_str("tab"),
            Delimiter::Byte(byte) => write!(f, "{}", char::from(*byte)),
        }
    }
}

/// Which column names the rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum IndexColumn {
    /// The first column of distinct words, else of words; else one of row numbers or years.
    #[default]
    Auto,
    /// None: every column of numbers is data.
    None,
    /// This one, by name, by number from 1, or as `#number`.
    Column(String),
}

impl FromStr for IndexColumn {
    type Err = TableOptionError;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        match word {
            "auto" => Ok(IndexColumn::Auto),
            "none" => Ok(IndexColumn::None),
            "" => Err(unknown(word, "give the name or the number of a column, none or auto")),
            name => Ok(IndexColumn::Column(name.to_owned())),
        }
    }
}

impl fmt::Display for IndexColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            IndexColumn::Auto => "auto",
            IndexColumn::None => "none",
            IndexColumn::Column(name) => name,
        })
    }
}

/// Some columns, apart by commas: names, numbers from 1, `#number`, and ranges `first-last` or
/// `first:last` of these. A name that holds a comma stands in double quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnList {
    text: String,
    items: Vec<String>,
}

impl ColumnList {
    /// This column alone, whatever its name is made of.
    pub fn one(name: &str) -> Self {
        ColumnList { text: name.to_owned(), items: vec![name.to_owned()] }
    }

    /// The items as they were given.
    pub fn items(&self) -> &[String] {
        &self.items
    }
}

/// The items of a list that is set apart by commas, with quotes as in a table; blanks around an item
/// do not count. What `--hott` and `--columns` take.
///
/// ```
/// assert_eq!(hottopixx_io::list_items("oil, \"a,b\",3"), ["oil", "a,b", "3"]);
/// ```
pub fn list_items(text: &str) -> Vec<String> {
    let mut items = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let quoted = rest.trim_start().strip_prefix('"');
        let closed = quoted.and_then(|inside| Some((inside, inside.find('"')?)));
        let (item, behind) = match closed {
            Some((inside, end)) => {
                let behind = &inside[end + 1..];
                (&inside[..end], &behind[behind.find(',').unwrap_or(behind.len())..])
            }
            None => rest.split_at(rest.find(',').unwrap_or(rest.len())),
        };
        items.extend(Some(item.trim().to_owned()).filter(|item| !item.is_empty()));
        rest = behind.strip_prefix(',').unwrap_or("");
    }
    items
}

impl FromStr for ColumnList {
    type Err = TableOptionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let items = list_items(text);
        if items.is_empty() {
            return Err(unknown(text, "give names or numbers of columns, such as price,4-7"));
        }
        Ok(ColumnList { text: text.to_owned(), items })
    }
}

impl fmt::Display for ColumnList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back() {
        for word in ["yes", "no", "auto"] {
            assert_eq!(word.parse::<Header>().unwrap().to_string(), word);
        }
        for word in [";", "tab", "space", "|", ":"] {
            assert_eq!(word.parse::<Delimiter>().unwrap().to_string(), word);
        }
        for word in ["", "a", ";;", "\"", "7", "\u{e9}", "."] {
            let message = word.parse::<Delimiter>().unwrap_err().to_string();
            assert!(message.contains("tab"), "{message}");
        }
        assert!("maybe".parse::<Missing>().is_err() && "point".parse::<Decimal>().is_err());
        let list: ColumnList = "price, \"a,b\" ,4-7".parse().unwrap();
        assert_eq!(list.items(), ["price", "a,b", "4-7"]);
        assert!(" , ".parse::<ColumnList>().is_err());
        assert_eq!(list_items("\"open, 3 ,"), ["\"open", "3"]);
    }
}
