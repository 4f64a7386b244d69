//! Several methods at once.

use super::programs::{self, Program};
use super::{
    Candidate, Localised, Localiser, Question, bytes, gradient, is_affordable, screen, screened,
};
use crate::control::Control;
use crate::localise::lp::{LpSettings, lp};
use crate::localise::{Greedy, snpa, spa_controlled, xray};
use crate::matrix::Shape;
use crate::normalise::UnitRows;
use crate::select::portfolio::readings;
use crate::select::top;
use crate::{Error, Goal};

/// Rows that the Frobenius form and minimax may choose from.
const GRADIENT_SCREENED: usize = 150;
const PROGRAM_SCREENED: usize = 300;
/// The gap of minimax that is good enough to find candidates.
const GAP: f64 = 1e-3;
/// The share of a time limit that minimax may take.
const PROGRAM_SHARE: f64 = 0.5;

/// The greedy methods, and the Frobenius form and, where it is affordable, the minimax program in all
/// their readings.
#[derive(Debug, Clone, Copy)]
pub struct Auto {
    /// The gap of minimax; `None` for 1e-3.
    pub gap: Option<f64>,
}

impl Localiser for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn localise(&self, question: &Question<'_>) -> Result<Localised, Error> {
        let Question { x, rank, allowed, control, .. } = *question;
        // SPA goes on beyond the rank: its next rows are worth trying in exchanges.
        let long = (3 * rank + 60).min(question.candidates());
        let spa = spa_controlled(x, None, long, allowed, control).rows;
        let first = spa[..rank.min(spa.len())].to_vec();
        let mut sets = vec![Candidate { origin: "spa".to_string(), rows: first }];
        let mut hints = spa;
        let mut diagonal = None;
        type Greedily = fn(&UnitRows, usize, &[bool], &Control) -> Greedy;
        for (origin, method) in [("snpa", snpa as Greedily), ("xray", xray as Greedily)] {
            if control.stopped().is_none() {
                let rows = method(x, rank, allowed, control).rows;
                hints.extend_from_slice(&rows);
                sets.push(Candidate { origin: origin.to_string(), rows });
            }
        }
        if let Some(screened) = screen(question, GRADIENT_SCREENED) {
            let found = gradient::diagonal(question, &screened)?;
            if found.iterations > 0 {
                let found = found.diagonal;
                let among = Question { allowed: &screened, ..*question };
                sets.extend(readings(&among, "gradient", &found));
                hints.extend(top(&found, rank + 25, &screened));
                diagonal = Some(found);
            }
        }
        let mut bounds = None;
        if control.stopped().is_none()
            && let Some(found) = self.minimax(question)?
        {
            sets.extend(found.candidates);
            hints.extend(found.hints);
            bounds = found.bounds;
        }
        hints.reverse(); // the convex methods' rows first, then the greedy ones
        let mut seen = std::collections::HashSet::new();
        hints.retain(|j| seen.insert(*j));
        Ok(Localised { candidates: sets, diagonal, hints, bounds, ..Default::default() })
    }

    fn bytes(&self, shape: Shape, rank: usize, threads: usize) -> u64 {
        let (r, threads) = (rank as u64, threads as u64);
        let m = shape.f().min(screened(GRADIENT_SCREENED, rank) as u64);
        let convex = bytes::frobenius(shape, m).max(bytes::program(shape, m, threads));
        bytes::hulls(shape, r, threads) + bytes::spa(shape, 3 * r + 60) + convex
    }
}

impl Auto {
    /// The readings of minimax, where the size allows it. Its bounds come along only if they are
    /// about all rows that may be hott.
    fn minimax(&self, question: &Question<'_>) -> Result<Option<Localised>, Error> {
        let Question { x, rank, .. } = *question;
        let control = question.control.for_share(PROGRAM_SHARE);
        let candidates = question.candidates().min(screened(PROGRAM_SCREENED, rank));
        if !is_affordable(x.features(), candidates, x.examples(), rank, &control) {
            return Ok(None);
        }
        let screened = screen(question, PROGRAM_SCREENED).unwrap_or_else(|| first(question));
        let gap = self.gap.unwrap_or(GAP);
        let settings = LpSettings { gap: Some(gap), ..LpSettings::new(Goal::Minimax) };
        let outcome = lp(x, rank, &screened, &settings, &control)?;
        let among = Question { allowed: &screened, ..*question };
        let d = outcome.diagonal.clone();
        Ok(Some(Localised {
            candidates: readings(&among, Program::minimax().name(), &d),
            hints: top(&d, rank + 25, &screened),
            bounds: (screened == question.allowed)
                .then(|| programs::Solved::new(question, settings, outcome))
                .and_then(|solved| solved.bounds()),
            ..Localised::default()
        }))
    }
}

/// After a stop, as many rows as the rank, whichever they are: there will be no time to choose from
/// them.
fn first(question: &Question<'_>) -> Vec<bool> {
    let mut wanted = question.rank;
    let mut take = |allowed: &bool| {
        let taken = *allowed && wanted > 0;
        wanted -= usize::from(taken);
        taken
    };
    question.allowed.iter().map(&mut take).collect()
}
