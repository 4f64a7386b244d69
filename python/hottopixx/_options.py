"""Options that the functions share: what they are called, their defaults, how they are checked."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np

from ._arrays import floats, to_native
from ._progress import Bar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike

    from ._types import Native, Run, Settings

# The names are the library's, which parses them; these are for checkers of types.
Method = Literal[
    "auto",
    "hottopixx",
    "lp",
    "minimax",
    "total",
    "gradient",
    "agkm",
    "spa",
    "snpa",
    "xray",
]
Objective = Literal["mean", "max"]
Effort = Literal["quick", "normal", "thorough"]
Cleaning = Literal["auto", "exact", "least-squares", "incremental"]


class Options(TypedDict, total=False):
    """What all functions understand beside their own arguments; see `factor`."""

    objective: Objective
    effort: Effort
    cleaning: Cleaning
    seed: int
    threads: int
    epochs: int | None
    cost: ArrayLike | None
    tau: float | None
    gap: float | None
    trace: bool
    epsilon: float | None
    alpha: float | None
    candidates: ArrayLike | None
    groups: bool
    memory: int | None
    max_seconds: float | None
    verbose: bool


#: The one place for defaults; None stands for those of the library.
_DEFAULTS: Options = {
    "objective": "mean",
    "effort": "normal",
    "cleaning": "auto",
    "seed": 0,
    "threads": 0,
    "epochs": None,
    "cost": None,
    "tau": None,
    "gap": None,
    "trace": True,
    "epsilon": None,
    "alpha": None,
    "candidates": None,
    "groups": True,
    "memory": None,
    "max_seconds": None,
    "verbose": False,
}


@contextmanager
def prepared(method: str, options: Options) -> Iterator[tuple[Settings, Run]]:
    """Settings for the native functions; a progress bar lives as long as the context."""
    unknown = sorted(set(options) - set(_DEFAULTS))
    if unknown:
        known = ", ".join(_DEFAULTS)
        raise TypeError(f"unknown option {unknown[0]!r}: choose among {known}")
    given: Any = {**_DEFAULTS, **options, "method": method}
    verbose, max_seconds = given.pop("verbose"), given.pop("max_seconds")
    for name in ("seed", "threads", "epochs", "memory"):
        if given[name] is not None and given[name] < 0:
            raise ValueError(f"{name} is {given[name]}: it must not be negative")
    if given["cost"] is not None:
        given["cost"] = floats(given["cost"], 1, "cost").tolist()
    if given["candidates"] is not None:
        given["candidates"] = np.asarray(given["candidates"], dtype=bool).tolist()
    with running(max_seconds, verbose) as run:
        yield given, run


@contextmanager
def running(max_seconds: float | None, verbose: bool) -> Iterator[Run]:
    """How to run something; a progress bar lives as long as the context."""
    if not verbose:
        yield {"max_seconds": max_seconds, "progress": None}
        return
    with Bar() as bar:
        yield {"max_seconds": max_seconds, "progress": bar}


def named_matrix(X: Any, names: Sequence[str] | None) -> tuple[Native, list[str] | None]:
    """The matrix, and the names given or the index of a data frame, if it is made of words."""
    matrix = to_native(X)
    rows = len(matrix) if isinstance(matrix, np.ndarray) else matrix[0][0]
    if names is None:
        index = getattr(X, "index", None)
        if index is None or callable(index) or not all(isinstance(n, str) for n in index):
            return matrix, None
        names = list(index)
    names = [str(name) for name in names]
    if len(names) != rows:
        raise ValueError(f"{len(names)} names for {rows} rows: give one for each row")
    return matrix, names


def row_numbers(hott: ArrayLike) -> list[int]:
    """Rows of X as the native functions take them."""
    rows = np.asarray(hott)
    if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
        raise ValueError("hott must be a list of row numbers, from 0")
    if (rows < 0).any():
        raise ValueError(f"row {rows.min()} cannot be hott: rows count from 0")
    return [int(row) for row in rows]


def checked_rank(rank: int) -> int:
    """The rank, unless it is negative."""
    if rank < 0:
        raise ValueError(f"rank is {rank}: give a number of rows, from 1")
    return int(rank)
