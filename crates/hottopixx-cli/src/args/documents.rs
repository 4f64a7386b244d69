//! Where documents come from.

use crate::args::TableArgs;
use crate::values;
use clap::Args;
use std::path::PathBuf;

/// Where documents come from.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Input")]
pub struct DocumentArgs {
    /// A folder of .txt files, a file with one document per line (.txt), a table
    /// (.csv, .tsv, .jsonl, .json), or counts (documents x words); - for standard input
    #[arg(value_name = "INPUT", help_heading = "Arguments")]
    pub path: PathBuf,
    /// The column of the text, by name or number from 1 (default: the one with the
    /// longest text); --columns joins several
    #[arg(long, value_name = "COLUMN", conflicts_with = "columns")]
    pub column: Option<String>,
    /// The column of the titles (default: that of --index, else the first words)
    #[arg(long, value_name = "COLUMN")]
    pub title: Option<String>,
    /// The column of the dates
    #[arg(long, value_name = "COLUMN")]
    pub date: Option<String>,
    /// txt, csv, tsv, jsonl, or a format of matrices, instead of by extension
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<String>,
    /// Counts: the words, one per line
    #[arg(long, value_name = "FILE")]
    pub names: Option<PathBuf>,
    /// Counts: rows of INPUT are words, columns documents
    #[arg(long)]
    pub transpose: bool,
    /// Counts: which array of an .npz file, when it holds several
    #[arg(long, value_name = "NAME")]
    pub key: Option<String>,
    /// Memory that the run may take, such as 8GiB (default: three quarters of the
    /// machine's)
    #[arg(long, value_name = "SIZE", value_parser = values::bytes)]
    pub memory: Option<u64>,
    #[command(flatten)]
    pub table: TableArgs,
}
