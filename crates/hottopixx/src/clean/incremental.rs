//! The paper's cleaning by incremental gradients: fast, approximate.

use super::exact::same_as_hott;
use super::{RowFit, least_squares};
use crate::control::Control;
use crate::kernels::parallel::*;
use crate::matrix::{Matrix, Row};
use crate::normalise::UnitRows;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Settings of [`incremental`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IncrementalSettings {
    /// Passes over the columns (default 10; the paper takes 2).
    pub epochs: usize,
    /// Step of the first epoch (default 1; the paper takes 0.1, which leaves errors of 0.6 where the
    /// exact ones are 0.01 to 0.3).
    pub step: f64,
    /// Whether epoch t takes `step / t` (default true; the paper's step stays as it is).
    pub falling: bool,
    /// Seed of the order of columns.
    pub seed: u64,
}

impl Default for IncrementalSettings {
    fn default() -> Self {
        IncrementalSettings { epochs: 10, step: 1.0, falling: true, seed: 0 }
    }
}

impl IncrementalSettings {
    /// As in the experiments of the paper's section 5.
    pub const PAPER: Self = IncrementalSettings { epochs: 2, step: 0.1, falling: false, seed: 0 };
}

/// Fits every row on the rows `hott` by incremental subgradients over the columns, in one
/// random order per epoch that all rows share, with z clipped at zero after each epoch.
///
/// A row visits only its own columns, with the subgradient of the exact sparse loss
/// `2 sum (x_k - z.w_k)_+ + sum z - 1`: `+2 w_k` where the residual is positive, -1 spread
/// evenly over the visits. O(epochs * rank * nonzeros). The best epoch of each row is kept.
/// Rows that `control` leaves no time for are fitted by least squares.
pub fn incremental(
    x: &UnitRows,
    hott: &[usize],
    settings: &IncrementalSettings,
    control: &Control,
) -> Vec<RowFit> {
    let w = x.select_rows(hott);
    let columns = w.transpose();
    let ranks: Vec<Vec<u32>> = (0..settings.epochs)
        .map(|epoch| {
            let mut rank: Vec<u32> = (0..x.examples() as u32).collect();
            let mut random = ChaCha8Rng::seed_from_u64(settings.seed);
            random.set_stream(epoch as u64);
            rank.shuffle(&mut random);
            rank
        })
        .collect();
    let fits: Vec<Option<RowFit>> = (0..x.features())
        .into_par_iter()
        .map(|i| match same_as_hott(x, hott, i) {
            Some(position) => Some(RowFit::itself(position)),
            None if !control.goes_on() => None,
            None => Some(fit_row(x.row(i), &columns, &ranks, hott.len(), settings)),
        })
        .collect();
    let left: Vec<usize> = (0..fits.len()).filter(|&i| fits[i].is_none()).collect();
    let mut rest = least_squares(x, hott, &left, control).into_iter();
    fits.into_iter().map(|fit| fit.or_else(|| rest.next()).expect("one for each row")).collect()
}

fn fit_row(
    row: Row<'_>,
    columns: &Matrix,
    ranks: &[Vec<u32>],
    rank: usize,
    settings: &IncrementalSettings,
) -> RowFit {
    let mut visits: Vec<(usize, f64)> = row.nonzeros().collect();
    let share = 1.0 / visits.len().max(1) as f64;
    let mut z = vec![0.0; rank];
    let (mut best, mut best_error) = (z.clone(), row.sum());
    for (epoch, rank) in ranks.iter().enumerate() {
        let s = settings.step / if settings.falling { (epoch + 1) as f64 } else { 1.0 };
        visits.sort_unstable_by_key(|visit| rank[visit.0]);
        for &(k, value) in &visits {
            let column = columns.row(k);
            if value > column.dot(&z) {
                column.add_to(2.0 * s, &mut z);
            }
            z.iter_mut().for_each(|z| *z -= s * share);
        }
        z.iter_mut().for_each(|z| *z = z.max(0.0));
        // The exact loss from the support alone, see `l1::Loss::Hinge`.
        let above: f64 = visits.iter().map(|&(k, v)| (v - columns.row(k).dot(&z)).max(0.0)).sum();
        let error = (2.0 * above + z.iter().sum::<f64>() - row.sum()).max(0.0);
        if error < best_error {
            best_error = error;
            best.copy_from_slice(&z);
        }
    }
    let weights = best.iter().enumerate().filter(|w| *w.1 > 0.0).map(|(j, w)| (j as u32, *w));
    RowFit { weights: weights.collect(), error: best_error, ..RowFit::default() }
}
