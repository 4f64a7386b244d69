"""Topics of documents, as a scikit-learn estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from . import _native
from ._advice import advise, advise_on_unknown
from ._arrays import to_native
from ._fitted import warn_of_limits
from ._options import running, threads_of, whole
from ._topic_answer import TopicAnswer
from ._topic_changes import Topics, topic_changes
from ._topic_documents import Seen, TopicDocuments
from ._topic_options import anchor_words, least_df
from ._topic_path import topic_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._path import RankPath
    from ._types import TopicSettings


class HottTopics(TopicAnswer, TopicDocuments, TransformerMixin, BaseEstimator):
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
    changes_ : TopicChanges
        What became of the topics in the last `partial_fit`: names of those that `stayed`, `moved`
        to another anchor, `came` and `went`. Only after a second batch.
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
        self._check_components()
        for name in ("feature_names_in_", "n_features_in_", "vectorizer_", "changes_"):
            self.__dict__.pop(name, None)  # of an earlier fit
        self._find(self._read(X))
        self._warn()
        return self

    def partial_fit(self, X: Any, y: Any = None) -> HottTopics:
        """Add documents, and find the topics of all documents so far.

        The first call is `fit`. A later one counts the new documents alone, adds their counts to
        those so far, and chooses vocabulary and topics anew for all: `document_shares_` has a row
        for each document, in the order in which they came. The anchors stay unless the documents
        say that others are clearly better; `changes_` says what became of the topics. The same
        batches give the same topics.

        Parameters
        ----------
        X : iterable of str, or {array-like, sparse matrix} of shape (n_documents, n_words)
            Further documents, as for `fit`, of the same kind as those before: strings, or counts of
            the same words. A `vectorizer` knows the words of the first documents alone; how text is
            read (`stop_words`, `min_length`, `numbers`, `phrases`) is settled by the first call.
        y : Ignored
            Not used.

        Returns
        -------
        HottTopics
            The fitted estimator. When the documents cannot be taken it stays as it was.

        Examples
        --------
        >>> from itertools import combinations
        >>> from hottopixx import HottTopics
        >>> news = [" ".join(w) for w in combinations(["oil", "price", "market", "barrel"], 3)]
        >>> law = [" ".join(w) for w in combinations(["court", "judge", "trial", "verdict"], 3)]
        >>> model = HottTopics(n_components=2).partial_fit(9 * news + 6 * law)
        >>> model.partial_fit(4 * law).changes_
        TopicChanges(stayed=['court', 'barrel'], moved=[], came=[], went=[])
        >>> model.document_shares_.shape
        (76, 2)
        """
        if not hasattr(self, "components_"):
            return self.fit(X)
        if not hasattr(self, "_seen"):
            raise ValueError("a model that was loaded or unpickled has no documents: fit it again")
        self._check_components()
        before, first = Topics.of(self), self._seen.documents
        try:
            self._find(self._read_more(X), self._begun())
        except BaseException:
            self._seen.forget_after(first)
            raise
        self.changes_ = topic_changes(before, Topics.of(self))
        self.notes_.append(str(self.changes_))
        self._warn()
        return self

    def _check_components(self) -> None:
        if not isinstance(self.n_components, (int, float, np.number)) or not (
            self.n_components >= 1 and self.n_components == int(self.n_components)
        ):
            raise ValueError(
                f"n_components is {self.n_components!r}: give a number of topics, from 1"
            )

    def _find(self, seen: Seen, start: Sequence[str] = ()) -> None:
        """The topics of these documents, from the words that an earlier model began with."""
        settings = self._settings(seen.documents)
        settings["start"] = list(start), seen.searched == seen.documents
        with running(self.max_seconds, bool(self.verbose)) as run:
            model = _native.fit_topics(seen.corpus, int(self.n_components), settings, run)
        self._keep(*model, seen.columns)
        #: For `path` and `partial_fit`, as long as the model is neither saved nor pickled.
        self._source, self._seen = (seen.corpus, settings), seen

    def _begun(self) -> list[str]:
        """The words that the EM steps began with, beside anchors that were given."""
        judged = self._said["judged"]  # the best first; none where all anchors were given
        return [self._said["words"][word] for best in judged[:1] for word in best["words"]]

    def _warn(self) -> None:
        """Says to the caller of `fit` what should be looked at."""
        for sentence in self.advice_:
            advise(sentence, level=4)
        warn_of_limits(self.stop_, level=4)

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
            "start": ([], True),
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
        if not hasattr(self, "n_features_in_"):
            advise_on_unknown(counts)
        with running(None, bool(self.verbose)) as run:
            return saved.shares(to_native(counts), run)

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
        own = ("_source", "_seen")
        return {k: v for k, v in super().__getstate__().items() if k not in own}

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
