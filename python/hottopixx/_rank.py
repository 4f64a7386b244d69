"""How many rows to choose, where nobody says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native
from ._path import RankPath, rank_path

if TYPE_CHECKING:
    from ._types import Native, Run, Settings

#: The most rows that are looked at.
MOST = 20


def best_rank(
    matrix: Native,
    settings: Settings,
    run: Run,
    noun: str = "row",
    names: list[str] | None = None,
) -> RankPath:
    """The errors of up to 20 rows of one answer; the number that stands out is `suggested`.

    The method runs once, without groups and bounds, and the path leaves out one row at a time.
    """
    if settings["constraints"] is not None:
        raise ValueError('constraints do not go with rank "auto": give a number')
    quick: Any = {**settings, "groups": False}
    if settings["method"] == "auto":
        quick["effort"] = "quick"
    nonzero = _nonzero_rows(matrix)
    if settings["candidates"] is not None:
        nonzero = nonzero & np.asarray(settings["candidates"])
    most = max(1, min(MOST, int(np.count_nonzero(nonzero))))
    text = _native.factor(matrix, most, quick, run)[0]
    rows = [hott["row"] for hott in json.loads(text)["hott"]]
    # What belongs to the method is not for the path.
    path: Any = {**quick, "method": "auto", "effort": "quick"}
    path |= dict.fromkeys(("outliers", "epochs", "cost", "tau", "epsilon", "alpha", "gap"))
    said, stop = _native.path(matrix, rows, path, run)
    return rank_path(said, stop, noun, names)


def _nonzero_rows(matrix: Native) -> Any:
    """Which rows hold anything."""
    if isinstance(matrix, np.ndarray):
        return matrix.any(axis=1)
    shape, starts, _, values = matrix
    held = np.repeat(np.arange(shape[0]), np.diff(starts))[np.asarray(values) != 0]
    return np.bincount(held, minlength=shape[0]) > 0
