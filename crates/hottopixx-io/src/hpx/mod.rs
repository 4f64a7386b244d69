//! `.hpx`, our own binary format: a matrix as it is in memory, with its names, ready to be mapped.
//!
//! A file on disk is mapped and its numbers are used where they are (see [`crate::map`]); a
//! compressed or piped one is read. Either way everything is checked: the header against itself and
//! against the length of the file, where rows begin, that columns exist and increase, and (by the
//! loader, as for every format) that entries are finite and not negative.

mod header;
mod write;

pub(crate) use header::{FileIdentity, Hash, HpxHeader, MAGIC, Origin, SIZE, Sections};
pub(crate) use write::Contents;

use crate::budget::Budget;
use crate::error::{Fault, FileLocation};
use crate::load::Parsed;
use crate::map::Map;
use crate::npy::{Dtype, NumberKind, decode, fill, read_numbers};
use crate::source::{Body, Stream};
use header::{Section, fault};
use hottopixx::matrix::{Buffer, Dense, Matrix, Sparse};
use std::fs::File;
use std::io::Read;
use std::sync::Arc;

/// Reads or maps one file.
pub(crate) fn read(stream: Stream<'_>, budget: Budget) -> Result<Parsed, Fault> {
    if let Body::File(file) = &stream.body
        && let Some(map) = Map::new(file)
    {
        let (header, sections) = HpxHeader::decode(map.bytes())?;
        return mapped(&map, &header, &sections, budget);
    }
    stored(stream.into_reader(), budget)
}

/// The matrix of a cache whose origin is as `is_same` wants it; `None` for any other file.
pub(crate) fn fetch(
    file: File,
    is_same: impl FnOnce(&Origin) -> bool,
    budget: Budget,
) -> Result<Option<Parsed>, Fault> {
    let mut start = [0; SIZE];
    let found = fill(&mut &file, &mut start)?;
    let (header, _) = HpxHeader::decode(&start[..found])?;
    if !header.origin.as_ref().is_some_and(is_same) {
        return Ok(None);
    }
    let length = file.metadata()?.len();
    let head = start[..found].to_vec();
    read(Stream { head, body: Body::File(file), length: Some(length) }, budget).map(Some)
}

/// Rows and columns that take less are never refused: a mapped matrix takes no memory of its own.
const EVERYBODY_HAS: u128 = 64 << 20;

/// Checks sizes of names, which are copied whatever becomes of the numbers, and of the matrix itself.
fn check_sizes(header: &HpxHeader, budget: Budget) -> Result<(), Fault> {
    let mut needed = u128::from(header.labels.unwrap_or(0)) * 8;
    for (bytes, count) in [(header.row_names, header.rows), (header.col_names, header.cols)] {
        let Some(bytes) = bytes else { continue };
        if bytes / 4 < count {
            return Err(fault("there are fewer names than rows or columns"));
        }
        // Short names take more than their letters.
        needed += u128::from(bytes) + u128::from(count) * Budget::text(1);
    }
    // Whoever works with the matrix takes some numbers for every row and column, whatever is stored.
    let lines = (u128::from(header.rows) + u128::from(header.cols)) * 16;
    if header.sparse && lines > EVERYBODY_HAS {
        budget.sparse(header.rows, header.cols, FileLocation::File)?;
    }
    if header.labels.is_some_and(|labels| labels != header.rows && labels != header.cols) {
        return Err(fault("the number of labels is not that of the samples"));
    }
    budget.check(needed, FileLocation::File, || "the names".to_owned())
}

/// The matrix where it is in the map.
fn mapped(
    map: &Arc<Map>,
    header: &HpxHeader,
    at: &Sections,
    budget: Budget,
) -> Result<Parsed, Fault> {
    let found = map.bytes().len() as u64;
    if found != at.total {
        return Err(fault(format!("the file has {found} bytes where {} belong", at.total)));
    }
    check_sizes(header, budget)?;
    let (rows, cols) = crate::budget::sizes(header.rows, header.cols, FileLocation::File)?;
    let outside = || fault("a section is outside the file");
    let section = |s: Section| -> Result<&[u8], Fault> {
        let span = s.begin as usize..(s.begin + s.length) as usize;
        map.bytes().get(span).ok_or_else(outside)
    };
    let values = map.numbers(at.values.begin, header.stored).ok_or_else(outside)?;
    let matrix = if header.sparse {
        let starts = map.numbers(at.starts.begin, header.rows + 1).ok_or_else(outside)?;
        let columns = map.numbers(at.columns.begin, header.stored).ok_or_else(outside)?;
        sparse(rows, cols, starts, columns, values)?
    } else {
        Dense::from_buffer(rows, cols, values)?.into()
    };
    let mut parsed = Parsed::new(matrix).mapped();
    let names = |s: Section, is: Option<u64>, count: usize| match is {
        Some(_) => names(section(s)?, count).map(Some),
        None => Ok(None),
    };
    parsed.row_names = names(at.row_names, header.row_names, rows)?;
    parsed.col_names = names(at.col_names, header.col_names, cols)?;
    if header.labels.is_some() {
        parsed.labels = Some(labels(section(at.labels)?)?);
    }
    Ok(parsed)
}

fn sparse(
    rows: usize,
    cols: usize,
    starts: Buffer<usize>,
    columns: Buffer<u32>,
    values: Buffer<f64>,
) -> Result<Matrix, Fault> {
    use hottopixx::Error as E;
    let matrix = Sparse::from_sorted_buffers(rows, cols, starts, columns, values);
    Ok(matrix
        .map_err(|e| match e {
            E::Shape { .. } => fault("it does not say where each row begins"),
            E::IndexOutOfRange { row, col, .. } => {
                fault(format!("column {col} of row {row} does not exist"))
            }
            E::Order { row } => fault(format!("the columns of row {row} do not increase")),
            other => Fault::Matrix(other),
        })?
        .into())
}

/// `count` names: the length of each, then its bytes.
fn names(mut bytes: &[u8], count: usize) -> Result<Vec<String>, Fault> {
    let broken = || fault("the names are damaged");
    let mut out = Vec::new();
    for _ in 0..count {
        let (length, rest) = bytes.split_first_chunk::<4>().ok_or_else(broken)?;
        let length = u32::from_le_bytes(*length) as usize;
        let (name, rest) = rest.split_at_checked(length).ok_or_else(broken)?;
        out.push(std::str::from_utf8(name).map_err(|_| broken())?.to_owned());
        bytes = rest;
    }
    if bytes.is_empty() { Ok(out) } else { Err(broken()) }
}

fn labels(bytes: &[u8]) -> Result<Vec<f64>, Fault> {
    let mut out = Vec::new();
    decode(dtype(NumberKind::Float, 8), bytes, &mut out);
    Ok(out)
}

fn dtype(kind: NumberKind, size: usize) -> Dtype {
    Dtype { kind, size, big_endian: false }
}

/// The same from a stream, where nothing is known about what follows.
fn stored(reader: impl Read, budget: Budget) -> Result<Parsed, Fault> {
    let mut stream = Counted { reader, at: 0 };
    let mut start = [0; SIZE];
    let found = fill(&mut stream, &mut start)?;
    let (header, at) = HpxHeader::decode(&start[..found])?;
    check_sizes(&header, budget)?;
    let (rows, cols) = crate::budget::sizes(header.rows, header.cols, FileLocation::File)?;
    budget.check(u128::from(at.total), FileLocation::File, || {
        format!("a matrix of {rows} x {cols} with {} entries", header.stored)
    })?;
    let (mut starts, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
    if header.sparse {
        stream.go_to(at.starts)?;
        read_numbers(&mut stream, dtype(NumberKind::Unsigned, 8), header.rows + 1, |bytes| {
            // What does not fit is larger than the number of entries, and is refused for that.
            starts.extend(
                words::<8>(bytes)
                    .map(|b| usize::try_from(u64::from_le_bytes(b)).unwrap_or(usize::MAX)),
            );
            Ok(())
        })?;
        stream.go_to(at.columns)?;
        read_numbers(&mut stream, dtype(NumberKind::Unsigned, 4), header.stored, |bytes| {
            columns.extend(words::<4>(bytes).map(u32::from_le_bytes));
            Ok(())
        })?;
    }
    stream.go_to(at.values)?;
    read_numbers(&mut stream, dtype(NumberKind::Float, 8), header.stored, |bytes| {
        decode(dtype(NumberKind::Float, 8), bytes, &mut values);
        Ok(())
    })?;
    let mut parsed = Parsed::new(if header.sparse {
        sparse(rows, cols, starts.into(), columns.into(), values.into())?
    } else {
        Dense::new(rows, cols, values)?.into()
    });
    let row_names = stream.section(at.row_names)?;
    parsed.row_names = header.row_names.map(|_| names(&row_names, rows)).transpose()?;
    let col_names = stream.section(at.col_names)?;
    parsed.col_names = header.col_names.map(|_| names(&col_names, cols)).transpose()?;
    let bytes = stream.section(at.labels)?;
    parsed.labels = header.labels.map(|_| labels(&bytes)).transpose()?;
    if fill(&mut stream, &mut [0])? > 0 {
        return Err(fault(format!("the file has more bytes than the {} that belong", at.total)));
    }
    Ok(parsed)
}

fn words<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> + '_ {
    bytes.as_chunks::<N>().0.iter().copied()
}

/// A reader that knows where it is.
struct Counted<R> {
    reader: R,
    at: u64,
}

impl<R: Read> Counted<R> {
    /// Skips what lies before a section.
    fn go_to(&mut self, section: Section) -> Result<(), Fault> {
        let gap = section.begin.saturating_sub(self.at).min(64) as usize;
        let found = fill(self, &mut [0; 64][..gap])?;
        if found < gap { Err(fault("the file is truncated")) } else { Ok(()) }
    }

    /// All bytes of a section; memory grows by what arrives.
    fn section(&mut self, section: Section) -> Result<Vec<u8>, Fault> {
        self.go_to(section)?;
        let mut bytes = Vec::new();
        self.take(section.length).read_to_end(&mut bytes)?;
        if (bytes.len() as u64) < section.length {
            return Err(fault("the file is truncated"));
        }
        Ok(bytes)
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let found = self.reader.read(buffer)?;
        self.at += found as u64;
        Ok(found)
    }
}
