"""What goes to the native functions and comes from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
#: Shape, starts of rows, columns, values.
Csr: TypeAlias = tuple[tuple[int, int], NDArray[np.int64], NDArray[np.uint32], Floats]
Native: TypeAlias = Floats | Csr
#: A report in JSON, F, W, errors by row, the diagonal.
Answer: TypeAlias = tuple[str, Native, Native, Floats, Floats | None, Native | None]
#: What is said in JSON; topics, anchored topics, p(topic | word), keyness, shares; words of the
#: vocabulary in documents.
TopicAnswer: TypeAlias = tuple[str, list[Floats], Floats]
#: What is said in JSON; smoothed spectra, spectra of pure pixels, abundances (pixels x materials);
#: errors by pixel, noise by band.
UnmixAnswer: TypeAlias = tuple[str, list[Floats], list[Floats]]
#: "auto" or a language, a share of the documents, words.
LeftOut: TypeAlias = str | float | list[str] | None
Listener: TypeAlias = Callable[[str, str, int, int | None, tuple[str, float] | None], object]


class Asked(TypedDict):
    """What a choice must obey, with rows by number."""

    must: list[int]
    never: list[int]
    #: Name, rows, least, most.
    groups: list[tuple[str, list[int], int, int | None]]
    prices: list[float] | None
    budget: float


class Settings(TypedDict):
    """Settings of a factorization; None for the default of the library."""

    method: str
    objective: str
    effort: str
    cleaning: str
    seed: int
    threads: int
    epochs: int | None
    cost: list[float] | None
    tau: float | None
    gap: float | None
    trace: bool
    epsilon: float | None
    alpha: float | None
    candidates: list[bool] | None
    constraints: Asked | None
    start: list[int] | None
    outliers: str | None
    missing: str
    weights: list[float] | None
    groups: bool
    #: What columns have been multiplied with.
    example_weights: list[float] | None
    memory: int | None


class TopicSettings(TypedDict):
    """Settings of topics; None for what the corpus says."""

    min_df: int | None
    candidate_df: int | None
    max_words: int | None
    anchors: list[list[str]]
    #: Words that an earlier model began with, and whether to look for others everywhere.
    start: tuple[list[str], bool]
    recovery: str
    polish: int
    prior: float
    threads: int


class UnmixSettings(TypedDict):
    """Settings of an unmixing."""

    shape: tuple[int, int] | None
    #: One of ABUNDANCES.
    abundances: str
    #: "auto", "none" or a number of pixels, as text.
    outliers: str
    #: One of NEGATIVES.
    negative: str
    threads: int


class Run(TypedDict):
    """How to run it: until when, and who hears of progress."""

    max_seconds: float | None
    progress: Listener | None
