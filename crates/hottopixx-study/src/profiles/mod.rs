//! Section 5 of the paper: 2025 instances, the paper's methods and ours, and performance profiles.
//!
//! Every contender runs on one thread and its CPU seconds count, so that other work on the
//! machine does not matter much. F is fitted exactly for all of them: the paper's two incremental
//! epochs measure the cleaning, not the choice of rows (their error is recorded beside).

mod collect;
mod contender;
mod figures;
mod profile;
mod runs;

pub use collect::collect;
pub use contender::Contender;
pub use figures::section;
pub use profile::{Profile, profiles};
pub use runs::{Diagonal, ProfileOutcome, ProfileRun, ProfileRuns, lines};

use crate::clock::on_one_thread;
use crate::paper;
use anyhow::{Context, Result};
use hottopixx::clean::{IncrementalSettings, incremental, measure};
use hottopixx::control::Control;
use hottopixx::normalise::UnitRows;
use hottopixx::select::top;
use hottopixx::synth::{Instance, Recipe};
use hottopixx::{Error, Factorization};

/// A diagonal entry from which on it counts as 1.
const ONE: f64 = 0.999;

/// The instances, largest first, so that no processor waits long for another's last one. With
/// `quick` a sample in which every setting of each parameter occurs equally often.
pub fn instances(quick: bool) -> Vec<Recipe> {
    let mut recipes = paper::recipes(paper::REPEATS);
    if quick {
        recipes = recipes.into_iter().step_by(29).collect();
    }
    recipes.sort_by_key(|recipe| std::cmp::Reverse(recipe.features * recipe.examples));
    recipes
}

/// Runs every contender on an instance.
///
/// # Errors
/// When the instance cannot be generated or a contender fails for another reason than that there
/// is no answer.
pub fn run_all(recipe: &Recipe) -> Result<Vec<ProfileRun>> {
    let instance = recipe.generate()?;
    Contender::ALL.into_iter().map(|contender| run(recipe, &instance, contender)).collect()
}

fn run(recipe: &Recipe, instance: &Instance, contender: Contender) -> Result<ProfileRun> {
    let factor = contender.settings(recipe, &instance.truth);
    let (answer, seconds) = on_one_thread(|| factor.run(&instance.matrix))?;
    let outcome = match answer {
        Ok(answer) => Some(on_one_thread(|| outcome(recipe, instance, &answer, seconds))?.0?),
        Err(Error::Infeasible { .. } | Error::NoAnswer(_)) => None,
        Err(error) => {
            return Err(error).with_context(|| format!("{} on {recipe:?}", contender.name()));
        }
    };
    Ok(ProfileRun { recipe: recipe.clone(), contender, outcome })
}

fn outcome(
    recipe: &Recipe,
    instance: &Instance,
    answer: &Factorization,
    seconds: f64,
) -> Result<ProfileOutcome> {
    let truth = &instance.truth;
    let chosen: Vec<usize> = answer.hott.iter().map(|hott| hott.row).collect();
    let x = UnitRows::new(&instance.matrix)?;
    // No row of these instances is zero: rows of X are rows of the matrix.
    let fits = incremental(&x, &chosen, &IncrementalSettings::PAPER, &Control::default());
    let diagonal = answer.diagonal.as_ref().map(|d| {
        let largest = top(d, recipe.rank, &vec![true; d.len()]);
        Diagonal {
            ones: d.iter().filter(|entry| **entry >= ONE).count(),
            last: largest.last().map_or(0.0, |&i| d[i]),
            top: truth.recovered(&largest),
        }
    });
    Ok(ProfileOutcome {
        found: truth.recovered(&chosen),
        inf1: answer.errors.inf1,
        mean_l1: answer.errors.mean_l1,
        rmse: answer.errors.rmse,
        seconds,
        two_epochs: measure(&x, &chosen, &fits).inf1,
        diagonal,
    })
}

/// What an instance is known by, in the order of the grid. Bits of positive numbers are in the order
/// of the numbers.
fn key(recipe: &Recipe) -> Key {
    let Recipe { features, examples, rank, duplicates, noise, seed, .. } = *recipe;
    (features, examples, rank, duplicates, noise.to_bits(), seed)
}

type Key = (usize, usize, usize, usize, u64, u64);
