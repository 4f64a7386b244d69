//! Speed and memory at the sizes of the paper's table, and beyond: whole runs in processes of their
//! own, epochs against plain products and scans ([`rates`]), against the number of examples
//! ([`scaling`]), and SPA against numpy ([`spa`]).

pub mod rates;
pub mod scaling;
pub mod spa;

use crate::StudyReport;
use crate::folder::Folder;
use crate::large::{LARGE_SETS, LargeRun, ProcessRunner, whole_runs};
use anyhow::Result;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use hottopixx::{Method, Seconds};
use hottopixx_io::{machine, write};
use hottopixx_report::table::{Align, Table, WIDTH};
use hottopixx_report::text::grouped;
use rates::Rates;
use scaling::Doubling;
use serde::Serialize;
use spa::SpaRace;
use std::path::PathBuf;

/// What can be measured beside the large data sets.
const OTHERS: [&str; 3] = ["rates", "scaling", "spa"];

/// What to measure, and how.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
What is measured, everything unless named:
  jumbo     1600 x 64000 dense, 100 hott rows (338 s in the paper, 12 cores)
  clueweb   44739 x 351849, 19 million nonzeros (478 s)
  rcv1      47153 x 781265, 59 million nonzeros (430 s)
  million   100000 x 1000000, 50 million nonzeros
  rates     epochs against plain products and scans, on 1, 2, ... threads
  scaling   epochs for n, 2n, 4n, 8n examples
  spa       --method spa against numpy, on jumbo; needs --python

The instances are generated, with known answers; the two sparse data sets of the
paper are stood in for by ones of the same shape. All of it takes some fifteen
minutes on two cores, 5 GB of disk and 8 GB of memory.

Examples:
  hottopixx-study bench --quick
  hottopixx-study bench rates scaling --threads 2
  hottopixx-study bench jumbo spa --python python3 --dir instances \\
      --out table.md")]
pub struct BenchSettings {
    /// What to measure, see below
    #[arg(value_name = "WHAT", value_parser = parts())]
    pub what: Vec<String>,
    /// Everything at a size that takes a minute
    #[arg(long)]
    pub quick: bool,
    /// Keep the instances here and use those that are there
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// A Python with numpy, for spa
    #[arg(long, value_name = "PYTHON")]
    pub python: Option<PathBuf>,
    /// Number of threads, 0 for all
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub threads: usize,
    /// Write the tables in Markdown to this file
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Print one JSON object and nothing else
    #[arg(long)]
    pub json: bool,
    /// Do not say what is under way
    #[arg(long, short)]
    pub quiet: bool,
}

/// The names of everything that can be measured.
fn parts() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(LARGE_SETS.iter().map(|set| set.name).chain(OTHERS))
}

/// All that was measured.
#[derive(Serialize, Default)]
struct Measurements {
    threads: usize,
    #[serde(rename = "shapes")]
    runs: Vec<LargeRun>,
    rates: Vec<Rates>,
    scaling: Vec<Doubling>,
    spa: Option<SpaRace>,
    version: &'static str,
}

/// Measures what is asked for; `runner` carries out the whole runs.
///
/// # Errors
/// When an instance cannot be written, a run fails or numpy does.
pub fn run(settings: &BenchSettings, runner: &ProcessRunner) -> Result<StudyReport> {
    let threads = machine::threads(settings.threads);
    let wanted =
        |part: &str| settings.what.is_empty() || settings.what.iter().any(|what| what == part);
    let note = |what: &str| {
        if !settings.quiet {
            eprintln!("{what}");
        }
    };
    let folder = Folder::given_or_temporary(settings.dir.as_deref())?;
    let version = env!("CARGO_PKG_VERSION");
    let mut measured = Measurements { threads, version, ..Default::default() };
    if wanted("rates") {
        note("rates: products, scans and epochs");
        measured.rates = rates::rates(threads, settings.quick)?;
    }
    if wanted("scaling") {
        note("scaling: epochs for more and more examples");
        measured.scaling = scaling::doublings(threads, settings.quick)?;
    }
    let sets = LARGE_SETS.map(|set| set.sized(settings.quick));
    for set in sets.iter().filter(|set| wanted(set.name)) {
        note(&format!("{}: generating", set.name));
        let path = set.generate(folder.path())?;
        note(&format!("{}: factoring", set.name));
        let run = set.factor(runner, &path, Method::Hottopixx, threads)?;
        note(&format!("{}: {:.1} s, {} of {} found", set.name, run.seconds, run.found, set.rank));
        measured.runs.push(run);
    }
    if wanted("spa") {
        match &settings.python {
            Some(python) => {
                note("spa: generating");
                let path = sets[0].generate(folder.path())?;
                note("spa: here and in numpy");
                measured.spa = Some(spa::race(&sets[0], runner, &path, python, threads)?);
            }
            None => note("spa: left out, give --python to compare with numpy"),
        }
    }
    let tables = measured.tables();
    if let Some(out) = &settings.out {
        let text = tables.iter().map(|(title, table)| format!("{title}\n\n{}", table.markdown()));
        write::bytes(out, text.collect::<Vec<_>>().join("\n"))?;
    }
    let text = if settings.json {
        serde_json::to_string_pretty(&measured)? + "\n"
    } else {
        let text = tables.iter().map(|(title, table)| format!("{title}\n{}", table.render(WIDTH)));
        text.collect::<Vec<_>>().join("\n")
    };
    Ok(StudyReport { text, failures: Vec::new() })
}

impl Measurements {
    /// Every table with its title.
    fn tables(&self) -> Vec<(String, Table)> {
        let mut tables = Vec::new();
        let threads = self.threads;
        if !self.runs.is_empty() {
            tables.push((
                format!("Whole runs, method hottopixx, {threads} threads"),
                whole_runs(&self.runs),
            ));
            tables.push(("Seconds of each step".to_owned(), steps(&self.runs)));
        }
        if !self.rates.is_empty() {
            tables.push(("Rates of epochs".to_owned(), rate_table(&self.rates)));
        }
        if !self.scaling.is_empty() {
            tables.push((
                format!("Seconds of an epoch for more and more examples, {threads} threads"),
                doubling_table(&self.scaling),
            ));
        }
        if let Some(spa) = &self.spa {
            let title = format!("SPA on jumbo, {threads} threads, seconds");
            tables.push((title, spa.table()));
        }
        tables
    }
}

fn steps(runs: &[LargeRun]) -> Table {
    let mut table =
        Table::of_numbers(&["data", "load", "localize", "select", "clean", "largest l1 error"]);
    for run in runs {
        let Seconds { localize, select, clean } = run.steps;
        let steps = [run.load, localize, select, clean];
        let name = run.set.name.to_owned();
        let cells = steps.into_iter().map(|seconds| format!("{seconds:.1}"));
        table.row([name].into_iter().chain(cells).chain([format!("{:.4}", run.inf1)]));
    }
    table
}

fn rate_table(rates: &[Rates]) -> Table {
    let right = |name| (name, Align::Right);
    let mut table = Table::new(&[
        right("threads"),
        right("GEMM GFLOP/s"),
        right("epoch GFLOP/s"),
        right("share"),
        right("speed-up"),
        right("scan GB/s"),
        right("X GB/s"),
        right("sparse s"),
        right("speed-up"),
    ]);
    for rate in rates {
        let first = &rates[0];
        table.row([
            rate.threads.to_string(),
            format!("{:.1}", rate.gemm),
            format!("{:.1}", rate.dense),
            format!("{:.0} %", 100.0 * rate.dense / rate.gemm),
            format!("{:.2}", rate.dense / first.dense),
            format!("{:.1}", rate.scan),
            format!("{:.2}", rate.sparse),
            format!("{:.3}", rate.sparse_seconds),
            format!("{:.2}", first.sparse_seconds / rate.sparse_seconds),
        ]);
    }
    table
}

fn doubling_table(doublings: &[Doubling]) -> Table {
    let mut table =
        Table::of_numbers(&["family", "features", "examples", "seconds", "against half"]);
    for point in doublings {
        table.row([
            point.family.to_owned(),
            grouped(point.features),
            grouped(point.examples),
            format!("{:.3}", point.seconds),
            point.ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}")),
        ]);
    }
    table
}
