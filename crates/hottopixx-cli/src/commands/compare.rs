//! `hottopixx compare`: every method on the same data, side by side.

use crate::args::{self, Settings};
use crate::failure::{Failure, print};
use crate::job::{self, Session};
use crate::output::json;
use crate::summarise::peak_memory;
use hottopixx::control::Stop;
use hottopixx::{Error, Errors, HottRow, Method, Objective};
use hottopixx_report::Certificate;
use hottopixx_report::table::{Align, Table, WIDTH};
use hottopixx_report::text::{grouped, line, wrapped};
use serde::Serialize;
use std::time::Instant;

/// The whole comparison, as `--json` prints it.
#[derive(Serialize)]
struct Comparison {
    input: String,
    features: usize,
    examples: usize,
    nonzeros: usize,
    rank: usize,
    objective: Objective,
    methods: Vec<Entry>,
    /// Methods that ended without an answer.
    no_answer: Vec<&'static str>,
    /// Methods that were not run, and why.
    skipped: Vec<Skipped>,
    peak_memory_bytes: Option<u64>,
    threads: usize,
    seed: u64,
    version: &'static str,
}

/// A method that was not run, or that has proven that there is nothing to find.
#[derive(Serialize)]
struct Skipped {
    method: &'static str,
    reason: String,
}

/// One method's answer.
#[derive(Serialize)]
struct Entry {
    method: &'static str,
    hott: Vec<HottRow>,
    error: Errors,
    /// Its error over the least error of all methods, by the objective.
    ratio: f64,
    /// Hott rows shared with `auto`, counting groups.
    agreement: Option<usize>,
    certificate: Option<Certificate>,
    seconds: f64,
    stop: Stop,
}

/// Loads once, runs every method, reports.
pub fn run(args: &args::Compare, started: Instant) -> Result<(), Failure> {
    let session = Session::start(&args.run, args.quiet, started)?;
    let problem = session.load(&args.input, &args.text)?;
    let cost = job::cost(args.settings.cost.as_deref(), &problem)?;
    let (mut methods, mut no_answer, mut skipped) = (Vec::new(), Vec::new(), Vec::new());
    for method in Method::ALL {
        let begun = Instant::now();
        let factor =
            session.factor(&problem, args.rank, method, &args.settings, cost.as_deref())?;
        let affordable = factor.affords_programs(&problem.matrix);
        if let Some(reason) = reason_to_skip(method, &args.settings, affordable) {
            skipped.push(Skipped { method: method.name(), reason: reason.to_owned() });
            continue;
        }
        match factor.run(&problem.matrix) {
            Ok(answer) => methods.push(Entry {
                method: method.name(),
                error: answer.errors.clone(),
                stop: answer.stop,
                certificate: answer.certificate.as_ref().map(Certificate::from),
                hott: problem.restore(answer).hott,
                ratio: f64::NAN,
                agreement: None,
                seconds: begun.elapsed().as_secs_f64(),
            }),
            Err(error @ Error::Infeasible { .. }) => {
                skipped.push(Skipped { method: method.name(), reason: error.to_string() });
            }
            Err(Error::NoAnswer(_)) => no_answer.push(method.name()),
            Err(error) => return Err(problem.failure(error)),
        }
        if session.interrupt.raised() {
            break;
        }
    }
    session.finish();
    judge(&mut methods, args.settings.objective);
    let comparison = Comparison {
        input: problem.label.clone(),
        features: problem.features(),
        examples: problem.examples(),
        nonzeros: problem.matrix.nonzeros(),
        rank: args.rank,
        objective: args.settings.objective,
        methods,
        no_answer,
        skipped,
        peak_memory_bytes: peak_memory(),
        threads: session.threads,
        seed: session.seed(),
        version: env!("CARGO_PKG_VERSION"),
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
    print(&if args.json { json(&comparison) } else { human(&comparison) })?;
    if session.interrupt.raised() {
        return Err(Failure::Interrupted("interrupted: not all methods were run".to_owned()));
    }
    Ok(())
}

/// Why not to run a method: it lacks a number that only the user knows, or it would take long and
/// was not asked for.
fn reason_to_skip(method: Method, settings: &Settings, affordable: bool) -> Option<&'static str> {
    match method {
        Method::Lp if settings.program.tau.is_none() => Some("needs --tau"),
        Method::Agkm if settings.epsilon.is_none() || settings.alpha.is_none() => {
            Some("needs --epsilon and --alpha")
        }
        Method::Minimax | Method::Total if !affordable && settings.program.gap.is_none() => {
            Some("may take long at this size; --gap 1e-3 runs it all the same")
        }
        _ => None,
    }
}

/// Fills in the ratios to the least error and the agreement with `auto`.
fn judge(methods: &mut [Entry], objective: Objective) {
    let error = |entry: &Entry| match objective {
        Objective::Mean => entry.error.mean_l1,
        Objective::Max => entry.error.inf1,
    };
    let least = methods.iter().map(error).fold(f64::INFINITY, f64::min);
    let auto = methods.iter().find(|entry| entry.method == "auto").map(|entry| entry.hott.clone());
    for entry in methods {
        // Two answers that are exact up to rounding are equally good.
        let floor = 1e-12;
        entry.ratio = error(entry).max(floor) / least.max(floor);
        entry.agreement = auto.as_ref().map(|auto| shared(auto, &entry.hott));
    }
}

/// How many rows of `other` can be paired with a row of `one` whose group they share.
fn shared(one: &[HottRow], other: &[HottRow]) -> usize {
    let mut free = vec![true; one.len()];
    let same = |a: &HottRow, b: &HottRow| a.group.contains(&b.row) || b.group.contains(&a.row);
    let paired = |row: &&HottRow| {
        let exact = (0..one.len()).find(|&k| free[k] && one[k].row == row.row);
        let found = exact.or_else(|| (0..one.len()).find(|&k| free[k] && same(&one[k], row)));
        found.inspect(|&k| free[k] = false).is_some()
    };
    other.iter().filter(paired).count()
}

fn human(comparison: &Comparison) -> String {
    let c = comparison;
    let mut out = format!("hottopixx {}\n", c.version);
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
    for Skipped { method, reason } in &c.skipped {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_count_once() {
        let hott =
            |row: usize, group: &[usize]| HottRow { row, weight: 1.0, group: group.to_vec() };
        let auto = [hott(3, &[3, 7]), hott(9, &[9])];
        assert_eq!(shared(&auto, &auto), 2);
        assert_eq!(shared(&auto, &[hott(7, &[7]), hott(3, &[3])]), 1);
        assert_eq!(shared(&auto, &[hott(7, &[7]), hott(1, &[1, 9])]), 2);
        assert_eq!(shared(&auto, &[hott(1, &[1])]), 0);
    }
}
