//! An answer with everything that can be said for sure about it.

use super::clock::Clock;
use super::pipeline::Prepared;
use super::{Factor, Factorization};
use crate::Error;
use crate::Goal;
use crate::certify::{Certificate, Refusal, Theory, Verified, theory};
use crate::control::Stage;
use crate::localise::lp::{LpSettings, lp};
use crate::matrix::Matrix;
use crate::methods::{Bounds, Solved};
use crate::normalise::UnitRows;

/// Rows, the linear program that bounds every choice of that many rows, and the paper's theorem.
#[derive(Debug, Clone)]
pub struct Certified {
    /// The rows, cleaned and measured.
    pub answer: Factorization,
    /// X, whose rows the certificate and the theorem speak of.
    pub x: UnitRows,
    /// What is said of the program, in the verifier's figures; `None` where it refused.
    pub bounds: Option<Bounds>,
    /// The program's point and dual, for anyone to verify.
    pub certificate: Certificate,
    /// What the verifier made of it, which shares nothing with the solver.
    pub verified: Result<Verified, Refusal>,
    /// The largest error of a row when it is explained by the chosen rows with weights of at most
    /// one: what the bound of minimax is a bound on.
    pub bounded_inf1: f64,
    /// The figures of Theorem 3.2 for the chosen rows; `None` where there was no time for them.
    pub theory: Option<Theory>,
}

impl Factor {
    /// Certifies the given rows or, without, those that the method finds, which must be one of
    /// the linear programs ([`Method::proves_bound`](super::Method::proves_bound)): bounds for all
    /// choices of as many rows, checked by the independent verifier, and Theorem 3.2.
    ///
    /// What a deadline leaves no time for is left out: the bounds, where verifying was stopped, and
    /// the theorem.
    ///
    /// # Errors
    /// As [`Factor::run`] and [`Factor::evaluate`]; [`Error::Setting`] for other methods.
    pub fn certify(&self, matrix: &Matrix, hott: Option<&[usize]>) -> Result<Certified, Error> {
        let rank = hott.map_or(self.rank, <[usize]>::len);
        let settings = Factor { rank, ..self.clone() };
        let program = settings.program()?;
        settings.method_with_settings()?; // which refuses settings that it does not use
        settings.in_pool(|| {
            let mut clock = Clock::new(&settings.control);
            let prepared = clock.time(Stage::Normalise, || Prepared::new(&settings, matrix))?;
            let (solved, answer) = match hott {
                Some(hott) => {
                    let rows = prepared.unit_rows(hott)?;
                    let solve = || program.solve(&prepared.question());
                    let solved = clock.time(Stage::Localise, solve)?;
                    let answer = prepared.evaluate(rows, clock);
                    let certificate = solved.bounds();
                    (solved, Factorization { certificate, ..answer })
                }
                None => {
                    let (answer, solved) = prepared.factor(&program, clock)?;
                    // Stopped before the program had anything to say.
                    let nothing = || Error::NoAnswer(answer.stop);
                    (solved.ok_or_else(nothing)?, answer)
                }
            };
            finish(&prepared, solved, answer)
        })
    }
}

fn finish(
    prepared: &Prepared<'_>,
    solved: Solved,
    answer: Factorization,
) -> Result<Certified, Error> {
    let (x, control) = (&prepared.x, &prepared.settings.control);
    let rows: Vec<usize> = answer.hott.iter().filter_map(|h| x.unit_row(h.row)).collect();
    // With as many candidates as the rank, all diagonals are one.
    let mut chosen = vec![false; x.features()];
    rows.iter().for_each(|&i| chosen[i] = true);
    let bounded = LpSettings { gap: Some(1e-6), ..LpSettings::new(Goal::Minimax) };
    let bounded_inf1 = lp(x, rows.len(), &chosen, &bounded, control)?.objective;
    let theory = match theory(x, &rows, control) {
        Ok(theory) => Some(theory),
        Err(Error::NoAnswer(_)) => None,
        Err(error) => return Err(error),
    };
    let stop = control.cut_short().unwrap_or(answer.stop);
    Ok(Certified {
        bounds: solved.bounds(),
        verified: solved.verified,
        theory,
        certificate: solved.certificate,
        bounded_inf1,
        x: x.clone(),
        answer: Factorization { stop, ..answer },
    })
}
