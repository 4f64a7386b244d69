//! Bounded least squares on a Gram matrix, nearly: where good l1 fits start from.

use crate::kernels::{axpy, dot};

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
            let curvature = a[at * k + at].max(f64::MIN_POSITIVE);
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

/// Sweeps before the first free set of [`minimise_in_box`], and most free sets.
const FIRST_SWEEPS: usize = 8;
const FREE_SETS: usize = 40;
/// What is added to the diagonal, relative to its largest entry, so that it can be factorised, and
/// the gain per unit of weight, relative to the same, that is none.
const RIDGE: f64 = 1e-12;
const NO_GAIN: f64 = 1e-9;
/// Weights are set free together that gain at least this share of the most.
const TOGETHER: f64 = 0.5;

/// `min 1/2 c A c - b c` over `0 <= c <= upper`, nearly, from the given c and `gap = b - A c`, by an
/// active set method. Some sweeps of coordinate descent tell which weights are at their bounds; then
/// it goes to the minimum over the others, holding those that meet a bound on the way, and sets free
/// what gains by it. `A` is k x k and symmetric; each step costs `k p + p^3 / 3`, p weights being free.
pub(crate) fn minimise_in_box(a: &[f64], gap: &mut [f64], c: &mut [f64], upper: &[f64]) {
    let k = c.len();
    let scale = (0..k).map(|j| a[j * k + j]).fold(f64::MIN_POSITIVE, f64::max);
    descend(a, gap, c, Some(upper), FIRST_SWEEPS, NO_GAIN);
    let mut free: Vec<usize> = (0..k).filter(|&j| c[j] > 0.0 && c[j] < upper[j]).collect();
    let (mut factor, mut step) = (Vec::new(), Vec::new());
    for _ in 0..FREE_SETS {
        let mut moved = false;
        while !free.is_empty() {
            factor.clear();
            factor.extend(free.iter().flat_map(|&i| free.iter().map(move |&j| a[i * k + j])));
            (0..free.len()).for_each(|at| factor[at * free.len() + at] += RIDGE * scale);
            step.clear();
            step.extend(free.iter().map(|&j| gap[j]));
            if !cholesky_solve(&mut factor, &mut step) {
                return;
            }
            let (mut share, mut blocking) = (1.0, None);
            for (at, (&j, &step)) in free.iter().zip(&step).enumerate() {
                let room = if step < 0.0 { c[j] } else { upper[j] - c[j] };
                if room < share * step.abs() {
                    (share, blocking) = (room / step.abs(), Some(at));
                }
            }
            moved |= share > 0.0;
            for (at, (&j, &step)) in free.iter().zip(&step).enumerate() {
                let new = match blocking {
                    Some(blocking) if blocking == at && step < 0.0 => 0.0,
                    Some(blocking) if blocking == at => upper[j],
                    _ => (c[j] + share * step).clamp(0.0, upper[j]),
                };
                axpy(c[j] - new, &a[j * k..(j + 1) * k], gap);
                c[j] = new;
            }
            let Some(blocking) = blocking else { break };
            free.swap_remove(blocking);
        }
        let gain = |j: usize| match () {
            () if c[j] <= 0.0 => gap[j],
            () if c[j] >= upper[j] => -gap[j],
            () => 0.0,
        };
        let most = (0..k).map(gain).fold(0.0, f64::max);
        if most <= NO_GAIN * scale {
            return;
        }
        // Of several set free together some may be held again at once; the best one moves.
        let least = if moved { TOGETHER * most } else { most };
        free.retain(|&j| c[j] > 0.0 && c[j] < upper[j]);
        free.extend((0..k).filter(|&j| gain(j) >= least));
    }
}

/// Solves `H z = v` in place from the lower triangle of H, which is overwritten; false when H is
/// not positive definite.
pub(crate) fn cholesky_solve(h: &mut [f64], v: &mut [f64]) -> bool {
    let m = v.len();
    for p in 0..m {
        let (done, now) = h.split_at_mut(p * m);
        for q in 0..p {
            let known = dot(&now[..q], &done[q * m..q * m + q]);
            now[q] = (now[q] - known) / done[q * m + q];
        }
        let rest = now[p] - dot(&now[..p], &now[..p]);
        if rest <= 1e-12 * now[p] {
            return false;
        }
        now[p] = rest.sqrt();
    }
    for p in 0..m {
        v[p] = (v[p] - dot(&h[p * m..p * m + p], &v[..p])) / h[p * m + p];
    }
    for p in (0..m).rev() {
        v[p] /= h[p * m + p];
        let value = v[p];
        axpy(-value, &h[p * m..p * m + p], &mut v[..p]);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows that are nearly alike, which coordinate descent is slow on: weights between their bounds
    /// have no gain, those at a bound none by leaving it.
    #[test]
    fn the_minimum_in_a_box_is_one() {
        let mut state = 3u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as f64 / (1u64 << 31) as f64
        };
        let (k, n) = (12, 40);
        let base: Vec<f64> = (0..n).map(|_| next()).collect();
        let rows: Vec<Vec<f64>> =
            (0..k).map(|_| base.iter().map(|b| b + 0.1 * next()).collect()).collect();
        let target: Vec<f64> = (0..n).map(|at| 0.4 * rows[0][at] + 0.8 * rows[5][at]).collect();
        let a: Vec<f64> = rows.iter().flat_map(|r| rows.iter().map(move |s| dot(r, s))).collect();
        let b: Vec<f64> = rows.iter().map(|r| dot(r, &target)).collect();
        let upper: Vec<f64> = (0..k).map(|j| if j == 5 { 0.3 } else { 0.25 * next() }).collect();
        let (mut c, mut gap) = (vec![0.0; k], b.clone());
        minimise_in_box(&a, &mut gap, &mut c, &upper);
        let mut inside = 0;
        for j in 0..k {
            let slope = b[j] - dot(&a[j * k..(j + 1) * k], &c);
            assert!((slope - gap[j]).abs() < 1e-9, "gap {j} is not up to date");
            assert!((0.0..=upper[j]).contains(&c[j]));
            assert!(c[j] == upper[j] || slope < 1e-6, "{j} could be raised: {slope}");
            assert!(c[j] == 0.0 || slope > -1e-6, "{j} could be lowered: {slope}");
            inside += usize::from(c[j] > 0.0 && c[j] < upper[j]);
        }
        assert!(inside > 1 && inside < k, "{c:?}");
    }
}
