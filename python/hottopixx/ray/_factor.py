"""Documents that do not fit one machine, factored on a Ray cluster."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import scipy.sparse as sp

from .. import _native
from .._arrays import to_native
from .._functions import Method, _prepared, _rank
from .._functions import factor as local_factor
from .._progress import Bar
from .._results import Factorization, factorization
from . import _passes, _source, _work
from ._checkpoint import Checkpoint
from ._cluster import cluster
from ._corpus import look
from ._engine import Inline, OnRay
from ._source import is_sparse

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from .._functions import Options
    from ._corpus import Corpus, Tell
    from ._engine import Engine
    from ._source import Block

#: Methods whose order of choice says something.
_GREEDY = ("spa", "snpa", "xray")


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
        A folder of Parquet files (list columns "terms" and "values", one document a row), of
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
        Merge the columns of that matrix at random into so many: f x `sketch` numbers instead of
        f x f for f terms. 400 is ample for 25 topics.
    errors : {"all", "sketch"}, optional
        With a sketch: fit and measure all terms on the exact matrix, by shards of rows on the
        workers, or on the sketch. On the sketch errors are too small, never too large. (Default:
        "all" for "gram", "sketch" for "cooccurrence".) F and W are then those of the sketch too.
    sample : int, optional
        Fit and measure over so many documents only, drawn by the seed.
    min_df, candidate_df : int, default=0
        Set terms aside that are in fewer documents; let terms only be chosen that are in so many.
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
    wish = _Wish(
        matrix,
        _whole("sketch", sketch, 1),
        errors,
        _whole("sample", sample, 1),
        _whole("min_df", min_df, 0) or 0,
        _whole("candidate_df", candidate_df, 0) or 0,
    )
    wish.check()
    count = _rank(rank)
    if method not in get_args(Method):
        raise ValueError(f"method is {method!r}: choose one of {', '.join(get_args(Method))}")
    if _whole("seed", options.get("seed", 0), 0) is None or options.get("seed", 0) >= 2**64:
        raise ValueError(f"seed is {options['seed']}: give a number from 0 to 2^64 - 1")
    silent: Any = {**options, "verbose": False}
    with _prepared(method, silent):
        pass  # unknown options and impossible values are refused before anything is started
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
        work = _Work(engine, corpus, wish, Checkpoint(checkpoint, about), tell, worker_memory)
        answer = work.choose(count, method, options)
        answer = work.fit(answer, options)
        return _in_all_terms(answer, corpus, labels, columns_are_terms=wish.columns_are_terms)


@dataclass(frozen=True)
class _Wish:
    """What the caller wants solved and measured."""

    matrix: str
    sketch: int | None
    errors: str | None
    sample: int | None
    min_df: int
    candidate_df: int

    def check(self) -> None:
        """Refuses what cannot be meant, before anything is started or read."""
        if self.matrix not in ("gram", "cooccurrence"):
            raise ValueError(f"matrix is {self.matrix!r}: choose 'gram' or 'cooccurrence'")
        if self.errors not in (None, "all", "sketch"):
            raise ValueError(f"errors is {self.errors!r}: choose 'all' or 'sketch'")
        if self.errors == "sketch" and self.sketch is None:
            raise ValueError("errors='sketch' needs a sketch: say how many columns it has")
        if self.errors == "sketch" and self.sample is not None:
            raise ValueError(
                "errors are measured on the sketch or on a sample: ask for one of them"
            )

    def on(self, corpus: Corpus) -> _Wish:
        """Without a sketch that would have as many columns as the matrix itself."""
        if self.sketch is None or self.sketch < corpus.width:
            return self
        return replace(self, sketch=None, errors=None)

    @property
    def measured_on_documents(self) -> bool:
        """Whether a second pass fits and measures all terms."""
        if self.matrix == "gram":
            return self.errors != "sketch"
        return (self.errors == "all" and self.sketch is not None) or self.sample is not None

    @property
    def columns_are_terms(self) -> bool:
        """Whether W has a column for each term; otherwise for each document, or each bucket."""
        exact = self.sketch is None or self.measured_on_documents
        return self.matrix == "cooccurrence" and exact


@dataclass(frozen=True)
class _Work:
    engine: Engine
    corpus: Corpus
    wish: _Wish
    checkpoint: Checkpoint
    tell: Tell
    limit: int | None

    def choose(self, rank: int, method: str, options: Options) -> Factorization:
        """The first pass, and the choice on what it leaves behind."""
        kept = self.checkpoint.answer()
        seconds = {}
        candidates = self._candidates(rank, options)
        given: Any = {**options, "candidates": None if candidates.all() else candidates}
        if given.get("cost") is not None:
            given["cost"] = self._of_kept("cost", given["cost"], float)
        if kept is None:
            begun = time.monotonic()
            matrix = self.checkpoint.matrix()
            if matrix is None:
                matrix = self._matrix(options.get("seed", 0))
                self.checkpoint.keep_matrix(matrix)
            seconds["pass"] = time.monotonic() - begun
            with _prepared(method, given) as (settings, run):
                kept = _native.factor(to_native(matrix), rank, settings, run)
            self.checkpoint.keep_answer(kept)
        answer = factorization(kept)
        return replace(answer, seconds={**seconds, **answer.seconds})

    def _matrix(self, seed: int) -> Block:
        wish, corpus = self.wish, self.corpus
        buckets = None if wish.sketch is None else (wish.sketch, seed)
        if buckets is not None or corpus.dense:
            columns = corpus.width if buckets is None else buckets[0]
            _passes.check_room(corpus.width, columns, 8 * corpus.width * columns)
        shards = _passes.pair_sums(
            self.engine, corpus, wish.matrix, self.tell, buckets=buckets, limit=self.limit
        )
        matrix = _passes.assemble(self.engine, shards)
        if wish.matrix == "gram":
            self._check_products(matrix)
        if wish.matrix == "gram" and buckets is None:
            # A feature in large units should not count more as a coordinate: columns by l2 norm.
            norms = np.sqrt(matrix.diagonal())
            scale = 1.0 / np.where(norms > 0, norms, 1.0)
            if is_sparse(matrix):
                matrix.data *= scale[matrix.indices]
            else:
                matrix *= scale
        return matrix

    def _check_products(self, matrix: Block) -> None:
        """Refuses numbers whose products overflow or vanish."""
        sums = np.asarray(matrix.sum(axis=1)).ravel()
        if not np.isfinite(sums).all() or (sums[self.corpus.frequency > 0] == 0).any():
            raise ValueError(
                "products of two numbers are too large or too small for double precision: "
                "divide the documents by a constant first"
            )

    def _candidates(self, rank: int, options: Options) -> NDArray[np.bool_]:
        """Terms that may be chosen, among those that count; enough of them for the rank."""
        mask = self.corpus.frequency >= self.wish.candidate_df
        given = options.get("candidates")
        if given is not None:
            mask &= self._of_kept("candidates", given, bool)
        available = int(np.count_nonzero(mask & (self.corpus.frequency > 0)))
        if not 1 <= rank <= available:
            raise ValueError(
                f"rank {rank} is not possible: {available} terms occur and may be chosen"
            )
        return mask

    def _of_kept(self, name: str, values: Any, dtype: type) -> NDArray[Any]:
        """What was given for all terms, for those that count."""
        corpus = self.corpus
        array: NDArray[Any] = np.asarray(values, dtype=dtype)
        if array.shape != (corpus.terms,):
            raise ValueError(f"{name} has {array.size} entries for {corpus.terms} terms: give all")
        return array if corpus.kept is None else array[corpus.kept]

    def fit(self, answer: Factorization, options: Options) -> Factorization:
        """The second pass, where there is one, and what is to be said."""
        wish, corpus = self.wish, self.corpus
        notes = [self._solved()]
        if not wish.measured_on_documents:
            if wish.sketch is not None:
                text = (
                    "F and the errors are those of the sketch: the errors on the exact matrix are "
                )
                notes.append(f"{text}as large or larger.")
            if wish.sketch is not None and answer.certificate is not None:
                notes.append(
                    "The lower bound of the certificate holds for the exact matrix as well."
                )
            return replace(answer, notes=[*notes, *answer.notes])
        begun = time.monotonic()
        seed = options.get("seed", 0)
        chosen = None
        over = f"all {corpus.documents} documents"
        if wish.sample is not None:
            draw = np.random.default_rng(seed)
            picked = draw.choice(corpus.documents, wish.sample, replace=False, shuffle=False)
            chosen = np.sort(picked).astype(np.int64)
            over = f"{wish.sample} of {corpus.documents} documents, drawn with seed {seed}"
        if wish.matrix == "gram":
            shards, blocks = _passes.by_terms(self.engine, corpus, self.tell, chosen)
            self._check_hott(answer, shards)
            order = self._order(answer, shards, blocks)
            del blocks  # Ray may forget them
            answer = replace(
                answer,
                hott=answer.hott[order],
                weights=answer.weights[order],
                groups=[answer.groups[k] for k in order],
            )
            what = "X"
        else:
            cuts = _passes.even_cuts(corpus)
            sums = _passes.pair_sums(
                self.engine, corpus, wish.matrix, self.tell, cuts=cuts, chosen=chosen
            )
            shards = _passes.uniform(self.engine, sums)
            what = "the exact co-occurrence matrix"
            self._check_hott(answer, shards)
        hott = [int(h) for h in answer.hott]
        cleaning = options.get("cleaning", "auto")
        if cleaning == "auto":
            rows = int(np.count_nonzero(corpus.frequency))
            entries = rows * shards.columns if shards.dense else _passes.stored(self.engine, shards)
            shape = (rows, shards.columns, entries, shards.dense)
            cleaning = "exact" if _native.is_affordable(*shape, len(hott)) else "least-squares"
        cleaned = _passes.clean(self.engine, shards, hott, cleaning, seed, self.tell)
        notes.append(f"F, W and the errors are those of {what}, over {over}.")
        if answer.certificate is not None:
            notes.append(f"What was proven is about the matrix solved: {answer.certificate}.")
        return replace(
            answer,
            F=cleaned.F,
            W=cleaned.W,
            error=cleaned.error,
            certificate=None,
            cleaning=cleaning.replace("-", "_"),
            inexact_rows=cleaned.inexact,
            notes=[*notes, *answer.notes],
            seconds={**answer.seconds, "clean": time.monotonic() - begun},
        )

    def _check_hott(self, answer: Factorization, shards: _passes.Shards) -> None:
        """Refuses a sample in which a chosen term does not occur."""
        if self.wish.sample is None:
            return
        hott = [int(h) for h in answer.hott]
        sums = _work.row_sums(self.engine.get(_passes.hott_rows(self.engine, shards, hott)))
        missing = [h for h, total in zip(hott, sums, strict=True) if total == 0]
        if missing:
            kept = self.corpus.kept
            term = missing[0] if kept is None else int(kept[missing[0]])
            raise ValueError(
                f"term {term} was chosen, but the sample of {self.wish.sample} documents says "
                "nothing about it: give a larger sample, or a larger candidate_df"
            )

    def _order(self, answer: Factorization, shards: _passes.Shards, blocks: list[Any]) -> list[int]:
        """Places of the hott rows in the order in which one machine, with all of X, has them."""
        hott = [int(h) for h in answer.hott]
        if answer.method not in _GREEDY:
            return _passes.most_distinctive_first(self.engine, shards, blocks, hott)
        # A greedy method that chooses these rows from all chooses them from themselves as well,
        # one after the other in the same order.
        rows = self.engine.get(_passes.hott_rows(self.engine, shards, hott))
        again = local_factor(
            rows,
            len(hott),
            answer.method,  # type: ignore[arg-type]
            cleaning="least-squares",
            groups=False,
        )
        return [int(k) for k in again.hott]

    def _solved(self) -> str:
        """What the terms were chosen on."""
        wish, corpus = self.wish, self.corpus
        name = "Gram matrix X X^T" if wish.matrix == "gram" else "co-occurrence matrix"
        size = f"{corpus.width} x {corpus.width}, {corpus.documents} documents"
        if wish.sketch is None:
            text = f"Terms were chosen on the exact {name} ({size})."
        else:
            text = (
                f"Terms were chosen on a sketch of the {name} ({size}): its columns merged at "
                f"random into {wish.sketch}. No error is larger there than on the exact matrix."
            )
        if wish.matrix == "gram" and wish.sketch is None:
            text += " Its columns were divided by their norms."
        if wish.matrix == "gram":
            text += " Exact mixtures of rows of X are the same mixtures there."
        if wish.candidate_df > 0:
            count = int(np.count_nonzero(corpus.frequency >= wish.candidate_df))
            text += f" Only the {count} terms of {wish.candidate_df} documents or more could be."
        return text


def _whole(name: str, value: Any, least: int) -> int | None:
    """A whole number as Python has them, or None."""
    if value is None:
        return None
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} is {value}: give a whole number, from {least}")
    return int(value)


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
