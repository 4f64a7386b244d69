//! Where instances are kept: a folder of the user's, or one that goes away.

use anyhow::{Context, Result, anyhow};
use std::path::{Path, PathBuf};

/// A folder that exists; a temporary one is removed with this value.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    temporary: bool,
}

impl Folder {
    /// The folder that was given, made where it is not there, or a temporary one.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn given_or_temporary(given: Option<&Path>) -> Result<Self> {
        given.map_or_else(Folder::temporary, |path| {
            Folder::make(path.to_path_buf(), false)
                .map_err(|error| anyhow!("{error:#}: choose another --dir"))
        })
    }

    /// A new temporary folder.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn temporary() -> Result<Self> {
        static MADE: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        let number = MADE.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let name = format!("hottopixx-study-{}-{number}", std::process::id());
        Folder::make(std::env::temp_dir().join(name), true)
    }

    fn make(path: PathBuf, temporary: bool) -> Result<Self> {
        std::fs::create_dir_all(&path).with_context(|| path.display().to_string())?;
        Ok(Folder { path, temporary })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.temporary {
            // Nothing else can be done about a folder that does not go away.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Folder;

    #[test]
    fn only_temporary_folders_go_away() {
        let outer = Folder::temporary().unwrap();
        let given = outer.path().join("kept");
        drop(Folder::given_or_temporary(Some(&given)).unwrap());
        assert!(given.is_dir());
        let path = outer.path().to_path_buf();
        drop(outer);
        assert!(!path.exists());
    }
}
