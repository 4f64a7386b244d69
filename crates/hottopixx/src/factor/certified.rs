//! An answer with everything that can be said for sure about it.

use super::clock::Clock;
use super::pipeline::Prepared;
use super::{Factor, Factorization};
use crate::Error;
use crate::Goal;
use crate::certify::{Certificate, Refusal, Theory, Verified, theory};
use crate::choice::{self, ChoiceBound, ChoiceSearch, RankBracket, SearchSettings};
use crate::control::Stage;
use crate::localise::lp::{LpSettings, lp};
use crate::matrix::Matrix;
use crate::methods::{Bounds, Solved};
use crate::normalise::UnitRows;

/// Rows, the linear program that bounds every choice of that many rows, and the paper's theorem.
#[derive(Debug, Clone)]
#[non_exhaustive]
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
    /// A bound on the largest error of every choice of this many rows, with weights as free as in the
    /// reported error; for [`Goal::Minimax`], where it is a matter of seconds or a search was asked for.
    pub choice: Option<ChoiceBound>,
    /// What the search for the best choice came to, where it was asked for.
    pub exact: Option<ChoiceSearch>,
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
        self.certify_and(matrix, hott, None)
    }

    /// As [`Factor::certify`], with a search for the choice with the smallest largest error
    /// ([`Certified::exact`]), which ends when no choice is better or a limit is met.
    ///
    /// # Errors
    /// As [`Factor::certify`]; [`Error::Setting`] for other goals than minimax.
    pub fn certify_exactly(
        &self,
        matrix: &Matrix,
        hott: Option<&[usize]>,
        search: &SearchSettings,
    ) -> Result<Certified, Error> {
        self.certify_and(matrix, hott, Some(search))
    }

    /// How many rows it takes to explain every row within tau: see [`choice::rank_needed`]. Rows are
    /// those of the matrix. Candidates, threads and control are those of the settings.
    ///
    /// # Errors
    /// As [`choice::rank_needed`], and for a matrix that cannot be factored.
    pub fn rank_needed(&self, matrix: &Matrix, tau: f64) -> Result<RankNeeded, Error> {
        let constraints = self.constraints.of_parts();
        let settings = Factor { rank: 1, constraints, ..self.clone() };
        settings.in_pool(|| {
            let prepared = Prepared::new(&settings, matrix)?;
            let question = prepared.question();
            let bracket = choice::rank_needed(question.x, question.allowed, tau, question.control)?;
            let hott = bracket.rows.iter().map(|&i| prepared.x.input_row(i)).collect();
            Ok(RankNeeded { hott, bracket, x: prepared.x.clone() })
        })
    }

    fn certify_and(
        &self,
        matrix: &Matrix,
        hott: Option<&[usize]>,
        search: Option<&SearchSettings>,
    ) -> Result<Certified, Error> {
        let rank = hott.map_or(self.rank, <[usize]>::len);
        // Given rows need not obey, and the program asks for no more than that rows may be hott.
        let constraints = match hott {
            Some(_) => self.constraints.of_parts(),
            None => self.constraints.clone(),
        };
        let settings = Factor { rank, constraints, ..self.clone() };
        let program = settings.program()?;
        if search.is_some() && program.goal != Goal::Minimax {
            let remedy = "the best choice is searched for with minimax only".to_string();
            return Err(Error::Setting { name: "exact", value: "on".to_string(), remedy });
        }
        settings.method_with_settings()?; // which refuses settings that it does not use
        settings.in_pool(|| {
            let mut clock = Clock::new(&settings.control);
            let prepared = clock.time(Stage::Normalise, || Prepared::new(&settings, matrix))?;
            let (solved, answer) = match hott {
                Some(hott) => {
                    let rows = prepared.unit_rows(hott)?;
                    let solve = || program.solve(&prepared.question());
                    let solved = clock.time(Stage::Localise, solve)?;
                    let answer = prepared.evaluate(rows, clock)?;
                    let bounds = solved.bounds();
                    (solved, Factorization { bounds, ..answer })
                }
                None => {
                    let (answer, solved) = prepared.factor(&program, clock)?;
                    // Stopped before the program had anything to say.
                    let nothing = || Error::NoAnswer(answer.stop);
                    (solved.ok_or_else(nothing)?, answer)
                }
            };
            finish(&prepared, solved, answer, search)
        })
    }
}

fn finish(
    prepared: &Prepared<'_>,
    solved: Solved,
    answer: Factorization,
    search: Option<&SearchSettings>,
) -> Result<Certified, Error> {
    let (x, control) = (&prepared.x, &prepared.settings.control);
    let rows: Vec<usize> = answer.hott.iter().filter_map(|h| x.unit_row(h.row)).collect();
    // With as many candidates as the rank, all diagonals are one.
    let mut chosen = vec![false; x.features()];
    rows.iter().for_each(|&i| chosen[i] = true);
    let bounded = LpSettings { gap: Some(1e-6), ..LpSettings::new(Goal::Minimax) };
    let bounded_inf1 = lp(x, rows.len(), &chosen, &bounded, control)?.objective;
    let (choice, exact) = choices(prepared, &solved, &rows, search)?;
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
        choice,
        exact,
        certificate: solved.certificate,
        bounded_inf1,
        x: x.clone(),
        answer: Factorization { stop, ..answer },
    })
}

/// Of the time that is left, bounds for choices may take this share.
const CHOICE_SHARE: f64 = 0.8;

/// Bounds for choices from the chosen rows on, and the search where it was asked for.
fn choices(
    prepared: &Prepared<'_>,
    solved: &Solved,
    rows: &[usize],
    search: Option<&SearchSettings>,
) -> Result<(Option<ChoiceBound>, Option<ChoiceSearch>), Error> {
    let control = prepared.settings.control.for_share(CHOICE_SHARE);
    let question = prepared.question();
    let question = question.under(&control);
    if let Some(settings) = search {
        let exact = choice::search(&question, rows, settings)?;
        return Ok((Some(exact.root), Some(exact.tree)));
    }
    let about_errors = solved.settings.goal == Goal::Minimax;
    let affordable = choice::is_affordable(prepared.x.shape(), question.candidates());
    if !about_errors || !affordable {
        return Ok((None, None));
    }
    Ok((Some(choice::bound(&question, rows)?), None))
}

/// How many rows tau asks for.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RankNeeded {
    /// Rows of the matrix that explain every row within tau, increasing.
    pub hott: Vec<usize>,
    /// The bracket, in rows of X.
    pub bracket: RankBracket,
    /// X, whose rows the certificate speaks of.
    pub x: UnitRows,
}
