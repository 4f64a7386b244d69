//! Which columns are in play, when to begin anew, when to end.

use super::caps::caps;
use super::iterate::{Iterate, Look, Play, Point, capped_sums};
use super::{FirstOrderOutcome, FirstOrderSettings, Weights};
use crate::control::{Control, Progress, Stage, Stop};
use crate::kernels::gemm_while;
use crate::normalise::UnitRows;
use rayon::prelude::*;

/// Flops of a step up to which all columns are in play from the start.
const ALL_WORK: f64 = 1e9;
/// Otherwise these steps, of at most this many flops each, are taken on a sample of the rows, at least
/// this many, to find columns.
const SAMPLE_WORK: f64 = 5e8;
const SAMPLE_STEPS: usize = 40;
const SAMPLE_ROWS: usize = 150;
/// Columns in play at most, beside four for each hott row.
pub(super) const MOST_IN_PLAY: usize = 1000;
/// Columns that are brought in at a time, at most.
const BROUGHT_IN: usize = 200;
/// Columns without weight are dropped when they price below this share of the r-th best.
const HOPELESS: f64 = 0.85;
/// Steps between two looks at what the point is worth, and between two pricings of all columns.
const LOOK_EVERY: usize = 20;
const PRICE_EVERY: usize = 20;
/// The primal weight w to begin with: on three corpora 0.02 took two thirds of the steps of 0.05 or of 0.005; images
/// and generated data hardly care.
const WEIGHT: f32 = 0.02;
/// Steps and flops after which a bound that is still below zero is given up, as it is after as many flops on
/// a sample of the rows: where errors are small and rows nearly dependent (spectra), thousands of steps
/// would be needed.
const HOPELESS_STEPS: usize = 60;
const HOPELESS_WORK: f64 = 2e10;
/// Columns that are priced together.
const PRICED: usize = 256;

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

/// See [`first_order`](super::first_order).
pub(super) fn run(
    x: &UnitRows,
    rank: usize,
    candidates: Vec<usize>,
    settings: &FirstOrderSettings,
    control: &Control,
) -> Option<FirstOrderOutcome> {
    let dense = dense(x, control)?;
    let problem =
        Problem { x: &dense, n: x.examples(), rank, candidates: &candidates, settings, control };
    let (columns, work) = problem.first_columns()?;
    let all: Vec<usize> = (0..x.features()).collect();
    let play = problem.play(&dense, &all, columns)?;
    let start = problem.start(&play);
    Some(problem.solve(play, start, work))
}

/// X in single precision, f x n.
fn dense(x: &UnitRows, control: &Control) -> Option<Vec<f32>> {
    let n = x.examples();
    let mut out = vec![0.0f32; x.features() * n];
    let done = out.par_chunks_mut(n).enumerate().all(|(i, out)| {
        x.row(i).nonzeros().for_each(|(k, value)| out[k] = value as f32);
        control.goes_on()
    });
    done.then_some(out)
}

struct Problem<'a> {
    /// X, f x n.
    x: &'a [f32],
    n: usize,
    rank: usize,
    /// Rows that may be hott, increasing.
    candidates: &'a [usize],
    settings: &'a FirstOrderSettings,
    control: &'a Control,
}

/// The best that was found so far.
struct Best {
    objective: f64,
    columns: Vec<usize>,
    point: Point,
    lower_bound: f64,
    dual: Vec<f32>,
}

impl Problem<'_> {
    fn row(&self, i: usize) -> &[f32] {
        &self.x[i * self.n..][..self.n]
    }

    fn gather(&self, rows: &[usize]) -> Vec<f32> {
        rows.iter().flat_map(|&i| self.row(i)).copied().collect()
    }

    /// The rows `explained` of X, which are those of `x`, with the given columns in play.
    fn play<'b>(&self, x: &'b [f32], explained: &[usize], columns: Vec<usize>) -> Option<Play<'b>> {
        let own = columns.iter().map(|j| explained.binary_search(j).ok()).collect::<Vec<_>>();
        let atoms = self.gather(&columns);
        let caps = self.caps(x, &atoms, &own)?;
        Some(Play { x, n: self.n, rank: self.rank, columns, own, atoms, caps })
    }

    fn caps(&self, x: &[f32], atoms: &[f32], own: &[Option<usize>]) -> Option<Vec<f32>> {
        match self.settings.weights {
            Weights::UpToDiagonal => Some(vec![1.0; x.len() / self.n * own.len()]),
            Weights::Free => caps(x, atoms, self.n, own, self.control),
        }
    }

    /// Equal levels, nothing explained, Y = 0.
    fn start(&self, play: &Play<'_>) -> Point {
        let (f, m) = (play.rows(), play.columns.len());
        let d = vec![self.rank as f32 / m as f32; m];
        let mut c = vec![0.0; f * m];
        super::iterate::put_levels(&mut c, &d, &play.own);
        Point { c, d, y: vec![0.0; play.x.len()] }
    }

    /// The columns to begin with: all where that is affordable, otherwise those that have weight, or
    /// nearly so, after some steps on a sample of the rows. With the flops that took; `None` when stopped,
    /// and where what the sample proves is not worth going on.
    fn first_columns(&self) -> Option<(Vec<usize>, f64)> {
        let (f, m) = (self.x.len() / self.n, self.candidates.len());
        let Some(sample) = sample_rows(f, m, self.n) else {
            return Some((self.candidates.to_vec(), 0.0));
        };
        let rows: Vec<usize> = (0..sample).map(|k| k * f / sample).collect();
        let x = self.gather(&rows);
        let play = self.play(&x, &rows, self.candidates.to_vec())?;
        let mut iterate = Iterate::new(&play, self.start(&play), WEIGHT);
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

    /// Whether a bound that is about a choice at hand is given up after this much work.
    fn is_hopeless(&self, bound: f64, work: f64) -> bool {
        self.settings.at_hand.is_some() && bound <= 0.0 && work >= HOPELESS_WORK
    }

    fn solve<'b>(&self, mut play: Play<'b>, start: Point, mut work: f64) -> FirstOrderOutcome {
        let mut iterate = Iterate::new(&play, start, WEIGHT);
        let mut best: Option<Best> = None;
        let (mut steps, mut priced_at) = (0, 0);
        let mut last_gap = f64::INFINITY;
        while self.control.goes_on() && iterate.step(&play, self.control) {
            steps += 1;
            work += play.work();
            let last = steps >= self.settings.steps || work + play.work() > self.settings.work;
            if steps % LOOK_EVERY != 0 && !last {
                continue;
            }
            let Some(look) = iterate.look(&play, self.control) else { break };
            work += play.work();
            let in_play = look.product - top(&look.prices, self.rank);
            let gap = look.error - in_play;
            let closed = self.settings.is_enough(look.error, in_play);
            let all_in_play = play.columns.len() == self.candidates.len();
            let mut outside = Vec::new();
            let price = closed || last || steps >= priced_at + PRICE_EVERY;
            if price && !all_in_play {
                let Some(found) = self.price(&play, &iterate.feasible.y, &look) else { break };
                outside = found;
                work += 2.0 * self.x.len() as f64 * self.candidates.len() as f64;
                priced_at = steps;
            }
            let counts = (price || all_in_play).then(|| {
                let all = look.prices.iter().chain(outside.iter().map(|(_, price)| price));
                look.product - top(&all.copied().collect::<Vec<_>>(), self.rank)
            });
            keep(&mut best, &play, &iterate.feasible, look.error, counts);
            let known = best.as_ref().expect("just kept");
            self.report(steps, known);
            let enough = self.settings.is_enough(known.objective, known.lower_bound);
            let hopeless = steps >= HOPELESS_STEPS && self.is_hopeless(in_play, work);
            if last || enough || hopeless {
                break;
            }
            let shrunk = gap < 0.4 * last_gap && last_gap.is_finite();
            let old = gap < 0.8 * last_gap && iterate.age() as f64 > 0.36 * steps as f64;
            if price && let Some(columns) = self.changed(&play, &iterate.feasible, &look, outside) {
                let Some((next, point)) = self.change(&play, &iterate.feasible, columns) else {
                    break;
                };
                play = next;
                iterate = Iterate::new(&play, point, iterate.weight());
                last_gap = gap;
            } else if last_gap.is_infinite() {
                last_gap = gap;
            } else if shrunk || old {
                iterate.restart();
                last_gap = gap;
            }
        }
        self.outcome(best, &play, iterate, steps)
    }

    /// `s_j` of the columns out of play that price above the r-th best in play, with their caps; the
    /// others do not matter.
    fn price(&self, play: &Play<'_>, y: &[f32], look: &Look) -> Option<Vec<(usize, f64)>> {
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
            // Caps are dear: most columns are out of the question with weights of one already.
            let ones = vec![1.0; f * m];
            let prices = capped_sums(&g, &ones, m);
            let paying: Vec<usize> = (0..m).filter(|&q| prices[q] > threshold).collect();
            if paying.is_empty() {
                continue;
            }
            let rows: Vec<usize> = paying.iter().map(|&q| columns[q]).collect();
            let own: Vec<Option<usize>> = rows.iter().map(|&j| Some(j)).collect();
            let caps = self.caps(play.x, &self.gather(&rows), &own)?;
            let some: Vec<f32> =
                g.chunks_exact(m).flat_map(|g| paying.iter().map(|&q| g[q])).collect();
            let prices = capped_sums(&some, &caps, paying.len());
            found.extend(rows.into_iter().zip(prices).filter(|(_, price)| *price > threshold));
        }
        Some(found)
    }

    /// The columns that should be in play, where that is worth a change.
    fn changed(
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
    fn change<'b>(
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
        let new_own: Vec<Option<usize>> = new_rows.iter().map(|&j| Some(j)).collect();
        let new_caps = self.caps(play.x, &self.gather(&new_rows), &new_own)?;
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
        let next = Play { columns, own, atoms, caps, ..*play };
        Some((next, Point { c, d, y }))
    }

    fn report(&self, steps: usize, best: &Best) {
        let mean = |sum: f64| sum * self.n as f64 / self.x.len() as f64;
        self.control.report(&Progress {
            stage: Stage::Localise,
            task: "bound",
            done: steps,
            total: Some(self.settings.steps),
            figure: Some(("relaxed error", mean(best.objective))),
            bound: best.lower_bound.is_finite().then(|| mean(best.lower_bound)),
        });
    }

    fn outcome(
        &self,
        best: Option<Best>,
        play: &Play<'_>,
        iterate: Iterate,
        steps: usize,
    ) -> FirstOrderOutcome {
        let stop = match self.control.cut_short() {
            Some(stop) if steps < self.settings.steps => stop,
            _ => Stop::Finished,
        };
        let f = self.x.len() / self.n;
        let best = best.unwrap_or_else(|| Best {
            objective: f64::INFINITY,
            columns: play.columns.clone(),
            dual: vec![0.0; self.x.len()],
            point: iterate.feasible,
            lower_bound: f64::NEG_INFINITY,
        });
        let levels = with_trace(&best.point.d, self.rank);
        let m = levels.len();
        let mut diagonal = vec![0.0; f];
        best.columns.iter().zip(&levels).for_each(|(&j, level)| diagonal[j] = *level);
        let localising = best.point.c.chunks_exact(m).enumerate().map(|(i, row)| {
            let entry = |q: usize| match best.columns[q] {
                j if j == i => levels[q],
                _ => f64::from(row[q]).max(0.0).min(self.most(levels[q])),
            };
            let entries = (0..m).map(|q| (best.columns[q] as u32, entry(q)));
            entries.filter(|(_, weight)| *weight > 0.0).collect()
        });
        FirstOrderOutcome {
            localising: localising.collect(),
            diagonal,
            dual: best.dual,
            objective: best.objective,
            lower_bound: best.lower_bound,
            steps,
            stop,
        }
    }

    /// The weight that a level allows at most, caps apart.
    fn most(&self, level: f64) -> f64 {
        match self.settings.weights {
            Weights::UpToDiagonal => level,
            Weights::Free => 2.0 * level,
        }
    }
}

/// Keeps what is better than before.
fn keep(best: &mut Option<Best>, play: &Play<'_>, point: &Point, error: f64, bound: Option<f64>) {
    let bound = bound.unwrap_or(f64::NEG_INFINITY);
    let Some(known) = best else {
        let (columns, dual) = (play.columns.clone(), point.y.clone());
        let point = point.clone();
        *best = Some(Best { objective: error, columns, point, lower_bound: bound, dual });
        return;
    };
    if error < known.objective {
        (known.objective, known.columns) = (error, play.columns.clone());
        known.point.c.clone_from(&point.c);
        known.point.d.clone_from(&point.d);
    }
    // As long as no bound counts, the last Y is the best there is: the verifier prices all columns.
    if bound > known.lower_bound || known.lower_bound == f64::NEG_INFINITY {
        known.lower_bound = bound;
        known.dual.clone_from(&point.y);
    }
}

/// Levels in double precision that sum to the rank: scaled down, or raised where there is room.
fn with_trace(levels: &[f32], rank: usize) -> Vec<f64> {
    let mut levels: Vec<f64> = levels.iter().map(|l| f64::from(*l).clamp(0.0, 1.0)).collect();
    let (sum, rank) = (levels.iter().sum::<f64>(), rank as f64);
    if sum > rank {
        levels.iter_mut().for_each(|l| *l *= rank / sum);
    } else {
        let room = levels.len() as f64 - sum;
        let share = if room > 0.0 { (rank - sum) / room } else { 0.0 };
        levels.iter_mut().for_each(|l| *l += share * (1.0 - *l));
    }
    levels
}

/// The sum of the `count` largest.
fn top(values: &[f64], count: usize) -> f64 {
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
