//! The calls by which everything is written, in one place: what they do, and in tests what happens when
//! one of them fails.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// A file that is being written.
#[derive(Debug)]
pub struct Output(File);

impl Output {
    /// A new file, which can be read again.
    pub(super) fn create_new(path: &Path) -> io::Result<Output> {
        faults::call("create")?;
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
        // Tells whoever tidies up that the file has an owner. Where locks are unknown, its name does.
        let _ = file.try_lock();
        Ok(Output(file))
    }

    /// A device or a pipe.
    pub(super) fn open(path: &Path) -> io::Result<Output> {
        faults::call("create")?;
        Ok(Output(OpenOptions::new().write(true).open(path)?))
    }

    /// Cuts the file, or lengthens it with zeros.
    pub(crate) fn set_len(&self, length: u64) -> io::Result<()> {
        faults::call("write")?;
        self.0.set_len(length)
    }

    /// Makes sure that all bytes are on the disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        faults::call("sync")?;
        self.0.sync_all()
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        faults::call("write")?;
        self.0.write(faults::part(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Read for Output {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        faults::call("read")?;
        self.0.read(buffer)
    }
}

impl Seek for Output {
    fn seek(&mut self, place: SeekFrom) -> io::Result<u64> {
        self.0.seek(place)
    }
}

/// Gives a file another name, in place of whatever had it.
pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    faults::call("rename")?;
    fs::rename(from, to)
}

/// Gives a file a second name.
pub(super) fn link(from: &Path, to: &Path) -> io::Result<()> {
    faults::call("link")?;
    fs::hard_link(from, to)
}

/// Makes sure that the names of a folder are on the disk, where the system can do that.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    faults::call("sync")?;
    if !cfg!(unix) {
        return Ok(());
    }
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        // Some file systems have no such thing, and a folder may be writable but not readable.
        Err(error) if matches!(error.raw_os_error(), Some(EINVAL | ENOTSUP | EACCES)) => Ok(()),
        done => done,
    }
}

const EACCES: i32 = 13;
const EINVAL: i32 = 22;
const ENOTSUP: i32 = 95;

#[cfg(not(test))]
mod faults {
    #[inline]
    pub fn call(_: &'static str) -> std::io::Result<()> {
        Ok(())
    }

    #[inline]
    pub fn part(bytes: &[u8]) -> &[u8] {
        bytes
    }
}

/// Faults of the disk, call by call.
#[cfg(test)]
pub(crate) mod faults {
    use std::cell::RefCell;
    use std::io;

    /// What goes wrong in this thread.
    #[derive(Default)]
    struct Plan {
        calls: Vec<&'static str>,
        /// Which call fails, from 0.
        fails: Option<usize>,
        /// Whether writes take one byte in two only.
        short: bool,
    }

    thread_local!(static PLAN: RefCell<Plan> = RefCell::default());

    /// Runs `work` while the call with this number fails, and writes may be short; gives the names of all
    /// calls as well.
    pub fn with<T>(
        fails: Option<usize>,
        short: bool,
        work: impl FnOnce() -> T,
    ) -> (T, Vec<&'static str>) {
        PLAN.with_borrow_mut(|plan| *plan = Plan { calls: Vec::new(), fails, short });
        let done = work();
        (done, PLAN.take().calls)
    }

    pub fn call(name: &'static str) -> io::Result<()> {
        PLAN.with_borrow_mut(|plan| {
            plan.calls.push(name);
            match plan.fails {
                Some(number) if number + 1 == plan.calls.len() => {
                    Err(io::Error::other(format!("injected: {name}")))
                }
                _ => Ok(()),
            }
        })
    }

    pub fn part(bytes: &[u8]) -> &[u8] {
        let short = PLAN.with_borrow(|plan| plan.short);
        if short { &bytes[..bytes.len().div_ceil(2)] } else { bytes }
    }
}
