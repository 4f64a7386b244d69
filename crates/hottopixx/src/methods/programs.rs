//! The linear programs, and the door that everything they claim goes through.

use super::{Localised, Localiser, Question, bytes};
use crate::certify::{Certificate, Refusal, Verified, prove_bound};
use crate::control::{Control, Stop};
use crate::localise::first_order::{self, FirstOrderSettings, Weights, first_order};
use crate::localise::lp::{LpOutcome, LpSettings, LpStatus, lp};
use crate::matrix::Shape;
use crate::{Error, Goal};

/// Work (features x candidates x examples x rank) up to which a linear program is taken for a
/// matter of seconds: `auto` then solves minimax, and a comparison of methods includes the
/// programs. Measured, on two processors, to a gap of 1e-3: 5e7 took 0.1 to 0.2 s, 8e8 about 1 s,
/// 5e9 10 s on nearly separable data and more on text.
const AFFORDABLE: f64 = 1e9;
/// Seconds that so much work may take. A caller's time limit buys in proportion.
const AFFORDABLE_SECONDS: f64 = 4.0;
/// The share of a time limit that a program may take: its answer must be verified and cleaned.
const LP_SHARE: f64 = 0.7;
/// The gap to which the smallest feasible tau is told to those who asked for less.
const REMEDY_GAP: f64 = 1e-3;

/// Whether a linear program of this size is a matter of seconds or, with a deadline, likely to be done
/// before it. Without a deadline the size alone decides.
pub(crate) fn is_affordable(
    features: usize,
    candidates: usize,
    n: usize,
    rank: usize,
    control: &Control,
) -> bool {
    let work = features as f64 * candidates as f64 * n as f64 * rank as f64;
    let times = control.remaining().map_or(1.0, |t| t.as_secs_f64() / AFFORDABLE_SECONDS);
    work <= AFFORDABLE * times
}

/// What a value and a bound are about.
///
/// The linear programs weigh rows by at most one, as the paper's do, and choose rows in parts: their
/// bounds hold for all choices of rows with such weights. Cleaning allows larger weights and may do
/// slightly better. [`Bounded::Mean`] and [`Bounded::Max`] speak about what is reported.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "goal", rename_all = "snake_case")]
pub enum Bounded {
    /// The cost of the program with tau.
    Cost {
        /// The error that every row may have.
        tau: f64,
    },
    /// The largest error of a row in the linear program.
    Minimax,
    /// The sum of all errors in the linear program.
    Total,
    /// The mean error after cleaning, of all choices of rows, whatever their weights.
    Mean,
    /// The largest error after cleaning, of all choices of rows, whatever their weights.
    Max,
}

impl From<Goal> for Bounded {
    fn from(goal: Goal) -> Self {
        match goal {
            Goal::Cost { tau } => Bounded::Cost { tau },
            Goal::Minimax => Bounded::Minimax,
            Goal::Total => Bounded::Total,
        }
    }
}

/// A value and what no other point, or no other choice of rows, can fall below.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Bounds {
    /// What they are about: `goal` and, for `cost`, `tau` in results.
    #[serde(flatten)]
    pub goal: Bounded,
    /// How it ended.
    pub status: LpStatus,
    /// The value of the best localising matrix found, as the verifier has it: rounded up. For
    /// [`Bounded::Mean`] and [`Bounded::Max`] the error of the answer.
    pub objective: f64,
    /// No localising matrix has a smaller value, and so no choice of rows: proven by the verifier.
    pub lower_bound: f64,
    /// `(objective - lower_bound) / |objective|`.
    pub gap: f64,
    /// The sum of the diagonal: the rank, unless it was left open.
    pub trace: f64,
    /// Master programs solved, or steps of the first-order method.
    pub rounds: usize,
    /// Cuts found.
    pub cuts: usize,
}

impl Bounds {
    /// The name of the program as a method; for what is about every choice of rows, of the error.
    pub fn program(&self) -> &'static str {
        match self.goal {
            Bounded::Cost { .. } => "lp",
            Bounded::Minimax => "minimax",
            Bounded::Total => "total",
            Bounded::Mean => "mean error",
            Bounded::Max => "largest error",
        }
    }
}

/// A program that was solved, and what the verifier made of it.
#[derive(Debug, Clone)]
pub(crate) struct Solved {
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
    pub fn new(question: &Question<'_>, settings: LpSettings, outcome: LpOutcome) -> Self {
        // Without a point the certificate is about minimax, of which the outcome claims nothing.
        let claims =
            (outcome.status != LpStatus::Limit).then_some((outcome.objective, outcome.lower_bound));
        Solved::with_claims(question, settings, outcome, claims)
    }

    /// The same for an outcome whose figures are in single precision, and no claims: those of the
    /// verifier take their place.
    fn without_claims(question: &Question<'_>, settings: LpSettings, outcome: LpOutcome) -> Self {
        let mut solved = Solved::with_claims(question, settings, outcome, None);
        if let Ok(Verified { objective, lower_bound, gap, .. }) = solved.verified {
            let outcome = &mut solved.outcome;
            (outcome.objective, outcome.lower_bound, outcome.gap) = (objective, lower_bound, gap);
        }
        solved
    }

    fn with_claims(
        question: &Question<'_>,
        settings: LpSettings,
        outcome: LpOutcome,
        claims: Option<(f64, f64)>,
    ) -> Self {
        let Question { x, rank, allowed, control, .. } = *question;
        let mut certificate = Certificate::of(rank, allowed, &settings, &outcome);
        let sealed = certificate.seal(x, &control.to_finish());
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
        let goal = self.certificate.goal.into();
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

/// One of the linear programs of [`localise::lp`](crate::localise::lp), solved exactly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Program {
    /// What it makes small.
    pub goal: Goal,
    /// Whether the diagonal must sum to the rank; only [`Goal::Cost`] can do without.
    pub trace: bool,
    /// Relative gap at which it is solved; `None` for the program's usual one.
    pub gap: Option<f64>,
}

impl Program {
    /// The program that makes the largest error of a row small.
    pub fn minimax() -> Self {
        Program { goal: Goal::Minimax, trace: true, gap: None }
    }

    /// The program, solved and verified. Its answer is feasible, or a limit came first
    /// ([`LpStatus::Limit`]).
    pub(crate) fn solve(&self, question: &Question<'_>) -> Result<Solved, Error> {
        let Question { x, rank, allowed, cost, control, rules } = *question;
        let cost = cost.filter(|_| matches!(self.goal, Goal::Cost { .. })).map(<[f64]>::to_vec);
        let (trace, gap) = (self.trace, self.gap);
        let settings = LpSettings { trace, cost, gap, ..LpSettings::new(self.goal) };
        let control = &control.for_share(LP_SHARE);
        if self.goal == Goal::Total
            && let Some(outcome) = first_order_total(question, settings.gap(), control)?
        {
            return Ok(Solved::without_claims(question, settings, outcome));
        }
        let settings = LpSettings { must: rules.must().to_vec(), ..settings };
        let outcome = lp(x, rank, allowed, &settings, control)?;
        if let (LpStatus::Infeasible, Goal::Cost { tau }) = (outcome.status, settings.goal) {
            return Err(self.infeasible(question, tau, &settings, &outcome)?);
        }
        Ok(Solved::new(question, settings, outcome))
    }

    /// The error that says so, where the verifier agrees. The proof ends as soon as the bound is
    /// above tau; who has to choose another tau wants to know how far up to go.
    fn infeasible(
        &self,
        question: &Question<'_>,
        tau: f64,
        program: &LpSettings,
        outcome: &LpOutcome,
    ) -> Result<Error, Error> {
        let Question { x, rank, allowed, control, .. } = *question;
        let certificate = Certificate::of(rank, allowed, program, outcome);
        let mut bound = match prove_bound(x, &certificate, control) {
            Ok(proven) if proven > tau => proven,
            Err(Refusal::Stopped(stop)) => return Ok(Error::NoAnswer(stop)),
            _ => return Ok(Error::Undecided { tau, bound: 0.0, reached: f64::INFINITY }),
        };
        let mut enough = f64::INFINITY;
        if self.trace && control.stopped().is_none() {
            let (must, gap) = (program.must.clone(), Some(REMEDY_GAP));
            let settings = LpSettings { must, gap, ..LpSettings::new(Goal::Minimax) };
            let least = lp(x, rank, allowed, &settings, control)?;
            if let Ok(verified) = Solved::new(question, settings, least).verified {
                bound = bound.max(verified.lower_bound);
                enough = verified.objective;
            }
        }
        Ok(Error::Infeasible { tau, bound, enough, must: program.must.len() })
    }
}

/// Entries (features x candidates x examples) from which on `total` is solved by the first-order
/// method: at 200 words it takes a sixth of the cutting planes' time to a gap of 1e-4, and they do
/// not come to an end at 400.
const FIRST_ORDER_FROM: f64 = 1e6;
/// Its steps and flops at most, some minutes of one processor, where nothing limits them.
const FIRST_ORDER: (usize, f64) = (20_000, 2e13);

/// The program `total` by the first-order method: `None` where the cutting planes should have it,
/// because it is small, or because the gap was not reached where they can.
fn first_order_total(
    question: &Question<'_>,
    gap: f64,
    control: &Control,
) -> Result<Option<LpOutcome>, Error> {
    let Question { x, rank, allowed, .. } = *question;
    let (f, m, n) = (x.features(), question.candidates(), x.examples());
    let entries = f as f64 * m as f64 * n as f64;
    if entries < FIRST_ORDER_FROM || !first_order::fits_memory(f, n) {
        return Ok(None);
    }
    let (steps, mut work) = FIRST_ORDER;
    if control.remaining().is_some() {
        work = f64::INFINITY; // the caller says how long
    }
    // What single precision and the verifier's rounding take from the gap.
    let settings = FirstOrderSettings {
        weights: Weights::UpToDiagonal,
        gap: 0.97 * gap,
        steps,
        work,
        at_hand: None,
    };
    let Some(found) = first_order(x, rank, allowed, &settings, control)? else { return Ok(None) };
    let closed = found.objective - found.lower_bound <= gap * found.objective;
    if !closed && found.stop == Stop::Finished && entries * rank as f64 <= AFFORDABLE {
        return Ok(None);
    }
    let weighed =
        |(i, y): (usize, &[f32])| (i, y.iter().map(|v| x.weight(i) * f64::from(*v)).collect());
    let dual = found.dual.chunks_exact(n).enumerate().map(weighed);
    Ok(Some(LpOutcome {
        status: if closed { LpStatus::Optimal } else { LpStatus::Feasible },
        objective: found.objective,
        lower_bound: found.lower_bound,
        gap: 1.0 - found.lower_bound / found.objective,
        diagonal: found.diagonal,
        localising: found.localising,
        dual: dual.collect(),
        cost: vec![0.0; f],
        rounds: found.steps,
        cuts: 0,
        fits: 0,
        pivots: 0,
        stop: found.stop,
    }))
}

impl Localiser for Program {
    fn name(&self) -> &'static str {
        match self.goal {
            Goal::Cost { .. } => "lp",
            Goal::Minimax => "minimax",
            Goal::Total => "total",
        }
    }

    fn localise(&self, question: &Question<'_>) -> Result<Localised, Error> {
        let solved = self.solve(question)?;
        let diagonal = solved.outcome.diagonal.clone();
        let mut found = Localised::diagonal(self.name(), question, diagonal);
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

    fn bytes(&self, shape: Shape, _rank: usize, threads: usize) -> u64 {
        let in_play = LpSettings::new(self.goal).all_in_play as u64;
        let (m, threads) = (shape.f().min(in_play), threads as u64);
        let exact = bytes::program(shape, m, threads);
        let exact = exact.saturating_add(bytes::gathered(shape, m, threads));
        if self.goal != Goal::Total || !first_order::fits_memory(shape.rows, shape.cols) {
            return exact;
        }
        // Y in double precision for the verifier, beside what the method itself takes.
        let dual = 16 * shape.f() * shape.n();
        exact.max(dual + first_order::bytes(shape.rows, shape.rows, shape.cols))
    }
}
