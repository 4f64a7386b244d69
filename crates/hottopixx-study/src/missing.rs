//! Matrices with missing entries: are planted rows found where filling in zeros or means misses them, how far are the
//! guesses from the truth, beside those of masked nonnegative matrix factorization, and do entries that are held out tell
//! the rank?

use crate::{StudyReport, parallel};
use anyhow::Result;
use hottopixx::kernels::{gemm, transpose};
use hottopixx::matrix::{Dense, Matrix};
use hottopixx::synth::{Family, Recipe};
use hottopixx::{Effort, Factor, Factorization, Missing};
use hottopixx_report::table::Table;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fmt::Write as _;

/// What to run.
#[derive(Debug, Clone, clap::Args)]
pub struct MissingSettings {
    /// Only the smallest size, two instances
    #[arg(long)]
    quick: bool,
    /// Instances of each setting
    #[arg(long, default_value_t = 10)]
    seeds: u64,
}

/// One setting: rows, columns, rank, noise.
type Setting = (usize, usize, usize, f64);

const SETTINGS: [Setting; 6] = [
    (60, 100, 4, 0.0),
    (60, 100, 4, 1.0),
    (60, 100, 4, 4.0),
    (120, 200, 8, 0.3),
    (120, 200, 8, 1.0),
    (120, 200, 8, 4.0),
];

/// Shares of the entries that are missing.
const SHARES: [f64; 3] = [0.1, 0.3, 0.5];

/// Planted rows that are found are promised to be at least this share up to this noise, and never fewer than by filling.
const PROMISED: f64 = 0.95;
const PROMISED_NOISE: f64 = 1.0;

/// Updates of masked factorization: as many as scikit-learn makes of its own at most, and five times as many.
const UPDATES: [usize; 2] = [200, 1000];

/// What came of one instance.
struct Counts {
    /// Topics that were hit: with entries left out, zeros filled in, means of columns filled in.
    recovered: [usize; 3],
    /// Sums of absolute deviations of missing entries, rows having sum one: our guesses, those of masked
    /// factorization after each number of updates; and of the entries themselves.
    missed: [f64; 3],
    truth: f64,
}

/// Runs all of it.
///
/// # Errors
/// When an instance cannot be made or factored.
pub fn run(settings: &MissingSettings) -> Result<StudyReport> {
    let (sizes, seeds) = if settings.quick { (2, 2) } else { (SETTINGS.len(), settings.seeds) };
    let mut report = StudyReport::default();
    let mut table = Table::of_numbers(&[
        "rows", "columns", "rank", "noise", "missing", "found", "zeros", "means", "guesses",
        "NMF 200", "NMF 1000",
    ]);
    for setting in &SETTINGS[..sizes] {
        for share in SHARES {
            let seeds: Vec<u64> = (0..seeds).collect();
            let counts = parallel(&seeds, |&seed| judge(*setting, share, seed));
            let counts = counts.into_iter().collect::<Result<Vec<Counts>>>()?;
            let (rows, columns, rank, noise) = *setting;
            let topics = (rank * counts.len()) as f64;
            let found =
                |k: usize| counts.iter().map(|c| c.recovered[k]).sum::<usize>() as f64 / topics;
            let truth: f64 = counts.iter().map(|c| c.truth).sum();
            let missed = |k: usize| counts.iter().map(|c| c.missed[k]).sum::<f64>() / truth;
            let mut cells = [rows, columns, rank].map(|n| n.to_string()).to_vec();
            cells.extend([noise.to_string(), format!("{:.0} %", 100.0 * share)]);
            cells.extend([0, 1, 2].map(|k| format!("{:.1} %", 100.0 * found(k))));
            cells.extend([0, 1, 2].map(|k| format!("{:.5}", missed(k))));
            table.row(cells);
            let what = format!("missing, {rows} x {columns}, rank {rank}, noise {noise}, {share}");
            if noise <= PROMISED_NOISE && found(0) < PROMISED {
                report.failures.push(format!("{what}: {:.3} of the rows found", found(0)));
            }
            if found(0) < found(1).max(found(2)) {
                report.failures.push(format!("{what}: fewer rows found than by filling"));
            }
            if missed(0) > missed(1).min(missed(2)) {
                report.failures.push(format!("{what}: guesses are worse than those of NMF"));
            }
        }
    }
    let about = "found: planted rows that --missing observed finds; zeros, means: with zeros or the means of columns filled\n\
                 in; guesses, NMF: l1 error of the missing entries over their sum, by the completed matrix and by masked\n\
                 multiplicative updates of the same rank";
    let _ = writeln!(report.text, "{table}{about}\n");
    ranks(settings, &mut report)?;
    Ok(report)
}

/// Ranks of the instances whose rank is to be found, and the largest that is looked at.
const RANKS: [usize; 3] = [3, 5, 8];
const MOST: usize = 12;
/// Rows, columns and noise of these.
const RANKED: [(usize, usize, f64); 4] =
    [(60, 100, 0.3), (60, 100, 2.0), (120, 200, 1.0), (120, 200, 8.0)];
/// The share of them whose rank is promised to be found by entries that are held out.
const RIGHT: f64 = 0.9;
const HELD_OUT: f64 = 0.1;

/// Whether the rank is found: by entries that are held out, and by the errors along a path.
fn ranks(settings: &MissingSettings, report: &mut StudyReport) -> Result<()> {
    let (sizes, seeds) = if settings.quick { (1, 2) } else { (RANKED.len(), settings.seeds) };
    let mut table = Table::of_numbers(&["rows", "columns", "noise", "rank", "held out", "path"]);
    let (mut right, mut all) = (0, 0);
    for &(rows, columns, noise) in &RANKED[..sizes] {
        for rank in RANKS {
            let seeds: Vec<u64> = (0..seeds).collect();
            let found = parallel(&seeds, |&seed| -> Result<[usize; 2]> {
                let recipe = Recipe::new(Family::Paper, rank).size(rows, columns);
                let instance = Recipe { noise, seed, ..recipe }.generate()?;
                let factor = Factor::new(MOST).effort(Effort::Quick).groups(false).threads(1);
                let held_out = factor.held_out(&instance.matrix, HELD_OUT)?;
                let answer = factor.run(&instance.matrix)?;
                let path = factor.path(&instance.matrix, &answer)?;
                Ok([held_out.suggested, path.suggested])
            });
            let found = found.into_iter().collect::<Result<Vec<[usize; 2]>>>()?;
            let hits = |k: usize| found.iter().filter(|found| found[k] == rank).count();
            let percent =
                |k: usize| format!("{:.0} %", 100.0 * hits(k) as f64 / found.len().max(1) as f64);
            let mut cells = vec![rows.to_string(), columns.to_string(), noise.to_string()];
            cells.extend([rank.to_string(), percent(0), percent(1)]);
            table.row(cells);
            right += hits(0);
            all += found.len();
        }
    }
    let share = right as f64 / f64::max(1.0, all as f64);
    if share < RIGHT {
        report.failures.push(format!("held out: the rank of {:.1} % was found", 100.0 * share));
    }
    let _ = writeln!(
        report.text,
        "{table}instances whose rank is found among 1 to {MOST}, by entries that are held out ({:.0} %) and by the errors\n\
         along a path; {:.1} % of all by the former\n",
        100.0 * HELD_OUT,
        100.0 * share
    );
    Ok(())
}

fn judge(setting: Setting, share: f64, seed: u64) -> Result<Counts> {
    let (rows, columns, rank, noise) = setting;
    let recipe = Recipe::new(Family::Paper, rank).size(rows, columns);
    let instance = Recipe { noise, seed, ..recipe }.generate()?;
    let truth = unit_rows(&instance.matrix);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let missing: Vec<bool> = truth.iter().map(|_| random.random::<f64>() < share).collect();
    let with = |fill: &dyn Fn(usize) -> f64| -> Result<Matrix> {
        let value = |at: usize| if missing[at] { fill(at) } else { truth[at] };
        Ok(Dense::new(rows, columns, (0..truth.len()).map(value).collect())?.into())
    };
    let factor = || Factor::new(rank).effort(Effort::Quick).threads(1);
    let answer = factor().missing(Missing::Observed).run(&with(&|_| f64::NAN)?)?;
    let means = column_means(&truth, &missing, columns);
    let zeros = factor().run(&with(&|_| 0.0)?)?;
    let filled = factor().run(&with(&|at| means[at % columns])?)?;
    let hit = |answer: &Factorization| {
        let hott: Vec<usize> = answer.hott.iter().map(|hott| hott.row).collect();
        instance.truth.recovered(&hott)
    };
    let missed = |guess: &dyn Fn(usize) -> f64| -> f64 {
        (0..truth.len()).filter(|&at| missing[at]).map(|at| (guess(at) - truth[at]).abs()).sum()
    };
    let Some(Matrix::Dense(completed)) = answer.completion.as_ref().map(|c| &c.matrix) else {
        anyhow::bail!("nothing was completed");
    };
    let factored =
        UPDATES.map(|updates| masked_nmf(&truth, &missing, (rows, columns, rank), updates));
    let ours = missed(&|at| completed.values()[at]);
    Ok(Counts {
        recovered: [hit(&answer), hit(&zeros), hit(&filled)],
        missed: [ours, missed(&|at| factored[0][at]), missed(&|at| factored[1][at])],
        truth: missed(&|_| 0.0),
    })
}

/// All entries by row, rows divided by their sums.
fn unit_rows(matrix: &Matrix) -> Vec<f64> {
    let mut out = Dense::zeros(matrix.rows(), matrix.cols());
    for i in 0..matrix.rows() {
        matrix.row(i).add_to(1.0 / matrix.row(i).sum(), out.row_mut(i));
    }
    out.into_values()
}

fn column_means(values: &[f64], missing: &[bool], columns: usize) -> Vec<f64> {
    let mean = |k: usize| {
        let seen = (k..values.len()).step_by(columns).filter(|&at| !missing[at]);
        let (sum, count) = seen.fold((0.0, 0), |(sum, count), at| (sum + values[at], count + 1));
        sum / f64::max(1.0, f64::from(count))
    };
    (0..columns).map(mean).collect()
}

/// `A B` after multiplicative updates (Lee and Seung 2001) of the squared error over the observed entries, from a random
/// start of the right size.
fn masked_nmf(
    x: &[f64],
    missing: &[bool],
    (f, n, r): (usize, usize, usize),
    updates: usize,
) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut draw =
        |count: usize| -> Vec<f64> { (0..count).map(|_| 0.1 + random.random::<f64>()).collect() };
    let (mut a, mut b) = (draw(f * r), draw(r * n));
    let observed = |values: &[f64]| -> Vec<f64> {
        values.iter().zip(missing).map(|(v, missing)| if *missing { 0.0 } else { *v }).collect()
    };
    let x = observed(x);
    let product = |a: &[f64], b: &[f64]| {
        let mut out = vec![0.0; f * n];
        gemm(f, r, n, 1.0, a, b, false, 0.0, &mut out);
        out
    };
    let scale = (x.iter().sum::<f64>() / observed(&product(&a, &b)).iter().sum::<f64>()).sqrt();
    a.iter_mut().chain(&mut b).for_each(|v| *v *= scale);
    for _ in 0..updates {
        let model = observed(&product(&a, &b));
        let (mut up, mut down) = (vec![0.0; f * r], vec![0.0; f * r]);
        gemm(f, n, r, 1.0, &x, &b, true, 0.0, &mut up);
        gemm(f, n, r, 1.0, &model, &b, true, 0.0, &mut down);
        update(&mut a, &up, &down);
        let model = observed(&product(&a, &b));
        let mut turned = vec![0.0; f * r];
        transpose(f, r, &a, &mut turned);
        let (mut up, mut down) = (vec![0.0; r * n], vec![0.0; r * n]);
        gemm(r, f, n, 1.0, &turned, &x, false, 0.0, &mut up);
        gemm(r, f, n, 1.0, &turned, &model, false, 0.0, &mut down);
        update(&mut b, &up, &down);
    }
    product(&a, &b)
}

fn update(factor: &mut [f64], up: &[f64], down: &[f64]) {
    factor
        .iter_mut()
        .zip(up.iter().zip(down))
        .for_each(|(v, (up, down))| *v *= up / (down + 1e-12));
}
