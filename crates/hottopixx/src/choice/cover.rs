//! The pool of cuts, whatever the threshold, and the oracle that finds violated covering rows.

use crate::certify::{ChoiceCertificate, ChoiceCut};
use crate::control::Control;
use crate::kernels::parallel::*;
use crate::l1::WeightCaps;
use crate::localise::lp::cuts::Cut;
use crate::localise::lp::oracle::{Fitted, Oracle, Workspace};
use crate::normalise::UnitRows;

/// Cuts with less than this between b and T are left out: dividing by it would blow rounding up.
pub(super) const DEPTH: f64 = 1e-7;
/// What multipliers must prove beyond the threshold, relative to them, to be believed: coefficients
/// are known to 1e-14 or so, and divided by [`DEPTH`] or more.
pub(super) const MARGIN: f64 = 1e-6;
/// A covering row is violated when it misses one by this much.
pub(super) const VIOLATED: f64 = 1e-4;
/// Diagonals below this count as zero.
const SUPPORT: f64 = 1e-9;
/// Rows whose fit misses less than this share of T are not worth a second look.
const PROMISING: f64 = 0.5;
/// Rows taken out of a fit one after the other, and turns between y and R after each.
const REMOVALS: usize = 4;
const TURNS: usize = 3;

/// All cuts found so far for one X and its candidates, whatever the threshold.
pub(super) struct Cover<'a> {
    pub x: &'a UnitRows,
    /// Rows that may be hott, increasing.
    pub columns: Vec<usize>,
    caps: WeightCaps<'a>,
    oracle: Oracle<'a>,
    /// Columns are `a_j = u_ij (y.x_j)_+`.
    pub cuts: Vec<Cut>,
    pub control: Control,
}

impl<'a> Cover<'a> {
    pub fn new(x: &'a UnitRows, allowed: &[bool], control: &Control) -> Self {
        let columns: Vec<usize> = (0..x.features()).filter(|&j| allowed[j]).collect();
        let caps = WeightCaps::new(x, &columns);
        let oracle = Oracle::new(x, columns.clone(), control);
        Cover { x, columns, caps, oracle, cuts: Vec::new(), control: control.clone() }
    }

    /// Looks for covering rows at the threshold that d violates, puts their cuts into the pool and
    /// returns how many there are. Rows in parallel; the answer does not depend on the number of
    /// threads.
    pub fn separate(&mut self, d: &[f64], threshold: f64, thorough: bool) -> usize {
        let this = &*self;
        let found: Vec<Option<Found>> = (0..this.x.features())
            .into_par_iter()
            .map_init(
                || Workspace::under(&this.control),
                |work, i| {
                    let stopped = this.control.stopped().is_some();
                    if stopped { None } else { this.separate_row(work, i, d, threshold, thorough) }
                },
            )
            .collect();
        let before = self.cuts.len();
        for (i, found) in found.into_iter().enumerate() {
            let Some(Found { state, cuts }) = found else { continue };
            self.oracle.keep(i, state.0, state.1);
            self.cuts.extend(cuts);
        }
        self.cuts.len() - before
    }

    /// The violated covering rows of row i: the deepest of the turns between y and R, from R = {} and,
    /// if `thorough`, from the rows that the fit leans on most taken out one after the other.
    fn separate_row(
        &self,
        work: &mut Workspace,
        i: usize,
        d: &[f64],
        threshold: f64,
        thorough: bool,
    ) -> Option<Found> {
        let mut removed = vec![false; d.len()];
        let (mut first, mut cuts): (Option<Fitted>, Vec<Cut>) = (None, Vec::new());
        for _ in 0..=if thorough { REMOVALS } else { 0 } {
            let mut out = removed.clone();
            let mut best: Option<(f64, Cut)> = None;
            let mut leans_on = None;
            for turn in 0..TURNS {
                let (state, pivots, cut) =
                    self.fit_without(work, i, d, &out, PROMISING * threshold)?;
                if turn == 0 {
                    let room = 1.0 - mass(d, &removed);
                    let open = state.weights.iter().filter(|w| d[w.0 as usize] < room - SUPPORT);
                    leans_on = open.max_by(|a, b| a.1.total_cmp(&b.1)).map(|w| w.0 as usize);
                    if first.is_none() {
                        first = Some((state, pivots, None));
                    }
                }
                let Some(cut) = cut else { break };
                let depth = cut.right - threshold;
                if depth <= DEPTH {
                    break;
                }
                let covered: f64 =
                    cut.columns.iter().zip(d).map(|(a, d)| d * (a / depth).min(1.0)).sum();
                let next: Vec<bool> =
                    cut.columns.iter().zip(d).map(|(a, d)| *a > depth && *d > SUPPORT).collect();
                if best.as_ref().is_none_or(|(least, _)| covered < *least) {
                    best = Some((covered, cut));
                }
                if next == out || mass(d, &next) >= 1.0 - SUPPORT {
                    break;
                }
                out = next;
            }
            if let Some((covered, cut)) = best
                && covered < 1.0 - VIOLATED
            {
                cuts.push(cut);
                break;
            }
            match leans_on {
                Some(j) => removed[j] = true,
                None => break,
            }
        }
        first.map(|(state, pivots, _)| Found { state: (state, pivots), cuts })
    }

    /// Row i fitted on the support of d without some columns, the others allowed as much more; with a
    /// cut whose columns carry the caps if it misses more than `allowed`.
    fn fit_without(
        &self,
        work: &mut Workspace,
        i: usize,
        d: &[f64],
        removed: &[bool],
        allowed: f64,
    ) -> Option<Fitted> {
        let caps = self.caps.row(i);
        let scale = 1.0 / (1.0 - mass(d, removed));
        let bound = |j: usize| if removed[j] { 0.0 } else { caps[j] * d[j] * scale };
        let upper: Vec<f64> = (0..d.len()).map(bound).collect();
        let usable: Vec<u32> =
            (0..d.len() as u32).filter(|&j| upper[j as usize] > SUPPORT).collect();
        let (state, pivots, cut) = self.oracle.fit(work, i, &usable, &upper, allowed)?;
        let capped = cut.map(|mut cut| {
            cut.columns.iter_mut().zip(caps).for_each(|(a, u)| *a *= u);
            cut
        });
        Some((state, pivots, capped))
    }

    /// What the multipliers prove about `rank` rows at a threshold, for anyone to check.
    pub fn certificate(
        &self,
        rank: usize,
        allowed: &[bool],
        threshold: f64,
        multipliers: &[(usize, f64)],
    ) -> ChoiceCertificate {
        let cuts = multipliers.iter().map(|&(label, multiplier)| {
            let cut = &self.cuts[label];
            let mut y = vec![0.0; self.x.examples()];
            cut.dual.add_to(1.0, &mut y);
            ChoiceCut { row: cut.row, y, multiplier }
        });
        ChoiceCertificate { rank, allowed: allowed.to_vec(), threshold, cuts: cuts.collect() }
    }

    /// The largest threshold that the multipliers (of cuts as they are, not divided) prove for `rank`
    /// rows, at least `from`, which they do, and at most `to`: by bisection. O(cuts * columns) a step.
    pub fn largest_threshold(
        &self,
        multipliers: &[(usize, f64)],
        rank: usize,
        from: f64,
        to: f64,
    ) -> f64 {
        let proves = |threshold: f64| {
            let (mut value, mut prices) = (0.0, vec![0.0; self.columns.len()]);
            for &(label, multiplier) in multipliers {
                let cut = &self.cuts[label];
                let depth = cut.right - threshold;
                if depth > DEPTH {
                    value += multiplier * depth;
                    let clipped = cut.columns.iter().map(|a| multiplier * a.min(depth));
                    prices.iter_mut().zip(clipped).for_each(|(p, c)| *p += c);
                }
            }
            value - largest(&mut prices, rank) > MARGIN * value
        };
        let (mut low, mut high) = (from, to);
        for _ in 0..30 {
            let middle = 0.5 * (low + high);
            if proves(middle) { low = middle } else { high = middle }
        }
        low
    }
}

/// What a row came to.
struct Found {
    state: (crate::localise::lp::oracle::RowState, usize),
    cuts: Vec<Cut>,
}

fn mass(d: &[f64], of: &[bool]) -> f64 {
    d.iter().zip(of).filter(|(_, of)| **of).map(|(d, _)| d).sum()
}

/// The sum of the `count` largest values. Reorders them.
pub(super) fn largest(values: &mut [f64], count: usize) -> f64 {
    if count < values.len() {
        values.select_nth_unstable_by(count, |a, b| b.total_cmp(a));
    }
    values.iter().take(count).sum()
}
