//! Loops over long vectors, compiled twice: once for any machine and once for AVX2, chosen when
//! the program runs.
//!
//! Both versions carry out the same operations in the same order on every element (no fused
//! multiplications), so results have the same bytes on all machines.

#![allow(unsafe_code)]

/// Defines a function that runs the AVX2 build of its body where the machine has it.
macro_rules! dispatched {
    ($(#[$doc:meta])* pub fn $name:ident($($arg:ident: $type:ty),*) $(-> $ret:ty)? $body:block) => {
        $(#[$doc])*
        pub fn $name($($arg: $type),*) $(-> $ret)? {
            #[inline(always)]
            fn body($($arg: $type),*) $(-> $ret)? $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn avx2($($arg: $type),*) $(-> $ret)? {
                    body($($arg),*)
                }
                if std::arch::is_x86_feature_detected!("avx2") {
                    // SAFETY: the machine has AVX2, which is all that `avx2` asks for.
                    return unsafe { avx2($($arg),*) };
                }
            }
            body($($arg),*)
        }
    };
}

pub(super) use dispatched;

const LANES: usize = 8;

dispatched! {
    /// Inner product, in eight independent partial sums so that it can be vectorised. The order of
    /// additions depends only on the length.
    pub fn dot(a: &[f64], b: &[f64]) -> f64 {
        let n = a.len().min(b.len());
        let (a, b) = (&a[..n], &b[..n]);
        let mut sums = [0.0; LANES];
        let (mut xs, mut ys) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
        for (x, y) in (&mut xs).zip(&mut ys) {
            for l in 0..LANES {
                sums[l] += x[l] * y[l];
            }
        }
        let tail: f64 = xs.remainder().iter().zip(ys.remainder()).map(|(x, y)| x * y).sum();
        sums.iter().sum::<f64>() + tail
    }
}

dispatched! {
    /// (`sum |a_k|`, `sum a_k^2`), each in eight independent partial sums, as [`dot`].
    pub fn norms(a: &[f64]) -> (f64, f64) {
        let (mut ones, mut twos) = ([0.0; LANES], [0.0; LANES]);
        let mut xs = a.chunks_exact(LANES);
        for x in &mut xs {
            for l in 0..LANES {
                ones[l] += x[l].abs();
                twos[l] += x[l] * x[l];
            }
        }
        let tail = xs.remainder();
        let one = ones.iter().sum::<f64>() + tail.iter().map(|x| x.abs()).sum::<f64>();
        (one, twos.iter().sum::<f64>() + tail.iter().map(|x| x * x).sum::<f64>())
    }
}

dispatched! {
    /// `sum (a_k)_+`, in eight independent partial sums, as [`dot`].
    pub fn positive_sum(a: &[f64]) -> f64 {
        let mut sums = [0.0; LANES];
        let mut xs = a.chunks_exact(LANES);
        for x in &mut xs {
            for l in 0..LANES {
                sums[l] += if x[l] > 0.0 { x[l] } else { 0.0 };
            }
        }
        sums.iter().sum::<f64>() + xs.remainder().iter().map(|x| x.max(0.0)).sum::<f64>()
    }
}

dispatched! {
    /// `y += a * x`.
    pub fn axpy(a: f64, x: &[f64], y: &mut [f64]) {
        for (y, x) in y.iter_mut().zip(x) {
            *y += a * x;
        }
    }
}

dispatched! {
    /// `y += a[0] * x[0] + ... + a[3] * x[3]` in one pass over y, added in this order.
    pub fn axpy4(a: [f64; 4], x: [&[f64]; 4], y: &mut [f64]) {
        let n = y.len();
        let [x0, x1, x2, x3] = x.map(|x| &x[..n]);
        for k in 0..n {
            y[k] = y[k] + a[0] * x0[k] + a[1] * x1[k] + a[2] * x2[k] + a[3] * x3[k];
        }
    }
}

/// `to`, cols x rows, becomes the transpose of `from`, rows x cols; copied in tiles that fit the
/// cache.
pub fn transpose(rows: usize, cols: usize, from: &[f64], to: &mut [f64]) {
    transpose_while(|_| true, rows, cols, from, to);
}

/// The same for as long as `go_on`, which is told how many entries come next, says so. False when
/// it did not: `to` is then of no use.
pub fn transpose_while(
    mut go_on: impl FnMut(usize) -> bool,
    rows: usize,
    cols: usize,
    from: &[f64],
    to: &mut [f64],
) -> bool {
    const TILE: usize = 32;
    let (from, to) = (&from[..rows * cols], &mut to[..rows * cols]);
    for i0 in (0..rows).step_by(TILE) {
        if !go_on(TILE * cols) {
            return false;
        }
        for j0 in (0..cols).step_by(TILE) {
            for i in i0..(i0 + TILE).min(rows) {
                for j in j0..(j0 + TILE).min(cols) {
                    to[j * rows + i] = from[i * cols + j];
                }
            }
        }
    }
    true
}

dispatched! {
    /// `||s x - t y||_1`, in eight partial sums.
    pub fn scaled_distance(s: f64, x: &[f64], t: f64, y: &[f64]) -> f64 {
        let n = x.len().min(y.len());
        let (x, y) = (&x[..n], &y[..n]);
        let mut sums = [0.0; LANES];
        let (mut xs, mut ys) = (x.chunks_exact(LANES), y.chunks_exact(LANES));
        for (x, y) in (&mut xs).zip(&mut ys) {
            for l in 0..LANES {
                sums[l] += (s * x[l] - t * y[l]).abs();
            }
        }
        let rest = xs.remainder().iter().zip(ys.remainder());
        sums.iter().sum::<f64>() + rest.map(|(x, y)| (s * x - t * y).abs()).sum::<f64>()
    }
}

dispatched! {
    /// The largest absolute value, 0 for none.
    pub fn max_abs(x: &[f64]) -> f64 {
        let mut lanes = [0.0f64; LANES];
        let mut chunks = x.chunks_exact(LANES);
        for chunk in &mut chunks {
            for l in 0..LANES {
                let v = chunk[l].abs();
                lanes[l] = if v > lanes[l] { v } else { lanes[l] };
            }
        }
        chunks.remainder().iter().map(|v| v.abs()).chain(lanes).fold(0.0, f64::max)
    }
}

dispatched! {
    /// For residuals that move at `rate`, how far until each is zero: `|residual| / speed` where
    /// `speed = -side * rate`, its speed towards zero, is above `tiny`; infinite otherwise.
    pub fn steps_to_zero(residual: &[f64], side: &[f64], rate: &[f64], tiny: f64, steps: &mut [f64]) {
        let n = steps.len();
        let (residual, side, rate) = (&residual[..n], &side[..n], &rate[..n]);
        for k in 0..n {
            let speed = -side[k] * rate[k];
            let step = residual[k].abs() / speed;
            steps[k] = if speed > tiny { step } else { f64::INFINITY };
        }
    }
}

dispatched! {
    /// The sum of `|rate|` where the step is below `limit`.
    pub fn speed_below(steps: &[f64], rate: &[f64], limit: f64) -> f64 {
        let n = steps.len();
        let rate = &rate[..n];
        let mut lanes = [0.0; LANES];
        let whole = n - n % LANES;
        for k in (0..whole).step_by(LANES) {
            for l in 0..LANES {
                lanes[l] += if steps[k + l] < limit { rate[k + l].abs() } else { 0.0 };
            }
        }
        let rest: f64 = (whole..n).filter(|&k| steps[k] < limit).map(|k| rate[k].abs()).sum();
        lanes.iter().sum::<f64>() + rest
    }
}

dispatched! {
    /// `residual += step * rate`, where a residual that rounding puts on the wrong side becomes zero.
    pub fn advance(step: f64, rate: &[f64], side: &[f64], residual: &mut [f64]) {
        let n = residual.len();
        let (rate, side) = (&rate[..n], &side[..n]);
        for k in 0..n {
            let moved = residual[k] + step * rate[k];
            residual[k] = if side[k] * moved < 0.0 { 0.0 } else { moved };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agree_with_plain_loops_at_every_length() {
        for n in [0, 1, 3, 8, 9, 31] {
            let x: Vec<f64> = (0..n).map(|k| (k as f64 * 0.7).sin()).collect();
            let y: Vec<f64> = (0..n).map(|k| (k as f64 * 1.3).cos()).collect();
            let expected: f64 = x.iter().zip(&y).map(|(x, y)| x * y).sum();
            assert!((dot(&x, &y) - expected).abs() < 1e-14);
            let apart: f64 = x.iter().zip(&y).map(|(x, y)| (2.0 * x - 0.5 * y).abs()).sum();
            assert!((scaled_distance(2.0, &x, 0.5, &y) - apart).abs() < 1e-13);
            let positive: f64 = x.iter().map(|v| v.max(0.0)).sum();
            assert!((positive_sum(&x) - positive).abs() < 1e-14);
            assert_eq!(max_abs(&x), x.iter().fold(0.0, |m: f64, v| m.max(v.abs())));
            let (mut one, mut four) = (y.clone(), y.clone());
            for a in [0.5, -2.0, 0.25, 3.0] {
                axpy(a, &x, &mut one);
            }
            axpy4([0.5, -2.0, 0.25, 3.0], [&x; 4], &mut four);
            assert_eq!(one, four);
        }
    }

    #[test]
    fn residuals_move_to_zero_and_no_further() {
        let (residual, side) = ([2.0, -1.0, 0.5, 0.0], [1.0, -1.0, 1.0, 0.0]);
        let rate = [-4.0, 1.0, 1.0, -1.0];
        let mut steps = [0.0; 4];
        steps_to_zero(&residual, &side, &rate, 1e-12, &mut steps);
        assert_eq!(steps, [0.5, 1.0, f64::INFINITY, f64::INFINITY]);
        assert_eq!(speed_below(&steps, &rate, 0.6), 4.0);
        assert_eq!(speed_below(&steps, &rate, 2.0), 5.0);
        let mut moved = residual;
        advance(0.6, &rate, &side, &mut moved);
        assert_eq!(moved, [0.0, -0.4, 1.1, -0.6]);
    }
}
