//! Does the paper's robustness theorem apply to this X and these hott rows?
//!
//! Theorem 3.2 speaks of a separable `Y = F W` near X that nobody sees. Here one is constructed: W
//! is the chosen rows of X, and row j of Y is the point of their convex hull that is nearest to
//! `x_j` in l1. Y *is* separable with hott rows W, so its figures are no estimates: alpha is the
//! simplicial constant of W, epsilon the largest `||x_j - y_j||_1`, d0 the smallest distance of
//! another row of Y from a hott row. Rows very near a hott row would make d0 small; they may be
//! moved onto it instead, as the duplicates that the paper allows, which may cost epsilon. If then
//! `epsilon < min(alpha d0, alpha^2) / (9 (r + 1))`, the theorem applies to X as it stands.
//!
//! # Rounding
//! "Holds" is a statement about the matrix as it was given, so alpha and d0 are bounds from below
//! and epsilon is one from above:
//!
//! - *alpha*: for any y with `||y||_inf <= 1`, hott row i is at least `<y, w_i> - max_j <y, w_j>`
//!   from the hull of the others. y comes from an l1 fit, and its products are rounded to the safe
//!   side; a poor y makes alpha smaller, never wrong.
//! - *epsilon, d0*: norms over n columns of combinations of at most r + 2 rows. No term takes part in
//!   more than n roundings in the sum of its row, n in the norm and r + 16 in between, and the
//!   sizes of all terms sum to less than 16, so a norm is off by at most `16 gamma(2n + r + 16)`, in
//!   whatever order it was added. That the weights of a row of Y sum to one only up to rounding is
//!   part of it.
//!
//! # The proof, with its rows mended
//! Write `m = min(alpha d0, alpha^2)`. The paper's proof ends with
//! `epsilon < sqrt(1 + q/4) - 1 < q/9`, `q = m / (r + 1)`. What it needs is
//! `q/9 <= sqrt(1 + q/4) - 1`, which holds for `q <= 9/4`, and `m <= 4` makes `q <= 2` always.
//!
//! It also applies its lemma, which is about weights that sum to one, to rows of C that do so only
//! up to `2 epsilon`. For the Y above the conclusion stands: let c be row i of a C in
//! `Phi_{2 epsilon}(X)`, i hott, s its sum, w its weight on i and the duplicates of i, z the point
//! of the hull that the rest of c makes of Y when it is scaled to sum to one. The paper's lemmas
//! give `||y_i - z||_1 >= m / 2`; `(1 - w)(y_i - z)` sums to zero, so its norm is twice its
//! positive part, and
//!
//! `(1 - w) m / 2 <= ||x_i - cX||_1 + |s - 1| + ||c(X - Y)||_1 <= 4 epsilon + ||c(X - Y)||_1`
//!
//! Hott rows have no noise in Y. Without duplicates the last term is at most `(s - w) epsilon`, so
//! `1 - w <= (8 epsilon + 4 epsilon^2) / (m - 2 epsilon) < 1 / (r + 1)` at the paper's threshold
//! (for r = 2 because `d0 <= 2 - 2/r`). With duplicates it may be `s epsilon`, and
//! `1 - w <= (10 epsilon + 4 epsilon^2) / m` asks for 11 in the place of 9. In both cases every
//! hott row with its duplicates has more of the trace r than all rows that are neither.

use super::figures::Rows;
use super::rounding::{add_down, add_up, div_down, gamma, mul_down, mul_up};
use super::verify::Refusal;
use crate::Error;
use crate::control::{Control, Stop};
use crate::l1::{Atoms, Gathered, Problem, Solver, fit};
use crate::matrix::{Dense, Entries, Matrix, Row, Sparse};
use crate::normalise::UnitRows;
use rayon::prelude::*;

/// The factor of the paper's threshold.
const FACTOR: f64 = 9.0;
/// The factor when rows count as duplicates of hott rows.
const FACTOR_WITH_DUPLICATES: f64 = 11.0;
/// Weight of the column that holds the sum of a row's weights to one: an exact penalty for unit
/// rows, mending the sum costs at most as much as it is wrong.
const PENALTY: f64 = 2.0;

/// The figures of Theorem 3.2 for some hott rows of X, and whether its condition holds.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Theory {
    /// r, the number of hott rows.
    pub rank: usize,
    /// At most the smallest l1 distance of a hott row from the hull of the others; 0 where nothing
    /// is proven.
    pub alpha: f64,
    /// d0, at most the smallest l1 distance of another row of Y from a hott row; `None` when all
    /// other rows, if any, are duplicates of hott rows.
    pub margin: Option<f64>,
    /// At least the largest l1 distance of a row of X from its row of Y.
    pub epsilon: f64,
    /// `min(alpha d0, alpha^2) / (9 (r + 1))`, rounded down; with 11 for 9 when there are
    /// duplicates.
    pub threshold: f64,
    /// Whether `epsilon < threshold`.
    pub holds: bool,
    /// For each hott row, in the order given, the rows that count as its duplicates, increasing.
    pub duplicates: Vec<Vec<usize>>,
}

/// Constructs a separable matrix near X with the rows `hott` (of X) as its hott rows, and checks
/// the condition of Theorem 3.2 on it.
///
/// One l1 fit on r atoms for every row of X, as in [`clean::exact`](crate::clean::exact), and
/// O(n + nonzeros of W) more; memory O(r n) and O(n) a thread. Parallel over rows; the answer does
/// not depend on the number of threads.
///
/// # Errors
/// [`Error::Rank`] without hott rows, [`Error::HottRow`] for rows that X does not have or that are
/// named twice, [`Error::NoAnswer`] when `control` stops the work.
pub fn theory(x: &UnitRows, hott: &[usize], control: &Control) -> Result<Theory, Error> {
    check(x, hott)?;
    let alpha = alpha(x, hott, control)?;
    let rows = nearest_points(x, hott, control)?;
    Ok(best_duplicates(&rows, hott, alpha))
}

fn check(x: &UnitRows, hott: &[usize]) -> Result<(), Error> {
    if hott.is_empty() {
        return Err(Error::Rank { rank: 0, available: x.features(), what: "rows" });
    }
    for (k, &row) in hott.iter().enumerate() {
        let reason = if row >= x.features() {
            format!("X has {} rows", x.features())
        } else if hott[..k].contains(&row) {
            "it is named twice".to_string()
        } else {
            continue;
        };
        return Err(Error::HottRow { row, reason });
    }
    Ok(())
}

/// A bound from below on the simplicial constant of the hott rows.
fn alpha(x: &UnitRows, hott: &[usize], control: &Control) -> Result<f64, Error> {
    if hott.len() < 2 {
        return Ok(2.0);
    }
    let rows = Rows::new(x, control).map_err(stopped)?;
    let mut w = Dense::zeros(hott.len(), x.examples() + 1);
    for (k, &i) in hott.iter().enumerate() {
        x.row(i).add_to(1.0, &mut w.row_mut(k)[..x.examples()]);
        w.row_mut(k)[x.examples()] = PENALTY;
    }
    let distance = |k| unless_stopped(control).map(|()| hull_bound(&rows, &w, hott, k));
    let distances: Vec<f64> = (0..hott.len())
        .into_par_iter()
        .map(distance)
        .collect::<Result<_, Stop>>()
        .map_err(Error::NoAnswer)?;
    Ok(distances.into_iter().fold(f64::INFINITY, f64::min))
}

/// At most the l1 distance of hott row `hott[k]` from the hull of the others, and at least 0. `w` has
/// the hott rows with one more column for the penalty.
fn hull_bound(rows: &Rows, w: &Dense, hott: &[usize], k: usize) -> f64 {
    let others: Vec<usize> = (0..hott.len()).filter(|j| *j != k).collect();
    let Ok(found) = fit(&w.select_rows(&others), w.row(k), None) else { return 0.0 };
    let columns = w.cols() - 1;
    let Some(dual) = found.dual.get(..columns) else { return 0.0 };
    let y: Vec<f64> = dual.iter().map(|v| v.clamp(-1.0, 1.0)).collect();
    let inside = others.iter().map(|&j| rows.bounds(hott[j], &y).high);
    let inside = inside.fold(f64::NEG_INFINITY, f64::max);
    add_down(rows.bounds(hott[k], &y).low, -inside).max(0.0)
}

/// The verifier's arithmetic ends early for one reason only.
fn stopped(refusal: Refusal) -> Error {
    match refusal {
        Refusal::Stopped(stop) => Error::NoAnswer(stop),
        _ => Error::NoAnswer(Stop::Finished),
    }
}

fn unless_stopped(control: &Control) -> Result<(), Stop> {
    control.stopped().map_or(Ok(()), Err)
}

/// A row that is not hott: its place in Y, measured.
struct Near {
    row: usize,
    /// At least `||x_j - y_j||_1`.
    error: f64,
    /// At most the smallest `||y_j - w_i||_1`.
    margin: f64,
    /// The hott row (its position) nearest to `x_j`, and at least how far that is.
    hott: usize,
    distance: f64,
}

fn nearest_points(x: &UnitRows, hott: &[usize], control: &Control) -> Result<Vec<Near>, Error> {
    let w = x.select_rows(hott);
    let atoms = Atoms::new(&with_penalty(&w));
    let usable: Vec<u32> = (0..hott.len() as u32).collect();
    let others: Vec<usize> = (0..x.features()).filter(|j| !hott.contains(j)).collect();
    let slack = mul_up(16.0, gamma(2 * x.examples() + hott.len() + 16));
    let rows: Result<Vec<Near>, Stop> = others
        .par_iter()
        .map_init(
            || (Workspace::default(), vec![0.0; x.examples()]),
            |(work, point), &j| {
                unless_stopped(control)?;
                let weights = work.weights(&atoms, &usable, x.row(j), x.examples());
                Ok(near(x, &w, j, &weights, point).widened(slack))
            },
        )
        .collect();
    rows.map_err(Error::NoAnswer)
}

/// W with one more column, which holds the penalty.
fn with_penalty(w: &Matrix) -> Matrix {
    let (r, n) = (w.rows(), w.cols());
    match w {
        Matrix::Dense(w) => {
            let mut wide = Dense::zeros(r, n + 1);
            for i in 0..r {
                wide.row_mut(i)[..n].copy_from_slice(w.row(i));
                wide.row_mut(i)[n] = PENALTY;
            }
            wide.into()
        }
        Matrix::Sparse(w) => {
            let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
            for i in 0..r {
                columns.extend(w.row(i).0.iter().copied().chain([n as u32]));
                values.extend(w.row(i).1.iter().copied().chain([PENALTY]));
                starts.push(values.len());
            }
            Sparse::new(r, n + 1, starts, columns, values)
                .expect("rows of a matrix, extended")
                .into()
        }
    }
}

#[derive(Default)]
struct Workspace {
    solver: Solver,
    gathered: Gathered,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl Workspace {
    /// Convex weights of the point of the hull nearest to `target`; empty when the fit gave none.
    fn weights(&mut self, atoms: &Atoms, usable: &[u32], target: Row<'_>, n: usize) -> Vec<f64> {
        self.values.clear();
        self.values.extend(target.values().chain([PENALTY]));
        let extended = match target.entries() {
            Entries::Dense(_) => Row::dense(&self.values),
            Entries::Sparse(columns, _) => {
                self.columns.clear();
                self.columns.extend(columns.iter().copied().chain([n as u32]));
                Row::sparse(&self.columns, &self.values)
            }
        };
        let target = atoms.restrict(extended, &mut self.gathered);
        let problem = Problem { design: target.design, x: target.x, usable, upper: None };
        self.solver.fit(&problem, None);
        // The penalty leaves the sum at one up to rounding; a point *of the hull* is wanted.
        let weights = self.solver.weights().iter().map(|c| c.max(0.0));
        let sum: f64 = weights.clone().sum();
        if sum > 0.0 && sum.is_finite() { weights.map(|c| c / sum).collect() } else { Vec::new() }
    }
}

impl Near {
    /// What was measured, off by at most `slack`, on the safe side.
    fn widened(self, slack: f64) -> Near {
        Near {
            error: add_up(self.error, slack),
            margin: add_down(self.margin, -slack).max(0.0),
            distance: add_up(self.distance, slack),
            ..self
        }
    }
}

/// Measures row j against its point in the hull. `point` has n zeros, before and after.
fn near(x: &UnitRows, w: &Matrix, j: usize, weights: &[f64], point: &mut [f64]) -> Near {
    x.row(j).add_to(1.0, point);
    let (hott, distance) = closest(w, point);
    point.fill(0.0);
    if weights.is_empty() {
        return Near { row: j, error: distance, margin: 0.0, hott, distance };
    }
    for (i, &weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
        w.row(i).add_to(weight, point);
    }
    let (_, margin) = closest(w, point);
    x.row(j).add_to(-1.0, point);
    let error = point.iter().map(|e| e.abs()).sum();
    point.fill(0.0);
    Near { row: j, error, margin, hott, distance }
}

/// The row of W nearest to a nonnegative point, and its l1 distance. Looks at the support of W
/// only: elsewhere the distance is the point's own weight.
fn closest(w: &Matrix, point: &[f64]) -> (usize, f64) {
    let sum: f64 = point.iter().sum();
    let distance = |i: usize| match w {
        Matrix::Dense(w) => w.row(i).iter().zip(point).map(|(a, b)| (a - b).abs()).sum::<f64>(),
        Matrix::Sparse(_) => {
            let entries = w.row(i).nonzeros();
            let change: f64 = entries.map(|(k, v)| (v - point[k]).abs() - point[k]).sum();
            (sum + change).max(0.0)
        }
    };
    (0..w.rows()).map(|i| (i, distance(i))).min_by(|a, b| a.1.total_cmp(&b.1)).expect("r >= 1")
}

/// Tries how many rows to count as duplicates, nearest first; keeps the largest ratio of threshold
/// and epsilon, and the fewest duplicates among equals. O(f log f).
fn best_duplicates(rows: &[Near], hott: &[usize], alpha: f64) -> Theory {
    // Nearer than alpha / 2 to one hott row, a row is farther than that from all others.
    let (mut near, far): (Vec<&Near>, Vec<&Near>) =
        rows.iter().partition(|row| row.distance < alpha / 2.0);
    near.sort_by(|a, b| a.distance.total_cmp(&b.distance).then(a.row.cmp(&b.row)));
    // Errors and margins of what is left when the first k are duplicates, from the end.
    let mut left: Vec<(f64, Option<f64>)> = vec![rest(&far)];
    for row in near.iter().rev() {
        let (error, margin) = left[left.len() - 1];
        left.push((error.max(row.error), Some(margin.map_or(row.margin, |d| d.min(row.margin)))));
    }
    left.reverse();
    let figures = |k: usize| {
        let (error, margin) = left[k];
        let moved = if k == 0 { 0.0 } else { near[k - 1].distance };
        (error.max(moved), margin, threshold(hott.len(), alpha, margin, k > 0))
    };
    // Differences of rounding are no reason to prefer one over the other.
    let ratio = |k: usize| {
        let (epsilon, _, threshold) = figures(k);
        threshold / epsilon.max(1e-12)
    };
    let count = (1..=near.len()).fold((0, ratio(0)), |best, k| {
        let found = ratio(k);
        if found > best.1 { (k, found) } else { best }
    });
    let (epsilon, margin, threshold) = figures(count.0);
    let mut duplicates = vec![Vec::new(); hott.len()];
    near[..count.0].iter().for_each(|row| duplicates[row.hott].push(row.row));
    duplicates.iter_mut().for_each(|rows| rows.sort_unstable());
    let holds = epsilon < threshold;
    Theory { rank: hott.len(), alpha, margin, epsilon, threshold, holds, duplicates }
}

fn rest(rows: &[&Near]) -> (f64, Option<f64>) {
    let error = rows.iter().map(|row| row.error).fold(0.0, f64::max);
    (error, rows.iter().map(|row| row.margin).min_by(f64::total_cmp))
}

/// Rounded down.
fn threshold(rank: usize, alpha: f64, margin: Option<f64>, duplicates: bool) -> f64 {
    let least = margin.map_or(alpha, |d0| d0.min(alpha));
    div_down(mul_down(alpha, least), factor(duplicates) * (rank + 1) as f64).max(0.0)
}

fn factor(duplicates: bool) -> f64 {
    if duplicates { FACTOR_WITH_DUPLICATES } else { FACTOR }
}

impl Theory {
    /// What the theorem says about this answer, in words that may be quoted.
    pub fn sentence(&self) -> String {
        let Theory { rank, alpha, epsilon, threshold, .. } = self;
        let rows = if *rank == 1 { "hott row" } else { "hott rows" };
        let (alpha, least) = (short(*alpha), |d0| format!(" and margin {}", short(d0)));
        let margin = self.margin.map_or(String::new(), least);
        let copies: usize = self.duplicates.iter().map(Vec::len).sum();
        let copies = match copies {
            0 => String::new(),
            1 => " (or the 1 row that counts as a duplicate)".to_string(),
            _ => format!(" (or the {copies} rows that count as their duplicates)"),
        };
        if self.holds {
            return format!(
                "The condition of Theorem 3.2 holds: the data are within epsilon = {epsilon:.3e} \
                 of a separable matrix with these {rank} {rows}, alpha = {alpha}{margin}, and \
                 the limit for epsilon is {threshold:.3e}. Algorithm 3 with tau = 2 epsilon \
                 therefore identifies these {rows}{copies} and explains every row up to an l1 \
                 error of {:.3e}.",
                2.0 * epsilon
            );
        }
        format!("Theorem 3.2 promises nothing for these {rank} {rows}: {}.", self.failure())
    }

    /// Which inequality fails, and by how much.
    fn failure(&self) -> String {
        let Theory { rank, alpha, epsilon, threshold, .. } = self;
        if *threshold > 0.0 {
            let limit = match self.margin {
                Some(d0) if d0 < *alpha => format!("alpha d0 = {:.3e}", alpha * d0),
                _ => format!("alpha^2 = {:.3e}", alpha * alpha),
            };
            let divisor = factor(self.duplicates.iter().any(|d| !d.is_empty())) * (rank + 1) as f64;
            return format!(
                "it asks for a separable matrix nearer than {limit} / {divisor} = {threshold:.3e}, \
                 and the one constructed is epsilon = {epsilon:.3e} away, {:.1} times as far as \
                 it may be",
                epsilon / threshold
            );
        }
        if *alpha == 0.0 {
            return "alpha = 0 is all that can be proven, as one of them is a mixture of the \
                    others, or nearly so"
                .to_string();
        }
        "the margin d0 = 0, as one of them is the point of their hull nearest to another row"
            .to_string()
    }
}

/// A few digits.
fn short(value: f64) -> String {
    if value < 1e-3 { format!("{value:.3e}") } else { format!("{value:.3}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(rows: &[[f64; 4]]) -> UnitRows {
        UnitRows::new(&Dense::from_rows(rows).unwrap().into()).unwrap()
    }

    fn found(rows: &[[f64; 4]], hott: &[usize]) -> Theory {
        let x = unit(rows);
        let found = theory(&x, hott, &Control::default()).unwrap();
        let triplets: Vec<_> = (0..rows.len())
            .flat_map(|i| x.row(i).nonzeros().map(move |(k, v)| (i, k, v)).collect::<Vec<_>>())
            .collect();
        let sparse = Sparse::from_triplets(rows.len(), 4, &triplets).unwrap();
        let again =
            theory(&UnitRows::new(&sparse.into()).unwrap(), hott, &Control::default()).unwrap();
        assert_eq!(found.duplicates, again.duplicates);
        assert!((found.epsilon - again.epsilon).abs() < 1e-12);
        assert!((found.threshold - again.threshold).abs() < 1e-12);
        found
    }

    const CORNERS: [[f64; 4]; 3] =
        [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];

    #[test]
    fn holds_near_a_separable_matrix() {
        let [a, b, c] = CORNERS;
        let theory = found(&[a, b, c, [0.49, 0.5, 0.0, 0.01], [0.3, 0.3, 0.4, 0.0]], &[0, 1, 2]);
        // The fourth row is 0.02 from the hull; the nearest points are 0.98 to 1 from a corner.
        assert!(theory.rank == 3 && (theory.alpha - 2.0).abs() < 1e-12);
        assert!((theory.epsilon - 0.02).abs() < 1e-12, "{theory:?}");
        let margin = theory.margin.unwrap();
        assert!((0.98 - 1e-12..=1.0).contains(&margin), "{theory:?}");
        assert!((theory.threshold - 2.0 * margin / 36.0).abs() < 1e-9);
        assert!(theory.holds && theory.duplicates.iter().all(Vec::is_empty));
        let sentence = theory.sentence();
        assert!(sentence.contains("2.000e-2") && sentence.contains("4.000e-2"), "{sentence}");
    }

    #[test]
    fn says_by_how_much_noise_is_too_large() {
        let [a, b, c] = CORNERS;
        let theory = found(&[a, b, c, [0.3, 0.3, 0.2, 0.2]], &[0, 1, 2]);
        assert!((theory.epsilon - 0.4).abs() < 1e-12 && !theory.holds);
        let sentence = theory.sentence();
        assert!(sentence.contains("alpha d0") && sentence.contains("times as far"), "{sentence}");
    }

    #[test]
    fn rows_next_to_a_hott_row_count_as_duplicates() {
        let [a, b, c] = CORNERS;
        let rows = [a, b, c, [0.999, 0.0, 0.0, 0.001], [0.5, 0.0, 0.5, 0.0], b];
        let theory = found(&rows, &[0, 1, 2]);
        assert_eq!(theory.duplicates, [vec![3], vec![5], vec![]]);
        assert!((theory.epsilon - 0.002).abs() < 1e-12 && theory.holds);
        assert!((theory.threshold - 2.0 / 44.0).abs() < 1e-9);
        assert!(theory.sentence().contains("2 rows that count as their duplicates"));
        // One topic: all other rows must be its duplicates.
        let theory = found(&[a, [0.99, 0.01, 0.0, 0.0]], &[0]);
        assert!(theory.holds && theory.margin.is_none() && theory.duplicates == [vec![1]]);
    }

    #[test]
    fn all_rows_hott_and_hott_rows_that_are_mixtures() {
        let [a, b, c] = CORNERS;
        let theory = found(&[a, b, c], &[2, 0, 1]);
        assert!(theory.holds && theory.margin.is_none() && theory.epsilon == 0.0);
        let theory = found(&[a, b, [0.5, 0.5, 0.0, 0.0], c], &[0, 1, 2]);
        assert!(!theory.holds && theory.sentence().contains("alpha = 0"), "{theory:?}");
    }

    /// Rows of integers around 2^27: sums are exact, unit rows are not, and the third row is the mean
    /// of the first two, of which fits are left with some rounding.
    fn mean_of_two(seed: u64, change: f64) -> [[f64; 4]; 3] {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (1u64 << 27) as f64 + (state >> 38) as f64
        };
        let (a, mut b) = ([0; 4].map(|_| next()), [0; 4].map(|_| next()));
        // Rows of equal sums, so that the mean of the rows is the mean of the unit rows.
        let sum = |row: &[f64; 4]| row.iter().sum::<f64>();
        b[3] += sum(&a) - sum(&b);
        let mut mean = [0.0; 4];
        (0..4).for_each(|k| mean[k] = (a[k] + b[k]) / 2.0);
        mean[0] += change;
        [a, b, mean]
    }

    #[test]
    fn alpha_of_a_mixture_is_zero_whatever_rounding_leaves() {
        for seed in 0..200 {
            let [a, b, mean] = mean_of_two(seed, 0.0);
            let theory = found(&[a, b, mean, a, b], &[0, 1, 2]);
            assert_eq!((theory.alpha, theory.threshold), (0.0, 0.0), "{seed}: {theory:?}");
            assert!(!theory.holds && theory.sentence().contains("alpha = 0"), "{theory:?}");
        }
        // A change that makes it a vertex: at most twice its share of the row.
        for seed in 0..20 {
            let [a, b, mean] = mean_of_two(seed, 1024.0);
            let theory = found(&[a, b, mean], &[0, 1, 2]);
            let most = 2.0 * 1024.0 / mean.iter().sum::<f64>();
            assert!(theory.alpha <= most, "{seed}: {theory:?}");
        }
    }

    #[test]
    fn names_rows_that_cannot_be_hott_and_stops_when_told() {
        let x = unit(&CORNERS);
        let free = Control::default();
        assert!(matches!(theory(&x, &[], &free), Err(Error::Rank { .. })));
        assert!(matches!(theory(&x, &[0, 3], &free), Err(Error::HottRow { row: 3, .. })));
        assert!(matches!(theory(&x, &[1, 0, 1], &free), Err(Error::HottRow { row: 1, .. })));
        let late = Control::default().with_deadline(std::time::Instant::now());
        assert_eq!(theory(&x, &[0], &late), Err(Error::NoAnswer(Stop::TimeLimit)));
    }
}
