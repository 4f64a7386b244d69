//! `hottopixx reproduce`: the paper's experiments on this machine, as figures and one page.

mod data;

use crate::args;
use crate::failure::{Failure, print};
use crate::job::Session;
use crate::launch;
use crate::output;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use flate2::read::GzDecoder;
use hottopixx_io::write;
use hottopixx_report::page::{Article, Section};
use hottopixx_report::plot::ChartTarget;
use hottopixx_report::text::count;
use hottopixx_study::large::{self, LargeSettings, ProcessRunner};
use hottopixx_study::profiles::{self, ProfileRuns};
use hottopixx_study::{ProgressWatch, hard, rmse, svm};
use std::io::Read as _;
use std::path::Path;
use std::time::Instant;

/// The parts, in the order of the page.
const PARTS: [&str; 6] = ["profiles", "table", "speedup", "rmse", "svm", "hard"];

/// The words that WHAT may be.
pub fn parts() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(PARTS.into_iter().chain(["all"]))
}

/// Runs what is asked for and writes the page.
pub fn run(args: &args::ReproduceArgs, started: Instant) -> Result<(), Failure> {
    check(args)?;
    let reads = [args.from.as_deref(), args.input.as_deref(), args.labels.as_deref()];
    let pages = ["index.html", "index.md"].map(str::to_owned);
    output::prepare(Some(&args.out), &reads, &pages)?;
    output::record(&args.out, &pages)?;
    let run = args::RunArgs { seed: 0, threads: 0, max_seconds: None, log: false };
    let session = Session::start(&run, args.quiet, started)?;
    session.interrupt.computing();
    let mut sections = Vec::new();
    let mut figures = 0;
    for part in PARTS.into_iter().filter(|part| args.what == *part || args.what == "all") {
        let section = section(part, args, &session)?.ok_or_else(interrupted)?;
        // At once: whatever ends a later part takes nothing away from this one.
        figures += write_figures(&args.out, &reads, &section)?;
        sections.push(section);
    }
    session.finish();
    write_page(&args.out, sections)?;
    output::settle(&args.out);
    print(&format!(
        "{}: {} (.svg, .csv), index.html and index.md, in {:.0} s\n",
        args.out.display(),
        count(figures, "figure"),
        started.elapsed().as_secs_f64()
    ))
}

/// Flags that only some parts take must not be lost on others.
fn check(args: &args::ReproduceArgs) -> Result<(), Failure> {
    let only = |flag: &str, given: bool, parts: &[&str]| {
        if given && !parts.contains(&args.what.as_str()) {
            return Err(Failure::Wrong(format!(
                "{flag} is for {}, not for {}: leave it out",
                parts.join(" and "),
                args.what
            )));
        }
        Ok(())
    };
    only("--from", args.from.is_some(), &["profiles", "all"])?;
    only("--input", args.input.is_some(), &["rmse", "svm"])?;
    only("--labels", args.labels.is_some(), &["svm"])?;
    only("--positive", !args.positive.is_empty(), &["svm"])?;
    only("--train", args.train.is_some(), &["svm"])?;
    only("--data", args.data.is_some(), &["rmse", "svm", "all"])
}

/// One experiment; nothing when it was interrupted.
fn section(
    part: &str,
    args: &args::ReproduceArgs,
    session: &Session,
) -> Result<Option<Section>, Failure> {
    match part {
        "profiles" => {
            if let Some(file) = &args.from {
                return Ok(Some(profiles::section(&read_runs(file)?)));
            }
            let name = if args.quick { "profiles-quick.csv" } else { "profiles.csv" };
            let watch = watch(session, "instances of section 5");
            let runs = profiles::collect(&args.out.join(name), args.quick, &watch);
            runs.map(|runs| runs.map(|runs| profiles::section(&runs)))
        }
        "table" => large::table(&large_settings(args)?, &|what| goes_on(session, what)),
        "speedup" => large::speedup(&large_settings(args)?, &|what| goes_on(session, what)),
        "rmse" => {
            rmse::section(&data::matrix(args)?, args.quick, &watch(session, "numbers of topics"))
        }
        "svm" => {
            svm::section(data::classes(args)?, args.quick, &watch(session, "numbers of features"))
        }
        _ => hard::reproduce(args.quick, &watch(session, "hard families")),
    }
    .map_err(wrong)
}

/// Every run on a large data set is `factor` in a process of its own.
fn large_settings(args: &args::ReproduceArgs) -> Result<LargeSettings, Failure> {
    let words = launch::again(&["factor", "--json", "--quiet"]);
    let runner = ProcessRunner::this_program(&words).map_err(wrong)?;
    let (quick, dir, threads) = (args.quick, args.dir.clone(), args.threads);
    Ok(LargeSettings { quick, dir, threads, runner })
}

/// Says what is under way, unless Ctrl-C was pressed.
fn goes_on(session: &Session, what: &str) -> bool {
    let goes_on = !session.interrupt.raised();
    if goes_on {
        session.announce(what);
    }
    goes_on
}

/// Shows the progress of an experiment and asks it to stop after Ctrl-C.
fn watch<'a>(session: &'a Session, what: &'a str) -> ProgressWatch<'a> {
    session.announce(what);
    Box::new(move |done, total| {
        if let Some(bar) = &session.bar {
            bar.count(what, done, total);
        }
        !session.interrupt.raised()
    })
}

/// The error with all its causes, in one sentence.
fn wrong(error: impl std::fmt::Display) -> Failure {
    Failure::Wrong(format!("{error:#}"))
}

fn interrupted() -> Failure {
    Failure::Interrupted(
        "interrupted: figures and runs of section 5 that are done are kept; the same command goes on \
         with the other runs"
            .to_owned(),
    )
}

/// A file of runs, packed or not.
fn read_runs(file: &Path) -> Result<ProfileRuns, Failure> {
    let place =
        |error: &dyn std::fmt::Display| Failure::Wrong(format!("{}: {error}", file.display()));
    let bytes = std::fs::read(file).map_err(|error| place(&error))?;
    let mut text = String::new();
    let read = if bytes.starts_with(&[0x1f, 0x8b]) {
        GzDecoder::new(bytes.as_slice()).read_to_string(&mut text)
    } else {
        bytes.as_slice().read_to_string(&mut text)
    };
    read.map_err(|error| place(&error))?;
    ProfileRuns::from_csv(&text, false).map_err(|error| place(&format!("{error:#}")))
}

/// The figures of a section and their numbers. Says how many figures there are.
fn write_figures(out: &Path, reads: &[Option<&Path>], section: &Section) -> Result<usize, Failure> {
    let mut figures = 0;
    for (name, chart) in section.charts() {
        let [drawn, numbers] = ["svg", "csv"].map(|extension| format!("{name}.{extension}"));
        let files = [drawn.clone(), numbers.clone()];
        output::prepare(Some(out), reads, &files)?;
        output::record(out, &files)?;
        write::bytes(out.join(drawn), chart.svg(ChartTarget::File))?;
        write::bytes(out.join(numbers), chart.csv())?;
        figures += 1;
    }
    Ok(figures)
}

fn write_page(out: &Path, sections: Vec<Section>) -> Result<(), Failure> {
    let article = Article {
        title: "Factoring nonnegative matrices with linear programs, reproduced".to_owned(),
        lead: "The experiments of Bittorf, Recht, Ré and Tropp (2012), run again with hottopixx, \
               with the methods that came before and after."
            .to_owned(),
        sections,
        command: output::command_line(),
    };
    write::bytes(out.join("index.html"), article.html())?;
    Ok(write::bytes(out.join("index.md"), article.markdown())?)
}
