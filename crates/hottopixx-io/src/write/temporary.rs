//! Files under a name of their own until they are whole, and what is left of those that never were.
//!
//! `.NAME.PROCESS-NUMBER.tmp` stands beside `NAME` and is locked while it is written. One whose process is
//! gone and that nobody has locked is an orphan: later writers of `NAME` take it away.

use super::disk::{self, Output};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A file that is whole but has not its name yet; without [`Temporary::rename`] it goes away.
#[derive(Debug)]
pub(super) struct Temporary {
    path: PathBuf,
    target: PathBuf,
    /// Keeps the lock.
    _file: Output,
    kept: bool,
}

impl Temporary {
    /// What `body` writes, on the disk beside `target`.
    pub fn write(
        target: &Path,
        body: impl FnOnce(&mut BufWriter<Output>) -> io::Result<()>,
    ) -> io::Result<Temporary> {
        // A link keeps its name and its target gets the bytes.
        let target = fs::canonicalize(target).unwrap_or_else(|_| target.to_owned());
        let (path, file) = create_beside(&target)?;
        let mut file = BufWriter::with_capacity(1 << 16, file);
        let done = body(&mut file).and_then(|()| file.flush());
        let (file, _) = file.into_parts();
        let temporary = Temporary { path, target, _file: file, kept: false };
        done.and_then(|()| temporary._file.sync()).map(|()| temporary)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where it belongs.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Gives it its name.
    pub fn rename(&mut self) -> io::Result<()> {
        disk::rename(&self.path, &self.target)?;
        self.kept = true;
        Ok(())
    }

    /// The folder in which it is.
    pub fn folder(&self) -> &Path {
        folder_of(&self.target)
    }

    /// A name beside it that nobody has.
    pub fn other_name(&self) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(".old.tmp");
        name.into()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.kept {
            // What went wrong before is what is reported.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// The folder of a file.
pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// A new file in the folder of `path`, under a name that no other writer has.
fn create_beside(path: &Path) -> io::Result<(PathBuf, Output)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let Some(name) = path.file_name() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path names no file"));
    };
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut temporary = OsString::from(".");
        temporary.push(name);
        temporary.push(format!(".{}-{number}.tmp", std::process::id()));
        let temporary = path.with_file_name(temporary);
        match Output::create_new(&temporary) {
            Ok(file) => return Ok((temporary, file)),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
    }
}

/// Takes away what writers of these files that did not come to their end have left in a folder.
pub(super) fn remove_orphans(folder: &Path, names: &[&str]) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let Some((of, process)) = name.to_str().and_then(parts) else { continue };
        if names.contains(&of) && is_orphan(&entry.path(), process) {
            // One that stays does no harm.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The file that a temporary one was to become, and its process.
fn parts(temporary: &str) -> Option<(&str, u32)> {
    let rest = temporary.strip_prefix('.')?.strip_suffix(".tmp")?;
    let rest = rest.strip_suffix(".tmp.old").unwrap_or(rest);
    let (name, numbers) = rest.rsplit_once('.')?;
    let (process, number) = numbers.split_once('-')?;
    number.parse::<u64>().ok()?;
    Some((name, process.parse().ok()?))
}

fn is_orphan(path: &Path, process: u32) -> bool {
    let runs = process == std::process::id() || Path::new(&format!("/proc/{process}")).exists();
    let plain = fs::symlink_metadata(path).is_ok_and(|m| m.is_file());
    // On another machine that shares the folder, the lock is all that tells.
    plain && !runs && File::open(path).is_ok_and(|file| file.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_nobody_writes_any_more_is_taken_away() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        // No process has the largest number.
        let gone = u32::MAX;
        let orphans = [format!(".F.npy.{gone}-0.tmp"), format!(".F.npy.{gone}-3.tmp.old.tmp")];
        let others = [
            format!(".W.npy.{gone}-0.tmp"),
            format!(".F.npy.{}-77.tmp", std::process::id()),
            format!("F.npy.{gone}-0.tmp"),
            ".F.npy.mine.tmp".to_owned(),
            "F.npy".to_owned(),
        ];
        orphans.iter().chain(&others).for_each(|name| fs::write(at(name), "x").unwrap());
        let locked = format!(".F.npy.{gone}-9.tmp");
        let owner = Output::create_new(&at(&locked)).unwrap();
        remove_orphans(folder.path(), &["F.npy"]);
        assert!(orphans.iter().all(|name| !at(name).exists()));
        assert!(others.iter().all(|name| at(name).exists()) && at(&locked).exists());
        drop(owner);
        remove_orphans(folder.path(), &["F.npy"]);
        assert!(!at(&locked).exists());
    }
}
