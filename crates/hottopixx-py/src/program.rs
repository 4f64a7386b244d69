//! The program, for those who install the package.

use hottopixx_cli::Launch;
use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the program with this command line, its name first, and gives the exit code.
#[pyfunction]
pub fn main(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| hottopixx_cli::main(Launch { words, through: &["-m", "hottopixx"] }))
}
