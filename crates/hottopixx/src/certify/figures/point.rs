//! Where (d, C) stands: what every row of X misses, rounded up.

use super::rows::{Rows, stored};
use super::{RefusingWatch, UNDERFLOW, or};
use crate::certify::certificate::Certificate;
use crate::certify::refusal::Refusal;
use crate::certify::rounding::{Sum, add_up, depth, gamma, mul_up, sum_of_sizes};
use crate::control::Control;
use crate::kernels::parallel::*;
use crate::matrix::Entries;
use crate::normalise::UnitRows;

/// Where (d, C) stands: bounds that hold for all rows.
pub(in crate::certify) struct PointFigures {
    /// `||x_i - c_i X||_1`, rounded up.
    pub(in crate::certify) errors: Vec<f64>,
    /// The sum of row i of C, rounded up.
    pub(in crate::certify) weights: Vec<f64>,
}

/// Errors and weights of every row. The shapes must fit. O(nonzeros of C * n), parallel over rows.
pub(in crate::certify) fn point(
    rows: &Rows,
    certificate: &Certificate,
    control: &Control,
) -> Result<PointFigures, Refusal> {
    let (f, n) = (rows.x.features(), rows.x.examples());
    let judged: Vec<(f64, f64)> = (0..f)
        .into_par_iter()
        .map_init(
            || (vec![0.0; n], RefusingWatch::new(control)),
            |(residual, watch), i| row_error(rows, certificate, i, residual, watch),
        )
        .collect::<Result<_, Refusal>>()?;
    let (errors, weights) = judged.into_iter().unzip();
    Ok(PointFigures { errors, weights })
}

/// `||x_i - c_i X||_1` and the sum of `c_i`, rounded up. `residual` has n zeros, before and after.
fn row_error(
    rows: &Rows,
    certificate: &Certificate,
    i: usize,
    residual: &mut [f64],
    watch: &mut RefusingWatch,
) -> Result<(f64, f64), Refusal> {
    let (columns, values) = certificate.localising.row(i);
    let entries = || columns.iter().map(|j| *j as usize).zip(values.iter().copied());
    let own = entries().find(|(j, _)| *j == i).map_or(0.0, |(_, value)| value);
    let others = || entries().filter(|(j, value)| *j != i && *value != 0.0);
    let left = 1.0 - own;
    let mut used = 0;
    let mut terms = 0;
    let mut size = Sum::default();
    for (j, weight) in others().map(|(j, weight)| (j, -weight)).chain([(i, left)]) {
        if weight == 0.0 {
            continue;
        }
        add(rows.x, j, weight * rows.factors[j], residual);
        terms += 1;
        used += stored(rows.x, j).len();
        size.add(weight.abs());
        watch.spend(stored(rows.x, j).len())?;
    }
    let (norm, additions) = if rows.x.is_dense() {
        let norm = if terms > 0 { sum_of_sizes(residual) } else { 0.0 };
        residual.fill(0.0);
        (norm, depth(residual.len()))
    } else {
        collect(rows.x, others().map(|(j, _)| j).chain([i]), residual)
    };
    // 1 - C_ii and each weight over its sum are rounded once, products once, then m additions;
    // the error of one over the sum comes on top.
    let relative = add_up(mul_up(gamma(terms + 3), add_up(1.0, rows.spread)), rows.spread);
    let rounding = mul_up(relative, mul_up(size.upper(), add_up(1.0, gamma(1))));
    let underflow = mul_up(UNDERFLOW, (used + terms) as f64);
    let norm = mul_up(norm, add_up(1.0, gamma(additions)));
    let error = add_up(norm, add_up(rounding, underflow));
    let weights = values.iter().copied().collect::<Sum>().upper();
    Ok((or(error, f64::INFINITY), weights))
}

/// `residual += weight * v_j`.
fn add(x: &UnitRows, j: usize, weight: f64, residual: &mut [f64]) {
    match x.row(j).entries() {
        Entries::Dense(values) => {
            residual.iter_mut().zip(values).for_each(|(r, v)| *r += weight * v);
        }
        Entries::Sparse(columns, values) => {
            for (&k, v) in columns.iter().zip(values) {
                residual[k as usize] += weight * v;
            }
        }
    }
}

/// The sum of the sizes of a residual that is not zero only where these rows have entries, which
/// are cleared, and the number of roundings that a term takes part in.
fn collect(x: &UnitRows, rows: impl Iterator<Item = usize>, residual: &mut [f64]) -> (f64, usize) {
    let (mut total, mut count, mut longest) = (0.0, 0, 0);
    for j in rows {
        if let Entries::Sparse(columns, _) = x.row(j).entries() {
            // Each column is taken once: it is cleared when it is counted.
            let part: f64 =
                columns.iter().map(|&k| std::mem::take(&mut residual[k as usize]).abs()).sum();
            total += part;
            count += 1;
            longest = longest.max(columns.len());
        }
    }
    (total, count + longest)
}
