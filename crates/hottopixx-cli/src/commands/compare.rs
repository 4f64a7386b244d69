//! `hottopixx compare`: every method on the same data, side by side.

use crate::args;
use crate::failure::{Failure, print};
use crate::job::{Beside, Session};
use crate::memory::Planner;
use crate::output::json;
use crate::summarise::run_facts;
use hottopixx::control::Stop;
use hottopixx::{
    Bounds, Compared, Comparison, Errors, Factor, HottRow, Method, Objective, Skipped, Work,
};
use hottopixx_report::RunFacts;
use hottopixx_report::table::{Align, Table, WIDTH};
use hottopixx_report::text::{grouped, line, wrapped};
use serde::Serialize;
use std::time::Instant;

/// The whole comparison, as `--json` prints it.
#[derive(Serialize)]
struct CompareReport {
    input: String,
    features: usize,
    examples: usize,
    nonzeros: usize,
    rank: usize,
    objective: Objective,
    methods: Vec<MethodEntry>,
    /// Methods that ended without an answer.
    no_answer: Vec<&'static str>,
    /// Methods that were not run, and why.
    skipped: Vec<OmittedMethod>,
    #[serde(flatten)]
    run: RunFacts,
}

/// A method that was not run, or that has proven that there is nothing to find.
#[derive(Serialize)]
struct OmittedMethod {
    method: &'static str,
    reason: String,
}

/// One method's answer.
#[derive(Serialize)]
struct MethodEntry {
    method: &'static str,
    hott: Vec<HottRow>,
    error: Errors,
    /// Its error over the least error of all methods, by the objective.
    ratio: f64,
    /// Hott rows shared with `auto`, counting groups.
    agreement: Option<usize>,
    #[serde(rename = "certificate")]
    bounds: Option<Bounds>,
    seconds: f64,
    stop: Stop,
}

/// Loads once, runs every method, reports.
pub fn run(args: &args::CompareArgs, started: Instant) -> Result<(), Failure> {
    let session = Session::start(&args.run, args.print.quiet, started)?;
    let planner = Planner::new(Work::Compare, &args.input);
    let problem = session.load(&args.input, &args.text, &planner, &Factor::new(args.rank))?;
    let beside = Beside::read(&args.settings, &args.constraints, &problem)?;
    let load = session.elapsed();
    // Checked here, so that the settings of every method can be made.
    let factor = session.factor(&problem, args.rank, Method::Auto, &args.settings, &beside)?;
    let (_, predicted) = planner.plan(factor, &problem, args.print.quiet)?;
    let settings = |method| {
        let factor = session.factor(&problem, args.rank, method, &args.settings, &beside);
        planner.within(factor.expect("checked above"), &problem)
    };
    let compared = Comparison::run(&problem.matrix, args.settings.objective, settings)
        .map_err(|error| problem.failure(error))?;
    session.finish();
    let skipped = compared.skipped.iter();
    let entries = compared.answers.into_iter().map(
        |Compared { answer, seconds, ratio, agreement, .. }| MethodEntry {
            method: answer.method.name(),
            error: answer.errors.clone(),
            stop: answer.stop,
            bounds: answer.bounds.clone(),
            hott: problem.restore(answer).hott,
            ratio,
            agreement,
            seconds,
        },
    );
    let comparison = CompareReport {
        input: problem.label.clone(),
        features: problem.features(),
        examples: problem.examples(),
        nonzeros: problem.nonzeros,
        rank: args.rank,
        objective: args.settings.objective,
        methods: entries.collect(),
        no_answer: compared.no_answer.iter().map(|method| method.name()).collect(),
        skipped: skipped.map(|(method, why)| OmittedMethod::new(*method, why)).collect(),
        run: RunFacts { predicted_memory_bytes: Some(predicted), ..run_facts(&session, load) },
    };
    if session.interrupt.raised() && comparison.methods.is_empty() {
        return Err(Failure::Interrupted("interrupted before there was any answer".to_owned()));
    }
    if comparison.methods.is_empty() {
        return Err(Failure::NoAnswer(format!(
            "{}: no method had an answer in time: raise --max-seconds",
            problem.label
        )));
    }
    print(&if args.print.json { json(&comparison) } else { human(&comparison) })?;
    if compared.interrupted || session.interrupt.raised() {
        return Err(Failure::Interrupted("interrupted: not all methods were run".to_owned()));
    }
    Ok(())
}

impl OmittedMethod {
    /// The reason in the words of the command line.
    fn new(method: Method, why: &Skipped) -> Self {
        let flags = |names: &[&str]| names.iter().map(|n| format!("--{n}")).collect::<Vec<_>>();
        let reason = match why {
            Skipped::Needs(names) => format!("needs {}", flags(names).join(" and ")),
            Skipped::Long => {
                "may take long at this size; --gap 1e-3 runs it all the same".to_owned()
            }
            Skipped::Infeasible(error) => error.to_string(),
        };
        OmittedMethod { method: method.name(), reason }
    }
}

fn human(comparison: &CompareReport) -> String {
    let c = comparison;
    let mut out = format!("hottopixx {}\n", c.run.version);
    line(&mut out, "input", &hottopixx_report::table::plain(&c.input));
    let size = format!(
        "{} features x {} examples, {} nonzeros, rank {}",
        grouped(c.features),
        grouped(c.examples),
        grouped(c.nonzeros),
        c.rank
    );
    line(&mut out, "size", &size);
    out.push('\n');
    let mut table = Table::new(&[
        ("method", Align::Left),
        ("mean l1", Align::Right),
        ("largest l1", Align::Right),
        ("rmse", Align::Right),
        ("ratio", Align::Right),
        ("agreement", Align::Right),
        ("seconds", Align::Right),
        ("", Align::Cut(12)),
    ]);
    for entry in &c.methods {
        table.row([
            entry.method.to_owned(),
            format!("{:.5}", entry.error.mean_l1),
            format!("{:.5}", entry.error.inf1),
            format!("{:.3e}", entry.error.rmse),
            ratio(entry.ratio),
            entry.agreement.map_or_else(String::new, |n| format!("{n} of {}", c.rank)),
            format!("{:.2}", entry.seconds),
            if entry.stop == Stop::Finished { String::new() } else { "stopped".to_owned() },
        ]);
    }
    out.push_str(&table.render(WIDTH));
    for method in &c.no_answer {
        out.push_str(&format!("{method}: no answer in time\n"));
    }
    for OmittedMethod { method, reason } in &c.skipped {
        for (k, text) in wrapped(&format!("{method}: {reason}"), WIDTH - 2).iter().enumerate() {
            out.push_str(&format!("{}{text}\n", if k == 0 { "" } else { "  " }));
        }
    }
    let judged = match c.objective {
        Objective::Mean => "mean",
        Objective::Max => "largest",
    };
    out.push_str(&format!(
        "\nl1 error of a row, rows sum to 1; 0 is perfect, 1 explains nothing.\n\
         ratio: {judged} error over the least; agreement: hott rows shared with auto.\n"
    ));
    out
}

fn ratio(ratio: f64) -> String {
    if ratio < 1000.0 { format!("{ratio:.3}") } else { format!("{ratio:.0e}") }
}
