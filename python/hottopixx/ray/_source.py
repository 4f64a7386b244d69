"""Where documents come from: partitions that a worker can load on its own.

Documents are rows here, as they lie in files: a block is documents x terms, a scipy CSR array or a
numpy array of float64.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import scipy.sparse as sp

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

#: A scipy CSR array or a numpy array of float64.
Block: TypeAlias = Any

#: Names of the two list columns of a Parquet file or a Ray Dataset.
TERMS, VALUES = "terms", "values"
#: What a folder may hold beside its partitions: names of the terms, one a line, and what there is.
VOCABULARY, MANIFEST = "vocabulary.txt", "partitions.json"
#: More terms than anybody has: a number beyond is a damaged one.
_MOST_TERMS = 2**28


def is_sparse(block: Block) -> bool:
    """Whether only nonzeros are stored."""
    return bool(sp.issparse(block))


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
        parquet = _need_parquet()
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
            return _widened(block, int(told)), True


class NumpyFile(_File):
    """A scipy sparse matrix (`.npz`) or a numpy array (`.npy`), documents x terms."""

    def load(self, first: int = 0, last: int | None = None) -> tuple[Block, bool]:
        """Reads the file; only these documents of an array."""
        with refusing(self.name):
            if self.path.endswith(".npy"):
                array = np.load(self.path, mmap_mode="r", allow_pickle=False)
                return np.asarray(array[first:last]), True
            return _csr(sp.load_npz(self.path))[first:last], True


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
                return _csr(block)[first:last], True
            return np.asarray(block)[first:last], True


def _csr(matrix: Any) -> sp.csr_array:
    """By rows; indices are looked at first, since scipy trusts them when it converts."""
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)
    return sp.csr_array(matrix)


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


def from_arrow(table: Any) -> Block:
    """Documents from a table: list columns of terms and values, or of values alone, as a block."""
    if VALUES not in table.column_names:
        raise ValueError(f"it has no column '{VALUES}' (lists of numbers)")
    starts, values = _lists(table, VALUES)
    values = values.astype(np.float64, copy=False)
    if TERMS not in table.column_names:
        lengths = np.diff(starts)
        if lengths.size and (lengths != lengths[0]).any():
            raise ValueError(f"without a column '{TERMS}' all lists of '{VALUES}' are equally long")
        return values.reshape(len(lengths), int(lengths[0]) if lengths.size else 0)
    term_starts, terms = _lists(table, TERMS)
    if not np.array_equal(starts, term_starts):
        wrong = int(np.flatnonzero(np.diff(starts) != np.diff(term_starts))[0])
        raise ValueError(f"document {wrong} has not as many values as terms")
    if terms.dtype.kind not in "iu":
        raise ValueError(f"column '{TERMS}' must hold whole numbers")
    if terms.size and (terms.min() < 0 or terms.max() >= _MOST_TERMS):
        wrong = int(terms.min() if terms.min() < 0 else terms.max())
        raise ValueError(f"it has term {wrong}: terms count from 0 to {_MOST_TERMS - 1}")
    width = int(terms.max()) + 1 if terms.size else 0
    return sp.csr_array((values, terms, starts), shape=(len(starts) - 1, width))


def _lists(table: Any, name: str) -> tuple[NDArray[np.int64], Any]:
    """Where each list begins, and all entries one after the other."""
    import pyarrow as pa

    starts, entries = [np.zeros(1, np.int64)], []
    for chunk in table.column(name).chunks:
        chunk = _unwrapped(chunk)
        if not pa.types.is_list(chunk.type) and not pa.types.is_large_list(chunk.type):
            if not pa.types.is_fixed_size_list(chunk.type):
                raise ValueError(f"column '{name}' must hold lists of numbers")
            chunk = chunk.cast(pa.list_(chunk.type.value_type))
        flat = chunk.flatten()
        if chunk.null_count or flat.null_count:
            raise ValueError(f"column '{name}' has missing entries")
        offsets = chunk.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
        starts.append(offsets[1:] - offsets[0] + starts[-1][-1])
        entries.append(flat.to_numpy(zero_copy_only=False))
    joined = entries[0] if len(entries) == 1 else np.concatenate([np.empty(0), *entries])
    if len(entries) > 1 and all(part.dtype.kind in "iu" for part in entries):
        joined = np.concatenate(entries)
    return np.concatenate(starts), joined


def _unwrapped(chunk: Any) -> Any:
    """Lists that Ray keeps as arrays of numpy, as lists."""
    import pyarrow as pa

    if isinstance(chunk, pa.ExtensionArray):
        chunk = chunk.storage
    return chunk.field("data") if pa.types.is_struct(chunk.type) else chunk


def _widened(block: Block, terms: int) -> Block:
    """The same documents with all the terms that the file says there are."""
    if not is_sparse(block):
        return block
    if block.shape[1] > terms:
        raise ValueError(f"it has term {block.shape[1] - 1}, but says that it has {terms} terms")
    return sp.csr_array((block.data, block.indices, block.indptr), shape=(block.shape[0], terms))


def _need_parquet() -> Any:
    try:
        import pyarrow.parquet
    except ImportError:
        raise ImportError(
            "Parquet files need pyarrow: pip install 'hottopixx[ray]', or give .npz files"
        ) from None
    return pyarrow.parquet


def write(
    documents: Any,
    folder: str | os.PathLike[str],
    *,
    partition: int = 100_000,
    format: str = "npz",
    names: Sequence[str] | None = None,
) -> list[str]:
    """Write documents x terms into a folder of partitions that `factor` reads.

    Files of the formats that the command line reads are split by `hottopixx partition`.

    Parameters
    ----------
    documents : array-like or scipy sparse matrix of shape (documents, terms)
        Nonnegative.
    folder : path
        Made if it is not there.
    partition : int, default=100_000
        Documents in a file.
    format : {"npz", "parquet"}, default="npz"
        scipy's format (`.npy` for arrays), or Parquet with two list columns, "terms" and "values".
    names : sequence of str, optional
        Names of the terms.

    Returns
    -------
    list of str
        Names of the files.

    Examples
    --------
    >>> import tempfile, numpy as np, hottopixx.ray
    >>> folder = tempfile.mkdtemp()
    >>> hottopixx.ray.write(np.ones((5, 3)), folder, partition=2)
    ['part-00000.npy', 'part-00001.npy', 'part-00002.npy']
    """
    matrix = sp.csr_array(documents) if is_sparse(documents) else np.asarray(documents, float)
    if matrix.ndim != 2:
        raise ValueError(f"documents has {matrix.ndim} dimensions: it must have 2")
    if partition < 1:
        raise ValueError(f"partition is {partition}: give a number of documents, from 1")
    if format not in ("npz", "parquet"):
        raise ValueError(f"format is {format!r}: choose 'npz' or 'parquet'")
    labels = None if names is None else [str(name) for name in names]
    if labels is not None and len(labels) != matrix.shape[1]:
        raise ValueError(f"{len(labels)} names for {matrix.shape[1]} terms: give one for each")
    if labels is not None and any("\n" in name for name in labels):
        raise ValueError("a name holds a line break: names are written one a line")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    # Until all is written, the folder says nothing about what it held before.
    (folder / MANIFEST).unlink(missing_ok=True)
    (folder / VOCABULARY).unlink(missing_ok=True)
    files = []
    for k, first in enumerate(range(0, matrix.shape[0], partition)):
        block = matrix[first : first + partition]
        kind = format if format == "parquet" or is_sparse(block) else "npy"
        name = f"part-{k:05}.{kind}"
        whole(folder / name, partial(_write, block, kind))
        files.append(name)
    if labels is not None:
        text = "".join(f"{name}\n" for name in labels)
        whole(folder / VOCABULARY, lambda file: file.write(text.encode()))
    about = json.dumps({"partitions": files}, indent=1)
    whole(folder / MANIFEST, lambda file: file.write(about.encode()))
    return files


def _write(block: Block, kind: str, file: Any) -> None:
    if kind == "npy":
        np.save(file, block, allow_pickle=False)
    elif kind == "npz":
        sp.save_npz(file, block, compressed=False)
    else:
        import pyarrow as pa

        columns = {}
        if is_sparse(block):
            starts = pa.array(block.indptr.astype(np.int64))
            terms = pa.array(block.indices.astype(np.uint32))
            columns[TERMS] = pa.LargeListArray.from_arrays(starts, terms)
            columns[VALUES] = pa.LargeListArray.from_arrays(starts, pa.array(block.data))
        else:
            flat = pa.array(np.ascontiguousarray(block).ravel())
            columns[VALUES] = pa.FixedSizeListArray.from_arrays(flat, block.shape[1])
        table = pa.table(columns)
        if is_sparse(block):
            table = table.replace_schema_metadata({TERMS: str(block.shape[1])})
        _need_parquet().write_table(table, file)


def whole(path: Path, write: Callable[[Any], object]) -> None:
    """Writes a file that is there with all its bytes, or not at all."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(beside, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
