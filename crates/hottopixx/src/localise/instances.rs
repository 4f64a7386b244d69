//! Instances with known hott rows or optima, for tests.

use crate::matrix::{Dense, Matrix};
use crate::normalise::UnitRows;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Six rows with sums of ten whose optima are known: three that are hott, two exact mixtures of
/// them, and one that is not quite.
pub(crate) const SIX_ROWS: [[f64; 5]; 6] = [
    [8.0, 1.0, 1.0, 0.0, 0.0],
    [0.0, 8.0, 1.0, 1.0, 0.0],
    [0.0, 0.0, 1.0, 1.0, 8.0],
    [4.0, 4.5, 1.0, 0.5, 0.0],
    [4.0, 0.5, 1.0, 0.5, 4.0],
    [2.5, 3.0, 1.5, 1.0, 2.0],
];
/// The cost p with which their optima are stated.
pub(crate) const SIX_COSTS: [f64; 6] = [0.67, 0.53, 0.41, 0.37, 0.23, 0.11];

/// X and, for each hott topic, the rows that are that topic.
pub(crate) struct Instance {
    pub x: UnitRows,
    pub topics: Vec<Vec<usize>>,
}

impl Instance {
    /// Whether the rows are one of each topic.
    pub fn recovered(&self, rows: &[usize]) -> bool {
        rows.len() == self.topics.len()
            && self.topics.iter().all(|t| rows.iter().filter(|r| t.contains(r)).count() == 1)
    }

    /// Whether pooling a diagonal over the duplicates of each topic makes the topics the largest
    /// pools: what selection by clusters can see.
    pub fn pools_lead(&self, diagonal: &[f64]) -> bool {
        let pools = self.topics.iter().map(|t| t.iter().map(|&i| diagonal[i]).sum::<f64>());
        let smallest = pools.fold(f64::INFINITY, f64::min);
        let hott: Vec<usize> = self.topics.concat();
        let others = (0..diagonal.len()).filter(|i| !hott.contains(i)).map(|i| diagonal[i]);
        smallest > others.fold(0.0, f64::max)
    }
}

pub(crate) fn random(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Uniform on the simplex: normalised exponentials.
fn simplex(length: usize, random: &mut impl Rng) -> Vec<f64> {
    let mut v: Vec<f64> = (0..length).map(|_| -(1.0 - random.random::<f64>()).ln()).collect();
    let sum: f64 = v.iter().sum();
    v.iter_mut().for_each(|x| *x /= sum);
    v
}

pub(crate) fn unit_rows(rows: &[Vec<f64>]) -> UnitRows {
    UnitRows::new(&Matrix::from(Dense::from_rows(rows).unwrap())).unwrap()
}

/// An instance of section 5 of the paper, with alpha taken as 1: `rank` topics uniform on the simplex
/// in R^n, `copies` further copies of each, random convex combinations, noise of (inf,1) norm
/// `eta / 33`; the rows in random order.
pub(crate) fn paper(
    (f, n, rank, copies): (usize, usize, usize, usize),
    eta: f64,
    seed: u64,
) -> Instance {
    let mut random = random(seed);
    let hott: Vec<Vec<f64>> = (0..rank).map(|_| simplex(n, &mut random)).collect();
    let mut rows: Vec<(usize, Vec<f64>)> =
        (0..rank * (copies + 1)).map(|i| (i % rank, hott[i % rank].clone())).collect();
    while rows.len() < f {
        let mut row = vec![0.0; n];
        for (weight, topic) in simplex(rank, &mut random).iter().zip(&hott) {
            crate::kernels::axpy(*weight, topic, &mut row);
        }
        rows.push((rank, row));
    }
    for at in (1..rows.len()).rev() {
        rows.swap(at, random.random_range(0..=at));
    }
    for (_, row) in &mut rows {
        add_noise(row, eta / 33.0, &mut random);
    }
    instance(rank, rows)
}

/// `rank` topics and all their midpoints, pushed outward from the mean by `delta`.
pub(crate) fn midpoints(n: usize, rank: usize, delta: f64, seed: u64) -> Instance {
    let mut random = random(seed);
    let hott: Vec<Vec<f64>> = (0..rank).map(|_| simplex(n, &mut random)).collect();
    let mean = |k: usize| hott.iter().map(|h| h[k]).sum::<f64>() / rank as f64;
    let mut rows: Vec<(usize, Vec<f64>)> = hott.iter().cloned().enumerate().collect();
    for p in 0..rank {
        for q in 0..p {
            let middle = |k: usize| 0.5 * (hott[p][k] + hott[q][k]);
            let row = (0..n).map(|k| (middle(k) + delta * (middle(k) - mean(k))).max(0.0));
            rows.push((rank, row.collect()));
        }
    }
    instance(rank, rows)
}

fn add_noise(row: &mut [f64], size: f64, random: &mut impl Rng) {
    let noise: Vec<f64> = row.iter().map(|_| random.random::<f64>() - 0.5).collect();
    let norm: f64 = noise.iter().map(|v| v.abs()).sum();
    for (value, noise) in row.iter_mut().zip(noise) {
        *value = (*value + size * noise / norm).max(0.0);
    }
}

fn instance(rank: usize, rows: Vec<(usize, Vec<f64>)>) -> Instance {
    let topics = (0..rank).map(|t| (0..rows.len()).filter(|&i| rows[i].0 == t).collect()).collect();
    let rows: Vec<Vec<f64>> = rows.into_iter().map(|r| r.1).collect();
    Instance { x: unit_rows(&rows), topics }
}

/// The same matrix, stored sparse.
pub(crate) fn as_sparse(x: &UnitRows) -> UnitRows {
    let triplets: Vec<(usize, usize, f64)> =
        (0..x.features()).flat_map(|i| x.row(i).nonzeros().map(move |(k, v)| (i, k, v))).collect();
    let sparse =
        crate::matrix::Sparse::from_triplets(x.features(), x.examples(), &triplets).unwrap();
    UnitRows::new(&Matrix::from(sparse)).unwrap()
}
