//! The paper's table of large data sets and its speed-up against threads, as sections of a page.

use super::{LARGE_SETS, LargeRun, LargeSet, ProcessRunner};
use crate::folder::Folder;
use anyhow::Result;
use hottopixx::Method;
use hottopixx_io::machine;
use hottopixx_report::page::Section;
use hottopixx_report::plot::{Axis, Chart, Series};
use hottopixx_report::table::{Align, Table};
use hottopixx_report::text::grouped;
use std::path::{Path, PathBuf};

/// How the large data sets are run.
#[derive(Debug, Clone)]
pub struct LargeSettings {
    /// At sizes for tests.
    pub quick: bool,
    /// Keep the instances here and use those that are there; nothing for a folder that goes away.
    pub dir: Option<PathBuf>,
    /// Number of threads, 0 for all.
    pub threads: usize,
    /// What carries out a run.
    pub runner: ProcessRunner,
}

/// Is told in a few words what is under way, and says whether to go on.
pub type UnderWay<'a> = dyn Fn(&str) -> bool + 'a;

/// Time, memory and topics found on the large data sets.
///
/// `None` when `under_way` says to stop.
///
/// # Errors
/// When an instance cannot be written or a run fails.
pub fn table(settings: &LargeSettings, under_way: &UnderWay<'_>) -> Result<Option<Section>> {
    let folder = Folder::given_or_temporary(settings.dir.as_deref())?;
    let threads = machine::threads(settings.threads);
    let mut runs = Vec::new();
    for set in LARGE_SETS.map(|set| set.sized(settings.quick)) {
        let Some(run) = run(&set, folder.path(), &settings.runner, threads, under_way)? else {
            return Ok(None);
        };
        runs.push(run);
    }
    let mut section = Section::new("table", "Large data sets");
    section.text(format!(
        "Time to find the hott topics by Algorithm 4, loading and cleaning included, on {threads} \
         threads ({}); the paper's times are on 12 cores. jumbo is generated as the paper says. Its \
         ClueWeb matrix is not public and RCV1 is not free: generated matrices of the same shape and \
         number of nonzeros, whose topics are known, stand in for both. million is the size that the \
         paper's conclusion looks forward to.",
        machine::description()
    ));
    if settings.quick {
        section.note("A quick look: every side is a small fraction of the paper's.");
    }
    section
        .table("Seconds, memory in GiB (measured and foreseen), topics found", whole_runs(&runs));
    Ok(Some(section))
}

/// Speed-up over one thread; `None` when `under_way` says to stop.
///
/// # Errors
/// When an instance cannot be written or a run fails.
pub fn speedup(settings: &LargeSettings, under_way: &UnderWay<'_>) -> Result<Option<Section>> {
    let folder = Folder::given_or_temporary(settings.dir.as_deref())?;
    let most = machine::threads(settings.threads);
    let mut counts: Vec<usize> =
        std::iter::successors(Some(1), |count| Some(2 * count)).take_while(|c| *c < most).collect();
    counts.push(most);
    let mut series = Vec::new();
    let headings = ["data", "threads", "localize, s", "speed-up", "whole, s", "speed-up"];
    let mut table = Table::of_numbers(&headings);
    for (look, set) in [(0, LARGE_SETS[0]), (2, LARGE_SETS[1])] {
        let set = set.sized(settings.quick);
        let mut points = Vec::new();
        let mut first: Option<LargeRun> = None;
        for &threads in &counts {
            let Some(run) = run(&set, folder.path(), &settings.runner, threads, under_way)? else {
                return Ok(None);
            };
            let base = first.get_or_insert_with(|| run.clone());
            let (localize, whole) =
                (base.steps.localize / run.steps.localize, base.seconds / run.seconds);
            points.push((threads as f64, localize));
            table.row([
                set.name.to_owned(),
                threads.to_string(),
                format!("{:.1}", run.steps.localize),
                format!("{localize:.2}"),
                format!("{:.1}", run.seconds),
                format!("{whole:.2}"),
            ]);
        }
        series.push(Series::new(set.name, look, points));
    }
    let high = most.max(2) as f64;
    let linear = (1..=most.max(2)).map(|k| (k as f64, k as f64)).collect();
    series.push(Series::new("linear", 6, linear));
    let ticks: Vec<f64> = (1..=most.max(2)).map(|k| k as f64).collect();
    let mut section = Section::new("speedup", "Speed-up against threads");
    section.text(
        "Seconds of finding the rows (Algorithm 4) on one thread over those on more, each run a process \
         of its own. The paper has superlinear speed-ups for up to 20 threads, which it puts down to \
         prefetching and caches: its serial program leaves that much on the table. Ours keeps to products \
         of blocks that fit the cache on one thread as well, so linear is the most there is.",
    );
    let chart = Chart {
        title: "Speed-up over one thread".to_owned(),
        x: Axis::linear("threads", 1.0, high).ticks_at(&ticks),
        y: Axis::linear("speed-up", 0.0, high),
        series,
        levels: Vec::new(),
    };
    section.figure("speedup", chart, "Higher is better; a machine shared with others shows less.");
    section.table("Speed-up over one thread", table);
    Ok(Some(section))
}

/// Factors a data set on this many threads, in a process of its own.
fn run(
    set: &LargeSet,
    folder: &Path,
    runner: &ProcessRunner,
    threads: usize,
    under_way: &UnderWay<'_>,
) -> Result<Option<LargeRun>> {
    if !under_way(&format!("{}: generating", set.name)) {
        return Ok(None);
    }
    let path = set.generate(folder)?;
    if !under_way(&format!("{}: factoring on {threads} threads", set.name)) {
        return Ok(None);
    }
    set.factor(runner, &path, Method::Hottopixx, threads).map(Some)
}

fn gibibytes(bytes: Option<u64>) -> String {
    bytes.map_or_else(String::new, |bytes| format!("{:.2}", bytes as f64 / f64::from(1 << 30)))
}

/// The table of whole runs.
pub fn whole_runs(runs: &[LargeRun]) -> Table {
    let mut table = Table::new(&[
        ("data", Align::Left),
        ("size", Align::Left),
        ("nonzeros", Align::Right),
        ("seconds", Align::Right),
        ("paper", Align::Right),
        ("GiB", Align::Right),
        ("predicted", Align::Right),
        ("found", Align::Right),
    ]);
    for run in runs {
        let set = &run.set;
        table.row([
            set.name.to_owned(),
            format!("{} x {}", set.features, set.examples),
            grouped(run.nonzeros as usize),
            format!("{:.1}", run.seconds),
            set.paper_seconds.map_or_else(String::new, |seconds| format!("{seconds:.0}")),
            gibibytes(run.peak),
            gibibytes(run.predicted),
            format!("{}/{}", run.found, set.rank),
        ]);
    }
    table
}
