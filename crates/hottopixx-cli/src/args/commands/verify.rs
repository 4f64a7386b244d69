//! The flags of `verify`.

use crate::args::{FileArgs, PrintArgs, TextArgs};
use crate::values;
use clap::Args;
use std::path::PathBuf;

/// `verify`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  hottopixx certify X.npy --rank 5 --out proof
  hottopixx verify proof --data X.npy

X is built again from the data, as 'certify' built it (--transpose,
--min-df, --cooccurrence and the like are in the certificate; given again,
they must be the same). Then every inequality is checked with C, d and Y of
the folder, bounds rounded to the safe side: what is printed holds for the
numbers in the file, each row divided by its exact sum. Nothing is solved.
Exit code 1: refused, with the reason.")]
pub struct VerifyArgs {
    /// The folder that 'certify --out' wrote
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// The matrix that was certified; - for standard input
    #[arg(long, value_name = "INPUT", help_heading = "Input")]
    pub data: PathBuf,
    #[command(flatten)]
    pub file: FileArgs,
    /// Memory that may be used, such as 8GiB (default: three quarters of the
    /// machine's)
    #[arg(long, value_name = "SIZE", value_parser = values::bytes, help_heading = "Input")]
    pub memory: Option<u64>,
    #[command(flatten)]
    pub text: TextArgs,
    /// Number of threads, 0 for all
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Run")]
    pub threads: usize,
    /// Give up after this long
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, help_heading = "Run")]
    pub max_seconds: Option<f64>,
    #[command(flatten)]
    pub print: PrintArgs,
}
