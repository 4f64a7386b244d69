//! Which columns of C are in play: those to begin with, what the others are worth, and which of them come
//! and go.

use super::iterate::{Iterate, Look, Play, Point, capped_sums};
use super::search::Problem;
use crate::kernels::gemm_while;
use rayon::prelude::*;

/// Flops of a step up to which all columns are in play from the start.
const ALL_WORK: f64 = 1e9;
/// Otherwise these steps, of at most this many flops each, are taken on a sample of the rows, at least
/// this many, to find columns.
const SAMPLE_WORK: f64 = 5e8;
const SAMPLE_STEPS: usize = 20;
const SAMPLE_ROWS: usize = 150;
/// Columns in play at most, beside four for each hott row.
pub(super) const MOST_IN_PLAY: usize = 1000;
/// Columns that are brought in at a time, at most.
const BROUGHT_IN: usize = 200;
/// Columns without weight are dropped when they price below this share of the r-th best.
const HOPELESS: f64 = 0.85;
/// Columns that are priced together.
const PRICED: usize = 256;
/// A column is priced on one row in this many first, where that makes at least this many rows, and on all of
/// them if it is not far below what would pay.
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
        let rows: Vec<usize> = (0..sample).map(|k| k * f / sample).collect();
        let x = self.targets(&rows);
        let play = self.play(&x, &rows, self.candidates.to_vec())?;
        let mut iterate = Iterate::new(&play, self.start(&play), self.first_weight());
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
        let most = (MOST_IN_PLAY / 2).max(2 * self.rank).min(m);
        let promise = |q: &usize| (iterate.feasible.d[*q] > 0.0, look.prices[*q]);
        let mut order: Vec<usize> = (0..m).collect();
        order.sort_by(|a, b| {
            let ((held_a, price_a), (held_b, price_b)) = (promise(a), promise(b));
            held_b.cmp(&held_a).then(price_b.total_cmp(&price_a)).then(a.cmp(b))
        });
        let mut columns: Vec<usize> = order[..most].iter().map(|&q| play.columns[q]).collect();
        columns.sort_unstable();
        Some((columns, work))
    }

    /// `s_j` of the columns out of play that price above the r-th best in play, with their caps; the
    /// others do not matter.
    pub(super) fn price(
        &self,
        play: &Play<'_>,
        y: &[f32],
        look: &Look,
    ) -> Option<Vec<(usize, f64)>> {
        let (f, n) = (play.rows(), self.n);
        let threshold = nth(&look.prices, self.rank);
        let outside = |j: &&usize| play.columns.binary_search(*j).is_err();
        let outside: Vec<usize> = self.candidates.iter().filter(outside).copied().collect();
        let mut found = Vec::new();
        for columns in outside.chunks(PRICED) {
            let m = columns.len();
            let atoms = self.gather(columns);
            let mut g = vec![0.0f32; f * m];
            let go_on = || self.control.goes_on();
            if !gemm_while(go_on, f, n, m, 1.0, y, &atoms, true, 0.0, &mut g) {
                return None;
            }
            play.count(&mut g, m);
            // Caps are dear: most columns are out of the question with weights of one already, or
            // with caps on a part of the rows.
            let ones = vec![1.0; f * m];
            let prices = capped_sums(&g, &ones, m);
            let mut paying: Vec<usize> = (0..m).filter(|&q| prices[q] > threshold).collect();
            let all: Vec<usize> = (0..f).collect();
            let few: Vec<usize> = all.iter().copied().step_by(LOOK).collect();
            if self.guide.is_some() && f >= LOOK * LEAST_LOOKED_AT {
                let share = few.len() as f64 / f as f64;
                let looks = self.capped_prices(&few, (columns, &paying), &g)?;
                let mut looks = looks.iter().map(|look| *look >= NEARLY * share * threshold);
                paying.retain(|_| looks.next().unwrap_or(true));
            }
            if paying.is_empty() {
                continue;
            }
            let prices = self.capped_prices(&all, (columns, &paying), &g)?;
            let rows = paying.iter().map(|&q| columns[q]);
            found.extend(rows.zip(prices).filter(|(_, price)| *price > threshold));
        }
        Some(found)
    }

    /// `sum_i u_ij (G_ij)_+` over some rows, for the columns at some positions of `columns`; G has one
    /// column for each of these and all rows.
    fn capped_prices(
        &self,
        rows: &[usize],
        (columns, positions): (&[usize], &[usize]),
        g: &[f32],
    ) -> Option<Vec<f64>> {
        if positions.is_empty() {
            return Some(Vec::new());
        }
        let m = columns.len();
        let atoms: Vec<usize> = positions.iter().map(|&q| columns[q]).collect();
        let caps = self.caps(rows.par_iter().copied(), &atoms)?;
        let some = rows.iter().flat_map(|&i| positions.iter().map(move |&q| g[i * m + q]));
        Some(capped_sums(&some.collect::<Vec<f32>>(), &caps, positions.len()))
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
        outside.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
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

    /// The same point with other columns in play.
    pub(super) fn change<'b>(
        &self,
        play: &Play<'b>,
        point: &Point,
        columns: Vec<usize>,
    ) -> Option<(Play<'b>, Point)> {
        let (f, m) = (play.rows(), play.columns.len());
        let own: Vec<Option<usize>> = columns.iter().map(|&j| Some(j)).collect();
        let before: Vec<Option<usize>> =
            columns.iter().map(|j| play.columns.binary_search(j).ok()).collect();
        let new: Vec<usize> = (0..columns.len()).filter(|&q| before[q].is_none()).collect();
        let new_rows: Vec<usize> = new.iter().map(|&q| columns[q]).collect();
        let new_caps = self.all_caps(&new_rows)?;
        let pick = |from: &[f32], i: usize| -> Vec<f32> {
            let entry = |at: &Option<usize>| at.map_or(0.0, |at| from[i * m + at]);
            before.iter().map(entry).collect()
        };
        let mut caps: Vec<f32> = (0..f).flat_map(|i| pick(&play.caps, i)).collect();
        for (i, row) in caps.chunks_exact_mut(columns.len()).enumerate() {
            new.iter().enumerate().for_each(|(k, &q)| row[q] = new_caps[i * new.len() + k]);
        }
        let c = (0..f).flat_map(|i| pick(&point.c, i)).collect();
        let (d, y) = (pick(&point.d, 0), point.y.clone());
        let atoms = self.gather(&columns);
        let gaps = play.gaps.clone();
        let lambdas = play.lambdas.clone();
        let next = Play { columns, own, atoms, caps, lambdas, gaps, ..*play };
        Some((next, Point { c, d, y }))
    }
}

/// The sum of the `count` largest.
pub(super) fn top(values: &[f64], count: usize) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(|a, b| b.total_cmp(a));
    values.iter().take(count).sum()
}

/// The `count`-th largest.
fn nth(values: &[f64], count: usize) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(|a, b| b.total_cmp(a));
    values.get(count.saturating_sub(1)).copied().unwrap_or(f64::NEG_INFINITY)
}
