//! The loop behind exchanges in least squares, in single precision; see `vector` for how it is compiled.

#![allow(unsafe_code)]

use super::vector::dispatched;

/// Columns that are treated together: their numbers stay in the nearest cache.
pub(crate) const ENTERING_BLOCK: usize = 128;

/// What is left of a row that enters once its projection is taken away counts at least this much.
const LEAST_LEFT: f32 = 1e-3;

/// The support T of a fit: the factor L of `U_T U_T^T` by rows, one over its diagonal in the place of the
/// diagonal, and `w = L^-1 U_T u`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Support {
    pub factor: Vec<f32>,
    pub target: Vec<f32>,
}

dispatched! {
    /// The root of the error of a fit, `q` now, once column j of the lines has entered:
    /// `sqrt(q - g^2 / sigma)` with `g = (line_j - w.z)_+`, `sigma = 1 - z.z`, `z = L^-1 (lines)_j`.
    /// `room` has a block per line.
    pub fn roots_after_entering(
        lines: &[&[f32]], support: &Support, line: &[f32], q: f32, room: &mut [f32], out: &mut [f32]
    ) {
        let (k, m) = (lines.len(), line.len());
        let mut left = [0.0f32; ENTERING_BLOCK];
        let mut first = 0;
        while first < m {
            let width = ENTERING_BLOCK.min(m - first);
            let out = &mut out[first..first + width];
            out.copy_from_slice(&line[first..first + width]);
            let left = &mut left[..width];
            left.fill(1.0);
            for (t, full) in lines.iter().enumerate() {
                let (solved, z) = room.split_at_mut(t * ENTERING_BLOCK);
                let z = &mut z[..width];
                z.copy_from_slice(&full[first..first + width]);
                for u in 0..t {
                    let (l, earlier) = (support.factor[t * k + u], &solved[u * ENTERING_BLOCK..][..width]);
                    for (z, earlier) in z.iter_mut().zip(earlier) {
                        *z -= l * earlier;
                    }
                }
                let (over, w) = (support.factor[t * k + t], support.target[t]);
                for q in 0..width {
                    z[q] *= over;
                    out[q] -= w * z[q];
                    left[q] -= z[q] * z[q];
                }
            }
            for (out, left) in out.iter_mut().zip(left.iter()) {
                let g = if *out > 0.0 { *out } else { 0.0 };
                let sigma = if *left > LEAST_LEFT { *left } else { LEAST_LEFT };
                let after = q - g * g / sigma;
                *out = if after > 0.0 { after } else { 0.0 }.sqrt();
            }
            first += width;
        }
    }
}
