//! The checks, one file per subject. Each calls the library through its public functions and judges
//! what it says in exact arithmetic.

mod cleaning;
mod kernel;
mod programs;
#[cfg(test)]
mod tests;
mod theory;
mod verdict;

use super::exact::ExactRows;
use super::findings::{Check, Findings};
use super::instance::CampaignInstance;
use hottopixx::Error;
use hottopixx::matrix::Matrix;
use hottopixx::normalise::UnitRows;
use std::sync::{Arc, Mutex};

/// Rounding: sums of some hundred numbers of unit size, in any order.
const ROUNDING: f64 = 1e-12;

/// How far constraints may be violated and values be from optimal, by the library's contract.
const CONTRACT: f64 = 1e-9;

/// Quotients of units within this are numbers themselves, and so is F.
const REPRESENTABLE: f64 = 1e290;

/// What all checks of an instance look at.
struct Subject<'a> {
    instance: &'a CampaignInstance,
    /// The matrix in the form in which it is handed over.
    input: Matrix,
    x: UnitRows,
    exact: ExactRows,
    /// The hott rows, as rows of X.
    hott: Vec<usize>,
}

/// Judges an error in the place of an answer about X: an instance that is in order is not refused, but for
/// weights that no number holds.
fn judge_refusal(x: &UnitRows, label: &str, error: &Error, findings: &mut Findings) {
    let sum = |row: usize| x.unit_row(row).map_or(f64::NAN, |i| x.sums()[i]);
    if let Error::Unrepresentable { row, hott } = *error {
        let quotient = sum(row) / sum(hott);
        if quotient >= REPRESENTABLE || quotient <= 1.0 / REPRESENTABLE {
            return;
        }
    }
    findings.add(Check::Refused, format!("{label}: {error}"));
}

/// Runs all checks on an instance, telling `under_way` which call comes next.
pub fn run(instance: &CampaignInstance, under_way: &Arc<Mutex<String>>) -> Findings {
    let mut findings = Findings { under_way: under_way.clone(), ..Findings::default() };
    let input = instance.input();
    let x = match UnitRows::new(&input) {
        Ok(x) => x,
        Err(error) => {
            findings.add(Check::Refused, format!("unit rows: {error}"));
            return findings;
        }
    };
    let exact = ExactRows::new(&instance.matrix, &x);
    let hott = instance.hott.iter().filter_map(|&row| x.unit_row(row)).collect();
    let subject = Subject { instance, input, x, exact, hott };
    kernel::run(&subject, &mut findings);
    cleaning::run(&subject, &mut findings);
    theory::run(&subject, &mut findings);
    programs::run(&subject, &mut findings);
    findings
}
