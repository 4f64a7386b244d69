//! Pixels in few dimensions: where mixtures lie, and which pixels lie far from it.
//!
//! Bands are divided by their noise, which makes the noise of a pixel the same in every direction, with norm `s`.
//! Pixels y are divided by `sqrt(||y||^2 + (2 s)^2)`: of unit length when bright, less when near the noise.
//! Their r + 1 leading singular vectors (r for the materials, one for what they differ in from pixel to pixel)
//! are found by orthogonal iteration on the Gram matrix of bands. Residuals are compared with
//! `sqrt(noise^2 + m^2)`, m the part of the median residual that noise does not account for; pixels beyond three
//! times that count less, and the subspace is found again. What is beyond six times in the end is an outlier.
//!
//! A single pixel may be so far out that it has a direction of the subspace to itself. Its leverage
//! `z (sum of z^T z)^-1 z^T` is then near 1; such pixels do not count at all.
//!
//! A rare material may lie outside as well: directions that several residuals share are added to the basis.

use super::cube::Cube;
use super::noise::median;
use crate::control::Control;
use crate::kernels::{View, ViewMut, axpy, dot, multiply};
use crate::squares::inverse;

/// Noise of a band below this part of the median does not make the band count more.
const LEAST_NOISE: f64 = 0.5;
/// How often the subspace is found again with outliers counting less.
const ROUNDS: usize = 4;
/// Steps of orthogonal iteration.
const STEPS: usize = 100;
/// Residuals beyond these multiples of what is usual count less, or make an outlier.
const LESS: f64 = 3.0;
const OUTLIER: f64 = 6.0;
/// A pixel with a larger leverage has a direction of the subspace nearly to itself.
const LEVERAGE: f64 = 0.25;
/// Residuals with a cosine above this share a direction, and this many of them make it one of the scene.
const SHARED: f64 = 0.8;
const SHARERS: usize = 4;
/// Outliers that are compared with each other.
const COMPARED: usize = 300;

/// The pixels in the leading subspace. All lists have one entry per pixel of the input.
pub(super) struct Projected {
    /// Dimensions.
    pub dims: usize,
    /// Weight of each band (of values whose largest is 1).
    pub weights: Vec<f64>,
    /// dims x bands, orthonormal rows.
    pub basis: Vec<f64>,
    /// Pixels x dims, of unit length (zero for pixels that are zero).
    pub directions: Vec<f64>,
    /// Length before that.
    pub lengths: Vec<f64>,
    /// The angle, in radians, that noise turns the direction by.
    pub turned: Vec<f64>,
    /// How many times the usual residual the pixel has.
    pub excess: Vec<f64>,
    /// Pixels with an excess that makes an outlier.
    pub outside: Vec<usize>,
}

/// Weights of bands: one over noise, bounded, the largest 1.
fn band_weights(noise: &[f64]) -> Vec<f64> {
    let usual = median(noise.iter().copied().filter(|n| *n > 0.0));
    if usual == 0.0 {
        return vec![1.0; noise.len()];
    }
    let floor = LEAST_NOISE * usual;
    noise.iter().map(|n| floor / n.max(floor)).collect()
}

/// Finds the subspace and projects. `None` when there was no time.
pub(super) fn project(
    cube: &Cube<'_>,
    noise: &[f64],
    rank: usize,
    most_outliers: usize,
    control: &Control,
) -> Option<Projected> {
    let (pixels, bands) = (cube.pixels.rows(), cube.bands());
    let weights = band_weights(noise);
    let weighed = noise.iter().zip(&weights).map(|(n, w)| n * w);
    let floor = weighed.map(|n| n * n).sum::<f64>().sqrt();
    let mut lengths = vec![0.0; pixels];
    let squares = cube.by_blocks(control, |rows| {
        let block = cube.weighed(rows, &weights, |_| 1.0);
        block.chunks_exact(bands).map(|y| dot(y, y).sqrt()).collect::<Vec<f64>>()
    })?;
    cube.lit.iter().zip(squares.iter().flatten()).for_each(|(&i, length)| lengths[i] = *length);
    let damped: Vec<f64> =
        lengths.iter().map(|y| 1.0 / (y * y + 4.0 * floor * floor).sqrt().max(1e-300)).collect();
    let dims = (rank + 1).min(bands).min(cube.lit.len());

    let mut found = Projected {
        dims,
        weights,
        basis: start(dims, bands),
        directions: Vec::new(),
        lengths,
        turned: Vec::new(),
        excess: vec![0.0; pixels],
        outside: Vec::new(),
    };
    let usual = |i: usize, dims: usize| {
        let noise = floor * damped[i];
        noise * noise * (1.0 - dims as f64 / bands as f64)
    };
    // The mean leverage is dims / pixels: where pixels are few, all are high.
    let far = LEVERAGE.max(4.0 * dims as f64 / cube.lit.len() as f64);
    let mut counts = vec![1.0; pixels];
    for _ in 0..ROUNDS {
        let gram = cube.gram(&found.weights, |i| damped[i] * counts[i], control)?;
        iterate(&gram, bands, dims, &mut found.basis, control);
        let (residuals, leverages) = found.residuals(cube, &damped, &counts, control)?;
        let model = median(cube.lit.iter().map(|&i| (residuals[i] - usual(i, dims)).max(0.0)));
        for &i in &cube.lit {
            let expected = (usual(i, dims) + model).max(1e-16);
            found.excess[i] = (residuals[i] / expected).sqrt();
            let far_out = counts[i] == 0.0 || leverages[i] > far;
            counts[i] = if far_out { 0.0 } else { (LESS / found.excess[i].max(LESS)).powi(2) };
        }
    }
    found.set_outside(cube, most_outliers);
    found.add_shared(cube, &damped, rank, most_outliers);
    found.take_directions(cube, floor, control)?;
    Some(found)
}

impl Projected {
    /// `||y||^2 - ||V y||^2` of every damped pixel, and its leverage among all as far as they count.
    fn residuals(
        &self,
        cube: &Cube<'_>,
        damped: &[f64],
        counts: &[f64],
        control: &Control,
    ) -> Option<(Vec<f64>, Vec<f64>)> {
        let (bands, dims) = (cube.bands(), self.dims);
        let blocks = cube.by_blocks(control, |rows| {
            let block = cube.weighed(rows, &self.weights, |i| damped[i]);
            let inside = self.coordinates(&block, rows.len(), bands);
            let squares: Vec<f64> = block.chunks_exact(bands).map(|y| dot(y, y)).collect();
            (inside, squares)
        })?;
        let mut residuals = vec![0.0; cube.pixels.rows()];
        let mut leverages = vec![0.0; cube.pixels.rows()];
        let all = blocks.iter().flat_map(|(z, y)| z.chunks_exact(dims).zip(y));
        let all: Vec<(usize, &[f64], f64)> =
            cube.lit.iter().zip(all).map(|(&i, (z, y))| (i, z, *y)).collect();
        let mut sum = vec![0.0; dims * dims];
        for &(i, z, y) in &all {
            residuals[i] = (y - dot(z, z)).max(0.0);
            let count = counts[i] * counts[i];
            for (row, a) in sum.chunks_exact_mut(dims).zip(z) {
                axpy(count * a, z, row);
            }
        }
        if let Some(inverse) = inverse(sum, dims) {
            for &(i, z, _) in &all {
                let row = |a: usize| dot(&inverse[a * dims..(a + 1) * dims], z);
                let length: f64 = (0..dims).map(|a| z[a] * row(a)).sum();
                leverages[i] = counts[i] * counts[i] * length;
            }
        }
        Some((residuals, leverages))
    }

    /// Rows times V^T.
    fn coordinates(&self, block: &[f64], rows: usize, bands: usize) -> Vec<f64> {
        let mut inside = vec![0.0; rows * self.dims];
        multiply(
            1.0,
            View::by_rows(block, rows, bands, bands),
            View::by_rows(&self.basis, self.dims, bands, bands).transposed(),
            0.0,
            ViewMut::by_rows(&mut inside, rows, self.dims, self.dims),
        );
        inside
    }

    /// A direction back in bands that are divided by their noise, without values below zero.
    pub fn in_bands(&self, direction: &[f64]) -> Vec<f64> {
        let bands = self.weights.len();
        let mut y = vec![0.0; bands];
        for (z, row) in direction.iter().zip(self.basis.chunks_exact(bands)) {
            axpy(*z, row, &mut y);
        }
        y.iter_mut().for_each(|v| *v = v.max(0.0));
        y
    }

    /// The direction of a spectrum in the units of the input.
    pub fn direction_of(&self, cube: &Cube<'_>, spectrum: &[f64]) -> Vec<f64> {
        let y = spectrum.iter().zip(&self.weights).map(|(x, w)| x * cube.scale * w);
        let y: Vec<f64> = y.collect();
        let mut z = self.coordinates(&y, 1, y.len());
        to_unit(&mut z);
        z
    }

    fn set_outside(&mut self, cube: &Cube<'_>, most: usize) {
        let beyond = cube.lit.iter().copied().filter(|&i| self.excess[i] > OUTLIER);
        self.outside = beyond.collect();
        self.outside.sort_by(|&i, &j| self.excess[j].total_cmp(&self.excess[i]));
        self.outside.truncate(most);
    }

    /// Adds directions that several residuals of outliers share: a rare material sticks out as a group, a
    /// fault of the instrument alone.
    fn add_shared(&mut self, cube: &Cube<'_>, damped: &[f64], rank: usize, most: usize) {
        let bands = cube.bands();
        for _ in 0..rank {
            let some = &self.outside[..self.outside.len().min(COMPARED)];
            if some.len() < SHARERS || self.dims >= bands {
                return;
            }
            let mut rest = cube.weighed(some, &self.weights, |i| damped[i]);
            let inside = self.coordinates(&rest, some.len(), bands);
            let rows = rest.chunks_exact_mut(bands).zip(inside.chunks_exact(self.dims));
            for (y, z) in rows {
                for (z, row) in z.iter().zip(self.basis.chunks_exact(bands)) {
                    axpy(-z, row, y);
                }
            }
            let sizes: Vec<f64> = rest.chunks_exact(bands).map(|y| dot(y, y).sqrt()).collect();
            rest.chunks_exact_mut(bands).for_each(to_unit);
            let row = |k: usize| &rest[k * bands..(k + 1) * bands];
            let shares = |k: usize, l: usize| dot(row(k), row(l)) > SHARED;
            let sharers = |k: usize| (0..some.len()).filter(|&l| shares(k, l)).count();
            let counts: Vec<usize> = (0..some.len()).map(sharers).collect();
            let Some(best) = (0..some.len()).max_by_key(|&k| (counts[k], usize::MAX - k)) else {
                return;
            };
            if counts[best] < SHARERS {
                return;
            }
            let mut mean = vec![0.0; bands];
            for l in (0..some.len()).filter(|&l| shares(best, l)) {
                axpy(sizes[l], row(l), &mut mean);
            }
            self.basis.extend(&mean);
            self.dims += 1;
            orthonormalise(&mut self.basis, bands);
            // Pixels that lie inside now are no outliers.
            let again = cube.weighed(&self.outside, &self.weights, |i| damped[i]);
            let inside = self.coordinates(&again, self.outside.len(), bands);
            let rows = again.chunks_exact(bands).zip(inside.chunks_exact(self.dims));
            let now: Vec<f64> =
                rows.map(|(y, z)| (dot(y, y) - dot(z, z)).max(0.0).sqrt()).collect();
            let before = std::mem::take(&mut self.outside);
            for (k, &i) in before.iter().enumerate() {
                if let Some(size) = sizes.get(k) {
                    self.excess[i] *= now[k] / size.max(1e-300);
                }
            }
            self.set_outside(cube, most);
        }
    }

    /// Projects every pixel, and says how far noise turns it.
    fn take_directions(&mut self, cube: &Cube<'_>, floor: f64, control: &Control) -> Option<()> {
        let (bands, dims) = (cube.bands(), self.dims);
        let blocks = cube.by_blocks(control, |rows| {
            let block = cube.weighed(rows, &self.weights, |_| 1.0);
            self.coordinates(&block, rows.len(), bands)
        })?;
        let pixels = cube.pixels.rows();
        let left = floor * (dims as f64 / bands as f64).sqrt();
        self.directions = vec![0.0; pixels * dims];
        self.turned = vec![f64::INFINITY; pixels];
        let rows = blocks.iter().flat_map(|block| block.chunks_exact(dims));
        for (&i, z) in cube.lit.iter().zip(rows) {
            let to = &mut self.directions[i * dims..(i + 1) * dims];
            to.copy_from_slice(z);
            let length = dot(z, z).sqrt();
            self.lengths[i] = length;
            if length > 0.0 {
                to_unit(to);
                self.turned[i] = (left / length).hypot(1e-4);
            }
        }
        Some(())
    }

    /// The direction of a pixel.
    pub fn direction(&self, pixel: usize) -> &[f64] {
        &self.directions[pixel * self.dims..(pixel + 1) * self.dims]
    }
}

/// Scales to length 1; zero stays zero.
pub(super) fn to_unit(v: &mut [f64]) {
    let length = dot(v, v).sqrt();
    if length > 0.0 {
        v.iter_mut().for_each(|x| *x /= length);
    }
}

/// Rows that are in general position: the same on every machine.
fn start(dims: usize, bands: usize) -> Vec<f64> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1u64 << 31) as f64 - 0.5
    };
    (0..dims * bands).map(|_| next()).collect()
}

/// Orthogonal iteration: `V <- orthonormal rows of V G`. `2 dims bands^2` flops per step. A stop leaves it unfinished, and
/// is found out by what follows.
fn iterate(gram: &[f64], bands: usize, dims: usize, basis: &mut Vec<f64>, control: &Control) {
    let mut next = vec![0.0; dims * bands];
    orthonormalise(basis, bands);
    for _ in 0..STEPS {
        if !control.goes_on() {
            return;
        }
        multiply(
            1.0,
            View::by_rows(basis, dims, bands, bands),
            View::by_rows(gram, bands, bands, bands),
            0.0,
            ViewMut::by_rows(&mut next, dims, bands, bands),
        );
        std::mem::swap(basis, &mut next);
        orthonormalise(basis, bands);
    }
}

/// Gram and Schmidt, twice each, which makes it stable. A row that depends on those before becomes zero.
fn orthonormalise(rows: &mut [f64], cols: usize) {
    for k in 0..rows.len() / cols {
        let (before, from) = rows.split_at_mut(k * cols);
        let row = &mut from[..cols];
        let start = dot(row, row).sqrt();
        for _ in 0..2 {
            for other in before.chunks_exact(cols) {
                axpy(-dot(row, other), other, row);
            }
        }
        if dot(row, row).sqrt() <= 1e-12 * start {
            row.fill(0.0);
        }
        to_unit(row);
    }
}
