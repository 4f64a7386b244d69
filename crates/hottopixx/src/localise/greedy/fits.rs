//! The common part of SNPA and XRAY: all rows fitted on the chosen ones, one choice after another.

use super::inner::{Inner, largest};
use super::{EXHAUSTED, Greedy, report, residual, spa, squared_norms};
use crate::control::{Control, Stop};
use crate::kernels;
use crate::kernels::parallel::*;
use crate::localise::Question;
use crate::normalise::UnitRows;
use crate::rules::Selection;
use crate::squares::{Domain, Nnls};

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

    /// Picks and fits until there are as many rows as asked for, those that must be chosen first; what is missing
    /// then is left to SPA.
    pub(super) fn run(mut self, task: &str, pick: &Pick, question: &Question<'_>) -> Greedy {
        let Question { rank, allowed, control, rules, .. } = *question;
        let mut open = allowed.to_vec();
        let mut selection = Selection::new(rules, rank, allowed);
        let mut must = rules.must().iter();
        let floor = EXHAUSTED * self.starts.iter().copied().fold(0.0, f64::max);
        while self.chosen.len() < rank {
            if let Some(stop) = control.stopped() {
                return Greedy { rows: self.chosen, stop };
            }
            let row = match must.next() {
                Some(&row) => row,
                None => {
                    let Some(row) = pick(&mut self, &open, floor) else { break };
                    row
                }
            };
            open[row] = false;
            if !selection.admits(row) {
                continue;
            }
            selection.take(row);
            if let Err(stop) = self.add(row, &open, rank) {
                return Greedy { rows: self.chosen, stop };
            }
            let worst = self.norms.iter().copied().fold(0.0, f64::max);
            report(control, task, self.chosen.len(), rank, worst);
        }
        spa::complete(question, self.chosen, None)
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
        let fits = coefficients.par_iter_mut().enumerate().map_init(
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
        let fitted: Result<Vec<()>, Stop> = fits.collect();
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
