//! The common part of SNPA and XRAY: all rows fitted on the chosen ones, one choice after another.

use super::inner::{Inner, largest};
use super::nnls::{Domain, Nnls};
use super::{EXHAUSTED, Greedy, report, residual, spa, squared_norms};
use crate::control::{Control, Stop};
use crate::kernels;
use crate::l1::squares;
use crate::normalise::UnitRows;
use rayon::prelude::*;

/// How the next row follows from the fits: which rows are open, and the residual norm that counts
/// as zero. `None` when everything is explained, or when it was stopped.
pub(super) type Pick = dyn Fn(&mut Fits<'_>, &[bool], f64) -> Option<usize>;

/// The projections of all rows, scaled by weights, onto the hull or cone of the chosen ones.
pub(super) struct Fits<'a> {
    x: &'a UnitRows,
    control: &'a Control,
    weights: &'a [f64],
    domain: Domain,
    chosen: Vec<usize>,
    /// `<w_i x_i, w_q x_q>` for every chosen row q, one vector for each q.
    gram: Vec<Vec<f64>>,
    /// The coefficients of every row, last on the chosen rows, before that, for the hull, on the
    /// origin.
    coefficients: Vec<Vec<f64>>,
    /// Squared norms of the scaled rows, and of their residuals.
    starts: Vec<f64>,
    pub(super) norms: Vec<f64>,
    inner: Inner<'a>,
}

impl<'a> Fits<'a> {
    pub(super) fn new(
        x: &'a UnitRows,
        weights: &'a [f64],
        domain: Domain,
        control: &'a Control,
    ) -> Self {
        let starts: Vec<f64> =
            squared_norms(x).iter().zip(weights).map(|(norm, w)| w * w * norm).collect();
        let nothing = if domain == Domain::Simplex { vec![1.0] } else { vec![] };
        let coefficients = vec![nothing; x.features()];
        let (chosen, gram, norms) = (vec![], vec![], starts.clone());
        let inner = Inner::new(x, control);
        Fits { x, control, weights, domain, chosen, gram, coefficients, starts, norms, inner }
    }

    /// Picks and fits until there are `rank` rows; what is missing then is left to SPA.
    pub(super) fn run(mut self, task: &str, pick: &Pick, rank: usize, allowed: &[bool]) -> Greedy {
        let control = self.control;
        let mut open = allowed.to_vec();
        let floor = EXHAUSTED * self.starts.iter().copied().fold(0.0, f64::max);
        while self.chosen.len() < rank {
            if let Some(stop) = control.stopped() {
                return Greedy { rows: self.chosen, stop };
            }
            let Some(row) = pick(&mut self, &open, floor) else { break };
            open[row] = false;
            if let Err(stop) = self.add(row, &open, rank) {
                return Greedy { rows: self.chosen, stop };
            }
            let worst = self.norms.iter().copied().fold(0.0, f64::max);
            report(control, task, self.chosen.len(), rank, worst);
        }
        spa::complete(self.x, self.chosen, None, rank, allowed, control)
    }

    /// Adds a row to the chosen ones, which will be `rank`, and fits all rows again, unless it is the
    /// last, after which nobody looks at the fits.
    fn add(&mut self, row: usize, open: &[bool], rank: usize) -> Result<(), Stop> {
        let own = self.weights[row];
        let missing = rank - self.chosen.len() - 1;
        if missing == 0 {
            self.chosen.push(row);
            return Ok(());
        }
        let likely = |most: usize| largest(&self.norms, open, most.min(2 * missing));
        let Some(inner) = self.inner.take(row, likely) else {
            return Err(self.control.cut_short().unwrap_or(Stop::Interrupted));
        };
        self.gram.push(inner.iter().zip(self.weights).map(|(g, w)| g * w * own).collect());
        self.chosen.push(row);
        let (a, k, origin) = self.points();
        let mut coefficients = std::mem::take(&mut self.coefficients);
        let fitted: Result<(), Stop> = coefficients.par_iter_mut().enumerate().try_for_each_init(
            || (Nnls::default(), vec![0.0; k]),
            |(solver, b), (i, c)| {
                if let Some(stop) = self.control.stopped() {
                    return Err(stop);
                }
                b[origin..].iter_mut().zip(&self.gram).for_each(|(b, gram)| *b = gram[i]);
                c.push(0.0);
                solver.solve(&a, b, c, self.domain);
                Ok(())
            },
        );
        self.coefficients = coefficients;
        fitted?;
        self.measure()
    }

    /// The Gram matrix of the points that span the hull or cone, their number, and how many of
    /// them are the origin, which comes first.
    fn points(&self) -> (Vec<f64>, usize, usize) {
        let origin = usize::from(self.domain == Domain::Simplex);
        let k = self.chosen.len() + origin;
        let entry = |p: usize, q: usize| {
            if p < origin || q < origin {
                0.0
            } else {
                self.gram[p - origin][self.chosen[q - origin]]
            }
        };
        ((0..k * k).map(|at| entry(at / k, at % k)).collect(), k, origin)
    }

    /// The coefficients of row `i` on the chosen rows.
    fn weights_of(&self, i: usize) -> &[f64] {
        let c = &self.coefficients[i];
        &c[c.len() - self.chosen.len()..]
    }

    /// Residual norms, `||y||^2 - 2 b c + c A c`; below 1e-10 of `||y||^2` this is mostly rounding
    /// error, and the norm is computed from the rows.
    fn measure(&mut self) -> Result<(), Stop> {
        let k = self.chosen.len();
        let this = &*self;
        let a: Vec<f64> = (0..k * k).map(|at| this.gram[at / k][this.chosen[at % k]]).collect();
        let norms: Result<Vec<f64>, Stop> = (0..this.x.features())
            .into_par_iter()
            .map_init(
                || vec![0.0; this.x.examples()],
                |e, i| {
                    if this.chosen.contains(&i) {
                        return Ok(0.0);
                    }
                    let c = this.weights_of(i);
                    let product = |q: usize| kernels::dot(&a[q * k..(q + 1) * k], c);
                    let cut: f64 =
                        (0..k).map(|q| c[q] * (product(q) - 2.0 * this.gram[q][i])).sum();
                    let norm = this.starts[i] + cut;
                    if norm > 1e-10 * this.starts[i] {
                        return Ok(norm);
                    }
                    if let Some(stop) = this.control.stopped() {
                        return Err(stop);
                    }
                    this.residual(i, e);
                    Ok(kernels::dot(e, e))
                },
            )
            .collect();
        self.norms = norms?;
        Ok(())
    }

    /// `<e_i, w_j x_j>` for every j, `e_i` the residual of row i: from inner products, unless `e_i` is
    /// so small that their difference would lose its digits (as in `spa`). `None` when stopped.
    pub(super) fn towards(&mut self, i: usize, open: &[bool]) -> Option<Vec<f64>> {
        if self.norms[i] <= spa::ORDINARY * self.starts[i] {
            let mut e = vec![0.0; self.x.examples()];
            self.residual(i, &mut e);
            let inner = self.x.times(&e);
            return Some(inner.iter().zip(self.weights).map(|(g, w)| g * w).collect());
        }
        let likely = |most: usize| largest(&self.norms, open, most);
        let inner = self.inner.column(i, likely)?;
        let own = self.weights[i];
        let mut towards: Vec<f64> =
            inner.iter().zip(self.weights).map(|(g, w)| g * w * own).collect();
        for (c, gram) in self.weights_of(i).iter().zip(&self.gram) {
            kernels::axpy(-c, gram, &mut towards);
        }
        Some(towards)
    }

    /// `w_i x_i - sum_q c_iq w_q x_q`, into `out`.
    fn residual(&self, i: usize, out: &mut [f64]) {
        let c: Vec<f64> = (self.weights_of(i).iter().zip(&self.chosen))
            .map(|(c, &q)| c * self.weights[q])
            .collect();
        residual(self.x, i, self.weights[i], &self.chosen, &c, out);
    }
}

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
        let mut c = squares(&a, b);
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
