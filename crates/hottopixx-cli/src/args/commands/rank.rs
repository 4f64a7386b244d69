//! The flags of `rank`.

use crate::args::{InputArgs, PrintArgs, RunArgs, TextArgs};
use clap::Args;

/// `rank`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hottopixx rank X.npy --tau 0.1      rows needed for errors of at most 0.1
  hottopixx rank docword.nips.txt.gz --cooccurrence --min-df 50 --tau 0.3

tau is the l1 error that every row may have; rows sum to 1, so 0 asks for
exact mixtures and 1 for nothing. The answer is a bracket: fewer rows than
its lower end are proven not to do, whatever the weights, and the rows that
are listed do. Where the two meet, this is the number of rows. --max-seconds
ends the search with the bracket so far.")]
pub struct RankArgs {
    #[command(flatten)]
    pub input: InputArgs,
    /// The l1 error that every row may have
    #[arg(long, value_name = "T", help_heading = "Method", allow_negative_numbers = true)]
    pub tau: f64,
    #[command(flatten)]
    pub text: TextArgs,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub print: PrintArgs,
}
