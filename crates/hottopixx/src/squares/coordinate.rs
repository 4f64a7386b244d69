//! Bounded least squares on a Gram matrix, nearly: where good l1 fits start from.

use crate::kernels::axpy;

/// Sweeps of [`approximate`], and the move of a weight that is too small for another one.
const SWEEPS: usize = 200;
const STILL: f64 = 1e-7;

/// `min 1/2 c A c - b c` over `c >= 0`, nearly, for A and b without negative entries. It begins with
/// the best equal weights: the direction in which rows of unit sum look alike is the one that
/// coordinate descent is slow in.
pub(crate) fn approximate(a: &[f64], b: &[f64]) -> Vec<f64> {
    let k = b.len();
    let equal = b.iter().sum::<f64>() / a.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let mut c = vec![equal; k];
    let mut gap = b.to_vec();
    for at in 0..k {
        axpy(-equal, &a[at * k..(at + 1) * k], &mut gap);
    }
    descend(a, &mut gap, &mut c, None, SWEEPS, STILL);
    c
}

/// Coordinate descent on `1/2 c A c - b c` over `0 <= c <= upper`, `A` k x k, from the given c and
/// `gap = b - A c`, both of which it keeps up to date. It ends after this many sweeps, or after one
/// that moved no weight by `enough`. O(k^2) a sweep, whatever the number of columns.
pub(crate) fn descend(
    a: &[f64],
    gap: &mut [f64],
    c: &mut [f64],
    upper: Option<&[f64]>,
    sweeps: usize,
    enough: f64,
) {
    let k = c.len();
    for _ in 0..sweeps {
        let mut moved = 0.0f64;
        for at in 0..k {
            let curvature = a[at * k + at];
            let most = upper.map_or(f64::INFINITY, |u| u[at]);
            let new = (c[at] + gap[at] / curvature).clamp(0.0, most);
            let change = new - c[at];
            if change != 0.0 {
                c[at] = new;
                axpy(-change, &a[at * k..(at + 1) * k], gap);
                moved = moved.max(change.abs());
            }
        }
        if moved < enough {
            break;
        }
    }
}
