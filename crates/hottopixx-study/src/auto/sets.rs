//! Data sets: those of a folder, the built-in corpus, and instances too large for every method.

use super::scene::scene;
use super::{AutoSettings, above_truth, error_of, is_worse, others};
use crate::folder::Folder;
use crate::real::load;
use crate::words::demo_path;
use crate::{StudyReport, clock};
use anyhow::{Context, Result};
use hottopixx::matrix::Matrix;
use hottopixx::synth::{Family, Recipe};
use hottopixx::{Bounds, Factor, Method, Objective, text};
use hottopixx_report::table::Table;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Ranks that are asked for, unless a set has its own.
const RANKS: [usize; 2] = [10, 20];

/// A matrix by name.
struct DataSet {
    name: String,
    source: Source,
    ranks: Vec<usize>,
}

/// Where a matrix comes from.
enum Source {
    File(File),
    /// An instance whose true rows are known.
    Planted(Recipe),
    Scene,
}

/// A file, and how it is read.
struct File {
    path: PathBuf,
    transpose: bool,
    key: Option<&'static str>,
    /// Documents that a word must be in, and whether co-occurrences are factored.
    min_df: Option<usize>,
    cooccurrence: bool,
}

/// A matrix with the rows that are known to be hott.
struct Loaded {
    matrix: Matrix,
    truth: Option<Vec<usize>>,
}

fn words(name: &str, path: PathBuf, transpose: bool, least: usize) -> DataSet {
    let file = File { path, transpose, key: None, min_df: Some(least), cooccurrence: true };
    let name = format!("{name}, words in {least} documents");
    DataSet { name, source: Source::File(file), ranks: RANKS.to_vec() }
}

fn sets(folder: Option<&Path>) -> Result<Vec<DataSet>> {
    let demo = demo_path();
    let mut sets: Vec<DataSet> =
        [20, 8].map(|df| words("demo corpus", demo.clone(), false, df)).into();
    let planted = |name: &str, recipe: Recipe| DataSet {
        name: name.to_owned(),
        ranks: vec![recipe.rank],
        source: Source::Planted(recipe),
    };
    sets.push(planted("documents", Recipe::new(Family::Documents, 50).size(5000, 50_000).seed(1)));
    sets.push(planted("multinomial", Recipe::new(Family::Multinomial, 25).size(2000, 5000)));
    sets.push(DataSet { name: "scene".to_owned(), source: Source::Scene, ranks: vec![5] });
    let Some(folder) = folder else { return Ok(sets) };
    // One in twenty, one in fifty of the documents, and those that leave some thousand words.
    for (name, thresholds) in [
        ("bbc_news", &[112, 45, 20][..]),
        ("classic3", &[195, 78, 20]),
        ("newsgroups20", &[939, 376, 100]),
    ] {
        let path = folder.join(name).join("X.npz");
        sets.extend(thresholds.iter().map(|&df| words(name, path.clone(), true, df)));
    }
    let plain = |name: &str, file: &str, transpose, key, min_df| {
        let file = File { path: folder.join(file), transpose, key, min_df, cooccurrence: false };
        DataSet { name: name.to_owned(), source: Source::File(file), ranks: RANKS.to_vec() }
    };
    let bible = "bible_people_places";
    let chapters = format!("{bible}/chapter_cooc.npz");
    sets.push(plain("people x places, by chapter", &chapters, false, None, None));
    let verses = format!("{bible}/verse_cooc.npz");
    sets.push(plain("people x places, by verse", &verses, false, None, None));
    sets.push(plain("rcv1, words in 30 documents", "rcv1_vw/X.npz", true, None, Some(30)));
    let image = "dlr_hysu/dlr_hysu_all_targets.npz";
    sets.push(plain("image, 1008 pixels", image, true, Some("X"), None));
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .with_context(|| folder.display().to_string())?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "npy" || end == "npz"))
        .collect();
    files.sort();
    for name in files.iter().filter_map(|path| path.file_name()?.to_str()) {
        sets.push(plain(name, name, false, None, None));
    }
    Ok(sets)
}

impl DataSet {
    /// The file that is not there.
    fn missing(&self) -> Option<&Path> {
        match &self.source {
            Source::File(file) if !file.path.is_file() => Some(&file.path),
            _ => None,
        }
    }

    fn load(&self) -> Result<Loaded> {
        match &self.source {
            Source::File(file) => {
                let mut matrix = load(&file.path, file.transpose, file.key)?;
                if let Some(least) = file.min_df {
                    matrix = text::filter_min_df(&matrix, least).0;
                }
                if file.cooccurrence {
                    matrix = text::cooccurrence(&matrix)?;
                }
                Ok(Loaded { matrix, truth: None })
            }
            Source::Planted(recipe) => {
                let instance = recipe.generate()?;
                let truth = Some(instance.truth.oracle().to_vec());
                let matrix = match recipe.family {
                    Family::Multinomial => text::cooccurrence(&instance.matrix)?,
                    _ => instance.matrix,
                };
                Ok(Loaded { matrix, truth })
            }
            Source::Scene => Ok(Loaded { matrix: scene()?, truth: None }),
        }
    }
}

/// The error of `auto` by another build, on a matrix in a file, and the CPU seconds that it took.
fn by(program: &Path, file: &Path, rank: usize, objective: Objective) -> Result<(f64, f64)> {
    let mut command = Command::new(program);
    let rank = rank.to_string();
    command.arg("factor").arg(file).args(["--rank", &rank, "--json", "--quiet"]);
    command.args(["--objective", objective.name()]);
    let start = clock::children();
    let output = command.output().with_context(|| program.display().to_string())?;
    let seconds = clock::children() - start;
    let said: serde_json::Value = serde_json::from_slice(&output.stdout)
        .with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
    let error = match objective {
        Objective::Mean => &said["error"]["mean_l1"],
        Objective::Max => &said["error"]["inf1"],
    };
    Ok((error.as_f64().context("no error in the answer")?, seconds))
}

/// Methods that are run on data sets: the programs would take hours.
fn quick_methods() -> Vec<Method> {
    others().into_iter().filter(|m| !m.proves_bound()).collect()
}

/// Runs `auto` and every method that is quick enough on all of them.
pub(super) fn run(settings: &AutoSettings, report: &mut StudyReport) -> Result<()> {
    let objective = settings.objective.unwrap_or_default();
    let error = match objective {
        Objective::Mean => "mean l1 (CPU s)",
        Objective::Max => "largest l1 (CPU s)",
    };
    let mut heads: Vec<String> =
        [error, "rank", "auto", "bound", "/ best greedy"].map(str::to_owned).into();
    heads.extend(quick_methods().iter().map(|m| m.name().to_owned()));
    if settings.before.is_some() {
        heads.extend(["before", "error / before", "CPU / before"].map(str::to_owned));
    }
    let mut table = Table::of_numbers(&heads);
    let is_wanted = |name: &str| {
        settings.only.is_empty() || settings.only.iter().any(|only| name.contains(&**only))
    };
    let folder = Folder::temporary()?;
    for set in sets(settings.data.as_deref())?.iter().filter(|set| is_wanted(&set.name)) {
        if let Some(path) = set.missing() {
            let _ = writeln!(report.text, "skipped: there is no {}", path.display());
            continue;
        }
        let loaded = set.load().with_context(|| set.name.clone())?;
        let file = match &settings.before {
            Some(_) => Some(hottopixx_io::write::matrix(folder.path(), "X", &loaded.matrix)?),
            None => None,
        };
        for &rank in set.ranks.iter().filter(|rank| **rank < loaded.matrix.rows()) {
            let before = match (&settings.before, &file) {
                (Some(program), Some(file)) => Some(by(program, file, rank, objective)?),
                _ => None,
            };
            let cells = row(set, &loaded, (rank, objective), before, &mut report.failures)?;
            // The next may take long.
            eprintln!("{}", cells.join("  "));
            table.row(cells);
        }
    }
    let _ = writeln!(report.text, "{table}");
    Ok(())
}

fn row(
    set: &DataSet,
    loaded: &Loaded,
    (rank, objective): (usize, Objective),
    before: Option<(f64, f64)>,
    failures: &mut Vec<String>,
) -> Result<Vec<String>> {
    let Loaded { matrix, truth } = loaded;
    let factor = || Factor::new(rank).objective(objective);
    let run = |method: Method| -> Result<((f64, f64), Option<Bounds>)> {
        let start = clock::process();
        let answer = factor().method(method).run(matrix)?;
        Ok(((error_of(&answer, objective), clock::process() - start), answer.bounds))
    };
    let shown = |(error, seconds): (f64, f64)| format!("{error:.4} ({seconds:.1})");
    let (auto, bounds) = run(Method::Auto)?;
    let name = format!("{} ({}), {objective}, rank {rank}", set.name, matrix.rows());
    let mut cells = Vec::new();
    let mut greedy = f64::INFINITY;
    for method in quick_methods() {
        let (other, _) = run(method)?;
        if matches!(method, Method::Spa | Method::Snpa | Method::Xray) {
            greedy = greedy.min(other.0);
        }
        if is_worse(auto.0, other.0) {
            failures.push(format!("{name}: {method} has {:.6}, auto {:.6}", other.0, auto.0));
        }
        cells.push(shown(other));
    }
    if let Some(truth) = truth {
        let truth = error_of(&factor().groups(false).evaluate(matrix, truth)?, objective);
        failures.extend(above_truth(&name, auto.0, truth));
    }
    let bound = bounds.map_or_else(|| "-".to_owned(), |b| format!("{:.4}", b.lower_bound));
    let mut row = vec![
        format!("{} ({})", set.name, matrix.rows()),
        rank.to_string(),
        shown(auto),
        bound,
        format!("{:.3}", auto.0 / greedy),
    ];
    row.extend(cells);
    if let Some(before) = before {
        row.push(shown(before));
        row.push(format!("{:.3}", auto.0 / before.0));
        row.push(format!("{:.2}", auto.1 / before.1));
    }
    Ok(row)
}
