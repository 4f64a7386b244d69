//! A folder of text files, and of such folders, in the order of their paths.

use super::{DocumentColumns, Output};
use crate::error::{Error, Fault};
use crate::source::{Source, Stream, display_name};
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Folders in folders that are looked into.
const DEEPEST: usize = 16;

pub(super) fn read(
    folder: &Path,
    columns: &DocumentColumns,
    out: &mut Output<'_>,
) -> Result<(), Error> {
    let longest = columns.longest();
    let mut files = Vec::new();
    collect(folder, &mut files, DEEPEST)?;
    files.sort_unstable();
    if files.is_empty() {
        let fault = Fault::file(
            "there is no .txt file in the folder",
            "name documents .txt, or give one file",
        );
        return Err(fault.in_file(&display_name(folder)));
    }
    for path in files {
        let name = display_name(&path);
        // A file of nothing is a document of nothing.
        let empty = fs::metadata(&path).is_ok_and(|m| m.len() == 0);
        let mut text = Vec::new();
        if !empty {
            let reader = Stream::open(&Source::path(&path))?.into_reader();
            let read = reader.take(longest + 1).read_to_end(&mut text);
            read.map_err(|e| Fault::from(e).in_file(&name))?;
        }
        if text.len() as u64 > longest {
            let what = format!("the document is longer than {longest} bytes");
            return Err(Fault::file(what, "split it, or allow more memory").in_file(&name));
        }
        let title = display_name(path.strip_prefix(folder).unwrap_or(&path));
        out.add(&text, Some(title), None).map_err(|fault| fault.in_file(&name))?;
    }
    Ok(())
}

/// The text files in a folder; links to folders are not followed, so that there is an end.
fn collect(folder: &Path, files: &mut Vec<PathBuf>, depth: usize) -> Result<(), Error> {
    let fail = |source| Error::Read { file: display_name(folder), source };
    for entry in fs::read_dir(folder).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(fail)?);
        if kind.is_dir() {
            if depth > 0 {
                collect(&path, files, depth - 1)?;
            }
        } else {
            let name = entry.file_name().to_string_lossy().to_ascii_lowercase();
            if name.ends_with(".txt") || name.ends_with(".txt.gz") {
                files.push(path);
            }
        }
    }
    Ok(())
}
