//! Scenes with known materials.

use super::angle;
use hottopixx::Dense;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Two materials differ by at least this, in degrees.
const APART: f64 = 8.0;

/// A scene and what it is made of.
pub(super) struct Scene {
    pub seed: u64,
    pub pixels: Dense,
    pub shape: (usize, usize),
    pub spectra: Vec<Vec<f64>>,
}

/// Random numbers of the kinds that scenes need.
struct Draw(ChaCha8Rng);

impl Draw {
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.random::<f64>()
    }

    fn below(&mut self, count: usize) -> usize {
        self.0.random_range(0..count)
    }

    /// A standard normal number, after Box and Muller.
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.0.random::<f64>()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.0.random::<f64>()).cos()
    }

    /// Smooth bumps on a slope, nowhere zero.
    fn spectrum(&mut self, bands: usize) -> Vec<f64> {
        let (base, slope) = (self.between(0.1, 0.5), self.between(-0.2, 0.4));
        let count = 2 + self.below(3);
        let bumps: Vec<[f64; 3]> = (0..count)
            .map(|_| [self.between(-0.25, 0.5), self.between(0.0, 1.0), self.between(0.05, 0.25)])
            .collect();
        let value = |b: usize| {
            let t = b as f64 / (bands - 1) as f64;
            let bump = |[height, centre, width]: &[f64; 3]| {
                height * (-0.5 * ((t - centre) / width).powi(2)).exp()
            };
            (base + slope * t + bumps.iter().map(bump).sum::<f64>()).max(0.02)
        };
        (0..bands).map(value).collect()
    }

    /// Noise that is smooth over about `radius` pixels, with mean 0 and variance 1.
    fn field(&mut self, side: usize, radius: usize) -> Vec<f64> {
        let mut field: Vec<f64> = (0..side * side).map(|_| self.normal()).collect();
        // Three means over squares come near a normal weight.
        for _ in 0..3 {
            for step in [1, side] {
                field = blurred(&field, side, radius, step);
            }
        }
        let mean = field.iter().sum::<f64>() / field.len() as f64;
        let variance = field.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / field.len() as f64;
        field.iter().map(|v| (v - mean) / variance.sqrt()).collect()
    }
}

/// Means of `2 radius + 1` neighbours along rows (`step` 1) or columns (`step` side), around the edges.
fn blurred(field: &[f64], side: usize, radius: usize, step: usize) -> Vec<f64> {
    let one = |i: usize| {
        let (line, at) = if step == 1 { (i / side * side, i % side) } else { (i % side, i / side) };
        let near = (0..=2 * radius).map(|k| (at + side + k - radius) % side);
        near.map(|at| field[line + at * step]).sum::<f64>() / (2 * radius + 1) as f64
    };
    (0..field.len()).map(one).collect()
}

impl Scene {
    /// A scene of `side x side` pixels; the seed decides what is difficult about it.
    pub fn new(seed: u64, side: usize, bands: usize) -> Self {
        let mut draw = Draw(ChaCha8Rng::seed_from_u64(seed));
        let rank = 3 + draw.below(4);
        let mut spectra: Vec<Vec<f64>> = Vec::new();
        while spectra.len() < rank {
            let new = draw.spectrum(bands);
            if spectra.iter().all(|old| angle(old, &new) > APART) {
                spectra.push(new);
            }
        }
        let shares = shares(&mut draw, side, rank);
        let mut bright = vec![1.0; rank];
        if draw.between(0.0, 1.0) < 0.6 {
            bright[draw.below(rank)] = draw.between(0.05, 0.2); // water
        }
        let slopes = draw.field(side, 3);
        let variation = draw.between(0.0, 0.03);
        let shadow = [0.0, 0.01, 0.03][draw.below(3)];
        let mut values = Vec::with_capacity(side * side * bands);
        for i in 0..side * side {
            let light = (0.25 * slopes[i]).exp();
            let shaded = draw.between(0.0, 1.0) < shadow;
            let light = if shaded { light * draw.between(0.01, 0.1) } else { light };
            let (tilt, bend) = (variation * draw.normal(), variation * draw.normal());
            let value = |b: usize| {
                let t = 2.0 * b as f64 / (bands - 1) as f64 - 1.0;
                let mixed: f64 = (0..rank).map(|k| shares[k][i] * bright[k] * spectra[k][b]).sum();
                light * mixed * (1.0 + tilt * t + bend * t * t)
            };
            values.extend((0..bands).map(value));
        }
        add_noise(&mut draw, &mut values, bands);
        add_outliers(&mut draw, &mut values, bands);
        values.iter_mut().for_each(|v| *v = v.max(0.0));
        let pixels = Dense::new(side * side, bands, values).expect("one value per pixel and band");
        Scene { seed, pixels, shape: (side, side), spectra }
    }
}

/// Shares of materials that change smoothly over the scene; in three scenes of ten no pixel is pure.
fn shares(draw: &mut Draw, side: usize, rank: usize) -> Vec<Vec<f64>> {
    let (radius, sharp) = (2 + draw.below(4), draw.between(2.5, 6.0));
    let mut shares: Vec<Vec<f64>> = (0..rank)
        .map(|_| {
            let more = draw.between(-0.6, 0.3);
            draw.field(side, radius).iter().map(|v| (sharp * (v + more)).exp()).collect()
        })
        .collect();
    let most = if draw.between(0.0, 1.0) < 0.3 { draw.between(0.8, 0.95) } else { 1.0 };
    for i in 0..side * side {
        let sum: f64 = shares.iter().map(|share| share[i]).sum();
        shares.iter_mut().for_each(|share| share[i] /= sum);
        let largest = shares.iter().map(|share| share[i]).fold(0.0, f64::max);
        // Mixed with equal shares of all until the largest is allowed.
        let even = 1.0 / rank as f64;
        let part = ((largest - most) / (largest - even).max(1e-9)).clamp(0.0, 1.0);
        shares.iter_mut().for_each(|share| share[i] = (1.0 - part) * share[i] + part * even);
    }
    shares
}

/// White noise of 20 to 38 dB that differs between bands, some of which are much worse.
fn add_noise(draw: &mut Draw, values: &mut [f64], bands: usize) {
    let signal = (values.iter().map(|v| v * v).sum::<f64>() / values.len() as f64).sqrt();
    let usual = signal * 10f64.powf(-draw.between(20.0, 38.0) / 20.0);
    let mut noise: Vec<f64> = (0..bands).map(|_| usual * (0.3 * draw.normal()).exp()).collect();
    for _ in 0..draw.below(6) {
        noise[draw.below(bands)] *= 5.0;
    }
    values.iter_mut().enumerate().for_each(|(at, v)| *v += noise[at % bands] * draw.normal());
}

/// Pixels of garbage, with saturated bands, or of a material that is nowhere else.
fn add_outliers(draw: &mut Draw, values: &mut [f64], bands: usize) {
    let largest = values.iter().copied().fold(0.0, f64::max);
    for _ in 0..[0, 3, 10][draw.below(3)] {
        let pixel = draw.below(values.len() / bands);
        let row = &mut values[pixel * bands..(pixel + 1) * bands];
        match draw.below(3) {
            0 => row.iter_mut().for_each(|v| *v = draw.between(0.0, 0.5 * largest)),
            1 => {
                for _ in 0..5 {
                    row[draw.below(bands)] += largest * draw.between(1.0, 3.0);
                }
            }
            _ => row.copy_from_slice(&draw.spectrum(bands)),
        }
    }
}
