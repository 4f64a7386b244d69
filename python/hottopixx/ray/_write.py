"""Writing documents into a folder of partitions, and files that are whole or not there."""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from ._blocks import TERMS, VALUES, is_sparse, need_parquet
from ._source import MANIFEST, VOCABULARY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ._blocks import Block


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
        raise ValueError("a name holds a line break: names are written one per line")
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
        need_parquet().write_table(table, file)


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
