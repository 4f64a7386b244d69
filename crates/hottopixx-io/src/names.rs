//! Small text files beside a matrix: one name or one number per line.

use crate::budget::Budget;
use crate::error::{Error, Fault, FileLocation, quote};
use crate::scan::Lines;
use crate::source::{Source, Stream, display_name};
use std::path::{Path, PathBuf};

/// Longest line of such a file.
const LONGEST_LINE: u64 = 1 << 20;

/// Reads one name per line, in UTF-8; an empty line is an empty name, except behind the last. The list may take
/// `max_bytes`; `None` allows three quarters of the machine's memory.
///
/// # Errors
/// [`Error`] when the file cannot be read or a line is not UTF-8.
pub fn read_names(path: impl AsRef<Path>, max_bytes: Option<u64>) -> Result<Vec<String>, Error> {
    let take = |names: &mut Vec<String>, number, bytes: &[u8]| match std::str::from_utf8(bytes) {
        Ok(name) => {
            names.push(name.to_owned());
            Ok(())
        }
        Err(_) => {
            let what = format!("{} is not UTF-8", quote(bytes));
            Err(Fault::line(number, what, "convert the file to UTF-8"))
        }
    };
    each_line(path.as_ref(), max_bytes, Budget::text, take)
}

/// Reads one finite number per line; only the end of the file may hold empty lines. `max_bytes` as for names.
///
/// # Errors
/// [`Error`] when the file cannot be read or a line is not a finite number.
pub fn read_numbers(path: impl AsRef<Path>, max_bytes: Option<u64>) -> Result<Vec<f64>, Error> {
    let mut blank = None;
    each_line(
        path.as_ref(),
        max_bytes,
        |_| 8,
        |numbers: &mut Vec<f64>, number, bytes| {
            let word = bytes.trim_ascii();
            if word.is_empty() {
                blank.get_or_insert(number);
                return Ok(());
            }
            if let Some(line) = blank {
                return Err(Fault::line(line, "the line is empty", "give one number per line"));
            }
            match crate::scan::number(word) {
                Some(value) if value.is_finite() => {
                    numbers.push(value);
                    Ok(())
                }
                _ => {
                    let what = format!("{} is not a finite number", quote(word));
                    Err(Fault::line(number, what, "give one number per line"))
                }
            }
        },
    )
}

/// Hands on every line; one of a length takes as many bytes in the list as `size` says.
fn each_line<T>(
    path: &Path,
    max_bytes: Option<u64>,
    size: impl Fn(usize) -> u128,
    mut take: impl FnMut(&mut Vec<T>, u64, &[u8]) -> Result<(), Fault>,
) -> Result<Vec<T>, Error> {
    let stream = Stream::open(&Source::path(path))?;
    let budget = Budget::new(max_bytes);
    let run = || -> Result<Vec<T>, Fault> {
        let mut lines = Lines::new(stream.into_reader(), LONGEST_LINE);
        let mut out = Vec::new();
        let mut bytes = 0;
        while let Some(line) = lines.next()? {
            bytes += size(line.bytes.len());
            budget.check(bytes, FileLocation::Line(line.number), || "the list".to_owned())?;
            take(&mut out, line.number, line.bytes)?;
        }
        Ok(out)
    };
    run().map_err(|fault| fault.in_file(&display_name(path)))
}

/// `vocab.NAME.txt` beside `docword.NAME.txt[.gz]`, where there is one.
pub(crate) fn vocabulary_beside(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let name = name.strip_suffix(".gz").unwrap_or(name).strip_prefix("docword.")?;
    let vocabulary = path.with_file_name(format!("vocab.{name}"));
    vocabulary.is_file().then_some(vocabulary)
}

/// A vocabulary must have one name for each word.
pub(crate) fn check_count(path: &Path, found: usize, words: usize) -> Result<(), Error> {
    if found == words {
        return Ok(());
    }
    let what = format!("it has {found} lines but the bag of words has {words} words");
    Err(Fault::file(what, "give one word per line, or move the file away")
        .in_file(&display_name(path)))
}
