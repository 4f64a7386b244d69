//! Dense matrix products behind safe functions, in single and double precision.
//!
//! The arithmetic is that of the crates `gemm-f32` and `gemm-f64`, which choose their instructions
//! (AVX-512, AVX2, NEON or none of them) when the program runs; the crate `gemm` itself would add
//! complex numbers, which take longer to build than all that is used. They are always called on one
//! thread: what is shared between threads are blocks whose sizes follow from the shapes alone, so
//! that results have the same bytes for any number of threads.

#![allow(unsafe_code)]

use crate::kernels::parallel::*;
use gemm_common::Parallelism;

/// A product of the `gemm` crates: m, n, k; the result with the steps between its columns and
/// between its rows, and whether it is read; the factors with their steps; the weights of the old
/// result and of the product; three flags for complex numbers; the threads.
type Product<T> = unsafe fn(
    usize,
    usize,
    usize,
    *mut T,
    isize,
    isize,
    bool,
    *const T,
    isize,
    isize,
    *const T,
    isize,
    isize,
    T,
    T,
    bool,
    bool,
    bool,
    Parallelism,
);

mod sealed {
    pub trait Sealed: Sized {
        /// The product for this machine.
        fn product() -> super::Product<Self>;
    }

    impl Sealed for f32 {
        fn product() -> super::Product<Self> {
            gemm_f32::gemm::f32::get_gemm_fn()
        }
    }

    impl Sealed for f64 {
        fn product() -> super::Product<Self> {
            gemm_f64::gemm::f64::get_gemm_fn()
        }
    }
}

/// The numbers that can be multiplied: `f32` and `f64`.
pub trait Real: sealed::Sealed + Copy + PartialEq + Send + Sync + 'static {
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
}

impl Real for f32 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
}

impl Real for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
}

/// A matrix read from a slice: entry (i, j) is `values[i * row_step + j * col_step]`.
#[derive(Debug, Clone, Copy)]
pub struct View<'a, T> {
    values: &'a [T],
    shape: ViewShape,
}

/// A matrix in a slice, to be changed. Distinct entries have distinct places.
#[derive(Debug)]
pub struct ViewMut<'a, T> {
    values: &'a mut [T],
    shape: ViewShape,
}

#[derive(Debug, Clone, Copy)]
struct ViewShape {
    rows: usize,
    cols: usize,
    row_step: usize,
    col_step: usize,
}

impl ViewShape {
    /// Panics unless all entries lie within `length` values.
    fn within(self, length: usize) -> Self {
        if self.rows > 0 && self.cols > 0 {
            let last = ((self.rows - 1).checked_mul(self.row_step))
                .zip((self.cols - 1).checked_mul(self.col_step))
                .and_then(|(down, across)| down.checked_add(across));
            assert!(last.is_some_and(|last| last < length), "{self:?} in {length} values");
        }
        self
    }

    fn by_rows(rows: usize, cols: usize, step: usize) -> Self {
        assert!(step >= cols, "rows of {cols} values every {step}");
        ViewShape { rows, cols, row_step: step, col_step: 1 }
    }

    fn transposed(self) -> Self {
        let ViewShape { rows, cols, row_step, col_step } = self;
        ViewShape { rows: cols, cols: rows, row_step: col_step, col_step: row_step }
    }
}

impl<'a, T> View<'a, T> {
    /// `rows x cols`, row after row, each beginning `step >= cols` values after the one before.
    /// Panics when the slice is too short.
    pub fn by_rows(values: &'a [T], rows: usize, cols: usize, step: usize) -> Self {
        View { values, shape: ViewShape::by_rows(rows, cols, step).within(values.len()) }
    }

    /// The transpose, without moving anything.
    pub fn transposed(self) -> Self {
        View { shape: self.shape.transposed(), ..self }
    }

    /// Some of its rows. Panics when it has not that many.
    fn rows(self, from: usize, rows: usize) -> Self {
        assert!(from + rows <= self.shape.rows);
        let first = (from * self.shape.row_step).min(self.values.len());
        View { values: &self.values[first..], shape: ViewShape { rows, ..self.shape } }
    }
}

impl<'a, T> ViewMut<'a, T> {
    /// `rows x cols`, row after row, each beginning `step >= cols` values after the one before.
    /// Panics when the slice is too short.
    pub fn by_rows(values: &'a mut [T], rows: usize, cols: usize, step: usize) -> Self {
        let shape = ViewShape::by_rows(rows, cols, step).within(values.len());
        ViewMut { values, shape }
    }

    /// The transpose, without moving anything.
    pub fn transposed(self) -> Self {
        ViewMut { shape: self.shape.transposed(), ..self }
    }
}

/// `c = beta * c + alpha * a * b` on the calling thread; what c held is not read when beta is
/// zero. Panics when the shapes do not fit together.
pub fn multiply<T: Real>(alpha: T, a: View<'_, T>, b: View<'_, T>, beta: T, c: ViewMut<'_, T>) {
    let (sa, sb, sc) = (a.shape, b.shape, c.shape);
    assert_eq!((sa.rows, sa.cols, sb.cols), (sc.rows, sb.rows, sc.cols), "shapes of a product");
    // The kernels write columns: a result by rows is the transpose of one by columns.
    if sc.col_step < sc.row_step {
        return by_columns(alpha, b.transposed(), a.transposed(), beta, c.transposed());
    }
    by_columns(alpha, a, b, beta, c);
}

/// As [`multiply`], for shapes that fit together.
fn by_columns<T: Real>(alpha: T, a: View<'_, T>, b: View<'_, T>, beta: T, c: ViewMut<'_, T>) {
    let (sa, sb, sc) = (a.shape, b.shape, c.shape);
    // SAFETY: a view's entries lie within its slice (`within`, when it was made), and the shapes
    // agree; `c` is borrowed mutably and its entries are distinct places, since one of its steps
    // is 1 and the other at least the length of a line (`by_rows`).
    unsafe {
        T::product()(
            sc.rows,
            sc.cols,
            sa.cols,
            c.values.as_mut_ptr(),
            sc.col_step as isize,
            sc.row_step as isize,
            beta != T::ZERO,
            a.values.as_ptr(),
            sa.col_step as isize,
            sa.row_step as isize,
            b.values.as_ptr(),
            sb.col_step as isize,
            sb.row_step as isize,
            beta,
            alpha,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

/// How many rows of the result one task computes: few tasks, since each packs all of `b` again,
/// but enough of them to share.
fn block(m: usize) -> usize {
    m.div_ceil(4).next_multiple_of(32).clamp(32, 512)
}

/// `c = beta * c + alpha * a * b` with `a` m x k, `b` k x n (or n x k and read transposed when
/// `transpose_b`), `c` m x n, all row-major. Parallel over blocks of rows of `c` in the current
/// rayon pool; 2 m k n flops. Panics when a slice has not the length its shape needs.
#[allow(clippy::too_many_arguments)] // the BLAS signature, which every reader knows
pub fn gemm<T: Real>(
    m: usize,
    k: usize,
    n: usize,
    alpha: T,
    a: &[T],
    b: &[T],
    transpose_b: bool,
    beta: T,
    c: &mut [T],
) {
    gemm_while(|| true, m, k, n, alpha, a, b, transpose_b, beta, c);
}

/// Flops after which [`gemm_while`] asks again: some tens of milliseconds.
const ASK_AFTER: usize = 1_500_000_000;

/// From this many columns of the result on, its entries do not depend on how many rows are computed
/// together: up to 64 rows and 64 columns, `gemm` cuts sums at other places than beyond.
const DIVISIBLE: usize = 65;

/// As [`gemm()`], to the same bytes, as long as `go_on` says so, which is asked every few tens of
/// milliseconds; false, and `c` of no use, when it said no.
#[allow(clippy::too_many_arguments)]
pub fn gemm_while<T: Real>(
    go_on: impl Fn() -> bool + Sync,
    m: usize,
    k: usize,
    n: usize,
    alpha: T,
    a: &[T],
    b: &[T],
    transpose_b: bool,
    beta: T,
    c: &mut [T],
) -> bool {
    assert_eq!(a.len(), m * k);
    assert_eq!(b.len(), k * n);
    assert_eq!(c.len(), m * n);
    if m == 0 || n == 0 {
        return true;
    }
    let b = if transpose_b {
        View::by_rows(b, n, k, k).transposed()
    } else {
        View::by_rows(b, k, n, n)
    };
    let size = block(m);
    let (part, depth) = part(size, k, n);
    c.par_chunks_mut(size * n).enumerate().all(|(block, c)| {
        c.chunks_mut(part * n).enumerate().all(|(at, c)| {
            let (first, rows) = (block * size + at * part, c.len() / n);
            let a = &a[first * k..][..rows * k];
            // No sum of products at all is a product too: it scales c.
            (0..k.max(1)).step_by(depth).all(|from| {
                let terms = depth.min(k - from);
                let a = View::by_rows(&a[from.min(a.len())..], rows, terms, k);
                let beta = if from == 0 { beta } else { T::ONE };
                go_on() && {
                    multiply(alpha, a, b.rows(from, terms), beta, ViewMut::by_rows(c, rows, n, n));
                    true
                }
            })
        })
    })
}

/// Rows of a block, and terms of their sums, that are computed between two questions: all, unless that takes long. Each
/// such part packs its terms of `b` and goes over its rows of `c`, which costs least where there are as
/// many of one as of the other. How sums are cut does not depend on the number of rows.
fn part(size: usize, k: usize, n: usize) -> (usize, usize) {
    if n < DIVISIBLE {
        return (size, k.max(1));
    }
    let most = ASK_AFTER / (2 * n);
    let rows = (most.isqrt() / 32 * 32).clamp(32, 512);
    let terms = (most / rows).max(LEAST_TERMS);
    if k > terms {
        return (rows.min(size), terms);
    }
    ((most / k.max(1) / 32 * 32).clamp(32, size), k.max(1))
}

/// Terms of a sum that are worth a part of their own.
const LEAST_TERMS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    /// Small integers, so that every order of summation gives the same.
    fn numbers(count: usize, modulus: usize) -> Vec<f64> {
        (0..count).map(|v| (v % modulus) as f64 - 3.0).collect()
    }

    fn three_loops(
        (m, k, n): (usize, usize, usize),
        (alpha, beta): (f64, f64),
        (a, b, c): (&[f64], &[f64], &[f64]),
        transpose_b: bool,
    ) -> Vec<f64> {
        let b = |l: usize, j: usize| if transpose_b { b[j * k + l] } else { b[l * n + j] };
        let entry = |i: usize, j: usize| {
            let sum: f64 = (0..k).map(|l| a[i * k + l] * b(l, j)).sum();
            if beta == 0.0 { alpha * sum } else { beta * c[i * n + j] + alpha * sum }
        };
        (0..m * n).map(|at| entry(at / n, at % n)).collect()
    }

    const SHAPES: [(usize, usize, usize); 6] =
        [(1, 1, 1), (3, 5, 2), (130, 7, 9), (4, 0, 3), (1, 300, 40), (65, 70, 1)];

    fn single(values: &[f64]) -> Vec<f32> {
        values.iter().map(|v| *v as f32).collect()
    }

    #[test]
    fn agrees_with_three_loops_in_both_precisions() {
        for (m, k, n) in SHAPES {
            let (a, b) = (numbers(m * k, 13), numbers(k * n, 7));
            for (transpose_b, beta) in [(false, 0.5), (true, 0.5), (false, 0.0), (true, 1.0)] {
                // What is not to be read may be anything.
                let old = if beta == 0.0 { vec![f64::NAN; m * n] } else { numbers(m * n, 11) };
                let expected = three_loops((m, k, n), (2.0, beta), (&a, &b, &old), transpose_b);
                let mut c = old.clone();
                gemm(m, k, n, 2.0, &a, &b, transpose_b, beta, &mut c);
                assert_eq!(c, expected, "{m} {k} {n} {transpose_b}");
                let mut c = single(&old);
                let (a, b) = (single(&a), single(&b));
                gemm(m, k, n, 2.0, &a, &b, transpose_b, beta as f32, &mut c);
                assert_eq!(c, single(&expected), "{m} {k} {n} {transpose_b}");
            }
        }
    }

    /// A product that is asked about on the way has the bytes of one that is not.
    #[test]
    fn parts_of_blocks_make_no_difference() {
        let (m, k, n) = (300, 4000, DIVISIBLE);
        assert!(part(512, k, n) == (512, k) && part(512, k, 5) == (512, k));
        let size = block(m);
        let number = |v: usize| ((v * 7919) % 10_007) as f64 / 10_007.0;
        let a: Vec<f64> = (0..m * k).map(number).collect();
        let b: Vec<f64> = (0..k * n).map(|v| number(v + 5)).collect();
        let (mut whole, mut parts) = (vec![0.0; m * n], vec![0.0; m * n]);
        gemm(m, k, n, 1.0, &a, &b, true, 0.0, &mut whole);
        let b = View::by_rows(&b, n, k, k).transposed();
        for first in (0..m).step_by(size) {
            let end = m.min(first + size);
            for at in (first..end).step_by(32) {
                let rows = 32.min(end - at);
                let a = View::by_rows(&a[at * k..][..rows * k], rows, k, k);
                let c = ViewMut::by_rows(&mut parts[at * n..][..rows * n], rows, n, n);
                multiply(1.0, a, b, 0.0, c);
            }
        }
        assert!(whole == parts);
        let mut c = vec![0.0; m * n];
        assert!(!gemm_while(|| false, m, k, n, 1.0, &a, &a[..k * n], true, 0.0, &mut c));
        assert!(c.iter().all(|v| *v == 0.0));
    }

    /// Sums that are cut are whole in the end, and cut at the same places for any number of rows.
    #[test]
    fn long_sums_are_cut_and_complete() {
        let (m, k, n) = (3, 1700, 2000);
        let (rows, terms) = part(512, k, n);
        assert!(rows == 512 && 2 * terms < k && part(32, k, n) == (32, terms));
        let (a, b, old) = (numbers(m * k, 13), numbers(k * n, 7), numbers(m * n, 5));
        for transpose_b in [false, true] {
            let expected = three_loops((m, k, n), (2.0, 3.0), (&a, &b, &old), transpose_b);
            let mut c = old.clone();
            gemm(m, k, n, 2.0, &a, &b, transpose_b, 3.0, &mut c);
            assert!(c == expected);
        }
    }

    /// Every matrix by rows or by columns, with gaps that must stay as they are.
    #[test]
    fn views_may_be_transposed_and_have_gaps() {
        for (m, k, n) in SHAPES {
            let (a, b, old) = (numbers(m * k, 13), numbers(k * n, 7), numbers(m * n, 11));
            let expected = three_loops((m, k, n), (-1.0, 1.0), (&a, &b, &old), false);
            for layout in 0..8 {
                let turned = |bit: usize| layout >> bit & 1 == 1;
                let (a, sa) = laid_out(&a, m, k, turned(0));
                let (b, sb) = laid_out(&b, k, n, turned(1));
                let (mut c, sc) = laid_out(&old, m, n, turned(2));
                let a = View { values: &a, shape: sa.within(a.len()) };
                let b = View { values: &b, shape: sb.within(b.len()) };
                multiply(-1.0, a, b, 1.0, ViewMut { shape: sc.within(c.len()), values: &mut c });
                let (wanted, _) = laid_out(&expected, m, n, turned(2));
                assert_eq!(c, wanted, "{m} {k} {n} {layout}");
            }
        }
    }

    fn laid_out(values: &[f64], rows: usize, cols: usize, turned: bool) -> (Vec<f64>, ViewShape) {
        let shape = if turned {
            ViewShape::by_rows(cols, rows, rows + 3).transposed()
        } else {
            ViewShape::by_rows(rows, cols, cols + 2)
        };
        let mut out = vec![99.0; if turned { cols * (rows + 3) } else { rows * (cols + 2) }];
        for (at, v) in values.iter().enumerate() {
            out[at / cols * shape.row_step + at % cols * shape.col_step] = *v;
        }
        (out, shape)
    }

    #[test]
    #[should_panic(expected = "in 5 values")]
    fn a_view_beyond_its_slice_is_refused() {
        View::by_rows(&[0.0f32; 5], 2, 3, 3);
    }

    #[test]
    #[should_panic(expected = "shapes of a product")]
    fn shapes_must_fit() {
        let (a, mut c) = ([0.0f32; 6], [0.0f32; 4]);
        let a = View::by_rows(&a, 2, 3, 3);
        multiply(1.0, a, a, 0.0, ViewMut::by_rows(&mut c, 2, 2, 2));
    }
}
