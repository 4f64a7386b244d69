//! numpy's `.npy`, version 1.

use hottopixx::matrix::Dense;
use std::io::{self, Write};

/// A dense matrix as `<f8` by rows.
pub(super) fn write(out: &mut impl Write, matrix: &Dense) -> io::Result<()> {
    header(out, "<f8", &format!("({}, {})", matrix.rows(), matrix.cols()))?;
    numbers(out, matrix.values().iter().map(|v| v.to_le_bytes()))
}

/// The same numbers as an array of this shape.
pub(super) fn write_shaped(
    out: &mut impl Write,
    values: &[f64],
    shape: &[usize],
) -> io::Result<()> {
    if shape.iter().product::<usize>() != values.len() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the shape has another size"));
    }
    let sides: Vec<String> = shape.iter().map(|side| format!("{side},")).collect();
    header(out, "<f8", &format!("({})", sides.join(" ")))?;
    numbers(out, values.iter().map(|v| v.to_le_bytes()))
}

/// Magic, version and dictionary, padded so that the numbers begin at a multiple of 64 bytes.
pub(super) fn header(out: &mut impl Write, descr: &str, shape: &str) -> io::Result<()> {
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let before = crate::npy::MAGIC.len() + 2 + 2;
    let padding = (64 - (before + text.len() + 1) % 64) % 64;
    text.extend(std::iter::repeat_n(' ', padding));
    text.push('\n');
    let length = u16::try_from(text.len()).map_err(io::Error::other)?;
    out.write_all(crate::npy::MAGIC)?;
    out.write_all(&[1, 0])?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(text.as_bytes())
}

/// Numbers as bytes, gathered so that the writer below sees large pieces.
pub(crate) fn numbers<const N: usize>(
    out: &mut impl Write,
    items: impl Iterator<Item = [u8; N]>,
) -> io::Result<()> {
    const PIECE: usize = 1 << 16;
    let mut piece = Vec::with_capacity(PIECE + N);
    for item in items {
        piece.extend_from_slice(&item);
        if piece.len() >= PIECE {
            out.write_all(&piece)?;
            piece.clear();
        }
    }
    out.write_all(&piece)
}
