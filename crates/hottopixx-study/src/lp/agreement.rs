//! Do cutting planes and HiGHS find the same optimum? All generator families, all three goals,
//! tolerances from infeasible to loose; some programs in which not every row may be hott, and some
//! without the trace.

use super::reference::{self, ReferenceSettings, ReferenceVerdict};
use super::{LpProgram, name};
use crate::clock::on_one_thread;
use crate::{StudyReport, parallel};
use anyhow::{Context, Result};
use hottopixx::Goal;
use hottopixx::control::Control;
use hottopixx::localise::lp::{LpOutcome, LpStatus};
use hottopixx::normalise::UnitRows;
use hottopixx::synth::{Family, Recipe};
use hottopixx_report::table::Table;

/// Optima may differ by this, relative to the optimum where that is beyond 1.
const CLOSE: f64 = 1e-6;

/// To this gap the programs are solved, well below what they may differ by.
const GAP: f64 = 1e-7;

/// Multiples of the least possible tau.
const TAUS: [f64; 5] = [0.5, 0.95, 1.05, 2.0, 5.0];

/// Entries of X up to which every goal is compared.
const SMALL: usize = 4000;

/// Entries of X up to which minimax is compared; beyond, only the cost, for some tau.
const MEDIUM: usize = 16_000;

const SIZES: [(usize, usize); 9] = [
    (20, 50),
    (20, 100),
    (20, 400),
    (40, 50),
    (40, 100),
    (40, 400),
    (80, 50),
    (80, 100),
    (80, 400),
];

/// What is special about a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Variant {
    /// Nothing.
    Plain,
    /// Every third row may not be hott.
    Restricted,
    /// The trace is free, and every row costs about the same.
    Traceless,
}

/// An instance, and what is asked of it.
#[derive(Debug, Clone)]
struct AgreementCase {
    recipe: Recipe,
    variant: Variant,
}

/// One program, solved twice.
#[derive(Debug, Clone)]
struct SolvedTwice {
    goal: Goal,
    infeasible: bool,
    /// Of the optima, as [`CLOSE`] measures it.
    difference: f64,
    /// What is wrong, if anything is.
    complaint: Option<String>,
    our_seconds: f64,
    reference_seconds: f64,
}

/// Solves all cases twice, or a few small ones.
///
/// # Errors
/// When an instance cannot be generated, a program cannot be posed or the reference fails.
pub fn run(quick: bool) -> Result<StudyReport> {
    if let Some(missing) = reference::MISSING {
        return Ok(StudyReport { text: String::new(), failures: vec![missing.to_owned()] });
    }
    let mut cases = cases(quick);
    // Largest first: no processor waits long for another's last instance.
    cases.sort_by_key(|case| std::cmp::Reverse(case.recipe.features * case.recipe.examples));
    let done = parallel(&cases, |case| one(case).with_context(|| format!("{case:?}")));
    let done = done.into_iter().collect::<Result<Vec<_>>>()?;
    Ok(summarise(&cases, &done))
}

fn cases(quick: bool) -> Vec<AgreementCase> {
    let sizes = if quick { &SIZES[..1] } else { &SIZES[..] };
    let mut cases = Vec::new();
    for (seed, &(features, examples)) in sizes.iter().enumerate() {
        for recipe in recipes(features, examples) {
            let recipe = recipe.size(features, examples).seed(seed as u64);
            if features * examples <= SMALL / 2 {
                for variant in [Variant::Restricted, Variant::Traceless] {
                    cases.push(AgreementCase { recipe: recipe.clone(), variant });
                }
            }
            cases.push(AgreementCase { recipe, variant: Variant::Plain });
        }
    }
    cases
}

/// All families, in ranks that fit.
fn recipes(features: usize, examples: usize) -> [Recipe; 7] {
    let (rank, corners) = match features {
        ..40 => (3, 5),
        40..80 => (5, 8),
        _ => (6, 10),
    };
    // Two kinds of midpoints, in turns.
    let ill = if examples == 100 { 0.5 } else { 0.0 };
    [
        Recipe::new(Family::Paper, rank),
        Recipe::new(Family::Paper, rank).duplicates(1).noise(4.0),
        Recipe::new(Family::Midpoints, corners).ill(ill),
        Recipe::new(Family::IllConditioned, rank).noise(10.0),
        Recipe::new(Family::NearDuplicates, rank).duplicates(2).noise(10.0),
        Recipe::new(Family::Outliers, rank).noise(4.0),
        Recipe::new(Family::Multinomial, rank).tokens(30),
    ]
}

/// What is compared, given the least possible tau: less on larger instances, where HiGHS takes
/// long.
fn goals(case: &AgreementCase, least: f64) -> Vec<Goal> {
    let entries = case.recipe.features * case.recipe.examples;
    let taus = if entries <= SMALL { &TAUS[..] } else { &TAUS[1..4] };
    let mut goals: Vec<Goal> = taus.iter().map(|&by| Goal::Cost { tau: by * least }).collect();
    // Without the trace, every error can be zero.
    if case.variant != Variant::Traceless {
        if entries <= MEDIUM {
            goals.push(Goal::Minimax);
        }
        if entries <= SMALL {
            goals.push(Goal::Total);
        }
    }
    goals
}

fn one(case: &AgreementCase) -> Result<Vec<SolvedTwice>> {
    let x = UnitRows::new(&case.recipe.generate()?.matrix)?;
    let f = x.features();
    let restricted = case.variant == Variant::Restricted;
    let allowed: Vec<bool> = (0..f).map(|i| !restricted || i % 3 > 0).collect();
    let minimax = LpProgram {
        x: &x,
        rank: case.recipe.rank,
        goal: Goal::Minimax,
        allowed: &allowed,
        trace: true,
        cost: None,
    };
    let least = minimax.solve(Some(GAP), &Control::default())?.objective;
    // Near one for each row, but no two alike.
    let even: Vec<f64> = (0..f).map(|j| 1.0 + 0.1 * (0.618 * j as f64).fract()).collect();
    let program = match case.variant {
        Variant::Traceless => LpProgram { trace: false, cost: Some(&even), ..minimax },
        _ => minimax,
    };
    goals(case, least).into_iter().map(|goal| compare(&LpProgram { goal, ..program })).collect()
}

/// Solves one program twice.
fn compare(program: &LpProgram<'_>) -> Result<SolvedTwice> {
    let (ours, our_seconds) = on_one_thread(|| program.solve(Some(GAP), &Control::default()))?;
    let ours = ours?;
    let reference =
        reference::solve(program, ReferenceSettings { limit: f64::INFINITY, tight: true })?;
    let (difference, complaint) = judge(&ours, reference.verdict);
    Ok(SolvedTwice {
        goal: program.goal,
        infeasible: reference.verdict == ReferenceVerdict::Infeasible,
        difference,
        complaint,
        our_seconds,
        reference_seconds: reference.seconds,
    })
}

/// The difference, and what is wrong with it.
fn judge(ours: &LpOutcome, reference: ReferenceVerdict) -> (f64, Option<String>) {
    let LpOutcome { status, objective, lower_bound, .. } = *ours;
    match (status, reference) {
        (LpStatus::Infeasible, ReferenceVerdict::Infeasible) => (0.0, None),
        (LpStatus::Optimal, ReferenceVerdict::Optimal(optimum)) => {
            let difference = (objective - optimum).abs() / optimum.abs().max(1.0);
            let over = (lower_bound - optimum) / optimum.abs().max(1.0);
            let complaint = if difference.is_nan() || difference > CLOSE {
                Some(format!("{objective:.9} instead of {optimum:.9}"))
            } else if over.is_nan() || over > CLOSE {
                Some(format!("the bound {lower_bound:.9} is above the optimum {optimum:.9}"))
            } else {
                None
            };
            (difference, complaint)
        }
        _ => (f64::NAN, Some(format!("{status:?} ({objective:.9}) instead of {reference:?}"))),
    }
}

fn summarise(cases: &[AgreementCase], done: &[Vec<SolvedTwice>]) -> StudyReport {
    let mut table = Table::of_numbers(&[
        "family",
        "instances",
        "programs",
        "infeasible",
        "cost",
        "minimax",
        "total",
        "largest difference",
        "CPU s",
        "HiGHS",
    ]);
    let families = Family::ALL.map(Some).into_iter().chain([None]);
    for family in families {
        let mine = cases.iter().zip(done);
        let mine = mine.filter(|(case, _)| family.is_none_or(|f| f == case.recipe.family));
        let mine: Vec<&Vec<SolvedTwice>> = mine.map(|(_, comparisons)| comparisons).collect();
        table.row(row(family.map_or("all", Family::name), &mine));
    }
    let failures = cases.iter().zip(done).flat_map(|(case, comparisons)| {
        comparisons.iter().filter_map(move |comparison| {
            let complaint = comparison.complaint.as_ref()?;
            Some(format!("{:?} on {case:?}: {complaint}", comparison.goal))
        })
    });
    let text = format!("cutting planes against HiGHS\n{table}");
    StudyReport { text, failures: failures.collect() }
}

/// One line for some instances.
fn row(label: &str, mine: &[&Vec<SolvedTwice>]) -> Vec<String> {
    let all = || mine.iter().flat_map(|comparisons| comparisons.iter());
    let count = |keep: &dyn Fn(&SolvedTwice) -> bool| all().filter(|c| keep(c)).count().to_string();
    let solved = |goal: &str| count(&|c| !c.infeasible && name(c.goal) == goal);
    vec![
        label.to_owned(),
        mine.len().to_string(),
        all().count().to_string(),
        count(&|c| c.infeasible),
        solved("cost"),
        solved("minimax"),
        solved("total"),
        format!("{:.1e}", all().map(|c| c.difference).fold(0.0, f64::max)),
        format!("{:.2}", all().map(|c| c.our_seconds).sum::<f64>()),
        format!("{:.2}", all().map(|c| c.reference_seconds).sum::<f64>()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_can_be_generated() {
        for case in cases(false) {
            assert!(case.recipe.generate().is_ok(), "{case:?}");
        }
        let plain = cases(false).iter().filter(|case| case.variant == Variant::Plain).count();
        assert!(plain >= 60);
    }
}
