"""An answer and what comes after it: new columns of its rows, and a later answer for them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native
from ._arrays import from_native, to_native
from ._certificate import Errors
from ._numbers import row_numbers
from ._options import named_matrix, prepared

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._answer import Factorization
    from ._types import Floats


@dataclass(frozen=True)
class AppliedColumns:
    """New columns told by their entries in the hott rows: X is nearly F W, in the units of X."""

    #: Rank x new columns: the hott rows of X. F is that of the answer.
    W: Any
    #: How well F W explains X row by row, each over its sum in the new columns.
    error: Errors
    #: The l1 error of each new column over its sum.
    per_column: Floats
    #: Rows without an entry in the new columns.
    zero_rows: NDArray[np.intp]


@dataclass(frozen=True)
class Changes:
    """What became of the hott rows of an earlier answer."""

    #: Rows that were hott and are.
    stayed: list[int]
    #: Topics that are told by another row: the row before, the row now, and how much of the
    #: explanation of the former the latter is.
    moved: list[tuple[int, int, float]]
    #: Other rows that are hott now.
    came: list[int]
    #: Other rows that were hott.
    went: list[int]


def apply_columns(answer: Factorization, X: Any, threads: int) -> AppliedColumns:
    """See `Factorization.apply_columns`."""
    matrix, _ = named_matrix(X, None)
    hott = [int(row) for row in answer.hott]
    with prepared("auto", {"threads": threads}, noun=answer.noun) as (settings, run):
        text, w, by_row, by_column = _native.apply_columns(
            to_native(answer.F), hott, matrix, settings, run
        )
    said = json.loads(text)
    return AppliedColumns(
        W=from_native(w),
        error=Errors(**said["error"], per_row=by_row),
        per_column=by_column,
        zero_rows=np.array(said["zero_rows"], dtype=np.intp),
    )


def changes_since(answer: Factorization, before: Any) -> Changes:
    """See `Factorization.changes_since`."""
    old = row_numbers(getattr(before, "hott", before), answer.names, "before")
    text = _native.changes(
        to_native(answer.F), to_native(answer.W), [int(row) for row in answer.hott], old
    )
    said = json.loads(text)
    moved = [(one["from"], one["to"], one["share"]) for one in said["moved"]]
    return Changes(said["stayed"], moved, said["came"], said["went"])
