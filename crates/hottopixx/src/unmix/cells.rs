//! Pixels of nearly the same direction become one candidate.
//!
//! Pixels are taken in a fixed random order; one that is within `radius` of no earlier *leader* becomes one itself,
//! the others join the first that is near enough. The radius grows until there are few enough. A cell is the mean
//! of its pixels, weighed by one over the squares of their noise.

use super::noise::median;
use super::smooth::Smoothed;
use super::subspace::to_unit;
use crate::control::Control;
use crate::kernels::{axpy, dot};
use crate::localise::shuffled_rows;

/// Cells at most, or this many times the rank.
const MOST_CELLS: usize = 400;
const PER_MATERIAL: usize = 20;
/// Pixels that cells are made of at most.
const MOST_PIXELS: usize = 20_000;
/// The radius to begin with, in degrees, and as a multiple of the median noise.
const LEAST_RADIUS: f64 = 0.3;
const NOISE_RADIUS: f64 = 2.0;
const GROWTH: f64 = 1.3;
/// A cell counts with this power of the number of its pixels: a small field counts for more than its area.
const POWER: f64 = 0.3;
/// Noise that halves what a pixel counts, in degrees.
const DIM: f64 = 3.0;

/// The candidates.
pub(super) struct Cells {
    pub dims: usize,
    /// Cells x dims, of unit length.
    pub means: Vec<f64>,
    /// The pixels of each.
    pub pixels: Vec<Vec<usize>>,
    /// What each counts: a power of the number of its pixels, less where they are noisy.
    pub counts: Vec<f64>,
    /// How far noise turns the mean, in radians.
    pub turned: Vec<f64>,
}

impl Cells {
    /// Makes cells of the usable pixels. `None` when there was no time.
    pub fn new(
        smoothed: &Smoothed,
        noise: &[f64],
        usable: &[usize],
        rank: usize,
        control: &Control,
    ) -> Option<Self> {
        let dims = smoothed.directions.len() / noise.len().max(1);
        let mut order: Vec<usize> =
            shuffled_rows(usable.len()).into_iter().map(|at| usable[at]).collect();
        order.truncate(MOST_PIXELS);
        let usual = median(order.iter().map(|&i| smoothed.turned[i]));
        let most = MOST_CELLS.max(PER_MATERIAL * rank);
        let mut radius = LEAST_RADIUS.to_radians().max(NOISE_RADIUS * usual);
        let mut pixels = loop {
            match lead(smoothed, dims, &order, radius, most, control) {
                Err(()) => return None,
                Ok(Some(cells)) => break cells,
                Ok(None) => radius *= GROWTH,
            }
        };
        if pixels.len() < rank {
            // Few pixels, or nearly the same everywhere: each for itself.
            pixels = order.iter().take(most).map(|&i| vec![i]).collect();
        }
        let mut cells = Cells {
            dims,
            means: Vec::with_capacity(pixels.len() * dims),
            counts: Vec::with_capacity(pixels.len()),
            turned: Vec::with_capacity(pixels.len()),
            pixels,
        };
        for members in &cells.pixels {
            let mut mean = vec![0.0; dims];
            let (mut sure, mut clear) = (0.0, 0.0);
            for &i in members {
                let weight = smoothed.spread[i].powi(-2);
                axpy(weight, &smoothed.directions[i * dims..(i + 1) * dims], &mut mean);
                sure += smoothed.turned[i].powi(-2);
                clear += 1.0 / (1.0 + (noise[i] / DIM.to_radians()).powi(2));
            }
            to_unit(&mut mean);
            cells.means.extend(mean);
            let number = members.len() as f64;
            cells.turned.push(1.0 / sure.sqrt());
            cells.counts.push((clear / number).powf(1.5) * number.powf(POWER));
        }
        Some(cells)
    }

    pub fn len(&self) -> usize {
        self.pixels.len()
    }

    /// All pixels of all cells, increasing.
    pub fn all_pixels(&self) -> Vec<usize> {
        let mut all: Vec<usize> = self.pixels.iter().flatten().copied().collect();
        all.sort_unstable();
        all
    }

    /// The directions of some cells, one after the other.
    pub fn means_of(&self, cells: &[usize]) -> Vec<f64> {
        cells.iter().flat_map(|&cell| self.mean(cell).iter().copied()).collect()
    }

    /// The direction of a cell.
    pub fn mean(&self, cell: usize) -> &[f64] {
        &self.means[cell * self.dims..(cell + 1) * self.dims]
    }
}

/// Pixels by their leaders, or nothing when there would be more than `most`.
#[allow(clippy::type_complexity)] // an answer, none, or no time
fn lead(
    smoothed: &Smoothed,
    dims: usize,
    order: &[usize],
    radius: f64,
    most: usize,
    control: &Control,
) -> Result<Option<Vec<Vec<usize>>>, ()> {
    let near = 1.0 - 0.5 * radius * radius; // the cosine of a chord of this length
    let row = |i: usize| &smoothed.directions[i * dims..(i + 1) * dims];
    let mut cells: Vec<Vec<usize>> = Vec::new();
    let mut leaders: Vec<f64> = Vec::new();
    let mut watch = control.watch();
    for &i in order {
        if watch.spend(cells.len() * dims).is_some() {
            return Err(());
        }
        let z = row(i);
        match leaders.chunks_exact(dims).position(|leader| dot(leader, z) >= near) {
            Some(cell) => cells[cell].push(i),
            None if cells.len() == most => return Ok(None),
            None => {
                leaders.extend(z);
                cells.push(vec![i]);
            }
        }
    }
    Ok(Some(cells))
}
