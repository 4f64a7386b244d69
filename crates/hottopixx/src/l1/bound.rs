//! What a dual proves about a fit, from the data alone.
//!
//! For any y with `-down <= y <= up` and any feasible c, `||x - cA||_1 >= y.x - x.1 - sum_j c_j (A_j.y -
//! q_j)` (hinge; without the terms `x.1` and q for the absolute loss). So a y proves
//!
//! `y.x - x.1 - sum_j u_j (A_j.y - q_j)_+`
//!
//! where all u are finite, and where one is not `A_j.y <= q_j` must hold. The vertex walk knows its
//! reduced costs `q - A y` only up to the errors of its inverse; here they are formed anew, and y is
//! changed until it is feasible. Nothing that the walk believes enters. O(m n), three or four pivots.

use super::design::Loss;
use super::solver::Problem;
use crate::kernels::{axpy, dot, max_abs};

/// Sweeps over the atoms after which a dual of the absolute loss is given up.
const SWEEPS: usize = 40;
/// Rounding of a sum of products of vectors of unit size: what a sign must exceed to be believed.
pub(super) const ROUNDING: f64 = 1e-14;

/// Makes `dual` feasible and says what it proves; never more than `value`, which is achieved, up to
/// rounding. Bounds of errors below zero are zero.
pub(super) fn prove(p: &Problem<'_>, dual: &mut [f64], value: f64) -> f64 {
    let feasible = match p.design.loss {
        Loss::Hinge => scale_to_feasible(p, dual),
        Loss::Absolute => shift_to_feasible(p, dual),
    };
    if !feasible {
        dual.fill(neutral(p.design.loss));
        return 0.0;
    }
    let mut bound = dot(dual, p.x) + p.offset();
    for j in p.usable.iter().map(|j| *j as usize) {
        let u = p.upper(j);
        if u.is_finite() && u > 0.0 {
            bound -= u * (p.design.price(j, dual) - p.design.linear[j]).max(0.0);
        }
    }
    let bound = bound.max(0.0);
    // Both are sums of n terms: a bound above an achieved value by their rounding is that value.
    if bound > value && bound - value <= ROUNDING * p.mass() { value } else { bound }
}

/// The dual that proves nothing, and is feasible for every problem.
fn neutral(loss: Loss) -> f64 {
    0.5 * (loss.up() - loss.down())
}

/// Divides y by what the dearest atom without upper bound costs too much. Atoms and duals of the
/// hinge form are not negative, so that any y can be scaled down.
fn scale_to_feasible(p: &Problem<'_>, dual: &mut [f64]) -> bool {
    let mut scale = 1.0f64;
    for j in p.usable.iter().map(|j| *j as usize).filter(|&j| p.upper(j).is_infinite()) {
        let (price, q) = (p.design.price(j, dual), p.design.linear[j]);
        if price > q {
            scale = scale.min(q / price * (1.0 - ROUNDING));
        }
    }
    if scale < 1.0 {
        dual.iter_mut().for_each(|y| *y *= scale);
    }
    scale.is_finite()
}

/// Moves y away from every atom without upper bound that it points along, until it points along
/// none; then scales it into [-1, 1], which changes no sign. False when that does not end.
fn shift_to_feasible(p: &Problem<'_>, dual: &mut [f64]) -> bool {
    let open: Vec<usize> =
        p.usable.iter().map(|j| *j as usize).filter(|&j| p.upper(j).is_infinite()).collect();
    for _ in 0..SWEEPS {
        let mut moved = false;
        for &j in &open {
            let atom = p.design.atom(j);
            let price = p.design.price(j, dual);
            if price > -ROUNDING / 2.0 {
                axpy(-(price + ROUNDING) / dot(atom, atom), atom, dual);
                moved = true;
            }
        }
        if !moved {
            let largest = max_abs(dual);
            if largest > 1.0 {
                dual.iter_mut().for_each(|y| *y /= largest);
            }
            return true;
        }
    }
    false
}
