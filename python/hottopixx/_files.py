"""Matrices from files that other programs write: MATLAB, HDF5 and AnnData, Parquet, ENVI."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.io
import scipy.sparse as sp

from ._advice import advise

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

#: Tables that pandas reads.
_TEXT_TABLES = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
#: What columns are called that number rows, or hold their years: no data, and larger than most.
_IDS = ("id", "ids", "index", "idx", "row", "rows", "unnamed: 0", "__index_level_0__")
_YEARS = ("year", "years", "yr")

#: Where AnnData keeps the matrix of observations x variables.
_ANNDATA = "X"


class NamedMatrix(NamedTuple):
    """A matrix as a file has it, with names where the file has some."""

    #: ndarray or csr_array.
    matrix: Any
    #: What the rows are called.
    rows: list[str] | None
    #: What the columns are called.
    columns: list[str] | None


def read(path: str | os.PathLike[str], key: str | None = None) -> NamedMatrix:
    """Read a matrix from a file, as it lies there.

    Parameters
    ----------
    path : path-like
        A file by its extension: `.mat` (MATLAB up to version 7.2), `.h5ad` (AnnData: observations x
        variables), `.h5`, `.hdf5` (needs h5py, as `.h5ad` and `.mat` of version 7.3 do), `.parquet`
        (needs pyarrow; columns of numbers are the matrix but for ids and years, which a warning
        tells of, and one of text names the rows), `.npy`, `.npz` (numpy's and scipy's), `.mtx`,
        `.hdr` (the header of an ENVI image, which needs spectral: a cube of height x width x bands,
        with the wavelengths as names of `columns`).
    key : str, optional
        Which variable or data set, where there are several; "layers/counts" for a layer of AnnData.

    Returns
    -------
    NamedMatrix
        `matrix` (ndarray or csr_array), and the names of `rows` and `columns` or None.

    Examples
    --------
    >>> import tempfile, scipy.io, hottopixx
    >>> file = tempfile.gettempdir() + "/readings.mat"
    >>> scipy.io.savemat(file, {"X": [[1.0, 2.0], [3.0, 4.0]]})
    >>> hottopixx.read(file).matrix.tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    path = Path(path)
    endings = "".join(path.suffixes[-2:]).lower()
    readers: dict[str, Callable[[Path, str | None], NamedMatrix]] = {
        ".mat": _mat,
        ".h5ad": _hdf5,
        ".h5": _hdf5,
        ".hdf5": _hdf5,
        ".parquet": _parquet,
        ".npy": _npy,
        ".npz": _npz,
        ".mtx": _mtx,
        ".mtx.gz": _mtx,
        ".hdr": _envi,
    }
    for ending in (endings, path.suffix.lower()):
        if ending in readers:
            if not path.exists():
                raise FileNotFoundError(f"{path} does not exist")
            return readers[ending](path, key)
    known = ", ".join(readers)
    is_table = path.name.lower().endswith(_TEXT_TABLES)
    remedy = "read it with pandas.read_csv and give the frame" if is_table else "convert it"
    raise ValueError(f"{path} has none of the endings that are known ({known}): {remedy}")


def _chosen(
    path: Path, names: list[str], key: str | None, what: str, scenes: Sequence[str] = ()
) -> str:
    """The one that is asked for, or the only one; `scenes` are those of three dimensions."""
    listed = ", ".join(names) or "nothing"
    if key is not None:
        if key not in names:
            raise ValueError(f"{path} has no {what} {key!r}, but {listed}: choose one with key=")
        return key
    if len(names) != 1:
        hint = "; HottSamples and `hottopixx unmix` take scenes: " + ", ".join(scenes)
        raise ValueError(
            f"{path} has {len(names)} matrices ({listed}): choose one with key="
            f"{hint if scenes else ''}"
        )
    return names[0]


def _plain(matrix: Any) -> Any:
    if not sp.issparse(matrix):
        return np.asarray(matrix)
    sparse: Any = matrix
    return sp.csr_array(sparse)


def _mat(path: Path, key: str | None) -> NamedMatrix:
    try:
        held = scipy.io.loadmat(path)
    except NotImplementedError:  # version 7.3 is HDF5, columns first
        found = _hdf5(path, key)
        return NamedMatrix(found.matrix.T, None, None)

    def of(sides: int) -> list[str]:
        return [
            name
            for name, value in held.items()
            if not name.startswith("__")
            and getattr(value, "ndim", 0) == sides
            and value.dtype.kind in "iufb"
            and min(value.shape) > 1
        ]

    scenes = of(3)
    chosen = _chosen(path, of(2) + scenes, key, "matrix", scenes)
    return NamedMatrix(_plain(held[chosen]), None, None)


def _hdf5(path: Path, key: str | None) -> NamedMatrix:
    try:
        import h5py
    except ImportError:
        raise ImportError(f"{path} is HDF5, and h5py is not installed: pip install h5py") from None
    with h5py.File(path) as file:
        if key is None and "obs" in file and "var" in file:
            key = _ANNDATA
        names: list[str] = []
        file.visititems(lambda name, item: names.append(name) if _is_matrix(item) else None)
        inner = tuple(f"{name}/" for name in names)
        names = [name for name in names if not name.startswith(inner)]
        scenes = [name for name in names if getattr(file[name], "ndim", 2) == 3]
        item = file[_chosen(path, names, key, "matrix", scenes)]
        shaped = "obs" in file and "var" in file
        rows = _index(file, "obs") if shaped else None
        columns = _index(file, "var") if shaped else None
        return NamedMatrix(_values(item), rows, columns)


def _is_matrix(item: Any) -> bool:
    """Whether it is a matrix, a scene, or a sparse matrix as AnnData and 10x write it."""
    if hasattr(item, "ndim"):
        return bool(item.ndim in (2, 3) and item.dtype.kind in "iufb")
    return {"data", "indices", "indptr"} <= set(item)


def _values(item: Any) -> Any:
    if hasattr(item, "ndim"):
        return np.asarray(item)
    parts = tuple(np.asarray(item[name]) for name in ("data", "indices", "indptr"))
    shape = item.attrs.get("shape", item.attrs.get("h5sparse_shape"))
    if shape is None:
        shape = item["shape"][()]
    format = item.attrs.get("encoding-type", item.attrs.get("h5sparse_format", "csc_matrix"))
    by_rows = str(format).startswith("csr")
    matrix: Any = sp.csr_array if by_rows else sp.csc_array
    return sp.csr_array(matrix(parts, shape=tuple(int(side) for side in shape)))


def _index(file: Any, name: str) -> list[str] | None:
    """The names that AnnData keeps for observations or variables."""
    group = file[name]
    column = group.attrs.get("_index", "_index") if hasattr(group, "keys") else None
    if column is None or column not in group:
        return None
    return [v.decode() if isinstance(v, bytes) else str(v) for v in group[column][()]]


def _parquet(path: Path, key: str | None) -> NamedMatrix:
    try:
        import pyarrow.parquet as parquet
        import pyarrow.types as types
    except ImportError:
        raise ImportError(
            f"{path} is Parquet, and pyarrow is missing: pip install pyarrow"
        ) from None
    table = parquet.read_table(path)
    numbers, text = [], []
    for field in table.schema:
        kind = field.type
        if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
            numbers.append(field.name)
        elif types.is_string(kind) or types.is_large_string(kind):
            text.append(field.name)
    if not numbers:
        raise ValueError(
            f"{path} has no column of numbers: for topics of a column of text, give "
            f'HottTopics pd.read_parquet("{path.name}")[{(text or ["text"])[0]!r}]'
        )
    holes = [name for name in numbers if table[name].null_count]
    if holes:
        raise ValueError(f"{path} has missing values in column {holes[0]!r}: fill or drop them")
    if key is not None:
        names: str | None = _chosen(path, text, key, "column of text")
    else:
        names = text[0] if len(text) == 1 else None
    aside = [name for name in numbers if _numbers_rows(name, table[name].to_numpy())]
    if aside and len(aside) < len(numbers):
        listed = ", ".join(repr(name) for name in aside)
        advise(
            f"{path}: set aside {listed}, which tell rows or years: read it by pandas to keep them"
        )
        numbers = [name for name in numbers if name not in aside]
        names = aside[0] if names is None else names
    columns = [table[name].to_numpy().astype(float) for name in numbers]
    rows = None if names is None else [str(name) for name in table[names].to_pylist()]
    return NamedMatrix(np.column_stack(columns), rows, numbers)


def _numbers_rows(name: str, values: Any) -> bool:
    """Whether a column says which row this is: ids, all different, or years."""
    name = name.strip().lower()
    if values.dtype.kind not in "iu":
        return False
    if name in _YEARS:
        return bool(((values >= 1500) & (values <= 2200)).all())
    return (name in _IDS or name.endswith("_id")) and len(np.unique(values)) == len(values)


def _npy(path: Path, key: str | None) -> NamedMatrix:
    return NamedMatrix(np.load(path, allow_pickle=False), None, None)


def _npz(path: Path, key: str | None) -> NamedMatrix:
    with np.load(path, allow_pickle=False) as held:
        names = list(held)
        if "format" in names and "shape" in names:
            return NamedMatrix(_plain(sp.load_npz(path)), None, None)
        return NamedMatrix(held[_chosen(path, names, key, "array")], None, None)


def _mtx(path: Path, key: str | None) -> NamedMatrix:
    return NamedMatrix(_plain(scipy.io.mmread(path)), None, None)


def _envi(path: Path, key: str | None) -> NamedMatrix:
    try:
        import spectral
    except ImportError:
        raise ImportError(
            f"{path} is ENVI, and spectral is missing: pip install spectral"
        ) from None
    image = spectral.open_image(str(path))
    wavelengths = image.bands.centers
    columns = None if wavelengths is None else [f"{value:g}" for value in wavelengths]
    return NamedMatrix(np.asarray(image.load()), None, columns)
