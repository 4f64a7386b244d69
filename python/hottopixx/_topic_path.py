"""Errors against the number of anchors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from . import _native
from ._arrays import from_native, to_native
from ._options import prepared, running
from ._path import RankPath, rank_path
from ._words import spoken

if TYPE_CHECKING:
    from ._types import TopicSettings


def topic_path(
    model: Any,
    corpus: _native.Corpus,
    settings: TopicSettings,
    words: int,
    max_seconds: float | None,
) -> RankPath:
    """See `HottTopics.path`."""
    with spoken("word"), running(max_seconds, bool(model.verbose), "word") as run:
        names, pairs = _native.topic_words(corpus, int(model.n_components), settings, run)
    rows, called = _rows(model, names, sp.csr_array(from_native(pairs)), words)
    first = len(called) - len(model.anchors_)
    # Bounds would be for choices of any words, of which few may name a topic.
    options: Any = {
        "effort": "quick",
        "threads": settings["threads"],
        "max_seconds": max_seconds,
        "verbose": bool(model.verbose),
    }
    with spoken("word"), prepared("auto", options, noun="word") as (how, run):
        hott = list(range(first, len(called)))
        text, stop = _native.path(to_native(rows), hott, how, run)
    return rank_path(text, stop, "word", called)


def _rows(model: Any, names: list[str], pairs: Any, words: int) -> tuple[Any, list[str]]:
    """Rows of the most frequent words that are no anchors, then those of the anchors.

    An anchor of several words has the sum of their rows.
    """
    place = {name: row for row, name in enumerate(names)}
    said = model._said
    anchors = [[place[said["words"][j]] for j in anchor["words"]] for anchor in said["anchors"]]
    topic = np.repeat(np.arange(len(anchors)), [len(rows) for rows in anchors])
    taken = np.concatenate(anchors)
    sums = sp.csr_array((np.ones(len(taken)), (topic, taken)), shape=(len(anchors), len(names)))
    frequent = np.argsort(-np.asarray(pairs.sum(axis=1)).ravel(), kind="stable")
    others = [int(row) for row in frequent[:words] if row not in set(taken.tolist())]
    rows = sp.vstack([pairs[others], sums @ pairs], format="csr")
    return rows, [*(names[row] for row in others), *(str(name) for name in model.anchors_)]
