//! The search for a better choice of rows: exchanges of one row at a time, from several starts, on
//! more and more of the data.
//!
//! Scoring one exchange on all rows and columns costs as much as cleaning. The search therefore
//! begins on a small *field*, some rows of X on merged columns, where it walks from several starts to
//! local optima and away from them again ([`descent`]), and takes what it finds there to larger
//! fields, where little is left to do. On each field one product of duals with X promises what every
//! exchange could gain ([`promise`]), and only the best are scored exactly ([`field`]). Nothing is
//! decided here: all choices found are judged on all rows with those they began from.

mod descent;
mod field;
mod promise;

use super::coarse::coarse;
use crate::clean::{Starts, refit, row_operations};
use crate::localise::Question;
use crate::localise::exchange::NEAR_ONE;
use crate::normalise::UnitRows;
use crate::order::largest_first;
use crate::{Effort, Objective};
use descent::{FIRST_SHARE, Trying, Walker};
use field::{Field, Place};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};

/// A field by its size.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Size {
    rows: usize,
    /// Columns are merged to this many where rows have several times more entries.
    columns: usize,
}

/// Rows have to have this many times more entries for merging columns to pay.
const MERGING_PAYS: f64 = 1.5;
/// Columns that are kept for each row to be chosen, at least.
const COLUMNS_FOR_EACH: usize = 4;
/// Fields have up to this many times more rows where these are short.
const CHEAP: usize = 4;
/// Numbers that the remembered duals of a field may be, and fits remembered for each row, roughly.
const REMEMBERED: usize = 40_000_000;
const FITS_FOR_EACH: usize = 8;

/// How much is tried.
#[derive(Debug, Clone, Copy)]
struct Plan {
    sizes: [Size; 2],
    /// Starts walked from on the first field.
    starts: usize,
    /// Attempts in vain to leave the best local optimum after which it is kept.
    kicks: usize,
    /// Operations on all fields: a number, and a multiple of what exact cleaning takes.
    work: (f64, f64),
    trying: Trying,
}

/// Up to this many rows the search sees all of them, and finds half a percent more.
const FEW_ROWS: usize = 300;
/// Times as many attempts where a choice must obey rules.
const RULED_KICKS: usize = 8;
/// The share of the work that the first field may take.
const FIRST_FIELD: f64 = 0.35;

impl Plan {
    /// `best` is the error to begin with. Well below 1, exchanges in least squares have found their way
    /// on all of many rows already, and little is left: on corpora a thousandth of the error.
    fn of(effort: Effort, objective: Objective, (features, best): (usize, f64)) -> Self {
        let led = objective == Objective::Mean && best < NEAR_ONE && features > FEW_ROWS;
        let size = |rows, columns| Size { rows, columns };
        let trying = Trying { vain: 36, batch: 12, pool: 150, refresh: 8, work: 0 };
        match effort {
            Effort::Quick => Plan {
                sizes: [size(96, 192); 2],
                starts: 1,
                kicks: 0,
                work: (5e8, 0.25),
                trying: Trying { vain: 12, ..trying },
            },
            Effort::Normal if led => Plan {
                sizes: [size(512, 768); 2],
                starts: 1,
                kicks: 0,
                work: (1.5e9, 0.5),
                trying: Trying { vain: 24, ..trying },
            },
            Effort::Normal => Plan {
                sizes: [size(192, 192), size(256, 512)],
                starts: 3,
                kicks: 2,
                work: (8e9, 1.0),
                trying,
            },
            Effort::Thorough => Plan {
                sizes: [size(256, 384), size(2000, 2048)],
                starts: 6,
                kicks: 16,
                work: (5e10, 10.0),
                trying: Trying { vain: 96, pool: 600, ..trying },
            },
        }
    }
}

/// What the search came to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Found {
    /// Choices of rows, the most promising first.
    pub sets: Vec<Vec<usize>>,
    /// Exchanges made on the way to them.
    pub exchanges: usize,
    /// Operations it took, roughly.
    pub work: u64,
}

/// Looks for choices with a smaller error than the starts, which come best first, with the error of
/// the first on all rows; `hints` are rows
/// worth trying. Stopped, it gives what it has.
pub(crate) fn search(
    question: &Question<'_>,
    objective: Objective,
    effort: Effort,
    (starts, best): (&[Vec<usize>], f64),
    hints: &[usize],
) -> Found {
    let plan = Plan::of(effort, objective, (question.x.features(), best));
    let pool: Vec<usize> = (0..question.x.features()).filter(|&j| question.allowed[j]).collect();
    let mut search = Search {
        question,
        objective,
        plan,
        pool,
        best,
        share: FIRST_SHARE,
        found: Found::default(),
    };
    search.run(starts, hints);
    search.found
}

struct Search<'a> {
    question: &'a Question<'a>,
    objective: Objective,
    plan: Plan,
    /// Rows that may enter.
    pool: Vec<usize>,
    best: f64,
    /// The share of its promise that an exchange keeps, as experience has it.
    share: f64,
    found: Found,
}

impl<'a> Search<'a> {
    fn run(&mut self, starts: &[Vec<usize>], hints: &[usize]) -> Option<()> {
        let mut sets: Vec<Vec<usize>> = starts.iter().take(self.plan.starts).cloned().collect();
        let mut guides: Vec<usize> = sets.concat();
        guides.extend(hints.iter().take(2 * self.question.rank));
        let mut pool = self.pool.clone();
        let mut last: Option<(usize, bool)> = None;
        for (level, size) in self.plan.sizes.into_iter().enumerate() {
            guides.sort_unstable();
            guides.dedup();
            let field = self.field(size, &guides, &sets[0])?;
            let merged = matches!(field.x, Cow::Owned(_));
            // A field that is no larger than the last one has nothing to tell.
            if last == Some((field.rows.len(), merged)) && !merged {
                break;
            }
            last = Some((field.rows.len(), merged));
            // The best start again: what a small field prefers may be worse on a larger one.
            if level > 0 {
                sets.truncate(1);
                sets.retain(|set| *set != starts[0]);
                sets.insert(0, starts[0].clone());
            }
            let (found, leaders) = self.on_field(&field, level, &sets, &pool)?;
            self.found.work += field.work.load(Ordering::Relaxed);
            sets = found;
            for set in sets.iter().rev() {
                self.found.sets.retain(|known| known != set);
                self.found.sets.insert(0, set.clone());
            }
            guides = sets.concat();
            pool = leaders;
        }
        Some(())
    }

    /// Local optima of a field, the best first, and the rows that promise most there.
    fn on_field(
        &mut self,
        field: &Field<'a>,
        level: usize,
        sets: &[Vec<usize>],
        pool: &[usize],
    ) -> Option<(Vec<Vec<usize>>, Vec<usize>)> {
        let panel = field.x.select_rows(pool);
        let (least, cleanings) = self.plan.work;
        let Question { x, rank, .. } = *self.question;
        let cleaning = x.features() as f64 * row_operations(x.shape(), rank);
        let share = if level == 0 { FIRST_FIELD } else { 1.0 - FIRST_FIELD };
        let work = (share * (least + cleanings * cleaning)) as u64;
        let trying = Trying { work, ..self.plan.trying };
        let mut walker = Walker {
            field,
            pool,
            panel: &panel,
            trying,
            share: self.share,
            best: self.best,
            made: 0,
        };
        let mut leaders = Vec::new();
        let mut optima: Vec<Place> = Vec::new();
        for set in sets {
            if !optima.is_empty() && walker.is_spent() {
                break;
            }
            let (place, promising) = walker.descend(field.place(set.clone(), None)?);
            leaders.extend(promising);
            optima.push(place);
        }
        optima.sort_by(|a, b| a.score.total_cmp(&b.score));
        if level == 0 {
            self.kick(&mut walker, &mut optima, &leaders);
        }
        self.found.exchanges += walker.made;
        self.share = walker.share;
        let mut seen = std::collections::HashSet::new();
        leaders.retain(|j| seen.insert(*j));
        leaders.extend(optima.iter().flat_map(|p| &p.hott).filter(|h| seen.insert(**h)));
        optima.truncate(2);
        Some((optima.into_iter().map(|p| p.hott).collect(), leaders))
    }

    /// Attempts to leave the best local optimum: two rows are exchanged at random for promising
    /// ones, and the walk goes on from there.
    fn kick(&self, walker: &mut Walker<'_, '_>, optima: &mut Vec<Place>, leaders: &[usize]) {
        let mut random = ChaCha8Rng::seed_from_u64(0);
        let Question { rank, rules, control, .. } = *self.question;
        let (least, kicks) = match rules.is_free() {
            true => (3, self.plan.kicks),
            // Rules cut off sets that two exchanges, but not one, lead to.
            false => (2, self.plan.kicks * RULED_KICKS),
        };
        let mut vain = 0;
        if rank < least || leaders.len() < 4 {
            return;
        }
        while vain < kicks && !walker.is_spent() && control.goes_on() {
            let hott = match rules.is_free() {
                true => exchanged_at_random(&optima[0].hott, leaders, &mut random),
                false => self.kicked_within_rules(&optima[0].hott, leaders, &mut random),
            };
            let Some(place) = walker.field.place(hott, None) else { return };
            let (place, _) = walker.descend(place);
            vain += 1;
            if place.score < optima[0].score {
                vain = 0;
                optima.insert(0, place);
            }
        }
    }

    /// The choice without two of its rows, completed by promising ones in a random order as the rules allow.
    fn kicked_within_rules(
        &self,
        hott: &[usize],
        leaders: &[usize],
        random: &mut ChaCha8Rng,
    ) -> Vec<usize> {
        let Question { rank, allowed, rules, .. } = *self.question;
        let mut free: Vec<usize> =
            hott.iter().copied().filter(|h| rules.must().binary_search(h).is_err()).collect();
        free.shuffle(random);
        free.truncate(2);
        let stays = hott.iter().copied().filter(|h| !free.contains(h));
        let mut others: Vec<usize> =
            leaders.iter().copied().filter(|j| !free.contains(j)).collect();
        others.shuffle(random);
        let preferred: Vec<usize> = stays.chain(others).collect();
        rules.choose(&preferred, rank, allowed)
    }

    /// Some rows of X, for the largest error those that are worst on `set` among them, on merged
    /// columns where that pays. `None` when stopped.
    fn field(&self, size: Size, guides: &[usize], set: &[usize]) -> Option<Field<'a>> {
        let Question { x, rank, control, rules, .. } = *self.question;
        let columns = size.columns.max(COLUMNS_FOR_EACH * rank);
        let stored = x.shape().entries as f64 / x.features() as f64;
        let x: Cow<'a, UnitRows> = if stored > MERGING_PAYS * columns as f64 && !x.has_gaps() {
            Cow::Owned(coarse(x, guides, columns, control)?)
        } else {
            Cow::Borrowed(x)
        };
        let points = (x.shape().entries / x.features()).max(1);
        // Short rows are cheap, and more of them say more.
        let cheap = (size.columns / points).clamp(1, CHEAP);
        let most = (cheap * size.rows).min(REMEMBERED / FITS_FOR_EACH / points).max(32);
        let rows = sample(x.features(), most, self.worst(set, most / 2));
        let work = AtomicU64::new(0);
        Some(Field { x, rows, objective: self.objective, control, rules, work })
    }

    /// The rows with the largest errors on `set`, where these are what counts.
    fn worst(&self, set: &[usize], most: usize) -> Vec<usize> {
        let Question { x, control, .. } = *self.question;
        if self.objective == Objective::Mean || x.features() <= 2 * most {
            return Vec::new();
        }
        let all: Vec<usize> = (0..x.features()).collect();
        let errors = refit(x, set, &all, Starts::Cold, control);
        let mut order = all;
        largest_first(&mut order, |i| errors[i].error);
        order.truncate(most);
        order
    }
}

/// The choice with two rows exchanged at random for promising ones.
fn exchanged_at_random(hott: &[usize], leaders: &[usize], random: &mut ChaCha8Rng) -> Vec<usize> {
    let mut hott = hott.to_vec();
    for _ in 0..2 {
        let (h, j) = (random.random_range(0..hott.len()), random.random_range(0..leaders.len()));
        if !hott.contains(&leaders[j]) {
            hott[h] = leaders[j];
        }
    }
    hott
}

/// `first`, and rows in a fixed random order up to `most`, increasing; all of them where there are
/// no more.
fn sample(f: usize, most: usize, first: Vec<usize>) -> Vec<usize> {
    if f <= most {
        return (0..f).collect();
    }
    let mut rows = first;
    let taken: std::collections::HashSet<usize> = rows.iter().copied().collect();
    rows.extend(crate::localise::shuffled_rows(f).into_iter().filter(|i| !taken.contains(i)));
    rows.truncate(most);
    rows.sort_unstable();
    rows
}

#[cfg(test)]
mod tests;
