//! What workers compute from some documents of a corpus: pure functions of their arguments, with as
//! many threads as they are told. See `python/hottopixx/ray`.

use crate::array::{Input, to_python};
use crate::run::{Run, run};
use crate::settings::parsed;
use hottopixx::Error;
use hottopixx::clean;
use hottopixx::matrix::{Matrix, Shape};
use hottopixx::text::DENSE_ABOVE;
use hottopixx::text::pairs::{BLOCK_DOCUMENTS, Buckets, DENSE_TILE, PairSums, STEP, dense_gram};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// What a division of the work keeps to, and what it reckons with.
pub fn add_constants(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("BLOCK_DOCUMENTS", BLOCK_DOCUMENTS)?;
    module.add("DENSE_ABOVE", DENSE_ABOVE)?;
    module.add("DENSE_TILE", DENSE_TILE)?;
    module.add("STEP", STEP)
}

/// Rows `first..last` of the co-occurrence or Gram matrix of documents x terms in pieces, with columns
/// in (count, seed) buckets where they are given.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // what a task is told, one by one
pub fn pair_rows(
    py: Python<'_>,
    pieces: Vec<Input<'_>>,
    kind: &str,
    first: usize,
    last: usize,
    buckets: Option<(usize, u64)>,
    threads: usize,
    how: Run,
) -> PyResult<Py<PyAny>> {
    let kind = parsed(kind)?;
    let pieces: Vec<Matrix> = pieces.iter().map(Input::matrix).collect::<PyResult<_>>()?;
    let terms = pieces.first().map_or(0, Matrix::cols);
    if pieces.iter().any(|piece| piece.cols() != terms) || first > last || last > terms {
        return Err(PyValueError::new_err(format!("rows {first} to {last} of {terms} terms")));
    }
    let work = move || {
        pieces.iter().try_for_each(Matrix::check_nonnegative)?;
        let buckets = buckets.map(|(count, seed)| Buckets::random(terms, count.max(1), seed));
        let mut sums = PairSums::new(&pieces, kind);
        if let Some(buckets) = &buckets {
            sums = sums.with_buckets(buckets);
        }
        sums.matrix(first..last)
    };
    to_python(py, run(py, &how, move |_| pooled(threads, work))?)
}

/// Rows `first..last` of the Gram matrix of a dense block of documents x features; `first` is a
/// multiple of the tile.
#[pyfunction]
pub fn dense_gram_rows(
    py: Python<'_>,
    documents: Input<'_>,
    first: usize,
    last: usize,
    threads: usize,
    how: Run,
) -> PyResult<Py<PyAny>> {
    let Matrix::Dense(documents) = documents.matrix()? else {
        return Err(PyValueError::new_err("documents must be dense"));
    };
    if first > last || last > documents.cols() || !first.is_multiple_of(DENSE_TILE) {
        return Err(PyValueError::new_err(format!(
            "rows {first} to {last} of {} features",
            documents.cols()
        )));
    }
    let work = move || Ok(dense_gram(&documents, first..last).into());
    to_python(py, run(py, &how, move |_| pooled(threads, work))?)
}

/// Whether all rows of a matrix of that shape are cleaned exactly unless asked otherwise.
#[pyfunction]
pub fn is_affordable(rows: usize, cols: usize, entries: usize, dense: bool, rank: usize) -> bool {
    clean::is_affordable(Shape { rows, cols, entries, dense }, rank)
}

/// Works on that many threads; 0 for all the machine has.
pub fn pooled<T: Send>(
    threads: usize,
    work: impl FnOnce() -> Result<T, Error> + Send,
) -> Result<T, Error> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| Error::Setting {
        name: "threads",
        value: threads.to_string(),
        remedy: format!("the system refused them ({error}); ask for fewer"),
    })?;
    pool.install(work)
}
