//! UCI bag of words: `docword.NAME.txt`, with the words in `vocab.NAME.txt` beside it.
//!
//! Reference: the "Bag of Words" data set of the UCI Machine Learning Repository. Three lines hold
//! the number of documents D, of words W and of entries; each line after these is
//! `document word count`, both counted from 1. The file is documents x words; because rows are
//! features here, the matrix read is words x documents.

use crate::budget::Budget;
use crate::error::{Fault, Place};
use crate::load::Parsed;
use crate::mtx::{triplet, truncated};
use crate::scan::Lines;
use crate::triplets::Triplets;
use std::io::Read;

const LONGEST_LINE: u64 = 1 << 16;
const ENTRY: [&str; 3] = ["document", "word", "count"];

/// Reads one file as words x documents.
pub(crate) fn read(reader: impl Read, budget: Budget) -> Result<Parsed, Fault> {
    let mut lines = Lines::new(reader, LONGEST_LINE);
    let (documents, _) = size(&mut lines, "the number of documents")?;
    let (words, at) = size(&mut lines, "the number of words")?;
    let (count, last) = size(&mut lines, "the number of entries")?;
    let shape = budget.sparse(words, documents, Place::Line(at))?;
    budget.entries(count, Place::Line(last))?;
    let mut triplets = Triplets::new(budget);
    while let Some(line) = lines.next_full(None)? {
        if triplets.len() as u64 == count {
            let what = format!("there are more than the {count} entries of line {last}");
            return Err(line.fault(what, "correct the number of entries"));
        }
        let (document, word, value) = triplet(line, ENTRY, [documents, words])?;
        triplets.push(word, document, value, line.number)?;
    }
    if (triplets.len() as u64) < count {
        return Err(truncated(triplets.len() as u64, count));
    }
    Ok(Parsed::new(triplets.into_sparse(shape.0, shape.1)?))
}

/// One of the three lines at the top, and its number.
fn size<R: Read>(lines: &mut Lines<R>, should: &str) -> Result<(u64, u64), Fault> {
    let Some(line) = lines.next_full(None)? else {
        return Err(Fault::file(format!("{should} is missing"), "give it on a line of its own"));
    };
    let mut words = line.words();
    let value = line.whole(words.expect(should)?)?;
    words.expect_end(&format!("{should} alone"))?;
    Ok((value, line.number))
}
