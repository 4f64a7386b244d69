"""What to look at in a topic model: words, documents, tables, pages, other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._cards import card, deck

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._plots import TopicPlots
    from ._types import Floats

#: Rarer words are named for their lift by chance.
_LEAST_TOKENS = 5.0
_MEASURES = ("probability", "keyness", "term_score", "relevance", "frex")
#: A topic has at least this part of what a word's frequency is, for term scores.
_FAINT = 1e-3
#: What pyLDAvis is given for smaller probabilities.
_FAINTEST = 1e-12


class TopicViews:
    """The part of `HottTopics` that shows what was found; needs numpy alone."""

    # Set by `HottTopics.fit`, which tells what they are.
    words_: Any
    anchors_: Any
    components_: Floats
    topic_proportions_: Floats
    stand_ins_: list[list[str]]
    coherence_: Floats
    document_shares_: Floats
    document_lengths_: Floats
    word_counts_: Floats
    word_weights_: Floats
    word_keyness_: Floats
    #: Columns of `components_` that are words of the vocabulary.
    _kept: NDArray[np.intp]

    def _check_fitted(self) -> None:
        raise NotImplementedError

    def top_words(
        self,
        topic: int | str,
        n: int = 10,
        measure: str = "probability",
        weight: float | None = None,
    ) -> list[tuple[str, float]]:
        """The words that say most about a topic.

        Parameters
        ----------
        topic : int or str
            Its number, from 0, or its name in `anchors_`.
        n : int, default=10
            How many words.
        measure : {"probability", "keyness", "term_score", "relevance", "frex"}, \
default="probability"
            What they are sorted by: p(word | topic); how much more often documents of the topic
            have the word than others, `word_keyness_`, as in `show`;
            `p(word | topic) ln(p(word | topic) / g)`, g the geometric mean of p(word | topic) over
            all topics (Blei and Lafferty 2009);
            `w ln p(word | topic) + (1 - w) ln(p(word | topic) / p(word))`, as in LDAvis; or the
            harmonic mean of the ranks of p(topic | word), counting w, and of p(word | topic):
            frequent and exclusive.
        weight : float, optional
            w above, from 0 to 1: 0.6 for relevance and 0.5 for frex unless given.

        Returns
        -------
        list of (str, float)
            Words with p(word | topic), the first first.
        """
        self._check_fitted()
        k = self._number(topic)
        p = self.components_[k]
        scores = self._scores(k, measure, weight)
        order = np.lexsort((np.arange(len(p)), -p, -scores))
        order = order[p[order] > 0][: max(n, 0)]
        return [(str(self.words_[j]), float(p[j])) for j in order]

    def _number(self, topic: int | str) -> int:
        """The number of a topic that is given by number or name."""
        count = len(self.anchors_)
        if isinstance(topic, str):
            places = np.flatnonzero(self.anchors_ == topic)
            if not len(places):
                names = ", ".join(self.anchors_)
                raise ValueError(f"there is no topic {topic!r}: choose one of {names}")
            return int(places[0])
        if not 0 <= topic < count:
            raise ValueError(f"topic is {topic}, but there are {count}, from 0")
        return int(topic)

    def _scores(self, k: int, measure: str, weight: float | None) -> Any:
        """What words are sorted by. O(words * topics)."""
        p = self.components_[k]
        if measure not in _MEASURES:
            raise ValueError(f"measure is {measure!r}: choose one of {', '.join(_MEASURES)}")
        if weight is not None and not 0 <= weight <= 1:
            raise ValueError(f"weight is {weight}: give a number from 0 to 1")
        if measure == "probability":
            return p
        kept, scores = self._kept, np.full(len(p), -np.inf)
        if measure == "keyness":
            return self._of_documents("word_keyness_")[k]
        if measure == "term_score":
            if len(self.components_) == 1:
                return p
            tokens = self._of_documents("word_counts_")[kept]
            least = np.maximum(_FAINT * tokens / tokens.sum(), np.finfo(float).tiny)
            logs = np.log(np.maximum(self.components_[:, kept], least))
            scores[kept] = p[kept] * (logs[k] - logs.mean(axis=0))
            return scores
        if measure == "relevance":
            balance, tokens = 0.6 if weight is None else weight, self._of_documents("word_counts_")
            total = tokens.sum()
            known = np.flatnonzero((p > 0) & (tokens >= _LEAST_TOKENS))
            scores[known] = np.log(p[known]) - (1 - balance) * np.log(tokens[known] / total)
            return scores
        joint = self.topic_proportions_[:, None] * self.components_[:, kept]
        exclusive = _ranks(joint[k] / np.maximum(joint.sum(axis=0), np.finfo(float).tiny))
        share = 0.5 if weight is None else weight
        scores[kept] = 1 / (share / exclusive + (1 - share) / _ranks(p[kept]))
        return scores

    def typical_documents(self, topic: int | str, n: int = 10) -> list[int]:
        """Documents that show a topic best, those of `fit` counted from 0.

        Parameters
        ----------
        topic : int or str
            Its number, from 0, or its name in `anchors_`.
        n : int, default=10
            How many documents.

        Returns
        -------
        list of int
            Those with the largest share, long ones before short ones: a document of L words counts
            `share * L / (L + mean L)`.
        """
        self._check_fitted()
        k, lengths = self._number(topic), self._of_documents("document_lengths_")
        score = self.document_shares_[:, k] * lengths / (lengths + max(lengths.mean(), 1e-300))
        order = np.lexsort((np.arange(len(score)), -score))
        return [int(d) for d in order[lengths[order] > 0][: max(n, 0)]]

    def _of_documents(self, name: str) -> Any:
        """Something about the documents of `fit`, which a loaded model has not got."""
        if not hasattr(self, name):
            raise ValueError(
                "a loaded model knows no documents: fit it, or pickle the fitted model"
            )
        return getattr(self, name)

    def similarity(self) -> Floats:
        """How much topics have in common, topics x topics.

        Returns
        -------
        ndarray
            The sum over words of `sqrt(p(word | k) p(word | l))`: 0 without a common word, 1 for
            equal topics.
        """
        self._check_fitted()
        roots = np.sqrt(self.components_)
        return np.asarray(roots @ roots.T)

    def _telling(self) -> str:
        """The measure of words that tell a topic from the others, as far as the model knows one."""
        known = {"keyness": "word_keyness_", "term_score": "word_counts_"}
        return next((m for m, name in known.items() if hasattr(self, name)), "probability")

    def _rows(self, n_words: int) -> list[dict[str, Any]]:
        """A record for each topic, with words that tell it from the others."""
        measure = self._telling()
        return [
            {
                "anchor": str(self.anchors_[k]),
                "share": float(self.topic_proportions_[k]),
                "coherence": float(self.coherence_[k]),
                "words": ", ".join(word for word, _ in self.top_words(k, n_words, measure)),
                "stand_ins": ", ".join(self.stand_ins_[k]),
            }
            for k in range(len(self.anchors_))
        ]

    def topics_frame(self, n_words: int = 10) -> Any:
        """The topics as a table.

        Parameters
        ----------
        n_words : int, default=10
            How many words to name for each topic, by their keyness (see `top_words`).

        Returns
        -------
        pandas.DataFrame
            A row for each topic, the largest first: `anchor`, `share` of the corpus, `coherence`,
            `words`, `stand_ins`. A polars.DataFrame where pandas is missing and polars is there.
        """
        self._check_fitted()
        records = self._rows(n_words)
        try:
            import pandas as pd
        except ImportError:
            try:
                import polars as pl
            except ImportError:
                raise ImportError(
                    "topics_frame makes a pandas or polars table, and neither is installed: "
                    "pip install pandas, or use show() and top_words()"
                ) from None
            return pl.DataFrame(records)
        return pd.DataFrame(records).rename_axis("topic")

    def to_frame(self, n_words: int = 10) -> Any:
        """As `topics_frame`: what every result calls its table."""
        return self.topics_frame(n_words)

    @property
    def plot(self) -> TopicPlots:
        """Pictures: `topics()`, `sizes()`."""
        from ._plots import TopicPlots

        self._check_fitted()
        return TopicPlots(self)

    def show(self, n_words: int = 10) -> None:
        """Print the topics.

        Parameters
        ----------
        n_words : int, default=10
            How many words to name for each, by their keyness (see `top_words`).
        """
        self._check_fitted()
        print(self._text(n_words))

    def _head(self) -> str:
        documents = ""
        if hasattr(self, "document_shares_"):
            documents = f" of {len(self.document_shares_)} documents"
        count = len(self.anchors_)
        return f"{count} topic{'s'[: count - 1]}{documents}, {len(self._kept)} words"

    def _text(self, n_words: int = 10) -> str:
        """One line per topic."""
        rows = self._rows(n_words)
        width = max(len(row["anchor"]) for row in rows)
        lines = [
            f"{100 * row['share']:5.1f} %  {row['anchor']:<{width}}  {row['words']}" for row in rows
        ]
        named = hasattr(self, "feature_names_in_") or getattr(self, "words", None) is not None
        if hasattr(self, "n_features_in_") and not named:
            lines.append("The columns of X have no names: give them as words=, or give documents.")
        return "\n".join([self._head(), *lines])

    def _html(self) -> str:
        """The same for notebooks, as a card for each topic."""
        measure = self._telling()
        cards = [
            card(
                row["anchor"],
                f"{100 * row['share']:.1f} %, coherence {row['coherence']:.2f}",
                self.top_words(k, 8, measure),
                f"or {row['stand_ins']}" if row["stand_ins"] else "",
            )
            for k, row in enumerate(self._rows(0))
        ]
        return f"<p><b>{self._head()}</b></p>{deck(cards)}"

    def to_pyldavis(self) -> dict[str, Any]:
        """What `pyLDAvis.prepare` takes: `pyLDAvis.prepare(**model.to_pyldavis())`.

        Returns
        -------
        dict
            `topic_term_dists`, `doc_topic_dists`, `doc_lengths`, `vocab` and `term_frequency`, of
            the documents that have words of the vocabulary.
        """
        self._check_fitted()
        lengths = self._of_documents("document_lengths_")
        words, documents = self._kept, np.flatnonzero(lengths > 0)
        # Its distances of topics are NaN where half of a number is zero.
        topics = np.maximum(self.components_[:, words], _FAINTEST)
        return {
            "topic_term_dists": topics / topics.sum(axis=1, keepdims=True),
            "doc_topic_dists": self.document_shares_[documents],
            "doc_lengths": lengths[documents].astype(int),
            "vocab": [str(word) for word in self.words_[words]],
            "term_frequency": self.word_counts_[words].astype(int),
        }


def _ranks(values: Floats) -> Floats:
    """The share of values that are not larger, for each."""
    places = np.searchsorted(np.sort(values), values, side="right")
    return np.asarray(places / len(values))
