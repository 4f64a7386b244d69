//! The rows of X as they were given, bounds on their sums, and on products with them.

use super::products::loop_roundings;
use super::{RefusingWatch, UNDERFLOW, or};
use crate::certify::refusal::Refusal;
use crate::certify::rounding::{
    Interval, add_down, add_up, depth, div_down, div_up, dot, gamma, gathered_dot, largest_size,
    mul_down, mul_up, sum,
};
use crate::control::Control;
use crate::kernels::parallel::*;
use crate::matrix::Entries;
use crate::normalise::UnitRows;

/// Sums of rows as [`UnitRows`] stores them.
const SUMS: std::ops::RangeInclusive<f64> = 1e-101..=1e101;

/// The rows of X with what is known about their sums.
pub(in crate::certify) struct Rows<'a> {
    pub(super) x: &'a UnitRows,
    pub(super) sums: Vec<Interval>,
    /// One over the sum, nearly.
    pub(super) factors: Vec<f64>,
    /// At least `|factor_j s_j - 1|` for all j.
    pub(super) spread: f64,
}

impl<'a> Rows<'a> {
    /// Adds up all rows. O(nonzeros of X), parallel over rows.
    pub(in crate::certify) fn new(x: &'a UnitRows, control: &Control) -> Result<Self, Refusal> {
        let all = (0..x.features()).into_par_iter();
        let sums: Vec<Interval> = all
            .map_init(
                || RefusingWatch::new(control),
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
    pub(in crate::certify) fn bounds(&self, j: usize, y: &[f64]) -> Interval {
        let roundings = loop_roundings(self.x.row(j).entries());
        self.product(j, raw_product(self.x, j, y), largest_size(y), roundings)
    }

    /// Bounds on `<y, x_j>`, given `<y, v_j>` as computed with at most this many roundings of a term, and the
    /// norm of y.
    #[inline]
    pub(super) fn product(&self, j: usize, computed: f64, norm: f64, roundings: usize) -> Interval {
        // A sum that overflowed on the way may be anything.
        if !computed.is_finite() {
            return Interval { low: f64::NEG_INFINITY, high: f64::INFINITY };
        }
        let error = self.product_error(j, norm, roundings);
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

    /// How far `<y, v_j>` may be off that was computed with at most this many roundings of a term, for all y
    /// together whose norms sum to `norms`.
    #[inline]
    pub(super) fn product_error(&self, j: usize, norms: f64, roundings: usize) -> f64 {
        let terms = stored(self.x, j).len();
        let relative = mul_up(gamma(roundings), mul_up(norms, self.sums[j].high));
        let scale = mul_up(add_up(norms, 1.0), self.sums[j].high);
        add_up(relative, mul_up(scale, mul_up(terms as f64, UNDERFLOW)))
    }
}

/// The stored entries of row j as they were given.
#[inline]
pub(super) fn stored(x: &UnitRows, j: usize) -> &[f64] {
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

/// `<y, v_j>` as computed.
fn raw_product(x: &UnitRows, j: usize, y: &[f64]) -> f64 {
    match x.row(j).entries() {
        Entries::Dense(values) => dot(values, y),
        Entries::Sparse(columns, values) => gathered_dot(columns, values, y),
    }
}
