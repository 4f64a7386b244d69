//! The flags, as the user types them. Nothing here is checked against the data.

use crate::values;
use clap::{Args, Parser, Subcommand};
use hottopixx::text::Weight;
use hottopixx::{Cleaning, Objective};
use hottopixx_io::Format;
use std::ffi::OsString;
use std::path::PathBuf;

/// Find the few rows of a nonnegative matrix that explain all the others.
#[derive(Debug, Parser)]
#[command(
    name = "hottopixx",
    version,
    about,
    arg_required_else_help = true,
    max_term_width = 80,
    after_help = "\
Examples:
  hottopixx demo                         topics of a small news corpus
  hottopixx factor X.npy --rank 10       rows of X are features
  hottopixx factor X.csv --rank 10 --transpose --out answer
  hottopixx factor docword.nips.txt.gz --names vocab.nips.txt --rank 20 \\
      --cooccurrence --min-df 10 --candidate-df 50

Exit codes: 0 done, 1 wrong data or options, 2 usage, 3 no answer,
130 interrupted."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Factor the built-in news corpus and print its topics
    Demo(Demo),
    /// Factor a matrix: the main job
    Factor(Factor),
    /// Make an instance whose answer is known
    Generate(Generate),
    /// Measure the errors of a given choice of rows
    Evaluate(Evaluate),
    /// Prove bounds for a choice of rows and check the paper's theorem
    Certify(Certify),
    /// Check a certificate of 'certify --out' against the data
    Verify(Verify),
    /// Run every method on the same data, side by side
    Compare(Compare),
    /// Split a matrix into files of documents, for many machines
    Partition(Partition),
    /// Run the experiments of the paper and make its figures
    Reproduce(Reproduce),
    /// Moved to 'hottopixx-study bench'
    #[command(hide = true, disable_help_flag = true)]
    Bench {
        /// Whatever was asked for
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<OsString>,
    },
}

/// `demo`.
#[derive(Debug, Args)]
#[command(after_help = "\
The corpus: 395 news stories of 1996-97, part of the program. Words that occur
in at least 20 of them are factored through their co-occurrence.")]
pub struct Demo {
    #[command(flatten)]
    pub run: Run,
    #[command(flatten)]
    pub output: Output,
}

/// `factor`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hottopixx factor X.npy --rank 10
  hottopixx factor X.npy --rank 30 --path --out answer   how many are enough?
  hottopixx factor samples_by_features.csv --transpose --rank 5 --out answer
  hottopixx factor docword.kos.txt.gz --names vocab.kos.txt --rank 20 \\
      --cooccurrence --min-df 10 --candidate-df 50 --out topics
  zcat X.mtx.gz | hottopixx factor - --format mtx --rank 10 --json | jq .error

Formats, by extension or --format:
  .npy                      npy       numpy array
  .npz                      npz       numpy arrays, or a scipy sparse matrix
  .mtx .mtx.gz              mtx       Matrix Market, array or coordinate
  .csv .tsv                 csv, tsv  header and row names are detected
  .svm .libsvm .svmlight    svmlight  one example a line: add --transpose
  docword.*.txt[.gz]        bow       UCI bag of words: words x documents
  .hpx                      hpx       written by 'generate' and as cache: mapped

Methods:
  auto       several of the others, judged by their error, then improved by
             exchanging rows; slowest and best
  hottopixx  the paper's incremental gradient method (Algorithm 4)
  lp         the paper's linear program (Algorithm 3), solved exactly: every
             row within --tau
  minimax    the linear program that makes the largest error small; no --tau
  total      the linear program that makes the sum of all errors small
  gradient   the Frobenius form of hottopixx, on the Gram matrix
  agkm       Algorithm 1 (Arora, Ge, Kannan, Moitra), told --epsilon and
             --alpha
  spa        successive projection: greedy, fastest
  snpa       successive nonnegative projection
  xray       XRAY

Errors are l1 errors of rows, every row divided by its sum: 0 is perfect, 1 is
no better than explaining nothing. F and W are in the units of the input.")]
pub struct Factor {
    #[command(flatten)]
    pub input: Input,
    /// Number of hott rows to choose
    #[arg(long, short, value_name = "R", help_heading = "Method")]
    pub rank: usize,
    /// How the rows are found, see below
    #[arg(long, value_name = "METHOD", default_value = "auto", help_heading = "Method")]
    pub method: String,
    /// Also give the errors for every rank from 1 to R, leaving out one row at a
    /// time, and suggest a rank
    #[arg(long = "path", help_heading = "Method")]
    pub rank_path: bool,
    #[command(flatten)]
    pub settings: Settings,
    #[command(flatten)]
    pub text: Text,
    #[command(flatten)]
    pub run: Run,
    #[command(flatten)]
    pub checkpoints: Checkpoints,
    #[command(flatten)]
    pub output: Output,
}

/// `generate`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hottopixx generate paper --features 40 --examples 400 --rank 5 --noise 0.95 \\
      --seed 1 --out X.npy
  hottopixx generate multinomial --features 2000 --examples 5000 --rank 20 \\
      --tokens 100 --out X.npz
  hottopixx generate documents --features 44739 --examples 351849 --rank 100 \\
      --tokens 55 --out X.npz

What is left out takes the family's default: 40 x 400 with noise 0.95; all
midpoints with noise 0.6; 1000 x 2000 counts with 100 tokens; 1000 x 2000
words by documents with 50 words in each, or more of both for many topics.
The truth is written beside the matrix: X.npy comes with X.truth.json, which
'hottopixx evaluate --truth' reads.")]
pub struct Generate {
    /// Which kind of instance
    #[arg(value_name = "FAMILY", value_parser = crate::commands::generate::families())]
    pub family: hottopixx::synth::Family,
    /// Number of hott rows
    #[arg(long, short, value_name = "R")]
    pub rank: usize,
    /// Rows of the matrix
    #[arg(long, value_name = "F")]
    pub features: Option<usize>,
    /// Columns of the matrix
    #[arg(long, value_name = "N")]
    pub examples: Option<usize>,
    /// Further copies of every hott row
    #[arg(long, value_name = "D")]
    pub duplicates: Option<usize>,
    /// eta of the paper's section 5, delta of the midpoints, or how far weights stray
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub noise: Option<f64>,
    /// Share of their mass that hott rows have in common, below 1
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub ill: Option<f64>,
    /// Tokens of each document of multinomial; different words in one of documents
    #[arg(long, value_name = "T")]
    pub tokens: Option<usize>,
    /// Fixes everything random
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
    /// Where to write the matrix: .npy, .npz for a sparse one, or .hpx for either
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,
    /// Say nothing
    #[arg(long, short)]
    pub quiet: bool,
}

/// `partition`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hottopixx partition docword.nytimes.txt.gz --out corpus
  hottopixx partition samples.csv --transpose --documents 20000 --out corpus

then, in Python:
  hottopixx.ray.factor(\"corpus\", 20, matrix=\"cooccurrence\", min_df=50)

Every file holds some columns of INPUT (documents, examples) as rows: scipy's
.npz where INPUT is sparse, .npy where it is dense. vocabulary.txt holds the
names of the terms where they are known, partitions.json the list of files.
INPUT is turned by documents in memory, which takes its size once more.")]
pub struct Partition {
    #[command(flatten)]
    pub input: Input,
    /// Documents in a file
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub documents: usize,
    /// Where to write the files: a folder
    #[arg(long, short, value_name = "DIR")]
    pub out: PathBuf,
    /// Say nothing
    #[arg(long, short)]
    pub quiet: bool,
}

/// `evaluate`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hottopixx evaluate X.npy --hott 3,17,42
  hottopixx evaluate X.npy --hott 3,17,42 --truth X.truth.json --json")]
pub struct Evaluate {
    #[command(flatten)]
    pub input: Input,
    /// The chosen rows, from 0, separated by commas
    #[arg(long, value_name = "ROWS", value_delimiter = ',', required = true)]
    pub hott: Vec<usize>,
    /// The truth of a generated instance: adds how many of its hott rows were found
    #[arg(long, value_name = "FILE")]
    pub truth: Option<PathBuf>,
    #[command(flatten)]
    pub text: Text,
    #[command(flatten)]
    pub run: Run,
    #[command(flatten)]
    pub output: Output,
}

/// `certify`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hottopixx certify X.npy --rank 5               the best 5 rows can do
  hottopixx certify X.npy --hott 3,17,42 --json  how far these are from it
  hottopixx certify X.npy --rank 5 --method lp --tau 0.1 --out proof

A linear program over all choices of R rows (minimax: the largest l1 error of a
row; total: the sum of the errors; lp: p.d with every error within --tau) is
solved, and its bound is checked by code that shares nothing with the solver.
The programs weigh rows by at most 1, as in the paper. alpha, margin and epsilon
are the figures of Theorem 3.2 for the rows.
--out writes d.npy, C.npz, Y.npz, X.npy or X.npz (rows divided by their sums,
zero rows left out) and certificate.json, enough to check the bound elsewhere:
with 'hottopixx verify', or with a dozen lines of Python (see the guide).")]
#[command(group(clap::ArgGroup::new("rows").required(true).multiple(true).args(["rank", "hott"])))]
pub struct Certify {
    #[command(flatten)]
    pub input: Input,
    /// Number of hott rows: the program chooses them
    #[arg(long, short, value_name = "R", help_heading = "Method")]
    pub rank: Option<usize>,
    /// Instead of --rank: these rows, from 0, separated by commas
    #[arg(long, value_name = "ROWS", value_delimiter = ',', help_heading = "Method")]
    pub hott: Option<Vec<usize>>,
    /// The program: minimax, total or lp
    #[arg(long, value_name = "METHOD", default_value = "minimax", help_heading = "Method")]
    pub method: String,
    #[command(flatten)]
    pub program: Program,
    /// The cost vector p of lp, one number a line (default: -||x_j||^2)
    #[arg(long, value_name = "FILE", help_heading = "Method")]
    pub cost: Option<PathBuf>,
    #[command(flatten)]
    pub text: Text,
    #[command(flatten)]
    pub run: Run,
    /// Write the certificate to this folder
    #[arg(long, short, value_name = "DIR", help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Print one JSON object and nothing else
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// No progress bar and no hints
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
}

/// `verify`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  hottopixx certify X.npy --rank 5 --out proof
  hottopixx verify proof --data X.npy

X is built again from the data, as 'certify' built it (--transpose, --min-df,
--cooccurrence and the like are in the certificate; given again, they must be the
same). Then every inequality is checked with C, d and Y of the folder, bounds
rounded to the safe side: what is printed holds for the numbers in the file, each
row divided by its exact sum. Nothing is solved. Exit code 1: refused, with the
reason.")]
pub struct Verify {
    /// The folder that 'certify --out' wrote
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// The matrix that was certified; - for standard input
    #[arg(long, value_name = "INPUT", help_heading = "Input")]
    pub data: PathBuf,
    /// npy, npz, mtx, csv, tsv, svmlight, bow or hpx, instead of by extension
    #[arg(long, value_name = "FORMAT", value_parser = values::format, help_heading = "Input")]
    pub format: Option<Format>,
    /// Which array of an .npz file, when it holds several
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    pub key: Option<String>,
    /// Rows of INPUT are examples (documents, samples)
    #[arg(long, help_heading = "Input")]
    pub transpose: bool,
    /// Memory that may be used, such as 8GiB (default: three quarters of the
    /// machine's)
    #[arg(long, value_name = "SIZE", value_parser = values::bytes, help_heading = "Input")]
    pub memory: Option<u64>,
    #[command(flatten)]
    pub text: Text,
    /// Number of threads, 0 for all
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Run")]
    pub threads: usize,
    /// Give up after this long
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, help_heading = "Run")]
    pub max_seconds: Option<f64>,
    /// Print one JSON object and nothing else
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// No progress bar and no hints
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
}

/// `compare`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  hottopixx compare X.npy --rank 10

agreement counts the hott rows a method shares with auto, where any row of a
group of interchangeable rows counts. --max-seconds limits each method. lp is
run when --tau is given, agkm when --epsilon and --alpha are; minimax and total
where the size or --max-seconds allow it, or when --gap is given.")]
pub struct Compare {
    #[command(flatten)]
    pub input: Input,
    /// Number of hott rows to choose
    #[arg(long, short, value_name = "R", help_heading = "Method")]
    pub rank: usize,
    #[command(flatten)]
    pub settings: Settings,
    #[command(flatten)]
    pub text: Text,
    #[command(flatten)]
    pub run: Run,
    /// Print one JSON object and nothing else
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// No progress bar and no hints
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
}

/// `reproduce`.
#[derive(Debug, Args)]
#[command(after_help = "\
What is reproduced:
  profiles  section 5: 2025 small instances, all methods, performance profiles
            (an hour and a half on two cores)
  table     the large data sets: time, memory, topics found (ten minutes)
  speedup   the same against the number of threads (ten minutes)
  rmse      RMSE against the number of topics, people x places (a minute)
  svm       test error of a linear SVM against the number of hott features
            (minutes)
  hard      what the paper does not test: where greedy methods fail (ten
            minutes)
  all       all of it

Everything goes to the folder of --out: the page as index.html and index.md, one
.svg and .csv for each figure, and for profiles the runs themselves,
profiles.csv. Runs that are there are not done again: an interrupted run of
profiles is continued by the same command.

Without --data or --input the matrices of rmse and svm are made up. --data is a
folder of data sets: bible_people_places/chapter_cooc.npz for rmse; for svm
rcv1_vw and newsgroups20, each with X.npz (documents x words) and labels.txt.

Examples:
  hottopixx reproduce profiles --quick --out paper
  hottopixx reproduce profiles --from docs/paper/profiles.csv.gz --out paper
  hottopixx reproduce rmse --input cooccurrence.npz --out paper
  hottopixx reproduce svm --input X.npz --transpose --labels y.txt --out paper")]
pub struct Reproduce {
    /// What to run, see below
    #[arg(value_name = "WHAT", value_parser = crate::commands::reproduce::parts())]
    pub what: String,
    /// Write the page, the figures and the data to this folder
    #[arg(long, short, value_name = "DIR")]
    pub out: PathBuf,
    /// A sample of each experiment that takes minutes instead of hours
    #[arg(long)]
    pub quick: bool,
    /// profiles: make the figures from this file of runs, and run nothing
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// rmse, svm: a folder of data sets, used where present
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// rmse, svm: this matrix instead, rows are features
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Rows of --input are examples (documents, samples)
    #[arg(long, requires = "input")]
    pub transpose: bool,
    /// svm: classes of the examples of --input, one number a line (an .svm file
    /// has its own)
    #[arg(long, value_name = "FILE", requires = "input")]
    pub labels: Option<PathBuf>,
    /// svm: labels of the positive class (default: the largest)
    #[arg(
        long,
        value_name = "LABELS",
        value_delimiter = ',',
        requires = "input",
        allow_negative_numbers = true
    )]
    pub positive: Vec<f64>,
    /// svm: how many examples train, the first ones (default: two thirds)
    #[arg(long, value_name = "N", requires = "input")]
    pub train: Option<usize>,
    /// table, speedup: keep the instances here and use those that are there
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// table, speedup: number of threads, 0 for all
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub threads: usize,
    /// No progress bar and no remarks
    #[arg(long, short)]
    pub quiet: bool,
}

/// Where the matrix comes from.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Input")]
pub struct Input {
    /// The matrix, rows are features; - for standard input
    #[arg(value_name = "INPUT", help_heading = "Arguments")]
    pub path: PathBuf,
    /// npy, npz, mtx, csv, tsv, svmlight, bow or hpx, instead of by extension
    #[arg(long, value_name = "FORMAT", value_parser = values::format)]
    pub format: Option<Format>,
    /// Which array of an .npz file, when it holds several
    #[arg(long, value_name = "NAME")]
    pub key: Option<String>,
    /// Rows of INPUT are examples (documents, samples)
    #[arg(long)]
    pub transpose: bool,
    /// Names of the features, one a line
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

/// For counts of words in documents.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Text (rows are words, columns documents)")]
pub struct Text {
    /// Factor the co-occurrence of words instead of their counts in documents
    #[arg(long)]
    pub cooccurrence: bool,
    /// Set aside words that occur in fewer than N documents
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub min_df: usize,
    /// Only words in at least N documents may be hott
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub candidate_df: usize,
    /// Weight of the counts: none, tfidf or log
    #[arg(long, value_name = "WEIGHT", default_value = "none", value_parser = values::weight(),
          hide_possible_values = true)]
    pub weight: Weight,
}

/// How the rows are chosen and fitted.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Method")]
pub struct Settings {
    /// Which error auto makes small: mean over rows, or max
    #[arg(long, value_name = "ERROR", default_value = "mean", value_parser = values::objective(),
          hide_possible_values = true)]
    pub objective: Objective,
    /// The cost vector p, one number a line (default: -||x_j||^2)
    #[arg(long, value_name = "FILE")]
    pub cost: Option<PathBuf>,
    /// How F is fitted: exact; least-squares (fast), incremental (the paper's),
    /// both approximate; auto: exact, or least-squares where X is huge
    #[arg(long, value_name = "HOW", default_value = "auto", value_parser = values::cleaning(),
          hide_possible_values = true)]
    pub cleaning: Cleaning,
    /// Epochs of the method hottopixx (default: 50, with more than 12,800
    /// examples fewer, down to 10, or 25 for sparse data)
    #[arg(long, value_name = "N")]
    pub epochs: Option<usize>,
    #[command(flatten)]
    pub program: Program,
    /// For agkm: no row is farther (l1, rows sum to 1) from its noiseless self
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    pub epsilon: Option<f64>,
    /// For agkm: least l1 distance of a hott row from the others' hull, 0 to 2
    #[arg(long, value_name = "A", allow_negative_numbers = true)]
    pub alpha: Option<f64>,
}

/// What the linear programs ask for.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Method")]
pub struct Program {
    /// For lp: the l1 error that every row may have, rows sum to 1
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    pub tau: Option<f64>,
    /// Relative gap at which a linear program counts as solved (default: 1e-6
    /// for lp, 1e-4 for minimax and total)
    #[arg(long, value_name = "G", allow_negative_numbers = true)]
    pub gap: Option<f64>,
    /// For lp: do not hold the sum of the diagonal at the rank; what it comes to
    /// estimates the rank, too low under noise
    #[arg(long)]
    pub no_trace: bool,
}

/// Seed, threads and limits.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Run")]
pub struct Run {
    /// Fixes everything random
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
    /// Number of threads, 0 for all; the answer does not depend on it
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub threads: usize,
    /// Compute for at most this long, then give the best answer so far
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub max_seconds: Option<f64>,
}

/// Keeping the state of a long run.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Run")]
pub struct Checkpoints {
    /// Keep the state of a long run here, to go on from with --resume (method
    /// hottopixx; the others begin anew). Removed at the end
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Seconds between two checkpoints, which are taken after an epoch
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 120.0,
        requires = "checkpoint",
        allow_negative_numbers = true
    )]
    pub checkpoint_every: f64,
    /// Go on from the file of --checkpoint, if it exists: the answer is the same
    /// as without the interruption
    #[arg(long, requires = "checkpoint")]
    pub resume: bool,
}

/// What becomes of the answer.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub struct Output {
    /// Write hott.csv, F, W, summary.json and report.html to this folder
    #[arg(long, short, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print one JSON object and nothing else
    #[arg(long)]
    pub json: bool,
    /// No progress bar and no hints
    #[arg(long, short)]
    pub quiet: bool,
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
