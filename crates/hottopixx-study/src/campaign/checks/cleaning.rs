//! Cleaned errors: those of F and W in the units of the input, and the smallest there are.

use super::super::exact::{float, rational, residual};
use super::super::findings::{Check, Findings};
use super::super::reference;
use super::{CONTRACT, REPRESENTABLE, ROUNDING, Subject, judge_refusal};
use hottopixx::matrix::{Dense, Matrix};
use hottopixx::{Cleaning, Factor, Factorization};
use num_traits::Signed;

/// Rows of a wide matrix that the reference fits: each takes it as long as a tiny program.
const WIDE_ROWS: usize = 4;

pub(super) fn run(subject: &Subject<'_>, findings: &mut Findings) {
    let hott = &subject.instance.hott;
    let label = format!("evaluate rows {hott:?}");
    let found = findings.call(&label, |control| {
        let factor = Factor::new(hott.len()).cleaning(Cleaning::Exact).threads(1);
        factor.groups(false).control(control.clone()).evaluate(&subject.input, hott)
    });
    let found = match found {
        Ok(found) => found,
        Err(error) => return judge_refusal(&subject.x, &label, &error, findings),
    };
    findings.unproven += found.inexact_rows;
    if has_units(subject) {
        measured(subject, &label, &found, findings);
    }
    smallest(subject, &label, &found, findings);
}

/// Whether F, which has the quotients of units in it, can be written in f64.
fn has_units(subject: &Subject<'_>) -> bool {
    let sums = subject.x.sums();
    let (least, most) = sums.iter().fold((f64::MAX, 0.0f64), |(l, m), s| (l.min(*s), m.max(*s)));
    most / least < REPRESENTABLE
}

/// `||v_i - f_i W||_1 / sum(v_i)` for every row, from F and W as they are given.
fn measured(subject: &Subject<'_>, label: &str, found: &Factorization, findings: &mut Findings) {
    let (f, w) = (dense(&found.f), dense(&found.w));
    for i in 0..subject.x.features() {
        let row = subject.x.input_row(i);
        let values = subject.instance.matrix.row(row);
        let error = found.errors.per_row[row];
        if !error.is_finite() || f.row(row).iter().any(|v| !v.is_finite()) {
            let text = format!("{label}: row {row}: error {error}, F {:?}", f.row(row));
            findings.add(Check::Cleaned, text);
            return;
        }
        let sum = super::super::exact::mass(values);
        let exact = residual(&w, values, f.row(row)) / sum;
        if (rational(error) - &exact).abs() > rational(ROUNDING) {
            let text = format!(
                "{label}: row {row}: error {error:e} claimed, {:e} measured",
                float(&exact)
            );
            findings.add_sized(Check::Cleaned, float(&(rational(error) - &exact).abs()), text);
            return;
        }
    }
    let largest = found.errors.per_row.iter().copied().fold(0.0, f64::max);
    if found.errors.inf1 != largest {
        let text = format!("{label}: inf1 {:e}, largest {largest:e}", found.errors.inf1);
        findings.add(Check::Cleaned, text);
    }
}

fn dense(matrix: &Matrix) -> Dense {
    let mut out = Dense::zeros(matrix.rows(), matrix.cols());
    (0..matrix.rows()).for_each(|i| matrix.row(i).add_to(1.0, out.row_mut(i)));
    out
}

/// No row has weights with an error that is smaller by more than the contract allows, but for as many
/// rows as are said to be inexact.
fn smallest(subject: &Subject<'_>, label: &str, found: &Factorization, findings: &mut Findings) {
    let (x, hott) = (&subject.x, &subject.hott);
    let rows: Vec<Vec<f64>> = hott.iter().map(|&i| x.dense_row(i)).collect();
    let atoms = Dense::from_rows(&rows).expect("rows of equal length");
    let most = if subject.instance.programs { usize::MAX } else { WIDE_ROWS };
    let mut worse = Vec::new();
    for i in (0..x.features()).filter(|i| !hott.contains(i)).take(most) {
        let Some(weights) = reference::fit(&atoms, &x.dense_row(i), None) else {
            findings.no_reference += 1;
            continue;
        };
        let weights: Vec<(usize, f64)> = hott.iter().copied().zip(weights).collect();
        let reached = subject.exact.distance(1.0, i, &weights);
        let error = found.errors.per_row[x.input_row(i)];
        if error.is_nan() || rational(error.min(f64::MAX)) > &reached + rational(CONTRACT) {
            worse.push((x.input_row(i), error, float(&reached)));
        }
    }
    if worse.len() > found.inexact_rows {
        let (row, error, reached) = worse[0];
        let text = format!(
            "{label}: row {row}: error {error:e}, reached is {reached:e} ({} such rows, {} said to \
             be inexact)",
            worse.len(),
            found.inexact_rows
        );
        findings.add_sized(Check::CleanedReference, error - reached, text);
    }
}
