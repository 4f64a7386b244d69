//! Pixels of a hyperspectral scene, in the units of a sensor: rows are pixels, columns are bands, and what is hott
//! are the purest pixels of each material.
//!
//! Spectra are smooth bumps on a slope; shares of materials change smoothly over the scene; the light varies. The seed
//! decides what else is difficult: a dark material, shadows, spectra that vary from pixel to pixel, materials without a pure
//! pixel, bands that are noisier than others (20 to 38 dB in all), and pixels of garbage, with saturated bands, or of a
//! material that is nowhere else: the *outliers*. `noise` is a factor on the noise that the seed draws, and with `ill`
//! above 0 no pixel holds more than `1 - ill` of one material.

use super::{Instance, Recipe, Truth, setting};
use crate::Error;
use crate::kernels::dot;
use crate::matrix::Dense;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// Two materials differ by at least this, in degrees, as long as such are found in this many attempts; then by less.
const APART: f64 = 8.0;
const ATTEMPTS: usize = 200;
/// Pixels whose share of a material is below the largest by at most this stand for it as well.
const AS_PURE: f64 = 0.02;

pub(super) fn generate(recipe: &Recipe) -> Result<Instance, Error> {
    let Recipe { features, examples: bands, rank, duplicates, noise, ill, seed, .. } = *recipe;
    if duplicates > 0 {
        return Err(setting("duplicates", duplicates, "scene does not take it: leave it out"));
    }
    let mut draw = Draw(ChaCha8Rng::seed_from_u64(seed));
    let ground = Ground::new(features);
    let spectra = draw.spectra(rank, bands);
    let mut shares = draw.shares(ground, rank, ill);
    purest(&mut shares, features, rank);
    let mut bright = vec![1.0; rank];
    if draw.between(0.0, 1.0) < 0.6 {
        bright[draw.below(rank)] = draw.between(0.05, 0.2); // water
    }
    let slopes = draw.field(ground, 3);
    let variation = draw.between(0.0, 0.03);
    let shadow = [0.0, 0.01, 0.03][draw.below(3)];
    let mut values = Vec::with_capacity(features * bands);
    let mut shaded = vec![false; features];
    for i in 0..features {
        shaded[i] = draw.between(0.0, 1.0) < shadow;
        let dimmed = if shaded[i] { draw.between(0.01, 0.1) } else { 1.0 };
        let light = (0.25 * slopes[i]).exp() * dimmed;
        let (tilt, bend) = (variation * draw.normal(), variation * draw.normal());
        let value = |b: usize| {
            let t = 2.0 * place(b, bands) - 1.0;
            let mixed: f64 = (0..rank).map(|k| shares[k][i] * bright[k] * spectra[k][b]).sum();
            light * mixed * (1.0 + tilt * t + bend * t * t)
        };
        values.extend((0..bands).map(value));
    }
    draw.add_noise(&mut values, bands, noise);
    let outliers = draw.add_outliers(&mut values, bands);
    values.iter_mut().for_each(|v| *v = v.max(0.0));
    let apart = |i: &usize| shaded[*i] || outliers.contains(i);
    let groups: Vec<Vec<usize>> = (0..rank).map(|k| group(&shares, k, &apart)).collect();
    let hott = (0..rank).map(|k| most(&shares[k], &groups[k])).collect();
    let truth = Truth {
        family: recipe.family.name().to_owned(),
        seed,
        features,
        examples: bands,
        hott,
        groups,
        outliers,
        epsilon: None,
        alpha: None,
        shape: Some((ground.height, ground.width)),
        spectra: Some(spectra),
    };
    Ok(Instance { matrix: Dense::new(features, bands, values)?.into(), truth })
}

/// Where a band lies between the first (0) and the last (1).
fn place(band: usize, bands: usize) -> f64 {
    band as f64 / (bands.max(2) - 1) as f64
}

/// Height and width of the scene.
#[derive(Clone, Copy)]
struct Ground {
    height: usize,
    width: usize,
}

impl Ground {
    /// As near to a square as the number of pixels can be divided.
    fn new(pixels: usize) -> Self {
        let root = pixels.isqrt();
        let height = (1..=root).rev().find(|h| pixels.is_multiple_of(*h)).unwrap_or(1);
        Ground { height, width: pixels / height }
    }

    /// Means of `2 radius + 1` neighbours along lines or columns, around the edges.
    fn blurred(self, field: &[f64], radius: usize, along_lines: bool) -> Vec<f64> {
        let Ground { height, width } = self;
        let one = |i: usize| {
            let (line, column) = (i / width, i % width);
            let (at, side) = if along_lines { (column, width) } else { (line, height) };
            let near = |k: usize| {
                let at = (at + k + radius * (side - 1)) % side; // at + k - radius, around
                if along_lines { line * width + at } else { at * width + column }
            };
            (0..=2 * radius).map(|k| field[near(k)]).sum::<f64>() / (2 * radius + 1) as f64
        };
        (0..field.len()).map(one).collect()
    }
}

/// Makes every material the largest part of some pixel of its own. Scenes of some hundred pixels nearly always
/// are so already.
fn purest(shares: &mut [Vec<f64>], pixels: usize, rank: usize) {
    let even = 1.0 / rank as f64;
    let highest = shares.iter().flatten().copied().fold(0.0, f64::max);
    let mut taken = vec![false; pixels];
    for k in 0..rank {
        let free = (0..pixels).filter(|&i| !taken[i]);
        let best = free.max_by(|&i, &j| shares[k][i].total_cmp(&shares[k][j]));
        let Some(i) = best else { return };
        taken[i] = true;
        if (0..rank).any(|l| l != k && shares[l][i] >= shares[k][i] - even * AS_PURE) {
            let rest = (1.0 - highest) / (rank.max(2) - 1) as f64;
            (0..rank).for_each(|l| shares[l][i] = if l == k { highest } else { rest });
        }
    }
}

/// The pixels that are as pure as any, of those that may be; of all, if none may.
fn group(shares: &[Vec<f64>], k: usize, apart: &dyn Fn(&usize) -> bool) -> Vec<usize> {
    let largest = |i: &usize| (0..shares.len()).all(|l| l == k || shares[l][*i] < shares[k][*i]);
    let own: Vec<usize> = (0..shares[k].len()).filter(largest).collect();
    let fine: Vec<usize> = own.iter().copied().filter(|i| !apart(i)).collect();
    let mut group = if fine.is_empty() { own } else { fine };
    let best = group.iter().map(|&i| shares[k][i]).fold(0.0, f64::max);
    group.retain(|&i| shares[k][i] >= best - AS_PURE);
    group
}

/// The one of some pixels with the largest share.
fn most(shares: &[f64], group: &[usize]) -> usize {
    let best = group.iter().copied().max_by(|&i, &j| shares[i].total_cmp(&shares[j]));
    best.expect("every material has a pixel")
}

/// The angle between two spectra, in degrees.
fn angle(a: &[f64], b: &[f64]) -> f64 {
    let cosine = dot(a, b) / (dot(a, a) * dot(b, b)).sqrt();
    cosine.clamp(-1.0, 1.0).acos().to_degrees()
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

    fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.0)
    }

    /// Smooth bumps on a slope, nowhere zero.
    fn spectrum(&mut self, bands: usize) -> Vec<f64> {
        let (base, slope) = (self.between(0.1, 0.5), self.between(-0.2, 0.4));
        let count = 2 + self.below(3);
        let bumps: Vec<[f64; 3]> = (0..count)
            .map(|_| [self.between(-0.25, 0.5), self.between(0.0, 1.0), self.between(0.05, 0.25)])
            .collect();
        let value = |b: usize| {
            let t = place(b, bands);
            let bump = |[height, centre, width]: &[f64; 3]| {
                height * (-0.5 * ((t - centre) / width).powi(2)).exp()
            };
            (base + slope * t + bumps.iter().map(bump).sum::<f64>()).max(0.02)
        };
        (0..bands).map(value).collect()
    }

    /// Spectra that differ from each other.
    fn spectra(&mut self, rank: usize, bands: usize) -> Vec<Vec<f64>> {
        let (mut spectra, mut apart, mut attempts) = (Vec::<Vec<f64>>::new(), APART, 0);
        while spectra.len() < rank {
            let new = self.spectrum(bands);
            attempts += 1;
            if attempts % ATTEMPTS == 0 {
                apart = if apart > 1e-3 { 0.5 * apart } else { -1.0 };
            }
            if spectra.iter().all(|old| angle(old, &new) > apart) {
                spectra.push(new);
            }
        }
        spectra
    }

    /// Noise that is smooth over about `radius` pixels, with mean 0 and variance 1.
    fn field(&mut self, ground: Ground, radius: usize) -> Vec<f64> {
        let pixels = ground.height * ground.width;
        let mut field: Vec<f64> = (0..pixels).map(|_| self.normal()).collect();
        // Three means over squares come near a normal weight.
        for _ in 0..3 {
            for along_lines in [true, false] {
                field = ground.blurred(&field, radius, along_lines);
            }
        }
        let mean = field.iter().sum::<f64>() / field.len() as f64;
        let variance = field.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / field.len() as f64;
        let scale = variance.sqrt().max(f64::MIN_POSITIVE);
        field.iter().map(|v| (v - mean) / scale).collect()
    }

    /// Shares of materials that change smoothly; in three scenes of ten no pixel is pure.
    fn shares(&mut self, ground: Ground, rank: usize, ill: f64) -> Vec<Vec<f64>> {
        let (radius, sharp) = (2 + self.below(4), self.between(2.5, 6.0));
        let mut shares: Vec<Vec<f64>> = (0..rank)
            .map(|_| {
                let more = self.between(-0.6, 0.3);
                self.field(ground, radius).iter().map(|v| (sharp * (v + more)).exp()).collect()
            })
            .collect();
        let drawn = if self.between(0.0, 1.0) < 0.3 { self.between(0.8, 0.95) } else { 1.0 };
        let even = 1.0 / rank as f64;
        let most = if ill > 0.0 { (1.0 - ill).max(even) } else { drawn };
        for i in 0..ground.height * ground.width {
            let sum: f64 = shares.iter().map(|share| share[i]).sum();
            shares.iter_mut().for_each(|share| share[i] /= sum);
            let largest = shares.iter().map(|share| share[i]).fold(0.0, f64::max);
            // Mixed with equal shares of all until the largest is allowed.
            let part = ((largest - most) / (largest - even).max(1e-9)).clamp(0.0, 1.0);
            shares.iter_mut().for_each(|share| share[i] = (1.0 - part) * share[i] + part * even);
        }
        shares
    }

    /// White noise of 20 to 38 dB that differs between bands, some of which are much worse; `factor` times that.
    fn add_noise(&mut self, values: &mut [f64], bands: usize, factor: f64) {
        let signal = (values.iter().map(|v| v * v).sum::<f64>() / values.len() as f64).sqrt();
        let usual = factor * signal * 10f64.powf(-self.between(20.0, 38.0) / 20.0);
        let mut noise: Vec<f64> = (0..bands).map(|_| usual * (0.3 * self.normal()).exp()).collect();
        for _ in 0..self.below(6) {
            noise[self.below(bands)] *= 5.0;
        }
        values.iter_mut().enumerate().for_each(|(at, v)| *v += noise[at % bands] * self.normal());
    }

    /// Pixels of garbage, with saturated bands, or of a material that is nowhere else: which, increasing.
    fn add_outliers(&mut self, values: &mut [f64], bands: usize) -> Vec<usize> {
        let largest = values.iter().copied().fold(0.0, f64::max);
        let mut outliers = Vec::new();
        let count = [0, 3, 10][self.below(3)].min(values.len() / bands / 20);
        for _ in 0..count {
            let pixel = self.below(values.len() / bands);
            outliers.push(pixel);
            let row = &mut values[pixel * bands..(pixel + 1) * bands];
            match self.below(3) {
                0 => row.iter_mut().for_each(|v| *v = self.between(0.0, 0.5 * largest)),
                1 => {
                    for _ in 0..5 {
                        row[self.below(bands)] += largest * self.between(1.0, 3.0);
                    }
                }
                _ => row.copy_from_slice(&self.spectrum(bands)),
            }
        }
        outliers.sort_unstable();
        outliers.dedup();
        outliers
    }
}
