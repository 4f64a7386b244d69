"""Rows of the paper's X in the words of the caller: features, or samples."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What columns are, where rows are called otherwise.
_COLUMNS = {"feature": "sample", "sample": "feature", "word": "word"}


def in_words(text: str, noun: str) -> str:
    """A sentence about rows and columns, as one about what they are for the caller."""
    if noun == "row":
        return text
    text = re.sub(r"\bcolumn(s?)\b", rf"{_COLUMNS[noun]}\1", text)
    text = re.sub(r"\brank\b", "n_components", text)
    return re.sub(r"\brow(s?)\b", rf"{noun}\1", text)


@contextmanager
def spoken(noun: str) -> Iterator[None]:
    """Lets errors about rows speak of what they are for the caller."""
    try:
        yield
    except (ValueError, RuntimeError) as error:
        said = str(error)
        if noun == "row" or in_words(said, noun) == said:
            raise
        raise type(error)(in_words(said, noun)) from None
