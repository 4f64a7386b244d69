//! Errors of a factorization, measured from X, the hott rows and F alone.

use super::RowFit;
use crate::Objective;
use crate::kernels;
use crate::kernels::parallel::*;
use crate::matrix::{Entries, Row};
use crate::normalise::UnitRows;
use std::ops::Range;

/// Errors against X with unit rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// `||x_i - f_i W||_1` for each row of X.
    pub l1: Vec<f64>,
    /// `||X - FW||_{inf,1}`, the largest of them.
    pub inf1: f64,
    /// Their mean, each counting as much as its row weighs.
    pub mean_l1: f64,
    /// Root of the mean of `(X - FW)^2` over all entries that were observed.
    pub rmse: f64,
}

/// Rows and columns of X that are taken at a time when it is dense, so that the residuals and the
/// hott rows there stay in the cache.
const ROWS: usize = 64;
const COLUMNS: usize = 1024;

/// Forms every residual over all columns and adds it up: O(f n rank) in matrix products for dense X;
/// for sparse X only the columns that a row or its hott rows touch. Shares nothing with the solvers.
/// What was measured before, as it is in [`least_squares`](super::least_squares), is not measured again.
pub fn measure(x: &UnitRows, hott: &[usize], fits: &[RowFit]) -> Measured {
    let known = |fit: &RowFit| fit.squares.map(|squares| (fit.error, squares));
    let mut per_row: Vec<Option<(f64, f64)>> = fits.iter().map(known).collect();
    let open: Vec<usize> = (0..fits.len()).filter(|&i| per_row[i].is_none()).collect();
    let unknown: Vec<&RowFit> = open.iter().map(|&i| &fits[i]).collect();
    for (&i, found) in open.iter().zip(measure_rows(x, hott, &open, &unknown)) {
        per_row[i] = Some(found);
    }
    let per_row: Vec<(f64, f64)> = per_row.into_iter().flatten().collect();
    let missing: usize = (0..per_row.len()).map(|i| x.gaps(i).len()).sum();
    let entries = (per_row.len().max(1) * x.examples() - missing) as f64;
    let l1: Vec<f64> = per_row.iter().map(|e| e.0).collect();
    Measured {
        inf1: l1.iter().copied().fold(0.0, f64::max),
        mean_l1: Objective::Mean.score_of(x, l1.iter().copied()),
        rmse: (per_row.iter().map(|e| e.1).sum::<f64>() / entries).sqrt(),
        l1,
    }
}

/// (l1, sum of squares) of the residuals of some rows, whose fits are given in the same order.
pub(super) fn measure_rows(
    x: &UnitRows,
    hott: &[usize],
    rows: &[usize],
    fits: &[&RowFit],
) -> Vec<(f64, f64)> {
    if x.is_dense() { dense(x, hott, rows, fits) } else { sparse(x, hott, rows, fits) }
}

/// As [`measure_rows`], block by block: `E = X - F W` on some rows and columns.
fn dense(x: &UnitRows, hott: &[usize], rows: &[usize], fits: &[&RowFit]) -> Vec<(f64, f64)> {
    let (k, n) = (hott.len(), x.examples());
    let block = |(rows, fits): (&[usize], &[&RowFit])| {
        let m = fits.len();
        let mut f = vec![0.0; m * k];
        for (row, fit) in fits.iter().enumerate() {
            fit.weights.iter().for_each(|&(j, w)| f[row * k + j as usize] = w);
        }
        let mut sums = vec![(0.0, 0.0); m];
        let (mut w, mut e) = (vec![0.0; k * COLUMNS], vec![0.0; m * COLUMNS]);
        for start in (0..n).step_by(COLUMNS) {
            let width = COLUMNS.min(n - start);
            let part = start..start + width;
            for (out, &h) in w.chunks_exact_mut(width).zip(hott) {
                copy(x.row(h), part.clone(), out);
            }
            for (row, out) in e.chunks_exact_mut(width).take(m).enumerate() {
                copy(x.row(rows[row]), part.clone(), out);
            }
            let (w, e) = (&w[..k * width], &mut e[..m * width]);
            kernels::gemm(m, k, width, -1.0, &f, w, false, 1.0, e);
            for ((e, (l1, squares)), &i) in e.chunks_exact_mut(width).zip(&mut sums).zip(rows) {
                let gaps = x.gaps(i).iter().map(|&k| k as usize);
                gaps.filter(|k| part.contains(k)).for_each(|k| e[k - start] = 0.0);
                let (one, two) = kernels::norms(e);
                *l1 += one;
                *squares += two;
            }
        }
        sums.iter_mut().zip(rows).for_each(|(sums, &i)| *sums = of_observed(*sums, x.share(i)));
        sums
    };
    rows.par_chunks(ROWS).zip(fits.par_chunks(ROWS)).flat_map_iter(block).collect()
}

/// Some columns of a dense row.
fn copy(row: Row<'_>, part: Range<usize>, out: &mut [f64]) {
    if let Entries::Dense(values) = row.entries() {
        out.iter_mut().zip(&values[part]).for_each(|(o, v)| *o = row.factor() * v);
    }
}

/// As [`dense`], row by row.
fn sparse(x: &UnitRows, hott: &[usize], rows: &[usize], fits: &[&RowFit]) -> Vec<(f64, f64)> {
    rows.par_iter()
        .zip(fits)
        .map_init(
            || vec![0.0; x.examples()],
            |residual, (&i, fit)| {
                let mut parts: Vec<(Row<'_>, f64)> = vec![(x.row(i), 1.0)];
                parts.extend(fit.weights.iter().map(|&(j, w)| (x.row(hott[j as usize]), -w)));
                for (row, factor) in &parts {
                    row.add_to(*factor, residual);
                }
                x.gaps(i).iter().for_each(|&k| residual[k as usize] = 0.0);
                let (mut l1, mut squares) = (0.0, 0.0);
                for (row, _) in &parts {
                    // Each column is taken once: it is cleared when it is counted.
                    if let Entries::Sparse(columns, _) = row.entries() {
                        let mut count = |k: &u32| {
                            take(&mut residual[*k as usize], &mut l1, &mut squares);
                        };
                        columns.iter().for_each(&mut count);
                    }
                }
                of_observed((l1, squares), x.share(i))
            },
        )
        .collect()
}

/// Errors of a row whose observed entries sum to `share`, in units of that sum.
fn of_observed((l1, squares): (f64, f64), share: f64) -> (f64, f64) {
    (l1 / share, squares / (share * share))
}

fn take(residual: &mut f64, l1: &mut f64, squares: &mut f64) {
    let e = std::mem::take(residual);
    *l1 += e.abs();
    *squares += e * e;
}

#[cfg(test)]
mod tests {
    use crate::clean::{IncrementalSettings, exact, incremental, least_squares, measure};
    use crate::control::Control;
    use crate::localise::instances::SIX_ROWS;
    use crate::localise::instances::{as_sparse, paper};
    use crate::matrix::{Dense, Matrix, Sparse};
    use crate::normalise::UnitRows;

    fn example() -> (Matrix, Matrix) {
        let rows = SIX_ROWS;
        let triplets: Vec<_> = (0..6)
            .flat_map(|i| (0..5).map(move |k| (i, k, rows[i][k])))
            .filter(|t| t.2 != 0.0)
            .collect();
        let dense = Dense::from_rows(&rows).unwrap();
        (dense.into(), Sparse::from_triplets(6, 5, &triplets).unwrap().into())
    }

    #[test]
    fn the_error_claimed_is_the_error_measured_dense_and_sparse() {
        let (dense, sparse) = example();
        for matrix in [dense, sparse] {
            let x = UnitRows::new(&matrix).unwrap();
            let fits = exact(&x, &[0, 1, 2], &Control::default());
            let measured = measure(&x, &[0, 1, 2], &fits);
            for (fit, l1) in fits.iter().zip(&measured.l1) {
                assert!((fit.error - l1).abs() < 1e-14, "{} {l1}", fit.error);
            }
            // Rows 0..2 are hott, 3 and 4 exact mixtures, 5 the vector of the notes.
            assert!((measured.inf1 - 0.1015625).abs() < 1e-14);
            assert!((measured.mean_l1 - 0.1015625 / 6.0).abs() < 1e-14);
            let squares: f64 = [
                0.0,
                0.0,
                0.15 - 0.1 * (0.3125 + 0.3359375 + 0.25),
                0.1 - 0.1 * (0.3359375 + 0.25),
                0.0,
            ]
            .iter()
            .map(|e| e * e)
            .sum();
            assert!((measured.rmse - (squares / 30.0).sqrt()).abs() < 1e-14);
        }
    }

    /// More rows and columns than one block has, and the errors that [`least_squares`] claims.
    #[test]
    fn blocks_add_up() {
        let x = paper((70, 1300, 6, 1), 4.0, 2).x;
        let all: Vec<usize> = (0..x.features()).collect();
        let (fits, hott) =
            (least_squares(&x, &[3, 5, 8, 13], &all, &Control::default()), [3, 5, 8, 13]);
        let (dense, sparse) = (measure(&x, &hott, &fits), measure(&as_sparse(&x), &hott, &fits));
        let best = exact(&x, &hott, &Control::default());
        for (i, fit) in fits.iter().enumerate() {
            let mut residual = x.dense_row(i);
            for &(j, w) in &fit.weights {
                x.row(hott[j as usize]).add_to(-w, &mut residual);
            }
            let expected: f64 = residual.iter().map(|e| e.abs()).sum();
            assert!((dense.l1[i] - expected).abs() < 1e-13);
            assert!((sparse.l1[i] - expected).abs() < 1e-13);
            assert_eq!(fit.error, dense.l1[i]);
            assert!(expected >= best[i].error - 1e-13);
        }
        assert!((dense.rmse - sparse.rmse).abs() < 1e-15);
    }

    #[test]
    fn incremental_cleaning_is_feasible_and_near_the_exact_error() {
        let (dense, sparse) = example();
        for matrix in [dense, sparse] {
            let x = UnitRows::new(&matrix).unwrap();
            let settings = IncrementalSettings { epochs: 200, ..Default::default() };
            let fits = incremental(&x, &[0, 1, 2], &settings, &Control::default());
            let measured = measure(&x, &[0, 1, 2], &fits);
            assert!(fits.iter().flat_map(|f| &f.weights).all(|w| w.1 >= 0.0));
            assert!(measured.inf1 >= 0.1015625 - 1e-12 && measured.inf1 < 0.2, "{}", measured.inf1);
        }
    }
}
