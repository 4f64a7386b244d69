//! Files that belong together: all of them appear, or none.
//!
//! They are written under other names first, whatever that takes; only when all are on the disk do they get
//! their names, one after the other and the file that describes the others last. If one of these steps
//! fails, those before are undone. A process that is killed between them leaves a mixture, which the
//! hashes in the last file tell.

use super::disk::{self, Output};
use super::temporary::Temporary;
use super::{npy, npz, remove_orphans_in};
use crate::error::Error;
use crate::source::display_name;
use hottopixx::matrix::{Dense, Matrix};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// Size and hash of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRecord {
    /// Its name in the folder.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
}

impl FileRecord {
    /// Of a file of a folder.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn of(folder: &Path, name: &str) -> io::Result<FileRecord> {
        let (bytes, sha256) = hash(File::open(folder.join(name))?)?;
        Ok(FileRecord { name: name.to_owned(), bytes, sha256 })
    }
}

/// Length and SHA-256 of all bytes, one piece at a time.
pub(crate) fn hash(mut input: impl Read) -> io::Result<(u64, String)> {
    let (mut sum, mut piece, mut bytes) = (Sha256::new(), vec![0; 1 << 16], 0);
    loop {
        match input.read(&mut piece) {
            Ok(0) => break,
            Ok(n) => {
                sum.update(&piece[..n]);
                bytes += n as u64;
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok((bytes, sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect()))
}

/// Files of one folder, written but without their names until [`FileSet::commit`]. Dropped before, they
/// are gone and nothing has changed.
#[derive(Debug)]
pub struct FileSet {
    folder: PathBuf,
    staged: Vec<(String, Temporary)>,
    stale: Vec<PathBuf>,
}

impl FileSet {
    /// An empty set of a folder that exists. `names` are all that may come: what earlier writers of them
    /// have left half done is taken away.
    pub fn new(folder: impl Into<PathBuf>, names: &[String]) -> FileSet {
        let folder = folder.into();
        remove_orphans_in(&folder, names);
        FileSet { folder, staged: Vec::new(), stale: Vec::new() }
    }

    /// Adds a file.
    ///
    /// # Errors
    /// [`Error::Write`] when it cannot be written.
    pub fn bytes(&mut self, name: &str, bytes: impl AsRef<[u8]>) -> Result<(), Error> {
        self.write(name, |file| file.write_all(bytes.as_ref()))
    }

    /// Adds `STEM.npy` for a dense matrix or `STEM.npz` for a sparse one; a file of the other kind goes
    /// away with the commit, or else it would be taken for part of the set.
    ///
    /// # Errors
    /// [`Error::Write`] when it cannot be written.
    pub fn matrix(&mut self, stem: &str, matrix: &Matrix) -> Result<(), Error> {
        let names = [format!("{stem}.npy"), format!("{stem}.npz")];
        match matrix {
            Matrix::Dense(m) => {
                self.remove(&names[1]);
                self.write(&names[0], |file| npy::write(file, m))
            }
            Matrix::Sparse(m) => {
                self.remove(&names[0]);
                self.write(&names[1], |file| npz::write(file, m))
            }
        }
    }

    /// Adds a `.npy` file: the numbers of a matrix as an array of this shape.
    ///
    /// # Errors
    /// [`Error::Write`] when it cannot be written.
    pub fn npy_shaped(&mut self, name: &str, values: &Dense, shape: &[usize]) -> Result<(), Error> {
        self.write(name, |file| npy::write_shaped(file, values.values(), shape))
    }

    /// Takes a file of an earlier run away with the commit.
    pub fn remove(&mut self, name: &str) {
        self.stale.push(self.folder.join(name));
    }

    /// Adds a file that is written piece by piece.
    ///
    /// # Errors
    /// [`Error::Write`] when it cannot be written.
    pub fn write(
        &mut self,
        name: &str,
        body: impl FnOnce(&mut BufWriter<Output>) -> io::Result<()>,
    ) -> Result<(), Error> {
        let path = self.folder.join(name);
        let fail = |source| Error::Write { file: display_name(&path), source };
        if fs::metadata(&path).is_ok_and(|m| !m.is_file()) {
            return Err(fail(io::Error::other("it exists and is no file")));
        }
        let temporary = Temporary::write(&path, body).map_err(fail)?;
        self.staged.push((name.to_owned(), temporary));
        Ok(())
    }

    /// Names of the files so far.
    pub fn names(&self) -> Vec<String> {
        self.staged.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Sizes and hashes of the files so far, for the one that describes them.
    ///
    /// # Errors
    /// [`Error::Write`] when what was written cannot be read.
    pub fn records(&self) -> Result<Vec<FileRecord>, Error> {
        let record = |(name, temporary): &(String, Temporary)| {
            let fail = |source| Error::Write { file: display_name(temporary.target()), source };
            let (bytes, sha256) = File::open(temporary.path()).and_then(hash).map_err(fail)?;
            Ok(FileRecord { name: name.clone(), bytes, sha256 })
        };
        self.staged.iter().map(record).collect()
    }

    /// Gives all files their names, in the order in which they came.
    ///
    /// # Errors
    /// [`Error::Write`] when one of them cannot have it; then all files are what they were before.
    pub fn commit(mut self) -> Result<(), Error> {
        let mut done: Vec<Replaced> = Vec::new();
        for (_, temporary) in &mut self.staged {
            match Replaced::by(temporary) {
                Ok(replaced) => done.push(replaced),
                Err(source) => {
                    let file = display_name(temporary.target());
                    done.into_iter().rev().for_each(Replaced::undo);
                    return Err(Error::Write { file, source });
                }
            }
        }
        let folders: std::collections::BTreeSet<&Path> =
            self.staged.iter().map(|(_, temporary)| temporary.folder()).collect();
        if let Err(source) = folders.into_iter().try_for_each(disk::sync_folder) {
            let file = display_name(&self.folder);
            done.into_iter().rev().for_each(Replaced::undo);
            return Err(Error::Write { file, source });
        }
        done.into_iter().for_each(Replaced::settle);
        for stale in &self.stale {
            // A file that stays is none of those that the last one lists.
            let _ = fs::remove_file(stale);
        }
        Ok(())
    }
}

/// A file that has its name now, and the one that had it before.
struct Replaced {
    target: PathBuf,
    before: Option<PathBuf>,
}

impl Replaced {
    fn by(temporary: &mut Temporary) -> io::Result<Replaced> {
        let target = temporary.target().to_owned();
        let mut before = None;
        if target.exists() {
            let other = temporary.other_name();
            // Where files cannot have two names, the old one gives way for a moment.
            disk::link(&target, &other).or_else(|_| disk::rename(&target, &other))?;
            before = Some(other);
        }
        let replaced = Replaced { target, before };
        match temporary.rename() {
            Ok(()) => Ok(replaced),
            Err(error) => {
                replaced.restore();
                Err(error)
            }
        }
    }

    /// Puts back what was there before the new file came.
    fn undo(self) {
        if self.before.is_none() {
            let _ = fs::remove_file(&self.target);
        }
        self.restore();
    }

    fn restore(self) {
        if let Some(before) = &self.before {
            // Both names may stand for one file still, which a rename leaves alone.
            let _ = fs::rename(before, &self.target);
            let _ = fs::remove_file(before);
        }
    }

    fn settle(self) {
        if let Some(before) = &self.before {
            let _ = fs::remove_file(before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::disk::faults;
    use super::*;
    use hottopixx::matrix::{Dense, Sparse};

    /// The files of a folder, temporary ones included.
    fn listed(folder: &Path) -> Vec<(String, Vec<u8>)> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let read = |path: PathBuf| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, fs::read(path).unwrap())
        };
        let mut files: Vec<_> = entries.map(read).collect();
        files.sort();
        files
    }

    fn write(folder: &Path, number: f64) -> Result<(), Error> {
        let names = ["a.csv", "F.npy", "F.npz", "summary.json"].map(str::to_owned);
        let mut set = FileSet::new(folder, &names);
        set.bytes("a.csv", format!("{number}\n"))?;
        // One kind or the other.
        let matrix: Matrix = if number < 2.0 {
            Dense::from_rows(&[[number; 3]; 3]).unwrap().into()
        } else {
            Sparse::from_triplets(2, 2, &[(1, 1, number)]).unwrap().into()
        };
        set.matrix("F", &matrix)?;
        let records = set.records()?;
        set.bytes("summary.json", format!("{records:?}"))?;
        set.commit()
    }

    /// Every single call fails once, over an earlier answer and over none: the folder holds the answer
    /// before or the one after, and nothing else.
    #[test]
    fn all_files_are_those_of_one_run_whichever_call_fails() {
        let after = tempfile::tempdir().unwrap();
        let (done, calls) = faults::with(None, false, || write(after.path(), 2.0));
        done.unwrap();
        assert!(calls.len() > 12, "{calls:?}");
        let wanted = listed(after.path());
        assert_eq!(wanted.len(), 3);
        for (earlier, short) in [(false, false), (true, false), (true, true)] {
            let mut failed = 0;
            for fails in 0.. {
                let folder = tempfile::tempdir().unwrap();
                if earlier {
                    write(folder.path(), 1.0).unwrap();
                }
                let before = listed(folder.path());
                let again = || write(folder.path(), 2.0);
                let (done, calls) = faults::with(Some(fails), short, again);
                let found = listed(folder.path());
                match done {
                    Ok(()) => assert_eq!(found, wanted, "{fails}"),
                    Err(error) => {
                        assert!(error.to_string().contains("injected"), "{error}");
                        assert_eq!(found, before, "{earlier} {fails} {:?}", calls.last());
                        failed += 1;
                    }
                }
                if calls.len() <= fails {
                    break;
                }
            }
            assert!(failed > 10, "{failed}");
        }
    }

    #[test]
    fn the_last_file_tells_a_mixture() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), 1.0).unwrap();
        let record = FileRecord::of(folder.path(), "F.npy").unwrap();
        let said = fs::read_to_string(folder.path().join("summary.json")).unwrap();
        assert!(record.bytes == 200 && said.contains(&record.sha256), "{said}");
        let empty = hash(&b""[..]).unwrap().1;
        assert!(empty.starts_with("e3b0c44298fc1c14") && empty.ends_with("7852b855"), "{empty}");
    }

    /// An abandoned set leaves nothing.
    #[test]
    fn what_is_not_committed_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let mut set = FileSet::new(folder.path(), &[]);
        set.bytes("a", "x").unwrap();
        assert_eq!(listed(folder.path()).len(), 1);
        drop(set);
        assert!(listed(folder.path()).is_empty());
        let mut set = FileSet::new(folder.path(), &[]);
        fs::create_dir(folder.path().join("b")).unwrap();
        assert!(set.bytes("b", "x").unwrap_err().to_string().contains("is no file"));
    }
}
