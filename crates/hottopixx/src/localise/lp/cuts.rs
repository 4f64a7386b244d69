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
    /// with S the [least value](Diagonals::least) of a linear function over the diagonals. Multipliers whose
    /// sums are too large are scaled down first. O(cuts * columns).
    pub fn bound(
        &self,
        multipliers: &[(usize, f64)],
        goal: Goal,
        cost: &[f64],
        diagonals: &Diagonals,
    ) -> f64 {
        let multipliers = self.feasible(multipliers, goal);
        let (mut value, mut coefficients) = (0.0, cost.to_vec());
        for &(label, multiplier) in &multipliers {
            let cut = &self.cuts[label];
            let tau = if let Goal::Cost { tau } = goal { tau } else { 0.0 };
            value += multiplier * (cut.right - tau);
            axpy(-multiplier, &cut.columns, &mut coefficients);
        }
        value + diagonals.least(&mut coefficients)
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

/// The diagonals that a program is over: `0 <= d <= 1`, `d_j = 1` for the rows that must be hott, and `sum d = rank`.
#[derive(Debug, Clone, Default)]
pub(super) struct Diagonals {
    /// r, if the trace is not free.
    pub rank: Option<usize>,
    /// The columns of the rows that must be hott: no more than r.
    pub must: Vec<usize>,
}

impl Diagonals {
    /// `min a.d`: with the coefficients of the rows that must be hott, the sum of the smallest others, as many as are
    /// left of the rank, or of the negative ones where the trace is free. Reorders `a`.
    pub fn least(&self, a: &mut [f64]) -> f64 {
        let taken: f64 = self.must.iter().map(|&j| a[j]).sum();
        self.set_aside(a);
        let Some(left) = self.left() else {
            return taken + a.iter().map(|a| a.min(0.0)).sum::<f64>();
        };
        let count = left.min(a.len() - self.must.len());
        if count < a.len() {
            a.select_nth_unstable_by(count, f64::total_cmp);
        }
        taken + a[..count].iter().sum::<f64>()
    }

    /// The largest of the coefficients that [`Diagonals::least`] takes beside those that it must: cheaper columns would
    /// lower it. Reorders `a`.
    pub fn threshold(&self, a: &mut [f64]) -> f64 {
        self.set_aside(a);
        match self.left() {
            Some(0) => f64::NEG_INFINITY,
            Some(left) => *a.select_nth_unstable_by(left - 1, f64::total_cmp).1,
            None => 0.0,
        }
    }

    /// Rows of the rank beside those that must be hott.
    fn left(&self) -> Option<usize> {
        self.rank.map(|rank| rank - self.must.len())
    }

    fn set_aside(&self, a: &mut [f64]) {
        self.must.iter().for_each(|&j| a[j] = f64::INFINITY);
    }

    /// Moves d in [0, 1] onto `sum d = r`: scaled down, or up towards one, in proportion, but for the rows that must be
    /// hott.
    pub fn keep_trace(&self, d: &mut [f64]) {
        let Some(rank) = self.rank else { return };
        let (rank, sum) = (rank as f64, d.iter().sum::<f64>());
        if sum > rank {
            let must = self.must.len() as f64;
            let share = (rank - must) / (sum - must);
            d.iter_mut().for_each(|d| *d *= share);
            self.must.iter().for_each(|&j| d[j] = 1.0);
        } else if sum < rank {
            let room = d.len() as f64 - sum;
            let share = ((rank - sum) / room).min(1.0);
            d.iter_mut().for_each(|d| *d += share * (1.0 - *d));
        }
    }
}
