"""Documents that do not fit one machine, factored on a Ray cluster."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.sparse as sp

from .. import _native
from .._answer import Factorization
from .._options import checked_rank, prepared
from .._progress import Bar
from . import _source
from ._blocks import is_sparse
from ._checkpoint import Checkpoint
from ._cluster import cluster
from ._corpus import look
from ._engine import Inline, OnRay
from ._steps import Steps
from ._wish import Wish, whole_number

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from .._options import Method, Options
    from ._corpus import Corpus
    from ._engine import Engine


def factor(
    documents: Any,
    rank: int,
    method: Method = "auto",
    *,
    matrix: Literal["gram", "cooccurrence"] = "gram",
    sketch: int | None = None,
    errors: Literal["all", "sketch"] | None = None,
    sample: int | None = None,
    min_df: int = 0,
    candidate_df: int = 0,
    names: Sequence[str] | None = None,
    address: str | None = None,
    workers: int | None = None,
    worker_threads: int = 1,
    worker_memory: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    **options: Unpack[Options],
) -> Factorization:
    """Find `rank` terms that explain all the others, in documents of any number.

    The documents are read where they lie and leave a matrix behind that does not grow with their
    number. Terms are chosen on that matrix, on this machine and with all that `hottopixx.factor`
    can do, and then all terms are fitted on the chosen ones in a second pass. The answer has the
    same bytes for any number of workers and partitions.

    Parameters
    ----------
    documents : path, list of paths, Ray Dataset, or matrices of documents x terms
        A folder of Parquet files (list columns "terms" and "values", one document per row), of
        scipy's `.npz` or of numpy's `.npy` blocks, documents x terms; such files; a Dataset with
        those columns; or blocks that are in memory. Nonnegative.
    rank : int
        How many terms.
    method : str, default="auto"
        As for `hottopixx.factor`.
    matrix : {"gram", "cooccurrence"}, default="gram"
        What the documents leave behind. "gram" is X X^T, X terms x documents: F, W and the
        errors are then those of X. "cooccurrence" is `hottopixx.cooccurrence(X)`, which is what to
        factor when X holds counts of words: F, W and the errors are those of that matrix.
    sketch : int, optional
        Merge the columns of that matrix at random into this many: f x `sketch` numbers instead of
        f x f for f terms. 400 is ample for 25 topics.
    errors : {"all", "sketch"}, optional
        With a sketch: fit and measure all terms on the exact matrix, by shards of rows on the
        workers, or on the sketch. On the sketch errors are too small, never too large. (Default:
        "all" for "gram", "sketch" for "cooccurrence".) F and W are then those of the sketch too.
    sample : int, optional
        Fit and measure over this many documents only, drawn by the seed.
    min_df, candidate_df : int, default=0
        Set terms aside that are in fewer documents; let terms only be chosen that are in this many.
    names : sequence of str, optional
        Names of the terms; `vocabulary.txt` in the folder is used unless given.
    address : str, optional
        Of a running Ray cluster, or "auto"; None starts one on this machine for the call (see
        `cluster`); "inline" does without Ray, in this process.
    workers, worker_threads : int
        Tasks at a time of a cluster of our own (default: one for each processor), and threads of
        each.
    worker_memory : int, optional
        Bytes that a task may use (default: what Ray says the machines have). Smaller shards of rows
        need less.
    checkpoint : path, optional
        A folder for what the first pass and the choice came to. Called again with the same
        documents and settings, work goes on from there.
    **options
        As for `hottopixx.factor`; `threads` and `max_seconds` are about the choice alone.

    Returns
    -------
    Factorization
        As of `hottopixx.factor`; `notes` says what was solved, and what holds.

    Raises
    ------
    PartitionError
        When a partition is missing, empty or damaged (a ValueError); the sentence names it.

    Examples
    --------
    >>> import hottopixx, hottopixx.ray
    >>> instance = hottopixx.generate("paper", features=40, examples=400, rank=5, seed=0)
    >>> answer = hottopixx.ray.factor(instance.X.T, 5, address="inline")
    >>> instance.recall(answer.hott)
    1.0
    >>> (answer.F == hottopixx.evaluate(instance.X, answer.hott).F).all()
    np.True_
    """
    wish = Wish(
        matrix,
        whole_number("sketch", sketch, 1),
        errors,
        whole_number("sample", sample, 1),
        whole_number("min_df", min_df, 0) or 0,
        whole_number("candidate_df", candidate_df, 0) or 0,
    )
    wish.check()
    count = checked_rank(rank)
    if whole_number("seed", options.get("seed", 0), 0) is None or options.get("seed", 0) >= 2**64:
        raise ValueError(f"seed is {options['seed']}: give a number from 0 to 2^64 - 1")
    silent: Any = {**options, "verbose": False}
    with prepared(method, silent) as (settings, _):
        _native.check_settings(settings)  # before anything is started
    with _engine(address, workers, worker_threads) as engine, _teller(options) as tell:
        given = _source.source(documents, engine.put)
        known = names if names is not None else given.names
        corpus = look(engine, given.partitions, tell, None if known is None else len(known))
        labels = _names(known, corpus)
        if sample is not None and sample > corpus.documents:
            raise ValueError(
                f"sample is {sample}, but there are {corpus.documents} documents: give no more"
            )
        corpus = corpus.keeping(wish.min_df)
        wish = wish.on(corpus)
        about = {
            "version": _native.__version__,
            "partitions": corpus.digests,
            "rank": count,
            "method": method,
            "wish": asdict(wish),
            "options": {
                name: np.asarray(value).tolist()
                for name, value in options.items()
                if name not in ("threads", "verbose")
            },
        }
        steps = Steps(engine, corpus, wish, Checkpoint(checkpoint, about), tell, worker_memory)
        answer = steps.choose(count, method, options)
        answer = steps.fit(answer, options)
        return _in_all_terms(answer, corpus, labels, columns_are_terms=wish.columns_are_terms)


def _names(names: Sequence[str] | None, corpus: Corpus) -> list[str] | None:
    if names is None:
        return None
    if len(names) != corpus.terms:
        raise ValueError(f"{len(names)} names for {corpus.terms} terms: give one for each")
    return [str(name) for name in names]


def _in_all_terms(
    answer: Factorization, corpus: Corpus, names: list[str] | None, *, columns_are_terms: bool
) -> Factorization:
    """The answer with rows for terms that were set aside as well."""
    kept, terms = corpus.kept, corpus.terms
    if kept is None:
        return replace(answer, names=names)

    def scattered(values: NDArray[np.float64] | None) -> Any:
        if values is None:
            return None
        out = np.zeros(terms)
        out[kept] = values
        return out

    set_aside = np.setdiff1d(np.arange(terms), kept)
    return replace(
        answer,
        hott=kept[answer.hott],
        groups=[kept[group] for group in answer.groups],
        F=_spread(answer.F, kept, terms),
        W=_spread(answer.W.T, kept, terms).T if columns_are_terms else answer.W,
        error=replace(answer.error, per_row=scattered(answer.error.per_row)),
        diagonal=scattered(answer.diagonal),
        zero_rows=np.sort(np.concatenate([kept[answer.zero_rows], set_aside])),
        names=names,
    )


def _spread(rows: Any, places: NDArray[np.intp], count: int) -> Any:
    """Rows put where they belong among zeros."""
    if is_sparse(rows):
        at = sp.csr_array(
            (np.ones(len(places)), (places, np.arange(len(places)))), shape=(count, len(places))
        )
        return sp.csr_array(at @ rows)
    out = np.zeros((count, rows.shape[1]))
    out[places] = rows
    return out


@contextmanager
def _engine(address: str | None, workers: int | None, threads: int) -> Iterator[Engine]:
    """Who runs the tasks."""
    if address == "inline":
        if threads < 1:
            raise ValueError(f"worker_threads is {threads}: give a number from 1")
        yield Inline(threads)
        return
    with cluster(address, workers=workers, worker_threads=threads):
        yield OnRay(threads)


@contextmanager
def _teller(options: Options) -> Iterator[Any]:
    """Who hears of progress."""
    if not options.get("verbose"):
        yield lambda task, done, total: None
        return
    with Bar() as bar:
        yield lambda task, done, total: bar("workers", task, done, total, None)
        sys.stderr.flush()
