//! `unmix` on scenes with known materials, against the usual ways to find pure pixels.
//!
//! Scenes have smooth spectra and smooth abundances, brightness that varies, noise that differs from band to band,
//! and some of: a dark material, shadows, outliers, spectra that vary from pixel to pixel, materials without a pure
//! pixel (the family `scene` of [`synth`](hottopixx::synth)). The rivals (`rivals`) are successive projection, the same with medians of the pixels
//! along every direction (SSPA), vertex component analysis (VCA) and N-FINDR. What counts is the mean angle between true
//! spectra and those found, matched such that it is least. The promise: on nine scenes of ten it is at most that of
//! every rival, and a scene of 100 x 100 x 200 takes 5 CPU seconds at most.

mod rivals;

use crate::{StudyReport, clock, parallel};
use anyhow::{Context, Result, bail};
use hottopixx::synth::{Family, Recipe};
use hottopixx::unmix::Unmix;
use hottopixx::{Dense, Matrix};
use hottopixx_report::table::Table;
use std::fmt::Write as _;

/// What to run.
#[derive(Debug, Clone, clap::Args)]
pub struct SceneSettings {
    /// Few and small scenes
    #[arg(long)]
    pub quick: bool,
    /// Number of scenes
    #[arg(long, default_value_t = 100)]
    pub seeds: u64,
    /// No pixel holds more than one minus this of one material; 0 for what the seeds draw
    #[arg(long, default_value_t = 0.0, value_name = "SHARE")]
    pub mixed: f64,
}

/// A scene and what it is made of.
struct Scene {
    seed: u64,
    pixels: Dense,
    shape: (usize, usize),
    spectra: Vec<Vec<f64>>,
}

impl Scene {
    /// Of 3 to 6 materials.
    fn new(seed: u64, side: usize, bands: usize, mixed: f64) -> Result<Self> {
        let rank = 3 + (seed % 4) as usize;
        let recipe = Recipe::new(Family::Scene, rank).size(side * side, bands).ill(mixed);
        let made = recipe.seed(seed).generate()?;
        let Matrix::Dense(pixels) = made.matrix else { bail!("a scene is dense") };
        let (shape, spectra) = (made.truth.shape, made.truth.spectra);
        let (shape, spectra) = shape.zip(spectra).context("a scene has a shape and spectra")?;
        Ok(Scene { seed, pixels, shape, spectra })
    }
}

/// The part of the scenes on which each rival must not be better.
const OFTEN: f64 = 0.9;
/// CPU seconds that a scene of 100 x 100 x 200 may take.
const MOST_SECONDS: f64 = 5.0;
/// The scene of [`ExampleScene`].
const EXAMPLE_SEED: u64 = 45;
/// How far an angle may be above another, in degrees, and count as the same.
const ROUNDING: f64 = 1e-6;

/// Mean angles in degrees: ours, that of our pure pixels, and those of the rivals.
struct Angles {
    ours: f64,
    pixels: f64,
    rivals: [f64; 4],
}

/// Runs what the settings ask for.
///
/// # Errors
/// When a scene cannot be unmixed.
pub fn run(settings: &SceneSettings) -> Result<StudyReport> {
    let mut report = StudyReport::default();
    let (side, bands) = if settings.quick { (32, 60) } else { (48, 100) };
    let seeds: Vec<u64> = (0..if settings.quick { 10 } else { settings.seeds }).collect();
    let one = |&seed: &u64| measure(&Scene::new(seed, side, bands, settings.mixed)?);
    let measured = parallel(&seeds, one);
    let measured: Vec<Angles> = measured.into_iter().collect::<Result<_>>()?;
    tell(&measured, &mut report);
    if !settings.quick {
        time(&mut report)?;
    }
    Ok(report)
}

/// One scene of the family, to try things with: four materials, noise, shadows and outliers.
#[derive(Debug, Clone)]
pub struct ExampleScene {
    /// Pixels x bands, pixels line by line.
    pub pixels: Dense,
    /// Height and width.
    pub shape: (usize, usize),
    /// The spectra of its materials.
    pub spectra: Vec<Vec<f64>>,
}

impl ExampleScene {
    /// Always the same: 64 x 64 pixels, 100 bands.
    pub fn new() -> Self {
        let scene = Scene::new(EXAMPLE_SEED, 64, 100, 0.0).expect("a recipe that is never refused");
        ExampleScene { spectra: scene.spectra, pixels: scene.pixels, shape: scene.shape }
    }

    /// The mean angle between its spectra and as many others, in degrees, matched such that it is least.
    pub fn angle(&self, found: &[Vec<f64>]) -> f64 {
        mean_angle(&self.spectra, found)
    }
}

impl Default for ExampleScene {
    fn default() -> Self {
        ExampleScene::new()
    }
}

fn measure(scene: &Scene) -> Result<Angles> {
    let (height, width) = scene.shape;
    let unmix = Unmix::new(scene.spectra.len()).shape(height, width).threads(1);
    let found = unmix.run(&scene.pixels).with_context(|| format!("scene {}", scene.seed))?;
    let of = |spectra: Vec<Vec<f64>>| mean_angle(&scene.spectra, &spectra);
    let rank = scene.spectra.len();
    Ok(Angles {
        ours: of(found.materials.iter().map(|m| m.spectrum.clone()).collect()),
        pixels: of(found.materials.iter().map(|m| m.pixel_spectrum.clone()).collect()),
        rivals: [
            of(rivals::spa(&scene.pixels, rank)),
            of(rivals::sspa(&scene.pixels, rank)),
            of(rivals::vca(&scene.pixels, rank, scene.seed)),
            of(rivals::nfindr(&scene.pixels, rank, scene.seed)),
        ],
    })
}

fn tell(measured: &[Angles], report: &mut StudyReport) {
    let count = measured.len().max(1) as f64;
    let mut table = Table::of_numbers(&["method", "mean angle", "worst", "ours at most"]);
    let mut line = |name: &str, angles: &dyn Fn(&Angles) -> f64| {
        let mean = measured.iter().map(angles).sum::<f64>() / count;
        let worst = measured.iter().map(angles).fold(0.0, f64::max);
        let often =
            measured.iter().filter(|a| a.ours <= angles(a) + ROUNDING).count() as f64 / count;
        let cells = [mean, worst].map(|angle| format!("{angle:.2}"));
        table.row([
            name.to_owned(),
            cells[0].clone(),
            cells[1].clone(),
            format!("{:.0} %", 100.0 * often),
        ]);
        often
    };
    line("unmix", &|a| a.ours);
    line("its pure pixels", &|a| a.pixels);
    for (k, name) in ["SPA", "SSPA", "VCA", "N-FINDR"].into_iter().enumerate() {
        let often = line(name, &|a| a.rivals[k]);
        if often < OFTEN {
            report.failures.push(format!(
                "{name} is better than unmix on {:.0} % of the scenes",
                100.0 * (1.0 - often)
            ));
        }
    }
    let all = |a: &&Angles| a.rivals.iter().all(|rival| a.ours <= rival + ROUNDING);
    let often = measured.iter().filter(all).count();
    let _ = writeln!(
        report.text,
        "{} scenes, angles in degrees\n\n{}",
        measured.len(),
        table.render(80)
    );
    let _ =
        writeln!(report.text, "at most every one of them on {often} of {} scenes", measured.len());
}

/// CPU seconds of one large scene.
fn time(report: &mut StudyReport) -> Result<()> {
    let scene = Scene::new(4, 100, 200, 0.0)?;
    let before = clock::process();
    let found = Unmix::new(scene.spectra.len()).shape(100, 100).run(&scene.pixels)?;
    let seconds = clock::process() - before;
    let _ = writeln!(
        report.text,
        "100 x 100 x 200, {} materials: {seconds:.2} CPU s (clean {:.2}, choose {:.2}, fit {:.2} s of wall time)",
        found.rank(),
        found.seconds.clean,
        found.seconds.choose,
        found.seconds.fit
    );
    if seconds > MOST_SECONDS {
        report.failures.push(format!("100 x 100 x 200 took {seconds:.1} CPU s"));
    }
    Ok(())
}

/// The angle between two spectra in degrees.
fn angle(a: &[f64], b: &[f64]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let lengths = (dot(a, a) * dot(b, b)).sqrt();
    if lengths > 0.0 { (dot(a, b) / lengths).clamp(-1.0, 1.0).acos().to_degrees() } else { 90.0 }
}

/// The mean angle between true and found spectra, matched one to one such that it is least.
fn mean_angle(truth: &[Vec<f64>], found: &[Vec<f64>]) -> f64 {
    let angles: Vec<Vec<f64>> =
        truth.iter().map(|t| found.iter().map(|f| angle(t, f)).collect()).collect();
    // The least sum over all matches of the spectra so far with each set of found ones.
    let mut least = vec![f64::INFINITY; 1 << found.len()];
    least[0] = 0.0;
    for set in 0..least.len() {
        let row = set.count_ones() as usize;
        if row < truth.len() && least[set].is_finite() {
            for (k, angle) in angles[row].iter().enumerate().filter(|(k, _)| set >> k & 1 == 0) {
                let next = set | 1 << k;
                least[next] = least[next].min(least[set] + angle);
            }
        }
    }
    least[least.len() - 1] / truth.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_are_the_best_ones() {
        let truth = vec![vec![1.0, 0.0], vec![0.0, 1.0]];
        assert!(mean_angle(&truth, &[vec![0.0, 2.0], vec![3.0, 0.0]]) < 1e-6);
        assert!((mean_angle(&truth, &[vec![1.0, 1.0], vec![1.0, 0.0]]) - 22.5).abs() < 1e-6);
    }

    #[test]
    fn quick_scenes_keep_the_promise() {
        let report = run(&SceneSettings { quick: true, seeds: 0, mixed: 0.0 }).unwrap();
        assert!(report.failures.is_empty(), "{:?}\n{}", report.failures, report.text);
        assert!(report.text.contains("10 scenes"), "{}", report.text);
    }
}
