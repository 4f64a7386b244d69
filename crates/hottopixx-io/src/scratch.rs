//! A temporary file that nobody else sees.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicU32, Ordering};

/// Names that are tried.
const TRIES: u32 = 100;

/// A new file in the folder for temporary files (`TMPDIR`), to be written and read; it has no name any more, so
/// that nothing is left of it when it is closed, however the program ends.
///
/// # Errors
/// When no file can be made there.
pub fn scratch_file() -> io::Result<File> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let (folder, process) = (std::env::temp_dir(), std::process::id());
    for _ in 0..TRIES {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("hottopixx-{process}-{number}.tmp"));
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.open(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => {
                let folder = folder.display();
                return Err(io::Error::new(error.kind(), format!("{folder}: {error}")));
            }
            Ok(file) => {
                // Where an open file cannot be removed, the system does it one day.
                let _ = std::fs::remove_file(&path);
                return Ok(file);
            }
        }
    }
    Err(io::Error::new(ErrorKind::AlreadyExists, "no free name for a temporary file"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Seek, Write};

    #[test]
    fn what_is_written_is_read_and_files_differ() {
        let (mut one, mut two) = (scratch_file().unwrap(), scratch_file().unwrap());
        one.write_all(b"one").unwrap();
        two.write_all(b"two").unwrap();
        one.rewind().unwrap();
        let mut text = String::new();
        one.read_to_string(&mut text).unwrap();
        assert_eq!(text, "one");
    }
}
