//! Rows of X fitted on some of them by nonnegative least squares.

use super::coordinate::approximate;
use super::nnls::{Domain, Nnls};
use crate::control::Control;
use crate::kernels::parallel::*;
use crate::normalise::UnitRows;

/// Every row of X fitted on `hott` by nonnegative least squares: (position in `hott`, weight > 0).
/// Two products with X and a small problem per row, far cheaper than exact l1 fits.
pub(crate) fn least_squares(
    x: &UnitRows,
    hott: &[usize],
    control: &Control,
) -> Vec<Vec<(usize, f64)>> {
    let rows: Vec<usize> = (0..x.features()).collect();
    let used = |c: Vec<f64>| c.into_iter().enumerate().filter(|w| w.1 > 0.0).collect();
    let fitted = least_squares_of(x, hott, &rows, control);
    fitted.into_iter().map(used).collect()
}

/// As [`least_squares`] for some rows; weights by position in `hott`, zeros included. Rows that
/// `control` and its grace leave no time for are fitted on the one hott row that serves them best.
pub(crate) fn least_squares_of(
    x: &UnitRows,
    hott: &[usize],
    rows: &[usize],
    control: &Control,
) -> Vec<Vec<f64>> {
    let k = hott.len().max(1);
    let a = x.gram_block(hott, hott);
    let b = x.gram_block(rows, hott);
    let fit = |solver: &mut Nnls, b: &[f64]| {
        let mut c = approximate(&a, b);
        solver.solve(&a, b, &mut c, Domain::Cone);
        c
    };
    let mut fits: Vec<Option<Vec<f64>>> = b
        .par_chunks(k)
        .map_init(Nnls::default, |solver, b| control.goes_on().then(|| fit(solver, b)))
        .collect();
    if fits.iter().any(Option::is_none) {
        let grace = control.to_finish();
        fits.par_iter_mut().zip(b.par_chunks(k)).for_each_init(Nnls::default, |solver, (c, b)| {
            if c.is_none() {
                *c = Some(if grace.goes_on() { fit(solver, b) } else { on_one(&a, b) });
            }
        });
    }
    fits.into_iter().flatten().collect()
}

/// `min 1/2 c A c - b c` over `c >= 0` with at most one entry that is not zero.
fn on_one(a: &[f64], b: &[f64]) -> Vec<f64> {
    let k = b.len();
    let mut c = vec![0.0; k];
    let gain = |j: usize| b[j] * b[j] / a[j * k + j];
    if let Some(j) = (0..k).max_by(|&i, &j| gain(i).total_cmp(&gain(j))) {
        c[j] = b[j] / a[j * k + j];
    }
    c
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Stop;
    use crate::localise::instances::paper;
    use std::time::Instant;

    #[test]
    fn a_stop_leaves_every_row_a_fit() {
        let x = paper((30, 80, 4, 0), 0.5, 1).x;
        let (hott, rows) = ([0, 1, 2, 3], (0..30).collect::<Vec<_>>());
        let late = Control::default().with_deadline(Instant::now());
        let free = least_squares_of(&x, &hott, &rows, &Control::default());
        let hurried = least_squares_of(&x, &hott, &rows, &late);
        assert_eq!((hurried.len(), late.cut_short()), (30, Some(Stop::TimeLimit)));
        // There is time for thirty rows within the grace, and then the answer is the same.
        assert!(hurried.iter().all(|c| c.len() == 4 && c.iter().all(|v| *v >= 0.0)));
        assert_eq!(free.len(), 30);
        let a = [2.0, 0.0, 0.0, 1.0];
        assert_eq!(on_one(&a, &[1.0, 0.9]), [0.0, 0.9]);
        assert_eq!(on_one(&a, &[2.0, 0.9]), [1.0, 0.0]);
    }
}
