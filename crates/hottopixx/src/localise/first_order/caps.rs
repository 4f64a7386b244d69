//! How much weight a row can use of another.
//!
//! Let `u_ij` be the least v for which x_i is below `v x_j` on at least half of the mass of x_j: the
//! median of the ratios `x_ik / x_jk` under the weights `x_jk`. Among the weights that explain x_i
//! best by any rows there are some with `c_j <= u_ij` for all j at once. For take those of the least
//! sum: if `c_j` were larger, the mixture would exceed x_i on at least half of the mass of x_j,
//! whatever the others add, so lowering `c_j` would not raise the error. By Markov's inequality
//! `u_ij <= 2`; on real data most are below 1, and 0 where x_i vanishes on half of x_j.

use crate::control::Control;
use crate::kernels::mass_below;
use crate::l1::near_cap;
use rayon::prelude::*;

/// What single precision may take from a mass near one half.
const ROUNDING: f32 = 1e-5;

/// At least about `u_ij` for rows of unit sum, and not much above ([`near_cap`]). O(n).
pub(super) fn weight_cap(x_i: &[f32], x_j: &[f32]) -> f32 {
    let above = |v: f64| 1.0 - f64::from(mass_below(x_i, x_j, v as f32) - ROUNDING);
    near_cap(0.5, above) as f32
}

/// `u_iq` for all rows of x (f x n) and the given atoms (m x n), row-major f x m; one where a row is
/// the atom's own. `None` when stopped.
pub(super) fn caps(
    x: &[f32],
    atoms: &[f32],
    n: usize,
    own: &[Option<usize>],
    control: &Control,
) -> Option<Vec<f32>> {
    let m = own.len();
    let mut caps = vec![1.0f32; x.len() / n * m];
    if m == 0 {
        return Some(caps);
    }
    let done = caps.par_chunks_mut(m).zip(x.par_chunks(n)).enumerate().all(|(i, (caps, row))| {
        let goes_on = control.goes_on();
        if goes_on {
            for ((cap, atom), own) in caps.iter_mut().zip(atoms.chunks_exact(n)).zip(own) {
                if *own != Some(i) {
                    *cap = weight_cap(row, atom);
                }
            }
        }
        goes_on
    });
    done.then_some(caps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cap_is_the_weighted_median_of_the_ratios() {
        // Ratios 0, 1, 3 with weights .3, .5, .2: the median is 1.
        let cap = weight_cap(&[0.0, 0.5, 0.6], &[0.3, 0.5, 0.2]);
        assert!((1.0..1.01).contains(&cap), "{cap}");
        // Nothing on half of the mass.
        assert!(weight_cap(&[0.0, 1.0], &[0.6, 0.4]) < 0.01);
        // All of the mass of x_j is less than half of x_i: at most 2.
        assert!((1.99..=2.0).contains(&weight_cap(&[1.0, 0.0], &[0.5, 0.5])));
    }
}
