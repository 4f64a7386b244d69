//! Generated instances of all families, small enough for every method.

use super::{AutoSettings, above_truth, error_of, is_worse, others};
use crate::{StudyReport, parallel};
use anyhow::{Context, Result};
use hottopixx::matrix::{Matrix, Sparse};
use hottopixx::synth::{Family, Recipe};
use hottopixx::{Error, Factor, Method, Objective, text};
use hottopixx_report::table::Table;
use std::fmt::Write as _;

/// One instance, as the methods get it.
struct Case {
    name: String,
    matrix: Matrix,
    rank: usize,
    truth: Vec<usize>,
}

fn small(family: Family) -> Recipe {
    match family {
        Family::Midpoints => Recipe::new(family, 6).size(21, 30),
        Family::Multinomial => Recipe::new(family, 5).size(80, 300).tokens(60),
        Family::Documents => Recipe::new(family, 4).size(120, 200),
        Family::NearDuplicates => Recipe::new(family, 4).size(30, 25).duplicates(2),
        _ => Recipe::new(family, 4).size(30, 50),
    }
}

fn larger(family: Family) -> Recipe {
    match family {
        Family::Midpoints => Recipe::new(family, 10).size(55, 50),
        Family::Multinomial => Recipe::new(family, 10).size(400, 1500),
        Family::Documents => Recipe::new(family, 12).size(1500, 2000),
        _ => Recipe::new(family, 8).size(160, 120),
    }
}

/// Other ranks, sizes, noise and copies, which follow from the seed.
fn varied(family: Family, seed: u64) -> Recipe {
    let rank = 3 + (seed % 7) as usize;
    let wide = 20 + (13 * seed % 90) as usize;
    let noise = |least: f64| least * [1.0, 3.0, 0.3, 6.0][(seed % 4) as usize];
    let copies = (seed % 3) as usize;
    let mut recipe = match family {
        Family::Midpoints => Recipe::new(family, rank).size(rank * (rank + 1) / 2, wide),
        Family::Multinomial => {
            Recipe::new(family, rank).size(60 + 2 * wide, 400).duplicates(copies)
        }
        Family::Documents => Recipe::new(family, rank).size(100 + 5 * wide, 300),
        Family::Scene => Recipe::new(family, rank).size(12 * rank, wide.max(rank)),
        _ => Recipe::new(family, rank).size(12 * rank, wide.max(rank)).duplicates(copies),
    };
    if family != Family::Multinomial {
        recipe.noise = noise(recipe.noise);
    }
    recipe
}

fn cases(settings: &AutoSettings) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    let seeds = if settings.quick { 1 } else { settings.seeds };
    let seeds = settings.first_seed..settings.first_seed + seeds;
    for (family, seed) in
        Family::ALL.into_iter().flat_map(|f| seeds.clone().map(move |seed| (f, seed)))
    {
        let mut recipes = vec![small(family)];
        if !settings.quick {
            recipes.extend([larger(family), varied(family, seed)]);
        }
        for recipe in recipes {
            let recipe = recipe.seed(seed);
            let instance = recipe.generate()?;
            let truth = instance.truth.oracle().to_vec();
            let matrix = match family {
                Family::Multinomial => text::cooccurrence(&instance.matrix)?,
                _ => instance.matrix,
            };
            let size = format!("{}x{}, r {}", matrix.rows(), matrix.cols(), recipe.rank);
            let mut forms = match &matrix {
                Matrix::Dense(_) => {
                    vec![("dense", matrix.clone()), ("sparse", as_sparse(&matrix)?)]
                }
                Matrix::Sparse(_) => vec![("sparse", matrix)],
            };
            if settings.quick {
                // One form of each, by turns.
                forms = vec![forms.swap_remove(cases.len() % forms.len())];
            }
            for (form, matrix) in forms {
                let name = format!("{family} {size}, {form}, seed {seed}");
                cases.push(Case { name, matrix, rank: recipe.rank, truth: truth.clone() });
            }
        }
    }
    Ok(cases)
}

fn as_sparse(matrix: &Matrix) -> Result<Matrix> {
    let rows =
        (0..matrix.rows()).flat_map(|i| matrix.row(i).nonzeros().map(move |(k, v)| (i, k, v)));
    Ok(Sparse::from_triplets(matrix.rows(), matrix.cols(), &rows.collect::<Vec<_>>())?.into())
}

/// Errors of `auto`, the others (none for those that would take long) and the truth.
struct Errors {
    auto: f64,
    others: Vec<Option<f64>>,
    truth: f64,
}

/// Above this many entries, the linear programs take minutes.
const PROGRAM_ENTRIES: usize = 20_000;

fn errors(case: &Case, objective: Objective) -> Result<Errors> {
    let factor = || Factor::new(case.rank).objective(objective).threads(1).groups(false);
    let error = |method: Method| -> Result<Option<f64>> {
        let entries = case.matrix.rows() * case.matrix.cols();
        if method.proves_bound() && entries > PROGRAM_ENTRIES {
            return Ok(None);
        }
        match factor().method(method).run(&case.matrix) {
            Ok(answer) => Ok(Some(error_of(&answer, objective))),
            Err(Error::NoAnswer(_)) => Ok(None),
            Err(error) => Err(error).with_context(|| format!("{method} on {}", case.name)),
        }
    };
    let auto = error(Method::Auto)?.context("auto always has an answer")?;
    let others = others().into_iter().map(error).collect::<Result<_>>()?;
    let truth = error_of(&factor().evaluate(&case.matrix, &case.truth)?, objective);
    Ok(Errors { auto, others, truth })
}

/// Runs every method on all of them.
pub(super) fn run(settings: &AutoSettings, report: &mut StudyReport) -> Result<()> {
    let cases = cases(settings)?;
    let objectives = settings.objective.map_or(Objective::ALL.to_vec(), |only| vec![only]);
    let jobs: Vec<(&Case, Objective)> =
        cases.iter().flat_map(|case| objectives.iter().map(move |o| (case, *o))).collect();
    let found = parallel(&jobs, |(case, objective)| errors(case, *objective));
    let mut heads = vec!["error", "auto", "truth"];
    heads.extend(others().into_iter().map(Method::name));
    let mut table = Table::of_numbers(&heads);
    for ((case, objective), found) in jobs.iter().zip(found) {
        let found = found?;
        let name = format!("{}, {objective}", case.name);
        let mut row =
            vec![name.clone(), format!("{:.5}", found.auto), format!("{:.5}", found.truth)];
        for (method, error) in others().into_iter().zip(&found.others) {
            row.push(error.map_or_else(|| "-".to_owned(), |e| format!("{e:.5}")));
            if error.is_some_and(|e| is_worse(found.auto, e)) {
                report.failures.push(format!("{name}: {method} is better than auto"));
            }
        }
        report.failures.extend(above_truth(&name, found.auto, found.truth));
        table.row(row);
    }
    let _ = writeln!(report.text, "{} instances\n{table}", cases.len());
    Ok(())
}
