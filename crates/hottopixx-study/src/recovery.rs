//! The grid of the paper's section 5: how often all hott topics are found, how often the cleaned
//! mean error is within 5 % of the oracle's, and how long an instance takes.

use crate::paper::{self, DUPLICATES};
use crate::{StudyReport, parallel};
use anyhow::{Context, Result};
use hottopixx::synth::Recipe;
use hottopixx::{Factor, Method};
use hottopixx_report::table::Table;
use hottopixx_report::text::percent;
use std::time::Instant;

/// All but the last of the paper's, at which nobody finds the topics.
const ETAS: [f64; 4] = [0.25, 0.95, 4.0, 10.0];

/// Of these, the hardest.
const QUICK_ETAS: [f64; 1] = [10.0];

/// The oracle is the error of the true hott rows, cleaned alike.
const CLOSE: f64 = 1.05;

/// What to run.
#[derive(Debug, Clone)]
pub struct RecoverySettings {
    /// Only 40 x 400 instead of f in {40, 80}, n in {400, 800}, and one noise level.
    pub quick: bool,
    /// The method on trial.
    pub method: Method,
    /// Seeds of each setting.
    pub seeds: u64,
}

/// What came of one instance.
#[derive(Debug, Clone, Copy)]
struct RecoveryTrial {
    eta: f64,
    duplicates: usize,
    /// Every topic was hit.
    recovered: bool,
    /// The error is within [`CLOSE`] of the oracle's.
    close: bool,
    seconds: f64,
}

/// Runs the grid and compares with the promised rates.
///
/// # Errors
/// When an instance cannot be generated or factored.
pub fn run(settings: &RecoverySettings) -> Result<StudyReport> {
    let recipes = grid(settings);
    let outcomes = parallel(&recipes, |recipe| one(recipe, settings.method));
    let outcomes = outcomes.into_iter().collect::<Result<Vec<_>>>()?;
    Ok(summarise(settings.method, &outcomes))
}

fn grid(settings: &RecoverySettings) -> Vec<Recipe> {
    let wanted = |recipe: &Recipe| match (recipe.features, recipe.examples) {
        (40, 400) => true,
        (features, examples) => !settings.quick && features <= 80 && examples <= 800,
    };
    let mut recipes = paper::recipes(settings.seeds);
    let etas: &[f64] = if settings.quick { &QUICK_ETAS } else { &ETAS };
    recipes.retain(|recipe| etas.contains(&recipe.noise) && wanted(recipe));
    recipes
}

fn one(recipe: &Recipe, method: Method) -> Result<RecoveryTrial> {
    let instance = recipe.generate()?;
    let factor = Factor::new(recipe.rank).method(method).threads(1).seed(recipe.seed);
    let start = Instant::now();
    let answer = factor.run(&instance.matrix).with_context(|| format!("{recipe:?}"))?;
    let seconds = start.elapsed().as_secs_f64();
    let chosen: Vec<usize> = answer.hott.iter().map(|hott| hott.row).collect();
    let oracle = factor.evaluate(&instance.matrix, instance.truth.oracle())?;
    Ok(RecoveryTrial {
        eta: recipe.noise,
        duplicates: recipe.duplicates,
        recovered: instance.truth.recovered(&chosen) == recipe.rank,
        close: answer.errors.mean_l1 <= CLOSE * oracle.errors.mean_l1 + 1e-12,
        seconds,
    })
}

fn summarise(method: Method, outcomes: &[RecoveryTrial]) -> StudyReport {
    let mut table =
        Table::of_numbers(&["eta", "d", "instances", "all found %", "error <= 1.05 %", "seconds"]);
    let mut failures = Vec::new();
    for eta in ETAS {
        for duplicates in DUPLICATES {
            let cell: Vec<&RecoveryTrial> =
                outcomes.iter().filter(|o| o.eta == eta && o.duplicates == duplicates).collect();
            if cell.is_empty() {
                continue; // not among those of a quick run
            }
            let found = share(cell.iter().map(|o| o.recovered));
            let close = share(cell.iter().map(|o| o.close));
            let seconds = cell.iter().map(|o| o.seconds).sum::<f64>() / cell.len().max(1) as f64;
            table.row(vec![
                eta.to_string(),
                duplicates.to_string(),
                cell.len().to_string(),
                percent(found),
                percent(close),
                format!("{seconds:.3}"),
            ]);
            if let Some(least) = promised(method, eta).filter(|least| found < *least) {
                failures.push(format!(
                    "eta {eta}, d {duplicates}: all topics found in {} %, promised {} %",
                    percent(found),
                    percent(least)
                ));
            }
        }
    }
    let close = share(outcomes.iter().map(|o| o.close));
    if method == Method::Auto && close < 0.99 {
        failures.push(format!(
            "error within 1.05 of the oracle in {} %, promised 99 %",
            percent(close)
        ));
    }
    StudyReport { text: format!("method {}\n{table}", method.name()), failures }
}

/// The least share of instances in which every topic must be found.
fn promised(method: Method, eta: f64) -> Option<f64> {
    match method {
        Method::Auto => Some(if eta <= 4.0 { 0.99 } else { 0.97 }),
        Method::Hottopixx if eta <= 0.95 => Some(0.97),
        _ => None,
    }
}

fn share(yes: impl Iterator<Item = bool>) -> f64 {
    let (hits, all) = yes.fold((0, 0), |(hits, all), y| (hits + usize::from(y), all + 1));
    hits as f64 / all.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcomes(found_at_10: bool) -> Vec<RecoveryTrial> {
        let mut all = Vec::new();
        for eta in ETAS {
            for duplicates in DUPLICATES {
                let recovered = eta < 10.0 || found_at_10;
                all.push(RecoveryTrial { eta, duplicates, recovered, close: true, seconds: 0.5 });
            }
        }
        all
    }

    #[test]
    fn failures_are_what_was_promised_and_not_kept() {
        assert!(summarise(Method::Auto, &outcomes(true)).failures.is_empty());
        assert_eq!(summarise(Method::Auto, &outcomes(false)).failures.len(), 3);
        assert!(summarise(Method::Hottopixx, &outcomes(false)).failures.is_empty());
        assert!(summarise(Method::Spa, &outcomes(false)).failures.is_empty());
    }

    #[test]
    fn the_grid_is_the_papers() {
        let settings = RecoverySettings { quick: false, method: Method::Auto, seeds: 5 };
        assert_eq!(grid(&settings).len(), 4 * 3 * 3 * 4 * 5);
        let settings = RecoverySettings { quick: true, seeds: 1, ..settings };
        assert_eq!(grid(&settings).len(), 3 * 3);
    }
}
