"""Documents of `HottTopics` as a corpus, and further ones beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils.validation import _check_feature_names_in, check_non_negative

from . import _native
from ._advice import check_counts, check_names
from ._arrays import from_native, to_native
from ._documents import are_text, each_batch
from ._fitted import validated
from ._further import last_search
from ._options import threads_of
from ._topic_options import left_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ._topic_answer import Columns


@dataclass(frozen=True)
class Seen:
    """The documents so far, such that others can be added."""

    corpus: _native.Corpus
    #: What columns of counts are called.
    columns: Columns | None
    #: Of text, the words one by one: which are left out or joined is decided on all documents.
    counter: _native.Counter | None
    #: Of counts, all of them, a copy: those that stop words are left out of are in the corpus.
    counts: Any
    #: How many there were when anchors were last looked for everywhere.
    searched: int

    @property
    def documents(self) -> int:
        """How many."""
        return self.corpus.documents

    def forget_after(self, documents: int) -> None:
        """Leaves the first so many."""
        if self.counter is not None:
            self.counter.truncate(documents)


class TopicDocuments:
    """The part of `HottTopics` that reads documents."""

    n_components: int
    stop_words: Any
    min_length: int
    numbers: bool
    phrases: bool
    vectorizer: Any
    words: Sequence[str] | None
    n_jobs: int | None
    vectorizer_: Any
    words_: Any
    _kept: Any
    _seen: Seen

    def _read(self, X: Any) -> Seen:
        """The documents X."""
        if self.vectorizer is not None:
            counts = self._vectorised(X)
        elif are_text(X) or len(getattr(X, "shape", ())) == 1:
            words, threads = self._words(), threads_of(self.n_jobs)
            stop_words = left_out(self.stop_words)
            return _text(X, _native.Counter(words, stop_words, bool(self.phrases), threads), 0)
        else:
            counts = self._validated(X, reset=True)
        return self._of_counts(_compact(counts), 0)

    def _read_more(self, X: Any) -> Seen:
        """The documents so far and the documents X, which are of the same kind."""
        if hasattr(self, "vectorizer_"):
            counts = self.vectorizer_.transform(X)
            check_counts(counts, "what the vectorizer made")
        elif self._seen.counter is not None:
            if not are_text(X):
                raise ValueError(
                    "the documents so far are text: give further ones as strings, or fit counts of "
                    "all of them"
                )
            return _text(X, self._seen.counter, self._seen.searched)
        elif are_text(X):
            raise ValueError(
                "the documents so far are counts: give counts of the same words, or fit the text "
                "of all of them"
            )
        else:
            counts = self._validated(X, reset=False)
        stacked = sp.vstack([self._seen.counts, _compact(counts)], format="csr")
        return self._of_counts(stacked, self._seen.searched)

    def _of_counts(self, counts: Any, searched: int) -> Seen:
        """Documents with these counts."""
        if hasattr(self, "vectorizer_"):
            names = [str(name) for name in self.vectorizer_.get_feature_names_out()]
        else:
            names = [str(name) for name in self._names(counts.shape[1])]
        check_names(names)
        # Without names of their own, the library calls columns by their numbers.
        named = self.words is not None or hasattr(self, "vectorizer_")
        named = named or hasattr(self, "feature_names_in_")
        corpus = _native.Corpus.from_counts(
            to_native(counts), names if named else None, left_out(self.stop_words)
        )
        known = names if named else map(str, range(len(names)))
        columns = names, {name: column for column, name in enumerate(known)}
        return Seen(corpus, columns, None, counts, last_search(corpus.documents, searched))

    def _names(self, columns: int) -> Iterable[Any]:
        """What the columns of counts are called."""
        if self.words is None:
            return list(_check_feature_names_in(self))
        if len(self.words) != columns:
            raise ValueError(
                f"there are {len(self.words)} words for {columns} columns: give one for each"
            )
        return self.words

    def _words(self) -> tuple[int, bool]:
        """What counts as a word."""
        if self.min_length < 1:
            raise ValueError(
                f"min_length is {self.min_length}: give a number of characters, from 1"
            )
        return int(self.min_length), bool(self.numbers)

    def _vectorised(self, X: Any) -> Any:
        """What the vectoriser makes of X."""
        if self.phrases:
            raise ValueError(
                "phrases are for text that is read here: ask the vectorizer for ngrams"
            )
        if hasattr(self.vectorizer, "fit_transform"):
            self.vectorizer_ = clone(self.vectorizer)
        elif callable(self.vectorizer):
            self.vectorizer_ = CountVectorizer(analyzer=self.vectorizer)
        else:
            raise ValueError("vectorizer is neither a scikit-learn vectoriser nor a function")
        if not hasattr(self.vectorizer_, "get_feature_names_out"):
            raise ValueError(
                f"{type(self.vectorizer_).__name__} cannot tell its words, and topics are made of "
                "words: take CountVectorizer"
            )
        counts = self.vectorizer_.fit_transform(X)
        check_counts(counts, "what the vectorizer made")
        return counts

    def _validated(self, X: Any, reset: bool) -> Any:
        """Counts, documents x words."""
        least = {"ensure_min_features": self.n_components, "ensure_min_samples": 2} if reset else {}
        X = validated(self, X, reset, accept_sparse="csr", dtype=np.float64, **least)
        check_non_negative(X, "HottTopics (input X)")
        check_counts(X, "X")
        return X

    def _counted(self, X: Any, count: Callable[[list[str]], Any]) -> Any:
        """The words of the vocabulary in X, as a sparse matrix."""
        if hasattr(self, "vectorizer_"):
            counts = self.vectorizer_.transform(X)
        elif are_text(X):
            if hasattr(self, "n_features_in_"):
                raise ValueError("the model was made of counts: give counts of the same words")
            return sp.vstack([from_native(some) for some in each_batch(X, count)], format="csr")
        elif hasattr(self, "n_features_in_"):
            counts = self._validated(X, reset=False)
        else:
            counts = X if hasattr(X, "shape") else np.asarray(X)
            if counts.shape[1] != len(self.words_):
                raise ValueError(
                    f"X has {counts.shape[1]} columns, but the model has {len(self.words_)} words: "
                    "give documents, or counts of words_"
                )
            check_non_negative(counts, "HottTopics (input X)")
            check_counts(counts, "X")
        return sp.csr_array(counts)[:, self._kept]


def _text(X: Any, counter: _native.Counter, searched: int) -> Seen:
    """The documents of the counter and the documents X."""
    each_batch(X, counter.add)
    corpus = counter.so_far()
    return Seen(corpus, None, counter, None, last_search(corpus.documents, searched))


def _compact(counts: Any) -> Any:
    """A copy of counts, in few bytes."""
    counts = sp.csr_array(counts)
    small = counts.data.max(initial=0) <= np.iinfo(np.int32).max
    return counts.astype(np.int32 if small else np.float64, copy=True)
