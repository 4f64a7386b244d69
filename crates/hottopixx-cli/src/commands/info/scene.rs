//! What `info` says of scenes, which `unmix` takes: their size, entries that it refuses, and what to run.

use super::advice::quoted;
use crate::args::InfoArgs;
use crate::failure::{Failure, print};
use crate::output::{json, paragraph};
use hottopixx::matrix::Dense;
use hottopixx_io::{CubeOptions, LoadedCube, Source, load_cube};
use hottopixx_report::table::plain;
use hottopixx_report::text::{count, grouped, line};
use serde::Serialize;

/// Materials of a scene about which nothing is known.
const MATERIALS: usize = 5;

/// All there is to say, as `--json` prints it.
#[derive(Serialize)]
struct SceneReport {
    input: String,
    /// Where the file says how its pixels lie.
    height: Option<usize>,
    width: Option<usize>,
    pixels: usize,
    bands: usize,
    negative: usize,
    /// Entries that are NaN or infinite.
    not_finite: usize,
    /// Pixels of zeros.
    dark: usize,
    smallest: Option<f64>,
    largest: Option<f64>,
    problems: Vec<String>,
    next: Vec<String>,
    version: &'static str,
}

/// The scene in a file that could not be read as a matrix, where it is one; a file of many bytes only if it is to be
/// read however large.
pub fn instead(args: &InfoArgs) -> Option<LoadedCube> {
    let large = std::fs::metadata(&args.path).ok()?.len() > super::LIMIT;
    if large && !args.full {
        return None;
    }
    let options = CubeOptions {
        transpose: args.file.transpose,
        key: args.file.key.clone(),
        format: args.file.format,
        max_bytes: args.memory,
        ..CubeOptions::default()
    };
    load_cube(&Source::path(&args.path), &options).ok()
}

/// Reports.
pub fn report(args: &InfoArgs, scene: &LoadedCube) -> Result<(), Failure> {
    let report = SceneReport::new(args, scene);
    print(&if args.print.json { json(&report) } else { human(&report) })
}

impl SceneReport {
    fn new(args: &InfoArgs, scene: &LoadedCube) -> Self {
        let values = scene.pixels.values();
        let finite = || values.iter().copied().filter(|v| v.is_finite());
        let negative = finite().filter(|v| *v < 0.0).count();
        let not_finite = values.len() - finite().count();
        let mut problems = Vec::new();
        if negative > 0 {
            let values = count(negative, "value");
            problems.push(format!(
                "{values} below zero: --negative clip counts them as zero, or mend the calibration"
            ));
        }
        if not_finite > 0 {
            let values = count(not_finite, "value");
            problems.push(format!(
                "{values} NaN or infinite: set bands or pixels without values to zero, or leave them out"
            ));
        }
        let materials = MATERIALS.min(scene.pixels.cols().max(1));
        let transposed = if args.file.transpose { " --transpose" } else { "" };
        let path = quoted(&args.path);
        SceneReport {
            input: Source::path(&args.path).name(),
            height: scene.shape.map(|shape| shape.0),
            width: scene.shape.map(|shape| shape.1),
            pixels: scene.pixels.rows(),
            bands: scene.pixels.cols(),
            negative,
            not_finite,
            dark: dark(&scene.pixels),
            smallest: finite().min_by(f64::total_cmp),
            largest: finite().max_by(f64::total_cmp),
            problems,
            next: vec![format!("hottopixx unmix {path}{transposed} --rank {materials}")],
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

/// Pixels of zeros.
fn dark(pixels: &Dense) -> usize {
    (0..pixels.rows()).filter(|&i| pixels.row(i).iter().all(|v| *v == 0.0)).count()
}

fn human(report: &SceneReport) -> String {
    let mut out = format!("hottopixx {}\n", report.version);
    line(&mut out, "input", &plain(&report.input));
    let bands = count(report.bands, "band");
    let size = match (report.height, report.width) {
        (Some(height), Some(width)) => {
            format!("a scene of {} x {} pixels, {bands}", grouped(height), grouped(width))
        }
        _ => format!("{}, {bands}", count(report.pixels, "pixel")),
    };
    line(&mut out, "size", &size);
    if let (Some(smallest), Some(largest)) = (report.smallest, report.largest) {
        let mut entries = format!("from {smallest} to {largest}");
        if report.dark > 0 {
            entries += &format!(", {} of zeros", count(report.dark, "pixel"));
        }
        line(&mut out, "entries", &entries);
    }
    let order = "Bands are the last dimension: where they are the first, give --transpose.";
    paragraph(&mut out, "", order);
    out.push('\n');
    report.problems.iter().for_each(|problem| paragraph(&mut out, "problem", problem));
    report.next.iter().for_each(|command| line(&mut out, "next", &plain(command)));
    out
}
