//! All settings of the paper's section 5: is the optimum certified to the promised gap, in how
//! many rounds of cuts and at what cost? One thread per instance.

use super::{LpProgram, goals, name};
use crate::clock::{median, on_one_thread};
use crate::paper::{self, EXAMPLES, FEATURES};
use crate::{StudyReport, parallel};
use anyhow::{Context, Result};
use hottopixx::Goal;
use hottopixx::control::Control;
use hottopixx::localise::lp::LpStatus;
use hottopixx::normalise::UnitRows;
use hottopixx::synth::Recipe;
use hottopixx_report::table::Table;

/// What came of one program.
#[derive(Debug, Clone, Copy)]
struct GridRun {
    features: usize,
    examples: usize,
    goal: Goal,
    status: LpStatus,
    gap: f64,
    rounds: usize,
    seconds: f64,
}

impl GridRun {
    fn solved(&self) -> bool {
        self.status == LpStatus::Optimal && self.gap <= promised(self.goal)
    }
}

/// The gap to which a program must be solved.
fn promised(goal: Goal) -> f64 {
    if matches!(goal, Goal::Cost { .. }) { 1e-6 } else { 1e-4 }
}

/// Runs the grid, or a dozen small instances.
///
/// # Errors
/// When an instance cannot be generated or a program cannot be posed.
pub fn run(quick: bool) -> Result<StudyReport> {
    let mut recipes = recipes(quick);
    // Largest first: no processor waits long for another's last instance.
    recipes.sort_by_key(|recipe| std::cmp::Reverse(recipe.features * recipe.examples));
    let outcomes = parallel(&recipes, |recipe| one(recipe).with_context(|| format!("{recipe:?}")));
    let outcomes = outcomes.into_iter().collect::<Result<Vec<_>>>()?;
    Ok(summarise(&recipes, &outcomes))
}

fn recipes(quick: bool) -> Vec<Recipe> {
    let mut recipes = paper::recipes(1);
    if quick {
        // Every eta and every number of duplicates occurs among them.
        recipes.retain(|recipe| recipe.features == 40 && recipe.examples == 400);
        recipes = recipes.into_iter().step_by(4).collect();
    }
    recipes
}

fn one(recipe: &Recipe) -> Result<[GridRun; 2]> {
    let instance = recipe.generate()?;
    let x = UnitRows::new(&instance.matrix)?;
    let allowed = vec![true; x.features()];
    let solve = |goal: Goal| -> Result<GridRun> {
        let program = LpProgram {
            x: &x,
            rank: recipe.rank,
            goal,
            allowed: &allowed,
            trace: true,
            cost: None,
        };
        let gap = Some(promised(goal));
        let (answer, seconds) = on_one_thread(|| program.solve(gap, &Control::default()))?;
        let answer = answer?;
        let (features, examples) = (recipe.features, recipe.examples);
        let (status, gap, rounds) = (answer.status, answer.gap, answer.rounds);
        Ok(GridRun { features, examples, goal, status, gap, rounds, seconds })
    };
    let [cost, minimax] = goals(instance.truth.epsilon);
    Ok([solve(cost)?, solve(minimax)?])
}

fn summarise(recipes: &[Recipe], outcomes: &[[GridRun; 2]]) -> StudyReport {
    let mut table = Table::of_numbers(&[
        "f x n",
        "program",
        "solved",
        "worst gap",
        "rounds",
        "most",
        "CPU s",
        "most",
    ]);
    for features in FEATURES {
        for examples in EXAMPLES {
            for k in 0..2 {
                let cell: Vec<&GridRun> = outcomes
                    .iter()
                    .map(|both| &both[k])
                    .filter(|o| o.features == features && o.examples == examples)
                    .collect();
                if !cell.is_empty() {
                    table.row(row(&cell));
                }
            }
        }
    }
    let failures = recipes.iter().zip(outcomes).flat_map(|(recipe, both)| {
        both.iter().filter(|outcome| !outcome.solved()).map(move |outcome| {
            let GridRun { goal, status, gap, .. } = outcome;
            format!(
                "{goal:?} on {recipe:?}: {status:?} with gap {gap:.1e}, promised {:.0e}",
                promised(*goal)
            )
        })
    });
    let text = format!("section 5 of the paper, one thread per instance; medians\n{table}");
    StudyReport { text, failures: failures.collect() }
}

/// One line for a size and a program.
fn row(cell: &[&GridRun]) -> Vec<String> {
    let first = cell[0];
    let rounds: Vec<f64> = cell.iter().map(|o| o.rounds as f64).collect();
    let seconds: Vec<f64> = cell.iter().map(|o| o.seconds).collect();
    let most = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    let gaps: Vec<f64> = cell.iter().map(|o| o.gap).collect();
    vec![
        format!("{} x {}", first.features, first.examples),
        name(first.goal).to_owned(),
        format!("{} of {}", cell.iter().filter(|o| o.solved()).count(), cell.len()),
        format!("{:.1e}", most(&gaps)),
        format!("{}", median(&rounds)),
        format!("{}", most(&rounds)),
        format!("{:.3}", median(&seconds)),
        format!("{:.3}", most(&seconds)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::{DUPLICATES, ETAS};
    use hottopixx::synth::Family;

    #[test]
    fn the_quick_grid_is_mixed() {
        assert_eq!(recipes(false).len(), 405);
        let quick = recipes(true);
        assert_eq!(quick.len(), 12);
        assert!(ETAS.iter().all(|eta| quick.iter().any(|recipe| recipe.noise == *eta)));
        assert!(DUPLICATES.iter().all(|d| quick.iter().any(|recipe| recipe.duplicates == *d)));
    }

    #[test]
    fn a_missed_gap_is_a_failure() {
        let solved = GridRun {
            features: 40,
            examples: 400,
            goal: Goal::Minimax,
            status: LpStatus::Optimal,
            gap: 1e-5,
            rounds: 3,
            seconds: 0.1,
        };
        let cost = GridRun { goal: Goal::Cost { tau: 0.1 }, ..solved };
        let recipe = Recipe::new(Family::Paper, 3);
        assert!(cost.gap > promised(cost.goal));
        let report = summarise(&[recipe], &[[cost, solved]]);
        assert_eq!(report.failures.len(), 1);
        assert!(report.text.contains("0 of 1") && report.text.contains("1 of 1"));
    }
}
