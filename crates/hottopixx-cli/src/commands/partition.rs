//! `hottopixx partition`: a matrix in files of some documents each, as `hottopixx.ray` reads them.

use crate::args;
use crate::failure::{Failure, print};
use crate::memory::foresee_copies;
use crate::output;
use crate::problem::Raw;
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
    // As it is, turned, and a part of it.
    foresee_copies(&Source::path(&args.input.path), &Raw::options(&args.input), 3)?;
    let raw = Raw::load(&args.input, |sentence| {
        if !args.quiet {
            eprintln!("{sentence}");
        }
    })?;
    raw.matrix.check_nonnegative().map_err(|error| Failure::from_library(&raw.label, &error))?;
    let parts = raw.matrix.cols().div_ceil(args.documents);
    let parts: Vec<String> = (0..parts).map(part).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let mut files = output::matrix_files(&parts);
    output::prepare(Some(&args.out), &reads, &files)?;
    files.extend(lists);
    let before = output::written_before(&args.out);
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
    let documents = raw.matrix.transpose();
    let mut partitions = Vec::new();
    for first in (0..documents.rows()).step_by(args.documents) {
        let last = (first + args.documents).min(documents.rows());
        let block = documents.select_rows(&(first..last).collect::<Vec<_>>());
        let stem = part(partitions.len());
        let path = write::matrix(&args.out, &stem, &block)?;
        partitions.extend(path.file_name().map(|name| name.to_string_lossy().into_owned()));
    }
    if let Some(names) = &raw.names {
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

/// The name of a part, without its extension.
fn part(number: usize) -> String {
    format!("part-{number:05}")
}
