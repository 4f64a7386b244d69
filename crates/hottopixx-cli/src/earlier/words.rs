//! What an answer for co-occurrences of words keeps of its documents, so that others can be added.

use crate::failure::Failure;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The file that holds it, beside the co-occurrence itself.
pub const VOCABULARY: &str = "vocabulary.json";
/// The stem of the file of the co-occurrence: kept words x kept words, a sum over documents.
pub const COOCCURRENCE: &str = "cooccurrence";

/// The file of the dual behind the bound, which proves another for the sum of more documents.
pub const DUAL: &str = "dual.bin";

/// The words of the documents so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WordSums {
    /// Documents so far.
    pub documents: usize,
    /// In how many of them each row of the input is.
    pub frequencies: Vec<usize>,
    /// Rows whose co-occurrence was factored, increasing.
    pub kept: Vec<usize>,
    /// Names of the rows, where they are known.
    pub names: Option<Vec<String>>,
}

impl WordSums {
    /// What is wrong with it, if anything is.
    pub fn fault(&self) -> Option<&'static str> {
        let rows = self.frequencies.len();
        if self.kept.last().is_none_or(|&last| last >= rows) {
            return Some("the kept words are not among its words");
        }
        if !self.kept.is_sorted_by(|a, b| a < b) {
            return Some("the kept words are not in order");
        }
        let named = self.names.as_ref().is_none_or(|names| names.len() == rows);
        (!named).then_some("there is not one name for each word")
    }

    /// For each row of other counts of words the row of these; `None` for words that are not among them. By name
    /// where both have names, else one by one.
    pub fn rows_of(
        &self,
        names: Option<&[String]>,
        rows: usize,
        label: &str,
    ) -> Result<Vec<Option<usize>>, Failure> {
        let own = self.frequencies.len();
        let one_by_one = || Ok((0..rows).map(Some).collect());
        match (&self.names, names) {
            (Some(known), Some(names)) if &known[..] == names => one_by_one(),
            (Some(known), Some(names)) => {
                let mut places: HashMap<&str, usize> = HashMap::new();
                for (row, name) in known.iter().enumerate().rev() {
                    places.insert(name, row);
                }
                let found: Vec<Option<usize>> =
                    names.iter().map(|name| places.get(name.as_str()).copied()).collect();
                let mut taken = vec![false; own];
                for (name, row) in names.iter().zip(&found) {
                    if row.is_some_and(|row| std::mem::replace(&mut taken[row], true)) {
                        return Err(Failure::Wrong(format!(
                            "{label}: two rows are called '{name}': give every word one row"
                        )));
                    }
                }
                if found.iter().flatten().next().is_none() {
                    return Err(Failure::Wrong(format!(
                        "{label}: none of its words is one of the answer: see whether rows are words (--transpose), \
                         and whether --names are those of its rows"
                    )));
                }
                Ok(found)
            }
            _ if own == rows => one_by_one(),
            _ => Err(Failure::Wrong(format!(
                "{label}: {rows} rows, but the answer has {own} words: give counts of the same words, or names for \
                 both (--names), by which words are then found"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn words_are_found_by_name_or_one_by_one() {
        let sums = WordSums {
            documents: 9,
            frequencies: vec![5, 1, 7],
            kept: vec![0, 2],
            names: Some(names(&["oil", "the", "court"])),
        };
        assert_eq!(sums.fault(), None);
        let found = |words: &[&str]| sums.rows_of(Some(&names(words)), words.len(), "x");
        assert_eq!(found(&["court", "web", "oil"]).unwrap(), [Some(2), None, Some(0)]);
        assert_eq!(found(&["oil", "the", "court"]).unwrap(), [Some(0), Some(1), Some(2)]);
        assert!(found(&["oil", "oil"]).is_err() && found(&["web"]).is_err());
        assert_eq!(sums.rows_of(None, 3, "x").unwrap(), [Some(0), Some(1), Some(2)]);
        assert!(sums.rows_of(None, 4, "x").is_err());
        for broken in [
            WordSums { kept: vec![0, 3], ..sums.clone() },
            WordSums { kept: vec![2, 0], ..sums.clone() },
            WordSums { kept: vec![], ..sums.clone() },
            WordSums { names: Some(names(&["oil"])), ..sums.clone() },
        ] {
            assert!(broken.fault().is_some(), "{broken:?}");
        }
    }
}
