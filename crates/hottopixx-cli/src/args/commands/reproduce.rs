//! The flags of `reproduce`.

use clap::Args;
use std::path::PathBuf;

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

Everything goes to the folder of --out: the page as index.html and index.md,
one .svg and .csv for each figure, and for profiles the runs themselves,
profiles.csv. Runs that are there are not done again: an interrupted run of
profiles is continued by the same command.

Without --data or --input the matrices of rmse and svm are made up. --data
is a folder of data sets: bible_people_places/chapter_cooc.npz for rmse; for
svm rcv1_vw and newsgroups20, each with X.npz (documents x words) and
labels.txt.

Examples:
  hottopixx reproduce profiles --quick --out paper
  hottopixx reproduce profiles --from docs/paper/profiles.csv.gz --out paper
  hottopixx reproduce rmse --input cooccurrence.npz --out paper
  hottopixx reproduce svm --input X.npz --transpose --labels y.txt --out paper")]
pub struct ReproduceArgs {
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
    /// svm: classes of the examples of --input, one number per line (an .svm
    /// file has its own)
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
