//! The verifier against exact arithmetic: every figure is recomputed with rational numbers.

use super::rounding::{Sum, add_down, add_up, div_down, div_up, dot, gamma, mul_down, mul_up};
use super::rounding::{depth, gathered_depth, gathered_dot};
use super::*;
use crate::Goal;
use crate::control::Control;
use crate::matrix::{Dense, Matrix, Sparse};
use crate::normalise::UnitRows;
use num_rational::BigRational;
use proptest::prelude::*;

fn exact(value: f64) -> BigRational {
    BigRational::from_float(value).expect("finite")
}

fn zero() -> BigRational {
    exact(0.0)
}

fn positive(value: BigRational) -> BigRational {
    if value > zero() { value } else { zero() }
}

fn size(value: BigRational) -> BigRational {
    if value < zero() { -value } else { value }
}

/// Rows divided by their exact sums.
fn unit(rows: &[Vec<f64>]) -> Vec<Vec<BigRational>> {
    let unit = |row: &Vec<f64>| {
        let sum: BigRational = row.iter().map(|v| exact(*v)).sum();
        row.iter().map(|v| exact(*v) / &sum).collect()
    };
    rows.iter().map(unit).collect()
}

fn product(a: &[f64], b: &[BigRational]) -> BigRational {
    a.iter().zip(b).map(|(a, b)| exact(*a) * b).sum()
}

/// What Y proves, and the value at (d, C), whose trace must be the rank; by the definitions in the
/// module's documentation.
fn bound_and_value(rows: &[Vec<f64>], made: &Certificate) -> (BigRational, BigRational) {
    let x = unit(rows);
    let norm = |y: &[f64]| exact(y.iter().fold(0.0, |most, v| v.abs().max(most)));
    let norms: Vec<BigRational> = made.dual.iter().map(|(_, y)| norm(y)).collect();
    let mut bound: BigRational = made.dual.iter().map(|(i, y)| product(y, &x[*i])).sum();
    let mut prices: Vec<BigRational> = Vec::new();
    for j in (0..x.len()).filter(|j| made.allowed[*j]) {
        let mut price = exact(made.cost[j]);
        for (i, y) in &made.dual {
            let g = product(y, &x[j]);
            price -= if *i == j { g } else { positive(g) };
        }
        if made.must.contains(&j) {
            bound += price;
        } else {
            prices.push(price);
        }
    }
    prices.sort();
    let left = |rank: usize| rank - made.must.len();
    match made.rank {
        Some(rank) => bound += prices.into_iter().take(left(rank)).sum::<BigRational>(),
        None => bound -= prices.into_iter().map(|a| positive(-a)).sum::<BigRational>(),
    }
    let one = exact(1.0);
    let most = match made.goal {
        Goal::Cost { tau } => {
            bound -= exact(tau) * norms.iter().sum::<BigRational>();
            one
        }
        Goal::Minimax => norms.into_iter().sum::<BigRational>().max(one),
        Goal::Total => norms.into_iter().fold(one, |a, b| a.max(b)),
    };
    let bound = bound / most;
    let errors: Vec<BigRational> = (0..x.len())
        .map(|i| {
            let (columns, weights) = made.localising.row(i);
            let residual = |k: usize| {
                let explained = columns.iter().zip(weights);
                let explained = explained.map(|(&j, c)| exact(*c) * &x[j as usize][k]);
                &x[i][k] - explained.sum::<BigRational>()
            };
            (0..x[i].len()).map(|k| size(residual(k))).sum()
        })
        .collect();
    match made.goal {
        Goal::Cost { .. } => {
            let cost = made.cost.iter().zip(&made.diagonal);
            (bound, cost.map(|(p, d)| exact(*p) * exact(*d)).sum())
        }
        Goal::Minimax => (positive(bound), errors.into_iter().max().unwrap()),
        Goal::Total => (positive(bound), errors.into_iter().sum()),
    }
}

/// Checks one certificate on dense and on sparse data; `slack` is how much the bounds may give
/// away, relative to numbers of size one and to the norms of Y.
fn holds(rows: &[Vec<f64>], made: &Certificate, slack: f64) {
    let (bound, value) = bound_and_value(rows, made);
    let dense: Matrix = Dense::from_rows(rows).unwrap().into();
    let mut triplets = Vec::new();
    for (i, row) in rows.iter().enumerate() {
        triplets.extend(row.iter().enumerate().map(|(k, v)| (i, k, *v)).filter(|t| t.2 != 0.0));
    }
    let sparse = Sparse::from_triplets(dense.rows(), dense.cols(), &triplets).unwrap();
    for matrix in [dense, sparse.into()] {
        let x = UnitRows::new(&matrix).unwrap();
        let found = verify(&x, made, &Control::default()).unwrap();
        assert!(exact(found.lower_bound) <= bound, "{found:?}");
        assert!(exact(found.objective) >= value, "{found:?}");
        let slack = exact(slack * (1.0 + found.dual_norm) * found.objective.abs().max(1.0));
        assert!(exact(found.lower_bound) + &slack >= bound, "{found:?}");
        assert!(exact(found.objective) - &slack <= value, "{found:?}");
    }
}

/// Entries of very different sizes, zeros among them, at one of several scales.
fn entry() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => 0.0f64..1.0,
        1 => Just(0.0),
        1 => (0.0f64..1.0).prop_map(|v| v * 1e-9),
        1 => (1u32..9).prop_map(f64::from),
        1 => (1u32..9).prop_map(|v| f64::from(v) / 3.0),
    ]
}

/// A row in one of the scales that numbers have; the last is subnormal.
fn row(n: usize) -> impl Strategy<Value = Vec<f64>> {
    let scale = prop_oneof![
        3 => Just(1.0), 1 => Just(1e300), 1 => Just(1e-300), 1 => Just(1e-318), 1 => Just(3e7)
    ];
    (prop::collection::vec(entry(), n), 0..n, scale, any::<bool>()).prop_map(
        |(mut row, place, scale, single)| {
            if single {
                row.fill(0.0);
            }
            row[place] += 0.5;
            row.iter_mut().for_each(|v| *v *= scale);
            row
        },
    )
}

const F: usize = 4;
const N: usize = 5;

prop_compose! {
    /// Rows and a certificate whose point is feasible: two rows of trace 2 and weights of halves.
    fn instance()(
        rows in prop::collection::vec(row(N), F),
        weights in prop::collection::vec(0.0f64..1.0, F * F),
        share in 0.0f64..1.0,
        y in prop::collection::vec(prop_oneof![2 => -1.0f64..1.0, 1 => Just(1.0), 1 => Just(0.0)], F * N),
        norm in prop_oneof![Just(1.0), Just(0.25), Just(1e6), Just(1e-12)],
        goal in prop_oneof![
            Just(Goal::Minimax), Just(Goal::Total), Just(Goal::Cost { tau: 4.0 })
        ],
        cost in prop::collection::vec(-2.0f64..2.0, F),
        free in any::<bool>(),
        must in any::<bool>(),
    ) -> (Vec<Vec<f64>>, Certificate) {
        // Multiples of 2^-20 add up exactly.
        let share = (share * 1048576.0).floor() / 1048576.0;
        let diagonal = vec![1.0, share, 1.0 - share, 0.0];
        let mut triplets = Vec::new();
        for i in 0..F {
            for j in 0..F {
                let weight = if i == j { diagonal[j] } else { weights[i * F + j].min(diagonal[j]) };
                triplets.push((i, j, weight));
            }
        }
        let with_cost = matches!(goal, Goal::Cost { .. });
        let dual = y.chunks(N).map(|y| y.iter().map(|v| v * norm).collect::<Vec<f64>>());
        let made = Certificate {
            goal,
            rank: (!free).then_some(2),
            cost: if with_cost { cost } else { vec![0.0; F] },
            allowed: vec![true; F],
            must: if must { vec![0] } else { Vec::new() },
            diagonal,
            localising: Sparse::from_triplets(F, F, &triplets).unwrap(),
            dual: dual.enumerate().collect(),
            claims: None,
        };
        (rows, made)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn figures_are_on_the_safe_side_of_exact_ones((rows, made) in instance()) {
        holds(&rows, &made, 1e-13);
    }

    #[test]
    fn single_operations(
        a in prop_oneof![-1e3f64..1e3, Just(0.0), Just(1e-310), Just(-3e-322), Just(1e300)],
        b in prop_oneof![1e-3f64..1e3, Just(1e-3), Just(7e-310), Just(3e5)],
    ) {
        let (x, y) = (exact(a), exact(b));
        prop_assert!(exact(add_up(a, b)) >= &x + &y && exact(add_down(a, b)) <= &x + &y);
        prop_assert!(exact(mul_up(a, b)) >= &x * &y && exact(mul_down(a, b)) <= &x * &y);
        let (low, high) = (div_down(a, b), div_up(a, b));
        prop_assert!(high.is_infinite() || exact(high) >= &x / &y);
        prop_assert!(low.is_infinite() || exact(low) <= &x / &y);
    }

    #[test]
    fn sums_and_products(
        a in prop::collection::vec(prop_oneof![-1.0f64..1.0, Just(1e16), Just(-1e16)], 0..70),
        b in prop::collection::vec(-1.0f64..1.0, 70),
    ) {
        let bounds = a.iter().copied().collect::<Sum>().bounds();
        let sum: BigRational = a.iter().map(|v| exact(*v)).sum();
        prop_assert!(exact(bounds.low) <= sum && sum <= exact(bounds.high));
        prop_assert!(bounds.high - bounds.low <= 1e-15 * bounds.high.abs() + 1e-12);
        let b = &b[..a.len()];
        let value: BigRational = a.iter().zip(b).map(|(a, b)| exact(*a) * exact(*b)).sum();
        let sizes: BigRational = a.iter().zip(b).map(|(a, b)| size(exact(*a) * exact(*b))).sum();
        let columns: Vec<u32> = (0..a.len() as u32).collect();
        for (found, depth) in [
            (dot(&a, b), depth(a.len())),
            (gathered_dot(&columns, &a, b), gathered_depth(a.len())),
        ] {
            prop_assert!(size(exact(found) - &value) <= exact(gamma(depth)) * &sizes);
        }
    }
}

/// Rows longer than several blocks, with entries that do not add up exactly.
#[test]
fn long_rows() {
    let n = 1300;
    let noise = |seed: usize, k: usize| ((seed * 7919 + k * 104_729) % 1009) as f64 / 1009.0;
    let rows: Vec<Vec<f64>> = (0..3).map(|i| (0..n).map(|k| noise(i, k)).collect()).collect();
    let y = |i: usize| (0..n).map(|k| 2.0 * noise(i + 5, k) - 1.0).collect::<Vec<f64>>();
    let triplets = [(0, 0, 1.0), (1, 0, 0.7), (2, 0, 0.2), (1, 1, 0.25), (2, 2, 0.75), (0, 2, 0.1)];
    for goal in [Goal::Minimax, Goal::Total] {
        let made = Certificate {
            goal,
            rank: Some(2),
            cost: vec![0.0; 3],
            allowed: vec![true; 3],
            must: Vec::new(),
            diagonal: vec![1.0, 0.25, 0.75],
            localising: Sparse::from_triplets(3, 3, &triplets).unwrap(),
            dual: (0..3).map(|i| (i, y(i))).collect(),
            claims: None,
        };
        holds(&rows, &made, 1e-12);
    }
}
