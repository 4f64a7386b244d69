//! What becomes of the answer.

use clap::Args;
use std::path::PathBuf;

/// What becomes of the answer.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Write hott.csv, rows.csv, F, W, summary.json and report.html to this folder
    #[arg(long, short, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print one JSON object and nothing else
    #[arg(long)]
    pub json: bool,
    /// No progress bar and no hints
    #[arg(long, short)]
    pub quiet: bool,
}

/// What is printed, for commands whose files are their own.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub struct PrintArgs {
    /// Print one JSON object and nothing else
    #[arg(long)]
    pub json: bool,
    /// No progress bar and no hints
    #[arg(long, short)]
    pub quiet: bool,
}
