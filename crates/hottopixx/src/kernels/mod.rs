//! The inner loops that everything else calls: inner product, scaled addition, matrix product.
//!
//! All `unsafe` code of the crate lives in this folder.

mod gemm;

pub use gemm::gemm;

/// Inner product, in eight independent partial sums so that the compiler can vectorise it.
/// The order of additions depends only on the length: the result is the same on every thread.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
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

/// `y += a * x`.
pub fn axpy(a: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}
