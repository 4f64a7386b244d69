//! The flags of `compare`.

use crate::args::{ConstraintArgs, InputArgs, MethodArgs, PrintArgs, RunArgs, TextArgs};
use crate::values;
use clap::Args;

/// `compare`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  hottopixx compare X.npy --rank 10

agreement counts the hott rows a method shares with auto, where any row of a
group of interchangeable rows counts. --max-seconds limits each method. lp
is run when --tau is given, agkm when --epsilon and --alpha are; minimax and
total where the size or --max-seconds allow it, or when --gap is given.")]
pub struct CompareArgs {
    #[command(flatten)]
    pub input: InputArgs,
    /// Number of hott rows to choose
    #[arg(long, short, value_name = "R", value_parser = values::rank, help_heading = "Method")]
    pub rank: usize,
    #[command(flatten)]
    pub settings: MethodArgs,
    #[command(flatten)]
    pub constraints: ConstraintArgs,
    #[command(flatten)]
    pub text: TextArgs,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub print: PrintArgs,
}
