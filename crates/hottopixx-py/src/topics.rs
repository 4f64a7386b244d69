//! Topics of documents: text comes in batches of Python's own strings, counts in their arrays, and a model
//! goes out as arrays and one JSON text.

use crate::array::{Input, held, shape, to_python};
use crate::calls::json;
use crate::corpus::pooled;
use crate::run::{self, Run, run};
use crate::settings::parsed;
use hottopixx::Error;
use hottopixx::control::Control;
use hottopixx::matrix::{Dense, Matrix};
use hottopixx::text::{self, Reading, StopWords, Tokeniser, VocabularyRules};
use hottopixx::topics::{SavedTopics, ShownTopics, TopicModel, Topics};
use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use std::sync::Arc;

/// Words that are left out: those of a language, or "auto"; those of more than a share of the documents;
/// these.
#[derive(FromPyObject)]
pub enum LeftOut {
    Named(String),
    Share(f64),
    These(Vec<String>),
}

fn stop_words(left_out: Option<LeftOut>) -> StopWords {
    match left_out {
        None => StopWords::None,
        Some(LeftOut::Named(name)) if name == "auto" => StopWords::Auto,
        Some(LeftOut::Named(name)) => StopWords::Language(name),
        Some(LeftOut::Share(share)) => StopWords::Share(share),
        Some(LeftOut::These(words)) => StopWords::List(words),
    }
}

/// What counts as a word: the least number of characters, and whether numbers do.
type Words = (usize, bool);

fn tokeniser((min_length, numbers): Words) -> Tokeniser {
    Tokeniser { min_length, numbers }
}

/// Counts the words of documents that come in batches.
#[pyclass(module = "hottopixx._native")]
pub struct Counter {
    counter: text::Counter,
    threads: usize,
}

#[pymethods]
impl Counter {
    #[new]
    fn new(
        words: Words,
        stop_words: Option<LeftOut>,
        phrases: bool,
        threads: usize,
    ) -> PyResult<Self> {
        let (tokeniser, stop_words) = (tokeniser(words), self::stop_words(stop_words));
        let reading = Reading { tokeniser, stop_words, phrases };
        Ok(Counter { counter: text::Counter::new(reading).map_err(run::to_python)?, threads })
    }

    /// Adds documents. Signals wait for the end of a batch.
    fn add(&mut self, py: Python<'_>, documents: Vec<PyBackedStr>) -> PyResult<()> {
        let Counter { counter, threads } = self;
        py.detach(|| pooled(*threads, || counter.add(&documents))).map_err(run::to_python)
    }

    /// The corpus of all documents so far.
    fn so_far(&mut self, py: Python<'_>) -> PyResult<Corpus> {
        let counter = &mut self.counter;
        let corpus = py.detach(|| counter.so_far()).map_err(|error| match error {
            Error::Empty { rows, .. } => PyValueError::new_err(format!(
                "no word is left of the {rows} documents: give longer text, or other stop words"
            )),
            other => run::to_python(other),
        })?;
        Ok(Corpus(Arc::new(corpus)))
    }

    /// Forgets all but the first so many documents.
    fn truncate(&mut self, documents: usize) {
        self.counter.truncate(documents);
    }

    /// Number of documents.
    #[getter]
    fn documents(&self) -> usize {
        self.counter.documents()
    }
}

/// Counts of words in documents, for `fit_topics`.
#[pyclass(frozen, module = "hottopixx._native")]
pub struct Corpus(Arc<text::Corpus>);

#[pymethods]
impl Corpus {
    /// From documents x words.
    #[staticmethod]
    fn from_counts(
        py: Python<'_>,
        counts: Input<'_>,
        names: Option<Vec<String>>,
        stop_words: Option<LeftOut>,
    ) -> PyResult<Self> {
        let (counts, stop_words) = (counts.matrix()?, self::stop_words(stop_words));
        let made = py.detach(|| text::Corpus::from_counts(&counts, names.as_deref(), &stop_words));
        Ok(Corpus(Arc::new(made.map_err(run::to_python)?)))
    }

    /// Number of documents.
    #[getter]
    fn documents(&self) -> usize {
        self.0.documents()
    }
}

/// As [`Topics`]; what is `None` keeps its default there.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct TopicSettings {
    min_df: Option<usize>,
    candidate_df: Option<usize>,
    max_words: Option<usize>,
    anchors: Vec<Vec<String>>,
    /// Words that an earlier model began with, and whether to look for others everywhere.
    start: (Vec<String>, bool),
    recovery: String,
    polish: usize,
    prior: f64,
    threads: usize,
}

impl TopicSettings {
    /// The library's settings. Anchors may be written as in the text.
    fn topics(self, rank: usize, corpus: &text::Corpus) -> PyResult<Topics> {
        let (min_df, candidate_df, max_words) = (self.min_df, self.candidate_df, self.max_words);
        let tokeniser = Tokeniser::default();
        let known = |word: String| match corpus.words().contains(&word) {
            true => word,
            false => tokeniser.normalised(&word).unwrap_or(word),
        };
        let anchors = self.anchors.into_iter().map(|words| words.into_iter().map(known).collect());
        Ok(Topics::new(rank)
            .vocabulary(VocabularyRules { min_df, candidate_df, max_words })
            .anchors(anchors.collect())
            .start(self.start.0, self.start.1)
            .recovery(parsed(&self.recovery)?)
            .polish(self.polish)
            .prior(self.prior)
            .threads(self.threads))
    }
}

/// In JSON what is no matrix; topics, anchored topics, p(topic | word), keyness and shares; how many known words
/// each document has.
type Model = (String, [Py<PyAny>; 5], Py<PyArray1<f64>>);

#[pyfunction]
pub fn fit_topics(
    py: Python<'_>,
    corpus: &Corpus,
    rank: usize,
    settings: TopicSettings,
    how: Run,
) -> PyResult<Model> {
    let (corpus, topics) = (corpus.0.clone(), settings.topics(rank, &corpus.0)?);
    let (model, lengths) = run(py, &how, move |control| {
        let model = topics.control(control.clone()).fit(&corpus)?;
        let lengths = lengths(&corpus, &model);
        Ok((model, lengths))
    })?;
    let said = json(&model)?;
    let matrix = |dense: Dense| to_python(py, Matrix::Dense(dense));
    let matrices = [
        matrix(model.topics)?,
        matrix(model.anchored)?,
        matrix(model.given_word)?,
        matrix(model.keyness)?,
        matrix(model.shares)?,
    ];
    Ok((said, matrices, PyArray1::from_vec(py, lengths).unbind()))
}

/// The words that topics are found with, and how often any two stand together.
#[pyfunction]
pub fn topic_words(
    py: Python<'_>,
    corpus: &Corpus,
    rank: usize,
    settings: TopicSettings,
    how: Run,
) -> PyResult<(Vec<String>, Py<PyAny>)> {
    let (corpus, topics) = (corpus.0.clone(), settings.topics(rank, &corpus.0)?);
    let count = move |control: &Control| topics.control(control.clone()).cooccurrence(&corpus);
    let (words, pairs) = run(py, &how, count)?;
    Ok((words, to_python(py, pairs)?))
}

/// How many words of the model each document has. The model's words are in the order of the corpus.
fn lengths(corpus: &text::Corpus, model: &TopicModel) -> Vec<f64> {
    let mut kept = model.words.iter().peekable();
    let known: Vec<bool> =
        corpus.words().iter().map(|word| kept.next_if_eq(&word).is_some()).collect();
    let counts = corpus.counts();
    let length = |d: usize| {
        let (words, values) = counts.row(d);
        words.iter().zip(values).filter(|(w, _)| known[**w as usize]).map(|(_, v)| v).sum()
    };
    (0..counts.rows()).map(length).collect()
}

/// What documents to come are fitted with.
#[pyclass(frozen, module = "hottopixx._native")]
pub struct Saved {
    saved: Arc<SavedTopics>,
    threads: usize,
}

#[pymethods]
impl Saved {
    /// From p(word | topic), topics x vocabulary.
    #[new]
    fn new(
        words: Words,
        vocabulary: Vec<String>,
        topics: &Bound<'_, PyArray2<f64>>,
        evidence: Vec<f64>,
        proportions: Vec<f64>,
        prior: f64,
        threads: usize,
    ) -> PyResult<Self> {
        let (_, cols) = shape(topics);
        let rows = held(topics)?;
        let topics: Vec<Vec<f64>> = rows.chunks(cols.max(1)).map(<[f64]>::to_vec).collect();
        let saved = SavedTopics {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            tokeniser: Some(tokeniser(words)),
            names: vec![String::new(); topics.len()],
            proportions,
            prior,
            words: vocabulary,
            evidence,
            topics,
            shown: ShownTopics::default(),
        };
        saved.check().map_err(run::to_python)?;
        Ok(Saved { saved: Arc::new(saved), threads })
    }

    /// Counts the words of the model in documents. Signals wait for the end.
    fn count(&self, py: Python<'_>, documents: Vec<PyBackedStr>) -> PyResult<Py<PyAny>> {
        let Saved { saved, threads } = self;
        let counts = py.detach(|| pooled(*threads, || saved.count(&documents)));
        to_python(py, Matrix::Sparse(counts.map_err(run::to_python)?))
    }

    /// Shares of topics in documents, given as documents x words of the model.
    fn shares(&self, py: Python<'_>, counts: Input<'_>, how: Run) -> PyResult<Py<PyAny>> {
        let Matrix::Sparse(counts) = counts.matrix()? else {
            return Err(PyValueError::new_err("counts must be sparse"));
        };
        let (saved, threads) = (self.saved.clone(), self.threads);
        let fit = move |control: &Control| pooled(threads, || saved.transform(&counts, control));
        to_python(py, Matrix::Dense(run(py, &how, fit)?))
    }
}
