//! The iteration: a reflected primal-dual step, pulled towards an anchor.
//!
//! With A the atoms in play and U their caps, the program is the saddle point
//!
//! ```text
//! min over C, d   max over |Y| <= 1   <Y, X - C A>      0 <= C_iq <= u_iq d_q,  d <= 1,  sum d = r
//! ```
//!
//! One step of the primal-dual hybrid gradient (Chambolle and Pock) is `C' = project(C + w Y A^T)`,
//! then the `Y'` with `|Y'| <= 1` that maximises `<Y', X - (2C' - C) A> - w/2 |Y' - Y|^2` in a norm of the
//! rows of Y (`metric`) that follows A closely. The step is reflected and pulled
//! to the point where the iteration was last begun anew,
//! `z <- k/(k+1) (2 z' - z) + 1/(k+1) anchor` (Halpern), which on text needed half the iterations that
//! averages need. `4 f m n` flops in two matrix products, all in single precision.
//!
//! The weight w balances the ways that C and Y have to go. Whenever the iteration is begun anew, it moves
//! half-way (in logarithms) to the ratio of the ways that they went since the last time, each in the norm of
//! its steps (as in PDLP, Applegate and others, 2021).

use super::columns::{picked, positions};
use super::metric::Metric;
use super::project::project;
use crate::control::Control;
use crate::kernels::parallel::*;
use crate::kernels::{add_capped_positive, gemm_while, l1_distance};

/// Rows of one task; fixed, so that sums do not depend on the number of threads.
const CHUNK: usize = 64;

/// The range of the weight w.
const LEAST_WEIGHT: f32 = 1e-3;
const MOST_WEIGHT: f32 = 1.0;

/// The rows to explain and the atoms in play.
pub(super) struct Play<'a> {
    /// Those rows of X, f x n.
    pub x: &'a [f32],
    pub n: usize,
    /// Their numbers, increasing.
    pub explained: &'a [usize],
    pub rank: usize,
    /// The atoms' numbers, as the caller counts them.
    pub columns: Vec<usize>,
    /// Which row of `x` is an atom's own.
    pub own: Vec<Option<usize>>,
    /// m x n.
    pub atoms: Vec<f32>,
    /// u, f x m.
    pub caps: Vec<f32>,
    /// How much each row counts, at most one; empty where all count the same. `x` has rows times this, and Y is that of
    /// rows counting the same: `<Y, diag(l) (X - C A)>`.
    pub lambdas: Vec<f32>,
    /// The columns in which each row of `x` was not observed: Y is zero there. Empty where nothing is missing.
    pub gaps: Vec<&'a [u32]>,
}

impl Play<'_> {
    pub fn rows(&self) -> usize {
        self.x.len() / self.n
    }

    /// Flops of one step.
    pub fn work(&self) -> f64 {
        4.0 * self.x.len() as f64 * self.columns.len() as f64
    }

    /// Zeros in the columns in which a row was not observed.
    fn blank(&self, i: usize, row: &mut [f32]) {
        let gaps = self.gaps.get(i).copied().unwrap_or_default();
        gaps.iter().for_each(|&k| row[k as usize] = 0.0);
    }

    /// `diag(l) Y A^T`, f x m. False when stopped.
    fn prices(&self, y: &[f32], out: &mut [f32], control: &Control) -> bool {
        let (f, m) = (self.rows(), self.columns.len());
        let go_on = || control.goes_on();
        if !gemm_while(go_on, f, self.n, m, 1.0, y, &self.atoms, true, 0.0, out) {
            return false;
        }
        count(out, m, &self.lambdas);
        true
    }

    /// `out + w diag(l) Y A^T` in the place of `out`, with `room` for the product. False when stopped.
    fn add_prices(
        &self,
        y: &[f32],
        (out, room): (&mut [f32], &mut [f32]),
        weight: f32,
        control: &Control,
    ) -> bool {
        if self.lambdas.is_empty() {
            let (f, m) = (self.rows(), self.columns.len());
            let go_on = || control.goes_on();
            return gemm_while(go_on, f, self.n, m, weight, y, &self.atoms, true, 1.0, out);
        }
        if !self.prices(y, room, control) {
            return false;
        }
        let slices = out.par_chunks_mut(SLICE).zip(room.par_chunks(SLICE));
        slices.for_each(|(out, room)| {
            out.iter_mut().zip(room).for_each(|(out, price)| *out += weight * price);
        });
        true
    }
}

/// Multiplies rows of this width by what they count; nothing where all count the same.
pub(super) fn count(rows: &mut [f32], width: usize, lambdas: &[f32]) {
    let rows = rows.par_chunks_mut(width).zip(lambdas);
    rows.for_each(|(row, lambda)| row.iter_mut().for_each(|v| *v *= lambda));
}

/// What a dual and a primal point are worth.
pub(super) struct Look {
    /// `<Y, X>`.
    pub product: f64,
    /// `s_q = sum_i u_iq (y_i.a_q)_+`, the own entry with its sign.
    pub prices: Vec<f64>,
    /// `sum_i ||x_i - c_i A||_1`.
    pub error: f64,
}

/// A point of the iteration: C, its diagonal, Y.
#[derive(Clone)]
pub(super) struct Point {
    pub c: Vec<f32>,
    pub d: Vec<f32>,
    pub y: Vec<f32>,
}

/// The iterate, the point it is pulled to, and the last step's outcome, which is feasible.
pub(super) struct Iterate {
    at: Point,
    anchor: Point,
    pub feasible: Point,
    /// Steps since it was begun anew.
    count: usize,
    multiplier: f64,
    /// w.
    weight: f32,
    metric: Metric,
    /// What the last step took from every entry of a row of Y, see [`Metric::step`].
    shifts: Vec<f32>,
    /// Room for a product of f x m.
    room: Vec<f32>,
}

impl Iterate {
    /// At the given point; `None` when stopped.
    pub fn new(play: &Play<'_>, start: Point, weight: f32, control: &Control) -> Option<Self> {
        let metric = Metric::of(play, weight, control)?;
        let shifts = vec![0.0; play.rows()];
        let room = vec![0.0; start.c.len()];
        Some(Iterate {
            anchor: start.clone(),
            feasible: start.clone(),
            at: start,
            count: 0,
            multiplier: 0.0,
            weight,
            metric,
            shifts,
            room,
        })
    }

    /// Goes on with other columns: those that are new have no weight, neither here nor where it was begun. False
    /// when stopped: the point is then of no use.
    pub fn change(&mut self, from: &[usize], play: &Play<'_>, control: &Control) -> bool {
        let Some(metric) = Metric::of(play, self.weight, control) else {
            return false;
        };
        self.metric = metric;
        let before = positions(&play.columns, from);
        for point in [&mut self.at, &mut self.anchor, &mut self.feasible] {
            point.c = picked(&point.c, from.len(), &before);
            point.d = picked(&point.d, from.len(), &before);
        }
        self.room = vec![0.0; self.at.c.len()];
        true
    }

    /// Begins anew at the last feasible point, with the weight that suits the way there.
    pub fn restart(&mut self) {
        self.weight = self.balanced();
        self.metric.weigh(self.weight);
        self.at.clone_from(&self.feasible);
        self.anchor.clone_from(&self.feasible);
        self.count = 0;
    }

    /// `sqrt(w |C - C_0| / |Y - Y_0|)`, each in the norm of its steps.
    fn balanced(&self) -> f32 {
        let square = |(a, b): (&f32, &f32)| f64::from(a - b).powi(2);
        let primal: f64 = self.feasible.c.iter().zip(&self.anchor.c).map(square).sum();
        let dual = self.metric.squared_distance(&self.feasible.y, &self.anchor.y);
        if primal <= 0.0 || dual <= 0.0 {
            return self.weight;
        }
        let balanced = (f64::from(self.weight) * (primal / dual).sqrt()).sqrt() as f32;
        balanced.clamp(LEAST_WEIGHT, MOST_WEIGHT)
    }

    /// Steps since it was begun anew.
    pub fn age(&self) -> usize {
        self.count
    }

    /// One step. False when stopped: the point is then of no use.
    pub fn step(&mut self, play: &Play<'_>, control: &Control) -> bool {
        let (n, m) = (play.n, play.columns.len());
        self.count += 1;
        let keep = self.count as f32 / (self.count + 1) as f32;
        // C' = project(C + w Y A^T), own entries apart.
        let z = &mut self.feasible.c;
        z.copy_from_slice(&self.at.c);
        if !play.add_prices(&self.at.y, (z, &mut self.room), self.weight, control) {
            return false;
        }
        let take = |(q, own): (usize, &Option<usize>)| match own {
            Some(i) => std::mem::replace(&mut z[i * m + q], f32::NEG_INFINITY),
            None => self.at.d[q],
        };
        let own: Vec<f32> = play.own.iter().enumerate().map(take).collect();
        let levels = &mut self.feasible.d;
        if !project(z, &play.caps, &own, play.rank, levels, &mut self.multiplier, control) {
            return false;
        }
        put_levels(z, levels, &play.own);
        // 2C' - C, and what it explains.
        reflect(&mut self.at.c, &self.feasible.c);
        reflect(&mut self.at.d, &self.feasible.d);
        let fit = &mut self.feasible.y;
        let go_on = || control.goes_on();
        if !gemm_while(go_on, play.rows(), m, n, 1.0, &self.at.c, &play.atoms, false, 0.0, fit) {
            return false;
        }
        count(fit, n, &play.lambdas);
        let (anchor, metric) = (&self.anchor.y, &self.metric);
        let parts = (self.at.y.par_chunks_mut(n)).zip(fit.par_chunks_mut(n));
        let parts = parts.zip(play.x.par_chunks(n).zip(anchor.par_chunks(n)));
        let parts = parts.zip(&mut self.shifts).enumerate();
        parts.for_each(|(i, (((y, fit), (x, anchor)), shift))| {
            metric.step(y, fit, x, shift, (keep, anchor));
            play.blank(i, y);
            play.blank(i, fit);
        });
        pull(&mut self.at.c, &self.anchor.c, keep);
        pull(&mut self.at.d, &self.anchor.d, keep);
        true
    }

    /// What the last feasible point is worth. Two products, as a step; `None` when stopped.
    pub fn look(&mut self, play: &Play<'_>, control: &Control) -> Option<Look> {
        let (n, m) = (play.n, play.columns.len());
        let Point { c, y, .. } = &self.feasible;
        if !play.prices(y, &mut self.room, control) {
            return None;
        }
        let own = |q: usize| play.own[q].map_or(0.0, |i| f64::from(self.room[i * m + q]));
        let mut prices = capped_sums(&self.room, &play.caps, m);
        for (q, price) in prices.iter_mut().enumerate() {
            *price += own(q).min(0.0); // the caps of own entries are one
        }
        let mut fit = vec![0.0f32; y.len()];
        let go_on = || control.goes_on();
        if !gemm_while(go_on, play.rows(), m, n, 1.0, c, &play.atoms, false, 0.0, &mut fit) {
            return None;
        }
        count(&mut fit, n, &play.lambdas);
        let rows = fit.par_chunks_mut(n).zip(play.x.par_chunks(n)).zip(y.par_chunks(n));
        let figures: Vec<(f64, f64)> = rows
            .enumerate()
            .map(|(i, ((fit, x), y))| {
                play.blank(i, fit);
                let product: f64 = x.iter().zip(y).map(|(x, y)| f64::from(x * y)).sum();
                (product, l1_distance(x, fit))
            })
            .collect();
        let product = figures.iter().map(|f| f.0).sum();
        let error = figures.iter().map(|f| f.1).sum();
        Some(Look { product, prices, error })
    }
}

/// `sum_i u_iq (G_iq)_+` per column of an f x m matrix.
pub(super) fn capped_sums(g: &[f32], caps: &[f32], m: usize) -> Vec<f64> {
    let parts: Vec<Vec<f32>> = (g.par_chunks(CHUNK * m).zip(caps.par_chunks(CHUNK * m)))
        .map(|(g, caps)| {
            let mut sums = vec![0.0; m];
            for (row, caps) in g.chunks_exact(m).zip(caps.chunks_exact(m)) {
                add_capped_positive(row, caps, &mut sums);
            }
            sums
        })
        .collect();
    let mut total = vec![0.0; m];
    for part in parts {
        total.iter_mut().zip(part).for_each(|(total, part)| *total += f64::from(part));
    }
    total
}

/// Own entries are the levels themselves.
pub(super) fn put_levels(c: &mut [f32], levels: &[f32], own: &[Option<usize>]) {
    for (q, own) in own.iter().enumerate() {
        if let Some(i) = own {
            c[i * levels.len() + q] = levels[q];
        }
    }
}

/// Numbers that one task changes.
const SLICE: usize = 1 << 16;

/// `a = 2 b - a`.
fn reflect(a: &mut [f32], b: &[f32]) {
    let slices = a.par_chunks_mut(SLICE).zip(b.par_chunks(SLICE));
    slices.for_each(|(a, b)| a.iter_mut().zip(b).for_each(|(a, b)| *a = 2.0 * b - *a));
}

/// `a = keep a + (1 - keep) b`.
fn pull(a: &mut [f32], b: &[f32], keep: f32) {
    let slices = a.par_chunks_mut(SLICE).zip(b.par_chunks(SLICE));
    slices.for_each(|(a, b)| {
        a.iter_mut().zip(b).for_each(|(a, b)| *a = keep * *a + (1.0 - keep) * b);
    });
}
