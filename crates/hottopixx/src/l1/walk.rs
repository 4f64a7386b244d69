//! The vertex walk: a primal simplex method for the bounded l1 fit, with long steps.
//!
//! A vertex has k free weights and k active points (see [`super::basis`]). Its dual has
//! `y_k = up` above the fit, `-down` below, and on the active points the solution of
//! `M y = g_free`, where `g = q - A y` over the other points. The vertex is optimal when the
//! active y lie in `[-down, up]` and the reduced costs `z = q - A y` are >= 0 at lower and <= 0 at
//! upper bounds. Otherwise one violated condition gives an edge along which the objective falls;
//! the walk follows it through all breakpoints until it rises (a weighted median), which is what
//! makes l1 pivots longer, and fewer, than those of a textbook simplex method.
//!
//! One pivot costs `(k + 1) n` for the rates of the residuals, `m k` for pricing, `m` for each
//! residual that changes sign and `k^2` for the inverse.

use super::line_search::{Breakpoint, find_crossing};
use super::solver::{ABOVE, ACTIVE, Place, Problem, Solver, ZERO};
use crate::control::Watch;
use crate::kernels::{advance, axpy, axpy4, max_abs, speed_below, steps_to_zero};

/// Violations of the optimality conditions below this are rounding; data have unit scale.
const TOLERANCE: f64 = 1e-12;
/// Pivots after which everything is recomputed from the basis.
const REFRESH_EVERY: usize = 80;
/// Pivots whose rounding errors are too small to matter.
const TRUSTED: usize = 16;
/// Pivots without progress after which the residuals are perturbed.
const STALLS: usize = 12;
/// How often a perturbation or a rounding repair may be tried before the answer is given as it is.
const ROUNDS: usize = 12;

/// Most pivots: so many, and so many for each atom and point.
const PIVOTS: (usize, usize) = (1000, 20);
/// Gain, relative to the target, after which what was barred may try again.
const UNBARRED: f64 = 1e-9;
/// Reduced costs of free weights up to this are zero; otherwise duals are corrected so many times.
const CORRECT: f64 = 1e-13;
const CORRECTIONS: usize = 3;

/// A gain, relative to the target, that is none, and stretches of pivots without any that end a walk.
const NO_GAIN: f64 = 1e-14;
const STRETCHES: usize = 8;

/// Stretches of pivots that gained nothing.
#[derive(Debug, Default)]
struct Window {
    pivots: usize,
    gain: f64,
    in_vain: usize,
}

impl Window {
    /// Counts a pivot; true when [`STRETCHES`] stretches of `length` pivots gained less than `least`
    /// each.
    fn is_over(&mut self, gain: f64, least: f64, length: usize) -> bool {
        self.pivots += 1;
        self.gain += gain;
        if self.pivots < length {
            return false;
        }
        self.in_vain += usize::from(self.gain <= least);
        (self.pivots, self.gain) = (0, 0.0);
        self.in_vain >= STRETCHES
    }
}

/// The edge to follow, if any, and whether the duals behind it are solved to rounding.
struct Priced {
    best: Option<(Entering, f64)>,
    accurate: bool,
}

#[derive(Debug, Clone, Copy)]
enum Entering {
    /// A weight leaves its bound, upwards (+1) or downwards (-1).
    Atom { atom: usize, sign: f64 },
    /// An active point is released, its residual growing (+1) or falling (-1).
    Active { position: usize, sign: f64 },
}

#[derive(Debug, Clone, Copy)]
enum Event {
    /// The residual of a point reaches zero and stays there.
    Point(usize),
    /// The free weight at this position reaches a bound.
    FreeBound(usize),
    /// The entering weight reaches its other bound.
    OwnBound,
}

impl Solver {
    /// Walks from the present vertex. Returns the pivots it took and whether it was stopped; ends at
    /// the cap on pivots too, and whoever asks how good the answer is measures it.
    ///
    /// Rounding is met in four places. Reduced costs are corrected when those of free weights are
    /// not zero ([`Solver::price`]). What makes the basis singular is barred until the walk has got
    /// further: near-duplicates of free atoms come again and again otherwise. Ties are broken by a
    /// perturbation that is taken back. An end is believed only when seen without any of these.
    pub(super) fn walk(&mut self, p: &Problem<'_>, watch: &mut Watch<'_>) -> (usize, bool) {
        let limit = PIVOTS.0 + PIVOTS.1 * (p.usable.len() + p.x.len());
        let mass = p.mass();
        let (mut pivots, mut fresh, mut stalls, mut rounds) = (0, 0, 0, 0);
        let mut gained_since_barred = 0.0;
        let mut window = Window::default();
        loop {
            let bland = rounds > ROUNDS / 2 && stalls > 0;
            let priced = self.price(p, bland);
            let Some((entering, slope)) = priced.best else {
                if (fresh <= TRUSTED && !self.perturbed && priced.accurate) || rounds >= ROUNDS {
                    break;
                }
                // Certain only when seen without much rounding and without perturbation.
                self.refresh(p, true);
                fresh = 0;
                rounds += 1;
                continue;
            };
            if !priced.accurate && fresh > 0 {
                self.refresh(p, true);
                fresh = 0;
                continue;
            }
            let work = (self.free.len() + 4) * p.x.len() + self.free.len() * p.usable.len();
            if watch.spend(work).is_some() {
                return (pivots, true);
            }
            if pivots >= limit {
                break;
            }
            let Some((event, step)) = self.line_search(p, entering, slope) else {
                break; // the objective is bounded: only rounding leads here
            };
            pivots += 1;
            fresh += 1;
            if step > 0.0 {
                self.typical_step = step;
            }
            let gain = step * -slope;
            stalls = if gain > 1e-15 * mass { 0 } else { stalls + 1 };
            gained_since_barred += gain;
            if window.is_over(gain, NO_GAIN * mass, STALLS + self.free.len()) {
                break; // rounding goes round in circles; what it came to will be measured
            }
            let released = match entering {
                Entering::Active { position, .. } => self.active[position],
                Entering::Atom { .. } => u32::MAX,
            };
            if !self.pivot(p, entering, event, step) || fresh >= REFRESH_EVERY {
                self.refresh(p, true);
                fresh = 0;
                if self.gave_up {
                    match entering {
                        Entering::Atom { atom, .. } => self.barred_atoms.push(atom as u32),
                        Entering::Active { .. } => self.barred_points.push(released),
                    }
                    gained_since_barred = 0.0;
                }
            }
            if gained_since_barred > UNBARRED * mass && rounds < ROUNDS {
                rounds +=
                    usize::from(!self.barred_atoms.is_empty() || !self.barred_points.is_empty());
                self.barred_atoms.clear();
                self.barred_points.clear();
                gained_since_barred = 0.0;
            }
            if stalls >= STALLS && !self.perturbed && rounds < ROUNDS {
                if p.design.whole && self.value(p) <= ZERO * mass {
                    break; // nothing is missed
                }
                self.perturb(p, mass);
                stalls = 0;
                fresh = fresh.max(1);
            }
        }
        if fresh > TRUSTED || self.perturbed {
            self.refresh(p, true);
            self.price(p, false);
        }
        (pivots, false)
    }

    /// Duals of the active points and reduced costs, and the most violated optimality condition
    /// per unit of weight moved, with its slope (< 0).
    ///
    /// `M y = g_free` is solved with the inverse; the reduced costs of free weights, `g - M y`, are
    /// then zero up to the inverse's error, and correct y where they are not.
    fn price(&mut self, p: &Problem<'_>, bland: bool) -> Priced {
        let (up, down) = (p.design.loss.up(), p.design.loss.down());
        self.small.clear();
        self.small.extend(self.free.iter().map(|&j| self.gradient[j as usize]));
        self.inverse.times(&self.small, &mut self.dual_active);
        self.reduced.copy_from_slice(&self.gradient);
        for (&y, &k) in self.dual_active.iter().zip(&self.active) {
            subtract(p, y, k as usize, &mut self.reduced);
        }
        let accurate = self.correct_duals(p);
        let mut best: Option<(Entering, f64)> = None;
        let mut best_score = 0.0;
        for (position, &y) in self.dual_active.iter().enumerate() {
            let (violation, sign) = if y > up { (y - up, 1.0) } else { (-down - y, -1.0) };
            if violation > TOLERANCE {
                let moved: f64 = self.inverse.row(position).iter().map(|v| v.abs()).sum();
                let score = if bland { 1.0 } else { violation / moved };
                if score > best_score && !self.barred_points.contains(&self.active[position]) {
                    best_score = score;
                    best = Some((Entering::Active { position, sign }, -violation));
                }
            }
        }
        for atom in p.usable.iter().map(|j| *j as usize) {
            let (violation, sign) = match self.place[atom] {
                Place::Free => continue,
                Place::Lower if p.upper(atom) > 0.0 => (-self.reduced[atom], 1.0),
                Place::Lower => continue,
                Place::Upper => (self.reduced[atom], -1.0),
            };
            let score = if bland && best_score == 0.0 { 1.0 } else { violation };
            if violation > TOLERANCE
                && score > best_score
                && !self.barred_atoms.contains(&(atom as u32))
            {
                best_score = score;
                best = Some((Entering::Atom { atom, sign }, -violation));
            }
        }
        Priced { best, accurate }
    }

    /// Corrects y by the reduced costs of free weights, which are to be zero; false when that
    /// does not help: the inverse must be rebuilt.
    fn correct_duals(&mut self, p: &Problem<'_>) -> bool {
        let mut off = f64::INFINITY;
        for _ in 0..CORRECTIONS {
            self.small.clear();
            self.small.extend(self.free.iter().map(|&j| self.reduced[j as usize]));
            let now = max_abs(&self.small);
            if now <= CORRECT {
                return true;
            }
            if now >= 0.5 * off {
                break;
            }
            off = now;
            self.inverse.times(&self.small, &mut self.other);
            for at in 0..self.other.len() {
                self.dual_active[at] += self.other[at];
                subtract(p, self.other[at], self.active[at] as usize, &mut self.reduced);
            }
        }
        false
    }

    /// Follows the edge to its lowest point: what happens there, and how far that is.
    fn line_search(
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
    fn direction(&mut self, p: &Problem<'_>, entering: Entering) {
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
    fn collect_breakpoints(&mut self, p: &Problem<'_>, limit: f64, need: f64) {
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

    /// Moves along the edge and changes the basis. False when the inverse must be rebuilt.
    fn pivot(&mut self, p: &Problem<'_>, entering: Entering, event: Event, step: f64) -> bool {
        if let Entering::Active { position, sign } = entering {
            self.side[self.active[position] as usize] = sign;
        }
        for (&delta, &j) in self.delta.iter().zip(&self.free) {
            let j = j as usize;
            self.weights[j] = (self.weights[j] + step * delta).clamp(0.0, p.upper(j));
        }
        let passed = std::mem::take(&mut self.breakpoints);
        for b in &passed {
            let k = b.point as usize;
            self.take_from_gradient(p, k);
            self.side[k] = -self.side[k];
            self.give_to_gradient(p, k);
        }
        self.breakpoints = passed;
        advance(step, &self.rate, &self.side, &mut self.residual);
        if let Event::Point(k) = event {
            self.take_from_gradient(p, k);
            self.residual[k] = 0.0;
            self.side[k] = ACTIVE;
        }
        self.change_basis(p, entering, event, step)
    }

    fn change_basis(
        &mut self,
        p: &Problem<'_>,
        entering: Entering,
        event: Event,
        step: f64,
    ) -> bool {
        let design = p.design;
        let column = |free: &[u32], k: usize| -> Vec<f64> {
            free.iter().map(|&j| design.entry(j as usize, k)).collect()
        };
        match (entering, event) {
            (Entering::Atom { atom, sign }, Event::Point(k)) => {
                let row: Vec<f64> =
                    self.active.iter().map(|&a| design.entry(atom, a as usize)).collect();
                let stable =
                    self.inverse.grow(&row, &column(&self.free, k), design.entry(atom, k)).is_ok();
                self.weights[atom] = (self.weights[atom] + sign * step).clamp(0.0, p.upper(atom));
                self.free.push(atom as u32);
                self.active.push(k as u32);
                self.place[atom] = Place::Free;
                stable
            }
            (Entering::Atom { atom, sign }, Event::FreeBound(f)) => {
                let row: Vec<f64> =
                    self.active.iter().map(|&a| design.entry(atom, a as usize)).collect();
                let stable = self.inverse.replace_free(f, &row).is_ok();
                self.weights[atom] = (self.weights[atom] + sign * step).clamp(0.0, p.upper(atom));
                self.rest_at_bound(p, self.free[f] as usize, self.delta[f] > 0.0);
                self.free[f] = atom as u32;
                self.place[atom] = Place::Free;
                stable
            }
            (Entering::Atom { atom, sign }, Event::OwnBound) => {
                self.rest_at_bound(p, atom, sign > 0.0);
                true
            }
            (Entering::Active { position, .. }, event) => {
                self.give_to_gradient(p, self.active[position] as usize);
                match event {
                    Event::Point(k) => {
                        self.active[position] = k as u32;
                        self.inverse.replace_active(position, &column(&self.free, k)).is_ok()
                    }
                    Event::FreeBound(f) => {
                        self.rest_at_bound(p, self.free[f] as usize, self.delta[f] > 0.0);
                        let stable = self.inverse.shrink(position, f).is_ok();
                        self.free.swap_remove(f);
                        self.active.swap_remove(position);
                        stable
                    }
                    Event::OwnBound => true, // a point has no bound: never chosen
                }
            }
        }
    }

    fn rest_at_bound(&mut self, p: &Problem<'_>, atom: usize, at_upper: bool) {
        (self.place[atom], self.weights[atom]) =
            if at_upper { (Place::Upper, p.upper(atom)) } else { (Place::Lower, 0.0) };
    }

    /// `g += y_k A_k`: point k no longer counts in the gradient.
    fn take_from_gradient(&mut self, p: &Problem<'_>, k: usize) {
        self.shift_gradient(p, k, 1.0);
    }

    /// `g -= y_k A_k`: point k counts in the gradient, on its present side.
    fn give_to_gradient(&mut self, p: &Problem<'_>, k: usize) {
        self.shift_gradient(p, k, -1.0);
    }

    fn shift_gradient(&mut self, p: &Problem<'_>, k: usize, sign: f64) {
        let y = if self.side[k] == ABOVE { p.design.loss.up() } else { -p.design.loss.down() };
        if y == 0.0 {
            return;
        }
        subtract(p, -sign * y, k, &mut self.gradient);
    }

    /// Breaks ties: moves every residual a little away from zero, each by its own amount, and
    /// every free weight off its bound. The next refresh takes the true values again.
    fn perturb(&mut self, p: &Problem<'_>, mass: f64) {
        let scale = 1e-9 * mass / p.x.len().max(1) as f64;
        for k in 0..self.residual.len() {
            let amount = scale * (1.0 + self.next_noise());
            self.residual[k] += self.side[k] * amount;
        }
        for f in 0..self.free.len() {
            let j = self.free[f] as usize;
            let upper = p.upper(j);
            let amount = 1e-9 * (1.0 + self.next_noise());
            let c = self.weights[j];
            self.weights[j] = if c < amount {
                c + amount.min(upper / 2.0)
            } else {
                c.min(upper - amount.min(upper / 2.0))
            };
        }
        self.perturbed = true;
    }

    /// Uniform in [0, 1), the same sequence for every fit (splitmix64).
    fn next_noise(&mut self) -> f64 {
        self.noise = self.noise.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.noise;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// `out -= y A_k` on the usable atoms.
fn subtract(p: &Problem<'_>, y: f64, k: usize, out: &mut [f64]) {
    let column = p.design.point(k);
    if p.usable.len() == column.len() {
        axpy(-y, column, out);
    } else {
        for &j in p.usable {
            out[j as usize] -= y * column[j as usize];
        }
    }
}
