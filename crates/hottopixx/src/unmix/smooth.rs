//! Neighbours that look the same are averaged.
//!
//! Pixel i becomes the mean of the pixels j around it (3 x 3), each with the weight
//! `exp(-||z_i - z_j||^2 / (2 (s_i^2 + s_j^2))) / s_j^2`, where s is how far noise and half of the median difference
//! between neighbours turn a direction. So borders stay, and fields lose up to two thirds of their noise.

use super::noise::median;
use super::subspace::{Projected, to_unit};
use crate::kernels::parallel::*;
use crate::kernels::{axpy, dot};

/// Directions of pixels after smoothing.
pub(super) struct Smoothed {
    /// Pixels x dims, of unit length.
    pub directions: Vec<f64>,
    /// How far noise still turns them, in radians.
    pub turned: Vec<f64>,
    /// The same before smoothing, with the variation between neighbours.
    pub spread: Vec<f64>,
}

fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// Averages where the shape of the scene is known. `usable` says which pixels may take part.
pub(super) fn smooth(
    projected: &Projected,
    shape: Option<(usize, usize)>,
    usable: &[bool],
) -> Smoothed {
    let Some((height, width)) = shape else {
        let spread = projected.turned.clone();
        let directions = projected.directions.clone();
        return Smoothed { directions, turned: spread.clone(), spread };
    };
    let dims = projected.dims;
    let z = |i: usize| projected.direction(i);
    let right = (0..height * width).filter(|i| i % width + 1 < width).map(|i| (i, i + 1));
    let below = (0..height.saturating_sub(1) * width).map(|i| (i, i + width));
    let pairs = right.chain(below).filter(|&(i, j)| usable[i] && usable[j]);
    let variation = 0.5 * median(pairs.map(|(i, j)| squared_distance(z(i), z(j)).sqrt()));
    let spread: Vec<f64> =
        projected.turned.iter().map(|t| t.hypot(variation / 2f64.sqrt())).collect();

    let one = |i: usize| {
        let (y, x) = (i / width, i % width);
        let mut mean = vec![0.0; dims];
        let mut noise = 0.0;
        let mut total = 0.0;
        for j in neighbours(y, x, height, width) {
            if !(usable[j] || j == i) || spread[j].is_infinite() {
                continue;
            }
            let (own, other) = (spread[i] * spread[i], spread[j] * spread[j]);
            let weight = (-0.5 * squared_distance(z(i), z(j)) / (own + other)).exp() / other;
            axpy(weight, z(j), &mut mean);
            noise += (weight * projected.turned[j]).powi(2);
            total += weight;
        }
        if total == 0.0 || dot(&mean, &mean) == 0.0 {
            return (z(i).to_vec(), projected.turned[i]);
        }
        to_unit(&mut mean);
        (mean, noise.sqrt() / total)
    };
    let all: Vec<(Vec<f64>, f64)> = (0..height * width).into_par_iter().map(one).collect();
    let turned = all.iter().map(|(_, turned)| *turned).collect();
    let directions = all.into_iter().flat_map(|(mean, _)| mean).collect();
    Smoothed { directions, turned, spread }
}

/// The pixel itself and those around it.
fn neighbours(y: usize, x: usize, height: usize, width: usize) -> impl Iterator<Item = usize> {
    let rows = y.saturating_sub(1)..=(y + 1).min(height - 1);
    let columns = x.saturating_sub(1)..=(x + 1).min(width - 1);
    rows.flat_map(move |y| columns.clone().map(move |x| y * width + x))
}
