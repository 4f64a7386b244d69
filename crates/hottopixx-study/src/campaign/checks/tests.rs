//! Judges that accept everything would find nothing: true claims pass, and each kind of false claim
//! is noticed by the check that is there for it.

use super::super::bound::Question;
use super::super::exact::ExactRows;
use super::super::findings::{Check, Findings};
use super::super::reference::{self, ReferenceFinding};
use super::judge_refusal;
use super::kernel::{KernelCase, judge as judge_fit};
use super::verdict::{Claim, judge};
use hottopixx::certify::{Certificate, verify};
use hottopixx::control::Control;
use hottopixx::l1::{self, Fit};
use hottopixx::localise::lp::{LpOutcome, LpSettings, LpStatus, lp};
use hottopixx::matrix::Dense;
use hottopixx::normalise::UnitRows;
use hottopixx::{Error, Goal};

const ROWS: [[f64; 4]; 5] = [
    [5.0, 1.0, 0.0, 1.0],
    [0.0, 4.0, 1.0, 0.0],
    [1.0, 0.0, 3.0, 2.0],
    [2.0, 2.0, 2.0, 1.0],
    [1.0, 1.0, 4.0, 0.0],
];

fn failed(findings: &Findings) -> Vec<Check> {
    findings.mismatches.iter().map(|m| m.check).collect()
}

/// What is found wanting in the answer of a program after `falsify`, with and without a reference.
fn verdicts(
    goal: Goal,
    falsify: impl Fn(&mut LpOutcome),
    forge: impl Fn(&mut Certificate),
) -> Vec<Check> {
    let matrix = Dense::from_rows(&ROWS).unwrap();
    let x = UnitRows::new(&matrix.clone().into()).unwrap();
    let exact = ExactRows::new(&matrix, &x);
    let settings = LpSettings { gap: Some(1e-6), ..LpSettings::new(goal) };
    let mut outcome = lp(&x, 2, &[true; 5], &settings, &Control::default()).unwrap();
    falsify(&mut outcome);
    let question =
        Question { rows: &exact, goal, rank: Some(2), cost: &outcome.cost, allowed: &[true; 5] };
    let mut certificate = Certificate::of(2, &[true; 5], &settings, &outcome);
    forge(&mut certificate);
    let claim = Claim {
        label: "test",
        question: &question,
        status: outcome.status,
        objective: outcome.objective,
        lower_bound: outcome.lower_bound,
        gap: 1e-6,
        certificate: &certificate,
        verified: verify(&x, &certificate, &Control::default()),
        reference: &reference::program(&x, &question),
    };
    assert!(!matches!(claim.reference, ReferenceFinding::Nothing));
    let mut findings = Findings::default();
    judge(&claim, &mut findings);
    failed(&findings)
}

#[test]
fn true_claims_pass() {
    for goal in [Goal::Minimax, Goal::Total, Goal::Cost { tau: 0.9 }, Goal::Cost { tau: 0.01 }] {
        assert_eq!(verdicts(goal, |_| {}, |_| {}), [], "{goal:?}");
    }
}

#[test]
fn false_figures_are_noticed() {
    let tau = Goal::Cost { tau: 0.9 };
    for goal in [Goal::Minimax, Goal::Total, tau] {
        let found = verdicts(goal, |o| o.objective -= 1e-9, |_| {});
        assert_eq!(found, [Check::Objective], "{goal:?}");
        let found = verdicts(goal, |o| o.lower_bound += 1e-3, |_| {});
        assert!(found.contains(&Check::Bound) && found.contains(&Check::Reference), "{found:?}");
        // With so large a tau the costs alone prove the bound.
        let found = verdicts(goal, |_| {}, |c| c.dual.clear());
        assert!(goal == tau || found.contains(&Check::Bound), "{found:?}");
    }
    let found = verdicts(Goal::Minimax, |o| o.lower_bound = o.objective + 1e-3, |_| {});
    assert!(found.contains(&Check::Crossing), "{found:?}");
    let found = verdicts(Goal::Minimax, |o| o.dual.clear(), |_| {});
    assert!(found.contains(&Check::Gap) && found.contains(&Check::Bound), "{found:?}");
}

#[test]
fn false_points_are_noticed() {
    // A diagonal with more than the trace, or with weights above it, is no point of the program.
    for goal in [Goal::Minimax, Goal::Cost { tau: 0.9 }] {
        let found = verdicts(goal, |o| o.diagonal = vec![1.0; 5], |_| {});
        assert!(found.contains(&Check::Point), "{found:?}");
        let found = verdicts(goal, |o| o.diagonal.fill(0.4), |_| {});
        assert!(!found.is_empty(), "{goal:?}");
    }
    // Weights that leave a row unexplained.
    let found =
        verdicts(Goal::Cost { tau: 0.9 }, |o| o.localising.iter_mut().for_each(Vec::clear), |_| {});
    assert!(found.contains(&Check::Point), "{found:?}");
}

#[test]
fn false_verdicts_are_noticed() {
    let feasible = Goal::Cost { tau: 0.9 };
    let found = verdicts(feasible, |o| o.status = LpStatus::Infeasible, |_| {});
    assert!(found.contains(&Check::Infeasible) && found.contains(&Check::Reference), "{found:?}");
    assert_eq!(verdicts(feasible, |o| o.status = LpStatus::Limit, |_| {}), [Check::Verdict]);
    let infeasible = Goal::Cost { tau: 0.01 };
    let found = verdicts(infeasible, |o| o.dual.clear(), |_| {});
    assert!(found.contains(&Check::Infeasible) && found.contains(&Check::Bound), "{found:?}");
}

/// What is found wanting in a fit after `falsify`.
fn fits(upper: Option<Vec<f64>>, falsify: impl Fn(&mut Fit)) -> Vec<Check> {
    let atoms = Dense::from_rows(&ROWS[..3]).unwrap();
    let mut fit = l1::fit(&atoms, &ROWS[3], upper.as_deref()).unwrap();
    falsify(&mut fit);
    let case = KernelCase { label: "test".to_string(), atoms, x: ROWS[3].to_vec(), upper };
    let mut findings = Findings::default();
    judge_fit(&case, &fit, &mut findings);
    assert_eq!(findings.no_reference, 0);
    failed(&findings)
}

#[test]
fn false_fits_are_noticed() {
    for upper in [None, Some(vec![0.1, 0.2, f64::INFINITY])] {
        let found = |falsify: fn(&mut Fit)| fits(upper.clone(), falsify);
        assert_eq!(found(|_| {}), []);
        assert_eq!(found(|f| f.value += 1e-9), [Check::FitValue]);
        assert_eq!(found(|f| f.lower_bound += 1e-9), [Check::FitBound]);
        assert_eq!(found(|f| f.weights[0] = -1e-300), [Check::FitWeights]);
        assert_eq!(found(|f| f.value = f64::NAN), [Check::FitValue]);
        let found = found(|f| f.weights[2] = 0.0);
        assert!(found.contains(&Check::FitStatus) && found.contains(&Check::FitReference));
        assert!(fits(upper.clone(), |f| f.dual.fill(0.0)).contains(&Check::FitStatus));
    }
}

/// Weights that no number holds may be refused; those of rows in similar units may not.
#[test]
fn false_refusals_are_noticed() {
    let rows = [[1e200, 1e200], [1e-150, 0.0], [1.0, 2.0]];
    let x = UnitRows::new(&Dense::from_rows(&rows).unwrap().into()).unwrap();
    let judged = |row, hott| {
        let mut findings = Findings::default();
        judge_refusal(&x, "test", &Error::Unrepresentable { row, hott }, &mut findings);
        failed(&findings)
    };
    assert_eq!((judged(0, 1), judged(1, 0)), (vec![], vec![]));
    assert_eq!((judged(0, 2), judged(9, 2)), (vec![Check::Refused], vec![Check::Refused]));
}
