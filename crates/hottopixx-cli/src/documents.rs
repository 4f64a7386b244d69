//! From the flags of documents to a corpus: text or counts, whatever the input is.

use crate::args::DocumentArgs;
use crate::failure::Failure;
use hottopixx::Error;
use hottopixx::matrix::Matrix;
use hottopixx::text::{Corpus, Counter, Reading};
use hottopixx_io::{
    Cache, DocumentColumns, DocumentFormat, DocumentNames, Format, LoadOptions, Source, Take,
    has_text, machine, read_documents,
};

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
        None => Ok(Kind::Counts(source.as_path().and_then(Format::from_path))),
        // A table may hold text or counts; standard input can be read only once.
        Some(format @ (DocumentFormat::Csv | DocumentFormat::Tsv))
            if args.column.is_none()
                && source.as_path().is_some()
                && !has_text(&source, format)? =>
        {
            Ok(Kind::Counts(Some(as_matrix(format))))
        }
        Some(format) => Ok(Kind::Text(format)),
    }
}

/// Reads text, block by block.
pub fn read_text(
    args: &DocumentArgs,
    format: DocumentFormat,
    take: Take<'_>,
) -> Result<DocumentNames, Failure> {
    let columns = DocumentColumns {
        text: args.column.clone(),
        title: args.title.clone(),
        date: args.date.clone(),
    };
    let mut names = read_documents(&Source::path(&args.path), format, &columns, take)?;
    if names.titles.iter().all(String::is_empty) {
        names.titles.iter_mut().enumerate().for_each(|(d, t)| *t = format!("document {}", d + 1));
    }
    Ok(names)
}

/// Reads counts as documents x words, with the words where they are known.
pub fn read_counts(args: &DocumentArgs, format: Option<Format>) -> Result<Counts, Failure> {
    let source = Source::path(&args.path);
    // Bags of words come as words x documents.
    let turned = format == Some(Format::BagOfWords) || args.transpose;
    let options = LoadOptions {
        format,
        transpose: turned,
        key: args.key.clone(),
        max_bytes: args.memory,
        cache: Cache::Off,
        ..LoadOptions::default()
    };
    let loaded = hottopixx_io::load(&source, &options)?;
    let (rows, cols) = (loaded.matrix.rows(), loaded.matrix.cols());
    let words = match &args.names {
        None => loaded.col_names,
        Some(path) => {
            let names = hottopixx_io::read_names(path)?;
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
    let names = DocumentNames { titles, dates: None, notes: Vec::new() };
    Ok(Counts { matrix: loaded.matrix, words, names })
}

impl Documents {
    /// Reads the input, whatever it is, and counts its words.
    pub fn load(args: &DocumentArgs, reading: &Reading) -> Result<Self, Failure> {
        let label = Source::path(&args.path).name();
        let library = |error| Failure::from_library(&label, &error);
        let kind = kind(args)?;
        let (corpus, names) = match kind {
            Kind::Text(format) => {
                let mut counter = Counter::new(reading.clone()).map_err(library)?;
                let limit = args.memory.unwrap_or_else(machine::usual_memory);
                let names = read_text(args, format, &mut |block| {
                    counter.add(block)?;
                    counter.check_memory(limit)
                })?;
                let corpus = counter.finish().map_err(|error| match error {
                    Error::Empty { rows, .. } => Failure::Wrong(format!(
                        "{label}: no word is left of {rows} documents: give longer text, or other \
                         --stop-words"
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
