from ._types import Answer, Floats, Native, Run, Settings

__all__ = [
    "BLOCK_DOCUMENTS",
    "CLEANINGS",
    "DENSE_ABOVE",
    "DENSE_TILE",
    "EFFORTS",
    "METHODS",
    "OBJECTIVES",
    "STEP",
    "InfeasibleError",
    "NoAnswerError",
    "__version__",
    "certify",
    "check_settings",
    "compare",
    "cooccurrence",
    "dense_gram_rows",
    "evaluate",
    "factor",
    "generate",
    "is_affordable",
    "l1_fit",
    "pair_rows",
    "squish",
    "squish_matrix",
]

BLOCK_DOCUMENTS: int
CLEANINGS: list[str]
EFFORTS: list[str]
DENSE_ABOVE: float
DENSE_TILE: int
METHODS: list[str]
OBJECTIVES: list[str]
STEP: int
__version__: str

class InfeasibleError(ValueError): ...
class NoAnswerError(RuntimeError): ...

def check_settings(settings: Settings) -> None: ...
def factor(matrix: Native, rank: int, settings: Settings, how: Run) -> Answer: ...
def evaluate(matrix: Native, hott: list[int], settings: Settings, how: Run) -> Answer: ...
def certify(
    matrix: Native, rank: int, hott: list[int] | None, settings: Settings, how: Run
) -> tuple[Answer, str]: ...
def compare(
    matrix: Native, rank: int, settings: Settings, how: Run
) -> tuple[list[tuple[Answer, str]], list[str], list[tuple[str, str]]]: ...
def cooccurrence(counts: Native, how: Run) -> Native: ...
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
