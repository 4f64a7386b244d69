"""Advice instead of silence: what data look like that are handed to the wrong place."""

from __future__ import annotations

import warnings
from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from ._arrays import dense, is_sparse

if TYPE_CHECKING:
    from collections.abc import Iterable

#: From here on an answer explains next to nothing.
_NEAR_ONE = 0.9
#: From here on counts of words are badly explained.
_POOR = 0.5
#: Counts of words in documents are zero more often than this.
_MOSTLY_ZERO = 0.5
#: Words differ in frequency this many times more than documents do in length.
_ZIPF = 2.0
#: Names of columns that hold years, and what these are; of columns that number samples.
_YEAR_NAMES = frozenset({"year", "years", "yr", "jahr", "annee", "année", "ano", "año", "anno"})
_YEARS = (1500, 2200)
_ID_NAMES = frozenset({"id", "index"})
#: What may stand in the place of numbers.
_TEXT, _TIMES = "text", "dates or times"
#: Fewer rows or columns say nothing about which are words.
_FEWEST = 20


class AdviceWarning(UserWarning):
    """The answer stands, but something about the data or the settings should be looked at."""


def advise(sentence: str, level: int = 3) -> None:
    """Says it to the caller of the function that calls this."""
    warnings.warn(sentence, AdviceWarning, stacklevel=level)


def stored(X: Any) -> Any:
    """The numbers of a matrix, without zeros that are not stored."""
    if not sp.issparse(X):
        return np.asarray(X)
    matrix: Any = X
    return (matrix if matrix.format in ("csr", "csc", "coo") else matrix.tocsr()).data


def are_whole(values: Any) -> bool:
    """Whether all of these are whole numbers."""
    return values.dtype.kind in "iub" or bool((values == np.rint(values)).all())


def check_counts(counts: Any, name: str) -> None:
    """Refuses what cannot be how often words occur."""
    values = stored(counts)
    if values.dtype.kind not in "iubf" or are_whole(values):
        return  # what are no numbers is refused elsewhere
    wrong = values[np.isfinite(values) & (values != np.rint(values))]
    if not wrong.size:
        return
    raise ValueError(
        f"{name} has the entry {wrong.flat[0]:.6g}, but counts are whole numbers: give how often "
        "each word occurs (CountVectorizer), not tf-idf or other weights"
    )


def advise_on_names(X: Any, names: Any, level: int) -> None:
    """Looks for columns that their names and their values tell to be no measurements."""
    found = [str(name) for j, name in enumerate(names) if _is_label(X, j, str(name).lower())]
    if found:
        what = "column looks" if len(found) == 1 else "columns look"
        advise(
            f"the {what} like years, or numbers of samples, and count as data: {', '.join(found)}. "
            f"Leave out what is no measurement, X.drop(columns={found!r})",
            level,
        )


def _is_label(X: Any, j: int, name: str) -> bool:
    """Whether a column holds years, or one number for each sample, and says so."""
    if name not in _YEAR_NAMES and name not in _ID_NAMES:
        return False
    values = dense((X.tocsc() if is_sparse(X) else X)[:, [j]]).ravel()
    if len(values) < 2 or not are_whole(values):
        return False
    if name in _YEAR_NAMES:
        return bool((values >= _YEARS[0]).all() and (values <= _YEARS[1]).all())
    return len(np.unique(values)) == len(values)


def check_names(names: Iterable[Any]) -> None:
    """Refuses columns of one name."""
    for name, times in Counter(names).most_common(1):
        if times > 1:
            raise ValueError(
                f"two columns are called {name!r}: rename one, so that each has a name of its own"
            )


def about_no_numbers(X: Any) -> str | None:
    """What to do with data that hold text or times in place of numbers; None where none do."""
    if not (hasattr(X, "columns") and hasattr(X, "dtypes")):
        what = None if sp.issparse(X) else _what_is_no_number(X)
        if what is None:
            return None
        return (
            f"X holds {what} where numbers are needed: for topics of a list of texts, "
            "hottopixx.HottTopics().fit(texts); otherwise leave out the columns of names or dates"
        )
    found = {}
    for name, dtype in zip(X.columns, X.dtypes, strict=True):
        known = getattr(dtype, "kind", "O") in "iufbc"
        if not known and (what := _what_is_no_number(X[name])):
            found[str(name)] = what
    if not found:
        return None
    holds = "column holds" if len(found) == 1 else "columns hold"
    kinds = ", ".join(sorted(set(found.values()), reverse=True))
    topics = "; for topics of texts, hottopixx.HottTopics().fit(X[column])"
    return (
        f"the {holds} {kinds}: {', '.join(found)}. Leave out what is no measurement, "
        f"X.drop(columns={list(found)!r}){topics if _TEXT in kinds else ''}"
    )


def _what_is_no_number(values: Any) -> str | None:
    """What some of these are: strings that read as no number, or times."""
    array = np.asarray(values)
    if array.dtype.kind in "mM":
        return _TIMES
    if array.dtype.kind not in "OUST":
        return None
    for value in array.ravel():
        if isinstance(value, str):
            try:
                float(value)
            except ValueError:
                return _TEXT
        elif isinstance(value, timedelta) or hasattr(value, "strftime"):
            return _TIMES
    return None


def advise_on_unknown(counts: Any, level: int = 4) -> None:
    """Looks for documents of which the model knows no word."""
    unknown = int((np.asarray(counts.sum(axis=1)).ravel() == 0).sum())
    if unknown:
        advise(
            f"{unknown} of {counts.shape[0]} documents have no word of the model: they get the "
            "shares of the corpus",
            level,
        )


def look_turned(counts: Any) -> bool:
    """Whether columns, not rows, look like words.

    Words differ in frequency much more than documents do in length: the coefficient of variation
    of the columns' sums is then much the larger one.
    """
    rows, columns = (np.asarray(counts.sum(axis=axis)).ravel() for axis in (1, 0))
    if min(len(rows), len(columns)) < _FEWEST or not rows.sum() > 0:
        return False
    return bool(columns.std() / columns.mean() > _ZIPF * rows.std() / rows.mean())


def advise_on_answer(X: Any, error: float, level: int = 4) -> None:
    """Looks at the mean l1 error of features, given samples x features as the caller handed it."""
    if _looks_like_counts(X, error):
        advise(
            "X looks like counts of words in documents, whose columns hardly overlap: if so, use "
            "hottopixx.HottTopics, which takes the documents or these counts (or factor "
            f"hottopixx.cooccurrence(X.T)); the mean error is {error:.3f}, 1 explains nothing",
            level,
        )
    elif error > _NEAR_ONE:
        advise(
            f"the chosen features explain next to nothing of the others (mean error {error:.3f}, 1 "
            "explains nothing): ask for more components, leave out rare or noisy features, or see "
            "whether samples are the rows of X",
            level,
        )


def _looks_like_counts(X: Any, error: float) -> bool:
    """Whole numbers, most of them zero, and badly explained or straight from a vectoriser."""
    values, size = stored(X), np.prod(np.shape(X))
    if size == 0 or values.dtype.kind not in "iubf":
        return False
    raw = sp.issparse(X) and values.dtype.kind in "iu"
    if not raw and error <= _POOR:
        return False
    return np.count_nonzero(values) < _MOSTLY_ZERO * size and are_whole(values)
