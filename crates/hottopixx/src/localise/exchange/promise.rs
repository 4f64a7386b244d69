//! What every exchange would come to, nearly, by one look at all cosines.
//!
//! Take a fit with support T (the chosen rows that have weight), error q, and let row j enter. As long as
//! no other weight meets zero, the error falls by `g^2 / sigma`, where `g = u_j . (u - c U_T)` is the
//! cosine of j with what is left (nothing happens for `g <= 0`) and `sigma` the squared length of what
//! is left of `u_j` once its projection on the span of `U_T` is taken away. With the factor `L L^T = U_T U_T^T`, `z = L^-1 U_T u_j`
//! and `w = L^-1 U_T u`: `g = u.u_j - w.z`, `sigma = 1 - z.z`. For all j at once that is a triangular
//! solve on the lines of cosines: `k^2 / 2 + 2 k` operations per j for a support of k.
//!
//! The table holds, for every position h that may leave and every row j, the sum over the explained
//! rows of the root of that: from their fits on H where they do not use h, else from those without h.

use super::cosines::Cosines;
use super::place::{Exchange, Fit, Place, most_leaving};
use crate::control::Control;
use crate::kernels::parallel::*;
use crate::kernels::{ENTERING_BLOCK, Support, roots_after_entering};
use crate::order::smallest_first;

/// Explained rows of one table, and tables that are held at a time; fixed, so that sums do not depend
/// on the number of threads.
const CHUNK: usize = 64;
/// Pivots of a factor are at least this, squared.
const LEAST_PIVOT: f32 = 1e-6;
pub(super) const WAVE: usize = 8;

impl Cosines<'_> {
    /// Operations of a look at all exchanges, and of fitting all rows after one, roughly.
    pub fn operations(&self, place: &Place) -> (f64, f64) {
        let (m, r) = (self.pool.len() as f64, place.hott.len() as f64);
        let share = most_leaving(place.hott.len()) as f64 / r;
        let look = |fit: &Fit| {
            let k = fit.weights.len() as f64;
            (1.0 + share * k) * (0.5 * k * k + 3.0 * k + 10.0) * m + 8.0 * k * r * r
        };
        (place.fits.iter().map(look).sum(), 8.0 * r * r * self.rows.len() as f64)
    }

    /// The exchanges that promise the lowest scores, lowest first; ties go to the lower row. `None`
    /// when stopped.
    pub fn promising(
        &self,
        place: &Place,
        most: usize,
        control: &Control,
    ) -> Option<Vec<Exchange>> {
        let without = self.without(place, control)?;
        let rules = self.exchanges(&place.hott);
        let may_leave = |h: usize| rules.may_leave(self.pool[place.hott[h]]);
        let leaving = least_missed(place, &without, may_leave, |at| f64::from(self.weight(at)));
        let m = self.pool.len();
        let mut table = vec![0.0f64; (1 + leaving.len()) * m];
        let chunks: Vec<usize> = (0..self.rows.len().div_ceil(CHUNK)).collect();
        for wave in chunks.chunks(WAVE) {
            let parts: Vec<Vec<f32>> = wave
                .par_iter()
                .map(|&chunk| self.part(place, &without, &leaving, chunk, control))
                .collect::<Option<_>>()?;
            for part in parts {
                table.iter_mut().zip(part).for_each(|(sum, part)| *sum += f64::from(part));
            }
        }
        let (common, own) = table.split_at(m);
        let mut found: Vec<(f64, usize, usize)> = Vec::new();
        for (&leave, own) in leaving.iter().zip(own.chunks_exact(m)) {
            let scores = common.iter().zip(own).map(|(common, own)| common + own);
            found.extend(scores.enumerate().map(|(enter, score)| (score, enter, leave)));
        }
        found.retain(|&(_, enter, leave)| {
            !place.hott.contains(&enter)
                && rules.allow(self.pool[place.hott[leave]], self.pool[enter])
        });
        let order = |a: &(f64, usize, usize), b: &(f64, usize, usize)| {
            a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2))
        };
        if found.len() > most {
            found.select_nth_unstable_by(most, order);
            found.truncate(most);
        }
        found.sort_unstable_by(order);
        Some(found.into_iter().map(|(_, enter, leave)| Exchange { leave, enter }).collect())
    }

    /// The table of some explained rows: first the sums from the fits on H, then for every position
    /// that may leave what differs from them.
    fn part(
        &self,
        place: &Place,
        without: &[Vec<(usize, Fit)>],
        leaving: &[usize],
        chunk: usize,
        control: &Control,
    ) -> Option<Vec<f32>> {
        let m = self.pool.len();
        let mut table = vec![0.0f32; (1 + leaving.len()) * m];
        let (mut support, mut room) = (Support::default(), Vec::new());
        let (mut whole, mut part) = (vec![0.0f32; m], vec![0.0f32; m]);
        for (at, without) in without.iter().enumerate().skip(chunk * CHUNK).take(CHUNK) {
            let line = self.line(at);
            let mut enter = |fit: &Fit, out: &mut [f32]| {
                let rows: Vec<usize> = fit.weights.iter().map(|w| w.0 as usize).collect();
                let cosine = |&h: &usize| line[place.hott[h]];
                factorise(place, &rows, rows.iter().map(cosine), &mut support);
                let lines: Vec<&[f32]> = rows.iter().map(|&h| &place.lines[h][..]).collect();
                room.resize(rows.len() * ENTERING_BLOCK, 0.0);
                roots_after_entering(&lines, &support, line, fit.q as f32, &mut room, out);
            };
            let fit = &place.fits[at];
            if fit.q > 0.0 {
                enter(fit, &mut whole);
            } else {
                whole.fill(0.0);
            }
            let weight = self.weight(at);
            add(weight, &whole, &mut table[..m]);
            for (h, fit) in without {
                let Some(position) = leaving.iter().position(|l| l == h) else { continue };
                let own = &mut table[(1 + position) * m..(2 + position) * m];
                enter(fit, &mut part);
                add(weight, &part, own);
                add(-weight, &whole, own);
            }
            if !control.goes_on() {
                return None;
            }
        }
        Some(table)
    }
}

fn add(sign: f32, from: &[f32], to: &mut [f32]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += sign * from);
}

/// The factor L of the cosines between some rows of H and `L^-1 b`, with b their cosines with a row.
/// Pivots that nearly coincident rows leave of next to nothing are raised.
fn factorise(
    place: &Place,
    rows: &[usize],
    cosines: impl Iterator<Item = f32>,
    support: &mut Support,
) {
    let k = rows.len();
    support.factor.resize(k * k, 0.0);
    support.target.clear();
    for (t, (&h, cosine)) in rows.iter().zip(cosines).enumerate() {
        let line = &place.lines[h];
        let mut left = 1.0f32;
        for u in 0..t {
            let (above, own) = support.factor.split_at_mut(t * k);
            let earlier = &above[u * k..u * k + u];
            let product: f32 = earlier.iter().zip(&own[..u]).map(|(a, b)| a * b).sum();
            let entry = (line[place.hott[rows[u]]] - product) * above[u * k + u];
            own[u] = entry;
            left -= entry * entry;
        }
        // The diagonal holds one over the pivot.
        support.factor[t * k + t] = 1.0 / left.max(LEAST_PIVOT).sqrt();
        let solved = support.factor[t * k..t * k + t].iter().zip(&support.target);
        let product: f32 = solved.map(|(l, w)| l * w).sum();
        support.target.push((cosine - product) * support.factor[t * k + t]);
    }
}

/// The positions, of those that may leave, whose rows are missed least, increasing.
fn least_missed(
    place: &Place,
    without: &[Vec<(usize, Fit)>],
    may_leave: impl Fn(usize) -> bool,
    weight: impl Fn(usize) -> f64,
) -> Vec<usize> {
    let mut losses = vec![0.0; place.hott.len()];
    for (at, (fit, without)) in place.fits.iter().zip(without).enumerate() {
        let lost = |left: &Fit| weight(at) * (left.q.sqrt() - fit.q.sqrt());
        without.iter().for_each(|(h, left)| losses[*h] += lost(left));
    }
    let mut order: Vec<usize> = (0..losses.len()).filter(|&h| may_leave(h)).collect();
    smallest_first(&mut order, |i| losses[i]);
    order.truncate(most_leaving(losses.len()));
    order.sort_unstable();
    order
}
