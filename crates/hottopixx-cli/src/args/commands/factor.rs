//! The flags of `factor`.

use crate::args::{
    CheckpointArgs, ConstraintArgs, InputArgs, MethodArgs, OutputArgs, RunArgs, TextArgs,
};
use crate::values;
use clap::Args;
use hottopixx::Outliers;
use std::path::PathBuf;

/// `factor`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hottopixx factor X.npy --rank 10
  hottopixx factor X.npy --rank 30 --path --out answer   how many are enough?
  hottopixx factor samples_by_features.csv --transpose --rank 5 --out answer
  hottopixx factor docword.kos.txt.gz --names vocab.kos.txt --rank 20 \\
      --cooccurrence --min-df 10 --candidate-df 50 --out topics
  hottopixx factor genes.npz --names genes.txt --rank 30 --must @panel.txt \\
      --groups types.csv --quota '*=..3' --prices prices.txt --budget 40
  hottopixx factor docword.more.txt.gz --names vocab.kos.txt --update topics \\
      --out updated                          more documents for that answer
  zcat X.mtx.gz | hottopixx factor - --format mtx --rank 10 --json | jq .error

Formats, by extension or --format:
  .npy                      npy       numpy array
  .npz                      npz       numpy arrays, or a scipy sparse matrix
  .mtx .mtx.gz              mtx       Matrix Market, array or coordinate
  .csv .tsv                 csv, tsv  header and row names are detected
  .svm .libsvm .svmlight    svmlight  one example per line: add --transpose
  docword.*.txt[.gz]        bow       UCI bag of words: words x documents
  .hpx                      hpx       written by 'generate' and as cache: mapped

Methods:
  auto       several of the others, judged by their error, then improved by
             exchanging rows; the default
  hottopixx  the paper's incremental gradient method (Algorithm 4)
  lp         the paper's linear program (Algorithm 3), solved exactly: every
             row within --tau
  minimax    the linear program that makes the largest error small; no --tau
  total      the linear program that makes the sum of all errors small
  gradient   the Frobenius form of hottopixx, on the Gram matrix
  agkm       Algorithm 1 (Arora, Ge, Kannan, Moitra); requires --epsilon
             and --alpha
  spa        successive projection: greedy, fastest
  snpa       successive nonnegative projection
  xray       XRAY

Errors are l1 errors of rows, every row divided by its sum: 0 is perfect, 1
is no better than explaining nothing. F and W are in the units of the input.")]
pub struct FactorArgs {
    #[command(flatten)]
    pub input: InputArgs,
    /// Number of hott rows to choose (with --update: as many as the answer has)
    #[arg(
        long,
        short,
        value_name = "R",
        value_parser = values::rank,
        required_unless_present = "update",
        help_heading = "Method"
    )]
    pub rank: Option<usize>,
    /// Begin with the answer in this folder (of 'factor --out') and say what changed.
    /// Where that is one of --cooccurrence, INPUT has documents to be added to its
    /// own, prepared as these were; otherwise INPUT is the whole matrix as it is now
    #[arg(long, value_name = "ANSWER", help_heading = "Method",
          conflicts_with_all = ["cooccurrence", "min_df", "candidate_df", "weight"])]
    pub update: Option<PathBuf>,
    /// How the rows are found, see below
    #[arg(long, value_name = "METHOD", default_value = "auto", help_heading = "Method")]
    pub method: String,
    /// Also give the errors for every rank from 1 to R, leaving out one row at a
    /// time, and suggest a rank
    #[arg(long = "path", help_heading = "Method")]
    pub rank_path: bool,
    /// Also hold out this share of the entries (0.1 unless said), guess them from
    /// the others with 1 to R rows, and suggest the rank that guesses them well
    #[arg(
        long,
        value_name = "SHARE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "0.1",
        help_heading = "Method"
    )]
    pub held_out: Option<f64>,
    /// Set rows aside that no others explain: this many, or auto for those that stand
    /// out. They are named, cannot be hott and do not count in the errors
    #[arg(long, value_name = "N|auto", value_parser = values::outliers, help_heading = "Method")]
    pub outliers: Option<Outliers>,
    #[command(flatten)]
    pub settings: MethodArgs,
    #[command(flatten)]
    pub constraints: ConstraintArgs,
    #[command(flatten)]
    pub text: TextArgs,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub checkpoints: CheckpointArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}
