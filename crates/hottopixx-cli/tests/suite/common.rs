//! The real binary in a temporary folder.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A folder of files in which commands run.
pub struct Folder {
    folder: TempDir,
}

impl Folder {
    /// An empty one.
    pub fn new() -> Self {
        Folder { folder: TempDir::new().unwrap() }
    }

    /// One with `X.npy`, an instance of 40 x 100 with 5 hott rows, and `X.truth.json`.
    pub fn with_instance() -> Self {
        let folder = Folder::new();
        let size = ["--features", "40", "--examples", "100", "--rank", "5"];
        let made = folder.run(&[&["generate", "paper", "--out", "X.npy"], &size[..]].concat());
        assert!(made.status.success(), "{}", error(&made));
        folder
    }

    /// The path of a file in it.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).unwrap();
    }

    /// Reads a file.
    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// A command of the program, to be started by the caller.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hottopixx"));
        command.args(args).current_dir(self.folder.path());
        command
    }

    /// Runs the program to its end.
    pub fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Runs it, expects success and gives standard output.
    pub fn text(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", error(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs it, expects success and one JSON object on standard output.
    pub fn json(&self, args: &[&str]) -> serde_json::Value {
        let text = self.text(args);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    /// Runs it, expects this exit code and exactly one line on standard error, and gives that line.
    pub fn refusal(&self, args: &[&str], code: i32) -> String {
        let output = self.run(args);
        let line = error(&output);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {line}");
        assert!(line.starts_with("hottopixx: ") && line.ends_with('\n'), "{args:?}: {line}");
        assert_eq!(line.lines().count(), 1, "{args:?}: {line}");
        assert!(!line.contains("panicked"), "{args:?}: {line}");
        assert!(output.stdout.is_empty(), "{args:?} printed on standard output");
        line
    }
}

/// Standard error as text.
pub fn error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The bytes of an `.npy` file with this header dictionary and these data.
pub fn npy_with(dictionary: &str, data: &[u8]) -> Vec<u8> {
    let mut header = dictionary.to_owned();
    while !(header.len() + 11).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

/// The bytes of an `.npy` file of `rows` x `cols` numbers.
pub fn npy(rows: usize, cols: usize, values: &[f64]) -> Vec<u8> {
    let data: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    npy_with(
        &format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {cols}), }}"),
        &data,
    )
}
