//! Matrices, tables and text to files; every file appears whole or not at all.
//!
//! A file is written under a temporary name in the folder where it belongs, and takes its own name
//! only when it is complete: whoever reads it sees the old one or the new one. Devices and pipes,
//! which cannot be renamed, are written directly. [`FileSet`] does the same for files that belong
//! together.

mod disk;
mod npy;
mod npz;
mod set;
mod temporary;

pub use disk::Output;
pub(crate) use npy::numbers;
pub(crate) use set::hash;
pub use set::{FileRecord, FileSet};

use crate::error::Error;
use crate::hpx::Contents;
use crate::source::display_name;
use hottopixx::matrix::{Dense, Matrix, Sparse};
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use temporary::Temporary;

/// Writes a dense matrix as numpy's `.npy` (version 1, `<f8`, by rows).
///
/// # Errors
/// [`Error::Write`] when the file cannot be written.
pub fn npy(path: impl AsRef<Path>, matrix: &Dense) -> Result<(), Error> {
    atomic(path, |file| npy::write(file, matrix))
}

/// Writes the numbers of a dense matrix, row by row, as a `.npy` array of any shape of the same size.
///
/// # Errors
/// [`Error::Write`] when the file cannot be written, or the shape has another size.
pub fn npy_shaped(path: impl AsRef<Path>, matrix: &Dense, shape: &[usize]) -> Result<(), Error> {
    atomic(path, |file| npy::write_shaped(file, matrix.values(), shape))
}

/// Writes a sparse matrix as `.npz`, as `scipy.sparse.save_npz` writes CSR; `scipy.sparse.load_npz`
/// reads it.
///
/// # Errors
/// [`Error::Write`] when the file cannot be written.
pub fn npz(path: impl AsRef<Path>, matrix: &Sparse) -> Result<(), Error> {
    atomic(path, |file| npz::write(file, matrix))
}

/// Writes a matrix as `.hpx`, dense or sparse as it is, with names where there are any: one for each
/// row and one for each column. The file can be mapped ([`crate::load`]).
///
/// # Errors
/// [`Error::Write`] when the file cannot be written or there are more or fewer names.
pub fn hpx(
    path: impl AsRef<Path>,
    matrix: &Matrix,
    row_names: Option<&[String]>,
    col_names: Option<&[String]>,
) -> Result<(), Error> {
    let fit = |names: Option<&[String]>, count| names.is_none_or(|names| names.len() == count);
    atomic(path, |file| {
        if !fit(row_names, matrix.rows()) || !fit(col_names, matrix.cols()) {
            let what = "the names are not as many as the rows or columns";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        Contents { matrix, row_names, col_names, labels: None, origin: None }.write(file)
    })
}

/// Writes `STEM.npy` for a dense matrix or `STEM.npz` for a sparse one into a folder and returns the
/// path.
///
/// # Errors
/// [`Error::Write`] when the file cannot be written.
pub fn matrix(folder: impl AsRef<Path>, stem: &str, matrix: &Matrix) -> Result<PathBuf, Error> {
    let path = |extension| folder.as_ref().join(format!("{stem}.{extension}"));
    match matrix {
        Matrix::Dense(m) => npy(path("npy"), m).map(|()| path("npy")),
        Matrix::Sparse(m) => npz(path("npz"), m).map(|()| path("npz")),
    }
}

/// Writes a table with commas: a header, then rows of cells, quoted where that is needed.
///
/// # Errors
/// [`Error::Write`] when the file cannot be written or a row is not as long as the header.
pub fn csv<R, C>(
    path: impl AsRef<Path>,
    header: &[&str],
    rows: impl IntoIterator<Item = R>,
) -> Result<(), Error>
where
    R: IntoIterator<Item = C>,
    C: AsRef<[u8]>,
{
    let rows = rows.into_iter();
    atomic(path, |file| {
        let mut table = csv::Writer::from_writer(file);
        table.write_record(header)?;
        for row in rows {
            table.write_record(row)?;
        }
        table.flush()
    })
}

/// Writes text or any other bytes.
///
/// # Errors
/// [`Error::Write`] when the file cannot be written.
pub fn bytes(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> Result<(), Error> {
    atomic(path, |file| file.write_all(bytes.as_ref()))
}

/// Writes a file through `body`; it takes its name only when `body` has succeeded.
///
/// # Errors
/// [`Error::Write`] when `body` fails or the file cannot be written, and then nothing has changed; or when
/// the system does not say that the new name is on the disk.
pub fn atomic(
    path: impl AsRef<Path>,
    body: impl FnOnce(&mut BufWriter<Output>) -> io::Result<()>,
) -> Result<(), Error> {
    let path = path.as_ref();
    write_and_rename(path, body).map_err(|source| Error::Write { file: display_name(path), source })
}

fn write_and_rename(
    path: &Path,
    body: impl FnOnce(&mut BufWriter<Output>) -> io::Result<()>,
) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|m| !m.is_file()) {
        let mut file = BufWriter::new(Output::open(path)?);
        return body(&mut file).and_then(|()| file.flush());
    }
    let mut temporary = Temporary::write(path, body)?;
    temporary.rename()?;
    disk::sync_folder(temporary.folder())
}

/// Takes away what writers of this file that did not come to their end have left beside it.
pub fn remove_orphans(path: impl AsRef<Path>) {
    let path = path.as_ref();
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if let Some(name) = path.file_name().and_then(|name| name.to_str()) {
        temporary::remove_orphans(temporary::folder_of(&path), &[name]);
    }
}
