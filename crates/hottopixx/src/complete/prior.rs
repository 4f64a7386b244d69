//! Rows of a side are alike: what they have in common is learned, and each is shrunk towards it.
//!
//! Least squares on few or noisy entries follow the noise, more so with every factor. So the rows `a_i` of a side are taken for draws
//! from a normal distribution whose mean m and covariance S are found with them (empirical Bayes), and with noise of
//! variance `sigma^2` the most likely row is
//!
//! ```text
//! min over a >= 0 of  |x_i - B_i a|^2 + sigma^2 s_i (a - e_i m)^T S^-1 (a - e_i m),
//! ```
//!
//! B_i being the rows of B where row i was observed. S is a full matrix: in a direction in which rows hardly differ, they are nearly
//! pulled together, and where they differ widely, nearly left alone. Rows with equal sums, as in the paper, do not
//! differ in one of the r directions, which is most of what is gained. The sizes e_i are one over the scale by which rows were divided, as
//! long as rows are of similar size, else one. Their strengths s_i, one over the square of it, say by how much noise was multiplied.
//! For columns the sizes are one, and the strengths, at most one, are less where entries are smaller than on average: such a column has
//! less noise than others, or units of its own.
//!
//! m, S and `sigma^2` are updated once a sweep as EM does it (Dempster, Laird and Rubin 1977), with the covariance
//! `C_i = sigma^2 s_i P_i^-1` of what is not known of `a_i / e_i`, P_i being the matrix of the row's problem without bounds:
//!
//! ```text
//! m = mean of a_i / e_i,   S = mean of (a_i / e_i - m)(a_i / e_i - m)^T + C_i,
//! sigma^2 = (squares left + sigma^2 * sum of tr(P_i^-1 B_i^T B_i)) / entries observed.
//! ```
//!
//! C_i keeps S from collapsing, as it would with the a_i alone: what shrinks varies less, and shrinks more. The trace counts the
//! parameters that the entries determine. On exact data `sigma^2` vanishes and so does all of it. It takes an inverse more for each row, `r^3`.

use super::sweep::{Side, Solved, Solving};
use crate::control::Control;
use crate::kernels::{axpy, dot};
use crate::squares::inverse;

/// What is added to the diagonal of nonnegative problems, relative to its mean.
const RIDGE: f64 = 1e-6;
/// What is added to the diagonal of S, relative to its trace.
const FLAT: f64 = 1e-8;
/// Entries that count as free of parameters at least, for the first variance of the noise.
const FREE: f64 = 0.1;
/// Rows are of similar size where the mean of the squares of their means is at most this many times the square of the
/// mean.
const SIMILAR: f64 = 2.0;
/// The largest size: its square is a number.
const MOST: f64 = 1e100;

/// What rows of a side are like.
pub(super) struct Prior {
    scales: Scales,
    mean: Vec<f64>,
    /// `sigma^2 S^-1`.
    pull: Vec<f64>,
    noise: f64,
}

/// Sizes and strengths of rows; rows of size zero are zero, and are not looked at.
#[derive(Clone)]
pub(super) struct Scales {
    sizes: Vec<f64>,
    strengths: Vec<f64>,
}

/// Sums of a side: of `C_i`, and of the traces.
pub(super) struct Told {
    spread: Vec<f64>,
    parameters: f64,
}

impl Told {
    pub fn nothing(rank: usize) -> Self {
        Told { spread: vec![0.0; rank * rank], parameters: 0.0 }
    }

    /// What a row tells whose problem has the matrix P, of which this belongs to what was observed.
    pub fn add(&mut self, prior: &Prior, i: usize, p: &[f64], squares: &[f64]) {
        if prior.scales.sizes[i] <= 0.0 {
            return;
        }
        if let Some(inverse) = inverse(p.to_vec(), prior.mean.len()) {
            axpy(prior.noise * prior.scales.strengths[i], &inverse, &mut self.spread);
            self.parameters += dot(&inverse, squares);
        }
    }

    pub fn join(&mut self, other: &Told) {
        axpy(1.0, &other.spread, &mut self.spread);
        self.parameters += other.parameters;
    }
}

impl Prior {
    /// From rows that were solved. `None` where S has no inverse.
    fn of(solved: &Solved, scales: &Scales, noise: f64, rank: usize) -> Option<Prior> {
        let rows = || {
            let sized = solved.values.chunks_exact(rank).zip(&scales.sizes);
            sized.filter(|(_, size)| **size > 0.0)
        };
        let count = rows().count() as f64;
        let mut mean = vec![0.0; rank];
        rows().for_each(|(a, size)| axpy(1.0 / (size * count), a, &mut mean));
        let mut s = solved.told.spread.clone();
        for (a, size) in rows() {
            let away: Vec<f64> = a.iter().zip(&mean).map(|(a, m)| a / size - m).collect();
            super::sweep::add_square(&mut s, &away, rank, 0, 1.0);
        }
        let trace: f64 = (0..rank).map(|q| s[q * rank + q]).sum();
        (0..rank).for_each(|q| s[q * rank + q] += FLAT * trace);
        let mut pull = inverse(s, rank)?;
        pull.iter_mut().for_each(|v| *v *= count * noise);
        let finite = pull.iter().chain(&mean).all(|v| v.is_finite());
        finite.then(|| Prior { scales: scales.clone(), mean, pull, noise })
    }

    /// Adds what it asks of row i to the problem.
    pub fn add_to(&self, i: usize, p: &mut [f64], right: &mut [f64]) {
        let (size, strength) = (self.scales.sizes[i], self.scales.strengths[i]);
        axpy(strength, &self.pull, p);
        for (right, pull) in right.iter_mut().zip(self.pull.chunks_exact(self.mean.len())) {
            *right += strength * size * dot(pull, &self.mean);
        }
    }
}

/// Rows, which were divided by these numbers (zero: nothing of it is above zero).
fn of_rows(divisors: &[f64]) -> Scales {
    let count = divisors.iter().filter(|d| **d > 0.0).count().max(1) as f64;
    let mean = divisors.iter().sum::<f64>() / count;
    let squares = divisors.iter().map(|d| d * d).sum::<f64>() / count;
    let as_given = squares <= SIMILAR * mean * mean;
    let size = |d: &f64| match *d > 0.0 {
        true if as_given => (mean / d).min(MOST),
        true => 1.0,
        false => 0.0,
    };
    let sizes: Vec<f64> = divisors.iter().map(size).collect();
    let strength = |e: &f64| if *e > 0.0 { 1.0 / (e * e) } else { 0.0 };
    Scales { strengths: sizes.iter().map(strength).collect(), sizes }
}

/// Columns, of which none was divided.
fn of_columns(columns: &Side) -> Scales {
    let square = |k: usize| columns.squared(k) / columns.observed(k).max(1) as f64;
    let squares: Vec<f64> = (0..columns.rows()).map(square).collect();
    let mean = squares.iter().sum::<f64>() / squares.len().max(1) as f64;
    let observed = |k: usize| if columns.observed(k) > 0 { 1.0 } else { 0.0 };
    Scales {
        sizes: (0..columns.rows()).map(observed).collect(),
        strengths: squares.iter().map(|v| (v / mean).min(1.0)).collect(),
    }
}

/// Nonnegative factors of rows and columns, alternating from those of the columns: once without, then with what sides
/// have in common. Rows were divided by these numbers. Stopped, the factors so far; `None` when there are none.
pub(super) fn alternate(
    (rows, columns): (&Side, &Side),
    start: &[f64],
    rank: usize,
    sweeps: usize,
    divisors: &[f64],
    control: &Control,
) -> Option<(Vec<f64>, Vec<f64>)> {
    let plain = Solving::Nonnegative(RIDGE);
    let mut a = rows.solve(start, rank, plain, control)?;
    let Some(mut b) = columns.solve(&a.values, rank, plain, control) else {
        return Some((a.values, start.to_vec()));
    };
    let entries = (0..rows.rows()).map(|i| rows.observed(i)).sum::<usize>() as f64;
    let parameters = (rank * (rows.rows() + columns.rows()).saturating_sub(rank)) as f64;
    let mut noise = b.left / (entries - parameters).max(FREE * entries);
    let (of_rows, of_columns) = (of_rows(divisors), of_columns(columns));
    for _ in 1..sweeps {
        let prior = Prior::of(&a, &of_rows, noise, rank);
        let solving = Solving::shrunk(RIDGE, prior.as_ref());
        let Some(next) = rows.solve(&b.values, rank, solving, control) else { break };
        a = next;
        let prior = Prior::of(&b, &of_columns, noise, rank);
        let solving = Solving::shrunk(RIDGE, prior.as_ref());
        let Some(next) = columns.solve(&a.values, rank, solving, control) else { break };
        b = next;
        noise = (b.left + noise * (a.told.parameters + b.told.parameters)) / entries;
    }
    Some((a.values, b.values))
}
