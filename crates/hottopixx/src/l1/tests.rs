//! The kernel against known answers and against a general LP solver.

use super::*;
use microlp::{ComparisonOp, OptimizationDirection, Problem as Lp};
use proptest::prelude::*;

/// The same problem for a general LP solver: min sum (e+ + e-), cA + e+ - e- = x, 0 <= c <= u.
fn reference(atoms: &Dense, x: &[f64], upper: Option<&[f64]>) -> f64 {
    let mut lp = Lp::new(OptimizationDirection::Minimize);
    let weights: Vec<_> = (0..atoms.rows())
        .map(|j| lp.add_var(0.0, (0.0, upper.map_or(f64::INFINITY, |u| u[j]))))
        .collect();
    for (k, &target) in x.iter().enumerate() {
        let above = lp.add_var(1.0, (0.0, f64::INFINITY));
        let below = lp.add_var(1.0, (0.0, f64::INFINITY));
        let mut terms: Vec<_> =
            weights.iter().enumerate().map(|(j, w)| (*w, atoms.row(j)[k])).collect();
        terms.push((above, 1.0));
        terms.push((below, -1.0));
        lp.add_constraint(terms.as_slice(), ComparisonOp::Eq, target);
    }
    lp.solve().expect("always feasible and bounded").solution().expect("no limits").objective()
}

fn l1_error(atoms: &Dense, x: &[f64], weights: &[f64]) -> f64 {
    let mut residual = x.to_vec();
    for (j, w) in weights.iter().enumerate() {
        crate::kernels::axpy(-w, atoms.row(j), &mut residual);
    }
    residual.iter().map(|e| e.abs()).sum()
}

/// Everything a fit promises, and its value against the reference solver.
fn assert_exact(atoms: &Dense, x: &[f64], upper: Option<&[f64]>) -> Result<(), TestCaseError> {
    let fit = fit(atoms, x, upper).unwrap();
    let scale: f64 = x.iter().map(|v| v.abs()).sum::<f64>().max(1e-300);
    prop_assert_eq!(fit.status, Status::Optimal);
    prop_assert!((l1_error(atoms, x, &fit.weights) - fit.value).abs() <= 1e-11 * scale);
    for (j, w) in fit.weights.iter().enumerate() {
        prop_assert!(*w >= 0.0 && *w <= upper.map_or(f64::INFINITY, |u| u[j]));
    }
    prop_assert!(fit.dual.iter().all(|y| y.abs() <= 1.0 + 1e-15));
    let mut bound: f64 = fit.dual.iter().zip(x).map(|(y, v)| y * v).sum();
    for j in 0..atoms.rows() {
        let price: f64 = fit.dual.iter().zip(atoms.row(j)).map(|(y, v)| y * v).sum();
        match upper {
            Some(u) => bound -= u[j] * price.max(0.0),
            None => prop_assert!(
                price <= 1e-10 * crate::kernels::dot(atoms.row(j), atoms.row(j)).sqrt()
            ),
        }
    }
    prop_assert!(fit.value - bound <= 1e-9 * scale, "gap {} of {}", fit.value - bound, scale);
    let reference = reference(atoms, x, upper);
    prop_assert!(
        (fit.value - reference).abs() <= 1e-8 * scale,
        "{} against {}",
        fit.value,
        reference
    );
    Ok(())
}

fn lp_rows() -> Dense {
    let rows = [[8.0, 1.0, 1.0, 0.0, 0.0], [0.0, 8.0, 1.0, 1.0, 0.0], [0.0, 0.0, 1.0, 1.0, 8.0]];
    Dense::from_rows(&rows.map(|r| r.map(|v| v / 10.0))).unwrap()
}

#[test]
fn cleaning_vector() {
    let fit = fit(&lp_rows(), &[0.25, 0.3, 0.15, 0.1, 0.2], None).unwrap();
    for (found, expected) in fit.weights.iter().zip([0.3125, 0.3359375, 0.25]) {
        assert!((found - expected).abs() < 1e-14, "{found} {expected}");
    }
    assert!((fit.value - 0.1015625).abs() < 1e-14);
    assert!((fit.lower_bound - 0.1015625).abs() < 1e-14);
}

#[test]
fn alpha_vectors() {
    let circle = Dense::from_rows(&[[0.8, 0.2, 0.0], [0.0, 0.8, 0.2], [0.2, 0.0, 0.8]]).unwrap();
    assert!((alpha(&circle) - 1.3).abs() < 1e-14);
    let identity = Dense::from_rows(&[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]).unwrap();
    assert!((alpha(&identity) - 2.0).abs() < 1e-14);
    assert_eq!(alpha(&Dense::from_rows(&[[0.5, 0.5]]).unwrap()), 2.0);
}

/// Entries from a small grid: full of ties, zeros, duplicates and rank deficiency.
fn coarse(rows: usize, cols: usize) -> impl Strategy<Value = Dense> {
    prop::collection::vec(0u8..4, rows * cols)
        .prop_map(move |v| Dense::new(rows, cols, v.into_iter().map(f64::from).collect()).unwrap())
}

fn smooth(rows: usize, cols: usize) -> impl Strategy<Value = Dense> {
    prop::collection::vec(0.0..1.0f64, rows * cols)
        .prop_map(move |v| Dense::new(rows, cols, v).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn exact_on_random_data(a in smooth(6, 15), x in smooth(1, 15), u in smooth(1, 6), bounded: bool) {
        assert_exact(&a, x.values(), bounded.then_some(u.values()))?;
    }

    #[test]
    fn exact_on_data_full_of_ties(a in coarse(5, 9), x in coarse(1, 9), u in coarse(1, 5), bounded: bool) {
        assert_exact(&a, x.values(), bounded.then_some(u.values()))?;
    }

    #[test]
    fn exact_when_the_target_is_an_atom_or_a_mix(a in coarse(5, 12), w in coarse(1, 5)) {
        let mut x = vec![0.0; 12];
        for j in 0..5 {
            crate::kernels::axpy(w.values()[j], a.row(j), &mut x);
        }
        let fit = fit(&a, &x, None).unwrap();
        prop_assert!(fit.value <= 1e-11, "{}", fit.value);
        assert_exact(&a, a.row(2), None)?;
    }

    #[test]
    fn exact_on_signed_data(a in smooth(5, 12), x in smooth(1, 12), u in smooth(1, 5), s in smooth(1, 72)) {
        let sign = |v: &Dense, shift: usize| -> Vec<f64> {
            v.values().iter().zip(&s.values()[shift..]).map(|(v, s)| if *s < 0.5 { -v } else { *v }).collect()
        };
        let signed = Dense::new(5, 12, sign(&a, 0)).unwrap();
        assert_exact(&signed, &sign(&x, 60), Some(u.values()))?;
    }

    #[test]
    fn a_warm_start_from_any_basis_gives_the_same_value(
        a in coarse(6, 14), x in coarse(1, 14), u in smooth(1, 6),
        free in prop::collection::vec(0u32..6, 0..5), active in prop::collection::vec(0u32..14, 0..5),
    ) {
        let mut unique = free.clone();
        unique.sort_unstable();
        unique.dedup();
        let design = Design::new(&a, Loss::Hinge);
        let usable: Vec<u32> = (0..6).filter(|&j| a.row(j as usize).iter().any(|v| *v > 0.0)).collect();
        let p = Problem { design: &design, x: x.values(), usable: &usable, upper: Some(u.values()) };
        let mut solver = Solver::new();
        let cold = solver.fit(&p, None);
        let basis = solver.basis();
        let again = solver.fit(&p, Some(&basis));
        prop_assert!((again.value - cold.value).abs() <= 1e-10);
        let odd = Basis { free: unique, active, upper: vec![1] };
        let warm = solver.fit(&p, Some(&odd));
        prop_assert!((warm.value - cold.value).abs() <= 1e-10, "{} {}", warm.value, cold.value);
    }

    #[test]
    fn scale_does_not_matter(a in smooth(4, 10), x in smooth(1, 10), power in -90i32..90) {
        let factor = 10f64.powi(power);
        let plain = fit(&a, x.values(), None).unwrap();
        let scaled = Dense::new(4, 10, a.values().iter().map(|v| v * factor).collect()).unwrap();
        let other = fit(&scaled, x.values(), None).unwrap();
        prop_assert!((plain.value - other.value).abs() <= 1e-11);
    }
}

#[test]
fn larger_problems_against_the_reference() {
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    for (m, n) in [(3, 60), (12, 120), (30, 80), (40, 30)] {
        let values: Vec<f64> = (0..m * n).map(|_| -(1.0 - next()).ln()).collect();
        let atoms = Dense::new(m, n, values).unwrap();
        let x: Vec<f64> = (0..n).map(|_| -(1.0 - next()).ln()).collect();
        assert_exact(&atoms, &x, None).unwrap();
        let upper: Vec<f64> = (0..m).map(|_| 0.2 * next()).collect();
        assert_exact(&atoms, &x, Some(&upper)).unwrap();
    }
}

#[test]
fn refuses_what_does_not_fit() {
    let atoms = lp_rows();
    assert!(matches!(fit(&atoms, &[1.0], None), Err(Error::Length { name: "x", .. })));
    assert!(matches!(
        fit(&atoms, &[1.0; 5], Some(&[1.0])),
        Err(Error::Length { name: "upper", .. })
    ));
    assert!(matches!(fit(&atoms, &[1.0; 5], Some(&[1.0, -1.0, 0.0])), Err(Error::Setting { .. })));
    assert!(matches!(fit(&atoms, &[f64::NAN; 5], None), Err(Error::NotFinite { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Fits on near points are as exact as fits on all points, from any start.
    #[test]
    fn near_fits_agree_with_whole_fits(
        values in prop::collection::vec(0.0..1.0f64, 7 * 150),
        bounds in prop::collection::vec(0.0..0.6f64, 6),
        start in prop::collection::vec(0.0..1.0f64, 6),
        zeros in 0usize..3,
        bounded in any::<bool>(),
    ) {
        let mut values = values;
        if zeros == 1 {
            values.iter_mut().filter(|v| **v < 0.5).for_each(|v| *v = 0.0);
        }
        let (atoms, x) = values.split_at(6 * 150);
        let atoms = Dense::new(6, 150, atoms.to_vec()).unwrap();
        let design = Design::new(&atoms, Loss::Hinge);
        let usable: Vec<u32> = (0..6u32).filter(|&j| bounds[j as usize] > 0.05).collect();
        let upper = bounded.then_some(&bounds[..]);
        let problem = Problem { design: &design, x, usable: &usable, upper };
        let mut whole = Solver::new();
        let expected = whole.fit(&problem, None);
        let bound_of = |j: usize| if bounded { bounds[j] } else { f64::INFINITY };
        let mut near = NearSolver::default();
        let other: Vec<f64> =
            usable.iter().map(|&j| start[j as usize].min(bound_of(j as usize))).collect();
        let mut warm: Option<Basis> = None;
        for _ in 0..2 {
            let found = near.fit(&problem, &[], warm.as_ref(), &other);
            prop_assert!((found.value - expected.value).abs() < 1e-9 * x.len() as f64);
            let mut residual = x.to_vec();
            let mut bound = crate::kernels::dot(near.dual(), x) - x.iter().sum::<f64>();
            for (at, &j) in usable.iter().enumerate() {
                let (j, c) = (j as usize, near.weights()[at]);
                prop_assert!((0.0..=bound_of(j)).contains(&c));
                crate::kernels::axpy(-c, atoms.row(j), &mut residual);
                let price = design.price(j, near.dual()) - atoms.row(j).iter().sum::<f64>();
                // Without bounds the dual is feasible up to rounding.
                prop_assert!(bounded || price < 1e-9, "price {price}");
                bound -= bound_of(j).min(1e3) * price.max(0.0);
            }
            let value: f64 = residual.iter().map(|e| e.abs()).sum();
            prop_assert!((value - found.value).abs() < 1e-9);
            prop_assert_eq!(found.status, Status::Optimal);
            prop_assert!(near.dual().iter().all(|y| (0.0..=2.0).contains(y)));
            prop_assert!(found.value - bound < 1e-9 * x.len() as f64, "gap {}", found.value - bound);
            warm = Some(near.basis().clone());
        }
    }
}

/// The way of wide data gives the distances that one fit after the other gives.
#[test]
fn wide_hull_distances_are_hull_distances() {
    let mut state = 3u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    for (r, n) in [(2, 50), (5, 40), (8, 900), (12, 500), (40, 700)] {
        let mut points = Dense::zeros(r, n);
        for j in 0..r {
            let row = points.row_mut(j);
            row.iter_mut().for_each(|v| *v = -(1.0 - next()).ln());
            let sum: f64 = row.iter().sum();
            row.iter_mut().for_each(|v| *v /= sum);
        }
        // One row inside the hull of two others.
        if r == 8 {
            let middle: Vec<f64> =
                points.row(1).iter().zip(points.row(2)).map(|(a, b)| 0.3 * a + 0.7 * b).collect();
            points.row_mut(5).copy_from_slice(&middle);
        }
        for (i, found) in wide_hull_distances(&points).into_iter().enumerate() {
            let expected = hull_distance(&points, i);
            assert!((found - expected).abs() < 1e-12, "{r} {n} {i}: {found} {expected}");
        }
    }
}

/// Atoms of which some are copies of others, changed by a share of `10^-digits`.
fn with_near_copies(a: &Dense, noise: &[f64], digits: u8) -> Dense {
    let mut rows = a.clone();
    let change = 10f64.powi(-i32::from(digits));
    for j in 0..a.rows() / 2 {
        let original = a.row(j).to_vec();
        for (k, v) in rows.row_mut(a.rows() - 1 - j).iter_mut().enumerate() {
            *v = original[k] * (1.0 + change * noise[(j + k) % noise.len()]);
        }
    }
    rows
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Whatever the status, the value is the error of the weights and the bound is one.
    #[test]
    fn claims_are_true_among_near_duplicates(
        a in smooth(6, 10), x in smooth(1, 10), u in smooth(1, 6), noise in prop::collection::vec(0.0..1.0f64, 7),
        digits in 1u8..17, bounded: bool, mixed: bool,
    ) {
        let atoms = with_near_copies(&a, &noise, digits);
        let mut x = x.values().to_vec();
        if mixed {
            x = atoms.row(0).iter().zip(atoms.row(5)).map(|(a, b)| 0.25 * a + 0.75 * b).collect();
        }
        let upper = bounded.then_some(u.values());
        let scale: f64 = x.iter().sum();
        let fit = fit(&atoms, &x, upper).unwrap();
        prop_assert!((l1_error(&atoms, &x, &fit.weights) - fit.value).abs() <= 1e-14 * scale);
        let reference = reference(&atoms, &x, upper);
        // The reference meets its constraints to about 1e-7 only.
        let told = (fit.value, fit.lower_bound, reference);
        prop_assert!(fit.lower_bound <= fit.value, "{:?}", told);
        prop_assert!((fit.value - reference).abs() <= 1e-6 * scale, "{:?}", told);
        let gap = fit.value - fit.lower_bound;
        prop_assert_eq!(fit.status == Status::Optimal, gap <= 1e-9 * scale);
    }
}

/// Wide fits on 33 atoms of which two are alike once took hundreds of times as long as without
/// the copy: points went on turning between rounds that had no end.
#[test]
fn near_copies_of_atoms_do_not_keep_wide_fits_from_ending() {
    let mut state = 33u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    let (m, n) = (40, 600);
    for digits in [3, 5, 7, 9, 12] {
        let draw = (0..m * n).map(|_| -next().max(1e-12).ln()).collect();
        let plain = Dense::new(m, n, draw).unwrap();
        let noise: Vec<f64> = (0..97).map(|_| next()).collect();
        let atoms = with_near_copies(&plain, &noise, digits);
        let weights: Vec<f64> = (0..m).map(|_| next() / 20.0).collect();
        let mut pivots = [0, 0];
        for (count, atoms) in pivots.iter_mut().zip([&plain, &atoms]) {
            let design = Design::new(atoms, Loss::Hinge);
            let usable: Vec<u32> = (0..m as u32).collect();
            for row in 0..6 {
                let mut x: Vec<f64> = (0..n).map(|_| 0.01 * next()).collect();
                for j in 0..m {
                    crate::kernels::axpy(weights[(j + row) % m], atoms.row(j), &mut x);
                }
                let p = Problem { design: &design, x: &x, usable: &usable, upper: None };
                let found = NearSolver::default().fit(&p, &[], None, &vec![0.02; m]);
                assert_eq!(found.status, Status::Optimal, "{digits} digits: {found:?}");
                *count += found.pivots;
            }
        }
        let [plain, copies] = pivots;
        assert!(copies <= 4 * plain + 200, "{digits} digits: {copies} pivots, {plain} without");
    }
}

/// A fit that misses nothing ends there: its vertex is degenerate, which once cost twenty times as
/// many pivots as a noisy target.
#[test]
fn exact_mixtures_take_no_walk() {
    let mut state = 8u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    let (m, n) = (8, 1000);
    let atoms = Dense::new(m, n, (0..m * n).map(|_| next()).collect()).unwrap();
    let weights: Vec<f64> = (0..m).map(|_| next() / 8.0).collect();
    let mut x = vec![0.0; n];
    (0..m).for_each(|j| crate::kernels::axpy(weights[j], atoms.row(j), &mut x));
    let design = Design::new(&atoms, Loss::Hinge);
    let usable: Vec<u32> = (0..m as u32).collect();
    let p = Problem { design: &design, x: &x, usable: &usable, upper: None };
    let found = NearSolver::default().fit(&p, &[], None, &weights);
    assert_eq!((found.pivots, found.status), (0, Status::Optimal));
    let cold = Solver::new().fit(&p, None);
    assert!(cold.status == Status::Optimal && cold.pivots < 200, "{cold:?}");
}
