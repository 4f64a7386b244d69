//! The library's answer, in names and with the facts of the run around it.

use crate::job::Session;
use crate::problem::Problem;
use hottopixx::{Factorization, Objective};
use hottopixx_io::machine::peak_memory;
use hottopixx_report::html::diagonal_entries;
use hottopixx_report::{
    NamedHott, RunFacts, StepSeconds, Summary, Topic, explained_rows, strongest, worst_rows,
};

/// The facts of a run that loaded its input for this many seconds and has its answer now.
pub fn run_facts(session: &Session, load: f64) -> RunFacts {
    RunFacts {
        seconds: StepSeconds { load, steps: None, total: session.elapsed() },
        peak_memory_bytes: peak_memory(),
        predicted_memory_bytes: None,
        threads: session.threads,
        seed: Some(session.seed()),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// How many members a topic is shown with, and how many badly explained rows.
const SHOWN: usize = 10;

/// How many rows the page lists.
const LISTED: usize = 2000;

/// Everything there is to say about an answer that is already in rows of the input.
pub fn summary(
    session: &Session,
    problem: &Problem,
    answer: &Factorization,
    objective: Objective,
    load_seconds: f64,
) -> Summary {
    session.log_answer(answer);
    let names = problem.names.as_deref();
    let rows: Vec<usize> = answer.hott.iter().map(|hott| hott.row).collect();
    let members = strongest(&answer.f, &answer.w, &rows, SHOWN, names);
    let topics = answer.hott.iter().zip(members).map(|(hott, members)| Topic {
        named: NamedHott::new(hott.clone(), names),
        group_names: names.map(|names| hott.group.iter().map(|&row| names[row].clone()).collect()),
        members,
    });
    let mut run = run_facts(session, load_seconds);
    run.seconds.steps = Some(answer.seconds);
    let (f, w, errors) = (&answer.f, &answer.w, &answer.errors.per_row);
    Summary {
        input: problem.label.clone(),
        features: problem.features(),
        examples: problem.examples(),
        nonzeros: problem.nonzeros,
        documents: problem.counts.as_ref().map(|counts| counts.cols()),
        rank: answer.hott.len(),
        method: answer.method.name().to_owned(),
        chosen_from: answer.chosen_from.clone(),
        objective,
        cleaning: answer.cleaning,
        inexact_rows: answer.inexact_rows,
        stop: answer.stop,
        hott: topics.collect(),
        error: answer.errors.clone(),
        recall: None,
        worst: worst_rows(errors, SHOWN, names),
        rows: explained_rows(f, w, errors, &answer.zero_rows, names, LISTED),
        diagonal: answer
            .diagonal
            .as_ref()
            .map(|diagonal| worst_rows(diagonal, diagonal_entries(rows.len()), names)),
        zero_rows: answer.zero_rows.len(),
        bounds: answer.bounds.clone(),
        path: None,
        notes: answer.notes.clone(),
        run,
    }
}
