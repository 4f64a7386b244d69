//! `hottopixx rank`: how many rows it takes to explain every row within tau.

use crate::args;
use crate::failure::{Failure, print};
use crate::job::Session;
use crate::memory::Planner;
use crate::output::{self, paragraph};
use crate::summarise::run_facts;
use hottopixx::control::Stop;
use hottopixx::{Factor, RankNeeded, Work};
use hottopixx_report::table::plain;
use hottopixx_report::text::{count, grouped, line};
use hottopixx_report::{NamedRow, RunFacts, numbered, six};
use serde::Serialize;
use std::time::Instant;

/// The bracket, as `--json` prints it.
#[derive(Serialize)]
struct RankReport {
    input: String,
    features: usize,
    examples: usize,
    nonzeros: usize,
    tau: f64,
    /// No choice of fewer rows has all errors within tau.
    lower: usize,
    /// What of it is proven by a certificate that was verified; the rest by a search.
    certified: usize,
    /// The rows that are listed.
    upper: usize,
    /// Whether the two meet.
    closed: bool,
    hott: Vec<NamedRow>,
    /// The largest error with these rows, by exact cleaning.
    error: f64,
    /// Nodes of the search.
    nodes: usize,
    stop: Stop,
    #[serde(flatten)]
    run: RunFacts,
}

/// Loads, brackets, reports.
pub fn run(args: &args::RankArgs, started: Instant) -> Result<(), Failure> {
    let session = Session::start(&args.run, args.print.quiet, started)?;
    let planner = Planner::new(Work::Rank, &args.input);
    let problem = session.load(&args.input, &args.text, &planner, &Factor::new(1))?;
    let load = session.elapsed();
    let factor = session.plain(&problem, 1)?;
    let (factor, predicted) = planner.plan(factor, &problem, args.print.quiet)?;
    let needed = factor.rank_needed(&problem.matrix, args.tau);
    let RankNeeded { hott, bracket, .. } = needed.map_err(|error| problem.failure(error))?;
    session.finish();
    let names = problem.names.as_deref();
    let named = hott.iter().map(|&row| NamedRow::new(problem.input_row(row), names));
    let report = RankReport {
        input: problem.label.clone(),
        features: problem.features(),
        examples: problem.examples(),
        nonzeros: problem.matrix.nonzeros(),
        tau: args.tau,
        lower: bracket.lower,
        certified: bracket.certified,
        upper: hott.len(),
        closed: bracket.lower == hott.len(),
        hott: named.collect(),
        error: bracket.error,
        nodes: bracket.nodes,
        stop: bracket.stop,
        // Nothing is random.
        run: RunFacts {
            seed: None,
            predicted_memory_bytes: Some(predicted),
            ..run_facts(&session, load)
        },
    };
    print(&if args.print.json { output::json(&report) } else { human(&report) })?;
    match report.stop {
        Stop::Interrupted => {
            Err(Failure::Interrupted("interrupted: this was the best bracket so far".to_owned()))
        }
        _ => Ok(()),
    }
}

fn human(r: &RankReport) -> String {
    let mut out = format!("hottopixx {}\n", r.run.version);
    line(&mut out, "input", &plain(&r.input));
    let size = format!("{} features x {} examples", grouped(r.features), grouped(r.examples));
    line(&mut out, "size", &size);
    out.push('\n');
    let rows = count(r.upper, "row");
    let rank = if r.upper == 1 {
        format!("{rows} explains all of them within {}", r.tau)
    } else if r.closed {
        format!("{rows}: with fewer, some row has an l1 error above {}", r.tau)
    } else {
        format!("at least {}, and these {} do it", count(r.lower, "row"), grouped(r.upper))
    };
    paragraph(&mut out, "rank", &rank);
    let label = |named: &NamedRow| numbered(named.row, named.name.as_deref());
    let labels: Vec<String> = r.hott.iter().map(label).collect();
    paragraph(&mut out, "rows", &labels.join(", "));
    line(&mut out, "error", &format!("largest {}, tau {}", six(r.error), r.tau));
    let verified = match r.certified {
        1 => "nothing: there is at least one row in any case".to_owned(),
        certified => format!("at least {}, whatever the weights", count(certified, "row")),
    };
    line(&mut out, "verified", &verified);
    if r.lower > r.certified {
        let nodes = count(r.nodes, "node");
        line(&mut out, "search", &format!("at least {}, after {nodes}", count(r.lower, "row")));
    }
    line(&mut out, "time", &format!("{:.2} s", r.run.seconds.total));
    if r.stop != Stop::Finished {
        line(&mut out, "stopped", &format!("{}: the bracket holds all the same", r.stop));
    }
    out
}
