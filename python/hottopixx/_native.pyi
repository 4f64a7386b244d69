from typing import final

from ._types import (
    Answer,
    Csr,
    Floats,
    LeftOut,
    Native,
    Run,
    Settings,
    TopicAnswer,
    TopicSettings,
    UnmixAnswer,
    UnmixSettings,
)

__all__ = [
    "ABUNDANCES",
    "BLOCK_DOCUMENTS",
    "CLEANINGS",
    "DENSE_ABOVE",
    "DENSE_TILE",
    "EFFORTS",
    "METHODS",
    "NEGATIVES",
    "OBJECTIVES",
    "RECOVERIES",
    "STEP",
    "STOP_WORD_LANGUAGES",
    "Corpus",
    "Counter",
    "InfeasibleError",
    "NoAnswerError",
    "Saved",
    "__version__",
    "answer_page",
    "apply",
    "apply_columns",
    "certify",
    "changes",
    "check_settings",
    "compare",
    "cooccurrence",
    "dense_gram_rows",
    "evaluate",
    "factor",
    "fit_topics",
    "generate",
    "held_out",
    "is_affordable",
    "l1_fit",
    "main",
    "pair_rows",
    "path",
    "squish",
    "squish_matrix",
    "topic_words",
    "topics_page",
    "unmix",
]

ABUNDANCES: list[str]
BLOCK_DOCUMENTS: int
CLEANINGS: list[str]
EFFORTS: list[str]
DENSE_ABOVE: float
DENSE_TILE: int
METHODS: list[str]
NEGATIVES: list[str]
OBJECTIVES: list[str]
RECOVERIES: list[str]
STEP: int
STOP_WORD_LANGUAGES: list[str]
__version__: str

class InfeasibleError(ValueError): ...
class NoAnswerError(RuntimeError): ...

@final
class Counter:
    def __new__(
        cls, words: tuple[int, bool], stop_words: LeftOut, phrases: bool, threads: int
    ) -> Counter: ...
    def add(self, documents: list[str]) -> None: ...
    def so_far(self) -> Corpus: ...
    def truncate(self, documents: int) -> None: ...
    @property
    def documents(self) -> int: ...

@final
class Corpus:
    @staticmethod
    def from_counts(counts: Native, names: list[str] | None, stop_words: LeftOut) -> Corpus: ...
    @property
    def documents(self) -> int: ...

@final
class Saved:
    def __new__(
        cls,
        words: tuple[int, bool],
        vocabulary: list[str],
        topics: Floats,
        evidence: list[float],
        proportions: list[float],
        prior: float,
        threads: int,
    ) -> Saved: ...
    def count(self, documents: list[str]) -> Csr: ...
    def shares(self, counts: Native, how: Run) -> Floats: ...

def check_settings(settings: Settings) -> None: ...
def factor(matrix: Native, rank: int, settings: Settings, how: Run) -> Answer: ...
def evaluate(matrix: Native, hott: list[int], settings: Settings, how: Run) -> Answer: ...
def apply(w: Native, rows: Native, settings: Settings, how: Run) -> tuple[str, Native, Floats]: ...
def apply_columns(
    f: Native, hott: list[int], columns: Native, settings: Settings, how: Run
) -> tuple[str, Native, Floats, Floats]: ...
def changes(f: Native, w: Native, hott: list[int], before: list[int]) -> str: ...
def certify(
    matrix: Native, rank: int, hott: list[int] | None, settings: Settings, how: Run
) -> tuple[Answer, str]: ...
def compare(
    matrix: Native, rank: int, settings: Settings, how: Run
) -> tuple[list[tuple[Answer, str]], list[str], list[tuple[str, str]]]: ...
def held_out(
    matrix: Native, most: int, share: float, settings: Settings, how: Run
) -> tuple[str, str]: ...
def path(matrix: Native, hott: list[int], settings: Settings, how: Run) -> tuple[str, str]: ...
def answer_page(
    kept: str,
    f: Native,
    w: Native,
    per_row: Floats,
    diagonal: Floats | None,
    label: str,
    call: str,
) -> str: ...
def main(words: list[str]) -> int: ...
def cooccurrence(counts: Native, how: Run) -> Native: ...
def fit_topics(corpus: Corpus, rank: int, settings: TopicSettings, how: Run) -> TopicAnswer: ...
def topic_words(
    corpus: Corpus, rank: int, settings: TopicSettings, how: Run
) -> tuple[list[str], Native]: ...
def topics_page(
    said: str,
    topics: Floats,
    keyness: Floats,
    shares: Floats,
    titles: list[str],
    dates: list[str] | None,
    label: str,
    call: str,
    threads: int,
) -> str: ...
def unmix(pixels: Floats, rank: int, settings: UnmixSettings, how: Run) -> UnmixAnswer: ...
def l1_fit(
    atoms: Floats, x: Floats, upper: list[float] | None
) -> tuple[Floats, float, Floats, float, bool, int]: ...
def squish(column: Floats, diagonal: int) -> Floats: ...
def squish_matrix(c: Floats, candidates: list[int]) -> Floats: ...
def generate(
    family: str,
    rank: int,
    features: int | None,
    examples: int | None,
    duplicates: int | None,
    noise: float | None,
    ill: float | None,
    tokens: int | None,
    seed: int,
) -> tuple[Native, str]: ...
def pair_rows(
    pieces: list[Native],
    kind: str,
    first: int,
    last: int,
    buckets: tuple[int, int] | None,
    threads: int,
    how: Run,
) -> Native: ...
def dense_gram_rows(documents: Floats, first: int, last: int, threads: int, how: Run) -> Floats: ...
def is_affordable(rows: int, cols: int, entries: int, dense: bool, rank: int) -> bool: ...
