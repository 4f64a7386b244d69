//! `hottopixx evaluate`: the errors of any given choice of rows, by exact cleaning (for a huge
//! matrix, by least squares).

use crate::args;
use crate::failure::Failure;
use crate::job::Session;
use crate::json;
use crate::memory::Planner;
use crate::output;
use crate::summarise::summary;
use hottopixx::synth::Truth;
use hottopixx::{Factor, Objective, Work};
use hottopixx_report::text::line;
use std::path::Path;
use std::time::Instant;

/// Loads, cleans, reports.
pub fn run(args: &args::EvaluateArgs, started: Instant) -> Result<(), Failure> {
    let truth = args.truth.as_deref().map(read_truth).transpose()?;
    let session = Session::start(&args.run, args.output.quiet, started)?;
    let planner = Planner::new(Work::Evaluate, &args.input);
    let sketch = Factor::new(hottopixx_io::list_items(&args.hott).len());
    let problem = session.load(&args.input, &args.text, &planner, &sketch)?;
    let reads =
        [Some(args.input.path.as_path()), args.input.names.as_deref(), args.truth.as_deref()];
    output::prepare(args.output.out.as_deref(), &reads, &output::answer_files())?;
    let load_seconds = session.elapsed();

    let rows = problem.rows_named(&args.hott)?;
    let hott = rows.iter().map(|&row| problem.row_of(row)).collect::<Result<Vec<_>, _>>()?;
    let factor = session.plain(&problem, hott.len())?;
    let (factor, predicted) = planner.plan(factor, &problem, args.output.quiet)?;
    let answer = factor.evaluate(&problem.matrix, &hott).map_err(|e| problem.failure(e))?;
    let answer = problem.restore(answer);
    session.finish();

    let mut summary = summary(&session, &problem, &answer, Objective::Mean, load_seconds);
    summary.run.predicted_memory_bytes = Some(predicted);
    summary.prepared = args.text.preparation();
    summary.method = "given".to_owned();
    summary.chosen_from = None;
    summary.recall = truth.map(|truth| truth.recall(&rows));
    let mut text = output::human(&summary);
    if let Some(recall) = summary.recall {
        line(&mut text, "recall", &format!("{:.1} % of the true hott rows", 100.0 * recall));
    }
    output::deliver(&args.output, &problem, &answer, &summary, &text)
}

/// The truth of a generated instance.
pub fn read_truth(path: &Path) -> Result<Truth, Failure> {
    json::read(path).map_err(|what| {
        let remedy = "give the .truth.json file that 'hottopixx generate' wrote";
        Failure::Wrong(format!("{}: {what}: {remedy}", path.display()))
    })
}
