//! The instances of the benchmark, and a run of the program on one of them.
//!
//! Every run is a process of its own that loads the file and does everything `factor` does, so that
//! seconds and memory are those a user would see.

use crate::commands::evaluate::read_truth;
use crate::failure::Failure;
use hottopixx::synth::Family;
use serde::Serialize;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// One instance with a known answer.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Shape {
    /// What it is called.
    pub name: &'static str,
    #[serde(serialize_with = "by_name")]
    family: Family,
    /// Rows.
    pub features: usize,
    /// Columns.
    pub examples: usize,
    /// Nonzeros of a document, for sparse families.
    tokens: usize,
    /// Hott rows.
    pub rank: usize,
    /// Seconds that the paper reports, on 12 cores.
    pub paper_seconds: Option<f64>,
}

fn by_name<S: serde::Serializer>(family: &Family, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(family.name())
}

/// Table 1 of the paper, and the size that its conclusion speaks of. The two sparse data sets are
/// stood in for by generated ones of the same shape and number of nonzeros.
pub const SHAPES: [Shape; 4] = [
    Shape {
        name: "jumbo",
        family: Family::Paper,
        features: 1600,
        examples: 64_000,
        tokens: 0,
        rank: 100,
        paper_seconds: Some(338.0),
    },
    Shape {
        name: "clueweb",
        family: Family::Documents,
        features: 44_739,
        examples: 351_849,
        tokens: 55,
        rank: 100,
        paper_seconds: Some(478.0),
    },
    Shape {
        name: "rcv1",
        family: Family::Documents,
        features: 47_153,
        examples: 781_265,
        tokens: 76,
        rank: 100,
        paper_seconds: Some(430.0),
    },
    Shape {
        name: "million",
        family: Family::Documents,
        features: 100_000,
        examples: 1_000_000,
        tokens: 50,
        rank: 100,
        paper_seconds: None,
    },
];

/// What a run of the program on an instance came to.
#[derive(Debug, Clone, Serialize)]
pub struct Outcome {
    /// The instance.
    pub shape: Shape,
    /// Stored entries.
    pub nonzeros: u64,
    /// Seconds of the whole process.
    pub seconds: f64,
    /// Seconds of finding, of choosing, and of fitting.
    pub load: f64,
    /// See above.
    pub localize: f64,
    /// See above.
    pub select: f64,
    /// See above.
    pub clean: f64,
    /// Peak of resident memory and what was predicted from the shape, in bytes.
    pub peak: Option<u64>,
    /// See above.
    pub predicted: Option<u64>,
    /// The rows chosen, in the program's order.
    pub rows: Vec<usize>,
    /// How many of the planted rows, or of their duplicates, were found.
    pub found: usize,
    /// The largest l1 error of a row, over all rows.
    pub inf1: f64,
}

impl Shape {
    /// The same at a size for tests: an eighth of the rows, a sixteenth of the columns, 20 topics.
    pub fn quick(self) -> Self {
        Shape {
            features: self.features / 8,
            examples: self.examples / 16,
            rank: 20,
            paper_seconds: None,
            ..self
        }
    }

    /// The file in `folder`; written unless it is there already.
    pub fn generate(&self, folder: &Path) -> Result<PathBuf, Failure> {
        // numpy has to read the dense one, too.
        let extension = if self.tokens == 0 { "npy" } else { "hpx" };
        let name = format!("{}-{}x{}.{extension}", self.name, self.features, self.examples);
        let path = folder.join(name);
        if path.exists() && path.with_extension("truth.json").exists() {
            return Ok(path);
        }
        let mut command = program()?;
        command.args(["generate", self.family.name(), "--seed", "1", "--quiet"]);
        command.args(["--rank", &self.rank.to_string()]);
        command.args(["--features", &self.features.to_string()]);
        command.args(["--examples", &self.examples.to_string()]);
        if self.tokens > 0 {
            command.args(["--tokens", &self.tokens.to_string()]);
        }
        output(command.arg("--out").arg(&path))?;
        Ok(path)
    }

    /// Runs `factor` on the file.
    pub fn factor(&self, path: &Path, more: &[&str]) -> Result<Outcome, Failure> {
        let truth = read_truth(&path.with_extension("truth.json"))?;
        let mut command = program()?;
        command.arg("factor").arg(path).args(["--rank", &self.rank.to_string()]);
        command.args(["--json", "--quiet"]).args(more);
        let started = Instant::now();
        let answer = output(&mut command)?;
        let seconds = started.elapsed().as_secs_f64();
        let answer: Value = serde_json::from_slice(&answer)
            .map_err(|error| Failure::Wrong(format!("{}: {error}", path.display())))?;
        let rows = answer["hott"].as_array().into_iter().flatten();
        let rows: Vec<usize> =
            rows.filter_map(|hott| Some(hott["row"].as_u64()? as usize)).collect();
        let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
        let step = |name: &str| number(&answer["seconds"][name]);
        Ok(Outcome {
            shape: *self,
            nonzeros: answer["nonzeros"].as_u64().unwrap_or(0),
            seconds,
            load: step("load"),
            localize: step("localize"),
            select: step("select"),
            clean: step("clean"),
            peak: answer["peak_memory_bytes"].as_u64(),
            predicted: answer["predicted_memory_bytes"].as_u64(),
            found: (truth.recall(&rows) * self.rank as f64).round() as usize,
            rows,
            inf1: number(&answer["error"]["inf1"]),
        })
    }
}

/// This program, to be run once more.
fn program() -> Result<Command, Failure> {
    let path = std::env::current_exe()
        .map_err(|error| Failure::Wrong(format!("cannot run this program again: {error}")))?;
    let mut command = Command::new(path);
    command.stdin(Stdio::null());
    Ok(command)
}

/// Runs a command to its end and gives what it printed; its complaint is the failure.
pub fn output(command: &mut Command) -> Result<Vec<u8>, Failure> {
    let shown = command.get_program().to_string_lossy().into_owned();
    let done = command
        .output()
        .map_err(|error| Failure::Wrong(format!("{shown}: cannot be run: {error}")))?;
    if done.status.success() {
        return Ok(done.stdout);
    }
    let complaint = String::from_utf8_lossy(&done.stderr);
    Err(Failure::Wrong(format!("{shown}: {} ({})", complaint.trim(), done.status)))
}
