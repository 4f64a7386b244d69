//! The page of a topic model, from what Python keeps of it.

use crate::array::{held, shape};
use crate::run;
use hottopixx::control::Stop;
use hottopixx::matrix::Dense;
use hottopixx::topics::{Anchor, AnchorBound, TopicErrors, TopicModel, TopicSeconds};
use hottopixx_report::topics::{TopicsRun, TopicsSummary};
use hottopixx_report::topics_page::page;
use numpy::PyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Deserialize;

/// What is no array, as `fit_topics` said it.
#[derive(Deserialize)]
struct Kept {
    words: Vec<String>,
    documents: Vec<usize>,
    anchors: Vec<Anchor>,
    typical: Vec<Vec<usize>>,
    weighted_l1: f64,
    mean_l1: f64,
    bound: Option<AnchorBound>,
    perplexity: f64,
    anchored_perplexity: f64,
    steps: usize,
    min_df: usize,
    candidate_df: usize,
    notes: Vec<String>,
    advice: Vec<String>,
    stop: Stop,
    seconds: TopicSeconds,
    empty_documents: usize,
    tokens: Vec<f64>,
    proportions: Vec<f64>,
    coherence: Vec<f64>,
}

impl Kept {
    /// The model, as far as a page needs it.
    fn model(self, topics: Dense, shares: Dense) -> TopicModel {
        TopicModel {
            errors: TopicErrors { weighted_l1: self.weighted_l1, mean_l1: self.mean_l1 },
            anchored: topics.clone(),
            given_word: topics.transpose(),
            evidence: vec![1.0; self.words.len()],
            prior: 0.0,
            judged: Vec::new(),
            words: self.words,
            tokens: self.tokens,
            documents: self.documents,
            anchors: self.anchors,
            proportions: self.proportions,
            coherence: self.coherence,
            typical: self.typical,
            bound: self.bound,
            perplexity: self.perplexity,
            anchored_perplexity: self.anchored_perplexity,
            steps: self.steps,
            min_df: self.min_df,
            candidate_df: self.candidate_df,
            empty_documents: self.empty_documents,
            notes: self.notes,
            advice: self.advice,
            stop: self.stop,
            seconds: self.seconds,
            topics,
            shares,
        }
    }
}

fn dense(array: &Bound<'_, PyArray2<f64>>) -> PyResult<Dense> {
    let (rows, cols) = shape(array);
    Dense::new(rows, cols, held(array)?.to_vec()).map_err(run::to_python)
}

/// The page: what is kept in JSON, p(word | topic), shares; titles of documents, their dates where they
/// are known, how the documents are called, and the call that makes it.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // what Python keeps, one by one
pub fn topics_page(
    kept: &str,
    topics: &Bound<'_, PyArray2<f64>>,
    shares: &Bound<'_, PyArray2<f64>>,
    titles: Vec<String>,
    dates: Option<Vec<String>>,
    label: String,
    call: &str,
    threads: usize,
) -> PyResult<String> {
    let kept: Kept =
        serde_json::from_str(kept).map_err(|e| PyValueError::new_err(e.to_string()))?;
    let model = kept.model(dense(topics)?, dense(shares)?);
    let steps = &model.seconds;
    let run = TopicsRun {
        input: label,
        load: 0.0,
        total: steps.cooccurrence + steps.anchors + steps.polish,
        peak_memory_bytes: None,
        threads,
        seed: 0,
    };
    let summary = TopicsSummary::new(&model, &titles, run);
    Ok(page(&model, &summary, dates.as_deref(), call))
}
