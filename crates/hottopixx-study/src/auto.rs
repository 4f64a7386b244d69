//! `auto` against every other method: is it never worse, and what does it take?
//!
//! On generated instances of all families, dense and sparse, by both objectives, the error of `auto`
//! must not be above that of any other method that needs nothing but the rank, nor above 1.001 times
//! that of the true rows. On the data sets of a folder and the built-in corpus the same holds for the
//! mean error, which is also compared with the best greedy method; another build of the program may
//! be run beside it.

use crate::real::load;
use crate::words::demo_path;
use crate::{StudyReport, clock, parallel};
use anyhow::{Context, Result};
use hottopixx::matrix::{Matrix, Sparse};
use hottopixx::synth::{Family, Recipe};
use hottopixx::{Error, Factor, Factorization, Method, Objective, text};
use hottopixx_report::table::Table;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What to run.
#[derive(Debug, Clone, clap::Args)]
pub struct AutoSettings {
    /// Small instances only, one of each kind
    #[arg(long)]
    pub quick: bool,
    /// Folder with the data sets; what is not there is skipped
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Another build of the program, to run auto on the data sets as well
    #[arg(long, value_name = "PATH")]
    pub before: Option<PathBuf>,
    /// Instances of each kind
    #[arg(long, default_value_t = 2)]
    pub seeds: u64,
    /// Only data sets whose names contain this, and no generated instances
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
}

/// How far above another method's error rounding may take that of `auto`.
const ROUNDING: f64 = 1e-9;
/// How far above the error of the true rows `auto` may be.
const TRUTH: f64 = 1.001;
/// Errors below this are zero.
const ZERO: f64 = 1e-9;

/// Runs what the settings ask for.
///
/// # Errors
/// When an instance cannot be generated, or a file that is there cannot be read or factored.
pub fn run(settings: &AutoSettings) -> Result<StudyReport> {
    let mut report = StudyReport::default();
    if settings.only.is_none() {
        promise(settings, &mut report)?;
    }
    if !settings.quick {
        data_sets(settings, &mut report)?;
    }
    Ok(report)
}

/// The methods that need nothing but the rank.
fn others() -> Vec<Method> {
    let needs_nothing = |m: &Method| m.requires().is_empty() && *m != Method::Auto;
    Method::ALL.into_iter().filter(needs_nothing).collect()
}

fn error_of(answer: &Factorization, objective: Objective) -> f64 {
    match objective {
        Objective::Mean => answer.errors.mean_l1,
        Objective::Max => answer.errors.inf1,
    }
}

// --- generated instances --------------------------------------------------------------------

/// One instance, as the methods get it.
struct Case {
    name: String,
    matrix: Matrix,
    rank: usize,
    truth: Vec<usize>,
}

fn cases(settings: &AutoSettings) -> Result<Vec<Case>> {
    let small = |family: Family| match family {
        Family::Midpoints => Recipe::new(family, 6).size(21, 30),
        Family::Multinomial => Recipe::new(family, 5).size(80, 300).tokens(60),
        Family::Documents => Recipe::new(family, 4).size(120, 200),
        Family::NearDuplicates => Recipe::new(family, 4).size(30, 25).duplicates(2),
        _ => Recipe::new(family, 4).size(30, 50),
    };
    let larger = |family: Family| match family {
        Family::Midpoints => Recipe::new(family, 10).size(55, 50),
        Family::Multinomial => Recipe::new(family, 10).size(400, 1500),
        Family::Documents => Recipe::new(family, 12).size(1500, 2000),
        _ => Recipe::new(family, 8).size(160, 120),
    };
    let mut cases = Vec::new();
    let seeds = if settings.quick { 1 } else { settings.seeds };
    for (family, seed) in Family::ALL.into_iter().flat_map(|f| (0..seeds).map(move |s| (f, s))) {
        let mut recipes = vec![small(family)];
        if !settings.quick {
            recipes.push(larger(family));
        }
        for recipe in recipes {
            let recipe = recipe.seed(seed);
            let instance = recipe.generate()?;
            let truth = instance.truth.oracle().to_vec();
            let matrix = match family {
                Family::Multinomial => text::cooccurrence(&instance.matrix)?,
                _ => instance.matrix,
            };
            let size = format!("{}x{}", matrix.rows(), matrix.cols());
            let forms = match &matrix {
                Matrix::Dense(_) => {
                    vec![("dense", matrix.clone()), ("sparse", as_sparse(&matrix)?)]
                }
                Matrix::Sparse(_) => vec![("sparse", matrix)],
            };
            for (form, matrix) in forms {
                let name = format!("{family} {size} {form}, seed {seed}");
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

fn promise(settings: &AutoSettings, report: &mut StudyReport) -> Result<()> {
    let cases = cases(settings)?;
    let jobs: Vec<(&Case, Objective)> =
        cases.iter().flat_map(|case| Objective::ALL.map(|objective| (case, objective))).collect();
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
            if error.is_some_and(|e| found.auto > e * (1.0 + ROUNDING) + ZERO) {
                report.failures.push(format!("{name}: {method} is better than auto"));
            }
        }
        if found.auto > TRUTH * found.truth + ZERO {
            let ratio = found.auto / found.truth;
            report.failures.push(format!("{name}: auto has {ratio:.4} of the true rows' error"));
        }
        table.row(row);
    }
    let _ = writeln!(report.text, "{} instances, by both objectives\n{table}", cases.len());
    Ok(())
}

// --- data sets ------------------------------------------------------------------------------

/// A file of the folder, and how it is read.
struct DataSet {
    name: String,
    path: PathBuf,
    transpose: bool,
    key: Option<&'static str>,
    /// Documents that a word must be in, and whether co-occurrences are factored.
    min_df: Option<usize>,
    cooccurrence: bool,
}

fn sets(folder: Option<&Path>) -> Vec<DataSet> {
    let text = |name: &str, path: PathBuf, transpose, min_df| DataSet {
        name: format!("{name}, words in {min_df} documents"),
        path,
        transpose,
        key: None,
        min_df: Some(min_df),
        cooccurrence: true,
    };
    let demo = demo_path();
    let mut sets: Vec<DataSet> =
        [20, 8].map(|df| text("demo corpus", demo.clone(), false, df)).into();
    let Some(folder) = folder else { return sets };
    // One in twenty, one in fifty of the documents, and twenty of them.
    for (name, thresholds) in [
        ("bbc_news", &[112, 45, 20][..]),
        ("classic3", &[195, 78, 20]),
        ("newsgroups20", &[939, 376]),
    ] {
        let path = folder.join(name).join("X.npz");
        sets.extend(thresholds.iter().map(|&df| text(name, path.clone(), true, df)));
    }
    let plain = |name: &str, file: &str, transpose, key, min_df| DataSet {
        name: name.to_owned(),
        path: folder.join(file),
        transpose,
        key,
        min_df,
        cooccurrence: false,
    };
    sets.push(plain("people x places", "bible_people_places/chapter_cooc.npz", false, None, None));
    sets.push(plain("rcv1, words in 30 documents", "rcv1_vw/X.npz", true, None, Some(30)));
    let image = "dlr_hysu/dlr_hysu_all_targets.npz";
    sets.push(plain("image, 1008 pixels", image, true, Some("X"), None));
    sets
}

impl DataSet {
    fn matrix(&self) -> Result<Matrix> {
        let mut matrix = load(&self.path, self.transpose, self.key)?;
        if let Some(least) = self.min_df {
            matrix = text::filter_min_df(&matrix, least).0;
        }
        if self.cooccurrence { Ok(text::cooccurrence(&matrix)?) } else { Ok(matrix) }
    }

    /// The mean error of `auto` by another build, and the CPU seconds that it took.
    fn by(&self, program: &Path, rank: usize) -> Result<(f64, f64)> {
        let mut command = Command::new(program);
        command.arg("factor").arg(&self.path).args([
            "--rank",
            &rank.to_string(),
            "--json",
            "--quiet",
        ]);
        if self.transpose {
            command.arg("--transpose");
        }
        if let Some(key) = self.key {
            command.args(["--key", key]);
        }
        if let Some(least) = self.min_df {
            command.args(["--min-df", &least.to_string()]);
        }
        if self.cooccurrence {
            command.arg("--cooccurrence");
        }
        let start = clock::children();
        let output = command.output().with_context(|| program.display().to_string())?;
        let seconds = clock::children() - start;
        let said: serde_json::Value = serde_json::from_slice(&output.stdout)
            .with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
        let error = said["error"]["mean_l1"].as_f64().context("no error in the answer")?;
        Ok((error, seconds))
    }
}

/// Methods that are run on data sets: the programs would take hours.
fn quick_methods() -> Vec<Method> {
    others().into_iter().filter(|m| !m.proves_bound()).collect()
}

fn data_sets(settings: &AutoSettings, report: &mut StudyReport) -> Result<()> {
    let mut heads: Vec<String> =
        ["mean l1 (CPU s)", "rank", "auto", "/ best greedy"].map(str::to_owned).into();
    heads.extend(quick_methods().iter().map(|m| m.name().to_owned()));
    if settings.before.is_some() {
        heads.extend(["before", "error / before", "CPU / before"].map(str::to_owned));
    }
    let mut table = Table::of_numbers(&heads);
    for set in sets(settings.data.as_deref()) {
        if settings.only.as_ref().is_some_and(|only| !set.name.contains(only)) {
            continue;
        }
        if !set.path.is_file() {
            let _ = writeln!(report.text, "skipped: there is no {}", set.path.display());
            continue;
        }
        let matrix = set.matrix().with_context(|| set.name.clone())?;
        for rank in [10, 20] {
            table.row(data_row(settings, &set, &matrix, rank, report)?);
        }
    }
    let _ = writeln!(report.text, "{table}");
    Ok(())
}

fn data_row(
    settings: &AutoSettings,
    set: &DataSet,
    matrix: &Matrix,
    rank: usize,
    report: &mut StudyReport,
) -> Result<Vec<String>> {
    let run = |method: Method| -> Result<(f64, f64)> {
        let start = clock::process();
        let answer = Factor::new(rank).method(method).run(matrix)?;
        Ok((answer.errors.mean_l1, clock::process() - start))
    };
    let shown = |(error, seconds): (f64, f64)| format!("{error:.4} ({seconds:.1})");
    let auto = run(Method::Auto)?;
    let mut cells = Vec::new();
    let mut greedy = f64::INFINITY;
    for method in quick_methods() {
        let other = run(method)?;
        if matches!(method, Method::Spa | Method::Snpa | Method::Xray) {
            greedy = greedy.min(other.0);
        }
        if auto.0 > other.0 * (1.0 + ROUNDING) + ZERO {
            report
                .failures
                .push(format!("{}, rank {rank}: {method} is better than auto", set.name));
        }
        cells.push(shown(other));
    }
    let name = format!("{} ({})", set.name, matrix.rows());
    let mut row = vec![name, rank.to_string(), shown(auto), format!("{:.3}", auto.0 / greedy)];
    row.extend(cells);
    if let Some(program) = &settings.before {
        let before = set.by(program, rank)?;
        row.push(shown(before));
        row.push(format!("{:.3}", auto.0 / before.0));
        row.push(format!("{:.2}", auto.1 / before.1));
    }
    Ok(row)
}
