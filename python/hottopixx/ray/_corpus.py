"""What is in the documents: found out before anything is computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from . import _plan, _work
from ._source import PartitionError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._engine import Engine
    from ._source import Partition

#: Hears of progress: what is under way, how much is done, of how much.
Tell: TypeAlias = Callable[[str, int, int], object]


@dataclass(frozen=True)
class Corpus:
    """Documents that have been looked at."""

    partitions: list[Partition]
    #: Documents of each partition.
    sizes: list[int]
    #: Terms of the documents, and those that count (None for all).
    terms: int
    kept: NDArray[np.intp] | None
    dense: bool
    #: By term that counts: documents that have it, and entries of those.
    frequency: NDArray[np.int64]
    work: NDArray[np.int64]
    #: Of the partitions.
    digests: list[str]

    @property
    def documents(self) -> int:
        """How many documents there are."""
        return sum(self.sizes)

    @property
    def entries(self) -> int:
        """Numbers that are stored: all of dense documents."""
        return len(self.frequency) * self.documents if self.dense else int(self.frequency.sum())

    @property
    def width(self) -> int:
        """How many terms count."""
        return len(self.frequency)

    def keeping(self, least: int) -> Corpus:
        """Without terms of fewer documents."""
        kept = np.flatnonzero(self.frequency >= least)
        if len(kept) == self.width:
            return self
        if not len(kept):
            raise ValueError(f"no term is in {least} documents: lower min_df")
        return replace(self, kept=kept, frequency=self.frequency[kept], work=self.work[kept])


def look(
    engine: Engine, partitions: list[Partition], tell: Tell, names: int | None = None
) -> Corpus:
    """Reads and checks every partition once. There are `names` terms if no file says how many."""
    tasks = [engine.run(f"read {part.name}", _work.survey, part, returns=2) for part in partitions]
    counts = _plan.Counter(lambda a, b: engine.run("add counts", _work.add_counts, a, b).result)
    for task in tasks:
        counts.push(task.results[1])
    engine.wait(tasks, lambda done: tell("reading", done, len(tasks)))
    found: list[_work.Survey] = [engine.get(task.results[0]) for task in tasks]
    terms, dense = max(survey.terms for survey in found), found[0].dense
    certain = next((k for k, survey in enumerate(found) if survey.certain), None)
    for part, survey in zip(partitions, found, strict=True):
        if survey.dense != dense:
            here, there = ("sparse", "dense") if dense else ("dense", "sparse")
            raise PartitionError(
                f"{part.name} is {here}, but {partitions[0].name} is {there}: write both alike"
            )
        if certain is None:
            continue
        expected = found[certain].terms
        if survey.terms > expected or (survey.certain and survey.terms != expected):
            raise PartitionError(
                f"{part.name} has {survey.terms} terms, but {partitions[certain].name} has "
                f"{expected}: write both with the same vocabulary"
            )
    if certain is None and names is not None:
        terms = max(terms, names)
    frequency, work = (np.zeros(terms, np.int64) for _ in range(2))
    seen = engine.get(counts.total())
    frequency[: len(seen[0])], work[: len(seen[1])] = seen
    return Corpus(
        partitions=partitions,
        sizes=[survey.documents for survey in found],
        terms=terms,
        kept=None,
        dense=dense,
        frequency=frequency,
        work=work,
        digests=[survey.digest for survey in found],
    )
