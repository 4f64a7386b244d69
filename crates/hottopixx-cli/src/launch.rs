//! How the program was launched: by its own name, or by Python.

use std::ffi::OsString;
use std::sync::OnceLock;

/// The words of the command line, and how the process is started again.
#[derive(Debug, Clone)]
pub struct Launch {
    /// The command line, the name of the program first.
    pub words: Vec<OsString>,
    /// What stands between the running executable and the words after the name: nothing for the
    /// program itself, `-m hottopixx` for Python.
    pub through: &'static [&'static str],
}

static LAUNCH: OnceLock<Launch> = OnceLock::new();

impl Launch {
    /// By the name of the program.
    pub fn by_name() -> Self {
        Launch { words: std::env::args_os().collect(), through: &[] }
    }

    /// Remembers it for [`words`] and [`again`], and gives the words.
    pub(crate) fn set(self) -> &'static [OsString] {
        LAUNCH.get_or_init(|| self);
        words()
    }
}

/// The command line of this run.
pub fn words() -> &'static [OsString] {
    LAUNCH.get().map_or(&[], |launch| &launch.words)
}

/// What comes after the running executable to carry out these words in a process of its own.
pub fn again(words: &[&'static str]) -> Vec<&'static str> {
    let through = LAUNCH.get().map_or(&[][..], |launch| launch.through);
    [through, words].concat()
}
