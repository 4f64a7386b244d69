//! The largest weight that a row needs on another, rounded up: the median that `l1/caps.rs` derives,
//! by sorting.

use super::rows::Rows;
use crate::certify::rounding::{Sum, div_up, mul_up};

/// No cap is larger: the mean of the ratios is at most one, and half of the mass is above the median.
const LARGEST: f64 = 2.0;

impl Rows<'_> {
    /// Row i as it was given, all its entries.
    pub(in crate::certify) fn given(&self, i: usize) -> Vec<f64> {
        let mut given = vec![0.0; self.x.examples()];
        self.x.row(i).unscaled().nonzeros().for_each(|(k, v)| given[k] = v);
        given
    }

    /// At least `u_ij`, the infimum of the v with `x_ik < v x_jk` on half of `x_j`'s mass. `given` is row
    /// i as it was given.
    ///
    /// With `v_i, v_j` the rows as given and `s_i, s_j` their sums, `x_ik / x_jk = (v_ik / v_jk) (s_j /
    /// s_i)`. The ratios `v_ik / v_jk` are rounded up, so that the k with a rounded ratio of at most
    /// rho all have a ratio of at most rho: if their mass is half of `s_j`, `u_ij <= rho s_j / s_i`.
    /// Masses are compared by a sum whose error is known. O(n log n).
    pub(in crate::certify) fn cap(&self, i: usize, given: &[f64], j: usize) -> f64 {
        let entries = self.x.row(j).unscaled().nonzeros();
        let mut pairs: Vec<(f64, f64)> = entries.map(|(k, v)| (div_up(given[k], v), v)).collect();
        pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut more: Sum = pairs.iter().map(|pair| -pair.1).collect();
        for (ratio, mass) in pairs {
            more.add(2.0 * mass);
            if more.lower() >= 0.0 {
                let units = div_up(self.sums[j].high, self.sums[i].low);
                let cap = mul_up(ratio, units);
                return if cap < LARGEST { cap } else { LARGEST };
            }
        }
        LARGEST
    }
}
