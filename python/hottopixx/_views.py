"""What to look at in an answer: members, tables, shares of documents, cards."""

from __future__ import annotations

import csv
import html
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from ._arrays import dense, is_sparse
from ._cards import brief, card, deck
from ._frames import frame

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ._certificate import Certificate, Errors
    from ._types import Floats

#: Members on a card.
_SHOWN = 6


class AnswerViews:
    """The part of `Factorization` that shows what was found."""

    # Fields of `Factorization`, which tells what they are.
    hott: NDArray[np.intp]
    weights: Floats
    groups: list[NDArray[np.intp]]
    F: Any
    W: Any
    error: Errors
    certificate: Certificate | None
    method: str
    chosen_from: str | None
    stop: str
    names: list[str] | None
    noun: str

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
            explains times the share of the row that this is. Features of a table, which may have
            units of their own, count as if all were of one size. The hott row itself is left out.
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
        # Features of a table have units of their own, in which no size says anything.
        size = 1.0 - 0.5 * self.error.per_row if self.noun == "feature" else mass
        score = size * share
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
