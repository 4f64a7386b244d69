//! The flags of `info`.

use crate::args::{FileArgs, PrintArgs};
use crate::values;
use clap::Args;
use std::path::PathBuf;

/// `info`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hottopixx info prices.csv              how the table is read, and what to run
  hottopixx info X.npz --transpose --json

Negative, missing and infinite entries are counted instead of refused. A
matrix of more than 256 MiB is not read unless --full is given: its header
says how large it is, and the first lines of a table how it is read.")]
pub struct InfoArgs {
    /// The matrix, in any format, documents or a scene; - for standard input
    #[arg(value_name = "INPUT")]
    pub path: PathBuf,
    #[command(flatten)]
    pub file: FileArgs,
    /// Read all of it, however large
    #[arg(long, help_heading = "Input")]
    pub full: bool,
    /// Memory that may be used, such as 8GiB (default: three quarters of the
    /// machine's)
    #[arg(long, value_name = "SIZE", value_parser = values::bytes, help_heading = "Input")]
    pub memory: Option<u64>,
    #[command(flatten)]
    pub print: PrintArgs,
}
