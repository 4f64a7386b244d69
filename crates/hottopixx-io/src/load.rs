//! From a source to a checked matrix: find the format, read, check, transpose.

use crate::budget::Budget;
use crate::error::{Error, Fault, Place};
use crate::format::{Format, KNOWN};
use crate::source::{Body, Source, Stream, display_name};
use crate::{bow, delimited, mtx, names, npy, npz, svmlight};
use hottopixx::matrix::Matrix;
use std::io::{BufReader, Cursor, Read, Seek};
use std::path::Path;

/// How to read.
#[derive(Debug, Clone, Default)]
pub struct LoadOptions {
    /// The format; `None` asks the extension, or the first bytes where there is none.
    pub format: Option<Format>,
    /// Whether to transpose what the format gives (see [`Format`]).
    pub transpose: bool,
    /// Bytes that the matrix may take, with what is needed to build it; `None` allows three quarters
    /// of the machine's memory.
    pub max_bytes: Option<u64>,
    /// Which array of a `.npz` archive to take; `None` takes the one that can be meant.
    pub key: Option<String>,
}

/// A matrix, nonnegative and finite, and the names that came with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The matrix; dense for dense formats, sparse for sparse ones.
    pub matrix: Matrix,
    /// Names of the rows, where the file has them.
    pub row_names: Option<Vec<String>>,
    /// Names of the columns, where the file has them.
    pub col_names: Option<Vec<String>>,
    /// Labels of the samples, in svmlight files that have one number a line as label.
    pub labels: Option<Vec<f64>>,
    /// The format it was read as.
    pub format: Format,
}

/// What a parser returns: the matrix in the order in which the file stores it.
pub(crate) struct Parsed {
    pub matrix: Matrix,
    /// Whether `matrix` is the transpose of the file's.
    pub transposed: bool,
    /// Names of rows and columns of the file's matrix.
    pub row_names: Option<Vec<String>>,
    pub col_names: Option<Vec<String>>,
    pub labels: Option<Vec<f64>>,
}

impl Parsed {
    pub fn new(matrix: impl Into<Matrix>) -> Parsed {
        Parsed {
            matrix: matrix.into(),
            transposed: false,
            row_names: None,
            col_names: None,
            labels: None,
        }
    }

    /// Says that the matrix is the transpose of the file's.
    pub fn transposed(self) -> Parsed {
        Parsed { transposed: true, ..self }
    }

    /// Checks every entry; the place named is one of the file's matrix.
    fn check(&self) -> Result<(), Fault> {
        use hottopixx::Error as E;
        let order = |a, b| if self.transposed { (b, a) } else { (a, b) };
        self.matrix.check_nonnegative().map_err(|e| match e {
            E::Empty { rows, cols } => {
                let (rows, cols) = order(rows, cols);
                Fault::Matrix(E::Empty { rows, cols })
            }
            E::Negative { row, col, value } | E::NotFinite { row, col, value } => {
                let (row, col) = order(row, col);
                Fault::Value { place: Place::Entry { row, col }, value }
            }
            other => Fault::Matrix(other),
        })
    }

    fn finish(self, format: Format, transpose: bool, budget: Budget) -> Result<Loaded, Fault> {
        self.check()?;
        let (mut row_names, mut col_names) = (self.row_names, self.col_names);
        if transpose {
            std::mem::swap(&mut row_names, &mut col_names);
        }
        let mut matrix = self.matrix;
        if self.transposed != transpose {
            check_transpose(&matrix, budget)?;
            matrix = matrix.transpose();
        }
        Ok(Loaded { matrix, row_names, col_names, labels: self.labels, format })
    }
}

/// For a moment there are two copies of a matrix that is transposed.
fn check_transpose(matrix: &Matrix, budget: Budget) -> Result<(), Fault> {
    match matrix {
        Matrix::Dense(m) => {
            let (rows, cols) = (m.rows(), m.cols());
            budget.check(m.values().len() as u128 * 16, Place::File, || {
                format!("turning a matrix of {rows} x {cols} by rows")
            })
        }
        Matrix::Sparse(m) => budget.entries(m.values().len() as u64, Place::File),
    }
}

/// Reads a matrix from a file or from standard input.
///
/// # Errors
/// An [`Error`] that names the file, the place in it and the remedy: the file cannot be opened, its
/// format is unknown, its bytes are not of that format, an entry is negative or not finite, or the
/// matrix would take more than [`LoadOptions::max_bytes`].
pub fn load(source: &Source, options: &LoadOptions) -> Result<Loaded, Error> {
    let stream = Stream::open(source)?;
    let path = source.as_path();
    let named = options.format.or_else(|| path.and_then(Format::from_path));
    let mut loaded = parse(stream, &source.name(), named, path, options)?;
    if loaded.format == Format::BagOfWords
        && let Some(vocabulary) = path.and_then(names::vocabulary_beside)
    {
        let names = names::read_names(&vocabulary)?;
        let words = if options.transpose { loaded.matrix.cols() } else { loaded.matrix.rows() };
        names::check_count(&vocabulary, names.len(), words)?;
        *(if options.transpose { &mut loaded.col_names } else { &mut loaded.row_names }) =
            Some(names);
    }
    Ok(loaded)
}

/// Reads a matrix from any stream of bytes, compressed or not; `name` is what messages call it.
///
/// ```
/// use hottopixx_io::{LoadOptions, read};
/// let text = "%%MatrixMarket matrix coordinate real general\n2 3 1\n2 3 7.5\n";
/// let loaded = read(text.as_bytes(), "text", &LoadOptions::default())?;
/// assert_eq!((loaded.matrix.rows(), loaded.matrix.cols()), (2, 3));
/// # Ok::<(), hottopixx_io::Error>(())
/// ```
///
/// # Errors
/// As [`load`]; without [`LoadOptions::format`], only npy, npz and Matrix Market are recognised.
pub fn read(reader: impl Read, name: &str, options: &LoadOptions) -> Result<Loaded, Error> {
    let stream =
        Stream::new(Body::Other(Box::new(reader)), None).map_err(|fault| fault.in_file(name))?;
    parse(stream, name, options.format, None, options)
}

fn parse(
    stream: Stream<'_>,
    name: &str,
    named: Option<Format>,
    path: Option<&Path>,
    options: &LoadOptions,
) -> Result<Loaded, Error> {
    if stream.head.is_empty() {
        return Err(Error::Empty { file: name.to_owned() });
    }
    let format = match named {
        Some(format) => format,
        None => recognise(&stream.head, path, name)?,
    };
    let budget = Budget::new(options.max_bytes);
    parse_as(format, stream, options, budget)
        .and_then(|parsed| parsed.finish(format, options.transpose, budget))
        .map_err(|fault| fault.in_file(name))
}

/// The first bytes decide only where there is no extension that could say otherwise.
fn recognise(head: &[u8], path: Option<&Path>, name: &str) -> Result<Format, Error> {
    let extension = path.and_then(Path::extension);
    if extension.is_none()
        && let Some(format) = Format::from_bytes(head)
    {
        return Ok(format);
    }
    let what = match extension {
        Some(extension) => {
            format!("the extension .{} is not a known format", display_name(Path::new(extension)))
        }
        None => "the format cannot be told from the first bytes".to_owned(),
    };
    Err(Error::UnknownFormat { file: name.to_owned(), what, remedy: KNOWN.to_owned() })
}

fn parse_as(
    format: Format,
    stream: Stream<'_>,
    options: &LoadOptions,
    budget: Budget,
) -> Result<Parsed, Fault> {
    let length = stream.length;
    match format {
        Format::Npy => npy::read(stream.into_reader(), length, budget),
        Format::Npz => match stream {
            Stream { body: Body::File(mut file), .. } => {
                file.rewind()?;
                npz::read(BufReader::new(file), options.key.as_deref(), budget)
            }
            other => {
                let bytes = slurp(other.into_reader(), budget)?;
                npz::read(Cursor::new(bytes), options.key.as_deref(), budget)
            }
        },
        Format::MatrixMarket => mtx::read(stream.into_reader(), budget),
        Format::Csv => delimited::read(stream.into_reader(), b',', budget),
        Format::Tsv => delimited::read(stream.into_reader(), b'\t', budget),
        Format::SvmLight => svmlight::read(stream.into_reader(), budget),
        Format::BagOfWords => bow::read(stream.into_reader(), budget),
    }
}

/// The whole stream in memory, for an archive that cannot be rewound.
fn slurp(reader: impl Read, budget: Budget) -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::new();
    reader.take(budget.limit().saturating_add(1)).read_to_end(&mut bytes)?;
    budget.check(bytes.len() as u128, Place::File, || "the archive".to_owned())?;
    Ok(bytes)
}
