//! The linear programs, asked for directly and through [`Factor`], and the taus that are asked for.

use super::super::bound::Question;
use super::super::exact::{float, rational};
use super::super::findings::{Check, Findings};
use super::super::instance::Taus;
use super::super::reference::{self, ReferenceFinding};
use super::verdict::{Claim, judge, judge_point, undecided};
use super::{CONTRACT, ROUNDING, Subject, judge_refusal, theory};
use hottopixx::Goal;
use hottopixx::certify::{Certificate, verify};
use hottopixx::control::Control;
use hottopixx::localise::lp::{LpSettings, LpStatus, lp};
use hottopixx::{Certified, Error, Factor, Method};
use num_rational::BigRational;
use num_traits::Signed;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A gap that is asked for now and then, far below the usual ones.
const TIGHT: f64 = 1e-8;

/// One program of an instance.
struct Task {
    label: String,
    settings: LpSettings,
    allowed: Vec<bool>,
    rank: usize,
}

/// What is known about minimax: a largest error that is reached, if any is.
type Threshold = Option<BigRational>;

pub(super) fn run(subject: &Subject<'_>, findings: &mut Findings) {
    let mut rng = ChaCha8Rng::seed_from_u64(subject.instance.seed ^ 1);
    if !subject.instance.programs {
        // To the last digit a wide program takes seconds, rightly.
        program(subject, Goal::Minimax, None, &None, findings);
        return;
    }
    let threshold = program(subject, Goal::Minimax, gap(&mut rng), &None, findings);
    program(subject, Goal::Total, gap(&mut rng), &None, findings);
    for tau in taus(subject, &mut rng, threshold.as_ref().map_or(0.1, float)) {
        program(subject, Goal::Cost { tau }, gap(&mut rng), &threshold, findings);
    }
}

fn gap(rng: &mut ChaCha8Rng) -> Option<f64> {
    rng.random_bool(0.3).then_some(TIGHT)
}

/// Two or three taus, given the smallest that is known to be feasible with the trace.
fn taus(subject: &Subject<'_>, rng: &mut ChaCha8Rng, least: f64) -> Vec<f64> {
    let instance = subject.instance;
    let mut taus = instance.also.clone();
    match instance.taus {
        _ if !instance.trace => taus.extend([0.0, [0.01, 0.1, 0.4][rng.random_range(0..3)]]),
        Taus::Plain => {
            taus.push([0.0, 0.01, 0.1][rng.random_range(0..3)]);
            taus.push([0.7 * least, 1.01 * least, 1.5 * least + 0.01][rng.random_range(0..3)]);
        }
        Taus::AtThreshold => {
            for by in [1e-12, 1e-9, 1e-6] {
                let side = if rng.random_bool(0.5) { 1.0 } else { -1.0 };
                taus.push((least + side * by).abs());
            }
        }
    }
    taus
}

/// Solves one program twice, and says which largest error was reached.
fn program(
    subject: &Subject<'_>,
    goal: Goal,
    gap: Option<f64>,
    threshold: &Threshold,
    findings: &mut Findings,
) -> Threshold {
    let task = task(subject, goal, gap);
    let Task { label, settings, allowed, rank } = &task;
    let x = &subject.x;
    let outcome = match findings.call(label, |control| lp(x, *rank, allowed, settings, control)) {
        Ok(outcome) => outcome,
        Err(error) => {
            findings.add(Check::Refused, format!("{label}: {error}"));
            return None;
        }
    };
    check_cost(subject, &task, &outcome.cost, findings);
    let question = Question {
        rows: &subject.exact,
        goal,
        rank: settings.trace.then_some(*rank),
        cost: &outcome.cost,
        allowed,
    };
    let reference = match subject.instance.programs {
        true => reference::program(x, &question),
        false => ReferenceFinding::Nothing,
    };
    findings.no_reference += usize::from(matches!(reference, ReferenceFinding::Nothing));
    let certificate = Certificate::of(*rank, allowed, settings, &outcome);
    let claim = Claim {
        label,
        question: &question,
        status: outcome.status,
        objective: outcome.objective,
        lower_bound: outcome.lower_bound,
        gap: gap.unwrap_or(if matches!(goal, Goal::Cost { .. }) { 1e-6 } else { 1e-4 }),
        certificate: &certificate,
        verified: verify(x, &certificate, &Control::default()),
        reference: &reference,
    };
    let reached = judge(&claim, findings);
    through_factor(subject, &task, &claim, threshold, findings);
    reached
}

fn task(subject: &Subject<'_>, goal: Goal, gap: Option<f64>) -> Task {
    let (instance, x) = (subject.instance, &subject.x);
    let kept = || (0..x.features()).map(|i| x.input_row(i));
    let is_cost = matches!(goal, Goal::Cost { .. });
    let cost = instance.cost.as_ref().filter(|_| is_cost);
    let settings = LpSettings {
        trace: instance.trace || !is_cost,
        cost: cost.map(|cost| kept().map(|i| cost[i]).collect()),
        gap,
        ..LpSettings::new(goal)
    };
    let label = match goal {
        Goal::Cost { tau } => format!("lp tau {tau:e} gap {gap:?}"),
        Goal::Minimax => format!("minimax gap {gap:?}"),
        Goal::Total => format!("total gap {gap:?}"),
    };
    let allowed = kept().map(|i| instance.allowed[i]).collect();
    Task { label, settings, allowed, rank: instance.rank }
}

/// The solver's own cost is `-||x_j||^2` where there is a trace, and the caller's where there is one.
fn check_cost(subject: &Subject<'_>, task: &Task, cost: &[f64], findings: &mut Findings) {
    let wrong = match (&task.settings.cost, task.settings.goal) {
        (Some(given), _) => given != cost,
        (None, Goal::Cost { .. }) if task.settings.trace => (0..cost.len()).any(|j| {
            let off = rational(cost[j]) + subject.exact.square(j);
            off.abs() > rational(ROUNDING)
        }),
        _ => false,
    };
    if wrong {
        findings.add(Check::Objective, format!("{}: another cost was minimised", task.label));
    }
}

/// The same program through [`Factor::certify`], which solves it anew.
fn through_factor(
    subject: &Subject<'_>,
    task: &Task,
    direct: &Claim<'_>,
    threshold: &Threshold,
    findings: &mut Findings,
) {
    let instance = subject.instance;
    let label = format!("certify {}", task.label);
    let mut factor = Factor::new(task.rank).threads(1).groups(false).trace(instance.trace);
    factor = match task.settings.goal {
        Goal::Cost { tau } => factor.method(Method::Lp).tau(tau),
        Goal::Minimax => factor.method(Method::Minimax),
        Goal::Total => factor.method(Method::Total),
    };
    if let Some(gap) = task.settings.gap {
        factor = factor.gap(gap);
    }
    if let Some(cost) = &instance.cost {
        factor = factor.cost(cost.clone());
    }
    if instance.allowed.contains(&false) {
        factor = factor.candidates(instance.allowed.clone());
    }
    let factor = factor.only_used();
    let found = findings
        .call(&label, |control| factor.control(control.clone()).certify(&subject.input, None));
    match found {
        Ok(found) => {
            let Some(bounds) = &found.bounds else {
                let why = found.verified.as_ref().err().map(ToString::to_string);
                findings.add(Check::Verifier, format!("{label}: refused ({why:?})"));
                return;
            };
            if bounds.status == LpStatus::Limit {
                return undecided(direct, findings);
            }
            let claim = Claim {
                label: &label,
                status: bounds.status,
                objective: bounds.objective,
                lower_bound: bounds.lower_bound,
                certificate: &found.certificate,
                verified: found.verified.clone(),
                ..*direct
            };
            judge_point(&claim, findings);
            beside_the_program(subject, &claim, &found, findings);
        }
        Err(Error::Infeasible { tau, bound, enough, .. }) => {
            infeasible(&label, (tau, bound, enough), direct, threshold, findings);
        }
        Err(Error::Undecided { .. }) => undecided(direct, findings),
        Err(Error::NoAnswer(_)) => findings.add(Check::Verdict, format!("{label}: no answer")),
        Err(error) => judge_refusal(&subject.x, &label, &error, findings),
    }
}

/// What comes with the program: Theorem 3.2 for the rows that were chosen, and their largest error
/// with weights of at most one, which minimax bounds.
fn beside_the_program(
    subject: &Subject<'_>,
    claim: &Claim<'_>,
    found: &Certified,
    findings: &mut Findings,
) {
    if claim.question.goal != Goal::Minimax {
        return;
    }
    let hott: Vec<usize> =
        found.answer.hott.iter().filter_map(|h| subject.x.unit_row(h.row)).collect();
    if let Some(theory) = &found.theory {
        theory::judge(subject, claim.label, &hott, theory, findings);
    }
    let proven = claim.question.proven(&claim.certificate.dual).bound;
    let error = found.bounded_inf1;
    if error.is_nan() || error + CONTRACT < float(&proven) {
        let text = format!(
            "{}: rows {hott:?} have the error {:e}, no choice has less than {:e}",
            claim.label,
            error,
            float(&proven)
        );
        findings.add(Check::Crossing, text);
    }
}

/// Said to be infeasible: the bound is above tau, not above what is reached, and what is said to be
/// enough is not below what the program's own dual proves.
fn infeasible(
    label: &str,
    (tau, bound, enough): (f64, f64, f64),
    direct: &Claim<'_>,
    threshold: &Threshold,
    findings: &mut Findings,
) {
    let minimax = Question { goal: Goal::Minimax, ..*direct.question };
    let proven = minimax.proven(&direct.certificate.dual).bound;
    let too_high = |reached: &BigRational| rational(bound) > reached + rational(ROUNDING);
    let with_trace = direct.question.rank.is_some();
    let reached = threshold.as_ref().filter(|_| with_trace);
    let wrong = !bound.is_finite()
        || bound <= tau
        || reached.is_some_and(too_high)
        || direct.status != LpStatus::Infeasible
        || (enough.is_finite() && rational(enough) + rational(CONTRACT) < proven);
    if wrong {
        let text = format!(
            "{label}: infeasible for tau {tau:e}, bound {bound:e}, enough {enough:e}; reached {:?}",
            reached.map(float)
        );
        findings.add(Check::Infeasible, text);
    }
}
