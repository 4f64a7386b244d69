//! What a linear program claims, judged: status, objective, bound, gap and certificate.

use super::super::bound::{Proven, Question};
use super::super::exact::{float, rational};
use super::super::findings::{Check, Findings};
use super::super::reference::{ReferenceFinding, repaired};
use super::{CONTRACT, ROUNDING};
use hottopixx::Goal;
use hottopixx::certify::{Certificate, Refusal, Verified};
use hottopixx::localise::lp::LpStatus;
use num_rational::BigRational;
use num_traits::Signed;

/// What optima may differ by, relative to their size.
const CLOSE: f64 = 1e-6;

/// Everything that is claimed about one program.
#[derive(Debug)]
pub(super) struct Claim<'a> {
    pub(super) label: &'a str,
    pub(super) question: &'a Question<'a>,
    pub(super) status: LpStatus,
    pub(super) objective: f64,
    pub(super) lower_bound: f64,
    /// The gap that was asked for.
    pub(super) gap: f64,
    pub(super) certificate: &'a Certificate,
    pub(super) verified: Result<Verified, Refusal>,
    pub(super) reference: &'a ReferenceFinding,
}

/// The size of a mismatch.
fn size(by: &BigRational) -> f64 {
    float(&by.abs())
}

/// Judges any outcome. Returns the largest error that is surely reached by a point of the program,
/// the reference's or the program's own once it is repaired.
pub(super) fn judge(claim: &Claim<'_>, findings: &mut Findings) -> Option<BigRational> {
    match claim.status {
        LpStatus::Optimal | LpStatus::Feasible => judge_point(claim, findings),
        LpStatus::Infeasible => judge_infeasible(claim, findings),
        LpStatus::Limit => undecided(claim, findings),
    }
    let own = repaired(claim.question, &|i, j| claim.certificate_entry(i, j));
    let theirs = match claim.reference {
        ReferenceFinding::Reached(point) => Some(&point.worth.worst),
        _ => None,
    };
    own.iter().map(|point| &point.worth.worst).chain(theirs).min().cloned()
}

impl Claim<'_> {
    fn certificate_entry(&self, i: usize, j: usize) -> f64 {
        let (columns, weights) = self.certificate.localising.row(i);
        columns.iter().position(|c| *c as usize == j).map_or(0.0, |at| weights[at])
    }

    fn rows(&self) -> Vec<Vec<(usize, f64)>> {
        let row = |i: usize| {
            let (columns, weights) = self.certificate.localising.row(i);
            columns.iter().map(|j| *j as usize).zip(weights.iter().copied()).collect()
        };
        (0..self.question.rows.len()).map(row).collect()
    }

    /// What is added up on the way to the objective.
    fn scale(&self) -> f64 {
        let Question { goal, cost, .. } = self.question;
        match goal {
            Goal::Cost { .. } => {
                let terms = cost.iter().zip(&self.certificate.diagonal).map(|(p, d)| (p * d).abs());
                terms.sum::<f64>().max(1.0)
            }
            Goal::Minimax => 1.0,
            Goal::Total => self.question.rows.len() as f64,
        }
    }

    /// Objectives below this count as zero when gaps are measured, as the solver has it.
    fn floor(&self) -> f64 {
        let Question { goal, cost, rank, .. } = self.question;
        match goal {
            Goal::Cost { .. } => {
                let most = cost.iter().fold(0.0f64, |m, c| m.max(c.abs()));
                CONTRACT * rank.unwrap_or(cost.len()) as f64 * most
            }
            Goal::Minimax | Goal::Total => CONTRACT,
        }
    }
}

/// Said to be feasible or optimal.
pub(super) fn judge_point(claim: &Claim<'_>, findings: &mut Findings) {
    let (label, certificate) = (claim.label, claim.certificate);
    let finite = |values: &[f64]| values.iter().all(|v| v.is_finite());
    let dual_is_finite = certificate.dual.iter().all(|(_, y)| finite(y));
    let figures = [claim.objective, claim.lower_bound];
    if !finite(&figures) || !finite(&certificate.diagonal) || !dual_is_finite {
        findings.add(Check::Objective, format!("{label}: figures are not finite: {figures:?}"));
        return;
    }
    if let Some((by, fault)) = violated(claim) {
        findings.add_sized(Check::Point, by, format!("{label} ({}): {fault}", claim.status.name()));
        if claim.verified.is_ok() {
            findings.add(Check::Verifier, format!("{label}: verified, but {fault}"));
        }
        return;
    }
    if let Err(refusal) = &claim.verified {
        findings.add(Check::Verifier, format!("{label}: refused ({refusal}), but it is in order"));
    }
    let proven = claim.question.proven(&certificate.dual);
    let worth = claim.question.worth(&certificate.diagonal, &claim.rows());
    objectives(claim, &worth.objective, findings);
    bounds(claim, &worth.objective, &proven, findings);
    optimality(claim, &worth.objective, &proven, findings);
}

/// The first constraint that the point violates by more than the contract allows, and by how much.
fn violated(claim: &Claim<'_>) -> Option<(f64, String)> {
    let (d, question) = (&claim.certificate.diagonal, claim.question);
    let beyond = |v: f64, most: f64| (-v).max(v - most);
    for (j, &value) in d.iter().enumerate() {
        let by = beyond(value, if question.allowed[j] { 1.0 } else { 0.0 });
        if by > CONTRACT {
            return Some((by, format!("d is {value} at row {j}")));
        }
    }
    if let Some(rank) = question.rank {
        let trace = d.iter().fold(BigRational::default(), |sum, v| sum + rational(*v));
        let off = (trace.clone() - rational(rank as f64)).abs();
        if off > rational(CONTRACT * rank as f64) {
            let text = format!("the trace is {} instead of {rank}", float(&trace));
            return Some((float(&off), text));
        }
    }
    for (i, row) in claim.rows().iter().enumerate() {
        if let Some((j, c)) = row.iter().find(|(j, c)| beyond(*c, d[*j]) > CONTRACT) {
            let text = format!("C is {c} at ({i}, {j}), d there is {}", d[*j]);
            return Some((beyond(*c, d[*j]), text));
        }
        let own = row.iter().find(|w| w.0 == i).map_or(0.0, |w| w.1);
        if (own - d[i]).abs() > CONTRACT {
            let text = format!("C is {own} at ({i}, {i}), d there is {}", d[i]);
            return Some(((own - d[i]).abs(), text));
        }
        if let Goal::Cost { tau } = question.goal {
            let error = question.rows.distance(1.0, i, row);
            if error > rational(tau) + rational(CONTRACT) {
                let text = format!("the error of row {i} is {:e}, tau {tau:e}", float(&error));
                return Some((float(&error) - tau, text));
            }
        }
    }
    None
}

/// The objectives of the program, of the certificate and of the verifier are that of the point.
fn objectives(claim: &Claim<'_>, exact: &BigRational, findings: &mut Findings) {
    let rounding = rational(ROUNDING * claim.scale());
    let verified = claim.verified.as_ref().map_or(claim.objective, |v| v.objective);
    let claims = [("program", claim.objective), ("verifier", verified)];
    for (who, value) in claims {
        if !value.is_finite() || (rational(value) - exact).abs() > rounding {
            let text = format!("{}: {who} says {value:e}, it is {:e}", claim.label, float(exact));
            findings.add_sized(Check::Objective, size(&(rational(value) - exact)), text);
            return;
        }
    }
}

/// The bounds are what the dual proves, and not above the objective or what the reference reached.
fn bounds(claim: &Claim<'_>, exact: &BigRational, proven: &Proven, findings: &mut Findings) {
    let label = claim.label;
    let scale = claim.scale() + float(&proven.norms);
    let rounding = rational(ROUNDING * scale);
    let verified = claim.verified.as_ref().map_or(claim.lower_bound, |v| v.lower_bound);
    let claims = [("program", claim.lower_bound), ("verifier", verified)];
    let too_high = |value: &f64, room: &BigRational| rational(*value) > &proven.bound + room;
    if let Some((who, value)) = claims.iter().find(|(_, value)| too_high(value, &rounding)) {
        let text = format!("{label}: {who} says {value:e}, proven is {:e}", float(&proven.bound));
        findings.add_sized(Check::Bound, size(&(rational(*value) - &proven.bound)), text);
    }
    findings.rounded_up += usize::from(too_high(&claim.lower_bound, &BigRational::default()));
    // Errors may be above tau by the contract, which is worth its multipliers.
    let slack = |worst: f64| rational(worst) * &proven.norms + &rounding;
    if rational(claim.lower_bound) > exact + slack(CONTRACT) {
        let text = format!("{label}: bound {:e}, objective {:e}", claim.lower_bound, float(exact));
        let size = size(&(rational(claim.lower_bound) - exact));
        findings.add_sized(Check::Crossing, size, text);
    }
    if let Some((value, excess)) = reached(claim)
        && rational(claim.lower_bound) > &value + excess * &proven.norms + &rounding
    {
        let text = format!("{label}: bound {:e}, reached {:e}", claim.lower_bound, float(&value));
        let size = size(&(rational(claim.lower_bound) - value));
        findings.add_sized(Check::Reference, size, text);
    }
}

/// Neither a point nor a proof that there is none. True as far as it goes; a mismatch only where
/// the reference has a point and tau is not at the threshold, below which nothing is feasible.
pub(super) fn undecided(claim: &Claim<'_>, findings: &mut Findings) {
    let minimax = Question { goal: Goal::Minimax, ..*claim.question };
    let threshold = minimax.proven(&claim.certificate.dual).bound;
    match (claim.reference, claim.question.goal) {
        (ReferenceFinding::Reached(_), Goal::Cost { tau })
            if threshold + rational(AT) < rational(tau) =>
        {
            findings.add(Check::Verdict, format!("{}: no verdict", claim.label));
        }
        _ => findings.unproven += 1,
    }
}

/// A tau this near to the threshold is at it.
const AT: f64 = 1e-8;

/// What the reference reached, and by how much its largest error is above tau.
fn reached(claim: &Claim<'_>) -> Option<(BigRational, BigRational)> {
    let ReferenceFinding::Reached(point) = claim.reference else { return None };
    let excess = match claim.question.goal {
        Goal::Cost { tau } => (&point.worth.worst - rational(tau)).max(BigRational::default()),
        _ => BigRational::default(),
    };
    Some((point.worth.objective.clone(), excess))
}

/// Optimal only with the gap that was asked for, and not above what the reference reached.
fn optimality(claim: &Claim<'_>, exact: &BigRational, proven: &Proven, findings: &mut Findings) {
    if claim.status != LpStatus::Optimal {
        findings.unproven += 1;
        return;
    }
    let worth = exact.abs().max(rational(claim.floor()));
    let rounding = rational(ROUNDING * (claim.scale() + float(&proven.norms)));
    if exact - &proven.bound > rational(claim.gap) * &worth + &rounding {
        let text = format!(
            "{}: optimal with {:e}, proven are {:e}, the gap asked for is {:e}",
            claim.label,
            float(exact),
            float(&proven.bound),
            claim.gap
        );
        findings.add_sized(Check::Gap, size(&(exact - &proven.bound)), text);
    }
    if let Some((value, excess)) = reached(claim) {
        let room = rational(claim.gap.max(CLOSE)) * worth + excess * &proven.norms + rounding;
        if exact - &value > room {
            let text = format!(
                "{}: optimal with {:e}, reached {:e}",
                claim.label,
                float(exact),
                float(&value)
            );
            findings.add_sized(Check::Reference, size(&(exact - &value)), text);
        }
    }
}

/// Said to be infeasible: the bound of minimax must be above tau, and nobody may have reached it.
fn judge_infeasible(claim: &Claim<'_>, findings: &mut Findings) {
    let label = claim.label;
    let Goal::Cost { tau } = claim.question.goal else {
        return findings.add(Check::Infeasible, format!("{label}: infeasible without a tau"));
    };
    let minimax = Question { goal: Goal::Minimax, ..*claim.question };
    let proven = minimax.proven(&claim.certificate.dual).bound;
    if proven <= rational(tau) {
        let text = format!("{label}: infeasible, but proven are {:e}", float(&proven));
        findings.add(Check::Infeasible, text);
    }
    let says = claim.lower_bound;
    if !says.is_finite() || rational(says) > &proven + rational(ROUNDING) {
        let text =
            format!("{label}: infeasible with bound {says:e}, proven are {:e}", float(&proven));
        findings.add(Check::Bound, text);
    }
    if let Err(refusal) = &claim.verified {
        findings.add(Check::Verifier, format!("{label}: infeasible, refused ({refusal})"));
    }
    if let Some((_, excess)) = reached(claim)
        && !excess.is_positive()
    {
        findings.add(Check::Reference, format!("{label}: infeasible, but tau is reached"));
    }
}
