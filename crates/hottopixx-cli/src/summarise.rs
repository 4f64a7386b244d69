//! The library's answer, in names and with the facts of the run around it.

use crate::job::Session;
use crate::problem::Problem;
use hottopixx::{Factorization, Objective};
use hottopixx_io::machine::peak_memory;
use hottopixx_report::html::diagonal_entries;
use hottopixx_report::{StepSeconds, Summary, Topic, explained_rows, strongest, worst_rows};
use serde::Serialize;

/// What a run took, and what it ran with: the end of what `certify` and `compare` report.
#[derive(Serialize)]
pub struct RunFacts {
    pub seconds: RunSeconds,
    pub peak_memory_bytes: Option<u64>,
    pub threads: usize,
    pub seed: u64,
    pub version: &'static str,
}

impl RunFacts {
    /// The facts of a run that loaded its input for this many seconds and has its answer now.
    pub fn new(session: &Session, load: f64) -> Self {
        RunFacts {
            seconds: RunSeconds { load, total: session.elapsed() },
            peak_memory_bytes: peak_memory(),
            threads: session.threads,
            seed: session.seed(),
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

/// Seconds of loading, and from the start of the program until the answer.
#[derive(Serialize)]
pub struct RunSeconds {
    pub load: f64,
    pub total: f64,
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
        row: hott.row,
        name: names.map(|names| names[hott.row].clone()),
        weight: hott.weight,
        group: hott.group.clone(),
        group_names: names.map(|names| hott.group.iter().map(|&row| names[row].clone()).collect()),
        members,
    });
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
        seconds: StepSeconds {
            load: load_seconds,
            steps: answer.seconds,
            total: session.elapsed(),
        },
        peak_memory_bytes: peak_memory(),
        predicted_memory_bytes: None,
        threads: session.threads,
        seed: session.seed(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}
