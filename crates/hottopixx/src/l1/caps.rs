//! The largest weight that a fit ever needs.
//!
//! Fit a unit row `x_i` on any unit rows, with weights `c >= 0` and no upper bounds, as cleaning does.
//! Let
//!
//! ```text
//! u_ij = inf { v : mass_j{ k : x_ik < v x_jk } >= 1/2 },   mass_j(K) = sum over K of x_jk,
//! ```
//!
//! the weighted median of the ratios `x_ik / x_jk` under the weights `x_jk`. A weight `c_j > u_ij`
//! puts the mixture above `x_i` on at least half of `x_j`'s mass, whatever the other weights are,
//! for they only add. Lowering `c_j` to `u_ij` gains there at least what it loses elsewhere. So among
//! the best weights, those with the least sum keep `c_j <= u_ij` for *all* j at once, and
//!
//! ```text
//! min { ||x_i - cX||_1 : c >= 0, c_j = 0 outside S } = min { the same : 0 <= c_j <= u_ij d_j },
//! ```
//!
//! d the 0/1 vector of S. Upper bounds that change nothing about a choice of rows are what a bound for
//! fractional d lives on. `u_jj = 1`; `u_ij <= 2`, since the mean of the ratios is at most one; and
//! `u_ij = 0` when `x_i` vanishes on half of `x_j`'s mass, that is for most pairs of sparse rows.

use crate::matrix::Row;
use crate::normalise::UnitRows;
use std::sync::OnceLock;

/// Caps are at most this.
const LARGEST: f64 = 2.0;

/// Masses that are looked at in search of one cap, at most, and caps this close to each other are the same.
pub(crate) const MOST_LOOKS: usize = 18;
const SAME: f64 = LARGEST / 512.0;
/// Where the search begins: on text half of all caps are below.
const FIRST_LOOK: f64 = 0.4;
/// A mass that is below the half of all by less than this share of it is near enough.
const NEAR: f64 = 0.03;

/// A cap in [0, 2] that holds, and is not much above the least one: v holds where the mass of x_j on
/// which `x_i > v x_j`, which `above` tells, is at most `half` of all. The mass falls with v: on rows with
/// many entries interpolation finds the place with about four looks, where halving alone takes nine. A step
/// that leaves more than half of the range is followed by halving it.
pub(crate) fn near_cap(half: f64, mut above: impl FnMut(f64) -> f64) -> f64 {
    let ((mut low, mut at_low), (mut high, mut at_high)) = ((0.0, 2.0 * half), (LARGEST, 0.0));
    let aim = half * (1.0 - 0.5 * NEAR);
    let mut next = FIRST_LOOK;
    for _ in 0..MOST_LOOKS {
        let before = high - low;
        let mass = above(next);
        if mass <= half {
            (high, at_high) = (next, mass);
        } else {
            (low, at_low) = (next, mass);
        }
        let range = high - low;
        if range <= SAME || (high < LARGEST && at_high >= half * (1.0 - NEAR)) {
            break;
        }
        let interpolated = ((at_low - aim) / (at_low - at_high)).clamp(0.02, 0.98);
        next = low + range * if range > 0.5 * before { 0.5 } else { interpolated };
    }
    high
}

/// Caps of the rows of X against some of its rows, the columns; a row's are computed when they are
/// first asked for.
#[derive(Debug)]
pub(crate) struct WeightCaps<'a> {
    x: &'a UnitRows,
    columns: Vec<usize>,
    rows: Vec<OnceLock<Vec<f64>>>,
}

impl<'a> WeightCaps<'a> {
    /// Caps against the rows `columns` of X, in this order; nothing is computed yet.
    pub fn new(x: &'a UnitRows, columns: &[usize]) -> Self {
        let rows = (0..x.features()).map(|_| OnceLock::new()).collect();
        WeightCaps { x, columns: columns.to_vec(), rows }
    }

    /// Caps of row i, one per column. O(stored entries of the columns), the first time.
    pub fn row(&self, i: usize) -> &[f64] {
        self.rows[i].get_or_init(|| {
            let (dense, mut medians) = (self.x.dense_row(i), Medians::default());
            self.columns.iter().map(|&j| medians.cap(&dense, self.x.row(j))).collect()
        })
    }
}

/// Weighted medians of ratios, with their buffer.
#[derive(Debug, Default)]
struct Medians {
    /// (ratio `x_ik / x_jk`, `x_jk` as stored) over the support of x_j.
    pairs: Vec<(f64, f64)>,
}

impl Medians {
    /// `u_ij` for a dense `x_i`, rounded up.
    fn cap(&mut self, x_i: &[f64], x_j: Row<'_>) -> f64 {
        self.pairs.clear();
        let (mut nothing, mut all) = (0.0, 0.0);
        for (k, mass) in x_j.unscaled().nonzeros() {
            all += mass;
            if x_i[k] == 0.0 {
                nothing += mass;
            }
            self.pairs.push((x_i[k] / (mass * x_j.factor()), mass));
        }
        let near = if 2.0 * nothing >= all { 0.0 } else { self.near_median(0.5 * all) };
        // Products and quotients are rounded a few times, the sums behind unit rows once per entry.
        let rounding = 1.0 + f64::EPSILON * (2 * x_i.len() + 16) as f64;
        (self.first_half_from(near, all) * rounding).min(LARGEST)
    }

    /// A ratio up to which the masses sum to about `half`: quickselect. O(pairs).
    fn near_median(&mut self, half: f64) -> f64 {
        let (mut low, mut high, mut below) = (0, self.pairs.len(), 0.0);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            self.pairs[low..high].select_nth_unstable_by(middle - low, |a, b| a.0.total_cmp(&b.0));
            let lower: f64 = self.pairs[low..middle].iter().map(|pair| pair.1).sum();
            if below + lower >= half {
                high = middle;
            } else {
                below += lower;
                low = middle;
            }
        }
        self.pairs.get(low).map_or(0.0, |pair| pair.0)
    }

    /// The least ratio from `from` on up to which the masses are half of `all` or more for sure. What
    /// additions lose is kept (Knuth), so that counts are compared exactly: many rows of counts split
    /// into two exact halves, and the median then is the lower one.
    fn first_half_from(&self, from: f64, all: f64) -> f64 {
        let mut ratio = from;
        loop {
            let (mut sum, mut lost, mut exact, mut next) = (0.0, 0.0, true, f64::INFINITY);
            for &(r, mass) in &self.pairs {
                let term = if r <= ratio { mass } else { -mass };
                if r > ratio {
                    next = f64::min(next, r);
                }
                let total: f64 = sum + term;
                let part = total - sum;
                let missed = (sum - (total - part)) + (term - part);
                exact &= missed == 0.0;
                lost += missed;
                sum = total;
            }
            let margin =
                if exact { 0.0 } else { all * (self.pairs.len() as f64 * f64::EPSILON).powi(2) };
            if sum + lost >= margin || next.is_infinite() {
                return ratio;
            }
            ratio = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::l1::fit;
    use crate::localise::instances::{random, unit_rows};
    use crate::matrix::{Dense, Sparse};
    use rand::RngExt;

    /// u by its definition, on sorted ratios.
    fn by_sorting(x_i: &[f64], x_j: &[f64]) -> f64 {
        let support = (0..x_j.len()).filter(|&k| x_j[k] > 0.0);
        let mut pairs: Vec<(f64, f64)> = support.map(|k| (x_i[k] / x_j[k], x_j[k])).collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut mass = 0.0;
        for (ratio, weight) in pairs {
            mass += weight;
            if mass >= 0.5 - 1e-13 {
                return ratio;
            }
        }
        unreachable!("all of the mass is more than half of it")
    }

    /// A cap found by looking at masses holds, and is near the least one by its value or by its mass;
    /// in few looks where rows have many entries.
    #[test]
    fn caps_by_masses_hold_and_are_near_the_least() {
        let mut random = random(5);
        let (mut looks, mut caps) = (0, 0);
        for trial in 0..300 {
            let wide = trial % 3 == 0;
            let n = if wide { 800 } else { 3 + trial % 60 };
            let mut row = || -> Vec<f64> {
                let row: Vec<f64> = (0..n).map(|_| random.random::<f64>().powi(3)).collect();
                let sum: f64 = row.iter().sum();
                row.iter().map(|v| v / sum).collect()
            };
            let (x_i, x_j) = (row(), row());
            let above = |v: f64| -> f64 {
                x_i.iter().zip(&x_j).filter(|(a, b)| **a > v * **b).map(|(_, b)| b).sum()
            };
            let cap = near_cap(0.5, |v| {
                looks += usize::from(wide);
                above(v)
            });
            caps += usize::from(wide);
            assert!(cap == LARGEST || above(cap) <= 0.5, "trial {trial}");
            let near = cap - by_sorting(&x_i, &x_j) <= SAME || above(cap) >= 0.5 * (1.0 - NEAR);
            assert!(near, "trial {trial}: {cap}");
        }
        assert!(looks < 6 * caps, "{looks} looks for {caps} caps");
    }

    /// Small counts, many of them zero, so that exact halves and ties occur.
    fn counts(f: usize, n: usize, seed: u64) -> Vec<Vec<f64>> {
        let mut random = random(seed);
        let mut row = || -> Vec<f64> {
            (0..n).map(|_| f64::from(random.random_range(0..6u8).saturating_sub(2))).collect()
        };
        (0..f)
            .map(|_| {
                loop {
                    let row = row();
                    if row.iter().sum::<f64>() > 0.0 {
                        break row;
                    }
                }
            })
            .collect()
    }

    fn sparse_rows(rows: &[Vec<f64>]) -> UnitRows {
        let entries = |(i, row): (usize, &Vec<f64>)| {
            row.iter().enumerate().map(|(k, v)| (i, k, *v)).collect::<Vec<_>>()
        };
        let mut triplets: Vec<_> = rows.iter().enumerate().flat_map(entries).collect();
        triplets.retain(|t| t.2 != 0.0);
        let sparse = Sparse::from_triplets(rows.len(), rows[0].len(), &triplets).unwrap();
        UnitRows::new(&sparse.into()).unwrap()
    }

    /// At least `u_ij`, see the module: an l1 fit of the unit row `x_i` needs no weight above this on the
    /// unit row `x_j`, whatever the other rows are. Larger than `u_ij` by rounding only. `length` is that of
    /// both rows. O(length).
    fn weight_cap(x_i: Row<'_>, x_j: Row<'_>, length: usize) -> f64 {
        let mut dense = vec![0.0; length];
        x_i.write_to(1.0, &mut dense);
        Medians::default().cap(&dense, x_j)
    }

    #[test]
    fn caps_are_weighted_medians_dense_and_sparse() {
        for seed in 0..30 {
            let x = unit_rows(&counts(7, 9, seed));
            let sparse = sparse_rows(&counts(7, 9, seed));
            let all: Vec<usize> = (0..x.features()).collect();
            let caps = WeightCaps::new(&x, &all);
            for i in 0..x.features() {
                for j in 0..x.features() {
                    let expected = by_sorting(&x.dense_row(i), &x.dense_row(j));
                    let found = caps.row(i)[j];
                    assert!(
                        found >= expected && found <= expected * (1.0 + 1e-13),
                        "{found} {expected}"
                    );
                    assert!(found <= 2.0);
                    let one = weight_cap(sparse.row(i), sparse.row(j), x.examples());
                    assert!((one - expected).abs() <= 1e-13, "{one} {expected}");
                }
                assert!((caps.row(i)[i] - 1.0).abs() < 1e-13);
            }
        }
    }

    /// What the whole idea rests on: bounds on all weights at once change no fit.
    #[test]
    fn bounded_by_their_caps_fits_are_as_good() {
        let mut binding = 0;
        for seed in 0..60 {
            let x = unit_rows(&counts(8, 10, seed));
            let all: Vec<usize> = (0..x.features()).collect();
            let caps = WeightCaps::new(&x, &all);
            let chosen = [1, 3, 4, 6];
            let rows: Vec<Vec<f64>> = chosen.iter().map(|&j| x.dense_row(j)).collect();
            let atoms = Dense::from_rows(&rows).unwrap();
            for i in 0..x.features() {
                let upper: Vec<f64> = chosen.iter().map(|&j| caps.row(i)[j]).collect();
                let free = fit(&atoms, &x.dense_row(i), None).unwrap();
                let bounded = fit(&atoms, &x.dense_row(i), Some(&upper)).unwrap();
                assert!((free.value - bounded.value).abs() < 1e-12, "seed {seed}, row {i}");
                binding += upper.iter().filter(|u| **u < 1.0).count();
                // Much below the caps it would not be so.
                let tight: Vec<f64> = upper.iter().map(|u| 0.5 * u).collect();
                assert!(
                    fit(&atoms, &x.dense_row(i), Some(&tight)).unwrap().value >= free.value - 1e-12
                );
            }
        }
        assert!(binding > 1000, "most caps are below one: {binding}");
    }
}
