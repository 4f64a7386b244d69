//! Rows chosen by exchanges in least squares: where the search for the least l1 error begins.
//!
//! Let `u_i` be row i of X with column k divided by the root of its weight `m_k^p` (m the mean row, p
//! the *power*), scaled to unit length. The choice H is improved by exchanging one row at a time while
//!
//! ```text
//! (1 / |S|) sum over i in S of  sqrt(q_i(H)),      q_i(H) = min over c >= 0 of ||u_i - c U_H||^2
//! ```
//!
//! falls. By Cauchy and Schwarz `||x||_1^2 <= sum_k x_k^2 / m_k`, with equality where residuals are in
//! proportion to the weights: so this stands in for the mean l1 error, row by row in relative
//! terms. Unlike the l1 error it depends on X through the cosines `U_S U^T` alone. Once they
//! are there, by one matrix product, n is gone, a fit of a row costs what r x r systems cost, and what
//! *every* exchange would gain is known nearly for the price of one look at all cosines
//! (`promise`): on all rows, where an l1 search of equal cost has to be content with
//! a sample of rows and merged columns. On corpora its rows have an l1 error that is 1 to 4 percent below
//! those of such a search, with less work.
//!
//! Where every row's error is near 1 (documents instead of co-occurrences), squares are a poor
//! guide, and the exchanges in l1 that follow (`select::search`) do the work.

mod cosines;
mod place;
mod promise;

use crate::control::{Control, Progress, Stage};
use crate::localise::{Question, shuffled_rows};
use crate::matrix::Shape;
use cosines::Cosines;
use place::{Exchange, Place};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Where this much is left unexplained, of squares or of an l1 error, squares are a poor guide.
pub(crate) const NEAR_ONE: f64 = 0.85;

/// How far to go.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExchangeSettings {
    /// The power p of the mean row by which columns are weighed.
    pub power: f64,
    /// Flops for the cosines at most: rows to be explained are sampled until it is kept.
    pub cosines: f64,
    /// Operations of the exchanges at most, roughly: they end before a look that would take more.
    pub work: f64,
    /// Attempts in vain to leave the best local optimum after which it is kept.
    pub kicks: usize,
    /// Whether the starts are nearly the best. Then a walk is on all explained rows at once, since one on a few of them, which
    /// comes first otherwise, leads away from such starts; and it ends with the rows that promised most at the first look at
    /// all of the pool.
    pub nearby: bool,
}

/// What came of it.
#[derive(Debug, Clone)]
pub struct Exchanged {
    /// Choices of rows that no exchange improves, the best first, each once.
    pub sets: Vec<Vec<usize>>,
    /// The mean of `sqrt(q)` of the best: near 1, squares explain nothing, and are a poor guide.
    pub left: f64,
    /// Exchanges made on the way to them.
    pub exchanges: usize,
}

impl Default for Exchanged {
    /// Nothing found.
    fn default() -> Self {
        Exchanged { sets: Vec::new(), left: 1.0, exchanges: 0 }
    }
}

/// Rows that may be chosen, at most; beyond, the first of the starts, then a random part.
const MOST_CANDIDATES: usize = 8000;
/// Rows that are explained at most, and at least where there are as many.
const MOST_EXPLAINED: usize = 1000;
const LEAST_EXPLAINED: usize = 256;
/// A first descent looks at this many of them.
const FIRST_EXPLAINED: usize = 200;
/// Cosines that are held at most.
const MOST_COSINES: usize = 24_000_000;
/// Exchanges tried in vain until a place counts as a local optimum.
const VAIN: usize = 6;
/// Rows that are exchanged among themselves between two looks at all of the pool, roughly.
const LEADERS: usize = 128;
/// Least gain of an exchange, relative: well above the rounding of cosines in single precision.
const LEAST_GAIN: f64 = 1e-5;

/// How many rows are explained, and how many may be chosen.
fn sizes(shape: Shape, candidates: usize, cosines: f64) -> (usize, usize) {
    let m = candidates.min(MOST_CANDIDATES);
    // A product with a sparse row visits its entries only, at a tenth of the speed.
    let per_pair = (2 * shape.cols).min(20 * shape.entries.div_ceil(shape.rows.max(1))) as f64;
    let affordable = (cosines / (per_pair * m as f64)) as usize;
    let most = MOST_EXPLAINED.min(MOST_COSINES / m.max(1)).min(affordable);
    (shape.rows.min(most.max(LEAST_EXPLAINED)), m)
}

/// Bytes that [`exchange`] takes at most.
pub fn bytes(shape: Shape, candidates: usize, rank: usize, threads: usize) -> u64 {
    let (s, m) = sizes(shape, candidates, f64::INFINITY);
    let tables = (promise::WAVE + threads) * (1 + place::most_leaving(rank)) + 3 * rank;
    let cosines = 4 * (s as u64 * m as u64 + (tables * m) as u64);
    cosines + Cosines::room(shape, s, m) + 48 * (s * rank) as u64 * (1 + rank.min(8)) as u64
}

/// Improves each of the `starts`, sets of as many rows each that obey the rules of the question, by exchanges among
/// the rows that are allowed. The rank and the cost of the question do not matter. Stopped, it gives what it has, which may be nothing. The answer does not depend on the
/// number of threads.
pub fn exchange(
    question: &Question<'_>,
    starts: &[Vec<usize>],
    settings: &ExchangeSettings,
) -> Exchanged {
    let Question { x, allowed, control, rules, .. } = *question;
    let (s, m) = sizes(x.shape(), question.candidates(), settings.cosines);
    let mut rows = shuffled_rows(x.features());
    rows.truncate(s);
    rows.sort_unstable();
    let pool = pool(allowed, starts, m);
    let Some(cosines) = Cosines::new((x, rules), rows, pool, settings.power, control) else {
        return Exchanged::default();
    };
    let few = if settings.nearby { None } else { cosines.few(FIRST_EXPLAINED) };
    let mut walk = Walk { control, left: settings.work, nearby: settings.nearby, made: 0 };
    let mut sets = match settings.nearby && settings.kicks == 0 {
        true => starts.to_vec(),
        false => walk.optima(few.as_ref().unwrap_or(&cosines), starts, settings.kicks),
    };
    let mut optima: Vec<Place> = Vec::new();
    for rows in sets.drain(..) {
        let Some(place) = cosines.place_of(&rows, control) else { break };
        let place = walk.descend(&cosines, place);
        if !optima.iter().any(|known| known.same_rows(&place)) {
            optima.push(place);
        }
    }
    optima.sort_by(|a, b| a.score.total_cmp(&b.score));
    Exchanged {
        left: optima.first().map_or(1.0, |best| best.score),
        sets: optima.iter().map(|place| cosines.rows_of(&place.hott)).collect(),
        exchanges: walk.made,
    }
}

/// Up to `most` allowed rows, increasing: those of the starts, then others in a fixed random order.
fn pool(allowed: &[bool], starts: &[Vec<usize>], most: usize) -> Vec<usize> {
    let mut taken = vec![false; allowed.len()];
    let mut pool: Vec<usize> = Vec::new();
    let others = shuffled_rows(allowed.len());
    for &j in starts.iter().flatten().chain(&others) {
        if pool.len() < most && allowed[j] && !std::mem::replace(&mut taken[j], true) {
            pool.push(j);
        }
    }
    pool.sort_unstable();
    pool
}

/// A walk from one choice to the next.
struct Walk<'a> {
    control: &'a Control,
    /// Operations that may still be spent.
    left: f64,
    /// Whether one look at all of the pool is enough.
    nearby: bool,
    /// Exchanges made.
    made: usize,
}

impl Walk<'_> {
    /// Local optima, the best first: of the starts, and of walks that begin at the best with two of its
    /// rows exchanged at random for promising ones.
    fn optima(
        &mut self,
        cosines: &Cosines<'_>,
        starts: &[Vec<usize>],
        kicks: usize,
    ) -> Vec<Vec<usize>> {
        let mut optima: Vec<Place> = Vec::new();
        for start in starts {
            let Some(place) = cosines.place_of(start, self.control) else { break };
            let place = self.descend(cosines, place);
            keep(&mut optima, place);
        }
        let mut random = ChaCha8Rng::seed_from_u64(0);
        let mut vain = 0;
        while vain < kicks
            && let Some(best) = optima.first()
            && best.hott.len() > 2
            && self.affords_look(cosines, best)
            && let Some(promising) = cosines.promising(best, 2 * LEADERS, self.control)
            && !promising.is_empty()
        {
            let mut hott = best.hott.clone();
            for _ in 0..2 {
                let at = random.random_range(0..hott.len());
                let enter = promising[random.random_range(0..promising.len())].enter;
                if !hott.contains(&enter) && cosines.allow(&hott, Exchange { leave: at, enter }) {
                    hott[at] = enter;
                }
            }
            let rows = cosines.rows_of(&hott);
            let Some(place) = cosines.place_of(&rows, self.control) else { break };
            let place = self.descend(cosines, place);
            vain = if keep(&mut optima, place) { 0 } else { vain + 1 };
        }
        optima.iter().map(|place| cosines.rows_of(&place.hott)).collect()
    }

    /// Exchanges until none gains, or the control stops. After a look at all of the pool the rows that
    /// promise most are exchanged among themselves until nothing is gained, then all are looked at
    /// again, unless the walk stays nearby.
    fn descend(&mut self, cosines: &Cosines<'_>, mut place: Place) -> Place {
        while let Some((next, promising)) = self.improved(cosines, &place) {
            place = next;
            if cosines.pool.len() <= 2 * LEADERS {
                continue;
            }
            let among = cosines.among(&leaders(&promising, &place));
            let mut narrow = among.narrowed(cosines, &place);
            while let Some((next, _)) = self.improved(&among, &narrow) {
                narrow = next;
            }
            let Some(wide) = cosines.widened(&among, narrow, self.control) else { break };
            place = wide;
            if self.nearby {
                break;
            }
        }
        place
    }

    /// The place after the first exchange that gains, most promising first, and the exchanges that
    /// promised most. `None` when none gains, when the work is done, or when stopped.
    fn improved(&mut self, cosines: &Cosines<'_>, place: &Place) -> Option<(Place, Vec<Exchange>)> {
        self.report(place.score);
        if !self.affords_look(cosines, place) {
            return None;
        }
        let (_, fit) = cosines.operations(place);
        let least = place.score * (1.0 - LEAST_GAIN);
        let promising = cosines.promising(place, 2 * LEADERS, self.control)?;
        for exchange in promising.iter().take(VAIN) {
            let next = cosines.exchanged(place, *exchange, self.control)?;
            self.left -= fit;
            if next.score < least {
                self.made += 1;
                return Some((next, promising));
            }
        }
        None
    }

    /// Whether a look at all exchanges is still to be had; if so, it is paid for.
    fn affords_look(&mut self, cosines: &Cosines<'_>, place: &Place) -> bool {
        let (look, _) = cosines.operations(place);
        let affordable = look <= self.left;
        if affordable {
            self.left -= look;
        }
        affordable
    }

    fn report(&self, score: f64) {
        self.control.report(&Progress {
            stage: Stage::Localise,
            task: "exchange",
            done: self.made,
            total: None,
            figure: Some(("squares left", score)),
            bound: None,
        });
    }
}

/// Most local optima that are kept.
const KEPT: usize = 2;

/// Keeps a place that is among the best, best first. Whether it is the best.
fn keep(optima: &mut Vec<Place>, place: Place) -> bool {
    if optima.iter().any(|known| known.same_rows(&place)) {
        return false;
    }
    let at = optima.partition_point(|known| known.score <= place.score);
    optima.insert(at, place);
    optima.truncate(KEPT);
    at == 0
}

/// Positions of the pool that enter first, and those of the hott rows, increasing.
fn leaders(promising: &[Exchange], place: &Place) -> Vec<usize> {
    let mut leaders: Vec<usize> = promising.iter().map(|e| e.enter).collect();
    leaders.extend(&place.hott);
    leaders.sort_unstable();
    leaders.dedup();
    leaders
}

#[cfg(test)]
mod tests;
