//! The l1 fit `min ||x - cA||_1` over `0 <= c <= u`: weights, value, dual and status.

use super::super::exact::{float, mass, product, rational, residual};
use super::super::findings::{Check, Findings};
use super::super::reference;
use super::{CONTRACT, ROUNDING, Subject};
use hottopixx::l1::{self, Fit, Status};
use hottopixx::matrix::Dense;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A fit to be made.
pub(super) struct KernelCase {
    pub(super) label: String,
    pub(super) atoms: Dense,
    pub(super) x: Vec<f64>,
    pub(super) upper: Option<Vec<f64>>,
}

pub(super) fn run(subject: &Subject<'_>, findings: &mut Findings) {
    for case in cases(subject) {
        let upper = case.upper.as_deref();
        let fit = findings.call(&case.label, |_| l1::fit(&case.atoms, &case.x, upper));
        match fit {
            Ok(fit) => judge(&case, &fit, findings),
            Err(error) => findings.add(Check::Refused, format!("{}: {error}", case.label)),
        }
    }
}

/// A row on the hott rows: in unit rows, in the units of the input, and with signs; without bounds
/// and with bounds that are zero, infinite or in between.
fn cases(subject: &Subject<'_>) -> Vec<KernelCase> {
    let mut rng = ChaCha8Rng::seed_from_u64(subject.instance.seed);
    let x = &subject.x;
    let others: Vec<usize> = (0..x.features()).filter(|i| !subject.hott.contains(i)).collect();
    let target = match others.len() {
        0 => subject.hott[0],
        count => others[rng.random_range(0..count)],
    };
    let from = |row: &dyn Fn(usize) -> Vec<f64>| {
        let rows: Vec<Vec<f64>> = subject.hott.iter().map(|&i| row(i)).collect();
        (Dense::from_rows(&rows).expect("rows of equal length"), row(target))
    };
    let unit = from(&|i| x.dense_row(i));
    let raw = from(&|i| subject.instance.matrix.row(x.input_row(i)).to_vec());
    let mut signed = unit.clone();
    let flip = |v: &mut f64| {
        if rng.random_bool(0.5) {
            *v = -*v;
        }
    };
    signed.0.values_mut().iter_mut().chain(&mut signed.1).for_each(flip);
    let mut cases = Vec::new();
    let kinds = [("unit", unit), ("raw", raw), ("signed", signed)];
    for (name, (atoms, x)) in kinds.into_iter().filter(|(_, (atoms, x))| has_weights(atoms, x)) {
        let label = |bounds: &str| {
            let Subject { hott, .. } = subject;
            format!("fit of row {target} on rows {hott:?} of X, {name}, {bounds}")
        };
        let upper = bounds(&mut rng, &atoms, &x);
        let (a, b) = (atoms.clone(), x.clone());
        cases.push(KernelCase { label: label("no bounds"), atoms: a, x: b, upper: None });
        cases.push(KernelCase {
            label: label(&format!("u = {upper:?}")),
            atoms,
            x,
            upper: Some(upper),
        });
    }
    cases
}

/// Quotients of sizes within this are numbers themselves, and so are weights.
const REPRESENTABLE: f64 = 1e290;

/// Whether weights that explain x can be written in f64.
fn has_weights(atoms: &Dense, x: &[f64]) -> bool {
    let within = |j: usize| {
        let quotient = size(x) / size(atoms.row(j));
        quotient < REPRESENTABLE && quotient > 1.0 / REPRESENTABLE
    };
    (0..atoms.rows()).all(within)
}

fn size(values: &[f64]) -> f64 {
    values.iter().map(|v| v.abs()).sum()
}

/// Bounds in units of what explains all of x: zero, infinite, one, or random.
fn bounds(rng: &mut ChaCha8Rng, atoms: &Dense, x: &[f64]) -> Vec<f64> {
    let bound = |j: usize| {
        let unit = size(x) / size(atoms.row(j));
        match rng.random_range(0..5) {
            0 => 0.0,
            1 => f64::INFINITY,
            2 => unit,
            _ => unit * rng.random::<f64>(),
        }
    };
    (0..atoms.rows()).map(bound).collect()
}

/// Judges a fit: weights, value, bound, status, and what the reference reached.
pub(super) fn judge(case: &KernelCase, fit: &Fit, findings: &mut Findings) {
    let upper = |j: usize| case.upper.as_ref().map_or(f64::INFINITY, |u| u[j]);
    let label = &case.label;
    let outside = |(j, c): (usize, &f64)| !(*c >= 0.0 && *c <= upper(j) && c.is_finite());
    if let Some((j, c)) = fit.weights.iter().enumerate().find(|w| outside((w.0, w.1))) {
        findings.add(Check::FitWeights, format!("{label}: weight {j} is {c}"));
        return;
    }
    if !fit.value.is_finite() || !fit.lower_bound.is_finite() {
        let text = format!("{label}: value {}, bound {}", fit.value, fit.lower_bound);
        findings.add(Check::FitValue, text);
        return;
    }
    let target = mass(&case.x);
    // What is added up on the way to the value.
    let explained = |c: &[f64]| {
        (0..c.len()).fold(target.clone(), |sum, j| sum + rational(c[j]) * mass(case.atoms.row(j)))
    };
    let scale = explained(&fit.weights);
    let rounding = &scale * rational(ROUNDING);
    // Sizes of mismatches are relative to the target.
    let share = |by: &BigRational| float(&(by.abs() / &target));
    let contract = &target * rational(CONTRACT) + &rounding;
    let value = residual(&case.atoms, &case.x, &fit.weights);
    if (rational(fit.value) - &value).abs() > rounding {
        let text = format!("{label}: value {:e} claimed, {:e} measured", fit.value, float(&value));
        findings.add_sized(Check::FitValue, share(&(rational(fit.value) - &value)), text);
    }
    let reference = reference::fit(&case.atoms, &case.x, case.upper.as_deref());
    let reached = reference.as_ref().map(|c| residual(&case.atoms, &case.x, c));
    findings.no_reference += usize::from(reached.is_none());
    let most = reference.as_ref().map_or(scale.clone(), |c| explained(c).max(scale));
    let proven = proven(case, fit, &most);
    let best = reached.as_ref().map_or(&value, |reached| reached.min(&value));
    let claimed = rational(fit.lower_bound);
    if claimed > &proven + &rounding || claimed > best + &rounding {
        let text = format!(
            "{label}: bound {:e} claimed, {:e} proven, {:e} reached",
            fit.lower_bound,
            float(&proven),
            float(best)
        );
        findings.add_sized(Check::FitBound, share(&(claimed - (&proven).min(best))), text);
    }
    if fit.status != Status::Optimal {
        findings.unproven += 1;
        return;
    }
    if &value - &proven > contract {
        let text = format!(
            "{label}: optimal with value {:e}, proven are {:e}, of mass {:e}",
            float(&value),
            float(&proven),
            float(&target)
        );
        findings.add_sized(Check::FitStatus, share(&(&value - &proven)), text);
    }
    if reached.as_ref().is_some_and(|reached| &value - reached > contract) {
        let text =
            format!("{label}: optimal with {:e}, reached is {:e}", float(&value), float(best));
        findings.add_sized(Check::FitReference, share(&(&value - best)), text);
    }
}

/// `y.x - sum_j u_j (A_j.y)_+`, with y scaled down where it is above one. Without a bound on it, a
/// weight is at most what explains `most`: no atom has more mass than that in a fit which is any
/// good, or in those that it is compared with.
fn proven(case: &KernelCase, fit: &Fit, most: &BigRational) -> BigRational {
    if fit.dual.len() != case.x.len() || fit.dual.iter().any(|y| !y.is_finite()) {
        return BigRational::zero();
    }
    let size = fit.dual.iter().fold(0.0f64, |m, y| m.max(y.abs()));
    let mut bound = product(&fit.dual, &case.x);
    for j in 0..case.atoms.rows() {
        let excess = product(&fit.dual, case.atoms.row(j));
        let size = mass(case.atoms.row(j));
        if !excess.is_positive() || size.is_zero() {
            continue;
        }
        let implied = most * rational(2.0) / size;
        let upper = case.upper.as_ref().map_or(f64::INFINITY, |u| u[j]);
        let upper = if upper.is_finite() { rational(upper).min(implied) } else { implied };
        bound -= upper * excess;
    }
    (bound / rational(size).max(BigRational::one())).max(BigRational::zero())
}
