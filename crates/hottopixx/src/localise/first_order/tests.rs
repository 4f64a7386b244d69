use super::*;
use crate::Goal;
use crate::localise::instances::{as_sparse, paper};
use crate::localise::lp::{LpSettings, lp};

/// Duplicates share their weight in many ways, which takes the method long to settle.
const GAP: f64 = 0.02;

fn settings(weights: Weights) -> FirstOrderSettings {
    FirstOrderSettings { weights, gap: GAP, steps: 4000, work: f64::INFINITY, at_hand: None }
}

#[test]
fn meets_the_cutting_planes_on_the_papers_program() {
    let control = Control::default();
    for (seed, noise) in [(1, 0.5), (2, 3.0)] {
        let instance = paper((30, 60, 4, 1), noise, seed);
        let allowed: Vec<bool> = (0..instance.x.features()).map(|i| i % 7 != 3).collect();
        let exact = lp(&instance.x, 4, &allowed, &LpSettings::new(Goal::Total), &control).unwrap();
        for x in [instance.x.clone(), as_sparse(&instance.x)] {
            let found = first_order(&x, 4, &allowed, &settings(Weights::UpToDiagonal), &control);
            let found = found.unwrap().unwrap();
            assert!(found.steps < 4000, "the gap was reached");
            let (low, high) = (found.lower_bound, found.objective);
            assert!(high - low <= GAP * high, "{low} {high}");
            // Single precision.
            assert!(low <= exact.objective * (1.0 + 1e-4), "{low} {}", exact.objective);
            assert!(high >= exact.lower_bound * (1.0 - 1e-4), "{high} {}", exact.lower_bound);
            assert!((found.diagonal.iter().sum::<f64>() - 4.0).abs() < 1e-9);
            assert!((0..allowed.len()).all(|i| allowed[i] || found.diagonal[i] == 0.0));
        }
    }
}

/// Enough rows that a part of them comes first, and columns are priced on a part of the rows.
#[test]
fn many_rows_begin_with_a_part_of_them() {
    let instance = paper((2100, 500, 4, 0), 0.5, 3);
    let allowed: Vec<bool> = (0..2100).map(|i| i % 4 == 0).collect();
    let few = FirstOrderSettings { steps: 10, ..settings(Weights::UpToDiagonal) };
    let control = Control::default();
    let found = first_order(&instance.x, 4, &allowed, &few, &control).unwrap().unwrap();
    let dual = found.dual.chunks_exact(500).map(|y| y.iter().map(|v| f64::from(*v)).collect());
    let proven = total_bound(&instance.x, 4, &allowed, &dual.collect::<Vec<Vec<f64>>>());
    let (value, bound) = (found.objective, found.lower_bound);
    assert!((proven - bound).abs() < 1e-3 * value && bound < value, "{proven} {bound} {value}");
    assert!(
        value < 0.1 * instance.x.features() as f64,
        "the part's levels explain all rows: {value}"
    );
}

/// `<Y, X> - (sum of the r largest s_j)` in double precision, from all rows and columns.
fn total_bound(x: &UnitRows, rank: usize, allowed: &[bool], y: &[Vec<f64>]) -> f64 {
    let dot = |i: usize, j: usize| x.row(j).nonzeros().map(|(k, v)| v * y[i][k]).sum::<f64>();
    let price = |j: usize| {
        let others = (0..y.len()).filter(|i| *i != j).map(|i| dot(i, j).max(0.0));
        dot(j, j) + others.sum::<f64>()
    };
    let mut prices: Vec<f64> = (0..y.len()).filter(|j| allowed[*j]).map(price).collect();
    prices.sort_by(|a, b| b.total_cmp(a));
    (0..y.len()).map(|i| dot(i, i)).sum::<f64>() - prices[..rank].iter().sum::<f64>()
}

#[test]
fn a_stop_gives_the_best_so_far_or_nothing() {
    let instance = paper((30, 60, 4, 1), 3.0, 2);
    let allowed = vec![true; instance.x.features()];
    let late = Control::default().with_deadline(std::time::Instant::now());
    let found = first_order(&instance.x, 4, &allowed, &settings(Weights::Free), &late).unwrap();
    assert!(found.is_none_or(|found| found.lower_bound == f64::NEG_INFINITY));
    assert!(late.cut_short().is_some());
}
