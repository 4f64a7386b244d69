//! The paper's incremental gradient method, Algorithm 4.

use super::{Candidate, Localised, Localiser, Question, bytes, no_answer, screen, screened};
use crate::Error;
use crate::localise::hottopixx::{Effect, unmeasured, usual_epochs};
use crate::localise::{HottopixxSettings, spa_ruled};
use crate::matrix::Shape;

/// What Algorithm 4 and its answer may take beside the matrix unless the caller says otherwise: 8 GiB,
/// which dense X of 1600 x 64,000 and sparse X of 100,000 x 1,000,000 do not come near. A constant and
/// not what the machine has, so that the answer is the same on any machine.
pub const USUAL_BUDGET: u64 = 8 << 30;

/// The paper's incremental gradient method (Algorithm 4, corrected).
#[derive(Debug, Clone, Copy)]
pub struct Hottopixx {
    /// Epochs; `None` for as many as suit the shape ([`usual_epochs`]).
    pub epochs: Option<usize>,
    /// Fixes the order of the examples.
    pub seed: u64,
    /// Bytes that the method and the answer may take beside the matrix.
    pub budget: u64,
}

/// Dense X with more rows than this has this many candidates, those that SPA comes across first: it
/// passes copies over, which would share the weight of a hott row.
const ALL_CANDIDATES: usize = 2000;
const SCREENED: usize = 500;

fn is_screened(shape: Shape, candidates: usize) -> bool {
    shape.dense && candidates > ALL_CANDIDATES
}

impl Hottopixx {
    /// Settings of the algorithm, with what is left of the budget when there is an answer.
    fn settings(&self, shape: Shape, rank: usize) -> HottopixxSettings {
        let memory = Some(self.budget.saturating_sub(bytes::answer(shape, rank as u64)));
        let epochs = self.epochs.unwrap_or_else(|| usual_epochs(shape));
        HottopixxSettings { epochs, seed: self.seed, memory, ..Default::default() }
    }

    /// Operations that it takes on X of this shape, roughly.
    pub(super) fn operations(&self, shape: Shape, rank: usize, candidates: usize) -> f64 {
        let candidates = if is_screened(shape, candidates) { SCREENED } else { candidates };
        self.settings(shape, rank).operations(shape, rank, candidates)
    }

    /// What the budget changes in the way X of this shape is gone through: all of the budget that an answer
    /// depends on.
    pub(crate) fn effect(&self, shape: Shape, rank: usize, candidates: usize) -> Effect {
        let screened_out = is_screened(shape, candidates);
        let candidates = if screened_out { screened(SCREENED, rank) } else { candidates };
        self.settings(shape, rank).effect(shape, rank, candidates)
    }

    /// What the budget has changed.
    fn budget_note(&self, question: &Question<'_>) -> Option<String> {
        let (shape, rank) = (question.x.shape(), question.rank);
        let what = match self.settings(shape, rank).effect(shape, rank, question.candidates()) {
            Effect::None => return None,
            Effect::Windows(windows) => {
                format!("went through the examples in {windows} windows instead of all at once")
            }
            Effect::Columns { kept, usual } => {
                format!("let only {kept} rows be hott instead of {usual}")
            }
        };
        let mib = self.budget as f64 / f64::from(1 << 20);
        Some(format!(
            "To keep to {mib:.0} MiB of memory, the method {what}; another limit gives another answer."
        ))
    }
}

impl Localiser for Hottopixx {
    fn name(&self) -> &'static str {
        "hottopixx"
    }

    fn localise(&self, question: &Question<'_>) -> Result<Localised, Error> {
        let Question { x, rank, cost, control, .. } = *question;
        let cost = cost.map(<[f64]>::to_vec);
        let candidates = question.candidates();
        let allowed = match is_screened(x.shape(), candidates) {
            true => screen(question, SCREENED).ok_or_else(|| no_answer(control))?,
            false => question.allowed.to_vec(),
        };
        let settings = HottopixxSettings { cost, ..self.settings(x.shape(), rank) };
        let found = unmeasured(x, rank, &allowed, &settings, control)?;
        if found.iterations == 0 {
            return Err(no_answer(control));
        }
        let kept = allowed.iter().filter(|a| **a).count();
        let screened = found.screened.or((kept < candidates).then_some((kept, candidates)));
        let mut localised = Localised::diagonal(self.name(), question, found.diagonal);
        // No worse than successive projection on rows that no diagonal has weighted.
        let rows = spa_ruled(question, None).rows;
        localised.candidates.push(Candidate { origin: "spa".to_string(), rows });
        localised.notes.extend(self.budget_note(question));
        localised.notes.extend(screened.map(|(kept, of)| {
            format!(
                "Only {kept} rows of {of}, those that explain most or differ most, could be hott."
            )
        }));
        Ok(localised)
    }

    fn bytes(&self, shape: Shape, rank: usize, threads: usize) -> u64 {
        let own = self.settings(shape, rank).bytes(shape, rank, shape.rows);
        bytes::hulls(shape, rank as u64, threads as u64).max(own)
    }
}
