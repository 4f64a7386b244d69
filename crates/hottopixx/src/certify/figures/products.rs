//! Products of the rows of a dual with rows of X, and how far they may be off.
//!
//! `<y_k, v_j>` of all rows k of a dual with many rows j of X, as they were given, is what bounds are made
//! of, and nearly all of the work of proving them. There are three ways:
//!
//! - *By matrix products*, in double precision, [`SPAN`] columns at a time. Whatever the order of additions
//!   within a product and however they are fused, a term is rounded at most once as a product, `SPAN - 1`
//!   times as an addend, and once for each span that its sum is added to. So the error is at most
//!   `gamma(SPAN + spans + 1)` times the sizes of the terms, and known beforehand.
//! - *By matrix products in single precision*, twice as many numbers at a time, where a bound may be somewhat lower:
//!   [`SINGLE_SPAN`] columns at a time, which are added in double precision. A row of X is multiplied by a power of two,
//!   so that its sum is near one, and rounded; entries of the dual are in single precision already. What is lost, some
//!   hundred-thousandths of the size of a row, is known beforehand as well.
//! - *By plain loops*, over the stored entries only: where X is sparse, or the dual has few rows.
//!
//! A dense entry costs a matrix product a twentieth of what a stored one costs a loop that gathers.

use super::RefusingWatch;
use super::rows::Rows;
use crate::certify::refusal::Refusal;
use crate::certify::rounding::{BLOCK, block_dot, depth, gathered_depth, gathered_dot};
use crate::control::Control;
use crate::kernels::parallel::*;
use crate::kernels::{View, ViewMut, multiply, transpose};
use crate::matrix::Entries;
use std::borrow::Cow;
use std::ops::Range;

/// Columns that one matrix product runs over.
const SPAN: usize = 512;
/// The same in single precision, whose sums are to stay short.
const SINGLE_SPAN: usize = 256;
/// Roundings in double precision that amount to one in single precision: `2^-24 = 2^29 2^-53`.
const OF_SINGLE: u64 = 1 << 29;
/// Rows of the dual that take part in one.
const BAND: usize = 256;
/// Rows of X that one task multiplies with the dual, at most and at least.
const TILE: (usize, usize) = (256, 32);
/// Rows of X that plain loops multiply with a row of the dual while it is at hand.
const FEW: usize = 8;
/// Duals with fewer rows are multiplied by plain loops: arranging X takes as long.
const FEW_ROWS: usize = 8;
/// What a stored entry costs a plain loop, in entries of matrix products.
const STORED_COST: usize = 20;

/// The rows of a dual.
pub(super) trait DualRows: Sync {
    /// How many.
    fn count(&self) -> usize;
    /// The row of X that one of them belongs to.
    fn row(&self, k: usize) -> usize;
    /// At least the largest size of its entries.
    fn norm(&self, k: usize) -> f64;
    /// Some entries of one of them.
    fn entries(&self, k: usize, span: Range<usize>) -> Cow<'_, [f64]>;
    /// All rows, row-major, where products in single precision are near enough; norms are one then.
    fn singles(&self) -> Option<&[f32]> {
        None
    }
}

/// What a dual in single precision is multiplied in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// Multiplies twice as many numbers at a time, and proves somewhat less.
    Single,
    /// Proves all that the dual is worth.
    Double,
}

/// Rows of Y that are not zero, each with the row of X it belongs to, and their norms.
pub(super) struct Listed<'a> {
    pub dual: &'a [(usize, Vec<f64>)],
    pub norms: &'a [f64],
}

impl DualRows for Listed<'_> {
    fn count(&self) -> usize {
        self.dual.len()
    }

    fn row(&self, k: usize) -> usize {
        self.dual[k].0
    }

    fn norm(&self, k: usize) -> f64 {
        self.norms[k]
    }

    fn entries(&self, k: usize, span: Range<usize>) -> Cow<'_, [f64]> {
        Cow::Borrowed(&self.dual[k].1[span])
    }
}

/// Y in single precision, row-major, with entries in [-1, 1].
pub(super) struct Single<'a> {
    pub dual: &'a [f32],
    pub n: usize,
    pub precision: Precision,
}

impl DualRows for Single<'_> {
    fn count(&self) -> usize {
        self.dual.len() / self.n
    }

    fn row(&self, k: usize) -> usize {
        k
    }

    fn norm(&self, _: usize) -> f64 {
        1.0
    }

    fn entries(&self, k: usize, span: Range<usize>) -> Cow<'_, [f64]> {
        let row = &self.dual[k * self.n..][span];
        Cow::Owned(row.iter().map(|v| f64::from(*v)).collect())
    }

    fn singles(&self) -> Option<&[f32]> {
        (self.precision == Precision::Single).then_some(self.dual)
    }
}

/// A dual and the rows of X that it is multiplied with.
pub(super) struct Products<'a, D> {
    pub rows: &'a Rows<'a>,
    pub dual: &'a D,
    pub control: &'a Control,
}

impl<D: DualRows> Products<'_, D> {
    /// `finish(j, products)` for each of the given rows j of X, with the products `<y_k, v_j>` of all rows of
    /// the dual as computed: off by at most what [`Rows::product_error`] says for
    /// [this many roundings](Self::roundings). `2 dual rows * columns * n` flops, or as many multiplications
    /// as these rows of X have stored entries for each row of the dual; parallel over rows of X.
    pub fn by_row<T: Send>(
        &self,
        rows: &[usize],
        finish: impl Fn(usize, &[f64]) -> T + Sync,
    ) -> Result<Vec<T>, Refusal> {
        let count = self.dual.count();
        let tile = if self.by_loops() { FEW } else { tile(rows.len()) };
        let tiles: Vec<Vec<T>> = rows
            .par_chunks(tile)
            .map_init(
                || (Vec::new(), Vec::new(), RefusingWatch::new(self.control)),
                |(products, by_column, watch), tile| {
                    products.clear();
                    products.resize(count * tile.len(), 0.0);
                    if self.by_loops() {
                        self.loops(tile, products, watch)?;
                    } else if let Some(dual) = self.singles() {
                        by_column.clear();
                        by_column.resize(products.len(), 0.0);
                        self.multiplied_in_single(dual, tile, by_column, watch)?;
                        transpose(count, tile.len(), by_column, products);
                    } else {
                        self.multiplied(tile, products, watch)?;
                    }
                    let finished = |(at, &j)| finish(j, &products[at * count..][..count]);
                    Ok(tile.iter().enumerate().map(finished).collect())
                },
            )
            .collect::<Result<_, Refusal>>()?;
        Ok(tiles.into_iter().flatten().collect())
    }

    /// How often a term of a product with row j of X is rounded at most.
    pub fn roundings(&self, j: usize) -> usize {
        if self.by_loops() {
            return loop_roundings(self.rows.x.row(j).entries());
        }
        let n = self.rows.x.examples();
        if self.singles().is_some() {
            // In single precision an entry of X is rounded once, a product once, and a sum SINGLE_SPAN - 1 times; in double
            // precision each span is added. The last one counts for what underflows, which is far less: 2^-126 at most for
            // each term, where the sum of the row is at least one and the norm of the dual is one.
            let single = OF_SINGLE * (SINGLE_SPAN.min(n) as u64 + 1);
            return single as usize + n.div_ceil(SINGLE_SPAN) + 1;
        }
        SPAN.min(n) + n.div_ceil(SPAN) + 1
    }

    /// The dual where products are taken in single precision. Their roundings are counted in numbers of 64 bits.
    fn singles(&self) -> Option<&[f32]> {
        if usize::BITS < 64 { None } else { self.dual.singles() }
    }

    fn by_loops(&self) -> bool {
        let x = self.rows.x;
        let (stored, all) = (x.shape().entries, x.features() as f64 * x.examples() as f64);
        self.dual.count() < FEW_ROWS || (stored * STORED_COST) as f64 <= all
    }

    /// The products of a tile by matrix products, row of X after row of X.
    fn multiplied(
        &self,
        tile: &[usize],
        products: &mut [f64],
        watch: &mut RefusingWatch<'_>,
    ) -> Result<(), Refusal> {
        let (n, count) = (self.rows.x.examples(), self.dual.count());
        let (mut atoms, mut band) = (Vec::new(), Vec::new());
        for span in spans(n, SPAN) {
            let width = span.len();
            atoms.clear();
            atoms.resize(tile.len() * width, 0.0);
            for (row, out) in tile.iter().zip(atoms.chunks_exact_mut(width)) {
                put(self.rows.x.row(*row).entries(), span.clone(), out, |value| value);
            }
            let atoms = View::by_rows(&atoms, tile.len(), width, width);
            for rows in spans(count, BAND) {
                let (first, height) = (rows.start, rows.len());
                watch.spend(height * tile.len() * width / STORED_COST)?;
                band.clear();
                rows.for_each(|k| band.extend_from_slice(&self.dual.entries(k, span.clone())));
                let y = View::by_rows(&band, height, width, width);
                let out = ViewMut::by_rows(&mut products[first..], tile.len(), height, count);
                multiply(1.0, atoms, y.transposed(), 1.0, out);
            }
        }
        Ok(())
    }

    /// The same in single precision, for a dual that is read where it lies, row of the dual after row: so the tile is laid
    /// out column after column, as matrix products want their right factor.
    fn multiplied_in_single(
        &self,
        dual: &[f32],
        tile: &[usize],
        products: &mut [f64],
        watch: &mut RefusingWatch<'_>,
    ) -> Result<(), Refusal> {
        let (n, count, wide) = (self.rows.x.examples(), self.dual.count(), tile.len());
        let units: Vec<f64> = tile.iter().map(|&j| power_below(self.rows.sums[j].high)).collect();
        let (mut line, mut atoms, mut sums) = (Vec::new(), Vec::new(), Vec::new());
        for span in spans(n, SINGLE_SPAN) {
            let width = span.len();
            atoms.resize(width * wide, 0.0f32);
            for (at, (row, unit)) in tile.iter().zip(&units).enumerate() {
                line.clear();
                line.resize(width, 0.0);
                let entries = self.rows.x.row(*row).entries();
                put(entries, span.clone(), &mut line, |value| (value / unit) as f32);
                let places = atoms[at..].iter_mut().step_by(wide);
                places.zip(&line).for_each(|(place, value)| *place = *value);
            }
            let atoms = View::by_rows(&atoms[..width * wide], width, wide, wide);
            for rows in spans(count, BAND) {
                let height = rows.len();
                watch.spend(height * wide * width / STORED_COST / 2)?;
                sums.resize(height * wide, 0.0);
                let y = View::by_rows(&dual[rows.start * n + span.start..], height, width, n);
                let out = ViewMut::by_rows(&mut sums, height, wide, wide);
                multiply(1.0, y, atoms, 0.0, out);
                let lines = products[rows.start * wide..].chunks_exact_mut(wide);
                for (line, sums) in lines.zip(sums.chunks_exact(wide)) {
                    for ((product, sum), unit) in line.iter_mut().zip(sums).zip(&units) {
                        *product += unit * f64::from(*sum);
                    }
                }
            }
        }
        Ok(())
    }

    /// The same by plain loops: dense rows in blocks of columns that stay in the nearest cache, sparse
    /// rows at once.
    fn loops(
        &self,
        tile: &[usize],
        products: &mut [f64],
        watch: &mut RefusingWatch<'_>,
    ) -> Result<(), Refusal> {
        let (x, count) = (self.rows.x, self.dual.count());
        let block = if x.is_dense() { BLOCK } else { x.examples().max(1) };
        for start in (0..x.examples()).step_by(block) {
            let span = start..(start + block).min(x.examples());
            for k in 0..count {
                let y = self.dual.entries(k, span.clone());
                let mut work = 0;
                for (at, &j) in tile.iter().enumerate() {
                    let out = &mut products[at * count + k];
                    match x.row(j).entries() {
                        Entries::Dense(values) => *out += block_dot(&values[span.clone()], &y),
                        Entries::Sparse(columns, values) => {
                            *out = gathered_dot(columns, values, &y)
                        }
                    }
                    work += x.row(j).stored().min(span.len());
                }
                watch.spend(work)?;
            }
        }
        Ok(())
    }
}

/// Roundings of a term where a row is multiplied by plain loops.
pub(super) fn loop_roundings(entries: Entries<'_>) -> usize {
    match entries {
        Entries::Dense(values) => depth(values.len()),
        Entries::Sparse(_, values) => gathered_depth(values.len()),
    }
}

/// Rows of X for one task: the fewer, the more can share the work, and the more often the dual is read.
fn tile(rows: usize) -> usize {
    let (most, least) = TILE;
    rows.div_ceil(8).next_multiple_of(least).clamp(least, most)
}

/// So many numbers, some at a time.
fn spans(count: usize, most: usize) -> impl Iterator<Item = Range<usize>> {
    (0..count).step_by(most).map(move |start| start..(start + most).min(count))
}

/// The largest power of two that is not above a number of [ordinary size](super::rows); with others, products are no
/// numbers.
fn power_below(sum: f64) -> f64 {
    f64::from_bits(sum.to_bits() & f64::INFINITY.to_bits())
}

/// Some columns of a row, all of whose entries are zero in `out`.
fn put<T>(entries: Entries<'_>, span: Range<usize>, out: &mut [T], as_is: impl Fn(f64) -> T) {
    match entries {
        Entries::Dense(values) => {
            out.iter_mut().zip(&values[span]).for_each(|(out, value)| *out = as_is(*value));
        }
        Entries::Sparse(columns, values) => {
            let from = columns.partition_point(|&k| (k as usize) < span.start);
            let to = columns.partition_point(|&k| (k as usize) < span.end);
            for (k, value) in columns[from..to].iter().zip(&values[from..to]) {
                out[*k as usize - span.start] = as_is(*value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::localise::instances::unit_rows;
    use crate::matrix::{Matrix, Sparse};
    use crate::normalise::UnitRows;

    /// One over what all numbers are multiples of; their products have 80 bits, more than a float holds.
    const UNIT: f64 = (1u64 << 40) as f64;

    fn numbers(rows: usize, cols: usize, mut state: u64) -> Vec<Vec<f64>> {
        let mut number = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 24) as f64 / UNIT
        };
        (0..rows).map(|_| (0..cols).map(|_| number()).collect()).collect()
    }

    fn sparse_rows(rows: &[Vec<f64>]) -> UnitRows {
        let entries = rows.iter().enumerate();
        let triplets: Vec<(usize, usize, f64)> = entries
            .flat_map(|(i, row)| row.iter().enumerate().map(move |(k, v)| (i, k, *v)))
            .filter(|entry| entry.2 != 0.0)
            .collect();
        let matrix = Sparse::from_triplets(rows.len(), rows[0].len(), &triplets).unwrap();
        UnitRows::new(&Matrix::from(matrix)).unwrap()
    }

    /// How far `got` is from `a.b`, exactly but for the last division.
    fn off(got: f64, a: &[f64], b: &[f64]) -> f64 {
        let whole = |v: f64| (v * UNIT) as i128;
        let exact: i128 = a.iter().zip(b).map(|(a, b)| whole(*a) * whole(*b)).sum();
        (exact - (got * UNIT * UNIT) as i128).abs() as f64 / UNIT / UNIT
    }

    /// Few rows of the dual and many, dense and sparse X, more columns than one span has.
    #[test]
    fn products_are_as_near_as_promised() {
        let control = Control::default();
        let mut furthest: f64 = 0.0;
        for (f, n) in [(37, 5), (9, 1200)] {
            let values = numbers(f, n, 3);
            let mut rare = values.clone();
            rare.iter_mut().flatten().enumerate().for_each(|(at, v)| {
                if at % 31 != 0 {
                    *v = 0.0;
                }
            });
            rare.iter_mut().for_each(|row| row[0] += 1.0);
            for (values, sparse) in [(&values, false), (&values, true), (&rare, true)] {
                let x = if sparse { sparse_rows(values) } else { unit_rows(values) };
                let rows = Rows::new(&x, &control).unwrap();
                for count in [3, 300] {
                    let dual: Vec<(usize, Vec<f64>)> =
                        numbers(count, n, 11).into_iter().map(|y| (0, y)).collect();
                    let norms = vec![1.0; count];
                    let dual = Listed { dual: &dual, norms: &norms };
                    let products = Products { rows: &rows, dual: &dual, control: &control };
                    let which: Vec<usize> = (0..f).rev().collect();
                    let found = products.by_row(&which, |j, got| (j, got.to_vec())).unwrap();
                    assert!(found.iter().map(|found| found.0).eq(which));
                    for (j, got) in found {
                        let most = rows.product_error(j, 1.0, products.roundings(j));
                        let given = rows.given(j);
                        for (k, got) in got.iter().enumerate() {
                            let off = off(*got, &dual.dual[k].1, &given);
                            assert!(off <= most, "{j} {k}: {off}, promised {most}");
                            furthest = furthest.max(off);
                        }
                    }
                }
            }
        }
        assert!(furthest > 0.0, "rounding took part");
    }

    /// The same in single precision, for rows of any size.
    #[test]
    fn products_in_single_precision_are_as_near_as_promised() {
        let control = Control::default();
        let (f, n, count) = (37, 700, 300);
        let values = numbers(f, n, 3);
        let dual: Vec<f32> = numbers(count, n, 11).concat().iter().map(|y| *y as f32).collect();
        for scale in [1.0, 2f64.powi(150), 2f64.powi(-200)] {
            let scaled = values.iter().map(|row| row.iter().map(|v| v * scale).collect());
            let x = unit_rows(&scaled.collect::<Vec<_>>());
            let rows = Rows::new(&x, &control).unwrap();
            let dual = Single { dual: &dual, n, precision: Precision::Single };
            let products = Products { rows: &rows, dual: &dual, control: &control };
            let which: Vec<usize> = (0..f).collect();
            let mut furthest: f64 = 0.0;
            for (j, got) in products.by_row(&which, |j, got| (j, got.to_vec())).unwrap() {
                let most = rows.product_error(j, 1.0, products.roundings(j)) / scale;
                for (k, got) in got.iter().enumerate() {
                    let off = off(got / scale, &dual.entries(k, 0..n), &values[j]);
                    assert!(off <= most, "{j} {k}: {off}, promised {most}");
                    furthest = furthest.max(off / most);
                }
            }
            assert!(furthest > 1e-4, "single precision took part: {furthest}");
        }
    }
}
