//! The rows in play: which ones at first, what those left out are worth, and bringing them in.

use super::Search;
use super::point::Point;
use super::progress::StageResult;
use crate::Goal;
use crate::control::Control;
use crate::kernels::axpy;
use crate::localise::greedy::spa_controlled;
use crate::normalise::UnitRows;
use crate::order::smallest_first;
use crate::squares::least_squares;

/// Rows beyond the rank that the greedy method brings into play.
const FURTHER: usize = 50;

/// Which rows come into play at first (greedy order after those that must be hott, columns of C, and those left out): all
/// if there are no more than `most`.
pub(super) fn in_play(
    x: &UnitRows,
    rank: usize,
    allowed: &[bool],
    cost: &[f64],
    must: &[usize],
    most: usize,
    control: &Control,
) -> (Vec<usize>, Vec<usize>, Vec<usize>) {
    let candidates: Vec<usize> = (0..allowed.len()).filter(|&j| allowed[j]).collect();
    let greedy = |count: usize| {
        let found = spa_controlled(x, None, count, allowed, control).rows;
        let mut rows = must.to_vec();
        rows.extend(found.into_iter().filter(|j| !must.contains(j)));
        rows.truncate(count);
        // Stopped: any rows will do.
        let others: Vec<usize> = candidates
            .iter()
            .copied()
            .filter(|j| !rows.contains(j))
            .take(count - rows.len())
            .collect();
        rows.extend(others);
        rows
    };
    if candidates.len() <= most.max(rank) {
        return (greedy(rank), candidates, Vec::new());
    }
    let greedy = greedy((rank + FURTHER).min(candidates.len()));
    let mut play = vec![false; allowed.len()];
    greedy.iter().for_each(|&j| play[j] = true);
    if cost.iter().any(|c| *c != 0.0) {
        let mut cheapest = candidates.clone();
        smallest_first(&mut cheapest, |i| cost[i]);
        cheapest[..(2 * rank).min(candidates.len())].iter().for_each(|&j| play[j] = true);
    }
    let (open, closed) = candidates.into_iter().partition(|&j| play[j]);
    (greedy, open, closed)
}

impl Search<'_> {
    /// The greedy rows with diagonals of one, all rows fitted on them by least squares.
    pub(super) fn start(&mut self, rows: &[usize]) -> Point {
        let position = |row: &usize| self.oracle.columns().iter().position(|j| j == row);
        let chosen: Vec<usize> = rows.iter().filter_map(position).collect();
        let mut d = vec![0.0; self.oracle.columns().len()];
        chosen.iter().for_each(|&j| d[j] = 1.0);
        if self.control.stopped().is_some() {
            return Point::new(&self.oracle, d); // which explains nothing yet
        }
        let weights = least_squares(self.x, rows, &self.control);
        let weights = weights
            .into_iter()
            .map(|row| {
                let mut row: Vec<(u32, f64)> =
                    row.into_iter().map(|(k, w)| (chosen[k] as u32, w.min(1.0))).collect();
                row.sort_unstable_by_key(|w| w.0);
                row
            })
            .collect();
        self.oracle.offer(weights, &self.control);
        Point::new(&self.oracle, d)
    }

    /// What the multipliers prove when all rows that may be hott count, and the rows left out that
    /// would lower the bound, the most promising first; `None` when stopped. O(cuts * entries of X
    /// left out).
    pub(super) fn price_closed(&self, at: &StageResult, cost: &[f64]) -> Option<(f64, Vec<usize>)> {
        let tau = if let Goal::Cost { tau } = at.goal { tau } else { 0.0 };
        let price = |j: usize| if matches!(at.goal, Goal::Cost { .. }) { cost[j] } else { 0.0 };
        let labels: Vec<usize> = at.multipliers.iter().map(|m| m.0).collect();
        let control = self.whole.to_finish();
        let prices = self.pool.price(self.x, &self.closed, &labels, &control)?;
        let mut open: Vec<f64> = self.oracle.columns().iter().map(|&j| price(j)).collect();
        let mut closed: Vec<f64> = self.closed.iter().map(|&j| price(j)).collect();
        let mut value = 0.0;
        for (&(label, multiplier), prices) in at.multipliers.iter().zip(&prices) {
            let cut = &self.pool.cuts[label];
            value += multiplier * (cut.right - tau);
            axpy(-multiplier, &cut.columns, &mut open);
            axpy(-multiplier, prices, &mut closed);
        }
        let mut all = open.clone();
        all.extend_from_slice(&closed);
        let bound = value + self.diagonals.least(&mut all);
        // In play, the last column with weight has this coefficient: cheaper ones pay.
        let threshold = self.diagonals.threshold(&mut open);
        let mut paying: Vec<usize> = (0..closed.len()).filter(|&k| closed[k] < threshold).collect();
        smallest_first(&mut paying, |i| closed[i]);
        paying.truncate((self.oracle.columns().len() / 2).max(FURTHER));
        Some((bound, paying.into_iter().map(|k| self.closed[k]).collect()))
    }

    /// Brings rows into play; false, and none are, when stopped.
    pub(super) fn bring_in(&mut self, rows: &[usize]) -> bool {
        if !self.pool.add_columns(self.x, rows, &self.control) {
            return false;
        }
        self.closed.retain(|j| !rows.contains(j));
        self.oracle.add_columns(rows, &self.control);
        true
    }
}
