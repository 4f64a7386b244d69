//! `hottopixx factor`: the main job.

use crate::args::{self, TextArgs};
use crate::checkpoint;
use crate::earlier::Earlier;
use crate::failure::Failure;
use crate::job::{Beside, Session};
use crate::memory::Planner;
use crate::output;
use crate::problem::Problem;
use crate::summarise::summary;
use hottopixx::control::Stop;
use hottopixx::matrix::Matrix;
use hottopixx::text::words_are_columns;
use hottopixx::{Factor, Method, Work};
use hottopixx_report::table::WIDTH;
use hottopixx_report::text::{line, wrapped};
use hottopixx_report::{Preparation, UpdateFacts};
use std::time::Instant;

/// Loads, factors, reports.
pub fn run(args: &args::FactorArgs, started: Instant) -> Result<(), Failure> {
    let method: Method = args.method.parse().map_err(Failure::of_setting)?;
    checkpoint::prepare(&args.checkpoints)?;
    let session = Session::start(&args.run, args.output.quiet, started)?;
    let planner = Planner::new(Work::Run, &args.input);
    let earlier = args.update.as_deref().map(Earlier::read).transpose()?;
    if earlier.is_some() && method != Method::Auto {
        return Err(Failure::Wrong(format!(
            "--update begins with the rows of an earlier answer, which --method {method} has no use for: leave \
             --method out"
        )));
    }
    let rank = rank(args, earlier.as_ref())?;
    let sketch = Factor::new(rank).method(method);
    let (problem, about_words) = match &earlier {
        Some(earlier) => load_more(args, earlier, &session, &planner, &sketch)?,
        None => (session.load(&args.input, &args.text, &planner, &sketch)?, Vec::new()),
    };
    let beside = Beside::read(&args.settings, &args.constraints, &problem)?;
    let reads = [
        Some(args.input.path.as_path()),
        args.input.names.as_deref(),
        args.settings.cost.as_deref(),
        args.settings.weights.as_deref(),
        args.checkpoints.checkpoint.as_deref(),
        args.constraints.groups.as_deref(),
        args.constraints.prices.as_deref(),
    ];
    output::prepare(args.output.out.as_deref(), &reads, &output::answer_files())?;
    let load_seconds = session.elapsed();

    let factor = session.factor(&problem, rank, method, &args.settings, &beside)?;
    let factor = match args.outliers {
        Some(outliers) => factor.outliers(outliers),
        None => factor,
    };
    // What documents may be added to keeps what proves the bound of the sum.
    let factor = factor.keep_dual(problem.words.is_some() && args.output.out.is_some());
    let factor = match &earlier {
        Some(earlier) => begin(factor, earlier, &problem)?,
        None => factor,
    };
    let (mut factor, predicted) = planner.plan(factor, &problem, args.output.quiet)?;
    let kept = checkpoint::open(&args.checkpoints, &factor, &problem.matrix, args.output.quiet)?;
    if let Some(file) = &kept {
        factor = factor.keeper(file.clone());
    }
    let answer = factor.run(&problem.matrix).map_err(|error| problem.failure(error))?;
    let path = args.rank_path.then(|| factor.path(&problem.matrix, &answer));
    let held_out = args.held_out.map(|share| factor.held_out(&problem.matrix, share));
    let answer = problem.restore(answer);
    session.finish();

    let mut summary = summary(&session, &problem, &answer, args.settings.objective, load_seconds);
    summary.run.predicted_memory_bytes = Some(predicted);
    summary.prepared = match &earlier {
        Some(earlier) => Some(earlier.prepared).filter(|done| *done != Preparation::default()),
        None => args.text.preparation(),
    };
    if let Some(earlier) = &earlier {
        let added = problem.counts.as_ref().map(|counts| counts.cols());
        let changes = answer.changes_since(&earlier.hott);
        let (names, before) = (problem.names.as_deref(), (added, earlier.mean_l1));
        summary.update = Some(UpdateFacts::new(earlier.label.clone(), &changes, names, before));
        summary.notes.extend(about_words);
    }
    let chosen: Vec<usize> = answer.hott.iter().map(|hott| hott.row).collect();
    summary.constraints = beside.asked.facts(&chosen);
    summary.weighted = beside.weights.is_some();
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
    match held_out {
        Some(Ok(found)) => {
            if summary.stop == Stop::Finished {
                summary.stop = found.stop;
            }
            summary.held_out = Some(found);
        }
        Some(Err(error)) => summary.notes.push(format!("No entries were held out: {error}.")),
        None => {}
    }
    let mut text = output::human(&summary);
    if let Some(hint) = hint(&problem, summary.error.mean_l1).filter(|_| !args.output.quiet) {
        let lines = wrapped(hint, WIDTH - 10);
        lines.iter().enumerate().for_each(|(k, words)| {
            line(&mut text, if k == 0 { "hint" } else { "" }, words);
        });
    }
    let stop = summary.stop;
    output::deliver(&args.output, &problem, &answer, &summary, &text)?;
    checkpoint::close(kept.as_deref(), stop);
    Ok(())
}

/// The number of rows to choose.
fn rank(args: &args::FactorArgs, earlier: Option<&Earlier>) -> Result<usize, Failure> {
    match (args.rank, earlier) {
        (Some(rank), Some(earlier)) if rank != earlier.hott.len() => Err(Failure::Wrong(format!(
            "--rank {rank}, but {} has {} hott rows: leave --rank out, or leave --update out to begin anew",
            earlier.label,
            earlier.hott.len()
        ))),
        (rank, earlier) => Ok(rank.or(earlier.map(|earlier| earlier.hott.len())).unwrap_or(0)),
    }
}

/// The input of an update: for co-occurrences the documents so far and those of the input, otherwise the
/// input itself, which has the rows that it had. With what is to be said about words.
fn load_more(
    args: &args::FactorArgs,
    earlier: &Earlier,
    session: &Session,
    planner: &Planner,
    sketch: &Factor,
) -> Result<(Problem, Vec<String>), Failure> {
    let Preparation { cooccurrence, min_df, weight, candidate_df } = earlier.prepared;
    let text = TextArgs { cooccurrence, min_df, weight, candidate_df };
    if cooccurrence {
        planner.foresee(&sketch.clone().threads(session.threads), &args.input, &text)?;
        let raw = session.read(&args.input)?;
        return earlier.with_documents(raw, args.input.memory);
    }
    let problem = session.load(&args.input, &text, planner, sketch)?;
    if problem.features() != earlier.features {
        return Err(Failure::Wrong(format!(
            "{}: {} rows, but the matrix of {} had {}: give the same rows as they are now, or leave --update out",
            problem.label,
            problem.features(),
            earlier.label,
            earlier.features
        )));
    }
    Ok((problem, Vec::new()))
}

/// Begins at the rows of an answer, as far as they are not set aside by now, and its dual.
fn begin(factor: Factor, earlier: &Earlier, problem: &Problem) -> Result<Factor, Failure> {
    let rows = earlier.hott.iter().filter_map(|&row| problem.row_of(row).ok()).collect();
    let factor = factor.start(rows);
    Ok(match earlier.dual()? {
        Some(dual) => factor.start_dual(dual),
        None => factor,
    })
}

/// From here on an answer explains next to nothing.
const NEAR_ONE: f64 = 0.9;

/// What the user may want to do instead.
fn hint(problem: &Problem, mean_l1: f64) -> Option<&'static str> {
    if problem.looks_like_text {
        return Some(
            "text? try 'hottopixx topics', or --cooccurrence: rows of counts are too sparse for topics",
        );
    }
    if problem.counts.as_ref().is_some_and(are_turned) {
        return Some(
            "the columns differ in their totals as words do: if rows are documents, add --transpose",
        );
    }
    (mean_l1 > NEAR_ONE).then_some(
        "the rows explain next to nothing of the others: ask for more, leave out rare or noisy rows \
         (--min-df), or see whether rows are features (--transpose)",
    )
}

/// Whether the columns of counts look like words.
fn are_turned(counts: &Matrix) -> bool {
    let rows: Vec<f64> = (0..counts.rows()).map(|i| counts.row(i).sum()).collect();
    let mut columns = vec![0.0; counts.cols()];
    (0..counts.rows()).for_each(|i| counts.row(i).add_to(1.0, &mut columns));
    words_are_columns(&rows, &columns) == Some(true)
}
