"""What the functions return: small classes that print what a person wants to know."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ._arrays import from_native

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from ._types import Answer, Floats


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

    #: "minimax" (largest l1 error), "total" (sum of errors) or "cost" (p.d, errors within tau).
    goal: str
    #: Value of the program's best point.
    objective: float
    #: No choice of as many rows, with weights of at most 1, is below this.
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

    def __str__(self) -> str:
        return (
            f"{self.goal}, {self.status}: {self.objective:.6g}, "
            f"at least {self.lower_bound:.6g}, gap {self.gap:.1e}"
        )


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

    @property
    def hott_names(self) -> list[str]:
        """Names of the hott rows; their numbers where there are no names."""
        return [self.names[i] if self.names else str(i) for i in self.hott]

    def __repr__(self) -> str:
        features, examples = self.F.shape[0], self.W.shape[1]
        found = f" ({self.chosen_from})" if self.chosen_from else ""
        lines = [
            f"Factorization of {features} x {examples}, rank {len(self.hott)}, "
            f"by {self.method}{found}",
            f"  hott    {_brief(self.hott_names)}",
            f"  error   mean {self.error.mean_l1:.6g}, largest {self.error.inf1:.6g} "
            "(l1 of a row, rows sum to 1)",
        ]
        if self.certificate is not None:
            lines.append(f"  bound   {self.certificate}")
        if self.stop != "finished":
            lines.append(f"  stopped {self.stop}: this is the best answer so far")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [
            (name, int(row), f"{weight:.3f}", _brief(self._label(i) for i in group if i != row))
            for name, row, weight, group in zip(
                self.hott_names, self.hott, self.weights, self.groups, strict=True
            )
        ]
        head, *lines = repr(self).splitlines()
        about = "<br>".join(html.escape(line) for line in lines[1:])
        table = html_table(("hott row", "number", "weight", "interchangeable with"), rows)
        return f"<p><b>{html.escape(head)}</b><br>{about}</p>{table}"

    def _label(self, row: int) -> str:
        return self.names[row] if self.names else str(row)


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

    def recall(self, chosen: Sequence[int] | NDArray[np.intp]) -> float:
        """Share of the topics that the chosen rows hit, from 0 to 1."""
        hit = [bool(np.isin(group, chosen).any()) for group in self.groups]
        return sum(hit) / len(hit)

    def __repr__(self) -> str:
        rows, cols = self.X.shape
        return (
            f"Instance of {self.family}: {rows} x {cols}, seed {self.seed}, "
            f"hott {_brief(map(str, self.hott))}"
        )


def factorization(answer: Answer, names: list[str] | None = None) -> Factorization:
    """An answer of a native function."""
    text, f, w, per_row, diagonal = answer
    report = json.loads(text)
    hott = report["hott"]
    return Factorization(
        hott=_rows(h["row"] for h in hott),
        weights=np.array([h["weight"] for h in hott], dtype=float),
        groups=[_rows(h["group"]) for h in hott],
        F=from_native(f),
        W=from_native(w),
        error=Errors(**report["error"], per_row=per_row),
        certificate=Certificate(**bounds) if (bounds := report["certificate"]) else None,
        method=report["method"],
        chosen_from=report["chosen_from"],
        exchanges=report["exchanges"],
        cleaning=report["cleaning"],
        inexact_rows=report["inexact_rows"],
        zero_rows=_rows(report["zero_rows"]),
        stop=report["stop"],
        notes=report["notes"],
        seconds=report["seconds"],
        diagonal=diagonal,
        names=names,
    )


def certified(answer: Answer, proof: str, names: list[str] | None) -> Certified:
    """A certified answer of the native function."""
    report = json.loads(proof)
    claims = report["certificate"]
    return Certified(
        answer=factorization(answer, names),
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
        hott=_rows(report["hott"]),
        groups=[_rows(group) for group in report["groups"]],
        outliers=_rows(report["outliers"]),
        epsilon=report["epsilon"],
        alpha=report["alpha"],
        family=report["family"],
        seed=report["seed"],
    )


def _rows(rows: Iterable[int]) -> NDArray[np.intp]:
    return np.array(list(rows), dtype=np.intp)


def _brief(words: Iterable[str], most: int = 12) -> str:
    words = list(words)
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more


def html_table(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """A table for notebooks."""

    def line(cells: Iterable[Any], tag: str) -> str:
        return "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells)

    body = "".join(f"<tr>{line(row, 'td')}</tr>" for row in rows)
    return f"<table><thead><tr>{line(head, 'th')}</tr></thead><tbody>{body}</tbody></table>"
