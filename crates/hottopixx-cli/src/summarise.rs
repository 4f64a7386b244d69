//! The library's answer, in names and with the facts of the run around it.

use crate::job::Session;
use crate::problem::Problem;
use hottopixx::{Factorization, Objective};
use hottopixx_io::machine::peak_memory;
use hottopixx_report::{Described, RunFacts, StepSeconds, Summary};

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

/// Everything there is to say about an answer that is already in rows of the input.
pub fn summary(
    session: &Session,
    problem: &Problem,
    answer: &Factorization,
    objective: Objective,
    load_seconds: f64,
) -> Summary {
    session.log_answer(answer);
    let about = Described {
        label: problem.label.clone(),
        names: problem.names.as_deref(),
        nonzeros: problem.nonzeros,
        documents: problem.words.as_ref().map(|words| words.documents),
        own_units: problem.own_units,
    };
    Summary::new(about, answer, objective, run_facts(session, load_seconds))
}
