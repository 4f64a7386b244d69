//! numpy's `.npy`: one array, a short header and then the plain numbers.
//!
//! Reference: `numpy.lib.format`, versions 1.0 to 3.0. Booleans, integers of 1 to 8 bytes and floats
//! of 2, 4 and 8 bytes are read, in both orders of bytes and of dimensions. The header is a claim:
//! numbers are read in chunks, and memory grows by what has arrived unless the length of the file
//! confirms it.

mod header;

pub(crate) use header::{Dtype, MAGIC, NpyHeader, NumberKind, fill};

use crate::budget::Budget;
use crate::error::{Fault, FileLocation};
use crate::load::Parsed;
use crate::map::Map;
use hottopixx::matrix::Dense;
use std::fs::File;
use std::io::{Read, Seek};

/// Bytes decoded at a time; a multiple of every size of number.
const CHUNK: usize = if cfg!(fuzzing) { 1 << 8 } else { 1 << 16 };

/// Reads one matrix. `length` is the number of bytes of the whole stream, where that is known.
pub(crate) fn read(
    mut reader: impl Read,
    length: Option<u64>,
    budget: Budget,
) -> Result<Parsed, Fault> {
    let header = NpyHeader::read(&mut reader)?;
    read_matrix(&mut reader, &header, length, budget)
}

/// The matrix of a file whose numbers are as this machine has them, where they are; `None` for one
/// that has to be read: another dtype, numbers that begin at an odd place, too few of them.
pub(crate) fn map(file: &mut File) -> Result<Option<Parsed>, Fault> {
    file.rewind()?;
    let Some(map) = Map::new(file) else { return Ok(None) };
    let mut rest = map.bytes();
    let header = NpyHeader::read(&mut rest)?;
    let dtype = header.dtype()?;
    let (rows, cols) = header.matrix_shape()?;
    if dtype != (Dtype { kind: NumberKind::Float, size: 8, big_endian: false }) {
        return Ok(None);
    }
    let begin = (map.bytes().len() - rest.len()) as u64;
    let values = rows.checked_mul(cols).and_then(|count| map.numbers(begin, count));
    let Some(values) = values else { return Ok(None) };
    let (rows, cols) = crate::budget::sizes(rows, cols, FileLocation::File)?;
    Ok(Some(if header.fortran_order {
        Parsed::new(Dense::from_buffer(cols, rows, values)?).transposed().mapped()
    } else {
        Parsed::new(Dense::from_buffer(rows, cols, values)?).mapped()
    }))
}

/// Reads the numbers of a matrix whose header has been read.
pub(crate) fn read_matrix(
    reader: &mut (impl Read + ?Sized),
    header: &NpyHeader,
    length: Option<u64>,
    budget: Budget,
) -> Result<Parsed, Fault> {
    let dtype = header.dtype()?;
    let (rows, cols) = header.matrix_shape()?;
    let (rows, cols) = budget.dense(rows, cols, FileLocation::File)?;
    let mut values = Vec::new();
    let needed = (rows * cols) as u64 * dtype.size as u64;
    if length.is_some_and(|l| l >= needed) {
        values.reserve_exact(rows * cols);
    }
    read_numbers(reader, dtype, (rows * cols) as u64, |bytes| {
        decode(dtype, bytes, &mut values);
        Ok(())
    })?;
    Ok(if header.fortran_order {
        Parsed::new(Dense::new(cols, rows, values)?).transposed()
    } else {
        Parsed::new(Dense::new(rows, cols, values)?)
    })
}

/// Reads `count` numbers chunk by chunk and hands their bytes on.
pub(crate) fn read_numbers(
    reader: &mut (impl Read + ?Sized),
    dtype: Dtype,
    count: u64,
    mut take: impl FnMut(&[u8]) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut chunk = vec![0u8; CHUNK];
    let mut found = 0u64;
    while found < count {
        let wanted = (CHUNK / dtype.size).min(usize::try_from(count - found).unwrap_or(CHUNK));
        let bytes = header::fill(reader, &mut chunk[..wanted * dtype.size])?;
        let whole = bytes / dtype.size;
        take(&chunk[..whole * dtype.size])?;
        found += whole as u64;
        if whole < wanted {
            return Err(Fault::file(
                format!("the file is truncated, {found} values found of {count}"),
                "copy or download the file again",
            ));
        }
    }
    Ok(())
}

/// Appends the numbers stored in `bytes` as `f64`.
pub(crate) fn decode(dtype: Dtype, bytes: &[u8], out: &mut Vec<f64>) {
    macro_rules! numbers {
        ($type:ty) => {{
            let chunks = bytes.chunks_exact(size_of::<$type>());
            let array = |c: &[u8]| c.try_into().expect("chunks of this size");
            if dtype.big_endian {
                out.extend(chunks.map(|c| <$type>::from_be_bytes(array(c)) as f64));
            } else {
                out.extend(chunks.map(|c| <$type>::from_le_bytes(array(c)) as f64));
            }
        }};
    }
    match (dtype.kind, dtype.size) {
        (NumberKind::Bool, _) => out.extend(bytes.iter().map(|b| f64::from(u8::from(*b != 0)))),
        (NumberKind::Unsigned, 1) => numbers!(u8),
        (NumberKind::Unsigned, 2) => numbers!(u16),
        (NumberKind::Unsigned, 4) => numbers!(u32),
        (NumberKind::Unsigned, _) => numbers!(u64),
        (NumberKind::Signed, 1) => numbers!(i8),
        (NumberKind::Signed, 2) => numbers!(i16),
        (NumberKind::Signed, 4) => numbers!(i32),
        (NumberKind::Signed, _) => numbers!(i64),
        (NumberKind::Float, 4) => numbers!(f32),
        (NumberKind::Float, 8) => numbers!(f64),
        (NumberKind::Float, _) => out.extend(bytes.chunks_exact(2).map(|c| {
            let pair = [c[0], c[1]];
            half(if dtype.big_endian { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) })
        })),
    }
}

/// Appends the whole numbers stored in `bytes`; `false` for one that is negative or above 2^63, or
/// when the dtype is not one of whole numbers.
pub(crate) fn decode_whole(dtype: Dtype, bytes: &[u8], out: &mut Vec<u64>) -> bool {
    if !matches!(dtype.kind, NumberKind::Unsigned | NumberKind::Signed) {
        return false;
    }
    let signed = dtype.kind == NumberKind::Signed;
    bytes.chunks_exact(dtype.size).all(|chunk| {
        let mut wide = [0u8; 8];
        for (k, b) in chunk.iter().enumerate() {
            wide[if dtype.big_endian { dtype.size - 1 - k } else { k }] = *b;
        }
        let value = u64::from_le_bytes(wide);
        out.push(value);
        let sign_bit = 8 * dtype.size - 1;
        !signed || value >> sign_bit == 0
    })
}

/// A float of two bytes (IEEE 754 binary16).
fn half(bits: u16) -> f64 {
    let fraction = f64::from(bits & 0x3ff);
    let size = match (bits >> 10) & 0x1f {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        exponent => (1024.0 + fraction) * 2f64.powi(i32::from(exponent) - 25),
    };
    if bits >> 15 == 1 { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves() {
        for (bits, want) in [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0x3555, 0.333251953125),
            (0x7bff, 65504.0),
            (0x0001, 5.960464477539063e-8),
            (0x7c00, f64::INFINITY),
            (0xc000, -2.0),
        ] {
            assert_eq!(half(bits), want);
        }
        assert!(half(0x7e00).is_nan());
    }
}
