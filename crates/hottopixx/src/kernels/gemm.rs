//! Dense matrix product behind one safe function.

use rayon::prelude::*;

/// How many rows of the result one task computes: few tasks, since each packs all of `b` again,
/// but enough of them to share. Known from the shape alone, so that the arithmetic does not depend
/// on the number of threads.
fn block(m: usize) -> usize {
    m.div_ceil(4).next_multiple_of(32).clamp(32, 512)
}

/// `c = beta * c + alpha * a * b` with `a` m x k, `b` k x n (or n x k and read transposed when
/// `transpose_b`), `c` m x n, all row-major. Parallel over blocks of rows of `c` in the current
/// rayon pool; 2 m k n flops. Panics when a slice has not the length its shape needs.
#[allow(clippy::too_many_arguments)] // the BLAS signature, which every reader knows
pub fn gemm(
    m: usize,
    k: usize,
    n: usize,
    alpha: f64,
    a: &[f64],
    b: &[f64],
    transpose_b: bool,
    beta: f64,
    c: &mut [f64],
) {
    assert_eq!(a.len(), m * k);
    assert_eq!(b.len(), k * n);
    assert_eq!(c.len(), m * n);
    if m == 0 || n == 0 {
        return;
    }
    let (b_row, b_col) = if transpose_b { (1, k as isize) } else { (n as isize, 1) };
    let size = block(m);
    c.par_chunks_mut(size * n).enumerate().for_each(|(block, c)| {
        let rows = c.len() / n;
        let a = &a[block * size * k..][..rows * k];
        // SAFETY: `a` holds rows * k, `b` k * n and `c` rows * n values (asserted above), the
        // strides walk exactly those shapes, and `c` is borrowed mutably by this task alone.
        unsafe {
            matrixmultiply::dgemm(
                rows,
                k,
                n,
                alpha,
                a.as_ptr(),
                k as isize,
                1,
                b.as_ptr(),
                b_row,
                b_col,
                beta,
                c.as_mut_ptr(),
                n as isize,
                1,
            );
        }
    });
}

#[cfg(test)]
mod tests {
    use super::gemm;

    #[test]
    fn agrees_with_three_loops_for_every_layout() {
        for (m, k, n) in [(1, 1, 1), (3, 5, 2), (130, 7, 9), (4, 0, 3)] {
            let a: Vec<f64> = (0..m * k).map(|v| (v % 13) as f64 - 4.0).collect();
            let b: Vec<f64> = (0..k * n).map(|v| (v % 7) as f64 - 2.0).collect();
            for transpose_b in [false, true] {
                let mut c: Vec<f64> = (0..m * n).map(|v| v as f64).collect();
                let mut expected = c.clone();
                for i in 0..m {
                    for j in 0..n {
                        let sum: f64 = (0..k)
                            .map(|l| {
                                a[i * k + l] * if transpose_b { b[j * k + l] } else { b[l * n + j] }
                            })
                            .sum();
                        expected[i * n + j] = 0.5 * expected[i * n + j] + 2.0 * sum;
                    }
                }
                gemm(m, k, n, 2.0, &a, &b, transpose_b, 0.5, &mut c);
                assert_eq!(c, expected, "{m} {k} {n} {transpose_b}");
            }
        }
    }
}
