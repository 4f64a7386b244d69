//! Bytes to matrix and back: the file formats of `hottopixx`, one file each.
//!
//! [`load`] reads a file or standard input into a [`hottopixx::matrix::Matrix`] that is finite and
//! nonnegative; [`read`] does the same from any stream of bytes. The format comes from the extension
//! or from [`LoadOptions::format`]; `gzip` is undone wherever the bytes show it.
//!
//! | extension | format | rows of the matrix |
//! |---|---|---|
//! | `.npy` | numpy array | as stored |
//! | `.npz` | numpy archive, or scipy CSR / CSC / COO | as stored |
//! | `.mtx` | Matrix Market, array or coordinate | as stored |
//! | `.csv`, `.tsv` | table; layout detected, or said in [`TableOptions`] | as stored |
//! | `.svm`, `.libsvm`, `.svmlight` | one sample per line | samples |
//! | `docword.NAME.txt` | UCI bag of words | words |
//! | `.hpx` | our own, with names ([`write::hpx`]) | as stored |
//!
//! [`read_documents`] reads text instead: folders, lines, columns of tables. [`load_cube`] reads scenes: arrays of three
//! dimensions in `.npy` and MATLAB's `.mat`, or pixels x bands.
//!
//! Files of `.hpx`, and of `.npy` with numbers of 64 bits, are mapped: their matrix borrows the file,
//! takes no memory of its own and may be larger than the machine has. Large text files are kept as
//! `.hpx` once they have been read, where [`LoadOptions::cache`] allows it; [`peek`] tells sizes
//! without reading.
//!
//! No file can make these functions panic or take memory out of proportion: sizes in headers are
//! claims that are checked first, and every error is one sentence that names the file, the place and
//! the remedy. [`mod@write`] holds the way back; every file appears whole or not at all. [`machine`]
//! tells how much memory there is.

#![deny(unsafe_code)]

mod bow;
mod buckets;
mod budget;
mod cache;
mod checkpoint;
mod coordinate;
mod cube;
mod documents;
mod error;
mod external;
mod format;
mod hpx;
mod load;
pub mod machine;
mod map;
mod mat;
mod mtx;
mod names;
mod npy;
mod npz;
mod peek;
mod saved;
mod scan;
mod scratch;
mod source;
mod survey;
mod svmlight;
mod table;
mod triplets;
pub mod write;

pub use cache::{Cache, CacheUse};
pub use checkpoint::Checkpoint;
pub use cube::{CubeOptions, LoadedCube, load_cube, read_cube};
pub use documents::{
    DocumentColumns, DocumentFormat, DocumentNames, Take, has_text, read_documents,
    read_documents_from,
};
pub use error::{Error, FileLocation, json_fault};
pub use format::{Format, UnknownFormatName};
pub use load::{LoadOptions, Loaded, load, load_signed, read};
pub use map::explain_lost_files;
pub use names::{read_names, read_numbers};
pub use peek::{FileHeader, peek};
pub use saved::SavedArrays;
pub use scratch::scratch_file;
pub use source::Source;
pub use survey::{Numbers, Survey, survey};
pub use table::{
    Aside, ColumnList, Decimal, Delimiter, Header, IndexColumn, Missing, TableColumn, TableLayout,
    TableOptionError, TableOptions, list_items,
};
