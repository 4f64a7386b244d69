//! Several methods at once.

use super::error_bound::{AtHand, Dual, Means, max_bound, mean_bound, mean_bound_bytes};
use super::programs::{self, Program};
use super::{
    Candidate, ErrorBound, Gradient, Hottopixx, Localised, Localiser, Question, bytes,
    is_affordable, screen, screened,
};
use crate::clean::{RowFit, Starts};
use crate::localise::exchange::{self, ExchangeSettings, NEAR_ONE, exchange};
use crate::localise::lp::{LpSettings, lp};
use crate::localise::{Greedy, shuffled_rows, snpa_ruled, spa_controlled, spa_ruled, xray_ruled};
use crate::matrix::Shape;
use crate::select::portfolio::readings;
use crate::select::top;
use crate::{Effort, Error, Goal, Objective, clean};

/// Operations up to which a method takes part: some seconds; fractions of one where exchanges in least
/// squares explain rows, since what they choose has not been found to be worse then.
const AFFORDABLE: f64 = 4e9;
const AFFORDABLE_BESIDE_EXCHANGE: f64 = 2e8;
/// Powers of the mean row by which exchanges weigh columns: on corpora now one, now the other led to the
/// smaller l1 error, by a percent at most.
const POWERS: [f64; 2] = [0.5, 1.0];
/// Above this many times f r^2, the greedy methods that fit all f rows after each of r choices are left out: 20,000 rows
/// at rank 50 are 5e7, a panel of 300 among 38,000 genes is 3e9.
const GREEDY_FITS: f64 = 5e7;
/// Flops for the cosines that exchanges look at, and their own operations with little effort, per
/// power: a second or so each.
const COSINES_WORK: f64 = 2e11;
/// The share of it near an earlier answer, where exchanges are few.
const NEARBY_COSINES: f64 = 0.1;
const EXCHANGE_WORK: f64 = 2e9;
/// The same for each row of X and each row to be chosen, up to three times as much: at 3,000 words and 20
/// rows less is over before the first exchange, and fitting all rows once takes longer.
const EXCHANGE_WORK_EACH: f64 = 1e5;
/// Steps that the Frobenius form takes, roughly, in operations of its products.
const GRADIENT_STEPS: f64 = 50.0;
/// Its operations at most where there is no search: some minutes. A panel of 300 among 38,000 genes would take five times
/// as many, and half an hour.
const GRADIENT_ALONE: f64 = 3e11;
/// Rows that it may choose from where the usual number would take too long.
const FEW_SCREENED: usize = 150;
/// Work (features x candidates x examples x rank) of a linear program up to which both minimax and
/// total are solved to their usual gaps.
const SMALL_PROGRAM: f64 = 3e7;
/// Rows that minimax may choose from.
const PROGRAM_SCREENED: usize = 300;
/// The gap of minimax that is good enough to find candidates.
const GAP: f64 = 1e-3;
/// The same work up to which minimax takes part where the mean error is made small and exchanges in least
/// squares explain rows: beyond, what it chooses has not been found to be better.
const MINIMAX_BESIDE_EXCHANGE: f64 = 1e8;
/// The share of a time limit that minimax may take.
const PROGRAM_SHARE: f64 = 0.5;

/// The other methods, as far as they are affordable, in all their readings.
#[derive(Debug, Clone, Copy)]
pub struct Auto {
    /// The gap of minimax; `None` for 1e-3.
    pub gap: Option<f64>,
    /// Fixes what is random about Algorithm 4.
    pub seed: u64,
    /// Bytes that Algorithm 4 and the answer may take beside the matrix.
    pub budget: u64,
    /// How much work is put into the answer.
    pub effort: Effort,
    /// The error that is made small, and bounded.
    pub objective: Objective,
    /// Whether the dual behind the bound is kept.
    pub keep: bool,
}

impl Localiser for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn localise(&self, question: &Question<'_>) -> Result<Localised, Error> {
        let Question { x, rank, allowed, control, .. } = *question;
        // SPA goes on beyond the rank: its next rows are worth trying in exchanges, where there will be a search.
        let beyond = if clean::is_affordable(x.shape(), rank) { 2 * rank + 60 } else { 0 };
        let free = question.rules.is_free();
        let spa = match free || beyond > 0 {
            true => {
                let long = (rank + beyond).min(question.candidates());
                spa_controlled(x, None, long, allowed, control).rows
            }
            false => Vec::new(),
        };
        let first = match free {
            true => spa[..rank.min(spa.len())].to_vec(),
            false => spa_ruled(question, None).rows,
        };
        let mut found = Localised::rows("spa", first);
        found.hints = spa;
        let ones = vec![1.0; x.features()];
        let methods: [(&str, &dyn Fn() -> Greedy); 2] =
            [("snpa", &|| snpa_ruled(question, &ones)), ("xray", &|| xray_ruled(question))];
        let fits = x.features() as f64 * (rank as f64).powi(2);
        for (origin, method) in methods {
            if control.stopped().is_none() && fits <= GREEDY_FITS {
                let rows = method().rows;
                found.hints.extend_from_slice(&rows);
                found.candidates.push(Candidate { origin: origin.to_string(), rows });
            }
        }
        let left = self.exchange(question, &mut found, false);
        let mut dual = None;
        for method in self.others(question, left) {
            if control.stopped().is_some() {
                break;
            }
            let alone = control.without_keeper();
            let question = question.under(&alone);
            match method.localise(&question) {
                Ok(mut other) => {
                    dual = minimax_dual(&mut other).or(dual);
                    take(&mut found, other, &question);
                }
                Err(Error::NoAnswer(_)) => {}
                Err(error) => return Err(error),
            }
        }
        if control.stopped().is_none()
            && let Some((other, its_dual)) = self.minimax(question, left)?
        {
            dual = Some(its_dual);
            take(&mut found, other, question);
        }
        if control.stopped().is_none()
            && let Some((bound, other)) =
                self.bound(question, (&found.candidates, 1.0), dual.as_ref())?
        {
            take(&mut found, other, question);
            found.error_bound = Some(bound);
        }
        found.hints.reverse(); // the convex methods' rows first, then the greedy ones
        let mut seen = std::collections::HashSet::new();
        found.hints.retain(|j| seen.insert(*j));
        Ok(found)
    }

    fn bytes(&self, shape: Shape, rank: usize, threads: usize) -> u64 {
        let (r, threads64) = (rank as u64, threads as u64);
        let m = shape.f().min(screened(PROGRAM_SCREENED, rank) as u64);
        let convex = bytes::program(shape, m, threads64)
            .max(Gradient::default().bytes(shape, rank, threads))
            .max(self.hottopixx().bytes(shape, rank, threads))
            .max(mean_bound_bytes(shape, self.means(1.0)))
            .max(exchange::bytes(shape, shape.rows, rank, threads));
        bytes::hulls(shape, r, threads64) + bytes::spa(shape, 3 * r + 60) + convex
    }
}

/// Adds what another method found: its sets, and the rows of its diagonal as hints.
fn take(found: &mut Localised, other: Localised, question: &Question<'_>) {
    found.candidates.extend(other.candidates);
    found.hints.extend(other.hints);
    if let Some(diagonal) = other.diagonal {
        found.hints.extend(top(&diagonal, question.rank + 25, question.allowed));
        found.diagonal = Some(diagonal);
    }
    found.bounds = other.bounds.or(found.bounds.take());
    found.dual = other.dual.or(found.dual.take());
}

/// Rows on which candidates are compared to find out about what is at hand.
const LOOKED_AT: usize = 64;

/// The candidate with the least mean error on some rows.
fn at_hand(question: &Question<'_>, candidates: &[Candidate]) -> AtHand {
    let Question { x, rank, control, .. } = *question;
    let exactly = clean::is_affordable(x.shape(), rank);
    let mut rows = shuffled_rows(x.features());
    rows.truncate(LOOKED_AT);
    let mut best = AtHand::default();
    for candidate in candidates.iter().filter(|candidate| candidate.rows.len() == rank) {
        if !exactly || control.stopped().is_some() {
            best.rows.clone_from(&candidate.rows);
            break;
        }
        let fits = clean::refit(x, &candidate.rows, &rows, Starts::Cold, control);
        let counted = |(&i, fit): (&usize, &RowFit)| Objective::Mean.counted(x, i, fit.error);
        let error = Objective::Mean.score(rows.iter().zip(&fits).map(counted));
        if best.error.is_none_or(|least| error < least) {
            best = AtHand { rows: candidate.rows.clone(), error: Some(error) };
        }
    }
    best
}

/// The dual of minimax, where that was the method.
fn minimax_dual(found: &mut Localised) -> Option<Dual> {
    let minimax = |solved: &programs::Solved| solved.certificate.goal == Goal::Minimax;
    found.program.take().filter(minimax).map(|solved| solved.certificate.dual)
}

impl Auto {
    /// What a bound may take: a share of what is usual.
    fn means(&self, share: f64) -> Means {
        Means { effort: self.effort, share, budget: self.budget, keep: self.keep }
    }

    /// What is proven about the error that is made small, of every choice of rows, with a share of the work that is
    /// usual.
    pub(super) fn bound(
        &self,
        question: &Question<'_>,
        (candidates, share): (&[Candidate], f64),
        dual: Option<&Dual>,
    ) -> Result<Option<(ErrorBound, Localised)>, Error> {
        if self.effort == Effort::Quick {
            return Ok(None);
        }
        let at_hand = at_hand(question, candidates);
        match self.objective {
            Objective::Mean => mean_bound(question, self.means(share), &at_hand),
            Objective::Max => max_bound(question, self.means(share), dual, &at_hand),
        }
    }

    /// Improves the greedy answers by exchanges in least squares; how much those leave unexplained, see
    /// [`Exchanged::left`](crate::localise::exchange::Exchanged::left). Walks that begin at an earlier answer stay
    /// `nearby`.
    pub(super) fn exchange(
        &self,
        question: &Question<'_>,
        found: &mut Localised,
        nearby: bool,
    ) -> f64 {
        let Question { x, rank, .. } = *question;
        let mut starts: Vec<Vec<usize>> = Vec::new();
        for Candidate { rows, .. } in &found.candidates {
            if rows.len() == rank && !starts.contains(rows) {
                starts.push(rows.clone());
            }
        }
        let each = EXCHANGE_WORK_EACH * x.features() as f64 * rank as f64;
        let work = each.clamp(EXCHANGE_WORK, 3.0 * EXCHANGE_WORK);
        let (powers, most, kicks, work) = match self.effort {
            Effort::Quick => (&POWERS[..1], 1, 0, work),
            Effort::Normal => (&POWERS[..], 1, 2, 6.0 * work),
            Effort::Thorough => (&POWERS[..], 3, 20, 60.0 * work),
        };
        starts.truncate(most);
        let cosines = if nearby { NEARBY_COSINES * COSINES_WORK } else { COSINES_WORK };
        let mut left: f64 = 1.0;
        for &power in powers {
            let settings = ExchangeSettings { power, cosines, work, kicks, nearby };
            let sets = exchange(question, &starts, &settings);
            left = left.min(sets.left);
            for rows in sets.sets {
                found.hints.extend_from_slice(&rows);
                found.candidates.push(Candidate { origin: "exchange".to_string(), rows });
            }
            if left >= NEAR_ONE {
                break;
            }
        }
        left
    }

    fn hottopixx(&self) -> Hottopixx {
        Hottopixx { epochs: None, seed: self.seed, budget: self.budget }
    }

    /// The other methods that are affordable, each as it is when it is called by its name; the
    /// Frobenius form with fewer rows to choose from where all of its own would take long. `left` is
    /// what exchanges in least squares left unexplained.
    fn others(&self, question: &Question<'_>, left: f64) -> Vec<Box<dyn Localiser>> {
        let Question { x, rank, .. } = *question;
        let (shape, candidates) = (x.shape(), question.candidates());
        // Without exact fits there is no search: the methods themselves are all there is.
        let most = match (self.effort, clean::is_affordable(shape, rank)) {
            (Effort::Quick, _) => return Vec::new(),
            (Effort::Normal, true) if left < NEAR_ONE => AFFORDABLE_BESIDE_EXCHANGE,
            (Effort::Normal, true) => AFFORDABLE,
            // They know nothing of constraints, which exchanges obey.
            (Effort::Normal, false) if !question.rules.is_free() => AFFORDABLE,
            _ => f64::INFINITY,
        };
        let mut others: Vec<Box<dyn Localiser>> = Vec::new();
        let usual = Gradient::default();
        let work = |screened: usize| {
            let m = candidates.min(screened.max(3 * rank)) as f64;
            shape.rows as f64 * m * m * GRADIENT_STEPS
        };
        let gradient_most = match self.effort {
            Effort::Thorough => most,
            _ => most.min(GRADIENT_ALONE),
        };
        let fits = |screened: &usize| work(*screened) <= gradient_most;
        let screened = [usual.screened, FEW_SCREENED].into_iter().find(fits);
        if let Some(screened) = screened {
            others.push(Box::new(Gradient { screened }));
        }
        if self.hottopixx().operations(shape, rank, candidates) <= most {
            others.push(Box::new(self.hottopixx()));
        }
        let program = shape.rows as f64 * (candidates * shape.cols * rank) as f64;
        if program <= SMALL_PROGRAM && !x.has_gaps() {
            let gap = self.gap;
            others.push(Box::new(Program { gap, ..Program::minimax() }));
            others.push(Box::new(Program { goal: Goal::Total, gap, ..Program::minimax() }));
        }
        others
    }

    /// The readings of minimax with its dual, where the size allows it; `left` is what exchanges in least
    /// squares left unexplained. Its bounds come along only if they are about all rows that may be hott.
    fn minimax(
        &self,
        question: &Question<'_>,
        left: f64,
    ) -> Result<Option<(Localised, Dual)>, Error> {
        let Question { x, rank, .. } = *question;
        let control = question.control.for_share(PROGRAM_SHARE);
        let allowed = question.candidates();
        let candidates = allowed.min(screened(PROGRAM_SCREENED, rank));
        // Small ones are among the other methods already.
        let small = x.features() as f64 * (allowed * x.examples() * rank) as f64 <= SMALL_PROGRAM;
        let work = x.features() as f64 * (candidates * x.examples() * rank) as f64;
        let beside = self.effort == Effort::Normal
            && self.objective == Objective::Mean
            && left < NEAR_ONE
            && work > MINIMAX_BESIDE_EXCHANGE;
        if small
            || x.has_gaps() // the program is about all entries
            || beside
            || self.effort == Effort::Quick
            || !is_affordable(x.features(), candidates, x.examples(), rank, &control)
        {
            return Ok(None);
        }
        let screened = screen(question, PROGRAM_SCREENED).unwrap_or_else(|| first(question));
        let gap = self.gap.unwrap_or(GAP);
        let settings = LpSettings { gap: Some(gap), ..LpSettings::new(Goal::Minimax) };
        let outcome = lp(x, rank, &screened, &settings, &control)?;
        let among = Question { allowed: &screened, ..*question };
        let (d, dual) = (outcome.diagonal.clone(), outcome.dual.clone());
        let found = Localised {
            candidates: readings(&among, Program::minimax().name(), &d),
            hints: top(&d, rank + 25, &screened),
            bounds: (screened == question.allowed)
                .then(|| programs::Solved::new(question, settings, outcome))
                .and_then(|solved| solved.bounds()),
            ..Localised::default()
        };
        Ok(Some((found, dual)))
    }
}

/// After a stop, as many rows as the rank, whichever they are: there will be no time to choose from
/// them.
fn first(question: &Question<'_>) -> Vec<bool> {
    let mut mask = vec![false; question.allowed.len()];
    let rows = question.rules.choose(&[], question.rank, question.allowed);
    rows.into_iter().for_each(|i| mask[i] = true);
    mask
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Control;
    use crate::localise::instances::unit_rows;

    /// Rows that have next to nothing in common: squares explain little, and what exchanges found is judged
    /// all the same. It was thrown away, and with little effort on a corpus successive projection won.
    #[test]
    fn what_exchanges_found_is_judged_where_squares_explain_little() {
        let mut state = 5u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize
        };
        let mut row = || {
            let mut row = vec![0.0; 300];
            (0..6).for_each(|_| row[next() % 300] += 1.0);
            row
        };
        let x = unit_rows(&(0..40).map(|_| row()).collect::<Vec<_>>());
        let (allowed, control) = (vec![true; 40], Control::default());
        let question = Question::new(&x, 3, &allowed, &control);
        let auto = |effort| Auto {
            gap: None,
            seed: 0,
            budget: 1 << 30,
            effort,
            objective: Objective::Mean,
            keep: false,
        };
        for effort in [Effort::Quick, Effort::Normal] {
            let mut found = Localised::rows("spa", vec![0, 1, 2]);
            let left = auto(effort).exchange(&question, &mut found, false);
            assert!(left >= NEAR_ONE, "{left}");
            assert!(found.candidates.iter().any(|c| c.origin == "exchange"));
        }
    }
}
