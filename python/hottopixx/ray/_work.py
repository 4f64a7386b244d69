"""What workers do: pure functions of their arguments, so that they may be tried again anywhere."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from .. import _native
from .._arrays import from_native, to_native
from .._functions import evaluate
from ._blocks import is_sparse
from ._source import PartitionError, refusing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from .._types import Run
    from ._blocks import Block
    from ._source import Partition

_ALONE: Run = {"max_seconds": None, "progress": None}


@dataclass(frozen=True)
class Survey:
    """What is in a partition."""

    documents: int
    #: Columns, or the largest term and one more.
    terms: int
    #: Whether the number of terms is certain.
    certain: bool
    dense: bool
    #: Of all bytes.
    digest: str


#: By term: documents that have it, and entries of those, which is what its row of sums takes.
Counts: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.int64]]"


def survey(partition: Partition) -> tuple[Survey, Counts]:
    """Reads and checks a partition."""
    block, certain = _checked(partition, 0, None)
    digest = hashlib.blake2b(digest_size=16)
    if is_sparse(block):
        lengths = np.diff(block.indptr)
        terms = block.indices
        frequency = np.bincount(terms, minlength=block.shape[1])
        work = np.bincount(terms, weights=np.repeat(lengths, lengths), minlength=block.shape[1])
        arrays = [block.indptr.astype(np.int64), terms.astype(np.int64), block.data]
    else:
        stored = block != 0
        frequency = stored.sum(axis=0)
        work = stored.sum(axis=1) @ stored
        arrays = [np.ascontiguousarray(block)]
    digest.update(repr(block.shape).encode())
    for array in arrays:
        digest.update(array.data)
    documents, width = block.shape
    found = Survey(documents, width, certain, not is_sparse(block), digest.hexdigest())
    return found, (frequency.astype(np.int64), work.astype(np.int64))


def add_counts(a: Counts, b: Counts) -> Counts:
    """Counts of two parts, of which one may have seen fewer terms."""

    def added(x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.int64]:
        longer, shorter = (x, y) if len(x) >= len(y) else (y, x)
        out = longer.copy()
        out[: len(shorter)] += shorter
        return out

    return added(a[0], b[0]), added(a[1], b[1])


def _checked(partition: Partition, first: int, last: int | None) -> tuple[Block, bool]:
    """Documents with sorted terms and without zeros, if their numbers may be counts."""
    block, certain = partition.load(first, last)
    if block.ndim != 2:
        raise PartitionError(
            f"{partition.name} has {block.ndim} dimensions: give documents x terms"
        )
    if block.dtype.kind == "c":
        raise PartitionError(f"{partition.name} is complex: give real numbers")
    # A list of no terms is a document; who else has terms can tell.
    if not block.shape[0] or (certain and not block.shape[1]):
        shape = " x ".join(map(str, block.shape))
        raise PartitionError(
            f"{partition.name} is empty ({shape}): remove it, or write its documents again"
        )
    with refusing(partition.name):
        if not is_sparse(block):
            block = np.require(block, np.float64, ["C", "A"])
            values = block
        else:
            block = sp.csr_array(block)
            block.data = block.data.astype(np.float64, copy=False)
            block.check_format(full_check=True)
            if not block.has_canonical_format:
                block = block.copy()
                block.sum_duplicates()
            if not block.data.all():
                block = block.copy()
                block.eliminate_zeros()
            values = block.data
    wrong = ~(np.isfinite(values) & (values >= 0))
    if wrong.any():
        place = int(np.flatnonzero(wrong)[0])
        if is_sparse(block):
            document = int(np.searchsorted(block.indptr, place, side="right")) - 1
            term = int(block.indices[place])
        else:
            document, term = divmod(place, block.shape[1])
        raise PartitionError(
            f"{partition.name}: document {first + document}, term {term} is "
            f"{values.flat[place]:g}: numbers must be finite and not negative"
        )
    return block, certain


def piece(
    partition: Partition,
    first: int,
    last: int,
    terms: int,
    kept: NDArray[np.intp] | None,
    chosen: NDArray[np.int64] | None,
    sparse: bool,
) -> Block:
    """Some documents of a partition, all terms or those that are kept."""
    block, _ = _checked(partition, first, last)
    if block.shape[0] != last - first or block.shape[1] > terms:
        raise PartitionError(f"{partition.name} has changed since it was first read: start again")
    if sparse:
        block = sp.csr_array(block)
    if is_sparse(block):
        parts = (block.data, block.indices.astype(np.int32, copy=False), block.indptr)
        block = sp.csr_array(parts, shape=(last - first, terms))
    if chosen is not None:
        block = block[chosen - first]
    return block if kept is None else block[:, kept]


def pair_rows(
    kind: str,
    first: int,
    last: int,
    buckets: tuple[int, int] | None,
    threads: int,
    *pieces: Block,
) -> Block:
    """Rows of the co-occurrence or Gram matrix of a block of documents."""
    if not is_sparse(pieces[0]):
        whole = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
        floats = np.require(whole, np.float64, ["C", "A"])
        return from_native(_native.dense_gram_rows(floats, first, last, threads, _ALONE))
    native = [to_native(block) for block in pieces]
    rows = _native.pair_rows(native, kind, first, last, buckets, threads, _ALONE)
    return from_native(rows)


def add(a: Block, b: Block) -> Block:
    """Sums of two blocks of documents."""
    if is_sparse(a) == is_sparse(b):
        return a + b
    return np.asarray(a + b)


def split(cuts: Sequence[int], block: Block) -> list[Block]:
    """The block by terms instead of documents, in shards of terms."""
    by_term = sp.csr_array(block.T) if is_sparse(block) else np.ascontiguousarray(block.T)
    return [by_term[first:last] for first, last in pairwise(cuts)]


def join(*pieces: Block) -> Block:
    """Rows whose documents come in pieces."""
    if len(pieces) == 1:
        return pieces[0]
    if is_sparse(pieces[0]):
        return sp.hstack(pieces, format="csr")
    return np.concatenate(pieces, axis=1)


def pick(rows: Block, wanted: list[int]) -> Block:
    """Some of the rows."""
    return rows[wanted]


def stack(order: list[int] | None, *rows: Block) -> Block:
    """Rows from several places, one below the other, and then in that order if there is one."""
    below = sp.csr_array(sp.vstack(rows)) if is_sparse(rows[0]) else np.concatenate(rows)
    return below if order is None else below[order]


def stored(rows: Block) -> int:
    """Numbers that are not zero."""
    return int(rows.nnz if is_sparse(rows) else np.count_nonzero(rows))


def formed(dense: bool, rows: Block) -> Block:
    """The same rows, all numbers stored or only those that are not zero."""
    if dense:
        return rows.toarray() if is_sparse(rows) else rows
    return sp.csr_array(rows)


def row_sums(rows: Block) -> NDArray[np.float64]:
    """Sums of the rows."""
    return np.asarray(rows.sum(axis=1), dtype=np.float64).ravel()


def distances(hott: list[int], sums: NDArray[np.float64], *pieces: Block) -> NDArray[np.float64]:
    """What a block of documents adds to the l1 distances of the hott rows from the mean row.

    Rows sum to one over all documents, as everywhere. No sum depends on the pieces.
    """
    block = stack(None, *pieces)
    factors = np.where(sums > 0, 1.0 / np.where(sums > 0, sums, 1.0), 0.0)
    mean = (block * factors).sum(axis=1) / np.count_nonzero(sums)
    columns = formed(True, block[:, hott])
    total: NDArray[np.float64] = np.abs(columns * factors[hott] - mean[:, None]).sum(axis=0)
    return total


@dataclass(frozen=True)
class Cleaned:
    """A shard of rows, fitted on the hott rows."""

    F: Any
    errors: NDArray[np.float64]
    #: Sum of the squared errors over all entries.
    squares: float
    #: Rows that are not zero.
    rows: int
    inexact: int


def clean(
    first: int,
    hott: list[int],
    cleaning: Any,
    seed: int,
    threads: int,
    rows: Block,
    chosen: Block,
) -> Cleaned:
    """Fits a shard of rows, from row `first` on, on the hott rows, which `chosen` holds."""
    rank, count = len(hott), rows.shape[0]
    own = {h - first: k for k, h in enumerate(hott) if first <= h < first + count}
    others = [i for i in range(count) if i not in own]
    matrix = stack(None, rows[others], chosen)
    fit = evaluate(
        matrix,
        range(len(others), len(others) + rank),
        cleaning=cleaning,
        seed=seed,
        threads=threads,
        groups=False,
    )
    errors = np.zeros(count)
    errors[others] = fit.error.per_row[: len(others)]
    order = np.empty(count, dtype=np.intp)
    order[others] = np.arange(len(others))
    for i, k in own.items():
        order[i] = len(others) + k
    nonzero = matrix.shape[0] - len(fit.zero_rows)
    return Cleaned(
        F=fit.F[order],
        errors=errors,
        squares=fit.error.rmse**2 * nonzero * matrix.shape[1],
        rows=nonzero - rank + len(own),
        inexact=fit.inexact_rows,
    )
