//! Projection onto `Phi_0`, the simple constraints of a localising matrix (Algorithm 5, "squish").
//!
//! `Phi_0 = { C >= 0, C_jj <= 1, C_ij <= C_jj }` (section 4 of the paper) couples entries of one
//! column only, so a matrix is projected column by column. A projected column is known once its
//! diagonal entry, its *level* m, is known: the other entries are `clip(z_i, 0, m)`. The level is
//! the clip to [0, 1] of the root of the strictly decreasing function
//!
//! ```text
//! g(m) = (z_1 - m) + sum_{i > 1} (z_i - m)_+
//! ```
//!
//! which is the appendix's rule "merge into the running **mean** while the next entry exceeds it"
//! (the paper prints the sum). Only entries above the diagonal entry matter: they are collected
//! and filtered, never sorted. With a fixed trace in addition, every diagonal entry is first
//! lowered by one multiplier b; see [`project_phi0_trace`].
//!
//! Matrices here are `f x m` and row-major: one row for each feature, one column for each
//! *candidate*, that is, each row of X that may be hott; `candidates[q]` is the row in which
//! column q has its diagonal entry.

mod squish;
mod trace;

pub(crate) use squish::single_level;
pub use squish::{Squisher, squish};
pub use trace::project_phi0_trace;
pub(crate) use trace::trace_levels;

use crate::kernels::parallel::*;

/// Columns read together: a cache line and a half of each row, a fixed number so that the
/// arithmetic does not depend on the number of threads.
const TILE: usize = 16;

/// Projects the `f x m` matrix `c` onto `Phi_0`, in place. O(f m), parallel.
///
/// ```
/// // Two features, both candidates. The second column asks for more off the diagonal than on it.
/// let mut c = [0.9, 0.8, -0.1, 0.2];
/// hottopixx::project::project_phi0(&mut c, &[0, 1]);
/// assert_eq!(c, [0.9, 0.5, 0.0, 0.5]);
/// ```
pub fn project_phi0(c: &mut [f64], candidates: &[usize]) {
    let levels = levels(c, candidates);
    clip_to_levels(c, candidates, &levels);
}

/// The projected diagonal of each column: every column is read, none is changed.
fn levels(c: &[f64], candidates: &[usize]) -> Vec<f64> {
    let columns = Columns::above_diagonal(c, candidates);
    columns
        .diagonals
        .into_par_iter()
        .zip(columns.above)
        .map(|(diagonal, mut above)| squish::level_of(diagonal, &mut above))
        .collect()
}

/// `C_ij = clip(C_ij, 0, m_j)` and `C_jj = m_j`, parallel over rows.
pub(crate) fn clip_to_levels(c: &mut [f64], candidates: &[usize], levels: &[f64]) {
    let m = candidates.len();
    if m == 0 {
        return;
    }
    c.par_chunks_mut(m).for_each(|row| {
        for (value, level) in row.iter_mut().zip(levels) {
            *value = value.min(*level).max(0.0);
        }
    });
    for (q, &own) in candidates.iter().enumerate() {
        c[own * m + q] = levels[q];
    }
}

/// What the projection needs of each column: its diagonal entry and the entries that may be cut.
struct Columns {
    diagonals: Vec<f64>,
    above: Vec<Vec<f64>>,
}

impl Columns {
    /// Keeps the entries above the diagonal entry (and above zero).
    fn above_diagonal(c: &[f64], candidates: &[usize]) -> Self {
        Columns::collect(c, candidates, |diagonal| diagonal.max(0.0))
    }

    /// Keeps all positive entries: with the trace, the diagonal entry itself will move.
    fn positive(c: &[f64], candidates: &[usize]) -> Self {
        Columns::collect(c, candidates, |_| 0.0)
    }

    fn collect(c: &[f64], candidates: &[usize], floor: impl Fn(f64) -> f64 + Sync) -> Self {
        let m = candidates.len();
        assert!(m == 0 || c.len().is_multiple_of(m), "c must be f x m");
        let diagonals: Vec<f64> =
            candidates.iter().enumerate().map(|(q, own)| c[own * m + q]).collect();
        let above = (0..m.div_ceil(TILE))
            .into_par_iter()
            .flat_map_iter(|tile| {
                let columns = tile * TILE..((tile + 1) * TILE).min(m);
                let mut above = vec![Vec::new(); columns.len()];
                for (i, row) in c.chunks_exact(m).enumerate() {
                    for (q, above) in columns.clone().zip(&mut above) {
                        if row[q] > floor(diagonals[q]) && candidates[q] != i {
                            above.push(row[q]);
                        }
                    }
                }
                above
            })
            .collect();
        Columns { diagonals, above }
    }
}

#[cfg(test)]
mod tests;
