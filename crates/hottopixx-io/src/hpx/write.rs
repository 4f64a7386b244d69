//! A matrix to a `.hpx` file, in one pass and without a copy of it.

use super::header::{HpxHeader, Origin, Section, Sections};
use crate::write::numbers;
use hottopixx::matrix::Matrix;
use std::io::{self, Write};

/// What a file is to hold.
#[derive(Clone, Copy)]
pub(crate) struct Contents<'a> {
    pub matrix: &'a Matrix,
    pub row_names: Option<&'a [String]>,
    pub col_names: Option<&'a [String]>,
    pub labels: Option<&'a [f64]>,
    pub origin: Option<Origin>,
}

impl Contents<'_> {
    fn header(&self) -> HpxHeader {
        let (rows, cols) = (self.matrix.rows() as u64, self.matrix.cols() as u64);
        let (sparse, stored) = match self.matrix {
            Matrix::Dense(m) => (false, m.values().len() as u64),
            Matrix::Sparse(m) => (true, m.values().len() as u64),
        };
        let names = |names: Option<&[String]>| names.map(names_length);
        HpxHeader {
            sparse,
            rows,
            cols,
            stored,
            row_names: names(self.row_names),
            col_names: names(self.col_names),
            labels: self.labels.map(|labels| labels.len() as u64),
            origin: self.origin,
        }
    }

    /// Writes everything, from the first byte to the last.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let header = self.header();
        let too_large = || io::Error::new(io::ErrorKind::InvalidInput, "the matrix is too large");
        let (Some(sections), Some(bytes)) = (header.sections(), header.encode()) else {
            return Err(too_large());
        };
        out.write_all(&bytes)?;
        let mut out = Placed { out, at: bytes.len() as u64 };
        match self.matrix {
            Matrix::Dense(m) => {
                out.go_to(sections.values)?;
                numbers(&mut out, m.values().iter().map(|v| v.to_le_bytes()))?;
            }
            Matrix::Sparse(m) => {
                out.go_to(sections.starts)?;
                numbers(&mut out, m.starts().iter().map(|s| (*s as u64).to_le_bytes()))?;
                out.go_to(sections.columns)?;
                numbers(&mut out, m.columns().iter().map(|c| c.to_le_bytes()))?;
                out.go_to(sections.values)?;
                numbers(&mut out, m.values().iter().map(|v| v.to_le_bytes()))?;
            }
        }
        self.write_rest(out, &sections)
    }

    fn write_rest<W: Write>(&self, mut out: Placed<'_, W>, at: &Sections) -> io::Result<()> {
        for (section, names) in [(at.row_names, self.row_names), (at.col_names, self.col_names)] {
            out.go_to(section)?;
            for name in names.unwrap_or(&[]) {
                let length = u32::try_from(name.len()).map_err(io::Error::other)?;
                out.write_all(&length.to_le_bytes())?;
                out.write_all(name.as_bytes())?;
            }
        }
        out.go_to(at.labels)?;
        numbers(&mut out, self.labels.unwrap_or(&[]).iter().map(|v| v.to_le_bytes()))
    }
}

/// Bytes of a section of names: the length of each and its bytes.
fn names_length(names: &[String]) -> u64 {
    names.iter().map(|name| 4 + name.len() as u64).sum()
}

/// A writer that knows where it is.
struct Placed<'a, W> {
    out: &'a mut W,
    at: u64,
}

impl<W: Write> Placed<'_, W> {
    /// Fills up with zeros to where a section begins.
    fn go_to(&mut self, section: Section) -> io::Result<()> {
        let gap = section.begin.saturating_sub(self.at).min(64);
        self.write_all(&[0; 64][..gap as usize])
    }
}

impl<W: Write> Write for Placed<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.at += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
