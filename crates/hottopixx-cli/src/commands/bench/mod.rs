//! `hottopixx bench`: speed and memory at the sizes of the paper's table, and beyond.

mod rates;
mod scaling;
mod shapes;

use crate::args;
use crate::failure::{Failure, print, say};
use crate::output::json;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use hottopixx_io::{machine, write};
use hottopixx_report::table::{Align, Table, WIDTH};
use hottopixx_report::text::grouped;
use rates::Rates;
use scaling::Doubling;
use serde::Serialize;
pub use shapes::{Outcome, SHAPES, Shape};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What can be measured beside the shapes.
const OTHERS: [&str; 3] = ["rates", "scaling", "spa"];

/// The names of everything that can be measured.
pub fn parts() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(SHAPES.iter().map(|shape| shape.name).chain(OTHERS))
}

/// All that was measured.
#[derive(Serialize, Default)]
struct Bench {
    threads: usize,
    shapes: Vec<Outcome>,
    rates: Vec<Rates>,
    scaling: Vec<Doubling>,
    spa: Option<Spa>,
    version: &'static str,
}

/// SPA here and in numpy, on the same matrix: seconds of finding the rows, matrix in memory.
#[derive(Serialize)]
struct Spa {
    /// Ours: normalising and SPA, and the whole process with loading and cleaning.
    localize: f64,
    whole: f64,
    /// numpy's, by method.
    numpy: Vec<NumpySpa>,
    /// Whether all chose the same rows.
    agree: bool,
}

#[derive(Serialize, serde::Deserialize)]
struct NumpySpa {
    method: String,
    seconds: f64,
    rows: Vec<usize>,
}

/// Measures what is asked for.
pub fn run(args: &args::Bench) -> Result<(), Failure> {
    let threads = machine::threads(args.threads);
    let wanted = |part: &str| args.what.is_empty() || args.what.iter().any(|what| what == part);
    let note = |what: &str| {
        if !args.quiet {
            say(what);
        }
    };
    let folder = Folder::new(args.dir.as_deref())?;
    let size = |shape: &Shape| if args.quick { shape.quick() } else { *shape };
    let mut bench = Bench { threads, version: env!("CARGO_PKG_VERSION"), ..Default::default() };
    if wanted("rates") {
        note("rates: products, scans and epochs");
        bench.rates = rates::rates(threads, args.quick)?;
    }
    if wanted("scaling") {
        note("scaling: epochs for more and more examples");
        bench.scaling = scaling::doublings(threads, args.quick)?;
    }
    for shape in SHAPES.iter().map(size).filter(|shape| wanted(shape.name)) {
        note(&format!("{}: generating", shape.name));
        let path = shape.generate(folder.path())?;
        note(&format!("{}: factoring", shape.name));
        let count = threads.to_string();
        let run = shape.factor(&path, &["--method", "hottopixx", "--threads", &count])?;
        note(&format!(
            "{}: {:.1} s, {} of {} found",
            shape.name, run.seconds, run.found, shape.rank
        ));
        bench.shapes.push(run);
    }
    if wanted("spa") {
        match &args.python {
            Some(python) => {
                let shape = size(&SHAPES[0]);
                note("spa: generating");
                let path = shape.generate(folder.path())?;
                note("spa: here and in numpy");
                bench.spa = Some(spa(&shape, &path, python, threads)?);
            }
            None => note("spa: left out, give --python to compare with numpy"),
        }
    }
    let tables = bench.tables();
    if let Some(out) = &args.out {
        let text: Vec<String> = tables
            .iter()
            .map(|(title, table)| format!("{title}\n\n{}", table.markdown()))
            .collect();
        write::bytes(out, text.join("\n"))?;
    }
    let human: Vec<String> =
        tables.iter().map(|(title, table)| format!("{title}\n{}", table.render(WIDTH))).collect();
    print(&if args.json { json(&bench) } else { human.join("\n") })
}

/// Where instances are: the user's folder, or one that goes away.
pub struct Folder {
    path: PathBuf,
    temporary: bool,
}

impl Folder {
    /// The folder that was given, made where it is not there, or a temporary one.
    pub fn new(given: Option<&Path>) -> Result<Self, Failure> {
        let path = given.map_or_else(
            || std::env::temp_dir().join(format!("hottopixx-bench-{}", std::process::id())),
            Path::to_path_buf,
        );
        std::fs::create_dir_all(&path).map_err(|error| {
            Failure::Wrong(format!("{}: {error}: choose another --dir", path.display()))
        })?;
        Ok(Folder { path, temporary: given.is_none() })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.temporary {
            // Nothing else can be done about a folder that does not go away.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

/// `--method spa` and two versions in numpy, one after the other.
fn spa(shape: &Shape, path: &Path, python: &Path, threads: usize) -> Result<Spa, Failure> {
    let count = threads.to_string();
    let more = ["--method", "spa", "--threads", &count];
    let ours = shape.factor(path, &more)?;
    let mut command = Command::new(python);
    command.arg("-c").arg(include_str!("numpy_spa.py")).arg(path).arg(shape.rank.to_string());
    for library in ["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"] {
        command.env(library, &count);
    }
    let printed = shapes::output(&mut command)?;
    let lines = String::from_utf8_lossy(&printed).into_owned();
    let numpy: Vec<NumpySpa> = lines
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()
        .map_err(|error| Failure::Wrong(format!("{}: {error}", python.display())))?;
    let agree = numpy.iter().all(|other| other.rows == ours.rows);
    Ok(Spa { localize: ours.localize, whole: ours.seconds, numpy, agree })
}

impl Bench {
    /// Every table with its title.
    fn tables(&self) -> Vec<(String, Table)> {
        let mut tables = Vec::new();
        let threads = self.threads;
        if !self.shapes.is_empty() {
            tables.push((
                format!("Whole runs, method hottopixx, {threads} threads"),
                whole_runs(&self.shapes),
            ));
            tables.push(("Seconds of each step".to_owned(), steps(&self.shapes)));
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
            tables.push((title, spa_table(spa)));
        }
        tables
    }
}

fn gibibytes(bytes: Option<u64>) -> String {
    bytes.map_or_else(String::new, |bytes| format!("{:.2}", bytes as f64 / f64::from(1 << 30)))
}

/// The table of whole runs.
pub fn whole_runs(outcomes: &[Outcome]) -> Table {
    let mut table = Table::new(&[
        ("data", Align::Left),
        ("size", Align::Left),
        ("nonzeros", Align::Right),
        ("seconds", Align::Right),
        ("paper", Align::Right),
        ("GiB", Align::Right),
        ("predicted", Align::Right),
        ("found", Align::Right),
    ]);
    for run in outcomes {
        let shape = &run.shape;
        table.row([
            shape.name.to_owned(),
            format!("{} x {}", shape.features, shape.examples),
            grouped(run.nonzeros as usize),
            format!("{:.1}", run.seconds),
            shape.paper_seconds.map_or_else(String::new, |seconds| format!("{seconds:.0}")),
            gibibytes(run.peak),
            gibibytes(run.predicted),
            format!("{}/{}", run.found, shape.rank),
        ]);
    }
    table
}

fn steps(outcomes: &[Outcome]) -> Table {
    let right = |name| (name, Align::Right);
    let mut table = Table::new(&[
        ("data", Align::Left),
        right("load"),
        right("localize"),
        right("select"),
        right("clean"),
        right("largest l1 error"),
    ]);
    for run in outcomes {
        let steps = [run.load, run.localize, run.select, run.clean];
        let name = run.shape.name.to_owned();
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
    let right = |name| (name, Align::Right);
    let mut table = Table::new(&[
        ("family", Align::Left),
        right("features"),
        right("examples"),
        right("seconds"),
        right("against half"),
    ]);
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

fn spa_table(spa: &Spa) -> Table {
    let mut table =
        Table::new(&[("", Align::Left), ("seconds", Align::Right), ("ratio", Align::Right)]);
    let ratio = |seconds: f64| format!("{:.2}", seconds / spa.localize);
    table.row(["hottopixx".to_owned(), format!("{:.2}", spa.localize), ratio(spa.localize)]);
    for numpy in &spa.numpy {
        let name = format!("numpy, {}", numpy.method);
        table.row([name, format!("{:.2}", numpy.seconds), ratio(numpy.seconds)]);
    }
    let whole = "hottopixx with loading and cleaning".to_owned();
    table.row([whole, format!("{:.2}", spa.whole), ratio(spa.whole)]);
    if !spa.agree {
        table.row(["the rows chosen differ".to_owned()]);
    }
    table
}
