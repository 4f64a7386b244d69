//! MATLAB's `.mat` files of version 5 (`save -v6` and `-v7`): arrays of numbers, compressed or not.
//!
//! Reference: MathWorks, *MAT-File Format*, version 5. A header of 128 bytes, then elements of a tag (type, size) and
//! data padded to 8 bytes; a matrix is an element that holds flags, dimensions, name and numbers as elements, and a
//! compressed element is a zlib stream with one matrix. Numbers may be stored in a smaller type than the
//! array's. Structures, cells, text, sparse and complex arrays are seen and passed over. Version 7.3 is HDF5, which the
//! Python package reads.

use crate::budget::Budget;
use crate::error::{Corrupt, Fault, FileLocation, quote};
use crate::npy::{Dtype, NumberKind, decode, fill, read_numbers};
use flate2::read::ZlibDecoder;
use std::io::{self, Read};

/// First bytes of every file that MATLAB and scipy write.
pub(crate) const MAGIC: &[u8] = b"MATLAB";
const HEADER: usize = 128;
/// Longest name and most dimensions that are read: MATLAB itself allows 63 characters.
const LONGEST_NAME: u32 = 4096;
const MOST_DIMENSIONS: u32 = 32;
const DAMAGED: &str = "write it again with save -v7, or copy it again";

/// Types of elements.
const MATRIX: u32 = 14;
const COMPRESSED: u32 = 15;

/// An array of numbers in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MatArray {
    pub name: String,
    pub dims: Vec<u64>,
    /// Where its element begins and ends in the file.
    place: (usize, usize),
    compressed: bool,
}

impl MatArray {
    /// Number of values; `None` for more than can be counted.
    fn count(&self) -> Option<u64> {
        self.dims.iter().try_fold(1u64, |count, dim| count.checked_mul(*dim))
    }
}

/// A whole file in memory.
pub(crate) struct MatFile {
    bytes: Vec<u8>,
    big_endian: bool,
    pub arrays: Vec<MatArray>,
}

impl MatFile {
    /// Looks at all arrays; numbers stay where they are.
    pub fn new(bytes: Vec<u8>) -> Result<Self, Fault> {
        if bytes.starts_with(b"MATLAB 7.3") || bytes.starts_with(b"\x89HDF") {
            return Err(Fault::file(
                "this is a .mat file of version 7.3 (HDF5)",
                "save it with -v7, or read it with hottopixx.read of the Python package",
            ));
        }
        let Some(header) = bytes.get(..HEADER) else {
            return Err(Fault::file("the .mat header ends early", DAMAGED));
        };
        let big_endian = match &header[126..128] {
            b"IM" => false,
            b"MI" => true,
            _ => {
                let what = "this is not a .mat file of version 5, its header is another";
                return Err(Fault::file(what, "save it with -v7, or as .npy"));
            }
        };
        let mut file = MatFile { bytes, big_endian, arrays: Vec::new() };
        let mut at = HEADER;
        while at < file.bytes.len() {
            let mut rest = &file.bytes[at..];
            let Some(tag) = Tag::read(&mut rest, big_endian)? else { break };
            let begin = file.bytes.len() - rest.len();
            let end = begin.checked_add(tag.size as usize).filter(|end| *end <= file.bytes.len());
            let Some(end) = end else {
                return Err(Fault::file(
                    "the file is truncated",
                    "copy or download the file again",
                ));
            };
            let compressed = tag.kind == COMPRESSED;
            if (compressed || tag.kind == MATRIX) && tag.small.is_none() {
                let mut array = MatArray {
                    name: String::new(),
                    dims: Vec::new(),
                    place: (begin, end),
                    compressed,
                };
                let head = file.open(&array)?.head()?;
                if let Some((name, dims)) = head {
                    (array.name, array.dims) = (name, dims);
                    file.arrays.push(array);
                }
            }
            // Compressed elements are not padded.
            at = if compressed { end } else { end.next_multiple_of(8) };
        }
        Ok(file)
    }

    /// The values of an array, the first dimension running fastest.
    pub fn values(&self, array: &MatArray, budget: Budget) -> Result<Vec<f64>, Fault> {
        let place = || FileLocation::Array(array.name.clone());
        let what = || format!("an array of {:?}", array.dims);
        let count = array.count().unwrap_or(u64::MAX);
        budget.check(u128::from(count) * 8, place(), what)?;
        let mut elements = self.open(array)?;
        elements.head()?;
        let tag = elements.tag()?;
        let dtype = tag.dtype(self.big_endian).ok_or_else(|| damaged("has numbers of no type"))?;
        if u64::from(tag.size) != count.saturating_mul(dtype.size as u64) {
            return Err(
                damaged("has not as many numbers as its dimensions say").in_array(&array.name)
            );
        }
        let mut values = Vec::new();
        let mut take = |bytes: &[u8]| {
            decode(dtype, bytes, &mut values);
            Ok(())
        };
        match tag.small {
            Some(bytes) => {
                let used = bytes.get(..tag.size as usize);
                take(used.ok_or_else(|| damaged("has a small element that is large"))?)?;
            }
            None => read_numbers(&mut elements.from, dtype, count, take)?,
        }
        Ok(values)
    }

    /// The value of an array of one.
    pub fn scalar(&self, name: &str, budget: Budget) -> Option<f64> {
        let named = |array: &&MatArray| array.name.eq_ignore_ascii_case(name);
        let array = self.arrays.iter().find(named).filter(|array| array.count() == Some(1))?;
        self.values(array, budget).ok()?.first().copied()
    }

    /// The elements inside a matrix.
    fn open(&self, array: &MatArray) -> Result<Elements<'_>, Fault> {
        let bytes = &self.bytes[array.place.0..array.place.1];
        let mut elements = Elements { from: Box::new(bytes), big_endian: self.big_endian };
        if array.compressed {
            elements.from = Box::new(Inflate(ZlibDecoder::new(bytes)));
            if elements.tag()?.kind != MATRIX {
                return Err(damaged("has something else than a matrix in a compressed element"));
            }
        }
        Ok(elements)
    }
}

fn damaged(what: &str) -> Fault {
    Fault::file(format!("the .mat file {what}"), DAMAGED)
}

/// Type and size of an element; up to four bytes of data may stand in the tag itself.
struct Tag {
    kind: u32,
    size: u32,
    small: Option<[u8; 4]>,
}

impl Tag {
    /// `None` at the end of the stream.
    fn read(reader: &mut (impl Read + ?Sized), big_endian: bool) -> Result<Option<Tag>, Fault> {
        let mut bytes = [0u8; 8];
        match fill(reader, &mut bytes)? {
            0 => return Ok(None),
            8 => {}
            _ => return Err(damaged("ends inside a tag")),
        }
        let word = |at: usize| {
            let four = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
            if big_endian { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) }
        };
        let first = word(0);
        Ok(Some(match first >> 16 {
            0 => Tag { kind: first, size: word(4), small: None },
            size => {
                let small = Some([bytes[4], bytes[5], bytes[6], bytes[7]]);
                Tag { kind: first & 0xffff, size, small }
            }
        }))
    }

    /// How the numbers of a numeric element are stored.
    fn dtype(&self, big_endian: bool) -> Option<Dtype> {
        let (kind, size) = match self.kind {
            1 => (NumberKind::Signed, 1),
            2 => (NumberKind::Unsigned, 1),
            3 => (NumberKind::Signed, 2),
            4 => (NumberKind::Unsigned, 2),
            5 => (NumberKind::Signed, 4),
            6 => (NumberKind::Unsigned, 4),
            7 => (NumberKind::Float, 4),
            9 => (NumberKind::Float, 8),
            12 => (NumberKind::Signed, 8),
            13 => (NumberKind::Unsigned, 8),
            _ => return None,
        };
        Some(Dtype { kind, size, big_endian })
    }
}

/// The elements of a matrix, one after the other.
struct Elements<'a> {
    from: Box<dyn Read + 'a>,
    big_endian: bool,
}

impl Elements<'_> {
    fn tag(&mut self) -> Result<Tag, Fault> {
        Tag::read(&mut self.from, self.big_endian)?.ok_or_else(|| damaged("ends inside a matrix"))
    }

    /// Name and dimensions; the numbers come next. `None` for what is no array of real numbers.
    fn head(&mut self) -> Result<Option<(String, Vec<u64>)>, Fault> {
        let flags = self.short(8)?;
        let (Some(flags), true) = (self.words(&flags).next(), flags.len() == 8) else {
            return Err(damaged("has a matrix without flags"));
        };
        const COMPLEX: u32 = 0x800;
        let numbers = (6..=15).contains(&(flags & 0xff)) && flags & COMPLEX == 0;
        let dims = self.short(4 * MOST_DIMENSIONS)?;
        let dims: Vec<u64> = self.words(&dims).map(u64::from).collect();
        if dims.len() < 2 {
            return Err(damaged("has a matrix without dimensions"));
        }
        let name = self.short(LONGEST_NAME)?;
        Ok(numbers.then(|| (String::from_utf8_lossy(&name).into_owned(), dims)))
    }

    /// The data of an element of at most this many bytes.
    fn short(&mut self, most: u32) -> Result<Vec<u8>, Fault> {
        let tag = self.tag()?;
        if tag.size > most {
            return Err(damaged("has an element that is too long"));
        }
        let size = tag.size as usize;
        if let Some(bytes) = tag.small {
            let used = bytes.get(..size);
            return Ok(used.ok_or_else(|| damaged("has a small element that is large"))?.to_vec());
        }
        let mut data = vec![0u8; size.next_multiple_of(8)];
        let found = fill(&mut self.from, &mut data)?;
        if found < size {
            return Err(damaged("ends inside a matrix"));
        }
        data.truncate(size);
        Ok(data)
    }

    fn words<'b>(&self, bytes: &'b [u8]) -> impl Iterator<Item = u32> + use<'b> {
        let big_endian = self.big_endian;
        bytes.chunks_exact(4).map(move |four| {
            let four = [four[0], four[1], four[2], four[3]];
            if big_endian { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) }
        })
    }
}

/// A zlib decoder whose complaints are told apart from a disk that fails.
struct Inflate<R>(R);

impl<R: Read> Read for Inflate<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0
            .read(buffer)
            .map_err(|e| io::Error::new(e.kind(), Corrupt("the zlib data is corrupt")))
    }
}

/// The names of arrays for a message.
pub(crate) fn listed(arrays: &[&MatArray]) -> String {
    let one = |array: &&MatArray| {
        let dims: Vec<String> = array.dims.iter().map(u64::to_string).collect();
        format!("{} ({})", quote(array.name.as_bytes()), dims.join(" x "))
    };
    let mut all: Vec<String> = arrays.iter().take(6).map(one).collect();
    if arrays.len() > all.len() {
        all.push("…".to_owned());
    }
    all.join(", ")
}
