//! The paper's linear programs, solved by cutting planes: is the optimum that of another solver
//! ([`agreement`]), is it reached on the whole grid of the paper's section 5 ([`grid`]), at which
//! fraction of the other solver's CPU time ([`speed`]), and how does the cost grow ([`scale`])?

pub mod agreement;
pub mod grid;
pub mod reference;
pub mod scale;
pub mod speed;

use crate::StudyReport;
use anyhow::Result;
use hottopixx::Error;
use hottopixx::Goal;
use hottopixx::control::Control;
use hottopixx::localise::lp::{LpOutcome, LpSettings, lp};
use hottopixx::normalise::UnitRows;
use hottopixx::synth::{Family, Recipe};

/// What to run.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum LpPart {
    /// Is the optimum that of HiGHS?
    Agreement {
        /// Only the smallest size
        #[arg(long)]
        quick: bool,
    },
    /// Is the promised gap reached on every setting of the paper's section 5?
    Grid {
        /// Only a dozen small ones
        #[arg(long)]
        quick: bool,
    },
    /// At which fraction of the CPU time of HiGHS?
    Speed {
        /// Only the smallest size
        #[arg(long)]
        quick: bool,
        /// Seconds after which HiGHS is given up
        #[arg(long, value_name = "SECONDS", default_value_t = speed::LIMIT)]
        limit: f64,
    },
    /// How do time and memory grow with the size?
    Scale {
        /// Only two small sizes
        #[arg(long)]
        quick: bool,
        /// Seconds after which an instance is given up, and with it the larger ones
        #[arg(long, value_name = "SECONDS", default_value_t = scale::MAX_SECONDS)]
        max_seconds: f64,
        /// A single size, such as 640x3200
        #[arg(long, value_name = "FxN", value_parser = scale::parse_size)]
        only: Option<(usize, usize)>,
    },
    /// All of these
    All {
        /// In small sizes only
        #[arg(long)]
        quick: bool,
    },
}

/// Runs a part, or all of them one after the other.
///
/// # Errors
/// When an instance cannot be generated or a program cannot be posed.
pub fn run(part: &LpPart) -> Result<StudyReport> {
    match *part {
        LpPart::Agreement { quick } => agreement::run(quick),
        LpPart::Grid { quick } => grid::run(quick),
        LpPart::Speed { quick, limit } => speed::run(quick, limit),
        LpPart::Scale { quick, max_seconds, only } => scale::run(quick, max_seconds, only),
        LpPart::All { quick } => {
            let parts = [
                LpPart::Agreement { quick },
                LpPart::Grid { quick },
                LpPart::Speed { quick, limit: speed::LIMIT },
                LpPart::Scale { quick, max_seconds: scale::MAX_SECONDS, only: None },
            ];
            let mut all = StudyReport::default();
            for part in &parts {
                let report = run(part)?;
                all.text += &report.text;
                all.text.push('\n');
                all.failures.extend(report.failures);
            }
            Ok(all)
        }
    }
}

/// One linear program: all that decides its optimum.
#[derive(Debug, Clone, Copy)]
pub struct LpProgram<'a> {
    /// X, rows of unit sum.
    pub x: &'a UnitRows,
    /// r, the trace of C where `trace` is on.
    pub rank: usize,
    /// What is minimised, under which constraint on the errors.
    pub goal: Goal,
    /// For each row, whether it may be hott.
    pub allowed: &'a [bool],
    /// Whether the trace of C is r; free otherwise.
    pub trace: bool,
    /// p; `None` for the solver's own, -||x_j||^2.
    pub cost: Option<&'a [f64]>,
}

impl LpProgram<'_> {
    /// Solves it by cutting planes to this gap, or to the goal's own.
    ///
    /// # Errors
    /// Those of the solver.
    pub fn solve(&self, gap: Option<f64>, control: &Control) -> Result<LpOutcome, Error> {
        let mut settings = LpSettings::new(self.goal);
        settings.trace = self.trace;
        settings.cost = self.cost.map(<[f64]>::to_vec);
        if gap.is_some() {
            settings.gap = gap;
        }
        lp(self.x, self.rank, self.allowed, &settings, control)
    }
}

/// Section 5 of the paper as the studies of time use it: every hott row once more, and noise just
/// below what Theorem 3.2 can bear.
fn typical(features: usize, examples: usize, rank: usize) -> Recipe {
    Recipe::new(Family::Paper, rank).size(features, examples).duplicates(1).noise(0.95)
}

/// The two programs that are timed on an instance: least cost with tau = 2 epsilon, the smallest
/// tau for which the truth is feasible whatever the noise, and minimax.
fn goals(epsilon: Option<f64>) -> [Goal; 2] {
    [Goal::Cost { tau: 2.0 * epsilon.unwrap_or(0.0) }, Goal::Minimax]
}

/// The name of a goal in tables.
fn name(goal: Goal) -> &'static str {
    match goal {
        Goal::Cost { .. } => "cost",
        Goal::Minimax => "minimax",
        Goal::Total => "total",
    }
}
