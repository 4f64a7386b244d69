//! The covering program of one threshold: the master over clipped cuts, and what its multipliers prove.

use super::cover::{Cover, DEPTH, MARGIN, VIOLATED, largest};
use crate::kernels::{axpy, dot};
use crate::localise::lp::master::{CutRow, Master, MasterOutcome};

/// Covering rows that the master program gets in a round, at most.
const BATCH: usize = 60;
/// Cuts that were not tight for this many rounds leave the master program (not the pool).
const IDLE_ROUNDS: u32 = 12;

/// How the rounds at a threshold ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Proven: no choice of this many rows stays within the threshold.
    Proven,
    /// No more violated covering rows were found, or too little comes of them.
    Open,
    /// The control said so.
    Stopped,
}

/// How hard to look for violated covering rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Effort {
    /// Rounds of master program and oracle.
    pub rounds: usize,
    /// Whether to take rows out of fits one after the other where nothing else is violated.
    pub thorough: bool,
    /// Rounds that raise the master's value by less than this are the last.
    pub least_gain: f64,
}

/// The covering rows of one threshold: `min sum d` over `0 <= d <= 1`, some of them fixed.
pub(super) struct Covering {
    pub threshold: f64,
    pub rank: usize,
    master: Master,
    /// Clipped and divided columns by label; nothing for cuts that are too shallow.
    clipped: Vec<Option<Vec<f64>>>,
    fixed: Vec<Option<bool>>,
    /// The multipliers of the last proof, of cuts as they are.
    pub proof: Vec<(usize, f64)>,
    /// The value of the master program.
    pub value: f64,
    /// Reduced costs of the last round: what `sum d` grows by with a column.
    pub prices: Vec<f64>,
    /// `sum lambda` of the last round.
    pub dual_value: f64,
}

impl Covering {
    /// The covering program with all cuts of the pool that are violated as it goes, and `labels` from
    /// the start.
    pub fn new(cover: &Cover<'_>, threshold: f64, rank: usize, labels: &[usize]) -> Self {
        let m = cover.columns.len();
        // One slack covers everything at the price of more rows than are allowed: never infeasible.
        let cost = vec![1.0 / (rank as f64 + 2.0); m];
        let mut this = Covering {
            threshold,
            rank,
            master: Master::new(&[1.0], &cost, None, 0),
            clipped: Vec::new(),
            fixed: vec![None; m],
            proof: Vec::new(),
            value: 0.0,
            prices: vec![0.0; m],
            dual_value: 0.0,
        };
        this.clip(cover);
        labels.iter().for_each(|&label| this.add(label));
        this
    }

    /// Clips the cuts that are new in the pool.
    fn clip(&mut self, cover: &Cover<'_>) {
        for cut in &cover.cuts[self.clipped.len()..] {
            let depth = cut.right - self.threshold;
            let columns = || cut.columns.iter().map(|a| (a / depth).min(1.0)).collect();
            self.clipped.push((depth > DEPTH).then(columns));
        }
    }

    fn add(&mut self, label: usize) {
        if let Some(columns) = &self.clipped[label] {
            self.master.add_cut(CutRow { columns, slack: Some(0), right: 1.0, label });
        }
    }

    /// Holds a column in or out of the choice, or lets it go.
    pub fn fix(&mut self, j: usize, at: Option<bool>) {
        self.fixed[j] = at;
        self.master.fix(j, at);
    }

    pub fn fixed(&self, j: usize) -> Option<bool> {
        self.fixed[j]
    }

    /// The master's d.
    pub fn diagonal(&self) -> Vec<f64> {
        (0..self.fixed.len()).map(|j| self.master.column(j)).collect()
    }

    /// Rounds of master program and oracle until the rows that are left to choose are proven too few,
    /// or nothing more comes of it. `look` sees d in every round.
    pub fn settle(
        &mut self,
        cover: &mut Cover<'_>,
        effort: Effort,
        mut look: impl FnMut(&Cover<'_>, &[f64]),
    ) -> Verdict {
        let mut thorough = false;
        let mut last = f64::NEG_INFINITY;
        for round in 0..effort.rounds {
            if cover.control.stopped().is_some() {
                return Verdict::Stopped;
            }
            let outcome = self.improve(cover);
            if self.is_proven(cover) {
                return Verdict::Proven;
            }
            if outcome == MasterOutcome::Stuck && round > 0 {
                return Verdict::Open;
            }
            let d = self.diagonal();
            look(cover, &d);
            if self.value - last < effort.least_gain {
                if thorough || !effort.thorough {
                    return Verdict::Open;
                }
                thorough = true;
            }
            last = self.value;
            let mut found = cover.separate(&d, self.threshold, thorough);
            if found == 0 && effort.thorough && !thorough {
                thorough = true;
                found = cover.separate(&d, self.threshold, true);
            }
            if found == 0 {
                return Verdict::Open;
            }
            self.clip(cover);
            self.add_violated(&d, cover.cuts.len() - found);
        }
        Verdict::Open
    }

    /// Solves the master program over the pool: what is violated is added until nothing is.
    fn improve(&mut self, cover: &Cover<'_>) -> MasterOutcome {
        self.clip(cover);
        loop {
            self.master.drop_idle(IDLE_ROUNDS);
            let outcome = self.master.solve(&cover.control);
            let scale = self.rank as f64 + 2.0;
            let d = self.diagonal();
            self.value = d.iter().sum::<f64>() + scale * self.master.slack(0);
            self.price();
            if outcome != MasterOutcome::Optimal || self.add_violated(&d, 0) == 0 {
                return outcome;
            }
        }
    }

    /// Gives the master the covering rows from `first` on that d violates most; how many.
    fn add_violated(&mut self, d: &[f64], first: usize) -> usize {
        let slack = self.master.slack(0);
        let missing = |label: usize| {
            let columns = self.clipped[label].as_ref()?;
            let missing = 1.0 - slack - dot(columns, d);
            (missing > 0.1 * VIOLATED).then_some((missing, label))
        };
        let mut violated: Vec<(f64, usize)> =
            (first..self.clipped.len()).filter_map(missing).collect();
        violated.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        violated.truncate(BATCH);
        violated.iter().for_each(|&(_, label)| self.add(label));
        violated.len()
    }

    /// Prices of the columns, `sum_c mu_c g_cj`, and `sum mu`, in units of rows.
    fn price(&mut self) {
        let scale = self.rank as f64 + 2.0;
        self.prices.fill(0.0);
        self.dual_value = 0.0;
        for (label, multiplier) in self.master.cut_multipliers() {
            let Some(columns) = &self.clipped[label] else { continue };
            self.dual_value += multiplier * scale;
            axpy(multiplier * scale, columns, &mut self.prices);
        }
    }

    /// By how much the multipliers exceed what `rank` rows can cover, relative to them: above zero they
    /// prove that this many rows are too few.
    fn excess(&self, rank: usize) -> f64 {
        let mut inside = 0;
        let mut covered = 0.0;
        let mut open = Vec::with_capacity(self.prices.len());
        for (price, fixed) in self.prices.iter().zip(&self.fixed) {
            match fixed {
                Some(true) => {
                    inside += 1;
                    covered += price;
                }
                Some(false) => {}
                None => open.push(*price),
            }
        }
        covered += largest(&mut open, rank.saturating_sub(inside));
        if self.dual_value > 0.0 { (self.dual_value - covered) / self.dual_value } else { -1.0 }
    }

    /// Whether the multipliers of the last round prove it; then they are kept.
    fn is_proven(&mut self, cover: &Cover<'_>) -> bool {
        let proven = self.excess(self.rank) > MARGIN;
        if proven {
            self.keep_proof(cover);
        }
        proven
    }

    /// The largest number of rows up to `rank` that the last round proves too few, if any; its
    /// multipliers are kept.
    pub fn proven_rank(&mut self, cover: &Cover<'_>) -> Option<usize> {
        let proven = (0..=self.rank).rev().find(|&k| self.excess(k) > MARGIN)?;
        self.keep_proof(cover);
        Some(proven)
    }

    fn keep_proof(&mut self, cover: &Cover<'_>) {
        let threshold = self.threshold;
        let unscaled = |(label, multiplier): (usize, f64)| {
            (label, multiplier / (cover.cuts[label].right - threshold))
        };
        self.proof = self.master.cut_multipliers().map(unscaled).collect();
    }

    /// Fixes what the last round's multipliers decide: a column whose presence (or absence) would
    /// prove that the rows left are too few. Returns the columns fixed.
    pub fn fix_decided(&mut self) -> Vec<usize> {
        // sum d >= bound + sum over columns of what leaving the cheap side costs.
        let cheap = |price: f64| (1.0 - price).min(0.0);
        let mut bound = self.dual_value;
        for (price, fixed) in self.prices.iter().zip(&self.fixed) {
            bound += match fixed {
                Some(true) => 1.0 - price,
                Some(false) => 0.0,
                None => cheap(*price),
            };
        }
        let enough = self.rank as f64 + MARGIN * (1.0 + self.dual_value);
        let mut decided = Vec::new();
        for j in 0..self.prices.len() {
            let cost = 1.0 - self.prices[j];
            if self.fixed[j].is_none() && bound + cost.abs() > enough {
                decided.push(j);
                self.fix(j, Some(cost < 0.0));
            }
        }
        decided
    }
}
