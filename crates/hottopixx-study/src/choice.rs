//! Bounds for choices of rows: do they hold, and how near do they come?
//!
//! On small adversarial instances everything is compared with all choices, one by one: the bound is never
//! above the best of them, the search finds it, the number of rows lies in its bracket. On real words
//! (co-occurrences of the most frequent ones) the gap, the search and the brackets are measured.

use crate::campaign::families::draw;
use crate::clock::{median, on_one_thread};
use crate::words::{CORPORA, corpus, frequent};
use crate::{StudyReport, parallel};
use anyhow::Result;
use hottopixx::choice::{SearchSettings, bound, rank_needed, search};
use hottopixx::clean::exact;
use hottopixx::control::Control;
use hottopixx::localise::Question;
use hottopixx::normalise::UnitRows;
use hottopixx_report::table::Table;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Instances with more candidates have too many choices.
const MOST_CANDIDATES: usize = 12;
/// How far enumerated errors, sums in floating point, may be off.
const ROUNDING: f64 = 1e-9;
/// The median gap that is promised on real words, and how wide brackets may be on half of the sets.
const MEDIAN_GAP: f64 = 0.10;
const BRACKET: usize = 2;

/// What to run.
#[derive(Debug, Clone, clap::Args)]
pub struct ChoiceSettings {
    /// A fifth of the small instances, no real data
    #[arg(long)]
    quick: bool,
    /// Small instances
    #[arg(long, default_value_t = 500)]
    instances: u64,
    /// Fixes the small instances
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Folder with corpora (NAME/X.npz, documents x words); what is not there is skipped
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

/// Runs all of it.
///
/// # Errors
/// When a file is there but cannot be read.
pub fn run(settings: &ChoiceSettings) -> Result<StudyReport> {
    let mut report = StudyReport::default();
    let count = if settings.quick { settings.instances / 5 } else { settings.instances };
    enumerate(settings.seed, count, &mut report);
    if let Some(folder) = settings.data.as_deref().filter(|_| !settings.quick) {
        words(folder, &mut report)?;
    }
    Ok(report)
}

/// What the small instances came to.
#[derive(Debug, Default)]
struct Tally {
    instances: usize,
    brackets: usize,
    closed: usize,
    gap: f64,
    best: f64,
    failures: Vec<String>,
}

fn enumerate(seed: u64, count: u64, report: &mut StudyReport) {
    let indices: Vec<u64> = (0..count).collect();
    let tallies = parallel(&indices, |&index| judge(seed, index).unwrap_or_default());
    let mut all = Tally::default();
    for tally in tallies {
        all.instances += tally.instances;
        all.brackets += tally.brackets;
        all.closed += tally.closed;
        all.gap += tally.gap;
        all.best += tally.best;
        all.failures.extend(tally.failures);
    }
    let mut table =
        Table::of_numbers(&["small", "instances", "gap", "brackets", "closed", "wrong"]);
    table.row(vec![
        "all choices".to_owned(),
        all.instances.to_string(),
        format!("{:.1} %", 100.0 * all.gap / all.best.max(f64::MIN_POSITIVE)),
        all.brackets.to_string(),
        all.closed.to_string(),
        all.failures.len().to_string(),
    ]);
    let about = "gap: what the verified bounds leave of the best errors, all together\n\
                 closed: brackets whose ends meet; wrong: claims that enumeration refutes";
    let _ = writeln!(report.text, "{table}{about}\n");
    report.failures.extend(all.failures);
}

/// One instance against all its choices; nothing where there are too many, or no rows.
fn judge(seed: u64, index: u64) -> Option<Tally> {
    let instance = draw(seed, index, true);
    let x = UnitRows::new(&instance.input()).ok()?;
    let allowed: Vec<bool> = (0..x.features()).map(|i| instance.allowed[x.input_row(i)]).collect();
    let candidates: Vec<usize> = (0..x.features()).filter(|&i| allowed[i]).collect();
    if candidates.is_empty() || candidates.len() > MOST_CANDIDATES {
        return None;
    }
    let best = best_by_rank(&x, &candidates);
    let rank = instance.rank.clamp(1, candidates.len());
    let control = Control::default();
    let mut tally = Tally { instances: 1, ..Tally::default() };
    let name = format!("{seed}/{index} ({})", instance.description());
    let question = Question::new(&x, rank, &allowed, &control);
    let least = best[rank - 1];
    match search(&question, &[], &SearchSettings::default()) {
        Ok(found) => {
            let claims = [found.root.bound, found.tree.bound];
            if claims.iter().any(|claim| *claim > least + ROUNDING) {
                tally.failures.push(format!("{name}: bounds {claims:?}, but {least} is reached"));
            }
            let off = (found.root.error - least).abs();
            if found.tree.optimal && off > 2e-5 * least + 2e-6 {
                let error = found.root.error;
                tally.failures.push(format!("{name}: {error} called optimal, best {least}"));
            }
            tally.gap += (least - found.root.bound).max(0.0);
            tally.best += least;
        }
        Err(error) => tally.failures.push(format!("{name}: {error}")),
    }
    for tau in [0.05, 0.3, 1.01 * least + ROUNDING] {
        let needed = best.iter().position(|error| *error <= tau).map(|at| at + 1);
        match (rank_needed(&x, &allowed, tau, &control), needed) {
            (Ok(bracket), Some(needed)) => {
                let upper = bracket.rows.len();
                tally.brackets += 1;
                tally.closed += usize::from(bracket.lower == upper);
                // Errors that are tau but for rounding may fall on either side.
                let clear = best.iter().all(|error| (error - tau).abs() > ROUNDING);
                if clear && !(bracket.lower..=upper).contains(&needed) {
                    let lower = bracket.lower;
                    let claim = format!("tau {tau}: {lower} to {upper} rows, but {needed} are");
                    tally.failures.push(format!("{name}: {claim} needed"));
                }
            }
            (Err(hottopixx::Error::Infeasible { .. }), None) => {}
            (found, needed) => {
                tally.failures.push(format!("{name}: tau {tau}: {needed:?} rows, {found:?}"));
            }
        }
    }
    Some(tally)
}

/// The smallest largest error of 1, 2, ... candidates, by looking at every set of them.
fn best_by_rank(x: &UnitRows, candidates: &[usize]) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; candidates.len()];
    for set in 1u32..1 << candidates.len() {
        let members = candidates.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1);
        let rows: Vec<usize> = members.map(|(_, row)| *row).collect();
        let fits = exact(x, &rows, &Control::default());
        let error = fits.iter().map(|fit| fit.error).fold(0.0, f64::max);
        let of_size = &mut best[rows.len() - 1];
        *of_size = error.min(*of_size);
    }
    best
}

fn words(folder: &Path, report: &mut StudyReport) -> Result<()> {
    let heads = ["words", "f", "r", "bound", "best", "gap", "optimal", "nodes", "CPU s"];
    let mut choices = Table::of_numbers(&heads);
    let mut ranks = Table::of_numbers(&["words", "f", "tau", "rows", "CPU s"]);
    let (mut gaps, mut widths) = (Vec::new(), Vec::new());
    for name in CORPORA {
        let counts = match corpus(folder, name)? {
            Ok(counts) => counts,
            Err(path) => {
                let _ = writeln!(report.text, "skipped: there is no {}", path.display());
                continue;
            }
        };
        for (words, rank, exactly) in [(60, 4, true), (100, 5, false)] {
            let x = UnitRows::new(&frequent(&counts, words)?)?;
            let (allowed, control) = (vec![true; x.features()], Control::default());
            let question = Question::new(&x, rank, &allowed, &control);
            let solve = || -> Result<_, hottopixx::Error> {
                if !exactly {
                    return Ok((bound(&question, &[])?, None));
                }
                let found = search(&question, &[], &SearchSettings::default())?;
                Ok((found.root, Some((found.tree.optimal, found.tree.nodes))))
            };
            let (found, seconds) = on_one_thread(solve)?;
            let (found, tree) = found?;
            if tree.is_some_and(|tree| !tree.0) {
                report.failures.push(format!("{name}: {words} words, r = {rank}: not proven"));
            }
            if !exactly {
                gaps.push(found.gap());
            }
            let (optimal, nodes) =
                tree.map_or(("-".to_owned(), "-".to_owned()), |(optimal, nodes)| {
                    (if optimal { "yes" } else { "no" }.to_owned(), nodes.to_string())
                });
            choices.row(vec![
                name.to_owned(),
                words.to_string(),
                rank.to_string(),
                format!("{:.4}", found.bound),
                format!("{:.4}", found.error),
                format!("{:.1} %", 100.0 * found.gap()),
                optimal,
                nodes,
                format!("{seconds:.2}"),
            ]);
        }
        for (words, tau) in [(20, 0.1), (20, 0.2), (60, 0.1), (60, 0.2)] {
            let x = UnitRows::new(&frequent(&counts, words)?)?;
            let allowed = vec![true; x.features()];
            let needed = || rank_needed(&x, &allowed, tau, &Control::default());
            let (bracket, seconds) = on_one_thread(needed)?;
            let bracket = bracket?;
            let upper = bracket.rows.len();
            widths.push((upper - bracket.lower) as f64);
            ranks.row(vec![
                name.to_owned(),
                words.to_string(),
                tau.to_string(),
                format!("{} to {upper}", bracket.lower),
                format!("{seconds:.2}"),
            ]);
        }
    }
    let _ = writeln!(report.text, "{choices}\n{ranks}");
    if !gaps.is_empty() && median(&gaps) > MEDIAN_GAP {
        report
            .failures
            .push(format!("the median gap is {:.3}, promised {MEDIAN_GAP}", median(&gaps)));
    }
    if !widths.is_empty() && median(&widths) > BRACKET as f64 {
        report.failures.push(format!("half of the brackets are wider than {BRACKET}"));
    }
    Ok(())
}
