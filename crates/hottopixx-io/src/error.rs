//! What can be wrong with a file.
//!
//! Parsers work on bytes and do not know where these come from: they return a [`Fault`], which
//! becomes an [`Error`] once the name of the file is added. Text that comes out of a file is quoted
//! through [`quote`], so that a message stays one short line whatever the file holds.

use std::fmt;
use std::io;

/// Every way in which reading or writing a file can fail.
///
/// The message is one sentence that names the file, the place in it and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file does not exist, is a folder, or may not be read.
    #[error("{file}: cannot be opened, {reason}: {remedy}")]
    Open {
        /// The file as the caller named it.
        file: String,
        /// Why not.
        reason: String,
        /// What to do.
        remedy: String,
    },
    /// Neither the name nor the first bytes say which format this is.
    #[error("{file}: {what}: {remedy}")]
    UnknownFormat {
        /// The file as the caller named it.
        file: String,
        /// What was looked at.
        what: String,
        /// What to do.
        remedy: String,
    },
    /// A file of no bytes.
    #[error("{file}: the file is empty: check the program that wrote it")]
    Empty {
        /// The file as the caller named it.
        file: String,
    },
    /// The bytes are not what the format asks for.
    #[error("{file}{place}: {what}: {remedy}")]
    Malformed {
        /// The file as the caller named it.
        file: String,
        /// Where in the file.
        place: FileLocation,
        /// What is wrong there.
        what: String,
        /// What to do.
        remedy: String,
    },
    /// A negative, infinite or missing entry.
    #[error("{file}{place}: {value} is {what}: {remedy}")]
    Value {
        /// The file as the caller named it.
        file: String,
        /// Where in the file.
        place: FileLocation,
        /// The entry.
        value: f64,
        /// What is wrong with it.
        what: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// The matrix would not fit into the memory allowed.
    #[error(
        "{file}{place}: {what} needs {needed} bytes of memory but {limit} are allowed: {remedy}",
        remedy = "allow more memory, or give fewer rows or columns"
    )]
    TooLarge {
        /// The file as the caller named it.
        file: String,
        /// Where in the file the size is stated or reached.
        place: FileLocation,
        /// What is so large.
        what: String,
        /// Bytes that it needs.
        needed: u128,
        /// Bytes that are allowed.
        limit: u64,
    },
    /// The operating system failed to read.
    #[error("{file}: reading failed ({source}): check the file and the disk it is on")]
    Read {
        /// The file as the caller named it.
        file: String,
        /// What the operating system says.
        source: io::Error,
    },
    /// The operating system failed to write.
    #[error("{file}: writing failed ({source}): check that the folder exists and has room")]
    Write {
        /// The file as the caller named it.
        file: String,
        /// What the operating system says.
        source: io::Error,
    },
    /// The file is well formed, but its matrix is not one that can be used.
    #[error("{file}: {source}")]
    Matrix {
        /// The file as the caller named it.
        file: String,
        /// What is wrong with the matrix.
        source: hottopixx::Error,
    },
}

/// A place in a file, as a message names it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileLocation {
    /// The file as a whole.
    File,
    /// A line of a text file, from 1.
    Line(u64),
    /// A cell of a table, line and column from 1.
    Cell {
        /// Line, from 1.
        line: u64,
        /// Column, from 1.
        column: u64,
    },
    /// An entry of a binary matrix, row and column of the file from 0.
    Entry {
        /// Row of the file, from 0.
        row: usize,
        /// Column of the file, from 0.
        col: usize,
    },
    /// An array of an archive.
    Array(String),
}

impl fmt::Display for FileLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileLocation::File => Ok(()),
            FileLocation::Line(line) => write!(f, ", line {line}"),
            FileLocation::Cell { line, column } => write!(f, ", line {line}, column {column}"),
            FileLocation::Entry { row, col } => {
                write!(f, ", row {row}, column {col} of the file (counting from 0)")
            }
            FileLocation::Array(key) => write!(f, ", array {}", quote(key.as_bytes())),
        }
    }
}

/// An [`Error`] of a parser, before the name of the file is known.
#[derive(Debug)]
pub(crate) enum Fault {
    Malformed { place: FileLocation, what: String, remedy: String },
    Value { place: FileLocation, value: f64 },
    TooLarge { place: FileLocation, what: String, needed: u128, limit: u64 },
    Io(io::Error),
    Matrix(hottopixx::Error),
}

/// Why a compressed stream cannot be read; travels inside an [`io::Error`].
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Corrupt(pub &'static str);

impl Fault {
    /// Something wrong with the file as a whole.
    pub fn file(what: impl Into<String>, remedy: impl Into<String>) -> Fault {
        Fault::Malformed { place: FileLocation::File, what: what.into(), remedy: remedy.into() }
    }

    /// Something wrong with one line.
    pub fn line(line: u64, what: impl Into<String>, remedy: impl Into<String>) -> Fault {
        Fault::Malformed {
            place: FileLocation::Line(line),
            what: what.into(),
            remedy: remedy.into(),
        }
    }

    /// The same, in an array of an archive instead of the file as a whole.
    pub fn in_array(mut self, key: &str) -> Fault {
        if let Fault::Malformed { place, .. } | Fault::TooLarge { place, .. } = &mut self
            && *place == FileLocation::File
        {
            *place = FileLocation::Array(key.to_owned());
        }
        self
    }

    /// The error for a file of the given name.
    pub fn in_file(self, name: &str) -> Error {
        let file = name.to_owned();
        match self {
            Fault::Malformed { place, what, remedy } => {
                Error::Malformed { file, place, what, remedy }
            }
            Fault::Value { place, value } => {
                let (what, remedy) = if value.is_finite() {
                    ("negative", "entries must not be negative; shift or clip the data first")
                } else if value.is_nan() && matches!(place, FileLocation::Entry { .. }) {
                    (
                        "not finite",
                        "entries must be finite; fill or drop missing values, or say --missing observed",
                    )
                } else {
                    // In text that is no table NaN is no number.
                    ("not finite", "entries must be finite; fill or drop missing values first")
                };
                Error::Value { file, place, value, what, remedy }
            }
            Fault::TooLarge { place, what, needed, limit } => {
                Error::TooLarge { file, place, what, needed, limit }
            }
            Fault::Io(source) => match source.get_ref().and_then(|e| e.downcast_ref::<Corrupt>()) {
                Some(Corrupt(what)) => Error::Malformed {
                    file,
                    place: FileLocation::File,
                    what: (*what).to_owned(),
                    remedy: "copy or download the file again".to_owned(),
                },
                None => Error::Read { file, source },
            },
            Fault::Matrix(source) => Error::Matrix { file, source },
        }
    }
}

impl From<io::Error> for Fault {
    fn from(e: io::Error) -> Self {
        Fault::Io(e)
    }
}

impl From<hottopixx::Error> for Fault {
    fn from(e: hottopixx::Error) -> Self {
        Fault::Matrix(e)
    }
}

/// Checks one entry of a matrix: finite and not negative.
pub(crate) fn check_value(value: f64, place: impl FnOnce() -> FileLocation) -> Result<f64, Fault> {
    if value.is_finite() && value >= 0.0 {
        Ok(value)
    } else {
        Err(Fault::Value { place: place(), value })
    }
}

/// What is wrong with JSON. The reason may quote a string of the file whole, however long it is: of one that is long the
/// beginning is told, with the place.
#[doc(hidden)]
pub fn json_fault(error: &serde_json::Error) -> String {
    const LONGEST: usize = 160;
    let reason = error.to_string();
    match reason.char_indices().nth(LONGEST) {
        None => reason,
        Some((end, _)) => {
            format!("{}… at line {} column {}", &reason[..end], error.line(), error.column())
        }
    }
}

/// Text out of a file in quotes: at most 40 characters, nothing that breaks a line or a terminal.
pub(crate) fn quote(bytes: &[u8]) -> String {
    const LONGEST: usize = 40;
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * LONGEST)]);
    let mut out = String::from("\"");
    let mut cut = bytes.len() > 4 * LONGEST;
    for (k, c) in head.chars().enumerate() {
        if k == LONGEST {
            cut = true;
            break;
        }
        match c {
            '"' | '\'' => out.push(c),
            c => out.extend(c.escape_debug()),
        }
    }
    out.push_str(if cut { "…\"" } else { "\"" });
    out
}
