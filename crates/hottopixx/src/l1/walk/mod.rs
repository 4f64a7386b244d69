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

mod edge;
mod pivot;
mod pricing;

use super::solver::{Problem, Solver, ZERO};
use crate::control::Watch;
use edge::Entering;

/// Pivots after which everything is recomputed from the basis.
const REFRESH_EVERY: usize = 80;
/// Pivots whose rounding errors are too small to matter.
const TRUSTED: usize = 16;
/// Pivots without progress after which the residuals are perturbed.
const STALLS: usize = 12;
/// How often a perturbation or a rounding repair may be tried before the answer is given as it is.
const ROUNDS: usize = 12;

/// Most pivots: this many, and this many per atom and point.
const PIVOTS: (usize, usize) = (1000, 20);
/// Gain, relative to the target, after which what was barred may try again.
const UNBARRED: f64 = 1e-9;
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
