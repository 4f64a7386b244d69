//! numpy's `.npz` (a ZIP archive of `.npy` members), holding a dense matrix or a scipy sparse one.
//!
//! References: `numpy.savez` and `scipy.sparse.save_npz`. A sparse matrix is recognised by its
//! members `format`, `shape` and `data`; CSR, CSC and COO are read, repeated places are added. Only
//! the members that are needed are read, each to its end so that its checksum is compared, and none
//! further than its header allows.

use crate::budget::Budget;
use crate::error::{Corrupt, Fault, FileLocation, quote};
use crate::load::Parsed;
use crate::npy::{self, NpyHeader};
use crate::peek::Sizes;
use crate::triplets::Triplets;
use hottopixx::matrix::Sparse;
use std::io::{self, Read, Seek, SeekFrom};
use zip::ZipArchive;
use zip::result::ZipError;

/// First bytes of a ZIP archive with members.
pub(crate) const MAGIC: &[u8] = b"PK\x03\x04";

const DAMAGED: &str = "copy or download the file again";
const RESAVE: &str = "write it again with scipy.sparse.save_npz";

/// Bytes behind the last number of a member that are tolerated.
const SPARE: u64 = 1 << 16;

/// Reads one archive; `key` names the dense array to take.
pub(crate) fn read(
    reader: impl Read + Seek,
    key: Option<&str>,
    budget: Budget,
) -> Result<Parsed, Fault> {
    let mut archive = Archive::open(reader, budget)?;
    if let Some(key) = key {
        return archive.dense(key);
    }
    if archive.is_sparse() {
        return archive.sparse();
    }
    let key = archive.choose()?;
    archive.dense(&key)
}

/// The sizes of what [`read`] would read.
pub(crate) fn peek(reader: impl Read + Seek, key: Option<&str>) -> Result<Sizes, Fault> {
    let mut archive = Archive::open(reader, Budget::new(None))?;
    let header =
        |archive: &mut Archive<_>, key: &str| archive.member(key, |r, _| NpyHeader::read(r));
    if key.is_none() && archive.is_sparse() {
        let shape = archive.whole("shape", 2, u64::MAX)?;
        let stored = Some(length(&header(&mut archive, "data")?)?);
        return match shape[..] {
            [rows, cols] => Ok(Sizes { rows, cols, stored }),
            _ => Err(Fault::file("the matrix has not two dimensions", RESAVE)),
        };
    }
    let key = match key {
        Some(key) => key.to_owned(),
        None => archive.choose()?,
    };
    let (rows, cols) = header(&mut archive, &key)?.matrix_shape()?;
    Ok(Sizes { rows, cols, stored: None })
}

struct Archive<R> {
    zip: ZipArchive<R>,
    keys: Vec<String>,
    budget: Budget,
    /// Bytes that the members can have together.
    largest: u64,
}

/// How many times smaller than itself anything can become by compression.
const SQUEEZED: u64 = 1032;

/// The number of entries that a header promises, if the archive is long enough to keep the promise.
fn credible(count: u64, largest: u64) -> usize {
    if count <= largest { usize::try_from(count).unwrap_or(0) } else { 0 }
}

impl<R: Read + Seek> Archive<R> {
    fn open(mut reader: R, budget: Budget) -> Result<Self, Fault> {
        let largest = reader.seek(SeekFrom::End(0))?.saturating_mul(SQUEEZED);
        reader.rewind()?;
        let zip = ZipArchive::new(reader).map_err(|e| match e {
            ZipError::Io(e) if e.raw_os_error().is_some() => Fault::Io(e),
            _ => Fault::file("this is not a .npz file, or a damaged one", DAMAGED),
        })?;
        let keys: Vec<String> = zip
            .file_names()
            .filter_map(|name| Some(name.ok()?.strip_suffix(".npy")?.to_owned()))
            .collect();
        if keys.is_empty() {
            return Err(Fault::file("there is no array in it", "write it with numpy.savez"));
        }
        Ok(Archive { zip, keys, budget, largest })
    }

    fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|k| k == key)
    }

    fn is_sparse(&self) -> bool {
        ["format", "shape", "data"].iter().all(|k| self.has(k))
    }

    /// The one array that can be meant: `X`, the only matrix of numbers, or `arr_0`.
    fn choose(&mut self) -> Result<String, Fault> {
        if let [only] = &self.keys[..] {
            return Ok(only.clone());
        }
        if self.has("X") {
            return Ok("X".to_owned());
        }
        let mut matrices = Vec::new();
        for key in self.keys.clone() {
            let header = self.member(&key, |reader, _| NpyHeader::read(reader))?;
            if header.shape.len() == 2 && header.dtype().is_ok() {
                matrices.push(key);
            }
        }
        match &matrices[..] {
            [only] => Ok(only.clone()),
            [] => Err(Fault::file(
                format!("none of its arrays ({}) is a matrix of numbers", list(&self.keys)),
                "give a matrix of two dimensions",
            )),
            several if several.iter().any(|k| k == "arr_0") => Ok("arr_0".to_owned()),
            several => Err(Fault::file(
                format!("it holds several matrices ({})", list(several)),
                "choose one with --key NAME",
            )),
        }
    }

    fn dense(&mut self, key: &str) -> Result<Parsed, Fault> {
        if !self.has(key) {
            return Err(Fault::file(
                format!("there is no array {}", quote(key.as_bytes())),
                format!("choose one of {}", list(&self.keys)),
            ));
        }
        self.array(key, |reader, header, budget| npy::read_matrix(reader, header, None, budget))
    }

    fn sparse(&mut self) -> Result<Parsed, Fault> {
        let format = self.format()?;
        let shape = self.whole("shape", 2, u64::MAX)?;
        let &[rows, cols] = &shape[..] else {
            let what = format!("the matrix has {} dimensions", shape.len());
            return Err(Fault::file(what, "give a matrix of two").in_array("shape"));
        };
        let (rows, cols) =
            self.budget.sparse(rows, cols, FileLocation::File).map_err(|f| f.in_array("shape"))?;
        match &format[..] {
            b"csr" => Ok(Parsed::new(self.compressed(rows, cols)?)),
            b"csc" => Ok(Parsed::new(self.compressed(cols, rows)?).transposed()),
            b"coo" => {
                let values = self.values()?;
                let count = values.len() as u64;
                let is = self.indices("row", count, rows)?;
                let js = self.indices("col", count, cols)?;
                let triplets = Triplets::from_arrays(is, js, values, self.budget);
                Ok(Parsed::new(triplets.into_sparse(rows, cols)?))
            }
            other => Err(Fault::file(
                format!("sparse matrices of format {} cannot be read", quote(other)),
                "convert it first, as with scipy.sparse.save_npz(file, X.tocsr())",
            )),
        }
    }

    /// The arrays of CSR; those of CSC are the same of the transpose.
    fn compressed(&mut self, rows: usize, cols: usize) -> Result<Sparse, Fault> {
        let values = self.values()?;
        let count = values.len() as u64;
        let starts = self.whole("indptr", rows as u64 + 1, count)?;
        let fits = starts.len() == rows + 1
            && starts.first() == Some(&0)
            && starts.last() == Some(&count)
            && starts.is_sorted();
        if !fits {
            let what = "it does not say where each row or column begins";
            return Err(Fault::file(what, RESAVE).in_array("indptr"));
        }
        let starts = starts.into_iter().map(|s| s as usize).collect();
        let columns = self.indices("indices", count, cols)?;
        Ok(Sparse::new(rows, cols, starts, columns, values)?)
    }

    /// `csr`, `csc`, …: a single word, in bytes or in 32-bit characters.
    fn format(&mut self) -> Result<Vec<u8>, Fault> {
        self.array("format", |reader, header, _| {
            let mut bytes = Vec::new();
            reader.take(64).read_to_end(&mut bytes)?;
            if !header.descr.trim_start_matches(['<', '>', '|', '=']).starts_with(['S', 'U']) {
                return Err(Fault::file("it is not a word", RESAVE));
            }
            bytes.retain(|b| *b != 0);
            Ok(bytes)
        })
    }

    fn values(&mut self) -> Result<Vec<f64>, Fault> {
        let largest = self.largest;
        self.array("data", |reader, header, budget| {
            let dtype = header.dtype()?;
            let count = length(header)?;
            budget.entries(count, FileLocation::File)?;
            let mut values = Vec::new();
            values.reserve_exact(credible(count, largest));
            npy::read_numbers(reader, dtype, count, |bytes| {
                npy::decode(dtype, bytes, &mut values);
                Ok(())
            })?;
            Ok(values)
        })
    }

    /// `count` indices below `size`.
    fn indices(&mut self, key: &str, count: u64, size: usize) -> Result<Vec<u32>, Fault> {
        let largest = self.largest;
        self.array(key, |reader, header, _| {
            let found = length(header)?;
            if found != count {
                let what = format!("it has {found} entries but data has {count}");
                return Err(Fault::file(what, RESAVE));
            }
            let mut indices = Vec::new();
            indices.reserve_exact(credible(count, largest));
            whole_numbers(reader, header, |chunk| {
                if let Some(bad) = chunk.iter().find(|i| **i >= size as u64) {
                    let what = format!("index {bad} is outside a matrix with {size} of them");
                    return Err(Fault::file(what, RESAVE));
                }
                indices.extend(chunk.iter().map(|i| *i as u32));
                Ok(())
            })?;
            Ok(indices)
        })
    }

    /// At most `most` whole numbers of at most `largest`.
    fn whole(&mut self, key: &str, most: u64, largest: u64) -> Result<Vec<u64>, Fault> {
        self.array(key, |reader, header, _| {
            let count = length(header)?;
            if count > most {
                let what = format!("it has {count} entries where {most} belong");
                return Err(Fault::file(what, RESAVE));
            }
            let mut out = Vec::new();
            whole_numbers(reader, header, |chunk| {
                if let Some(bad) = chunk.iter().find(|i| **i > largest) {
                    let what = format!("{bad} is larger than {largest}");
                    return Err(Fault::file(what, RESAVE));
                }
                out.extend_from_slice(chunk);
                Ok(())
            })?;
            Ok(out)
        })
    }

    /// Opens a member, reads its header, lets `body` read the numbers and goes on to the end, where
    /// the checksum is compared.
    fn array<T>(
        &mut self,
        key: &str,
        body: impl FnOnce(&mut dyn Read, &NpyHeader, Budget) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.member(key, |mut reader, budget| {
            let header = NpyHeader::read(&mut reader)?;
            let out = body(reader, &header, budget)?;
            let spare = io::copy(&mut reader.take(SPARE), &mut io::sink())?;
            if spare == SPARE {
                return Err(Fault::file("it is longer than its header says", DAMAGED));
            }
            Ok(out)
        })
    }

    fn member<T>(
        &mut self,
        key: &str,
        body: impl FnOnce(&mut dyn Read, Budget) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let budget = self.budget;
        let damaged = || Fault::file("it is missing or damaged", DAMAGED).in_array(key);
        let file = self.zip.by_name(&format!("{key}.npy")).map_err(|_| damaged())?;
        body(&mut Checked(file), budget).map_err(|fault| fault.in_array(key))
    }
}

/// A member whose damage is told apart from a disk that fails.
struct Checked<R>(R);

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|e| match e.kind() {
            io::ErrorKind::Interrupted => e,
            _ if e.raw_os_error().is_some() => e,
            kind => io::Error::new(kind, Corrupt("the .npz archive is corrupt")),
        })
    }
}

/// Length of an array of one dimension.
fn length(header: &NpyHeader) -> Result<u64, Fault> {
    match header.shape[..] {
        [length] => Ok(length),
        ref other => {
            let what = format!("it has {} dimensions where 1 belongs", other.len());
            Err(Fault::file(what, RESAVE))
        }
    }
}

/// Reads an array of whole numbers chunk by chunk.
fn whole_numbers(
    reader: &mut dyn Read,
    header: &NpyHeader,
    mut take: impl FnMut(&[u64]) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let dtype = header.dtype()?;
    let mut chunk = Vec::new();
    npy::read_numbers(reader, dtype, length(header)?, |bytes| {
        chunk.clear();
        if !npy::decode_whole(dtype, bytes, &mut chunk) {
            return Err(Fault::file("it holds other things than whole numbers from 0", RESAVE));
        }
        take(&chunk)
    })
}

fn list(keys: &[String]) -> String {
    const MOST: usize = 12;
    let mut out: Vec<String> = keys.iter().take(MOST).map(|k| quote(k.as_bytes())).collect();
    if keys.len() > MOST {
        out.push("…".to_owned());
    }
    out.join(", ")
}
