//! Bytes in, no panic, no memory out of proportion, no lie out: what fuzzing calls, and what the ordinary
//! tests replay on the corpus. Each function takes whatever bytes it is given and judges what comes of
//! them by `assert!`.
//!
//! A parser is called on bytes in memory, nothing else, so that it runs many thousand times a second
//! (`parsers`). What takes files, maps and whole commands has targets of its own, which are slower by nature
//! (`files`, `state`, `commands`).

mod commands;
mod files;
mod parsers;
mod state;

pub use commands::{commands, plan};
pub use files::{files, saved};
pub use parsers::{documents, mat, parser};
pub use state::{certificate, checkpoint, resumed};

use hottopixx_io::{Error, Format, Loaded};
use std::path::{Path, PathBuf};

/// What a loader may take.
const MEMORY: u64 = 1 << 22;

/// What may be exercised, by the names of the folders of the corpus.
pub const TARGETS: [&str; 15] = [
    "npy",
    "npz",
    "mtx",
    "csv",
    "tsv",
    "svmlight",
    "bow",
    "hpx",
    "mat",
    "documents",
    "checkpoint",
    "certificate",
    "saved",
    "files",
    "commands",
];

/// Exercises the target of this name; files of one format also by all that reads files, states also by whole runs.
pub fn run(target: &str, bytes: &[u8]) {
    match target {
        "mat" => mat(bytes),
        "documents" => documents(bytes),
        "checkpoint" => {
            checkpoint(bytes);
            resumed(bytes);
        }
        "certificate" => certificate(bytes),
        "saved" => saved(bytes),
        "files" => files(bytes),
        "commands" => commands(bytes),
        name => {
            let format = name.parse().expect("a format");
            parser(format, bytes);
            for transpose in [false, true] {
                files::loader(format, transpose, bytes);
            }
        }
    }
}

/// A file with these bytes, where files cost least, and one for each thread.
fn file(extension: &str, bytes: &[u8]) -> PathBuf {
    let shared = Path::new("/dev/shm");
    let folder = if shared.is_dir() { shared.to_owned() } else { std::env::temp_dir() };
    let thread = format!("{:?}", std::thread::current().id()).replace(['(', ')'], "");
    let path = folder.join(format!("hottopixx-fuzz-{}-{thread}.{extension}", std::process::id()));
    std::fs::write(&path, bytes).expect("a file in a temporary folder");
    path
}

/// The first byte names a format, and one bit of it which way round; the rest is the file.
fn divided(bytes: &[u8]) -> Option<(Format, bool, &[u8])> {
    let (first, bytes) = bytes.split_first()?;
    let format = Format::ALL[usize::from(first & 127) % Format::ALL.len()];
    Some((format, *first > 127, bytes))
}

fn extension(format: Format) -> &'static str {
    match format {
        Format::BagOfWords => "docword.txt",
        other => other.name(),
    }
}

fn one_line(error: &Error) {
    let sentence = error.to_string();
    assert!(!sentence.contains(['\n', '\r', '\u{1b}']) && sentence.len() < 900, "{sentence:?}");
}

/// What is accepted can be relied on.
fn sound(loaded: &Loaded) {
    let matrix = &loaded.matrix;
    assert!(matrix.check_nonnegative().is_ok());
    for (names, count) in [(&loaded.row_names, matrix.rows()), (&loaded.col_names, matrix.cols())] {
        assert!(names.as_ref().is_none_or(|names| names.len() == count));
    }
}
