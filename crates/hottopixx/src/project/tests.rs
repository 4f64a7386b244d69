//! The projection against the paper's vectors, a brute force, and the optimality conditions.

use super::*;
use proptest::prelude::*;

fn squished(z: &[f64]) -> Vec<f64> {
    let mut x = z.to_vec();
    squish(&mut x, 0);
    x
}

fn close(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| (x - y).abs() <= tolerance)
}

fn distance2(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum()
}

/// The exact level by scanning the pieces of the convex piecewise quadratic
/// `m -> (z_1 - m)^2 + sum_i (z_i - clip(z_i, 0, m))^2` on [0, 1].
fn brute_force(z: &[f64]) -> Vec<f64> {
    let mut knots: Vec<f64> = z.iter().copied().filter(|v| (0.0..=1.0).contains(v)).collect();
    knots.extend([0.0, 1.0]);
    knots.sort_by(f64::total_cmp);
    let at = |m: f64| -> Vec<f64> {
        let mut x: Vec<f64> = z.iter().map(|v| v.min(m).max(0.0)).collect();
        x[0] = m;
        x
    };
    let mut best = at(0.0);
    for piece in knots.windows(2) {
        let above: Vec<f64> = z[1..].iter().copied().filter(|v| *v >= piece[1]).collect();
        let mean = (z[0] + above.iter().sum::<f64>()) / (above.len() + 1) as f64;
        for m in [piece[0], mean.clamp(piece[0], piece[1]), piece[1]] {
            if distance2(&at(m), z) < distance2(&best, z) {
                best = at(m);
            }
        }
    }
    best
}

#[test]
fn known_vectors() {
    let vectors: [([f64; 4], [f64; 4]); 10] = [
        ([0.2, 0.8, 0.5, 0.1], [0.5, 0.5, 0.5, 0.1]),
        ([-0.5, 0.3, 0.2, -1.0], [0.0; 4]),
        ([1.7, 0.4, 2.0, 0.9], [1.0, 0.4, 1.0, 0.9]),
        ([0.1, 3.0, 2.0, 0.5], [1.0, 1.0, 1.0, 0.5]),
        ([-2.0, 0.5, 0.4, 0.3], [0.0; 4]),
        ([0.0, 1.0, 1.0, 1.0], [0.75; 4]),
        ([0.6, 0.9, 0.3, 0.75], [0.75, 0.75, 0.3, 0.75]),
        ([0.9, 1.2, 1.1, -0.2], [1.0, 1.0, 1.0, 0.0]),
        ([2.0, 1.5, 0.5, 0.0], [1.0, 1.0, 0.5, 0.0]),
        ([0.3, 0.2, 0.1, -0.1], [0.3, 0.2, 0.1, 0.0]),
    ];
    for (z, expected) in vectors {
        assert!(close(&squished(&z), &expected, 1e-15), "{z:?} gave {:?}", squished(&z));
        let mut diagonal = z[0];
        let mut entries: Vec<(u32, f64)> =
            (1u32..).zip(z[1..].iter().copied()).filter(|e| e.1 > 0.0).collect();
        Squisher::default().squish_sparse(&mut diagonal, &mut entries);
        let mut x = vec![0.0; 4];
        x[0] = diagonal;
        entries.iter().for_each(|&(i, v)| x[i as usize] = v);
        assert!(close(&x, &expected, 1e-15), "sparse {z:?} gave {x:?}");
        let single: Vec<f32> = z.iter().map(|v| *v as f32).collect();
        let level = single_level(single[0], single.chunks(3), 0.0);
        assert!((f64::from(level) - expected[0]).abs() < 1e-6, "single {z:?} gave {level}");
    }
    assert_eq!(squished(&[0.4]), [0.4]);
    assert_eq!(squished(&[-0.4]), [0.0]);
}

fn in_phi0(c: &[f64], candidates: &[usize]) -> bool {
    let m = candidates.len();
    c.iter().enumerate().all(|(at, v)| {
        let level = c[candidates[at % m] * m + at % m];
        *v >= 0.0 && *v <= level && level <= 1.0
    })
}

fn trace_of(c: &[f64], candidates: &[usize]) -> f64 {
    let m = candidates.len();
    candidates.iter().enumerate().map(|(q, own)| c[own * m + q]).sum()
}

/// f, m <= f, the matrix, a trace that is possible, and numbers for random feasible points.
fn matrices() -> impl Strategy<Value = (usize, usize, Vec<f64>, f64, Vec<f64>)> {
    (1usize..7).prop_flat_map(|f| (Just(f), 1..=f)).prop_flat_map(|(f, m)| {
        let entries = prop::collection::vec(-1.5..2.5f64, f * m);
        (Just(f), Just(m), entries, 0.0..=1.0f64, prop::collection::vec(0.0..1.0f64, 2 * f * m))
            .prop_map(|(f, m, z, share, u)| (f, m, z, share * m as f64, u))
    })
}

proptest! {
    #[test]
    fn one_column_is_nearest(z in prop::collection::vec(-1.0..2.0f64, 1..9), at in 0usize..9) {
        let x = squished(&z);
        prop_assert!(close(&x, &brute_force(&z), 1e-9), "{:?} {:?}", x, brute_force(&z));
        let single: Vec<f32> = z.iter().map(|v| *v as f32).collect();
        for guess in [0.0, 0.3, x[0] as f32, 2.0] {
            let level = f64::from(single_level(single[0], single[1..].chunks(2), guess));
            prop_assert!((level - x[0]).abs() < 1e-6, "{} {}", level, x[0]);
        }
        // Equivariance: the diagonal may stand anywhere, the others come in any order.
        let at = at % z.len();
        let mut turned = z.clone();
        turned.rotate_right(at);
        squish(&mut turned, at);
        turned.rotate_left(at);
        prop_assert!(close(&turned, &x, 1e-14));
    }

    #[test]
    fn a_matrix_is_projected_column_by_column((f, m, z, _, _) in matrices()) {
        let candidates: Vec<usize> = (f - m..f).collect();
        let mut c = z.clone();
        project_phi0(&mut c, &candidates);
        for (q, &own) in candidates.iter().enumerate() {
            let mut column: Vec<f64> = (0..f).map(|i| z[i * m + q]).collect();
            squish(&mut column, own);
            let found: Vec<f64> = (0..f).map(|i| c[i * m + q]).collect();
            prop_assert!(close(&column, &found, 1e-14));
        }
    }

    /// Feasible, and `<z - x, y - x> <= 0` for feasible y: the variational inequality.
    #[test]
    fn with_the_trace_it_is_feasible_and_optimal((f, m, z, trace, u) in matrices()) {
        let candidates: Vec<usize> = (0..m).collect();
        let mut x = z.clone();
        let b = project_phi0_trace(&mut x, &candidates, trace, 0.0);
        prop_assert!(in_phi0(&x, &candidates));
        prop_assert!((trace_of(&x, &candidates) - trace).abs() <= 1e-11);
        // KKT: the plain projection after subtracting b from the diagonals gives the same.
        let mut shifted = z.clone();
        candidates.iter().enumerate().for_each(|(q, own)| shifted[own * m + q] -= b);
        project_phi0(&mut shifted, &candidates);
        prop_assert!(close(&x, &shifted, 1e-11));
        // The answer does not depend on where the search for b starts.
        let mut again = z.clone();
        project_phi0_trace(&mut again, &candidates, trace, 1.5);
        prop_assert!(close(&x, &again, 1e-11));
        for numbers in u.chunks_exact(f * m) {
            let y = feasible(f, m, trace, numbers);
            prop_assert!((trace_of(&y, &candidates) - trace).abs() <= 1e-9);
            let product: f64 =
                z.iter().zip(&x).zip(&y).map(|((z, x), y)| (z - x) * (y - x)).sum();
            prop_assert!(product <= 1e-9, "{}", product);
        }
    }
}

/// A point of `Phi_0` with this trace: diagonals scaled to the trace, others below them.
fn feasible(f: usize, m: usize, trace: f64, u: &[f64]) -> Vec<f64> {
    let own: Vec<f64> = (0..m).map(|q| u[q * m + q] + 1e-3).collect();
    let sum: f64 = own.iter().sum();
    let full = m as f64;
    // Below the average scale the diagonals down to the trace, above it their gaps to one.
    let scaled = |d: f64| {
        if trace <= sum {
            (d * trace / sum).min(1.0)
        } else if full > sum {
            1.0 - (1.0 - d) * (full - trace) / (full - sum)
        } else {
            1.0
        }
    };
    let mut y = u.to_vec();
    for i in 0..f {
        for q in 0..m {
            let level = scaled(own[q]);
            y[i * m + q] = if i == q { level } else { u[i * m + q] * level };
        }
    }
    y
}

#[test]
fn extreme_traces() {
    let z = [0.3, 2.0, -1.0, 0.5, 0.1, 0.9];
    for trace in [0.0, 2.0] {
        let mut c = z;
        project_phi0_trace(&mut c, &[0, 2], trace, 0.0);
        assert!((c[0] + c[5] - trace).abs() < 1e-12, "{c:?}");
        assert!(in_phi0(&c, &[0, 2]));
    }
    let mut none: [f64; 0] = [];
    project_phi0(&mut none, &[]);
    project_phi0_trace(&mut none, &[], 0.0, 0.0);
}
