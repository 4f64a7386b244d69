//! Limits hold: the real program under time limits and Ctrl-C, method by method.
//!
//! Whoever gives a limit, or presses Ctrl-C, wants the best answer so far, and wants it then. Every
//! command runs on data of several kinds; what counts is how long after the limit, loading
//! aside, it was back, and whether it had an answer.

use crate::StudyReport;
use crate::folder::Folder;
use anyhow::{Context, Result, bail};
use hottopixx::Method;
use hottopixx_report::table::Table;
use serde_json::Value;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What is tried, and how strictly.
#[derive(Debug, Clone)]
pub struct LimitSettings {
    /// The program.
    pub program: PathBuf,
    /// Folder with real data: `digits.npy` and `bbc_news/X.npz`; what is not there is skipped.
    pub data: Option<PathBuf>,
    /// A small instance and a few commands, for continuous integration.
    pub quick: bool,
    /// Seconds that a run may be over its limit, and the share of the limit on top of that.
    pub leeway: (f64, f64),
    /// Only settings whose names contain one of these; all when there are none.
    pub only: Vec<String>,
}

impl LimitSettings {
    /// What is promised to users.
    pub const PROMISED: (f64, f64) = (0.5, 0.1);
    /// What a busy machine that runs many tests at once can keep.
    pub const BUSY: (f64, f64) = (5.0, 0.1);
}

/// A run that is not back this long after its limit is ended.
const PATIENCE: Duration = Duration::from_secs(60);

/// How a run is told to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Limit {
    /// `--max-seconds`.
    Seconds(f64),
    /// Ctrl-C this many seconds after the data are there.
    Interrupt(f64),
}

impl Limit {
    fn seconds(self) -> f64 {
        match self {
            Limit::Seconds(seconds) | Limit::Interrupt(seconds) => seconds,
        }
    }
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Limit::Seconds(seconds) => write!(f, "{seconds} s"),
            Limit::Interrupt(seconds) => write!(f, "Ctrl-C {seconds} s"),
        }
    }
}

/// Data and the flags that go with them.
struct LimitData {
    name: &'static str,
    input: Vec<String>,
    rank: usize,
    /// Whether a certificate of it, C and a dual in full, fits into the memory of a usual machine.
    certifiable: bool,
}

/// How one run went.
#[derive(Debug)]
struct LimitedRun {
    /// Seconds from the limit to the end of the process.
    over: f64,
    /// Seconds of loading, where the program told them.
    load: Option<f64>,
    stop: String,
    code: Option<i32>,
    answer: bool,
}

impl LimitedRun {
    fn within(&self, limit: Limit, (seconds, share): (f64, f64)) -> bool {
        self.over <= seconds + share * limit.seconds()
    }
}

/// Runs every command on all data under all limits.
///
/// # Errors
/// When the program cannot be started or the instances cannot be made.
pub fn run(settings: &LimitSettings) -> Result<StudyReport> {
    sweep(settings, Folder::temporary()?.path())
}

fn sweep(settings: &LimitSettings, folder: &Path) -> Result<StudyReport> {
    let mut report = StudyReport::default();
    let mut table =
        Table::of_numbers(&["command", "data", "limit", "seconds over", "stop", "code", "answer"]);
    for data in &data(settings, folder, &mut report)? {
        // Until a run has told it, loading counts as nothing.
        let mut load = 0.0;
        for (name, command) in commands(settings.quick, data.rank) {
            for limit in limits(settings.quick) {
                let title = format!("{name} on {} with {limit}", data.name);
                let wanted = |only: &String| title.contains(only.as_str());
                let asked_for = settings.only.is_empty() || settings.only.iter().any(wanted);
                if !asked_for || (name == "certify" && !data.certifiable) {
                    continue;
                }
                let out = one(&settings.program, &command, data, limit, load)
                    .with_context(|| title.clone())?;
                load = out.load.unwrap_or(load);
                let late = !out.within(limit, settings.leeway);
                if late || !out.answer {
                    let what = if late { "came back late" } else { "gave no answer" };
                    report.failures.push(format!("{title}: {what} ({:.2} s over)", out.over));
                }
                table.row(vec![
                    name.clone(),
                    data.name.to_owned(),
                    limit.to_string(),
                    format!("{:.2}", out.over),
                    out.stop,
                    out.code.map_or_else(|| "-".to_owned(), |code| code.to_string()),
                    if out.answer { "yes" } else { "no" }.to_owned(),
                ]);
                eprintln!("{title}: {:.2} s over", out.over);
            }
        }
    }
    let _ = write!(report.text, "{table}");
    Ok(report)
}

fn limits(quick: bool) -> Vec<Limit> {
    let mut limits = match quick {
        true => vec![Limit::Seconds(0.3)],
        false => [1.0, 2.0, 5.0].map(Limit::Seconds).to_vec(),
    };
    if cfg!(unix) {
        limits.push(Limit::Interrupt(if quick { 0.3 } else { 1.0 }));
    }
    limits
}

/// The commands by name, without their input.
fn commands(quick: bool, rank: usize) -> Vec<(String, Vec<String>)> {
    let methods: Vec<Method> = match quick {
        true => vec![Method::Auto, Method::Hottopixx, Method::Minimax, Method::Agkm],
        false => Method::ALL.to_vec(),
    };
    // The first pixel of the digits is always dark, and a row of zeros cannot be hott.
    let rows = (1..=rank).map(|row| row.to_string()).collect::<Vec<_>>().join(",");
    let rank = rank.to_string();
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let values = [("tau", "1"), ("epsilon", "0.01"), ("alpha", "0.5")];
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for method in methods {
        let mut flags = words(&["factor", "--rank", &rank, "--method", method.name()]);
        for (name, value) in values.iter().filter(|(name, _)| method.requires().contains(name)) {
            flags.extend([format!("--{name}"), (*value).to_owned()]);
        }
        all.push((format!("factor {method}"), flags));
    }
    let path = ["factor", "--rank", &rank, "--method", "spa", "--path"];
    all.push(("factor --path".to_owned(), words(&path)));
    all.push(("evaluate".to_owned(), words(&["evaluate", "--hott", &rows])));
    if !quick {
        all.push(("certify".to_owned(), words(&["certify", "--rank", &rank])));
        all.push(("compare".to_owned(), words(&["compare", "--rank", &rank, "--gap", "1e-3"])));
    }
    all
}

fn data(
    settings: &LimitSettings,
    folder: &Path,
    report: &mut StudyReport,
) -> Result<Vec<LimitData>> {
    let words = |path: &Path, flags: &[&str]| {
        let path = path.display().to_string();
        std::iter::once(path).chain(flags.iter().map(|flag| (*flag).to_owned())).collect()
    };
    let made = |name: &'static str, file: &str, flags: &[&str], rank: usize| -> Result<LimitData> {
        let path = folder.join(file);
        let r = rank.to_string();
        let made = Command::new(&settings.program)
            .arg("generate")
            .args(flags)
            .args(["--rank", r.as_str(), "--out"])
            .arg(&path)
            .output()
            .with_context(|| settings.program.display().to_string())?;
        if !made.status.success() {
            bail!("{name} could not be made: {}", String::from_utf8_lossy(&made.stderr));
        }
        Ok(LimitData { name, input: words(&path, &[]), rank, certifiable: true })
    };
    let small = ["near-duplicates", "--features", "64", "--examples", "1797"];
    if settings.quick {
        return Ok(vec![made("made small", "small.npy", &small, 12)?]);
    }
    let mut all = Vec::new();
    if let Some(folder) = &settings.data {
        let (digits, news) = (folder.join("digits.npy"), folder.join("bbc_news/X.npz"));
        let pairs = ["--transpose", "--cooccurrence", "--min-df", "20"];
        for (name, path, flags) in [
            ("digits", &digits, &pairs[..1]),
            ("news", &news, &pairs[..1]),
            ("news pairs", &news, &pairs[..]),
        ] {
            if path.is_file() {
                let input = words(path, flags);
                all.push(LimitData { name, input, rank: 20, certifiable: true });
            } else {
                let _ = writeln!(report.text, "skipped: there is no {}", path.display());
            }
        }
    }
    all.push(made("near-duplicates", "small.npy", &small, 12)?);
    let dense = ["paper", "--features", "2000", "--examples", "20000"];
    all.push(made("dense", "dense.npy", &dense, 20)?);
    let sparse = ["documents", "--features", "5000", "--examples", "20000"];
    all.push(made("sparse", "sparse.npz", &sparse, 20)?);
    let large = ["documents", "--features", "20000", "--examples", "200000"];
    let large = made("large sparse", "large.npz", &large, 50)?;
    all.push(LimitData { certifiable: false, ..large });
    Ok(all)
}

/// One run. `load` is how long loading takes, as far as is known.
fn one(
    program: &Path,
    command: &[String],
    data: &LimitData,
    limit: Limit,
    load: f64,
) -> Result<LimitedRun> {
    let (verb, flags) = command.split_first().context("no command")?;
    let mut start = Command::new(program);
    start.arg(verb).args(&data.input).args(flags).args(["--json", "--quiet", "--no-cache"]);
    if let Limit::Seconds(seconds) = limit {
        start.args(["--max-seconds", &seconds.to_string()]);
    }
    start.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let begun = Instant::now();
    let mut child = start.spawn().with_context(|| program.display().to_string())?;
    let out = child.stdout.take().context("no standard output")?;
    // Read on the side: a full pipe would stop the program.
    let reader = std::thread::spawn(move || serde_json::from_reader::<_, Value>(out).ok());
    let mut asked = None;
    if let Limit::Interrupt(seconds) = limit {
        let at = begun + Duration::from_secs_f64(load + seconds);
        if wait(&mut child, at)?.is_none() {
            asked = Some(Instant::now());
            interrupt(&child)?;
        }
    }
    let methods = if verb == "compare" { Method::ALL.len() as u32 } else { 1 };
    let patience = PATIENCE + methods * Duration::from_secs_f64(load + limit.seconds());
    let code = match wait(&mut child, Instant::now() + patience)? {
        Some(status) => status.code(),
        None => {
            child.kill()?;
            child.wait()?;
            None
        }
    };
    let wall = begun.elapsed().as_secs_f64();
    let said = reader.join().ok().flatten();
    let load = said.as_ref().and_then(|said| said["seconds"]["load"].as_f64());
    let spent = wall - load.unwrap_or(0.0);
    let over = match (asked, &said) {
        (Some(asked), _) => asked.elapsed().as_secs_f64(),
        (None, Some(said)) if verb == "compare" => slowest(said, spent, limit.seconds()),
        _ => spent - limit.seconds(),
    };
    let stop = said.as_ref().map_or_else(|| "-".to_owned(), stopped);
    Ok(LimitedRun { over: over.max(0.0), load, stop, code, answer: said.is_some() })
}

/// A comparison gives every method the whole limit: by how much the slowest was over, or what went by
/// between the methods.
fn slowest(said: &Value, spent: f64, limit: f64) -> f64 {
    let methods = said["methods"].as_array().map_or(&[][..], Vec::as_slice);
    let seconds: Vec<f64> = methods.iter().filter_map(|m| m["seconds"].as_f64()).collect();
    let between = spent - seconds.iter().sum::<f64>();
    seconds.iter().map(|s| s - limit).fold(between, f64::max)
}

/// Why it ended; for a comparison, how many of its methods were stopped.
fn stopped(said: &Value) -> String {
    let word = |value: &Value| value["stop"].as_str().unwrap_or("-").to_owned();
    match said["methods"].as_array() {
        Some(methods) => {
            let stopped = methods.iter().filter(|m| word(m) != "finished").count();
            format!("{stopped} of {}", methods.len())
        }
        None => word(said),
    }
}

/// Waits until the process ends or the time comes.
fn wait(child: &mut Child, until: Instant) -> Result<Option<std::process::ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= until {
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(unix)]
fn interrupt(child: &Child) -> Result<()> {
    use rustix::process::{Pid, Signal, kill_process};
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).context("no process")?;
    // A process that has just ended cannot be interrupted, and need not be.
    let _ = kill_process(pid, Signal::INT);
    Ok(())
}

#[cfg(not(unix))]
fn interrupt(_: &Child) -> Result<()> {
    bail!("there are no signals here")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comparison_is_as_late_as_its_slowest_method() {
        let said: Value = serde_json::from_str(
            r#"{"methods": [{"seconds": 1.5, "stop": "time_limit"}, {"seconds": 0.2, "stop": "finished"}]}"#,
        )
        .unwrap();
        assert!((slowest(&said, 1.8, 1.0) - 0.5).abs() < 1e-12);
        assert!((slowest(&said, 2.7, 1.0) - 1.0).abs() < 1e-12);
        assert_eq!(stopped(&said), "1 of 2");
    }

    #[test]
    fn the_leeway_grows_with_the_limit() {
        let (load, stop, code) = (None, String::new(), Some(0));
        let out = LimitedRun { over: 0.9, load, stop, code, answer: true };
        assert!(out.within(Limit::Seconds(5.0), LimitSettings::PROMISED));
        assert!(!out.within(Limit::Seconds(1.0), LimitSettings::PROMISED));
    }
}
