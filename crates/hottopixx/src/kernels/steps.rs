//! The steps of the incremental gradient within one panel of columns, for many rows at once.
//!
//! Row i is at `d_k = (c_i X)_k` before the panel's first step. Step k moves `c_i` by `sigma_k`
//! times column k, with `sigma_k = s sign(x_k - d_k)`, and so adds `sigma_k G_kl` to every later
//! `d_l`, where `G = X_K^T X_K`. Rows are independent: they stand in the lanes of vectors. Columns
//! are taken four at a time, each with its own sum over the steps before, so that a step loaded
//! once serves four multiplications and nothing but the steps themselves is written.
//!
//! Compiled for any machine, for AVX2 and for AVX-512, chosen when the program runs. The last two
//! fuse multiplications and additions, so the bytes may differ between machines, as those of the
//! matrix products around it do; never with the number of threads.

#![allow(unsafe_code)]

/// Rows in one vector.
pub(crate) const LANES: usize = 16;
/// Columns taken together; the number of columns in a panel must be a multiple of it.
pub(crate) const QUAD: usize = 4;

type Lanes = [f32; LANES];

/// Length of a [`pack_gram`]ed Gram matrix of `width` columns: the upper half of G.
pub(crate) fn packed_gram_len(width: usize) -> usize {
    let quads = width / QUAD;
    QUAD * QUAD * quads * (quads + 1) / 2
}

/// What [`take_steps`] reads of the `width x width` matrix G, in the order in which it does: for each
/// four columns, their entries in the rows up to and with their own.
pub(crate) fn pack_gram(gram: &[f32], width: usize, packed: &mut [f32]) {
    let mut places = packed.chunks_exact_mut(QUAD);
    for first in (0..width).step_by(QUAD) {
        for row in 0..first + QUAD {
            let place = places.next().expect("packed_gram_len");
            place.copy_from_slice(&gram[row * width + first..][..QUAD]);
        }
    }
}

/// The rows that step together, and what they have in common.
#[derive(Clone, Copy)]
pub(crate) struct PanelSteps<'a> {
    /// The panel: column k is `x[k * x_step..][..rows]`.
    pub x: &'a [f32],
    pub x_step: usize,
    /// G, packed.
    pub gram: &'a [f32],
    /// The length s of a step.
    pub step: f32,
    /// How much each step lowers the diagonal entry of each row: a multiple of [`LANES`] rows.
    pub delta: &'a [f32],
}

/// Turns `d`, which holds `(c_i X)_k` at `d[k * rows + i]`, into the steps `sigma_k` of each row.
/// Panics when slices are too short, or the numbers of rows and columns not as they must be.
pub(crate) fn take_steps(of: PanelSteps<'_>, d: &mut [f32]) {
    let rows = of.delta.len();
    assert!(rows.is_multiple_of(LANES) && d.len().is_multiple_of(QUAD * rows.max(1)));
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f")]
        fn avx512(of: PanelSteps<'_>, d: &mut [f32]) {
            body::<4, true>(of, d);
        }
        #[target_feature(enable = "avx2,fma")]
        fn avx2(of: PanelSteps<'_>, d: &mut [f32]) {
            body::<1, true>(of, d);
        }
        if std::arch::is_x86_feature_detected!("avx512f") {
            // SAFETY: the machine has AVX-512F, which is all that `avx512` asks for.
            return unsafe { avx512(of, d) };
        }
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
        {
            // SAFETY: the machine has AVX2 and FMA, which is all that `avx2` asks for.
            return unsafe { avx2(of, d) };
        }
    }
    body::<1, { cfg!(target_arch = "aarch64") }>(of, d);
}

/// All rows, `V` vectors of them at a time where that many are left.
#[inline(always)]
fn body<const V: usize, const FUSED: bool>(of: PanelSteps<'_>, d: &mut [f32]) {
    let rows = of.delta.len();
    let mut first = 0;
    while first + V * LANES <= rows {
        together::<V, FUSED>(of, d, first);
        first += V * LANES;
    }
    while first < rows {
        together::<1, FUSED>(of, d, first);
        first += LANES;
    }
}

/// The rows from `first` on, V vectors of them.
#[inline(always)]
fn together<const V: usize, const FUSED: bool>(of: PanelSteps<'_>, d: &mut [f32], first: usize) {
    let rows = of.delta.len();
    let delta: [Lanes; V] = std::array::from_fn(|v| lanes(of.delta, first + v * LANES));
    let mut gram = of.gram;
    for k in (0..d.len() / rows).step_by(QUAD) {
        let (before, own) = gram.split_at(QUAD * k);
        let mut sums = sums_before::<V, FUSED>(&d[..k * rows], rows, first, before);
        for q in 0..QUAD {
            for v in 0..V {
                let row = first + v * LANES;
                let at = (k + q) * rows + row;
                let (x, before) = (lanes(of.x, (k + q) * of.x_step + row), lanes(d, at));
                let mut sigma = [0.0f32; LANES];
                for i in 0..LANES {
                    // k + q earlier steps have lowered the diagonal entry.
                    let lowered = (k + q) as f32 * delta[v][i] * x[i];
                    let error = x[i] - (before[i] + sums[q][v][i] - lowered);
                    let up = if error > 0.0 { of.step } else { 0.0 };
                    sigma[i] = if error < 0.0 { -of.step } else { up };
                }
                d[at..at + LANES].copy_from_slice(&sigma);
                for later in q + 1..QUAD {
                    add::<FUSED>(&mut sums[later][v], &sigma, own[q * QUAD + later]);
                }
            }
        }
        gram = &own[QUAD * QUAD..];
    }
}

/// What the steps taken so far have added to the next four columns. A function of its own, in
/// which every index is a constant, so that the sums stay in registers.
#[allow(clippy::needless_range_loop)] // constants, once unrolled
#[inline(always)]
fn sums_before<const V: usize, const FUSED: bool>(
    steps: &[f32],
    rows: usize,
    first: usize,
    gram: &[f32],
) -> [[Lanes; V]; QUAD] {
    let mut sums = [[[0.0f32; LANES]; V]; QUAD];
    for (step, g) in steps.chunks_exact(rows).zip(gram.chunks_exact(QUAD)) {
        let step = &step[first..first + V * LANES];
        for v in 0..V {
            let sigma = lanes(step, v * LANES);
            for q in 0..QUAD {
                add::<FUSED>(&mut sums[q][v], &sigma, g[q]);
            }
        }
    }
    sums
}

#[inline(always)]
fn lanes(values: &[f32], at: usize) -> Lanes {
    values[at..at + LANES].try_into().expect("as many lanes as asked for")
}

/// `sums += sigma * g`.
#[inline(always)]
fn add<const FUSED: bool>(sums: &mut Lanes, sigma: &Lanes, g: f32) {
    for i in 0..LANES {
        sums[i] = if FUSED { sigma[i].mul_add(g, sums[i]) } else { sigma[i] * g + sums[i] };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The steps one at a time, as they are defined.
    fn plain(of: PanelSteps<'_>, gram: &[f64], d: &mut [f32]) {
        let rows = of.delta.len();
        let width = d.len() / rows;
        for i in 0..rows {
            let mut now: Vec<f64> = (0..width).map(|k| f64::from(d[k * rows + i])).collect();
            for k in 0..width {
                let x = |l: usize| f64::from(of.x[l * of.x_step + i]);
                let error = x(k) - now[k];
                let sign = f64::from(i8::from(error > 0.0) - i8::from(error < 0.0));
                let sigma = f64::from(of.step) * sign;
                d[k * rows + i] = sigma as f32;
                for l in k + 1..width {
                    now[l] += sigma * gram[k * width + l] - f64::from(of.delta[i]) * x(l);
                }
            }
        }
    }

    #[test]
    fn takes_the_steps_one_after_the_other() {
        for (rows, width) in [(16, 4), (48, 20), (112, 64)] {
            // Multiples of 1/8 of moderate size: no sum is rounded, whatever its order.
            let number = |at: usize, by: usize| ((at * by) % 23) as f32 * 0.125 - 1.0;
            let x_step = rows + 3;
            let x: Vec<f32> = (0..width * x_step).map(|at| number(at, 7)).collect();
            let gram: Vec<f64> = (0..width * width)
                .map(|at| f64::from(number(at / width + at % width, 5)))
                .collect();
            let delta: Vec<f32> = (0..rows).map(|i| (i % 3) as f32 * 0.125).collect();
            let single: Vec<f32> = gram.iter().map(|g| *g as f32).collect();
            let mut packed = vec![0.0; packed_gram_len(width)];
            pack_gram(&single, width, &mut packed);
            let of = PanelSteps { x: &x, x_step, gram: &packed, step: 0.5, delta: &delta };
            let mut d: Vec<f32> = (0..rows * width).map(|at| number(at, 11)).collect();
            let mut expected = d.clone();
            let versions: [fn(PanelSteps<'_>, &mut [f32]); 4] =
                [take_steps, body::<1, false>, body::<4, false>, body::<2, true>];
            plain(of, &gram, &mut expected);
            let start = std::mem::take(&mut d);
            for version in versions {
                let mut d = start.clone();
                version(of, &mut d);
                assert_eq!(d, expected, "{rows} {width}");
            }
        }
    }
}
