//! `hottopixx factor`: the main job.

use crate::args;
use crate::checkpoint;
use crate::failure::Failure;
use crate::job::{self, Session};
use crate::memory;
use crate::output;
use crate::summarise::summary;
use hottopixx::control::Stop;
use hottopixx::matrix::Shape;
use hottopixx::{Factor, Method};
use hottopixx_report::text::line;
use std::time::Instant;

/// Loads, factors, reports.
pub fn run(args: &args::FactorArgs, started: Instant) -> Result<(), Failure> {
    let method: Method = args.method.parse().map_err(Failure::of_setting)?;
    checkpoint::prepare(&args.checkpoints)?;
    let session = Session::start(&args.run, args.output.quiet, started)?;
    let sketch = Factor::new(args.rank).method(method).threads(session.threads);
    memory::foresee(args, &sketch)?;
    let problem = session.load(&args.input, &args.text)?;
    let cost = job::cost(args.settings.cost.as_deref(), &problem)?;
    let reads = [
        Some(args.input.path.as_path()),
        args.input.names.as_deref(),
        args.settings.cost.as_deref(),
        args.checkpoints.checkpoint.as_deref(),
    ];
    output::prepare(args.output.out.as_deref(), &reads, &output::answer_files())?;
    let load_seconds = session.elapsed();

    let factor = session.factor(&problem, args.rank, method, &args.settings, cost.as_deref())?;
    let matrix = &problem.matrix;
    let raw = (problem.label.as_str(), Shape::from(matrix), matrix.is_foreign());
    let (mut factor, predicted) = memory::plan(factor, raw, &args.input, args.output.quiet)?;
    let kept = checkpoint::open(&args.checkpoints, &factor, &problem.matrix, args.output.quiet)?;
    if let Some(file) = &kept {
        factor = factor.keeper(file.clone());
    }
    let answer = factor.run(&problem.matrix).map_err(|error| problem.failure(error))?;
    let path = args.rank_path.then(|| factor.path(&problem.matrix, &answer));
    let answer = problem.restore(answer);
    session.finish();

    let mut summary = summary(&session, &problem, &answer, args.settings.objective, load_seconds);
    summary.run.predicted_memory_bytes = Some(predicted);
    match path {
        Some(Ok(path)) => {
            // An answer that was cut short has its reason already.
            if summary.stop == Stop::Finished {
                summary.stop = path.stop;
            }
            summary.path = Some(problem.restore_path(path));
        }
        // The answer stands without it, and may have taken an hour.
        Some(Err(error)) => summary.notes.push(format!("No errors against the rank: {error}.")),
        None => {}
    }
    let mut text = output::human(&summary);
    if problem.looks_like_text && !args.output.quiet {
        line(
            &mut text,
            "hint",
            "text? try --cooccurrence: rows of counts are too sparse for topics",
        );
    }
    let stop = summary.stop;
    output::deliver(&args.output, &problem, &answer, &summary, &text)?;
    checkpoint::close(kept.as_deref(), stop);
    Ok(())
}
