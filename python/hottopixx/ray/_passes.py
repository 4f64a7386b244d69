"""The two passes over the documents, as tasks for an engine.

Nothing here depends on who carries the tasks out or in what order they end: every sum is formed in
an order that the documents alone fix.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from .._certificate import Errors
from .._native import DENSE_ABOVE
from . import _plan, _work

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._blocks import Block
    from ._corpus import Corpus, Tell
    from ._engine import Engine, Task

#: Share of this machine's memory that the matrix to choose from may take.
_SHARE = 0.6


@dataclass(frozen=True)
class Shards:
    """Rows of a matrix, wherever they are: `results[s]` holds rows `cuts[s]` to `cuts[s + 1]`."""

    cuts: list[int]
    results: list[Any]
    columns: int
    #: Whether all numbers are stored; shards of sums may be of either kind until `uniform`.
    dense: bool = True
    #: What a worker needs of its own, and what all of them share, by the formula.
    worker_bytes: int = 0
    shared_bytes: int = 0


def pair_sums(
    engine: Engine,
    corpus: Corpus,
    kind: str,
    tell: Tell,
    *,
    buckets: tuple[int, int] | None = None,
    cuts: list[int] | None = None,
    chosen: NDArray[np.int64] | None = None,
    limit: int | None = None,
) -> Shards:
    """The co-occurrence or Gram matrix in shards of rows, columns in buckets where asked for."""
    width = corpus.width if buckets is None else buckets[0]
    dense = corpus.dense and kind == "gram" and buckets is None
    plan = _plan.divide(
        corpus.documents,
        corpus.frequency,
        corpus.work,
        dense=dense,
        width=width,
        slots=engine.slots,
        threads=engine.threads,
        limit=engine.memory() if limit is None else limit,
        strict=limit is not None,
    )
    cuts = plan.cuts if cuts is None else cuts
    total = len(plan.blocks) * (len(cuts) - 1)

    def add(a: Any, b: Any) -> Any:
        return engine.run("add blocks of documents", _work.add, a, b).result

    sums = [_plan.Counter(add) for _ in cuts[1:]]
    under_way: list[list[Task]] = []
    ahead = 1 + 2 * engine.slots // max(len(cuts) - 1, 1)
    finished = 0

    def settle(block: list[Task]) -> None:
        nonlocal finished
        engine.wait(block, lambda done: tell(f"summing, {kind}", finished + done, total))
        finished += len(block)

    for number, (first, last) in enumerate(plan.blocks):
        pieces = _pieces(engine, corpus, first, last, chosen, sparse=not dense)
        tasks = []
        for (low, high), counter in zip(pairwise(cuts), sums, strict=True):
            name = f"{kind}, block {number} of documents, rows {low} to {high}"
            arguments = (kind, low, high, buckets, engine.threads)
            tasks.append(engine.run(name, _work.pair_rows, *arguments, *pieces))
            counter.push(tasks[-1].result)
        under_way.append(tasks)
        if len(under_way) > ahead:
            settle(under_way.pop(0))
    for tasks in under_way:
        settle(tasks)
    results = [counter.total() for counter in sums]
    return Shards(
        cuts,
        results,
        width,
        worker_bytes=plan.worker_bytes,
        shared_bytes=plan.shared_bytes,
    )


def _pieces(
    engine: Engine,
    corpus: Corpus,
    first: int,
    last: int,
    chosen: NDArray[np.int64] | None,
    *,
    sparse: bool,
) -> list[Any]:
    """The documents of a block, a piece for each partition that has some of them."""
    pieces = []
    begins = np.concatenate([[0], np.cumsum(corpus.sizes)])
    for k, low, high in _plan.overlaps(corpus.sizes, first, last):
        some = None
        if chosen is not None:
            here = chosen[np.searchsorted(chosen, begins[k] + low) :]
            some = here[: np.searchsorted(here, begins[k] + high)] - begins[k]
        part = corpus.partitions[k]
        which = (low, high, corpus.terms, corpus.kept, some, sparse)
        task = engine.run(f"read {part.name}", _work.piece, part, *which)
        pieces.append(task.result)
    return pieces


def _is_dense(stored: int, rows: int, columns: int) -> bool:
    """Whether a matrix is dense where the library would have it so; sketches always are."""
    return rows != columns or stored > DENSE_ABOVE * rows * columns


def stored(engine: Engine, shards: Shards) -> int:
    """Nonzeros of all shards, counted where they are."""
    tasks = [engine.run("count", _work.stored, rows) for rows in shards.results]
    return sum(engine.get(task.result) for task in tasks)


def assemble(engine: Engine, shards: Shards) -> Block:
    """The whole matrix here, dense or sparse, if it fits."""
    rows, count = shards.cuts[-1], stored(engine, shards)
    dense = _is_dense(count, rows, shards.columns)
    check_room(rows, shards.columns, 8 * rows * shards.columns if dense else 12 * count)
    parts = [engine.get(result) for result in shards.results]
    if not dense:
        return sp.csr_array(sp.vstack([_work.formed(False, part) for part in parts]))
    matrix = np.empty((rows, shards.columns))
    for (low, high), part in zip(pairwise(shards.cuts), parts, strict=True):
        matrix[low:high] = _work.formed(True, part)
    return matrix


def check_room(rows: int, columns: int, bytes_: int) -> None:
    """Refuses a matrix that this machine cannot hold."""
    try:
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not told
        return
    if bytes_ > _SHARE * machine:
        raise ValueError(
            f"the matrix to choose from, {rows} x {columns}, takes {bytes_ / 1e9:.0f} GB, and this "
            f"machine has {machine / 1e9:.0f} GB: set rare terms aside (min_df), or give a sketch"
        )


def uniform(engine: Engine, shards: Shards) -> Shards:
    """Shards that are all dense or all sparse, as `assemble` would have the whole matrix."""
    dense = _is_dense(stored(engine, shards), shards.cuts[-1], shards.columns)
    tasks = [engine.run("store alike", _work.formed, dense, rows) for rows in shards.results]
    return replace(shards, results=[task.result for task in tasks], dense=dense)


def by_terms(
    engine: Engine, corpus: Corpus, tell: Tell, chosen: NDArray[np.int64] | None
) -> tuple[Shards, list[list[Any]]]:
    """X itself, terms x documents, in shards of rows, and in blocks of documents as it was read.

    Every number moves once.
    """
    cuts = _plan.cleaning_cuts(corpus.entries, corpus.width, corpus.dense)
    size = _plan.block_documents(corpus.dense, corpus.width)
    blocks = [
        _pieces(engine, corpus, first, last, chosen, sparse=not corpus.dense)
        for first, last in _plan.blocks(corpus.documents, size)
    ]
    tasks = [
        engine.run("turn documents into rows", _work.split, cuts, piece, returns=len(cuts) - 1)
        for block in blocks
        for piece in block
    ]
    engine.wait(tasks, lambda done: tell("turning documents into rows", done, len(tasks)))
    results = [
        engine.run(
            f"join rows {low} to {high}", _work.join, *(task.results[k] for task in tasks)
        ).result
        for k, (low, high) in enumerate(pairwise(cuts))
    ]
    columns = corpus.documents if chosen is None else len(chosen)
    return Shards(cuts, results, columns, dense=corpus.dense), blocks


def most_distinctive_first(
    engine: Engine, shards: Shards, blocks: list[list[Any]], hott: list[int]
) -> list[int]:
    """Places of the hott rows, the farthest from the mean row first, as the library orders them."""
    tasks = [engine.run("sum rows", _work.row_sums, rows) for rows in shards.results]
    sums = engine.put(np.concatenate([engine.get(task.result) for task in tasks]))
    tasks = [engine.run("distances", _work.distances, hott, sums, *block) for block in blocks]
    total = np.zeros(len(hott))
    for task in tasks:
        total += engine.get(task.result)
    return sorted(range(len(hott)), key=lambda k: (-total[k], hott[k]))


@dataclass(frozen=True)
class Cleaned:
    """All rows on the hott rows."""

    F: Any
    W: Any
    error: Errors
    #: Rows whose fit could not be proven to be the best.
    inexact: int


def hott_rows(engine: Engine, shards: Shards, hott: list[int]) -> Any:
    """Some rows, in the order given, where a task can have them."""
    ordered = sorted(hott)
    picked = []
    for (low, high), rows in zip(pairwise(shards.cuts), shards.results, strict=True):
        wanted = [h - low for h in ordered if low <= h < high]
        if wanted:
            picked.append(engine.run("fetch hott rows", _work.pick, rows, wanted).result)
    places = [ordered.index(h) for h in hott]
    return engine.run("order hott rows", _work.stack, places, *picked).result


def clean(
    engine: Engine,
    shards: Shards,
    hott: list[int],
    cleaning: str,
    seed: int,
    tell: Tell,
) -> Cleaned:
    """Fits every row on the hott rows, a shard at a time, and measures the errors."""
    chosen = hott_rows(engine, shards, hott)
    tasks = [
        engine.run(
            f"fit rows {low} to {high}",
            _work.clean,
            low,
            hott,
            cleaning,
            seed,
            engine.threads,
            rows,
            chosen,
        )
        for (low, high), rows in zip(pairwise(shards.cuts), shards.results, strict=True)
    ]
    engine.wait(tasks, lambda done: tell("fitting rows", done, len(tasks)))
    parts: list[_work.Cleaned] = [engine.get(task.result) for task in tasks]
    per_row = np.concatenate([part.errors for part in parts])
    rows = sum(part.rows for part in parts)
    squares = sum(part.squares for part in parts)
    return Cleaned(
        F=_work.stack(None, *(part.F for part in parts)),
        W=engine.get(chosen).copy(),  # what Ray keeps cannot be written to
        error=Errors(
            inf1=float(per_row.max()),
            # One after the other, as the library adds.
            mean_l1=float(np.add.accumulate(per_row)[-1] / rows),
            rmse=float(np.sqrt(squares / (rows * shards.columns))),
            per_row=per_row,
        ),
        inexact=sum(part.inexact for part in parts),
    )


def even_cuts(corpus: Corpus) -> list[int]:
    """Shards of rows of the exact matrix, by its size alone."""
    return _plan.cleaning_cuts(corpus.width**2, corpus.width, dense=True)
