//! The arithmetic of a certificate, by plain loops that share nothing with the solvers.
//!
//! Every figure is an inequality about the exact numbers: X is the matrix as it was given, each
//! row divided by its exact sum. Let `v_j` be row j as given, `s_j` its sum, `x_j = v_j / s_j`, and
//! k the [depth] of a sum, `g_k` for [`gamma`]`(k)`.
//!
//! - *Sums*: entries are not negative, so `s_j` is within `g_k s_j` of what is computed.
//! - *Products*: `<y, x_j> = <y, v_j> / s_j`, and the computed `<y, v_j>` is off by at most
//!   `g_k sum_l |y_l| v_jl <= g_k ||y||_inf s_j`: the error follows from the norm and costs nothing.
//! - *Errors*: `x_i - c_i X = (1 - C_ii) x_i - sum_{j != i} C_ij x_j`. With m terms, each of which
//!   is rounded at most `m + 3` times, the l1 norm is off by at most
//!   `(g_{m+3} + the error of one over the sums) (1 - C_ii + sum_{j != i} C_ij)`.
//!
//! All sums are taken in order of row and column, so the figures do not depend on the number of
//! threads.

use super::certificate::Certificate;
use super::rounding::{
    BLOCK, Interval, Sum, add_down, add_up, block_dot, depth, div_down, div_up, dot, gamma,
    gathered_depth, gathered_dot, largest_size, mul_down, mul_up, sum, sum_of_sizes,
};
use super::verify::{Refusal, finite};
use crate::Goal;
use crate::control::Control;
use crate::matrix::Entries;
use crate::normalise::UnitRows;
use rayon::prelude::*;

/// Figures by row that a verifier recomputes and compares. They pin X, C and Y down: an entry
/// that was changed is noticed even where every inequality would still hold.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Audit {
    /// `e_i = ||x_i - c_i X||_1` for each row of X, rounded up.
    pub errors: Vec<f64>,
    /// The sum of row i of C.
    pub weights: Vec<f64>,
    /// The sum of the squares of `x_i`.
    pub squares: Vec<f64>,
    /// `sum_k x_ik (k + 1) / n`: where the row has its weight. Squares alone overlook a change of
    /// an entry that is about as large as the sum of squares, and columns that changed places.
    pub centres: Vec<f64>,
    /// The rows of Y, in the order of [`Certificate::dual`].
    pub dual: Vec<DualAudit>,
}

/// The figures of one row of Y.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct DualAudit {
    /// i.
    pub row: usize,
    /// `<Y_i, x_i>`, rounded down.
    pub product: f64,
    /// The sum of `Y_i`.
    pub sum: f64,
    /// `||Y_i||_inf`.
    pub norm: f64,
}

/// Multiply-adds between two looks at the clock: a few milliseconds.
const PATIENCE: usize = 1 << 21;
/// Rows of X that are multiplied with a row of Y while it is at hand.
const TILE: usize = 8;
/// What an underflow can amount to in units of `x_j`: `2^-1074` over a sum, and sums are
/// [ordinary](SUMS).
const UNDERFLOW: f64 = 1e-200;
/// Sums of rows as [`UnitRows`] stores them.
const SUMS: std::ops::RangeInclusive<f64> = 1e-101..=1e101;

/// Asks now and then whether to stop.
struct Watch<'a> {
    control: &'a Control,
    work: usize,
}

impl<'a> Watch<'a> {
    /// One that asks at its first work.
    fn new(control: &'a Control) -> Self {
        Watch { control, work: PATIENCE }
    }

    fn spend(&mut self, work: usize) -> Result<(), Refusal> {
        self.work += work;
        if self.work < PATIENCE {
            return Ok(());
        }
        self.work = 0;
        self.control.stopped().map_or(Ok(()), |stop| Err(Refusal::Stopped(stop)))
    }
}

/// The rows of X with what is known about their sums.
pub(super) struct Rows<'a> {
    x: &'a UnitRows,
    sums: Vec<Interval>,
    /// One over the sum, nearly.
    factors: Vec<f64>,
    /// At least `|factor_j s_j - 1|` for all j.
    spread: f64,
}

impl<'a> Rows<'a> {
    /// Adds up all rows. O(nonzeros of X), parallel over rows.
    pub(super) fn new(x: &'a UnitRows, control: &Control) -> Result<Self, Refusal> {
        let all = (0..x.features()).into_par_iter();
        let sums: Vec<Interval> = all
            .map_init(
                || Watch::new(control),
                |watch, j| {
                    let values = stored(x, j);
                    watch.spend(values.len())?;
                    Ok(bounds_of_sum(values))
                },
            )
            .collect::<Result<_, Refusal>>()?;
        let factors: Vec<f64> = sums.iter().map(|s| 1.0 / s.high).collect();
        let spreads = sums.iter().zip(&factors).map(|(s, &factor)| {
            let most = add_up(mul_up(factor, s.high), -1.0);
            let least = add_up(1.0, -mul_down(factor, s.low));
            most.max(least)
        });
        let spread = spreads.fold(0.0, f64::max);
        Ok(Rows { x, sums, factors, spread })
    }

    /// Bounds on `<y, x_j>`.
    pub(super) fn bounds(&self, j: usize, y: &[f64]) -> Interval {
        self.product(j, raw_product(self.x, j, y), largest_size(y))
    }

    /// Bounds on `<y, x_j>`, given `<y, v_j>` as computed and the norm of y.
    fn product(&self, j: usize, computed: f64, norm: f64) -> Interval {
        // A sum that overflowed on the way may be anything.
        if !computed.is_finite() {
            return Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };
        }
        let error = self.product_error(j, norm);
        let unit = |value: f64, round: fn(f64, f64) -> f64, away: bool| {
            // Dividing by less moves away from zero.
            let Interval { low, high } = self.sums[j];
            round(value, if away { low } else { high })
        };
        let (low, high) = (add_down(computed, -error), add_up(computed, error));
        Interval {
            low: or(unit(low, div_down, low < 0.0), f64::NEG_INFINITY),
            high: or(unit(high, div_up, high > 0.0), f64::INFINITY),
        }
    }

    /// How far a computed `<y, v_j>` may be off, for all y together whose norms sum to `norms`.
    fn product_error(&self, j: usize, norms: f64) -> f64 {
        let (terms, depth) = match self.x.row(j).entries() {
            Entries::Dense(values) => (values.len(), depth(values.len())),
            Entries::Sparse(_, values) => (values.len(), gathered_depth(values.len())),
        };
        let relative = mul_up(gamma(depth), mul_up(norms, self.sums[j].high));
        let scale = mul_up(add_up(norms, 1.0), self.sums[j].high);
        add_up(relative, mul_up(scale, mul_up(terms as f64, UNDERFLOW)))
    }
}

/// `value`, or `otherwise` where it is no number.
fn or(value: f64, otherwise: f64) -> f64 {
    if value.is_nan() { otherwise } else { value }
}

/// The stored entries of row j as they were given.
fn stored(x: &UnitRows, j: usize) -> &[f64] {
    match x.row(j).entries() {
        Entries::Dense(values) | Entries::Sparse(_, values) => values,
    }
}

/// Bounds on the sum of numbers that are not negative.
fn bounds_of_sum(values: &[f64]) -> Interval {
    let computed = sum(values);
    if !SUMS.contains(&computed) {
        return Interval { low: 0.0, high: f64::INFINITY };
    }
    let error = gamma(depth(values.len()));
    Interval {
        low: div_down(computed, add_up(1.0, error)),
        high: div_up(computed, add_down(1.0, -error)),
    }
}

/// Where (d, C) stands: bounds that hold for all rows.
pub(super) struct Point {
    /// `||x_i - c_i X||_1`, rounded up.
    pub(super) errors: Vec<f64>,
    /// The sum of row i of C, rounded up.
    pub(super) weights: Vec<f64>,
}

/// Errors and weights of every row. The shapes must fit. O(nonzeros of C * n), parallel over rows.
pub(super) fn point(
    rows: &Rows,
    certificate: &Certificate,
    control: &Control,
) -> Result<Point, Refusal> {
    let (f, n) = (rows.x.features(), rows.x.examples());
    let judged: Vec<(f64, f64)> = (0..f)
        .into_par_iter()
        .map_init(
            || (vec![0.0; n], Watch::new(control)),
            |(residual, watch), i| row_error(rows, certificate, i, residual, watch),
        )
        .collect::<Result<_, Refusal>>()?;
    let (errors, weights) = judged.into_iter().unzip();
    Ok(Point { errors, weights })
}

/// `||x_i - c_i X||_1` and the sum of `c_i`, rounded up. `residual` has n zeros, before and after.
fn row_error(
    rows: &Rows,
    certificate: &Certificate,
    i: usize,
    residual: &mut [f64],
    watch: &mut Watch,
) -> Result<(f64, f64), Refusal> {
    let (columns, values) = certificate.localising.row(i);
    let entries = || columns.iter().map(|j| *j as usize).zip(values.iter().copied());
    let own = entries().find(|(j, _)| *j == i).map_or(0.0, |(_, value)| value);
    let others = || entries().filter(|(j, value)| *j != i && *value != 0.0);
    let left = 1.0 - own;
    let mut used = 0;
    let mut terms = 0;
    let mut size = Sum::default();
    for (j, weight) in others().map(|(j, weight)| (j, -weight)).chain([(i, left)]) {
        if weight == 0.0 {
            continue;
        }
        add(rows.x, j, weight * rows.factors[j], residual);
        terms += 1;
        used += stored(rows.x, j).len();
        size.add(weight.abs());
        watch.spend(stored(rows.x, j).len())?;
    }
    let (norm, additions) = if rows.x.is_dense() {
        let norm = if terms > 0 { sum_of_sizes(residual) } else { 0.0 };
        residual.fill(0.0);
        (norm, depth(residual.len()))
    } else {
        collect(rows.x, others().map(|(j, _)| j).chain([i]), residual)
    };
    // 1 - C_ii and each weight over its sum are rounded once, products once, then m additions;
    // the error of one over the sum comes on top.
    let relative = add_up(mul_up(gamma(terms + 3), add_up(1.0, rows.spread)), rows.spread);
    let rounding = mul_up(relative, mul_up(size.upper(), add_up(1.0, gamma(1))));
    let underflow = mul_up(UNDERFLOW, (used + terms) as f64);
    let norm = mul_up(norm, add_up(1.0, gamma(additions)));
    let error = add_up(norm, add_up(rounding, underflow));
    let weights = values.iter().copied().collect::<Sum>().upper();
    Ok((or(error, f64::INFINITY), weights))
}

/// `residual += weight * v_j`.
fn add(x: &UnitRows, j: usize, weight: f64, residual: &mut [f64]) {
    match x.row(j).entries() {
        Entries::Dense(values) => {
            residual.iter_mut().zip(values).for_each(|(r, v)| *r += weight * v);
        }
        Entries::Sparse(columns, values) => {
            for (&k, v) in columns.iter().zip(values) {
                residual[k as usize] += weight * v;
            }
        }
    }
}

/// The sum of the sizes of a residual that is not zero only where these rows have entries, which
/// are cleared, and the number of roundings that a term takes part in.
fn collect(x: &UnitRows, rows: impl Iterator<Item = usize>, residual: &mut [f64]) -> (f64, usize) {
    let (mut total, mut count, mut longest) = (0.0, 0, 0);
    for j in rows {
        if let Entries::Sparse(columns, _) = x.row(j).entries() {
            // Each column is taken once: it is cleared when it is counted.
            let part: f64 =
                columns.iter().map(|&k| std::mem::take(&mut residual[k as usize]).abs()).sum();
            total += part;
            count += 1;
            longest = longest.max(columns.len());
        }
    }
    (total, count + longest)
}

/// What Y amounts to.
pub(super) struct Dual {
    /// `<Y_i, x_i>` for each row of Y, rounded down.
    products: Vec<f64>,
    /// `||Y_i||_inf`, exact.
    norms: Vec<f64>,
    /// `sum_i ||Y_i||_inf`, rounded up.
    pub(super) norm_sum: f64,
    /// What the bound was divided by so that Y may be as large as it is; at least 1.
    pub(super) divisor: f64,
    /// What Y proves, rounded down.
    pub(super) lower_bound: f64,
}

/// The bound that Y proves; the shapes must fit. O(dual rows * nonzeros of X), parallel over rows.
pub(super) fn dual(
    rows: &Rows,
    certificate: &Certificate,
    control: &Control,
) -> Result<Dual, Refusal> {
    let norms = norms(certificate, control)?;
    let norm_sum = norms.iter().copied().collect::<Sum>().upper();
    let mut watch = Watch::new(control);
    let mut products = Vec::with_capacity(norms.len());
    for (i, y) in &certificate.dual {
        watch.spend(y.len())?;
        products.push(rows.bounds(*i, y).low);
    }
    let prices = prices(rows, certificate, &norms, norm_sum, control)?;
    let mut bound = cheapest(certificate, prices);
    products.iter().for_each(|p| bound.add(*p));
    let (divisor, lower_bound) = match certificate.goal {
        Goal::Cost { tau } => {
            bound.add(-mul_up(tau, norm_sum));
            (1.0, bound.lower())
        }
        // Y divided by its norm is allowed, and proves as much less. Errors are not negative,
        // which needs no Y.
        Goal::Minimax => divided(bound.lower(), norm_sum),
        Goal::Total => divided(bound.lower(), norms.iter().copied().fold(0.0, f64::max)),
    };
    Ok(Dual { products, norms, norm_sum, divisor, lower_bound })
}

/// `||Y_i||_inf` by row of Y, all of whose entries must be finite.
fn norms(certificate: &Certificate, control: &Control) -> Result<Vec<f64>, Refusal> {
    let norm = |watch: &mut Watch, (row, y): &(usize, Vec<f64>)| {
        watch.spend(y.len())?;
        let norm = largest_size(y);
        if norm.is_infinite() {
            finite("the dual", Some(*row), y)?;
        }
        Ok(norm)
    };
    certificate.dual.par_iter().map_init(|| Watch::new(control), norm).collect()
}

fn divided(bound: f64, norm: f64) -> (f64, f64) {
    let divisor = norm.max(1.0);
    let scaled = if divisor > 1.0 { div_down(bound, divisor) } else { bound };
    (divisor, if scaled > 0.0 { scaled } else { 0.0 })
}

/// `<y, v_j>` as computed.
fn raw_product(x: &UnitRows, j: usize, y: &[f64]) -> f64 {
    match x.row(j).entries() {
        Entries::Dense(values) => dot(values, y),
        Entries::Sparse(columns, values) => gathered_dot(columns, values, y),
    }
}

/// `a_j = p_j - G_jj - sum_{i != j} (G_ij)_+` for every row j of X, rounded down.
fn prices(
    rows: &Rows,
    certificate: &Certificate,
    norms: &[f64],
    norm_sum: f64,
    control: &Control,
) -> Result<Vec<f64>, Refusal> {
    let f = rows.x.features();
    let tiles: Vec<Vec<f64>> = (0..f.div_ceil(TILE))
        .into_par_iter()
        .map_init(
            || (Vec::new(), Watch::new(control)),
            |(products, watch), tile| {
                let tile = tile * TILE..((tile + 1) * TILE).min(f);
                raw_products(rows.x, certificate, tile.clone(), products, watch)?;
                let column = |j: usize| {
                    let at = j - tile.start;
                    products.iter().skip(at).step_by(tile.len()).copied()
                };
                Ok(tile
                    .clone()
                    .map(|j| price(rows, certificate, norms, norm_sum, j, column(j)))
                    .collect())
            },
        )
        .collect::<Result<_, Refusal>>()?;
    Ok(tiles.concat())
}

/// `<Y_i, v_j>` as computed for the rows j of a tile, by row of Y.
fn raw_products(
    x: &UnitRows,
    certificate: &Certificate,
    tile: std::ops::Range<usize>,
    products: &mut Vec<f64>,
    watch: &mut Watch,
) -> Result<(), Refusal> {
    products.clear();
    products.resize(certificate.dual.len() * tile.len(), 0.0);
    let entries: Vec<Entries> = tile.map(|j| x.row(j).entries()).collect();
    // Dense rows in blocks of columns that stay in the nearest cache; sparse rows at once.
    let blocks = if x.is_dense() { x.examples().div_ceil(BLOCK) } else { 1 };
    for block in 0..blocks {
        for ((_, y), out) in certificate.dual.iter().zip(products.chunks_exact_mut(entries.len())) {
            let span = block * BLOCK..((block + 1) * BLOCK).min(y.len());
            let mut work = 0;
            for (entries, out) in entries.iter().zip(out) {
                match entries {
                    Entries::Dense(values) => {
                        *out += block_dot(&values[span.clone()], &y[span.clone()]);
                        work += span.len();
                    }
                    Entries::Sparse(columns, values) => {
                        *out = gathered_dot(columns, values, y);
                        work += values.len();
                    }
                }
            }
            watch.spend(work)?;
        }
    }
    Ok(())
}

/// `a_j` rounded down, from the products of all rows of Y with `v_j` as computed.
fn price(
    rows: &Rows,
    certificate: &Certificate,
    norms: &[f64],
    norm_sum: f64,
    j: usize,
    products: impl Iterator<Item = f64>,
) -> f64 {
    let mut earned = Sum::default();
    let mut own = 0.0;
    for (((i, _), product), &norm) in certificate.dual.iter().zip(products).zip(norms) {
        if *i == j {
            own = rows.product(j, product, norm).high;
        } else if product > 0.0 || !product.is_finite() {
            earned.add(product);
        }
    }
    // What rounding may have taken from any of them.
    earned.add(rows.product_error(j, norm_sum));
    let earned = div_up(earned.upper(), rows.sums[j].low);
    let cost = match certificate.goal {
        Goal::Cost { .. } => certificate.cost[j],
        Goal::Minimax | Goal::Total => 0.0,
    };
    or(add_down(add_down(cost, -own), -earned), f64::NEG_INFINITY)
}

/// S(a): the least of `a.d` over the diagonals that the problem allows.
fn cheapest(certificate: &Certificate, prices: Vec<f64>) -> Sum {
    let allowed = prices.into_iter().zip(&certificate.allowed).filter(|(_, allowed)| **allowed);
    let mut prices: Vec<f64> = allowed.map(|(a, _)| a).collect();
    match certificate.rank {
        Some(rank) => {
            prices.sort_by(f64::total_cmp);
            prices.into_iter().take(rank).collect()
        }
        None => prices.into_iter().filter(|a| *a < 0.0).collect(),
    }
}

/// The figures that pin X, C and Y down. O(nonzeros of X + dual rows * n), parallel over rows.
pub(super) fn audit(
    rows: &Rows,
    certificate: &Certificate,
    point: &Point,
    dual: &Dual,
    control: &Control,
) -> Result<Audit, Refusal> {
    let watch = || Watch::new(control);
    let moments = (0..rows.x.features()).into_par_iter().map_init(watch, |watch, i| {
        watch.spend(stored(rows.x, i).len())?;
        Ok(moments(rows, i))
    });
    let moments: Vec<(f64, f64)> = moments.collect::<Result<_, Refusal>>()?;
    let (squares, centres) = moments.into_iter().unzip();
    let figures =
        certificate.dual.par_iter().enumerate().map_init(watch, |watch, (k, (row, y))| {
            watch.spend(y.len())?;
            let (product, norm) = (dual.products[k], dual.norms[k]);
            Ok(DualAudit { row: *row, product, sum: sum(y), norm })
        });
    Ok(Audit {
        errors: point.errors.clone(),
        weights: point.weights.clone(),
        squares,
        centres,
        dual: figures.collect::<Result<_, Refusal>>()?,
    })
}

/// The sum of the squares of `x_i`, and where it has its weight.
fn moments(rows: &Rows, i: usize) -> (f64, f64) {
    let (values, factor) = (stored(rows.x, i), rows.factors[i]);
    let centre: f64 = match rows.x.row(i).entries() {
        Entries::Dense(_) => values.iter().enumerate().map(|(k, v)| v * (k + 1) as f64).sum(),
        Entries::Sparse(columns, _) => {
            values.iter().zip(columns).map(|(v, &k)| v * (f64::from(k) + 1.0)).sum()
        }
    };
    (dot(values, values) * factor * factor, centre * factor / rows.x.examples() as f64)
}
