//! What Y amounts to: the lower bound that it proves, rounded down.

use super::rows::Rows;
use super::{RefusingWatch, or};
use crate::Goal;
use crate::certify::certificate::Certificate;
use crate::certify::refusal::{Refusal, finite};
use crate::certify::rounding::{
    BLOCK, Sum, add_down, block_dot, div_down, div_up, gathered_dot, largest_size, mul_up,
};
use crate::control::Control;
use crate::matrix::Entries;
use crate::normalise::UnitRows;
use rayon::prelude::*;

/// Rows of X that are multiplied with a row of Y while it is at hand.
const TILE: usize = 8;

/// What Y amounts to.
pub(in crate::certify) struct DualFigures {
    /// `<Y_i, x_i>` for each row of Y, rounded down.
    pub(super) products: Vec<f64>,
    /// `||Y_i||_inf`, exact.
    pub(super) norms: Vec<f64>,
    /// `sum_i ||Y_i||_inf`, rounded up.
    pub(in crate::certify) norm_sum: f64,
    /// What the bound was divided by so that Y may be as large as it is; at least 1.
    pub(in crate::certify) divisor: f64,
    /// What Y proves, rounded down.
    pub(in crate::certify) lower_bound: f64,
}

/// The bound that Y proves; the shapes must fit. O(dual rows * nonzeros of X), parallel over rows.
pub(in crate::certify) fn dual(
    rows: &Rows,
    certificate: &Certificate,
    control: &Control,
) -> Result<DualFigures, Refusal> {
    let norms = norms(certificate, control)?;
    let norm_sum = norms.iter().copied().collect::<Sum>().upper();
    let mut watch = RefusingWatch::new(control);
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
    Ok(DualFigures { products, norms, norm_sum, divisor, lower_bound })
}

/// `||Y_i||_inf` by row of Y, all of whose entries must be finite.
fn norms(certificate: &Certificate, control: &Control) -> Result<Vec<f64>, Refusal> {
    let norm = |watch: &mut RefusingWatch, (row, y): &(usize, Vec<f64>)| {
        watch.spend(y.len())?;
        let norm = largest_size(y);
        if norm.is_infinite() {
            finite("the dual", Some(*row), y)?;
        }
        Ok(norm)
    };
    certificate.dual.par_iter().map_init(|| RefusingWatch::new(control), norm).collect()
}

fn divided(bound: f64, norm: f64) -> (f64, f64) {
    let divisor = norm.max(1.0);
    let scaled = if divisor > 1.0 { div_down(bound, divisor) } else { bound };
    (divisor, if scaled > 0.0 { scaled } else { 0.0 })
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
            || (Vec::new(), RefusingWatch::new(control)),
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
    watch: &mut RefusingWatch,
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
