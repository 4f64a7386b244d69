//! The flags of `evaluate`.

use crate::args::{InputArgs, OutputArgs, RunArgs, TextArgs};
use clap::Args;
use std::path::PathBuf;

/// `evaluate`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hottopixx evaluate X.npy --hott 3,17,42
  hottopixx evaluate X.npy --hott 3,17,42 --truth X.truth.json --json")]
pub struct EvaluateArgs {
    #[command(flatten)]
    pub input: InputArgs,
    /// The chosen rows, from 0, separated by commas
    #[arg(long, value_name = "ROWS", value_delimiter = ',', required = true)]
    pub hott: Vec<usize>,
    /// The truth of a generated instance: adds how many of its hott rows were found
    #[arg(long, value_name = "FILE")]
    pub truth: Option<PathBuf>,
    #[command(flatten)]
    pub text: TextArgs,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}
