//! The header of a `.hpx` file: 256 bytes, all numbers little endian.
//!
//! | bytes | hold |
//! |---|---|
//! | 0..8 | magic |
//! | 8..16 | version, flags |
//! | 16..40 | rows, columns, stored entries |
//! | 40..48 | length of the whole file |
//! | 48..144 | begin and length of six sections: starts, columns, values, row names, column names, labels |
//! | 144..212 | for a cache, what it was made from ([`Origin`]) |
//! | 248..256 | checksum of all bytes before |
//!
//! The sections stand in this order, each at the next multiple of 64 bytes, so that their places
//! follow from the sizes. A header whose places differ from these is refused: nothing in it is
//! believed that has not been computed again.

use crate::error::Fault;

/// First bytes of every `.hpx` file; as in PNG, they do not survive a transfer as text.
pub(crate) const MAGIC: &[u8; 8] = b"\x89HPX\r\n\x1a\n";

/// Bytes of the header.
pub(crate) const SIZE: usize = 256;

const VERSION: u32 = 1;
const ALIGN: u64 = 64;
const CHECKSUM: usize = 248;
const DAMAGED: &str = "make the file again, or copy it again";

const SPARSE: u32 = 1;
const ROW_NAMES: u32 = 2;
const COL_NAMES: u32 = 4;
const LABELS: u32 = 8;
const CACHE: u32 = 16;

/// What the file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HpxHeader {
    pub sparse: bool,
    pub rows: u64,
    pub cols: u64,
    /// Entries stored: `rows * cols` of a dense matrix.
    pub stored: u64,
    /// Bytes of the row names and of the column names, where there are any.
    pub row_names: Option<u64>,
    pub col_names: Option<u64>,
    /// Whether there is a label for each sample, and how many.
    pub labels: Option<u64>,
    /// For a cache, what it was made from.
    pub origin: Option<Origin>,
}

/// The file that a cache was made from, and how: any difference makes the cache worthless.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Origin {
    pub length: u64,
    /// Time of the last change, since 1970.
    pub seconds: i64,
    pub nanos: u32,
    /// Number of the format, and whether the matrix was transposed.
    pub format: u16,
    pub transpose: bool,
    /// Half of the SHA-256 of all bytes.
    pub contents: u64,
    /// Where the file was and when its entry there last changed, which nobody can set back: while both are
    /// the same, so are its bytes. Zeros where that is not known, or was too recent to tell.
    pub identity: FileIdentity,
    /// Hash of the other options.
    pub options: u64,
}

/// A file of a system, as it was after its last change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct FileIdentity {
    pub device: u64,
    pub inode: u64,
    pub seconds: i64,
    pub nanos: u32,
}

/// A part of the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Section {
    pub begin: u64,
    pub length: u64,
}

/// Where everything is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sections {
    pub starts: Section,
    pub columns: Section,
    pub values: Section,
    pub row_names: Section,
    pub col_names: Section,
    pub labels: Section,
    /// Length of the file.
    pub total: u64,
}

impl Sections {
    fn list(&self) -> [Section; 6] {
        [self.starts, self.columns, self.values, self.row_names, self.col_names, self.labels]
    }
}

impl HpxHeader {
    /// Where everything is; `None` when the sizes are beyond all files.
    pub fn sections(&self) -> Option<Sections> {
        let mut total = SIZE as u64;
        let mut next = |length: Option<u64>| {
            let length = length?;
            let begin = total.checked_next_multiple_of(ALIGN)?;
            total = begin.checked_add(length)?;
            Some(Section { begin, length })
        };
        let sparse = u64::from(self.sparse);
        let mut out = Sections {
            starts: next(self.rows.checked_add(1)?.checked_mul(8 * sparse))?,
            columns: next(self.stored.checked_mul(4 * sparse))?,
            values: next(self.stored.checked_mul(8))?,
            row_names: next(Some(self.row_names.unwrap_or(0)))?,
            col_names: next(Some(self.col_names.unwrap_or(0)))?,
            labels: next(self.labels.unwrap_or(0).checked_mul(8))?,
            total: 0,
        };
        out.total = total;
        // Numbers of a file must be countable by `i64`, as the operating system does it.
        i64::try_from(total).is_ok().then_some(out)
    }

    fn flags(&self) -> u32 {
        let mut flags = 0;
        for (is, flag) in [
            (self.sparse, SPARSE),
            (self.row_names.is_some(), ROW_NAMES),
            (self.col_names.is_some(), COL_NAMES),
            (self.labels.is_some(), LABELS),
            (self.origin.is_some(), CACHE),
        ] {
            flags |= if is { flag } else { 0 };
        }
        flags
    }

    /// The bytes; `None` when the sizes are beyond all files.
    pub fn encode(&self) -> Option<[u8; SIZE]> {
        let sections = self.sections()?;
        let mut bytes = [0u8; SIZE];
        bytes[..8].copy_from_slice(MAGIC);
        put(&mut bytes, 8, VERSION);
        put(&mut bytes, 12, self.flags());
        let sizes = [self.rows, self.cols, self.stored, sections.total];
        let places = sections.list().into_iter().flat_map(|s| [s.begin, s.length]);
        for (k, number) in sizes.into_iter().chain(places).enumerate() {
            bytes[16 + 8 * k..][..8].copy_from_slice(&number.to_le_bytes());
        }
        if let Some(origin) = &self.origin {
            bytes[144..152].copy_from_slice(&origin.length.to_le_bytes());
            bytes[152..160].copy_from_slice(&origin.seconds.to_le_bytes());
            put(&mut bytes, 160, origin.nanos);
            put(&mut bytes, 164, u32::from(origin.format) | u32::from(origin.transpose) << 16);
            bytes[168..176].copy_from_slice(&origin.contents.to_le_bytes());
            bytes[176..184].copy_from_slice(&origin.options.to_le_bytes());
            bytes[184..192].copy_from_slice(&origin.identity.device.to_le_bytes());
            bytes[192..200].copy_from_slice(&origin.identity.inode.to_le_bytes());
            bytes[200..208].copy_from_slice(&origin.identity.seconds.to_le_bytes());
            put(&mut bytes, 208, origin.identity.nanos);
        }
        let sum = hash(&bytes[..CHECKSUM]);
        bytes[CHECKSUM..].copy_from_slice(&sum.to_le_bytes());
        Some(bytes)
    }

    /// From the bytes. What it says fits together, but says nothing yet about the file behind it.
    pub fn decode(bytes: &[u8]) -> Result<(HpxHeader, Sections), Fault> {
        let Some(bytes) = bytes.first_chunk::<SIZE>().filter(|b| b.starts_with(MAGIC)) else {
            let what = "this is not a .hpx file, its first bytes are others";
            return Err(Fault::file(what, "name its true format with --format"));
        };
        let version = narrow(bytes, 8);
        if version != VERSION {
            let what = format!("version {version} of the .hpx format is unknown");
            return Err(Fault::file(what, "make the file again with this program"));
        }
        if hash(&bytes[..CHECKSUM]) != wide(bytes, CHECKSUM) {
            return Err(damaged());
        }
        let flags = narrow(bytes, 12);
        let has = |flag: u32| flags & flag != 0;
        let length = |flag: u32, at: usize| has(flag).then(|| wide(bytes, at + 8));
        let header = HpxHeader {
            sparse: has(SPARSE),
            rows: wide(bytes, 16),
            cols: wide(bytes, 24),
            stored: wide(bytes, 32),
            row_names: length(ROW_NAMES, 96),
            col_names: length(COL_NAMES, 112),
            labels: length(LABELS, 128).map(|bytes| bytes / 8),
            origin: has(CACHE).then(|| Origin {
                length: wide(bytes, 144),
                seconds: wide(bytes, 152) as i64,
                nanos: narrow(bytes, 160),
                format: narrow(bytes, 164) as u16,
                transpose: narrow(bytes, 164) >> 16 & 1 == 1,
                contents: wide(bytes, 168),
                options: wide(bytes, 176),
                identity: FileIdentity {
                    device: wide(bytes, 184),
                    inode: wide(bytes, 192),
                    seconds: wide(bytes, 200) as i64,
                    nanos: narrow(bytes, 208),
                },
            }),
        };
        let dense = header.sparse || header.rows.checked_mul(header.cols) == Some(header.stored);
        match header.sections() {
            // Writing it again gives the same bytes, so that nothing in it contradicts itself.
            Some(sections) if dense && header.encode().is_some_and(|again| again == *bytes) => {
                Ok((header, sections))
            }
            _ => Err(damaged()),
        }
    }
}

fn damaged() -> Fault {
    Fault::file("the header of the .hpx file is damaged", DAMAGED)
}

/// A fault for bytes behind the header that do not fit it.
pub(crate) fn fault(what: impl Into<String>) -> Fault {
    Fault::file(what, DAMAGED)
}

fn put(bytes: &mut [u8; SIZE], at: usize, number: u32) {
    bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
}

fn narrow(bytes: &[u8; SIZE], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn wide(bytes: &[u8; SIZE], at: usize) -> u64 {
    u64::from(narrow(bytes, at)) | u64::from(narrow(bytes, at + 4)) << 32
}

/// FNV-1a of 64 bits: enough against damage, not against intent; nothing relies on it alone.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    Hash::new().add(bytes).finish()
}

/// The same, of bytes that come in pieces.
#[derive(Clone, Copy)]
pub(crate) struct Hash(u64);

impl Hash {
    pub fn new() -> Self {
        Hash(0xcbf2_9ce4_8422_2325)
    }

    pub fn add(self, bytes: &[u8]) -> Self {
        let step = |h: u64, b: &u8| (h ^ u64::from(*b)).wrapping_mul(0x0000_0100_0000_01b3);
        Hash(bytes.iter().fold(self.0, step))
    }

    pub fn finish(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> HpxHeader {
        HpxHeader {
            sparse: true,
            rows: 3,
            cols: 4,
            stored: 5,
            row_names: Some(19),
            col_names: None,
            labels: Some(3),
            origin: Some(Origin {
                length: 1 << 40,
                seconds: -7,
                nanos: 999_999_999,
                format: 6,
                transpose: true,
                contents: u64::MAX,
                options: 1,
                identity: FileIdentity { device: 1, inode: 2, seconds: -3, nanos: 4 },
            }),
        }
    }

    #[test]
    fn sections_are_aligned_and_in_order() {
        let (read, sections) = HpxHeader::decode(&header().encode().unwrap()).unwrap();
        assert_eq!(read, header());
        assert_eq!(sections.starts, Section { begin: 256, length: 32 });
        assert_eq!(sections.columns, Section { begin: 320, length: 20 });
        assert_eq!(sections.values, Section { begin: 384, length: 40 });
        assert_eq!(sections.row_names, Section { begin: 448, length: 19 });
        assert_eq!(sections.labels, Section { begin: 512, length: 24 });
        assert_eq!(sections.total, 536);
    }

    #[test]
    fn any_changed_byte_is_noticed() {
        let good = header().encode().unwrap();
        for k in 0..SIZE {
            let mut bad = good;
            bad[k] ^= 0x10;
            assert!(HpxHeader::decode(&bad).is_err(), "byte {k}");
        }
        for length in 0..SIZE {
            assert!(HpxHeader::decode(&good[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn a_forged_checksum_does_not_help() {
        let good = header().encode().unwrap();
        for k in (12..144).chain(212..CHECKSUM) {
            let mut bad = good;
            bad[k] ^= 0x10;
            let sum = hash(&bad[..CHECKSUM]);
            bad[CHECKSUM..].copy_from_slice(&sum.to_le_bytes());
            // The number of columns is free, and names may be shorter than their place: both are
            // checked against what the sections hold.
            let free = (24..32).contains(&k) || k == 104;
            assert_eq!(HpxHeader::decode(&bad).is_err(), !free, "byte {k}");
        }
    }

    #[test]
    fn impossible_sizes() {
        let huge = |rows, stored| HpxHeader { rows, stored, ..header() };
        for header in [huge(u64::MAX, 5), huge(3, u64::MAX / 4), huge(3, 1 << 60)] {
            assert_eq!(header.encode(), None);
        }
        let dense = HpxHeader { sparse: false, stored: 5, ..header() };
        assert!(HpxHeader::decode(&dense.encode().unwrap()).is_err());
    }
}
