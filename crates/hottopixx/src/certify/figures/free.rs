//! What a dual proves about the errors of every choice of rows, whatever their weights.
//!
//! For a choice S of r rows that may be hott, numbers `lambda_i >= 0` and any Y with `|Y_i| <= lambda_i`,
//!
//! ```text
//! sum_i lambda_i e_i(S) >= <Y, X> - (sum of the r largest s_j),
//!     s_j = y_j.x_j + sum_{i != j} u_ij (y_i.x_j)_+
//! ```
//!
//! with `u_ij` the largest weight that a fit of `x_i` needs on `x_j` (`l1/caps.rs`): a chosen row explains
//! itself with weight one, all others weigh it by at most their caps. Smaller products `<y_i, x_i>` and
//! larger `s_j` prove less, so the former are rounded down and the latter up. With `lambda_i = 1 / f` it is
//! about the mean error, with lambdas that sum to one about the largest.
//!
//! A choice of fewer rows saves less, so that the same Y bounds every rank: the `s_j` do not depend on r.
//!
//! Caps are dear, `O(n)` each: they are found only for columns that could be among the r largest with
//! the caps that hold everywhere, two.

use super::RefusingWatch;
use super::dual::norms;
use super::products::{DualRows, Listed, Precision, Products, Single};
use super::rows::{Rows, stored};
use crate::certify::checks::check_dual;
use crate::certify::refusal::Refusal;
use crate::certify::rounding::{
    Sum, add_down, add_up, depth, div_down, div_up, gamma, mul_down, mul_up, sum_of_singles,
};
use crate::control::Control;
use crate::kernels::mass_above;
use crate::kernels::parallel::*;
use crate::l1::{MOST_LOOKS, near_cap};
use crate::matrix::Entries;
use crate::normalise::UnitRows;
use crate::rules::Rules;
use std::borrow::Cow;
use std::iter;

/// Columns whose caps are found together.
const BATCH: usize = 32;
/// No cap is larger.
const LARGEST: f64 = 2.0;
/// A number in double precision is rounded to single precision times this and plus the [`TINIEST`], and the result is not
/// below it: the rounding takes at most a part of `2^-24`, or half the tiniest number where it underflows, and the few
/// roundings in double precision before it much less than what is left of `2^-23`.
const ROUNDED_UP: f64 = 1.0 + f32::EPSILON as f64;
const TINIEST: f32 = f32::from_bits(1);
/// Caps between two looks at whether a column is out of the question.
const EARLY: usize = 16;

/// The bounds on the *mean* error (rows counting as much as they weigh) of all choices of 1, 2, ... `most` rows among the `allowed` ones that Y, f x n
/// and row-major, proves about `x` in exact arithmetic: one Y bounds them all. At least 0, which needs no Y. Where products are taken in
/// single precision what they may be off by is taken off: the bound holds all the same, and is somewhat lower.
///
/// `2 f m n` flops for m rows that may be hott and up to `O(f m n)` for caps, parallel; `4 f m` bytes.
///
/// # Errors
/// [`Refusal::Shape`] where sizes do not fit, [`Refusal::NotFinite`] or [`Refusal::Range`] for entries that
/// are no numbers in [-1, 1], [`Refusal::Stopped`] when `control` stops it.
pub fn prove_means(
    x: &UnitRows,
    most: usize,
    allowed: &[bool],
    (dual, precision): (&[f32], Precision),
    control: &Control,
) -> Result<Vec<f64>, Refusal> {
    check_single(x, allowed, dual)?;
    let (dual, total) = weighed(x, dual);
    let dual = &Single { dual: &dual, n: x.examples(), precision };
    let proof = Proof { rows: &Rows::new(x, control)?, dual, control };
    let sums = proof.by_rank(most, allowed)?;
    let mean = |sum: f64| if sum > 0.0 { div_down(sum, total) } else { 0.0 };
    Ok(sums.into_iter().map(mean).collect())
}

/// The last of [`prove_means`]: the bound for choices of `rank` rows.
///
/// # Errors
/// As [`prove_means`].
pub fn prove_mean(
    x: &UnitRows,
    rank: usize,
    allowed: &[bool],
    dual: &[f32],
    control: &Control,
) -> Result<f64, Refusal> {
    let bounds = prove_means(x, rank, allowed, (dual, Precision::Double), control)?;
    Ok(bounds.last().copied().unwrap_or(0.0))
}

/// As [`prove_mean`] for choices that obey rules, of which the rows that must be chosen and the most of each group are
/// heeded: then the `s_j` are those of these rows and, within the groups, the largest others.
///
/// # Errors
/// As [`prove_means`].
pub fn prove_mean_ruled(
    x: &UnitRows,
    rank: usize,
    (allowed, rules): (&[bool], &Rules),
    dual: &[f32],
    control: &Control,
) -> Result<f64, Refusal> {
    check_single(x, allowed, dual)?;
    let (dual, total) = weighed(x, dual);
    let dual = &Single { dual: &dual, n: x.examples(), precision: Precision::Double };
    let proof = Proof { rows: &Rows::new(x, control)?, dual, control };
    let columns: Vec<usize> = (0..allowed.len()).filter(|&j| allowed[j]).collect();
    let saved: Sum = proof.most_saved_ruled(rank, &columns, rules)?.into_iter().collect();
    let sum = add_down(proof.product()?, -saved.upper());
    Ok(if sum > 0.0 { div_down(sum, total) } else { 0.0 })
}

/// Y with rows scaled by `lambda_i`, the weights of the rows over the largest of them, and the sum of the lambdas, rounded
/// up: `sum_i lambda_i e_i` over that sum is the weighted mean. In single precision lambdas are rounded down, and so no
/// entry of a row is larger than its lambda. Without weights Y itself, and f.
fn weighed<'a>(x: &UnitRows, dual: &'a [f32]) -> (Cow<'a, [f32]>, f64) {
    let weights = x.weights();
    if weights.is_empty() {
        return (Cow::Borrowed(dual), x.features() as f64);
    }
    let largest = weights.iter().copied().fold(0.0, f64::max);
    let n = x.examples();
    let mut scaled = dual.to_vec();
    for (row, &weight) in scaled.chunks_exact_mut(n).zip(weights) {
        let lambda = single_down(div_down(weight, largest)).max(0.0);
        row.iter_mut().for_each(|y| *y *= lambda);
    }
    let total = weights.iter().map(|&weight| div_up(weight, largest)).collect::<Sum>().upper();
    (Cow::Owned(scaled), total)
}

/// The largest number in single precision that is not above.
fn single_down(value: f64) -> f32 {
    let near = value as f32;
    if f64::from(near) > value { near.next_down() } else { near }
}

/// What a bound on the mean error says about X itself, `columns` wide, when it was proven for X with some
/// columns merged into their sums.
///
/// With B the matrix of zeros and ones that merges, `||(x - cX) B||_1 <= ||x - cX||_1`: in exact arithmetic
/// the bound carries over. The sums that were taken are off by less than `eps = 2 (n + 8) 2^-53` in all of a
/// row, its normalisation included, and an optimal c sums to at most 2, so no error differs by more than
/// `3 eps`.
pub fn before_merging(bound: f64, columns: usize) -> f64 {
    let rounding = 8.0 * (columns as f64 + 8.0) * f64::EPSILON;
    (bound - rounding).max(0.0)
}

/// The bound on the *largest* error of all choices of `rank` rows among the `allowed` ones that Y proves
/// about `x` in exact arithmetic; `dual` has those of its rows that are not zero, by increasing row, of length
/// n. Y is divided by the sum of its rows' largest entries. At least 0, which needs no Y. Flops and bytes as [`prove_means`], with the rows of the dual in the place of f.
///
/// # Errors
/// [`Refusal::Shape`] where sizes do not fit, [`Refusal::DualRow`] for a row that X does not have,
/// [`Refusal::NotFinite`] for entries that are no numbers, [`Refusal::Stopped`] when `control` stops it.
pub fn prove_max(
    x: &UnitRows,
    rank: usize,
    allowed: &[bool],
    dual: &[(usize, Vec<f64>)],
    control: &Control,
) -> Result<f64, Refusal> {
    check_allowed(x, allowed)?;
    check_dual(x, dual)?;
    let norms = norms(dual, control)?;
    let rows = Rows::new(x, control)?;
    let proof = Proof { rows: &rows, dual: &Listed { dual, norms: &norms }, control };
    let sum = proof.by_rank(rank, allowed)?.last().copied().unwrap_or(0.0);
    let weight = norms.iter().copied().collect::<Sum>().upper();
    Ok(if sum > 0.0 { div_down(sum, weight) } else { 0.0 })
}

/// Whether Y, f x n, is one of entries within [-1, 1].
pub(super) fn check_single(x: &UnitRows, allowed: &[bool], dual: &[f32]) -> Result<(), Refusal> {
    let (found, expected) = (dual.len(), x.features() * x.examples());
    if found != expected {
        return Err(Refusal::Shape { what: "the dual", found, expected });
    }
    check_allowed(x, allowed)?;
    match dual.iter().all(|y| y.abs() <= 1.0) {
        true => Ok(()),
        false => Err(Refusal::Range { what: "the dual" }),
    }
}

fn check_allowed(x: &UnitRows, allowed: &[bool]) -> Result<(), Refusal> {
    if allowed.len() == x.features() {
        return Ok(());
    }
    let what = "the list of rows that may be hott";
    Err(Refusal::Shape { what, found: allowed.len(), expected: x.features() })
}

struct Proof<'a, D> {
    rows: &'a Rows<'a>,
    dual: &'a D,
    control: &'a Control,
}

/// A row that may be hott.
struct Column {
    j: usize,
    /// `s_j` with caps of two.
    most: f64,
    /// `y_i.x_j` of all rows of the dual, rounded up (below zero: zero, but for the own row).
    products: Vec<f32>,
}

impl<D: DualRows> Proof<'_, D> {
    /// What is proven about `sum_i lambda_i e_i` of all choices of 1, 2, ... `most` rows.
    fn by_rank(&self, most: usize, allowed: &[bool]) -> Result<Vec<f64>, Refusal> {
        let columns: Vec<usize> = (0..allowed.len()).filter(|&j| allowed[j]).collect();
        let saved = self.most_saved(most, &columns)?;
        let product = self.product()?;
        let mut sum = Sum::default();
        let bounds = (0..most).map(|k| {
            // No more rows can be chosen than there are.
            saved.get(k).into_iter().for_each(|saved| sum.add(*saved));
            add_down(product, -sum.upper())
        });
        Ok(bounds.collect())
    }

    /// `<Y, X>`, rounded down.
    fn product(&self) -> Result<f64, Refusal> {
        let n = self.rows.x.examples();
        let products: Vec<f64> = (0..self.dual.count())
            .into_par_iter()
            .map_init(
                || RefusingWatch::new(self.control),
                |watch, k| {
                    watch.spend(n)?;
                    Ok(self.rows.bounds(self.dual.row(k), &self.dual.entries(k, 0..n)).low)
                },
            )
            .collect::<Result<_, Refusal>>()?;
        Ok(products.into_iter().collect::<Sum>().lower())
    }

    /// The r largest `s_j`, rounded up, largest first.
    fn most_saved(&self, rank: usize, columns: &[usize]) -> Result<Vec<f64>, Refusal> {
        let mut open = self.columns(columns)?;
        open.sort_unstable_by(|a, b| b.most.total_cmp(&a.most).then(a.j.cmp(&b.j)));
        let mut found: Vec<f64> = Vec::new();
        // The first ones say what the others must be above, which ends most of these early.
        let (first, others) = open.split_at(rank.min(open.len()));
        for batch in iter::once(first).chain(others.chunks(BATCH)) {
            let threshold = found.get(rank.wrapping_sub(1)).copied();
            if threshold.is_some_and(|least| batch[0].most <= least) {
                break;
            }
            let capped: Vec<f64> = batch
                .par_iter()
                .map(|column| self.saved(column, threshold.unwrap_or(0.0)))
                .collect::<Result<_, Refusal>>()?;
            found.extend(capped);
            found.sort_unstable_by(|a, b| b.total_cmp(a));
        }
        found.truncate(rank);
        Ok(found)
    }

    /// The largest sum of `s_j`, rounded up, over sets of `rank` rows with all that must be chosen and no more than the
    /// most of each group. Without a least number such sets are the bases of a matroid, in which taking the largest that
    /// may be taken is best; a column whose `s_j` is at most the least of those taken so far, when they are
    /// complete, changes nothing.
    fn most_saved_ruled(
        &self,
        rank: usize,
        columns: &[usize],
        rules: &Rules,
    ) -> Result<Vec<f64>, Refusal> {
        let must = rules.must();
        let mut open = self.columns(columns)?;
        open.sort_unstable_by(|a, b| b.most.total_cmp(&a.most).then(a.j.cmp(&b.j)));
        let (forced, open): (Vec<Column>, Vec<Column>) =
            open.into_iter().partition(|column| must.binary_search(&column.j).is_ok());
        let saved = |columns: &[Column]| -> Result<Vec<f64>, Refusal> {
            columns.par_iter().map(|column| self.saved(column, f64::NEG_INFINITY)).collect()
        };
        let forced = saved(&forced)?;
        let mut found: Vec<(f64, usize)> = Vec::new();
        let mut taken: Vec<f64> = Vec::new();
        for batch in open.chunks(BATCH) {
            let complete = forced.len() + taken.len() == rank;
            if complete && taken.last().is_none_or(|least| batch[0].most <= *least) {
                break;
            }
            let values = saved(batch)?;
            found.extend(values.into_iter().zip(batch.iter().map(|column| column.j)));
            found.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            taken = within_groups(&found, rank - forced.len().min(rank), rules);
        }
        Ok(forced.into_iter().chain(taken).collect())
    }

    fn columns(&self, columns: &[usize]) -> Result<Vec<Column>, Refusal> {
        let products = Products { rows: self.rows, dual: self.dual, control: self.control };
        let norm = (0..self.dual.count()).map(|k| self.dual.norm(k)).fold(0.0, f64::max);
        products
            .by_row(columns, |j, computed| self.column(j, computed, (norm, products.roundings(j))))
    }

    /// Row j from its products with a dual whose norms are at most `norm`, as computed with so many roundings. Some flops
    /// for each, without branches: there are as many as rows of the dual times columns.
    fn column(&self, j: usize, computed: &[f64], (norm, roundings): (f64, usize)) -> Column {
        let error = self.rows.product_error(j, norm, roundings);
        let low = self.rows.sums[j].low;
        let known = low > 0.0 && computed.iter().all(|value| value.is_finite());
        let by_sum = div_up(1.0, low);
        let above = |value: &f64| {
            let price = (value + error) * by_sum;
            if price > 0.0 { (price * ROUNDED_UP + f64::from(TINIEST)) as f32 } else { 0.0 }
        };
        // A sum that overflowed on the way may be anything.
        let mut products: Vec<f32> =
            computed.iter().map(|value| if known { above(value) } else { f32::INFINITY }).collect();
        let own = (0..computed.len()).find(|&k| self.dual.row(k) == j);
        // The own price may be below zero, and the row explains itself with weight one.
        let own_price = own.map(|k| {
            products[k] = 0.0;
            single_up(self.rows.product(j, computed[k], norm, roundings).high)
        });
        let total = sum_of_singles(&products);
        let others = div_up(total, add_down(1.0, -gamma(depth(products.len()))));
        let most = add_up(mul_up(LARGEST, others), f64::from(own_price.unwrap_or(0.0)));
        own.zip(own_price).into_iter().for_each(|(k, price)| products[k] = price);
        Column { j, most, products }
    }

    /// `s_j`, rounded up; or something that is not below it, as soon as that is at most `enough`. The largest
    /// products come first, since their caps lower the sum most.
    fn saved(&self, column: &Column, enough: f64) -> Result<f64, Refusal> {
        let mut watch = RefusingWatch::new(self.control);
        let given = self.rows.given(column.j);
        let mut sum = Sum::default();
        let mut others: Vec<(f32, usize)> = Vec::new();
        for (k, &product) in column.products.iter().enumerate() {
            match self.dual.row(k) {
                i if i == column.j => sum.add(f64::from(product)),
                i if product > 0.0 => others.push((product, i)),
                _ => {}
            }
        }
        others.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        // What is left with the largest caps, from each place on.
        let mut left = vec![0.0f64; others.len() + 1];
        for (at, &(product, _)) in others.iter().enumerate().rev() {
            left[at] = add_up(left[at + 1], mul_up(LARGEST, f64::from(product)));
        }
        for (at, &(product, i)) in others.iter().enumerate() {
            if at % EARLY == 0 {
                let most = add_up(sum.upper(), left[at]);
                if most <= enough {
                    return Ok(most);
                }
            }
            watch.spend(MOST_LOOKS * stored(self.rows.x, i).len())?;
            sum.add(mul_up(self.cap(i, column.j, &given), f64::from(product)));
        }
        Ok(sum.upper())
    }

    /// At least `u_ij`, and not much above ([`near_cap`]). `given` is row j as it was given.
    ///
    /// With `v_i, v_j` the rows as given and `s_i, s_j` their sums, `u_ij <= rho s_j / s_i` if the mass of
    /// `v_j` where `v_ik > rho v_jk` is at most half of `s_j`. Testing with a slightly smaller rho only adds to
    /// that mass.
    fn cap(&self, i: usize, j: usize, given: &[f64]) -> f64 {
        let (own, other) = (&self.rows.sums[i], &self.rows.sums[j]);
        let units = div_up(other.high, own.low);
        let most =
            mul_down(mul_down(0.5, other.low), add_down(1.0, -gamma(self.rows.x.examples() + 8)));
        let above = |rho: f64| {
            let rho = rho * (1.0 - 1e-15);
            match self.rows.x.row(i).entries() {
                Entries::Dense(values) => mass_above(values, given, rho),
                Entries::Sparse(columns, values) => {
                    let mass = |(k, v): (&u32, &f64)| {
                        let other = given[*k as usize];
                        if *v > rho * other { other } else { 0.0 }
                    };
                    columns.iter().zip(values).map(mass).sum()
                }
            }
        };
        let cap = near_cap(most, |cap| above(cap / units));
        // cap / units * units, rounded up.
        if cap < LARGEST { cap * (1.0 + 1e-14) } else { LARGEST }
    }
}

/// The largest values, which come largest first with their rows, `most` of them and within the groups beside the rows
/// that must be chosen.
fn within_groups(found: &[(f64, usize)], most: usize, rules: &Rules) -> Vec<f64> {
    let mut counts = std::collections::HashMap::new();
    for group in rules.must().iter().filter_map(|&i| rules.group_of(i)) {
        *counts.entry(group).or_insert(0) += 1;
    }
    let mut taken = Vec::new();
    for &(value, j) in found {
        if taken.len() == most {
            break;
        }
        if let Some(group) = rules.group_of(j) {
            let count = counts.entry(group).or_insert(0);
            if *count == rules.most_of(group) {
                continue;
            }
            *count += 1;
        }
        taken.push(value);
    }
    taken
}

/// The least number in single precision that is not below.
fn single_up(value: f64) -> f32 {
    let near = value as f32;
    if f64::from(near) < value { near.next_up() } else { near }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::localise::first_order::{FirstOrderSettings, Weights, first_order};
    use crate::localise::instances::{as_sparse, paper, unit_rows};
    use crate::localise::lp::{LpSettings, lp};
    use crate::{Goal, Objective, clean::FittedChoice};

    fn noise(state: &mut u64) -> f64 {
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*state >> 33) as f64 / (1u64 << 31) as f64
    }

    /// Caps are not below those that sorting finds, and nearly all of them are equal but for the width of the
    /// search: on nine columns a mass just below the half is rare.
    #[test]
    fn caps_agree_with_sorting() {
        let mut state = 3;
        let rows: Vec<Vec<f64>> = (0..12)
            .map(|_| (0..9).map(|_| (noise(&mut state) - 0.4).max(0.0) + 0.01).collect())
            .collect();
        let dense = unit_rows(&rows);
        let control = Control::default();
        for x in [dense.clone(), as_sparse(&dense)] {
            let dual = vec![0.0f32; 12 * 9];
            let rows = Rows::new(&x, &control).unwrap();
            let dual = Single { dual: &dual, n: 9, precision: Precision::Double };
            let proof = Proof { rows: &rows, dual: &dual, control: &control };
            let (mut near, mut all) = (0, 0);
            for i in 0..12 {
                let given_i = proof.rows.given(i);
                for j in (0..12).filter(|j| *j != i) {
                    let sorted = proof.rows.cap(i, &given_i, j);
                    let found = proof.cap(i, j, &proof.rows.given(j));
                    assert!(found >= sorted * (1.0 - 1e-12), "{found} {sorted}");
                    near += usize::from(found <= sorted + 2.0 / 512.0 + 1e-9);
                    all += 1;
                }
            }
            assert!(10 * near >= 9 * all, "{near} of {all}");
        }
    }

    /// Prices in single precision are not below those that are rounded one operation at a time, and hardly above; the own one
    /// may be negative; and nothing is known where a product is no number.
    #[test]
    fn prices_are_rounded_up() {
        let x = unit_rows(&[vec![1.0, 2.0], vec![3.0, 0.3], vec![0.1, 0.2]]);
        let control = Control::default();
        let rows = Rows::new(&x, &control).unwrap();
        let dual = Single { dual: &[0.0; 24], n: 2, precision: Precision::Double };
        let proof = Proof { rows: &rows, dual: &dual, control: &control };
        let computed =
            [0.3, -0.7, 1e-320, 1e-46, 7e-45, 0.0, -1e-300, -1e-16, 1e-16, 1.0, 2.5, 1e37];
        for j in 0..3 {
            let column = proof.column(j, &computed, (1.0, 40));
            let mut most = 0.0;
            for (k, value) in computed.iter().enumerate() {
                let high = rows.product(j, *value, 1.0, 40).high;
                let least = if k == j { high } else { high.max(0.0) };
                let price = f64::from(column.products[k]);
                assert!(price >= least && price <= least + 3e-7 * least.abs() + 3e-45, "{j} {k}");
                most += if k == j { price } else { LARGEST * price };
            }
            assert!(column.products[j] < 0.0 || j != 1);
            assert!(column.most >= most && column.most <= most * (1.0 + 1e-14));
        }
        for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let column = proof.column(1, &[0.1, 0.2, wrong], (1.0, 40));
            let others = [column.products[0], column.products[2]];
            assert!(column.most == f64::INFINITY && others == [f32::INFINITY; 2]);
        }
    }

    /// The smallest mean and the smallest largest error of one row and of two, by looking at all of them.
    fn best_errors(x: &UnitRows) -> [(f64, f64); 2] {
        let control = Control::default();
        let mut best = [(f64::INFINITY, f64::INFINITY); 2];
        for a in 0..x.features() {
            for b in 0..=a {
                let hott = if a == b { vec![a] } else { vec![a, b] };
                let best = &mut best[hott.len() - 1];
                let errors = |objective: Objective| {
                    FittedChoice::new(x, hott.clone(), objective, None, &control).score
                };
                *best = (best.0.min(errors(Objective::Mean)), best.1.min(errors(Objective::Max)));
            }
        }
        best
    }

    /// Whatever Y is, no choice of rows is below its bounds, of one row or of two.
    #[test]
    fn no_choice_is_below_the_bounds_of_any_dual() {
        let control = Control::default();
        let mut state = 11;
        let (mut of_mean, mut of_max): (f64, f64) = (0.0, 0.0);
        for seed in 1..6 {
            let instance = paper((9, 14, 2, 1), 4.0, seed);
            let best = best_errors(&instance.x);
            let allowed = vec![true; instance.x.features()];
            let (weights, work) = (Weights::Free, f64::INFINITY);
            let settings =
                FirstOrderSettings { weights, gap: 0.01, steps: 400, work, at_hand: None };
            let good = first_order(&instance.x, 2, &allowed, &settings, &control).unwrap();
            let good = good.unwrap().dual;
            let minimax = LpSettings::new(Goal::Minimax);
            let minimax = lp(&instance.x, 2, &allowed, &minimax, &control).unwrap().dual;
            for x in [instance.x.clone(), as_sparse(&instance.x)] {
                for trial in 0..20 {
                    let spoil = f64::from(trial) / 40.0;
                    let mut spoiled = |y: f64| y * (1.0 - spoil * noise(&mut state));
                    let dual: Vec<f32> =
                        good.iter().map(|y| spoiled(f64::from(*y)) as f32).collect();
                    let prove = |precision| {
                        prove_means(&x, 2, &allowed, (&dual, precision), &control).unwrap()
                    };
                    let bounds = prove(Precision::Double);
                    assert_eq!(bounds[1], prove_mean(&x, 2, &allowed, &dual, &control).unwrap());
                    let single = prove(Precision::Single);
                    assert!(single[1] <= bounds[1] && single[1] > bounds[1] - 1e-3, "{single:?}");
                    assert!(bounds[0] <= best[0].0 && bounds[1] <= best[1].0, "{bounds:?}");
                    of_mean = of_mean.max(bounds[1] / best[1].0);
                    // Twice as large, and divided by its norm again.
                    let dual: Dual = minimax
                        .iter()
                        .map(|(i, y)| (*i, y.iter().map(|y| 2.0 * spoiled(*y)).collect()))
                        .collect();
                    let bound = prove_max(&x, 2, &allowed, &dual, &control).unwrap();
                    assert!(bound <= best[1].1, "{bound}");
                    of_max = of_max.max(bound / best[1].1);
                }
            }
        }
        assert!(of_mean > 0.5 && of_max > 0.3, "the best prove much: {of_mean} {of_max}");
    }

    type Dual = Vec<(usize, Vec<f64>)>;

    #[test]
    fn what_is_no_dual_is_refused() {
        let x = unit_rows(&[vec![1.0, 2.0], vec![3.0, 1.0], vec![1.0, 1.0]]);
        let prove = |dual: &[f32]| prove_mean(&x, 1, &[true; 3], dual, &Control::default());
        assert!(matches!(prove(&[0.0; 5]), Err(Refusal::Shape { .. })));
        for wrong in [1.5, -1.01, f32::NAN, f32::INFINITY] {
            let mut dual = [0.5f32; 6];
            dual[4] = wrong;
            assert!(matches!(prove(&dual), Err(Refusal::Range { .. })));
        }
        assert_eq!(prove(&[0.0; 6]), Ok(0.0));
        let prove = |dual: Dual| prove_max(&x, 1, &[true; 3], &dual, &Control::default());
        assert!(matches!(prove(vec![(3, vec![0.0; 2])]), Err(Refusal::DualRow { .. })));
        assert!(matches!(prove(vec![(1, vec![0.0; 3])]), Err(Refusal::Shape { .. })));
        assert!(matches!(prove(vec![(1, vec![0.0, f64::NAN])]), Err(Refusal::NotFinite { .. })));
        assert_eq!(prove(Vec::new()), Ok(0.0));
    }
}
