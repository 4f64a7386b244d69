//! Instances of the sizes of the paper's table, with known answers, and a run on one of them.

use super::process::{ProcessRunner, RunRequest};
use anyhow::{Context, Result};
use hottopixx::matrix::Matrix;
use hottopixx::synth::{Family, Recipe, Truth};
use hottopixx::{Method, Seconds};
use hottopixx_io::write;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// One instance with a known answer.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct LargeSet {
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
pub const LARGE_SETS: [LargeSet; 4] = [
    LargeSet {
        name: "jumbo",
        family: Family::Paper,
        features: 1600,
        examples: 64_000,
        tokens: 0,
        rank: 100,
        paper_seconds: Some(338.0),
    },
    LargeSet {
        name: "clueweb",
        family: Family::Documents,
        features: 44_739,
        examples: 351_849,
        tokens: 55,
        rank: 100,
        paper_seconds: Some(478.0),
    },
    LargeSet {
        name: "rcv1",
        family: Family::Documents,
        features: 47_153,
        examples: 781_265,
        tokens: 76,
        rank: 100,
        paper_seconds: Some(430.0),
    },
    LargeSet {
        name: "million",
        family: Family::Documents,
        features: 100_000,
        examples: 1_000_000,
        tokens: 50,
        rank: 100,
        paper_seconds: None,
    },
];

/// What a run on an instance came to.
#[derive(Debug, Clone, Serialize)]
pub struct LargeRun {
    /// The instance.
    #[serde(rename = "shape")]
    pub set: LargeSet,
    /// Stored entries.
    pub nonzeros: u64,
    /// Seconds of the whole process.
    pub seconds: f64,
    /// Seconds of reading the file.
    pub load: f64,
    /// Seconds of the steps from there to the answer.
    #[serde(flatten)]
    pub steps: Seconds,
    /// Peak of resident memory, in bytes.
    pub peak: Option<u64>,
    /// What was predicted from the size of the matrix, in bytes.
    pub predicted: Option<u64>,
    /// The rows chosen, in the program's order.
    pub rows: Vec<usize>,
    /// How many of the planted rows, or of their duplicates, were found.
    pub found: usize,
    /// The largest l1 error of a row, over all rows.
    pub inf1: f64,
}

impl LargeSet {
    /// The same at a size for tests: an eighth of the rows, one in thirty-two of the columns, 20 topics.
    pub fn quick(self) -> Self {
        LargeSet {
            features: self.features / 8,
            examples: self.examples / 32,
            rank: 20,
            paper_seconds: None,
            ..self
        }
    }

    /// The set as it is, or, if `quick`, at a size for tests.
    pub fn sized(self, quick: bool) -> Self {
        if quick { self.quick() } else { self }
    }

    /// The file in `folder`, and the truth beside it; written unless they are there already.
    ///
    /// # Errors
    /// When the files cannot be written.
    pub fn generate(&self, folder: &Path) -> Result<PathBuf> {
        // numpy has to read the dense one, too.
        let extension = if self.tokens == 0 { "npy" } else { "hpx" };
        let name = format!("{}-{}x{}.{extension}", self.name, self.features, self.examples);
        let path = folder.join(name);
        let truth = truth_file(&path);
        if path.exists() && truth.exists() {
            return Ok(path);
        }
        let mut recipe = Recipe::new(self.family, self.rank).size(self.features, self.examples);
        if self.tokens > 0 {
            recipe = recipe.tokens(self.tokens);
        }
        let instance = recipe.seed(1).generate()?;
        match &instance.matrix {
            Matrix::Dense(matrix) if self.tokens == 0 => write::npy(&path, matrix)?,
            matrix => write::hpx(&path, matrix, None, None)?,
        }
        // Last: a file without its truth is written anew.
        write::bytes(truth, serde_json::to_string_pretty(&instance.truth)? + "\n")?;
        Ok(path)
    }

    /// Factors the file in a process of its own.
    ///
    /// # Errors
    /// When there is no truth beside the file, or the process fails.
    pub fn factor(
        &self,
        runner: &ProcessRunner,
        path: &Path,
        method: Method,
        threads: usize,
    ) -> Result<LargeRun> {
        let truth = read_truth(&truth_file(path))?;
        let request = RunRequest { input: path.to_path_buf(), rank: self.rank, method, threads };
        let (measured, seconds) = runner.run(&request)?;
        let rows: Vec<usize> = measured.hott.iter().map(|hott| hott.row).collect();
        Ok(LargeRun {
            set: *self,
            nonzeros: measured.nonzeros,
            seconds,
            load: measured.seconds.load,
            steps: measured.seconds.steps.unwrap_or_default(),
            peak: measured.peak_memory_bytes,
            predicted: measured.predicted_memory_bytes,
            found: truth.recovered(&rows),
            rows,
            inf1: measured.error.inf1,
        })
    }
}

fn truth_file(path: &Path) -> PathBuf {
    path.with_extension("truth.json")
}

fn read_truth(path: &Path) -> Result<Truth> {
    let place = || path.display().to_string();
    let text = std::fs::read_to_string(path).with_context(place)?;
    serde_json::from_str(&text).with_context(place)
}
