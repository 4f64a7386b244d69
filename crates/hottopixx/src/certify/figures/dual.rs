//! What Y amounts to: the lower bound that it proves, rounded down.

use super::products::{DualRows, Listed, Products};
use super::rows::Rows;
use super::{RefusingWatch, or};
use crate::Goal;
use crate::certify::certificate::Certificate;
use crate::certify::refusal::{Refusal, finite};
use crate::certify::rounding::{Sum, add_down, div_down, div_up, largest_size, mul_up};
use crate::control::Control;
use crate::kernels::parallel::*;

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

/// The bound that Y proves; the shapes must fit. O(dual rows * f * n) at the speed of matrix products, or
/// O(dual rows * nonzeros of X) where that is less, parallel over rows.
pub(in crate::certify) fn dual(
    rows: &Rows,
    certificate: &Certificate,
    control: &Control,
) -> Result<DualFigures, Refusal> {
    let norms = norms(&certificate.dual, control)?;
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
        Goal::Total => {
            let share = |((i, _), norm): (&(usize, Vec<f64>), &f64)| match rows.x.weights() {
                [] => *norm,
                _ if *norm == 0.0 => 0.0,
                weights => div_up(*norm, weights[*i]),
            };
            let shares = certificate.dual.iter().zip(&norms).map(share);
            divided(bound.lower(), shares.fold(0.0, f64::max))
        }
    };
    Ok(DualFigures { products, norms, norm_sum, divisor, lower_bound })
}

/// `||Y_i||_inf` by row of Y, all of whose entries must be finite.
pub(super) fn norms(dual: &[(usize, Vec<f64>)], control: &Control) -> Result<Vec<f64>, Refusal> {
    let norm = |watch: &mut RefusingWatch, (row, y): &(usize, Vec<f64>)| {
        watch.spend(y.len())?;
        let norm = largest_size(y);
        if norm.is_infinite() {
            finite("the dual", Some(*row), y)?;
        }
        Ok(norm)
    };
    dual.par_iter().map_init(|| RefusingWatch::new(control), norm).collect()
}

fn divided(bound: f64, norm: f64) -> (f64, f64) {
    let divisor = norm.max(1.0);
    let scaled = if divisor > 1.0 { div_down(bound, divisor) } else { bound };
    (divisor, if scaled > 0.0 { scaled } else { 0.0 })
}

/// `a_j = p_j - G_jj - sum_{i != j} (G_ij)_+` for every row j of X that may be hott, rounded down.
fn prices(
    rows: &Rows,
    certificate: &Certificate,
    norms: &[f64],
    norm_sum: f64,
    control: &Control,
) -> Result<Vec<f64>, Refusal> {
    let dual = Listed { dual: &certificate.dual, norms };
    let products = Products { rows, dual: &dual, control };
    let may_be_hott: Vec<usize> =
        (0..rows.x.features()).filter(|&j| certificate.allowed[j]).collect();
    products.by_row(&may_be_hott, |j, computed| {
        let roundings = products.roundings(j);
        let mut earned = Sum::default();
        let mut own = 0.0;
        for (k, &product) in computed.iter().enumerate() {
            if dual.row(k) == j {
                own = rows.product(j, product, dual.norm(k), roundings).high;
            } else if product > 0.0 || !product.is_finite() {
                earned.add(product);
            }
        }
        // What rounding may have taken from any of them.
        earned.add(rows.product_error(j, norm_sum, roundings));
        let earned = div_up(earned.upper(), rows.sums[j].low);
        let cost = match certificate.goal {
            Goal::Cost { .. } => certificate.cost[j],
            Goal::Minimax | Goal::Total => 0.0,
        };
        or(add_down(add_down(cost, -own), -earned), f64::NEG_INFINITY)
    })
}

/// S(a): the least of `a.d` over the diagonals that the problem allows, given the prices of the rows that
/// may be hott. Those that must be are paid for, and the cheapest others, as many as the rank leaves.
fn cheapest(certificate: &Certificate, prices: Vec<f64>) -> Sum {
    let Certificate { rank, allowed, must, .. } = certificate;
    let rows = (0..allowed.len()).filter(|&j| allowed[j]).zip(prices);
    let (taken, others): (Vec<_>, Vec<_>) = rows.partition(|(j, _)| must.binary_search(j).is_ok());
    let mut others: Vec<f64> = others.into_iter().map(|(_, price)| price).collect();
    let taken = taken.into_iter().map(|(_, price)| price);
    match rank {
        Some(rank) => {
            others.sort_unstable_by(f64::total_cmp);
            taken.chain(others.into_iter().take(rank - must.len())).collect()
        }
        None => taken.chain(others.into_iter().filter(|a| *a < 0.0)).collect(),
    }
}
