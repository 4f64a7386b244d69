//! The file of `--checkpoint`: the state of a run between two epochs.
//!
//! Magic, version, the fingerprint of the data and settings, the state, and at the end its length
//! and hash. It is written under another name and then renamed, so that a run killed at any moment
//! leaves the state before or the state after, never a part of one.

use crate::error::{Error, FileLocation};
use crate::hpx::Hash;
use crate::source::display_name;
use crate::write;
use hottopixx::checkpoint::{Keeper, Writer};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

const MAGIC: &[u8; 8] = b"hottopix";
const VERSION: u32 = 1;
/// Bytes before the state: magic, version, fingerprint; and behind it: length, hash.
const HEAD: u64 = 8 + 4 + 8;
const TAIL: u64 = 8 + 8;

const BUFFER: usize = if cfg!(fuzzing) { 1 << 10 } else { 1 << 20 };

/// Who is told that a state could not be saved.
type Told = Box<dyn Fn(&Error) + Send + Sync>;

/// A file that keeps the state of a run.
pub struct Checkpoint {
    path: PathBuf,
    fingerprint: u64,
    every: Duration,
    resume: bool,
    saved: Mutex<Saved>,
    told: Option<Told>,
}

impl std::fmt::Debug for Checkpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Checkpoint").field("path", &self.path).finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct Saved {
    last: Instant,
    failure: Option<Error>,
    /// How often it could not be saved.
    failures: usize,
}

impl Checkpoint {
    /// Keeps the state of the run with this fingerprint in a file, at most once in `every`.
    pub fn new(path: impl Into<PathBuf>, fingerprint: u64, every: Duration) -> Self {
        let saved = Mutex::new(Saved { last: Instant::now(), failure: None, failures: 0 });
        let path = path.into();
        write::remove_orphans(&path);
        Checkpoint { path, fingerprint, every, resume: false, saved, told: None }
    }

    /// Calls `told` when a state could not be saved for the first time: a run of a week should not find out
    /// at its end.
    pub fn when_failing(mut self, told: impl Fn(&Error) + Send + Sync + 'static) -> Self {
        self.told = Some(Box::new(told));
        self
    }

    /// Goes on from the state in the file, if it exists; `true` when it does.
    ///
    /// # Errors
    /// [`Error::Malformed`] when the file is not a whole checkpoint or belongs to other data or
    /// settings.
    pub fn take_up(&mut self) -> Result<bool, Error> {
        self.resume = match File::open(&self.path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => false,
            Err(source) => return Err(Error::Read { file: display_name(&self.path), source }),
            Ok(file) => {
                self.check(file)?;
                true
            }
        };
        Ok(self.resume)
    }

    /// Whether the last attempt to save failed, and why.
    pub fn failure(&self) -> Option<Error> {
        self.saved.lock().ok()?.failure.take()
    }

    /// Removes the file, which the finished run needs no more.
    pub fn remove(&self) {
        // Nothing is lost when it stays.
        let _ = std::fs::remove_file(&self.path);
    }

    /// Reads the whole file once and compares length and hash.
    fn check(&self, file: File) -> Result<(), Error> {
        let fail = |what: &str, remedy: &str| Error::Malformed {
            file: display_name(&self.path),
            place: FileLocation::File,
            what: what.to_owned(),
            remedy: remedy.to_owned(),
        };
        let read = |source| Error::Read { file: display_name(&self.path), source };
        let damaged =
            || fail("it is not a checkpoint, or a damaged one", "remove it and start anew");
        let length = file.metadata().map_err(read)?.len();
        let mut input = BufReader::with_capacity(BUFFER, file);
        let mut head = [0; HEAD as usize];
        if length < HEAD + TAIL {
            return Err(damaged());
        }
        input.read_exact(&mut head).map_err(read)?;
        if !head.starts_with(MAGIC) {
            return Err(damaged());
        }
        if head[8..12] != VERSION.to_le_bytes() {
            let remedy = "finish the run with that version, or remove it";
            return Err(fail("it was written by another version of this program", remedy));
        }
        let mut sum = Sum::new();
        let state = length - HEAD - TAIL;
        let copied = io::copy(&mut (&mut input).take(state), &mut sum).map_err(read)?;
        let mut tail = [0; TAIL as usize];
        input.read_exact(&mut tail).map_err(read)?;
        if copied != state || tail != sum.tail() {
            return Err(damaged());
        }
        if head[12..20] != self.fingerprint.to_le_bytes() {
            let what = "it belongs to a run on other data or with other settings";
            return Err(fail(what, "repeat that run's options, or remove it"));
        }
        Ok(())
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Keeper for Checkpoint {
    fn resume(&self) -> io::Result<Option<Box<dyn Read + '_>>> {
        if !self.resume {
            return Ok(None);
        }
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(HEAD))?;
        Ok(Some(Box::new(BufReader::with_capacity(BUFFER, file))))
    }

    fn due(&self) -> bool {
        self.saved.lock().is_ok_and(|saved| saved.last.elapsed() >= self.every)
    }

    fn save(&self, state: &Writer<'_>) {
        let written = write::atomic(&self.path, |file| {
            file.write_all(MAGIC)?;
            file.write_all(&VERSION.to_le_bytes())?;
            file.write_all(&self.fingerprint.to_le_bytes())?;
            let mut body = Body { file, sum: Sum::new() };
            state(&mut body)?;
            let tail = body.sum.tail();
            file.write_all(&tail)
        });
        let Ok(mut saved) = self.saved.lock() else { return };
        if let (Err(error), Some(told), 0) = (&written, &self.told, saved.failures) {
            told(error);
        }
        let failures = saved.failures + usize::from(written.is_err());
        *saved = Saved { last: Instant::now(), failure: written.err(), failures };
    }
}

/// Length and hash of what passes.
struct Sum {
    length: u64,
    hash: Hash,
}

impl Sum {
    fn new() -> Self {
        Sum { length: 0, hash: Hash::new() }
    }

    fn tail(self) -> [u8; TAIL as usize] {
        let mut tail = [0; TAIL as usize];
        tail[..8].copy_from_slice(&self.length.to_le_bytes());
        tail[8..].copy_from_slice(&self.hash.finish().to_le_bytes());
        tail
    }
}

impl Write for Sum {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.length += bytes.len() as u64;
        self.hash = self.hash.add(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes on and adds up.
struct Body<'a, W> {
    file: &'a mut W,
    sum: Sum,
}

impl<W: Write> Write for Body<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.sum.write(&bytes[..written])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keeper(path: &Path, fingerprint: u64) -> Checkpoint {
        Checkpoint::new(path, fingerprint, Duration::ZERO)
    }

    #[test]
    fn a_state_comes_back_and_anything_else_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.checkpoint");
        let mut first = keeper(&path, 7);
        assert!(!first.take_up().unwrap() && Keeper::resume(&first).unwrap().is_none());
        assert!(first.due());
        first.save(&|out| out.write_all(b"the state"));
        assert!(first.failure().is_none());
        let mut again = keeper(&path, 7);
        assert!(again.take_up().unwrap());
        let mut state = Vec::new();
        Keeper::resume(&again).unwrap().unwrap().take(9).read_to_end(&mut state).unwrap();
        assert_eq!(state, b"the state");
        let refused = |fingerprint, bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            keeper(&path, fingerprint).take_up().unwrap_err().to_string()
        };
        let whole = std::fs::read(&path).unwrap();
        assert!(refused(8, &whole).contains("other data or with other settings"));
        for end in 0..whole.len() {
            refused(7, &whole[..end]);
        }
        for at in 0..whole.len() {
            let mut bad = whole.clone();
            bad[at] ^= 0x20;
            refused(7, &bad);
        }
    }

    #[test]
    fn a_failed_save_is_told_and_leaves_the_state_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.checkpoint");
        let checkpoint = keeper(&path, 7);
        checkpoint.save(&|out| out.write_all(b"good"));
        let said = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let count = said.clone();
        let checkpoint = checkpoint.when_failing(move |error| {
            assert!(error.to_string().contains("no room"));
            count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        });
        for _ in 0..3 {
            checkpoint.save(&|_| Err(io::Error::other("no room")));
            assert_eq!(said.load(std::sync::atomic::Ordering::SeqCst), 1, "at once, and once");
        }
        assert!(checkpoint.failure().unwrap().to_string().contains("no room"));
        assert!(keeper(&path, 7).take_up().unwrap());
        checkpoint.remove();
        assert!(!path.exists());
    }
}
