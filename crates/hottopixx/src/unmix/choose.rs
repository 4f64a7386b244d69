//! Which cells are the materials.
//!
//! The cells, back in bands divided by their noise, are the rows of a matrix, each as often as it counts (a
//! thousand rows in all), and exchanges in least squares choose the r rows whose mixtures come nearest to all
//! others. A chosen cell of very few pixels has to explain others as well: with it, some pixels that are not its own
//! must be fitted better than noise would have it. Otherwise its pixels are outliers, and the choice is made again
//! without them.

use super::cells::Cells;
use super::smooth::Smoothed;
use super::subspace::{Projected, to_unit};
use crate::Error;
use crate::control::{Control, Progress, Stage, Stop};
use crate::kernels::parallel::*;
use crate::kernels::{axpy, dot};
use crate::localise::exchange::{ExchangeSettings, exchange};
use crate::localise::{Question, snpa, spa_controlled};
use crate::matrix::{Dense, Matrix};
use crate::normalise::UnitRows;
use crate::squares::{Domain, Nnls};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// Rows of the matrix: what exchanges look at in full.
const ROWS: usize = 1000;
/// A cell that noise turns by more, in degrees, is no candidate where there are others.
const SURE: f64 = 1.0;
/// Operations of the exchanges, and attempts to leave the best choice.
const WORK: f64 = 4e8;
const COSINES: f64 = 1e10;
const KICKS: usize = 3;
/// A cell of at most this many pixels has to explain others.
const FEW: usize = 3;
/// How many others, and by how much at least: in degrees, and as a multiple of their noise.
const EXPLAINED: usize = 3;
const BETTER: f64 = 0.5;
const BETTER_THAN_NOISE: f64 = 2.0;
/// A pixel that explains nobody else is an outlier if it is further from all mixtures than this multiple of its noise.
const OUTLIER_NOISE: f64 = 4.0;
/// Rounds of leaving outliers out, at most, and after how many no small cell is a candidate any more: then what
/// is found is noise.
const MOST_ROUNDS: usize = 6;
const SMALL_ROUNDS: usize = 2;
/// Directions in which the most extreme cell is a candidate.
const DIRECTIONS: usize = 500;
/// Cells at a larger angle from the mean of the scene than the one of this cosine have no place in its chart.
const IN_CHART: f64 = 0.05;

/// The chosen cells, and pixels that would have been chosen but explain nobody else.
pub(super) struct Choice {
    pub cells: Vec<usize>,
    pub alone: Vec<usize>,
}

impl Choice {
    /// Of the pixels that were left out as alone, those that noise does not account for are outliers.
    fn new(cells: &Cells, smoothed: &Smoothed, chosen: Vec<usize>, mut alone: Vec<usize>) -> Self {
        let left = residuals(&cells.means_of(&chosen), cells.dims, &smoothed.directions, &alone);
        let mut left = left.into_iter();
        alone.retain(|&pixel| {
            let least = BETTER.to_radians().max(OUTLIER_NOISE * smoothed.turned[pixel]);
            left.next().is_some_and(|left| left > least)
        });
        Choice { cells: chosen, alone }
    }
}

/// What cells are chosen from.
pub(super) struct Chooser<'a> {
    pub projected: &'a Projected,
    pub cells: &'a Cells,
    pub smoothed: &'a Smoothed,
    pub rank: usize,
    /// Pixels that may be left out as alone, at most.
    pub most_alone: usize,
    pub control: &'a Control,
}

impl Chooser<'_> {
    /// Chooses `rank` cells.
    pub fn choose(&self) -> Result<Choice, Error> {
        let Chooser { cells, smoothed, rank, most_alone, control, .. } = *self;
        let sure = |k: usize| cells.turned[k] <= SURE.to_radians();
        let mut allowed: Vec<bool> = (0..cells.len()).map(sure).collect();
        if count(&allowed) < 2 * rank {
            allowed.fill(true);
        }
        extremes(cells, rank, &mut allowed);
        let mut alone: Vec<usize> = Vec::new();
        for round in 0.. {
            let (done, total, figure, bound) = (round, None, None, None);
            let (stage, task) = (Stage::Localise, "choosing materials");
            control.report(&Progress { stage, task, done, total, figure, bound });
            let chosen = self.best(&allowed)?;
            if round >= MOST_ROUNDS || !control.goes_on() {
                return Ok(Choice::new(cells, smoothed, chosen, alone));
            }
            if round == SMALL_ROUNDS {
                leave_small(cells, rank, &mut allowed);
            }
            let left = count(&allowed).saturating_sub(rank);
            let room = most_alone.saturating_sub(alone.len());
            let mut leave = unsupported(cells, smoothed, &chosen);
            leave.truncate(left);
            leave.retain(|&cell| cells.pixels[cell].len() <= room);
            if leave.is_empty() {
                return Ok(Choice::new(cells, smoothed, chosen, alone));
            }
            for cell in leave {
                allowed[cell] = false;
                if cells.pixels[cell].len() <= most_alone.saturating_sub(alone.len()) {
                    alone.extend(&cells.pixels[cell]);
                }
            }
        }
        unreachable!("the rounds end")
    }

    /// The best choice among the allowed cells.
    fn best(&self, allowed: &[bool]) -> Result<Vec<usize>, Error> {
        let Chooser { projected, cells, rank, control, .. } = *self;
        let total: f64 = cells.counts.iter().sum();
        let share = (ROWS.saturating_sub(cells.len())) as f64 / total.max(f64::MIN_POSITIVE);
        let mut values = Vec::new();
        let mut owner = Vec::new();
        let mut first = Vec::new();
        for (k, &may) in allowed.iter().enumerate() {
            let row = projected.in_bands(cells.mean(k));
            if row.iter().all(|v| *v == 0.0) {
                continue;
            }
            let copies = (cells.counts[k] * share).round() as usize + usize::from(may);
            for copy in 0..copies {
                values.extend(&row);
                owner.push(k);
                first.push(copy == 0 && may);
            }
        }
        let rows = owner.len();
        let x = UnitRows::new(&Matrix::from(Dense::new(rows, projected.weights.len(), values)?))?;
        let of_cells =
            |chosen: &[usize]| chosen.iter().map(|&at| owner[at]).collect::<Vec<usize>>();
        let spa = spa_controlled(&x, None, rank, &first, control).rows;
        if spa.len() < rank {
            return Err(Error::NoAnswer(control.cut_short().unwrap_or(Stop::TimeLimit)));
        }
        let mut starts = vec![spa];
        let other = snpa(&x, rank, &first, control).rows;
        if other.len() == rank && !same(&other, &starts[0]) {
            starts.push(other);
        }
        let settings = ExchangeSettings {
            power: 0.0,
            cosines: COSINES,
            work: WORK,
            kicks: KICKS,
            nearby: false,
        };
        let found = exchange(&Question::new(&x, rank, &first, control), &starts, &settings);
        Ok(of_cells(found.sets.first().unwrap_or(&starts[0])))
    }
}

fn count(allowed: &[bool]) -> usize {
    allowed.iter().filter(|a| **a).count()
}

/// Leaves as candidates the cells that are the most extreme ones in some direction. Pure pixels are corners of the
/// scene: a cell among others may explain its many neighbours well, but is no material. Directions are looked at in
/// the chart `z / <z, m>`, m the mean of the scene, in which mixtures are convex combinations.
fn extremes(cells: &Cells, rank: usize, allowed: &mut [bool]) {
    let dims = cells.dims;
    let mut mean = vec![0.0; dims];
    (0..cells.len()).for_each(|k| axpy(cells.counts[k], cells.mean(k), &mut mean));
    to_unit(&mut mean);
    let along: Vec<f64> = (0..cells.len()).map(|k| dot(cells.mean(k), &mean)).collect();
    let places: Vec<usize> =
        (0..cells.len()).filter(|&k| allowed[k] && along[k] > IN_CHART).collect();
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let mut extreme = vec![false; cells.len()];
    for _ in 0..DIRECTIONS {
        let direction: Vec<f64> = (0..dims).map(|_| StandardNormal.sample(&mut random)).collect();
        let far = |k: usize| dot(cells.mean(k), &direction) / along[k];
        let best = places.iter().copied().max_by(|&k, &l| far(k).total_cmp(&far(l)));
        best.into_iter().for_each(|k| extreme[k] = true);
    }
    if count(&extreme) >= 2 * rank {
        allowed.copy_from_slice(&extreme);
    }
}

/// Leaves cells of few pixels out where there are enough others.
fn leave_small(cells: &Cells, rank: usize, allowed: &mut [bool]) {
    let large = |k: usize| allowed[k] && cells.pixels[k].len() > FEW;
    let large: Vec<bool> = (0..cells.len()).map(large).collect();
    if count(&large) >= 2 * rank {
        allowed.copy_from_slice(&large);
    }
}

fn same(a: &[usize], b: &[usize]) -> bool {
    a.iter().all(|row| b.contains(row))
}

/// Chosen cells of few pixels without which nearly nobody else is worse off.
fn unsupported(cells: &Cells, smoothed: &Smoothed, chosen: &[usize]) -> Vec<usize> {
    let small: Vec<usize> =
        chosen.iter().copied().filter(|&cell| cells.pixels[cell].len() <= FEW).collect();
    if small.is_empty() || chosen.len() < 2 {
        return Vec::new();
    }
    let usable = cells.all_pixels();
    let with = residuals(&cells.means_of(chosen), cells.dims, &smoothed.directions, &usable);
    let supported = |cell: usize| {
        let others: Vec<usize> = chosen.iter().copied().filter(|&other| other != cell).collect();
        let without =
            residuals(&cells.means_of(&others), cells.dims, &smoothed.directions, &usable);
        let better = |at: &usize| {
            let pixel = usable[*at];
            let least = BETTER.to_radians().max(BETTER_THAN_NOISE * smoothed.turned[pixel]);
            without[*at] - with[*at] > least && !cells.pixels[cell].contains(&pixel)
        };
        (0..usable.len()).filter(better).count() >= EXPLAINED
    };
    small.into_iter().filter(|&cell| !supported(cell)).collect()
}

/// The weights of directions (rows of `dims` numbers) on the given ones, `rows x rank`, and `||z - c W||`.
pub(super) fn fits(
    given: &[f64],
    dims: usize,
    directions: &[f64],
    rows: &[usize],
) -> Vec<(Vec<f64>, f64)> {
    let rank = given.len() / dims;
    let row = |k: usize| &given[k * dims..(k + 1) * dims];
    let gram: Vec<f64> = (0..rank * rank).map(|at| dot(row(at / rank), row(at % rank))).collect();
    let one = |solver: &mut Nnls, &i: &usize| {
        let z = &directions[i * dims..(i + 1) * dims];
        let b: Vec<f64> = (0..rank).map(|k| dot(row(k), z)).collect();
        let mut c = vec![0.0; rank];
        solver.solve(&gram, &b, &mut c, Domain::Cone);
        let left = (dot(z, z) - dot(&b, &c)).max(0.0).sqrt();
        (c, left)
    };
    rows.par_iter().map_init(Nnls::default, one).collect()
}

fn residuals(given: &[f64], dims: usize, directions: &[f64], rows: &[usize]) -> Vec<f64> {
    fits(given, dims, directions, rows).into_iter().map(|(_, left)| left).collect()
}
