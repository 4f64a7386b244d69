//! The answer: materials, their shares in every pixel, and the pixels that were set aside.

use crate::control::Stop;
use crate::matrix::Dense;

/// One material.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Material {
    /// Its pure pixel, a row of the input: of the purest the one nearest to their mean.
    pub pixel: usize,
    /// The purest pixels, which could stand in each other's place; their mean is [`Material::spectrum`]. The
    /// pure pixel is one of them.
    pub members: Vec<usize>,
    /// The smoothed spectrum, one value per band in the units of the input: what abundances refer to.
    pub spectrum: Vec<f64>,
    /// The spectrum of the pure pixel as it was measured.
    pub pixel_spectrum: Vec<f64>,
    /// Its share of the scene: the mean over pixels of its abundance divided by their sum, dark pixels and
    /// outliers left out.
    pub share: f64,
    /// The mean of [`Material::spectrum`] over bands.
    pub brightness: f64,
    /// The mean l1 error of pixels, each counting with its share of this material.
    pub error: f64,
}

/// Why a pixel counts as an outlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhyOutlier {
    /// No mixture of what the other pixels are made of comes near it.
    Unexplained,
    /// It would have been chosen, but explains no pixel but itself and its like, which are too few.
    Alone,
}

/// A pixel that names no material, because nothing else in the scene is like it.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Outlier {
    /// A row of the input.
    pub pixel: usize,
    /// Its l1 error, as in [`Unmixed::errors`].
    pub error: f64,
    /// Why it counts as one.
    pub why: WhyOutlier,
}

/// Wall-clock seconds of each step.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
pub struct UnmixSeconds {
    /// Noise, subspace, smoothing.
    pub clean: f64,
    /// Choosing materials.
    pub choose: f64,
    /// Fitting all pixels.
    pub fit: f64,
}

/// The materials of a scene.
#[derive(Debug, Clone, PartialEq)]
pub struct Unmixed {
    /// The materials, the largest share first.
    pub materials: Vec<Material>,
    /// Pixels x materials; see [`Abundances`](super::Abundances).
    pub abundances: Dense,
    /// `||x - a E||_1 / ||x||_1` of every pixel x on the smoothed spectra E: 0 is perfect, 1 is no better than
    /// nothing. Pixels of zeros have 0.
    pub errors: Vec<f64>,
    /// The mean of [`Unmixed::errors`] over pixels that are neither dark nor outliers.
    pub mean_error: f64,
    /// Pixels that no choice explains, or that explain nobody else; those that stick out most first.
    pub outliers: Vec<Outlier>,
    /// Pixels whose signal is near the noise, or that are zero: they name no material and their abundances say
    /// little.
    pub dark: Vec<usize>,
    /// The noise of each band (a standard deviation), in the units of the input.
    pub noise: Vec<f64>,
    /// Signal to noise of the scene in decibels: the root of mean squares of pixels against that of noise.
    pub signal_to_noise: f64,
    /// Height and width of the scene, where they were given.
    pub shape: Option<(usize, usize)>,
    /// Values below zero that were counted as zero.
    pub clipped: usize,
    /// Pixels that there was no time to fit: their abundances are zero and their error is 1.
    pub unfitted: usize,
    /// What was found and done, in whole sentences.
    pub notes: Vec<String>,
    /// Why the computation ended.
    pub stop: Stop,
    /// Time spent.
    pub seconds: UnmixSeconds,
}

impl Unmixed {
    /// Number of materials.
    pub fn rank(&self) -> usize {
        self.materials.len()
    }

    /// The smoothed spectra, materials x bands.
    pub fn spectra(&self) -> Dense {
        self.rows_of(|material| &material.spectrum)
    }

    /// The spectra of the pure pixels, materials x bands.
    pub fn pixel_spectra(&self) -> Dense {
        self.rows_of(|material| &material.pixel_spectrum)
    }

    fn rows_of(&self, row: impl Fn(&Material) -> &Vec<f64>) -> Dense {
        let bands = self.noise.len();
        let values = self.materials.iter().flat_map(|m| row(m).iter().copied()).collect();
        Dense::new(self.materials.len(), bands, values).expect("one value per band")
    }
}
