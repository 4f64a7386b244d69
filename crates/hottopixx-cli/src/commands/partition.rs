//! `hottopixx partition`: a matrix, or the words of text, in files of some documents each, as `hottopixx.ray` reads them.

use crate::args::{self, DocumentArgs, InputArgs};
use crate::documents::{Documents, Kind, kind};
use crate::failure::{Failure, print, say};
use crate::memory::foresee_copies;
use crate::output;
use crate::problem::Raw;
use hottopixx::matrix::Matrix;
use hottopixx::text::{Reading, VocabularyRules};
use hottopixx_io::{Source, write};
use hottopixx_report::text::grouped;
use serde::Serialize;
use std::io::ErrorKind;

/// What `hottopixx.ray` looks for beside the partitions.
const MANIFEST: &str = "partitions.json";
const VOCABULARY: &str = "vocabulary.txt";

/// The list of files, which tells a folder that is whole from one that is not.
#[derive(Serialize)]
struct Manifest {
    partitions: Vec<String>,
}

/// Writes blocks of documents x terms, the names of the terms, and last the list of files.
pub fn run(args: &args::PartitionArgs) -> Result<(), Failure> {
    if args.documents == 0 {
        return Err(Failure::Wrong(
            "--documents 0: give at least one document per file".to_owned(),
        ));
    }
    let reads = [Some(args.input.path.as_path()), args.input.names.as_deref()];
    let lists = [MANIFEST, VOCABULARY].map(str::to_owned);
    output::prepare(Some(&args.out), &reads, &lists)?;
    let (documents, names) = load(&args.input, args.quiet)?;
    let parts = documents.rows().div_ceil(args.documents);
    let parts: Vec<String> = (0..parts).map(part).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let mut files = output::matrix_files(&parts);
    output::prepare(Some(&args.out), &reads, &files)?;
    files.extend(lists);
    let before = output::written_before(&args.out);
    write::remove_orphans_in(&args.out, &files);
    output::record(&args.out, &files)?;
    // Until all is written, the folder says nothing about what it held before.
    for stale in [MANIFEST, VOCABULARY] {
        match std::fs::remove_file(args.out.join(stale)) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                let path = args.out.join(stale);
                return Err(Failure::Wrong(format!("{}: {error}", path.display())));
            }
            _ => {}
        }
    }
    let mut partitions = Vec::new();
    for first in (0..documents.rows()).step_by(args.documents) {
        let last = (first + args.documents).min(documents.rows());
        let block = documents.select_rows(&(first..last).collect::<Vec<_>>());
        let stem = part(partitions.len());
        let path = write::matrix(&args.out, &stem, &block)?;
        partitions.extend(path.file_name().map(|name| name.to_string_lossy().into_owned()));
    }
    if let Some(names) = &names {
        let lines: String = names.iter().map(|name| format!("{name}\n")).collect();
        write::bytes(args.out.join(VOCABULARY), lines)?;
    }
    // Parts of an earlier run that had more of them belong to nothing now.
    for stale in before.iter().filter(|name| name.starts_with("part-")) {
        if !partitions.contains(stale) {
            let _ = std::fs::remove_file(args.out.join(stale));
        }
    }
    let count = partitions.len();
    write::bytes(args.out.join(MANIFEST), output::json(&Manifest { partitions }))?;
    output::settle(&args.out);
    if args.quiet {
        return Ok(());
    }
    print(&format!(
        "{}: {} documents of {} terms in {} files\n",
        args.out.display(),
        grouped(documents.rows()),
        grouped(documents.cols()),
        grouped(count)
    ))
}

/// Documents x terms, and the names of the terms where they are known.
fn load(input: &InputArgs, quiet: bool) -> Result<(Matrix, Option<Vec<String>>), Failure> {
    if let Some(text) = as_text(input)? {
        let Documents { corpus, names, .. } =
            Documents::load(&text, &Reading::default(), VocabularyRules::default())?;
        if !quiet {
            names.notes.iter().chain(corpus.notes()).for_each(|note| say(note));
        }
        return Ok((corpus.counts().clone().into(), Some(corpus.words().to_vec())));
    }
    // As it is, turned, and a part of it.
    foresee_copies(&Source::path(&input.path), &Raw::options(input), 3)?;
    let raw = Raw::load(input, |sentence| {
        if !quiet {
            eprintln!("{sentence}");
        }
    })?;
    raw.matrix.check_nonnegative().map_err(|error| Failure::from_library(&raw.label, &error))?;
    Ok((raw.matrix.transpose(), raw.names))
}

/// The input as documents, where it is a file or a folder of text and nothing says that it is a matrix.
fn as_text(input: &InputArgs) -> Result<Option<DocumentArgs>, Failure> {
    let InputArgs { path, file, names, memory, .. } = input.clone();
    let says_matrix = file.format.is_some() || file.key.is_some() || file.transpose;
    if says_matrix || names.is_some() || Source::path(&path).as_path().is_none() {
        return Ok(None);
    }
    let (column, title, date, format, key) = (None, None, None, None, None);
    let table = file.table;
    let documents = DocumentArgs {
        path,
        column,
        title,
        date,
        format,
        names,
        transpose: false,
        key,
        memory,
        table,
    };
    Ok(matches!(kind(&documents)?, Kind::Text(_)).then_some(documents))
}

/// The name of a part, without its extension.
fn part(number: usize) -> String {
    format!("part-{number:05}")
}
