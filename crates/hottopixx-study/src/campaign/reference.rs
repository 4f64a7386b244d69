//! The references: the three problems as whole linear programs, and what is made of their answers.
//!
//! A solver's point is never trusted. It is repaired to one that meets every constraint exactly, in
//! numbers that are multiples of 2^-50 where a sum is prescribed, and only that point's exact value
//! is compared: whatever the solver did, somebody has *reached* this value.

use super::bound::{Question, Worth};
use super::exact::ExactRows;
use super::model::{LinearModel, ModelAnswer};
use hottopixx::Goal;
use hottopixx::matrix::Dense;
use hottopixx::normalise::UnitRows;
use num_rational::BigRational;

/// Steps in one: sums of multiples of this are exact as whole numbers.
const STEPS: f64 = (1u64 << 50) as f64;

/// A point of a program that meets its constraints exactly, but for tau.
#[derive(Debug, Clone)]
pub struct RepairedPoint {
    /// d.
    pub diagonal: Vec<f64>,
    /// C by rows: (column, weight).
    pub localising: Vec<Vec<(usize, f64)>>,
    /// Its exact value.
    pub worth: Worth,
}

/// What the reference says about a program.
#[derive(Debug, Clone)]
pub enum ReferenceFinding {
    /// This value is reached.
    Reached(Box<RepairedPoint>),
    /// Said to be infeasible; not proven.
    Infeasible,
    /// No answer.
    Nothing,
}

/// Solves a program with all f^2 weights, in the formulation with hinges (see
/// [`lp::reference`](crate::lp::reference)), and repairs the point.
pub fn program(x: &UnitRows, question: &Question<'_>) -> ReferenceFinding {
    let f = x.features();
    let rows: Vec<Vec<f64>> = (0..f).map(|i| x.dense_row(i)).collect();
    let (model, places) = program_model(&rows, question);
    match model.solve() {
        ModelAnswer::Infeasible => ReferenceFinding::Infeasible,
        ModelAnswer::Nothing => ReferenceFinding::Nothing,
        ModelAnswer::Point(values) => {
            let weight = |i: usize, j: usize| places[i * f + j].map_or(0.0, |at| values[at]);
            match repaired(question, &weight) {
                Some(point) => ReferenceFinding::Reached(Box::new(point)),
                None => ReferenceFinding::Nothing,
            }
        }
    }
}

/// The model, and where `C_ij` is in it.
fn program_model(rows: &[Vec<f64>], question: &Question<'_>) -> (LinearModel, Vec<Option<usize>>) {
    let (f, goal) = (rows.len(), question.goal);
    let mut model = LinearModel::default();
    let each = if goal == Goal::Total { 1.0 } else { 0.0 };
    let mut places = vec![None; f * f];
    for i in 0..f {
        for j in (0..f).filter(|&j| question.allowed[j]) {
            let own =
                if i == j && matches!(goal, Goal::Cost { .. }) { question.cost[j] } else { 0.0 };
            places[i * f + j] = Some(model.column(each + own, 0.0, 1.0));
        }
    }
    let largest = (goal == Goal::Minimax).then(|| model.column(1.0, 0.0, f64::INFINITY));
    for (i, row) in rows.iter().enumerate() {
        let weights = (0..f).filter_map(|j| Some((j, places[i * f + j]?)));
        let mut error: Vec<(usize, f64)> = weights.clone().map(|(_, at)| (at, 1.0)).collect();
        for (k, &v) in row.iter().enumerate().filter(|(_, v)| **v > 0.0) {
            let hinge = model.column(2.0 * each, 0.0, f64::INFINITY);
            let fit = weights.clone().map(|(j, at)| (at, rows[j][k])).filter(|(_, v)| *v != 0.0);
            model.row(v, f64::INFINITY, fit.chain([(hinge, 1.0)]).collect());
            error.push((hinge, 2.0));
        }
        match (goal, largest) {
            (Goal::Cost { tau }, _) => model.row(f64::NEG_INFINITY, 1.0 + tau, error),
            (_, Some(t)) => {
                error.push((t, -1.0));
                model.row(f64::NEG_INFINITY, 1.0, error);
            }
            _ => {}
        }
        for (j, at) in weights.filter(|w| w.0 != i) {
            let cap = places[j * f + j].expect("a row that may be hott");
            model.row(f64::NEG_INFINITY, 0.0, vec![(at, 1.0), (cap, -1.0)]);
        }
    }
    if let Some(rank) = question.rank {
        let diagonal = (0..f).filter_map(|j| Some((places[j * f + j]?, 1.0))).collect();
        model.row(rank as f64, rank as f64, diagonal);
    }
    (model, places)
}

/// The nearest point with `0 <= C_ij <= d_j = C_jj <= 1`, `d_j = 0` where it must be, and exactly the
/// trace. Raising `C_ii` to `d_i` scales the other weights by `(1 - d_i) / (1 - C_ii)`, which scales
/// the error by as much. `None` when no diagonal has that trace.
pub fn repaired(
    question: &Question<'_>,
    weight: &dyn Fn(usize, usize) -> f64,
) -> Option<RepairedPoint> {
    let f = question.rows.len();
    let most = |j: usize| if question.allowed[j] { 1.0 } else { 0.0 };
    let raw: Vec<f64> = (0..f).map(|j| weight(j, j).clamp(0.0, most(j))).collect();
    let diagonal = match question.rank {
        Some(rank) => shares(&raw, question.allowed, rank)?,
        None => raw.clone(),
    };
    let localising: Vec<Vec<(usize, f64)>> = (0..f)
        .map(|i| {
            let (own, now) = (diagonal[i], raw[i]);
            let factor = if own > now && now < 1.0 { (1.0 - own) / (1.0 - now) } else { 1.0 };
            let entry = |j: usize| {
                let c = if i == j { own } else { (factor * weight(i, j)).clamp(0.0, diagonal[j]) };
                (c > 0.0).then_some((j, c))
            };
            (0..f).filter_map(entry).collect()
        })
        .collect();
    let worth = question.worth(&diagonal, &localising);
    Some(RepairedPoint { diagonal, localising, worth })
}

/// Multiples of 2^-50 near the values, at most 1, zero where not allowed, that sum to `total`
/// exactly. `None` when there are too few places.
fn shares(values: &[f64], allowed: &[bool], total: usize) -> Option<Vec<f64>> {
    let one = STEPS as i64;
    let start = |(v, allowed): (&f64, &bool)| {
        if *allowed { (v * STEPS).round().clamp(0.0, STEPS) as i64 } else { 0 }
    };
    let mut steps: Vec<i64> = values.iter().zip(allowed).map(start).collect();
    let mut missing =
        i128::from(one) * total as i128 - steps.iter().map(|s| i128::from(*s)).sum::<i128>();
    let mut order: Vec<usize> = (0..steps.len()).filter(|&j| allowed[j]).collect();
    order.sort_by_key(|&j| std::cmp::Reverse(steps[j]));
    for j in order {
        let room = if missing > 0 { one - steps[j] } else { -steps[j] };
        let change = if missing > 0 {
            missing.min(i128::from(room)) as i64
        } else {
            missing.max(i128::from(room)) as i64
        };
        steps[j] += change;
        missing -= i128::from(change);
    }
    (missing == 0).then(|| steps.iter().map(|s| *s as f64 / STEPS).collect())
}

/// Weights within `0 <= c <= u` whose `||x - cA||_1` is as good as the solver could make it; `None`
/// without an answer.
pub fn fit(atoms: &Dense, x: &[f64], upper: Option<&[f64]>) -> Option<Vec<f64>> {
    let size =
        |v: &[f64]| -v.iter().fold(0.0f64, |m, e| m.max(e.abs())).max(f64::MIN_POSITIVE).log2();
    let own = size(x).round() as i32;
    let scales: Vec<i32> = (0..atoms.rows()).map(|j| size(atoms.row(j)).round() as i32).collect();
    let mut model = LinearModel::default();
    for (j, scale) in scales.iter().enumerate() {
        let most = upper.map_or(f64::INFINITY, |u| shift(u[j], own - scale));
        model.column(0.0, 0.0, most);
    }
    for (k, &target) in x.iter().enumerate() {
        let entry = |(j, scale): (usize, &i32)| (j, shift(atoms.row(j)[k], *scale));
        let mut entries: Vec<(usize, f64)> =
            scales.iter().enumerate().map(entry).filter(|e| e.1 != 0.0).collect();
        entries.push((model.column(1.0, 0.0, f64::INFINITY), 1.0));
        entries.push((model.column(1.0, 0.0, f64::INFINITY), -1.0));
        let target = shift(target, own);
        model.row(target, target, entries);
    }
    let ModelAnswer::Point(values) = model.solve() else { return None };
    let weight = |(j, scale): (usize, &i32)| {
        let most = upper.map_or(f64::MAX, |u| u[j].min(f64::MAX));
        shift(values[j], scale - own).clamp(0.0, most)
    };
    Some(scales.iter().enumerate().map(weight).collect())
}

/// `value * 2^by`, in steps that do not overflow before the result does.
fn shift(value: f64, by: i32) -> f64 {
    let step = by.clamp(-1000, 1000);
    let moved = value * 2f64.powi(step);
    if step == by { moved } else { moved * 2f64.powi(by - step) }
}

/// A distance of row i from the hull of the rows `others` that is reached, in exact arithmetic.
pub fn hull_distance(
    rows: &ExactRows,
    x: &UnitRows,
    i: usize,
    others: &[usize],
) -> Option<BigRational> {
    let unit: Vec<Vec<f64>> = others.iter().map(|&j| x.dense_row(j)).collect();
    let mut model = LinearModel::default();
    let weights: Vec<usize> = others.iter().map(|_| model.column(0.0, 0.0, 1.0)).collect();
    for (k, &target) in x.dense_row(i).iter().enumerate() {
        let mut entries: Vec<(usize, f64)> = weights
            .iter()
            .zip(&unit)
            .map(|(&at, row)| (at, row[k]))
            .filter(|e| e.1 != 0.0)
            .collect();
        entries.push((model.column(1.0, 0.0, f64::INFINITY), 1.0));
        entries.push((model.column(1.0, 0.0, f64::INFINITY), -1.0));
        model.row(target, target, entries);
    }
    model.row(1.0, 1.0, weights.iter().map(|&at| (at, 1.0)).collect());
    let ModelAnswer::Point(values) = model.solve() else { return None };
    let found: Vec<f64> = weights.iter().map(|&at| values[at]).collect();
    let convex = shares(&found, &vec![true; others.len()], 1)?;
    let point: Vec<(usize, f64)> = others.iter().copied().zip(convex).collect();
    Some(rows.distance(1.0, i, &point))
}

#[cfg(test)]
mod tests {
    use super::super::exact::float;
    use super::*;

    #[test]
    fn shares_sum_exactly() {
        let found = shares(&[0.3, 0.7 + 1e-9, 0.5], &[true, true, false], 1).unwrap();
        assert_eq!(found.iter().map(|v| (v * STEPS) as i64).sum::<i64>(), STEPS as i64);
        assert!((found[0] - 0.3).abs() < 1e-8 && found[2] == 0.0);
        assert_eq!(shares(&[0.0, 0.0], &[true; 2], 2), Some(vec![1.0; 2]));
        assert_eq!(shares(&[0.0, 0.0], &[true, false], 2), None);
    }

    #[test]
    fn known_optima_are_reached() {
        let rows: [&[f64]; 3] = [&[1.0, 0.0], &[0.0, 3.0], &[2.0, 2.0]];
        let matrix = Dense::from_rows(&rows).unwrap();
        let x = UnitRows::new(&matrix.clone().into()).unwrap();
        let exact = ExactRows::new(&matrix, &x);
        let allowed = [false, false, true];
        let question = Question {
            rows: &exact,
            goal: Goal::Minimax,
            rank: Some(1),
            cost: &[0.0; 3],
            allowed: &allowed,
        };
        let ReferenceFinding::Reached(point) = program(&x, &question) else { panic!("no answer") };
        assert!((float(&point.worth.objective) - 1.0).abs() < 1e-8);
        let question = Question { goal: Goal::Cost { tau: 0.9 }, ..question };
        assert!(matches!(program(&x, &question), ReferenceFinding::Infeasible));
        assert!(float(&hull_distance(&exact, &x, 2, &[0, 1]).unwrap()) < 1e-8);
        assert_eq!(float(&hull_distance(&exact, &x, 0, &[1]).unwrap()), 2.0);
        let weights = fit(&matrix, &[1e-300, 3e-300], Some(&[1.0, f64::INFINITY, 0.0])).unwrap();
        assert!((weights[0] / 1e-300 - 1.0).abs() < 1e-8 && weights[2] == 0.0, "{weights:?}");
    }
}
