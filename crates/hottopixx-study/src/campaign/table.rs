//! The campaign's tables: by family and by check.

use super::families::CampaignFamily;
use super::findings::{Check, Findings, Mismatch};
use super::instance::CampaignInstance;
use hottopixx_report::table::Table;

/// An instance and what came of it.
pub struct Done {
    /// The instance.
    pub instance: CampaignInstance,
    /// What its checks found.
    pub findings: Findings,
    /// CPU seconds of all its checks, the references included.
    pub seconds: f64,
}

/// The worst mismatch of each instance that failed a check, the largest first and those without a
/// size last.
pub fn worst(done: &[Done], check: Check) -> Vec<(&Done, &Mismatch)> {
    let size = |m: &Mismatch| if m.size.is_nan() { f64::NEG_INFINITY } else { m.size };
    let mut all: Vec<(&Done, &Mismatch)> = done
        .iter()
        .filter_map(|d| {
            let mine = d.findings.mismatches.iter().filter(|m| m.check == check);
            // The first of equals: the direct call rather than the one around it.
            Some((d, mine.rev().max_by(|a, b| size(a).total_cmp(&size(b)))?))
        })
        .collect();
    all.sort_by(|a, b| size(b.1).total_cmp(&size(a.1)));
    all
}

/// Both tables.
pub fn tables(done: &[Done]) -> String {
    format!("{}\n{}", by_family(done), by_check(done))
}

/// One line per family.
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
    let mut table = Table::of_numbers(&heads);
    let families =
        CampaignFamily::ALL.into_iter().chain([CampaignFamily::File]).map(Some).chain([None]);
    for family in families {
        let mine = || done.iter().filter(|d| family.is_none_or(|f| f == d.instance.family));
        if mine().count() == 0 {
            continue;
        }
        let sum = |count: fn(&Findings) -> usize| {
            mine().map(|d| count(&d.findings)).sum::<usize>().to_string()
        };
        table.row(vec![
            family.map_or("all", CampaignFamily::name).to_owned(),
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

/// The size of a mismatch, where it has one.
fn size(mismatch: &Mismatch) -> String {
    if mismatch.size.is_nan() { String::new() } else { format!("{:.1e}", mismatch.size) }
}

/// One line per check, and where it failed.
fn by_check(done: &[Done]) -> Table {
    let mut table = Table::of_numbers(&["check", "mismatches", "instances", "largest", "families"]);
    for check in Check::ALL {
        let worst = worst(done, check);
        let mine: Vec<&Done> = worst.iter().map(|(d, _)| *d).collect();
        let of = |d: &&Done| d.findings.mismatches.iter().filter(|m| m.check == check).count();
        let mut families: Vec<CampaignFamily> = mine.iter().map(|d| d.instance.family).collect();
        families.sort_unstable();
        families.dedup();
        let names: Vec<&str> = families.into_iter().map(CampaignFamily::name).collect();
        table.row(vec![
            check.name().to_owned(),
            mine.iter().map(of).sum::<usize>().to_string(),
            mine.len().to_string(),
            worst.first().map_or(String::new(), |(_, m)| size(m)),
            names.join(", "),
        ]);
    }
    table
}
