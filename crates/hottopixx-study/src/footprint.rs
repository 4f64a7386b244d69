//! What runs take in memory beside what the program says they take at most, method by method.

use crate::StudyReport;
use crate::folder::Folder;
use anyhow::{Context, Result, bail};
use hottopixx::Method;
use hottopixx_report::table::Table;
use serde_json::Value;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// On what.
#[derive(Debug, Clone, clap::Args)]
pub struct FootprintSettings {
    /// The program, built in release mode
    #[arg(long, value_name = "PATH")]
    pub program: PathBuf,
    /// Small instances, for continuous integration
    #[arg(long)]
    pub quick: bool,
}

/// Data and their shape in words.
struct Data {
    name: &'static str,
    path: PathBuf,
    flags: &'static [&'static str],
}

/// Runs every method on dense, sparse and text data; a peak above its prediction is a failure.
///
/// # Errors
/// When the program cannot be started or the instances cannot be made.
pub fn run(settings: &FootprintSettings) -> Result<StudyReport> {
    let folder = Folder::temporary()?;
    let mut report = StudyReport::default();
    let mut refusals = String::new();
    let mut table = Table::of_numbers(&["run", "data", "predicted MiB", "peak MiB", "share"]);
    for data in data(settings, folder.path())? {
        for (name, flags) in commands(settings.seconds()) {
            let text = !data.flags.is_empty();
            if text && !name.starts_with("factor spa") && !name.starts_with("factor auto") {
                continue;
            }
            let (predicted, peak) = match one(settings, &data, &flags)? {
                Measured::Bytes { predicted, peak } => (predicted, peak),
                Measured::None(why) => {
                    table.row([
                        name.clone(),
                        data.name.to_owned(),
                        "-".into(),
                        "-".into(),
                        "-".into(),
                    ]);
                    refusals += &format!("{name} on {}: {why}\n", data.name);
                    continue;
                }
            };
            if peak > predicted {
                let what = format!("{name} on {}: {peak} bytes, {predicted} predicted", data.name);
                report.failures.push(what);
            }
            let mib = |bytes: u64| format!("{:.0}", bytes as f64 / f64::from(1 << 20));
            let share = format!("{:.2}", peak as f64 / predicted as f64);
            table.row([name, data.name.to_owned(), mib(predicted), mib(peak), share]);
        }
    }
    let seconds = settings.seconds();
    let _ = write!(report.text, "{table}Every run had a limit of {seconds} s.\n{refusals}");
    Ok(report)
}

impl FootprintSettings {
    /// The time limit of each run.
    fn seconds(&self) -> f64 {
        if self.quick { 0.3 } else { 60.0 }
    }
}

fn data(settings: &FootprintSettings, folder: &Path) -> Result<Vec<Data>> {
    let sizes: [(&str, &str, &[&str]); 3] = if settings.quick {
        [
            ("dense 120 x 2,000", "paper 120 2000 dense.npz", &[]),
            ("sparse 300 x 2,000", "multinomial 300 2000 sparse.npz", &[]),
            ("text 500 x 2,000", "multinomial 500 2000 text.npz", &["--cooccurrence"]),
        ]
    } else {
        [
            ("dense 1,000 x 10,000", "paper 1000 10000 dense.npz", &[]),
            ("sparse 3,000 x 20,000", "multinomial 3000 20000 sparse.npz", &[]),
            ("text 4,000 x 20,000", "multinomial 4000 20000 text.npz", &["--cooccurrence"]),
        ]
    };
    let make = |(name, recipe, flags): (&'static str, &str, &'static [&'static str])| {
        let words: Vec<&str> = recipe.split(' ').collect();
        let [family, features, examples, file] = words[..] else { bail!("{recipe}") };
        // A file that is not mapped, so that the matrix counts.
        let extension = if family == "paper" { file.replace(".npz", ".npy") } else { file.into() };
        let path = folder.join(extension);
        let sizes = ["--features", features, "--examples", examples, "--rank", "10", "--quiet"];
        let made = Command::new(&settings.program)
            .args(["generate", family, "--out"])
            .arg(&path)
            .args(sizes)
            .output()
            .with_context(|| settings.program.display().to_string())?;
        if !made.status.success() {
            bail!("{name} could not be made: {}", String::from_utf8_lossy(&made.stderr));
        }
        Ok(Data { name, path, flags })
    };
    sizes.into_iter().map(make).collect()
}

/// Every method, and every other command that plans.
fn commands(seconds: f64) -> Vec<(String, Vec<String>)> {
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for method in Method::ALL {
        let more = match method {
            Method::Lp => " --tau 1.5",
            Method::Agkm => " --epsilon 0.01 --alpha 0.5",
            _ => "",
        };
        let line = format!("factor --rank 10 --method {method}{more}");
        all.push((format!("factor {method}"), words(&line)));
    }
    all.push(("evaluate".into(), words("evaluate --hott 0,1,2,3,4,5,6,7,8,9")));
    all.push(("certify".into(), words("certify --rank 10")));
    all.push(("compare".into(), words("compare --rank 10")));
    all.push(("rank".into(), words("rank --tau 0.5")));
    let limit = ["--max-seconds".to_owned(), seconds.to_string()];
    all.iter_mut().for_each(|(_, flags)| flags.extend_from_slice(&limit));
    all
}

/// What a run took.
enum Measured {
    Bytes {
        predicted: u64,
        peak: u64,
    },
    /// It was refused, or had no answer in time: what it said.
    None(String),
}

fn one(settings: &FootprintSettings, data: &Data, flags: &[String]) -> Result<Measured> {
    let (verb, flags) = flags.split_first().context("no command")?;
    let mut command = Command::new(&settings.program);
    command.arg(verb).arg(&data.path).args(flags).args(data.flags).args(["--json", "--quiet"]);
    let output = command.output().with_context(|| settings.program.display().to_string())?;
    match serde_json::from_slice::<Value>(&output.stdout) {
        Ok(said) => {
            let bytes = |key: &str| said[key].as_u64().with_context(|| format!("{verb}: no {key}"));
            let (predicted, peak) = ("predicted_memory_bytes", "peak_memory_bytes");
            Ok(Measured::Bytes { predicted: bytes(predicted)?, peak: bytes(peak)? })
        }
        Err(_) if matches!(output.status.code(), Some(1 | 3)) => {
            Ok(Measured::None(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
        }
        Err(error) => bail!("{verb} {flags:?}: {error}, {}", output.status),
    }
}
