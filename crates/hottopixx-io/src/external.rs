//! Matrices that do not fit into memory while they are built: the text is read several times and the
//! `.hpx` file written row by row.
//!
//! The first pass counts the entries of each row. Rows are then taken in bands whose entries fit; a
//! pass over the text gathers those of one band, which are sorted, merged and written behind those of
//! the band before. Memory is two numbers per row and one band, files are written in order, and the
//! result is the same as in memory: repeated places are added in the order of the text.

use crate::budget::Budget;
use crate::cache::Keeper;
use crate::coordinate::{Layout, MatrixEntry, each_piece};
use crate::error::{Error, Fault, FileLocation};
use crate::format::Format;
use crate::hpx::HpxHeader;
use crate::scan::Lines;
use crate::source::{Source, Stream, display_name};
use crate::write::{self, atomic, numbers};
use crate::{bow, mtx};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

/// Bytes an entry takes in a band: column and value.
const ENTRY: u64 = 12;

/// Bytes an entry takes while its row is sorted.
const SORTED: u64 = 16;

/// Whether this module can build matrices of the format.
pub(crate) fn possible(format: Format) -> bool {
    matches!(format, Format::MatrixMarket | Format::BagOfWords)
}

/// Builds the cache of `keeper` from its file; `Ok(false)` for a dense file, which cannot be built
/// this way.
pub(crate) fn build(
    path: &Path,
    keeper: &Keeper,
    format: Format,
    transpose: bool,
    budget: Budget,
) -> Result<bool, Fault> {
    let text = Text { path, format, transpose };
    let Some((_, layout)) = text.open()? else { return Ok(false) };
    let (rows, cols) = layout.shape();
    let (rows, cols) = budget.sparse(rows, cols, FileLocation::Line(layout.shape_at))?;
    let mut starts = text.count(rows)?;
    let bands = bands(&starts, budget, FileLocation::Line(layout.at))?;
    let Some(origin) = keeper.origin() else {
        return Err(Fault::file("the file is changing", "wait until it is whole"));
    };
    let header = HpxHeader {
        sparse: true,
        rows: rows as u64,
        cols: cols as u64,
        stored: starts[rows] as u64,
        row_names: None,
        col_names: None,
        labels: None,
        origin: Some(origin),
    };
    let mut fault = None;
    let written = keeper.prepare().map_err(io::Error::other).and_then(|()| {
        let body = |file: &mut BufWriter<write::Output>| {
            let mut output = Output::new(file, header)?;
            for band in bands {
                // A fault of the text must not be taken for one of the disk.
                let Some(band) = text.band(&starts, band).map_err(|f| fault = Some(f)).ok() else {
                    return Err(io::Error::other("the text cannot be read"));
                };
                output.append(band, &mut starts)?;
            }
            output.finish(&starts)?;
            keeper.check_source()
        };
        atomic(keeper.place(), body).map_err(|error| match error {
            Error::Write { source, .. } => source,
            other => io::Error::other(other),
        })
    });
    match (fault, written) {
        (Some(fault), _) => Err(fault),
        (None, Ok(())) => Ok(true),
        (None, Err(error)) => Err(Fault::file(
            format!(
                "the matrix is larger than the memory allowed, and {} could not be written \
                 ({error})",
                display_name(keeper.place())
            ),
            "allow more memory, or choose a folder with --cache DIR",
        )),
    }
}

/// Cuts the rows so that the entries of each band fit; `starts` says where rows begin.
fn bands(
    starts: &[usize],
    budget: Budget,
    place: FileLocation,
) -> Result<Vec<Range<usize>>, Fault> {
    let rows = starts.len() - 1;
    let longest = starts.windows(2).map(|w| (w[1] - w[0]) as u64).max().unwrap_or(0);
    let fixed = u128::from(longest * SORTED) + starts.len() as u128 * 16;
    budget.check(fixed + u128::from(longest * ENTRY), place, || {
        format!("building a matrix on disk whose longest row has {longest} nonzeros")
    })?;
    let room = ((u128::from(budget.limit()) - fixed) / u128::from(ENTRY)) as usize;
    let mut bands = Vec::new();
    let mut begin = 0;
    while begin < rows {
        let end = starts.partition_point(|s| *s <= starts[begin].saturating_add(room)) - 1;
        let end = end.clamp(begin + 1, rows);
        bands.push(begin..end);
        begin = end;
    }
    Ok(bands)
}

/// The file, to be read again and again.
struct Text<'a> {
    path: &'a Path,
    format: Format,
    transpose: bool,
}

/// Lines of a file, wherever they come from.
type Opened = Lines<Box<dyn Read>>;

impl Text<'_> {
    /// Opens the file and reads its first lines; `None` for a dense one.
    fn open(&self) -> Result<Option<(Opened, Layout)>, Fault> {
        let stream = Stream::open(&Source::path(self.path)).map_err(|e| match e {
            Error::Read { source, .. } => Fault::Io(source),
            other => Fault::Io(io::Error::other(other.to_string())),
        })?;
        let reader = stream.into_reader();
        let opened = match self.format {
            Format::BagOfWords => Some(bow::open(reader)?),
            _ => mtx::open(reader)?.coordinate(),
        };
        Ok(opened.map(|(lines, layout)| (lines, layout.transposed(self.transpose))))
    }

    fn each(&self, mut take: impl FnMut(&MatrixEntry)) -> Result<(), Fault> {
        let Some((lines, layout)) = self.open()? else { return Ok(()) };
        each_piece(lines, &layout, |entries, _| {
            entries.iter().for_each(&mut take);
            Ok(())
        })
    }

    /// Where each row would begin.
    fn count(&self, rows: usize) -> Result<Vec<usize>, Fault> {
        let mut starts = vec![0usize; rows + 1];
        self.each(|entry| {
            // A file that changes meanwhile may name rows that are none of its first version.
            if let Some(count) = starts.get_mut(entry.row as usize + 1) {
                *count += 1;
            }
        })?;
        for i in 0..rows {
            starts[i + 1] += starts[i];
        }
        Ok(starts)
    }

    /// The entries of some rows, by rows and else in the order of the text.
    fn band(&self, starts: &[usize], rows: Range<usize>) -> Result<Band, Fault> {
        let base = starts[rows.start];
        let count = starts[rows.end] - base;
        let mut next: Vec<usize> = starts[rows.clone()].iter().map(|s| s - base).collect();
        let (mut columns, mut values) = (vec![0u32; count], vec![0.0; count]);
        self.each(|entry| {
            let Some(k) = (entry.row as usize).checked_sub(rows.start) else { return };
            let Some(at) = next.get_mut(k) else { return };
            if *at < count {
                columns[*at] = entry.column;
                values[*at] = entry.value;
                *at += 1;
            }
        })?;
        Ok(Band { rows, columns, values })
    }
}

/// Entries of a few rows.
struct Band {
    rows: Range<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

/// The file that is written.
struct Output<'a> {
    file: &'a mut BufWriter<write::Output>,
    header: HpxHeader,
    /// Entries written so far.
    written: usize,
}

impl<'a> Output<'a> {
    fn new(file: &'a mut BufWriter<write::Output>, header: HpxHeader) -> io::Result<Self> {
        Ok(Output { file, header, written: 0 })
    }

    fn sections(&self) -> io::Result<crate::hpx::Sections> {
        self.header.sections().ok_or_else(|| io::Error::other("the matrix is too large"))
    }

    /// Sorts, merges and writes a band; its rows then begin where they do in the file. Rows behind
    /// the band still begin where they would without anything merged.
    fn append(&mut self, mut band: Band, starts: &mut [usize]) -> io::Result<()> {
        let sections = self.sections()?;
        let base = starts[band.rows.start];
        let (mut row, mut kept) = (Vec::new(), 0);
        for i in band.rows.clone() {
            let span = starts[i] - base..starts[i + 1] - base;
            row.clear();
            let entries = band.columns[span.clone()].iter().zip(&band.values[span]);
            row.extend(entries.map(|(c, v)| (*c, *v)));
            row.sort_by_key(|entry: &(u32, f64)| entry.0);
            starts[i] = self.written + kept;
            let begin = kept;
            for &(column, value) in &row {
                if kept > begin && band.columns[kept - 1] == column {
                    band.values[kept - 1] += value;
                } else {
                    (band.columns[kept], band.values[kept]) = (column, value);
                    kept += 1;
                }
            }
        }
        self.file.seek(SeekFrom::Start(sections.columns.begin + 4 * self.written as u64))?;
        numbers(self.file, band.columns[..kept].iter().map(|c| c.to_le_bytes()))?;
        self.file.seek(SeekFrom::Start(sections.values.begin + 8 * self.written as u64))?;
        numbers(self.file, band.values[..kept].iter().map(|v| v.to_le_bytes()))?;
        self.written += kept;
        Ok(())
    }

    /// Moves the values up where places were merged, and writes where rows begin and the header.
    fn finish(mut self, starts: &[usize]) -> io::Result<()> {
        let from = self.sections()?.values;
        self.header.stored = self.written as u64;
        let sections = self.sections()?;
        self.file.flush()?;
        let file = self.file.get_mut();
        let mut piece = vec![0; 1 << 20];
        let mut moved = 0;
        while from.begin > sections.values.begin && moved < sections.values.length {
            let length = piece.len().min((sections.values.length - moved) as usize);
            file.seek(SeekFrom::Start(from.begin + moved))?;
            file.read_exact(&mut piece[..length])?;
            file.seek(SeekFrom::Start(sections.values.begin + moved))?;
            file.write_all(&piece[..length])?;
            moved += length as u64;
        }
        file.set_len(sections.total)?;
        self.file.seek(SeekFrom::Start(sections.starts.begin))?;
        let rows = starts.len() - 1;
        let begins = starts[..rows].iter().chain(std::iter::once(&self.written));
        numbers(self.file, begins.map(|s| (*s as u64).to_le_bytes()))?;
        self.file.rewind()?;
        let header = self.header.encode().ok_or_else(|| io::Error::other("it is too large"))?;
        self.file.write_all(&header)
    }
}
