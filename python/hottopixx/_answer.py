"""The answer of a factorization: what was chosen, how well it explains the rest, views."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native
from ._arrays import from_native, is_sparse, to_native
from ._certificate import Certificate, Errors
from ._later import AppliedColumns, Changes, apply_columns, changes_since
from ._options import named_matrix, prepared
from ._path import RankPath, as_said, rank_path
from ._views import AnswerViews
from ._words import in_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from ._plots import Plots
    from ._types import Answer, Floats

#: Two errors of the same rows on the same data differ by less.
_SAME = 1e-6


@dataclass(frozen=True)
class Source:
    """What was factored: for `path`, as long as the answer is neither saved nor pickled."""

    #: The matrix as it was handed over, rows first.
    X: Any
    #: Settings of the library.
    settings: Any


@dataclass(frozen=True)
class Applied:
    """Rows explained by the hott rows of an answer: X is nearly F W, in the units of X."""

    #: Rows x rank: dense for dense X, CSR for sparse X.
    F: Any
    #: How well F W explains X, in the units of the answer's errors.
    error: Errors
    #: How F was fitted.
    cleaning: str
    #: Rows whose exact fit could not be proven optimal; their measured errors hold all the same.
    inexact_rows: int
    #: Rows of zeros, explained by nothing.
    zero_rows: NDArray[np.intp]
    #: "finished", or why the computation ended before.
    stop: str
    #: Names of the rows of X, where they are known.
    names: list[str] | None = None


@dataclass(frozen=True, repr=False)
class Factorization(AnswerViews):
    """The answer: X is nearly F W, in the units of X, and W is some rows of X."""

    #: The hott rows of X, from 0: one for each row of W and column of F.
    hott: NDArray[np.intp]
    #: Their weights on the diagonal of the localising matrix, pooled over the groups; 1 for
    #: methods that choose rows outright.
    weights: Floats
    #: For each, all rows that could stand in its place with nearly the same error, itself included.
    groups: list[NDArray[np.intp]]
    #: Features x rank: dense for dense X, CSR for sparse X.
    F: Any
    #: Rank x examples: the hott rows of X.
    W: Any
    #: How well they explain X.
    error: Errors
    #: Proven bounds, where the method has them.
    certificate: Certificate | None
    #: The method asked for.
    method: str
    #: Where the rows come from, such as "gradient, cluster", before any exchanges.
    chosen_from: str | None
    #: Exchanges that refined the choice.
    exchanges: int
    #: How F was fitted: "exact", "least-squares" or "incremental".
    cleaning: str
    #: Rows whose exact fit could not be proven optimal; their measured errors hold all the same.
    inexact_rows: int
    #: Rows of zeros, explained by nothing.
    zero_rows: NDArray[np.intp]
    #: Rows that were set aside as outliers.
    outliers: NDArray[np.intp]
    #: "finished", or why the computation ended before.
    stop: str
    #: What to know about how the rows were chosen.
    notes: list[str]
    #: Wall-clock seconds of "localize", "select" and "clean".
    seconds: dict[str, float]
    #: The diagonal of the localising matrix by row of X, where the method has one.
    diagonal: Floats | None
    #: Names of the rows of X, where they are known.
    names: list[str] | None = None
    #: Which error was made small: "mean" or "max".
    objective: str = "mean"
    #: The seed.
    seed: int = 0
    #: What a row of X is for the caller: "row", or "feature" or "sample" for the estimators.
    noun: str = "row"
    #: X with guesses where entries were missing (`missing="observed"`); None where none were.
    completed: Any = field(default=None, repr=False, compare=False)
    #: What was factored, while it is at hand.
    source: Source | None = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "source": None}

    def path(
        self,
        X: Any = None,
        *,
        effort: str | None = None,
        max_seconds: float | None = None,
        verbose: bool = False,
    ) -> RankPath:
        """Errors and bounds for every number of rows up to that of this answer.

        It is computed once. An answer of rank "auto" has the path that its rank was chosen from,
        which goes beyond it and is without bounds; `effort="normal"` computes that of the answer.

        Parameters
        ----------
        X : array-like, scipy sparse matrix or data frame of shape (features, examples), optional
            What was factored; not needed while the answer is neither loaded nor unpickled.
        effort : {"quick", "normal", "thorough"}, optional
            How much work goes into the bounds: "quick" gives none. That of the answer unless given.
        max_seconds : float, optional
            After this many seconds the points found so far will do.
        verbose : bool, default=False
            Whether to show progress.

        Returns
        -------
        RankPath
            With `points`, the `suggested` rank and the `reason`.
        """
        known: RankPath | None = self.__dict__.get("_path")
        if X is None and known is not None and effort is None:
            return known
        if X is None and self.source is None:
            raise ValueError("an answer that was loaded or unpickled has no data: give path(X)")
        matrix = to_native(self.source.X if X is None and self.source is not None else X)
        given: dict[str, Any] = {} if self.source is None else dict(self.source.settings)
        # What decides about errors and bounds; the rows are chosen already.
        kept = (
            "objective",
            "effort",
            "candidates",
            "weights",
            "threads",
            "memory",
            "seed",
            "cleaning",
        )
        options: Any = {name: given[name] for name in kept if given.get(name) is not None}
        options.update(max_seconds=max_seconds, verbose=verbose, objective=self.objective)
        if self.completed is not None:
            options["missing"] = "observed"
        if effort is not None:
            options["effort"] = effort
        rows = [int(row) for row in self.hott]
        with prepared("auto", options) as (settings, run):
            text, stop = _native.path(matrix, rows, settings, run)
        path = rank_path(text, stop, self.noun, self.names)
        if abs(path.points[-1].mean_l1 - self.error.mean_l1) > _SAME and self.cleaning == "exact":
            raise ValueError(
                f"the error of these {self.noun}s on X is {path.points[-1].mean_l1:.6g}, but was "
                f"{self.error.mean_l1:.6g}: X is not what was factored, or has changed since"
            )
        object.__setattr__(self, "_path", path)
        return path

    def apply(
        self,
        X: Any,
        *,
        names: Sequence[str] | None = None,
        missing: str = "refuse",
        threads: int = 0,
        max_seconds: float | None = None,
        verbose: bool = False,
    ) -> Applied:
        """Explain other rows by the hott rows of this answer.

        On the rows that were factored, `F` and `error` are those of the answer to the last bit,
        unless entries were missing: then up to rounding.

        Parameters
        ----------
        X : array-like, scipy sparse matrix or data frame of shape (rows, examples)
            Nonnegative, with the columns of what was factored.
        names : sequence of str, optional
            Names of these rows; a data frame's index is used unless given.
        missing : {"refuse", "observed"}, default="refuse"
            Whether entries may be missing (NaN, or masked): they are then left out.
        threads : int, default=0
            Number of threads, 0 for all.
        max_seconds : float, optional
            After this many seconds the rest is fitted in a hurry.
        verbose : bool, default=False
            Whether to show progress.

        Returns
        -------
        Applied
            With `F`, `error`, `zero_rows` and more.

        Examples
        --------
        >>> import hottopixx
        >>> answer = hottopixx.factor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], 2)
        >>> answer.apply([[3.0, 1.0]]).F.tolist() in ([[3.0, 1.0]], [[1.0, 3.0]])
        True
        """
        matrix, names = named_matrix(X, names)
        options: Any = {"cleaning": self.cleaning, "seed": self.seed, "threads": threads}
        options.update(max_seconds=max_seconds, verbose=verbose, groups=False, missing=missing)
        with prepared("auto", options, noun=self.noun) as (settings, run):
            text, f, per_row = _native.apply(to_native(self.W), matrix, settings, run)
        said = json.loads(text)
        return Applied(
            F=from_native(f),
            error=Errors(**said["error"], per_row=per_row),
            cleaning=said["cleaning"],
            inexact_rows=said["inexact_rows"],
            zero_rows=row_array(said["zero_rows"]),
            stop=said["stop"],
            names=names,
        )

    def apply_columns(self, X: Any, *, threads: int = 0) -> AppliedColumns:
        """Tell new columns of the same rows from their entries in the hott rows.

        W is then `X[hott]`, and F is that of this answer: nothing is fitted, so that the errors say
        how well what was learnt holds for columns that were not there. On the columns that were
        factored, W is that of the answer, and errors are up to rounding.

        Parameters
        ----------
        X : array-like, scipy sparse matrix or data frame of shape (features, new examples)
            Nonnegative, with the rows of what was factored.
        threads : int, default=0
            Number of threads, 0 for all.

        Returns
        -------
        AppliedColumns
            With `W`, `error`, `per_column` and `zero_rows`.

        Examples
        --------
        >>> import hottopixx
        >>> answer = hottopixx.factor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], 2)
        >>> answer.apply_columns([[3.0], [4.0], [7.5]]).per_column.round(3).tolist()
        [0.034]
        """
        return apply_columns(self, X, threads)

    def changes_since(self, before: Any) -> Changes:
        """What became of the hott rows of an earlier answer for the same rows.

        A topic moved where a row that is hott no longer is explained by a new one for the most
        part. See the option `start` of `factor`, with which the choice begins at the earlier rows.

        Parameters
        ----------
        before : Factorization or array-like
            The earlier answer, or its hott rows.

        Returns
        -------
        Changes
            With `stayed`, `moved`, `came` and `went`.
        """
        return changes_since(self, before)

    def report(self, path: str | os.PathLike[str], name: str = "X") -> None:
        """Write the answer as one page for a browser: topics, errors, bounds, all rows.

        Parameters
        ----------
        path : path-like
            Where to, such as "report.html".
        name : str, default="X"
            What the data are called, for the page's title.
        """
        names, notes = self.names, list(self.notes)
        if self.noun != "row":
            notes.insert(0, f"The rows of this page are the {self.noun}s of the data.")
            if names is None:
                names = [f"{self.noun} {i}" for i in range(self.F.shape[0])]
        known = self.__dict__.get("_path")
        said = {**self._said(), "notes": notes, "names": names, "documents": None}
        said["path"] = None if known is None else as_said(known)
        said["nonzeros"] = self._nonzeros()
        said["own_units"] = self.noun == "feature"
        said["threads"] = os.cpu_count() or 1
        seconds = {"localize": 0.0, "select": 0.0, "clean": 0.0}
        said["seconds"] = {step: self.seconds.get(step, 0.0) for step in seconds}
        page = _native.answer_page(
            json.dumps(said),
            to_native(self.F),
            to_native(self.W),
            np.ascontiguousarray(self.error.per_row),
            None if self.diagonal is None else np.ascontiguousarray(self.diagonal),
            name,
            f"hottopixx.factor({name}, {len(self.hott)}, {self.method!r}, seed={self.seed})"
            f".report({str(path)!r})",
        )
        Path(path).write_text(page, encoding="utf-8")

    def _nonzeros(self) -> int:
        """Entries of X that are not zero, where X is at hand; of W otherwise."""
        X = self.W if self.source is None else self.source.X
        return int(X.count_nonzero() if is_sparse(X) else np.count_nonzero(np.asarray(X)))

    def _said(self) -> dict[str, Any]:
        """What is no array, under the names of the library."""
        certificate = None
        if self.certificate is not None:
            certificate = dict(self.certificate.__dict__)
            if certificate["tau"] is None:
                del certificate["tau"]
        return {
            "method": self.method,
            "objective": self.objective,
            "seed": self.seed,
            "noun": self.noun,
            "chosen_from": self.chosen_from,
            "exchanges": self.exchanges,
            "cleaning": self.cleaning,
            "inexact_rows": self.inexact_rows,
            "zero_rows": [int(row) for row in self.zero_rows],
            "outliers": [int(row) for row in self.outliers],
            "hott": [
                {"row": int(row), "weight": float(weight), "group": [int(i) for i in group]}
                for row, weight, group in zip(self.hott, self.weights, self.groups, strict=True)
            ],
            "error": {name: getattr(self.error, name) for name in ("inf1", "mean_l1", "rmse")},
            "certificate": certificate,
            "notes": list(self.notes),
            "stop": self.stop,
            "seconds": dict(self.seconds),
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the whole answer to a file; `hottopixx.load` reads it.

        Parameters
        ----------
        path : path-like
            Where to, such as "answer.hott". The file is a zip archive of numpy arrays and JSON,
            with the version of this package, a hash of the data where they are at hand, and one of
            everything in the file.
        """
        from ._saving import save_answer

        save_answer(self, path)

    @property
    def plot(self) -> Plots:
        """Pictures: `topics()`, `errors()`, `path()`, `diagonal()`, `maps()`, `spectra()`."""
        from ._plots import Plots

        return Plots(self)


def factorization(
    answer: Answer,
    names: list[str] | None = None,
    source: Source | None = None,
    noun: str = "row",
) -> Factorization:
    """An answer of a native function."""
    text, f, w, per_row, diagonal, completed = answer
    said = json.loads(text)
    if source is not None:
        said |= {name: source.settings[name] for name in ("objective", "seed")}
    found = from_said(
        {**said, "noun": noun}, (from_native(f), from_native(w), per_row, diagonal), names
    )
    object.__setattr__(found, "source", source)
    if completed is not None:
        object.__setattr__(found, "completed", from_native(completed))
    return found


def from_said(
    said: dict[str, Any],
    arrays: tuple[Any, Any, Floats, Floats | None],
    names: list[str] | None,
) -> Factorization:
    """An answer from what is no array and from F, W, errors by row and the diagonal."""
    hott, (F, W, per_row, diagonal) = said["hott"], arrays
    return Factorization(
        hott=row_array(h["row"] for h in hott),
        weights=np.array([h["weight"] for h in hott], dtype=float),
        groups=[row_array(h["group"]) for h in hott],
        F=F,
        W=W,
        error=Errors(**said["error"], per_row=per_row),
        certificate=Certificate(**bounds) if (bounds := said["certificate"]) else None,
        method=said["method"],
        chosen_from=said["chosen_from"],
        exchanges=said["exchanges"],
        cleaning=said["cleaning"],
        inexact_rows=said["inexact_rows"],
        zero_rows=row_array(said["zero_rows"]),
        outliers=row_array(said.get("outliers", ())),
        stop=said["stop"],
        notes=[in_words(note, said.get("noun", "row")) for note in said["notes"]],
        seconds=said["seconds"],
        diagonal=diagonal,
        names=names,
        objective=said.get("objective", "mean"),
        seed=said.get("seed", 0),
        noun=said.get("noun", "row"),
    )


def row_array(rows: Iterable[int]) -> NDArray[np.intp]:
    """Rows as an array."""
    return np.array(list(rows), dtype=np.intp)
