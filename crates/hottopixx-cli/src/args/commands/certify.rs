//! The flags of `certify`.

use crate::args::{InputArgs, PrintArgs, ProgramArgs, RunArgs, TextArgs};
use crate::values;
use clap::Args;
use std::path::PathBuf;

/// `certify`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hottopixx certify X.npy --rank 5               the best 5 rows can do
  hottopixx certify X.npy --hott 3,17,42 --json  how far these are from it
  hottopixx certify X.npy --rank 4 --exact       the best 4 rows, proven
  hottopixx certify X.npy --rank 5 --method lp --tau 0.1 --out proof

A linear program over all choices of R rows (minimax: the largest l1 error of a
row; total: the sum of the errors; lp: p.d with every error within --tau) is
solved, and its bound is checked by code that shares nothing with the solver.
The programs weigh rows by at most 1, as in the paper. With minimax, the
error of every choice of R rows with any weights, as it is reported, is
bounded as well; --exact searches until no choice is better, or a limit is
met. alpha, margin and epsilon are the figures of Theorem 3.2 for the rows.

--out writes d.npy, C.npz, Y.npz, X.npy or X.npz (rows divided by their
sums, zero rows left out), choice_Y.npy (the cuts behind the bound for
choices) and certificate.json, enough to check the bound elsewhere: with
'hottopixx verify', or with a dozen lines of Python (see the guide).")]
#[command(group(clap::ArgGroup::new("rows").required(true).multiple(true).args(["rank", "hott"])))]
pub struct CertifyArgs {
    #[command(flatten)]
    pub input: InputArgs,
    /// Number of hott rows: the program chooses them
    #[arg(long, short, value_name = "R", value_parser = values::rank, help_heading = "Method")]
    pub rank: Option<usize>,
    /// Instead of --rank: these rows, separated by commas: numbers from 0, or
    /// names
    #[arg(long, value_name = "ROWS", help_heading = "Method")]
    pub hott: Option<String>,
    /// The program: minimax, total or lp
    #[arg(long, value_name = "METHOD", default_value = "minimax", help_heading = "Method")]
    pub method: String,
    #[command(flatten)]
    pub program: ProgramArgs,
    /// Search for the choice with the smallest largest error until it is proven
    #[arg(long, help_heading = "Method")]
    pub exact: bool,
    /// The cost vector p of lp, one number per line (default: -||x_j||^2)
    #[arg(long, value_name = "FILE", help_heading = "Method")]
    pub cost: Option<PathBuf>,
    #[command(flatten)]
    pub text: TextArgs,
    #[command(flatten)]
    pub run: RunArgs,
    /// Write the certificate to this folder
    #[arg(long, short, value_name = "DIR", help_heading = "Output")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub print: PrintArgs,
}
