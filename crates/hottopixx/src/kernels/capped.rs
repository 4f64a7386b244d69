//! Loops of the first-order method, in single precision; see `vector` for how they are compiled.

#![allow(unsafe_code)]

use super::vector::dispatched;

dispatched! {
    /// Entries of a row that are above their column's level times their cap: adds `u z` to `sums`
    /// and `u^2` to `squares` of their columns.
    pub fn add_capped_above(
        row: &[f32], caps: &[f32], levels: &[f32], sums: &mut [f32], squares: &mut [f32]
    ) {
        let m = row.len();
        let (caps, levels) = (&caps[..m], &levels[..m]);
        let (sums, squares) = (&mut sums[..m], &mut squares[..m]);
        for q in 0..m {
            let above = row[q] > caps[q] * levels[q];
            sums[q] += if above { caps[q] * row[q] } else { 0.0 };
            squares[q] += if above { caps[q] * caps[q] } else { 0.0 };
        }
    }
}

dispatched! {
    /// Every entry of a row to the nearest between 0 and its column's level times its cap.
    pub fn clip_capped(row: &mut [f32], caps: &[f32], levels: &[f32]) {
        let m = row.len();
        let (caps, levels) = (&caps[..m], &levels[..m]);
        for q in 0..m {
            let top = caps[q] * levels[q];
            let low = if row[q] > 0.0 { row[q] } else { 0.0 };
            row[q] = if low < top { low } else { top };
        }
    }
}

dispatched! {
    /// `sum of u_q (row_q)_+` per column, added to `sums`.
    pub fn add_capped_positive(row: &[f32], caps: &[f32], sums: &mut [f32]) {
        let m = row.len();
        let (caps, sums) = (&caps[..m], &mut sums[..m]);
        for q in 0..m {
            sums[q] += if row[q] > 0.0 { caps[q] * row[q] } else { 0.0 };
        }
    }
}

dispatched! {
    /// Where a step would take the dual if nothing held it: `fit = y + step (x - fit)`.
    pub fn dual_step(y: &[f32], fit: &mut [f32], x: &[f32], steps: &[f32]) {
        let n = fit.len();
        let (y, x, steps) = (&y[..n], &x[..n], &steps[..n]);
        for k in 0..n {
            fit[k] = y[k] + steps[k] * (x[k] - fit[k]);
        }
    }
}

dispatched! {
    /// The dual after its step, with its reflection and its pull towards the anchor:
    /// `new = clip(moved - shift turn, -1, 1)`, `y = keep (2 new - y) + (1 - keep) anchor`. `moved` receives
    /// `new`.
    pub fn dual_clip(
        y: &mut [f32], moved: &mut [f32], shift: (f32, &[f32]), pull: (f32, &[f32])
    ) {
        let n = y.len();
        let ((shift, turn), (keep, anchor)) = (shift, pull);
        let (moved, anchor, turn) = (&mut moved[..n], &anchor[..n], &turn[..n]);
        for k in 0..n {
            let new = unit(moved[k] - shift * turn[k]);
            y[k] = keep * (2.0 * new - y[k]) + (1.0 - keep) * anchor[k];
            moved[k] = new;
        }
    }
}

/// Clipped to [-1, 1].
#[inline(always)]
fn unit(v: f32) -> f32 {
    let low = if v > -1.0 { v } else { -1.0 };
    if low < 1.0 { low } else { 1.0 }
}

dispatched! {
    /// With `new = clip(moved - shift turn, -1, 1)`: the sum of `mass_k new_k`, and that of `mass_k turn_k` where
    /// nothing was clipped, by which the first falls when the shift grows.
    pub fn mass_after_shift(moved: &[f32], mass: &[f32], turn: &[f32], shift: f32) -> (f32, f32) {
        let n = moved.len();
        let (mass, turn) = (&mass[..n], &turn[..n]);
        let (mut sums, mut free) = ([0.0f32; LANES], [0.0f32; LANES]);
        let whole = n - n % LANES;
        for start in (0..whole).step_by(LANES) {
            let (x, y) = (&moved[start..][..LANES], &mass[start..][..LANES]);
            let z = &turn[start..][..LANES];
            for l in 0..LANES {
                let v = x[l] - shift * z[l];
                let new = unit(v);
                sums[l] += y[l] * new;
                free[l] += if new == v { y[l] * z[l] } else { 0.0 };
            }
        }
        for k in whole..n {
            let v = moved[k] - shift * turn[k];
            let new = unit(v);
            sums[0] += mass[k] * new;
            free[0] += if new == v { mass[k] * turn[k] } else { 0.0 };
        }
        (sums.iter().sum(), free.iter().sum())
    }
}

const LANES: usize = 16;

dispatched! {
    /// The mass of `b` where `a` is below `factor` times it: `sum of b_k over a_k < factor b_k`.
    pub fn mass_below(a: &[f32], b: &[f32], factor: f32) -> f32 {
        let n = a.len().min(b.len());
        let (a, b) = (&a[..n], &b[..n]);
        let mut sums = [0.0f32; LANES];
        let (mut xs, mut ys) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
        for (x, y) in (&mut xs).zip(&mut ys) {
            for l in 0..LANES {
                sums[l] += if x[l] < factor * y[l] { y[l] } else { 0.0 };
            }
        }
        let rest = xs.remainder().iter().zip(ys.remainder());
        let rest: f32 = rest.map(|(x, y)| if *x < factor * y { *y } else { 0.0 }).sum();
        sums.iter().sum::<f32>() + rest
    }
}

dispatched! {
    /// The mass of `b` where `a` is above `factor` times it, in double precision: the sum of `b_k` over
    /// `a_k > factor b_k`, in 8 lanes, so that no term takes part in more than `n / 8 + 9` additions.
    pub fn mass_above(a: &[f64], b: &[f64], factor: f64) -> f64 {
        const LANES: usize = 8;
        let n = a.len().min(b.len());
        let (a, b) = (&a[..n], &b[..n]);
        let mut sums = [0.0f64; LANES];
        let (mut xs, mut ys) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
        for (x, y) in (&mut xs).zip(&mut ys) {
            for l in 0..LANES {
                sums[l] += if x[l] > factor * y[l] { y[l] } else { 0.0 };
            }
        }
        let rest = xs.remainder().iter().zip(ys.remainder());
        let rest: f64 = rest.map(|(x, y)| if *x > factor * y { *y } else { 0.0 }).sum();
        sums.iter().sum::<f64>() + rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Multiples of 1/64: sums are exact.
    fn numbers(n: usize, factor: usize) -> Vec<f32> {
        (0..n).map(|k| ((k * factor) % 101) as f32 / 64.0 - 0.5).collect()
    }

    #[test]
    fn agree_with_plain_loops_at_every_length() {
        for n in [0, 1, 15, 16, 40, 131] {
            let (z, w) = (numbers(n, 37), numbers(n, 11));
            let caps: Vec<f32> = numbers(n, 7).iter().map(|v| v.abs()).collect();
            let levels: Vec<f32> = numbers(n, 29).iter().map(|v| v.clamp(0.0, 1.0)).collect();
            let (mut sums, mut squares) = (vec![1.0; n], vec![2.0; n]);
            add_capped_above(&z, &caps, &levels, &mut sums, &mut squares);
            let mut clipped = z.clone();
            clip_capped(&mut clipped, &caps, &levels);
            let mut positive = vec![0.5; n];
            add_capped_positive(&z, &caps, &mut positive);
            for q in 0..n {
                let (u, top) = (caps[q], caps[q] * levels[q]);
                let above = z[q] > top;
                assert_eq!(sums[q], 1.0 + if above { u * z[q] } else { 0.0 });
                assert_eq!(squares[q], 2.0 + if above { u * u } else { 0.0 });
                assert_eq!(clipped[q], z[q].max(0.0).min(top));
                assert_eq!(positive[q], 0.5 + u * z[q].max(0.0));
            }
            let below: f32 =
                z.iter().zip(&w).filter(|(a, b)| **a < 0.5 * **b).map(|(_, b)| *b).sum();
            assert_eq!(mass_below(&z, &w, 0.5), below);
            let double = |v: &[f32]| v.iter().map(|v| f64::from(*v)).collect::<Vec<f64>>();
            let above: f64 = w.iter().map(|v| f64::from(*v)).sum::<f64>() - f64::from(below);
            let equal = z.iter().zip(&w).filter(|(a, b)| **a == 0.5 * **b).map(|(_, b)| *b);
            let expected = above - f64::from(equal.sum::<f32>());
            assert_eq!(mass_above(&double(&z), &double(&w), 0.5), expected);
            let (mut y, mut moved) = (w.clone(), z.clone());
            dual_step(&y, &mut moved, &caps, &vec![2.0; n]);
            let (shift, expected) = (0.25, moved.clone());
            let turn: Vec<f32> = numbers(n, 5).iter().map(|v| 1.0 + v).collect();
            let (sum, free) = mass_after_shift(&moved, &caps, &turn, shift);
            dual_clip(&mut y, &mut moved, (shift, &turn), (0.75, &levels));
            let (mut total, mut unclipped) = (0.0, 0.0);
            for k in 0..n {
                assert_eq!(expected[k], w[k] + 2.0 * (caps[k] - z[k]));
                let shifted = expected[k] - shift * turn[k];
                let new = shifted.clamp(-1.0, 1.0);
                assert_eq!(moved[k], new);
                assert_eq!(y[k], 0.75 * (2.0 * new - w[k]) + 0.25 * levels[k]);
                total += caps[k] * new;
                unclipped += if shifted.abs() <= 1.0 { caps[k] * turn[k] } else { 0.0 };
            }
            assert!((sum - total).abs() < 1e-4 && (free - unclipped).abs() < 1e-4);
        }
    }
}
