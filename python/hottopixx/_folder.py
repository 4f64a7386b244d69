"""Answers in the folders that `hottopixx factor --out` and `hottopixx evaluate --out` write."""

from __future__ import annotations

import csv
import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from ._answer import from_said
from ._saving import with_path

if TYPE_CHECKING:
    from pathlib import Path

    from ._answer import Factorization

#: The steps of which seconds are kept.
_STEPS = ("localize", "select", "clean")


def load_folder(folder: Path) -> Factorization:
    """The whole answer, after every file has been compared with its hash."""
    try:
        said = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        listed = said["files"]
        for file, expected in listed.items():
            if hashlib.sha256((folder / file).read_bytes()).hexdigest() != expected["sha256"]:
                raise ValueError(f"{file} is not of the run that wrote summary.json")
        if "rows.csv" not in listed or "hott" not in said:
            raise ValueError("it holds no whole answer of factor")
        factors = [_matrix(folder, name, listed) for name in ("F", "W")]
        completed = _matrix(folder, "completed", listed) if "missing" in said else None
        names, per_row, diagonal, aside = _rows(folder / "rows.csv")
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"{folder} is no answer of hottopixx ({error}): give a folder that "
            "'hottopixx factor --out' wrote"
        ) from None
    said["notes"] = said.get("notes", [])
    said["zero_rows"] = aside
    # What was set aside is said in a sentence for the page, which is made anew.
    said["outliers"] = sorted(outlier["row"] for outlier in said.get("outliers", ()))
    said["notes"] = [note for note in said["notes"] if "set aside as outliers" not in note]
    said["seconds"] = {step: said["seconds"].get(step, 0.0) for step in _STEPS}
    answer = from_said(said, (*factors, per_row, diagonal), names)
    with_path(answer, said.get("path"))
    object.__setattr__(answer, "completed", completed)
    return answer


def _matrix(folder: Path, name: str, listed: dict[str, Any]) -> Any:
    if f"{name}.npz" in listed:
        return sp.csr_array(sp.load_npz(folder / f"{name}.npz"))
    return np.load(folder / f"{name}.npy", allow_pickle=False)


def _rows(file: Path) -> tuple[list[str] | None, Any, Any, list[int]]:
    """Names, errors and the diagonal by row, and the rows that were set aside."""
    with file.open(encoding="utf-8", newline="") as lines:
        table = list(csv.reader(lines))
    head, rows = table[0], table[1:]
    names = [_name(row[1]) for row in rows]
    per_row = np.array([float(row[2] or 0.0) for row in rows])
    diagonal = np.array([float(row[3]) for row in rows]) if len(head) > 3 else None
    aside = [i for i, row in enumerate(rows) if not row[2]]
    return (names if any(names) else None), per_row, diagonal, aside


def _name(cell: str) -> str:
    """A name without the apostrophe that keeps it from being a formula."""
    return cell[1:] if len(cell) > 1 and cell[0] == "'" and cell[1] in "=+-@\t\r" else cell
