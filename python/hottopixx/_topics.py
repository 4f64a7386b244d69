"""Topics of documents, as a scikit-learn estimator."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils.validation import (
    _check_feature_names_in,
    check_is_fitted,
    check_non_negative,
    validate_data,
)

from . import _native
from ._advice import advise, check_counts
from ._arrays import from_native, to_native
from ._documents import are_text, each_batch
from ._fitted import warn_of_limits
from ._options import running, threads_of, whole
from ._topic_answer import TopicAnswer
from ._topic_options import anchor_words, least_df, left_out
from ._topic_path import topic_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ._path import RankPath
    from ._topic_answer import Columns
    from ._types import TopicSettings


class HottTopics(TopicAnswer, TransformerMixin, BaseEstimator):
    """Find the topics of documents, each named by a word of its own.

    Every topic has an *anchor*, a word that belongs to it alone; from the anchors' neighbours come
    p(word | topic), and EM steps on the counts polish it. No start is random: the same documents
    give the same topics.

    Parameters
    ----------
    n_components : int, default=10
        How many topics.
    min_df : int, float or "auto", default="auto"
        Words in fewer documents are set aside: a number, or a share of the documents below 1.
        "auto" is chosen from the corpus.
    candidate_df : int, float or "auto", default="auto"
        Words in fewer documents name no topic; rare words look extreme because they are noisy.
    max_words : int, default=None
        Words that are kept at most, the most frequent ones; None for 30,000. Anchors are among the
        5000 most frequent.
    stop_words : str, list of str, float or None, default="auto"
        Words that are left out: "auto" for those of the language of the text, the English name of a
        language ("german"), a list, or a number for words in more than this share of the documents.
    min_length : int, default=2
        Words of fewer characters are left out.
    numbers : bool, default=False
        Whether words without any letter count.
    phrases : bool, default=False
        Whether two words that stand side by side much more often than by chance become one.
    vectorizer : scikit-learn vectoriser or callable, default=None
        What makes counts of the documents instead, such as `CountVectorizer`, or a function from a
        document to its words.
    words : sequence of str, default=None
        Names of the columns of counts, where X has none itself.
    anchors : str or list, default=None
        Anchors that are given, the others being found: "oil+price, court", or a list of words or of
        lists of words; several words name a topic together.
    recovery : {"l1", "l2", "kl"}, default="l2"
        How p(word | topic) is found from the anchors.
    polish : int, default=50
        EM steps at most; 0 leaves the topics as the anchors give them.
    prior : float, default=0.1
        Words that every topic is given of every document beforehand: short documents are then less
        sure of their topics.
    max_seconds : float, default=None
        After this many seconds the best answer so far will do.
    random_state : int, RandomState instance or None, default=0
        Not used: nothing is random.
    n_jobs : int, default=None
        Threads: None or -1 for all the machine has, -2 for all but one. The answer does not
        depend on it.
    verbose : int, default=0
        Whether to show progress.

    Attributes
    ----------
    anchors_ : ndarray of shape (n_components_,)
        Names of the topics: their anchors, words of one anchor joined by "+". The largest topic
        comes first, here and everywhere.
    anchor_indices_ : ndarray of shape (n_components_,)
        The first word of each anchor as a column of `components_`.
    stand_ins_ : list of list of str
        Words that could stand in the place of each anchor.
    components_ : ndarray of shape (n_components_, n_words)
        p(word | topic) after the polish; rows sum to 1. For counts there is a column for each of
        theirs, zero for words that were left out.
    anchored_components_ : ndarray of shape (n_components_, n_words)
        The same as the anchors give it.
    words_ : ndarray of shape (n_words,)
        The words of the columns.
    vocabulary_ : dict
        The column of each word of the vocabulary.
    topic_given_word_ : ndarray of shape (n_words, n_components_)
        p(topic | word) as the anchors give it.
    document_shares_ : ndarray of shape (n_documents, n_components_)
        Shares of topics in the documents; rows sum to 1. A document without known words has the
        shares of the corpus.
    document_lengths_ : ndarray of shape (n_documents,)
        Words of the vocabulary in each document, as often as they occur.
    word_counts_, document_frequencies_ : ndarray of shape (n_words,)
        How often each word occurs, and in how many documents.
    word_keyness_ : ndarray of shape (n_components_, n_words)
        How much more often documents of a topic have a word than others: with b the share of
        documents that have it, each counting with the square of its share of the topic, and q the
        share of all documents, `b ln(b / q) + (1 - b) ln((1 - b) / (1 - q))` where b is above q,
        else 0 (Dunning 1993). With one topic, p(word | topic).
    topic_proportions_ : ndarray of shape (n_components_,)
        The share of each topic in the corpus.
    word_weights_ : ndarray of shape (n_words,)
        What an occurrence of each word counts when shares of documents are found: words of many
        documents say less about what a document is about.
    coherence_ : ndarray of shape (n_components_,)
        NPMI, from -1 to 1 and in this corpus, of the ten words that each topic is shown with: those
        of the largest keyness.
    perplexity_, anchored_perplexity_ : float
        exp(- log-likelihood of a word), after the polish and before.
    reconstruction_err_ : float
        Mean l1 error of a word's row of co-occurrences as a mixture of the anchors' rows, each word
        counting as often as it occurs: 0 is perfect, 1 explains nothing.
    mean_reconstruction_err_ : float
        The same with every word counting once.
    bound_ : dict or None
        How much better other words could do as anchors: over the `words` most frequent words that
        may name a topic the anchors leave a mean l1 error of `mean_l1`, and no choice of as many of
        these words leaves less than `lower_bound`, which is proven. None for anchors of several
        words, or without time for it.
    min_df_, candidate_df_ : int
        What was chosen.
    notes_, advice_ : list of str
        What was chosen and why, and what to change; advice also comes as an `AdviceWarning`.
    n_iter_ : int
        EM steps taken.
    stop_ : str
        "finished", or why the computation ended before.
    seconds_ : dict
        Wall-clock seconds of the steps.
    n_components_ : int
        Number of topics.
    n_features_in_ : int
        Columns seen during fit, for counts.
    feature_names_in_ : ndarray
        Their names, when they are strings.

    See Also
    --------
    Hottopixx : Features that explain the others, for data that are no text.
    sklearn.decomposition.LatentDirichletAllocation : Topics without anchors.

    References
    ----------
    S. Arora et al., "A practical algorithm for topic modeling with provable guarantees", ICML 2013.

    Examples
    --------
    >>> from itertools import combinations
    >>> from hottopixx import HottTopics
    >>> news = [" ".join(w) for w in combinations(["oil", "price", "market", "barrel"], 3)]
    >>> law = [" ".join(w) for w in combinations(["court", "judge", "trial", "verdict"], 3)]
    >>> model = HottTopics(n_components=2).fit(9 * news + 6 * law)
    >>> model.show(4)  # or print(model)
    2 topics of 60 documents, 8 words
     60.0 %  barrel  barrel, market, oil, price
     40.0 %  court   court, judge, trial, verdict
    >>> model.transform(["The judge asks for the price of a trial."]).round(1)
    array([[0.3, 0.7]])
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        min_df: float | str = "auto",
        candidate_df: float | str = "auto",
        max_words: int | None = None,
        stop_words: str | Sequence[str] | float | None = "auto",
        min_length: int = 2,
        numbers: bool = False,
        phrases: bool = False,
        vectorizer: Any = None,
        words: Sequence[str] | None = None,
        anchors: str | Sequence[str | Sequence[str]] | None = None,
        recovery: str = "l2",
        polish: int = 50,
        prior: float = 0.1,
        max_seconds: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.min_df = min_df
        self.candidate_df = candidate_df
        self.max_words = max_words
        self.stop_words = stop_words
        self.min_length = min_length
        self.numbers = numbers
        self.phrases = phrases
        self.vectorizer = vectorizer
        self.words = words
        self.anchors = anchors
        self.recovery = recovery
        self.polish = polish
        self.prior = prior
        self.max_seconds = max_seconds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> HottTopics:
        """Find topics.

        Parameters
        ----------
        X : iterable of str, or {array-like, sparse matrix} of shape (n_documents, n_words)
            Documents as strings (a list, a generator, a column of a pandas or polars table, such as
            `pd.read_parquet("news.parquet")["text"]`), or how often each word occurs in each. With
            a `vectorizer`, whatever that takes.
        y : Ignored
            Not used.

        Returns
        -------
        HottTopics
            The fitted estimator.
        """
        if not isinstance(self.n_components, (int, float, np.number)) or not (
            self.n_components >= 1 and self.n_components == int(self.n_components)
        ):
            raise ValueError(
                f"n_components is {self.n_components!r}: give a number of topics, from 1"
            )
        for name in ("feature_names_in_", "n_features_in_", "vectorizer_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        corpus, columns = self._read(X)
        settings = self._settings(corpus.documents)
        with running(self.max_seconds, bool(self.verbose)) as run:
            model = _native.fit_topics(corpus, int(self.n_components), settings, run)
        self._keep(*model, columns)
        #: For `path`, as long as the model is neither saved nor pickled.
        self._source = (corpus, settings)
        for sentence in self.advice_:
            advise(sentence)
        warn_of_limits(self.stop_)
        return self

    def _read(self, X: Any) -> tuple[_native.Corpus, Columns | None]:
        """Counts of the words of X, and what its columns are called, where X has some."""
        stop_words = left_out(self.stop_words)
        if self.vectorizer is not None:
            counts, names = self._vectorised(X)
        elif are_text(X):
            words, threads = self._words(), threads_of(self.n_jobs)
            counter = _native.Counter(words, stop_words, bool(self.phrases), threads)
            each_batch(X, counter.add)
            return counter.finish(), None
        else:
            counts = self._validated(X, reset=True)
            names = [str(name) for name in self._names(counts.shape[1])]
        if len(set(names)) < len(names):
            twice = Counter(names).most_common(1)[0][0]
            raise ValueError(f"two columns are called {twice!r}: give every word one column")
        # Without names of their own, the library calls columns by their numbers.
        named = self.words is not None or hasattr(self, "vectorizer_")
        named = named or hasattr(self, "feature_names_in_")
        corpus = _native.Corpus.from_counts(to_native(counts), names if named else None, stop_words)
        known = names if named else map(str, range(len(names)))
        return corpus, (names, {name: column for column, name in enumerate(known)})

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

    def _vectorised(self, X: Any) -> tuple[Any, list[str]]:
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
        return counts, [str(name) for name in self.vectorizer_.get_feature_names_out()]

    def _validated(self, X: Any, reset: bool) -> Any:
        """Counts, documents x words."""
        least = {"ensure_min_features": self.n_components, "ensure_min_samples": 2} if reset else {}
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=reset, **least)
        check_non_negative(X, "HottTopics (input X)")
        check_counts(X, "X")
        return X

    def _settings(self, documents: int) -> TopicSettings:
        for name in ("polish", "max_words"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise ValueError(f"{name} is {value}: it must not be negative")
        return {
            "min_df": least_df(self.min_df, documents, "min_df"),
            "candidate_df": least_df(self.candidate_df, documents, "candidate_df"),
            "max_words": self.max_words,
            "anchors": anchor_words(self.anchors),
            "recovery": self.recovery,
            "polish": self.polish,
            "prior": self.prior,
            "threads": threads_of(self.n_jobs),
        }

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Find topics, and their shares in the documents.

        Parameters
        ----------
        X : iterable of str, or {array-like, sparse matrix} of shape (n_documents, n_words)
            As for `fit`.
        y : Ignored
            Not used.

        Returns
        -------
        ndarray of shape (n_documents, n_components_)
            `document_shares_`.
        """
        return self.fit(X).document_shares_

    def transform(self, X: Any) -> Any:
        """Shares of topics in documents, each fitted by maximum likelihood.

        Parameters
        ----------
        X : iterable of str, or {array-like, sparse matrix} of shape (n_documents, n_words)
            As for `fit`; counts have the columns of `words_`.

        Returns
        -------
        ndarray of shape (n_documents, n_components_)
            Rows sum to 1. A document without known words gets the shares of the corpus.
        """
        check_is_fitted(self, "components_")
        saved = _native.Saved(
            self._words(),
            [str(self.words_[j]) for j in self._kept],
            np.ascontiguousarray(self.components_[:, self._kept]),
            self.word_weights_[self._kept].tolist(),
            self.topic_proportions_.tolist(),
            self.prior,
            threads_of(self.n_jobs),
        )
        counts = self._counted(X, saved.count)
        with running(None, bool(self.verbose)) as run:
            return saved.shares(to_native(counts), run)

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

    def path(self, *, words: int = 1000, max_seconds: float | None = None) -> RankPath:
        """Errors for every number of anchors up to that of this model.

        One anchor at a time is left out, always the one that is missed least. Where further anchors
        gain little, there are enough topics.

        Parameters
        ----------
        words : int, default=1000
            The most frequent words, whose rows of co-occurrences are explained by those of the
            anchors.
        max_seconds : float, optional
            After this many seconds the points found so far will do.

        Returns
        -------
        RankPath
            With `points`, the `suggested` number and the `reason`.
        """
        check_is_fitted(self, "components_")
        if not hasattr(self, "_source"):
            raise ValueError("a model that was loaded or unpickled has no documents: fit it again")
        return topic_path(self, *self._source, whole(words, "words", 1), max_seconds)

    def __getstate__(self) -> Any:
        """Without the documents."""
        return {k: v for k, v in super().__getstate__().items() if k != "_source"}

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the columns of `transform`: the topics' anchors.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Only checked, as everywhere in scikit-learn.

        Returns
        -------
        ndarray of str
            One name for each topic.
        """
        check_is_fitted(self, "components_")
        if hasattr(self, "n_features_in_"):
            _check_feature_names_in(self, input_features)
        return self.anchors_.copy()

    def _check_fitted(self) -> None:
        check_is_fitted(self, "components_")

    def __str__(self) -> str:
        return self._text() if hasattr(self, "components_") else repr(self)

    def _repr_html_(self) -> str:
        if hasattr(self, "components_"):
            return self._html()
        return str(super()._repr_html_())

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return {"text/plain": str(self), "text/html": self._repr_html_()}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = []
        return tags
