//! Known optima of the paper's linear programs, reached with the cuts of the l1 kernel.
//!
//! Given the diagonal d the rows of C decouple, so Algorithm 3 is a program in d alone with
//! `phi_i(d) = min over 0 <= c <= d of ||x_i - cX||_1 <= tau`, and every dual y of the kernel is a
//! cut `sum_j (x_j.y)_+ d_j >= y.x_i - tau`. Kelley's method on these cuts must end at the known
//! optima, which tests the bounded kernel, its values and its duals together.

use hottopixx::l1;
use hottopixx::matrix::Dense;
use microlp::{ComparisonOp, Error as LpError, OptimizationDirection, Problem, Variable};

#[derive(Clone, Copy)]
enum Goal {
    /// `min p.d` with every error at most tau.
    Cost(f64),
    /// `min t` with every error at most t.
    Minimax,
    /// `min sum t_i`, t_i the error of row i.
    Total,
}

/// A cut of row i: `coefficients . d + (t or t_i) >= constant`.
struct Cut {
    row: usize,
    coefficients: Vec<f64>,
    constant: f64,
}

/// The optimum, or `None` when there is no feasible d.
fn optimum(x: &Dense, p: &[f64], rank: usize, goal: Goal) -> Option<f64> {
    let mut cuts: Vec<Cut> = Vec::new();
    for _ in 0..500 {
        let (value, d, t) = master(x, p, rank, goal, &cuts)?;
        let before = cuts.len();
        for (i, allowed) in t.iter().enumerate() {
            let fit = l1::fit(x, x.row(i), Some(&d)).unwrap();
            assert_eq!(fit.status, l1::Status::Optimal);
            if fit.value > allowed + 1e-11 {
                let price =
                    |row: &[f64]| -> f64 { row.iter().zip(&fit.dual).map(|(a, y)| a * y).sum() };
                let coefficients = (0..x.rows()).map(|j| price(x.row(j)).max(0.0)).collect();
                cuts.push(Cut { row: i, coefficients, constant: price(x.row(i)) });
            }
        }
        if cuts.len() == before {
            return Some(value);
        }
    }
    panic!("the cuts do not converge");
}

/// The master program: its value, d, and the error allowed to each row.
fn master(
    x: &Dense,
    p: &[f64],
    rank: usize,
    goal: Goal,
    cuts: &[Cut],
) -> Option<(f64, Vec<f64>, Vec<f64>)> {
    let f = x.rows();
    let mut lp = Problem::new(OptimizationDirection::Minimize);
    let cost = |j: usize| if matches!(goal, Goal::Cost(_)) { p[j] } else { 0.0 };
    let d: Vec<Variable> = (0..f).map(|j| lp.add_var(cost(j), (0.0, 1.0))).collect();
    let slacks: Vec<Variable> = match goal {
        Goal::Cost(_) => Vec::new(),
        Goal::Minimax => vec![lp.add_var(1.0, (0.0, f64::INFINITY)); f],
        Goal::Total => (0..f).map(|_| lp.add_var(1.0, (0.0, f64::INFINITY))).collect(),
    };
    let all: Vec<(Variable, f64)> = d.iter().map(|v| (*v, 1.0)).collect();
    lp.add_constraint(all.as_slice(), ComparisonOp::Eq, rank as f64);
    for cut in cuts {
        let mut terms: Vec<_> = d.iter().copied().zip(cut.coefficients.iter().copied()).collect();
        let mut constant = cut.constant;
        match goal {
            Goal::Cost(tau) => constant -= tau,
            _ => terms.push((slacks[cut.row], 1.0)),
        }
        lp.add_constraint(terms.as_slice(), ComparisonOp::Ge, constant);
    }
    let outcome = match lp.solve() {
        Err(LpError::Infeasible) => return None,
        outcome => outcome.unwrap(),
    };
    let solution = outcome.solution().unwrap();
    let t = match goal {
        Goal::Cost(tau) => vec![tau; f],
        _ => slacks.iter().map(|s| solution[*s]).collect(),
    };
    // Rounding may leave d a little outside its bounds.
    let d = d.iter().map(|v| solution[*v].clamp(0.0, 1.0)).collect();
    Some((solution.objective(), d, t))
}

fn assert_near(found: Option<f64>, expected: f64) {
    let found = found.expect("feasible");
    assert!((found - expected).abs() < 1e-9, "{found} instead of {expected}");
}

#[test]
fn six_rows() {
    let rows = [
        [8.0, 1.0, 1.0, 0.0, 0.0],
        [0.0, 8.0, 1.0, 1.0, 0.0],
        [0.0, 0.0, 1.0, 1.0, 8.0],
        [4.0, 4.5, 1.0, 0.5, 0.0],
        [4.0, 0.5, 1.0, 0.5, 4.0],
        [2.5, 3.0, 1.5, 1.0, 2.0],
    ];
    let x = Dense::from_rows(&rows.map(|r| r.map(|v| v / 10.0))).unwrap();
    let p = [0.67, 0.53, 0.41, 0.37, 0.23, 0.11];
    assert_eq!(optimum(&x, &p, 3, Goal::Cost(0.05)), None);
    for (tau, expected) in [
        (0.08, 1.498307692308),
        (0.1, 1.470384615385),
        (0.2, 1.330769230769),
        (0.5, 0.961875),
        (0.9, 0.71),
    ] {
        assert_near(optimum(&x, &p, 3, Goal::Cost(tau)), expected);
    }
    for (tau, expected) in [(0.4, 0.941538461538), (0.8, 0.423747534517)] {
        assert_near(optimum(&x, &p, 2, Goal::Cost(tau)), expected);
    }
    assert_near(optimum(&x, &p, 3, Goal::Minimax), 0.076502732240);
    assert_near(optimum(&x, &p, 2, Goal::Minimax), 0.321428571429);
    assert_near(optimum(&x, &p, 3, Goal::Total), 0.1015625);
    assert_near(optimum(&x, &p, 2, Goal::Total), 1.0515625);
}

#[test]
fn duplicates() {
    let rows = [[0.6, 0.4, 0.0], [0.6, 0.4, 0.0], [0.0, 0.2, 0.8], [0.3, 0.3, 0.4]];
    let x = Dense::from_rows(&rows).unwrap();
    let p = [0.9, 0.1, 0.5, 0.3];
    assert_near(optimum(&x, &p, 2, Goal::Cost(0.0)), 0.6);
    assert_near(optimum(&x, &p, 2, Goal::Cost(0.1)), 0.572727272727);
}
