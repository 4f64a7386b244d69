"""Options of topics as the native functions take them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ._types import LeftOut


def left_out(stop_words: Any) -> LeftOut:
    """Stop words as the native functions take them."""
    if stop_words is None or isinstance(stop_words, (str, float)):
        return stop_words
    if not hasattr(stop_words, "__iter__"):
        raise ValueError(
            f"stop_words is {stop_words!r}: give a language, a list of words, a share of the "
            'documents below 1, "auto" or None'
        )
    return [str(word) for word in stop_words]


def least_df(value: Any, documents: int, name: str) -> int | None:
    """A number of documents; None for what the corpus says."""
    if value is None or value == "auto":
        return None
    if isinstance(value, (float, np.floating)) and 0 < value < 1:
        return math.ceil(value * documents)
    if isinstance(value, (int, np.integer)) and value >= 0:
        return int(value)
    raise ValueError(
        f'{name} is {value!r}: give a number of documents, a share of them below 1, or "auto"'
    )


def anchor_words(anchors: Any) -> list[list[str]]:
    """The words of each anchor that is given."""
    if anchors is None:
        return []
    each: Iterable[Any] = anchors.split(",") if isinstance(anchors, str) else anchors
    split = [anchor.split("+") if isinstance(anchor, str) else anchor for anchor in each]
    return [[str(word).strip() for word in words] for words in split]
