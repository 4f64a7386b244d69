//! The flags of `evaluate`.

use crate::args::{InputArgs, OutputArgs, RunArgs, TextArgs};
use clap::Args;
use std::path::PathBuf;

/// `evaluate`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hottopixx evaluate X.npy --hott 3,17,42
  hottopixx evaluate prices.csv --hott oil,\"corn, yellow\",#4
  hottopixx evaluate X.npy --hott 3,17,42 --truth X.truth.json --json

A name in which there is a comma stands in double quotes; #4 is row 4 also
where a row is named 4.")]
pub struct EvaluateArgs {
    #[command(flatten)]
    pub input: InputArgs,
    /// The chosen rows, separated by commas: numbers from 0, or names
    #[arg(long, value_name = "ROWS")]
    pub hott: String,
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
