//! One whole run in a process of its own, from the file to F, W and errors, so that its seconds and
//! its peak of memory are those of nothing else.

use crate::real;
use anyhow::{Context, Result, bail};
use hottopixx::matrix::Shape;
use hottopixx::{Errors, Factor, HottRow, Method};
use hottopixx_io::machine;
use hottopixx_report::StepSeconds;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// How the program that is running starts itself again for one run.
#[derive(Debug, Clone)]
pub struct ProcessRunner {
    program: PathBuf,
    words: Vec<String>,
}

impl ProcessRunner {
    /// This program, with the words that make it carry out a [`RunRequest`] and print an object that
    /// has the keys of [`MeasuredRun`].
    ///
    /// # Errors
    /// When the system does not tell where the program is.
    pub fn this_program(words: &[&str]) -> Result<Self> {
        let program = std::env::current_exe().context("cannot run this program again")?;
        Ok(ProcessRunner { program, words: words.iter().map(|word| (*word).to_owned()).collect() })
    }

    /// Runs the request to its end. Gives what was measured, and the seconds of the whole process.
    ///
    /// # Errors
    /// When the process cannot be started, fails, or prints something else.
    pub fn run(&self, request: &RunRequest) -> Result<(MeasuredRun, f64)> {
        let mut command = Command::new(&self.program);
        command.args(&self.words).arg(&request.input).stdin(Stdio::null());
        command.args(["--rank", &request.rank.to_string()]);
        command.args(["--method", request.method.name()]);
        command.args(["--threads", &request.threads.to_string()]);
        let started = Instant::now();
        let printed = output(&mut command)?;
        let seconds = started.elapsed().as_secs_f64();
        let place = || request.input.display().to_string();
        Ok((serde_json::from_slice(&printed).with_context(place)?, seconds))
    }
}

/// One run: its flags are the same wherever a [`ProcessRunner`] leads to.
#[derive(Debug, Clone, clap::Args)]
pub struct RunRequest {
    /// The matrix, rows are features
    #[arg(value_name = "INPUT")]
    pub input: PathBuf,
    /// Number of hott rows to choose
    #[arg(long, value_name = "R")]
    pub rank: usize,
    /// How the rows are found
    #[arg(long, value_name = "METHOD")]
    pub method: Method,
    /// Number of threads
    #[arg(long, value_name = "N")]
    pub threads: usize,
}

/// What is measured of a run: some keys of what `hottopixx factor --json` prints.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct MeasuredRun {
    /// Entries of the matrix that are not zero.
    pub nonzeros: u64,
    /// The rows chosen.
    pub hott: Vec<HottRow>,
    /// Errors against rows of unit sum.
    pub error: Errors,
    /// Seconds of each step.
    pub seconds: StepSeconds,
    /// Largest resident memory of the process; nothing where the system does not tell.
    pub peak_memory_bytes: Option<u64>,
    /// What it could be at most, as known from the size of the matrix.
    pub predicted_memory_bytes: Option<u64>,
}

impl RunRequest {
    /// The run itself, in this process, which should do nothing else.
    ///
    /// # Errors
    /// When the matrix cannot be read or factored.
    pub fn carry_out(&self) -> Result<MeasuredRun> {
        let started = Instant::now();
        // Fails only when a pool exists already, which then serves as well.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(self.threads).build_global();
        let matrix = real::load(&self.input, false, None)?;
        let nonzeros = matrix.nonzeros() as u64;
        let load = started.elapsed().as_secs_f64();
        let factor = Factor::new(self.rank).method(self.method).threads(self.threads);
        let predicted = factor.footprint(Shape::from(&matrix)).peak();
        let answer = factor.run(&matrix).with_context(|| self.input.display().to_string())?;
        Ok(MeasuredRun {
            nonzeros,
            hott: answer.hott,
            error: answer.errors,
            seconds: StepSeconds {
                load,
                steps: Some(answer.seconds),
                total: started.elapsed().as_secs_f64(),
            },
            peak_memory_bytes: machine::peak_memory(),
            predicted_memory_bytes: Some(predicted),
        })
    }
}

/// Runs a command to its end and gives what it printed; its complaint is the error.
pub(crate) fn output(command: &mut Command) -> Result<Vec<u8>> {
    let shown = Path::new(command.get_program()).display().to_string();
    let done = command.output().with_context(|| format!("{shown}: cannot be run"))?;
    if !done.status.success() {
        let complaint = String::from_utf8_lossy(&done.stderr);
        bail!("{shown}: {} ({})", complaint.trim(), done.status);
    }
    Ok(done.stdout)
}
