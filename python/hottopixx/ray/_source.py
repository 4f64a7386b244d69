"""Where documents come from: partitions that a worker can load on its own.

Documents are rows here, as they lie in files: a block is documents x terms, a scipy CSR array or a
numpy array of float64.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import scipy.sparse as sp

from ._blocks import TERMS, VALUES, from_arrow, is_sparse, need_parquet, to_csr, widened

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ._blocks import Block

#: What a folder may hold beside its partitions: names of the terms, one per line, and a list.
VOCABULARY, MANIFEST = "vocabulary.txt", "partitions.json"


class PartitionError(ValueError):
    """A partition that cannot be used: the sentence names it and says why."""


class Partition(Protocol):
    """Some documents, and how a worker gets them."""

    @property
    def name(self) -> str:
        """What to call it in messages."""

    def load(self, first: int = 0, last: int | None = None) -> tuple[Block, bool]:
        """Documents from `first` up to `last`, and whether the number of terms is certain."""


@dataclass(frozen=True)
class _File:
    path: str

    @property
    def name(self) -> str:
        """The path."""
        return self.path


class ParquetFile(_File):
    """A file of documents: one list of term ids and one of values each, or values alone."""

    def load(self, first: int = 0, last: int | None = None) -> tuple[Block, bool]:
        """Reads the row groups that hold these documents."""
        parquet = need_parquet()
        with refusing(self.name), parquet.ParquetFile(self.path) as file:
            sizes = [file.metadata.row_group(g).num_rows for g in range(file.num_row_groups)]
            ends = np.cumsum([0, *sizes])
            last = int(ends[-1]) if last is None else last
            groups = [g for g in range(len(sizes)) if ends[g] < last and ends[g + 1] > first]
            names = [name for name in (TERMS, VALUES) if name in file.schema_arrow.names]
            table = file.read_row_groups(groups, columns=names)
            skipped = int(ends[groups[0]]) if groups else first
            block = from_arrow(table.slice(first - skipped, last - first))
            told = (file.schema_arrow.metadata or {}).get(TERMS.encode())
            if told is None:
                return block, not is_sparse(block)
            return widened(block, int(told)), True


class NumpyFile(_File):
    """A scipy sparse matrix (`.npz`) or a numpy array (`.npy`), documents x terms."""

    def load(self, first: int = 0, last: int | None = None) -> tuple[Block, bool]:
        """Reads the file; only these documents of an array."""
        with refusing(self.name):
            if self.path.endswith(".npy"):
                array = np.load(self.path, mmap_mode="r", allow_pickle=False)
                return np.asarray(array[first:last]), True
            return to_csr(sp.load_npz(self.path))[first:last], True


@dataclass(frozen=True)
class InMemory:
    """A block that Ray holds, or that is here: documents x terms, or a table of two lists."""

    name: str
    block: Any

    def load(self, first: int = 0, last: int | None = None) -> tuple[Block, bool]:
        """Looks it up where Ray keeps it."""
        block = self.block
        if type(block).__name__ == "ObjectRef":
            import ray

            block = ray.get(block)
        with refusing(self.name):
            if hasattr(block, "column_names"):
                some = from_arrow(block.slice(first, None if last is None else last - first))
                return some, not is_sparse(some)
            if is_sparse(block):
                return to_csr(block)[first:last], True
            return np.asarray(block)[first:last], True


@dataclass(frozen=True)
class Source:
    """Partitions in order: document numbers run through them."""

    partitions: list[Partition]
    #: Names of the terms, where a folder has them.
    names: list[str] | None = None


def source(data: Any, put: Callable[[Any], Any]) -> Source:
    """What the caller gave, as partitions. `put` hands a block to whoever runs the tasks."""
    if isinstance(data, Source):
        return data
    if isinstance(data, (str, os.PathLike)):
        return _folder(Path(data)) if Path(data).is_dir() else _files([data])
    if hasattr(data, "to_arrow_refs"):
        return Source(_dataset(data))
    if is_sparse(data) or isinstance(data, np.ndarray):
        return Source([InMemory("the matrix", put(data))])
    if isinstance(data, (list, tuple)) and data:
        if all(isinstance(item, (str, os.PathLike)) for item in data):
            return _files(data)
        if all(hasattr(item, "load") and hasattr(item, "name") for item in data):
            return Source(list(data))
        blocks = [InMemory(f"block {k}", put(item)) for k, item in enumerate(data)]
        return Source(list(blocks))
    raise TypeError(
        "documents must be a folder or files (Parquet, .npz, .npy), a Ray Dataset, or matrices "
        "of documents x terms"
    )


def _dataset(data: Any) -> list[Partition]:
    """The blocks of a Ray Dataset that hold any documents, in the order of its rows."""
    import ray

    execution = data.context.execution_options
    before, execution.preserve_order = execution.preserve_order, True
    try:
        tables = data.materialize().to_arrow_refs()
    finally:
        execution.preserve_order = before
    rows = ray.get([ray.remote(_rows).remote(table) for table in tables])
    kept = [table for table, count in zip(tables, rows, strict=True) if count]
    return [InMemory(f"block {k} of the dataset", table) for k, table in enumerate(kept)]


def _rows(table: Any) -> int:
    return int(table.num_rows)


def _folder(folder: Path) -> Source:
    paths = sorted((path for path in folder.iterdir() if _kind(path)), key=_natural)
    manifest = folder / MANIFEST
    if manifest.exists():
        with refusing(str(manifest)):
            listed = json.loads(manifest.read_text(encoding="utf-8"))["partitions"]
            paths = [folder / Path(name).name for name in listed]
    if not paths:
        raise PartitionError(f"{folder} holds no .parquet, .npz or .npy file: give another folder")
    vocabulary = folder / VOCABULARY
    names = None
    if vocabulary.exists():
        with refusing(str(vocabulary)):
            names = vocabulary.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    return Source(_files(paths).partitions, names)


def _files(paths: Sequence[str | os.PathLike[str]]) -> Source:
    partitions: list[Partition] = []
    for path in map(Path, paths):
        kind = _kind(path)
        if not path.exists():
            raise PartitionError(f"{path} is missing: restore it, or leave it out of the list")
        if kind is None:
            raise PartitionError(f"{path} is none of .parquet, .npz and .npy: convert it first")
        partitions.append(kind(str(path)))
    return Source(partitions)


def _kind(path: Path) -> Callable[[str], Partition] | None:
    kinds: dict[str, Callable[[str], Partition]] = {
        ".parquet": ParquetFile,
        ".npz": NumpyFile,
        ".npy": NumpyFile,
    }
    return kinds.get(path.suffix)


def _natural(path: Path) -> list[Any]:
    """Numbers within names by their values: part-2 before part-10."""
    pieces = re.split(r"(\d+)", path.name)
    return [[int(piece) if piece.isdigit() else piece for piece in pieces], path.name]


class refusing:
    """Turns what goes wrong while a partition is read into one sentence that names it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        """Nothing yet."""

    def __exit__(self, kind: type[BaseException] | None, error: Any, traceback: object) -> None:
        """Refuses."""
        if error is None or isinstance(error, (PartitionError, MemoryError)):
            return
        if isinstance(error, FileNotFoundError):
            raise PartitionError(f"{self.name} is missing: restore it and start again") from None
        # Whatever the libraries that read files come up with for damaged ones, and that is a lot.
        if isinstance(error, Exception):
            reason = " ".join(str(error).split()) or type(error).__name__
            raise PartitionError(f"{self.name} cannot be read ({reason[:200]})") from None
