//! Answers that the Python package saved: named arrays in a zip archive, one of them a text in JSON, and the
//! hash of everything. No pickle: arrays are plain numbers.

use crate::error::{Error, Fault, FileLocation};
use crate::machine;
use crate::npy::{self, NpyHeader};
use crate::npz::MAGIC;
use crate::source::display_name;
use hottopixx::matrix::{Dense, Matrix, Sparse};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use zip::ZipArchive;

const TEXT: &str = "answer";
const HASH: &str = "sha256";
const REMEDY: &str = "give a file that save() of the Python package wrote";

/// What is in a file that `save` of the Python package wrote, as its hash says.
#[derive(Debug)]
pub struct SavedArrays {
    text: String,
    arrays: BTreeMap<String, Array>,
}

/// One array, its numbers in order of rows.
#[derive(Debug)]
struct Array {
    header: NpyHeader,
    bytes: Vec<u8>,
}

impl SavedArrays {
    /// Reads a file and compares its hash; `None` for what is no zip archive, or cannot be opened at all.
    /// `max_bytes` is what it may take; `None` allows three quarters of the machine's memory.
    ///
    /// # Errors
    /// [`Error::Malformed`] for an archive of others, or a damaged one.
    pub fn open(path: &Path, max_bytes: Option<u64>) -> Result<Option<Self>, Error> {
        let Ok(mut file) = File::open(path) else { return Ok(None) };
        let mut start = [0; 4];
        let is_zip = path.is_file() && file.read_exact(&mut start).is_ok() && start == MAGIC;
        if !is_zip {
            return Ok(None);
        }
        let limit = max_bytes.unwrap_or_else(machine::usual_memory);
        let found = SavedArrays::read(file, limit).and_then(SavedArrays::checked);
        found.map(Some).map_err(|what| Error::Malformed {
            file: display_name(path),
            place: FileLocation::File,
            what,
            remedy: REMEDY.to_owned(),
        })
    }

    fn read(file: File, limit: u64) -> Result<BTreeMap<String, Array>, String> {
        let mut zip = ZipArchive::new(file).map_err(|e| format!("it cannot be read ({e})"))?;
        let (mut arrays, mut left) = (BTreeMap::new(), limit);
        for k in 0..zip.len() {
            let mut member = zip.by_index(k).map_err(|e| format!("it cannot be read ({e})"))?;
            let name = member.name().map_err(|e| format!("it cannot be read ({e})"))?.into_owned();
            let Some(name) = name.strip_suffix(".npy").map(str::to_owned) else { continue };
            let header = NpyHeader::read(&mut member).map_err(|_| no_array(&name))?;
            let mut bytes = Vec::new();
            (&mut member).take(left).read_to_end(&mut bytes).map_err(|_| no_array(&name))?;
            left = left.saturating_sub(bytes.len() as u64);
            if left == 0 {
                return Err(format!("it takes more than the {limit} bytes that are allowed"));
            }
            let array = Array { header, bytes }.by_rows().ok_or_else(|| no_array(&name))?;
            arrays.insert(name, array);
        }
        Ok(arrays)
    }

    /// The text and the arrays, whose hash must be the one that is named.
    fn checked(mut arrays: BTreeMap<String, Array>) -> Result<Self, String> {
        let text_of = |array: Option<Array>| array.and_then(|a| text(&a.header, &a.bytes));
        let found = text_of(arrays.remove(TEXT)).zip(text_of(arrays.remove(HASH)));
        let (text, expected) = found.ok_or_else(|| "it is no answer of hottopixx".to_owned())?;
        let mut sum = Sha256::new_with_prefix(text.as_bytes());
        for (name, Array { header, bytes }) in &arrays {
            let sides: Vec<String> = header.shape.iter().map(u64::to_string).collect();
            // As Python writes a tuple.
            let comma = if sides.len() == 1 { "," } else { "" };
            sum.update(format!("{name} {} ({}{comma})", header.descr, sides.join(", ")));
            sum.update(bytes);
        }
        let found: String = sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        if found != expected {
            return Err("it is damaged, for it does not have the hash that it names".to_owned());
        }
        Ok(SavedArrays { text, arrays })
    }

    /// What is no array, in JSON.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The matrix of this name: one array, or the four of a sparse matrix in compressed rows.
    ///
    /// # Errors
    /// Why there is none, in words to go on from.
    pub fn matrix(&self, name: &str) -> Result<Matrix, String> {
        let wrong = |_| format!("its matrix {name} is not one");
        if let Some(array) = self.arrays.get(name) {
            let (rows, cols) = array.header.matrix_shape().map_err(|_| wrong(()))?;
            let (rows, cols) = (rows as usize, cols as usize);
            let values = Dense::new(rows, cols, array.numbers().ok_or_else(|| wrong(()))?);
            return Ok(values.map_err(|_| wrong(()))?.into());
        }
        let part = |part: &str| {
            self.arrays
                .get(&format!("{name}_{part}"))
                .and_then(Array::numbers)
                .ok_or_else(|| wrong(()))
        };
        let shape = part("shape")?;
        let &[rows, cols] = &shape[..] else { return Err(wrong(())) };
        let starts = part("indptr")?.iter().map(|s| *s as usize).collect();
        let columns = part("indices")?.iter().map(|c| *c as u32).collect();
        let sparse = Sparse::new(rows as usize, cols as usize, starts, columns, part("data")?);
        Ok(sparse.map_err(|_| wrong(()))?.into())
    }
}

fn no_array(name: &str) -> String {
    format!("its part {} cannot be read", crate::error::quote(name.as_bytes()))
}

impl Array {
    /// With the numbers in order of rows; `None` where there are more or fewer than the header says.
    fn by_rows(mut self) -> Option<Self> {
        let width: u64 =
            self.header.descr.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().ok()?;
        let width = if self.header.descr.contains('U') { width.checked_mul(4)? } else { width };
        let count = self.header.shape.iter().try_fold(1u64, |all, side| all.checked_mul(*side))?;
        if count.checked_mul(width)? != self.bytes.len() as u64 {
            return None;
        }
        // Without numbers there may still be rows, and more than can be walked over.
        let turned = self.header.fortran_order && !self.bytes.is_empty();
        if let (true, &[rows, cols]) = (turned, &self.header.shape[..]) {
            let (rows, cols, width) = (rows as usize, cols as usize, width as usize);
            let place = |i: usize, k: usize| (k * rows + i) * width;
            let entry = |(i, k)| self.bytes[place(i, k)..place(i, k) + width].iter().copied();
            let places = (0..rows).flat_map(|i| (0..cols).map(move |k| (i, k)));
            self.bytes = places.flat_map(entry).collect();
        }
        Some(self)
    }

    fn numbers(&self) -> Option<Vec<f64>> {
        let dtype = self.header.dtype().map_err(|_: Fault| ()).ok()?;
        let mut values = Vec::new();
        npy::decode(dtype, &self.bytes, &mut values);
        Some(values)
    }
}

/// A text as numpy keeps it, in characters of 32 bits.
fn text(header: &NpyHeader, bytes: &[u8]) -> Option<String> {
    if !header.shape.is_empty() || !header.descr.starts_with("<U") {
        return None;
    }
    let code = |c: &[u8]| char::from_u32(u32::from_le_bytes([c[0], c[1], c[2], c[3]]));
    let text: Option<String> = bytes.chunks_exact(4).map(code).collect();
    Some(text?.trim_end_matches('\0').to_owned())
}
