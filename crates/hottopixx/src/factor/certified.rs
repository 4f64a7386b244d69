//! An answer with everything that can be said for sure about it.

use super::job::Job;
use super::{Bounds, Factor, Factorization};
use crate::Error;
use crate::certify::{Certificate, Goal, Refusal, Theory, Verified, theory};
use crate::localise::lp::{LpOutcome, LpSettings, lp};
use crate::matrix::Matrix;
use crate::normalise::UnitRows;

/// Rows, the linear program that bounds every choice of that many rows, and the paper's theorem.
#[derive(Debug, Clone)]
pub struct Certified {
    /// The rows, cleaned and measured.
    pub answer: Factorization,
    /// X, whose rows the certificate and the theorem speak of.
    pub x: UnitRows,
    /// What the program says of itself.
    pub bounds: Bounds,
    /// The program's point and dual, for anyone to verify.
    pub certificate: Certificate,
    /// What the verifier made of it, which shares nothing with the solver.
    pub verified: Result<Verified, Refusal>,
    /// The largest error of a row when it is explained by the chosen rows with weights of at most
    /// one: what the bound of minimax is a bound on.
    pub bounded_inf1: f64,
    /// The figures of Theorem 3.2 for the chosen rows.
    pub theory: Theory,
}

impl Factor {
    /// Certifies the given rows or, without, those that the method finds, which must be one of
    /// the linear programs ([`Method::is_program`](super::Method::is_program)): bounds for all
    /// choices of as many rows, checked by the independent verifier, and Theorem 3.2.
    ///
    /// The deadline of [`Factor::control`] is for the program; verifying and the theorem take
    /// about as long as cleaning.
    ///
    /// # Errors
    /// As [`Factor::run`] and [`Factor::evaluate`]; [`Error::Setting`] for other methods.
    pub fn certify(&self, matrix: &Matrix, hott: Option<&[usize]>) -> Result<Certified, Error> {
        if !self.method.is_program() {
            return Err(Error::Setting {
                name: "method",
                value: self.method.name().to_string(),
                remedy: "it proves no bounds; choose minimax, total or lp".to_string(),
            });
        }
        let rank = hott.map_or(self.rank, <[usize]>::len);
        let settings = Factor { rank, ..self.clone() };
        settings.in_pool(|| {
            let job = Job::new(&settings, matrix)?;
            let (program, outcome, answer) = match hott {
                Some(hott) => {
                    let rows = job.unit_rows(hott)?;
                    let (program, outcome) = job.solve()?;
                    let mut answer = job.finish(matrix, job.clean(rows), None);
                    answer.certificate = Some(Bounds::new(program.goal, &outcome));
                    (program, outcome, answer)
                }
                None => {
                    let (answer, outcome) = settings.carry_out(&job, matrix)?;
                    let program = settings.lp_settings(job.cost.as_deref())?;
                    (program, outcome.expect("the method solves a program"), answer)
                }
            };
            finish(&job, &program, &outcome, answer)
        })
    }
}

fn finish(
    job: &Job<'_>,
    program: &LpSettings,
    outcome: &LpOutcome,
    answer: Factorization,
) -> Result<Certified, Error> {
    let x = &job.x;
    let control = job.settings.control.without_deadline();
    let mut certificate = Certificate::of(job.settings.rank, &job.allowed, program, outcome);
    let verified = certificate.seal(x, &control);
    let verified = verified
        .and_then(|found| found.supports(outcome.objective, outcome.lower_bound).map(|()| found));
    let rows: Vec<usize> = answer.hott.iter().filter_map(|h| x.unit_row(h.row)).collect();
    // With as many candidates as the rank, all diagonals are one.
    let mut chosen = vec![false; x.features()];
    rows.iter().for_each(|&i| chosen[i] = true);
    let bounded = LpSettings { gap: Some(1e-6), ..LpSettings::new(Goal::Minimax) };
    let bounded_inf1 = lp(x, rows.len(), &chosen, &bounded, &control)?.objective;
    Ok(Certified {
        bounds: Bounds::new(program.goal, outcome),
        verified,
        theory: theory(x, &rows, &control)?,
        certificate,
        bounded_inf1,
        x: x.clone(),
        answer,
    })
}
