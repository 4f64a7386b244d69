//! scipy's `.npz` for CSR: the members that `scipy.sparse.save_npz` writes, compressed unless large.

use super::npy::{header, numbers};
use hottopixx::matrix::Sparse;
use std::io::{self, Seek, SeekFrom, Write};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Members from this size on are not compressed, which would take minutes; scipy reads both.
const STORED: usize = 1 << 26;

/// A sparse matrix as CSR. Indices are 32-bit where they fit, as scipy has them.
pub(super) fn write(out: &mut (impl Write + Seek), matrix: &Sparse) -> io::Result<()> {
    let mut latch = Latch { out, at: 0, end: 0, failure: None };
    let written = archive(&mut latch, matrix);
    match latch.failure {
        Some(failure) => Err(failure),
        None => written,
    }
}

/// A writer that keeps its first failure and takes everything from then on: the archive's own writer does
/// not survive one that fails, a full disk for example.
struct Latch<'a, W> {
    out: &'a mut W,
    at: u64,
    end: u64,
    failure: Option<io::Error>,
}

impl<W: Write> Write for Latch<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.failure.is_none() {
            self.failure = self.out.write_all(bytes).err();
        }
        self.at += bytes.len() as u64;
        self.end = self.end.max(self.at);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.failure.is_none() {
            self.failure = self.out.flush().err();
        }
        Ok(())
    }
}

impl<W: Seek> Seek for Latch<'_, W> {
    fn seek(&mut self, place: SeekFrom) -> io::Result<u64> {
        let outside = || io::Error::new(io::ErrorKind::InvalidInput, "a place before the first");
        self.at = match place {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.end.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        }
        .ok_or_else(outside)?;
        if self.failure.is_none() {
            self.failure = self.out.seek(SeekFrom::Start(self.at)).err();
        }
        Ok(self.at)
    }
}

/// The archive, in a writer that stands at its first byte and never fails.
fn archive(out: &mut (impl Write + Seek), matrix: &Sparse) -> io::Result<()> {
    let mut zip = ZipWriter::new(out);
    let count = matrix.values().len();
    let narrow = i32::try_from(count.max(matrix.rows()).max(matrix.cols())).is_ok();
    let integer = if narrow { "<i4" } else { "<i8" };
    let indices = matrix.columns().iter().map(|c| i64::from(*c));
    member(&mut zip, "indices", integer, &format!("({count},)"), 8 * count, |zip| {
        integers(zip, narrow, indices)
    })?;
    let starts = matrix.starts();
    let shape = format!("({},)", starts.len());
    member(&mut zip, "indptr", integer, &shape, 8 * starts.len(), |zip| {
        integers(zip, narrow, starts.iter().map(|s| *s as i64))
    })?;
    member(&mut zip, "format", "|S3", "()", 3, |zip| zip.write_all(b"csr"))?;
    let sizes = [matrix.rows() as i64, matrix.cols() as i64];
    member(&mut zip, "shape", "<i8", "(2,)", 16, |zip| {
        numbers(zip, sizes.iter().map(|s| s.to_le_bytes()))
    })?;
    member(&mut zip, "data", "<f8", &format!("({count},)"), 8 * count, |zip| {
        numbers(zip, matrix.values().iter().map(|v| v.to_le_bytes()))
    })?;
    zip.finish()?;
    Ok(())
}

/// One member: header, then what `body` writes, about `bytes` long.
fn member<W: Write + Seek>(
    zip: &mut ZipWriter<W>,
    key: &str,
    descr: &str,
    shape: &str,
    bytes: usize,
    body: impl FnOnce(&mut ZipWriter<W>) -> io::Result<()>,
) -> io::Result<()> {
    // Members of 4 GiB and more need wider fields, which must be asked for beforehand.
    let large = bytes as u64 >= u64::from(u32::MAX) - (1 << 20);
    let method = if bytes < STORED {
        zip::CompressionMethod::Deflated
    } else {
        zip::CompressionMethod::Stored
    };
    let options = SimpleFileOptions::default().compression_method(method).large_file(large);
    zip.start_file(format!("{key}.npy"), options)?;
    header(zip, descr, shape)?;
    body(zip)
}

fn integers(
    out: &mut impl Write,
    narrow: bool,
    items: impl Iterator<Item = i64>,
) -> io::Result<()> {
    if narrow {
        numbers(out, items.map(|i| (i as i32).to_le_bytes()))
    } else {
        numbers(out, items.map(i64::to_le_bytes))
    }
}
