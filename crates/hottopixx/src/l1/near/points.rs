//! Which points are near, and the problem on them: its linear term holds what the far ones say.

use super::NearSolver;
use crate::kernels::{axpy, dot, max_abs, transpose};
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
    /// Near are the points with the smallest residuals; the sides of the others are taken as known.
    /// `times` as many as at first.
    pub(super) fn choose_near(&mut self, p: &Problem<'_>, times: usize) {
        let n = p.x.len();
        let part = (n / NEAR_SHARE).min(NEAR_WIDE.0 + n / NEAR_WIDE.1);
        let swing = NEAR_SWING * (p.usable.len() as f64 * n as f64).sqrt();
        let wanted = part.max(NEAR_ATOMS * p.usable.len() + 32).max(swing as usize);
        let wanted = wanted.saturating_mul(times).min(n);
        let mut sizes: Vec<f64> = self.residual.iter().map(|e| e.abs()).collect();
        let band = if wanted < n {
            *sizes.select_nth_unstable_by(wanted, f64::total_cmp).1
        } else {
            f64::INFINITY
        };
        self.is_near.clear();
        self.is_near.extend(self.residual.iter().map(|e| e.abs() <= band));
        if let Some(k) = self.held {
            self.is_near[k as usize] = true;
        }
        self.far.clear();
        self.far.extend(
            (self.residual.iter().zip(&self.is_near)).map(
                |(&e, &near)| {
                    if e > 0.0 && !near { 2.0 } else { 0.0 }
                },
            ),
        );
        self.near.points.clear();
        self.near.points.extend((0..n as u32).filter(|&k| self.is_near[k as usize]));
    }

    /// Far points that are on the other side now.
    pub(super) fn turned(&self, p: &Problem<'_>) -> Vec<u32> {
        let zero = 1e-14 * max_abs(p.x);
        let wrong = |k: usize| {
            let e = self.residual[k];
            !self.is_near[k] && if self.far[k] > 0.0 { e < -zero } else { e > zero }
        };
        (0..self.residual.len()).filter(|&k| wrong(k)).map(|k| k as u32).collect()
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
        let mut sizes: Vec<f64> = residual.iter().map(|e| e.abs()).collect();
        let band = *sizes.select_nth_unstable_by(wanted, f64::total_cmp).1;
        let held = self.held;
        let stays: Vec<bool> = (residual.iter().zip(&self.near.points))
            .map(|(e, &k)| e.abs() <= band || held == Some(k))
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
