//! The functions that the package calls.

use crate::array::{Input, held, shape, to_python};
use crate::run::{self, Run, run};
use crate::settings::{Settings, parsed};
use hottopixx::control::Control;
use hottopixx::l1;
use hottopixx::matrix::{Dense, Matrix};
use hottopixx::project;
use hottopixx::synth::{Family, Recipe};
use hottopixx::text;
use hottopixx::{Changes, Comparison, Error, Factorization, Skipped};
use hottopixx_report::{ChoiceProof, Proof, Theorem};
use numpy::{PyArray1, PyArray2};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde::Serialize;

/// A report in JSON, F, W, errors by row, the diagonal, and the completed matrix where entries were missing.
type Answer =
    (String, Py<PyAny>, Py<PyAny>, Py<PyArray1<f64>>, Option<Py<PyArray1<f64>>>, Option<Py<PyAny>>);

fn answer(py: Python<'_>, found: Factorization) -> PyResult<Answer> {
    let report = json(&found)?;
    let errors = PyArray1::from_vec(py, found.errors.per_row).unbind();
    let diagonal = found.diagonal.map(|d| PyArray1::from_vec(py, d).unbind());
    let completed = found.completion.map(|completion| to_python(py, completion.matrix));
    let (f, w) = (to_python(py, found.f)?, to_python(py, found.w)?);
    Ok((report, f, w, errors, diagonal, completed.transpose()?))
}

/// A report for Python.
pub fn json(report: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(report).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

#[pyfunction]
pub fn factor(
    py: Python<'_>,
    matrix: Input<'_>,
    rank: usize,
    settings: Settings,
    how: Run,
) -> PyResult<Answer> {
    let (matrix, factor) = (matrix.matrix()?, settings.factor(rank)?);
    let found = run(py, &how, move |control| factor.control(control.clone()).run(&matrix))?;
    answer(py, found)
}

#[pyfunction]
pub fn evaluate(
    py: Python<'_>,
    matrix: Input<'_>,
    hott: Vec<usize>,
    settings: Settings,
    how: Run,
) -> PyResult<Answer> {
    let (matrix, factor) = (matrix.matrix()?, settings.factor(hott.len())?);
    let evaluate =
        move |control: &Control| factor.control(control.clone()).evaluate(&matrix, &hott);
    answer(py, run(py, &how, evaluate)?)
}

/// A report in JSON, F and errors by row, for rows on the hott rows `w` of an answer.
#[pyfunction]
pub fn apply(
    py: Python<'_>,
    w: Input<'_>,
    rows: Input<'_>,
    settings: Settings,
    how: Run,
) -> PyResult<(String, Py<PyAny>, Py<PyArray1<f64>>)> {
    let (w, rows) = (w.matrix()?, rows.matrix()?);
    let factor = settings.factor(w.rows())?;
    let found = run(py, &how, move |control| factor.control(control.clone()).apply(&w, &rows))?;
    let report = json(&found)?;
    let errors = PyArray1::from_vec(py, found.errors.per_row).unbind();
    Ok((report, to_python(py, found.f)?, errors))
}

/// A report in JSON, W, errors by row and by column.
type NewColumns = (String, Py<PyAny>, Py<PyArray1<f64>>, Py<PyArray1<f64>>);

/// [`NewColumns`] for new columns of the rows of an answer.
#[pyfunction]
pub fn apply_columns(
    py: Python<'_>,
    f: Input<'_>,
    hott: Vec<usize>,
    columns: Input<'_>,
    settings: Settings,
    how: Run,
) -> PyResult<NewColumns> {
    let (f, columns) = (f.matrix()?, columns.matrix()?);
    let factor = settings.factor(hott.len())?;
    let found = run(py, &how, move |control| {
        factor.control(control.clone()).apply_columns(&f, &hott, &columns)
    })?;
    let report = json(&found)?;
    let by_row = PyArray1::from_vec(py, found.errors.per_row).unbind();
    let by_column = PyArray1::from_vec(py, found.per_column).unbind();
    Ok((report, to_python(py, found.w)?, by_row, by_column))
}

/// What became of the hott rows of an earlier answer, in JSON.
#[pyfunction]
pub fn changes(
    f: Input<'_>,
    w: Input<'_>,
    hott: Vec<usize>,
    before: Vec<usize>,
) -> PyResult<String> {
    json(&Changes::between(&f.matrix()?, &w.matrix()?, &hott, &before))
}

/// What is said of a certified answer beside the answer.
#[derive(Serialize)]
struct Verdict {
    bounded_inf1: f64,
    #[serde(rename = "certificate")]
    proof: Proof,
    choice: Option<ChoiceProof>,
    theorem: Option<Theorem>,
}

#[pyfunction]
pub fn certify(
    py: Python<'_>,
    matrix: Input<'_>,
    rank: usize,
    hott: Option<Vec<usize>>,
    settings: Settings,
    how: Run,
) -> PyResult<(Answer, String)> {
    let (matrix, factor) = (matrix.matrix()?, settings.factor(rank)?);
    let certify =
        move |control: &Control| factor.control(control.clone()).certify(&matrix, hott.as_deref());
    let certified = run(py, &how, certify)?;
    let verdict = json(&Verdict {
        bounded_inf1: certified.bounded_inf1,
        proof: Proof::from(&certified),
        choice: ChoiceProof::new(&certified, |row| row),
        theorem: Theorem::new(&certified, |row| row),
    })?;
    Ok((answer(py, certified.answer)?, verdict))
}

/// Answers with their lines, methods without an answer in time, methods left out and why.
type Table = (Vec<(Answer, String)>, Vec<&'static str>, Vec<(&'static str, String)>);

#[pyfunction]
pub fn compare(
    py: Python<'_>,
    matrix: Input<'_>,
    rank: usize,
    settings: Settings,
    how: Run,
) -> PyResult<Table> {
    let (objective, matrix) = (settings.objective()?, matrix.matrix()?);
    let factor = settings.factor(rank)?;
    let compared = run(py, &how, move |control| {
        let each = |method| factor.clone().method(method).control(control.clone());
        Comparison::run(&matrix, objective, each)
    })?;
    let mut answers = Vec::new();
    for entry in compared.answers {
        let line = json(&entry)?;
        answers.push((answer(py, entry.answer)?, line));
    }
    let left_out = compared.skipped.into_iter().map(|(method, why)| {
        let reason = match why {
            Skipped::Needs(names) => format!("needs {}", names.join(" and ")),
            Skipped::Long => "may take long at this size; gap=1e-3 runs it all the same".to_owned(),
            Skipped::Infeasible(error) => error.to_string(),
        };
        (method.name(), reason)
    });
    let no_answer = compared.no_answer.iter().map(|method| method.name()).collect();
    Ok((answers, no_answer, left_out.collect()))
}

/// Weights, value, dual, bound, whether optimal, pivots.
type Fit = (Py<PyArray1<f64>>, f64, Py<PyArray1<f64>>, f64, bool, usize);

#[pyfunction]
pub fn l1_fit(
    py: Python<'_>,
    atoms: &Bound<'_, PyArray2<f64>>,
    x: &Bound<'_, PyArray1<f64>>,
    upper: Option<Vec<f64>>,
) -> PyResult<Fit> {
    let (rows, cols) = shape(atoms);
    let (values, x) = (held(atoms)?, held(x)?);
    let fit = py
        .detach(|| l1::fit(&Dense::from_buffer(rows, cols, values)?, &x, upper.as_deref()))
        .map_err(run::to_python)?;
    let optimal = fit.status == l1::Status::Optimal;
    let (weights, dual) = (PyArray1::from_vec(py, fit.weights), PyArray1::from_vec(py, fit.dual));
    Ok((weights.unbind(), fit.value, dual.unbind(), fit.lower_bound, optimal, fit.pivots))
}

#[pyfunction]
pub fn squish(
    py: Python<'_>,
    column: &Bound<'_, PyArray1<f64>>,
    diagonal: usize,
) -> PyResult<Py<PyArray1<f64>>> {
    let mut column = held(column)?.to_vec();
    if diagonal >= column.len() {
        return Err(PyValueError::new_err(format!(
            "diagonal is {diagonal}, but there are {} entries, from 0",
            column.len()
        )));
    }
    project::squish(&mut column, diagonal);
    Ok(PyArray1::from_vec(py, column).unbind())
}

#[pyfunction]
pub fn squish_matrix(
    py: Python<'_>,
    c: &Bound<'_, PyArray2<f64>>,
    candidates: Vec<usize>,
) -> PyResult<Py<PyAny>> {
    let (rows, cols) = shape(c);
    if candidates.len() != cols || candidates.iter().any(|&i| i >= rows) {
        return Err(PyValueError::new_err(format!(
            "{} candidates for {rows} x {cols}: give the row of the diagonal entry of each column",
            candidates.len()
        )));
    }
    let mut values = held(c)?.to_vec();
    py.detach(|| project::project_phi0(&mut values, &candidates));
    to_python(py, Matrix::Dense(Dense::new(rows, cols, values).map_err(run::to_python)?))
}

#[pyfunction]
pub fn cooccurrence(py: Python<'_>, counts: Input<'_>, how: Run) -> PyResult<Py<PyAny>> {
    let counts = counts.matrix()?;
    to_python(py, run(py, &how, move |control| text::cooccurrence_controlled(&counts, control))?)
}

/// The matrix, and the truth in JSON.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // the fields of a recipe, one by one
pub fn generate(
    py: Python<'_>,
    family: &str,
    rank: usize,
    features: Option<usize>,
    examples: Option<usize>,
    duplicates: Option<usize>,
    noise: Option<f64>,
    ill: Option<f64>,
    tokens: Option<usize>,
    seed: u64,
) -> PyResult<(Py<PyAny>, String)> {
    let family: Family = parsed(family)?;
    let usual = Recipe::new(family, rank);
    let recipe = Recipe {
        features: features.unwrap_or(usual.features),
        examples: examples.unwrap_or(usual.examples),
        duplicates: duplicates.unwrap_or(usual.duplicates),
        noise: noise.unwrap_or(usual.noise),
        ill: ill.unwrap_or(usual.ill),
        tokens: tokens.unwrap_or(usual.tokens),
        seed,
        ..usual
    };
    let wrong =
        |error: Error| PyValueError::new_err(format!("cannot generate {}: {error}", family.name()));
    let instance = py.detach(|| recipe.generate()).map_err(wrong)?;
    Ok((to_python(py, instance.matrix)?, json(&instance.truth)?))
}
