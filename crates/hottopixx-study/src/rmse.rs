//! RMSE against the number of topics on a people x places matrix, the paper's middle figure.

use crate::{ProgressWatch, real};
use anyhow::Result;
use hottopixx::matrix::Matrix;
use hottopixx::synth::{Family, Recipe};
use hottopixx::{Factor, Method};
use hottopixx_report::page::Section;
use hottopixx_report::plot::{Axis, Chart, Series};
use hottopixx_report::table::{Align, Table};
use std::path::Path;

const RANKS: [usize; 10] = [1, 2, 5, 10, 20, 50, 100, 200, 400, 800];

/// A name and the matrix, features x examples.
pub type Named = (String, Matrix);

/// The people x places matrix of the folder, where it has one.
///
/// # Errors
/// When the file is there but cannot be read.
pub fn from_folder(folder: &Path) -> Result<Option<Named>> {
    let file = folder.join("bible_people_places/chapter_cooc.npz");
    if !file.is_file() {
        return Ok(None);
    }
    let name = "people × places by chapter".to_owned();
    Ok(Some((name, real::load(&file, false, None)?)))
}

/// A made-up sparse matrix of 60 topics.
///
/// # Errors
/// When it cannot be generated, which it can.
pub fn made_up() -> Result<Named> {
    let recipe = Recipe::new(Family::Documents, 60).size(2400, 3000);
    Ok(("a made-up sparse matrix of 60 topics".to_owned(), recipe.generate()?.matrix))
}

/// The figure; `None` when stopped.
///
/// # Errors
/// When the matrix cannot be factored.
pub fn section(set: &Named, quick: bool, watch: &ProgressWatch<'_>) -> Result<Option<Section>> {
    let (name, matrix) = set;
    let nonzero = (0..matrix.rows()).filter(|&i| matrix.row(i).sum() > 0.0).count();
    let most = nonzero.min(matrix.cols()).min(if quick { 50 } else { usize::MAX });
    let ranks: Vec<usize> = RANKS.into_iter().filter(|rank| *rank <= most).collect();
    let methods = [(Method::Hottopixx, "Hottopixx", 0), (Method::Spa, "SPA", 7)];
    let mut curves: Vec<Vec<(f64, f64)>> = vec![Vec::new(); methods.len()];
    for (k, &rank) in ranks.iter().enumerate() {
        for ((method, _, _), curve) in methods.iter().zip(&mut curves) {
            let answer = Factor::new(rank).method(*method).groups(false).run(matrix)?;
            curve.push((rank as f64, answer.errors.rmse));
        }
        if !watch(k + 1, ranks.len()) {
            return Ok(None);
        }
    }
    let mut section = Section::new("rmse", "RMSE against the number of topics");
    section.text(format!(
        "{name}: {} rows, {} columns, {} nonzeros, rows divided by their sums. The paper's curve on its \
         ClueWeb matrix of people and places, which is not public, “rolls off quickly for the first few \
         hundred topics”.",
        matrix.rows(),
        matrix.cols(),
        matrix.nonzeros()
    ));
    let series: Vec<Series> = methods
        .iter()
        .zip(&curves)
        .map(|((_, label, look), points)| Series::new(label, *look, points.clone()))
        .collect();
    let high = curves.iter().flatten().map(|p| p.1).fold(0.0, f64::max);
    let chart = Chart {
        title: format!("RMSE, {name}"),
        x: Axis::log("number of topics", 1.0, most.min(RANKS[RANKS.len() - 1]) as f64),
        y: Axis::linear("RMSE over all entries, rows sum to 1", 0.0, high * 1.05),
        series,
        levels: Vec::new(),
    };
    let last = |curve: &[(f64, f64)]| curve.last().map_or(f64::NAN, |p| p.1);
    let half = |curve: &[(f64, f64)]| curve.iter().find(|p| p.1 <= 0.5 * curve[0].1).map(|p| p.0);
    let caption = match half(&curves[0]) {
        Some(rank) => format!("Hottopixx halves the RMSE of one topic with {rank} topics."),
        None => format!("With {most} topics the RMSE of Hottopixx is {:.2e}.", last(&curves[0])),
    };
    section.figure("rmse", chart, caption);
    let mut table =
        Table::new(&[("topics", Align::Right), ("Hottopixx", Align::Right), ("SPA", Align::Right)]);
    for (k, rank) in ranks.iter().enumerate() {
        let cells = curves.iter().map(|curve| format!("{:.3e}", curve[k].1));
        table.row([rank.to_string()].into_iter().chain(cells));
    }
    section.table("RMSE", table);
    Ok(Some(section))
}
