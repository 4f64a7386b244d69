//! New rows on the hott rows of a factorization.

use super::columns;
use super::saved::Factors;
use crate::args::{ApplyArgs, DocumentArgs, FileArgs, InputArgs, NewData, TextArgs};
use crate::failure::{Failure, print, print_data_with};
use crate::job::Session;
use crate::memory::Planner;
use crate::output;
use crate::problem::{Problem, Raw};
use crate::summarise::run_facts;
use crate::values;
use hottopixx::control::Stop;
use hottopixx::{Applied, Factor, Work};
use hottopixx_io::write::FileSet;
use hottopixx_report::{AppliedSummary, NamedHott, csv};
use std::io::Write;
use std::time::Instant;

/// Loads the rows, fits each on the hott rows of the answer, reports.
pub(super) fn run(args: &ApplyArgs, factors: Factors, started: Instant) -> Result<(), Failure> {
    let session = Session::start(&args.run, args.print.quiet, started)?;
    let input = matrix_input(&args.input)?;
    let prepared = factors.prepared;
    let text = TextArgs { min_df: prepared.min_df, weight: prepared.weight, ..TextArgs::default() };
    let planner = Planner::new(Work::Apply, &input);
    let sketch = Factor::new(factors.w.rows()).threads(session.threads);
    planner.foresee(&sketch, &input, &text)?;
    let raw = session.read(&input)?;
    let reads = [Some(input.path.as_path()), input.names.as_deref()];
    output::prepare(args.out.as_deref(), &reads, &output::applied_files())?;
    if are_columns(args.new, &factors, &raw) {
        return columns::run(args, factors, &session, raw);
    }
    let (rows, columns) = (raw.matrix.rows(), raw.matrix.cols());
    if columns != factors.w.cols() && rows == factors.w.cols() {
        return Err(Failure::Wrong(format!(
            "{}: its rows have {columns} entries, those of the answer {rows}, as many as it has rows: give --transpose",
            raw.label
        )));
    }
    let problem = Problem::prepare(raw, &text, input.memory)?;
    let Factors { hott, w, cleaning, seed, .. } = factors;
    let label = args.answer.display().to_string();
    let load = session.elapsed();
    let factor = session.plain(&problem, w.rows())?.cleaning(cleaning).seed(seed);
    let (factor, predicted) = planner.plan(factor, &problem, args.print.quiet)?;
    let applied = factor.apply(&w, &problem.matrix).map_err(|error| problem.failure(error))?;
    let applied = problem.restore_applied(applied);
    session.finish();

    let names = problem.names.as_deref();
    let mut facts = run_facts(&session, load);
    facts.predicted_memory_bytes = Some(predicted);
    let about = (problem.label.clone(), label);
    let summary = AppliedSummary::new(about, hott, &applied, names, w.cols(), facts);
    deliver(args, &summary, &applied, names, None)
}

/// Whether the input has new columns of the rows of an answer, not new rows of its columns: as the user says, else by its
/// sizes, of which those of rows come first.
fn are_columns(asked: Option<NewData>, factors: &Factors, raw: &Raw) -> bool {
    match asked {
        Some(asked) => asked == NewData::Columns,
        None => raw.matrix.cols() != factors.w.cols() && raw.matrix.rows() == factors.f.rows(),
    }
}

/// Prints JSON or, unless files are written, the table (of documents, where there are any); then writes the files.
pub(super) fn deliver(
    args: &ApplyArgs,
    summary: &AppliedSummary,
    applied: &Applied,
    names: Option<&[String]>,
    documents: Option<String>,
) -> Result<(), Failure> {
    let labels: Vec<String> = summary.hott.iter().map(NamedHott::label).collect();
    let errors = (&applied.errors.per_row[..], &applied.zero_rows[..]);
    let table = |out: &mut dyn Write| csv::rows(out, errors, names, (&labels, &applied.f));
    let printed = if args.print.json {
        print(&output::json(summary))
    } else if args.out.is_none() {
        match &documents {
            Some(documents) => print_data_with(|out| out.write_all(documents.as_bytes())),
            None => print_data_with(table),
        }
    } else {
        print(&summary.text())
    };
    if let Some(folder) = &args.out {
        let ours = output::applied_files();
        let mut set = FileSet::new(folder, &ours);
        set.matrix("F", &applied.f)?;
        set.write("rows.csv", |file| table(file))?;
        if let Some(documents) = documents {
            set.bytes("documents.csv", documents)?;
        }
        let written = output::commit(folder, set, output::SUMMARY, summary, &ours)?;
        output::tell_written(folder, &written, args.print.json)?;
    }
    printed?;
    match summary.stop {
        Stop::Interrupted => {
            Err(Failure::Interrupted("interrupted: some rows were fitted in a hurry".to_owned()))
        }
        _ => Ok(()),
    }
}

/// The flags of a matrix among those of documents; the others are refused.
pub(super) fn matrix_input(input: &DocumentArgs) -> Result<InputArgs, Failure> {
    let documents =
        [("--column", &input.column), ("--title", &input.title), ("--date", &input.date)];
    if let Some((flag, _)) = documents.iter().find(|(_, given)| given.is_some()) {
        return Err(Failure::Wrong(format!(
            "{flag} is for documents, but the answer is one of 'factor', for matrices: leave it out"
        )));
    }
    let format = input.format.as_deref().map(values::format).transpose();
    let format = format.map_err(|error| Failure::Wrong(error.to_string()))?;
    let DocumentArgs { path, names, transpose, key, memory, table, .. } = input.clone();
    let file = FileArgs { format, key, transpose, table };
    Ok(InputArgs { path, file, names, memory, cache: None, no_cache: true })
}
