//! Where the matrix comes from.

use crate::args::TableArgs;
use crate::values;
use clap::Args;
use hottopixx_io::Format;
use std::path::PathBuf;

/// Where the matrix comes from.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Input")]
pub struct InputArgs {
    /// The matrix, rows are features; - for standard input
    #[arg(value_name = "INPUT", help_heading = "Arguments")]
    pub path: PathBuf,
    #[command(flatten)]
    pub file: FileArgs,
    /// Names of the features, one per line
    #[arg(long, value_name = "FILE")]
    pub names: Option<PathBuf>,
    /// Memory that may be used, such as 8GiB (default: three quarters of the
    /// machine's). What needs more is refused before it starts, or built on disk
    /// where that can be. Mapped files (.hpx, .npy) do not count. The method
    /// hottopixx keeps to it, or else to 8 GiB, if need be with another answer
    #[arg(long, value_name = "SIZE", value_parser = values::bytes)]
    pub memory: Option<u64>,
    /// Keep text files of any size in this folder as .hpx once they are read
    /// (default: those of 64 MiB and more, as .NAME.hpx beside them)
    #[arg(long, value_name = "DIR", conflicts_with = "no_cache")]
    pub cache: Option<PathBuf>,
    /// Keep nothing, and look for nothing kept
    #[arg(long)]
    pub no_cache: bool,
}

/// How the file of a matrix is read.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Input")]
pub struct FileArgs {
    /// npy, npz, mtx, csv, tsv, svmlight, bow or hpx, instead of by extension
    #[arg(long, value_name = "FORMAT", value_parser = values::format)]
    pub format: Option<Format>,
    /// Which array of an .npz file, when it holds several
    #[arg(long, value_name = "NAME")]
    pub key: Option<String>,
    /// Rows of INPUT are examples (documents, samples)
    #[arg(long)]
    pub transpose: bool,
    #[command(flatten)]
    pub table: TableArgs,
}
