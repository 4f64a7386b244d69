//! How the rows are chosen and fitted.

use crate::values;
use clap::Args;
use hottopixx::{Cleaning, Effort, Objective};
use std::path::PathBuf;

/// How the rows are chosen and fitted.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Method")]
pub struct MethodArgs {
    /// Which error auto makes small: mean over rows, or max
    #[arg(long, value_name = "ERROR", default_value = "mean", value_parser = values::objective(),
          hide_possible_values = true)]
    pub objective: Objective,
    /// How long auto looks for a better answer: quick, normal or thorough
    #[arg(long, value_name = "HOW", default_value = "normal", value_parser = values::effort(),
          hide_possible_values = true)]
    pub effort: Effort,
    /// The cost vector p, one number per line (default: -||x_j||^2)
    #[arg(long, value_name = "FILE")]
    pub cost: Option<PathBuf>,
    /// How much each row counts in the mean error, one number per line (default: all
    /// the same); lp, minimax and hottopixx themselves do not know of it
    #[arg(long, value_name = "FILE")]
    pub weights: Option<PathBuf>,
    /// How F is fitted: exact; least-squares (fast), incremental (the paper's),
    /// both approximate; auto: exact, or least-squares where X is huge
    #[arg(long, value_name = "HOW", default_value = "auto", value_parser = values::cleaning(),
          hide_possible_values = true)]
    pub cleaning: Cleaning,
    /// Epochs of the method hottopixx (default: 50; with more than 12,800
    /// examples fewer, down to 10, or 25 for sparse data; 100 for thousands
    /// of dense rows with few examples)
    #[arg(long, value_name = "N")]
    pub epochs: Option<usize>,
    #[command(flatten)]
    pub program: ProgramArgs,
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
pub struct ProgramArgs {
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
