//! Multipliers, reduced costs and values at the current basis, corrected to rounding, and the costs
//! that stand in for the true ones when pivots gain nothing.

use super::{Master, VariablePlace};
use crate::kernels::{axpy, max_abs};

/// Corrections of multipliers, and reduced costs of free variables that need none.
const CORRECTIONS: usize = 3;
const ROUNDED: f64 = 1e-14;
/// By how much costs are perturbed, relative to them.
const PERTURBATION: f64 = 1e-8;

impl Master {
    /// Multipliers `M lambda = c_free` and reduced costs `z = c - lambda A`. Those of free variables
    /// are zero but for the inverse's error, and correct the multipliers.
    pub(super) fn price(&mut self) {
        self.small.clear();
        self.small.extend(self.free.iter().map(|&v| self.cost[v as usize]));
        self.inverse.times(&self.small, &mut self.multipliers);
        self.reduced.copy_from_slice(&self.cost);
        let mut change = self.multipliers.clone();
        let mut off = f64::INFINITY;
        for _ in 0..CORRECTIONS {
            for (&c, &change) in self.tight.iter().zip(&change) {
                let constraint = &self.constraints[c as usize];
                axpy(-change, &constraint.columns, &mut self.reduced[self.slacks..]);
                if let Some(slack) = constraint.slack {
                    self.reduced[slack as usize] -= change;
                }
            }
            self.small.clear();
            self.small.extend(self.free.iter().map(|&v| self.reduced[v as usize]));
            let now = max_abs(&self.small);
            if now <= ROUNDED || now >= 0.5 * off {
                break;
            }
            off = now;
            self.inverse.times(&self.small, &mut change);
            axpy(1.0, &change, &mut self.multipliers);
        }
    }

    /// Puts every column that is not free at the bound its reduced cost asks for.
    pub(super) fn rest_columns(&mut self) {
        for v in self.slacks..self.cost.len() {
            match self.place[v] {
                VariablePlace::Lower if self.reduced[v] < -1e-13 => {
                    self.place[v] = VariablePlace::Upper
                }
                VariablePlace::Upper if self.reduced[v] > 1e-13 => {
                    self.place[v] = VariablePlace::Lower
                }
                _ => {}
            }
        }
    }

    /// Values of all variables: the free ones from `v_free M = b - (columns at one)`, where asked
    /// for corrected until the tight constraints hold to rounding. Returns by how much one does not,
    /// where it was corrected.
    pub(super) fn evaluate(&mut self, corrected: bool) -> f64 {
        let mut at_one = Vec::new();
        for v in 0..self.values.len() {
            let (lower, upper) = self.range(v);
            self.values[v] = match self.place[v] {
                VariablePlace::Lower => lower,
                VariablePlace::Upper => upper,
                VariablePlace::Free => 0.0,
            };
            if self.values[v] == 1.0 {
                at_one.push(v - self.slacks);
            }
        }
        self.small.clear();
        for &c in &self.tight {
            let constraint = &self.constraints[c as usize];
            let rest: f64 = at_one.iter().map(|&j| constraint.columns[j]).sum();
            self.small.push(constraint.right - rest);
        }
        let mut free = std::mem::take(&mut self.fall);
        let times_m = |v: &[f64], out: &mut Vec<f64>| {
            out.clear();
            out.extend(self.tight.iter().map(|&c| {
                let entries = self.free.iter().map(|&v| self.entry(c as usize, v as usize));
                entries.zip(v).map(|(entry, v)| entry * v).sum::<f64>()
            }));
        };
        let missed = if corrected {
            self.inverse.left_solve(&self.small, times_m, &mut free)
        } else {
            self.inverse.left_times(&self.small, &mut free);
            0.0
        };
        for (&v, &value) in self.free.iter().zip(&free) {
            self.values[v as usize] = value;
        }
        self.fall = free;
        missed
    }

    /// Breaks ties among the costs: pivots that raise no bound may go round in circles. Any costs
    /// will do to find a point that keeps the cuts, and bounds are computed for the true ones.
    pub(super) fn perturb_costs(&mut self) {
        if self.true_cost.is_empty() {
            self.true_cost.clone_from(&self.cost);
        }
        let scale = PERTURBATION * max_abs(&self.true_cost).max(1.0);
        for v in self.slacks..self.cost.len() {
            self.cost[v] += scale * (0.5 + self.random());
        }
        self.price();
    }

    /// Takes perturbations back; whether there were any.
    pub(super) fn restore_costs(&mut self) -> bool {
        let perturbed = !self.true_cost.is_empty();
        if perturbed {
            self.cost = std::mem::take(&mut self.true_cost);
        }
        perturbed
    }

    /// A number in [0, 1), the same in every run.
    pub(super) fn random(&mut self) -> f64 {
        self.noise ^= self.noise << 13;
        self.noise ^= self.noise >> 7;
        self.noise ^= self.noise << 17;
        (self.noise >> 11) as f64 / (1u64 << 53) as f64
    }
}
