//! New documents on a factorization of co-occurrences of words: how well its hott words explain the company that words
//! keep in the new documents, and how much of each document is about what.

use super::rows::{deliver, matrix_input};
use super::saved::Factors;
use crate::args::{ApplyArgs, TextArgs};
use crate::earlier::Earlier;
use crate::failure::Failure;
use crate::job::Session;
use crate::memory::Planner;
use crate::output;
use crate::summarise::run_facts;
use hottopixx::matrix::Matrix;
use hottopixx::{Factor, Work};
use hottopixx_report::{AppliedSummary, NamedHott, csv};
use std::time::Instant;

/// Counts pairs of the answer's words in the documents, fits their rows on those of the hott words, reports.
pub(super) fn run(args: &ApplyArgs, factors: Factors, started: Instant) -> Result<(), Failure> {
    let session = Session::start(&args.run, args.print.quiet, started)?;
    let Factors { hott, w, f, cleaning, seed, .. } = factors;
    let label = args.answer.display().to_string();
    if !args.answer.is_dir() {
        return Err(Failure::Wrong(format!(
            "{label}: it is an answer for co-occurrences of words, of which a file of Python does not know the words: \
             give the folder of 'factor --out', or use 'hottopixx topics'"
        )));
    }
    let earlier = Earlier::read(&args.answer)?;
    let input = matrix_input(&args.input)?;
    let planner = Planner::new(Work::Apply, &input);
    let text = TextArgs { cooccurrence: true, ..TextArgs::default() };
    let sketch = Factor::new(w.rows()).threads(session.threads);
    planner.foresee(&sketch, &input, &text)?;
    let problem = earlier.documents_alone(session.read(&input)?, input.memory)?;
    let reads = [Some(input.path.as_path()), input.names.as_deref()];
    output::prepare(args.out.as_deref(), &reads, &output::applied_files())?;
    let load = session.elapsed();
    let own = of_columns(&w, &problem.kept);
    let factor = session.plain(&problem, w.rows())?.cleaning(cleaning).seed(seed);
    let (factor, predicted) = planner.plan(factor, &problem, args.print.quiet)?;
    let applied = factor.apply(&own, &problem.matrix).map_err(|error| problem.failure(error))?;
    let applied = problem.restore_applied(applied);
    session.finish();

    let names = problem.names.as_deref();
    let mut facts = run_facts(&session, load);
    facts.predicted_memory_bytes = Some(predicted);
    let about = (problem.label.clone(), label);
    let mut summary = AppliedSummary::new(about, hott, &applied, names, w.cols(), facts);
    let labels: Vec<String> = summary.hott.iter().map(NamedHott::label).collect();
    let shares = match &problem.counts {
        Some(counts) => {
            summary.documents = Some(counts.cols());
            let shares = output::document_topics(&problem, (&f, &w), counts)?;
            Some(csv::documents(&labels, &shares, problem.column_names.as_deref()))
        }
        None => None,
    };
    deliver(args, &summary, &applied, names, shares)
}

/// The columns of W that belong to these words.
fn of_columns(w: &Matrix, kept: &[usize]) -> Matrix {
    w.transpose().select_rows(kept).transpose()
}
