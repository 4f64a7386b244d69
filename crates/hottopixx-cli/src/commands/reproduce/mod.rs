//! `hottopixx reproduce`: the paper's experiments on this machine, as figures and one page.

mod large;
mod real;

use crate::args;
use crate::control::Interrupt;
use crate::failure::{Failure, print, say};
use crate::output;
use crate::progress::Bar;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use flate2::read::GzDecoder;
use hottopixx_io::write;
use hottopixx_report::page::{Article, Section};
use hottopixx_report::plot::ChartTarget;
use hottopixx_report::text::count;
use hottopixx_study::profiles::{self, Runs};
use hottopixx_study::{Watch, hard};
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// The parts, in the order of the page.
const PARTS: [&str; 6] = ["profiles", "table", "speedup", "rmse", "svm", "hard"];

/// The words that WHAT may be.
pub fn parts() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(PARTS.into_iter().chain(["all"]))
}

/// Runs what is asked for and writes the page.
pub fn run(args: &args::Reproduce, started: Instant) -> Result<(), Failure> {
    check(args)?;
    let reads = [args.from.as_deref(), args.input.as_deref(), args.labels.as_deref()];
    let pages = ["index.html", "index.md"].map(str::to_owned);
    output::prepare(Some(&args.out), &reads, &pages)?;
    output::record(&args.out, &pages)?;
    let session = Session::start(args.quiet);
    let mut sections = Vec::new();
    let mut figures = 0;
    for part in PARTS.into_iter().filter(|part| args.what == *part || args.what == "all") {
        let section = match part {
            "profiles" => session.profiles(args)?,
            "table" => large::table(args, &session)?,
            "speedup" => large::speedup(args, &session)?,
            "rmse" => real::rmse(args, &session)?,
            "svm" => real::svm(args, &session)?,
            _ => {
                let found = hard::reproduce(args.quick, &session.watch("hard families"));
                found.map_err(wrong)?.ok_or_else(interrupted)?
            }
        };
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
fn check(args: &args::Reproduce) -> Result<(), Failure> {
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

/// Progress and Ctrl-C of one run of the command.
struct Session {
    bar: Option<Arc<Bar>>,
    interrupt: Interrupt,
    quiet: bool,
}

impl Session {
    fn start(quiet: bool) -> Self {
        let interrupt = Interrupt::install();
        interrupt.computing();
        Session { bar: Bar::start(quiet), interrupt, quiet }
    }

    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish();
        }
    }

    /// One line on what is under way, where there is no bar.
    fn note(&self, what: &str) {
        match &self.bar {
            Some(bar) => bar.note(what),
            None if !self.quiet => say(what),
            None => {}
        }
    }

    /// Shows the progress of an experiment and asks it to stop after Ctrl-C.
    fn watch<'a>(&'a self, what: &'a str) -> Watch<'a> {
        if self.bar.is_none() {
            self.note(what);
        }
        Box::new(move |done, total| {
            if let Some(bar) = &self.bar {
                bar.count(what, done, total);
            }
            !self.interrupt.raised()
        })
    }

    fn profiles(&self, args: &args::Reproduce) -> Result<Section, Failure> {
        let runs = match &args.from {
            Some(file) => read_runs(file)?,
            None => {
                let name = if args.quick { "profiles-quick.csv" } else { "profiles.csv" };
                let file = args.out.join(name);
                let watch = self.watch("instances of section 5");
                let done = profiles::collect(&file, args.quick, &watch).map_err(wrong)?;
                done.ok_or_else(interrupted)?
            }
        };
        Ok(profiles::section(&runs))
    }
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
fn read_runs(file: &Path) -> Result<Runs, Failure> {
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
    Runs::from_csv(&text, false).map_err(|error| place(&format!("{error:#}")))
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
