//! Where greedy methods fail: mean recall of every method on the hard families.
//!
//! On midpoints with ten hott rows and fifty examples `auto` must reach the recall that we promise.

use crate::table::{Table, percent};
use crate::{Report, parallel};
use anyhow::{Context, Result};
use hottopixx::matrix::Matrix;
use hottopixx::synth::{Family, Recipe};
use hottopixx::{Factor, Method, text};

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
    Method::ALL.into_iter().filter(|method| method.must_be_told().is_empty()).collect()
}

/// Runs all methods on all cases (with `quick`, those with a promise), `seeds` instances each.
///
/// # Errors
/// When an instance cannot be generated or factored.
pub fn run(quick: bool, seeds: u64) -> Result<Report> {
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
    let mut table = Table::new(&heads);
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
    Ok(Report { text: table.to_string(), failures })
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

fn recall(recipe: &Recipe, method: Method) -> Result<f64> {
    let instance = recipe.generate()?;
    let mut factor = Factor::new(recipe.rank).method(method).threads(1).seed(recipe.seed);
    let matrix: Matrix = if recipe.family == Family::Multinomial {
        let least = recipe.examples / CANDIDATE_SHARE;
        factor = factor.candidates(text::candidates_by_df(&instance.matrix, least));
        text::cooccurrence(&instance.matrix)?
    } else {
        instance.matrix
    };
    let answer = factor.run(&matrix).with_context(|| format!("{} on {recipe:?}", method.name()))?;
    let chosen: Vec<usize> = answer.hott.iter().map(|hott| hott.row).collect();
    Ok(instance.truth.recall(&chosen))
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_case_can_be_generated() {
        for (name, recipe) in super::cases() {
            assert!(recipe.generate().is_ok(), "{name}");
        }
    }
}
