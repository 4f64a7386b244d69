"""Options that the functions share: what they are called, their defaults, how they are checked."""

from __future__ import annotations

import inspect
import operator
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar

import numpy as np

from ._arrays import floats, to_native
from ._constraints import asked
from ._numbers import row_numbers
from ._progress import Bar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

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
    constraints: Mapping[str, Any] | None
    start: ArrayLike | None
    outliers: int | Literal["auto"] | None
    missing: Literal["refuse", "observed"]
    weights: ArrayLike | None
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
    "constraints": None,
    "start": None,
    "outliers": None,
    "missing": "refuse",
    "weights": None,
    "groups": True,
    "memory": None,
    "max_seconds": None,
    "verbose": False,
}


#: The words of scikit-learn for the same things.
_ALIASES = {"random_state": "seed", "n_jobs": "threads"}
#: Seeds of the library are below this.
_SEEDS = 2**64

F = TypeVar("F", bound="Callable[..., Any]")


def shows_options(function: F) -> F:
    """Lets `help`, notebooks and editors show every option, in the place of `**options`."""
    given = inspect.signature(function)
    own = [p for p in given.parameters.values() if p.kind is not p.VAR_KEYWORD]
    annotations: dict[str, Any] = Options.__annotations__  # of names, as references to them
    options = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=default,
            annotation=getattr(annotations[name], "__forward_arg__", annotations[name]),
        )
        for name, default in _DEFAULTS.items()
        if name not in given.parameters
    ]
    function.__signature__ = given.replace(parameters=[*own, *options])  # type: ignore[attr-defined]
    return function


@contextmanager
def prepared(
    method: str,
    options: Options,
    rows: int | None = None,
    names: list[str] | None = None,
    noun: str = "row",
) -> Iterator[tuple[Settings, Run]]:
    """Settings for the native functions; a progress bar lives as long as the context.

    The matrix has this many `rows`, of these names: candidates may be given by either.
    """
    given: Any = {**_DEFAULTS, **_in_one_vocabulary(options), "method": method}
    verbose, max_seconds = given.pop("verbose"), given.pop("max_seconds")
    for name in ("threads", "epochs", "memory"):
        if given[name] is not None:
            given[name] = whole(given[name], name)
    given["example_weights"] = None
    given["seed"] = seed_number(given["seed"])
    for name in ("cost", "weights"):
        if given[name] is not None:
            given[name] = floats(given[name], 1, name).tolist()
    if given["candidates"] is not None:
        given["candidates"] = _mask(given["candidates"], rows, names)
    if given["constraints"] is not None:
        given["constraints"] = asked(given["constraints"], rows, names)
    if given["start"] is not None:
        given["start"] = row_numbers(given["start"], names, "start")
    if given["outliers"] is not None and given["outliers"] != "auto":
        given["outliers"] = str(whole(given["outliers"], "outliers"))
    with running(max_seconds, verbose, noun) as run:
        yield given, run


def _in_one_vocabulary(options: Any) -> dict[str, Any]:
    """The options under the names of the functions."""
    given = dict(options)
    for word, name in _ALIASES.items():
        if word not in given:
            continue
        if name in given:
            raise TypeError(f"{word} and {name} are the same: give one of them")
        value = given.pop(word)
        if name == "threads":
            value = threads_of(value)
        given[name] = value
    unknown = sorted(set(given) - set(_DEFAULTS))
    if unknown:
        known = ", ".join(_DEFAULTS)
        raise TypeError(f"unknown option {unknown[0]!r}: choose among {known}")
    return given


def whole(value: Any, name: str, least: int = 0) -> int:
    """A whole number that is large enough."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} is {value!r}: give a whole number") from None
    if number < least:
        must = "not be negative" if least == 0 else f"be at least {least}"
        raise ValueError(f"{name} is {number}: it must {must}")
    return number


def seed_number(seed: Any, name: str = "seed") -> int:
    """A seed for the library, from a number of any size; None is 0. `name` is what callers call it.

    Numbers below 2**64 are taken as they are, others are mixed down to 64 bits. A generator of
    random numbers gives the next of its own.
    """
    if seed is None:
        return 0
    if isinstance(seed, np.random.RandomState):
        return int(seed.randint(np.iinfo(np.int32).max))
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(np.iinfo(np.int64).max))
    if seed is np.random:
        return int(np.random.mtrand._rand.randint(np.iinfo(np.int32).max))
    number = whole(seed, name)
    if number < _SEEDS:
        return number
    return int(np.random.SeedSequence(number).generate_state(1, np.uint64)[0])


def threads_of(n_jobs: int | None) -> int:
    """Threads for the library, where 0 is all."""
    if n_jobs is None or n_jobs == -1:
        return 0
    if n_jobs == 0:
        raise ValueError("n_jobs is 0: give a number of threads, or None for all")
    try:
        number = operator.index(n_jobs)
    except TypeError:
        raise ValueError(f"n_jobs is {n_jobs!r}: give a whole number of threads") from None
    return number if number > 0 else max(1, (os.cpu_count() or 1) + 1 + number)


@contextmanager
def running(max_seconds: float | None, verbose: bool, noun: str = "row") -> Iterator[Run]:
    """How to run something; a progress bar lives as long as the context."""
    if not verbose:
        yield {"max_seconds": max_seconds, "progress": None}
        return
    with Bar(noun) as bar:
        yield {"max_seconds": max_seconds, "progress": bar}


def named_matrix(X: Any, names: Sequence[str] | None) -> tuple[Native, list[str] | None]:
    """The matrix, and the names given or the index of a data frame, if it is made of words."""
    matrix = to_native(X)
    rows = row_count(matrix)
    if names is None:
        names = index_names(X)
        if names is None:
            return matrix, None
    names = [str(name) for name in names]
    if len(names) != rows:
        raise ValueError(f"{len(names)} names for {rows} rows: give one for each row")
    return matrix, names


def row_count(matrix: Native) -> int:
    """Rows of a matrix as the native functions take it."""
    return len(matrix) if isinstance(matrix, np.ndarray) else matrix[0][0]


def index_names(X: Any) -> list[str] | None:
    """The index of a data frame, if it is made of words."""
    index = getattr(X, "index", None)
    if index is None or callable(index) or not all(isinstance(n, str) for n in index):
        return None
    return list(index)


def _mask(candidates: Any, rows: int | None, names: Sequence[str] | None) -> list[bool]:
    """Which rows may be hott, from one truth value for each, or from numbers or names."""
    given = np.asarray(candidates)
    if given.dtype.kind == "b" or rows is None:
        return [bool(may) for may in given]
    numbers = row_numbers(given, names, "candidates")
    if len(set(numbers)) < len(numbers):
        raise ValueError(
            "candidates names a row twice: give different rows, or True or False for each row"
        )
    if numbers and max(numbers) >= rows:
        raise ValueError(f"candidates has row {max(numbers)}, but X has {rows} rows, from 0")
    mask = np.zeros(rows, dtype=bool)
    mask[numbers] = True
    return [bool(may) for may in mask]


def checked_rank(rank: Any, name: str = "rank") -> int:
    """The rank, if it is a whole number that is not negative."""
    try:
        number = operator.index(rank)
    except TypeError:
        raise ValueError(
            f'{name} is {rank!r}: give a whole number, or "auto" to choose one'
        ) from None
    if number < 0:
        raise ValueError(f"{name} is {number}: give a whole number, from 1")
    return number
