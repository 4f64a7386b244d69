//! From a source to a checked matrix: find the format, read, check, transpose.

use crate::budget::Budget;
use crate::cache::{Cache, CacheUse, Facts, Keeper};
use crate::error::{Error, Fault, FileLocation};
use crate::format::{Format, KNOWN};
use crate::source::{Body, Source, Stream, display_name};
use crate::table::{self, Aside, Entries, Missing, TableColumn, TableLayout, TableOptions};
use crate::{bow, external, hpx, mtx, names, npy, npz, svmlight};
use hottopixx::matrix::Matrix;
use std::io::{BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

/// How to read.
#[derive(Debug, Clone, Default)]
pub struct LoadOptions {
    /// The format; `None` asks the extension, or the first bytes where there is none.
    pub format: Option<Format>,
    /// Whether to transpose what the format gives (see [`Format`]).
    pub transpose: bool,
    /// Bytes that the matrix may take, with what is needed to build it; `None` allows three quarters
    /// of the machine's memory. A matrix in a mapped file takes none, since the operating system can
    /// read its pages again.
    pub max_bytes: Option<u64>,
    /// Which array of a `.npz` archive to take; `None` takes the one that can be meant.
    pub key: Option<String>,
    /// Whether text files are kept as `.hpx` for the next time; only [`load`] heeds it.
    pub cache: Cache,
    /// How tables are read.
    pub table: TableOptions,
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
    /// Labels of the samples, in svmlight files that have one number per line as label.
    pub labels: Option<Vec<f64>>,
    /// The format it was read as.
    pub format: Format,
    /// What became of the cache.
    pub cache: CacheUse,
    /// How a table was read.
    pub table: Option<TableLayout>,
}

/// What a parser returns: the matrix in the order in which the file stores it.
pub(crate) struct Parsed {
    pub matrix: Matrix,
    /// Whether `matrix` is the transpose of the file's.
    pub transposed: bool,
    /// Whether the matrix is part of a mapped file.
    pub mapped: bool,
    /// Names of rows and columns of the file's matrix.
    pub row_names: Option<Vec<String>>,
    pub col_names: Option<Vec<String>>,
    pub labels: Option<Vec<f64>>,
    /// How a table was read.
    pub table: Option<TableLayout>,
}

/// Whether all entries are numbers that can be used, or may be missing.
fn check(matrix: &Matrix, missing: Missing) -> Result<(), hottopixx::Error> {
    match missing {
        Missing::Observed => matrix.check_observed(),
        _ => matrix.check_nonnegative(),
    }
}

impl Parsed {
    pub fn new(matrix: impl Into<Matrix>) -> Parsed {
        Parsed {
            matrix: matrix.into(),
            transposed: false,
            mapped: false,
            row_names: None,
            col_names: None,
            labels: None,
            table: None,
        }
    }

    /// Says that the matrix is the transpose of the file's.
    pub fn transposed(self) -> Parsed {
        Parsed { transposed: true, ..self }
    }

    /// Says that the matrix is part of a mapped file.
    pub fn mapped(self) -> Parsed {
        Parsed { mapped: true, ..self }
    }

    /// Checks every entry; the place named is one of the file's matrix.
    fn check(&self, missing: Missing) -> Result<(), Fault> {
        use hottopixx::Error as E;
        let order = |a, b| if self.transposed { (b, a) } else { (a, b) };
        check(&self.matrix, missing).map_err(|e| match e {
            E::Empty { rows, cols } => {
                let (rows, cols) = order(rows, cols);
                Fault::Matrix(E::Empty { rows, cols })
            }
            E::Negative { row, col, value } | E::NotFinite { row, col, value } => {
                let (row, col) = order(row, col);
                Fault::Value { place: FileLocation::Entry { row, col }, value }
            }
            other => Fault::Matrix(other),
        })
    }

    /// Checks every entry but for its sign.
    fn check_finite(&self) -> Result<(), Fault> {
        let (rows, cols) = (self.matrix.rows(), self.matrix.cols());
        for i in 0..rows {
            let mut entries = self.matrix.row(i).nonzeros();
            if let Some((k, value)) = entries.find(|(_, value)| !value.is_finite()) {
                let (row, col) = if self.transposed { (k, i) } else { (i, k) };
                return Err(Fault::Value { place: FileLocation::Entry { row, col }, value });
            }
        }
        if rows == 0 || cols == 0 {
            return Err(Fault::Matrix(hottopixx::Error::Empty { rows, cols }));
        }
        Ok(())
    }

    /// Turns the matrix as asked and checks its entries: in this order, because what the check learns of
    /// the rows is kept with the matrix for the steps that follow. Only what is wrong is looked for in
    /// the order of the file.
    pub fn finish(
        self,
        format: Format,
        transpose: bool,
        missing: Missing,
        budget: Budget,
    ) -> Result<Loaded, Fault> {
        let turned = self.turned(transpose, budget);
        let good = |matrix: &Matrix| check(matrix, missing).is_ok();
        if !turned.as_ref().is_ok_and(good) {
            self.check(missing)?;
        }
        Ok(self.into_loaded(turned?, format, transpose))
    }

    /// The matrix turned as asked.
    pub fn turned(&self, transpose: bool, budget: Budget) -> Result<Matrix, Fault> {
        if self.transposed == transpose {
            return Ok(self.matrix.clone());
        }
        check_transpose(&self.matrix, self.mapped, budget)?;
        Ok(self.matrix.transpose())
    }

    /// What is loaded, with the matrix as it was turned.
    pub fn into_loaded(self, matrix: Matrix, format: Format, transpose: bool) -> Loaded {
        let (mut row_names, mut col_names) = (self.row_names, self.col_names);
        if transpose {
            std::mem::swap(&mut row_names, &mut col_names);
        }
        let (labels, table) = (self.labels, self.table);
        Loaded { matrix, row_names, col_names, labels, format, cache: CacheUse::Unused, table }
    }
}

/// For a moment there are two copies of a matrix that is transposed; one in a mapped file is free.
fn check_transpose(matrix: &Matrix, mapped: bool, budget: Budget) -> Result<(), Fault> {
    let (rows, cols) = (matrix.rows(), matrix.cols());
    let what = || format!("turning a matrix of {rows} x {cols} by rows");
    let copies = if mapped { 1 } else { 2 };
    let needed = match matrix {
        Matrix::Dense(m) => m.values().len() as u128 * 8,
        Matrix::Sparse(m) => m.values().len() as u128 * 12 + cols as u128 * 8,
    };
    budget.check(needed * copies, FileLocation::File, what)
}

/// Reads a matrix from a file or from standard input.
///
/// # Errors
/// An [`Error`] that names the file, the place in it and the remedy: the file cannot be opened, its
/// format is unknown, its bytes are not of that format, an entry is negative or not finite, or the
/// matrix would take more than [`LoadOptions::max_bytes`].
pub fn load(source: &Source, options: &LoadOptions) -> Result<Loaded, Error> {
    let path = source.as_path();
    let named = options.format.or_else(|| source.named().and_then(Format::from_path));
    let kept = options.cache != Cache::Off && named.is_none_or(Format::is_text);
    // Before it is opened: what changes from here on makes a cache worthless.
    let facts = path.filter(|_| kept).and_then(Facts::of);
    let stream = Stream::open(source)?;
    let name = source.name();
    let format = format_of(&stream, &name, named, source.named())?;
    let budget = Budget::new(options.max_bytes);
    let keeper = path.zip(facts).and_then(|(p, facts)| Keeper::new(p, facts, format, options));
    let mut loaded = match keeper.as_ref().and_then(|keeper| keeper.fetch(budget)) {
        Some(mut loaded) => {
            // A cache holds the matrix; how its table was read is told from the first lines.
            loaded.table = layout_of(stream, &loaded, options, budget);
            loaded
        }
        None => {
            let parsed = parse_as(format, stream, options, budget).and_then(|parsed| {
                parsed.finish(format, options.transpose, options.table.missing, budget)
            });
            keep(parsed, path.zip(keeper.as_ref()), format, options, budget)
                .map_err(|fault| fault.in_file(&name))?
        }
    };
    names_of_words(&mut loaded, path, options)?;
    Ok(loaded)
}

/// Gives a bag of words the names of the vocabulary beside it.
pub(crate) fn names_of_words(
    loaded: &mut Loaded,
    path: Option<&Path>,
    options: &LoadOptions,
) -> Result<(), Error> {
    if loaded.format == Format::BagOfWords
        && let Some(vocabulary) = path.and_then(names::vocabulary_beside)
    {
        let names = names::read_names(&vocabulary, options.max_bytes)?;
        let words = if options.transpose { loaded.matrix.cols() } else { loaded.matrix.rows() };
        names::check_count(&vocabulary, names.len(), words)?;
        *(if options.transpose { &mut loaded.col_names } else { &mut loaded.row_names }) =
            Some(names);
    }
    Ok(())
}

/// Reads a matrix whose entries may be negative, such as the dual of a certificate; else as [`load`].
/// Nothing is kept.
///
/// # Errors
/// As [`load`], but for negative entries.
pub fn load_signed(source: &Source, options: &LoadOptions) -> Result<Matrix, Error> {
    let path = source.named();
    let stream = Stream::open(source)?;
    let name = source.name();
    let named = options.format.or_else(|| path.and_then(Format::from_path));
    let format = format_of(&stream, &name, named, path)?;
    let budget = Budget::new(options.max_bytes);
    let parsed = parse_as(format, stream, options, budget).and_then(|parsed| {
        parsed.check_finite()?;
        parsed.turned(options.transpose, budget)
    });
    parsed.map_err(|fault| fault.in_file(&name))
}

/// How the table behind a cached matrix was read.
fn layout_of(
    stream: Stream<'_>,
    loaded: &Loaded,
    options: &LoadOptions,
    budget: Budget,
) -> Option<TableLayout> {
    if !loaded.format.is_table() {
        return None;
    }
    let found =
        table::detect(stream.into_reader(), loaded.format, &options.table, budget, 0).ok()?;
    let mut layout = found.layout;
    let (names, columns) = if options.transpose {
        (&loaded.col_names, loaded.matrix.rows())
    } else {
        (&loaded.row_names, loaded.matrix.cols())
    };
    // The first column may have turned out to hold names further down.
    if names.is_some() && layout.index.is_none() {
        let name = found.column_names.and_then(|names| names.into_iter().next());
        layout.index = Some(TableColumn { number: 1, name });
        layout.index_role = Some(Aside::Text);
    }
    layout.columns = columns;
    Some(layout)
}

/// Keeps what has been parsed for the next time; builds it on disk when it was too large.
fn keep(
    parsed: Result<Loaded, Fault>,
    keeper: Option<(&Path, &Keeper)>,
    format: Format,
    options: &LoadOptions,
    budget: Budget,
) -> Result<Loaded, Fault> {
    match (parsed, keeper) {
        (Ok(mut loaded), Some((_, keeper))) => {
            loaded.cache = keeper.store(&loaded);
            Ok(loaded)
        }
        (Err(fault @ Fault::TooLarge { .. }), Some((path, keeper)))
            if external::possible(format) =>
        {
            if !external::build(path, keeper, format, options.transpose, budget)? {
                return Err(fault);
            }
            let cache = CacheUse::Written(keeper.place().to_owned());
            keeper.fetch(budget).map(|loaded| Loaded { cache, ..loaded }).ok_or(fault)
        }
        (parsed, _) => parsed,
    }
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
/// As [`load`]; without [`LoadOptions::format`], only npy, npz, hpx and Matrix Market are recognised.
pub fn read(reader: impl Read, name: &str, options: &LoadOptions) -> Result<Loaded, Error> {
    let stream =
        Stream::new(Body::Other(Box::new(reader)), None).map_err(|fault| fault.in_file(name))?;
    let format = format_of(&stream, name, options.format, None)?;
    let budget = Budget::new(options.max_bytes);
    parse_as(format, stream, options, budget)
        .and_then(|parsed| parsed.finish(format, options.transpose, options.table.missing, budget))
        .map_err(|fault| fault.in_file(name))
}

/// The format as named, else as the first bytes show it.
pub(crate) fn format_of(
    stream: &Stream<'_>,
    name: &str,
    named: Option<Format>,
    path: Option<&Path>,
) -> Result<Format, Error> {
    if stream.head.is_empty() {
        return Err(Error::Empty { file: name.to_owned() });
    }
    match named {
        Some(format) => Ok(format),
        None => recognise(&stream.head, path, name),
    }
}

/// Formats that `hottopixx.read` of the Python package reads.
const OF_PYTHON: [&str; 5] = ["parquet", "h5ad", "h5", "hdf5", "mat"];

/// The first bytes decide only where there is no extension that could say otherwise.
fn recognise(head: &[u8], path: Option<&Path>, name: &str) -> Result<Format, Error> {
    let extension = path.and_then(Path::extension);
    if extension.is_none()
        && let Some(format) = Format::from_bytes(head)
    {
        return Ok(format);
    }
    let of_python = |e: &std::ffi::OsStr| OF_PYTHON.into_iter().find(|o| e.eq_ignore_ascii_case(o));
    if let Some(known) = extension.and_then(of_python) {
        return Err(Error::UnknownFormat {
            file: name.to_owned(),
            what: format!(".{known} files are read by the Python package"),
            remedy: "use hottopixx.read(...) there, or save the matrix as .npy, .npz or .csv"
                .to_owned(),
        });
    }
    let what = match extension {
        Some(extension) => {
            format!("the extension .{} is not a known format", display_name(Path::new(extension)))
        }
        None => "the format cannot be told from the first bytes".to_owned(),
    };
    Err(Error::UnknownFormat { file: name.to_owned(), what, remedy: KNOWN.to_owned() })
}

pub(crate) fn parse_as(
    format: Format,
    stream: Stream<'_>,
    options: &LoadOptions,
    budget: Budget,
) -> Result<Parsed, Fault> {
    match format {
        Format::Npy => npy(stream, budget),
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
        Format::MatrixMarket => mtx::read(stream.into_reader(), options.transpose, budget),
        Format::Csv | Format::Tsv => {
            table::read(stream.into_reader(), format, &options.table, budget, Entries::Checked)
        }
        Format::SvmLight => svmlight::read(stream.into_reader(), budget),
        Format::BagOfWords => bow::read(stream.into_reader(), options.transpose, budget),
        Format::Hpx => hpx::read(stream, budget),
    }
}

/// Mapped where that is possible, else read.
fn npy(mut stream: Stream<'_>, budget: Budget) -> Result<Parsed, Fault> {
    if let Body::File(file) = &mut stream.body {
        if let Some(parsed) = npy::map(file)? {
            return Ok(parsed);
        }
        file.seek(SeekFrom::Start(stream.head.len() as u64))?;
    }
    let length = stream.length;
    npy::read(stream.into_reader(), length, budget)
}

/// The whole stream in memory, for an archive that cannot be rewound.
pub(crate) fn slurp(reader: impl Read, budget: Budget) -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::new();
    reader.take(budget.limit().saturating_add(1)).read_to_end(&mut bytes)?;
    budget.check(bytes.len() as u128, FileLocation::File, || "the archive".to_owned())?;
    Ok(bytes)
}
