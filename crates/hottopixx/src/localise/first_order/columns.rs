//! Which columns of C are in play: those to begin with, what the others are worth, and which of them come
//! and go.

use super::iterate::{Iterate, Look, Play, Point, capped_sums, count};
use super::search::Problem;
use crate::kernels::gemm_while;
use crate::kernels::parallel::*;

/// Flops of a step up to which all columns are in play from the start.
const ALL_WORK: f64 = 1e9;
/// Otherwise these steps, of at most this many flops each, are taken on a sample of the rows, at least
/// this many, to find columns.
const SAMPLE_WORK: f64 = 5e8;
const SAMPLE_STEPS: usize = 20;
const SAMPLE_ROWS: usize = 150;
/// Columns to begin with, and columns in play at most, beside four for each hott row: the optimum for six thousand words
/// gives some weight to more than a thousand.
pub(super) const FIRST_IN_PLAY: usize = 500;
pub(super) const MOST_IN_PLAY: usize = 1600;
/// Columns that are brought in at a time, at most.
const BROUGHT_IN: usize = 400;
/// Columns without weight are dropped when they price below this share of the r-th best.
const HOPELESS: f64 = 0.85;
/// Columns that are priced together.
const PRICED: usize = 256;
/// A column is priced on one row in this many first, where that makes at least this many rows, and on all of
/// them if it is not far below what would pay there.
const LOOK: usize = 8;
const LEAST_LOOKED_AT: usize = 64;
const NEARLY: f64 = 0.8;

/// Rows of the sample on which columns are found, where not all are in play from the start.
fn sample_rows(features: usize, candidates: usize, examples: usize) -> Option<usize> {
    let row_work = 4.0 * candidates as f64 * examples as f64;
    let sample = ((SAMPLE_WORK / row_work) as usize).max(SAMPLE_ROWS).min(features);
    (features as f64 * row_work > ALL_WORK).then_some(sample)
}

/// Flops of the steps on that sample.
pub(super) fn sample_work(features: usize, candidates: usize, examples: usize) -> f64 {
    let rows = sample_rows(features, candidates, examples).unwrap_or(0) as f64;
    (SAMPLE_STEPS + 1) as f64 * 4.0 * rows * candidates as f64 * examples as f64
}

impl Problem<'_> {
    /// The columns to begin with: all where that is affordable, otherwise those that have weight, or
    /// nearly so, after some steps on a sample of the rows. With the flops that took; `None` when stopped,
    /// and where what the sample proves is not worth going on.
    pub(super) fn first_columns(&self) -> Option<(Vec<usize>, f64)> {
        let (f, m) = (self.x.len() / self.n, self.candidates.len());
        let Some(sample) = sample_rows(f, m, self.n) else {
            return Some((self.candidates.to_vec(), 0.0));
        };
        let rows = spread(f, sample);
        let x = self.targets(&rows);
        let play = self.play(&x, &rows, self.candidates.to_vec())?;
        let mut iterate =
            Iterate::new(&play, self.start(&play), self.first_weight(), self.control)?;
        for _ in 0..SAMPLE_STEPS {
            if !iterate.step(&play, self.control) {
                return None;
            }
        }
        let look = iterate.look(&play, self.control)?;
        let work = sample_work(f, m, self.n);
        if self.is_hopeless(look.product - top(&look.prices, self.rank), work) {
            return None;
        }
        let most = FIRST_IN_PLAY.max(2 * self.rank).min(m);
        let promise = |q: &usize| (iterate.feasible.d[*q] > 0.0, look.prices[*q]);
        let mut order: Vec<usize> = (0..m).collect();
        order.sort_unstable_by(|a, b| {
            let ((held_a, price_a), (held_b, price_b)) = (promise(a), promise(b));
            held_b.cmp(&held_a).then(price_b.total_cmp(&price_a)).then(a.cmp(b))
        });
        let mut columns: Vec<usize> = order[..most].iter().map(|&q| play.columns[q]).collect();
        columns.sort_unstable();
        Some((columns, work))
    }

    /// `s_j` of the columns out of play that price above the r-th best in play, with their caps; the
    /// others do not matter. With the flops that took. On a part of the rows, and with caps, which are dear, most
    /// columns are ruled out by an eighth of the rows.
    pub(super) fn price(
        &self,
        play: &Play<'_>,
        y: &[f32],
        look: &Look,
    ) -> Option<(Vec<(usize, f64)>, f64)> {
        let f = play.rows();
        let threshold = nth(&look.prices, self.rank);
        let outside = |j: &&usize| play.columns.binary_search(*j).is_err();
        let mut hopeful: Vec<usize> = self.candidates.iter().filter(outside).copied().collect();
        let mut work = 0.0;
        // Where all rows are in play and caps are one, a step costs more than pricing, and figures should be right: a
        // few rows that one column explains may be missing in a part of them.
        let nearly = self.guide.is_some() || f < self.x.len() / self.n;
        if nearly && f >= LOOK * LEAST_LOOKED_AT {
            let few = spread(f, f / LOOK);
            let rows: Vec<usize> = few.iter().map(|&i| play.explained[i]).collect();
            let y: Vec<f32> =
                few.iter().flat_map(|&i| &y[i * self.n..][..self.n]).copied().collect();
            let least = NEARLY * threshold * few.len() as f64 / f as f64;
            work += self.pricing_work(&rows, &hopeful);
            hopeful =
                self.prices_above(least, &rows, &y, &hopeful)?.into_iter().map(|p| p.0).collect();
        }
        work += self.pricing_work(play.explained, &hopeful);
        let found = self.prices_above(threshold, play.explained, y, &hopeful)?;
        Some((found, work))
    }

    fn pricing_work(&self, rows: &[usize], columns: &[usize]) -> f64 {
        2.0 * rows.len() as f64 * columns.len() as f64 * self.n as f64
    }

    /// `sum_i u_ij (y_i.x_j)_+` over the given rows, whose duals are `y`, for those of the columns where it is
    /// above the threshold. Caps are dear: few columns are left to them with weights of one.
    fn prices_above(
        &self,
        threshold: f64,
        rows: &[usize],
        y: &[f32],
        columns: &[usize],
    ) -> Option<Vec<(usize, f64)>> {
        let mut found = Vec::new();
        for columns in columns.chunks(PRICED) {
            let m = columns.len();
            let atoms = self.gather(columns);
            let mut g = vec![0.0f32; rows.len() * m];
            let go_on = || self.control.goes_on();
            if !gemm_while(go_on, rows.len(), self.n, m, 1.0, y, &atoms, true, 0.0, &mut g) {
                return None;
            }
            count(&mut g, m, &self.counts(rows));
            let mut prices = capped_sums(&g, &vec![1.0; g.len()], m);
            let mut paying: Vec<usize> = (0..m).filter(|&q| prices[q] > threshold).collect();
            if self.guide.is_some() && !paying.is_empty() {
                let atoms: Vec<usize> = paying.iter().map(|&q| columns[q]).collect();
                let caps = self.caps(rows.par_iter().copied(), &atoms)?;
                let some = g.chunks_exact(m).flat_map(|row| paying.iter().map(|&q| row[q]));
                let capped = capped_sums(&some.collect::<Vec<f32>>(), &caps, paying.len());
                paying.iter().zip(capped).for_each(|(&q, price)| prices[q] = price);
                paying.retain(|&q| prices[q] > threshold);
            }
            found.extend(paying.iter().map(|&q| (columns[q], prices[q])));
        }
        Some(found)
    }

    /// The columns that should be in play, where that is worth a change.
    pub(super) fn changed(
        &self,
        play: &Play<'_>,
        point: &Point,
        look: &Look,
        mut outside: Vec<(usize, f64)>,
    ) -> Option<Vec<usize>> {
        let threshold = nth(&look.prices, self.rank);
        outside.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let room = MOST_IN_PLAY.max(4 * self.rank).saturating_sub(play.columns.len());
        outside.truncate(BROUGHT_IN.min(room));
        let hopeful = |q: &usize| point.d[*q] > 0.0 || look.prices[*q] >= HOPELESS * threshold;
        let kept: Vec<usize> = (0..play.columns.len()).filter(hopeful).collect();
        let dropped = play.columns.len() - kept.len();
        if outside.is_empty() && (4 * dropped < play.columns.len() || kept.len() < 2 * self.rank) {
            return None;
        }
        let enough = kept.len() >= 2 * self.rank;
        let stay: Vec<usize> = if enough { kept } else { (0..play.columns.len()).collect() };
        let mut columns: Vec<usize> = stay.into_iter().map(|q| play.columns[q]).collect();
        columns.extend(outside.into_iter().map(|(j, _)| j));
        columns.sort_unstable();
        Some(columns)
    }

    /// The same rows with other columns in play.
    pub(super) fn change<'b>(&self, play: &Play<'b>, columns: Vec<usize>) -> Option<Play<'b>> {
        let m = columns.len();
        let before = positions(&columns, &play.columns);
        let new: Vec<usize> = (0..m).filter(|&q| before[q].is_none()).collect();
        let new_rows: Vec<usize> = new.iter().map(|&q| columns[q]).collect();
        let new_caps = self.caps(play.explained.par_iter().copied(), &new_rows)?;
        let mut caps = picked(&play.caps, play.columns.len(), &before);
        for (row, new_caps) in caps.chunks_exact_mut(m).zip(new_caps.chunks(new.len().max(1))) {
            new.iter().zip(new_caps).for_each(|(&q, cap)| row[q] = *cap);
        }
        let (own, atoms) = (positions(&columns, play.explained), self.gather(&columns));
        let (lambdas, gaps) = (play.lambdas.clone(), play.gaps.clone());
        Some(Play { columns, own, atoms, caps, lambdas, gaps, ..*play })
    }
}

/// Where some numbers are among others, which increase.
pub(super) fn positions(of: &[usize], among: &[usize]) -> Vec<Option<usize>> {
    of.iter().map(|j| among.binary_search(j).ok()).collect()
}

/// Some columns of a matrix with m of them; zeros where there is none.
pub(super) fn picked(from: &[f32], m: usize, columns: &[Option<usize>]) -> Vec<f32> {
    let entry = |row: &[f32], at: &Option<usize>| at.map_or(0.0, |at| row[at]);
    from.chunks_exact(m).flat_map(|row| columns.iter().map(move |at| entry(row, at))).collect()
}

/// This many of the numbers below `all`, evenly.
pub(super) fn spread(all: usize, many: usize) -> Vec<usize> {
    (0..many).map(|k| k * all / many).collect()
}

/// The sum of the `count` largest.
pub(super) fn top(values: &[f64], count: usize) -> f64 {
    let mut values = values.to_vec();
    values.sort_unstable_by(|a, b| b.total_cmp(a));
    values.iter().take(count).sum()
}

/// The `count`-th largest.
fn nth(values: &[f64], count: usize) -> f64 {
    let mut values = values.to_vec();
    values.sort_unstable_by(|a, b| b.total_cmp(a));
    values.get(count.saturating_sub(1)).copied().unwrap_or(f64::NEG_INFINITY)
}
