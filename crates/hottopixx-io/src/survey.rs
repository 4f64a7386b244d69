//! What a file holds, without judging it: sizes, names, layout, and what its numbers are like.
//!
//! Unlike [`crate::load`], negative and missing entries are counted instead of refused, where the
//! format lets them through (tables, npy, npz, hpx). A matrix that takes more than a limit is not
//! read: the header tells its sizes ([`crate::peek`]), and of a table the first lines.

use crate::budget::Budget;
use crate::error::Error;
use crate::format::Format;
use crate::load::{LoadOptions, Loaded, format_of, names_of_words, parse_as};
use crate::peek::{FileHeader, peek};
use crate::source::{Source, Stream};
use crate::table::{self, Detected, Entries, TableLayout};
use hottopixx::matrix::Matrix;

/// What a file holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Survey {
    /// The format.
    pub format: Format,
    /// Rows and columns of the matrix as it would be loaded; of a table that was not read to its end
    /// the rows are an estimate, and `None` where there is nothing to go by.
    pub shape: Option<(u64, u64)>,
    /// Whether the shape is estimated.
    pub estimated: bool,
    /// Whether every entry is stored.
    pub dense: bool,
    /// Bytes that the matrix takes once it is loaded.
    pub bytes: Option<u64>,
    /// Whether it is used in the file where it is.
    pub mapped: bool,
    /// Names of the rows as it would be loaded.
    pub row_names: Option<Vec<String>>,
    /// Names of the columns.
    pub col_names: Option<Vec<String>>,
    /// Whether there is a label for each sample.
    pub labels: bool,
    /// How a table is read.
    pub table: Option<TableLayout>,
    /// The first rows of a table, as text.
    pub first_rows: Vec<Vec<String>>,
    /// What the numbers are like; `None` where they were not read.
    pub numbers: Option<Numbers>,
}

/// What the numbers of a matrix are like, in the orientation in which it would be loaded.
#[derive(Debug, Clone, PartialEq)]
pub struct Numbers {
    /// Entries that are not zero.
    pub nonzeros: u64,
    /// Negative entries.
    pub negative: u64,
    /// Missing entries (NaN).
    pub missing: u64,
    /// Infinite entries.
    pub infinite: u64,
    /// Whether all are whole numbers.
    pub whole: bool,
    /// The smallest and the largest finite one.
    pub range: (f64, f64),
    /// Rows with a missing entry.
    pub incomplete_rows: usize,
    /// Columns with a missing entry.
    pub incomplete_cols: usize,
    /// Rows of zeros.
    pub zero_rows: usize,
    /// Columns of zeros.
    pub zero_cols: usize,
    /// How unequal rows are in their numbers of entries that are not zero: deviation over mean.
    pub row_spread: f64,
    /// The same of columns.
    pub col_spread: f64,
    /// How far the sums of rows are apart, in powers of e: deviation of their logarithms.
    pub row_scale: f64,
    /// The same of columns.
    pub col_scale: f64,
}

/// Rows of a table that are shown.
const SHOWN: usize = 4;

/// Looks at a file; one whose matrix takes more than `limit` bytes is not read as a whole.
///
/// # Errors
/// As [`crate::load`], but for entries that are negative, missing or infinite.
pub fn survey(source: &Source, options: &LoadOptions, limit: u64) -> Result<Survey, Error> {
    let path = source.as_path();
    let stream = Stream::open(source)?;
    let name = source.name();
    let named = options.format.or_else(|| path.and_then(Format::from_path));
    let format = format_of(&stream, &name, named, path)?;
    let header = peek(source, options);
    let length = stream.length;
    let budget = Budget::new(options.max_bytes);
    // A pipe can be opened once only.
    let detected = match path.filter(|path| format.is_table() && path.is_file()) {
        None => None,
        Some(_) => {
            let again = Stream::open(source)?.into_reader();
            let found = table::detect(again, format, &options.table, budget, SHOWN);
            Some(found.map_err(|fault| fault.in_file(&name))?)
        }
    };
    let large = match (&header, length) {
        (Some(header), _) => header.bytes.saturating_add(counting(header)) > limit,
        (None, Some(length)) => length > limit,
        // A pipe or a compressed file is read to its end or to the limit.
        (None, None) => false,
    };
    if large {
        return Ok(unread(format, header, detected, length, options));
    }
    if let Some(header) = &header {
        let place = crate::error::FileLocation::File;
        let what = || format!("a matrix of {} x {}", header.rows, header.cols);
        let checked = budget.check(u128::from(counting(header)), place, what);
        checked.map_err(|fault| fault.in_file(&name))?;
    }
    let parsed = if format.is_table() {
        table::read(stream.into_reader(), format, &options.table, budget, Entries::Any)
    } else {
        parse_as(format, stream, options, budget)
    };
    let loaded = parsed.and_then(|parsed| {
        let matrix = parsed.turned(options.transpose, budget)?;
        Ok(parsed.into_loaded(matrix, format, options.transpose))
    });
    let mut loaded = loaded.map_err(|fault| fault.in_file(&name))?;
    names_of_words(&mut loaded, path, options)?;
    Ok(of_matrix(loaded, header, detected))
}

/// Bytes of what is counted per row and column.
fn counting(header: &FileHeader) -> u64 {
    header.rows.saturating_add(header.cols).saturating_mul(32)
}

fn of_matrix(loaded: Loaded, header: Option<FileHeader>, detected: Option<Detected>) -> Survey {
    let matrix = &loaded.matrix;
    Survey {
        format: loaded.format,
        shape: Some((matrix.rows() as u64, matrix.cols() as u64)),
        estimated: false,
        dense: matches!(matrix, Matrix::Dense(_)),
        bytes: Some(hottopixx::matrix::Shape::from(matrix).bytes()),
        mapped: header.is_some_and(|header| header.mapped),
        numbers: Some(Numbers::of(matrix)),
        row_names: loaded.row_names,
        col_names: loaded.col_names,
        labels: loaded.labels.is_some(),
        table: loaded.table,
        first_rows: detected.map_or_else(Vec::new, |detected| detected.first_rows),
    }
}

/// From the header or the first lines alone.
fn unread(
    format: Format,
    header: Option<FileHeader>,
    detected: Option<Detected>,
    length: Option<u64>,
    options: &LoadOptions,
) -> Survey {
    let mut survey = Survey {
        format,
        shape: header.as_ref().map(|header| (header.rows, header.cols)),
        estimated: false,
        dense: header.as_ref().is_none_or(|header| header.dense) && format != Format::SvmLight,
        bytes: header.as_ref().map(|header| header.bytes),
        mapped: header.as_ref().is_some_and(|header| header.mapped),
        row_names: None,
        col_names: None,
        labels: false,
        table: None,
        first_rows: Vec::new(),
        numbers: None,
    };
    if let Some(detected) = detected {
        let per_row = detected.sample_bytes as f64 / detected.sample_rows.max(1) as f64;
        let rows = length.map(|length| (length as f64 / per_row) as u64);
        let columns = detected.layout.columns as u64;
        survey.shape = rows.map(|rows| (rows, columns));
        survey.bytes = rows.map(|rows| rows.saturating_mul(columns).saturating_mul(8));
        survey.estimated = !detected.whole;
        survey.table = Some(detected.layout);
        survey.first_rows = detected.first_rows;
        if options.transpose {
            survey.shape = survey.shape.map(|(rows, columns)| (columns, rows));
        }
    }
    survey
}

impl Numbers {
    /// One pass over the matrix.
    fn of(matrix: &Matrix) -> Numbers {
        let (rows, cols) = (matrix.rows(), matrix.cols());
        let mut row_entries = vec![0u64; rows];
        let mut col_entries = vec![0u64; cols];
        let (mut row_sums, mut col_sums) = (vec![0.0; rows], vec![0.0; cols]);
        let mut incomplete = vec![false; cols];
        let mut out = Numbers {
            nonzeros: 0,
            negative: 0,
            missing: 0,
            infinite: 0,
            whole: true,
            range: (f64::INFINITY, f64::NEG_INFINITY),
            incomplete_rows: 0,
            incomplete_cols: 0,
            zero_rows: 0,
            zero_cols: 0,
            row_spread: 0.0,
            col_spread: 0.0,
            row_scale: 0.0,
            col_scale: 0.0,
        };
        for i in 0..rows {
            let missing = out.missing;
            for (k, value) in matrix.row(i).nonzeros() {
                row_entries[i] += 1;
                col_entries[k] += 1;
                out.take(value);
                if value.is_finite() {
                    row_sums[i] += value.abs();
                    col_sums[k] += value.abs();
                }
                incomplete[k] |= value.is_nan();
            }
            out.incomplete_rows += usize::from(out.missing > missing);
        }
        if out.nonzeros < rows as u64 * cols as u64 {
            out.range = (out.range.0.min(0.0), out.range.1.max(0.0));
        }
        out.incomplete_cols = incomplete.iter().filter(|missing| **missing).count();
        out.zero_rows = row_entries.iter().filter(|n| **n == 0).count();
        out.zero_cols = col_entries.iter().filter(|n| **n == 0).count();
        out.row_spread = spread(row_entries.iter().map(|n| *n as f64));
        out.col_spread = spread(col_entries.iter().map(|n| *n as f64));
        out.row_scale = scale(&row_sums);
        out.col_scale = scale(&col_sums);
        out
    }

    fn take(&mut self, value: f64) {
        self.nonzeros += 1;
        if value.is_nan() {
            self.missing += 1;
            return;
        }
        self.negative += u64::from(value < 0.0);
        if value.is_infinite() {
            self.infinite += 1;
            return;
        }
        self.whole &= value.fract() == 0.0;
        self.range = (self.range.0.min(value), self.range.1.max(value));
    }
}

/// Standard deviation over mean.
fn spread(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = values.clone().count().max(1) as f64;
    let mean = values.clone().sum::<f64>() / count;
    let variance = values.map(|v| (v - mean).powi(2)).sum::<f64>() / count;
    if mean > 0.0 { variance.sqrt() / mean } else { 0.0 }
}

/// Standard deviation of the logarithms of the positive ones.
fn scale(values: &[f64]) -> f64 {
    let logs: Vec<f64> = values.iter().filter(|v| **v > 0.0).map(|v| v.ln()).collect();
    let count = logs.len().max(1) as f64;
    let mean = logs.iter().sum::<f64>() / count;
    (logs.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / count).sqrt()
}
