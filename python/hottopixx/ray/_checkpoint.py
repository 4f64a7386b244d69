"""What a driver that died left behind, for the next one to go on from."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from .._arrays import from_native, to_native
from ._blocks import is_sparse
from ._write import whole

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from .._types import Answer
    from ._blocks import Block

_ABOUT, _MATRIX, _ANSWER = "about.json", "matrix", "answer.npz"


class Checkpoint:
    """A folder with the matrix of the first pass and the answer on it, once they are there.

    It belongs to the bytes of the documents and to all settings: with others it is refused.
    """

    def __init__(self, folder: str | os.PathLike[str] | None, about: dict[str, Any]) -> None:
        self._folder = None if folder is None else Path(folder)
        self._about = about
        if self._folder is None or not self._folder.exists():
            return
        path = self._folder / _ABOUT
        if not path.exists():
            if any(self._folder.iterdir()):
                raise ValueError(f"{self._folder} holds other things: give a folder of its own")
            return
        try:
            found = json.loads(path.read_text(encoding="utf-8"))["mark"]
        except (ValueError, KeyError, TypeError):
            found = None
        if found != self._mark():
            raise ValueError(
                f"{self._folder} is a checkpoint of other documents or settings: remove it, or "
                "give another folder"
            )
        for unfinished in self._folder.glob(".*"):  # of a driver that was killed
            unfinished.unlink()

    def _mark(self) -> str:
        text = json.dumps(self._about, sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

    def _keep(self, name: str, write: Callable[[Any], object]) -> None:
        """Writes a file, after what it belongs to."""
        if self._folder is None:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        about = json.dumps({"mark": self._mark(), **self._about}).encode()
        if not (self._folder / _ABOUT).exists():
            whole(self._folder / _ABOUT, lambda file: file.write(about))
        whole(self._folder / name, write)

    def matrix(self) -> Block | None:
        """What the first pass computed, if it is there."""
        if self._folder is None:
            return None
        dense, sparse = (self._folder / f"{_MATRIX}.{kind}" for kind in ("npy", "npz"))
        if dense.exists():
            return np.load(dense, mmap_mode="r", allow_pickle=False)
        return sp.csr_array(sp.load_npz(sparse)) if sparse.exists() else None

    def keep_matrix(self, matrix: Block) -> None:
        """Writes it."""
        if is_sparse(matrix):
            self._keep(f"{_MATRIX}.npz", lambda file: sp.save_npz(file, matrix, compressed=False))
        else:
            self._keep(f"{_MATRIX}.npy", lambda file: np.save(file, matrix, allow_pickle=False))

    def answer(self) -> Answer | None:
        """The native answer on that matrix, if it is there."""
        path = None if self._folder is None else self._folder / _ANSWER
        if path is None or not path.exists():
            return None
        with np.load(path, allow_pickle=False) as kept:
            parts = {name: kept[name] for name in kept.files}

        def native(name: str) -> Any:
            if name in parts:
                return parts[name]
            raw = io.BytesIO(parts[f"{name}.npz"].tobytes())
            return to_native(sp.load_npz(raw))

        diagonal = parts.get("diagonal")
        return str(parts["report"]), native("F"), native("W"), parts["errors"], diagonal, None

    def keep_answer(self, answer: Answer) -> None:
        """Writes it."""
        if self._folder is None:
            return
        report, f, w, errors, diagonal, _ = answer
        parts: dict[str, Any] = {"report": np.array(report), "errors": errors}
        if diagonal is not None:
            parts["diagonal"] = diagonal
        for name, factor in (("F", f), ("W", w)):
            if isinstance(factor, tuple):
                raw = io.BytesIO()
                sp.save_npz(raw, from_native(factor), compressed=False)
                parts[f"{name}.npz"] = np.frombuffer(raw.getvalue(), dtype=np.uint8)
            else:
                parts[name] = factor
        self._keep(_ANSWER, lambda file: np.savez(file, **parts))
