//! `auto` against every other method: is it never worse, and what does it take?
//!
//! On generated instances of all families, dense and sparse, by both objectives, the error of `auto`
//! must not be above that of any other method that needs nothing but the rank, nor above 1.001 times
//! that of the true rows ([`planted`]). On the data sets of a folder, the built-in corpus and some larger
//! instances the same holds ([`sets`]); there the error is also compared with the best greedy
//! method, and another build of the program may be run beside it.

mod planted;
mod scene;
mod sets;

use crate::StudyReport;
use anyhow::Result;
use hottopixx::{Factorization, Method, Objective};
use std::path::PathBuf;

/// What to run.
#[derive(Debug, Clone, clap::Args)]
pub struct AutoSettings {
    /// Small instances only, one of each kind
    #[arg(long)]
    pub quick: bool,
    /// Folder with the data sets; what is not there is skipped. Its own .npy and .npz files are data sets as
    /// well, rows being features
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Another build of the program, to run auto on the data sets as well
    #[arg(long, value_name = "PATH")]
    pub before: Option<PathBuf>,
    /// Instances of each kind
    #[arg(long, default_value_t = 2)]
    pub seeds: u64,
    /// The seed of the first of them
    #[arg(long, default_value_t = 0, value_name = "SEED")]
    pub first_seed: u64,
    /// Only data sets whose names contain this, and no generated instances; may be repeated
    #[arg(long, value_name = "TEXT")]
    pub only: Vec<String>,
    /// Only this error (mean or max); both for generated instances and mean for data sets unless given
    #[arg(long)]
    pub objective: Option<Objective>,
}

/// How far above another method's error rounding may take that of `auto`.
const ROUNDING: f64 = 1e-9;
/// How far above the error of the true rows `auto` may be.
const TRUTH: f64 = 1.001;
/// Errors below this are zero.
const ZERO: f64 = 1e-9;

/// Runs what the settings ask for.
///
/// # Errors
/// When an instance cannot be generated, or a file that is there cannot be read or factored.
pub fn run(settings: &AutoSettings) -> Result<StudyReport> {
    let mut report = StudyReport::default();
    if settings.only.is_empty() {
        planted::run(settings, &mut report)?;
    }
    if !settings.quick {
        sets::run(settings, &mut report)?;
    }
    Ok(report)
}

/// The methods that need nothing but the rank.
fn others() -> Vec<Method> {
    let needs_nothing = |m: &Method| m.requires().is_empty() && *m != Method::Auto;
    Method::ALL.into_iter().filter(needs_nothing).collect()
}

fn error_of(answer: &Factorization, objective: Objective) -> f64 {
    match objective {
        Objective::Mean => answer.errors.mean_l1,
        Objective::Max => answer.errors.inf1,
    }
}

/// Whether `auto` has a larger error than another method.
fn is_worse(auto: f64, other: f64) -> bool {
    auto > other * (1.0 + ROUNDING) + ZERO
}

/// A sentence where `auto` has a larger error than the true rows allow.
fn above_truth(name: &str, auto: f64, truth: f64) -> Option<String> {
    let ratio = auto / truth;
    (auto > TRUTH * truth + ZERO)
        .then(|| format!("{name}: auto has {ratio:.4} of the true rows' error"))
}
