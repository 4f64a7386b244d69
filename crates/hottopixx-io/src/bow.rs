//! UCI bag of words: `docword.NAME.txt`, with the words in `vocab.NAME.txt` beside it.
//!
//! Reference: the "Bag of Words" data set of the UCI Machine Learning Repository. Three lines hold
//! the number of documents D, of words W and of entries; each line after these is
//! `document word count`, both counted from 1. The file is documents x words; because rows are
//! features here, the matrix read is words x documents.

use crate::buckets;
use crate::budget::Budget;
use crate::coordinate::Layout;
use crate::error::Fault;
use crate::load::Parsed;
use crate::scan::Lines;
use std::io::Read;

const LONGEST_LINE: u64 = 1 << 16;

/// Reads the first lines.
pub(crate) fn open<R: Read>(reader: R) -> Result<(Lines<R>, Layout), Fault> {
    let mut lines = Lines::new(reader, LONGEST_LINE);
    let (documents, _) = size(&mut lines, "the number of documents")?;
    let (words, shape_at) = size(&mut lines, "the number of words")?;
    let (count, at) = size(&mut lines, "the number of entries")?;
    let layout = Layout {
        sizes: [documents, words],
        what: ["document", "word", "count"],
        shape_at,
        count,
        at,
        pattern: false,
        symmetric: false,
        swapped: true,
        comment: None,
        longest: LONGEST_LINE as usize,
    };
    Ok((lines, layout))
}

/// Reads one file as words x documents or, transposed, as it is.
pub(crate) fn read(reader: impl Read, transpose: bool, budget: Budget) -> Result<Parsed, Fault> {
    let (lines, layout) = open(reader)?;
    let parsed = buckets::read(lines, &layout.transposed(transpose), budget)?;
    Ok(if transpose { parsed.transposed() } else { parsed })
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
