//! Rows as the user names them in `--hott`, `--must` and the like: by name, by number from 0, or as `#number`.

use crate::failure::Failure;
use hottopixx_report::table::{cut, plain};
use std::collections::HashMap;

/// Longest name in a message.
const LONGEST: usize = 40;

/// The rows of a list, by the names of the rows where there are any.
///
/// # Errors
/// A sentence for a name that no row has or that several have, and for a word that is both the name
/// of one row and the number of another.
pub fn find(
    items: &[String],
    names: Option<&[String]>,
    rows: usize,
    (label, flag): (&str, &str),
) -> Result<Vec<usize>, Failure> {
    // Thousands of names are looked up in a table, those in doubt one by one.
    let mut places: HashMap<&str, usize> = HashMap::new();
    if items.len() > FEW {
        names.into_iter().flatten().enumerate().for_each(|(row, name)| {
            places.entry(name).and_modify(|place| *place = usize::MAX).or_insert(row);
        });
    }
    let known = |item: &String| match places.get(item.as_str()) {
        Some(&row) if row < usize::MAX && item.parse::<usize>().is_err() => Some(row),
        _ => None,
    };
    let find = |item| known(item).map_or_else(|| find_one(item, names, rows, (label, flag)), Ok);
    items.iter().map(find).collect()
}

/// Lists that are longer are looked up in a table.
const FEW: usize = 16;

fn find_one(
    item: &str,
    names: Option<&[String]>,
    rows: usize,
    (label, flag): (&str, &str),
) -> Result<usize, Failure> {
    let shown = cut(&plain(item), LONGEST);
    let wrong = |sentence: String| Err(Failure::Wrong(format!("{label}: {sentence}")));
    let number = item.parse::<usize>().ok();
    if let Some(number) = item.strip_prefix('#').and_then(|rest| rest.parse::<usize>().ok()) {
        return Ok(number);
    }
    let Some(names) = names else {
        return number.ok_or_else(|| {
            Failure::Usage(format!(
                "{flag} {shown}: the rows of {label} have no names: give their numbers, or --names"
            ))
        });
    };
    let named: Vec<usize> = (0..names.len()).filter(|&row| names[row] == item).collect();
    match (&named[..], number) {
        ([row], number) if number.is_none_or(|n| n == *row || n >= rows) => Ok(*row),
        ([row, ..], Some(number)) if number < rows => wrong(format!(
            "{shown} is the name of row {row} and the number of another: give #{row} or #{number}"
        )),
        ([first, second, ..], _) => wrong(format!(
            "{} rows are named {shown}: give the number of one, such as #{first} or #{second}",
            named.len()
        )),
        (_, Some(number)) => Ok(number),
        (_, None) => {
            let lower = item.to_lowercase();
            let like = names.iter().find(|name| name.to_lowercase() == lower);
            let like = like.or_else(|| names.iter().find(|n| n.to_lowercase().starts_with(&lower)));
            let hint = like.map_or_else(
                || "give the name or the number of a row".to_owned(),
                |name| format!("is it {}?", cut(&plain(name), LONGEST)),
            );
            wrong(format!("there is no row named {shown}: {hint}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_before_numbers_and_doubt_refused() {
        let names = ["oil", "2", "price", "oil", "2001", "a,b"].map(str::to_owned);
        let row = |item: &str| find_one(item, Some(&names), names.len(), ("x.csv", "--hott"));
        for (item, want) in [("price", 2), ("3", 3), ("#2", 2), ("2001", 4), ("a,b", 5), ("#0", 0)]
        {
            assert_eq!(row(item), Ok(want), "{item}");
        }
        for (item, want) in [
            ("2", "x.csv: 2 is the name of row 1 and the number of another: give #1 or #2"),
            ("oil", "x.csv: 2 rows are named oil: give the number of one, such as #0 or #3"),
            ("Price", "x.csv: there is no row named Price: is it price?"),
            ("gas", "x.csv: there is no row named gas: give the name or the number of a row"),
        ] {
            assert_eq!(row(item), Err(Failure::Wrong(want.to_owned())), "{item}");
        }
        // A number beyond the rows is refused where rows are looked up.
        assert_eq!(row("17"), Ok(17));
        assert!(matches!(find_one("oil", None, 3, ("x.npy", "--hott")), Err(Failure::Usage(_))));
        assert_eq!(find_one("7", None, 3, ("x.npy", "--hott")), Ok(7));
    }
}
