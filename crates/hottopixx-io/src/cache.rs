//! Where the `.hpx` of a text file is kept, and when it may be used.
//!
//! Text is parsed once. The next run with the same options maps what the first has written, when
//! nothing says that the text is another: its length, the time of its last change, a hash of blocks
//! spread over it, its format and the options must all be the same. A cache that is stale, cut or
//! damaged is not used and written again; one that cannot be written is no error.

use crate::budget::Budget;
use crate::error::Error;
use crate::format::Format;
use crate::hpx::{self, Contents, Hash, Origin};
use crate::load::{LoadOptions, Loaded};
use crate::source::display_name;
use crate::{table, write};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Text files from this size on are kept, unless a folder is named.
const LEAST: u64 = 64 << 20;

/// Whether text files are kept as `.hpx` when they have been read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Cache {
    /// Never, and none is looked for.
    #[default]
    Off,
    /// Files of 64 MiB and more, in their own folder: `.NAME.hpx` for `NAME`, and
    /// `.NAME.transposed.hpx` when transposed. Smaller ones only when they have to be built on disk.
    Beside,
    /// Files of any size, in this folder, which is made when it does not exist.
    Folder(PathBuf),
}

/// What became of the cache.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum CacheUse {
    /// There was none, or none was wanted.
    #[default]
    Unused,
    /// The matrix comes from this file.
    Read(PathBuf),
    /// The matrix was written to this file for the next time.
    Written(PathBuf),
    /// It could not be written; the reason.
    Failed(PathBuf, String),
}

/// The cache of one file, read with certain options.
pub(crate) struct Keeper {
    source: PathBuf,
    place: PathBuf,
    origin: Origin,
    /// Whether the file is worth a cache in any case.
    wanted: bool,
}

/// What is known of a file before it is opened to be read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Facts {
    length: u64,
    seconds: i64,
    nanos: u32,
    sample: u64,
}

impl Facts {
    /// Of a regular file that can be read.
    pub fn of(path: &Path) -> Option<Facts> {
        // Opening a pipe would wait for its other end.
        fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        let mut file = File::open(path).ok()?;
        let metadata = file.metadata().ok().filter(fs::Metadata::is_file)?;
        let modified = metadata.modified().ok()?;
        let (seconds, nanos) = match modified.duration_since(UNIX_EPOCH) {
            Ok(after) => (i64::try_from(after.as_secs()).ok()?, after.subsec_nanos()),
            Err(e) => {
                let before = e.duration();
                (-i64::try_from(before.as_secs()).ok()?, before.subsec_nanos())
            }
        };
        let sample = sample(&mut file, metadata.len())?;
        Some(Facts { length: metadata.len(), seconds, nanos, sample })
    }
}

/// The options that change what is read, beside format and orientation.
fn said(format: Format, options: &LoadOptions) -> String {
    let key = options.key.as_deref().unwrap_or("");
    if !format.is_table() {
        return key.to_owned();
    }
    format!("{key}\0{}\0{:?}", table::VERSION, options.table)
}

/// Hash of at most 64 blocks of 4 KiB, evenly spread from the first to the last: a file of at most
/// 256 KiB is looked at completely.
fn sample(file: &mut File, length: u64) -> Option<u64> {
    const BLOCK: u64 = 4096;
    const BLOCKS: u64 = 64;
    let last = length.saturating_sub(1) / BLOCK;
    let count = BLOCKS.min(last + 1);
    let (mut hash, mut block) = (Hash::new(), Vec::new());
    for k in 0..count {
        let number =
            if count == 1 { 0 } else { u128::from(last) * u128::from(k) / u128::from(count - 1) };
        file.seek(SeekFrom::Start(number as u64 * BLOCK)).ok()?;
        block.clear();
        file.take(BLOCK).read_to_end(&mut block).ok()?;
        hash = hash.add(&block);
    }
    Some(hash.finish())
}

impl Keeper {
    /// The cache of `path`, of which `facts` were true before it was opened.
    pub fn new(path: &Path, facts: Facts, format: Format, options: &LoadOptions) -> Option<Keeper> {
        if !format.is_text() {
            return None;
        }
        let key = said(format, options);
        let origin = Origin {
            length: facts.length,
            seconds: facts.seconds,
            nanos: facts.nanos,
            sample: facts.sample,
            format: Format::ALL.iter().position(|f| *f == format)? as u16,
            transpose: options.transpose,
            options: Hash::new().add(key.as_bytes()).finish(),
        };
        let file_name = path.file_name()?;
        let (place, wanted) = match &options.cache {
            Cache::Off => return None,
            Cache::Beside => {
                let mut name = OsString::from(".");
                name.push(file_name);
                name.push(if options.transpose { ".transposed.hpx" } else { ".hpx" });
                (path.with_file_name(name), facts.length >= LEAST)
            }
            Cache::Folder(folder) => {
                let whole = fs::canonicalize(path).ok()?;
                let hash = Hash::new()
                    .add(whole.as_os_str().as_encoded_bytes())
                    .add(&[0, origin.format as u8, u8::from(origin.transpose)])
                    .add(key.as_bytes());
                let mut name = file_name.to_owned();
                name.push(format!("-{:016x}.hpx", hash.finish()));
                (folder.join(name), true)
            }
        };
        Some(Keeper { source: path.to_owned(), place, origin, wanted })
    }

    /// The file.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// What it is made from.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// What an earlier run has left, if it is sound and from the same file and options.
    pub fn fetch(&self, budget: Budget) -> Option<Loaded> {
        let file = File::open(&self.place).ok()?;
        let parsed = hpx::fetch(file, &self.origin, budget).ok()??;
        let format = Format::ALL[usize::from(self.origin.format)];
        let loaded = parsed.finish(format, false, budget).ok()?;
        Some(Loaded { cache: CacheUse::Read(self.place.clone()), ..loaded })
    }

    /// Writes what has been read, if it is worth it.
    pub fn store(&self, loaded: &Loaded) -> CacheUse {
        if !self.wanted {
            return CacheUse::Unused;
        }
        let done = self.prepare().and_then(|()| {
            let contents = Contents {
                matrix: &loaded.matrix,
                row_names: loaded.row_names.as_deref(),
                col_names: loaded.col_names.as_deref(),
                labels: loaded.labels.as_deref(),
                origin: Some(self.origin),
            };
            write::atomic(&self.place, |file| {
                contents.write(file)?;
                self.check_source()
            })
            .map_err(reason)
        });
        match done {
            Ok(()) => CacheUse::Written(self.place.clone()),
            Err(reason) => CacheUse::Failed(self.place.clone(), reason),
        }
    }

    /// Makes the folder.
    pub fn prepare(&self) -> Result<(), String> {
        match self.place.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            Some(folder) => fs::create_dir_all(folder).map_err(|e| e.to_string()),
            None => Ok(()),
        }
    }

    /// Fails when the source has changed since its facts were taken.
    pub fn check_source(&self) -> std::io::Result<()> {
        let now = Facts::of(&self.source);
        let same = now.is_some_and(|now| {
            let origin = &self.origin;
            let then = (origin.length, origin.seconds, origin.nanos, origin.sample);
            then == (now.length, now.seconds, now.nanos, now.sample)
        });
        if same {
            return Ok(());
        }
        let what = format!("{} has changed meanwhile", display_name(&self.source));
        Err(std::io::Error::other(what))
    }
}

/// Why a file could not be written, without its name.
fn reason(error: Error) -> String {
    match error {
        Error::Write { source, .. } => source.to_string(),
        other => other.to_string(),
    }
}

impl CacheUse {
    /// A sentence for the user, where there is something to know.
    pub fn note(&self) -> Option<String> {
        match self {
            CacheUse::Unused | CacheUse::Read(_) => None,
            CacheUse::Written(path) => Some(format!(
                "{} written, to load this file faster the next time; --no-cache turns this off",
                display_name(path)
            )),
            CacheUse::Failed(path, reason) => Some(format!(
                "{} could not be written ({reason}), so this file will take as long the next \
                 time: choose a folder with --cache DIR, or --no-cache",
                display_name(path)
            )),
        }
    }
}
