//! Certificates of a small instance with known optima, whose points and duals come from a general LP solver
//! (`reference`).

mod reference;

use super::*;
use crate::Goal;
use crate::control::{Control, Stop};
use crate::localise::instances::{SIX_COSTS as COST, SIX_ROWS as ROWS};
use crate::matrix::{Dense, Matrix, Sparse};
use crate::normalise::UnitRows;
use proptest::prelude::*;
use reference::{costs, dual, point};

const ALL: [bool; 6] = [true; 6];

fn unit<R: AsRef<[f64]>>(rows: &[R]) -> UnitRows {
    UnitRows::new(&Dense::from_rows(rows).unwrap().into()).unwrap()
}

fn six() -> UnitRows {
    unit(&ROWS.map(|row| row.map(|v| v / 10.0)))
}

fn verify(x: &UnitRows, certificate: &Certificate) -> Result<Verified, Refusal> {
    super::verify(x, certificate, &Control::default())
}

/// With the costs of the example where the goal has any; sealed.
fn certificate(x: &UnitRows, goal: Goal, rank: Option<usize>, allowed: &[bool]) -> Certificate {
    let (diagonal, localising) = point(x, goal, rank, &COST, allowed);
    let dual = dual(x, goal, rank, &COST, allowed);
    let (cost, allowed) = (costs(goal, &COST), allowed.to_vec());
    let mut made = Certificate {
        goal,
        rank,
        cost,
        allowed,
        must: Vec::new(),
        diagonal,
        localising,
        dual,
        claims: None,
    };
    made.seal(x, &Control::default()).unwrap();
    made
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
        let (diagonal, localising) = (d.clone(), c.clone());
        let given = two_of_six(goal, TWO, &[]);
        Certificate { cost: costs(goal, &COST), diagonal, localising, dual: y, ..given }
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
    let claims = |c: &mut Certificate, change: &dyn Fn(&mut Claims)| {
        c.claims.iter_mut().for_each(change);
    };
    let lower = |r| matches!(r, Refusal::LowerBound { .. });
    let value = |r| matches!(r, Refusal::Objective { .. });
    assert!(lower(refused(&|c| claims(c, &|c| c.lower_bound += 1e-6))));
    assert!(value(refused(&|c| claims(c, &|c| c.objective -= 1e-6))));
    assert!(matches!(refused(&|c| c.rank = Some(3)), Refusal::Trace { rank: 3, .. }));
    assert!(matches!(refused(&|c| c.rank = Some(7)), Refusal::Rank { .. }));
    assert!(matches!(refused(&|c| c.allowed = vec![false; 6]), Refusal::Rank { allowed: 0, .. }));
    assert!(matches!(refused(&|c| c.goal = Goal::Cost { tau: 0.1 }), Refusal::Error { .. }));
    assert!(matches!(refused(&|c| c.goal = Goal::Cost { tau: -0.1 }), Refusal::Tau { .. }));
    assert!(value(refused(&|c| c.goal = Goal::Minimax)));
    assert!(matches!(refused(&|c| c.cost[2] = 0.1), Refusal::Cost { row: 2, .. }));
    assert!(matches!(refused(&|c| c.dual.swap(0, 1)), Refusal::DualRow { .. }));
    assert!(matches!(refused(&|c| c.dual[0].1.truncate(4)), Refusal::Shape { .. }));
    let empty = refused(&|c| claims(c, &|c| c.audit = Audit::default()));
    assert!(matches!(empty, Refusal::Shape { .. }));
    for bad in [f64::NAN, f64::INFINITY] {
        let number = |r| matches!(r, Refusal::NotFinite { .. });
        assert!(number(refused(&|c| c.diagonal[1] = bad)));
        assert!(number(refused(&|c| c.cost[1] = bad)));
        assert!(number(refused(&|c| c.dual[0].1[2] = bad)));
        assert!(number(refused(&|c| c.localising.values_mut()[0] = bad)));
        assert!(number(refused(&|c| c.goal = Goal::Cost { tau: bad })));
        assert!(value(refused(&|c| claims(c, &|c| c.objective = bad))));
        assert!(lower(refused(&|c| claims(c, &|c| c.lower_bound = bad))));
        let audit = |r| matches!(r, Refusal::Audit { .. });
        assert!(audit(refused(&|c| claims(c, &|c| c.audit.errors[3] = bad))));
        assert!(audit(refused(&|c| claims(c, &|c| c.audit.dual[0].sum = bad))));
    }
}

/// d, C and Y for two of six rows, without costs or claims.
fn two_of_six(goal: Goal, d: [f64; 6], extra: &[(usize, usize, f64)]) -> Certificate {
    let mut entries: Vec<_> = (0..6).map(|j| (j, j, d[j])).collect();
    entries.extend_from_slice(extra);
    Certificate {
        goal,
        rank: Some(2),
        cost: vec![0.0; 6],
        allowed: ALL.to_vec(),
        must: Vec::new(),
        diagonal: d.to_vec(),
        localising: Sparse::from_triplets(6, 6, &entries).unwrap(),
        dual: vec![],
        claims: None,
    }
}

const TWO: [f64; 6] = [1.0, 1.0, 0.0, 0.0, 0.0, 0.0];

/// A bound is about the diagonals with the rows that must be hott, and so is the point, however it is mended.
#[test]
fn rows_that_must_be_hott_are_heeded() {
    let x = six();
    let made = two_of_six(Goal::Minimax, TWO, &[]);
    let ruled = |must: Vec<usize>| Certificate { must, ..made.clone() };
    for (must, refusal) in [
        (vec![2], Refusal::LeftOut { row: 2, value: 0.0 }),
        (vec![1, 0], Refusal::Must),
        (vec![6], Refusal::Must),
        (vec![0, 1, 2], Refusal::Must),
    ] {
        assert_eq!(verify(&x, &ruled(must)).unwrap_err(), refusal);
    }
    // Only the diagonal of the other row may be scaled down, by all that the trace is too large.
    let d = [1.0, 0.5 + 4e-10, 0.5, 0.0, 0.0, 0.0];
    let over = two_of_six(Goal::Total, d, &[(3, 0, 0.5), (3, 1, 0.5)]);
    let plain = verify(&x, &over).unwrap();
    let mended = verify(&x, &Certificate { must: vec![0], ..over }).unwrap();
    assert!(mended.objective > plain.objective && mended.objective < plain.objective + 1e-8);
}

#[test]
fn refuses_points_outside_the_program() {
    let x = six();
    // Consistent certificates of infeasible points: the inequalities alone must stop them, and
    // there is no tolerance.
    let judge = |d, extra: &[_]| verify(&x, &two_of_six(Goal::Total, d, extra));
    assert!(judge(TWO, &[]).is_ok());
    for above in [1.2, 1f64.next_up()] {
        let more = [above, 2.0 - above, 0.0, 0.0, 0.0, 0.0];
        let refusal = judge(more, &[]).unwrap_err();
        assert_eq!(refusal, Refusal::Diagonal { row: 0, value: above });
    }
    for weight in [1.5, 1f64.next_up(), -0.1, -1e-300] {
        let refusal = judge(TWO, &[(3, 0, weight)]).unwrap_err();
        assert_eq!(refusal, Refusal::Weight { row: 3, col: 0, value: weight, diagonal: 1.0 });
    }
    let mut made = two_of_six(Goal::Total, TWO, &[]);
    made.allowed[1] = false;
    assert_eq!(verify(&x, &made), Err(Refusal::Forbidden { row: 1, value: 1.0 }));
    let mut made = two_of_six(Goal::Total, TWO, &[]);
    made.diagonal[4] = 1e-300;
    let refusal = Refusal::DiagonalOfC { row: 4, found: 0.0, claimed: 1e-300 };
    assert_eq!(verify(&x, &made), Err(refusal));
    // Parts of another size: no panic, no acceptance.
    let mut made = two_of_six(Goal::Total, TWO, &[]);
    made.localising = Sparse::from_triplets(5, 5, &[]).unwrap();
    assert!(matches!(verify(&x, &made), Err(Refusal::Shape { .. })));
}

/// Y and the Y that is allowed prove the same.
#[test]
fn a_dual_that_is_too_large_is_divided_by_its_norm() {
    let x = six();
    for goal in [Goal::Minimax, Goal::Total] {
        let mut made = certificate(&x, goal, Some(2), &ALL);
        let before = verify(&x, &made).unwrap();
        made.claims = None;
        made.dual.iter_mut().flat_map(|(_, y)| y).for_each(|v| *v *= 64.0);
        let after = verify(&x, &made).unwrap();
        assert!(after.dual_scale >= 64.0 * (1.0 - 1e-9), "{after:?}");
        assert!((after.lower_bound - before.lower_bound).abs() < 1e-12);
        // Near the end of the range of numbers something may be lost, and nothing goes wrong.
        made.dual.iter_mut().flat_map(|(_, y)| y).for_each(|v| *v *= 1e306);
        assert!(verify(&x, &made).unwrap().lower_bound <= before.lower_bound + 1e-12);
    }
    let mut made = certificate(&x, Goal::Cost { tau: 0.2 }, Some(3), &ALL);
    made.claims = None;
    made.dual.iter_mut().flat_map(|(_, y)| y).for_each(|v| *v *= 1e307);
    assert!(verify(&x, &made).unwrap().lower_bound < 0.0);
}

#[test]
fn a_trace_that_misses_by_rounding_is_paid_for() {
    let x = six();
    let half: [(usize, usize, f64); 4] = [(2, 0, 0.5), (3, 1, 0.25), (4, 0, 1.0), (5, 1, 1.0)];
    for goal in [Goal::Minimax, Goal::Total, Goal::Cost { tau: 2.0 }] {
        // The diagonal and the weights, which must fit under it, each times a number.
        let value = |d: [f64; 6], low: [f64; 6], times: f64| {
            let weights = half.map(|(i, j, c)| (i, j, times * c.min(low[j])));
            let mut made = two_of_six(goal, d.map(|v| times * v), &weights);
            if goal == (Goal::Cost { tau: 2.0 }) {
                made.cost = COST.to_vec();
            }
            verify(&x, &made)
        };
        let exact = value(TWO, TWO, 1.0).unwrap();
        assert_eq!((exact.trace_error, exact.excess), (0.0, 0.0));
        for step in [1e-10_f64, 9e-10, -1e-10, -9e-10] {
            let mut d = TWO;
            d[2] = step.max(0.0);
            d[1] = 1.0 + step.min(0.0);
            let found = value(d, d, 1.0).unwrap();
            assert!(found.trace_error >= step.abs() * (1.0 - 1e-6), "{found:?}");
            // The mended point itself: scaled down, or raised.
            let mended =
                if step > 0.0 { value(d, d, 2.0 / (2.0 + step)) } else { value(TWO, d, 1.0) };
            let mended = mended.unwrap();
            assert!(mended.trace_error < 1e-14, "{mended:?}");
            // A cheaper row than the one above may take what is missing.
            let cheaper = if step < 0.0 { step.abs() } else { 0.0 };
            let least = mended.objective - cheaper - 1e-13;
            assert!(found.objective >= least, "{goal:?} {step} {found:?}");
            assert!(found.objective <= mended.objective + 20.0 * step.abs(), "{goal:?} {step}");
        }
        for step in [1e-8_f64, -1e-8] {
            let d = [1.0, 1.0 - 1e-8, 0.0, 0.0, 0.0, step.max(0.0) * 2.0];
            assert!(matches!(value(d, d, 1.0), Err(Refusal::Trace { rank: 2, .. })));
        }
    }
}

#[test]
fn errors_above_tau_are_told_and_explain_a_value_below_the_bound() {
    let x = six();
    let mut made = certificate(&x, Goal::Cost { tau: 0.2 }, Some(3), &ALL);
    made.claims = None;
    let found = verify(&x, &made).unwrap();
    assert!(found.excess < 1e-12, "{found:?}");
    // The same point and dual for a smaller tau: both are optimal there up to the excess.
    made.goal = Goal::Cost { tau: 0.2 - 5e-10 };
    let less = verify(&x, &made).unwrap();
    assert!(less.excess >= 4.9e-10 && less.excess <= 5.1e-10, "{less:?}");
    assert!(less.gap < 0.0 && less.crossing() > 0.0, "{less:?}");
    assert!(less.crossing() <= less.excess * less.dual_norm);
    made.goal = Goal::Cost { tau: 0.2 - 2e-9 };
    assert!(matches!(verify(&x, &made), Err(Refusal::Error { .. })));
}

#[test]
fn stops_when_told_and_does_without_a_dual() {
    let x = six();
    let made = certificate(&x, Goal::Minimax, Some(3), &ALL);
    let late = Control::default().with_deadline(std::time::Instant::now());
    assert_eq!(super::verify(&x, &made, &late), Err(Refusal::Stopped(Stop::TimeLimit)));
    assert_eq!(prove_bound(&x, &made, &late), Err(Refusal::Stopped(Stop::TimeLimit)));
    let bound = prove_bound(&x, &made, &Control::default()).unwrap();
    assert_eq!(bound, verify(&x, &made).unwrap().lower_bound);
    let objective = verify(&x, &made).unwrap().objective;
    let bare = verify(&x, &made.without_dual()).unwrap();
    assert_eq!((bare.lower_bound, bare.objective, bare.gap), (0.0, objective, 1.0));
}

#[test]
fn a_solver_is_held_to_what_it_says() {
    let x = six();
    let found = verify(&x, &certificate(&x, Goal::Minimax, Some(3), &ALL)).unwrap();
    let (value, bound) = (found.objective, found.lower_bound);
    assert!(found.supports(value, bound).is_ok() && found.supports(value, bound - 0.01).is_ok());
    assert!(matches!(found.supports(value, bound + 1e-6), Err(Refusal::LowerBound { .. })));
    assert!(matches!(found.supports(value - 1e-6, bound), Err(Refusal::Objective { .. })));
    assert!(matches!(found.supports(f64::NAN, bound), Err(Refusal::Objective { .. })));
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
    let (dense, sparse) = (verify(&dense, &made).unwrap(), verify(&sparse, &made).unwrap());
    assert!((dense.lower_bound - sparse.lower_bound).abs() < 1e-13);
    assert!((dense.objective - sparse.objective).abs() < 1e-13);
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

/// Old against new, in one run: the loops that a first version of the verifier had, without care for
/// rounding, and the verifier. Prints both times.
#[test]
#[ignore = "a measurement"]
fn costs_no_more_than_twice_plain_loops() {
    use crate::localise::lp::{LpSettings, lp};
    use crate::synth::{Family, Recipe};
    use std::time::{Duration, Instant};
    let recipe = Recipe::new(Family::Paper, 10).size(160, 1600).noise(0.95);
    let x = UnitRows::new(&recipe.generate().unwrap().matrix).unwrap();
    let (settings, free) = (LpSettings::new(Goal::Minimax), Control::default());
    let outcome = lp(&x, 10, &[true; 160], &settings, &free).unwrap();
    let made = Certificate::of(10, &[true; 160], &settings, &outcome);
    let product = |j: usize, y: &[f64]| x.row(j).nonzeros().map(|(k, v)| y[k] * v).sum::<f64>();
    let plain = || {
        let mut bound: f64 = made.dual.iter().map(|(i, y)| product(*i, y)).sum();
        let price = |j: usize| {
            made.dual.iter().fold(0.0, |a, (i, y)| {
                let g = product(j, y);
                if *i != j && g <= 0.0 { a } else { a - g }
            })
        };
        let mut prices: Vec<f64> = (0..160).map(price).collect();
        prices.sort_by(f64::total_cmp);
        bound += prices.iter().take(10).sum::<f64>();
        let error = |i: usize| {
            let mut residual = x.dense_row(i);
            let (columns, weights) = made.localising.row(i);
            for (&j, weight) in columns.iter().zip(weights) {
                x.row(j as usize).nonzeros().for_each(|(k, v)| residual[k] -= weight * v);
            }
            residual.iter().map(|r| r.abs()).sum::<f64>()
        };
        (bound, (0..160).map(error).fold(0.0, f64::max))
    };
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let (mut old, mut new) = (Duration::MAX, Duration::MAX);
    for _ in 0..7 {
        let start = Instant::now();
        let (bound, value) = std::hint::black_box(plain());
        old = old.min(start.elapsed());
        let start = Instant::now();
        let found = one.install(|| verify(&x, &made)).unwrap();
        new = new.min(start.elapsed());
        assert!(
            (found.lower_bound - bound).abs() < 1e-11 && (found.objective - value).abs() < 1e-11
        );
    }
    println!("{} dual rows: plain loops {old:?}, verifier {new:?}", made.dual.len());
    assert!(new <= 2 * old);
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
        let made = Certificate {
            goal: Goal::Total,
            rank: Some(2),
            cost: vec![0.0; 5],
            allowed: vec![true; 5],
            must: Vec::new(),
            diagonal: d,
            localising: c,
            dual: y.chunks(4).map(<[f64]>::to_vec).enumerate().collect(),
            claims: None,
        };
        let verified = verify(&x, &made).unwrap();
        prop_assert!(verified.lower_bound <= verified.objective);
    }
}
