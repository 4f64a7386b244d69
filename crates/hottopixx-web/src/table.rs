//! Rows or columns of a matrix that explain the others.

use crate::{Job, MEMORY};
use hottopixx::matrix::Shape;
use hottopixx::{Factor, Objective};
use hottopixx_io::{Format, LoadOptions, load};
use hottopixx_report::{Described, RunFacts, StepSeconds, Summary, html};
use std::path::Path;

/// The page of the rows that explain the others; of the columns, if the matrix is to be turned.
pub fn page(job: &Job<'_>, turned: bool) -> Result<String, String> {
    // What has no ending that we know is a table, as most files of numbers are.
    let format = Format::from_path(Path::new(job.name)).unwrap_or(Format::Csv);
    let options = LoadOptions {
        format: Some(format),
        transpose: turned,
        max_bytes: Some(MEMORY / 2),
        ..LoadOptions::default()
    };
    let loaded = load(&job.source, &options).map_err(|error| error.to_string())?;
    let factor = Factor::new(job.wish.rank).threads(1);
    let needed = factor.footprint(Shape::from(&loaded.matrix)).peak();
    job.affordable(needed)?;
    let load = job.elapsed();
    let answer = factor.control(job.control()).run(&loaded.matrix);
    let answer = answer.map_err(|error| job.wrong(&error))?;
    let about = Described {
        label: job.name.to_owned(),
        names: loaded.row_names.as_deref(),
        nonzeros: loaded.matrix.nonzeros(),
        documents: None,
        own_units: turned && loaded.table.is_some(),
    };
    let facts = RunFacts {
        seconds: StepSeconds { load, steps: None, total: job.elapsed() },
        peak_memory_bytes: None,
        predicted_memory_bytes: Some(needed),
        threads: 1,
        seed: Some(0),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let mut summary = Summary::new(about, &answer, Objective::Mean, facts);
    if let Some(layout) = loaded.table.as_ref().filter(|layout| !layout.is_plain()) {
        summary.notes.splice(0..0, layout.omissions());
        summary.notes.insert(0, layout.sentence());
    }
    let flags = if turned { " --transpose" } else { "" };
    Ok(html::page(&summary, &job.command("factor", flags)))
}
