//! `reproduce table` and `reproduce speedup`: the paper's large data sets, by the shapes of the
//! benchmark.

use super::{Session, interrupted};
use crate::args;
use crate::commands::bench::{Folder, Outcome, SHAPES, Shape, whole_runs};
use crate::failure::Failure;
use hottopixx_io::machine::threads as thread_count;
use hottopixx_report::page::Section;
use hottopixx_report::plot::{Axis, Chart, Series};
use hottopixx_report::table::{Align, Table};
use hottopixx_study::machine;
use std::path::Path;

/// Time, memory and topics found on the large data sets.
pub fn table(args: &args::Reproduce, session: &Session) -> Result<Section, Failure> {
    let folder = Folder::new(args.dir.as_deref())?;
    let threads = thread_count(args.threads);
    let mut outcomes = Vec::new();
    for shape in SHAPES.iter().map(|shape| size(shape, args.quick)) {
        outcomes.push(run(&shape, folder.path(), threads, session)?);
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
    if args.quick {
        section.note("A quick look: every side is a small fraction of the paper's.");
    }
    section.table(
        "Seconds, memory in GiB (measured and foreseen), topics found",
        whole_runs(&outcomes),
    );
    Ok(section)
}

/// Speed-up over one thread.
pub fn speedup(args: &args::Reproduce, session: &Session) -> Result<Section, Failure> {
    let folder = Folder::new(args.dir.as_deref())?;
    let most = thread_count(args.threads);
    let mut counts: Vec<usize> =
        std::iter::successors(Some(1), |count| Some(2 * count)).take_while(|c| *c < most).collect();
    counts.push(most);
    let mut series = Vec::new();
    let mut table = Table::new(&[
        ("data", Align::Left),
        ("threads", Align::Right),
        ("localize, s", Align::Right),
        ("speed-up", Align::Right),
        ("whole, s", Align::Right),
        ("speed-up", Align::Right),
    ]);
    for (look, shape) in [(0, &SHAPES[0]), (2, &SHAPES[1])] {
        let shape = size(shape, args.quick);
        let mut points = Vec::new();
        let mut first: Option<Outcome> = None;
        for &threads in &counts {
            let run = run(&shape, folder.path(), threads, session)?;
            let base = first.get_or_insert_with(|| run.clone());
            let (localize, whole) = (base.localize / run.localize, base.seconds / run.seconds);
            points.push((threads as f64, localize));
            table.row([
                shape.name.to_owned(),
                threads.to_string(),
                format!("{:.1}", run.localize),
                format!("{localize:.2}"),
                format!("{:.1}", run.seconds),
                format!("{whole:.2}"),
            ]);
        }
        series.push(Series::new(shape.name, look, points));
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
    Ok(section)
}

fn size(shape: &Shape, quick: bool) -> Shape {
    if quick { shape.quick() } else { *shape }
}

fn run(
    shape: &Shape,
    folder: &Path,
    threads: usize,
    session: &Session,
) -> Result<Outcome, Failure> {
    if session.interrupt.raised() {
        return Err(interrupted());
    }
    session.note(&format!("{}: generating", shape.name));
    let path = shape.generate(folder)?;
    session.note(&format!("{}: factoring on {threads} threads", shape.name));
    shape.factor(&path, &["--method", "hottopixx", "--threads", &threads.to_string()])
}
