"""A progress bar for terminals and notebooks."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

from ._words import in_words

_WORDS = {
    "normalise": "preparing",
    "localise": "looking for hott rows",
    "select": "choosing",
    "clean": "fitting",
    "workers": "on the workers",
}


class Bar:
    """Shows what is under way: one line that changes, on standard error or in a notebook's cell.

    The line goes away when all is done. Output that is neither a terminal nor a notebook gets a
    line for each step instead, which stays.
    """

    def __init__(self, noun: str = "row") -> None:
        self._noun = noun
        self._cell = _notebook_cell()
        self._terminal = sys.stderr.isatty()
        self._task: tuple[str, str] | None = None
        self._begun = time.monotonic()
        self._width = 0

    def __call__(
        self, stage: str, task: str, done: int, total: int | None, figure: tuple[str, float] | None
    ) -> None:
        """Hears of progress."""
        if self._task != (stage, task):
            self._task = (stage, task)
            self._begun = time.monotonic()
            if not self._terminal and self._cell is None:
                print(f"hottopixx: {self._step(stage, task)}", file=sys.stderr)
        self._show(self._line(stage, task, done, total, figure))

    def _step(self, stage: str, task: str) -> str:
        return in_words(f"{_WORDS.get(stage, stage)}: {task}", self._noun)

    def _line(
        self, stage: str, task: str, done: int, total: int | None, figure: tuple[str, float] | None
    ) -> str:
        line = self._step(stage, task)
        if total:
            filled = 20 * done // total
            line += f" [{'#' * filled}{'.' * (20 - filled)}] {done}/{total}"
            elapsed = time.monotonic() - self._begun
            if done and elapsed > 1:
                line += f", {elapsed * (total - done) / done:.0f} s left"
        if figure:
            line += f", {figure[0]} {figure[1]:.4g}"
        return line

    def _show(self, line: str) -> None:
        if self._cell is not None:
            self._cell.update({"text/plain": line}, raw=True)
        elif self._terminal:
            line = line[:79]
            print(f"\r{line:<{self._width}}", end="", file=sys.stderr, flush=True)
            self._width = len(line)

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._cell is not None:
            self._cell.update({"text/plain": "", "text/html": ""}, raw=True)
        elif self._terminal and self._width:
            print(f"\r{'':<{self._width}}\r", end="", file=sys.stderr, flush=True)


def _notebook_cell() -> Any:
    """Where a notebook shows the bar, or None."""
    try:
        from IPython import display, get_ipython
    except ImportError:
        return None
    shell = get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    return display.display({"text/plain": ""}, raw=True, display_id=True)
