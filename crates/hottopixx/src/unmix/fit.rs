//! The way from a cube to its materials, every step on one screen.

use super::Unmix;
use super::abundances::{Fitted, fit_all, summarise};
use super::cells::Cells;
use super::choose::Chooser;
use super::cube::Cube;
use super::noise::band_noise;
use super::result::{Material, Outlier, UnmixSeconds, Unmixed, WhyOutlier};
use super::smooth::smooth;
use super::spectra::{Purest, purest};
use super::subspace::project;
use crate::Error;
use crate::clock::Instant;
use crate::control::{Control, Progress, Stage, Stop};
use crate::factor::in_pool;
use crate::matrix::Dense;
use crate::order::largest_first;

/// Pixels that noise turns by more, in degrees, after smoothing are dark.
const DARK: f64 = 4.0;

impl Unmix {
    /// Finds the materials of a scene, given as pixels x bands.
    ///
    /// # Errors
    /// When the data or a setting is not usable: a value that is not finite, or below zero without
    /// [`Negative::Clip`](super::Negative::Clip), more materials than pixels, a shape that does not fit; or
    /// [`Error::NoAnswer`] when it was stopped before materials were chosen.
    pub fn run(&self, pixels: &Dense) -> Result<Unmixed, Error> {
        let control = self.control.for_new_run();
        in_pool(self.threads, || self.find(pixels, &control))
    }

    fn find(&self, pixels: &Dense, control: &Control) -> Result<Unmixed, Error> {
        let begun = Instant::now();
        let late = || Error::NoAnswer(control.cut_short().unwrap_or(Stop::TimeLimit));
        let tell = |stage, task| {
            let (done, total, figure, bound) = (0, None, None, None);
            control.report(&Progress { stage, task, done, total, figure, bound });
        };
        tell(Stage::Normalise, "noise of bands");
        let cube = Cube::new(self, pixels)?;
        let noise = band_noise(&cube, control).ok_or_else(late)?;
        let most = self.outliers.most();
        tell(Stage::Normalise, "leading subspace");
        let projected = project(&cube, &noise, self.rank, most, control).ok_or_else(late)?;
        let mut inside = vec![false; pixels.rows()];
        cube.lit.iter().for_each(|&i| inside[i] = projected.lengths[i] > 0.0);
        projected.outside.iter().for_each(|&i| inside[i] = false);
        let smoothed = smooth(&projected, self.shape, &inside);
        let clear = |i: &usize| inside[*i] && smoothed.turned[*i] <= DARK.to_radians();
        let mut usable: Vec<usize> = cube.lit.iter().copied().filter(clear).collect();
        if usable.len() < self.rank {
            usable = cube.lit.clone();
        }
        let cleaned = begun.elapsed().as_secs_f64();

        let cells = Cells::new(&smoothed, &projected.turned, &usable, self.rank, control);
        let cells = cells.ok_or_else(late)?;
        let chooser = Chooser {
            projected: &projected,
            cells: &cells,
            smoothed: &smoothed,
            rank: self.rank,
            most_alone: most.saturating_sub(projected.outside.len()),
            control,
        };
        let choice = chooser.choose()?;
        let mut counting = usable.clone();
        counting.retain(|pixel| !choice.alone.contains(pixel));
        let mut sample = cells.all_pixels();
        sample.retain(|pixel| !choice.alone.contains(pixel));
        let directions = cells.means_of(&choice.cells);
        let purest = purest(&cube, &projected, &smoothed, &sample, directions);
        let chosen = begun.elapsed().as_secs_f64();

        tell(Stage::Clean, "fitting all pixels");
        let fitted = fit_all(&cube, &projected.weights, &purest.spectra, self.abundances, control);
        let (materials, fitted) = materials(&cube, purest, fitted, &counting);
        let outlier = |why| {
            let errors = &fitted.errors;
            move |&pixel: &usize| Outlier { pixel, error: errors[pixel], why }
        };
        let mut outliers: Vec<Outlier> =
            projected.outside.iter().map(outlier(WhyOutlier::Unexplained)).collect();
        outliers.extend(choice.alone.iter().map(outlier(WhyOutlier::Alone)));
        outliers.truncate(most);
        let mut seen = vec![false; pixels.rows()];
        let named = outliers.iter().map(|outlier| outlier.pixel);
        named.chain(usable.iter().copied()).for_each(|pixel| seen[pixel] = true);
        let dark: Vec<usize> = (0..pixels.rows()).filter(|&pixel| !seen[pixel]).collect();
        let mean_error =
            counting.iter().map(|&i| fitted.errors[i]).sum::<f64>() / counting.len().max(1) as f64;
        let signal_to_noise = signal_to_noise(&cube, &noise);
        let rank = self.rank;
        let notes = notes(&cube, rank, &fitted, &outliers, &dark);
        Ok(Unmixed {
            materials,
            abundances: Dense::new(pixels.rows(), rank, fitted.abundances)?,
            errors: fitted.errors,
            mean_error,
            outliers,
            dark,
            noise: noise.iter().map(|n| n / cube.scale).collect(),
            signal_to_noise,
            shape: self.shape,
            clipped: cube.clipped,
            unfitted: fitted.unfitted,
            notes,
            stop: control.cut_short().unwrap_or(Stop::Finished),
            seconds: UnmixSeconds {
                clean: cleaned,
                choose: chosen - cleaned,
                fit: begun.elapsed().as_secs_f64() - chosen,
            },
        })
    }
}

/// The materials, the largest share first, and the fits in their order.
fn materials(
    cube: &Cube<'_>,
    purest: Purest,
    mut fitted: Fitted,
    counting: &[usize],
) -> (Vec<Material>, Fitted) {
    let bands = cube.bands() as f64;
    let each = purest.members.into_iter().zip(purest.spectra).zip(purest.pixels);
    let mut materials: Vec<Material> = each
        .map(|((members, spectrum), pixel)| Material {
            pixel,
            members,
            brightness: spectrum.iter().map(|v| v / bands).sum(),
            spectrum,
            pixel_spectrum: cube.pixels.row(pixel).to_vec(),
            share: 0.0,
            error: 0.0,
        })
        .collect();
    summarise(&fitted, counting, &mut materials);
    let mut order: Vec<usize> = (0..materials.len()).collect();
    largest_first(&mut order, |k| materials[k].share);
    let rows = fitted.abundances.chunks_exact(materials.len());
    fitted.abundances = rows.flat_map(|a| order.iter().map(|&k| a[k])).collect();
    (order.iter().map(|&k| materials[k].clone()).collect(), fitted)
}

/// Decibels.
fn signal_to_noise(cube: &Cube<'_>, noise: &[f64]) -> f64 {
    let squares =
        |i: usize| -> f64 { cube.pixels.row(i).iter().map(|v| (v * cube.scale).powi(2)).sum() };
    let signal = cube.lit.iter().map(|&i| squares(i)).sum::<f64>() / cube.lit.len() as f64;
    let noise: f64 = noise.iter().map(|n| n * n).sum();
    10.0 * (signal / noise.max(1e-30)).log10()
}

/// What was found and done.
fn notes(
    cube: &Cube<'_>,
    rank: usize,
    fitted: &Fitted,
    outliers: &[Outlier],
    dark: &[usize],
) -> Vec<String> {
    let mut notes = Vec::new();
    if rank > cube.bands() {
        notes.push(format!(
            "{rank} materials are more than {} can tell apart.",
            match cube.bands() {
                1 => "1 band".to_string(),
                bands => format!("{bands} bands"),
            }
        ));
    }
    let plural = |n: usize, what: &str| match n {
        1 => format!("1 {what} was"),
        n => format!("{n} {what}s were"),
    };
    if cube.clipped > 0 {
        notes.push(format!("{} below zero and counted as zero.", plural(cube.clipped, "value")));
    }
    if !outliers.is_empty() {
        notes.push(format!(
            "{} set aside as outliers: nothing else in the scene is like them.",
            plural(outliers.len(), "pixel")
        ));
    }
    if !dark.is_empty() {
        notes.push(format!(
            "{} set aside as dark: their signal is near the noise, and their abundances say little.",
            plural(dark.len(), "pixel")
        ));
    }
    if fitted.unfitted > 0 {
        notes.push(format!("{} not fitted in time.", plural(fitted.unfitted, "pixel")));
    }
    notes
}
