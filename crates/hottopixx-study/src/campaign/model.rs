//! Linear programs for the references: HiGHS where it is in the build, otherwise `microlp` up to a
//! size that it solves quickly. An answer is a suggestion: it is repaired and measured before it is
//! compared with anything.

/// A linear program `min cost.v`, `low <= v <= high`, rows `low <= entries.v <= high`.
#[derive(Debug, Clone, Default)]
pub struct LinearModel {
    /// (cost, low, high).
    columns: Vec<(f64, f64, f64)>,
    rows: Vec<Constraint>,
}

/// (low, high, entries by column).
type Constraint = (f64, f64, Vec<(usize, f64)>);

/// What a solver says.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelAnswer {
    /// Values of the columns, said to be optimal.
    Point(Vec<f64>),
    /// Said to have no solution.
    Infeasible,
    /// Too large for this build, too slow, or no verdict.
    Nothing,
}

/// Seconds after which a reference is given up.
const LIMIT: f64 = 10.0;

impl LinearModel {
    /// Adds a variable and returns its place.
    pub fn column(&mut self, cost: f64, low: f64, high: f64) -> usize {
        self.columns.push((cost, low, high));
        self.columns.len() - 1
    }

    /// Adds a constraint; a side that is infinite is none.
    pub fn row(&mut self, low: f64, high: f64, entries: Vec<(usize, f64)>) {
        self.rows.push((low, high, entries));
    }

    /// Solves it. A solver that panics has no answer.
    pub fn solve(&self) -> ModelAnswer {
        std::panic::catch_unwind(|| backend::solve(self)).unwrap_or(ModelAnswer::Nothing)
    }
}

#[cfg(not(feature = "highs"))]
mod backend {
    use super::{LIMIT, LinearModel, ModelAnswer};
    use microlp::{ComparisonOp, Error, OptimizationDirection, Problem, SolveOptions};
    use std::time::Duration;

    /// Columns times rows up to which it takes milliseconds.
    const SMALL: usize = 60_000;

    pub fn solve(model: &LinearModel) -> ModelAnswer {
        if model.columns.len() * model.rows.len() > SMALL {
            return ModelAnswer::Nothing;
        }
        let mut problem = Problem::new(OptimizationDirection::Minimize);
        let variables: Vec<_> = model
            .columns
            .iter()
            .map(|&(cost, low, high)| problem.add_var(cost, (low, high)))
            .collect();
        for (low, high, entries) in &model.rows {
            let terms: Vec<_> = entries.iter().map(|&(j, v)| (variables[j], v)).collect();
            let mut add = |op, side| problem.add_constraint(terms.as_slice(), op, side);
            match (low.is_finite(), high.is_finite()) {
                (true, true) if low == high => add(ComparisonOp::Eq, *low),
                (lower, upper) => {
                    if lower {
                        add(ComparisonOp::Ge, *low);
                    }
                    if upper {
                        add(ComparisonOp::Le, *high);
                    }
                }
            }
        }
        let mut options = SolveOptions::default();
        options.time_limit = Some(Duration::from_secs_f64(LIMIT));
        options.tolerances.feasibility = 1e-10;
        match problem.solve_with(options) {
            Ok(outcome) => outcome.solution().map_or(ModelAnswer::Nothing, |solution| {
                ModelAnswer::Point(variables.iter().map(|&v| solution.var_value(v)).collect())
            }),
            Err(Error::Infeasible) => ModelAnswer::Infeasible,
            Err(_) => ModelAnswer::Nothing,
        }
    }
}

#[cfg(feature = "highs")]
mod backend {
    use super::{LIMIT, LinearModel, ModelAnswer};
    use highs::{HighsModelStatus, RowProblem, Sense};

    /// Tolerances on feasibility, the tightest first: there it sometimes ends without a verdict.
    const TOLERANCES: [f64; 3] = [1e-10, 1e-9, 1e-7];

    pub fn solve(model: &LinearModel) -> ModelAnswer {
        let attempts = TOLERANCES.iter().map(|&tolerance| attempt(model, tolerance));
        attempts.flatten().next().unwrap_or(ModelAnswer::Nothing)
    }

    /// `None` without a verdict.
    fn attempt(model: &LinearModel, tolerance: f64) -> Option<ModelAnswer> {
        let mut problem = RowProblem::new();
        let columns: Vec<_> = model
            .columns
            .iter()
            .map(|&(cost, low, high)| problem.add_column(cost, low..=high))
            .collect();
        for (low, high, entries) in &model.rows {
            problem.add_row(*low..=*high, entries.iter().map(|&(j, v)| (columns[j], v)));
        }
        let mut model = problem.try_optimise(Sense::Minimise).ok()?;
        model.make_quiet();
        model.try_set_option("solver", "simplex").ok()?;
        model.try_set_option("parallel", "off").ok()?;
        model.try_set_option("threads", 1).ok()?;
        model.try_set_option("time_limit", LIMIT).ok()?;
        model.try_set_option("primal_feasibility_tolerance", tolerance).ok()?;
        model.try_set_option("dual_feasibility_tolerance", tolerance).ok()?;
        let solved = model.try_solve().ok()?;
        match solved.status() {
            HighsModelStatus::Optimal => {
                Some(ModelAnswer::Point(solved.get_solution().columns().to_vec()))
            }
            HighsModelStatus::Infeasible | HighsModelStatus::UnboundedOrInfeasible => {
                Some(ModelAnswer::Infeasible)
            }
            HighsModelStatus::ReachedTimeLimit => Some(ModelAnswer::Nothing),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_program_has_its_known_answer() {
        // Largest a + b with a + 2 b <= 4 and a <= 2.
        let mut model = LinearModel::default();
        let (a, b) = (model.column(-1.0, 0.0, 2.0), model.column(-1.0, 0.0, f64::INFINITY));
        model.row(f64::NEG_INFINITY, 4.0, vec![(a, 1.0), (b, 2.0)]);
        let ModelAnswer::Point(point) = model.solve() else { panic!("{:?}", model.solve()) };
        assert!((point[a] - 2.0).abs() < 1e-9 && (point[b] - 1.0).abs() < 1e-9);
        model.row(5.0, 5.0, vec![(a, 1.0), (b, 2.0)]);
        assert_eq!(model.solve(), ModelAnswer::Infeasible);
    }
}
