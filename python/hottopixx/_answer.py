"""The answer of a factorization: what was chosen, how well it explains the rest, views."""

from __future__ import annotations

import csv
import html
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from . import _native
from ._arrays import dense, from_native, is_sparse, to_native
from ._cards import brief, card, deck
from ._frames import frame
from ._options import prepared
from ._path import RankPath, as_said, rank_path
from ._words import in_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from ._plots import Plots
    from ._types import Answer, Floats

#: Members on a card.
_SHOWN = 6
#: Two errors of the same rows on the same data differ by less.
_SAME = 1e-6
_GOALS = {
    "mean": "mean error",
    "max": "largest error",
    "minimax": "largest error, weights up to 1,",
    "total": "sum of errors, weights up to 1,",
    "cost": "cost p.d",
}


@dataclass(frozen=True)
class Errors:
    """How well F W explains X, rows of X scaled to sum 1; rows of zeros do not count."""

    #: The largest l1 error of a row: the paper's (inf,1) norm of X - F W.
    inf1: float
    #: The mean over rows of the l1 error: 0 is perfect, 1 explains nothing.
    mean_l1: float
    #: Root of the mean squared error over all entries.
    rmse: float
    #: The l1 error of each row.
    per_row: Floats = field(repr=False)


@dataclass(frozen=True)
class Certificate:
    """What a linear program over all choices of rows found and proved."""

    #: What it is about: "mean" or "max" (the mean or the largest error of every choice of rows,
    #: whatever the weights), "minimax" or "total" (the largest error, or the sum of errors, with
    #: weights up to 1), "cost" (p.d, errors within tau).
    goal: str
    #: Value of the program's best point; for "mean" and "max" the error of the answer.
    objective: float
    #: No choice of as many rows is below this.
    lower_bound: float
    #: `(objective - lower_bound) / |objective|`.
    gap: float
    #: "optimal", "feasible" (a limit came first), "infeasible" or "limit".
    status: str
    #: The error that every row may have, for "cost".
    tau: float | None = None
    #: Sum of the diagonal: the rank, unless it was left open.
    trace: float = float("nan")
    #: Master programs solved.
    rounds: int = 0
    #: Cuts found.
    cuts: int = 0

    @property
    def about(self) -> str:
        """What the bound speaks about, in words."""
        within = f" with errors within {self.tau:.6g}" if self.tau is not None else ""
        return _GOALS.get(self.goal, self.goal).rstrip(",") + within

    def __str__(self) -> str:
        within = f" with errors within {self.tau:.6g}" if self.tau is not None else ""
        return (
            f"{_GOALS.get(self.goal, self.goal)}{within} {self.objective:.6g}, for every choice "
            f"at least {self.lower_bound:.6g} (gap {self.gap:.1e}, {self.status})"
        )


@dataclass(frozen=True)
class Source:
    """What was factored: for `path`, as long as the answer is neither saved nor pickled."""

    #: The matrix as it was handed over, rows first.
    X: Any
    #: Settings of the library.
    settings: Any


@dataclass(frozen=True, repr=False)
class Factorization:
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
    #: What was factored, while it is at hand.
    source: Source | None = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "source": None}

    @property
    def hott_names(self) -> list[str]:
        """Names of the hott rows; their numbers where there are no names."""
        return [self._label(i) for i in self.hott]

    def _label(self, row: int) -> str:
        return self.names[row] if self.names else str(row)

    def _masses(self) -> Any:
        """How much of each row each hott row explains: `F_ik` times the sum of row k of W."""
        sums = np.asarray(self.W.sum(axis=1)).ravel()
        if is_sparse(self.F):
            return sp.csr_array(self.F @ sp.diags_array(sums))
        return self.F * sums

    def shares(self) -> Any:
        """How much of each row is explained by each hott row.

        Returns
        -------
        ndarray or csr_array of shape (features, rank)
            Rows sum to 1, but for rows that are explained by nothing.
        """
        masses = self._masses()
        totals = np.asarray(masses.sum(axis=1)).ravel()
        scale = 1.0 / np.where(totals > 0, totals, 1.0)
        if is_sparse(masses):
            return sp.csr_array(sp.diags_array(scale) @ masses)
        return masses * scale[:, None]

    def members(self, topic: int | str, n: int = 10) -> list[tuple[str, float]]:
        """The rows that lean on a hott row most.

        Parameters
        ----------
        topic : int or str
            Its place in `hott`, from 0, or its name in `hott_names`.
        n : int, default=10
            How many.

        Returns
        -------
        list of (str, float)
            Names, or numbers as text, with the weights in F; ordered by how much of a row it
            explains times the share of the row that this is. The hott row itself is left out.
        """
        k = self._place(topic)
        weights = _column(self.F, k)
        return [(self._label(i), float(weights[i])) for i in self._leaning(k, n)]

    def member_shares(self, topic: int | str, n: int = 10) -> list[tuple[str, float]]:
        """As `members`, with how much of each is explained by the hott row, from 0 to 1."""
        k = self._place(topic)
        shares = _column(self.shares(), k)
        return [(self._label(i), float(shares[i])) for i in self._leaning(k, n)]

    def _leaning(self, k: int, n: int) -> list[int]:
        """The rows that lean most on the hott row at this place."""
        mass, share = (_column(matrix, k) for matrix in (self._masses(), self.shares()))
        score = mass * share
        score[self.hott[k]] = 0.0
        order = np.lexsort((np.arange(len(score)), -score))[: max(n, 0)]
        return [int(i) for i in order if score[i] > 0]

    def _place(self, topic: int | str) -> int:
        if isinstance(topic, str):
            if topic not in self.hott_names:
                raise ValueError(f"{topic!r} is not chosen: choose one of {self.hott_names}")
            return self.hott_names.index(topic)
        if not 0 <= topic < len(self.hott):
            raise ValueError(f"topic is {topic}, but there are {len(self.hott)}, from 0")
        return int(topic)

    def to_frame(self, what: str = "hott", backend: str | None = None) -> Any:
        """The answer as a table.

        Parameters
        ----------
        what : {"hott", "rows"}, default="hott"
            A line for each hott row (`number`, `name`, `weight`, its share of everything,
            `members`, `interchangeable`), or for each row of X (`number`, `name`, its l1 `error`,
            the hott row it `leans_on` and the `share` of it that this is).
        backend : {"pandas", "polars", "pyarrow"}, optional
            Who makes the table; unless given, the first that is installed.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            The table.
        """
        if what == "rows":
            return frame(self._row_columns(), backend)
        if what != "hott":
            raise ValueError(f'what is {what!r}: choose "hott" or "rows"')
        masses = np.asarray(self._masses().sum(axis=0)).ravel()
        places = range(len(self.hott))
        return frame(
            {
                "number": [int(row) for row in self.hott],
                "name": self.hott_names,
                "weight": [float(weight) for weight in self.weights],
                "share": [float(mass) for mass in masses / max(masses.sum(), 1e-300)],
                "members": [", ".join(name for name, _ in self.members(k)) for k in places],
                "interchangeable": [", ".join(self._stand_ins(k)) for k in places],
            },
            backend,
        )

    def _row_columns(self) -> dict[str, list[Any]]:
        shares = self.shares()
        best = np.asarray(shares.argmax(axis=1)).ravel()
        most = dense(shares.max(axis=1)).ravel()
        return {
            "number": list(range(len(best))),
            "name": [self._label(i) for i in range(len(best))],
            "error": [float(error) for error in self.error.per_row],
            "leans_on": [
                self.hott_names[k] if share > 0 else None
                for k, share in zip(best, most, strict=True)
            ],
            "share": [float(share) for share in most],
        }

    def _stand_ins(self, k: int) -> list[str]:
        return [self._label(i) for i in self.groups[k] if i != self.hott[k]]

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
        kept = ("objective", "effort", "candidates", "threads", "memory", "seed", "cleaning")
        options: Any = {name: given[name] for name in kept if given.get(name) is not None}
        options.update(max_seconds=max_seconds, verbose=verbose, objective=self.objective)
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

    def document_shares(
        self,
        counts: Any,
        path: str | os.PathLike[str] | None = None,
        names: Sequence[str] | None = None,
    ) -> Floats:
        """Shares of the hott words in documents, for a factorization of co-occurrences.

        Parameters
        ----------
        counts : array-like or scipy sparse matrix of shape (words, documents)
            How often each word occurs in each document: what `cooccurrence` was given, or new
            documents over the same words.
        path : path-like, optional
            A file to write them to as well, comma-separated, as `hottopixx factor --out` does.
        names : sequence of str, optional
            What the documents are called in that file; numbers unless given.

        Returns
        -------
        ndarray of shape (documents, rank)
            The mean over the words of a document of their shares; rows of zeros for documents
            without known words.
        """
        counts = sp.csc_array(counts)
        if counts.shape[0] != self.F.shape[0]:
            raise ValueError(
                f"counts has {counts.shape[0]} rows, but there are {self.F.shape[0]} words: "
                "give words x documents"
            )
        lengths = np.asarray(counts.sum(axis=0)).ravel()
        found: Floats = (
            dense(counts.T @ self.shares()) / np.where(lengths > 0, lengths, 1.0)[:, None]
        )
        if path is not None:
            called = [str(d) for d in range(len(found))] if names is None else list(names)
            if len(called) != len(found):
                raise ValueError(f"there are {len(called)} names for {len(found)} documents")
            with open(path, "w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(["document", *self.hott_names])
                writer.writerows(
                    [name, *map(float, row)] for name, row in zip(called, found, strict=True)
                )
        return found

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

    def __repr__(self) -> str:
        features, examples = self.F.shape[0], self.W.shape[1]
        found = f" ({self.chosen_from})" if self.chosen_from else ""
        noun = self.noun
        lines = [
            f"Factorization of {features} x {examples}, rank {len(self.hott)}, "
            f"by {self.method}{found}",
            f"  hott    {brief(self.hott_names)}",
            f"  error   mean {self.error.mean_l1:.6g}, largest {self.error.inf1:.6g} "
            f"(l1 of a {noun}, {noun}s sum to 1)",
        ]
        if self.certificate is not None:
            lines.append(f"  bound   {self.certificate}")
        if self.stop != "finished":
            lines.append(f"  stopped {self.stop}: this is the best answer so far")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head, *lines = repr(self).splitlines()
        about = "<br>".join(html.escape(line) for line in lines[1:])
        cards = [
            card(
                name if self.names else f"{self.noun} {row}",
                f"{self.noun} {row}" if self.names else "",
                self.member_shares(k, _SHOWN),
                f"or {brief(others, 5)}" if (others := self._stand_ins(k)) else "",
            )
            for k, (name, row) in enumerate(zip(self.hott_names, self.hott, strict=True))
        ]
        below = f"Bars: how much of a {self.noun} is explained by the one that names the card."
        return f"<p><b>{html.escape(head)}</b><br>{about}</p>{deck(cards)}<p>{below}</p>"


def _column(matrix: Any, k: int) -> Floats:
    """One column as an array of its own."""
    return np.array(dense(matrix[:, [k]]), dtype=float).ravel()


def factorization(
    answer: Answer,
    names: list[str] | None = None,
    source: Source | None = None,
    noun: str = "row",
) -> Factorization:
    """An answer of a native function."""
    text, f, w, per_row, diagonal = answer
    said = json.loads(text)
    if source is not None:
        said |= {name: source.settings[name] for name in ("objective", "seed")}
    found = from_said(
        {**said, "noun": noun}, (from_native(f), from_native(w), per_row, diagonal), names
    )
    object.__setattr__(found, "source", source)
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
