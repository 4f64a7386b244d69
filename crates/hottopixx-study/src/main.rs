//! `hottopixx-study`: prints the tables; exit code 1 when a promise is not kept.

use clap::{Parser, Subcommand};
use hottopixx::Method;
use hottopixx_study::StudyReport;
use hottopixx_study::large::{ProcessRunner, RunRequest};
use hottopixx_study::{
    auto, bench, campaign, choice, constraints, footprint, hard, limits, lp, missing, outliers,
    real, recovery, scenes, soak, total, update,
};
use std::path::PathBuf;
use std::process::ExitCode;

/// Measurements of hottopixx, to be run in release mode.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    study: Study,
}

#[derive(Debug, Subcommand)]
enum Study {
    /// The grid of the paper's section 5: are the hott topics found?
    Recovery {
        /// Only the smallest size, at the largest noise
        #[arg(long)]
        quick: bool,
        /// The method on trial
        #[arg(long, default_value = "auto")]
        method: Method,
        /// Instances of each setting
        #[arg(long, default_value_t = 5)]
        seeds: u64,
    },
    /// All methods on the families where greedy ones fail
    Hard {
        /// Only the midpoints, where there is a promise to keep
        #[arg(long)]
        quick: bool,
        /// Instances of each setting
        #[arg(long, default_value_t = 5)]
        seeds: u64,
    },
    /// Is auto never worse than another method, and what does it take?
    Auto(auto::AutoSettings),
    /// All methods on real data
    Real {
        /// Folder with the data sets; what is not there is skipped
        #[arg(long, value_name = "DIR")]
        data: PathBuf,
    },
    /// The program under time limits and Ctrl-C: is it back in time, with an answer?
    Limits {
        /// The program, built in release mode
        #[arg(long, value_name = "PATH")]
        program: PathBuf,
        /// Folder with real data (digits.npy, bbc_news/X.npz); what is not there is skipped
        #[arg(long, value_name = "DIR")]
        data: Option<PathBuf>,
        /// A small instance and few commands, which may be five seconds late
        #[arg(long)]
        quick: bool,
        /// Only settings whose names contain this, such as 'factor spa' or 'on dense'; may be repeated
        #[arg(long, value_name = "TEXT")]
        only: Vec<String>,
    },
    /// Runs killed, interrupted and limited at every moment: is what is left whole and true?
    Soak(soak::SoakSettings),
    /// Peaks of memory beside what was predicted, method by method
    Footprint(footprint::FootprintSettings),
    /// The paper's linear programs by cutting planes
    Lp {
        #[command(subcommand)]
        part: lp::LpPart,
    },
    /// Small adversarial instances against exact arithmetic and another solver
    Campaign(campaign::CampaignSettings),
    /// Bounds for choices of rows against all choices, and on real words
    Choice(choice::ChoiceSettings),
    /// Constraints on choices of rows against all choices that obey them
    Constraints(constraints::ConstraintSettings),
    /// Missing entries: are planted rows found, and how far are guesses from the truth?
    Missing(missing::MissingSettings),
    /// Planted outliers: are they named, and hott rows found as without them?
    Outliers(outliers::OutlierSettings),
    /// The program total at the sizes of corpora: gaps reached, and what they take
    Total(total::TotalSettings),
    /// Documents added to an answer: time and error beside a run from nothing
    Update(update::UpdateSettings),
    /// Materials of scenes, against the usual ways to find pure pixels
    Scenes(scenes::SceneSettings),
    /// Speed and memory at the sizes of the paper, and beyond
    Bench(bench::BenchSettings),
    /// One whole run, measured: what bench starts in a process of its own
    #[command(name = MEASURE, hide = true)]
    Measure(RunRequest),
}

/// The name of the command that carries out one run.
const MEASURE: &str = "measure";

fn main() -> anyhow::Result<ExitCode> {
    let report = match Arguments::parse().study {
        Study::Recovery { quick, method, seeds } => {
            recovery::run(&recovery::RecoverySettings { quick, method, seeds })?
        }
        Study::Hard { quick, seeds } => hard::run(quick, seeds)?,
        Study::Auto(settings) => auto::run(&settings)?,
        Study::Real { data } => real::run(&data)?,
        Study::Limits { program, data, quick, only } => {
            let leeway =
                if quick { limits::LimitSettings::BUSY } else { limits::LimitSettings::PROMISED };
            limits::run(&limits::LimitSettings { program, data, quick, leeway, only })?
        }
        Study::Soak(settings) => soak::run(&settings)?,
        Study::Footprint(settings) => footprint::run(&settings)?,
        Study::Lp { part } => lp::run(&part)?,
        Study::Campaign(settings) => campaign::run(&settings)?,
        Study::Choice(settings) => choice::run(&settings)?,
        Study::Constraints(settings) => constraints::run(&settings)?,
        Study::Missing(settings) => missing::run(&settings)?,
        Study::Outliers(settings) => outliers::run(&settings)?,
        Study::Total(settings) => total::run(&settings)?,
        Study::Update(settings) => update::run(&settings)?,
        Study::Scenes(settings) => scenes::run(&settings)?,
        Study::Bench(settings) => bench::run(&settings, &ProcessRunner::this_program(&[MEASURE])?)?,
        Study::Measure(request) => {
            let text = serde_json::to_string(&request.carry_out()?)?;
            StudyReport { text, failures: Vec::new() }
        }
    };
    print!("{}", report.text);
    for failure in &report.failures {
        println!("FAILED: {failure}");
    }
    Ok(if report.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn flags_do_not_clash() {
        Arguments::command().debug_assert();
    }
}
