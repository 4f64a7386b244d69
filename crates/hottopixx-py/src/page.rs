//! The page of a factorization and the errors of fewer rows, from what Python keeps of an answer.

use crate::array::{Input, held};
use crate::calls::json;
use crate::run::{Run, run};
use crate::settings::{Settings, parsed};
use hottopixx::control::{Control, Stop};
use hottopixx::{Bounds, Cleaning, Errors, Factorization, HottRow, RankPath, Seconds};
use hottopixx_report::{Described, RunFacts, StepSeconds, Summary, html};
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Deserialize;

/// What is no array of an answer, as Python writes it.
#[derive(Deserialize)]
struct Kept {
    method: String,
    objective: String,
    chosen_from: Option<String>,
    exchanges: usize,
    cleaning: Cleaning,
    inexact_rows: usize,
    zero_rows: Vec<usize>,
    #[serde(default)]
    outliers: Vec<usize>,
    hott: Vec<HottRow>,
    error: Errors,
    certificate: Option<Bounds>,
    notes: Vec<String>,
    stop: Stop,
    seconds: Seconds,
    path: Option<RankPath>,
    names: Option<Vec<String>>,
    nonzeros: usize,
    documents: Option<usize>,
    own_units: bool,
    threads: usize,
    seed: u64,
}

/// The page: what is no array in JSON, F, W, errors by row, the diagonal; what the data are called, and
/// the call that makes it.
#[pyfunction]
pub fn answer_page(
    kept: &str,
    f: Input<'_>,
    w: Input<'_>,
    per_row: &Bound<'_, PyArray1<f64>>,
    diagonal: Option<&Bound<'_, PyArray1<f64>>>,
    label: String,
    call: &str,
) -> PyResult<String> {
    let kept: Kept =
        serde_json::from_str(kept).map_err(|e| PyValueError::new_err(e.to_string()))?;
    let objective = parsed(&kept.objective)?;
    let total = kept.seconds.localize + kept.seconds.select + kept.seconds.clean;
    let facts = RunFacts {
        seconds: StepSeconds { load: 0.0, steps: None, total },
        peak_memory_bytes: None,
        predicted_memory_bytes: None,
        threads: kept.threads,
        seed: Some(kept.seed),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let answer = Factorization {
        method: parsed(&kept.method)?,
        chosen_from: kept.chosen_from,
        judged: Vec::new(),
        exchanges: kept.exchanges,
        hott: kept.hott,
        f: f.matrix()?,
        w: w.matrix()?,
        errors: Errors { per_row: held(per_row)?.to_vec(), ..kept.error },
        bounds: kept.certificate,
        notes: kept.notes,
        diagonal: diagonal.map(held).transpose()?.map(|diagonal| diagonal.to_vec()),
        dual: None,
        cleaning: kept.cleaning,
        inexact_rows: kept.inexact_rows,
        zero_rows: kept.zero_rows,
        outliers: kept.outliers,
        completion: None,
        stop: kept.stop,
        seconds: kept.seconds,
    };
    let about = Described {
        label,
        names: kept.names.as_deref(),
        nonzeros: kept.nonzeros,
        documents: kept.documents,
        own_units: kept.own_units,
    };
    let mut summary = Summary::new(about, &answer, objective, facts);
    summary.path = kept.path;
    Ok(html::page(&summary, call))
}

/// What entries that are held out say about the rank, in JSON, and why it ended.
#[pyfunction]
pub fn held_out(
    py: Python<'_>,
    matrix: Input<'_>,
    most: usize,
    share: f64,
    settings: Settings,
    how: Run,
) -> PyResult<(String, String)> {
    let (matrix, factor) = (matrix.matrix()?, settings.factor(most)?);
    let hold = move |control: &Control| factor.control(control.clone()).held_out(&matrix, share);
    let found = run(py, &how, hold)?;
    Ok((json(&found)?, json(&found.stop)?))
}

/// The errors of these rows and of fewer and fewer of them, in JSON, and why it ended.
#[pyfunction]
pub fn path(
    py: Python<'_>,
    matrix: Input<'_>,
    hott: Vec<usize>,
    settings: Settings,
    how: Run,
) -> PyResult<(String, String)> {
    let (matrix, factor) = (matrix.matrix()?, settings.factor(hott.len())?.groups(false));
    let walk = move |control: &Control| {
        let factor = factor.control(control.clone());
        let answer = factor.evaluate(&matrix, &hott)?;
        factor.path(&matrix, &answer)
    };
    let found = run(py, &how, walk)?;
    Ok((json(&found)?, json(&found.stop)?))
}
