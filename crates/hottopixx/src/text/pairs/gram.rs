//! Gram matrices of dense documents, as products of matrices.

use crate::kernels;
use crate::matrix::Dense;
use std::ops::Range;

/// Rows of dense Gram matrices that are computed together, beginning at multiples of this.
pub const DENSE_TILE: usize = 256;

/// Rows `D_R^T D` of the Gram matrix of a dense block of documents x features, in matrix products of
/// [`DENSE_TILE`] rows: as long as the range begins at a multiple of it, the bytes do not depend on
/// the range. `2 |R| f n` flops.
pub fn dense_gram(documents: &Dense, features: Range<usize>) -> Dense {
    let x = documents.transpose();
    let (f, n) = (x.rows(), x.cols());
    let mut out = Dense::zeros(features.len(), f);
    let tiles = out.values_mut().chunks_mut(DENSE_TILE * f.max(1));
    for (tile, out) in features.step_by(DENSE_TILE).zip(tiles) {
        let rows = out.len() / f.max(1);
        let some = &x.values()[tile * n..(tile + rows) * n];
        kernels::gemm(rows, n, f, 1.0, some, x.values(), true, 0.0, out);
    }
    out
}
