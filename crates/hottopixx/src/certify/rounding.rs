//! Floating point whose results are inequalities that hold.
//!
//! Assumed is IEEE 754 arithmetic in 64 bits, rounded to nearest, which Rust promises. With
//! `u = 2^-53` every operation gives the exact result times `1 + delta`, `|delta| <= u`; products
//! and quotients may miss by `2^-1075` more where they underflow, sums never do. Three things
//! follow, and the verifier uses nothing else:
//!
//! - *One operation*: the exact result lies between the neighbours of the computed one
//!   ([`add_up`] and the like).
//! - *Many operations on one term*: k factors `1 + delta` multiplied differ from one by at most
//!   [`gamma`]`(k) = k u / (1 - k u)`. A sum of products in which no term takes part in more than
//!   k roundings is off by at most `gamma(k)` times the sum of the terms' sizes. [`dot`] and its
//!   relatives add in lanes and blocks, so that k, their [`depth`], stays far below the length.
//! - *Sums of few numbers*: the error of an addition is itself a floating-point number (Knuth),
//!   which [`Sum`] keeps; what is lost is of the order `u^2`.
//!
//! An infinite or undefined value means that nothing is known: bounds become infinite, and no
//! comparison with NaN holds.

/// The unit roundoff, `2^-53`.
const UNIT: f64 = f64::EPSILON / 2.0;
/// Sums that run side by side over slices, so that the compiler may use vectors.
const LANES: usize = 16;
/// The same where entries are gathered by column.
const GATHERED: usize = 4;
/// Terms that the lanes add before they are put together.
pub(super) const BLOCK: usize = 512;

/// At least `k u / (1 - k u)`; infinite where the quotient means nothing.
pub(super) fn gamma(k: usize) -> f64 {
    let ku = k as f64 * UNIT;
    if ku < 0.5 { div_up(ku.next_up(), (1.0 - ku).next_down()) } else { f64::INFINITY }
}

/// At least `a + b`.
pub(super) fn add_up(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if is_exact_sum(a, b, sum) { sum } else { sum.next_up() }
}

/// At most `a + b`.
pub(super) fn add_down(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if is_exact_sum(a, b, sum) { sum } else { sum.next_down() }
}

/// Sums of nothing and sums that vanish are exact, and stay what they are.
fn is_exact_sum(a: f64, b: f64, sum: f64) -> bool {
    a == 0.0 || b == 0.0 || sum == 0.0
}

/// At least `a b`.
pub(super) fn mul_up(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { (a * b).next_up() }
}

/// At most `a b`.
pub(super) fn mul_down(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { (a * b).next_down() }
}

/// At least `a / b`.
pub(super) fn div_up(a: f64, b: f64) -> f64 {
    if a == 0.0 { 0.0 } else { (a / b).next_up() }
}

/// At most `a / b`.
pub(super) fn div_down(a: f64, b: f64) -> f64 {
    if a == 0.0 { 0.0 } else { (a / b).next_down() }
}

/// A number that is known up to rounding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Interval {
    pub(super) low: f64,
    pub(super) high: f64,
}

/// A running sum with bounds: `high + below <= exact <= high + above`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sum {
    high: f64,
    below: f64,
    above: f64,
}

impl Sum {
    /// Adds a number exactly: what the sum cannot hold goes to the two remainders.
    pub(super) fn add(&mut self, value: f64) {
        let sum = self.high + value;
        let part = sum - self.high;
        let lost = (self.high - (sum - part)) + (value - part);
        self.high = sum;
        self.above = add_up(self.above, lost);
        self.below = add_down(self.below, lost);
    }

    /// At least the exact sum.
    pub(super) fn upper(self) -> f64 {
        let bound = add_up(self.high, self.above);
        if bound.is_nan() { f64::INFINITY } else { bound }
    }

    /// At most the exact sum.
    pub(super) fn lower(self) -> f64 {
        let bound = add_down(self.high, self.below);
        if bound.is_nan() { f64::NEG_INFINITY } else { bound }
    }

    /// Both.
    pub(super) fn bounds(self) -> Interval {
        Interval { low: self.lower(), high: self.upper() }
    }
}

impl FromIterator<f64> for Sum {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut sum = Sum::default();
        values.into_iter().for_each(|value| sum.add(value));
        sum
    }
}

/// Roundings that a term of [`dot`], [`sum`], [`sum_of_sizes`] or [`sum_of_singles`] over n entries takes part in at
/// most: its product, the additions of its lane, those that put the lanes together, one per block.
pub(super) fn depth(n: usize) -> usize {
    deepest(n, LANES)
}

/// The same for [`gathered_dot`].
pub(super) fn gathered_depth(n: usize) -> usize {
    deepest(n, GATHERED)
}

fn deepest(n: usize, lanes: usize) -> usize {
    1 + n.min(BLOCK).div_ceil(lanes) + lanes.ilog2() as usize + n.div_ceil(BLOCK)
}

/// `a.b` of at most [`BLOCK`] entries. Both must have the same length.
pub(super) fn block_dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let (mut left, mut right) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    for (a, b) in left.by_ref().zip(right.by_ref()) {
        for k in 0..LANES {
            lanes[k] += a[k] * b[k];
        }
    }
    for (lane, (a, b)) in lanes.iter_mut().zip(left.remainder().iter().zip(right.remainder())) {
        *lane += a * b;
    }
    together(lanes)
}

/// `a.b`, both of the same length.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.chunks(BLOCK).zip(b.chunks(BLOCK)).map(|(a, b)| block_dot(a, b)).sum()
}

/// `sum_k values_k y[columns_k]`.
pub(super) fn gathered_dot(columns: &[u32], values: &[f64], y: &[f64]) -> f64 {
    let block = |(columns, values): (&[u32], &[f64])| {
        let mut lanes = [0.0; GATHERED];
        let (mut at, mut what) = (columns.chunks_exact(GATHERED), values.chunks_exact(GATHERED));
        for (at, what) in at.by_ref().zip(what.by_ref()) {
            for k in 0..GATHERED {
                lanes[k] += what[k] * y[at[k] as usize];
            }
        }
        for (lane, (&at, what)) in lanes.iter_mut().zip(at.remainder().iter().zip(what.remainder()))
        {
            *lane += what * y[at as usize];
        }
        together(lanes)
    };
    columns.chunks(BLOCK).zip(values.chunks(BLOCK)).map(block).sum()
}

/// The sum of the values.
pub(super) fn sum(values: &[f64]) -> f64 {
    in_lanes(values, |v| v)
}

/// The sum of the absolute values.
pub(super) fn sum_of_sizes(values: &[f64]) -> f64 {
    in_lanes(values, f64::abs)
}

/// The sum of the values, in double precision.
pub(super) fn sum_of_singles(values: &[f32]) -> f64 {
    in_lanes(values, f64::from)
}

fn in_lanes<T: Copy>(values: &[T], term: impl Fn(T) -> f64) -> f64 {
    let block = |values: &[T]| {
        let mut lanes = [0.0; LANES];
        let mut chunks = values.chunks_exact(LANES);
        for chunk in chunks.by_ref() {
            for k in 0..LANES {
                lanes[k] += term(chunk[k]);
            }
        }
        lanes.iter_mut().zip(chunks.remainder()).for_each(|(lane, v)| *lane += term(*v));
        together(lanes)
    };
    values.chunks(BLOCK).map(block).sum()
}

/// The lanes, added in halves.
fn together<const L: usize>(mut lanes: [f64; L]) -> f64 {
    let mut width = L;
    while width > 1 {
        width /= 2;
        for k in 0..width {
            lanes[k] += lanes[k + width];
        }
    }
    lanes[0]
}

/// The largest absolute value, which needs no rounding; infinite when one of them is NaN.
pub(super) fn largest_size(values: &[f64]) -> f64 {
    let mut lanes = [0.0f64; LANES];
    for chunk in values.chunks(LANES) {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            let size = if value.is_nan() { f64::INFINITY } else { value.abs() };
            *lane = if size > *lane { size } else { *lane };
        }
    }
    lanes.into_iter().fold(0.0, f64::max)
}
