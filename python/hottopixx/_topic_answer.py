"""A topic model as attributes, from the native function or from a file."""

from __future__ import annotations

import json
import math
import os
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from . import _native
from ._native import __version__
from ._topic_views import TopicViews

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from typing_extensions import Self

    from ._types import Floats


#: Names of the columns of counts, and the column that the library means by a word.
Columns: TypeAlias = "tuple[list[str], dict[str, int]]"


#: Words of a topic whose keyness a file keeps.
_SHOWN = 50


class TopicAnswer(TopicViews):
    """The part of `HottTopics` that holds what was found; needs numpy alone."""

    n_components: int
    min_length: int
    numbers: bool
    prior: float
    n_components_: int
    n_features_in_: int

    def _keep(
        self, text: str, matrices: list[Floats], lengths: Floats, columns: Columns | None
    ) -> None:
        """The answer as attributes; words that were left out get columns of zeros."""
        said = json.loads(text)
        topics, anchored, given_word, keyness, self.document_shares_ = matrices
        self.document_lengths_ = lengths
        self.topic_proportions_ = np.array(said["proportions"], dtype=float)
        self.coherence_ = np.array(said["coherence"], dtype=float)
        names = words = said["words"]
        self._kept = np.arange(len(words), dtype=np.intp)
        if columns is not None:
            names, places = columns
            self._kept = np.array([places[word] for word in words], dtype=np.intp)
        self.words_ = np.array(names, dtype=object)
        self.vocabulary_ = {str(self.words_[j]): int(j) for j in self._kept}
        self.components_ = self._spread(topics)
        self.anchored_components_ = self._spread(anchored)
        self.topic_given_word_ = self._spread(given_word.T).T
        self.word_keyness_ = self._spread(keyness)
        self.word_counts_ = self._spread(np.array(said["tokens"], dtype=float))
        self.word_weights_ = self._spread(np.array(said["evidence"], dtype=float))
        self.document_frequencies_ = self._spread(np.array(said["documents"]))
        named = [[str(self.words_[self._kept[j]]) for j in a["words"]] for a in said["anchors"]]
        self.anchors_ = np.array(["+".join(words) for words in named], dtype=object)
        self.anchor_indices_ = self._kept[[anchor["words"][0] for anchor in said["anchors"]]]
        self.stand_ins_ = [
            [str(self.words_[self._kept[j]]) for j in anchor["stand_ins"]]
            for anchor in said["anchors"]
        ]
        self.n_components_ = len(self.anchors_)
        self.perplexity_ = said["perplexity"]
        self.anchored_perplexity_ = said["anchored_perplexity"]
        self.reconstruction_err_ = said["errors"]["weighted_l1"]
        self.mean_reconstruction_err_ = said["errors"]["mean_l1"]
        self.bound_ = said["bound"]
        self.min_df_, self.candidate_df_ = said["min_df"], said["candidate_df"]
        self.notes_, self.advice_ = said["notes"], said["advice"]
        self.n_iter_, self.stop_, self.seconds_ = said["steps"], said["stop"], said["seconds"]
        self._said = said

    def _spread(self, values: Any) -> Any:
        """What belongs to the words of the vocabulary, in the columns of `words_`."""
        if len(self._kept) == len(self.words_):
            return values
        spread = np.zeros((*values.shape[:-1], len(self.words_)), dtype=values.dtype)
        spread[..., self._kept] = values
        return spread

    def report(
        self,
        path: str | os.PathLike[str],
        titles: Sequence[str] | None = None,
        dates: Iterable[Any] | None = None,
        name: str = "documents",
    ) -> None:
        """Write the topics as one page for a browser: a map, words, documents, topics over time.

        Parameters
        ----------
        path : path-like
            Where to, such as "topics.html".
        titles : sequence of str, optional
            What the documents of `fit` are called, in their order; numbers unless given.
        dates : iterable, optional
            Their dates, such as "2004-03-31", years or anything that is written so: the page then
            shows topics over time.
        name : str, default="documents"
            What they are called together, for the page's title.
        """
        self._check_fitted()
        shares = self._of_documents("document_shares_")
        count = len(shares)
        called = [f"document {d + 1}" for d in range(count)]
        if titles is not None:
            called = _one_each(titles, count, "titles")
        said = {
            **self._said,
            "words": [str(self.words_[j]) for j in self._kept],
            "anchors": [
                {**anchor, "name": str(anchor_name)}
                for anchor, anchor_name in zip(self._said["anchors"], self.anchors_, strict=True)
            ],
        }
        page = _native.topics_page(
            json.dumps(said),
            np.ascontiguousarray(self.components_[:, self._kept]),
            np.ascontiguousarray(self.word_keyness_[:, self._kept]),
            np.ascontiguousarray(shares),
            called,
            None if dates is None else _one_each(dates, count, "dates"),
            name,
            f"HottTopics(n_components={self.n_components}).fit({name}).report({str(path)!r})",
            os.cpu_count() or 1,
        )
        Path(path).write_text(page, encoding="utf-8")

    def over_time(self, dates: Iterable[Any], freq: str = "Y") -> Any:
        """The mean share of each topic in the documents of each period.

        Parameters
        ----------
        dates : iterable
            The dates of the documents of `fit`, in their order, as `pandas.to_datetime` takes them.
        freq : str, default="Y"
            The period, as pandas calls it: "Y", "Q", "M", "W" or "D".

        Returns
        -------
        pandas.DataFrame
            A row for each period that has documents, a column for each topic.
        """
        import pandas as pd

        self._check_fitted()
        shares = self._of_documents("document_shares_")
        when = list(dates)
        if len(when) != len(shares):
            raise ValueError(f"there are {len(when)} dates for {len(shares)} documents")
        if when and all(isinstance(date, (int, np.integer)) for date in when):
            when = [str(date) for date in when]  # years, not nanoseconds
        periods = pd.PeriodIndex(pd.to_datetime(pd.Index(when)), freq=freq, name="period")
        return pd.DataFrame(shares, index=periods, columns=self.anchors_).groupby(level=0).mean()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write what new documents need, as a small file of JSON that `hottopixx apply` reads too.

        Parameters
        ----------
        path : path-like
            Where to, such as "model.json".
        """
        self._check_fitted()
        if hasattr(self, "vectorizer_"):
            raise ValueError("a model with a vectorizer of its own has to be pickled instead")
        text = not hasattr(self, "n_features_in_")
        model = {
            "tokeniser": {"min_length": self.min_length, "numbers": self.numbers} if text else None,
            "names": self.anchors_.tolist(),
            "proportions": self.topic_proportions_.tolist(),
            "prior": self.prior,
            "words": self.words_.tolist(),
            "evidence": self.word_weights_.tolist(),
            "topics": self.components_.tolist(),
            "tokens": self.word_counts_.tolist(),
            "coherence": self.coherence_.tolist(),
            "stand_ins": self.stand_ins_,
            "keyness": self._first_by_keyness(),
        }
        _written(model, path)

    def _first_by_keyness(self) -> list[list[tuple[int, float]]]:
        """The first words of each topic, as they are shown: columns with their keyness."""
        if not hasattr(self, "word_keyness_"):
            return []
        first = np.argsort(-self.word_keyness_, axis=1, kind="stable")[:, :_SHOWN]
        return [
            [(int(j), float(row[j])) for j in columns]
            for row, columns in zip(self.word_keyness_, first, strict=True)
        ]

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """A model that `save` wrote, or `hottopixx topics` (`model.json`); it knows no documents.

        Parameters
        ----------
        path : path-like
            The file, or the folder that it is in.

        Returns
        -------
        HottTopics
            With `transform`, `components_` and the names of the topics.
        """
        saved = _read(path)
        model = cls()
        model.n_components, model.prior = len(saved["names"]), saved["prior"]
        model.n_components_ = len(saved["names"])
        model.anchors_ = np.array(saved["names"], dtype=object)
        model.words_ = np.array(saved["words"], dtype=object)
        model.components_ = np.array(saved["topics"], dtype=float)
        model.topic_proportions_ = np.array(saved["proportions"], dtype=float)
        model.word_weights_ = np.array(saved.get("evidence") or [1.0] * len(model.words_))
        model.stand_ins_ = saved.get("stand_ins", [[] for _ in saved["names"]])
        model.coherence_ = np.array(saved.get("coherence", [math.nan] * model.n_components_))
        if "tokens" in saved:
            model.word_counts_ = np.array(saved["tokens"], dtype=float)
        if saved.get("keyness"):
            model.word_keyness_ = np.zeros_like(model.components_)
            for row, first in zip(model.word_keyness_, saved["keyness"], strict=True):
                for column, value in first:
                    row[column] = value
        model._kept = np.flatnonzero(model.components_.any(axis=0))
        model.vocabulary_ = {str(model.words_[j]): int(j) for j in model._kept}
        if saved["tokeniser"] is None:
            model.n_features_in_ = len(model.words_)
        else:
            model.min_length = saved["tokeniser"]["min_length"]
            model.numbers = saved["tokeniser"]["numbers"]
        return model


def _one_each(values: Iterable[Any], count: int, what: str) -> list[str]:
    """One text for each document."""
    texts = ["" if value is None else str(value) for value in values]
    if len(texts) != count:
        raise ValueError(f"there are {len(texts)} {what} for {count} documents: give one for each")
    return texts


def _written(model: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Writes a model as `model.json`, as `hottopixx topics` does."""
    text = json.dumps({"version": __version__, **model}, ensure_ascii=False)
    Path(path).write_text(text, encoding="utf-8")


def _read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """A model that was written; the sentence says what is wrong with it otherwise."""
    path = Path(path)
    if (path.is_dir() and not (path / "model.json").exists()) or zipfile.is_zipfile(path):
        raise ValueError(
            f"{path} is no model of topics: hottopixx.load reads what 'hottopixx factor --out' and "
            "save wrote"
        )
    try:
        text = (path / "model.json" if path.is_dir() else path).read_text(encoding="utf-8")
        model = json.loads(text)
        shape = (len(model["names"]), len(model["words"]))
        fine = np.shape(model["topics"]) == shape and len(model["proportions"]) == shape[0]
        float(model["prior"])
        fine = fine and len(model.get("evidence") or model["words"]) == shape[1]
        words = model["tokeniser"]
        fine = fine and (words is None or {"min_length", "numbers"} <= set(words))
    except (KeyError, TypeError, ValueError):
        fine = False
    if not fine:
        raise ValueError(
            f"{path} is no topic model, nor another answer: load reads files that save() wrote "
            "and folders of 'hottopixx factor --out' and 'hottopixx topics --out'; for data, see "
            "hottopixx.read and pandas.read_csv"
        )
    return dict(model)
