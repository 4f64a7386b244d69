//! One side of the model solved while the other is fixed: small least squares problems, one per row.

use crate::control::Control;
use crate::kernels::dot;
use crate::kernels::parallel::*;
use crate::matrix::{Gaps, Matrix};
use crate::squares::{Domain, Nnls, cholesky_solve};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Rows of one task; fixed, so that sums do not depend on the number of threads.
const CHUNK: usize = 64;
/// What is added to the diagonal before whitening, relative to the trace: data of a lower rank have directions of
/// length zero.
const FLAT: f64 = 1e-12;

/// Rows with what was observed of them.
pub(super) struct Side {
    /// Zero where nothing was observed.
    values: Matrix,
    gaps: Gaps,
}

/// How a row is solved, with what is added to the diagonal relative to its mean.
#[derive(Clone, Copy)]
pub(super) enum Solving {
    Free(f64),
    Nonnegative(f64),
}

impl Side {
    pub fn new(values: Matrix, gaps: Gaps) -> Self {
        Side { values, gaps }
    }

    fn rows(&self) -> usize {
        self.values.rows()
    }

    /// Operations of solving all rows on `rank` factors, roughly.
    pub fn work(&self, rank: usize) -> f64 {
        let (r, n) = (rank as f64, self.values.cols());
        let looked_at: usize = (0..self.rows())
            .map(|i| {
                let gaps = self.gaps.row(i).len();
                gaps.min(n - gaps)
            })
            .sum();
        looked_at as f64 * r * r
            + self.values.nonzeros() as f64 * r
            + self.rows() as f64 * r.powi(3)
    }

    /// Random sums of the rows of the other side, in coordinates of this one; the first is the plain sum.
    pub fn random_start(&self, other: &Side, rank: usize, seed: u64) -> Vec<f64> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let signs: Vec<f64> = (0..other.rows() * rank)
            .map(|at| if at % rank == 0 { 1.0 } else { random.random_range(-1.0..1.0) })
            .collect();
        let sum = |k: usize| {
            let mut sum = vec![0.0; rank];
            for (i, value) in self.values.row(k).nonzeros() {
                crate::kernels::axpy(value, &signs[i * rank..(i + 1) * rank], &mut sum);
            }
            sum
        };
        (0..self.rows()).into_par_iter().flat_map_iter(sum).collect()
    }

    /// The sum of the squares that the model leaves of what was observed; infinite where there is no model.
    pub fn squares_left(&self, a: &[f64], b: &[f64], rank: usize) -> f64 {
        if a.is_empty() {
            return f64::INFINITY;
        }
        let left = |row: &mut Vec<f64>, i: usize| -> f64 {
            let a = &a[i * rank..][..rank];
            row.clear();
            row.extend(b.chunks_exact(rank).map(|b| -dot(a, b)));
            self.values.row(i).add_to(1.0, row);
            self.gaps.row(i).iter().for_each(|&k| row[k as usize] = 0.0);
            dot(row, row)
        };
        let rows: Vec<f64> = (0..self.rows()).into_par_iter().map_init(Vec::new, left).collect();
        rows.iter().sum()
    }

    /// For each row x the a with the least `sum over what was observed of (x_k - a.b_k)^2`, and a little of `|a|^2`;
    /// `None` when stopped.
    pub fn solve(
        &self,
        b: &[f64],
        rank: usize,
        solving: Solving,
        control: &Control,
    ) -> Option<Vec<f64>> {
        let all = gram(b, rank);
        let mean = (0..rank).map(|q| all[q * rank + q]).sum::<f64>() / rank as f64;
        let n = self.values.cols();
        let solve = |(solver, a): &mut (Nnls, Vec<f64>), i: usize| {
            let gaps = self.gaps.row(i);
            let observed = n - gaps.len();
            a.clear();
            // The sum over what was observed, or that over all without the rest.
            if gaps.len() <= observed {
                a.extend_from_slice(&all);
                gaps.iter().for_each(|&k| add_square(a, b, rank, k as usize, -1.0));
            } else {
                a.resize(rank * rank, 0.0);
                let mut missing = gaps.iter().peekable();
                for k in 0..n {
                    if missing.next_if(|gap| **gap as usize == k).is_none() {
                        add_square(a, b, rank, k, 1.0);
                    }
                }
            }
            let (Solving::Free(ridge) | Solving::Nonnegative(ridge)) = solving;
            let ridge = (ridge * mean * observed as f64 / n as f64).max(f64::MIN_POSITIVE);
            (0..rank).for_each(|q| a[q * rank + q] += ridge);
            let mut right = vec![0.0; rank];
            for (k, value) in self.values.row(i).nonzeros() {
                crate::kernels::axpy(value, &b[k * rank..(k + 1) * rank], &mut right);
            }
            match solving {
                Solving::Free(_) => {
                    if !cholesky_solve(a, &mut right) {
                        right.fill(0.0);
                    }
                    right
                }
                Solving::Nonnegative(_) => {
                    let mut c = vec![0.0; rank];
                    solver.solve(a, &right, &mut c, Domain::Cone);
                    c
                }
            }
        };
        let solved: Option<Vec<Vec<f64>>> = (0..self.rows())
            .into_par_iter()
            .map_init(
                || (Nnls::default(), Vec::new()),
                |work, i| control.goes_on().then(|| solve(work, i)),
            )
            .collect();
        Some(solved?.concat())
    }
}

fn add_square(a: &mut [f64], b: &[f64], rank: usize, k: usize, sign: f64) {
    let row = &b[k * rank..(k + 1) * rank];
    for (out, &value) in a.chunks_exact_mut(rank).zip(row) {
        crate::kernels::axpy(sign * value, row, out);
    }
}

/// `B^T B` for n x rank, added up in blocks.
fn gram(b: &[f64], rank: usize) -> Vec<f64> {
    let parts: Vec<Vec<f64>> = b
        .par_chunks(CHUNK * rank)
        .map(|part| {
            let mut sum = vec![0.0; rank * rank];
            (0..part.len() / rank).for_each(|k| add_square(&mut sum, part, rank, k, 1.0));
            sum
        })
        .collect();
    let mut total = vec![0.0; rank * rank];
    for part in parts {
        total.iter_mut().zip(part).for_each(|(t, p)| *t += p);
    }
    total
}

/// Changes the coordinates of B (n x rank) such that `B^T B` is the identity: `B L^-T` for its factor L.
pub(super) fn whiten(b: &mut [f64], rank: usize) {
    let mut l = gram(b, rank);
    let trace: f64 = (0..rank).map(|q| l[q * rank + q]).sum();
    for j in 0..rank {
        l[j * rank + j] += FLAT * trace + f64::MIN_POSITIVE;
        for i in j..rank {
            let sum: f64 = (0..j).map(|q| l[i * rank + q] * l[j * rank + q]).sum();
            let rest = l[i * rank + j] - sum;
            l[i * rank + j] = match i == j {
                true => rest.max(FLAT * FLAT * trace + f64::MIN_POSITIVE).sqrt(),
                false => rest / l[j * rank + j],
            };
        }
    }
    b.par_chunks_mut(rank).for_each(|row| {
        for j in 0..rank {
            let sum: f64 = (0..j).map(|q| l[j * rank + q] * row[q]).sum();
            row[j] = (row[j] - sum) / l[j * rank + j];
        }
    });
}
