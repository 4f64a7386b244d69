//! Sizes of a matrix from the first bytes of its file, without reading the rest.

use crate::error::Fault;
use crate::format::Format;
use crate::load::{LoadOptions, format_of};
use crate::map;
use crate::npy::{Dtype, NumberKind};
use crate::source::{Body, Source, Stream};
use crate::{bow, hpx, mtx, npy, npz};
use std::io::{BufReader, Seek};

/// What a file promises. Nothing is checked: the numbers may be absurd.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileHeader {
    /// The format.
    pub format: Format,
    /// Rows of the matrix as it would be loaded.
    pub rows: u64,
    /// Columns of the matrix as it would be loaded.
    pub cols: u64,
    /// Stored entries of a sparse matrix, at most; `None` for a dense one, where only reading tells.
    pub nonzeros: Option<u64>,
    /// Whether every entry is stored.
    pub dense: bool,
    /// Bytes that the matrix takes once it is loaded; in the file, if it is mapped.
    pub bytes: u64,
    /// Whether it would be mapped, and so takes no memory of its own.
    pub mapped: bool,
}

/// Sizes as the file states them, before they are turned.
pub(crate) struct Sizes {
    pub rows: u64,
    pub cols: u64,
    /// Stored entries of a sparse matrix.
    pub stored: Option<u64>,
}

/// The sizes that the header of a file states: for npy, npz, Matrix Market, bags of words and hpx.
/// `None` for tables and svmlight, whose size only reading tells, for standard input and for files
/// that cannot be opened or whose header is broken; [`crate::load`] says what is wrong.
pub fn peek(source: &Source, options: &LoadOptions) -> Option<FileHeader> {
    let path = source.as_path().filter(|path| path.is_file())?;
    let stream = Stream::open(source).ok()?;
    let named = options.format.or_else(|| Format::from_path(path));
    let format = format_of(&stream, "", named, Some(path)).ok()?;
    let plain = matches!(stream.body, Body::File(_));
    let (sizes, as_stored) = sizes(stream, format, options).ok()??;
    let (rows, cols) = if options.transpose != (format == Format::BagOfWords) {
        (sizes.cols, sizes.rows)
    } else {
        (sizes.rows, sizes.cols)
    };
    let bytes = match sizes.stored {
        None => rows.saturating_mul(cols).saturating_mul(8),
        Some(stored) => stored.saturating_mul(12).saturating_add(rows.saturating_mul(8)),
    };
    let mapped =
        map::NATIVE && plain && as_stored.is_some_and(|turned| turned == options.transpose);
    let dense = sizes.stored.is_none();
    Some(FileHeader { format, rows, cols, nonzeros: sizes.stored, dense, bytes, mapped })
}

/// The sizes, and for numbers that can be mapped whether they are stored by columns.
fn sizes(
    stream: Stream<'_>,
    format: Format,
    options: &LoadOptions,
) -> Result<Option<(Sizes, Option<bool>)>, Fault> {
    let lines = |layout: &crate::coordinate::Layout| Sizes {
        rows: layout.sizes[0],
        cols: layout.sizes[1],
        stored: Some(layout.most()),
    };
    Ok(match format {
        Format::Npy => {
            let header = npy::NpyHeader::read(&mut stream.into_reader())?;
            let (rows, cols) = header.matrix_shape()?;
            let native = Dtype { kind: NumberKind::Float, size: 8, big_endian: false };
            let turned = (header.dtype()? == native).then_some(header.fortran_order);
            Some((Sizes { rows, cols, stored: None }, turned))
        }
        Format::Npz => {
            let Body::File(mut file) = stream.body else { return Ok(None) };
            file.rewind()?;
            Some((npz::peek(BufReader::new(file), options.key.as_deref())?, None))
        }
        Format::MatrixMarket => Some((
            match mtx::open(stream.into_reader())? {
                mtx::Opened::Coordinate(_, layout) => lines(&layout),
                mtx::Opened::Array(mut rest, _) => {
                    let (rows, cols) = mtx::array_shape(&mut rest)?;
                    Sizes { rows, cols, stored: None }
                }
            },
            None,
        )),
        Format::BagOfWords => Some((lines(&bow::open(stream.into_reader())?.1), None)),
        Format::Hpx => {
            let mut start = [0; hpx::SIZE];
            let found = npy::fill(&mut stream.into_reader(), &mut start)?;
            let (header, _) = hpx::HpxHeader::decode(&start[..found])?;
            let stored = header.sparse.then_some(header.stored);
            Some((Sizes { rows: header.rows, cols: header.cols, stored }, Some(false)))
        }
        Format::Csv | Format::Tsv | Format::SvmLight => None,
    })
}
