//! Which points are near, and the problem on them: its linear term holds what the far ones say.

use super::NearSolver;
use crate::kernels::{NEARNESS_KEYS, axpy, dot, max_abs, nearness_keys, transpose};
use crate::l1::design::{Design, Loss};
use crate::l1::solver::Problem;

/// The near points are at first those with the smallest residuals: one in this many, ...
const NEAR_SHARE: usize = 6;
/// ... on wide data this many and one in that many, since starts are better there, ...
const NEAR_WIDE: (usize, usize) = (500, 24);
/// ... but at least this many per usable atom, and at least this many times the root of atoms times
/// points: the least squares fit of u atoms to noisy points is off by `sqrt(u / n)` of the noise.
const NEAR_ATOMS: usize = 5;
const NEAR_SWING: f64 = 2.4;

/// The problem on the near points and usable atoms.
#[derive(Debug)]
pub(super) struct NearProblem {
    pub points: Vec<u32>,
    pub design: Design,
    pub x: Vec<f64>,
    pub usable: Vec<u32>,
}

impl Default for NearProblem {
    fn default() -> Self {
        let (points, x, usable) = Default::default();
        NearProblem { points, design: Design::empty(), x, usable }
    }
}

impl NearSolver {
    /// Near are the points with the smallest [`relative`] residuals; the sides of the others are taken as known.
    /// `times` as many as at first. Points with x = 0 are never above the fit, and never near.
    pub(super) fn choose_near(&mut self, p: &Problem<'_>, times: usize) {
        let n = p.x.len();
        let part = (n / NEAR_SHARE).min(NEAR_WIDE.0 + n / NEAR_WIDE.1);
        let swing = NEAR_SWING * (p.usable.len() as f64 * n as f64).sqrt();
        let wanted = part.max(NEAR_ATOMS * p.usable.len() + 32).max(swing as usize);
        let wanted = wanted.saturating_mul(times).min(n);
        self.keys.resize(n, 0);
        nearness_keys(p.x, &self.residual, &mut self.keys);
        let (last, mut room) = last_of_smallest(&self.keys, wanted);
        self.is_near.resize(n, false);
        for (near, &key) in self.is_near.iter_mut().zip(&self.keys) {
            let is_last = (key == last) & (room > 0);
            room -= usize::from(is_last);
            *near = (key < last) | is_last;
        }
        if let Some(k) = self.held {
            self.is_near[k as usize] = true;
        }
        self.far.resize(n, 0.0);
        for ((far, &e), &near) in self.far.iter_mut().zip(&self.residual).zip(&self.is_near) {
            *far = if (e > 0.0) & !near { 2.0 } else { 0.0 };
        }
        places(self.is_near.iter().copied(), &mut self.near.points);
    }

    /// Far points that are on the other side now.
    pub(super) fn turned(&self, p: &Problem<'_>) -> Vec<u32> {
        let zero = 1e-14 * max_abs(p.x);
        let points = self.residual.iter().zip(&self.far).zip(&self.is_near);
        // `far - 1` is 1 for those above the fit and -1 for those below.
        let wrong = |((&e, &far), &near): ((&f64, &f64), &bool)| ((far - 1.0) * e < -zero) & !near;
        let mut turned = Vec::new();
        places(points.map(wrong), &mut turned);
        turned
    }

    pub(super) fn take_in(&mut self, p: &Problem<'_>, turned: &[u32]) {
        self.near.extend(p, turned, &self.far);
        for &k in turned {
            self.is_near[k as usize] = true;
            self.far[k as usize] = 0.0;
        }
    }

    /// Leaves about `wanted` near points, those closest to the smoothed fit; the sides of the others
    /// are taken as known.
    pub(super) fn narrow(&mut self, wanted: usize) {
        let residual = &mut self.smooth.residual;
        if wanted >= residual.len() {
            return;
        }
        let sizes: Vec<f64> =
            self.near.x.iter().zip(&*residual).map(|(x, e)| relative(*x, *e)).collect();
        let band = *sizes.clone().select_nth_unstable_by(wanted, f64::total_cmp).1;
        let held = self.held;
        let stays: Vec<bool> = (sizes.iter().zip(&self.near.points))
            .map(|(size, &k)| *size <= band || held == Some(k))
            .collect();
        for ((&k, &e), _) in
            self.near.points.iter().zip(&*residual).zip(&stays).filter(|(_, stays)| !**stays)
        {
            self.is_near[k as usize] = false;
            self.far[k as usize] = if e > 0.0 { 2.0 } else { 0.0 };
        }
        self.near.keep(&stays, &self.far);
        let mut stays = stays.iter();
        residual.retain(|_| *stays.next().expect("one for each point"));
    }
}

/// The places where it is so. Every place is written, and the next one is kept: no branches, which nobody could predict.
pub(super) fn places(is_so: impl ExactSizeIterator<Item = bool>, places: &mut Vec<u32>) {
    places.resize(is_so.len(), 0);
    let mut count = 0;
    for (k, is_so) in is_so.enumerate() {
        places[count] = k as u32;
        count += usize::from(is_so);
    }
    places.truncate(count);
}

/// A residual beside what could be there: `|e_k| / (x_k + (cA)_k)`, from 0 to 1, and the same in any unit of the
/// column. When weights change by a small share, so do the terms of `(cA)_k`, and with them the residual by a share
/// of `(cA)_k`: with residuals as they are, most of those near 0 are of light columns, all of which turn in a walk
/// that turns few heavy ones.
fn relative(x: f64, e: f64) -> f64 {
    e.abs() / (2.0 * x - e)
}

/// The largest key among the so many smallest, and how many with this key are among them. Without those that are no
/// numbers.
fn last_of_smallest(keys: &[u16], wanted: usize) -> (u16, usize) {
    let mut counts = [0u32; NEARNESS_KEYS];
    keys.iter().for_each(|key| counts[usize::from(*key)] += 1);
    let mut room = wanted;
    let (_, keys) = counts.split_last().expect("there are keys");
    for (key, &count) in keys.iter().enumerate() {
        if count as usize >= room {
            return (key as u16, room);
        }
        room -= count as usize;
    }
    (NEARNESS_KEYS as u16 - 1, 0)
}

impl NearProblem {
    /// Gathers the near points, and adds the far ones to the linear term: `q_j - A_j.far`.
    pub(super) fn gather(&mut self, p: &Problem<'_>, far: &[f64]) {
        self.usable.clear();
        self.usable.extend(0..p.usable.len() as u32);
        self.x.clear();
        let design = &mut self.design;
        (design.atoms, design.points, design.loss) = (p.usable.len(), 0, Loss::Hinge);
        design.whole = false;
        design.linear.clear();
        design.linear.extend(p.usable.iter().map(|&j| {
            let atom = p.design.atom(j as usize);
            p.design.linear[j as usize] - dot(atom, far)
        }));
        design.by_point.clear();
        let points = std::mem::take(&mut self.points);
        self.append(p, &points);
    }

    /// Takes in more points, which were far.
    pub(super) fn extend(&mut self, p: &Problem<'_>, points: &[u32], far: &[f64]) {
        for &k in points.iter().filter(|k| far[**k as usize] != 0.0) {
            let column = p.design.point(k as usize);
            for (linear, &j) in self.design.linear.iter_mut().zip(p.usable) {
                *linear += far[k as usize] * column[j as usize];
            }
        }
        self.append(p, points);
    }

    /// Keeps some of the points, by place; the others go to the linear term.
    pub(super) fn keep(&mut self, stays: &[bool], far: &[f64]) {
        let design = &mut self.design;
        let (m, mut kept) = (design.atoms, 0);
        for (at, &stays) in stays.iter().enumerate().take(self.points.len()) {
            let k = self.points[at];
            if stays {
                (self.points[kept], self.x[kept]) = (k, self.x[at]);
                design.by_point.copy_within(at * m..(at + 1) * m, kept * m);
                kept += 1;
            } else if far[k as usize] != 0.0 {
                let column = &design.by_point[at * m..(at + 1) * m];
                axpy(-far[k as usize], column, &mut design.linear);
            }
        }
        self.points.truncate(kept);
        self.x.truncate(kept);
        design.by_point.truncate(kept * m);
        self.lay_out();
    }

    pub(super) fn append(&mut self, p: &Problem<'_>, points: &[u32]) {
        self.points.extend_from_slice(points);
        self.x.extend(points.iter().map(|&k| p.x[k as usize]));
        let design = &mut self.design;
        for &k in points {
            let column = p.design.point(k as usize);
            if p.usable.len() == column.len() {
                design.by_point.extend_from_slice(column);
            } else {
                design.by_point.extend(p.usable.iter().map(|&j| column[j as usize]));
            }
        }
        self.lay_out();
    }

    /// The layout by atom from that by point.
    pub(super) fn lay_out(&mut self) {
        let design = &mut self.design;
        design.points = self.points.len();
        design.by_atom.resize(design.by_point.len(), 0.0);
        transpose(design.points, design.atoms, &design.by_point, &mut design.by_atom);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{End, NearSolver};
    use crate::l1::{Design, Loss, Problem, Solver};
    use crate::matrix::Dense;

    fn numbers(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed;
        move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as f64 / (1u64 << 31) as f64
        }
    }

    /// Columns of very different mass, as those of words: the k-th has a share of 1 / k of the first. Chosen by the
    /// residuals as they are, near points were the light columns, most walks had to be given up, and it took 7 to 10.
    #[test]
    fn points_settle_where_columns_differ_in_mass() {
        let mut next = numbers(8);
        let (m, n) = (10, 5000);
        let mass: Vec<f64> = (0..n).map(|k| 1.0 / (k + 1) as f64).collect();
        let rows = (0..m * n).map(|at| mass[at % n] * next().powi(4)).collect();
        let atoms = Dense::new(m, n, rows).unwrap();
        let design = Design::new(&atoms, Loss::Hinge);
        let usable: Vec<u32> = (0..m as u32).collect();
        let mut near = NearSolver::default();
        for _ in 0..5 {
            let weights: Vec<f64> = (0..m).map(|_| next()).collect();
            let mixed = |k: usize| -> f64 { (0..m).map(|j| weights[j] * atoms.row(j)[k]).sum() };
            let x: Vec<f64> = (0..n).map(|k| mixed(k) * (0.2 + 1.6 * next())).collect();
            let p = Problem { design: &design, x: &x, usable: &usable, upper: None };
            let start: Vec<f64> = weights.iter().map(|c| c * (0.9 + 0.2 * next())).collect();
            near.set_bounds(&p);
            near.choose_start(&p, &[], None, &start);
            near.choose_near(&p, 1);
            near.near.gather(&p, &near.far);
            let basis = near.crash(&p);
            assert!(matches!(near.rounds(6, &p, basis).1, End::Settled));
        }
    }

    /// Rows that are zero nearly everywhere, at fewer places than there are atoms perhaps.
    #[test]
    fn fits_of_sparse_rows_are_exact() {
        let mut next = numbers(3);
        let (m, n) = (12, 600);
        let entries = (0..m * n).map(|_| (next() - 0.7).max(0.0)).collect();
        let atoms = Dense::new(m, n, entries).unwrap();
        let design = Design::new(&atoms, Loss::Hinge);
        let usable: Vec<u32> = (0..m as u32).collect();
        let mut near = NearSolver::default();
        for filled in [1, 2, 5, 20, 100, 300, 600] {
            for start in [0.0, 0.1] {
                let x: Vec<f64> =
                    (0..n).map(|k| if (k * 7) % n < filled { next() } else { 0.0 }).collect();
                let p = Problem { design: &design, x: &x, usable: &usable, upper: None };
                let exact = Solver::new().fit(&p, None);
                let fit = near.fit(&p, &[], None, &vec![start; m]);
                assert!((fit.value - exact.value).abs() <= 1e-10 * exact.value, "{filled}");
                assert!(fit.value - fit.lower_bound <= 1e-9 * exact.value, "{filled}");
            }
        }
    }
}
