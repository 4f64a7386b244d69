//! Columns as the user names them: by name, by number from 1, as `#number`, or as a range.

use super::options::ColumnList;
use crate::error::{Fault, quote};
use crate::scan::whole;

/// The columns of a table, as far as naming them goes.
pub(crate) struct Columns<'a> {
    pub names: Option<&'a [String]>,
    pub width: usize,
}

/// Names shown in a message.
const SHOWN: usize = 6;

impl Columns<'_> {
    /// The columns of a list, in its order, each once.
    pub fn list(&self, list: &ColumnList) -> Result<Vec<usize>, Fault> {
        let mut out = Vec::new();
        for item in list.items() {
            let (first, last) = match self.single(item)? {
                Some(column) => (column, column),
                None => self.range(item)?.ok_or_else(|| self.none_like(item))?,
            };
            for column in first..=last {
                if !out.contains(&column) {
                    out.push(column);
                }
            }
        }
        Ok(out)
    }

    /// One column.
    pub fn one(&self, item: &str) -> Result<usize, Fault> {
        self.single(item)?.ok_or_else(|| self.none_like(item))
    }

    /// A name before a number, since a year is a name; then a name in another case.
    fn single(&self, item: &str) -> Result<Option<usize>, Fault> {
        let named = |same: &dyn Fn(&str) -> bool| {
            let names = self.names.unwrap_or_default().iter().enumerate();
            let found: Vec<usize> = names.filter(|(_, n)| same(n)).map(|(k, _)| k).collect();
            match found[..] {
                [] => Ok(None),
                [column] => Ok(Some(column)),
                [first, second, ..] => Err(Fault::file(
                    format!(
                        "the columns {} and {} are both named {}",
                        first + 1,
                        second + 1,
                        quote(item.as_bytes())
                    ),
                    format!("give the number, such as #{}", first + 1),
                )),
            }
        };
        if let Some(column) = named(&|name| name == item)? {
            return Ok(Some(column));
        }
        let number = item.strip_prefix('#').unwrap_or(item).trim();
        if let Some(number) = whole(number.as_bytes()) {
            return match usize::try_from(number) {
                Ok(number) if (1..=self.width).contains(&number) => Ok(Some(number - 1)),
                _ => Err(self.none_like(item)),
            };
        }
        named(&|name| name.to_lowercase() == item.to_lowercase())
    }

    /// `first-last` or `first:last`, where both are columns.
    fn range(&self, item: &str) -> Result<Option<(usize, usize)>, Fault> {
        for (at, separator) in item.char_indices().filter(|(_, c)| matches!(c, '-' | ':')) {
            let (first, last) = (item[..at].trim(), item[at + separator.len_utf8()..].trim());
            if first.is_empty() || last.is_empty() {
                continue;
            }
            let column = |item: &str| self.single(item).ok().flatten();
            let (Some(first), Some(last)) = (column(first), column(last)) else { continue };
            if first > last {
                let what =
                    format!("the range of columns {} runs backwards", quote(item.as_bytes()));
                return Err(Fault::file(what, "give the column that comes first first"));
            }
            return Ok(Some((first, last)));
        }
        Ok(None)
    }

    fn none_like(&self, item: &str) -> Fault {
        let what = format!("there is no column {}", quote(item.as_bytes()));
        let Some(names) = self.names else {
            return Fault::file(what, format!("give numbers from 1 to {}", self.width));
        };
        let shown: Vec<String> = names.iter().take(SHOWN).map(|n| quote(n.as_bytes())).collect();
        let more = if names.len() > SHOWN { ", …" } else { "" };
        let remedy =
            format!("give numbers from 1 to {} or names: {}{more}", self.width, shown.join(", "));
        Fault::file(what, remedy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_numbers_and_ranges() {
        let names = ["id", "2001", "2002", "x-y", "Price", "x", "x"].map(str::to_owned);
        let columns = Columns { names: Some(&names), width: 7 };
        for (list, want) in [
            ("2002,2001", vec![2, 1]),
            ("1", vec![0]),
            ("#2, #2", vec![1]),
            ("2001-x-y", vec![1, 2, 3]),
            ("x-y", vec![3]),
            ("price", vec![4]),
            ("2:4", vec![1, 2, 3]),
            ("#6-#7", vec![5, 6]),
        ] {
            assert_eq!(columns.list(&list.parse().unwrap()).unwrap(), want, "{list}");
        }
        for (list, want) in [
            ("x", "the columns 6 and 7 are both named \"x\": give the number, such as #6"),
            ("8", "there is no column \"8\": give numbers from 1 to 7 or names: \"id\", \"2001\""),
            ("nix", "there is no column \"nix\""),
            ("x-y-2001", "runs backwards"),
            ("0", "there is no column \"0\""),
        ] {
            let fault = columns.list(&list.parse().unwrap()).unwrap_err().in_file("f").to_string();
            assert!(fault.contains(want), "{list}: {fault}");
        }
        let bare = Columns { names: None, width: 3 };
        assert_eq!(bare.list(&"2-3".parse().unwrap()).unwrap(), [1, 2]);
        assert!(bare.one("a").unwrap_err().in_file("f").to_string().ends_with("from 1 to 3"));
    }
}
