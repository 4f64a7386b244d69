"""How the work is divided, and what each part of it takes. All from numbers, nothing measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._native import BLOCK_DOCUMENTS, DENSE_TILE, STEP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

#: Numbers of a dense block of documents: 256 MiB.
_DENSE_BLOCK = 1 << 25
#: Bytes of a shard of rows when rows are cleaned.
_SHARD = 1 << 28
#: The least number of shards for cleaning, so that some workers have something to do.
_SHARDS = 8
#: Bytes of a worker that has loaded Python, numpy, scipy, Ray and this package.
WORKER = 300 << 20


def block_documents(dense: bool, terms: int) -> int:
    """Documents whose sums are formed together: by the shape alone, never by partitions."""
    if not dense:
        return BLOCK_DOCUMENTS
    fit = max(1, _DENSE_BLOCK // max(terms, 1))
    return int(min(BLOCK_DOCUMENTS, 1 << (fit.bit_length() - 1)))


def blocks(documents: int, size: int) -> list[tuple[int, int]]:
    """First and last document of each block."""
    return [(first, min(first + size, documents)) for first in range(0, documents, size)]


def overlaps(sizes: Sequence[int], first: int, last: int) -> Iterator[tuple[int, int, int]]:
    """Partitions with documents in the range: number, and first and last within the partition."""
    begin = 0
    for k, size in enumerate(sizes):
        low, high = max(first, begin), min(last, begin + size)
        if low < high:
            yield k, low - begin, high - begin
        begin += size


@dataclass(frozen=True)
class Pass:
    """The first pass: every block of documents is combined with every shard of rows."""

    blocks: list[tuple[int, int]]
    #: Where shards of rows begin, and the end.
    cuts: list[int]
    #: The most bytes that a worker takes for itself, by `memory`.
    worker_bytes: int
    #: The most bytes that all workers share, by `shared`.
    shared_bytes: int


def memory(
    documents: int, shard_entries: float, rows: int, width: int, threads: int, dense: bool
) -> int:
    """Bytes that a worker needs of its own for a shard of rows of a block of documents.

    Places and factors (72 per document); the entries of the shard by term (12 each, 16 per term);
    the result, at most twice while it is put together (16 per number); and rows under way. For
    products of dense documents: these twice, in one piece and transposed, and the result.
    """
    if dense:
        return int(WORKER + 16 * documents * width + 16 * rows * width)
    under_way = (8 * threads + 12 * min(STEP, rows)) * width
    own = 72 * documents + 12 * shard_entries + 16 * rows + 16 * rows * width
    return int(WORKER + own + under_way)


def shared(entries: float, documents: int, terms: int, width: int, ahead: int) -> int:
    """Bytes that Ray keeps for all workers: documents of blocks under way, and the result.

    12 per entry and 8 per document for each block, 8 per number for the result and once more for
    blocks that are still to be added.
    """
    blocks = (12 * entries + 8 * documents) * ahead
    return int(blocks + 8 * terms * width * (1 if ahead == 1 else 2))


def divide(
    documents: int,
    frequency: NDArray[np.int64],
    work: NDArray[np.int64],
    *,
    dense: bool,
    width: int,
    slots: int,
    threads: int,
    limit: int,
    strict: bool = False,
) -> Pass:
    """As few shards as leave no slot idle and keep every worker within the limit.

    The sums do not depend on the division, so it may depend on the number of slots. A limit that
    not even one row keeps to is refused if it is strict, and of no use otherwise.
    """
    terms = len(frequency)
    size = block_documents(dense, terms)
    parts = blocks(documents, size)
    share = min(1.0, size / documents)
    entries = float(documents * terms if dense else frequency.sum()) * share
    most = -(-terms // DENSE_TILE) if dense else terms
    count = min(most, -(-2 * slots // len(parts)))
    rows = DENSE_TILE if dense else 1
    least = memory(min(size, documents), entries / terms, min(rows, terms), width, threads, dense)
    if least > limit:
        if strict:
            raise ValueError(
                f"worker_memory is {limit / 1e6:.0f} MB, but a worker needs {least / 1e6:.0f} MB "
                "for one shard of the smallest kind: give more"
            )
        limit = 1 << 62
    while True:
        cuts = balanced(work + width, count, DENSE_TILE if dense else 1)
        per_shard = np.add.reduceat(frequency, cuts[:-1]) * share
        heights = np.diff(cuts)
        needed = max(
            memory(min(size, documents), float(z), int(rows), width, threads, dense)
            for z, rows in zip(per_shard, heights, strict=True)
        )
        if needed <= limit or count >= most:
            ahead = min(len(parts), 1 + 2 * slots // count)
            common = shared(entries, min(size, documents), terms, width, ahead)
            return Pass(parts, cuts, needed, common)
        count = min(most, max(count + 1, int(1.3 * count)))


def balanced(work: NDArray[np.int64], count: int, multiple: int) -> list[int]:
    """Where to cut so that shards have about the same work, at multiples of a number."""
    total = np.concatenate([[0], np.cumsum(work, dtype=float)])
    wanted = total[-1] * np.arange(1, count) / count
    places = np.searchsorted(total, wanted) // multiple * multiple
    return sorted({0, len(work), *(int(place) for place in places)})


def cleaning_cuts(entries: int, terms: int, dense: bool) -> list[int]:
    """Shards of rows for cleaning: by the size of X alone, so that sums come out the same."""
    bytes_ = (8 if dense else 12) * entries
    count = min(terms, max(_SHARDS, -(-bytes_ // _SHARD)))
    return [terms * k // count for k in range(count)] + [terms]


class Counter:
    """Adds in the order of a binary counter, as `add_blocks` of the library does."""

    def __init__(self, add: Callable[[Any, Any], Any]) -> None:
        self._add = add
        self._held: list[tuple[int, Any]] = []

    def push(self, value: Any) -> None:
        """The next one."""
        level = 0
        while self._held and self._held[-1][0] == level:
            value = self._add(self._held.pop()[1], value)
            level += 1
        self._held.append((level, value))

    def total(self) -> Any:
        """The sum of all."""
        value = self._held.pop()[1]
        while self._held:
            value = self._add(self._held.pop()[1], value)
        return value
