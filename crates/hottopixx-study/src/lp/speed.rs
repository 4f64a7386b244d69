//! CPU time on one thread, cutting planes against HiGHS in the same run, on the paper's instances.
//! Of HiGHS only the solving counts, not the building of the model.

use super::reference::{self, ReferenceSettings, ReferenceVerdict};
use super::{LpProgram, goals, name, typical};
use crate::StudyReport;
use crate::clock::{self, median, on_one_thread};
use anyhow::Result;
use hottopixx::Goal;
use hottopixx::control::Control;
use hottopixx::localise::lp::LpStatus;
use hottopixx::normalise::UnitRows;
use hottopixx_report::table::Table;

/// Seconds after which HiGHS is given up by default.
pub const LIMIT: f64 = 3600.0;

const RANK: usize = 5;

/// Runs of ours; the median counts.
const REPEATS: usize = 5;

/// To this gap we solve, whatever the goal: about as far as HiGHS goes.
const GAP: f64 = 1e-6;

/// Optima may differ by this: HiGHS meets constraints within 1e-7 each, we the gap.
const CLOSE: f64 = 1e-5;

/// f, n, whether minimax instead of cost, and how many times faster than HiGHS we promise to be.
const SIZES: [(usize, usize, bool, Option<f64>); 5] = [
    (40, 400, false, Some(100.0)),
    (40, 400, true, None),
    (80, 800, false, Some(100.0)),
    (160, 400, false, Some(100.0)),
    (160, 1600, false, Some(200.0)),
];

/// One program, solved by both.
#[derive(Debug, Clone, Copy)]
struct Race {
    features: usize,
    examples: usize,
    goal: Goal,
    promised: Option<f64>,
    ours: f64,
    status: LpStatus,
    objective: f64,
    reference: f64,
    verdict: ReferenceVerdict,
}

/// Races at all sizes, or at the smallest only; HiGHS has `limit` seconds each time.
///
/// # Errors
/// When an instance cannot be generated, a program cannot be posed or the reference fails.
pub fn run(quick: bool, limit: f64) -> Result<StudyReport> {
    if let Some(missing) = reference::MISSING {
        return Ok(StudyReport { text: String::new(), failures: vec![missing.to_owned()] });
    }
    let sizes = if quick { &SIZES[..2] } else { &SIZES[..] };
    let mut races = Vec::new();
    for &(features, examples, minimax, promised) in sizes {
        let race = one(features, examples, minimax, promised, limit)?;
        // The next may take an hour.
        eprintln!("{}", race.cells().join("  "));
        races.push(race);
    }
    Ok(summarise(&races))
}

fn one(
    features: usize,
    examples: usize,
    minimax: bool,
    promised: Option<f64>,
    limit: f64,
) -> Result<Race> {
    let instance = typical(features, examples, RANK).generate()?;
    let x = UnitRows::new(&instance.matrix)?;
    let allowed = vec![true; x.features()];
    let goal = goals(instance.truth.epsilon)[usize::from(minimax)];
    let program = LpProgram { x: &x, rank: RANK, goal, allowed: &allowed, trace: true, cost: None };
    let (mut seconds, mut answer) = (Vec::new(), None);
    for _ in 0..REPEATS {
        let (solved, _) = on_one_thread(|| {
            // Of the whole process: no thread can hide.
            let start = clock::process();
            let solved = program.solve(Some(GAP), &Control::default());
            seconds.push(clock::process() - start);
            solved
        })?;
        answer = Some(solved?);
    }
    let (status, objective) =
        answer.map_or((LpStatus::Limit, f64::NAN), |answer| (answer.status, answer.objective));
    let reference = reference::solve(&program, ReferenceSettings { limit, tight: false })?;
    Ok(Race {
        features,
        examples,
        goal,
        promised,
        ours: median(&seconds),
        status,
        objective,
        reference: reference.seconds,
        verdict: reference.verdict,
    })
}

impl Race {
    /// How many times faster we are; at least that, when HiGHS was given up.
    fn factor(&self) -> f64 {
        self.reference / self.ours
    }

    /// Whether the promise is kept; `None` when there is none.
    fn kept(&self) -> Option<bool> {
        self.promised.map(|promised| self.factor() >= promised)
    }

    fn difference(&self) -> Option<f64> {
        match self.verdict {
            ReferenceVerdict::Optimal(optimum) => Some((self.objective - optimum).abs()),
            _ => None,
        }
    }

    fn cells(&self) -> Vec<String> {
        let given_up = self.verdict == ReferenceVerdict::Limit;
        let more = if given_up { "at most " } else { "" };
        let dash = || "-".to_owned();
        vec![
            format!("{} x {}", self.features, self.examples),
            name(self.goal).to_owned(),
            format!("{:.4}", self.ours),
            format!("{}{:.2}", if given_up { "> " } else { "" }, self.reference),
            format!("{more}1/{:.0}", self.factor()),
            self.promised.map_or_else(dash, |promised| format!("1/{promised:.0}")),
            self.kept().map_or_else(dash, |kept| if kept { "yes" } else { "no" }.to_owned()),
            self.difference().map_or_else(dash, |difference| format!("{difference:.1e}")),
        ]
    }

    fn complaint(&self) -> Option<String> {
        let what = format!("{} x {} {}", self.features, self.examples, name(self.goal));
        let broken = self.kept() == Some(false);
        if self.status != LpStatus::Optimal || self.verdict == ReferenceVerdict::Infeasible {
            Some(format!("{what}: {:?}, HiGHS {:?}", self.status, self.verdict))
        } else if self.difference().is_some_and(|d| d.is_nan() || d > CLOSE) {
            let objective = self.objective;
            Some(format!("{what}: the optimum is {objective}, HiGHS {:?}", self.verdict))
        } else if broken && self.verdict == ReferenceVerdict::Limit {
            Some(format!("{what}: HiGHS was given up too early to tell, raise --limit"))
        } else if broken {
            let promised = self.promised.unwrap_or_default();
            Some(format!("{what}: 1/{:.0} of HiGHS, promised 1/{promised:.0}", self.factor()))
        } else {
            None
        }
    }
}

fn summarise(races: &[Race]) -> StudyReport {
    let mut table = Table::of_numbers(&[
        "f x n",
        "program",
        "CPU s",
        "HiGHS",
        "ratio",
        "promised",
        "kept",
        "difference",
    ]);
    races.iter().for_each(|race| table.row(race.cells()));
    let text = format!("CPU seconds on one thread, rank {RANK}, gap {GAP:.0e}\n{table}");
    StudyReport { text, failures: races.iter().filter_map(Race::complaint).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn race(seconds: f64, verdict: ReferenceVerdict) -> Race {
        Race {
            features: 40,
            examples: 400,
            goal: Goal::Minimax,
            promised: Some(100.0),
            ours: 0.01,
            status: LpStatus::Optimal,
            objective: 0.5,
            reference: seconds,
            verdict,
        }
    }

    #[test]
    fn promises_are_judged() {
        let fails = |race: Race| summarise(&[race]).failures.len();
        assert_eq!(fails(race(1.1, ReferenceVerdict::Optimal(0.5))), 0);
        assert_eq!(fails(race(0.9, ReferenceVerdict::Optimal(0.5))), 1);
        assert_eq!(fails(race(1.1, ReferenceVerdict::Optimal(0.6))), 1);
        assert_eq!(fails(race(1.1, ReferenceVerdict::Infeasible)), 1);
        assert_eq!(fails(race(1.1, ReferenceVerdict::Limit)), 0);
        assert!(summarise(&[race(1.1, ReferenceVerdict::Limit)]).text.contains("at most 1/110"));
        let early = summarise(&[race(0.9, ReferenceVerdict::Limit)]).failures;
        assert!(early[0].contains("--limit"));
    }
}
