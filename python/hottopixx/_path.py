"""Errors against the number of chosen rows."""

from __future__ import annotations

import html
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ._cards import brief, html_table
from ._frames import frame
from ._words import in_words

if TYPE_CHECKING:
    from ._types import Floats

_COLUMNS = ("rank", "mean error", "largest error", "bound on mean", "chosen")


@dataclass(frozen=True)
class RankPoint:
    """The errors with this many rows."""

    #: How many.
    rank: int
    #: Which.
    hott: list[int]
    #: The mean l1 error, rows summing to 1.
    mean_l1: float
    #: The largest.
    inf1: float
    #: Root of the mean squared error over all entries.
    rmse: float
    #: No choice of this many rows has a smaller mean error: proven. None where that was not looked
    #: at: with effort "quick", for large data, after a limit.
    lower_bound: float | None


@dataclass(frozen=True, repr=False)
class RankPath:
    """Errors for every number of chosen rows up to that of an answer, and what they speak for.

    One row at a time is left out, always the one that is missed least: the choices are nested.
    """

    #: One for each rank, from 1 on; fewer at the low end after a limit.
    points: list[RankPoint]
    #: The rank after which further rows gain little; the largest where none stands out.
    suggested: int
    #: Why, in a sentence.
    reason: str
    #: "finished", or why it ended before.
    stop: str
    #: What the chosen things are called: "row", "feature" or "sample".
    noun: str = "row"
    #: Names of all rows, where they are known.
    names: list[str] | None = None

    @property
    def ranks(self) -> Any:
        """The ranks."""
        return np.array([point.rank for point in self.points])

    @property
    def mean_l1(self) -> Floats:
        """The mean error at each rank."""
        return np.array([point.mean_l1 for point in self.points])

    @property
    def inf1(self) -> Floats:
        """The largest error at each rank."""
        return np.array([point.inf1 for point in self.points])

    @property
    def lower_bound(self) -> Floats:
        """What no choice of as many can do better than in the mean; NaN where it is not known."""
        return np.array([np.nan if p.lower_bound is None else p.lower_bound for p in self.points])

    def _labels(self, point: RankPoint) -> list[str]:
        return [self.names[i] if self.names else str(i) for i in point.hott]

    def to_frame(self, backend: str | None = None) -> Any:
        """The path as a table.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Who makes the table; unless given, the first that is installed.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            `rank`, `mean_l1`, `inf1`, `lower_bound`, `suggested`, and `hott` as text.
        """
        return frame(
            {
                "rank": [point.rank for point in self.points],
                "mean_l1": [point.mean_l1 for point in self.points],
                "inf1": [point.inf1 for point in self.points],
                "lower_bound": [point.lower_bound for point in self.points],
                "suggested": [point.rank == self.suggested for point in self.points],
                "hott": [", ".join(self._labels(point)) for point in self.points],
            },
            backend,
        )

    def plot(self, ax: Any = None) -> Any:
        """Errors and bounds against the rank.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; new ones unless given.

        Returns
        -------
        matplotlib axes
            With the curves.
        """
        from ._plots import draw_path

        return draw_path(self, ax)

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (
                f"{point.rank}{' *' if point.rank == self.suggested else ''}",
                f"{point.mean_l1:.5f}",
                f"{point.inf1:.5f}",
                "" if point.lower_bound is None else f"{point.lower_bound:.5f}",
                brief(self._labels(point), 6),
            )
            for point in self.points
        ]

    def __repr__(self) -> str:
        rows = [_COLUMNS, *self._rows()]
        widths = [max(len(row[k]) for row in rows) for k in range(len(_COLUMNS))]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        return "\n".join([*lines, f"* suggested: {self.suggested}. {self.reason}"])

    def _repr_html_(self) -> str:
        said = html.escape(f"Suggested: {self.suggested}. {self.reason}")
        return f"<p>{said}</p>{html_table(_COLUMNS, self._rows())}"


def rank_path(text: str, stop: str, noun: str, names: list[str] | None) -> RankPath:
    """A path of the native function."""
    said = json.loads(text)
    reason = in_words(said["reason"], noun)
    points = [
        RankPoint(p["rank"], p["hott"], **p["error"], lower_bound=p["lower_bound"])
        for p in said["points"]
    ]
    return RankPath(points, said["suggested"], reason, json.loads(stop), noun, names)


def as_said(path: RankPath) -> dict[str, Any]:
    """The path as the native functions say and take it."""

    def point(p: RankPoint) -> dict[str, Any]:
        said = asdict(p)
        error = {name: said.pop(name) for name in ("inf1", "mean_l1", "rmse")}
        return {**said, "error": error}

    return {
        "points": [point(p) for p in path.points],
        "suggested": path.suggested,
        "reason": path.reason,
        "stop": path.stop,
    }


@dataclass(frozen=True)
class HeldOut:
    """What entries that were held out say about the rank."""

    #: The share of the entries that was held out.
    share: float
    #: For `first`, `first` + 1, ... rows the mean l1 error of the guesses, in whole rows of sum 1.
    errors: Floats
    #: The last rank whose row made a difference.
    suggested: int
    #: Why, in a sentence.
    reason: str
    #: "finished", or why the computation ended before.
    stop: str = "finished"
    #: The rank of the first of the errors: 1, unless it was stopped.
    first: int = 1
