//! Inverses of small positive definite matrices: of Gram matrices, and of covariances.

use crate::kernels::{View, ViewMut, axpy, dot, multiply};

/// The inverse of a positive definite matrix by Cholesky, in place of it; `None` when it is not. `L^3` flops.
pub(crate) fn inverse(mut a: Vec<f64>, n: usize) -> Option<Vec<f64>> {
    // A = L L^T, the factor in the lower triangle.
    for p in 0..n {
        let (done, now) = a.split_at_mut(p * n);
        for q in 0..p {
            let row = &done[q * n..q * n + q + 1];
            now[q] = (now[q] - dot(&now[..q], &row[..q])) / row[q];
        }
        let rest = now[p] - dot(&now[..p], &now[..p]);
        if rest.is_nan() || rest <= 1e-14 * now[p] {
            return None;
        }
        now[p] = rest.sqrt();
    }
    // M = L^-1, row by row: m_p = (e_p - sum over q < p of l_pq m_q) / l_pp.
    let mut m = vec![0.0; n * n];
    for p in 0..n {
        let (done, now) = m.split_at_mut(p * n);
        for q in 0..p {
            axpy(-a[p * n + q], &done[q * n..q * n + q + 1], &mut now[..q + 1]);
        }
        now[p] = 1.0;
        now[..p + 1].iter_mut().for_each(|v| *v /= a[p * n + p]);
    }
    // A^-1 = M^T M.
    let view = View::by_rows(&m, n, n, n);
    multiply(1.0, view.transposed(), view, 0.0, ViewMut::by_rows(&mut a, n, n, n));
    Some(a)
}
