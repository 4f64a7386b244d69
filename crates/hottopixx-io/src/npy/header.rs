//! The header of a `.npy` file: magic, version, and a Python dictionary as text.
//!
//! The dictionary is read strictly: the three keys `descr`, `fortran_order` and `shape`, each once,
//! with literals of the kinds that numpy writes. Nothing is evaluated.

use crate::error::{Fault, quote};
use std::io::Read;

/// First bytes of every `.npy` file.
pub(crate) const MAGIC: &[u8] = b"\x93NUMPY";

/// Longest header that is read; numpy writes 118 bytes for a matrix.
const LONGEST: u32 = 1 << 16;

const DAMAGED: &str = "write it again with numpy.save";
const NUMERIC: &str =
    "save it with a numeric dtype, as in numpy.save(file, X.astype(numpy.float64))";

/// How one number is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumberKind {
    Bool,
    Unsigned,
    Signed,
    Float,
}

/// Kind, size in bytes and order of bytes of the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dtype {
    pub kind: NumberKind,
    pub size: usize,
    pub big_endian: bool,
}

/// What a header says. The dtype is kept as text, since arrays that are no numbers have one too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NpyHeader {
    pub descr: String,
    pub fortran_order: bool,
    pub shape: Vec<u64>,
}

impl NpyHeader {
    /// Reads magic, version and dictionary; the reader then stands at the first number.
    pub fn read(reader: &mut (impl Read + ?Sized)) -> Result<NpyHeader, Fault> {
        let mut start = [0u8; 8];
        let found = fill(reader, &mut start)?;
        if !start.starts_with(MAGIC) || found < start.len() {
            let what = "this is not a .npy file, its first bytes are others";
            return Err(Fault::file(what, "write it with numpy.save or name its true format"));
        }
        let wide = match start[6] {
            1 => false,
            2 | 3 => true,
            other => {
                let what = format!("version {other} of the .npy format is unknown");
                return Err(Fault::file(what, DAMAGED));
            }
        };
        let mut length = [0u8; 4];
        let bytes = if wide { &mut length[..] } else { &mut length[..2] };
        if fill(reader, bytes)? < bytes.len() {
            return Err(damaged("ends early"));
        }
        let length = u32::from_le_bytes(length);
        if length > LONGEST {
            return Err(damaged("is too long"));
        }
        let mut text = vec![0u8; length as usize];
        if fill(reader, &mut text)? < text.len() {
            return Err(damaged("ends early"));
        }
        Parser { rest: &text }.dictionary()
    }

    /// The numbers' dtype; a fault for objects, text, dates, complex numbers and records.
    pub fn dtype(&self) -> Result<Dtype, Fault> {
        let refuse = |what: &str| Err(Fault::file(what.to_owned(), NUMERIC));
        let (order, code) = match self.descr.as_bytes() {
            [order @ (b'<' | b'>' | b'=' | b'|'), code @ ..] => (*order, code),
            code => (b'=', code),
        };
        let (kind, size) = match code {
            b"b1" | b"?" => (NumberKind::Bool, 1),
            [b'u', size @ (b'1' | b'2' | b'4' | b'8')] => {
                (NumberKind::Unsigned, usize::from(size - b'0'))
            }
            [b'i', size @ (b'1' | b'2' | b'4' | b'8')] => {
                (NumberKind::Signed, usize::from(size - b'0'))
            }
            [b'f', size @ (b'2' | b'4' | b'8')] => (NumberKind::Float, usize::from(size - b'0')),
            [b'O', ..] => return refuse("it is an array of Python objects"),
            [b'c', ..] => return refuse("its numbers are complex"),
            [b'S' | b'U' | b'a', ..] => return refuse("it is an array of text"),
            _ => {
                let what = format!("the dtype {} cannot be read", quote(self.descr.as_bytes()));
                return refuse(&what);
            }
        };
        let native_big = cfg!(target_endian = "big");
        Ok(Dtype { kind, size, big_endian: order == b'>' || (order == b'=' && native_big) })
    }

    /// Rows and columns; a fault when there are not two dimensions.
    pub fn matrix_shape(&self) -> Result<(u64, u64), Fault> {
        match self.shape[..] {
            [rows, cols] => Ok((rows, cols)),
            [length] => Err(Fault::file(
                format!("the array has 1 dimension of {length} entries"),
                "give a matrix of two, as with X.reshape(-1, 1) for one column",
            )),
            [_, _, _] => Err(Fault::file(
                "the array has 3 dimensions",
                "give a matrix of two, or a scene of height x width x bands to hottopixx unmix",
            )),
            ref other => Err(Fault::file(
                format!("the array has {} dimensions", other.len()),
                "give a matrix of two",
            )),
        }
    }
}

fn damaged(what: &str) -> Fault {
    Fault::file(format!("the .npy header {what}"), DAMAGED)
}

/// Reads until `buffer` is full or the stream ends; the number of bytes read.
pub(crate) fn fill(reader: &mut (impl Read + ?Sized), buffer: &mut [u8]) -> Result<usize, Fault> {
    let mut found = 0;
    while found < buffer.len() {
        match reader.read(&mut buffer[found..]) {
            Ok(0) => break,
            Ok(n) => found += n,
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e.into()),
        }
    }
    Ok(found)
}

/// The few Python literals that occur in a header.
struct Parser<'a> {
    rest: &'a [u8],
}

impl<'a> Parser<'a> {
    fn dictionary(mut self) -> Result<NpyHeader, Fault> {
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        self.expect(b'{')?;
        while !self.accept(b'}') {
            let key = self.string()?;
            self.expect(b':')?;
            let again = match key {
                b"descr" => descr.replace(self.descr()?).is_some(),
                b"fortran_order" => fortran_order.replace(self.boolean()?).is_some(),
                b"shape" => shape.replace(self.tuple()?).is_some(),
                _ => true,
            };
            if again {
                return Err(damaged(&format!("has the key {} too many", quote(key))));
            }
            if !self.accept(b',') {
                self.expect(b'}')?;
                break;
            }
        }
        self.space();
        match (descr, fortran_order, shape) {
            (Some(descr), Some(fortran_order), Some(shape)) if self.rest.is_empty() => {
                Ok(NpyHeader { descr, fortran_order, shape })
            }
            (Some(_), Some(_), Some(_)) => Err(damaged("goes on behind its end")),
            _ => Err(damaged("lacks one of descr, fortran_order and shape")),
        }
    }

    fn space(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    fn accept(&mut self, byte: u8) -> bool {
        self.space();
        let found = self.rest.first() == Some(&byte);
        if found {
            self.rest = &self.rest[1..];
        }
        found
    }

    fn expect(&mut self, byte: u8) -> Result<(), Fault> {
        if self.accept(byte) {
            return Ok(());
        }
        let what = format!("has {} instead of '{}'", quote(self.rest), byte as char);
        Err(damaged(&what))
    }

    fn string(&mut self) -> Result<&'a [u8], Fault> {
        self.space();
        if let [mark @ (b'\'' | b'"'), rest @ ..] = self.rest
            && let Some(end) = rest.iter().position(|b| b == mark)
        {
            self.rest = &rest[end + 1..];
            return Ok(&rest[..end]);
        }
        Err(damaged(&format!("has {} instead of a quoted word", quote(self.rest))))
    }

    fn descr(&mut self) -> Result<String, Fault> {
        self.space();
        if self.rest.starts_with(b"[") {
            return Err(Fault::file("it is an array of records, not of numbers", NUMERIC));
        }
        Ok(String::from_utf8_lossy(self.string()?).into_owned())
    }

    fn boolean(&mut self) -> Result<bool, Fault> {
        self.space();
        for (word, value) in [(&b"True"[..], true), (b"False", false)] {
            if let Some(rest) = self.rest.strip_prefix(word) {
                self.rest = rest;
                return Ok(value);
            }
        }
        Err(damaged(&format!("has {} instead of True or False", quote(self.rest))))
    }

    /// `()`, `(3,)`, `(3, 4)`, `(3, 4,)`; Python 2 wrote `3L`.
    fn tuple(&mut self) -> Result<Vec<u64>, Fault> {
        self.expect(b'(')?;
        let mut sizes = Vec::new();
        while !self.accept(b')') {
            self.space();
            let digits = self.rest.iter().take_while(|b| b.is_ascii_digit()).count();
            let (word, rest) = self.rest.split_at(digits);
            let Some(size) = crate::scan::whole(word) else {
                return Err(damaged(&format!("has {} instead of a size", quote(self.rest))));
            };
            self.rest = rest.strip_prefix(b"L").unwrap_or(rest);
            sizes.push(size);
            if !self.accept(b',') {
                self.expect(b')')?;
                break;
            }
        }
        Ok(sizes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<NpyHeader, Fault> {
        Parser { rest: text.as_bytes() }.dictionary()
    }

    #[test]
    fn headers_as_numpy_writes_them() {
        let header = |descr: &str, fortran_order, shape: &[u64]| NpyHeader {
            descr: descr.into(),
            fortran_order,
            shape: shape.into(),
        };
        for (text, want) in [
            (
                "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }   \n",
                header("<f8", false, &[3, 4]),
            ),
            ("{\"shape\":(),'descr':'|b1','fortran_order':True}", header("|b1", true, &[])),
            ("{'descr':'>i2','fortran_order':False,'shape':(3L,)}", header(">i2", false, &[3])),
        ] {
            assert_eq!(parse(text).unwrap(), want);
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "{",
            "{}",
            "{'descr': '<f8', 'fortran_order': False}",
            "{'descr': '<f8', 'fortran_order': 0, 'shape': (3, 4)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (-3, 4)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999, 4)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), 'more': '1'}",
            "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (3, 4)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4)} x",
            "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (3,)}",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
