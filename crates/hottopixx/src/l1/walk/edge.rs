//! Edges: what enters, at which rates weights and residuals change, and where the objective is
//! lowest.

use crate::kernels::{axpy, axpy4, max_abs, speed_below, steps_to_zero};
use crate::l1::line_search::{Breakpoint, find_crossing};
use crate::l1::solver::{Problem, Solver};

#[derive(Debug, Clone, Copy)]
pub(super) enum Entering {
    /// A weight leaves its bound, upwards (+1) or downwards (-1).
    Atom { atom: usize, sign: f64 },
    /// An active point is released, its residual growing (+1) or falling (-1).
    Active { position: usize, sign: f64 },
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Event {
    /// The residual of a point reaches zero and stays there.
    Point(usize),
    /// The free weight at this position reaches a bound.
    FreeBound(usize),
    /// The entering weight reaches its other bound.
    OwnBound,
}

impl Solver {
    /// Follows the edge to its lowest point: what happens there, and how far that is.
    pub(super) fn line_search(
        &mut self,
        p: &Problem<'_>,
        entering: Entering,
        slope: f64,
    ) -> Option<(Event, f64)> {
        self.direction(p, entering);
        let (mut event, mut limit) = (Event::OwnBound, f64::INFINITY);
        if let Entering::Atom { atom, .. } = entering {
            limit = p.upper(atom);
        }
        let largest = self.delta.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        for (f, &j) in self.free.iter().enumerate() {
            let (delta, c) = (self.delta[f], self.weights[j as usize]);
            if delta.abs() <= 1e-12 * largest {
                continue;
            }
            let room = if delta < 0.0 { c.max(0.0) } else { (p.upper(j as usize) - c).max(0.0) };
            let step = room / delta.abs();
            if step < limit {
                (event, limit) = (Event::FreeBound(f), step);
            }
        }
        // A hair less than the slope: where the objective is flat behind the last breakpoint,
        // rounding must not carry the walk past it.
        let need = -slope * (1.0 - 1e-10);
        self.collect_breakpoints(p, limit, need);
        match find_crossing(&mut self.breakpoints, need) {
            Some(crossing) => {
                let at = self.breakpoints[crossing.at];
                // What the pivot still needs: the passed points in front, the chosen one known.
                self.breakpoints.truncate(crossing.passed);
                Some((Event::Point(at.point as usize), at.step))
            }
            None if limit.is_finite() => Some((event, limit)),
            None => None,
        }
    }

    /// Rates of the free weights (`delta`) and residuals (`rate`) along an edge.
    pub(super) fn direction(&mut self, p: &Problem<'_>, entering: Entering) {
        self.rate.fill(0.0);
        match entering {
            Entering::Atom { atom, sign } => {
                self.other.clear();
                self.other
                    .extend(self.active.iter().map(|&k| -sign * p.design.entry(atom, k as usize)));
                self.inverse.left_times(&self.other, &mut self.delta);
                axpy(-sign, p.design.atom(atom), &mut self.rate);
            }
            Entering::Active { position, sign } => {
                self.delta.clear();
                self.delta.extend(self.inverse.row(position).iter().map(|v| -sign * v));
            }
        }
        let atom = |f: usize| p.design.atom(self.free[f] as usize);
        let (d, k) = (&self.delta, self.delta.len());
        for f in (0..k - k % 4).step_by(4) {
            let factors = [-d[f], -d[f + 1], -d[f + 2], -d[f + 3]];
            axpy4(factors, [atom(f), atom(f + 1), atom(f + 2), atom(f + 3)], &mut self.rate);
        }
        for (f, delta) in d.iter().enumerate().skip(k - k % 4) {
            axpy(-delta, atom(f), &mut self.rate);
        }
        for &k in &self.active {
            self.rate[k as usize] = 0.0;
        }
        if let Entering::Active { position, sign } = entering {
            self.rate[self.active[position] as usize] = sign;
        }
    }

    /// The breakpoints before `limit`, or only the nearer ones if their jumps already make up
    /// `need`: most steps are short, and then only a few points have to be looked at.
    pub(super) fn collect_breakpoints(&mut self, p: &Problem<'_>, limit: f64, need: f64) {
        let width = p.design.loss.up() + p.design.loss.down();
        let tiny = 1e-12 * max_abs(&self.rate);
        steps_to_zero(&self.residual, &self.side, &self.rate, tiny, &mut self.steps);
        let mut near = self.typical_step * 4.0;
        let mut horizon = limit;
        while near < limit && near.is_normal() {
            if width * speed_below(&self.steps, &self.rate, near) > need * (1.0 + 1e-9) {
                horizon = near;
                break;
            }
            near *= 16.0;
        }
        self.breakpoints.clear();
        for (k, &step) in self.steps.iter().enumerate() {
            if step < horizon {
                let jump = width * self.rate[k].abs();
                self.breakpoints.push(Breakpoint { step, jump, point: k as u32 });
            }
        }
    }
}
