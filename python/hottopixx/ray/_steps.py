"""The two steps of a factorization: terms are chosen, and all terms are fitted on them."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _native
from .._answer import Factorization, factorization
from .._arrays import to_native
from .._functions import factor as local_factor
from .._options import prepared
from . import _passes, _work
from ._blocks import is_sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .._options import Options
    from ._blocks import Block
    from ._checkpoint import Checkpoint
    from ._corpus import Corpus, Tell
    from ._engine import Engine
    from ._wish import Wish

#: Methods whose order of choice says something.
_GREEDY = ("spa", "snpa", "xray")


@dataclass(frozen=True)
class Steps:
    """What both steps need: who runs tasks, the documents, the wish, and where to keep things."""

    engine: Engine
    corpus: Corpus
    wish: Wish
    checkpoint: Checkpoint
    tell: Tell
    limit: int | None

    def choose(self, rank: int, method: str, options: Options) -> Factorization:
        """The first pass, and the choice on what it leaves behind."""
        for name in ("constraints", "outliers", "weights"):
            if options.get(name) is not None:
                raise ValueError(f"{name} does not go with documents on a cluster: leave it out")
        if options.get("missing", "refuse") != "refuse":
            raise ValueError("missing does not go with documents on a cluster: leave it out")
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
            with prepared(method, given) as (settings, run):
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
            cleaning=cleaning,
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
