//! Documents: a folder of text files, one per line, or one column of a table.
//!
//! | source | a document is | its title |
//! |---|---|---|
//! | a folder | a `.txt` file in it, or in a folder of it | the file's path in the folder |
//! | `.txt` | a line that is not blank | its first words |
//! | `.csv`, `.tsv` | a cell of the text column | the title column, else its first words |
//! | `.jsonl`, `.ndjson`, `.json` | a field of an object, one object per line or an array of them | likewise |
//!
//! Documents are handed on in blocks as they are read: the memory taken is that of one block and of
//! the titles. Text that is not UTF-8 is taken for Latin 1. `gzip` is undone wherever the bytes show it.

mod folder;
mod json;
mod lines;
mod table;

use crate::budget::{Budget, SHORT};
use crate::error::{Error, Fault, FileLocation};
use crate::source::{Body, Source, Stream};
use crate::table::{ColumnList, Delimiter, Header, Missing, decoded};
use std::io::Read;
use std::path::Path;

/// Bytes of documents that are handed on at a time, about.
const BLOCK: usize = 1 << 24;
/// Characters of a document that serve as its title.
const TITLE: usize = 60;
/// Bytes of a document for each zero byte at least, if it is to be text: UTF-16 has more of them, one for every
/// space if not for every letter.
const RARE: usize = 50;

/// What documents come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentFormat {
    /// A folder of text files.
    Folder,
    /// One document per line.
    Lines,
    /// A column of a table with commas.
    Csv,
    /// A column of a table with tabs.
    Tsv,
    /// A field of JSON objects, one per line or an array of them.
    JsonLines,
}

impl DocumentFormat {
    /// The name that is accepted where a format is asked for.
    pub fn name(self) -> &'static str {
        match self {
            DocumentFormat::Folder => "folder",
            DocumentFormat::Lines => "txt",
            DocumentFormat::Csv => "csv",
            DocumentFormat::Tsv => "tsv",
            DocumentFormat::JsonLines => "jsonl",
        }
    }

    /// The format of this name.
    pub fn from_name(name: &str) -> Option<DocumentFormat> {
        use DocumentFormat as F;
        [F::Folder, F::Lines, F::Csv, F::Tsv, F::JsonLines].into_iter().find(|f| f.name() == name)
    }

    /// What the name of a file or folder promises; `None` for what can only be a matrix.
    ///
    /// ```
    /// use hottopixx_io::DocumentFormat;
    /// assert_eq!(DocumentFormat::from_path("a/news.txt.gz".as_ref()), Some(DocumentFormat::Lines));
    /// assert_eq!(DocumentFormat::from_path("docword.nips.txt".as_ref()), None);
    /// ```
    pub fn from_path(path: &Path) -> Option<DocumentFormat> {
        if path.is_dir() {
            return Some(DocumentFormat::Folder);
        }
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        match name.rsplit_once('.')?.1 {
            "txt" if name.starts_with("docword.") => None,
            "txt" | "text" => Some(DocumentFormat::Lines),
            "csv" => Some(DocumentFormat::Csv),
            "tsv" => Some(DocumentFormat::Tsv),
            "jsonl" | "ndjson" | "json" => Some(DocumentFormat::JsonLines),
            _ => None,
        }
    }
}

/// Which columns of a table, or fields of objects, hold what, and how the table is read. Columns go by
/// name, or by number from 1 where the table has no such name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocumentColumns {
    /// The text, several columns joined by line breaks; `None` for the column with the longest.
    pub text: Option<ColumnList>,
    /// The titles.
    pub title: Option<String>,
    /// The dates.
    pub date: Option<String>,
    /// Whether the first line of a table names its columns.
    pub header: Header,
    /// What stands between cells; `None` for what the first lines show.
    pub delimiter: Option<Delimiter>,
    /// What becomes of documents that are missing (empty, NA, null and the like); `None` keeps them as
    /// empty ones, as [`Missing::Zero`] does, and says so.
    pub missing: Option<Missing>,
    /// Bytes that reading may take, a part of which one document may have; `None` for three quarters of the
    /// machine's memory.
    pub max_bytes: Option<u64>,
}

impl DocumentColumns {
    fn budget(&self) -> Budget {
        Budget::new(self.max_bytes)
    }

    /// Bytes that one document may have.
    fn longest(&self) -> u64 {
        self.budget().longest_line().min(LONGEST)
    }
}

/// The longest document, whatever the memory.
const LONGEST: u64 = 1 << 30;

/// What is known of the documents that were read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocumentNames {
    /// A title for each.
    pub titles: Vec<String>,
    /// A date for each, as it was written, where a column of them was named.
    pub dates: Option<Vec<String>>,
    /// What the reader found out, in whole sentences.
    pub notes: Vec<String>,
}

/// Where documents go: blocks of them, in order.
pub type Take<'a> = &'a mut dyn FnMut(&[String]) -> Result<(), hottopixx::Error>;

/// Reads all documents of a source and hands them to `take`, some megabytes at a time.
///
/// # Errors
/// An [`Error`] that names the file, the line and the remedy: what cannot be opened or read, a column that
/// does not exist, a line that is no record of the format, a source without documents; and whatever `take` says.
pub fn read_documents(
    source: &Source,
    format: DocumentFormat,
    columns: &DocumentColumns,
    take: Take<'_>,
) -> Result<DocumentNames, Error> {
    let name = source.name();
    if format != DocumentFormat::Folder {
        return from_stream(Stream::open(source)?, &name, format, columns, take);
    }
    let mut out = Output::new(columns, take);
    match source.as_path() {
        Some(path) => folder::read(path, columns, &mut out)?,
        None => {
            let fault = Fault::file("this is no folder", "name the folder");
            return Err(fault.in_file(&name));
        }
    }
    out.finish().map_err(|fault| fault.in_file(&name))
}

/// As [`read_documents`], from any stream of bytes, compressed or not; `name` is what messages call it.
///
/// # Errors
/// As [`read_documents`]; a stream is no folder.
pub fn read_documents_from(
    reader: impl Read,
    name: &str,
    format: DocumentFormat,
    columns: &DocumentColumns,
    take: Take<'_>,
) -> Result<DocumentNames, Error> {
    if format == DocumentFormat::Folder {
        return Err(Fault::file("a stream is no folder", "name another format").in_file(name));
    }
    let stream =
        Stream::new(Body::Other(Box::new(reader)), None).map_err(|fault| fault.in_file(name))?;
    from_stream(stream, name, format, columns, take)
}

fn from_stream(
    stream: Stream<'_>,
    name: &str,
    format: DocumentFormat,
    columns: &DocumentColumns,
    take: Take<'_>,
) -> Result<DocumentNames, Error> {
    let mut out = Output::new(columns, take);
    let reader = stream.into_reader();
    match format {
        DocumentFormat::Csv => table::read(reader, b',', columns, &mut out),
        DocumentFormat::Tsv => table::read(reader, b'\t', columns, &mut out),
        DocumentFormat::JsonLines => json::read(reader, columns, &mut out),
        DocumentFormat::Lines | DocumentFormat::Folder => lines::read(reader, columns, &mut out),
    }
    .and_then(|()| out.finish())
    .map_err(|fault| fault.in_file(name))
}

/// Whether a table holds text rather than counts: whether some column of its first rows, of those that
/// are named if any are, has cells of several words.
///
/// # Errors
/// When the file cannot be opened or read, or a column does not exist.
pub fn has_text(
    source: &Source,
    format: DocumentFormat,
    columns: &DocumentColumns,
) -> Result<bool, Error> {
    let separator = match format {
        DocumentFormat::Csv => b',',
        DocumentFormat::Tsv => b'\t',
        _ => return Ok(true),
    };
    let reader = Stream::open(source)?.into_reader();
    table::has_text(reader, separator, columns).map_err(|fault| fault.in_file(&source.name()))
}

/// Collects documents into blocks, and their titles.
struct Output<'a> {
    take: Take<'a>,
    block: Vec<String>,
    bytes: usize,
    names: DocumentNames,
    /// Documents that were not UTF-8.
    latin: usize,
    /// What becomes of documents that are missing.
    missing: Option<Missing>,
    /// How many were.
    absent: usize,
    budget: Budget,
    /// Bytes of titles and dates.
    named: u128,
}

impl<'a> Output<'a> {
    fn new(columns: &DocumentColumns, take: Take<'a>) -> Self {
        let dates = columns.date.is_some().then(Vec::new);
        Output {
            take,
            block: Vec::new(),
            bytes: 0,
            names: DocumentNames { dates, ..DocumentNames::default() },
            latin: 0,
            missing: columns.missing,
            absent: 0,
            budget: columns.budget(),
            named: 0,
        }
    }

    /// Adds a document; without a title its first words serve.
    fn add(
        &mut self,
        text: &[u8],
        title: Option<String>,
        date: Option<String>,
    ) -> Result<(), Fault> {
        let zeros = text.iter().filter(|byte| **byte == 0).count();
        let text = match std::str::from_utf8(text) {
            Ok(text) if zeros == 0 => text.to_owned(),
            // Damage, such as copies from other programs leave: no word has one inside.
            Ok(text) if zeros * RARE <= text.len() => text.replace('\0', " "),
            Err(_) if zeros == 0 => {
                self.latin += 1;
                decoded(text).into_owned()
            }
            _ => {
                let what =
                    format!("document {} holds zero bytes, as no text does", self.seen() + 1);
                let remedy =
                    "write it as UTF-8 (UTF-16 looks like this, and files that are no text)";
                return Err(Fault::file(what, remedy));
            }
        };
        self.name(title.unwrap_or_else(|| beginning(&text)), date)?;
        // Many short ones take more than their letters.
        self.bytes += Budget::text(text.len()) as usize;
        self.block.push(text);
        if self.bytes >= BLOCK { self.flush() } else { Ok(()) }
    }

    /// Keeps a title, and a date if there are some: together they may take half of the memory, since the words
    /// need some as well.
    fn name(&mut self, title: String, date: Option<String>) -> Result<(), Fault> {
        self.named += Budget::text(title.capacity());
        self.names.titles.push(title);
        if let Some(dates) = &mut self.names.dates {
            let date = date.unwrap_or_default();
            self.named += Budget::text(date.capacity());
            dates.push(date);
        }
        if self.named <= u128::from(SHORT) {
            return Ok(());
        }
        let count = self.names.titles.len();
        self.budget.check(2 * self.named, FileLocation::File, || {
            format!("the titles of more than {count} documents, with their words,")
        })
    }

    /// Documents so far, those that were left out among them.
    fn seen(&self) -> usize {
        let left_out = if self.missing == Some(Missing::DropRows) { self.absent } else { 0 };
        self.names.titles.len() + left_out
    }

    /// A document that is missing.
    fn add_missing(
        &mut self,
        line: u64,
        title: Option<String>,
        date: Option<String>,
    ) -> Result<(), Fault> {
        self.absent += 1;
        match self.missing {
            None | Some(Missing::Zero) => self.add(b"", title, date),
            Some(Missing::DropRows) => Ok(()),
            Some(Missing::Refuse | Missing::DropColumns | Missing::Observed) => {
                let remedy =
                    "leave such documents out (drop-rows), or keep them as empty ones (zero)";
                Err(Fault::line(line, "the document is missing", remedy))
            }
        }
    }

    fn flush(&mut self) -> Result<(), Fault> {
        (self.take)(&self.block)?;
        self.block.clear();
        self.bytes = 0;
        Ok(())
    }

    fn finish(mut self) -> Result<DocumentNames, Fault> {
        self.flush()?;
        if self.names.titles.is_empty() {
            return Err(Fault::file(
                "there is no document in it",
                "give one document per line or cell",
            ));
        }
        if self.absent > 0 {
            let (subject, verb) = match self.absent {
                1 => ("1 document is missing (empty, NA or the like)".to_owned(), "was"),
                n => (format!("{n} documents are missing (empty, NA or the like)"), "were"),
            };
            let fate = match self.missing {
                Some(Missing::DropRows) => "left out",
                _ => "kept as empty",
            };
            self.names.notes.push(format!("{subject} and {verb} {fate}."));
        }
        if self.latin > 0 {
            let note = format!("{} documents are not UTF-8 and were read as Latin 1.", self.latin);
            self.names.notes.push(note);
        }
        Ok(self.names)
    }
}

/// The first words of a text on one line.
fn beginning(text: &str) -> String {
    let mut title = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        let more = word.chars().count() + 1;
        if length > 0 && length + more > TITLE {
            title.push('…');
            break;
        }
        if length > 0 {
            title.push(' ');
        }
        title.extend(word.chars().take(TITLE));
        length += more;
    }
    title
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Empty documents have no letters that could fill a block.
    #[test]
    fn blocks_of_empty_documents_end() {
        let mut largest = 0;
        let mut take = |block: &[String]| {
            largest = largest.max(block.len());
            Ok(())
        };
        let columns = DocumentColumns::default();
        let mut out = Output::new(&columns, &mut take);
        let most = BLOCK / size_of::<String>();
        for _ in 0..most + 10 {
            out.add(b"", None, None).unwrap_or_else(|fault| panic!("{}", fault.in_file("x")));
        }
        drop(out);
        assert!((most..=most + 1).contains(&largest), "{largest}");
    }
}
