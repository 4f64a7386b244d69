//! The page of a topic model, from what Python keeps of it.

use crate::array::{held, shape};
use crate::run;
use hottopixx::matrix::Dense;
use hottopixx::topics::TopicModel;
use hottopixx_report::topics::{TopicsRun, TopicsSummary};
use hottopixx_report::topics_page::page;
use numpy::PyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

fn dense(array: &Bound<'_, PyArray2<f64>>) -> PyResult<Dense> {
    let (rows, cols) = shape(array);
    Dense::new(rows, cols, held(array)?.to_vec()).map_err(run::to_python)
}

/// The page: what `fit_topics` said in JSON, p(word | topic), keyness, shares; titles of documents, their dates where they
/// are known, how the documents are called, and the call that makes it.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // what Python keeps, one by one
pub fn topics_page(
    said: &str,
    topics: &Bound<'_, PyArray2<f64>>,
    keyness: &Bound<'_, PyArray2<f64>>,
    shares: &Bound<'_, PyArray2<f64>>,
    titles: Vec<String>,
    dates: Option<Vec<String>>,
    label: String,
    call: &str,
    threads: usize,
) -> PyResult<String> {
    let mut model: TopicModel =
        serde_json::from_str(said).map_err(|e| PyValueError::new_err(e.to_string()))?;
    (model.topics, model.keyness) = (dense(topics)?, dense(keyness)?);
    model.shares = dense(shares)?;
    let steps = &model.seconds;
    let run = TopicsRun {
        input: label,
        load: 0.0,
        total: steps.cooccurrence + steps.anchors + steps.polish,
        peak_memory_bytes: None,
        predicted_memory_bytes: None,
        threads,
        seed: 0,
    };
    let summary = TopicsSummary::new(&model, &titles, run);
    Ok(page(&model, &summary, dates.as_deref(), call))
}
