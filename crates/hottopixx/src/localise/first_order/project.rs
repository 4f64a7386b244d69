//! The projection of the iterates: columns under their levels, levels that sum to the rank.
//!
//! As the squish of [`project`](crate::project) with the trace, but an entry of column q may be
//! `u_iq` times its level m_q. For a multiplier b of the trace and with A the entries that are cut,
//! `z_iq > u_iq m_q`, the level is
//!
//! ```text
//! m_q = clip( (z_own - b + sum_A u_iq z_iq) / (1 + sum_A u_iq^2), 0, 1 )
//! ```
//!
//! (the own entry is the level itself). Levels and multiplier are found together: with A fixed, b is
//! the root of a piecewise linear function of one variable; then A is taken anew. Started from the
//! levels of the last iteration this takes two to five passes over the matrix, each O(f m) and by
//! rows.

use crate::control::Control;
use crate::kernels::parallel::*;
use crate::kernels::{add_capped_above, clip_capped};

/// Rows whose sums are taken in single precision before they are added up; fixed, so that sums do not
/// depend on the number of threads.
const CHUNK: usize = 64;
/// Levels that move less than this are found.
const STILL: f64 = 1e-6;
/// Passes at most; an iteration may be a little off.
const PASSES: usize = 12;

/// Projects z (f x m) in place, given the own entries apart; `levels` and `multiplier` begin as those
/// of a similar matrix and end as those of this one. False when stopped.
pub(super) fn project(
    z: &mut [f32],
    caps: &[f32],
    own: &[f32],
    rank: usize,
    levels: &mut [f32],
    multiplier: &mut f64,
    control: &Control,
) -> bool {
    let m = own.len();
    for _ in 0..PASSES {
        if !control.goes_on() {
            return false;
        }
        let sums = column_sums(z, caps, levels);
        let lines: Vec<(f64, f64)> =
            (0..m).map(|q| (f64::from(own[q]) + sums[q].0, 1.0 + sums[q].1)).collect();
        *multiplier = root(&lines, rank as f64, *multiplier);
        let mut moved = 0.0f64;
        for (level, line) in levels.iter_mut().zip(&lines) {
            let new = level_at(line, *multiplier);
            moved = moved.max((new - f64::from(*level)).abs());
            *level = new as f32;
        }
        if moved < STILL {
            break;
        }
    }
    let levels = &*levels;
    z.par_chunks_mut(CHUNK * m).zip(caps.par_chunks(CHUNK * m)).for_each(|(z, caps)| {
        for (row, caps) in z.chunks_exact_mut(m).zip(caps.chunks_exact(m)) {
            clip_capped(row, caps, levels);
        }
    });
    true
}

/// `(sum_A u z, sum_A u^2)` per column.
fn column_sums(z: &[f32], caps: &[f32], levels: &[f32]) -> Vec<(f64, f64)> {
    let m = levels.len();
    let parts: Vec<(Vec<f32>, Vec<f32>)> = z
        .par_chunks(CHUNK * m)
        .zip(caps.par_chunks(CHUNK * m))
        .map(|(z, caps)| {
            let (mut sums, mut squares) = (vec![0.0; m], vec![0.0; m]);
            for (row, caps) in z.chunks_exact(m).zip(caps.chunks_exact(m)) {
                add_capped_above(row, caps, levels, &mut sums, &mut squares);
            }
            (sums, squares)
        })
        .collect();
    let mut total = vec![(0.0, 0.0); m];
    for (sums, squares) in parts {
        for ((total, sum), square) in total.iter_mut().zip(sums).zip(squares) {
            total.0 += f64::from(sum);
            total.1 += f64::from(square);
        }
    }
    total
}

/// The level of a column whose own entry is lowered by b.
fn level_at(&(sum, weight): &(f64, f64), b: f64) -> f64 {
    ((sum - b) / weight).clamp(0.0, 1.0)
}

/// The b at which the levels sum to `rank`: Newton's method inside a bracket.
fn root(lines: &[(f64, f64)], rank: f64, guess: f64) -> f64 {
    // All levels are one at the first b, zero at the second.
    let mut low = lines.iter().map(|l| l.0 - l.1).fold(f64::INFINITY, f64::min);
    let mut high = lines.iter().map(|l| l.0).fold(f64::NEG_INFINITY, f64::max);
    let mut b = guess.clamp(low, high.max(low));
    for _ in 0..100 {
        let (mut trace, mut slope) = (0.0, 0.0);
        for line in lines {
            let level = level_at(line, b);
            trace += level;
            slope += if level > 0.0 && level < 1.0 { 1.0 / line.1 } else { 0.0 };
        }
        let excess = trace - rank;
        if excess.abs() <= 1e-9 * rank || high <= low {
            break;
        }
        if excess > 0.0 {
            low = b
        } else {
            high = b
        }
        let newton = b + excess / slope; // infinite on a flat piece: then the bracket is halved
        b = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::project_phi0_trace;

    /// With caps of one it is the squish with the trace.
    #[test]
    fn agrees_with_the_squish_where_caps_are_one() {
        let (f, m, rank) = (90, 7, 3);
        let mut state = 5u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as f32 / (1u64 << 31) as f32
        };
        for _ in 0..20 {
            let candidates: Vec<usize> = (0..m).map(|q| q * 11).collect();
            let mut z: Vec<f32> = (0..f * m).map(|_| 2.0 * next() - 1.2).collect();
            let mut expected: Vec<f64> = z.iter().map(|v| f64::from(*v)).collect();
            project_phi0_trace(&mut expected, &candidates, rank as f64, 0.0);
            let own: Vec<f32> = (0..m).map(|q| z[candidates[q] * m + q]).collect();
            (0..m).for_each(|q| z[candidates[q] * m + q] = f32::NEG_INFINITY);
            let (mut levels, mut b) = (vec![0.4; m], 0.0);
            let caps = vec![1.0; f * m];
            let control = Control::default();
            assert!(project(&mut z, &caps, &own, rank, &mut levels, &mut b, &control));
            for q in 0..m {
                assert!((f64::from(levels[q]) - expected[candidates[q] * m + q]).abs() < 1e-5);
                for i in (0..f).filter(|i| *i != candidates[q]) {
                    assert!((f64::from(z[i * m + q]) - expected[i * m + q]).abs() < 1e-5);
                }
            }
        }
    }

    /// The level under caps is where the distance to the column is least.
    #[test]
    fn levels_under_caps_are_nearest() {
        let (z, caps, own) = ([0.9f32, 0.2, 0.7], [0.5f32, 1.0, 2.0], 0.1f32);
        let distance = |level: f32| -> f32 {
            let entries = z.iter().zip(&caps).map(|(z, u)| (z.clamp(0.0, u * level) - z).powi(2));
            entries.sum::<f32>() + (level - own).powi(2)
        };
        let grid = (0..1000).map(|k| k as f32 / 1000.0);
        let best = grid.min_by(|a, b| distance(*a).total_cmp(&distance(*b))).unwrap();
        let mut level = [0.5f32];
        for _ in 0..9 {
            let (sum, weight) = column_sums(&z, &caps, &level)[0];
            level[0] = level_at(&(f64::from(own) + sum, 1.0 + weight), 0.0) as f32;
        }
        assert!((level[0] - best).abs() < 2e-3, "{} {best}", level[0]);
    }
}
