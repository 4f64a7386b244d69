//! New columns of the rows that a factorization was found on.

use super::saved::Factors;
use crate::args::ApplyArgs;
use crate::failure::{Failure, print, print_data_with};
use crate::job::Session;
use crate::output;
use crate::problem::Raw;
use crate::summarise::run_facts;
use hottopixx::Factor;
use hottopixx::text::Weight;
use hottopixx_io::write::FileSet;
use hottopixx_report::{AppliedColumnsSummary, NamedHott, csv};
use std::io::Write;

/// Tells the other rows of the new columns from the hott ones, and reports how well that goes.
pub(super) fn run(
    args: &ApplyArgs,
    factors: Factors,
    session: &Session,
    raw: Raw,
) -> Result<(), Failure> {
    let Factors { hott, f, prepared, .. } = factors;
    let Raw { label, matrix, names, column_names, .. } = raw;
    let matrix = match prepared.weight {
        Weight::Tfidf => {
            return Err(Failure::Wrong(format!(
                "{label}: its rows are those of the answer, but that was weighted by --weight tfidf, which depends on \
                 all columns: factor them together"
            )));
        }
        weight => weight.apply(&matrix),
    };
    let load = session.elapsed();
    session.interrupt.computing();
    let control = session.interrupt.control(args.run.max_seconds, session.observer())?;
    let rows: Vec<usize> = hott.iter().map(|hott| hott.hott.row).collect();
    let factor = Factor::new(rows.len()).threads(session.threads).control(control);
    let applied = factor
        .apply_columns(&f, &rows, &matrix)
        .map_err(|error| Failure::from_library(&label, &error))?;
    session.finish();
    let about = (label, args.answer.display().to_string());
    let named = [names.as_deref(), column_names.as_deref()];
    let facts = run_facts(session, load);
    let summary = AppliedColumnsSummary::new(about, hott, &applied, named, facts);
    let labels: Vec<String> = summary.hott.iter().map(NamedHott::label).collect();
    let table = |out: &mut dyn Write| {
        csv::columns(out, &applied.per_column, named[1], (&labels, &applied.w))
    };
    let printed = if args.print.json {
        print(&output::json(&summary))
    } else if args.out.is_none() {
        print_data_with(table)
    } else {
        print(&summary.text())
    };
    if let Some(folder) = &args.out {
        let ours = output::applied_files();
        let mut set = FileSet::new(folder, &ours);
        set.matrix("W", &applied.w)?;
        set.write("columns.csv", |file| table(file))?;
        let errors = (&applied.errors.per_row[..], &applied.zero_rows[..]);
        let nothing = hottopixx::matrix::Dense::zeros(applied.errors.per_row.len(), 0).into();
        set.write("rows.csv", |file| csv::rows(file, errors, named[0], (&[], &nothing)))?;
        let written = output::commit(folder, set, output::SUMMARY, &summary, &ours)?;
        output::tell_written(folder, &written, args.print.json)?;
    }
    printed
}
