//! The methods that must be told more than a rank, or tell more than a choice of rows: the linear
//! programs and Algorithm 1.

use super::job::{Job, Localised};
use super::{Factor, Method};
use crate::Error;
use crate::Goal;
use crate::certify::{Certificate, Refusal, Verified, prove_bound};
use crate::control::{Control, Stop};
use crate::localise::lp::{LpOutcome, LpSettings, LpStatus, lp};
use crate::localise::{AgkmSettings, agkm, spa};
use crate::matrix::Matrix;
use crate::select::portfolio::readings;
use crate::select::top;

/// Work (features x candidates x examples x rank) up to which a linear program is taken for a
/// matter of seconds: `auto` then solves minimax, and a comparison of methods includes the
/// programs. Measured, on two processors, to a gap of 1e-3: 5e7 took 0.1 to 0.2 s, 8e8 about 1 s,
/// 5e9 10 s on nearly separable data and more on text.
const AFFORDABLE: f64 = 1e9;
/// Seconds that so much work may take. A caller's time limit buys in proportion.
const AFFORDABLE_SECONDS: f64 = 4.0;
/// Rows that minimax may choose from within `auto`.
const AUTO_COLUMNS: usize = 300;
/// The gap that is good enough to find candidates.
const AUTO_GAP: f64 = 1e-3;
/// The share of a time limit that a program may take: its answer must be verified and cleaned.
const LP_SHARE: f64 = 0.7;
/// The gap to which the smallest feasible tau is told to those who asked for less.
const REMEDY_GAP: f64 = 1e-3;

/// What a linear program says about its best point and about all points.
///
/// The programs weigh rows by at most one, as the paper's do: a bound on the error holds for all
/// choices of rows with such weights. Cleaning allows larger weights and may do slightly better.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Bounds {
    /// The program.
    pub goal: Goal,
    /// How it ended.
    pub status: LpStatus,
    /// The value of the best localising matrix found, as the verifier has it: rounded up.
    pub objective: f64,
    /// No localising matrix has a smaller value, and so no choice of rows: proven by the verifier.
    pub lower_bound: f64,
    /// `(objective - lower_bound) / |objective|`.
    pub gap: f64,
    /// The sum of the diagonal: the rank, unless it was left open.
    pub trace: f64,
    /// Master programs solved.
    pub rounds: usize,
    /// Cuts found.
    pub cuts: usize,
}

/// A program that was solved, and what the verifier made of it.
pub(super) struct Solved {
    pub settings: LpSettings,
    pub outcome: LpOutcome,
    pub certificate: Certificate,
    pub verified: Result<Verified, Refusal>,
}

/// The difference of a value and its bound that the verifier's rounding alone may make: sums of
/// some thousand terms of unit size.
const ROUNDING: f64 = 1e-11;

impl Solved {
    /// Hands the outcome to the verifier, which believes none of it; a claim that it does not
    /// support is refused like a broken constraint.
    fn new(job: &Job<'_>, allowed: &[bool], settings: LpSettings, outcome: LpOutcome) -> Self {
        let rank = job.settings.rank;
        let mut certificate = Certificate::of(rank, allowed, &settings, &outcome);
        let sealed = certificate.seal(&job.x, &job.settings.control.to_finish());
        // Without a point the certificate is about minimax, of which the outcome claims nothing.
        let claims =
            (outcome.status != LpStatus::Limit).then_some((outcome.objective, outcome.lower_bound));
        let verified = sealed.and_then(|found| {
            claims.map_or(Ok(()), |(value, bound)| found.supports(value, bound)).map(|()| found)
        });
        Solved { settings, outcome, certificate, verified }
    }

    /// Everything that is said of the program, in the verifier's figures: `None` where it refused.
    pub fn bounds(&self) -> Option<Bounds> {
        let verified = self.verified.as_ref().ok()?;
        let Verified { objective, lower_bound, gap, trace, .. } = *verified;
        let closed = gap <= 1.01 * self.settings.gap()
            || objective - lower_bound <= ROUNDING * (1.0 + objective.abs());
        let status = match self.outcome.status {
            LpStatus::Optimal if !closed => LpStatus::Feasible,
            status => status,
        };
        let LpOutcome { rounds, cuts, .. } = self.outcome;
        let goal = self.certificate.goal;
        Some(Bounds { goal, status, objective, lower_bound, gap, trace, rounds, cuts })
    }

    /// What the user should know where there are no bounds.
    fn note(&self) -> Option<String> {
        match &self.verified {
            Ok(_) => None,
            Err(Refusal::Stopped(_)) => Some(
                "The bound of the linear program is not given: there was no time left to verify it."
                    .to_string(),
            ),
            Err(refusal) => Some(format!(
                "The bound of the linear program is not given, since it could not be verified: \
                 {refusal}."
            )),
        }
    }
}

impl Factor {
    /// Whether a linear program on this matrix is a matter of seconds or, with a deadline, likely
    /// to be done before it. Without a deadline the size alone decides.
    pub fn affords_programs(&self, matrix: &Matrix) -> bool {
        let candidates = match &self.candidates {
            Some(mask) => mask.iter().filter(|m| **m).count(),
            None => matrix.rows(),
        };
        self.affords(matrix.rows(), candidates, matrix.cols(), &self.control)
    }

    fn affords(&self, features: usize, candidates: usize, n: usize, control: &Control) -> bool {
        let work = features as f64 * candidates as f64 * n as f64 * self.rank as f64;
        let times = control.remaining().map_or(1.0, |t| t.as_secs_f64() / AFFORDABLE_SECONDS);
        work <= AFFORDABLE * times
    }

    /// The linear program of the method and its settings.
    pub(super) fn lp_settings(&self, cost: Option<&[f64]>) -> Result<LpSettings, Error> {
        let goal = match self.method {
            Method::Lp => Goal::Cost {
                tau: self.tau.ok_or_else(|| {
                    let remedy = "give the l1 error that every row may have, rows summing to one, \
                                  such as 0.1; the method minimax needs none";
                    missing("tau", remedy)
                })?,
            },
            Method::Total => Goal::Total,
            _ => Goal::Minimax,
        };
        let cost = cost.filter(|_| self.method == Method::Lp).map(<[f64]>::to_vec);
        let trace = self.trace || self.method != Method::Lp;
        Ok(LpSettings { trace, cost, gap: self.gap, ..LpSettings::new(goal) })
    }
}

fn missing(name: &'static str, remedy: &str) -> Error {
    Error::Setting { name, value: "nothing".to_string(), remedy: remedy.to_string() }
}

impl Job<'_> {
    /// The linear program of the settings, solved and verified. Its answer is feasible, or a limit
    /// came first ([`LpStatus::Limit`]).
    pub(super) fn solve(&self) -> Result<Solved, Error> {
        let control = self.settings.control.for_share(LP_SHARE);
        let settings = self.settings.lp_settings(self.cost.as_deref())?;
        let outcome = lp(&self.x, self.settings.rank, &self.allowed, &settings, &control)?;
        if let (LpStatus::Infeasible, Goal::Cost { tau }) = (outcome.status, settings.goal) {
            return Err(self.infeasible(tau, &settings, &outcome)?);
        }
        Ok(Solved::new(self, &self.allowed, settings, outcome))
    }

    /// The error that says so, where the verifier agrees. The proof ends as soon as the bound is
    /// above tau; who has to choose another tau wants to know how far up to go.
    fn infeasible(
        &self,
        tau: f64,
        program: &LpSettings,
        outcome: &LpOutcome,
    ) -> Result<Error, Error> {
        let (rank, control) = (self.settings.rank, &self.settings.control);
        let certificate = Certificate::of(rank, &self.allowed, program, outcome);
        let mut bound = match prove_bound(&self.x, &certificate, control) {
            Ok(proven) if proven > tau => proven,
            Err(Refusal::Stopped(stop)) => return Ok(Error::NoAnswer(stop)),
            _ => return Ok(Error::Undecided { tau, bound: 0.0, reached: f64::INFINITY }),
        };
        let mut enough = f64::INFINITY;
        if self.settings.trace && control.stopped().is_none() {
            let settings = LpSettings { gap: Some(REMEDY_GAP), ..LpSettings::new(Goal::Minimax) };
            let least = lp(&self.x, rank, &self.allowed, &settings, control)?;
            let least = Solved::new(self, &self.allowed, settings, least);
            if let Ok(verified) = least.verified {
                bound = bound.max(verified.lower_bound);
                enough = verified.objective;
            }
        }
        Ok(Error::Infeasible { tau, bound, enough })
    }

    pub(super) fn program(&self) -> Result<Localised, Error> {
        let solved = self.solve()?;
        let mut found = self.convex(self.settings.method.name(), solved.outcome.diagonal.clone());
        match (solved.outcome.status, solved.settings.goal) {
            (LpStatus::Limit, Goal::Cost { tau }) => found.notes.push(format!(
                "No choice that explains every row within tau = {tau} was found, nor was it proven \
                 that there is none: the rows are those of the smallest largest error so far."
            )),
            _ => found.bounds = solved.bounds(),
        }
        found.notes.extend(solved.note());
        found.program = Some(solved);
        Ok(found)
    }

    /// The readings of minimax for `auto`, where the size allows it. Its bounds come along only if
    /// they are about all rows that may be hott.
    pub(super) fn minimax_within_auto(&self) -> Result<Option<Localised>, Error> {
        let (x, rank) = (&self.x, self.settings.rank);
        let control = self.settings.control.for_share(0.5);
        let candidates =
            self.allowed.iter().filter(|a| **a).count().min(self.screened(AUTO_COLUMNS));
        if !self.settings.affords(x.features(), candidates, x.examples(), &control) {
            return Ok(None);
        }
        let screened = self.screen(AUTO_COLUMNS);
        let gap = self.settings.gap.unwrap_or(AUTO_GAP);
        let settings = LpSettings { gap: Some(gap), ..LpSettings::new(Goal::Minimax) };
        let outcome = lp(x, rank, &screened, &settings, &control)?;
        let d = outcome.diagonal.clone();
        Ok(Some(Localised {
            candidates: readings(x, "minimax", &d, rank, &screened, &self.settings.control),
            hints: top(&d, rank + 25, &screened),
            bounds: (screened == self.allowed)
                .then(|| Solved::new(self, &screened, settings, outcome))
                .and_then(|solved| solved.bounds()),
            ..Localised::default()
        }))
    }

    /// Algorithm 1, whose number of clusters may be another than the rank: too many are cut to
    /// those farthest out, too few are filled up, and a note says so.
    pub(super) fn agkm(&self) -> Result<Localised, Error> {
        let (x, rank, control) = (&self.x, self.settings.rank, &self.settings.control);
        let remedy = "give the largest l1 norm of a row of the noise, rows summing to one; no \
                      other method has to be told";
        let epsilon = self.settings.epsilon.ok_or_else(|| missing("epsilon", remedy))?;
        let remedy = "give the least l1 distance of a hott row from the hull of the others, above \
                      0 and at most 2; no other method has to be told";
        let alpha = self.settings.alpha.ok_or_else(|| missing("alpha", remedy))?;
        let found = agkm(x, &self.allowed, &AgkmSettings { epsilon, alpha }, control)?;
        if found.stop != Stop::Finished {
            return Err(Error::NoAnswer(found.stop));
        }
        let mut notes = Vec::new();
        if !found.hypothesis {
            notes.push(
                "Theorem 2.1 promises nothing: epsilon is above alpha^2 / (20 + 13 alpha)."
                    .to_string(),
            );
        }
        let count = found.rows.len();
        let clusters = if count == 1 { "1 cluster" } else { &format!("{count} clusters") };
        let mut rows = found.rows;
        if count > rank {
            notes.push(format!(
                "Algorithm 1 found {clusters} for rank {rank}: the {rank} farthest from the hull \
                 of the others were taken."
            ));
            rows.truncate(rank);
        } else if count < rank {
            notes.push(format!(
                "Algorithm 1 found {clusters} for rank {rank}: the rest is from successive \
                 projection."
            ));
            self.fill_up(&mut rows, &found.clusters);
        }
        Ok(Localised { notes, ..Localised::one("agkm", rows) })
    }

    /// Fills the rows up to the rank with those of successive projection, rows of the clusters only
    /// where there are no others.
    fn fill_up(&self, rows: &mut Vec<usize>, clusters: &[Vec<usize>]) {
        let (rank, x) = (self.settings.rank, &self.x);
        let mut open = self.allowed.clone();
        clusters.iter().flatten().for_each(|&i| open[i] = false);
        let some = |open: &[bool]| open.iter().filter(|o| **o).count();
        let wanted = (rank - rows.len()).min(some(&open));
        rows.extend(spa(x, wanted, &open));
        let rest = (0..self.allowed.len()).filter(|&i| self.allowed[i]);
        let rest: Vec<usize> = rest.filter(|i| !rows.contains(i)).collect();
        rows.extend(rest.into_iter().take(rank - rows.len()));
    }
}
