//! A choice of rows with the fits of all explained rows on it.

use super::cosines::Cosines;
use crate::control::Control;
use crate::kernels::parallel::*;
use crate::squares::{Domain, Nnls};

/// Rows of one task; fixed, so that sums do not depend on the number of threads.
const CHUNK: usize = 32;
/// A row of the pool prices in at a cosine with the residual above this.
const PRICE_TOLERANCE: f64 = 1e-5;

/// A fit of an explained row: `c >= 0` on the chosen rows and `q = ||u - c U_H||^2`.
#[derive(Debug, Clone, Default)]
pub(super) struct Fit {
    /// (position in H, weight > 0), increasing.
    pub weights: Vec<(u32, f64)>,
    pub q: f64,
}

impl Fit {
    pub fn uses(&self, h: usize) -> bool {
        self.weights.iter().any(|w| w.0 as usize == h)
    }
}

/// A choice of rows.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// H, as positions in the pool.
    pub hott: Vec<usize>,
    /// The cosines of each with all of the pool.
    pub lines: Vec<Vec<f32>>,
    /// By position among the explained rows.
    pub fits: Vec<Fit>,
    /// The mean of `sqrt(q)`, each counting as much as its row weighs.
    pub score: f64,
}

/// The row at position `leave` of H goes, the one at position `enter` of the pool takes its place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Exchange {
    pub leave: usize,
    pub enter: usize,
}

/// Positions of H that may leave, at most: those that are missed least.
pub(super) fn most_leaving(rank: usize) -> usize {
    rank.min(12.max(rank / 4))
}

impl Place {
    /// Whether it is the same choice, in whatever order.
    pub fn same_rows(&self, other: &Place) -> bool {
        let sorted = |hott: &[usize]| {
            let mut hott = hott.to_vec();
            hott.sort_unstable();
            hott
        };
        sorted(&self.hott) == sorted(&other.hott)
    }

    /// `U_H U_H^T`.
    fn gram(&self) -> Vec<f64> {
        let entry = |line: &Vec<f32>, &h: &usize| f64::from(line[h]);
        self.lines.iter().flat_map(|line| self.hott.iter().map(move |h| entry(line, h))).collect()
    }
}

/// Fits of one row after another on a fixed H.
struct Fitting {
    gram: Vec<f64>,
    nnls: Nnls,
    targets: Vec<f64>,
    weights: Vec<f64>,
}

impl Fitting {
    fn new(gram: Vec<f64>, rank: usize) -> Self {
        Fitting {
            gram,
            nnls: Nnls::to(PRICE_TOLERANCE),
            targets: vec![0.0; rank],
            weights: vec![0.0; rank],
        }
    }

    /// The fit of the row with these cosines with H, from the weights of another fit.
    fn fit(&mut self, cosines: impl Iterator<Item = f32>, start: &Fit) -> Fit {
        self.targets.iter_mut().zip(cosines).for_each(|(t, cosine)| *t = f64::from(cosine));
        self.weights.fill(0.0);
        let known = self.weights.len();
        let starts = start.weights.iter().filter(|w| (w.0 as usize) < known);
        starts.for_each(|&(h, weight)| self.weights[h as usize] = weight);
        self.nnls.solve(&self.gram, &self.targets, &mut self.weights, Domain::Cone);
        let explained: f64 = self.targets.iter().zip(&self.weights).map(|(b, c)| b * c).sum();
        let used = self.weights.iter().enumerate().filter(|w| *w.1 > 0.0);
        Fit { weights: used.map(|(h, &c)| (h as u32, c)).collect(), q: (1.0 - explained).max(0.0) }
    }
}

impl Cosines<'_> {
    /// The place of some rows of X, all of which are in the pool. `None` when stopped.
    pub fn place_of(&self, rows: &[usize], control: &Control) -> Option<Place> {
        let position = |j: &usize| self.position(*j);
        let hott: Vec<usize> = rows.iter().map(position).collect::<Option<_>>()?;
        let lines = self.of_pool(&hott, control)?;
        let nothing = vec![Fit::default(); self.rows.len()];
        let place = Place { hott, lines, fits: nothing, score: 0.0 };
        self.fitted(place, |_| true, control)
    }

    /// The place after an exchange. `None` when stopped.
    pub fn exchanged(&self, place: &Place, exchange: Exchange, control: &Control) -> Option<Place> {
        let Exchange { leave, enter } = exchange;
        let touched = |at: usize| place.fits[at].uses(leave) || self.prices_in(place, at, enter);
        let mut next = place.clone();
        next.hott[leave] = enter;
        next.lines[leave] = self.of_pool(&[enter], control)?.pop()?;
        for fit in &mut next.fits {
            fit.weights.retain(|w| w.0 as usize != leave);
        }
        self.fitted(next, touched, control)
    }

    /// A place of these cosines among those of fewer: every row of H is there too.
    pub fn narrowed(&self, wide: &Cosines<'_>, place: &Place) -> Place {
        let pick = |line: &Vec<f32>| -> Vec<f32> {
            let position = |j: &usize| wide.position(*j);
            self.pool.iter().filter_map(position).map(|p| line[p]).collect()
        };
        let lines = place.lines.iter().map(pick).collect();
        let hott = place.hott.iter().filter_map(|&h| self.position(wide.pool[h])).collect();
        Place { hott, lines, ..place.clone() }
    }

    /// The other way round. `None` when stopped.
    pub fn widened(&self, narrow: &Cosines<'_>, place: Place, control: &Control) -> Option<Place> {
        let hott: Vec<usize> =
            place.hott.iter().filter_map(|&h| self.position(narrow.pool[h])).collect();
        let lines = self.of_pool(&hott, control)?;
        Some(Place { hott, lines, ..place })
    }

    /// The same place with the fits of some rows renewed, from the weights they have.
    fn fitted(
        &self,
        mut place: Place,
        touched: impl Fn(usize) -> bool + Sync,
        control: &Control,
    ) -> Option<Place> {
        let gram = place.gram();
        let hott = &place.hott;
        let done = place.fits.par_chunks_mut(CHUNK).enumerate().all(|(chunk, fits)| {
            let mut fitting = Fitting::new(gram.clone(), hott.len());
            for (at, fit) in (chunk * CHUNK..).zip(fits) {
                if touched(at) {
                    *fit = self.fit_of(at, hott, &mut fitting, fit);
                }
            }
            control.goes_on()
        });
        let root = |(at, fit): (usize, &Fit)| f64::from(self.weight(at)) * fit.q.sqrt();
        let roots: f64 = place.fits.iter().enumerate().map(root).sum();
        place.score = roots / self.rows.len() as f64;
        done.then_some(place)
    }

    /// The fit of an explained row: itself where it is chosen.
    fn fit_of(&self, at: usize, hott: &[usize], fitting: &mut Fitting, start: &Fit) -> Fit {
        let own = hott.iter().position(|&h| self.pool[h] == self.rows[at]);
        if let Some(own) = own {
            return Fit { weights: vec![(own as u32, 1.0)], q: 0.0 };
        }
        let line = self.line(at);
        fitting.fit(hott.iter().map(|&h| line[h]), start)
    }

    /// Whether a row of the pool would get weight in the fit of an explained row.
    fn prices_in(&self, place: &Place, at: usize, enter: usize) -> bool {
        let line = self.line(at);
        let explained = place.fits[at]
            .weights
            .iter()
            .map(|&(h, weight)| weight * f64::from(place.lines[h as usize][enter]));
        f64::from(line[enter]) - explained.sum::<f64>() > PRICE_TOLERANCE
    }

    /// The fits of explained rows once the row at each position of H has left that they use: per row
    /// (position, fit). `None` when stopped.
    pub fn without(&self, place: &Place, control: &Control) -> Option<Vec<Vec<(usize, Fit)>>> {
        let (gram, r) = (place.gram(), place.hott.len());
        let rows: Vec<usize> = (0..self.rows.len()).collect();
        let fits: Option<Vec<Vec<_>>> = rows
            .par_chunks(CHUNK)
            .map(|rows| {
                let mut fits = vec![Vec::new(); rows.len()];
                for h in 0..r {
                    let mut users = rows.iter().zip(&mut fits).filter(|u| place.fits[*u.0].uses(h));
                    let Some(first) = users.next() else { continue };
                    let mut fitting = Fitting::new(without_position(&gram, r, h), r - 1);
                    for (&at, fits) in std::iter::once(first).chain(users) {
                        fits.push((h, self.fit_without(place, at, h, &mut fitting)));
                    }
                }
                control.goes_on().then_some(fits)
            })
            .collect();
        Some(fits?.into_iter().flatten().collect())
    }

    /// The fit of an explained row on H without position h.
    fn fit_without(&self, place: &Place, at: usize, h: usize, fitting: &mut Fitting) -> Fit {
        let mut start = place.fits[at].clone();
        start.weights.retain(|w| w.0 as usize != h);
        start.weights.iter_mut().for_each(|w| w.0 -= u32::from(w.0 as usize > h));
        let line = self.line(at);
        let others = place.hott.iter().enumerate().filter(|k| k.0 != h);
        let mut left = fitting.fit(others.map(|(_, &p)| line[p]), &start);
        left.weights.iter_mut().for_each(|w| w.0 += u32::from(w.0 as usize >= h));
        left
    }
}

/// An r x r matrix without one row and column.
fn without_position(gram: &[f64], r: usize, h: usize) -> Vec<f64> {
    let others = || (0..r).filter(move |k| *k != h);
    others().flat_map(|a| others().map(move |b| gram[a * r + b])).collect()
}
