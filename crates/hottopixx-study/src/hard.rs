//! Where greedy methods fail: mean recall of every method on the hard families, as a table, and
//! recall and error against noise, as figures.
//!
//! On midpoints with ten hott rows and fifty examples `auto` must reach the recall that we promise.

use crate::{ProgressWatch, StudyReport, parallel, watched};
use anyhow::{Context, Result};
use hottopixx::matrix::Matrix;
use hottopixx::synth::{Family, Recipe};
use hottopixx::{Error, Factor, Method, text};
use hottopixx_report::page::Section;
use hottopixx_report::plot::{Axis, Chart, Series};
use hottopixx_report::table::Table;
use hottopixx_report::text::percent;

/// Documents in which a word must occur to be a candidate: one in this many.
const CANDIDATE_SHARE: usize = 50;

/// Recall that `auto` must have on midpoints (r = 10, n = 50): delta, share of mass that the hott
/// rows have in common, mean recall.
const PROMISED: [(f64, f64, f64); 6] = [
    (0.2, 0.0, 1.0),
    (0.4, 0.0, 1.0),
    (0.6, 0.0, 1.0),
    (0.8, 0.0, 1.0),
    (1.0, 0.0, 0.6),
    (0.6, 0.6, 0.95),
];

/// Methods that need nothing but the rank.
fn methods() -> Vec<Method> {
    Method::ALL.into_iter().filter(|method| method.requires().is_empty()).collect()
}

/// Runs all methods on all cases (with `quick`, those with a promise), `seeds` instances each.
///
/// # Errors
/// When an instance cannot be generated or factored.
pub fn run(quick: bool, seeds: u64) -> Result<StudyReport> {
    let mut cases = cases();
    if quick {
        cases.truncate(PROMISED.len());
    }
    let jobs: Vec<(usize, Method, Recipe)> = (0..cases.len())
        .flat_map(|k| methods().into_iter().map(move |method| (k, method)))
        .flat_map(|(k, method)| {
            let recipe = &cases[k].1;
            (0..seeds).map(move |seed| (k, method, recipe.clone().seed(seed)))
        })
        .collect();
    let recalls = parallel(&jobs, |(_, method, recipe)| recall(recipe, *method));
    let recalls = recalls.into_iter().collect::<Result<Vec<f64>>>()?;
    let mut heads = vec!["recall %"];
    heads.extend(methods().into_iter().map(Method::name));
    let mut table = Table::of_numbers(&heads);
    let mut failures = Vec::new();
    for (k, (name, _)) in cases.iter().enumerate() {
        let mut row = vec![name.clone()];
        for method in methods() {
            let mine = jobs.iter().zip(&recalls).filter(|(job, _)| job.0 == k && job.1 == method);
            let mean = mine.map(|(_, recall)| recall).sum::<f64>() / seeds.max(1) as f64;
            row.push(percent(mean));
            if let Some((_, _, least)) = PROMISED.get(k)
                && method == Method::Auto
                && mean < *least
            {
                failures.push(format!("auto recalls {mean:.3} on {name}, promised is {least}"));
            }
        }
        table.row(row);
    }
    Ok(StudyReport { text: table.to_string(), failures })
}

fn cases() -> Vec<(String, Recipe)> {
    let mut cases = Vec::new();
    let mut add = |name: &str, recipe: Recipe| {
        cases.push((format!("{} {name}", recipe.family), recipe));
    };
    for (delta, ill, _) in PROMISED {
        let recipe = Recipe::new(Family::Midpoints, 10).size(55, 50).noise(delta).ill(ill);
        add(&format!("r 10, delta {delta}, ill {ill}"), recipe);
    }
    for delta in [0.2, 0.6, 1.0] {
        add(&format!("delta {delta}"), Recipe::new(Family::Midpoints, 8).noise(delta));
    }
    for ill in [0.5, 0.9] {
        let recipe = Recipe::new(Family::Midpoints, 8).ill(ill);
        add(&format!("delta 0.6, ill {ill}"), recipe);
    }
    for (ill, eta) in [(0.9, 100.0), (0.9, 200.0), (0.99, 400.0)] {
        // Few examples: over many, noise of a given l1 norm is spread too thin to hurt.
        let recipe = Recipe::new(Family::IllConditioned, 8).size(64, 20).ill(ill).noise(eta);
        add(&format!("ill {ill}, eta {eta}"), recipe);
    }
    for eta in [10.0, 40.0] {
        add(
            &format!("eta {eta}"),
            Recipe::new(Family::NearDuplicates, 6).size(48, 20).noise(eta).duplicates(3),
        );
        add(&format!("eta {eta}"), Recipe::new(Family::Outliers, 5).size(80, 400).noise(eta));
    }
    for tokens in [30, 100] {
        let recipe = Recipe::new(Family::Multinomial, 10).size(400, 1500).tokens(tokens);
        add(&format!("tokens {tokens}, co-occurrence"), recipe);
    }
    cases
}

/// What a method did on an instance.
struct Trial {
    /// The share of the topics that it found.
    recall: f64,
    /// The cleaned mean error over that of the true hott rows.
    error: f64,
}

fn recall(recipe: &Recipe, method: Method) -> Result<f64> {
    Ok(trial(recipe, method)?.map_or(0.0, |trial| trial.recall))
}

/// Runs a method on an instance; `None` when it has no answer there, or requires what is not
/// known.
fn trial(recipe: &Recipe, method: Method) -> Result<Option<Trial>> {
    let instance = recipe.generate()?;
    let truth = &instance.truth;
    let mut factor = Factor::new(recipe.rank).method(method).threads(1).seed(recipe.seed);
    match (method, truth.epsilon, truth.alpha) {
        (Method::Lp, Some(epsilon), _) => factor = factor.tau(2.0 * epsilon),
        (Method::Agkm, Some(epsilon), Some(alpha)) => {
            factor = factor.epsilon(epsilon).alpha(alpha);
        }
        (Method::Lp | Method::Agkm, _, _) => return Ok(None),
        _ => {}
    }
    let matrix: Matrix = if recipe.family == Family::Multinomial {
        let least = recipe.examples / CANDIDATE_SHARE;
        factor = factor.candidates(text::candidates_by_df(&instance.matrix, least));
        text::cooccurrence(&instance.matrix)?
    } else {
        instance.matrix
    };
    let answer = match factor.clone().groups(false).run(&matrix) {
        Ok(answer) => answer,
        Err(Error::Infeasible { .. } | Error::NoAnswer(_)) => return Ok(None),
        Err(error) => {
            return Err(error).with_context(|| format!("{} on {recipe:?}", method.name()));
        }
    };
    let chosen: Vec<usize> = answer.hott.iter().map(|hott| hott.row).collect();
    let oracle = Factor::new(recipe.rank).threads(1).groups(false);
    let oracle = oracle.evaluate(&matrix, truth.oracle())?.errors.mean_l1;
    // Both may be 0 up to rounding.
    let error = answer.errors.mean_l1.max(1e-12) / oracle.max(1e-12);
    Ok(Some(Trial { recall: truth.recall(&chosen), error }))
}

/// One family against its noise: the figure of [`reproduce`].
struct Sweep {
    name: &'static str,
    title: &'static str,
    says: &'static str,
    axis: Axis,
    recipes: Vec<(f64, Recipe)>,
}

fn sweep(
    (name, title, says): (&'static str, &'static str, &'static str),
    axis: fn(&str, f64, f64) -> Axis,
    label: &str,
    values: &[f64],
    recipe: impl Fn(f64) -> Recipe,
) -> Sweep {
    let (low, high) = (values[0], values[values.len() - 1]);
    let axis = axis(label, low.min(high), low.max(high)).ticks_at(values);
    Sweep { name, title, says, axis, recipes: values.iter().map(|&v| (v, recipe(v))).collect() }
}

fn sweeps() -> Vec<Sweep> {
    let midpoints = |delta: f64| Recipe::new(Family::Midpoints, 10).size(55, 50).noise(delta);
    let eta = "noise η";
    let push = "δ: how far midpoints are pushed outward";
    vec![
        sweep(
            (
                "midpoints",
                "Midpoints of all pairs, pushed outward",
                "Ten hott rows and all 45 midpoints of their pairs, pushed away from the mean by δ: a \
                 midpoint soon is as extreme as a hott row, and greedy methods take it.",
            ),
            Axis::linear,
            push,
            &[0.2, 0.4, 0.6, 0.8, 1.0, 1.2],
            midpoints,
        ),
        sweep(
            (
                "midpoints-ill",
                "Midpoints of nearly dependent hott rows",
                "The same with hott rows that share 60 % of their mass.",
            ),
            Axis::linear,
            push,
            &[0.2, 0.4, 0.6, 0.8, 1.0],
            move |delta| midpoints(delta).ill(0.6),
        ),
        sweep(
            (
                "ill-conditioned",
                "Nearly dependent hott rows, noise",
                "Eight hott rows that share 90 % of their mass, 56 mixtures, 20 examples.",
            ),
            Axis::log,
            eta,
            &[10.0, 30.0, 100.0, 200.0, 400.0],
            |eta| Recipe::new(Family::IllConditioned, 8).size(64, 20).ill(0.9).noise(eta),
        ),
        sweep(
            (
                "near-duplicates",
                "Hott rows with near copies",
                "Six hott rows, each with three near copies, 24 mixtures, 20 examples.",
            ),
            Axis::log,
            eta,
            &[1.0, 4.0, 10.0, 20.0, 40.0, 100.0],
            |eta| Recipe::new(Family::NearDuplicates, 6).size(48, 20).noise(eta).duplicates(3),
        ),
        sweep(
            (
                "outliers",
                "A few rows that no topic explains",
                "Five hott rows, 80 x 400, some rows unrelated to all topics: choosing one of them costs \
                 a topic.",
            ),
            Axis::log,
            eta,
            &[0.95, 4.0, 10.0, 40.0, 100.0],
            |eta| Recipe::new(Family::Outliers, 5).size(80, 400).noise(eta),
        ),
        sweep(
            (
                "multinomial",
                "Word counts of short documents",
                "Ten topics, 400 words, 1500 documents of this many tokens; the co-occurrence matrix is \
                 factored, and only words in at least 2 % of the documents may be hott. Fewer tokens \
                 are more noise. The linear programs take minutes at this size and are left out; AGKM \
                 needs ε, which is not known here.",
            ),
            Axis::log,
            "tokens of a document (fewer are noisier)",
            &[10.0, 20.0, 30.0, 50.0, 100.0],
            |tokens| Recipe::new(Family::Multinomial, 10).size(400, 1500).tokens(tokens as usize),
        ),
    ]
}

/// The name of a method in figures, and its look there.
fn shown(method: Method) -> (&'static str, usize) {
    match method {
        Method::Auto => ("auto", 9),
        Method::Hottopixx => ("Hottopixx", 0),
        Method::Lp => ("LP", 2),
        Method::Minimax => ("LP minimax", 5),
        Method::Total => ("LP total", 3),
        Method::Gradient => ("Frobenius", 6),
        Method::Agkm => ("AGKM", 4),
        Method::Spa => ("SPA", 7),
        Method::Snpa => ("SNPA", 1),
        Method::Xray => ("XRAY", 8),
        other => (other.name(), 9),
    }
}

/// Rows of instances on which linear programs are run: beyond, a single one may take minutes.
const PROGRAMS_UP_TO: usize = 100;

/// Instances of each point of a figure.
const SEEDS: u64 = 5;

/// Recall and error of every method against noise, two figures per family; `None` when stopped.
///
/// # Errors
/// When an instance cannot be generated or factored.
pub fn reproduce(quick: bool, watch: &ProgressWatch<'_>) -> Result<Option<Section>> {
    let sweeps = sweeps();
    let seeds = if quick { 1 } else { SEEDS };
    let mut jobs: Vec<(usize, f64, Method, Recipe)> = Vec::new();
    for (k, sweep) in sweeps.iter().enumerate() {
        for (at, recipe) in &sweep.recipes {
            let small = recipe.features <= PROGRAMS_UP_TO;
            for method in Method::ALL.into_iter().filter(|m| small || !m.proves_bound()) {
                let job = |seed| (k, *at, method, recipe.clone().seed(seed));
                jobs.extend((0..seeds).map(job));
            }
        }
    }
    let trials = watched(&jobs, watch, |(_, _, method, recipe)| trial(recipe, *method));
    let Some(trials) = trials else { return Ok(None) };
    let trials = trials.into_iter().collect::<Result<Vec<_>>>()?;
    let mut section =
        Section::new("hard", "What the paper does not test: where greedy methods fail");
    section.text(format!(
        "On the paper's own instances SPA, thirty lines of code, finds the topics in milliseconds. \
         Here are families on which it does not: the share of the topics that are found, and the mean \
         l1 error over that of the true hott rows (1 is as good as the truth; below 1, other rows fit \
         better than the true ones). Means over {seeds} {}.",
        if seeds == 1 { "instance: a quick look" } else { "instances for each point" }
    ));
    for (k, sweep) in sweeps.iter().enumerate() {
        section.heading(sweep.title);
        section.text(sweep.says);
        let curves = |value: fn(&Trial) -> f64| -> Vec<Series> {
            let curve = |method: Method| {
                let point = |at: f64| {
                    let mine = jobs.iter().zip(&trials);
                    let mine = mine.filter(|(j, _)| j.0 == k && j.1 == at && j.2 == method);
                    let values: Vec<f64> =
                        mine.filter_map(|(_, trial)| trial.as_ref().map(value)).collect();
                    (at, values.iter().sum::<f64>() / values.len() as f64)
                };
                let points: Vec<_> = sweep.recipes.iter().map(|(at, _)| point(*at)).collect();
                let (label, look) = shown(method);
                Series::new(label, look, points)
            };
            let curves = Method::ALL.into_iter().rev().map(curve);
            curves.filter(|s| s.points.iter().any(|p| p.1.is_finite())).collect()
        };
        let recall = Chart {
            title: format!("{}: topics found", sweep.title),
            x: sweep.axis.clone(),
            y: Axis::linear("share of the topics found", 0.0, 1.0),
            series: curves(|trial| trial.recall),
            levels: Vec::new(),
        };
        let series = curves(|trial| trial.error);
        let values = series.iter().flat_map(|s| s.points.iter().map(|p| p.1));
        let (low, high) = values
            .filter(|v| v.is_finite())
            .fold((1.0, 1.0), |(low, high): (f64, f64), v| (low.min(v), high.max(v)));
        let error = Chart {
            title: format!("{}: error", sweep.title),
            x: sweep.axis.clone(),
            y: Axis::log("mean l1 error / that of the truth", low * 0.98, high.max(1.1) * 1.05),
            series,
            levels: vec![("truth".to_owned(), 1.0)],
        };
        let name = sweep.name;
        section.figure(&format!("hard-{name}-found"), recall, "Higher is better.");
        section.figure(&format!("hard-{name}-error"), error, "Lower is better.");
    }
    Ok(Some(section))
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_case_can_be_generated() {
        for (name, recipe) in super::cases() {
            assert!(recipe.generate().is_ok(), "{name}");
        }
        for sweep in super::sweeps() {
            for (at, recipe) in sweep.recipes {
                assert!(recipe.generate().is_ok(), "{} at {at}", sweep.name);
            }
        }
    }
}
