//! Cuts, and the bounds that their multipliers prove.
//!
//! For any `y` with `|y| <= 1` (the dual of a row's fit, exact or not),
//!
//! ```text
//! phi_i(d) >= y.x_i - sum_j d_j (x_j.y)_+
//! ```
//!
//! so `sum_j (x_j.y)_+ d_j + t_i >= y.x_i`, where t_i is what row i may miss (tau, t, or its own
//! t_i), holds at every feasible point. From cuts with multipliers `lambda >= 0` follows a bound
//! by weak duality, whatever made the multipliers: see [`Pool::bound`].

use crate::Goal;
use crate::control::Control;
use crate::kernels::axpy;
use crate::kernels::parallel::*;
use crate::normalise::UnitRows;

/// A dual `|y| <= 1` over the examples, one bit per entry: all are +1 or -1 except at the active
/// points of the vertex it comes from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Dual {
    above: Vec<u64>,
    between: Vec<(u32, f64)>,
}

impl Dual {
    pub fn new(y: &[f64]) -> Self {
        let mut above = vec![0u64; y.len().div_ceil(64)];
        let mut between = Vec::new();
        for (k, &y) in y.iter().enumerate() {
            if y == 1.0 {
                above[k / 64] |= 1 << (k % 64);
            } else if y != -1.0 {
                between.push((k as u32, y));
            }
        }
        Dual { above, between }
    }

    /// `out += factor * y`.
    pub fn add_to(&self, factor: f64, out: &mut [f64]) {
        for (word, chunk) in self.above.iter().zip(out.chunks_mut(64)) {
            for (k, out) in chunk.iter_mut().enumerate() {
                *out += if word >> k & 1 == 1 { factor } else { -factor };
            }
        }
        for &(k, y) in &self.between {
            out[k as usize] += factor * (y + 1.0);
        }
    }
}

/// A cut: `columns . d + (what row may miss) >= right`.
#[derive(Debug, Clone)]
pub(crate) struct Cut {
    /// The row of X it speaks of.
    pub row: usize,
    /// `(x_j.y)_+` by column in play.
    pub columns: Vec<f64>,
    /// `y.x_i`.
    pub right: f64,
    /// y.
    pub dual: Dual,
}

/// All cuts found so far, by label.
#[derive(Debug, Default)]
pub(super) struct Pool {
    pub cuts: Vec<Cut>,
    /// How much the error of each row counts in a total; empty where all count the same.
    pub weights: Vec<f64>,
}

impl Pool {
    /// What the multipliers (label, lambda >= 0) prove about the optimum of a program:
    ///
    /// ```text
    /// cost:     sum lambda (right - tau) + S(p - sum lambda columns)
    /// minimax:  sum lambda right + S(-sum lambda columns),  sum lambda <= 1
    /// total:    the same,  sum over each row's lambda <= 1, or its weight
    /// ```
    ///
    /// with S the least value of a linear function over the diagonals: the sum of the `rank`
    /// smallest coefficients, or of the negative ones without a trace constraint. Multipliers whose
    /// sums are too large are scaled down first. O(cuts * columns).
    pub fn bound(
        &self,
        multipliers: &[(usize, f64)],
        goal: Goal,
        cost: &[f64],
        rank: Option<usize>,
    ) -> f64 {
        let multipliers = self.feasible(multipliers, goal);
        let (mut value, mut coefficients) = (0.0, cost.to_vec());
        for &(label, multiplier) in &multipliers {
            let cut = &self.cuts[label];
            let tau = if let Goal::Cost { tau } = goal { tau } else { 0.0 };
            value += multiplier * (cut.right - tau);
            axpy(-multiplier, &cut.columns, &mut coefficients);
        }
        value + least(&mut coefficients, rank)
    }

    /// `(x_j.y)_+` for the given rows of X, one list per cut of `labels`; `None` when stopped.
    /// O(labels * entries).
    pub fn price(
        &self,
        x: &UnitRows,
        rows: &[usize],
        labels: &[usize],
        control: &Control,
    ) -> Option<Vec<Vec<f64>>> {
        labels
            .par_iter()
            .map_init(
                || (vec![0.0; x.examples()], control.watch()),
                |(y, watch), &label| {
                    y.fill(0.0);
                    self.cuts[label].dual.add_to(1.0, y);
                    let price = |&j: &usize| {
                        let row = x.row(j);
                        let stopped = watch.spend(row.stored()).is_some();
                        (!stopped).then(|| row.dot(y).max(0.0))
                    };
                    rows.iter().map(price).collect()
                },
            )
            .collect()
    }

    /// Extends every cut to rows of X that come into play; false when it was stopped, and nothing
    /// has changed.
    pub fn add_columns(&mut self, x: &UnitRows, new: &[usize], control: &Control) -> bool {
        let labels: Vec<usize> = (0..self.cuts.len()).collect();
        let Some(prices) = self.price(x, new, &labels, control) else { return false };
        for (cut, prices) in self.cuts.iter_mut().zip(prices) {
            cut.columns.extend(prices);
        }
        true
    }

    /// The multipliers, scaled down where they sum to more than the slacks allow.
    pub fn feasible(&self, multipliers: &[(usize, f64)], goal: Goal) -> Vec<(usize, f64)> {
        let scale: Box<dyn Fn(usize) -> f64> = match goal {
            Goal::Cost { .. } => Box::new(|_| 1.0),
            Goal::Minimax => {
                let sum: f64 = multipliers.iter().map(|m| m.1).sum();
                Box::new(move |_| 1.0 / sum.max(1.0))
            }
            Goal::Total => {
                let mut sums = std::collections::HashMap::new();
                for &(label, multiplier) in multipliers {
                    *sums.entry(self.cuts[label].row).or_insert(0.0) += multiplier;
                }
                Box::new(move |label| {
                    let row = self.cuts[label].row;
                    let most = self.weights.get(row).copied().unwrap_or(1.0);
                    if sums[&row] > most { most / sums[&row] } else { 1.0 }
                })
            }
        };
        multipliers.iter().map(|&(label, multiplier)| (label, multiplier * scale(label))).collect()
    }

    /// `Y = sum lambda y` by row of X: the dual matrix that proves the bound on its own.
    pub fn dual_rows(
        &self,
        multipliers: &[(usize, f64)],
        examples: usize,
    ) -> Vec<(usize, Vec<f64>)> {
        let mut rows = std::collections::BTreeMap::new();
        for &(label, multiplier) in multipliers {
            let cut = &self.cuts[label];
            let y = rows.entry(cut.row).or_insert_with(|| vec![0.0; examples]);
            cut.dual.add_to(multiplier, y);
        }
        rows.into_iter().collect()
    }
}

/// `sum w_i e_i`; without weights all count the same.
pub(super) fn total(errors: &[f64], weights: &[f64]) -> f64 {
    match weights {
        [] => errors.iter().sum(),
        weights => errors.iter().zip(weights).map(|(error, weight)| weight * error).sum(),
    }
}

/// `min a.d` over `0 <= d <= 1`, `sum d = rank` (or no such constraint). Reorders `a`.
pub(super) fn least(a: &mut [f64], rank: Option<usize>) -> f64 {
    match rank {
        Some(rank) if rank < a.len() => {
            a.select_nth_unstable_by(rank, f64::total_cmp);
            a[..rank].iter().sum()
        }
        Some(_) => a.iter().sum(),
        None => a.iter().map(|a| a.min(0.0)).sum(),
    }
}
