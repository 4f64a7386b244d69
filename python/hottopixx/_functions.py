"""The functions, in the paper's orientation: rows are features, columns are examples."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np

from . import _native
from ._arrays import floats, from_native, to_native
from ._progress import Bar
from ._results import (
    Certified,
    Comparison,
    Factorization,
    Instance,
    L1Fit,
    certified,
    factorization,
    instance,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike
    from typing_extensions import Unpack

    from ._types import Floats, Native, Run, Settings

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


class Options(TypedDict, total=False):
    """What all functions understand beside their own arguments; see `factor`."""

    objective: Literal["mean", "max"]
    cleaning: Literal["auto", "exact", "least-squares", "incremental"]
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
def _prepared(method: str, options: Options) -> Iterator[tuple[Settings, Run]]:
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
    if not verbose:
        yield given, {"max_seconds": max_seconds, "progress": None}
        return
    with Bar() as bar:
        yield given, {"max_seconds": max_seconds, "progress": bar}


def _input(X: Any, names: Sequence[str] | None) -> tuple[Native, list[str] | None]:
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


def _rows(hott: ArrayLike) -> list[int]:
    rows = np.asarray(hott)
    if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
        raise ValueError("hott must be a list of row numbers, from 0")
    if (rows < 0).any():
        raise ValueError(f"row {rows.min()} cannot be hott: rows count from 0")
    return [int(row) for row in rows]


def _rank(rank: int) -> int:
    if rank < 0:
        raise ValueError(f"rank is {rank}: give a number of rows, from 1")
    return int(rank)


def factor(
    X: Any,
    rank: int,
    method: Method = "auto",
    *,
    names: Sequence[str] | None = None,
    **options: Unpack[Options],
) -> Factorization:
    """Find `rank` rows of X that explain all the others: X is nearly F W, W these rows.

    Parameters
    ----------
    X : array-like, scipy sparse matrix or data frame of shape (features, examples)
        Nonnegative. float64 arrays in C order and float64 CSR matrices with 32-bit indices are
        used where they are; anything else is copied once.
    rank : int
        How many rows.
    method : str, default="auto"
        "auto" tries several and refines the best by exchanges; "hottopixx" (the paper's
        Algorithm 4); "lp" (Algorithm 3, needs `tau`); "minimax" and "total", linear programs that
        prove how good any choice can be; "gradient"; "agkm" (Algorithm 1, needs `epsilon` and
        `alpha`); "spa", "snpa" and "xray", which are greedy and fast.
    names : sequence of str, optional
        Names of the rows; a data frame's index is used unless given.
    objective : {"mean", "max"}, default="mean"
        Which cleaned error is made small: the mean l1 error of a row, or the largest.
    cleaning : {"auto", "exact", "least-squares", "incremental"}, default="auto"
        How the other rows are fitted; "auto" is exact unless X is huge.
    seed : int, default=0
        Fixes everything random.
    threads : int, default=0
        Number of threads, 0 for all; the answer does not depend on it.
    epochs : int, optional
        Epochs of "hottopixx" (default 50, fewer for more than 12,800 examples).
    cost : array-like of shape (features,), optional
        The vector p (default: minus the squared norm of each row).
    tau : float, optional
        For "lp": the l1 error that every row may have, rows summing to 1.
    gap : float, optional
        Relative gap at which a linear program counts as solved.
    trace : bool, default=True
        Whether the diagonal of "lp" must sum to the rank.
    epsilon, alpha : float, optional
        For "agkm": the noise, and the least distance of a hott row from the hull of the others.
    candidates : array-like of bool of shape (features,), optional
        Which rows may be hott.
    groups : bool, default=True
        Whether to look for the rows that could stand in the place of each hott row.
    memory : int, optional
        Bytes that "hottopixx" may take beside X (default 8 GiB, on any machine); where the limit
        changes the answer, a note of the result says so.
    max_seconds : float, optional
        After so many seconds the best answer so far will do.
    verbose : bool, default=False
        Whether to show progress.

    Returns
    -------
    Factorization
        With `hott`, `groups`, `F`, `W`, `error`, `certificate` and more.

    Raises
    ------
    ValueError
        When X or a setting is not usable; the sentence says where and what to do.
    InfeasibleError
        When "lp" has proven that no choice keeps within `tau` (a ValueError).
    NoAnswerError
        When `max_seconds` passed before there was any answer (a RuntimeError).

    Examples
    --------
    >>> import hottopixx
    >>> instance = hottopixx.generate("paper", features=40, examples=400, rank=5, seed=0)
    >>> answer = hottopixx.factor(instance.X, 5)
    >>> instance.recall(answer.hott)
    1.0
    >>> answer.F.shape, answer.W.shape
    ((40, 5), (5, 400))
    """
    matrix, names = _input(X, names)
    with _prepared(method, options) as (settings, run):
        return factorization(_native.factor(matrix, _rank(rank), settings, run), names)


def spa(X: Any, rank: int, **options: Unpack[Options]) -> Factorization:
    """Successive projection: `factor` with `method="spa"`.

    Examples
    --------
    >>> import hottopixx
    >>> X = hottopixx.generate("paper", features=40, examples=400, rank=5, noise=0.0).X
    >>> hottopixx.spa(X, 5).error.inf1 < 1e-9
    True
    """
    return factor(X, rank, "spa", **options)


def snpa(X: Any, rank: int, **options: Unpack[Options]) -> Factorization:
    """Successive nonnegative projection: `factor` with `method="snpa"`."""
    return factor(X, rank, "snpa", **options)


def xray(X: Any, rank: int, **options: Unpack[Options]) -> Factorization:
    """XRAY (Kumar, Sindhwani, Kambadur): `factor` with `method="xray"`."""
    return factor(X, rank, "xray", **options)


def evaluate(
    X: Any,
    hott: ArrayLike,
    *,
    names: Sequence[str] | None = None,
    **options: Unpack[Options],
) -> Factorization:
    """Errors of any given choice of rows, by exact cleaning (least squares for a huge X).

    Parameters
    ----------
    X : array-like, scipy sparse matrix or data frame of shape (features, examples)
        As for `factor`.
    hott : array-like of int
        The rows, from 0.
    names : sequence of str, optional
        Names of the rows.
    **options
        As for `factor`.

    Returns
    -------
    Factorization
        With the given rows, in the given order.

    Examples
    --------
    >>> import hottopixx
    >>> X = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]
    >>> hottopixx.evaluate(X, [0, 1]).error.inf1
    0.0
    """
    rows = _rows(hott)
    matrix, names = _input(X, names)
    with _prepared("auto", options) as (settings, run):
        return factorization(_native.evaluate(matrix, rows, settings, run), names)


def certify(
    X: Any,
    rank: int | None = None,
    *,
    hott: ArrayLike | None = None,
    method: Literal["minimax", "total", "lp"] = "minimax",
    names: Sequence[str] | None = None,
    **options: Unpack[Options],
) -> Certified:
    """Prove how good any choice of that many rows can be.

    Parameters
    ----------
    X : array-like, scipy sparse matrix or data frame of shape (features, examples)
        As for `factor`.
    rank : int, optional
        How many rows; the method finds them.
    hott : array-like of int, optional
        Rows to certify instead.
    method : {"minimax", "total", "lp"}, default="minimax"
        The linear program: the largest error, the sum of errors, or errors within `tau`.
    names : sequence of str, optional
        Names of the rows.
    **options
        As for `factor`.

    Returns
    -------
    Certified
        The answer, the bound, what an independent verifier says, and Theorem 3.2.

    Examples
    --------
    >>> import hottopixx
    >>> X = hottopixx.generate("paper", features=20, examples=60, rank=3, noise=0.1, seed=1).X
    >>> proof = hottopixx.certify(X, 3)
    >>> proof.verified, proof.certificate.status
    (True, 'optimal')
    >>> proof.certificate.lower_bound <= proof.bounded_inf1
    True
    """
    if (rank is None) == (hott is None):
        raise ValueError("give either rank or hott")
    rows = None if hott is None else _rows(hott)
    count = _rank(rank) if rank is not None else len(rows or ())
    matrix, names = _input(X, names)
    with _prepared(method, options) as (settings, run):
        answer, proof = _native.certify(matrix, count, rows, settings, run)
    return certified(answer, proof, names)


def compare(
    X: Any,
    rank: int,
    *,
    names: Sequence[str] | None = None,
    **options: Unpack[Options],
) -> Comparison:
    """Run every method on the same data, side by side.

    Parameters
    ----------
    X : array-like, scipy sparse matrix or data frame of shape (features, examples)
        As for `factor`.
    rank : int
        How many rows.
    names : sequence of str, optional
        Names of the rows.
    **options
        As for `factor`. "lp" runs when `tau` is given, "agkm" when `epsilon` and `alpha` are.

    Returns
    -------
    Comparison
        Answers, seconds, ratio to the least error, and agreement with "auto".

    Examples
    --------
    >>> import hottopixx
    >>> X = hottopixx.generate("paper", features=20, examples=60, rank=3, seed=1).X
    >>> table = hottopixx.compare(X, 3)
    >>> sorted(table.answers)[:3]
    ['auto', 'gradient', 'hottopixx']
    >>> table.skipped["lp"]
    'needs tau'
    """
    matrix, names = _input(X, names)
    with _prepared("auto", options) as (settings, run):
        answers, no_answer, skipped = _native.compare(matrix, _rank(rank), settings, run)
    found = [(factorization(answer, names), json.loads(line)) for answer, line in answers]
    return Comparison(
        answers={answer.method: answer for answer, _ in found},
        seconds={answer.method: line["seconds"] for answer, line in found},
        ratio={answer.method: line["ratio"] for answer, line in found},
        agreement={answer.method: line["agreement"] for answer, line in found},
        no_answer=no_answer,
        skipped=dict(skipped),
    )


def cooccurrence(counts: Any) -> Any:
    """How often words stand beside each other: what to factor instead of counts.

    Words x documents are too sparse to be nearly separable; words x words are not. Entry (i, j)
    estimates the probability that two tokens of a document are i and j, without bias: the sum over
    documents of `(h h^T - diag h) / (L (L - 1))`, h the counts and L their sum.

    Parameters
    ----------
    counts : array-like or scipy sparse matrix of shape (words, documents)
        Nonnegative.

    Returns
    -------
    ndarray or csr_array of shape (words, words)
        Dense for dense counts.

    Examples
    --------
    >>> import hottopixx
    >>> hottopixx.cooccurrence([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]).tolist()
    [[0.0, 0.5, 0.5], [0.5, 0.0, 0.0], [0.5, 0.0, 0.0]]
    """
    how: Run = {"max_seconds": None, "progress": None}
    return from_native(_native.cooccurrence(to_native(counts), how))


def l1_fit(A: ArrayLike, x: ArrayLike, upper: ArrayLike | None = None) -> L1Fit:
    """The weights c, 0 <= c <= upper, with the least ||x - c A||_1, and a proof.

    Parameters
    ----------
    A : array-like of shape (atoms, n)
        One atom a row.
    x : array-like of shape (n,)
        What to explain.
    upper : array-like of shape (atoms,) or float, optional
        Bounds of the weights (default: none).

    Returns
    -------
    L1Fit
        With `weights`, `value`, `dual` and `lower_bound`.

    Examples
    --------
    >>> import hottopixx
    >>> fit = hottopixx.l1_fit([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]], [2.0, 1.0, 3.0])
    >>> fit.weights.tolist(), fit.value
    ([2.0, 1.0], 0.0)
    >>> hottopixx.l1_fit([[1.0, 1.0]], [2.0, 2.0], upper=0.5).value
    3.0
    """
    atoms = floats(A, 2, "A")
    bounds = None
    if upper is not None:
        bounds = np.broadcast_to(np.asarray(upper, dtype=float), len(atoms)).tolist()
    return L1Fit(*_native.l1_fit(atoms, floats(x, 1, "x"), bounds))


def squish(z: ArrayLike, diagonal: int = 0) -> Floats:
    """Project onto the simple constraints of a localising matrix (Algorithm 5).

    Parameters
    ----------
    z : array-like of shape (f,) or (f, f)
        A column, projected onto 0 <= x_i <= x_d <= 1; or a whole matrix, whose column j has its
        diagonal entry in row j.
    diagonal : int, default=0
        Place d of the diagonal entry of a column.

    Returns
    -------
    ndarray
        The projection, of the same shape.

    Examples
    --------
    >>> import hottopixx
    >>> hottopixx.squish([0.2, 0.8, 0.5, 0.1]).tolist()
    [0.5, 0.5, 0.5, 0.1]
    """
    array = np.asarray(z)
    if array.ndim == 2:
        rows, cols = array.shape
        if rows != cols:
            raise ValueError(f"z is {rows} x {cols}: a localising matrix is square")
        return _native.squish_matrix(floats(array, 2, "z"), list(range(cols)))
    if diagonal < 0:
        raise ValueError(f"diagonal is {diagonal}: places count from 0")
    return _native.squish(floats(array, 1, "z"), diagonal)


def generate(
    family: str,
    *,
    rank: int,
    features: int | None = None,
    examples: int | None = None,
    duplicates: int | None = None,
    noise: float | None = None,
    ill: float | None = None,
    tokens: int | None = None,
    seed: int = 0,
) -> Instance:
    """An instance whose answer is known.

    Parameters
    ----------
    family : str
        "paper" (section 5 of the paper), "midpoints", "ill-conditioned", "near-duplicates",
        "outliers", "multinomial" or "documents" (sparse counts).
    rank : int
        Number of hott rows.
    features, examples : int, optional
        Rows and columns; each family has its defaults.
    duplicates : int, optional
        Copies of each hott row.
    noise : float, optional
        What it means depends on the family: eta for "paper", delta for "midpoints".
    ill : float, optional
        How ill-conditioned the hott rows are.
    tokens : int, optional
        Words in a document.
    seed : int, default=0
        Fixes everything random.

    Returns
    -------
    Instance
        With `X`, `hott`, `groups` and more.

    Examples
    --------
    >>> import hottopixx
    >>> hottopixx.generate("paper", features=40, examples=400, rank=5, duplicates=1).X.shape
    (40, 400)
    """
    numbers = {"rank": rank, "features": features, "examples": examples, "seed": seed}
    for name, value in {**numbers, "duplicates": duplicates, "tokens": tokens}.items():
        if value is not None and value < 0:
            raise ValueError(f"{name} is {value}: it must not be negative")
    matrix, truth = _native.generate(
        family, rank, features, examples, duplicates, noise, ill, tokens, seed
    )
    return instance(from_native(matrix), truth)
