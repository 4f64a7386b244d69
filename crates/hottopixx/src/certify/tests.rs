//! Certificates of a small instance with known optima. Points and duals come from a general LP
//! solver, on the programs as the module's documentation states them.

use super::*;
use crate::control::Control;
use crate::localise::instances::{SIX_COSTS as COST, SIX_ROWS as ROWS};
use crate::matrix::{Dense, Matrix, Sparse};
use crate::normalise::UnitRows;
use microlp::{ComparisonOp, LinearExpr, OptimizationDirection, Problem, Variable};
use proptest::prelude::*;

const ALL: [bool; 6] = [true; 6];

fn unit<R: AsRef<[f64]>>(rows: &[R]) -> UnitRows {
    UnitRows::new(&Dense::from_rows(rows).unwrap().into()).unwrap()
}

fn six() -> UnitRows {
    unit(&ROWS.map(|row| row.map(|v| v / 10.0)))
}

fn costs(goal: Goal, cost: &[f64]) -> Vec<f64> {
    if matches!(goal, Goal::Cost { .. }) { cost.to_vec() } else { vec![0.0; cost.len()] }
}

/// d and C of the program, straight from its definition.
fn point(
    x: &UnitRows,
    goal: Goal,
    rank: Option<usize>,
    cost: &[f64],
    allowed: &[bool],
) -> (Vec<f64>, Sparse) {
    let (f, n) = (x.features(), x.examples());
    let cost = costs(goal, cost);
    let mut lp = Problem::new(OptimizationDirection::Minimize);
    let free = (0.0, f64::INFINITY);
    let c: Vec<Vec<Variable>> = (0..f)
        .map(|i| {
            let top = |j: usize| if allowed[j] { 1.0 } else { 0.0 };
            (0..f).map(|j| lp.add_var(if i == j { cost[j] } else { 0.0 }, (0.0, top(j)))).collect()
        })
        .collect();
    let largest = lp.add_var(if goal == Goal::Minimax { 1.0 } else { 0.0 }, free);
    for i in 0..f {
        for j in (0..f).filter(|j| *j != i) {
            lp.add_constraint([(c[i][j], 1.0), (c[j][j], -1.0)], ComparisonOp::Le, 0.0);
        }
        let mut error = LinearExpr::empty();
        for k in 0..n {
            let slope = if goal == Goal::Total { 1.0 } else { 0.0 };
            let e = lp.add_var(slope, free);
            error.add(e, 1.0);
            for sign in [1.0, -1.0] {
                let mut side: Vec<_> =
                    (0..f).map(|j| (c[i][j], sign * x.dense_row(j)[k])).collect();
                side.push((e, 1.0));
                lp.add_constraint(side.as_slice(), ComparisonOp::Ge, sign * x.dense_row(i)[k]);
            }
        }
        match goal {
            Goal::Cost { tau } => lp.add_constraint(error, ComparisonOp::Le, tau),
            _ => {
                if goal == Goal::Minimax {
                    error.add(largest, -1.0);
                    lp.add_constraint(error, ComparisonOp::Le, 0.0);
                }
            }
        }
    }
    if let Some(rank) = rank {
        let trace: Vec<_> = (0..f).map(|j| (c[j][j], 1.0)).collect();
        lp.add_constraint(trace.as_slice(), ComparisonOp::Eq, rank as f64);
    }
    let outcome = lp.solve().unwrap();
    let solution = outcome.solution().unwrap();
    let d: Vec<f64> = (0..f).map(|j| solution[c[j][j]].clamp(0.0, 1.0)).collect();
    let mut triplets = Vec::new();
    for i in 0..f {
        for j in 0..f {
            let weight = if i == j { d[j] } else { solution[c[i][j]].clamp(0.0, d[j]) };
            triplets.push((i, j, weight));
        }
    }
    triplets.retain(|t| t.2 > 0.0);
    (d, Sparse::from_triplets(f, f, &triplets).unwrap())
}

/// The Y with the largest bound: `max <Y,X> - tau sum N_i + r b - sum u_j` with `|Y_ik| <= N_i`,
/// `b - u_j <= a_j`, `u >= 0` (b = 0 without trace constraint).
fn dual(
    x: &UnitRows,
    goal: Goal,
    rank: Option<usize>,
    cost: &[f64],
    allowed: &[bool],
) -> Vec<(usize, Vec<f64>)> {
    let (f, n) = (x.features(), x.examples());
    let cost = costs(goal, cost);
    let rows: Vec<Vec<f64>> = (0..f).map(|i| x.dense_row(i)).collect();
    let mut lp = Problem::new(OptimizationDirection::Maximize);
    let any = (f64::NEG_INFINITY, f64::INFINITY);
    let positive = (0.0, f64::INFINITY);
    let y: Vec<Vec<Variable>> =
        rows.iter().map(|row| row.iter().map(|&v| lp.add_var(v, any)).collect()).collect();
    let (price, top) = match goal {
        Goal::Cost { tau } => (-tau, f64::INFINITY),
        _ => (0.0, 1.0),
    };
    let norms: Vec<Variable> = (0..f).map(|_| lp.add_var(price, (0.0, top))).collect();
    for (row, norm) in y.iter().zip(&norms) {
        for entry in row {
            lp.add_constraint([(*entry, 1.0), (*norm, -1.0)], ComparisonOp::Le, 0.0);
            lp.add_constraint([(*entry, -1.0), (*norm, -1.0)], ComparisonOp::Le, 0.0);
        }
    }
    if goal == Goal::Minimax {
        let all: Vec<_> = norms.iter().map(|v| (*v, 1.0)).collect();
        lp.add_constraint(all.as_slice(), ComparisonOp::Le, 1.0);
    }
    let trace = lp.add_var(rank.unwrap_or(0) as f64, if rank.is_some() { any } else { (0.0, 0.0) });
    for j in (0..f).filter(|j| allowed[*j]) {
        let u = lp.add_var(-1.0, positive);
        let mut earned: Vec<(Variable, f64)> = vec![(trace, 1.0), (u, -1.0)];
        earned.extend((0..n).map(|k| (y[j][k], rows[j][k])));
        for i in (0..f).filter(|i| *i != j) {
            let part = lp.add_var(0.0, positive);
            earned.push((part, 1.0));
            let mut above: Vec<_> = (0..n).map(|k| (y[i][k], rows[j][k])).collect();
            above.push((part, -1.0));
            lp.add_constraint(above.as_slice(), ComparisonOp::Le, 0.0);
        }
        lp.add_constraint(earned.as_slice(), ComparisonOp::Le, cost[j]);
    }
    let outcome = lp.solve().unwrap();
    let solution = outcome.solution().unwrap();
    let values = |i: usize| (0..n).map(|k| solution[y[i][k]]).collect::<Vec<f64>>();
    (0..f).map(|i| (i, values(i))).filter(|(_, row)| row.iter().any(|v| *v != 0.0)).collect()
}

fn certificate(x: &UnitRows, goal: Goal, rank: Option<usize>, allowed: &[bool]) -> Certificate {
    let (d, c) = point(x, goal, rank, &COST, allowed);
    let y = dual(x, goal, rank, &COST, allowed);
    Certificate::new(x, goal, rank, costs(goal, &COST), allowed.to_vec(), d, c, y)
}

#[test]
fn proves_the_known_optima() {
    let x = six();
    let cost = |tau| Goal::Cost { tau };
    for (goal, rank, optimum) in [
        (cost(0.08), 3, 1.498307692308),
        (cost(0.1), 3, 1.470384615385),
        (cost(0.2), 3, 1.330769230769),
        (cost(0.5), 3, 0.961875),
        (cost(0.9), 3, 0.71),
        (cost(0.4), 2, 0.941538461538),
        (cost(0.8), 2, 0.423747534517),
        (Goal::Minimax, 3, 0.076502732240),
        (Goal::Minimax, 2, 0.321428571429),
        (Goal::Total, 3, 0.1015625),
        (Goal::Total, 2, 1.0515625),
    ] {
        let verified = verify(&x, &certificate(&x, goal, Some(rank), &ALL)).unwrap();
        assert!((verified.objective - optimum).abs() < 1e-9, "{goal:?} {verified:?}");
        assert!((verified.lower_bound - optimum).abs() < 1e-9, "{goal:?} {verified:?}");
        assert!(verified.gap < 1e-8 && (verified.trace - rank as f64).abs() < 1e-9);
        if let Goal::Cost { tau } = goal {
            assert!(verified.inf1 <= tau + 1e-9);
        }
    }
    // The program with tau = 0.05 has no answer: the smallest possible largest error is above.
    let proof = verify(&x, &certificate(&x, Goal::Minimax, Some(3), &ALL)).unwrap();
    assert!(proof.lower_bound > 0.05);
}

#[test]
fn proves_bounds_with_a_free_trace_and_with_forbidden_rows() {
    let x = six();
    let few = [true, true, false, true, true, true];
    for goal in [Goal::Cost { tau: 0.9 }, Goal::Cost { tau: 0.3 }, Goal::Minimax, Goal::Total] {
        let free = verify(&x, &certificate(&x, goal, None, &ALL)).unwrap();
        assert!(free.gap < 1e-8, "{goal:?} {free:?}");
        if goal == (Goal::Cost { tau: 0.3 }) {
            continue;
        }
        let full = verify(&x, &certificate(&x, goal, Some(3), &ALL)).unwrap();
        let less = certificate(&x, goal, Some(3), &few);
        let fewer = verify(&x, &less).unwrap();
        assert!(fewer.gap < 1e-8, "{goal:?} {fewer:?}");
        assert!(fewer.objective > full.objective - 1e-9);
    }
}

#[test]
fn weak_duals_give_weak_bounds_that_hold() {
    let x = six();
    let (d, c) = point(&x, Goal::Total, Some(2), &COST, &ALL);
    let with = |goal, y| {
        let cost = costs(goal, &COST);
        Certificate::new(&x, goal, Some(2), cost, ALL.to_vec(), d.clone(), c.clone(), y)
    };
    // No dual: errors are not negative, and two rows cost what the cheapest two cost.
    assert_eq!(verify(&x, &with(Goal::Total, vec![])).unwrap().lower_bound, 0.0);
    let verified = verify(&x, &with(Goal::Cost { tau: 2.0 }, vec![])).unwrap();
    assert!((verified.lower_bound - 0.34).abs() < 1e-12);
    let half: Vec<_> = dual(&x, Goal::Total, Some(2), &COST, &ALL)
        .into_iter()
        .map(|(i, y)| (i, y.iter().map(|v| v / 2.0).collect()))
        .collect();
    let verified = verify(&x, &with(Goal::Total, half)).unwrap();
    assert!((verified.lower_bound - 1.0515625 / 2.0).abs() < 1e-9);
}

/// Every entry of X, d, C and Y, changed by 1e-3 either way, for every goal.
#[test]
fn refuses_a_change_of_any_entry() {
    let x = six();
    for goal in [Goal::Cost { tau: 0.2 }, Goal::Minimax, Goal::Total] {
        let good = certificate(&x, goal, Some(3), &ALL);
        verify(&x, &good).unwrap();
        for step in [1e-3, -1e-3] {
            for i in 0..6 {
                for k in 0..5 {
                    let mut rows = ROWS.map(|row| row.map(|v| v / 10.0));
                    rows[i][k] += step;
                    if rows[i][k] >= 0.0 {
                        assert!(verify(&unit(&rows), &good).is_err(), "X {i} {k} {step}");
                    }
                    let mut bad = good.clone();
                    match bad.dual.iter_mut().find(|(row, _)| *row == i) {
                        Some((_, y)) => y[k] += step,
                        None => {
                            let mut y = vec![0.0; 5];
                            y[k] = step;
                            bad.dual.push((i, y));
                            bad.dual.sort_by_key(|(row, _)| *row);
                        }
                    }
                    assert!(verify(&x, &bad).is_err(), "Y {i} {k} {step}");
                }
                let mut bad = good.clone();
                bad.diagonal[i] += step;
                assert!(verify(&x, &bad).is_err(), "d {i} {step}");
                for j in 0..6 {
                    let mut entries = vec![(i, j, step)];
                    for row in 0..6 {
                        let (columns, values) = good.localising.row(row);
                        entries.extend(
                            columns.iter().zip(values).map(|(&col, &v)| (row, col as usize, v)),
                        );
                    }
                    let mut bad = good.clone();
                    bad.localising = Sparse::from_triplets(6, 6, &entries).unwrap();
                    assert!(verify(&x, &bad).is_err(), "C {i} {j} {step}");
                    if i == j {
                        bad.diagonal[j] += step;
                        assert!(verify(&x, &bad).is_err(), "C and d {i} {step}");
                    }
                }
            }
        }
    }
}

#[test]
fn refuses_claims_that_are_too_good_and_whatever_is_no_number() {
    let x = six();
    let good = certificate(&x, Goal::Total, Some(2), &ALL);
    let refused = |change: &dyn Fn(&mut Certificate)| {
        let mut bad = good.clone();
        change(&mut bad);
        verify(&x, &bad).unwrap_err()
    };
    assert!(matches!(refused(&|c| c.lower_bound += 1e-6), Refusal::LowerBound { .. }));
    assert!(matches!(refused(&|c| c.objective -= 1e-6), Refusal::Objective { .. }));
    assert!(matches!(refused(&|c| c.rank = Some(3)), Refusal::Trace { rank: 3, .. }));
    assert!(matches!(refused(&|c| c.rank = Some(7)), Refusal::Rank { .. }));
    assert!(matches!(refused(&|c| c.allowed = vec![false; 6]), Refusal::Rank { allowed: 0, .. }));
    assert!(matches!(refused(&|c| c.goal = Goal::Cost { tau: 0.1 }), Refusal::Error { .. }));
    assert!(matches!(refused(&|c| c.goal = Goal::Cost { tau: -0.1 }), Refusal::Tau { .. }));
    assert!(matches!(refused(&|c| c.goal = Goal::Minimax), Refusal::DualNorms { .. }));
    assert!(matches!(refused(&|c| c.cost[2] = 0.1), Refusal::Cost { row: 2, .. }));
    assert!(matches!(refused(&|c| c.dual.swap(0, 1)), Refusal::DualRow { .. }));
    assert!(matches!(refused(&|c| c.dual[0].1.truncate(4)), Refusal::Shape { .. }));
    assert!(matches!(refused(&|c| c.audit = Audit::default()), Refusal::Shape { .. }));
    for bad in [f64::NAN, f64::INFINITY] {
        let number = |r| matches!(r, Refusal::NotFinite { .. });
        assert!(number(refused(&|c| c.diagonal[1] = bad)));
        assert!(number(refused(&|c| c.cost[1] = bad)));
        assert!(number(refused(&|c| c.dual[0].1[2] = bad)));
        assert!(number(refused(&|c| c.localising.values_mut()[0] = bad)));
        assert!(number(refused(&|c| c.goal = Goal::Cost { tau: bad })));
        assert!(matches!(refused(&|c| c.objective = bad), Refusal::Objective { .. }));
        assert!(matches!(refused(&|c| c.lower_bound = bad), Refusal::LowerBound { .. }));
        assert!(matches!(refused(&|c| c.audit.errors[3] = bad), Refusal::Audit { row: 3, .. }));
        assert!(matches!(refused(&|c| c.audit.dual[0].sum = bad), Refusal::Audit { .. }));
    }
}

#[test]
fn refuses_points_outside_the_program() {
    let x = six();
    // Consistent certificates of infeasible points: the inequalities alone must stop them.
    let judge = |goal, d: [f64; 6], extra: &[(usize, usize, f64)], allowed: [bool; 6], y| {
        let mut entries: Vec<_> = (0..6).map(|j| (j, j, d[j])).collect();
        entries.extend_from_slice(extra);
        let c = Sparse::from_triplets(6, 6, &entries).unwrap();
        let cost = vec![0.0; 6];
        let made = Certificate::new(&x, goal, Some(2), cost, allowed.to_vec(), d.to_vec(), c, y);
        verify(&x, &made)
    };
    let two = [1.0, 1.0, 0.0, 0.0, 0.0, 0.0];
    assert!(judge(Goal::Total, two, &[], ALL, vec![]).is_ok());
    let more = [1.2, 0.8, 0.0, 0.0, 0.0, 0.0];
    let refusal = judge(Goal::Total, more, &[], ALL, vec![]).unwrap_err();
    assert_eq!(refusal, Refusal::Diagonal { row: 0, value: 1.2 });
    let refusal = judge(Goal::Total, two, &[(3, 0, 1.5)], ALL, vec![]).unwrap_err();
    assert_eq!(refusal, Refusal::Weight { row: 3, col: 0, value: 1.5, diagonal: 1.0 });
    let refusal = judge(Goal::Total, two, &[(3, 0, -0.1)], ALL, vec![]).unwrap_err();
    assert_eq!(refusal, Refusal::Weight { row: 3, col: 0, value: -0.1, diagonal: 1.0 });
    let mut allowed = ALL;
    allowed[1] = false;
    let refusal = judge(Goal::Total, two, &[], allowed, vec![]).unwrap_err();
    assert_eq!(refusal, Refusal::Forbidden { row: 1, value: 1.0 });
    let large = vec![(4, vec![0.0, 0.0, -1.1, 0.0, 0.0])];
    let refusal = judge(Goal::Total, two, &[], ALL, large.clone()).unwrap_err();
    assert_eq!(refusal, Refusal::DualNorm { row: 4, found: 1.1 });
    let refusal = judge(Goal::Minimax, two, &[], ALL, large).unwrap_err();
    assert_eq!(refusal, Refusal::DualNorms { found: 1.1 });
    // Parts of another size: no figures, no panic, no acceptance.
    let c = Sparse::from_triplets(5, 5, &[]).unwrap();
    let made =
        Certificate::new(&x, Goal::Total, None, vec![], vec![], vec![], c, vec![(9, vec![])]);
    assert!(made.objective.is_nan());
    assert!(matches!(verify(&x, &made), Err(Refusal::Shape { .. })));
}

#[test]
fn dense_and_sparse_data_are_the_same() {
    let dense = six();
    let triplets: Vec<_> = (0..6)
        .flat_map(|i| (0..5).map(move |k| (i, k, ROWS[i][k] / 10.0)))
        .filter(|t| t.2 != 0.0)
        .collect();
    let sparse: Matrix = Sparse::from_triplets(6, 5, &triplets).unwrap().into();
    let sparse = UnitRows::new(&sparse).unwrap();
    let made = certificate(&dense, Goal::Minimax, Some(3), &ALL);
    assert_eq!(verify(&dense, &made), verify(&sparse, &made));
}

/// The conclusion of the theorem, up to its very threshold: over all C with errors of at most
/// 2 epsilon, a hott row with its duplicates keeps more than r / (r + 1) of the diagonal.
#[test]
fn hott_rows_keep_their_weight_where_the_theorem_holds() {
    let rows: [&[[f64; 3]]; 3] = [
        &[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.786, 0.2, 0.014]],
        &[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.555, 0.42, 0.025]],
        &[[0.9, 0.1, 0.0], [0.1, 0.9, 0.0], [0.5, 0.5, 0.0], [0.905, 0.085, 0.01]],
    ];
    for rows in rows {
        let x = unit(rows);
        let theory = theory(&x, &[0, 1], &Control::default()).unwrap();
        assert!(theory.holds && theory.epsilon > 0.0, "{theory:?}");
        for (hott, duplicates) in theory.duplicates.iter().enumerate() {
            let mut group = vec![0.0; x.features()];
            group[hott] = 1.0;
            duplicates.iter().for_each(|&j| group[j] = 1.0);
            let goal = Goal::Cost { tau: 2.0 * theory.epsilon };
            let (d, _) = point(&x, goal, Some(2), &group, &vec![true; x.features()]);
            let weight: f64 = d.iter().zip(&group).map(|(d, g)| d * g).sum();
            assert!(weight > 2.0 / 3.0, "{weight} {theory:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Any dual within its norms bounds the total from below, whatever the data.
    #[test]
    fn any_dual_gives_a_valid_bound(
        values in prop::collection::vec(0.01f64..1.0, 20),
        y in prop::collection::vec(-1.0f64..1.0, 20),
    ) {
        let rows: Vec<&[f64]> = values.chunks(4).collect();
        let x = unit(&rows);
        let (d, c) = point(&x, Goal::Total, Some(2), &[0.0; 5], &[true; 5]);
        let y: Vec<_> = y.chunks(4).map(<[f64]>::to_vec).enumerate().collect();
        let made =
            Certificate::new(&x, Goal::Total, Some(2), vec![0.0; 5], vec![true; 5], d, c, y);
        let verified = verify(&x, &made).unwrap();
        prop_assert!(verified.lower_bound <= verified.objective + 1e-9);
    }
}
