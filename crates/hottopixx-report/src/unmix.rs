//! Materials of a scene as they are reported: one object for JSON, text and a table.

use crate::csv::push_line;
use crate::page::short;
use crate::table::{Align, Table, WIDTH, plain};
use crate::text::{count, ending, grouped, line, percent, sentences};
use hottopixx::control::Stop;
use hottopixx::unmix::{Abundances, UnmixSeconds, Unmixed, WhyOutlier};
use serde::Serialize;

/// Pixels that are listed on a line at most.
const LISTED: usize = 8;

/// A pixel, with its place where the shape of the scene is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ScenePixel {
    /// Its number, from 0, row by row.
    pub pixel: usize,
    /// Its row, from 0.
    pub row: Option<usize>,
    /// Its column, from 0.
    pub column: Option<usize>,
}

impl ScenePixel {
    fn new(pixel: usize, shape: Option<(usize, usize)>) -> Self {
        let at =
            |part: fn(usize, usize) -> usize| shape.map(|(_, width)| part(pixel, width.max(1)));
        ScenePixel { pixel, row: at(|p, w| p / w), column: at(|p, w| p % w) }
    }

    /// `(row, column)`, or the number alone.
    pub fn label(&self) -> String {
        match (self.row, self.column) {
            (Some(row), Some(column)) => format!("({row}, {column})"),
            _ => self.pixel.to_string(),
        }
    }
}

/// One material.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MaterialSummary {
    /// Its pure pixel.
    #[serde(flatten)]
    pub place: ScenePixel,
    /// Its share of the scene.
    pub share: f64,
    /// The mean of its spectrum over bands.
    pub brightness: f64,
    /// Pixels that could stand in each other's place.
    pub group: Vec<usize>,
    /// The mean l1 error of pixels, each counting with its share of this material.
    pub error: f64,
}

/// A pixel that nothing else is like.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct OutlierSummary {
    /// The pixel.
    #[serde(flatten)]
    pub place: ScenePixel,
    /// Its l1 error.
    pub error: f64,
    /// Why it counts as one.
    pub why: WhyOutlier,
}

/// What is said about a scene: the object of `--json` and `summary.json`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UnmixSummary {
    /// The input as the user named it.
    pub input: String,
    /// Height of the scene, where it is known.
    pub height: Option<usize>,
    /// Width of the scene.
    pub width: Option<usize>,
    /// Pixels.
    pub pixels: usize,
    /// Bands.
    pub bands: usize,
    /// Number of materials.
    pub rank: usize,
    /// How shares were fitted.
    pub abundances: Abundances,
    /// The materials, the largest share first.
    pub materials: Vec<MaterialSummary>,
    /// The mean l1 error of pixels that are neither dark nor outliers.
    pub mean_error: f64,
    /// Pixels that nothing else is like.
    pub outliers: Vec<OutlierSummary>,
    /// Pixels whose signal is near the noise.
    pub dark: Vec<ScenePixel>,
    /// Decibels.
    pub signal_to_noise: f64,
    /// Values below zero that were counted as zero.
    pub clipped: usize,
    /// Pixels that there was no time to fit.
    pub unfitted: usize,
    /// What was found and done.
    pub notes: Vec<String>,
    /// Why the computation ended.
    pub stop: Stop,
    /// Time spent.
    pub seconds: UnmixTimes,
    /// The most memory that was in use, where the system tells.
    pub peak_memory_bytes: Option<u64>,
    /// Threads in use.
    pub threads: usize,
    /// The version of the program.
    pub version: String,
}

/// Seconds of each step.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct UnmixTimes {
    /// Reading.
    pub load: f64,
    /// The steps of the unmixing.
    #[serde(flatten)]
    pub steps: UnmixSeconds,
    /// From the start of the program.
    pub total: f64,
}

/// What a summary says beside the scene: the run.
#[derive(Debug, Clone, PartialEq)]
pub struct UnmixRun {
    /// The input as the user named it.
    pub input: String,
    /// How shares were fitted.
    pub abundances: Abundances,
    /// Seconds of reading.
    pub load: f64,
    /// Seconds from the start of the program.
    pub total: f64,
    /// The most memory that was in use.
    pub peak_memory_bytes: Option<u64>,
    /// Threads in use.
    pub threads: usize,
}

impl UnmixSummary {
    /// Puts a scene in words.
    pub fn new(scene: &Unmixed, run: UnmixRun) -> Self {
        let place = |pixel: usize| ScenePixel::new(pixel, scene.shape);
        let materials = scene.materials.iter().map(|material| MaterialSummary {
            place: place(material.pixel),
            share: material.share,
            brightness: material.brightness,
            group: material.members.clone(),
            error: material.error,
        });
        let outliers = scene.outliers.iter().map(|outlier| OutlierSummary {
            place: place(outlier.pixel),
            error: outlier.error,
            why: outlier.why,
        });
        UnmixSummary {
            input: run.input,
            height: scene.shape.map(|shape| shape.0),
            width: scene.shape.map(|shape| shape.1),
            pixels: scene.errors.len(),
            bands: scene.noise.len(),
            rank: scene.rank(),
            abundances: run.abundances,
            materials: materials.collect(),
            mean_error: scene.mean_error,
            outliers: outliers.collect(),
            dark: scene.dark.iter().copied().map(place).collect(),
            signal_to_noise: scene.signal_to_noise,
            clipped: scene.clipped,
            unfitted: scene.unfitted,
            notes: scene.notes.clone(),
            stop: scene.stop,
            seconds: UnmixTimes { load: run.load, steps: scene.seconds, total: run.total },
            peak_memory_bytes: run.peak_memory_bytes,
            threads: run.threads,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// The size of the scene in words.
    pub(crate) fn size(&self) -> String {
        let bands = count(self.bands, "band");
        match (self.height, self.width) {
            (Some(height), Some(width)) => format!("{height} x {width} pixels, {bands}"),
            _ => format!("{}, {bands}", count(self.pixels, "pixel")),
        }
    }
}

/// The materials for a terminal of 80 columns, then what was set aside and how it went.
pub fn text(summary: &UnmixSummary) -> String {
    let s = summary;
    let mut out = format!("hottopixx {}\n", s.version);
    line(&mut out, "input", &plain(&s.input));
    line(&mut out, "size", &s.size());
    line(&mut out, "noise", &format!("{:.0} dB signal to noise", s.signal_to_noise));
    out.push('\n');
    let mut table = Table::new(&[
        ("material", Align::Right),
        (if s.width.is_some() { "pure pixel (row, column)" } else { "pure pixel" }, Align::Right),
        ("share %", Align::Right),
        ("brightness", Align::Right),
        ("group", Align::Right),
        ("error", Align::Right),
    ]);
    for (k, material) in s.materials.iter().enumerate() {
        table.row([
            (k + 1).to_string(),
            material.place.label(),
            percent(material.share),
            short(material.brightness),
            grouped(material.group.len()),
            format!("{:.4}", material.error),
        ]);
    }
    out.push_str(&table.render(WIDTH));
    out.push('\n');
    line(
        &mut out,
        "error",
        &format!("{:.4} mean l1 of pixels, 0 is perfect and 1 nothing", s.mean_error),
    );
    let outliers: Vec<ScenePixel> = s.outliers.iter().map(|outlier| outlier.place).collect();
    listed(&mut out, "outliers", &outliers);
    listed(&mut out, "dark", &s.dark);
    sentences(&mut out, "note", &s.notes);
    let UnmixTimes { load, steps, total } = &s.seconds;
    let time = format!(
        "{total:.2} s: load {load:.2}, clean {:.2}, choose {:.2}, fit {:.2}",
        steps.clean, steps.choose, steps.fit
    );
    line(&mut out, "time", &time);
    ending(&mut out, s.peak_memory_bytes, s.stop);
    out
}

/// The first pixels of a list, and how many there are.
fn listed(out: &mut String, label: &str, pixels: &[ScenePixel]) {
    if pixels.is_empty() {
        return;
    }
    let mut names: Vec<String> = pixels.iter().take(LISTED).map(ScenePixel::label).collect();
    if pixels.len() > LISTED {
        names.push(format!("and {} more", grouped(pixels.len() - LISTED)));
    }
    let text = format!("{}: {}", count(pixels.len(), "pixel"), names.join(", "));
    sentences(out, label, &[text]);
}

/// `materials.csv`: header `material,pixel,row,column,share,brightness,group,error`; materials from 1, pixels from 0,
/// the group separated by `;`.
pub fn materials_csv(summary: &UnmixSummary) -> String {
    let mut out = String::from("material,pixel,row,column,share,brightness,group,error\n");
    let optional = |value: Option<usize>| value.map_or_else(String::new, |v| v.to_string());
    for (k, material) in summary.materials.iter().enumerate() {
        let group: Vec<String> = material.group.iter().map(usize::to_string).collect();
        push_line(
            &mut out,
            &[
                (k + 1).to_string(),
                material.place.pixel.to_string(),
                optional(material.place.row),
                optional(material.place.column),
                format!("{:.6}", material.share),
                material.brightness.to_string(),
                group.join(";"),
                format!("{:.6}", material.error),
            ],
        );
    }
    out
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use hottopixx::Dense;
    use hottopixx::unmix::Unmix;

    /// Two materials from left to right, one dead pixel, one that is like nothing else.
    pub(crate) fn scene() -> (Dense, Unmixed) {
        let pixel = |i: usize| -> Vec<f64> {
            let share = (i % 12) as f64 / 11.0;
            let value = |b: usize| {
                let b = b as f64 / 9.0;
                1.0 + 4.0 * share * b + 4.0 * (1.0 - share) * (1.0 - b)
            };
            (0..10).map(|b| value(b) * (1.0 + 0.002 * ((i * 7 + b * 13) % 11) as f64)).collect()
        };
        let mut rows: Vec<Vec<f64>> = (0..120).map(pixel).collect();
        rows[37] = vec![0.0; 10];
        rows[80] = (0..10).map(|b| if b % 2 == 0 { 9.0 } else { 0.1 }).collect();
        let pixels = Dense::from_rows(&rows).unwrap();
        let scene = Unmix::new(2).shape(10, 12).run(&pixels).unwrap();
        (pixels, scene)
    }

    pub(crate) fn summary(scene: &Unmixed) -> UnmixSummary {
        let run = UnmixRun {
            input: "field.npy".into(),
            abundances: Abundances::Free,
            load: 0.1,
            total: 0.2,
            peak_memory_bytes: Some(1 << 20),
            threads: 2,
        };
        UnmixSummary::new(scene, run)
    }

    #[test]
    fn text_fits_and_names_what_was_set_aside() {
        let said = text(&summary(&scene().1));
        for part in
            ["10 x 12 pixels, 10 bands", "(row, column)", "1 pixel: (6, 8)", "1 pixel: (3, 1)"]
        {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert!(said.lines().all(|line| line.chars().count() <= WIDTH), "{said}");
    }

    #[test]
    fn the_table_has_a_line_per_material() {
        let found = scene().1;
        let table = materials_csv(&summary(&found));
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!((lines.len(), lines[0].split(',').count()), (3, 8));
        let pixel = found.materials[0].pixel;
        assert!(lines[1].starts_with(&format!("1,{pixel},{},{},", pixel / 12, pixel % 12)));
    }
}
