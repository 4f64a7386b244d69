//! The flags, as the user types them. Nothing here is checked against the data.
//!
//! Flags that several commands share stand in one file per subject; those of a single command, and
//! what its help says below them, in [`commands`].

mod commands;
mod constraints;
mod documents;
mod input;
mod method;
mod output;
mod run;
mod table;
mod text;

pub use commands::{
    ApplyArgs, CertifyArgs, CompareArgs, CompletionsArgs, DemoArgs, EvaluateArgs, FactorArgs,
    GenerateArgs, InfoArgs, ManArgs, NewData, PartitionArgs, RankArgs, ReproduceArgs, SampleArgs,
    SampleName, TopicsArgs, UnmixArgs, VerifyArgs,
};
pub use constraints::ConstraintArgs;
pub use documents::DocumentArgs;
pub use input::{FileArgs, InputArgs};
pub use method::{MethodArgs, ProgramArgs};
pub use output::{OutputArgs, PrintArgs};
pub use run::{CheckpointArgs, RunArgs};
pub use table::TableArgs;
pub use text::TextArgs;

use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

/// Find the few rows of a nonnegative matrix that explain all the others.
#[derive(Debug, Parser)]
#[command(
    name = "hottopixx",
    version,
    long_version = crate::version::long(),
    arg_required_else_help = true,
    max_term_width = 80,
    after_help = "\
Examples:
  hottopixx demo                         topics of a small news corpus
  hottopixx topics news.txt --rank 10    topics of your documents, one per line
  hottopixx unmix cube.npy --rank 4      materials of a hyperspectral scene
  hottopixx factor X.npy --rank 10       rows of X are features
  hottopixx factor X.csv --rank 10 --transpose --out answer
  hottopixx factor docword.nips.txt.gz --names vocab.nips.txt --rank 20 \\
      --cooccurrence --min-df 10 --candidate-df 50

Exit codes: 0 done, 1 wrong data or options, 2 usage, 3 no answer,
130 interrupted."
)]
pub struct Cli {
    /// Read flags from this file instead of hottopixx.toml in the working folder, if that is there;
    /// what the command line says counts
    #[arg(long, value_name = "FILE", global = true, help_heading = "Flags from a file")]
    pub config: Option<PathBuf>,
    /// Read no flags from a file
    #[arg(long, global = true, conflicts_with = "config", help_heading = "Flags from a file")]
    pub no_config: bool,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Factor the built-in news corpus and print its topics
    Demo(DemoArgs),
    /// Find the topics of documents
    Topics(TopicsArgs),
    /// Find the materials of a scene, with a map of each
    Unmix(UnmixArgs),
    /// Factor a matrix: the main job
    Factor(FactorArgs),
    /// A saved answer of 'topics' or 'factor' on new documents or rows
    Apply(ApplyArgs),
    /// Write sample data to try things with
    Sample(SampleArgs),
    /// Make an instance whose answer is known
    Generate(GenerateArgs),
    /// Say what a file holds and what to do with it
    Info(InfoArgs),
    /// Measure the errors of a given choice of rows
    Evaluate(EvaluateArgs),
    /// Prove bounds for a choice of rows and check the paper's theorem
    Certify(CertifyArgs),
    /// How many rows are needed to explain all others within tau
    Rank(RankArgs),
    /// Check a certificate of 'certify --out' against the data
    Verify(VerifyArgs),
    /// Run every method on the same data, side by side
    Compare(CompareArgs),
    /// Split a matrix into files of documents, for many machines
    Partition(PartitionArgs),
    /// Run the experiments of the paper and make its figures
    Reproduce(ReproduceArgs),
    /// Check this installation: small instances with known answers through every method
    SelfTest,
    /// Print what a shell needs to complete the words of a command line
    Completions(CompletionsArgs),
    /// Print the manual, or write its pages
    Man(ManArgs),
    /// Moved to 'hottopixx-study bench'
    #[command(hide = true, disable_help_flag = true)]
    Bench {
        /// Whatever was asked for
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<OsString>,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn flags_do_not_clash() {
        Cli::command().debug_assert();
    }
}
