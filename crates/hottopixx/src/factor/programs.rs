//! The methods that must be told more than a rank, or tell more than a choice of rows: the linear
//! programs and Algorithm 1.

use super::job::{Job, Localised};
use super::{Factor, Method};
use crate::Error;
use crate::certify::Goal;
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
    /// The value of the best localising matrix found.
    pub objective: f64,
    /// No localising matrix has a smaller value, and so no choice of rows.
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

impl Bounds {
    pub(super) fn new(goal: Goal, outcome: &LpOutcome) -> Self {
        Bounds {
            goal,
            status: outcome.status,
            objective: outcome.objective,
            lower_bound: outcome.lower_bound,
            gap: outcome.gap,
            trace: outcome.diagonal.iter().sum(),
            rounds: outcome.rounds,
            cuts: outcome.cuts,
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
    /// The linear program of the settings, whose answer is feasible.
    pub(super) fn solve(&self) -> Result<(LpSettings, LpOutcome), Error> {
        let control = &self.settings.control;
        let settings = self.settings.lp_settings(self.cost.as_deref())?;
        let outcome = lp(&self.x, self.settings.rank, &self.allowed, &settings, control)?;
        match (outcome.status, settings.goal) {
            (LpStatus::Infeasible, Goal::Cost { tau }) => Err(self.infeasible(tau, &outcome)?),
            (LpStatus::Optimal | LpStatus::Feasible, _) => Ok((settings, outcome)),
            _ => Err(Error::NoAnswer(match outcome.stop {
                Stop::Finished => Stop::TimeLimit,
                stop => stop,
            })),
        }
    }

    /// The proof ends as soon as the bound is above tau; who has to choose another tau wants to
    /// know how far up to go.
    fn infeasible(&self, tau: f64, outcome: &LpOutcome) -> Result<Error, Error> {
        let (rank, control) = (self.settings.rank, &self.settings.control);
        let settings = LpSettings { gap: Some(REMEDY_GAP), ..LpSettings::new(Goal::Minimax) };
        let (mut bound, mut enough) = (outcome.lower_bound, f64::INFINITY);
        if self.settings.trace {
            let least = lp(&self.x, rank, &self.allowed, &settings, control)?;
            bound = bound.max(least.lower_bound);
            enough = least.objective;
        }
        Ok(Error::Infeasible { tau, bound, enough })
    }

    pub(super) fn program(&self) -> Result<Localised, Error> {
        let (settings, outcome) = self.solve()?;
        let mut found = self.convex(self.settings.method.name(), outcome.diagonal.clone());
        found.bounds = Some(Bounds::new(settings.goal, &outcome));
        found.program = Some(outcome);
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
        let d = &outcome.diagonal;
        Ok(Some(Localised {
            candidates: readings(x, "minimax", d, rank, &screened, &self.settings.control),
            hints: top(d, rank + 25, &screened),
            bounds: (screened == self.allowed).then(|| Bounds::new(settings.goal, &outcome)),
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
