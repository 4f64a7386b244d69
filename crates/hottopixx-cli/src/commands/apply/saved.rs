//! The answer of a factorization, as the tool or the Python package wrote it.

use crate::failure::Failure;
use crate::json;
use crate::output::{self, AnswerKind};
use crate::version::refuse_newer;
use hottopixx::Cleaning;
use hottopixx::matrix::Matrix;
use hottopixx_io::{LoadOptions, SavedArrays, Source, load};
use hottopixx_report::{NamedHott, Preparation};
use serde::Deserialize;
use std::path::Path;

/// What of an answer is needed to explain other rows by it.
pub(super) struct Factors {
    /// The hott rows: rows of W.
    pub hott: Vec<NamedHott>,
    /// Rank x columns.
    pub w: Matrix,
    /// Rows x rank.
    pub f: Matrix,
    /// How rows were fitted.
    pub cleaning: Cleaning,
    /// The seed.
    pub seed: u64,
    /// How the input was prepared.
    pub prepared: Preparation,
}

/// What `summary.json` says of it, or the text inside a file of Python.
#[derive(Deserialize)]
struct Said {
    hott: Vec<NamedHott>,
    cleaning: Cleaning,
    #[serde(default)]
    seed: u64,
    #[serde(default)]
    prepared: Preparation,
    #[serde(default)]
    version: String,
    /// In a file of Python: a row of the data may be a feature or a sample for the caller.
    #[serde(default)]
    names: Option<Vec<String>>,
}

/// The text inside a file of Python.
#[derive(Deserialize)]
struct File {
    kind: String,
    version: String,
    factorization: Said,
}

impl Factors {
    /// The answer of a folder or a file; `None` for topics.
    pub fn read(answer: &Path, memory: Option<u64>) -> Result<Option<Self>, Failure> {
        if answer.is_dir() {
            return match output::answer_kind(answer) {
                Some(AnswerKind::Topics) => Ok(None),
                Some(AnswerKind::Unmix) => Err(Failure::Wrong(format!(
                    "{}: it holds an answer of 'hottopixx unmix', which apply does not take: HottSamples of the Python \
                     package gives the abundances of other pixels (transform)",
                    answer.display()
                ))),
                None if answer.join("model.json").exists() => Ok(None),
                _ => Factors::of_folder(answer, memory).map(Some),
            };
        }
        match SavedArrays::open(answer, memory)? {
            Some(arrays) => Factors::of_file(answer, arrays).map(Some),
            None => Ok(None),
        }
    }

    fn of_folder(folder: &Path, memory: Option<u64>) -> Result<Self, Failure> {
        let wrong = |what: String| {
            Failure::Wrong(format!(
                "{}: {what}: give the folder that 'hottopixx factor --out' or 'hottopixx topics --out' \
                 wrote",
                folder.display()
            ))
        };
        let said: Said = json::read(&folder.join("summary.json"))
            .map_err(|what| wrong(format!("summary.json {what}")))?;
        let options = LoadOptions { max_bytes: memory, ..LoadOptions::default() };
        let matrix = |stem: &str| -> Result<Matrix, Failure> {
            let files = output::matrix_files(&[stem]);
            let file = files.into_iter().find(|name| folder.join(name).exists());
            let file = file.ok_or_else(|| wrong(format!("{stem} is not there")))?;
            output::check_files(folder, "summary.json", &[&file])?;
            Ok(load(&Source::path(folder.join(&file)), &options)?.matrix)
        };
        Factors::checked(said, (matrix("F")?, matrix("W")?), None).map_err(wrong)
    }

    fn of_file(path: &Path, arrays: SavedArrays) -> Result<Self, Failure> {
        let wrong = |what: String| {
            Failure::Wrong(format!(
                "{}: {what}: give a file that save() of the Python package wrote",
                path.display()
            ))
        };
        let file: File =
            serde_json::from_str(arrays.text()).map_err(|error| wrong(error.to_string()))?;
        if file.kind == "estimator" {
            // Rows of the answer are columns of what the estimator was fitted to; its own `transform` knows.
            return Err(wrong(
                "it holds a fitted estimator: save its result_ (model.result_.save(path)), or use \
                 transform in Python"
                    .to_owned(),
            ));
        }
        let factors = (arrays.matrix("F").map_err(wrong)?, arrays.matrix("W").map_err(wrong)?);
        Factors::checked(file.factorization, factors, Some(file.version)).map_err(wrong)
    }

    /// An answer whose parts fit each other, of a version that this program knows.
    fn checked(
        said: Said,
        (f, w): (Matrix, Matrix),
        version: Option<String>,
    ) -> Result<Self, String> {
        let version = version.unwrap_or(said.version);
        refuse_newer(&version)?;
        if said.hott.len() != w.rows() || w.rows() != f.cols() {
            let (rows, columns) = (w.rows(), f.cols());
            return Err(format!(
                "{} hott rows, but W has {rows} and F {columns} columns",
                said.hott.len()
            ));
        }
        let mut hott = said.hott;
        if let Some(names) = &said.names {
            hott.iter_mut().for_each(|hott| hott.name = names.get(hott.hott.row).cloned());
        }
        let Said { cleaning, seed, prepared, .. } = said;
        let cleaning = if cleaning == Cleaning::Auto { Cleaning::Exact } else { cleaning };
        Ok(Factors { hott, w, f, cleaning, seed, prepared })
    }
}
