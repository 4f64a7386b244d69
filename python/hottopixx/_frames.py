"""Tables for people who work with pandas or polars, whichever they have."""

from __future__ import annotations

from importlib import import_module
from typing import Any

#: In the order in which they are tried.
_BACKENDS = ("pandas", "polars", "pyarrow")


def frame(columns: dict[str, list[Any]], backend: str | None = None) -> Any:
    """A table of these columns.

    Parameters
    ----------
    columns : dict
        Values by name, all of one length.
    backend : {"pandas", "polars", "pyarrow"}, optional
        Who makes the table; unless given, the first of these that is installed.

    Returns
    -------
    pandas.DataFrame, polars.DataFrame or pyarrow.Table
        The table.
    """
    if backend is not None and backend not in _BACKENDS:
        raise ValueError(f"backend is {backend!r}: choose one of {', '.join(_BACKENDS)}")
    for name in _BACKENDS if backend is None else (backend,):
        try:
            module: Any = import_module(name)
        except ImportError:
            continue
        return module.table(columns) if name == "pyarrow" else module.DataFrame(columns)
    wanted = backend or "pandas or polars"
    raise ImportError(f"a table needs {wanted}, which is not installed: pip install pandas")
