"""What functions return beside answers: small classes that print what a person wants."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ._answer import factorization, row_array
from ._cards import brief, html_table
from ._certificate import Certificate
from ._frames import frame

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ._answer import Factorization, Source
    from ._path import RankPath
    from ._plots import Plots
    from ._types import Answer, Floats


@dataclass(frozen=True)
class Theorem:
    """The figures of the paper's Theorem 3.2 for the chosen rows."""

    #: The least l1 distance of a hott row from the hull of the others.
    alpha: float
    #: d0, the least l1 distance of another row from a hott row; None without other rows.
    margin: float | None
    #: The largest l1 distance of a row of X from a separable matrix nearby.
    epsilon: float
    #: What epsilon must stay below.
    threshold: float
    #: Whether it does.
    holds: bool
    #: Rows that count as duplicates of each hott row.
    duplicates: list[list[int]] = field(repr=False)
    #: All that in words.
    sentence: str = ""


@dataclass(frozen=True, repr=False)
class Certified:
    """Rows, the linear program that bounds every choice of that many rows, and the theorem."""

    #: The rows, cleaned and measured.
    answer: Factorization
    #: What is proven; None where the verifier refused.
    certificate: Certificate | None
    #: Whether the verifier, which shares nothing with the solver, agrees.
    verified: bool
    #: Why not, otherwise.
    refusal: str | None
    #: The bound that the dual alone proves, recomputed from X.
    independent_bound: float
    #: All figures of the verifier, rounded to the safe side; None where it refused.
    checked: dict[str, float] | None
    #: The largest error of a row with weights of at most 1, which the bound of minimax is about.
    bounded_inf1: float
    #: No choice of this many rows has a smaller largest error, whatever the weights: verified;
    #: None where that was not looked at.
    choice_bound: float | None
    #: The best choice that was met on the way ("hott"), its "error", and the "gap" to the bound.
    choice: dict[str, Any] | None
    #: Theorem 3.2; None where there was no time left for it.
    theorem: Theorem | None

    def report(self, path: str | os.PathLike[str], name: str = "X") -> None:
        """Write the page of the answer; see `Factorization.report`."""
        replace(self.answer, certificate=self.certificate).report(path, name)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the answer with its proof; `hottopixx.load` reads it."""
        from ._saving import save_certified

        save_certified(self, path)

    def to_frame(self, what: str = "hott", backend: str | None = None) -> Any:
        """The answer as a table; see `Factorization.to_frame`."""
        return self.answer.to_frame(what, backend)

    def path(self, X: Any = None, *, max_seconds: float | None = None) -> RankPath:
        """Errors and bounds of fewer rows; see `Factorization.path`."""
        return self.answer.path(X, max_seconds=max_seconds)

    @property
    def plot(self) -> Plots:
        """Pictures of the answer; see `Factorization.plot`."""
        return self.answer.plot

    def __repr__(self) -> str:
        verdict = "verified" if self.verified else f"refused: {self.refusal}"
        theorem = "no time left to look at it" if self.theorem is None else self.theorem.sentence
        return (
            f"{self.answer!r}\n"
            f"  proof   {verdict}; the dual alone proves {self.independent_bound:.6g}\n"
            f"  theorem {theorem}"
        )

    def _repr_html_(self) -> str:
        lines = repr(self).removeprefix(repr(self.answer)).strip().splitlines()
        return self.answer._repr_html_() + "<br>".join(html.escape(line) for line in lines)


@dataclass(frozen=True, repr=False)
class Comparison:
    """Every method on the same data, side by side."""

    #: The answers by method.
    answers: dict[str, Factorization]
    #: Wall-clock seconds of each.
    seconds: dict[str, float]
    #: Error over the least error of all methods, by the objective.
    ratio: dict[str, float]
    #: Hott rows shared with `auto`, counting groups.
    agreement: dict[str, int | None]
    #: Methods without an answer in time.
    no_answer: list[str]
    #: Methods that were not run, or proved that there is no answer, and why.
    skipped: dict[str, str]

    def _lines(self) -> list[tuple[str, ...]]:
        def line(method: str) -> tuple[str, ...]:
            error = self.answers[method].error
            agreement = self.agreement[method]
            return (
                method,
                f"{error.mean_l1:.5f}",
                f"{error.inf1:.5f}",
                f"{error.rmse:.3e}",
                f"{self.ratio[method]:.4g}",
                "" if agreement is None else str(agreement),
                f"{self.seconds[method]:.2f}",
            )

        return [line(method) for method in self.answers]

    def to_frame(self, backend: str | None = None) -> Any:
        """The comparison as a table.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Who makes the table; unless given, the first that is installed.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            A line for each method: errors, `ratio` to the least error, `agreement`, `seconds`.
        """
        methods = list(self.answers)
        errors = [self.answers[method].error for method in methods]
        return frame(
            {
                "method": methods,
                "mean_l1": [error.mean_l1 for error in errors],
                "inf1": [error.inf1 for error in errors],
                "rmse": [error.rmse for error in errors],
                "ratio": [self.ratio[method] for method in methods],
                "agreement": [self.agreement[method] for method in methods],
                "seconds": [self.seconds[method] for method in methods],
            },
            backend,
        )

    def __repr__(self) -> str:
        lines = [_COMPARED, *self._lines()]
        widths = [max(len(line[k]) for line in lines) for k in range(len(_COMPARED))]
        text = [
            line[0].ljust(widths[0])
            + "".join(
                f"  {cell:>{width}}" for cell, width in zip(line[1:], widths[1:], strict=True)
            )
            for line in lines
        ]
        text += [f"{method}: no answer in time" for method in self.no_answer]
        text += [f"{method}: {reason}" for method, reason in self.skipped.items()]
        return "\n".join(text)

    def _repr_html_(self) -> str:
        return html_table(_COMPARED, self._lines())


_COMPARED = ("method", "mean l1", "largest l1", "rmse", "ratio", "agreement", "seconds")


@dataclass(frozen=True)
class L1Fit:
    """Weights c, 0 <= c <= upper, with the least ||x - c A||_1, and the proof."""

    #: c, one weight for each row of A.
    weights: Floats
    #: The l1 error.
    value: float
    #: y, |y| <= 1, one for each column.
    dual: Floats = field(repr=False)
    #: What y proves: no weights have a smaller error.
    lower_bound: float = 0.0
    #: Whether value and bound agree to 1e-9 of the size of x.
    optimal: bool = True
    #: Pivots it took.
    pivots: int = 0


@dataclass(frozen=True, repr=False)
class Instance:
    """A generated matrix and what is true of it."""

    #: The matrix, features x examples: an array, or CSR for counts.
    X: Any
    #: One hott row for each topic.
    hott: NDArray[np.intp]
    #: For each topic, all rows that stand for it.
    groups: list[NDArray[np.intp]]
    #: Rows that no topic explains.
    outliers: NDArray[np.intp]
    #: The (inf,1) norm of the noise; None for counts.
    epsilon: float | None
    #: The least l1 distance of a hott row from the hull of the others, where it is known.
    alpha: float | None
    #: Name of the family.
    family: str
    #: What it was generated from.
    seed: int
    #: Height and width of a scene, whose pixels are the rows of X.
    shape: tuple[int, int] | None = None
    #: The true spectra of a scene, one for each of `hott`.
    spectra: Floats | None = None

    @property
    def cube(self) -> Floats:
        """A scene as height x width x bands."""
        if self.shape is None:
            raise ValueError(f"{self.family} has no pixels: generate a scene")
        return np.asarray(self.X).reshape(*self.shape, -1)

    def recall(self, chosen: Sequence[int] | NDArray[np.intp]) -> float:
        """Share of the topics that the chosen rows hit, from 0 to 1."""
        hit = [bool(np.isin(group, chosen).any()) for group in self.groups]
        return sum(hit) / len(hit)

    def __repr__(self) -> str:
        rows, cols = self.X.shape
        return (
            f"Instance of {self.family}: {rows} x {cols}, seed {self.seed}, "
            f"hott {brief(map(str, self.hott))}"
        )


def certified(
    answer: Answer, proof: str, names: list[str] | None, source: Source | None = None
) -> Certified:
    """A certified answer of the native function."""
    report = json.loads(proof)
    claims = report["certificate"]
    return Certified(
        answer=factorization(answer, names, source),
        verified=claims.pop("verified"),
        refusal=claims.pop("refusal"),
        independent_bound=claims.pop("independent_bound"),
        checked=claims.pop("checked"),
        choice_bound=claims.pop("choice_bound"),
        choice=report["choice"],
        certificate=Certificate(**claims) if claims else None,
        bounded_inf1=report["bounded_inf1"],
        theorem=Theorem(**report["theorem"]) if report["theorem"] else None,
    )


def instance(X: Any, truth: str) -> Instance:
    """A generated matrix with its truth."""
    report = json.loads(truth)
    return Instance(
        X=X,
        hott=row_array(report["hott"]),
        groups=[row_array(group) for group in report["groups"]],
        outliers=row_array(report["outliers"]),
        epsilon=report["epsilon"],
        alpha=report["alpha"],
        family=report["family"],
        seed=report["seed"],
        shape=tuple(report["shape"]) if "shape" in report else None,
        spectra=np.array(report["spectra"]) if "spectra" in report else None,
    )
