//! The reference: the whole linear program in one piece, solved by the simplex method of HiGHS.
//!
//! It shares nothing with the cutting planes but X. Of the formulations that we know, HiGHS is
//! fastest on the one with hinges. Rows of X sum to one, so that
//! `||x_i - c_i X||_1 = 2 sum_k (x_i - c_i X)_k+ + sum_j C_ij - 1`, and only the positive parts
//! need variables, and only where X_ik > 0:
//!
//! ```text
//! S_ik + sum_j C_ij X_jk >= X_ik,  S_ik >= 0     for X_ik > 0
//! 2 sum_k S_ik + sum_j C_ij - 1 <= tau, or <= t  for every row i
//! C_ij <= C_jj,  0 <= C <= 1,  trace C = r
//! ```

use super::LpProgram;

/// Why there is no reference in this build, if so.
pub const MISSING: Option<&str> = if cfg!(feature = "highs") {
    None
} else {
    Some(
        "HiGHS, to compare with, is not in this build: install cmake and libclang, \
         then build with `--features highs`",
    )
};

/// How HiGHS is run; one thread always.
#[derive(Debug, Clone, Copy)]
pub struct ReferenceSettings {
    /// Seconds after which it gives up.
    pub limit: f64,
    /// Feasibility within 1e-9, where it comes to a verdict then, instead of its own 1e-7.
    pub tight: bool,
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ReferenceVerdict {
    /// The optimum.
    Optimal(f64),
    /// No C meets the constraints.
    Infeasible,
    /// The limit was reached.
    Limit,
}

/// A verdict and what it cost.
#[derive(Debug, Clone, Copy)]
pub struct ReferenceAnswer {
    /// What came of it.
    pub verdict: ReferenceVerdict,
    /// CPU seconds of the calling thread, the building of the model left out.
    pub seconds: f64,
}

/// Solves the program.
///
/// # Errors
/// When HiGHS refuses the model or stops for any reason but those of [`ReferenceVerdict`]; always,
/// when it is not in this build.
#[cfg(not(feature = "highs"))]
pub fn solve(_: &LpProgram<'_>, _: ReferenceSettings) -> anyhow::Result<ReferenceAnswer> {
    anyhow::bail!(MISSING.unwrap_or_default())
}

#[cfg(feature = "highs")]
pub use hinge::solve;

#[cfg(feature = "highs")]
mod hinge {
    use super::{LpProgram, ReferenceAnswer, ReferenceSettings, ReferenceVerdict};
    use crate::clock;
    use anyhow::{Context, Result, anyhow, bail};
    use highs::{ColProblem, HighsModelStatus, Row, Sense};
    use hottopixx::Goal;

    /// Tolerances on feasibility, primal and dual: first the tightest. HiGHS sometimes ends without a
    /// verdict there, and has one with a looser tolerance.
    const TIGHT: [f64; 3] = [1e-9, 1e-8, 1e-7];

    /// What HiGHS takes when it is not told.
    const OWN: [f64; 1] = [1e-7];

    /// Solves the program.
    ///
    /// # Errors
    /// When HiGHS refuses the model or stops for any reason but those of [`ReferenceVerdict`].
    pub fn solve(program: &LpProgram<'_>, settings: ReferenceSettings) -> Result<ReferenceAnswer> {
        let tolerances = if settings.tight { &TIGHT[..] } else { &OWN[..] };
        let mut seconds = 0.0;
        for &tolerance in tolerances {
            let (verdict, more) = attempt(program, settings.limit, tolerance)?;
            seconds += more;
            if let Some(verdict) = verdict {
                return Ok(ReferenceAnswer { verdict, seconds });
            }
        }
        bail!("HiGHS comes to no verdict")
    }

    /// Solves the program once: the verdict, if there is one, and CPU seconds.
    fn attempt(
        program: &LpProgram<'_>,
        limit: f64,
        tolerance: f64,
    ) -> Result<(Option<ReferenceVerdict>, f64)> {
        let mut model = build(program)
            .try_optimise(Sense::Minimise)
            .map_err(|status| anyhow!("HiGHS refuses the model: {status:?}"))?;
        model.make_quiet();
        let context = "HiGHS refuses an option";
        model.try_set_option("solver", "simplex").context(context)?;
        model.try_set_option("parallel", "off").context(context)?;
        model.try_set_option("threads", 1).context(context)?;
        model.try_set_option("time_limit", limit).context(context)?;
        model.try_set_option("primal_feasibility_tolerance", tolerance).context(context)?;
        model.try_set_option("dual_feasibility_tolerance", tolerance).context(context)?;
        let start = clock::thread();
        let solved = model.try_solve().map_err(|status| anyhow!("HiGHS fails: {status:?}"))?;
        let seconds = clock::thread() - start;
        // Of the total, the constant that the model has no place for.
        let constant =
            if program.goal == Goal::Total { -(program.x.features() as f64) } else { 0.0 };
        let verdict = match solved.status() {
            HighsModelStatus::Optimal => {
                ReferenceVerdict::Optimal(solved.objective_value() + constant)
            }
            // All variables that the objective rewards are bounded: it is never unbounded.
            HighsModelStatus::Infeasible | HighsModelStatus::UnboundedOrInfeasible => {
                ReferenceVerdict::Infeasible
            }
            HighsModelStatus::ReachedTimeLimit => ReferenceVerdict::Limit,
            HighsModelStatus::Unknown | HighsModelStatus::SolveError => return Ok((None, seconds)),
            other => bail!("HiGHS stops with {other:?}"),
        };
        Ok((Some(verdict), seconds))
    }

    /// The model, column by column: C row by row, S row by row, then t.
    fn build(program: &LpProgram<'_>) -> ColProblem {
        let f = program.x.features();
        let x: Vec<Vec<f64>> = (0..f).map(|i| program.x.dense_row(i)).collect();
        let mut model = ColProblem::new();
        let rows = Rows::declare(&mut model, program, &x);
        let cost = |j: usize| match (program.goal, program.cost) {
            (Goal::Cost { .. }, Some(cost)) => cost[j],
            (Goal::Cost { .. }, None) => -x[j].iter().map(|v| v * v).sum::<f64>(),
            _ => 0.0,
        };
        let weight = if program.goal == Goal::Total { 1.0 } else { 0.0 };
        let mut entries = Vec::new();
        for i in 0..f {
            for j in 0..f {
                rows.of_weight(i, j, &x, &mut entries);
                let price = if i == j { weight + cost(j) } else { weight };
                let most = if program.allowed[j] { 1.0 } else { 0.0 };
                model.add_column(price, 0.0..=most, entries.iter().copied());
            }
        }
        for (i, hinges) in rows.hinges.iter().enumerate() {
            for &(_, row) in hinges {
                let error = rows.errors.get(i).map(|&error| (error, 2.0));
                model.add_column(2.0 * weight, 0.0.., [(row, 1.0)].into_iter().chain(error));
            }
        }
        if program.goal == Goal::Minimax {
            model.add_column(1.0, 0.0.., rows.errors.iter().map(|&error| (error, -1.0)));
        }
        model
    }

    /// The constraints of the model.
    struct Rows {
        /// For each row i, the columns k with X_ik > 0 and their constraint.
        hinges: Vec<Vec<(usize, Row)>>,
        /// For each row i, its error; none when the total is minimised.
        errors: Vec<Row>,
        /// C_ij <= C_jj: at `i * f + j`, `None` on the diagonal.
        caps: Vec<Option<Row>>,
        trace: Option<Row>,
    }

    impl Rows {
        fn declare(model: &mut ColProblem, program: &LpProgram<'_>, x: &[Vec<f64>]) -> Self {
            let f = x.len();
            let mut hinges_of = |row: &Vec<f64>| {
                let positive = row.iter().enumerate().filter(|(_, v)| **v > 0.0);
                positive.map(|(k, &v)| (k, model.add_row(v..))).collect()
            };
            let hinges = x.iter().map(&mut hinges_of).collect();
            let most = match program.goal {
                Goal::Cost { tau } => Some(1.0 + tau),
                Goal::Minimax => Some(1.0),
                Goal::Total => None,
            };
            let errors =
                most.map_or(Vec::new(), |most| (0..f).map(|_| model.add_row(..=most)).collect());
            let cap = |k: usize| (k / f != k % f).then(|| model.add_row(..=0.0));
            let caps = (0..f * f).map(cap).collect();
            let rank = program.rank as f64;
            let trace = program.trace.then(|| model.add_row(rank..=rank));
            Rows { hinges, errors, caps, trace }
        }

        /// The column of C_ij.
        fn of_weight(&self, i: usize, j: usize, x: &[Vec<f64>], entries: &mut Vec<(Row, f64)>) {
            let f = x.len();
            entries.clear();
            let hinges = self.hinges[i].iter().map(|&(k, row)| (row, x[j][k]));
            entries.extend(hinges.filter(|(_, value)| *value > 0.0));
            entries.extend(self.errors.get(i).map(|&row| (row, 1.0)));
            if i == j {
                let column = (0..f).filter_map(|other| self.caps[other * f + j]);
                entries.extend(column.map(|row| (row, -1.0)));
                entries.extend(self.trace.map(|row| (row, 1.0)));
            } else {
                entries.extend(self.caps[i * f + j].map(|row| (row, 1.0)));
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use hottopixx::matrix::{Dense, Matrix};
        use hottopixx::normalise::UnitRows;

        /// Two unit vectors and a point between them.
        fn verdict(rank: usize, goal: Goal, allowed: [bool; 3]) -> ReferenceVerdict {
            let rows = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]];
            let x = UnitRows::new(&Matrix::from(Dense::from_rows(&rows).unwrap())).unwrap();
            let program =
                LpProgram { x: &x, rank, goal, allowed: &allowed, trace: true, cost: None };
            solve(&program, ReferenceSettings { limit: 60.0, tight: true }).unwrap().verdict
        }

        fn optimum(rank: usize, goal: Goal, allowed: [bool; 3]) -> f64 {
            match verdict(rank, goal, allowed) {
                ReferenceVerdict::Optimal(value) => value,
                other => panic!("{other:?}"),
            }
        }

        #[test]
        fn small_programs_have_known_optima() {
            let all = [true; 3];
            assert!(optimum(2, Goal::Minimax, all).abs() < 1e-9);
            assert!(optimum(2, Goal::Total, all).abs() < 1e-9);
            assert!((optimum(2, Goal::Cost { tau: 0.0 }, all) + 2.0).abs() < 1e-9);
            // The point between explains half of each unit vector.
            assert!((optimum(1, Goal::Minimax, [false, false, true]) - 1.0).abs() < 1e-9);
            assert!((optimum(1, Goal::Total, [false, false, true]) - 2.0).abs() < 1e-9);
            let short = Goal::Cost { tau: 0.9 };
            assert_eq!(verdict(1, short, [false, false, true]), ReferenceVerdict::Infeasible);
        }
    }
}
