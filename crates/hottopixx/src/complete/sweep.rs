//! One side of the model solved while the other is fixed: small least squares problems, one per row.

use super::prior::{Prior, Told};
use crate::control::Control;
use crate::kernels::dot;
use crate::kernels::parallel::*;
use crate::matrix::{Gaps, Matrix};
use crate::squares::{Domain, Nnls, cholesky_solve};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Rows of one task; fixed, so that sums do not depend on the number of threads.
const CHUNK: usize = 64;
/// The same where rows are solved.
const TASK: usize = 16;
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
pub(super) enum Solving<'a> {
    Free(f64),
    Nonnegative(f64),
    /// Nonnegative, towards what rows of this side are like.
    Shrunk(f64, &'a Prior),
}

/// A side that was solved.
pub(super) struct Solved {
    /// Rows x rank.
    pub values: Vec<f64>,
    /// The sum of the squares that the model leaves of what was observed.
    pub left: f64,
    /// What solving with a prior tells of it, for the next one: see [`Prior`].
    pub told: Told,
}

impl Solved {
    fn nothing(rank: usize) -> Self {
        Solved { values: Vec::new(), left: 0.0, told: Told::nothing(rank) }
    }
}

impl<'a> Solving<'a> {
    /// Nonnegative, with a prior if there is one.
    pub fn shrunk(ridge: f64, prior: Option<&'a Prior>) -> Self {
        prior.map_or(Solving::Nonnegative(ridge), |prior| Solving::Shrunk(ridge, prior))
    }
}

impl Side {
    pub fn new(values: Matrix, gaps: Gaps) -> Self {
        Side { values, gaps }
    }

    pub fn rows(&self) -> usize {
        self.values.rows()
    }

    /// How many entries were observed of row i.
    pub fn observed(&self, i: usize) -> usize {
        self.values.cols() - self.gaps.row(i).len()
    }

    /// The sum of the squares of what was observed of row i.
    pub fn squared(&self, i: usize) -> f64 {
        self.values.row(i).nonzeros().map(|(_, value)| value * value).sum()
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
    ) -> Option<Solved> {
        let all = gram(b, rank);
        let mean = (0..rank).map(|q| all[q * rank + q]).sum::<f64>() / rank as f64;
        let n = self.values.cols();
        let (Solving::Free(ridge) | Solving::Nonnegative(ridge) | Solving::Shrunk(ridge, _)) =
            solving;
        let task = |rows: std::ops::Range<usize>| {
            let mut solver = Nnls::default();
            let mut solved = Solved::nothing(rank);
            for i in rows {
                if !control.goes_on() {
                    return None;
                }
                let squares = self.squares(i, b, rank, &all);
                let (right, own) = self.right_side(i, b, rank);
                let (mut p, mut towards) = (squares.clone(), right.clone());
                let ridge = ridge * mean * self.observed(i) as f64 / n as f64;
                (0..rank).for_each(|q| p[q * rank + q] += ridge.max(f64::MIN_POSITIVE));
                if let Solving::Shrunk(_, prior) = solving {
                    prior.add_to(i, &mut p, &mut towards);
                    solved.told.add(prior, i, &p, &squares);
                }
                let a = match solving {
                    Solving::Free(_) if cholesky_solve(&mut p, &mut towards) => towards,
                    Solving::Free(_) => vec![0.0; rank],
                    Solving::Nonnegative(_) | Solving::Shrunk(..) => {
                        let mut a = vec![0.0; rank];
                        solver.solve(&p, &towards, &mut a, Domain::Cone);
                        a
                    }
                };
                // |x|^2 - 2 a.(B^T x) + a (B^T B) a: the model need not be multiplied out.
                let taken =
                    |q: usize| a[q] * (2.0 * right[q] - dot(&squares[q * rank..][..rank], &a));
                solved.left += (own - (0..rank).map(taken).sum::<f64>()).max(0.0);
                solved.values.extend(a);
            }
            Some(solved)
        };
        let ranges = (0..self.rows().div_ceil(TASK))
            .into_par_iter()
            .map(|at| task(at * TASK..self.rows().min((at + 1) * TASK)));
        let parts: Option<Vec<Solved>> = ranges.collect();
        let mut whole = Solved::nothing(rank);
        for part in parts? {
            whole.values.extend(part.values);
            whole.left += part.left;
            whole.told.join(&part.told);
        }
        Some(whole)
    }

    /// `sum x_k b_k` over what was observed of row i, and `|x|^2`.
    fn right_side(&self, i: usize, b: &[f64], rank: usize) -> (Vec<f64>, f64) {
        let mut right = vec![0.0; rank];
        for (k, value) in self.values.row(i).nonzeros() {
            crate::kernels::axpy(value, &b[k * rank..(k + 1) * rank], &mut right);
        }
        (right, self.squared(i))
    }

    /// `sum b_k b_k^T` over what was observed of row i: that, or the sum over all without the rest.
    fn squares(&self, i: usize, b: &[f64], rank: usize, all: &[f64]) -> Vec<f64> {
        let (gaps, n) = (self.gaps.row(i), self.values.cols());
        if gaps.len() <= n - gaps.len() {
            let mut a = all.to_vec();
            gaps.iter().for_each(|&k| add_square(&mut a, b, rank, k as usize, -1.0));
            return a;
        }
        let mut a = vec![0.0; rank * rank];
        let mut missing = gaps.iter().peekable();
        for k in 0..n {
            if missing.next_if(|gap| **gap as usize == k).is_none() {
                add_square(&mut a, b, rank, k, 1.0);
            }
        }
        a
    }
}

pub(super) fn add_square(a: &mut [f64], b: &[f64], rank: usize, k: usize, sign: f64) {
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
