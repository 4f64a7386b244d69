//! An answer of `factor --out` that something is added to: more documents behind co-occurrences of words, whose sums
//! the answer keeps, or, for any other matrix, a version of it that has changed.

mod words;

pub use words::{COOCCURRENCE, DUAL, VOCABULARY, WordSums};

use crate::failure::Failure;
use crate::problem::{Problem, Raw, bytes_of, check_counts, own_bytes};
use crate::{json, output};
use hottopixx::control::Control;
use hottopixx::matrix::{Dense, Matrix, Shape, Sparse};
use hottopixx::{Footprint, KeptDual, Missing, text};
use hottopixx_io::{LoadOptions, Source, load, machine};
use hottopixx_report::{NamedHott, Preparation};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What of an answer is needed to go on from it.
pub struct Earlier {
    /// The answer as the user named it.
    pub label: String,
    /// Its hott rows, in rows of the input.
    pub hott: Vec<usize>,
    /// Rows of its input.
    pub features: usize,
    /// Its mean error.
    pub mean_l1: f64,
    /// How its input was prepared.
    pub prepared: Preparation,
    folder: PathBuf,
}

/// What `summary.json` says.
#[derive(Deserialize)]
struct Said {
    hott: Vec<NamedHott>,
    features: usize,
    error: SaidError,
    #[serde(default)]
    prepared: Preparation,
    version: String,
}

#[derive(Deserialize)]
struct SaidError {
    mean_l1: f64,
}

impl Earlier {
    /// The answer in a folder.
    pub fn read(folder: &Path) -> Result<Self, Failure> {
        let label = folder.display().to_string();
        let wrong = |what: String| {
            Failure::Wrong(format!(
                "{label}: {what}: give the folder that 'hottopixx factor --out' wrote"
            ))
        };
        let said: Said = json::read(&folder.join("summary.json")).map_err(|what| {
            wrong(match folder.join("model.json").exists() {
                true => "it is an answer of 'hottopixx topics', which is not added to".to_owned(),
                false => format!("summary.json {what}"),
            })
        })?;
        crate::version::refuse_newer(&said.version).map_err(wrong)?;
        let hott: Vec<usize> = said.hott.iter().map(|named| named.hott.row).collect();
        if hott.is_empty() || hott.iter().any(|&row| row >= said.features) {
            return Err(wrong("its hott rows are not rows of its input".to_owned()));
        }
        let Said { features, error: SaidError { mean_l1 }, prepared, .. } = said;
        Ok(Earlier { label, hott, features, mean_l1, prepared, folder: folder.to_owned() })
    }

    /// What it keeps of its documents, where it is an answer for co-occurrences.
    pub fn words(&self) -> Result<WordSums, Failure> {
        let wrong = |what: String| {
            let remedy = "run 'hottopixx factor --cooccurrence' again with --out";
            Failure::Wrong(format!("{}: {VOCABULARY} {what}: {remedy}", self.label))
        };
        let words: WordSums = json::read(&self.folder.join(VOCABULARY)).map_err(wrong)?;
        output::check_files(&self.folder, "summary.json", &[VOCABULARY])?;
        let fault = match words.frequencies.len() == self.features {
            true => words.fault(),
            false => Some("has not one number for each row"),
        };
        fault.map_or(Ok(words), |fault| Err(wrong(fault.to_owned())))
    }

    /// The dual behind its bound, where it keeps one; answers of earlier versions do not.
    pub fn dual(&self) -> Result<Option<Arc<KeptDual>>, Failure> {
        let path = self.folder.join(DUAL);
        if !self.prepared.cooccurrence || !path.exists() {
            return Ok(None);
        }
        output::check_files(&self.folder, "summary.json", &[DUAL])?;
        let wrong = |what: String| {
            Failure::Wrong(format!("{}: {what}: run the command again", path.display()))
        };
        let bytes =
            std::fs::read(&path).map_err(|error| wrong(format!("cannot be read ({error})")))?;
        let dual = KeptDual::from_bytes(&bytes).ok_or_else(|| wrong("is no dual".to_owned()))?;
        Ok(Some(Arc::new(dual)))
    }

    /// The co-occurrence of its words: a sum over its documents.
    fn pairs(&self, words: &WordSums, memory: Option<u64>) -> Result<Matrix, Failure> {
        let files = output::matrix_files(&[COOCCURRENCE]);
        let wrong =
            |what: &str| Failure::Wrong(format!("{}: {what}: run the command again", self.label));
        let file = files.into_iter().find(|name| self.folder.join(name).exists());
        let file = file.ok_or_else(|| wrong("its co-occurrence is not there"))?;
        output::check_files(&self.folder, "summary.json", &[&file])?;
        let options = LoadOptions { max_bytes: memory, ..LoadOptions::default() };
        let pairs = load(&Source::path(self.folder.join(&file)), &options)?.matrix;
        if (pairs.rows(), pairs.cols()) != (words.kept.len(), words.kept.len()) {
            return Err(wrong("its co-occurrence is not that of its words"));
        }
        pairs.check_nonnegative().map_err(|error| Failure::from_library(&self.label, &error))?;
        Ok(pairs)
    }

    /// The co-occurrence of the words of an answer in other documents alone.
    pub fn documents_alone(&self, raw: Raw, memory: Option<u64>) -> Result<Problem, Failure> {
        let words = self.words()?;
        let more = Counted::new(&words, raw)?;
        let held = own_bytes(&more.counts) + bytes_of(words.names.as_deref());
        let (pairs, taken) = more.pairs(&more.counts, held, memory)?;
        Ok(problem(words, more, (pairs, taken), None, memory))
    }

    /// The co-occurrence of its documents and those of `raw` together, of the same words; and sentences about words.
    pub fn with_documents(
        &self,
        raw: Raw,
        memory: Option<u64>,
    ) -> Result<(Problem, Vec<String>), Failure> {
        let mut words = self.words()?;
        let before = self.pairs(&words, memory)?;
        let more = Counted::new(&words, raw)?;
        let held = own_bytes(&before) + own_bytes(&more.counts) + bytes_of(words.names.as_deref());
        let some = more.counts.select_rows(&more.places);
        let (added, taken) = more.pairs(&some, held + own_bytes(&some), memory)?;
        let sum = text::add_cooccurrence(before, &added, &more.places)
            .map_err(|error| Failure::from_library(&more.label, &error))?;
        words.documents += more.counts.cols();
        for (sum, more) in words.frequencies.iter_mut().zip(&more.frequencies) {
            *sum += more;
        }
        let notes = self.about_words(&words, &more);
        let least = self.prepared.candidate_df;
        let candidates = (least > 0)
            .then(|| words.kept.iter().map(|&i| words.frequencies[i] >= least).collect());
        Ok((problem(words, more, (sum, taken), candidates, memory), notes))
    }

    /// Which words the new documents have that are left out.
    fn about_words(&self, words: &WordSums, more: &Counted) -> Vec<String> {
        let mut notes = Vec::new();
        if more.unknown > 0 {
            notes.push(format!(
                "{} of the new documents are not among the words of the answer and do not count.",
                plural(more.unknown, "word")
            ));
        }
        let least = self.prepared.min_df;
        let by_now = words.frequencies.iter().filter(|df| least > 0 && **df >= least).count();
        if by_now > words.kept.len() {
            notes.push(format!(
                "{} in at least {least} documents by now {} still set aside: their co-occurrence in the earlier \
                 documents was not kept.",
                plural(by_now - words.kept.len(), "word"),
                if by_now - words.kept.len() == 1 { "is" } else { "are" }
            ));
        }
        notes
    }
}

/// The problem of these co-occurrences, with the bytes that they took.
fn problem(
    words: WordSums,
    more: Counted,
    (matrix, taken): (Matrix, u64),
    candidates: Option<Vec<bool>>,
    memory: Option<u64>,
) -> Problem {
    Problem {
        label: more.label,
        held: own_bytes(&more.counts) + 2 * bytes_of(words.names.as_deref()),
        taken: Footprint::default().peak() + taken,
        nonzeros: matrix.nonzeros(),
        matrix,
        names: words.names.clone(),
        column_names: more.column_names,
        missing: Missing::Refuse,
        candidates,
        counts: Some(more.counts),
        looks_like_text: false,
        own_units: false,
        memory,
        kept: words.kept.clone(),
        input_rows: words.frequencies.len(),
        words: Some(words),
    }
}

fn plural(number: usize, thing: &str) -> String {
    hottopixx_report::text::count(number, thing)
}

/// Counts of the kept words of an answer in new documents.
pub struct Counted {
    /// The input as the user named it.
    pub label: String,
    /// Kept words x documents; rows of zeros for words that the new documents do not have.
    pub counts: Matrix,
    /// Names of the documents.
    pub column_names: Option<Vec<String>>,
    /// Rows of `counts` that the input has, increasing.
    places: Vec<usize>,
    /// In how many of the documents each row of the answer's input is.
    frequencies: Vec<usize>,
    /// Rows of the input that are no words of the answer.
    unknown: usize,
}

impl Counted {
    /// Finds the words of an answer in the rows of an input.
    pub fn new(words: &WordSums, raw: Raw) -> Result<Self, Failure> {
        let Raw { label, matrix, names, column_names, .. } = raw;
        let library = |error: hottopixx::Error| Failure::from_library(&label, &error);
        matrix.check_nonnegative().map_err(library)?;
        let rows = words.rows_of(names.as_deref(), matrix.rows(), &label)?;
        let mut frequencies = vec![0; words.frequencies.len()];
        let mut known: Vec<(usize, usize)> = Vec::new();
        for (i, row) in rows.iter().enumerate() {
            let Some(row) = *row else { continue };
            frequencies[row] += matrix.scan().nonzeros()[i];
            if let Ok(place) = words.kept.binary_search(&row) {
                known.push((place, i));
            }
        }
        known.sort_unstable();
        let (places, own): (Vec<usize>, Vec<usize>) = known.into_iter().unzip();
        let some = matrix.select_rows(&own);
        check_counts(&some, &label, |row| own[row])?;
        Ok(Counted {
            counts: placed(&some, &places, words.kept.len()),
            column_names,
            frequencies,
            unknown: rows.iter().filter(|row| row.is_none()).count(),
            places,
            label,
        })
    }

    /// The co-occurrence of the rows of `counts`, and the bytes that are taken at most with `held` bytes beside it.
    fn pairs(
        &self,
        counts: &Matrix,
        held: u64,
        memory: Option<u64>,
    ) -> Result<(Matrix, u64), Failure> {
        let left = memory.unwrap_or_else(machine::usual_memory).saturating_sub(held);
        let pairs = text::cooccurrence_within(counts, left, &Control::default())
            .map_err(|error| Failure::from_library(&self.label, &error))?;
        let stored = Shape::from(&pairs).entries as u64;
        Ok((pairs, held + text::cooccurrence_bytes(counts.into(), stored)))
    }
}

/// The rows of a matrix at their places, increasing, among rows of zeros.
pub fn placed(matrix: &Matrix, places: &[usize], rows: usize) -> Matrix {
    let Matrix::Sparse(sparse) = matrix else {
        let mut out = Dense::zeros(rows, matrix.cols());
        for (i, &row) in places.iter().enumerate() {
            matrix.row(i).add_to(1.0, out.row_mut(row));
        }
        return out.into();
    };
    let mut starts = vec![0; rows + 1];
    for (i, &row) in places.iter().enumerate() {
        starts[row + 1] = sparse.row(i).0.len();
    }
    for row in 0..rows {
        starts[row + 1] += starts[row];
    }
    let (columns, values) = (sparse.columns().to_vec(), sparse.values().to_vec());
    Sparse::new(rows, sparse.cols(), starts, columns, values).expect("rows were only moved").into()
}
