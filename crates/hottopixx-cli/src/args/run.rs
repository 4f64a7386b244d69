//! Seed, threads, limits and checkpoints.

use clap::Args;
use std::path::PathBuf;

/// Seed, threads and limits.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Run")]
pub struct RunArgs {
    /// Fixes everything random
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub seed: u64,
    /// Number of threads, 0 for all; the answer does not depend on it
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub threads: usize,
    /// Compute for at most this long, then give the best answer so far
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub max_seconds: Option<f64>,
    /// Say on standard error what the run does, step by step: size, method, bounds
    /// and gap of every round, times. For bug reports
    #[arg(long, short = 'v', visible_alias = "verbose")]
    pub log: bool,
}

/// Keeping the state of a long run.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Run")]
pub struct CheckpointArgs {
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
