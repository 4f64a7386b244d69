//! Real data: a hyperspectral image with known materials, and two news corpora. What is not in the
//! data folder is skipped, with a remark.

use crate::StudyReport;
use crate::words::demo_path;
use anyhow::{Context, Result};
use hottopixx::matrix::{Matrix, Row};
use hottopixx::{Factor, Method, text};
use hottopixx_report::table::Table;
use std::fmt::Write as _;
use std::path::Path;

/// Spectra this many degrees apart count as the same material.
const SAME_MATERIAL: f64 = 5.0;

/// Of the image's materials, how many `auto` must find.
const LEAST_MATERIALS: usize = 5;

/// The error of `auto` on text must be at most this share of the best greedy method's.
const MOST_OF_GREEDY: f64 = 0.94;

/// Words in fewer than one in this many documents are left out.
const FREQUENT: usize = 20;

/// Runs all that the folder has data for.
///
/// # Errors
/// When a file is there but cannot be read or factored.
pub fn run(folder: &Path) -> Result<StudyReport> {
    let mut report = StudyReport::default();
    let image = folder.join("dlr_hysu/dlr_hysu_all_targets.npz");
    if present(&image, &mut report) {
        materials(&image, &mut report)?;
    }
    let news = folder.join("bbc_news/X.npz");
    if present(&news, &mut report) {
        // Stored as documents x terms.
        corpus("bbc_news", &load(&news, true, None)?, &mut report)?;
    }
    let demo = demo_path();
    if present(&demo, &mut report) {
        corpus("reuters", &load(&demo, false, None)?, &mut report)?;
    }
    Ok(report)
}

fn present(path: &Path, report: &mut StudyReport) -> bool {
    let there = path.is_file();
    if !there {
        let _ = writeln!(report.text, "skipped: there is no {}", path.display());
    }
    there
}

/// The one place where files are read.
pub(crate) fn load(path: &Path, transpose: bool, key: Option<&str>) -> Result<Matrix> {
    let options =
        hottopixx_io::LoadOptions { transpose, key: key.map(str::to_owned), ..Default::default() };
    let source = hottopixx_io::Source::path(path);
    let loaded = hottopixx_io::load(&source, &options);
    Ok(loaded.with_context(|| path.display().to_string())?.matrix)
}

/// Pixels x bands: the angle of each library spectrum to the nearest pixel that was chosen.
fn materials(path: &Path, report: &mut StudyReport) -> Result<()> {
    let pixels = load(path, true, Some("X"))?;
    let library = load(path, true, Some("E"))?;
    let known = library.rows();
    let mut heads = vec!["degrees".to_owned(), "rank".to_owned()];
    heads.extend((0..known).map(|k| format!("material {k}")));
    heads.push(format!("within {SAME_MATERIAL}"));
    heads.push("mean l1".to_owned());
    let mut table = Table::of_numbers(&heads);
    for rank in [known, known + 2, known + 4] {
        // The programs take minutes on these and are studied on their own.
        let apt = |m: &Method| m.requires().is_empty() && !m.proves_bound();
        for method in Method::ALL.into_iter().filter(apt) {
            let answer = Factor::new(rank).method(method).run(&pixels)?;
            let nearest = |k: usize| {
                let angles = answer.hott.iter().map(|h| angle(library.row(k), pixels.row(h.row)));
                angles.fold(f64::INFINITY, f64::min)
            };
            let angles: Vec<f64> = (0..known).map(nearest).collect();
            let same = angles.iter().filter(|a| **a <= SAME_MATERIAL).count();
            if method == Method::Auto && same < LEAST_MATERIALS {
                report.failures.push(format!(
                    "dlr_hysu, rank {rank}: auto finds {same} materials, promised {LEAST_MATERIALS}"
                ));
            }
            let mut row = vec![method.name().to_owned(), rank.to_string()];
            row.extend(angles.iter().map(|a| format!("{a:.1}")));
            row.push(format!("{same} of {known}"));
            row.push(format!("{:.4}", answer.errors.mean_l1));
            table.row(row);
        }
    }
    let (rows, bands) = (pixels.rows(), pixels.cols());
    let _ = writeln!(report.text, "dlr_hysu, {rows} pixels x {bands} bands\n{table}");
    Ok(())
}

/// The angle between two spectra, in degrees.
fn angle(a: Row<'_>, b: Row<'_>) -> f64 {
    let other: std::collections::HashMap<usize, f64> = b.nonzeros().collect();
    let dot: f64 = a.nonzeros().filter_map(|(k, v)| other.get(&k).map(|w| v * w)).sum();
    (dot / (a.squared_norm() * b.squared_norm()).sqrt()).clamp(-1.0, 1.0).acos().to_degrees()
}

/// Words x documents: the cleaned error of `auto` against the best greedy method, on the
/// co-occurrences of frequent words.
fn corpus(name: &str, counts: &Matrix, report: &mut StudyReport) -> Result<()> {
    let (counts, _) = text::filter_min_df(counts, counts.cols().div_ceil(FREQUENT));
    let pairs = text::cooccurrence(&counts)?;
    let greedy = [Method::Spa, Method::Snpa, Method::Xray];
    let mut table =
        Table::of_numbers(&["mean l1", "auto", "spa", "snpa", "xray", "auto / best", "seconds"]);
    for rank in [10, 20] {
        let error = |method| -> Result<f64> {
            Ok(Factor::new(rank).method(method).run(&pairs)?.errors.mean_l1)
        };
        let start = std::time::Instant::now();
        let auto = error(Method::Auto)?;
        let seconds = start.elapsed().as_secs_f64();
        let others = greedy.into_iter().map(error).collect::<Result<Vec<f64>>>()?;
        let best = others.iter().copied().fold(f64::INFINITY, f64::min);
        if auto > MOST_OF_GREEDY * best {
            report.failures.push(format!(
                "{name}, rank {rank}: auto has {:.3} of the best greedy error, promised {MOST_OF_GREEDY}",
                auto / best
            ));
        }
        let mut row = vec![format!("r = {rank}"), format!("{auto:.4}")];
        row.extend(others.iter().map(|e| format!("{e:.4}")));
        row.push(format!("{:.3}", auto / best));
        row.push(format!("{seconds:.1}"));
        table.row(row);
    }
    let (words, documents) = (counts.rows(), counts.cols());
    let _ = writeln!(
        report.text,
        "{name}, co-occurrence of {words} words in {documents} documents\n{table}"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_ignore_scale() {
        let (a, b) = ([1.0, 0.0], [3.0, 3.0]);
        assert!((angle(Row::dense(&a), Row::dense(&b)) - 45.0).abs() < 1e-12);
        let sparse = Row::sparse(&[0, 1], &b);
        assert!((angle(Row::dense(&a), sparse) - 45.0).abs() < 1e-12);
    }
}
