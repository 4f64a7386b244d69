//! Points and duals of the programs by a general LP solver, as the module's documentation states them.

use crate::Goal;
use crate::matrix::Sparse;
use crate::normalise::UnitRows;
use microlp::{ComparisonOp, LinearExpr, OptimizationDirection, Problem, Variable};

/// The costs where the goal has any.
pub(super) fn costs(goal: Goal, cost: &[f64]) -> Vec<f64> {
    if matches!(goal, Goal::Cost { .. }) { cost.to_vec() } else { vec![0.0; cost.len()] }
}

/// d and C of the program, straight from its definition.
pub(super) fn point(
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
pub(super) fn dual(
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
