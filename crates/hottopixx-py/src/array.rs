//! numpy arrays as matrices of the library, and back.

use hottopixx::Error;
use hottopixx::matrix::{Buffer, Dense, Matrix, Sparse};
use numpy::{Element, PyArray, PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Arc;

/// A matrix as Python hands it over: an array, or the parts of a CSR matrix with its shape.
#[derive(FromPyObject)]
pub enum Input<'py> {
    Dense(Bound<'py, PyArray2<f64>>),
    Sparse(
        (usize, usize),
        Bound<'py, PyArray1<i64>>,
        Bound<'py, PyArray1<u32>>,
        Bound<'py, PyArray1<f64>>,
    ),
}

impl Input<'_> {
    /// The matrix, in the memory of the arrays. Only rows of a sparse matrix whose columns do not
    /// increase are copied, and sorted.
    pub fn matrix(&self) -> PyResult<Matrix> {
        let matrix = match self {
            Input::Dense(array) => {
                let (rows, cols) = shape(array);
                Dense::from_buffer(rows, cols, held(array)?).map(Matrix::Dense)
            }
            Input::Sparse((rows, cols), starts, columns, values) => {
                let starts = whole(&held(starts)?)?;
                let (columns, values) = (held(columns)?, held(values)?);
                let sorted = Sparse::from_sorted_buffers(
                    *rows,
                    *cols,
                    starts.clone().into(),
                    columns.clone(),
                    values.clone(),
                );
                let sparse = match sorted {
                    Err(Error::Order { .. }) => {
                        Sparse::new(*rows, *cols, starts, columns.to_vec(), values.to_vec())
                    }
                    other => other,
                };
                sparse.map(Matrix::Sparse)
            }
        };
        matrix.map_err(crate::run::to_python)
    }
}

/// Where rows begin; numbers below zero have no place here.
fn whole(starts: &[i64]) -> PyResult<Vec<usize>> {
    let whole: Result<Vec<usize>, _> = starts.iter().map(|s| usize::try_from(*s)).collect();
    whole.map_err(|_| PyValueError::new_err("indptr has a negative entry"))
}

/// Rows and columns.
pub fn shape(array: &Bound<'_, PyArray2<f64>>) -> (usize, usize) {
    let shape = array.shape();
    (shape[0], shape[1])
}

/// The numbers of an array, kept alive by a reference to it.
pub fn held<T, D>(array: &Bound<'_, PyArray<T, D>>) -> PyResult<Buffer<T>>
where
    T: Element + Send + Sync + 'static,
    D: numpy::ndarray::Dimension + 'static,
{
    let (start, length) = (array.data().cast_const(), array.len());
    if !array.is_c_contiguous() || !start.is_aligned() {
        return Err(PyValueError::new_err("arrays must be contiguous and aligned"));
    }
    let array = array.clone().unbind();
    Ok(Buffer::foreign(Arc::new(Held { array, start, length })))
}

/// Memory of a numpy array.
struct Held<T, D> {
    #[allow(dead_code)] // a reference, so that the memory stays
    array: Py<PyArray<T, D>>,
    start: *const T,
    length: usize,
}

// SAFETY: the pointer is only read, and `Py` may be dropped on any thread.
unsafe impl<T: Sync, D> Send for Held<T, D> {}
// SAFETY: as above; `array` is never used.
unsafe impl<T: Sync, D> Sync for Held<T, D> {}

impl<T, D> AsRef<[T]> for Held<T, D> {
    fn as_ref(&self) -> &[T] {
        if self.length == 0 {
            return &[];
        }
        // SAFETY: `held` saw that the array is contiguous and aligned, `length` values from
        // `start` on; the reference to the array keeps it alive, and an array with more than one
        // reference cannot be resized. Nobody writes to it: the package says that arrays must not
        // be changed by other threads during a call, as numpy and scikit-learn do.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }
}

/// A matrix for Python: an array, or the parts of a CSR matrix after its shape. The numbers are
/// moved, not copied.
pub fn to_python(py: Python<'_>, matrix: Matrix) -> PyResult<Py<PyAny>> {
    Ok(match matrix {
        Matrix::Dense(dense) => {
            let shape = [dense.rows(), dense.cols()];
            PyArray1::from_vec(py, dense.into_values()).reshape(shape)?.into_any().unbind()
        }
        Matrix::Sparse(sparse) => {
            let shape = (sparse.rows(), sparse.cols());
            let (starts, columns, values) = sparse.into_parts();
            let starts = PyArray1::from_iter(py, starts.into_iter().map(|s| s as i64));
            let (columns, values) =
                (PyArray1::from_vec(py, columns), PyArray1::from_vec(py, values));
            (shape, starts, columns, values).into_pyobject(py)?.into_any().unbind()
        }
    })
}
