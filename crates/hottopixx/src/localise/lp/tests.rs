use super::*;
use crate::certify::Certificate;
use crate::localise::instances::{SIX_COSTS, SIX_ROWS};
use crate::matrix::{Dense, Matrix, Sparse};
use crate::synth::{Family, Recipe};
use microlp::{ComparisonOp, Error as LpError, OptimizationDirection, Problem};

fn unit(rows: &[Vec<f64>]) -> UnitRows {
    UnitRows::new(&Matrix::from(Dense::from_rows(rows).unwrap())).unwrap()
}

fn six_rows() -> (UnitRows, Vec<f64>) {
    (unit(&SIX_ROWS.map(|r| r.to_vec())), SIX_COSTS.to_vec())
}

fn solve(x: &UnitRows, rank: usize, settings: &LpSettings) -> LpOutcome {
    let outcome =
        lp(x, rank, &vec![true; x.features()], settings, &Control::default()).expect("settings");
    check_point(x, rank, settings, &outcome);
    outcome
}

/// Everything the outcome claims about its point, measured again.
fn check_point(x: &UnitRows, rank: usize, settings: &LpSettings, outcome: &LpOutcome) {
    if !matches!(outcome.status, LpStatus::Optimal | LpStatus::Feasible) {
        return;
    }
    let d = &outcome.diagonal;
    assert!(d.iter().all(|v| (0.0..=1.0).contains(v)));
    if settings.trace {
        assert!((d.iter().sum::<f64>() - rank as f64).abs() < 1e-9);
    }
    let mut errors = Vec::new();
    for (i, row) in outcome.localising.iter().enumerate() {
        let mut residual = x.dense_row(i);
        for &(j, c) in row {
            assert!(c >= 0.0 && c <= d[j as usize] + 1e-12, "row {i}, column {j}");
            x.row(j as usize).add_to(-c, &mut residual);
        }
        let own = row.iter().find(|w| w.0 as usize == i).map_or(0.0, |w| w.1);
        assert!((own - d[i]).abs() < 1e-12);
        errors.push(residual.iter().map(|e| e.abs()).sum::<f64>());
    }
    let worst = errors.iter().copied().fold(0.0, f64::max);
    let objective = match settings.goal {
        Goal::Cost { tau } => {
            assert!(worst <= tau + 1e-9, "{worst} {tau}");
            d.iter().zip(&outcome.cost).map(|(d, p)| d * p).sum()
        }
        Goal::Minimax => worst,
        Goal::Total => errors.iter().sum(),
    };
    // Upper bounds may be loose by the rounding of clipped weights, never the other way round.
    assert!(objective <= outcome.objective + 1e-9, "{objective} {}", outcome.objective);
    assert!(outcome.lower_bound <= objective + 1e-9);
}

fn settings(goal: Goal, cost: &[f64]) -> LpSettings {
    LpSettings { cost: Some(cost.to_vec()), gap: Some(1e-8), ..LpSettings::new(goal) }
}

fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-8, "{found} instead of {expected}");
}

#[test]
fn known_optima() {
    let (x, p) = six_rows();
    let cost = |tau, rank| solve(&x, rank, &settings(Goal::Cost { tau }, &p));
    for (rank, tau, expected) in [
        (3, 0.08, 1.498307692308),
        (3, 0.1, 1.470384615385),
        (3, 0.2, 1.330769230769),
        (3, 0.5, 0.961875),
        (3, 0.9, 0.71),
        (2, 0.4, 0.941538461538),
        (2, 0.8, 0.423747534517),
    ] {
        let outcome = cost(tau, rank);
        assert_eq!(outcome.status, LpStatus::Optimal);
        assert_near(outcome.objective, expected);
        assert_near(outcome.lower_bound, expected);
    }
    for (goal, rank, expected) in [
        (Goal::Minimax, 3, 0.076502732240),
        (Goal::Minimax, 2, 0.321428571429),
        (Goal::Total, 3, 0.1015625),
        (Goal::Total, 2, 1.0515625),
    ] {
        let outcome = solve(&x, rank, &settings(goal, &p));
        assert_eq!(outcome.status, LpStatus::Optimal, "{outcome:?}");
        assert_near(outcome.objective, expected);
        assert_near(outcome.lower_bound, expected);
    }
}

#[test]
fn infeasible_is_a_status_with_a_proof() {
    let (x, p) = six_rows();
    let outcome = solve(&x, 3, &settings(Goal::Cost { tau: 0.05 }, &p));
    assert_eq!(outcome.status, LpStatus::Infeasible);
    assert!(outcome.lower_bound > 0.05 && outcome.lower_bound <= 0.076502732241);
    assert!(outcome.objective.is_infinite() && !outcome.dual.is_empty());
}

#[test]
fn duplicates_share_as_the_cost_says() {
    let rows = [[0.6, 0.4, 0.0], [0.6, 0.4, 0.0], [0.0, 0.2, 0.8], [0.3, 0.3, 0.4]];
    let x = unit(&rows.map(|r| r.to_vec()));
    let p = [0.9, 0.1, 0.5, 0.3];
    assert_near(solve(&x, 2, &settings(Goal::Cost { tau: 0.0 }, &p)).objective, 0.6);
    assert_near(solve(&x, 2, &settings(Goal::Cost { tau: 0.1 }, &p)).objective, 0.572727272727);
}

/// The whole program with all its f^2 weights, by a general solver; `None` if infeasible.
fn reference(x: &UnitRows, rank: usize, s: &LpSettings, p: &[f64]) -> Option<f64> {
    let (f, goal) = (x.features(), s.goal);
    let mut lp = Problem::new(OptimizationDirection::Minimize);
    let tau = if let Goal::Cost { tau } = goal { Some(tau) } else { None };
    let price = |i: usize, j: usize| if i == j && tau.is_some() { p[i] } else { 0.0 };
    let c: Vec<Vec<_>> =
        (0..f).map(|i| (0..f).map(|j| lp.add_var(price(i, j), (0.0, 1.0))).collect()).collect();
    let largest = lp.add_var(f64::from(u8::from(goal == Goal::Minimax)), (0.0, f64::INFINITY));
    for i in 0..f {
        let own = if goal == Goal::Total { 1.0 } else { 0.0 };
        let error = lp.add_var(own, (0.0, tau.unwrap_or(f64::INFINITY)));
        let mut sum = vec![(error, -1.0)];
        let row = x.dense_row(i);
        for (k, &target) in row.iter().enumerate() {
            let e = lp.add_var(0.0, (0.0, f64::INFINITY));
            let mut fit: Vec<_> = (0..f).map(|j| (c[i][j], x.dense_row(j)[k])).collect();
            fit.push((e, 1.0));
            lp.add_constraint(fit.as_slice(), ComparisonOp::Ge, target);
            fit.pop();
            fit.push((e, -1.0));
            lp.add_constraint(fit.as_slice(), ComparisonOp::Le, target);
            sum.push((e, 1.0));
        }
        lp.add_constraint(sum.as_slice(), ComparisonOp::Le, 0.0);
        lp.add_constraint([(error, 1.0), (largest, -1.0)].as_slice(), ComparisonOp::Le, {
            if goal == Goal::Minimax { 0.0 } else { 1e6 }
        });
        for (j, column) in c.iter().enumerate().filter(|(j, _)| *j != i) {
            lp.add_constraint([(c[i][j], 1.0), (column[j], -1.0)], ComparisonOp::Le, 0.0);
        }
    }
    for &j in &s.must {
        lp.add_constraint([(c[j][j], 1.0)], ComparisonOp::Eq, 1.0);
    }
    if s.trace {
        let diagonal: Vec<_> = (0..f).map(|j| (c[j][j], 1.0)).collect();
        lp.add_constraint(diagonal.as_slice(), ComparisonOp::Eq, rank as f64);
    }
    match lp.solve() {
        Err(LpError::Infeasible) => None,
        outcome => Some(outcome.unwrap().solution().unwrap().objective()),
    }
}

#[test]
fn agrees_with_the_whole_program() {
    for (seed, family) in
        [Family::Paper, Family::NearDuplicates, Family::Outliers, Family::Midpoints]
            .into_iter()
            .enumerate()
    {
        let recipe = Recipe::new(family, 3).size(8, 6).noise(0.9).seed(seed as u64);
        let Ok(instance) = recipe.generate() else { panic!("{family}") };
        let x = UnitRows::new(&instance.matrix).unwrap();
        let p: Vec<f64> = (0..x.features()).map(|i| ((i * 7 + 3) % 11) as f64 / 10.0).collect();
        let best = solve(&x, 3, &settings(Goal::Minimax, &p)).objective;
        let mut goals = vec![Goal::Minimax, Goal::Total];
        goals.extend([0.5, 0.9, 1.1, 2.0, 6.0].map(|s| Goal::Cost { tau: s * best }));
        for goal in goals {
            for trace in [true, false] {
                if !trace && !matches!(goal, Goal::Cost { .. }) {
                    continue;
                }
                // The last rows are no hott rows: the best diagonal does without them.
                for must in [vec![], vec![7], vec![5, 7], vec![0, 6, 7]] {
                    let s = LpSettings { trace, must, ..settings(goal, &p) };
                    let outcome = solve(&x, 3, &s);
                    let label = format!("{family} {s:?}");
                    match reference(&x, 3, &s, &p) {
                        None => assert_eq!(outcome.status, LpStatus::Infeasible, "{label}"),
                        Some(expected) => {
                            assert_eq!(outcome.status, LpStatus::Optimal, "{label}");
                            let off = (outcome.objective - expected).abs();
                            assert!(off < 1e-6, "{label}: {off:e}");
                            assert!(s.must.iter().all(|&j| outcome.diagonal[j] == 1.0), "{label}");
                        }
                    }
                    let mut sealed = Certificate::of(3, &[true; 8], &s, &outcome);
                    let verified = sealed.seal(&x, &Control::default()).expect(&label);
                    if outcome.status == LpStatus::Optimal {
                        verified.supports(outcome.objective, outcome.lower_bound).expect(&label);
                        assert!(verified.gap <= 1e-6, "{label}: {verified:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_stopped_search_keeps_its_point_and_its_bound() {
    let instance = Recipe::new(Family::Paper, 4).size(24, 60).noise(0.95).generate().unwrap();
    let x = UnitRows::new(&instance.matrix).unwrap();
    let control = Control::default().with_deadline(std::time::Instant::now());
    let settings = LpSettings::new(Goal::Minimax);
    let outcome = lp(&x, 4, &[true; 24], &settings, &control).unwrap();
    check_point(&x, 4, &settings, &outcome);
    assert_eq!((outcome.status, outcome.stop), (LpStatus::Feasible, Stop::TimeLimit));
    assert!(outcome.lower_bound <= outcome.objective);
}

#[test]
fn sparse_and_dense_agree_and_threads_do_not_matter() {
    let recipe = Recipe::new(Family::Multinomial, 3).size(20, 60).tokens(12);
    let Matrix::Sparse(sparse) = recipe.generate().unwrap().matrix else { panic!("sparse") };
    let sparse = UnitRows::new(&Matrix::from(sparse)).unwrap();
    let rows: Vec<Vec<f64>> = (0..sparse.features()).map(|i| sparse.dense_row(i)).collect();
    let dense = unit(&rows);
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    for goal in [Goal::Minimax, Goal::Total] {
        let settings = LpSettings { gap: Some(1e-8), ..LpSettings::new(goal) };
        let one = pool(1).install(|| solve(&sparse, 3, &settings));
        let three = pool(3).install(|| solve(&sparse, 3, &settings));
        assert_eq!(one, three);
        let other = solve(&dense, 3, &settings);
        assert!((one.objective - other.objective).abs() < 1e-7);
    }
}

#[test]
fn only_candidates_have_weight() {
    let instance = Recipe::new(Family::Paper, 3).size(20, 40).noise(0.95).generate().unwrap();
    let x = UnitRows::new(&instance.matrix).unwrap();
    let allowed: Vec<bool> = (0..20).map(|i| i % 2 == 0).collect();
    let outcome =
        lp(&x, 3, &allowed, &LpSettings::new(Goal::Minimax), &Control::default()).unwrap();
    assert!((0..20).all(|i| allowed[i] || outcome.diagonal[i] == 0.0));
    assert_eq!(outcome.status, LpStatus::Optimal);
}

#[test]
fn exact_data_are_explained_exactly() {
    let instance = Recipe::new(Family::Paper, 3).size(20, 40).noise(0.0).generate().unwrap();
    let x = UnitRows::new(&instance.matrix).unwrap();
    for goal in [Goal::Cost { tau: 0.0 }, Goal::Minimax, Goal::Total] {
        let outcome = solve(&x, 3, &LpSettings::new(goal));
        assert_eq!(outcome.status, LpStatus::Optimal, "{goal:?} {outcome:?}");
    }
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let (x, _) = six_rows();
    let run = |settings: LpSettings| lp(&x, 3, &[true; 6], &settings, &Control::default());
    let base = LpSettings::new(Goal::Minimax);
    for tau in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(run(LpSettings::new(Goal::Cost { tau })).is_err());
    }
    assert!(run(LpSettings { gap: Some(0.0), ..base.clone() }).is_err());
    assert!(run(LpSettings { trace: false, ..base.clone() }).is_err());
    assert!(run(LpSettings { cost: Some(vec![1.0; 5]), ..base }).is_err());
    assert!(lp(&x, 7, &[true; 6], &LpSettings::new(Goal::Minimax), &Control::default()).is_err());
}

#[test]
fn sparse_rows_with_zeros_are_handled() {
    let triplets = [(0, 0, 1.0), (1, 1, 1.0), (2, 0, 1.0), (2, 1, 1.0), (3, 0, 3.0), (3, 1, 1.0)];
    let x = UnitRows::new(&Sparse::from_triplets(4, 3, &triplets).unwrap().into()).unwrap();
    let outcome = solve(&x, 2, &LpSettings::new(Goal::Minimax));
    assert!(outcome.objective < 1e-12);
}

#[test]
fn rows_left_out_at_first_come_in_when_they_pay() {
    for (seed, noise) in [(1, 0.95), (2, 4.0), (3, 10.0)] {
        let recipe = Recipe::new(Family::Paper, 4).size(60, 30).noise(noise).seed(seed);
        let x = UnitRows::new(&recipe.generate().unwrap().matrix).unwrap();
        let best = solve(&x, 4, &LpSettings::new(Goal::Minimax)).objective;
        let goals = [
            Goal::Minimax,
            Goal::Total,
            Goal::Cost { tau: 0.9 * best },
            Goal::Cost { tau: 1.02 * best },
            Goal::Cost { tau: 2.0 * best },
        ];
        let cases = goals.into_iter().flat_map(|goal| [(goal, vec![]), (goal, vec![7, 58])]);
        for (goal, must) in cases {
            let all = LpSettings { must, ..LpSettings::new(goal) };
            let some = LpSettings { all_in_play: 4, ..all.clone() };
            let [all, some] = [all, some].map(|settings| solve(&x, 4, &settings));
            assert_eq!(all.status, some.status, "{goal:?}");
            if all.status == LpStatus::Optimal {
                let gap = 2.1e-4 * all.objective.abs();
                assert!((all.objective - some.objective).abs() <= gap, "{goal:?}");
            } else {
                assert!(some.lower_bound > 0.9 * best);
            }
        }
    }
}

#[test]
fn rough_rounds_come_to_the_same_optimum() {
    for (seed, noise) in [(1, 0.95), (2, 4.0)] {
        // Enough columns for fits that are not exact.
        let recipe = Recipe::new(Family::Paper, 3).size(24, 600).duplicates(1).noise(noise);
        let x = UnitRows::new(&recipe.seed(seed).generate().unwrap().matrix).unwrap();
        let with = |gap| LpSettings { gap: Some(gap), ..LpSettings::new(Goal::Minimax) };
        let exact = solve(&x, 3, &with(1e-8));
        assert_eq!(exact.status, LpStatus::Optimal);
        let rough = solve(&x, 3, &with(1e-2));
        assert_eq!(rough.status, LpStatus::Optimal);
        assert!(rough.lower_bound <= exact.objective && rough.objective >= exact.lower_bound);
        assert!(rough.pivots < exact.pivots, "{} {}", rough.pivots, exact.pivots);
        let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(rough, pool(3).install(|| solve(&x, 3, &with(1e-2))));
    }
}
