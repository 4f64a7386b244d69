//! The greedy methods on small instances with known answers.

use super::*;
use crate::localise::instances::{as_sparse, midpoints, paper, unit_rows};

type Method = fn(&UnitRows, usize, &[bool]) -> Vec<usize>;

fn methods() -> [(&'static str, Method); 3] {
    [
        ("spa", |x, r, a| spa(x, r, a)),
        ("snpa", |x, r, a| snpa(x, r, a, &Control::default()).rows),
        ("xray", |x, r, a| xray(x, r, a, &Control::default()).rows),
    ]
}

fn sorted(mut rows: Vec<usize>) -> Vec<usize> {
    rows.sort_unstable();
    rows
}

#[test]
fn recovers_separable_instances_dense_and_sparse() {
    for (name, method) in methods() {
        for (shape, eta) in [((20, 60, 4, 0), 0.0), ((20, 60, 4, 2), 0.0), ((40, 200, 5, 1), 0.95)]
        {
            let instance = paper(shape, eta, 7);
            let all = vec![true; shape.0];
            let rows = method(&instance.x, shape.2, &all);
            assert!(instance.recovered(&rows), "{name} {shape:?} {eta} {rows:?}");
            if eta > 0.0 {
                assert_eq!(method(&as_sparse(&instance.x), shape.2, &all), rows, "{name}");
            }
        }
    }
}

#[test]
fn never_fewer_rows_than_asked_for() {
    let identity = unit_rows(&[vec![1.0, 0.0, 0.0], vec![0.0, 1.0, 0.0], vec![0.0, 0.0, 1.0]]);
    let same = unit_rows(&[vec![1.0, 2.0], vec![2.0, 4.0], vec![1.0, 2.0], vec![3.0, 0.0]]);
    for (name, method) in methods() {
        assert_eq!(method(&identity, 3, &[true; 3]), [0, 1, 2], "{name}: ties go to the lowest");
        assert_eq!(method(&identity, 2, &[false, true, true]), [1, 2], "{name}");
        assert_eq!(method(&identity, 3, &[false, true, true]), [1, 2], "{name}: all allowed");
        // Two directions only: the third and fourth row fill up, without repeating any.
        assert_eq!(method(&same, 4, &[true; 4]), [3, 0, 1, 2], "{name}");
        assert_eq!(method(&same, 3, &[true, true, true, false]), [0, 1, 2], "{name}");
        assert_eq!(method(&same, 0, &[true; 4]), [0usize; 0], "{name}");
    }
}

#[test]
fn permuted_rows_give_permuted_answers() {
    let instance = paper((30, 50, 5, 0), 2.0, 3);
    let order: Vec<usize> = (0..30).map(|i| (7 * i + 3) % 30).collect();
    let rows: Vec<Vec<f64>> = order.iter().map(|&i| instance.x.dense_row(i)).collect();
    let permuted = unit_rows(&rows);
    for (name, method) in methods() {
        let expected = method(&instance.x, 8, &[true; 30]);
        let found: Vec<usize> =
            method(&permuted, 8, &[true; 30]).iter().map(|&i| order[i]).collect();
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn weights_decide_and_zero_weights_fill_up() {
    let instance = midpoints(80, 4, 1.0, 1);
    let f = instance.x.features();
    assert!(!instance.recovered(&spa(&instance.x, 4, &vec![true; f])), "SPA alone is fooled");
    let weights: Vec<f64> = (0..f).map(|i| if i < 4 { 0.9 } else { 0.05 }).collect();
    let all = vec![true; f];
    let control = Control::default();
    assert!(instance.recovered(&spa_weighted(&instance.x, &weights, 4, &all)));
    assert!(instance.recovered(&snpa_weighted(&instance.x, &weights, 4, &all, &control).rows));
    let only_one: Vec<f64> = (0..f).map(|i| if i == 2 { 1.0 } else { 0.0 }).collect();
    for rows in [
        spa_weighted(&instance.x, &only_one, 4, &all),
        snpa_weighted(&instance.x, &only_one, 4, &all, &control).rows,
    ] {
        assert_eq!((rows[0], rows.len()), (2, 4));
        let distinct = sorted(rows);
        assert!(distinct.windows(2).all(|w| w[0] < w[1]));
    }
}

/// The fifth topic differs from the first by 1e-7: residuals fall by 1e-14 and must be refreshed.
#[test]
fn tiny_residuals_are_told_apart() {
    let mut rows: Vec<Vec<f64>> = (0..4)
        .map(|i| {
            let mut row = vec![1.0; 12];
            row[i] = 20.0;
            row
        })
        .collect();
    let mut close = rows[0].clone();
    close[8] += 1e-7;
    rows.push(close);
    let mixture: Vec<f64> = (0..12).map(|k| rows[0][k] + 0.3 * rows[1][k] + rows[3][k]).collect();
    rows.insert(0, mixture);
    let x = unit_rows(&rows);
    for (name, method) in methods() {
        let found = method(&x, 5, &[true; 6]);
        assert_eq!(sorted(found), [1, 2, 3, 4, 5], "{name}");
    }
}

#[test]
fn stops_when_told() {
    let instance = paper((20, 40, 4, 0), 0.0, 1);
    let control = Control::default().with_deadline(std::time::Instant::now());
    for greedy in [
        spa_controlled(&instance.x, None, 4, &[true; 20], &control),
        snpa(&instance.x, 4, &[true; 20], &control),
        xray(&instance.x, 4, &[true; 20], &control),
    ] {
        assert_eq!(greedy, Greedy { rows: vec![], stop: Stop::TimeLimit });
    }
}
