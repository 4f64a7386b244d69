"""The functions, in the paper's orientation: rows are features, columns are examples."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from . import _native
from ._answer import Factorization, Source, factorization
from ._numbers import row_numbers
from ._options import (
    checked_rank,
    named_matrix,
    prepared,
    row_count,
    shows_options,
)
from ._path import HeldOut
from ._rank import best_rank
from ._results import Certified, Comparison, certified
from ._words import spoken

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike
    from typing_extensions import Unpack

    from ._options import Method, Options


@shows_options
def factor(
    X: Any,
    rank: int | Literal["auto"],
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
    rank : int or "auto"
        How many rows; "auto" takes the number that stands out on the path of up to 20 (see
        `Factorization.path`).
    method : str, default="auto"
        "auto" tries several and refines the best by exchanges; "hottopixx" (the paper's
        Algorithm 4); "lp" (Algorithm 3, needs `tau`); "minimax" and "total", linear programs that
        prove how good any choice can be; "gradient"; "agkm" (Algorithm 1, needs `epsilon` and
        `alpha`); "spa", "snpa" and "xray", which are greedy and fast.
    names : sequence of str, optional
        Names of the rows; a data frame's index is used unless given.
    objective : {"mean", "max"}, default="mean"
        Which cleaned error is made small: the mean l1 error of a row, or the largest.
    effort : {"quick", "normal", "thorough"}, default="normal"
        How long "auto" looks for a better answer.
    cleaning : {"auto", "exact", "least-squares", "incremental"}, default="auto"
        How the other rows are fitted; "auto" is exact unless X is huge.
    seed : int, default=0
        Fixes everything random: a number of any size; also called `random_state`.
    threads : int, default=0
        Number of threads, 0 for all; the answer does not depend on it. `n_jobs`, which counts as
        in scikit-learn, is understood as well.
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
    candidates : array-like, optional
        Which rows may be hott: their names or numbers, or True or False for each row.
    constraints : dict, optional
        What the choice must obey, in every method. "must" and "never": rows that must be chosen
        (they count for the rank) or must not, by name or number. "groups": names with (rows, least,
        most), where most may be None and a row is in one group at most. "prices", one for each row,
        with a "budget" that the chosen rows keep to. What cannot be met is a ValueError that names
        it; how far a bound heeds them is said in `notes`.
    start : array-like, optional
        Rows at which "auto" begins, by name or number: the hott rows of an answer for nearly the
        same data, such as a corpus with fewer documents. Then it only looks for something better
        near them, in a small part of the time; see `Factorization.changes_since`.
    weights : array-like of shape (features,), optional
        How much each row counts in the mean error, such as how often a word occurs: in judging,
        exchanges, bounds on the mean and results. Only proportions matter.
    outliers : int or "auto", optional
        Set rows aside that no others explain: this many, or those that stand out. They are named in
        `Factorization.outliers`, cannot be hott and do not count in the errors, but for `per_row`.
    missing : {"refuse", "observed"}, default="refuse"
        What becomes of entries that are NaN or, in a masked array, masked. "observed": they are
        left out of fits, errors and bounds; an error is that of the observed entries of a row, over
        their sum, and hott rows are completed first (`Factorization.completed`). "lp", "minimax",
        "total" and "agkm" are about all entries and refuse them.
    groups : bool, default=True
        Whether to look for the rows that could stand in the place of each hott row.
    memory : int, optional
        Bytes that "hottopixx" may take beside X (default 8 GiB, on any machine); where the limit
        changes the answer, a note of the result says so.
    max_seconds : float, optional
        After this many seconds the best answer so far will do.
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
    return factored(X, rank, method, names, options)


def factored(
    X: Any,
    rank: int | Literal["auto"],
    method: str,
    names: Sequence[str] | None,
    options: Options,
    noun: str = "row",
    example_weights: list[float] | None = None,
) -> Factorization:
    """As `factor`, where rows are called `noun`s in everything that is said.

    Columns of X may have been multiplied by `example_weights`, which stand for repetitions.
    """
    with spoken(noun):
        matrix, names = named_matrix(X, names)
        with prepared(method, options, row_count(matrix), names, noun) as (settings, run):
            settings["example_weights"] = example_weights
            if isinstance(rank, str) and rank == "auto":
                path = best_rank(matrix, settings, run, noun, names)
                number = path.suggested
            else:
                path, number = None, checked_rank(rank)
            answer = _native.factor(matrix, number, settings, run)
    found = factorization(answer, names, Source(X, settings), noun)
    if path is not None:
        found.notes.append(path.reason)
        object.__setattr__(found, "_path", path)
    return found


@shows_options
def held_out(
    X: Any,
    most: int = 20,
    share: float = 0.1,
    method: Method = "auto",
    **options: Unpack[Options],
) -> HeldOut:
    """Choose the rank by entries that are held out and guessed from the others.

    A random part of the entries (by the seed) counts as missing; up to `most` rows are chosen
    without them. The rank is the last whose row made a difference to the guesses.

    Parameters
    ----------
    X : array-like or data frame of shape (features, examples)
        As for `factor`; entries may be missing with `missing="observed"`. Zeros of a sparse matrix
        are held out like other entries, 20 million at most.
    most : int, default=20
        The largest rank to look at.
    share : float, default=0.1
        The share of the entries that is held out, at most 0.5.
    method : str, default="auto"
        As for `factor`: "auto", "hottopixx", "gradient", "spa", "snpa" or "xray".
    **options
        As for `factor`; "auto" takes `effort="quick"` unless told otherwise.

    Returns
    -------
    HeldOut
        With `suggested`, `errors` and `reason`.

    Examples
    --------
    >>> import hottopixx
    >>> X = hottopixx.generate("paper", features=40, examples=80, rank=3, noise=0.3, seed=0).X
    >>> hottopixx.held_out(X, 8).suggested
    3
    """
    matrix, _ = named_matrix(X, None)
    most = min(checked_rank(most, "most"), row_count(matrix))
    options = {"effort": "quick", **options}
    with prepared(method, options, row_count(matrix), None) as (settings, run):
        text, stop = _native.held_out(matrix, most, float(share), settings, run)
    said = json.loads(text)
    return HeldOut(
        share=said["share"],
        errors=np.array(said["errors"]),
        suggested=said["suggested"],
        reason=said["reason"],
        stop=json.loads(stop),
        first=said["first"],
    )


@shows_options
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


@shows_options
def snpa(X: Any, rank: int, **options: Unpack[Options]) -> Factorization:
    """Successive nonnegative projection: `factor` with `method="snpa"`."""
    return factor(X, rank, "snpa", **options)


@shows_options
def xray(X: Any, rank: int, **options: Unpack[Options]) -> Factorization:
    """XRAY (Kumar, Sindhwani, Kambadur): `factor` with `method="xray"`."""
    return factor(X, rank, "xray", **options)


@shows_options
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
    hott : array-like of int or str
        The rows, by number from 0 or by name.
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
    matrix, names = named_matrix(X, names)
    rows = row_numbers(hott, names)
    with prepared("auto", options, row_count(matrix), names) as (settings, run):
        answer = _native.evaluate(matrix, rows, settings, run)
    return factorization(answer, names, Source(X, settings))


@shows_options
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
    hott : array-like of int or str, optional
        Rows to certify instead, by number or by name.
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
    matrix, names = named_matrix(X, names)
    rows = None if hott is None else row_numbers(hott, names)
    count = checked_rank(rank) if rank is not None else len(rows or ())
    with prepared(method, options, row_count(matrix), names) as (settings, run):
        answer, proof = _native.certify(matrix, count, rows, settings, run)
    return certified(answer, proof, names, Source(X, settings))


@shows_options
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
    matrix, names = named_matrix(X, names)
    with prepared("auto", options, row_count(matrix), names) as (settings, run):
        answers, no_answer, skipped = _native.compare(matrix, checked_rank(rank), settings, run)
    source = Source(X, settings)
    found = [(factorization(answer, names, source), json.loads(line)) for answer, line in answers]
    return Comparison(
        answers={answer.method: answer for answer, _ in found},
        seconds={answer.method: line["seconds"] for answer, line in found},
        ratio={answer.method: line["ratio"] for answer, line in found},
        agreement={answer.method: line["agreement"] for answer, line in found},
        no_answer=no_answer,
        skipped=dict(skipped),
    )
