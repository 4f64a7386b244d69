"""Documents as the native functions want them: strings in batches, or counts."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from ._advice import advise

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
        When it is one string, a path, or a table in which columns are text.
    """
    if isinstance(X, (str, bytes, os.PathLike)):
        what = "a path" if isinstance(X, os.PathLike) else "one string"
        raise ValueError(f"X is {what}: give a list of documents, a string each")
    if sp.issparse(X):
        return False
    shape = getattr(X, "shape", None)
    if shape is not None:
        if len(shape) == 2:
            _refuse_text_columns(X)
            return _is_column_of_text(X)
        return len(shape) == 1 and getattr(X.dtype, "kind", "O") not in "iufcb"
    if isinstance(X, (list, tuple)):
        first = next((value for value in X if not _is_missing(value)), "")
        if isinstance(first, (list, tuple)):  # of words, or a row of counts
            return any(isinstance(value, str) for value in first)
        return isinstance(first, (str, bytes)) or np.isscalar(first)
    if hasattr(X, "to_pylist"):  # an array of Arrow
        return True
    return hasattr(X, "__iter__") and not hasattr(X, "__array__")


def _is_missing(value: Any) -> bool:
    """Whether a document is None, NaN or what pandas puts in its place."""
    if isinstance(value, (float, np.floating)):
        return bool(np.isnan(value))
    return value is None or type(value).__name__ == "NAType"


def _is_column_of_text(X: Any) -> bool:
    """Whether X is an array of one column of strings."""
    if X.shape[1] != 1 or getattr(getattr(X, "dtype", None), "kind", "f") not in "OUS":
        return False
    first = next((value for value in X[:, 0] if not _is_missing(value)), None)
    return isinstance(first, (str, bytes))


def _refuse_text_columns(X: Any) -> None:
    for name in getattr(X, "columns", ()):
        column = X[name]
        if len(column.shape) == 1 and isinstance(next(iter(column), None), str):
            raise ValueError(
                f"X is a table whose column {name!r} is text: give the column, X[{name!r}], or "
                "counts of words"
            )


def _each(documents: Any) -> Iterator[Any]:
    """The documents one by one, of a column of an array and of Arrow, too."""
    if hasattr(documents, "to_pylist"):
        documents = documents.to_pylist()
    elif len(getattr(documents, "shape", ())) == 2:
        documents = documents[:, 0]
    yield from documents


def batches(documents: Iterable[Any]) -> Iterator[list[str]]:
    """Some documents at a time; those that are missing are empty, which a warning says.

    Raises
    ------
    ValueError
        When one is no text; the sentence tells which.
    """
    batch: list[str] = []
    length = missing = 0
    for number, document in enumerate(_each(documents)):
        if isinstance(document, bytes):
            text = _decoded(document)
        elif isinstance(document, str):
            text = document
        elif _is_missing(document):
            text, missing = "", missing + 1
        else:
            remedy = 'leave it out, or put an empty string ("") in its place'
            if isinstance(document, (list, tuple)):
                remedy = 'join its words, " ".join(document)'
            elif not number:
                remedy = "give documents as strings, or counts as a table of documents x words"
            raise ValueError(
                f"document {number} is a {type(document).__name__}, not a string: {remedy}"
            )
        batch.append(text)
        length += len(text)
        if len(batch) == _BATCH or length >= _BATCH_LENGTH:
            yield batch
            batch, length = [], 0
    if batch:
        yield batch
    if missing:
        are = "1 document is" if missing == 1 else f"{missing} documents are"
        advise(
            f"{are} missing (None or NaN) and counted as empty: leave them out if they are none."
        )


def _decoded(document: bytes) -> str:
    """Bytes as text, as the program reads files."""
    try:
        return document.decode()
    except UnicodeDecodeError:
        return document.decode("latin-1")


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
