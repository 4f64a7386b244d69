//! alpha and Theorem 3.2: figures that a reader may rely on must not be too good.

use super::super::exact::{float, rational};
use super::super::findings::{Check, Findings};
use super::super::reference;
use super::{CONTRACT, ROUNDING, Subject};
use hottopixx::certify::{Theory, theory};
use hottopixx::l1;
use hottopixx::matrix::Dense;
use num_rational::BigRational;

/// Hott rows whose distance from the hull of the others the reference measures: any of them bounds
/// alpha from above.
const HULLS: usize = 12;

pub(super) fn run(subject: &Subject<'_>, findings: &mut Findings) {
    let hott = &subject.hott;
    let rows: Vec<Vec<f64>> = hott.iter().map(|&i| subject.x.dense_row(i)).collect();
    let points = Dense::from_rows(&rows).expect("rows of equal length");
    let label = format!("alpha of rows {hott:?} of X");
    let alpha = findings.call(&label, |_| l1::alpha(&points));
    let above = least_distance(subject, hott, findings);
    not_above(&label, alpha, &above, findings);
    let label = format!("theorem for rows {hott:?} of X");
    match findings.call(&label, |control| theory(&subject.x, hott, control)) {
        Ok(theory) => condition(subject, &label, hott, (&theory, &above), findings),
        Err(error) => findings.add(Check::Refused, format!("{label}: {error}")),
    }
}

/// Judges what is said of the theorem for some hott rows.
pub(super) fn judge(
    subject: &Subject<'_>,
    label: &str,
    hott: &[usize],
    theory: &Theory,
    findings: &mut Findings,
) {
    let above = least_distance(subject, hott, findings);
    let label = format!("{label}: theorem for rows {hott:?} of X");
    condition(subject, &label, hott, (theory, &above), findings);
}

/// The least distance of a hott row from the hull of the others that is reached.
fn least_distance(subject: &Subject<'_>, hott: &[usize], findings: &mut Findings) -> BigRational {
    let mut least = rational(2.0);
    for &i in hott.iter().take(HULLS).filter(|_| hott.len() > 1) {
        let others: Vec<usize> = hott.iter().copied().filter(|j| *j != i).collect();
        match reference::hull_distance(&subject.exact, &subject.x, i, &others) {
            Some(distance) => least = least.min(distance),
            None => findings.no_reference += 1,
        }
    }
    least
}

fn not_above(label: &str, alpha: f64, above: &BigRational, findings: &mut Findings) {
    if !alpha.is_finite() || rational(alpha) > above + rational(CONTRACT) {
        let text = format!("{label}: alpha {alpha:e}, a distance of {:e} is reached", float(above));
        findings.add_sized(Check::Alpha, alpha - float(above), text);
    }
}

/// `epsilon < min(alpha d0, alpha^2) / (9 (r + 1))`, 11 with duplicates, must be possible with the
/// alpha that is reached and a d0 of at most `||x_j - w_i|| + epsilon` (row j of Y is that near to
/// x_j), for every j that is no duplicate; duplicates must be within epsilon.
fn condition(
    subject: &Subject<'_>,
    label: &str,
    hott: &[usize],
    (theory, above): (&Theory, &BigRational),
    findings: &mut Findings,
) {
    not_above(label, theory.alpha, above, findings);
    if !theory.holds {
        return;
    }
    let epsilon = rational(theory.epsilon) + rational(ROUNDING);
    let copies: Vec<usize> = theory.duplicates.iter().flatten().copied().collect();
    let mut margin = above.clone();
    for (position, &i) in hott.iter().enumerate() {
        for j in (0..subject.exact.len()).filter(|j| !hott.contains(j)) {
            let distance = || subject.exact.distance(1.0, j, &[(i, 1.0)]);
            if theory.duplicates[position].contains(&j) {
                if distance() > epsilon {
                    let text = format!("{label}: row {j} is no duplicate of row {i}");
                    findings.add(Check::Theorem, text);
                }
            } else if !copies.contains(&j) {
                margin = margin.min(distance() + &epsilon);
            }
        }
    }
    let factor = if copies.is_empty() { 9.0 } else { 11.0 };
    let divisor = rational(factor * (theory.rank() + 1) as f64);
    let most = above * margin / divisor;
    // The threshold is said to be rounded down.
    let threshold = rational(theory.threshold) * rational(1.0 - ROUNDING);
    if rational(theory.epsilon) >= most || threshold > most {
        let text = format!(
            "{label}: holds with epsilon {:e}, threshold {:e}, alpha {:e}, margin {:?}; alpha is at \
             most {:e}, the threshold at most {:e}",
            theory.epsilon,
            theory.threshold,
            theory.alpha,
            theory.margin,
            float(above),
            float(&most)
        );
        findings.add(Check::Theorem, text);
    }
}
