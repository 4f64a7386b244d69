"""Arrays and sparse matrices of Python as the native functions want them, and back."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

if TYPE_CHECKING:
    from ._types import Floats, Native

#: Columns are counted in 32 bits.
_MOST_COLUMNS = 2**32


def to_native(X: Any) -> Native:
    """The matrix by rows in float64: without a copy where it is so already."""
    refuse_path(X)
    if sp.issparse(X):
        return _sparse(X)
    return floats(X, 2, "X")


def refuse_path(X: Any) -> None:
    """Refuses the name of a file in the place of what it holds."""
    if isinstance(X, (str, os.PathLike)):
        path = os.fspath(X)
        raise ValueError(
            f"X is {path!r}, not a matrix: read the file, hottopixx.read({path!r}).matrix"
        )


def floats(values: Any, dimensions: int, name: str) -> Floats:
    """A contiguous and aligned array of float64: a copy only where it is not one."""
    if isinstance(values, np.ma.MaskedArray) and values.dtype.kind != "c":
        values = np.ma.filled(values.astype(np.float64), np.nan)  # what is masked is missing
    array = np.asarray(values)
    if array.dtype.kind == "c":
        raise ValueError(f"{name} is complex: give real numbers")
    try:
        array = np.require(array, dtype=np.float64, requirements=["C", "A"])
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} is not an array of numbers: {error}") from None
    if array.ndim != dimensions:
        raise ValueError(f"{name} has {array.ndim} dimensions: it must have {dimensions}")
    return array


def _sparse(X: Any) -> Native:
    X = X.tocsr()
    if X.dtype.kind == "c":
        raise ValueError("X is complex: give real numbers")
    rows, cols = X.shape
    if cols > _MOST_COLUMNS:
        raise ValueError(f"X has {cols} columns: the most is {_MOST_COLUMNS}")
    starts = np.require(X.indptr, np.int64, ["C", "A"])
    columns = X.indices
    if columns.dtype == np.int32:
        # The same bytes: what would be negative is out of range, and refused as such.
        columns = columns.view(np.uint32)
    elif columns.size and (columns.min() < 0 or columns.max() >= _MOST_COLUMNS):
        raise ValueError("X has a column index out of range")
    columns = np.require(columns, np.uint32, ["C", "A"])
    return (rows, cols), starts, columns, np.require(X.data, np.float64, ["C", "A"])


def has_gaps(X: Any) -> bool:
    """Whether entries are NaN."""
    values: Any = X.data if is_sparse(X) else X
    return bool(np.isnan(values).any())


def is_sparse(X: Any) -> bool:
    """Whether X is one of scipy's sparse matrices."""
    return bool(sp.issparse(X))


def dense(X: Any) -> Any:
    """As an array, whether X is sparse or not."""
    return X.toarray() if is_sparse(X) else np.asarray(X)


def from_native(matrix: Native) -> Any:
    """An array, or a scipy CSR array."""
    if not isinstance(matrix, tuple):
        return matrix
    shape, starts, columns, values = matrix
    if max(shape[1], len(values)) <= np.iinfo(np.int32).max:
        # The same bytes: no column is as large as to be negative.
        return sp.csr_array((values, columns.view(np.int32), starts.astype(np.int32)), shape=shape)
    return sp.csr_array((values, columns.astype(np.int64), starts), shape=shape)
