"""Blocks of documents x terms, and how they lie in Parquet files and Ray Datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy.sparse as sp

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: A scipy CSR array or a numpy array of float64.
Block: TypeAlias = Any

#: Names of the two list columns of a Parquet file or a Ray Dataset.
TERMS, VALUES = "terms", "values"

#: More terms than anybody has: a number beyond is a damaged one.
_MOST_TERMS = 2**28


def is_sparse(block: Block) -> bool:
    """Whether only nonzeros are stored."""
    return bool(sp.issparse(block))


def to_csr(matrix: Any) -> sp.csr_array:
    """By rows; indices are looked at first, since scipy trusts them when it converts."""
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)
    return sp.csr_array(matrix)


def from_arrow(table: Any) -> Block:
    """Documents from a table: list columns of terms and values, or of values alone, as a block."""
    if VALUES not in table.column_names:
        raise ValueError(f"it has no column '{VALUES}' (lists of numbers)")
    starts, values = _lists(table, VALUES)
    values = values.astype(np.float64, copy=False)
    if TERMS not in table.column_names:
        lengths = np.diff(starts)
        if lengths.size and (lengths != lengths[0]).any():
            raise ValueError(f"without a column '{TERMS}' all lists of '{VALUES}' are equally long")
        return values.reshape(len(lengths), int(lengths[0]) if lengths.size else 0)
    term_starts, terms = _lists(table, TERMS)
    if not np.array_equal(starts, term_starts):
        wrong = int(np.flatnonzero(np.diff(starts) != np.diff(term_starts))[0])
        raise ValueError(f"document {wrong} has not as many values as terms")
    if terms.dtype.kind not in "iu":
        raise ValueError(f"column '{TERMS}' must hold whole numbers")
    if terms.size and (terms.min() < 0 or terms.max() >= _MOST_TERMS):
        wrong = int(terms.min() if terms.min() < 0 else terms.max())
        raise ValueError(f"it has term {wrong}: terms count from 0 to {_MOST_TERMS - 1}")
    width = int(terms.max()) + 1 if terms.size else 0
    return sp.csr_array((values, terms, starts), shape=(len(starts) - 1, width))


def _lists(table: Any, name: str) -> tuple[NDArray[np.int64], Any]:
    """Where each list begins, and all entries one after the other."""
    import pyarrow as pa

    starts, entries = [np.zeros(1, np.int64)], []
    for chunk in table.column(name).chunks:
        chunk = _unwrapped(chunk)
        if not pa.types.is_list(chunk.type) and not pa.types.is_large_list(chunk.type):
            if not pa.types.is_fixed_size_list(chunk.type):
                raise ValueError(f"column '{name}' must hold lists of numbers")
            chunk = chunk.cast(pa.list_(chunk.type.value_type))
        flat = chunk.flatten()
        if chunk.null_count or flat.null_count:
            raise ValueError(f"column '{name}' has missing entries")
        offsets = chunk.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
        starts.append(offsets[1:] - offsets[0] + starts[-1][-1])
        entries.append(flat.to_numpy(zero_copy_only=False))
    joined = entries[0] if len(entries) == 1 else np.concatenate([np.empty(0), *entries])
    if len(entries) > 1 and all(part.dtype.kind in "iu" for part in entries):
        joined = np.concatenate(entries)
    return np.concatenate(starts), joined


def _unwrapped(chunk: Any) -> Any:
    """Lists that Ray keeps as arrays of numpy, as lists."""
    import pyarrow as pa

    if isinstance(chunk, pa.ExtensionArray):
        chunk = chunk.storage
    return chunk.field("data") if pa.types.is_struct(chunk.type) else chunk


def widened(block: Block, terms: int) -> Block:
    """The same documents with all the terms that the file says there are."""
    if not is_sparse(block):
        return block
    if block.shape[1] > terms:
        raise ValueError(f"it has term {block.shape[1] - 1}, but says that it has {terms} terms")
    return sp.csr_array((block.data, block.indices, block.indptr), shape=(block.shape[0], terms))


def need_parquet() -> Any:
    """The module that reads and writes Parquet."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise ImportError(
            "Parquet files need pyarrow: pip install 'hottopixx[ray]', or give .npz files"
        ) from None
    return pyarrow.parquet
