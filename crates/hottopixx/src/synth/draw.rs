//! Random points of the unit simplex, their mixtures, and noise that stays on it.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp1, StandardNormal};

/// The generator of one stream. Streams of one seed are independent of each other, so rows can be
/// drawn in any order and on any thread.
pub(super) fn stream(seed: u64, stream: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(stream);
    rng
}

/// A random order of `0..n`.
pub(super) fn permutation(rng: &mut ChaCha8Rng, n: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    order.shuffle(rng);
    order
}

/// A point uniform on the unit simplex: exponential variables over their sum.
pub(super) fn simplex(rng: &mut ChaCha8Rng, out: &mut [f64]) {
    out.iter_mut().for_each(|v| *v = Exp1.sample(rng));
    to_unit_sum(out);
}

/// Divides by the sum; a row without mass becomes the centre of the simplex.
pub(super) fn to_unit_sum(row: &mut [f64]) {
    let sum: f64 = row.iter().sum();
    if sum > 0.0 {
        row.iter_mut().for_each(|v| *v /= sum);
    } else {
        let share = 1.0 / row.len() as f64;
        row.fill(share);
    }
}

/// The l1 distance of two rows.
pub(super) fn l1(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y).abs()).sum()
}

/// Moves `row` (on the unit simplex) by at most `bound` in l1 and returns how far it went.
///
/// A Gaussian direction g with zero sum is scaled to the bound; x + g is clipped at zero and
/// divided by its sum. With e the mass that clipping adds, clipping shortens the move by e and
/// dividing lengthens it by at most e, so that the bound still holds.
pub(super) fn perturb(rng: &mut ChaCha8Rng, row: &mut [f64], bound: f64) -> f64 {
    if bound <= 0.0 || row.len() < 2 {
        return 0.0;
    }
    let clean = row.to_vec();
    let mut noise: Vec<f64> = row.iter().map(|_| StandardNormal.sample(rng)).collect();
    let mean = noise.iter().sum::<f64>() / noise.len() as f64;
    noise.iter_mut().for_each(|v| *v -= mean);
    let norm: f64 = noise.iter().map(|v| v.abs()).sum();
    if norm == 0.0 {
        return 0.0;
    }
    // A little below the bound, for what rounding adds.
    let mut scale = bound * (1.0 - 1e-9) / norm;
    loop {
        for ((v, x), g) in row.iter_mut().zip(&clean).zip(&noise) {
            *v = (x + scale * g).max(0.0);
        }
        to_unit_sum(row);
        let moved = l1(row, &clean);
        // Only rounding (bounds near the unit roundoff) asks for a second round.
        if moved <= bound {
            return moved;
        }
        scale *= 0.5;
        if scale * norm < f64::EPSILON {
            row.copy_from_slice(&clean);
            return 0.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    /// Seeds mean the same in every version, whichever crate draws the numbers.
    #[test]
    fn the_numbers_of_a_stream_are_those_of_earlier_versions() {
        let mut rng = stream(7, 3);
        let drawn: Vec<u64> = (0..300).map(|_| rng.next_u64()).collect();
        let known = [0x2e79_8710_8688_b271, 0x17c5_f5ae_85a9_2d4e, 0x7ef7_96be_d776_db28];
        assert_eq!([drawn[0], drawn[1], drawn[299]], known);
        assert_eq!(rng.next_u32(), 0x5dce_1815);
    }

    #[test]
    fn noise_keeps_the_simplex_and_the_bound() {
        for (k, bound) in [1e-15, 1e-6, 0.01, 0.3, 1.0, 2.0, 50.0].into_iter().enumerate() {
            let mut rng = stream(7, k as u64);
            let mut row = vec![0.0; 60];
            simplex(&mut rng, &mut row);
            let clean = row.clone();
            let moved = perturb(&mut rng, &mut row, bound);
            assert_eq!(moved, l1(&row, &clean));
            assert!(moved <= bound, "{moved} > {bound}");
            assert!(!(1e-6..=0.3).contains(&bound) || moved > 0.5 * bound, "{moved} of {bound}");
            assert!(row.iter().all(|v| *v >= 0.0));
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }
}
