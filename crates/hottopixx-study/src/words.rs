//! Matrices of words: co-occurrences in the corpora that studies are run on.

use crate::real::load;
use anyhow::Result;
use hottopixx::matrix::Matrix;
use hottopixx::text;
use std::path::{Path, PathBuf};

/// Corpora of documents x words that may be in a folder of data, as NAME/X.npz.
pub(crate) const CORPORA: [&str; 3] = ["bbc_news", "classic3", "newsgroups20"];

/// The counts of one of the [`CORPORA`], words x documents; its file instead where there is none.
///
/// # Errors
/// When the file is there but cannot be read.
pub(crate) fn corpus(folder: &Path, name: &str) -> Result<Result<Matrix, PathBuf>> {
    let path = folder.join(name).join("X.npz");
    if !path.is_file() {
        return Ok(Err(path));
    }
    load(&path, true, None).map(Ok)
}

/// The counts of the corpus that the program carries, words x documents.
///
/// # Errors
/// When its file cannot be read.
pub(crate) fn demo() -> Result<Matrix> {
    load(&demo_path(), false, None)
}

/// Where that corpus lies in the sources.
pub(crate) fn demo_path() -> PathBuf {
    let sources = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    sources.join("../hottopixx-cli/assets/docword.reuters.txt.gz")
}

/// Co-occurrences of the most frequent words.
///
/// # Errors
/// When they cannot be counted.
pub(crate) fn frequent(counts: &Matrix, words: usize) -> Result<Matrix> {
    let frequency = text::document_frequency(counts);
    let mut order: Vec<usize> = (0..counts.rows()).collect();
    order.sort_by_key(|&i| (std::cmp::Reverse(frequency[i]), i));
    order.truncate(words);
    order.sort_unstable();
    Ok(text::cooccurrence(&counts.select_rows(&order))?)
}
