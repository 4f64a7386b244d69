//! Refinement: exchange one hott row at a time while the exact cleaned error falls.
//!
//! Each round proposes rows to enter (those that price in best at the duals of the present fits,
//! and hints from the convex methods), scores the promising exchanges on a sample of the rows, and
//! carries out the best ones after checking each on all rows. An exchange must lower the error by
//! more than a thousandth, so that near-duplicates do not swap on ties. The refinement ends when a
//! round with twice the effort finds nothing.

use super::coarse::coarse;
use super::swap::{NONE, Scoring, Swap};
use crate::Objective;
use crate::clean::{RowFit, Selection, refit};
use crate::control::{Control, Progress, Stage};
use crate::l1::{Atoms, Gathered, Problem, Solver};
use crate::localise::Question;
use crate::normalise::UnitRows;
use rayon::prelude::*;
use std::borrow::Cow;

/// Settings of [`refine`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExchangeSettings {
    /// Rows that may enter in a round (default 40).
    pub proposals: usize,
    /// Least relative gain of an exchange (default 1e-3).
    pub least_gain: f64,
    /// Of these, how many are scored in the place of a hott row (default 10).
    pub entering: usize,
    /// Hott rows that each of them may replace, besides the two it leans on most (default 4).
    pub leaving: usize,
    /// Rows on which exchanges are scored; all when there are no more (default 160). Whatever is
    /// carried out has been checked on all rows.
    pub scored_rows: usize,
    /// Columns that exchanges are scored on at first; all when there are less than twice as many
    /// (default 200).
    pub buckets: usize,
    /// Rows whose duals price the others (default 160).
    pub pricing_rows: usize,
    /// Exchanges checked on all rows in a round (default 4).
    pub checks: usize,
    /// Most rounds (default 100).
    pub rounds: usize,
}

impl Default for ExchangeSettings {
    fn default() -> Self {
        ExchangeSettings {
            proposals: 40,
            least_gain: 1e-3,
            entering: 10,
            leaving: 4,
            scored_rows: 160,
            buckets: 200,
            pricing_rows: 160,
            checks: 4,
            rounds: 100,
        }
    }
}

impl ExchangeSettings {
    /// Twice as much of everything.
    fn thorough(&self) -> Self {
        ExchangeSettings {
            proposals: 2 * self.proposals,
            entering: 2 * self.entering,
            leaving: 2 * self.leaving,
            scored_rows: 2 * self.scored_rows,
            buckets: 2 * self.buckets,
            checks: 2 * self.checks,
            ..*self
        }
    }
}

/// Up to this many rows, all of them count from the first round of the tournament on: half of them
/// would make the exchanges depend on their order.
const FEW: usize = 32;

/// An error up to this is rounding: there is nothing to gain.
const EXPLAINED: f64 = 1e-12;

/// Exchanges rows until none gains, or the control stops; `hints` are rows worth trying. Returns the
/// best selection found and the number of exchanges made.
pub fn refine(
    question: &Question<'_>,
    objective: Objective,
    settings: &ExchangeSettings,
    start: Selection,
    hints: &[usize],
) -> (Selection, usize) {
    let Question { x, allowed, control, .. } = *question;
    let mut best = start;
    let mut exchanges = 0;
    let mut effort = *settings;
    let merged = |effort: &ExchangeSettings, hott: &[usize]| {
        if x.examples() < 2 * effort.buckets {
            return Some(None);
        }
        coarse(x, hott, effort.buckets, control).map(Some)
    };
    // What cannot be made better is not worth merging columns for.
    if best.score <= EXPLAINED {
        return (best, exchanges);
    }
    let (Some(light), Some(thorough)) =
        (merged(settings, &best.hott), merged(&settings.thorough(), &best.hott))
    else {
        return (best, exchanges);
    };
    for round in 0..settings.rounds {
        control.report(&Progress {
            stage: Stage::Select,
            task: "exchange",
            done: round,
            total: None,
            figure: Some(("best", best.score)),
            bound: None,
        });
        if best.score <= EXPLAINED || !control.goes_on() {
            break;
        }
        let rows = scored_rows(x, &best, objective, effort.scored_rows);
        let all = Sample { x, rows, hott: &best.hott, fits: Cow::Borrowed(&best.fits) };
        let merged = if effort == *settings { &light } else { &thorough };
        let merged = merged.as_ref().map(|merged| all.on(merged, control));
        let sample = merged.as_ref().unwrap_or(&all);
        let gains = propose(sample, hints, allowed, &effort, control).and_then(|proposals| {
            tournament(&all, merged.as_ref(), &proposals, objective, &effort, control)
        });
        let Some(gains) = gains else {
            break;
        };
        let made = carry_out(x, &mut best, &gains, objective, &effort, control);
        exchanges += made;
        // Light rounds while they gain; the end must be found by a thorough one.
        if made > 0 {
            effort = *settings;
        } else if effort == *settings {
            effort = settings.thorough();
        } else {
            break;
        }
    }
    (best, exchanges)
}

/// What exchanges are scored on: some rows, on all columns or on merged ones.
struct Sample<'a> {
    x: &'a UnitRows,
    rows: Vec<usize>,
    hott: &'a [usize],
    /// By row of X; only those of `rows` are there.
    fits: Cow<'a, [RowFit]>,
}

impl<'a> Sample<'a> {
    /// The same rows, fitted on merged columns.
    fn on(&self, merged: &'a UnitRows, control: &Control) -> Self {
        let mut fits = vec![RowFit::default(); merged.features()];
        for (&i, fit) in self.rows.iter().zip(refit(merged, self.hott, &self.rows, None, control)) {
            fits[i] = fit;
        }
        Sample { x: merged, rows: self.rows.clone(), hott: self.hott, fits: Cow::Owned(fits) }
    }

    fn scoring<'b>(
        &'b self,
        rows: &'b [usize],
        objective: Objective,
        control: &'b Control,
    ) -> Scoring<'b> {
        Scoring { x: self.x, hott: self.hott, fits: &self.fits, rows, objective, control }
    }

    /// The exchanges (position, entering row) that gain enough on `rows`, best first.
    fn gains(
        &self,
        swaps: &[Swap],
        rows: &[usize],
        objective: Objective,
        settings: &ExchangeSettings,
        control: &Control,
    ) -> Option<Vec<(usize, usize)>> {
        let table = self.scoring(rows, objective, control).after(swaps)?;
        let before = objective.score(rows.iter().map(|&i| self.fits[i].error));
        let mut found: Vec<(f64, usize, usize)> = Vec::new();
        for (swap, scores) in swaps.iter().zip(&table) {
            found.extend(swap.leave.iter().zip(scores).map(|(&h, &score)| (score, h, swap.enter)));
        }
        found.retain(|e| e.0 < before * (1.0 - settings.least_gain));
        found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.2.cmp(&b.2)).then(a.1.cmp(&b.1)));
        Some(found.into_iter().map(|(_, position, enter)| (position, enter)).collect())
    }
}

/// All rows, or an even sample; for the largest error, always the worst rows too.
fn scored_rows(x: &UnitRows, best: &Selection, objective: Objective, most: usize) -> Vec<usize> {
    let f = x.features();
    if f <= most {
        return (0..f).collect();
    }
    let mut rows: Vec<usize> = (0..most).map(|k| k * f / most).collect();
    if objective == Objective::Max {
        let mut worst: Vec<usize> = (0..f).collect();
        worst.sort_by(|&a, &b| best.fits[b].error.total_cmp(&best.fits[a].error).then(a.cmp(&b)));
        rows.extend_from_slice(&worst[..most / 4]);
        rows.sort_unstable();
        rows.dedup();
    }
    rows
}

/// The rows that promise most to the present fits, then the hints.
///
/// For a row fitted with error e and dual y (hinge form), adding x_j to the atoms lowers the error
/// to no less than `(e + 1) / (x_j.y) - 1`: y scaled down to price x_j at one is still feasible. The
/// sum of these largest possible gains ranks the rows. `None` when stopped.
fn propose(
    sample: &Sample<'_>,
    hints: &[usize],
    allowed: &[bool],
    settings: &ExchangeSettings,
    control: &Control,
) -> Option<Vec<usize>> {
    let Sample { x, rows, hott, fits } = sample;
    let f = x.features();
    let stride = rows.len().div_ceil(settings.pricing_rows).max(1);
    let priced: Vec<usize> =
        rows.iter().copied().step_by(stride).filter(|&i| fits[i].error > 0.0).collect();
    let atoms = Atoms::new(&x.select_rows(hott));
    let usable: Vec<u32> = (0..hott.len() as u32).collect();
    let promises: Option<Vec<Vec<f64>>> = priced
        .par_iter()
        .map_init(
            || (Gathered::default(), Solver::under(control), vec![0.0; x.examples()]),
            |(gathered, solver, y), &i| {
                if control.stopped().is_some() {
                    return None;
                }
                let target = atoms.restrict(x.row(i), gathered);
                let shared = target.x.len() == x.examples();
                let problem =
                    Problem { design: target.design, x: target.x, usable: &usable, upper: None };
                let error = solver.improve(&problem, Some(&fits[i].basis)).value;
                if shared {
                    y.copy_from_slice(solver.dual());
                } else {
                    y.fill(0.0);
                    for ((k, _), v) in x.row(i).nonzeros().zip(solver.dual()) {
                        y[k] = *v;
                    }
                }
                let mut watch = control.watch();
                let promise = |j: usize| {
                    let price = if allowed[j] { x.row(j).dot(y) } else { 0.0 };
                    let stop = watch.spend(x.row(j).stored());
                    stop.is_none().then(|| (error + 1.0) * (1.0 - 1.0 / price.max(1.0)))
                };
                (0..f).map(promise).collect()
            },
        )
        .collect();
    let mut promise = vec![0.0; f];
    for row in &promises? {
        crate::kernels::axpy(1.0, row, &mut promise);
    }
    let open = |j: &usize| allowed[*j] && !hott.contains(j);
    let mut order: Vec<usize> = (0..f).filter(open).collect();
    order.sort_by(|&a, &b| promise[b].total_cmp(&promise[a]).then(a.cmp(&b)));
    order.truncate(settings.proposals * 3 / 4);
    for &hint in hints.iter().filter(|j| open(j)) {
        if order.len() < settings.proposals && !order.contains(&hint) {
            order.push(hint);
        }
    }
    Some(order)
}

/// The exchanges (position, entering row) that gain on the sample, best first; `None` when stopped.
///
/// Scoring all pairs would be wasteful. First each row is scored for entering *beside* all hott
/// rows: what it gains there is the most any exchange for it can gain. The best of them are
/// then scored in the place of the hott rows that are missed least, and of those they resemble.
/// All this on merged columns where there are any; the leaders are scored again on all columns.
fn tournament(
    all: &Sample<'_>,
    merged: Option<&Sample<'_>>,
    proposals: &[usize],
    objective: Objective,
    settings: &ExchangeSettings,
    control: &Control,
) -> Option<Vec<(usize, usize)>> {
    let sample = merged.unwrap_or(all);
    let few: Vec<usize> = match objective {
        // Half of the rows rank the proposals well enough, unless there are few.
        Objective::Mean if sample.rows.len() > FEW => {
            sample.rows.iter().copied().step_by(2).collect()
        }
        Objective::Mean => sample.rows.clone(),
        Objective::Max => sample.rows.clone(), // the largest error may come from any row
    };
    let beside: Vec<Swap> =
        proposals.iter().map(|&enter| Swap { enter, leave: vec![NONE] }).collect();
    let mut joined = sample.gains(&beside, &few, objective, settings, control)?;
    joined.truncate(settings.entering);

    let mut missed: Vec<usize> = (0..sample.hott.len()).collect();
    let without = sample.scoring(&few, objective, control).without(&missed)?;
    missed.sort_by(|&a, &b| without[a].total_cmp(&without[b]).then(a.cmp(&b)));
    missed.truncate(settings.leaving);
    let swaps: Vec<Swap> = joined
        .iter()
        .map(|&(_, enter)| {
            let mut alike = all.fits[enter].weights.clone();
            alike.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            let mut leave = missed.clone();
            leave.extend(alike.iter().take(2).map(|w| w.0 as usize));
            leave.sort_unstable();
            leave.dedup();
            Swap { enter, leave }
        })
        .collect();
    let mut gains = sample.gains(&swaps, &sample.rows, objective, settings, control)?;
    if merged.is_some() {
        gains.truncate(4 * settings.checks);
        let swaps: Vec<Swap> =
            gains.iter().map(|&(position, enter)| Swap { enter, leave: vec![position] }).collect();
        gains = all.gains(&swaps, &all.rows, objective, settings, control)?;
    }
    Some(gains)
}

/// Checks the best exchanges on all rows, one after the other, and keeps those that gain.
fn carry_out(
    x: &UnitRows,
    best: &mut Selection,
    gains: &[(usize, usize)],
    objective: Objective,
    settings: &ExchangeSettings,
    control: &Control,
) -> usize {
    let (mut made, mut checked) = (0, 0);
    let mut touched: Vec<usize> = Vec::new();
    for &(position, enter) in gains {
        if touched.contains(&position) || best.hott.contains(&enter) {
            continue;
        }
        if checked >= settings.checks || !control.goes_on() {
            break;
        }
        checked += 1;
        let mut hott = best.hott.clone();
        hott[position] = enter;
        let changed = Selection::new(x, hott, objective, Some(&best.fits), control);
        if changed.score < best.score * (1.0 - settings.least_gain) {
            *best = changed;
            touched.push(position);
            made += 1;
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::localise::instances::{as_sparse, paper};
    use std::time::Instant;

    fn question<'a>(x: &'a UnitRows, allowed: &'a [bool], control: &'a Control) -> Question<'a> {
        Question { x, rank: 4, allowed, cost: None, control }
    }

    #[test]
    fn a_planted_exchange_is_found_by_either_objective() {
        let instance = paper((40, 90, 4, 0), 0.3, 3);
        let control = Control::default();
        for x in [instance.x.clone(), as_sparse(&instance.x)] {
            for objective in [Objective::Mean, Objective::Max] {
                // All topics but the last, in whose place stands some mixture.
                let mut hott: Vec<usize> = instance.topics.iter().map(|topic| topic[0]).collect();
                let truth = Selection::new(&x, hott.clone(), objective, None, &control);
                let mixture = (0..40).find(|i| !hott.contains(i)).unwrap();
                hott[3] = mixture;
                let start = Selection::new(&x, hott, objective, None, &control);
                assert!(start.score > 2.0 * truth.score, "{} {}", start.score, truth.score);
                let (question, settings) =
                    (question(&x, &[true; 40], &control), ExchangeSettings::default());
                let (found, exchanges) = refine(&question, objective, &settings, start, &[]);
                assert!(instance.recovered(&found.hott), "{:?}", found.hott);
                assert!(exchanges >= 1 && found.score <= truth.score * (1.0 + 1e-12));
            }
        }
    }

    #[test]
    fn rows_that_may_not_be_hott_never_enter_and_a_stop_changes_nothing() {
        let instance = paper((40, 90, 4, 0), 0.3, 3);
        let x = &instance.x;
        let control = Control::default();
        let mut hott: Vec<usize> = instance.topics.iter().map(|topic| topic[0]).collect();
        let mut allowed = [true; 40];
        allowed[hott[3]] = false;
        hott[3] = (0..40).find(|i| !hott.contains(i)).unwrap();
        let start = || Selection::new(x, hott.clone(), Objective::Mean, None, &Control::default());
        let run = |control: &Control| {
            let (question, settings) =
                (question(x, &allowed, control), ExchangeSettings::default());
            refine(&question, Objective::Mean, &settings, start(), &[])
        };
        let (found, _) = run(&control);
        assert!(found.hott.iter().all(|&h| allowed[h]), "{:?}", found.hott);
        let (found, exchanges) = run(&Control::default().with_deadline(Instant::now()));
        assert_eq!((found.hott, exchanges), (hott.clone(), 0));
    }
}
