//! Where the `.hpx` of a text file is kept, and when it may be used.
//!
//! Text is parsed once. The next run with the same options maps what the first has written, when the text
//! is the same to the last byte, and so are its format and the options. That the bytes are the same is known
//! without reading them while the file is the one it was, unchanged since (the system's own note of its last
//! change, which no program can set); otherwise all of them are hashed, faster than they would be parsed.
//! A cache that is stale, cut or damaged is not used and written again; one that cannot be written is no
//! error.

use crate::budget::Budget;
use crate::error::Error;
use crate::format::Format;
use crate::hpx::{self, Contents, FileIdentity, Hash, Origin};
use crate::load::{LoadOptions, Loaded};
use crate::source::display_name;
use crate::table::Missing;
use crate::{table, write};
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

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
    facts: Facts,
    /// Number of the format, whether the matrix is turned, hash of the other options.
    settings: (u16, bool, u64),
    /// Whether the file is worth a cache in any case.
    wanted: bool,
}

/// What is known of a file before it is opened to be read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Facts {
    length: u64,
    seconds: i64,
    nanos: u32,
    /// Zeros where the system does not tell.
    identity: FileIdentity,
}

impl Facts {
    /// Of a regular file that can be read.
    pub fn of(path: &Path) -> Option<Facts> {
        // Opening a pipe would wait for its other end.
        let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        let modified = metadata.modified().ok()?;
        let (seconds, nanos) = match modified.duration_since(UNIX_EPOCH) {
            Ok(after) => (i64::try_from(after.as_secs()).ok()?, after.subsec_nanos()),
            Err(e) => {
                let before = e.duration();
                (-i64::try_from(before.as_secs()).ok()?, before.subsec_nanos())
            }
        };
        Some(Facts { length: metadata.len(), seconds, nanos, identity: identity(&metadata) })
    }

    /// The identity, unless the file changed so lately that the next change might bear the same time.
    fn settled_identity(&self) -> FileIdentity {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |now| now.as_secs() as i64);
        if now - self.identity.seconds > RECENT { self.identity } else { FileIdentity::default() }
    }
}

/// Seconds within which two changes of a file may bear the same time: on some file systems two.
const RECENT: i64 = 3;

#[cfg(unix)]
fn identity(metadata: &fs::Metadata) -> FileIdentity {
    use std::os::unix::fs::MetadataExt as _;
    FileIdentity {
        device: metadata.dev(),
        inode: metadata.ino(),
        seconds: metadata.ctime(),
        nanos: metadata.ctime_nsec() as u32,
    }
}

#[cfg(not(unix))]
fn identity(_: &fs::Metadata) -> FileIdentity {
    FileIdentity::default()
}

/// Hash of all bytes of a file.
fn contents(path: &Path) -> Option<u64> {
    let (_, sha256) = write::hash(File::open(path).ok()?).ok()?;
    u64::from_str_radix(&sha256[..16], 16).ok()
}

/// The options that change what is read, beside format and orientation.
fn said(format: Format, options: &LoadOptions) -> String {
    let key = options.key.as_deref().unwrap_or("");
    if !format.is_table() {
        return key.to_owned();
    }
    format!("{key}\0{}\0{:?}", table::VERSION, options.table)
}

impl Keeper {
    /// The cache of `path`, of which `facts` were true before it was opened.
    pub fn new(path: &Path, facts: Facts, format: Format, options: &LoadOptions) -> Option<Keeper> {
        if !format.is_text() {
            return None;
        }
        let key = said(format, options);
        let number = Format::ALL.iter().position(|f| *f == format)? as u16;
        let settings = (number, options.transpose, Hash::new().add(key.as_bytes()).finish());
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
                    .add(&[0, number as u8, u8::from(options.transpose)])
                    .add(key.as_bytes());
                let mut name = file_name.to_owned();
                name.push(format!("-{:016x}.hpx", hash.finish()));
                (folder.join(name), true)
            }
        };
        Some(Keeper { source: path.to_owned(), place, facts, settings, wanted })
    }

    /// The file.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// What it is made from; `None` when the file cannot be read, or is not what it was any more.
    pub fn origin(&self) -> Option<Origin> {
        let (format, transpose, options) = self.settings;
        let Facts { length, seconds, nanos, .. } = self.facts;
        let (contents, identity) = (contents(&self.source)?, self.facts.settled_identity());
        self.check_source().ok()?;
        Some(Origin { length, seconds, nanos, format, transpose, contents, options, identity })
    }

    /// Whether a cache was made from this file, read in this way.
    fn is_origin(&self, origin: &Origin) -> bool {
        let same = (origin.format, origin.transpose, origin.options) == self.settings
            && origin.length == self.facts.length;
        let known = origin.identity != FileIdentity::default();
        // Times are compared with the hash only: a copy of the file is as good.
        let unchanged = known && origin.identity == self.facts.identity;
        same && (unchanged || contents(&self.source) == Some(origin.contents))
    }

    /// What an earlier run has left, if it is sound and from the same file and options.
    pub fn fetch(&self, budget: Budget) -> Option<Loaded> {
        let file = File::open(&self.place).ok()?;
        let parsed = hpx::fetch(file, |origin| self.is_origin(origin), budget).ok()??;
        // Hashing takes its time, in which the text may have become another.
        self.check_source().ok()?;
        let format = Format::ALL[usize::from(self.settings.0)];
        // A cache belongs to the options of its table: what is missing in it was allowed to be.
        let missing = if format.is_table() { Missing::Observed } else { Missing::Refuse };
        let loaded = parsed.finish(format, false, missing, budget).ok()?;
        Some(Loaded { cache: CacheUse::Read(self.place.clone()), ..loaded })
    }

    /// Writes what has been read, if it is worth it.
    pub fn store(&self, loaded: &Loaded) -> CacheUse {
        if !self.wanted {
            return CacheUse::Unused;
        }
        let changed = || format!("{} has changed meanwhile", display_name(&self.source));
        let done =
            self.prepare().and_then(|()| self.origin().ok_or_else(changed)).and_then(|origin| {
                let contents = Contents {
                    matrix: &loaded.matrix,
                    row_names: loaded.row_names.as_deref(),
                    col_names: loaded.col_names.as_deref(),
                    labels: loaded.labels.as_deref(),
                    origin: Some(origin),
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

    /// Makes the folder, and takes away what runs that were ended have left of this cache.
    pub fn prepare(&self) -> Result<(), String> {
        write::remove_orphans(&self.place);
        match self.place.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            Some(folder) => fs::create_dir_all(folder).map_err(|e| e.to_string()),
            None => Ok(()),
        }
    }

    /// Fails when the source has changed since its facts were taken.
    pub fn check_source(&self) -> std::io::Result<()> {
        if Facts::of(&self.source) == Some(self.facts) {
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
