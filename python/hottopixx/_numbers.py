"""Rows as the native functions take them, from numbers or names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike


def row_numbers(rows: ArrayLike, names: Sequence[str] | None, what: str = "hott") -> list[int]:
    """Rows of X as the native functions take them, from numbers or names."""
    given = np.asarray(rows)
    if given.ndim == 1 and given.dtype.kind in "UO" and given.size:
        return _by_name([str(name) for name in given], names, what)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise ValueError(f"{what} must be a list of names, or of row numbers, from 0")
    if (given < 0).any():
        raise ValueError(f"row {given.min()} cannot be {what}: rows count from 0")
    return [int(row) for row in given]


def _by_name(wanted: list[str], names: Sequence[str] | None, what: str) -> list[int]:
    """The rows of these names, each of which must stand for one row."""
    if names is None:
        raise ValueError(f"{what} has the name {wanted[0]!r}, but X has no names: give names=")
    places: dict[str, int] = {}
    twice = set()
    for row, name in enumerate(names):
        if places.setdefault(name, row) != row:
            twice.add(name)
    for name in wanted:
        if name not in places:
            raise ValueError(f"{what} has {name!r}, which is none of the names")
        if name in twice:
            raise ValueError(f"{what} has {name!r}, which names several rows: give numbers")
    return [places[name] for name in wanted]
