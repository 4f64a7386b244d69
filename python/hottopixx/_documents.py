"""Documents as the native functions want them: strings in batches, or counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import scipy.sparse as sp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

#: Documents and characters of a batch: enough for all threads, too few to wait for.
_BATCH = 4096
_BATCH_LENGTH = 1 << 23


def are_text(X: Any) -> bool:
    """Whether X is documents as strings, not numbers in a table.

    Raises
    ------
    ValueError
        When it is one string, or a table in which a column is text.
    """
    if isinstance(X, (str, bytes)):
        raise ValueError("X is one string: give a list of documents, a string each")
    if sp.issparse(X):
        return False
    shape = getattr(X, "shape", None)
    if shape is not None:
        if len(shape) == 2:
            _refuse_text_columns(X)
        return len(shape) == 1 and getattr(X.dtype, "kind", "O") not in "iufcb"
    if isinstance(X, (list, tuple)):
        return not X or isinstance(X[0], (str, bytes)) or X[0] is None
    return hasattr(X, "__iter__") and not hasattr(X, "__array__")


def _refuse_text_columns(X: Any) -> None:
    for name in getattr(X, "columns", ()):
        column = X[name]
        if len(column.shape) == 1 and isinstance(next(iter(column), None), str):
            raise ValueError(
                f"X is a table whose column {name!r} is text: give the column, X[{name!r}], or "
                "counts of words"
            )


def batches(documents: Iterable[Any]) -> Iterator[list[str]]:
    """Some documents at a time.

    Raises
    ------
    ValueError
        When one is no string; the sentence tells which.
    """
    batch: list[str] = []
    length = 0
    for number, document in enumerate(documents):
        if not isinstance(document, str):
            raise ValueError(
                f"document {number} is {_shown(document)}, not a string: leave it out, or put an "
                'empty string ("") in its place'
            )
        batch.append(document)
        length += len(document)
        if len(batch) == _BATCH or length >= _BATCH_LENGTH:
            yield batch
            batch, length = [], 0
    if batch:
        yield batch


def each_batch(documents: Iterable[Any], take: Callable[[list[str]], Any]) -> list[Any]:
    """What `take` makes of the documents, batch by batch; there must be some."""
    made, seen = [], 0
    for batch in batches(documents):
        try:
            made.append(take(batch))
        except UnicodeEncodeError as error:
            place = seen + next(k for k, text in enumerate(batch) if text == error.object)
            raise ValueError(
                f"document {place} has a character that is none ({error.reason}): read the text "
                'with errors="replace"'
            ) from None
        seen += len(batch)
    if not made:
        raise ValueError("there are 0 documents: give some")
    return made


def _shown(value: Any) -> str:
    return repr(value) if value is None or isinstance(value, float) else f"a {type(value).__name__}"
