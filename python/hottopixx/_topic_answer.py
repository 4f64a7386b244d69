"""A topic model as attributes, from the native function or from a file."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ._native import __version__
from ._topic_views import TopicViews

if TYPE_CHECKING:
    import os

    from typing_extensions import Self

    from ._types import Floats


#: Names of the columns of counts, and the column that the library means by a word.
Columns: TypeAlias = "tuple[list[str], dict[str, int]]"


class TopicAnswer(TopicViews):
    """The part of `HottTopics` that holds what was found; needs numpy alone."""

    n_components: int
    min_length: int
    numbers: bool
    prior: float
    n_components_: int
    n_features_in_: int

    def _keep(
        self, text: str, matrices: list[Floats], vectors: list[Floats], columns: Columns | None
    ) -> None:
        """The answer as attributes; words that were left out get columns of zeros."""
        said = json.loads(text)
        topics, anchored, given_word, self.document_shares_ = matrices
        self.topic_proportions_, self.coherence_, tokens, self.document_lengths_, weights = vectors
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
        self.word_counts_ = self._spread(tokens)
        self.word_weights_ = self._spread(weights)
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
        self.reconstruction_err_ = said["weighted_l1"]
        self.mean_reconstruction_err_ = said["mean_l1"]
        self.min_df_, self.candidate_df_ = said["min_df"], said["candidate_df"]
        self.notes_, self.advice_ = said["notes"], said["advice"]
        self.n_iter_, self.stop_, self.seconds_ = said["steps"], said["stop"], said["seconds"]

    def _spread(self, values: Any) -> Any:
        """What belongs to the words of the vocabulary, in the columns of `words_`."""
        if len(self._kept) == len(self.words_):
            return values
        spread = np.zeros((*values.shape[:-1], len(self.words_)), dtype=values.dtype)
        spread[..., self._kept] = values
        return spread

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
        }
        _written(model, path)

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
        model._kept = np.flatnonzero(model.components_.any(axis=0))
        model.vocabulary_ = {str(model.words_[j]): int(j) for j in model._kept}
        if saved["tokeniser"] is None:
            model.n_features_in_ = len(model.words_)
        else:
            model.min_length = saved["tokeniser"]["min_length"]
            model.numbers = saved["tokeniser"]["numbers"]
        return model


def _written(model: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Writes a model as `model.json`, as `hottopixx topics` does."""
    text = json.dumps({"version": __version__, **model}, ensure_ascii=False)
    Path(path).write_text(text, encoding="utf-8")


def _read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """A model that was written; the sentence says what is wrong with it otherwise."""
    path = Path(path)
    text = (path / "model.json" if path.is_dir() else path).read_text(encoding="utf-8")
    try:
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
        raise ValueError(f"{path} is no topic model: give a file that save() or the program wrote")
    return dict(model)
