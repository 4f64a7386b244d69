//! From the flags of documents to a corpus: text or counts, whatever the input is.

use crate::args::{DocumentArgs, TableArgs};
use crate::failure::Failure;
use crate::memory::foresee_copies;
use hottopixx::Error;
use hottopixx::matrix::Matrix;
use hottopixx::text::{Corpus, Counter, Reading, Scratch, VocabularyRules};
use hottopixx_io::{
    Cache, ColumnList, DocumentColumns, DocumentFormat, DocumentNames, Format, IndexColumn,
    LoadOptions, Missing, Source, TableOptions, Take, has_text, machine, read_documents,
    scratch_file,
};
use std::io::Read as _;
use std::path::Path;

/// The part of the memory that the words of documents may take before they go to a temporary file.
const TEXT_SHARE: u64 = 4;

/// Times that counts are in memory at least: as loaded, as a corpus, and by words.
const COPIES: u64 = 3;

/// What the input is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Documents to be read.
    Text(DocumentFormat),
    /// Documents x words, in a format of matrices; `None` for what the bytes say.
    Counts(Option<Format>),
}

/// A corpus and what its documents are called.
pub struct Documents {
    pub label: String,
    pub kind: Kind,
    pub corpus: Corpus,
    pub names: DocumentNames,
}

/// Counts, documents x words.
pub struct Counts {
    pub matrix: Matrix,
    pub words: Option<Vec<String>>,
    pub names: DocumentNames,
}

/// Finds out what the input is.
pub fn kind(args: &DocumentArgs) -> Result<Kind, Failure> {
    let source = Source::path(&args.path);
    let named = match args.format.as_deref() {
        Some(name) => match (DocumentFormat::from_name(name), name.parse::<Format>()) {
            (None, Ok(format)) => return Ok(Kind::Counts(Some(format))),
            (None, Err(_)) => {
                return Err(Failure::Wrong(format!(
                    "--format {name} is not known: choose txt, csv, tsv, jsonl, folder or a format of \
                     matrices ({})",
                    Format::ALL.map(Format::name).join(", ")
                )));
            }
            (format, _) => format,
        },
        None => match source.as_path() {
            Some(path) => DocumentFormat::from_path(path),
            None => Some(DocumentFormat::Lines),
        },
    };
    let as_matrix = |format| match format {
        DocumentFormat::Csv => Format::Csv,
        _ => Format::Tsv,
    };
    match named {
        None => {
            let path = source.as_path();
            let format = path.and_then(Format::from_path);
            // A file of any other name may be text.
            match path.filter(|path| format.is_none() && holds_prose(path)) {
                Some(_) => Ok(Kind::Text(DocumentFormat::Lines)),
                None => Ok(Kind::Counts(format)),
            }
        }
        // A table may hold text or counts; standard input can be read only once.
        Some(format @ (DocumentFormat::Csv | DocumentFormat::Tsv))
            if args.column.is_none()
                && source.as_path().is_some()
                && !has_text(&source, format, &columns(args))? =>
        {
            Ok(Kind::Counts(Some(as_matrix(format))))
        }
        Some(format) => Ok(Kind::Text(format)),
    }
}

/// Bytes of a file without a known name that are looked at.
const LOOKED_AT: u64 = 64 << 10;
/// Words of a line of text, on average.
const WORDS: usize = 3;

/// Whether a file begins with lines of text.
pub fn holds_prose(path: &Path) -> bool {
    let mut head = Vec::new();
    let opened = std::fs::File::open(path);
    let read = opened.and_then(|file| file.take(LOOKED_AT).read_to_end(&mut head));
    read.is_ok() && is_prose(&head)
}

/// Lines of several words, without bytes that no text has.
fn is_prose(head: &[u8]) -> bool {
    let lines = || head.split(|b| *b == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let words = |line: &[u8]| line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty()).count();
    let all: usize = lines().map(words).sum();
    let letters = head.iter().filter(|b| b.is_ascii_alphabetic() || **b >= 0x80).count();
    !head.contains(&0) && all >= WORDS * lines().count().max(1) && 2 * letters > head.len()
}

/// What the flags say of the table; its words were checked when they were parsed.
fn table(args: &DocumentArgs) -> TableOptions {
    let mut options = args.table.options().unwrap_or_default();
    if let (IndexColumn::Auto, Some(title)) = (&options.index, &args.title) {
        options.index = IndexColumn::Column(title.clone());
    }
    options
}

/// Which columns the flags name, and how they say the table is read.
fn columns(args: &DocumentArgs) -> DocumentColumns {
    let said = table_columns(&args.table);
    DocumentColumns {
        text: args.column.as_deref().map(ColumnList::one).or(said.text),
        title: args.title.clone().or(said.title),
        date: args.date.clone(),
        max_bytes: args.memory,
        ..said
    }
}

/// What the flags of tables say of a table of documents.
pub fn table_columns(table: &TableArgs) -> DocumentColumns {
    let missing = table.missing();
    let table = table.options().unwrap_or_default();
    let title = match table.index {
        IndexColumn::Column(name) => Some(name),
        IndexColumn::Auto | IndexColumn::None => None,
    };
    let TableOptions { header, delimiter, columns: text, .. } = table;
    DocumentColumns { text, title, date: None, header, delimiter, missing, max_bytes: None }
}

/// Refuses flags that say nothing about this kind of text.
fn check_flags(args: &DocumentArgs, format: DocumentFormat) -> Result<(), Failure> {
    let label = Source::path(&args.path).name();
    let wrong = |flag: &str, what: &str| {
        Err(Failure::Wrong(format!("{flag} {what}, but {label} is read as text: leave it out")))
    };
    use DocumentFormat as F;
    let table = ["--header", "--delimiter"];
    let columns = ["--index", "--columns", "--missing"];
    let unused: Vec<&str> = match format {
        F::Csv | F::Tsv => Vec::new(),
        F::JsonLines => table.to_vec(),
        F::Lines | F::Folder => [&table[..], &columns].concat(),
    };
    if args.table.missing() == Some(Missing::Observed) {
        return wrong("--missing observed", "is for tables of numbers");
    }
    if let Some(flag) = args.table.first_given(&["--decimal", "--drop"]) {
        return wrong(flag, "is for tables of numbers");
    }
    if let Some(flag) = args.table.first_given(&unused) {
        let what = format!("{flag} is for tables, but {label} holds ");
        let holds = match format {
            F::JsonLines => "objects",
            F::Folder => "files",
            _ => "one document per line",
        };
        return Err(Failure::Wrong(format!("{what}{holds}: leave it out, or say --format csv")));
    }
    if args.table.missing() == Some(Missing::DropColumns) {
        return wrong("--missing drop-columns", "is for tables of numbers");
    }
    let named = [("--column", &args.column), ("--title", &args.title), ("--date", &args.date)];
    match named.into_iter().find(|(_, column)| column.is_some()) {
        Some((flag, _)) if matches!(format, F::Lines | F::Folder) => Err(Failure::Wrong(format!(
            "{flag} names a column, but {label} has none: leave it out, or say --format csv"
        ))),
        _ => Ok(()),
    }
}

/// Reads text, block by block.
pub fn read_text(
    args: &DocumentArgs,
    format: DocumentFormat,
    take: Take<'_>,
) -> Result<DocumentNames, Failure> {
    check_flags(args, format)?;
    let columns = columns(args);
    let mut names = read_documents(&Source::path(&args.path), format, &columns, take)?;
    if names.titles.iter().all(String::is_empty) {
        names.titles.iter_mut().enumerate().for_each(|(d, t)| *t = format!("document {}", d + 1));
    }
    Ok(names)
}

/// Reads counts as documents x words, with the words where they are known.
pub fn read_counts(args: &DocumentArgs, format: Option<Format>) -> Result<Counts, Failure> {
    let source = Source::path(&args.path);
    if args.date.is_some() {
        return Err(Failure::Wrong(format!(
            "--date is for documents that are text, but {} holds counts: leave it out",
            source.name()
        )));
    }
    // Bags of words come as words x documents.
    let turned = format == Some(Format::BagOfWords) || args.transpose;
    let options = LoadOptions {
        format,
        transpose: turned,
        key: args.key.clone(),
        table: table(args),
        max_bytes: args.memory,
        cache: Cache::Off,
    };
    foresee_copies(&source, &options, COPIES)?;
    let loaded = hottopixx_io::load(&source, &options)?;
    let (rows, cols) = (loaded.matrix.rows(), loaded.matrix.cols());
    let words = match &args.names {
        None => loaded.col_names,
        Some(path) => {
            let names = hottopixx_io::read_names(path, args.memory)?;
            if names.len() != cols {
                let remedy = match (names.len() == rows, args.transpose) {
                    (true, false) => "add --transpose, for rows seem to be words",
                    (true, true) => "leave out --transpose, for rows seem to be documents",
                    _ => "give one word per line",
                };
                return Err(Failure::Wrong(format!(
                    "{}: {} names, but {} has {cols} words: {remedy}",
                    path.display(),
                    names.len(),
                    source.name()
                )));
            }
            Some(names)
        }
    };
    let numbered = || (1..=rows).map(|d| format!("document {d}")).collect();
    let titles = loaded.row_names.unwrap_or_else(numbered);
    let mut notes = Vec::new();
    if let Some(layout) = loaded.table.as_ref().filter(|layout| !layout.is_plain()) {
        notes.push(layout.sentence());
        notes.extend(layout.omissions());
    }
    let names = DocumentNames { titles, dates: None, notes };
    Ok(Counts { matrix: loaded.matrix, words, names })
}

impl Documents {
    /// Reads the input, whatever it is, and counts its words.
    pub fn load(
        args: &DocumentArgs,
        reading: &Reading,
        rules: VocabularyRules,
    ) -> Result<Self, Failure> {
        let label = Source::path(&args.path).name();
        let library = |error| Failure::from_library(&label, &error);
        let kind = kind(args)?;
        let (corpus, names) = match kind {
            Kind::Text(format) => {
                let limit = args.memory.unwrap_or_else(machine::usual_memory);
                let scratch = || Ok(Box::new(scratch_file()?) as Box<dyn Scratch>);
                let counter = Counter::new(reading.clone()).map_err(library)?;
                let mut counter = counter.overflow_to(limit / TEXT_SHARE, Box::new(scratch));
                let names = read_text(args, format, &mut |block| {
                    counter.add(block)?;
                    counter.check_memory(limit)
                })?;
                let corpus = counter.finish_for(rules, limit).map_err(|error| match error {
                    Error::Empty { rows, .. } => Failure::Wrong(format!(
                        "{label}: no word is left of {}: give longer text, or other --stop-words",
                        if rows == 1 {
                            "1 document".to_owned()
                        } else {
                            format!("{rows} documents")
                        }
                    )),
                    other => library(other),
                })?;
                (corpus, names)
            }
            Kind::Counts(format) => {
                let Counts { matrix, words, names } = read_counts(args, format)?;
                let stop_words = &reading.stop_words;
                let corpus = Corpus::from_counts(&matrix, words.as_deref(), stop_words);
                (corpus.map_err(library)?, names)
            }
        };
        Ok(Documents { label, kind, corpus, names })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_told_from_data() {
        assert!(is_prose(b"These are some words.\nAnd another line of them.\n"));
        for other in [&b"1 2 3 4\n5 6 7 8\n"[..], b"one\ntwo\nthree\n", b"a b c d\0e", b""] {
            assert!(!is_prose(other), "{other:?}");
        }
    }
}
