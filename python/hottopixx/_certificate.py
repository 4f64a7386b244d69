"""The figures of an answer: errors, and what is proven about every choice."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._types import Floats

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
