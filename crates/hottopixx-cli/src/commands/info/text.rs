//! What `info` says of documents: how they are read, how many there are, and what to run on them.

use super::advice::{quoted, shell};
use crate::args::InfoArgs;
use crate::documents::{holds_prose, table_columns};
use crate::failure::{Failure, print};
use crate::output::{json, paragraph};
use hottopixx::text::{Counter, Reading};
use hottopixx_io::{
    DocumentFormat, Error, Format, LoadOptions, Source, has_text, machine, read_documents,
};
use hottopixx_report::table::{WIDTH, cut, plain};
use hottopixx_report::text::{count, grouped, line, wrapped};
use serde::Serialize;

/// Documents whose beginning is shown.
const SHOWN: usize = 3;
/// Fewer documents than this for each topic are left to chance.
const A_TOPIC: usize = 20;

/// All there is to say, as `--json` prints it.
#[derive(Serialize)]
struct TextReport {
    input: String,
    format: &'static str,
    documents: usize,
    /// Different words, stop words left out.
    words: usize,
    /// Occurrences of these.
    tokens: u64,
    /// Of these, in a document of middle length.
    tokens_of_a_document: u64,
    first_documents: Vec<String>,
    notes: Vec<String>,
    problems: Vec<String>,
    next: Vec<String>,
    version: &'static str,
}

/// The format of documents that a name promises, where it cannot be that of a matrix.
pub fn promised(args: &InfoArgs) -> Option<DocumentFormat> {
    let source = Source::path(&args.path);
    let path = source.as_path().filter(|_| args.file.format.is_none())?;
    let found = DocumentFormat::from_path(path)?;
    (!matches!(found, DocumentFormat::Csv | DocumentFormat::Tsv)).then_some(found)
}

/// Whether what could not be read as a matrix is text: a table with a column of it, or lines of several
/// words in a file of any name.
pub fn instead(args: &InfoArgs, options: &LoadOptions, error: &Error) -> Option<DocumentFormat> {
    let source = Source::path(&args.path);
    let path = source.as_path()?;
    let table = match options.format.or_else(|| Format::from_path(path)) {
        Some(Format::Csv) => Some(DocumentFormat::Csv),
        Some(Format::Tsv) => Some(DocumentFormat::Tsv),
        _ => None,
    };
    match (table, error) {
        (Some(format), _) => {
            let columns = table_columns(&args.file.table);
            has_text(&source, format, &columns).ok().filter(|text| *text).map(|_| format)
        }
        (None, Error::UnknownFormat { .. }) => holds_prose(path).then_some(DocumentFormat::Lines),
        _ => None,
    }
}

/// Reads the documents and reports.
pub fn report(args: &InfoArgs, format: DocumentFormat) -> Result<(), Failure> {
    let source = Source::path(&args.path);
    let file = std::fs::metadata(&args.path).ok().filter(std::fs::Metadata::is_file);
    let bytes = file.map_or(0, |file| file.len());
    let large = bytes > super::LIMIT && !args.full;
    let report = if large { unread(args, format, bytes) } else { read(args, &source, format)? };
    if args.print.json {
        return print(&json(&report));
    }
    print(&human(&report, large))
}

fn unread(args: &InfoArgs, format: DocumentFormat, bytes: u64) -> TextReport {
    let gib = bytes as f64 / f64::from(1 << 30);
    TextReport {
        notes: vec![format!("Not read, the file has {gib:.1} GiB: --full reads it.")],
        next: vec![command(args, format, 10)],
        ..TextReport::new(args, format)
    }
}

impl TextReport {
    fn new(args: &InfoArgs, format: DocumentFormat) -> Self {
        TextReport {
            input: Source::path(&args.path).name(),
            format: format.name(),
            documents: 0,
            words: 0,
            tokens: 0,
            tokens_of_a_document: 0,
            first_documents: Vec::new(),
            notes: Vec::new(),
            problems: Vec::new(),
            next: Vec::new(),
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

fn read(args: &InfoArgs, source: &Source, format: DocumentFormat) -> Result<TextReport, Failure> {
    let label = source.name();
    let library = |error| Failure::from_library(&label, &error);
    let limit = args.memory.unwrap_or_else(machine::usual_memory);
    let mut counter = Counter::new(Reading::default()).map_err(library)?;
    let columns = table_columns(&args.file.table);
    let names = read_documents(source, format, &columns, &mut |block| {
        counter.add(block)?;
        counter.check_memory(limit)
    })?;
    let mut report = TextReport::new(args, format);
    report.documents = names.titles.len();
    report.first_documents =
        names.titles.iter().filter(|title| !title.is_empty()).take(SHOWN).cloned().collect();
    report.notes = names.notes;
    match counter.finish() {
        Err(_) => report.problems.push(
            "no word is left of the documents; numbers are read with --format csv".to_owned(),
        ),
        Ok(corpus) => {
            let counts = corpus.counts();
            let mut lengths: Vec<u64> =
                (0..counts.rows()).map(|d| counts.row(d).1.iter().sum::<f64>() as u64).collect();
            lengths.sort_unstable();
            report.words = corpus.words().len();
            report.tokens = lengths.iter().sum();
            report.tokens_of_a_document = lengths[lengths.len() / 2];
            report.notes.extend_from_slice(corpus.notes());
        }
    }
    let few = report.documents < 2 * A_TOPIC;
    if few {
        report.problems.push(format!(
            "{} are few: topics take some dozens; split long ones into paragraphs",
            count(report.documents, "document")
        ));
    }
    if report.tokens_of_a_document < 2 && report.words > 0 {
        report.problems.push(
            "most documents have fewer than two words, and topics are made of words that stand together"
                .to_owned(),
        );
    }
    let rank = (report.documents / A_TOPIC).clamp(2, 10);
    if report.words > 0 {
        report.next = vec![command(args, format, rank)];
    }
    Ok(report)
}

/// The command to run, with the flags that were given.
fn command(args: &InfoArgs, format: DocumentFormat, rank: usize) -> String {
    let mut words = vec!["hottopixx".to_owned(), "topics".to_owned(), quoted(&args.path)];
    if DocumentFormat::from_path(&args.path) != Some(format) {
        words.extend(["--format".to_owned(), format.name().to_owned()]);
    }
    words.extend(args.file.table.flags().iter().map(|word| shell(word)));
    words.extend(["--rank".to_owned(), rank.to_string()]);
    words.join(" ")
}

fn human(report: &TextReport, large: bool) -> String {
    let mut out = format!("hottopixx {}\n", report.version);
    line(&mut out, "input", &plain(&report.input));
    let kind = match report.format {
        "folder" => "a folder of text files, a document each",
        "txt" => "text, one document per line",
        "jsonl" => "JSON objects, a document each",
        _ => "a table with a column of text",
    };
    line(&mut out, "format", kind);
    if !large {
        let size = format!(
            "{}, {}, {} tokens without stop words, {} in a document of middle length",
            count(report.documents, "document"),
            count(report.words, "word"),
            grouped(report.tokens as usize),
            grouped(report.tokens_of_a_document as usize)
        );
        paragraph(&mut out, "size", &size);
    }
    report.notes.iter().for_each(|note| paragraph(&mut out, "", note));
    for (k, title) in report.first_documents.iter().enumerate() {
        let title = cut(&plain(title), WIDTH - 12);
        line(&mut out, if k == 0 { "first" } else { "" }, &format!("“{title}”"));
    }
    out.push('\n');
    report.problems.iter().for_each(|problem| paragraph(&mut out, "problem", problem));
    for (k, command) in report.next.iter().enumerate() {
        let lines = wrapped(&plain(command), WIDTH - 14).join(" \\\n              ");
        line(&mut out, if k == 0 { "next" } else { "" }, &lines);
    }
    out
}
