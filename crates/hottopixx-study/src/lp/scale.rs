//! How time and memory grow with the size, on all threads: a ladder of the paper's instances, up
//! to its jumbo of 1600 x 64000 with 100 hott rows.

use super::{LpProgram, goals, name, typical};
use crate::StudyReport;
use crate::clock;
use anyhow::Result;
use hottopixx::Goal;
use hottopixx::control::Control;
use hottopixx::localise::lp::{LpOutcome, LpStatus};
use hottopixx::normalise::UnitRows;
use hottopixx_io::machine;
use hottopixx_report::table::Table;
use std::time::{Duration, Instant};

/// Seconds after which an instance is given up by default.
pub const MAX_SECONDS: f64 = 600.0;

const GAP: f64 = 1e-3;

const LADDER: [(usize, usize); 9] = [
    (160, 1600),
    (320, 1600),
    (160, 3200),
    (320, 3200),
    (640, 3200),
    (640, 6400),
    (1280, 12_800),
    (1600, 25_600),
    (1600, 64_000),
];

const QUICK: [(usize, usize); 2] = [(40, 400), (80, 800)];

/// One program on one size.
#[derive(Debug, Clone)]
struct Step {
    features: usize,
    examples: usize,
    rank: usize,
    goal: Goal,
    answer: LpOutcome,
    wall: f64,
    cpu: f64,
    megabytes: Option<f64>,
}

/// `640x3200` as f and n.
///
/// # Errors
/// When it is not two positive numbers with an `x` between them.
pub fn parse_size(text: &str) -> Result<(usize, usize), String> {
    let parts = text.split_once('x').map(|(f, n)| (f.trim().parse(), n.trim().parse()));
    match parts {
        Some((Ok(f), Ok(n))) if f > 0 && n > 0 => Ok((f, n)),
        _ => Err("give rows and columns, such as 640x3200".to_owned()),
    }
}

/// Climbs the ladder until an instance takes more than `max_seconds`, each program on its own; or
/// solves the one size `only`.
///
/// # Errors
/// When an instance cannot be generated or a program cannot be posed.
pub fn run(quick: bool, max_seconds: f64, only: Option<(usize, usize)>) -> Result<StudyReport> {
    let one;
    let sizes = match only {
        Some(size) => {
            one = [size];
            &one[..]
        }
        None if quick => &QUICK[..],
        None => &LADDER[..],
    };
    let mut steps: Vec<Step> = Vec::new();
    for &(features, examples) in sizes {
        let finished = |k: usize| {
            let last = steps.iter().rev().find(|step| kind(step.goal) == k);
            last.is_none_or(|step| step.answer.status == LpStatus::Optimal)
        };
        let wanted = [finished(0), finished(1)];
        if !wanted.contains(&true) {
            break;
        }
        climb(features, examples, wanted, max_seconds, &mut steps)?;
    }
    Ok(summarise(&steps))
}

/// One row in 32, at least 10, and 100 as in the paper for its jumbo; but no more than half of the
/// rows: each has a duplicate.
fn rank(features: usize) -> usize {
    let usual = if features < 1600 { (features / 32).max(10) } else { 100 };
    usual.min(features / 2).max(1)
}

/// Which of the two programs it is.
fn kind(goal: Goal) -> usize {
    usize::from(!matches!(goal, Goal::Cost { .. }))
}

/// Solves the wanted programs on one size.
fn climb(
    features: usize,
    examples: usize,
    wanted: [bool; 2],
    max_seconds: f64,
    steps: &mut Vec<Step>,
) -> Result<()> {
    let rank = rank(features);
    let instance = typical(features, examples, rank).generate()?;
    let epsilon = instance.truth.epsilon;
    let x = UnitRows::new(&instance.matrix)?;
    // A copy of X that the solver does not need.
    drop(instance);
    let allowed = vec![true; x.features()];
    for goal in goals(epsilon).into_iter().filter(|goal| wanted[kind(*goal)]) {
        let program = LpProgram { x: &x, rank, goal, allowed: &allowed, trace: true, cost: None };
        machine::reset_peak_memory();
        let (start, cpu) = (Instant::now(), clock::process());
        let limit = Duration::try_from_secs_f64(max_seconds).unwrap_or(Duration::MAX);
        let control = match start.checked_add(limit) {
            Some(deadline) => Control::default().with_deadline(deadline),
            None => Control::default(),
        };
        let answer = program.solve(Some(GAP), &control)?;
        let wall = start.elapsed().as_secs_f64();
        let cpu = clock::process() - cpu;
        let megabytes = machine::peak_memory().map(|bytes| bytes as f64 / 1e6);
        let step = Step { features, examples, rank, goal, answer, wall, cpu, megabytes };
        // The next may take long.
        eprintln!("{}", step.cells(None).join("  "));
        steps.push(step);
    }
    Ok(())
}

impl Step {
    /// One line; `before` is the same program on the size before.
    fn cells(&self, before: Option<&Step>) -> Vec<String> {
        let answer = &self.answer;
        let dash = || "-".to_owned();
        vec![
            format!("{} x {}", self.features, self.examples),
            self.rank.to_string(),
            name(self.goal).to_owned(),
            answer.status.name().to_owned(),
            format!("{:.2}", self.wall),
            before.map_or_else(dash, |before| format!("{:.1}", self.wall / before.wall)),
            format!("{:.2}", self.cpu),
            answer.rounds.to_string(),
            answer.cuts.to_string(),
            answer.pivots.to_string(),
            format!("{:.1e}", answer.gap),
            self.megabytes.map_or_else(dash, |megabytes| format!("{megabytes:.0}")),
        ]
    }
}

fn summarise(steps: &[Step]) -> StudyReport {
    let mut table = Table::of_numbers(&[
        "f x n", "r", "program", "status", "seconds", "ratio", "CPU s", "rounds", "cuts", "pivots",
        "gap", "peak MB",
    ]);
    for wanted in 0..2 {
        let mine: Vec<&Step> = steps.iter().filter(|step| kind(step.goal) == wanted).collect();
        for (k, step) in mine.iter().enumerate() {
            let before = k.checked_sub(1).map(|k| mine[k]);
            table.row(step.cells(before));
        }
    }
    let threads = rayon::current_num_threads();
    let text = format!("to gap {GAP:.0e} on {threads} threads\n{table}");
    // How far the ladder goes is a measurement; a truth that is infeasible is an error.
    let wrong = steps.iter().filter(|step| step.answer.status == LpStatus::Infeasible);
    let failures =
        wrong.map(|s| format!("{} x {} {:?} is infeasible", s.features, s.examples, s.goal));
    StudyReport { text, failures: failures.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        assert_eq!(parse_size("640x3200"), Ok((640, 3200)));
        for wrong in ["640", "0x10", "ax3", ""] {
            assert!(parse_size(wrong).unwrap_err().contains("640x3200"));
        }
    }

    #[test]
    fn ranks_fit_the_ladder() {
        for (features, examples) in LADDER.into_iter().chain(QUICK) {
            assert!(2 * rank(features) <= features && rank(features) <= examples);
        }
        assert_eq!((rank(160), rank(640), rank(1600)), (10, 20, 100));
    }
}
