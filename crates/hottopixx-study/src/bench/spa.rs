//! SPA here and in numpy, on the same matrix.

use crate::large::process::output;
use crate::large::{LargeSet, ProcessRunner};
use anyhow::{Context, Result};
use hottopixx::Method;
use hottopixx_report::table::Table;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::process::Command;

/// Seconds of finding the rows, matrix in memory.
#[derive(Debug, Clone, Serialize)]
pub struct SpaRace {
    /// Ours, normalising included.
    pub localize: f64,
    /// Ours, the whole process with loading and cleaning.
    pub whole: f64,
    /// numpy's, by method.
    pub numpy: Vec<NumpySpa>,
    /// Whether all chose the same rows.
    pub agree: bool,
}

/// What `numpy_spa.py` prints per method.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NumpySpa {
    /// How it is written.
    pub method: String,
    /// Seconds of finding the rows.
    pub seconds: f64,
    /// The rows.
    pub rows: Vec<usize>,
}

/// `--method spa` and two versions in numpy, one after the other.
pub(super) fn race(
    set: &LargeSet,
    runner: &ProcessRunner,
    path: &Path,
    python: &Path,
    threads: usize,
) -> Result<SpaRace> {
    let ours = set.factor(runner, path, Method::Spa, threads)?;
    let mut command = Command::new(python);
    command.arg("-c").arg(include_str!("numpy_spa.py")).arg(path).arg(set.rank.to_string());
    for library in ["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"] {
        command.env(library, threads.to_string());
    }
    let printed = output(&mut command)?;
    let numpy = String::from_utf8_lossy(&printed)
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<Vec<NumpySpa>, _>>()
        .with_context(|| python.display().to_string())?;
    let agree = numpy.iter().all(|other| other.rows == ours.rows);
    Ok(SpaRace { localize: ours.steps.localize, whole: ours.seconds, numpy, agree })
}

impl SpaRace {
    /// Seconds, and their ratios to ours.
    pub(super) fn table(&self) -> Table {
        let mut table = Table::of_numbers(&["", "seconds", "ratio"]);
        let ratio = |seconds: f64| format!("{:.2}", seconds / self.localize);
        table.row(["hottopixx".to_owned(), format!("{:.2}", self.localize), ratio(self.localize)]);
        for numpy in &self.numpy {
            let name = format!("numpy, {}", numpy.method);
            table.row([name, format!("{:.2}", numpy.seconds), ratio(numpy.seconds)]);
        }
        let whole = "hottopixx with loading and cleaning".to_owned();
        table.row([whole, format!("{:.2}", self.whole), ratio(self.whole)]);
        if !self.agree {
            table.row(["the rows chosen differ".to_owned()]);
        }
        table
    }
}
