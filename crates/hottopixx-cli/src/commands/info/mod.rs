//! `hottopixx info`: what a file holds, how it is read, and what to run on it.

mod advice;
mod scene;
mod text;

use crate::args::{FileArgs, InfoArgs};
use crate::failure::{Failure, print};
use crate::output::{json, paragraph};
use advice::Advice;
use hottopixx_io::{Cache, LoadOptions, Numbers, Source, Survey, TableColumn, TableLayout, survey};
use hottopixx_report::table::{Align, Table, WIDTH, join_fitting, plain};
use hottopixx_report::text::{count, grouped, line, percent, size, wrapped};
use serde::Serialize;

/// Larger matrices are not read unless asked for.
const LIMIT: u64 = 256 << 20;

/// Names that `--json` prints of each kind.
const NAMES: usize = 20;

/// Columns of the first rows that are shown.
const COLUMNS: usize = 8;

/// All there is to say, as `--json` prints it.
#[derive(Serialize)]
struct InfoReport {
    input: String,
    format: &'static str,
    rows: Option<u64>,
    columns: Option<u64>,
    /// Whether the rows were estimated from the first lines.
    estimated: bool,
    dense: bool,
    memory_bytes: Option<u64>,
    /// Whether the matrix is used in the file where it is.
    mapped: bool,
    has_labels: bool,
    row_names: Option<Vec<String>>,
    column_names: Option<Vec<String>>,
    table: Option<TableReport>,
    numbers: Option<NumbersReport>,
    /// What rows look like: features, examples, or null where nothing tells.
    rows_look_like: Option<&'static str>,
    why: Option<String>,
    problems: Vec<String>,
    next: Vec<String>,
    version: &'static str,
}

#[derive(Serialize)]
struct TableReport {
    header: bool,
    index: Option<ColumnReport>,
    delimiter: String,
    decimal: String,
    data_columns: usize,
    set_aside: Vec<AsideReport>,
    skipped_lines: usize,
    first_rows: Vec<Vec<String>>,
}

#[derive(Serialize)]
struct ColumnReport {
    number: usize,
    name: Option<String>,
}

#[derive(Serialize)]
struct AsideReport {
    #[serde(flatten)]
    column: ColumnReport,
    why: String,
}

#[derive(Serialize)]
struct NumbersReport {
    nonzeros: u64,
    negative: u64,
    missing: u64,
    infinite: u64,
    whole_numbers: bool,
    smallest: Option<f64>,
    largest: Option<f64>,
    zero_rows: usize,
    zero_columns: usize,
}

/// Looks at the file and reports.
pub fn run(args: &InfoArgs) -> Result<(), Failure> {
    if let Some(format) = text::promised(args) {
        return text::report(args, format);
    }
    let source = Source::path(&args.path);
    let options = LoadOptions {
        format: args.file.format,
        transpose: args.file.transpose,
        key: args.file.key.clone(),
        max_bytes: args.memory,
        cache: Cache::Off,
        table: args.file.table.options().unwrap_or_default(),
    };
    let limit = if args.full { u64::MAX } else { LIMIT };
    let survey = match survey(&source, &options, limit) {
        Ok(survey) => survey,
        Err(error) => match text::instead(args, &options, &error) {
            Some(format) => return text::report(args, format),
            None => {
                return match scene::instead(args) {
                    Some(scene) => scene::report(args, &scene),
                    None => Err(error.into()),
                };
            }
        },
    };
    let advice = Advice::new(&survey, args);
    if args.print.json {
        return print(&json(&InfoReport::new(&source.name(), survey, advice)));
    }
    print(&human(&source.name(), &survey, &advice, &args.file))
}

impl InfoReport {
    fn new(input: &str, survey: Survey, advice: Advice) -> Self {
        let first = |names: Option<Vec<String>>| names.map(|n| n.into_iter().take(NAMES).collect());
        let first_rows = survey.first_rows;
        InfoReport {
            input: input.to_owned(),
            format: survey.format.name(),
            rows: survey.shape.map(|shape| shape.0),
            columns: survey.shape.map(|shape| shape.1),
            estimated: survey.estimated,
            dense: survey.dense,
            memory_bytes: survey.bytes,
            mapped: survey.mapped,
            has_labels: survey.labels,
            row_names: first(survey.row_names),
            column_names: first(survey.col_names),
            table: survey.table.map(|layout| TableReport::new(layout, first_rows)),
            numbers: survey.numbers.as_ref().map(NumbersReport::new),
            rows_look_like: advice.looks.as_ref().map(|looks| looks.what()),
            why: advice.looks.map(|looks| looks.why),
            problems: advice.problems,
            next: advice.next,
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

impl TableReport {
    fn new(layout: TableLayout, first_rows: Vec<Vec<String>>) -> Self {
        let column = |c: TableColumn| ColumnReport { number: c.number, name: c.name };
        let aside = layout.set_aside.into_iter();
        TableReport {
            header: layout.header,
            index: layout.index.map(column),
            delimiter: layout.delimiter.to_string(),
            decimal: layout.decimal.to_string(),
            data_columns: layout.columns,
            set_aside: aside
                .map(|(c, why)| AsideReport { column: column(c), why: why.to_string() })
                .collect(),
            skipped_lines: layout.skipped_lines,
            first_rows,
        }
    }
}

impl NumbersReport {
    fn new(numbers: &Numbers) -> Self {
        let finite = |value: f64| value.is_finite().then_some(value);
        NumbersReport {
            nonzeros: numbers.nonzeros,
            negative: numbers.negative,
            missing: numbers.missing,
            infinite: numbers.infinite,
            whole_numbers: numbers.whole,
            smallest: finite(numbers.range.0),
            largest: finite(numbers.range.1),
            zero_rows: numbers.zero_rows,
            zero_columns: numbers.zero_cols,
        }
    }
}

fn human(input: &str, survey: &Survey, advice: &Advice, file: &FileArgs) -> String {
    let mut out = format!("hottopixx {}\n", env!("CARGO_PKG_VERSION"));
    line(&mut out, "input", &plain(input));
    let kind = if survey.dense { "dense" } else { "sparse" };
    line(&mut out, "format", &format!("{}, {kind}", survey.format));
    if let Some((rows, columns)) = survey.shape {
        let about = if survey.estimated { "about " } else { "" };
        let turned = if file.transpose { ", transposed" } else { "" };
        let [rows, columns] =
            [(rows, "row"), (columns, "column")].map(|(n, x)| count(n as usize, x));
        line(&mut out, "size", &format!("{about}{rows} x {columns}{turned}"));
    }
    for (label, names) in [("rows", &survey.row_names), ("columns", &survey.col_names)] {
        let Some(names) = names else { continue };
        let shown: Vec<String> = names.iter().take(NAMES).map(|name| plain(name)).collect();
        line(&mut out, label, &join_fitting(&shown, ", ", WIDTH - 10));
    }
    if let Some(layout) = &survey.table {
        paragraph(&mut out, "table", layout.sentence().trim_start_matches("read as: "));
        layout.omissions().iter().for_each(|sentence| paragraph(&mut out, "", sentence));
    }
    if let Some(numbers) = &survey.numbers {
        describe(&mut out, survey, numbers);
    } else {
        line(&mut out, "numbers", "not read, the file is large: --full reads them");
    }
    if let Some(bytes) = survey.bytes {
        let mapped = if survey.mapped { ", used in the file where it is" } else { "" };
        line(&mut out, "memory", &format!("{}{mapped}", size(bytes)));
    }
    if !survey.first_rows.is_empty() {
        out.push('\n');
        out.push_str(&first_rows(survey));
    }
    out.push('\n');
    recommend(&mut out, advice);
    out
}

/// The guess, what stands in the way, and the command.
fn recommend(out: &mut String, advice: &Advice) {
    if let Some(looks) = &advice.looks {
        paragraph(out, "guess", &format!("rows look like {}: {}", looks.what(), looks.why));
    }
    for problem in &advice.problems {
        paragraph(out, "problem", problem);
    }
    for (k, command) in advice.next.iter().enumerate() {
        // In lines that a shell takes for one.
        let lines = wrapped(&plain(command), WIDTH - 14).join(" \\\n              ");
        line(out, if k == 0 { "next" } else { "" }, &lines);
    }
}

fn describe(out: &mut String, survey: &Survey, numbers: &Numbers) {
    let (rows, columns) = survey.shape.unwrap_or((0, 0));
    let entries = rows as f64 * columns as f64;
    let share = percent(numbers.nonzeros as f64 / entries.max(1.0));
    let kind = if numbers.whole { "whole numbers" } else { "numbers" };
    let (least, most) = numbers.range;
    let range = if least <= most { format!(" from {least} to {most}") } else { String::new() };
    line(out, "numbers", &format!("{kind}{range}"));
    let nonzeros = count(numbers.nonzeros as usize, "nonzero");
    line(out, "", &format!("{nonzeros}, {share} % of all entries"));
    let mut odd = Vec::new();
    for (number, thing) in [
        (numbers.negative, "negative entr"),
        (numbers.missing, "missing entr"),
        (numbers.infinite, "infinite entr"),
    ] {
        if number > 0 {
            odd.push(format!("{} {thing}{}", grouped(number as usize), ending(number)));
        }
    }
    for (number, thing) in [(numbers.zero_rows, "row"), (numbers.zero_cols, "column")] {
        if number > 0 {
            odd.push(format!("{} of zeros", count(number, thing)));
        }
    }
    if !odd.is_empty() {
        paragraph(out, "", &odd.join(", "));
    }
}

fn ending(number: u64) -> &'static str {
    if number == 1 { "y" } else { "ies" }
}

/// The first rows as they stand in the file, with the first columns.
fn first_rows(survey: &Survey) -> String {
    let width = survey.first_rows.iter().map(Vec::len).max().unwrap_or(0);
    let shown = width.min(COLUMNS);
    let more = if width > shown { "…" } else { "" };
    let mut columns = vec![("", Align::Cut(6)); shown];
    columns.push(("", Align::Left));
    let mut table = Table::new(&columns);
    for row in &survey.first_rows {
        table.row(row.iter().take(shown).cloned().chain([more.to_owned()]));
    }
    // The headings are in the rows, or there are none.
    let text = table.render(WIDTH - 2);
    text.lines().skip(1).map(|row| format!("  {row}\n")).collect()
}
