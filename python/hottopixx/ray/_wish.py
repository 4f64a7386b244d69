"""What the caller of `factor` wants solved and measured."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._corpus import Corpus


@dataclass(frozen=True)
class Wish:
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

    def on(self, corpus: Corpus) -> Wish:
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


def whole_number(name: str, value: Any, least: int) -> int | None:
    """A whole number as Python has them, or None."""
    if value is None:
        return None
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} is {value}: give a whole number, from {least}")
    return int(value)
