//! Outliers of the family of that name: are they named, nobody else with them, and are the hott rows found as if the
//! outliers were not there?

use crate::{StudyReport, parallel};
use anyhow::Result;
use hottopixx::synth::{Family, Recipe};
use hottopixx::{Effort, Factor, Objective, Outliers};
use hottopixx_report::table::Table;
use std::fmt::Write as _;

/// Recall and precision that are promised.
const PROMISED: f64 = 0.95;

/// What to run.
#[derive(Debug, Clone, clap::Args)]
pub struct OutlierSettings {
    /// Only the smallest size, two instances
    #[arg(long)]
    quick: bool,
    /// Instances of each setting
    #[arg(long, default_value_t = 10)]
    seeds: u64,
}

/// One setting: rows, columns, rank, duplicates, noise.
type Setting = (usize, usize, usize, usize, f64);

const SETTINGS: [Setting; 6] = [
    (60, 100, 4, 0, 0.95),
    (60, 100, 4, 0, 4.0),
    (100, 200, 8, 1, 0.95),
    (100, 200, 8, 1, 4.0),
    (400, 300, 10, 0, 0.95),
    (400, 300, 10, 0, 8.0),
];

/// What came of one instance.
struct Counts {
    planted: usize,
    named: usize,
    right: usize,
    /// Topics that were hit with outliers named, without outliers in the data, and with them and not named.
    recovered: [usize; 3],
    topics: usize,
}

/// Runs all of it.
///
/// # Errors
/// When an instance cannot be made or factored.
pub fn run(settings: &OutlierSettings) -> Result<StudyReport> {
    let (sizes, seeds) = if settings.quick { (2, 2) } else { (SETTINGS.len(), settings.seeds) };
    let mut report = StudyReport::default();
    let mut table = Table::of_numbers(&[
        "rows",
        "columns",
        "rank",
        "noise",
        "objective",
        "recall",
        "precision",
        "topics",
        "without",
        "unnamed",
    ]);
    for setting in &SETTINGS[..sizes] {
        for objective in Objective::ALL {
            let seeds: Vec<u64> = (0..seeds).collect();
            let counts = parallel(&seeds, |&seed| judge(*setting, objective, seed));
            let counts = counts.into_iter().collect::<Result<Vec<Counts>>>()?;
            let sum = |of: &dyn Fn(&Counts) -> usize| counts.iter().map(of).sum::<usize>() as f64;
            let right = sum(&|c| c.right);
            let recall = right / sum(&|c| c.planted);
            let precision = right / sum(&|c| c.named).max(1.0);
            let topics = |k: usize| sum(&move |c: &Counts| c.recovered[k]) / sum(&|c| c.topics);
            let (rows, columns, rank, _, noise) = *setting;
            let percent = |share: f64| format!("{:.1} %", 100.0 * share);
            let mut cells = [rows, columns, rank].map(|n| n.to_string()).to_vec();
            cells.extend([noise.to_string(), objective.name().to_owned()]);
            cells.extend([recall, precision, topics(0), topics(1), topics(2)].map(percent));
            table.row(cells);
            let what =
                format!("outliers, {rows} x {columns}, rank {rank}, noise {noise}, {objective}");
            if recall < PROMISED || precision < PROMISED {
                report
                    .failures
                    .push(format!("{what}: recall {recall:.3}, precision {precision:.3}"));
            }
            if topics(0) < topics(1) {
                report.failures.push(format!("{what}: fewer topics than without outliers"));
            }
        }
    }
    let about = "recall, precision: planted outliers among those that --outliers auto names; topics: hit by the chosen\n\
                 rows; without: the same rows without the outliers; unnamed: with them, and nothing set aside";
    let _ = writeln!(report.text, "{table}{about}\n");
    Ok(report)
}

fn judge(setting: Setting, objective: Objective, seed: u64) -> Result<Counts> {
    let (rows, columns, rank, duplicates, noise) = setting;
    let recipe = Recipe::new(Family::Outliers, rank).size(rows, columns);
    let instance = Recipe { duplicates, noise, seed, ..recipe }.generate()?;
    let truth = &instance.truth;
    let factor = || Factor::new(rank).objective(objective).effort(Effort::Quick).threads(1);
    let answer = factor().outliers(Outliers::Auto).run(&instance.matrix)?;
    let named = &answer.outliers;
    let others: Vec<usize> = (0..rows).filter(|i| !truth.outliers.contains(i)).collect();
    let clean = factor().run(&instance.matrix.select_rows(&others))?;
    let unnamed = factor().run(&instance.matrix)?;
    let hott = |answer: &hottopixx::Factorization| -> Vec<usize> {
        answer.hott.iter().map(|hott| hott.row).collect()
    };
    let of_clean: Vec<usize> = hott(&clean).iter().map(|&row| others[row]).collect();
    let recovered = [hott(&answer), of_clean, hott(&unnamed)].map(|rows| truth.recovered(&rows));
    Ok(Counts {
        planted: truth.outliers.len(),
        named: named.len(),
        right: named.iter().filter(|row| truth.outliers.contains(row)).count(),
        recovered,
        topics: truth.groups.len(),
    })
}
