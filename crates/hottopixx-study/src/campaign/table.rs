//! The campaign's tables: by family and by check.

use super::families::Family;
use super::findings::{Check, Findings};
use super::instance::Instance;
use crate::table::Table;

/// An instance and what came of it.
pub struct Done {
    /// The instance.
    pub instance: Instance,
    /// What its checks found.
    pub findings: Findings,
    /// CPU seconds of all its checks, the references included.
    pub seconds: f64,
}

/// Both tables.
pub fn tables(done: &[Done]) -> String {
    format!("{}\n{}", by_family(done), by_check(done))
}

/// One line a family.
fn by_family(done: &[Done]) -> Table {
    let heads = [
        "family",
        "instances",
        "calls",
        "unproven",
        "rounded up",
        "no reference",
        "bad instances",
        "mismatches",
        "CPU s",
    ];
    let mut table = Table::new(&heads);
    let families = Family::ALL.into_iter().chain([Family::File]).map(Some).chain([None]);
    for family in families {
        let mine = || done.iter().filter(|d| family.is_none_or(|f| f == d.instance.family));
        if mine().count() == 0 {
            continue;
        }
        let sum = |count: fn(&Findings) -> usize| {
            mine().map(|d| count(&d.findings)).sum::<usize>().to_string()
        };
        table.row(vec![
            family.map_or("all", Family::name).to_owned(),
            mine().count().to_string(),
            sum(|f| f.calls),
            sum(|f| f.unproven),
            sum(|f| f.rounded_up),
            sum(|f| f.no_reference),
            sum(|f| usize::from(!f.mismatches.is_empty())),
            sum(|f| f.mismatches.len()),
            format!("{:.1}", mine().map(|d| d.seconds).sum::<f64>()),
        ]);
    }
    table
}

/// The largest mismatch of a check, where it has sizes.
fn largest(done: &[&Done], check: Check) -> String {
    let all = done.iter().flat_map(|d| &d.findings.mismatches);
    let sizes = all.filter(|m| m.check == check).map(|m| m.size);
    let most = sizes.fold(f64::NAN, f64::max);
    if most.is_nan() { String::new() } else { format!("{most:.1e}") }
}

/// One line a check, and where it failed.
fn by_check(done: &[Done]) -> Table {
    let mut table = Table::new(&["check", "mismatches", "instances", "largest", "families"]);
    for check in Check::ALL {
        let failed = |d: &&Done| d.findings.mismatches.iter().any(|m| m.check == check);
        let mine: Vec<&Done> = done.iter().filter(failed).collect();
        let of = |d: &&Done| d.findings.mismatches.iter().filter(|m| m.check == check).count();
        let mut families: Vec<Family> = mine.iter().map(|d| d.instance.family).collect();
        families.sort_unstable();
        families.dedup();
        let names: Vec<&str> = families.into_iter().map(Family::name).collect();
        table.row(vec![
            check.name().to_owned(),
            mine.iter().map(of).sum::<usize>().to_string(),
            mine.len().to_string(),
            largest(&mine, check),
            names.join(", "),
        ]);
    }
    table
}
