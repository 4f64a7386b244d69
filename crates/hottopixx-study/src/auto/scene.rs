//! A made-up image, as spectrometers in aircraft take them: pixels x bands.

use anyhow::Result;
use hottopixx::matrix::{Dense, Matrix};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Pixels on a side, bands, materials.
const SIDE: usize = 95;
const BANDS: usize = 156;
const MATERIALS: usize = 5;

/// 9,025 pixels x 156 bands of five materials: smooth spectra, smooth maps of what a pixel is covered
/// with, light that varies from pixel to pixel, light that two materials reflect in turn, and noise.
pub(super) fn scene() -> Result<Matrix> {
    let mut random = ChaCha8Rng::seed_from_u64(17);
    let mut between = |low: f64, high: f64| low + (high - low) * random.random::<f64>();
    let mut bumps = |count: usize, level: f64| -> Vec<(f64, f64, f64)> {
        (0..count)
            .map(|_| (between(0.0, 1.0), between(0.05, 0.3), level * between(0.2, 1.0)))
            .collect()
    };
    let curves: Vec<Vec<(f64, f64, f64)>> = (0..MATERIALS).map(|_| bumps(4, 1.0)).collect();
    let spectrum = |curve: &[(f64, f64, f64)], band: usize| {
        let at = band as f64 / BANDS as f64;
        let bump = |(centre, width, height): &(f64, f64, f64)| {
            height * (-((at - centre) / width).powi(2)).exp()
        };
        0.08 + curve.iter().map(bump).sum::<f64>()
    };
    let spectra: Vec<Vec<f64>> =
        curves.iter().map(|c| (0..BANDS).map(|b| spectrum(c, b)).collect()).collect();
    // What covers a pixel: the strongest of some waves, more or less.
    let waves: Vec<Vec<(f64, f64, f64)>> = (0..MATERIALS).map(|_| bumps(6, 1.0)).collect();
    let mut values = Vec::with_capacity(SIDE * SIDE * BANDS);
    for pixel in 0..SIDE * SIDE {
        let (u, v) = ((pixel % SIDE) as f64 / SIDE as f64, (pixel / SIDE) as f64 / SIDE as f64);
        let strength = |waves: &[(f64, f64, f64)]| {
            let wave = |(k, (phase, length, height)): (usize, &(f64, f64, f64))| {
                let along = if k % 2 == 0 { u } else { v };
                height * (6.3 * (along / (0.3 + length) + phase)).sin()
            };
            (4.0 * waves.iter().enumerate().map(wave).sum::<f64>()).exp()
        };
        let cover: Vec<f64> = waves.iter().map(|w| strength(w)).collect();
        let total: f64 = cover.iter().sum();
        let light = between(0.7, 1.3);
        for band in 0..BANDS {
            let mixed: f64 =
                cover.iter().zip(&spectra).map(|(c, s)| c / total * s[band]).sum::<f64>();
            let noise = 1.0 + 0.02 * (between(0.0, 1.0) + between(0.0, 1.0) - 1.0);
            values.push(light * (mixed + 0.05 * mixed * mixed) * noise);
        }
    }
    Ok(Dense::new(SIDE * SIDE, BANDS, values)?.into())
}
