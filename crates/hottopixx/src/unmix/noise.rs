//! The noise of each band: what the other bands do not predict.
//!
//! Spectra are smooth and lie near few dimensions, so the regression of band b on all others leaves its noise.
//! With `G = X^T X` the residuals of all these regressions are
//!
//! ```text
//! residual_b = (X G^-1)_b / (G^-1)_bb
//! ```
//!
//! (the formula of partial correlations): one Gram matrix and one inverse for all bands at once, `2 N L^2 + L^3`
//! flops. A ridge of 1e-10 of the mean band keeps G regular where bands repeat each other, which limits the
//! signal to noise that can be told to 100 dB. The scale is taken from the median of residuals, so that dead and
//! saturated pixels do not count as noise. Fewer pixels than twice the bands leave nothing to regress on;
//! then, and for more than 1500 bands, second differences along the bands stand in.

use super::cube::Cube;
use crate::control::Control;
use crate::kernels::{View, ViewMut, multiply};
use crate::localise::shuffled_rows;
use crate::squares::inverse;

/// Pixels whose residuals the median is taken of.
const SAMPLE: usize = 4000;
/// Median of the absolute value of a standard normal number.
const MEDIAN_OF_NORMAL: f64 = 0.6745;
const RIDGE: f64 = 1e-10;
/// More bands take too long to invert.
const MOST_BANDS: usize = 1500;

/// The standard deviation of the noise of every band, the largest value of the scene being 1. `None` when there was no
/// time.
pub(super) fn band_noise(cube: &Cube<'_>, control: &Control) -> Option<Vec<f64>> {
    let (pixels, bands) = (cube.lit.len(), cube.bands());
    let mut sample: Vec<usize> =
        shuffled_rows(pixels).into_iter().take(SAMPLE).map(|at| cube.lit[at]).collect();
    sample.sort_unstable();
    let ones = vec![1.0; bands];
    let block = cube.weighed(&sample, &ones, |_| 1.0);
    if pixels < 2 * bands || bands > MOST_BANDS {
        return Some(second_differences(&block, bands));
    }
    let mut gram = cube.gram(&ones, |_| 1.0, control)?;
    let mean = (0..bands).map(|b| gram[b * bands + b]).sum::<f64>() / bands as f64;
    (0..bands).for_each(|b| gram[b * bands + b] += RIDGE * mean);
    let Some(inverse) = inverse(gram, bands) else {
        return Some(second_differences(&block, bands));
    };
    if !control.goes_on() {
        return None;
    }
    let mut residuals = vec![0.0; block.len()];
    multiply(
        1.0,
        View::by_rows(&block, sample.len(), bands, bands),
        View::by_rows(&inverse, bands, bands, bands),
        0.0,
        ViewMut::by_rows(&mut residuals, sample.len(), bands, bands),
    );
    let lost = (pixels as f64 / (pixels - bands) as f64).sqrt();
    let noise = |b: usize| {
        let scale = lost / inverse[b * bands + b] / MEDIAN_OF_NORMAL;
        median(residuals.iter().skip(b).step_by(bands).map(|r| r.abs())) * scale
    };
    Some((0..bands).map(noise).collect())
}

/// `|x_{b-1} - 2 x_b + x_{b+1}|` of white noise has a standard deviation of sqrt(6) times that of the noise.
fn second_differences(block: &[f64], bands: usize) -> Vec<f64> {
    if bands < 3 {
        return vec![0.0; bands];
    }
    let noise = |b: usize| {
        let b = b.clamp(1, bands - 2);
        let rows = block.chunks_exact(bands);
        median(rows.map(|x| (x[b - 1] - 2.0 * x[b] + x[b + 1]).abs()))
            / (MEDIAN_OF_NORMAL * 6f64.sqrt())
    };
    (0..bands).map(noise).collect()
}

/// The median of numbers; 0 of none.
pub(super) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    let middle = values.len() / 2;
    match values.is_empty() {
        true => 0.0,
        false => *values.select_nth_unstable_by(middle, f64::total_cmp).1,
    }
}
