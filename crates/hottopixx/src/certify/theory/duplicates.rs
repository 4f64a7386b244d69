//! Which rows to count as duplicates of hott rows, and the threshold that the theorem then has.

use super::Theory;
use super::nearest::MeasuredRow;
use crate::certify::rounding::{div_down, mul_down};

/// The factor of the paper's threshold.
const FACTOR: f64 = 9.0;
/// The factor when rows count as duplicates of hott rows.
const FACTOR_WITH_DUPLICATES: f64 = 11.0;

/// Tries how many rows to count as duplicates, nearest first; keeps the largest ratio of threshold
/// and epsilon, and the fewest duplicates among equals. O(f log f).
pub(super) fn best_duplicates(rows: &[MeasuredRow], hott: &[usize], alpha: f64) -> Theory {
    // Nearer than alpha / 2 to one hott row, a row is farther than that from all others.
    let (mut near, far): (Vec<&MeasuredRow>, Vec<&MeasuredRow>) =
        rows.iter().partition(|row| row.distance < alpha / 2.0);
    near.sort_unstable_by(|a, b| a.distance.total_cmp(&b.distance).then(a.row.cmp(&b.row)));
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
    Theory { alpha, margin, epsilon, threshold, holds, duplicates }
}

pub(super) fn rest(rows: &[&MeasuredRow]) -> (f64, Option<f64>) {
    let error = rows.iter().map(|row| row.error).fold(0.0, f64::max);
    (error, rows.iter().map(|row| row.margin).min_by(f64::total_cmp))
}

/// Rounded down.
pub(super) fn threshold(rank: usize, alpha: f64, margin: Option<f64>, duplicates: bool) -> f64 {
    let least = margin.map_or(alpha, |d0| d0.min(alpha));
    div_down(mul_down(alpha, least), factor(duplicates) * (rank + 1) as f64).max(0.0)
}

pub(super) fn factor(duplicates: bool) -> f64 {
    if duplicates { FACTOR_WITH_DUPLICATES } else { FACTOR }
}
