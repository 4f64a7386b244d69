"""The scikit-learn estimator."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import (
    _check_sample_weight,
    check_array,
    check_is_fitted,
)

from ._advice import advise_on_answer
from ._arrays import dense, has_gaps, is_sparse
from ._fits import weights_on
from ._fitted import FittedAnswer, component_count, increasing, numbers, warn_of_limits
from ._functions import factored
from ._further import Samples
from ._options import seed_number, threads_of
from ._saving import restore_features
from ._weights import scaled, weighed

if TYPE_CHECKING:
    from ._answer import Factorization

#: Features chosen unless `n_components` says how many.
_USUAL_COMPONENTS = 10
_OUTPUTS = ("selected", "loadings")
#: Features whose residuals are in memory at a time when scoring.
_BLOCK = 256


class Hottopixx(FittedAnswer, SelectorMixin, BaseEstimator):
    """Choose the few features that explain all the others as nonnegative mixtures.

    Separable nonnegative matrix factorization: `X` is nearly `X[:, hott_] @ components_`.

    Not as in NMF, the factors are features of the data. `transform` therefore *selects*: it returns
    the chosen columns of X as they are, reads no other, and `inverse_transform` tells all features
    from them. With `output="loadings"` it returns what NMF's does: for each sample the nonnegative
    loadings Z with the least l1 error of `Z @ components_`, in which every feature counts; they are
    in the units of the chosen features, and less noisy than these. To choose samples instead of
    features, see `HottSamples`.

    Parameters
    ----------
    n_components : int or "auto", default=None
        How many features to choose; None for 10, or all that are not zero if X is in memory and has
        fewer. "auto" takes the number that stands out on the path of up to 20 (see `path`).
    method : str, default="auto"
        How they are found: "auto", "hottopixx", "lp", "minimax", "total", "gradient", "agkm",
        "spa", "snpa" or "xray"; see `hottopixx.factor`.
    objective : {"mean", "max"}, default="mean"
        Which error is made small: the mean l1 error of a feature, or the largest.
    effort : {"quick", "normal", "thorough"}, default="normal"
        How long "auto" looks for a better answer.
    cleaning : {"auto", "exact", "least-squares", "incremental"}, default="auto"
        How the other features are fitted; "auto" is exact unless X is huge.
    output : {"selected", "loadings"}, default="selected"
        What `transform` returns: the chosen columns, or loadings as those of NMF.
    candidates : array-like, default=None
        Which features may be chosen: their names or numbers, or True or False for each; None for
        all.
    constraints : dict, default=None
        What the choice must obey: features that must be chosen or must not, groups, a budget; see
        `hottopixx.factor`, where rows are what features are here.
    feature_weights : array-like of shape (n_features,), default=None
        How much each feature counts in the mean error; None for all the same.
    outliers : int or "auto", default=None
        Features to set aside because no others explain them: this many, or those that stand out;
        they are `result_.outliers`.
    missing : {"refuse", "observed"}, default="refuse"
        Whether X may have missing values (NaN) in `fit`: they are left out of fits and errors, and
        `result_.completed` has guesses in their places. `transform` passes those of chosen features
        on; loadings and `score` need all values.
    epochs : int, default=None
        Epochs of "hottopixx"; None for 50, fewer for more than 12,800 samples.
    tau, epsilon, alpha : float, default=None
        What "lp" (`tau`) and "agkm" (`epsilon`, `alpha`) require.
    max_seconds : float, default=None
        After this many seconds the best answer so far will do.
    random_state : int, RandomState instance, Generator or None, default=None
        Fixes everything random: numbers of any size. None is 0: results are always reproducible.
    n_jobs : int, default=None
        Threads: None or -1 for all the machine has, -2 for all but one. The answer does not
        depend on it.
    verbose : int, default=0
        Whether to show progress.
    ray_address : str, default=None
        Compute on a Ray cluster: "auto", or an address as `ray start` prints it; "local" starts one
        on this machine, of `n_jobs` workers. `fit` then also takes folders and Ray Datasets, as
        `hottopixx.ray.factor` does, and features are chosen on the Gram matrix of X.

    Attributes
    ----------
    hott_ : ndarray of shape (n_components_,)
        The chosen features, increasing: columns of X.
    components_ : ndarray of shape (n_components_, n_features_in_)
        Every feature as a nonnegative mixture of the chosen ones.
    groups_ : list of ndarray
        For each chosen feature, all that could stand in its place with nearly the same error.
    weights_ : ndarray of shape (n_components_,)
        Weights on the diagonal of the localising matrix, pooled over the groups.
    certificate_ : Certificate or None
        Proven bounds, where the method has them.
    reconstruction_err_ : float
        Mean over features of the l1 error, features scaled to sum 1: 0 is perfect, 1 explains
        nothing.
    changes_ : Changes
        What became of the features in the last `partial_fit`: those that `stayed`, `moved` to
        another that explains them now, `came` and `went`. Only after a second batch.
    result_ : Factorization
        Everything else, in the paper's orientation (F is features x components) and with the most
        distinctive feature first.
    n_components_ : int
        Number of chosen features.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen during fit, when X has names that are all strings.

    See Also
    --------
    HottSamples : Samples that explain the others: pure pixels, prototypes.
    HottTopics : Topics of documents, from text or counts of words.
    sklearn.decomposition.NMF : Factors that are not features of the data.

    Notes
    -----
    float64 arrays in Fortran order and float64 CSC matrices with 32-bit indices are used where
    they are; anything else is copied once.

    References
    ----------
    V. Bittorf, B. Recht, C. Ré, J. A. Tropp, "Factoring nonnegative matrices with linear
    programs", NIPS 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from hottopixx import Hottopixx
    >>> a, b = np.array([1.0, 2.0, 0.0, 1.0]), np.array([0.0, 1.0, 3.0, 1.0])
    >>> X = np.column_stack([a, a + b, b, 2 * a + b])
    >>> model = Hottopixx(n_components=2).fit(X)
    >>> model.hott_
    array([0, 2])
    >>> model.components_.round(6)
    array([[1., 1., 0., 2.],
           [0., 1., 1., 1.]])
    """

    _samples: Samples

    def __init__(
        self,
        n_components: int | str | None = None,
        *,
        method: str = "auto",
        objective: str = "mean",
        effort: str = "normal",
        cleaning: str = "auto",
        output: str = "selected",
        candidates: Any = None,
        constraints: Any = None,
        feature_weights: Any = None,
        outliers: int | str | None = None,
        missing: str = "refuse",
        epochs: int | None = None,
        tau: float | None = None,
        epsilon: float | None = None,
        alpha: float | None = None,
        max_seconds: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        ray_address: str | None = None,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.objective = objective
        self.effort = effort
        self.cleaning = cleaning
        self.output = output
        self.candidates = candidates
        self.constraints = constraints
        self.feature_weights = feature_weights
        self.outliers = outliers
        self.missing = missing
        self.epochs = epochs
        self.tau = tau
        self.epsilon = epsilon
        self.alpha = alpha
        self.max_seconds = max_seconds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.ray_address = ray_address

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Hottopixx:
        """Choose features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Nonnegative. With `ray_address` also what `hottopixx.ray.factor` reads: a folder, files,
            or a Ray Dataset.
        y : Ignored
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each sample counts: the error of a feature is the sum over samples of weight
            times absolute deviation, over the weighted sum of the feature. A weight of 0 leaves a
            sample out, one of 2 counts it twice.

        Returns
        -------
        Hottopixx
            The fitted estimator.
        """
        self._check_output()
        if self.ray_address is not None:
            return self._fit_on_ray(X, sample_weight)
        given = X
        X = self._validated(X, reset=True)
        samples = Samples(X, self._weights(X, sample_weight), X.shape[0])
        self.__dict__.pop("changes_", None)  # of an earlier fit
        self._choose(samples, given)
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Hottopixx:
        """Add samples, and choose the features that explain the others on all samples so far.

        The first call is `fit`. A later one keeps the samples seen so far and looks for a better
        choice near the old one (method "auto"; others begin from nothing), which takes less time;
        when there are twice as many samples as when the last search began from nothing, another one
        does. `changes_` says which features stayed, moved, came and went. The same batches give the
        same answer.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Further samples, nonnegative, with the features of those before.
        y : Ignored
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each of these samples counts, as in `fit`; None for once.

        Returns
        -------
        Hottopixx
            The fitted estimator.

        Examples
        --------
        >>> import hottopixx
        >>> X = hottopixx.generate("paper", features=40, examples=400, rank=5, seed=0).X.T
        >>> model = hottopixx.Hottopixx(5).partial_fit(X[:300]).partial_fit(X[300:])
        >>> len(model.changes_.stayed), model.result_.W.shape
        (5, (5, 400))
        """
        if self.ray_address is not None:
            raise ValueError("partial_fit does not go with ray_address: fit all samples")
        if not hasattr(self, "result_"):
            self.fit(X, sample_weight=sample_weight)
            self._samples = self._samples.own()
            return self
        if not hasattr(self, "_samples"):
            raise ValueError("a model that was loaded or unpickled has no samples: fit it again")
        self._check_output()
        given = X
        X = self._validated(X, reset=False, gaps=self.missing == "observed")
        before = self.result_
        self._samples.check(before)
        samples = self._samples.and_these(X, self._weights(X, sample_weight))
        self._choose(samples, given, before)
        self.changes_ = self.result_.changes_since(before)
        return self

    def _check_output(self) -> None:
        if self.output not in _OUTPUTS:
            raise ValueError(f"output is {self.output!r}: choose one of {', '.join(_OUTPUTS)}")

    def _weights(self, X: Any, sample_weight: Any) -> Any:
        """How much each sample counts; None for once."""
        if sample_weight is None:
            return None
        if self.missing == "observed" and has_gaps(X):
            raise ValueError("sample_weight does not go with missing values: leave it out")
        return _check_sample_weight(sample_weight, X, dtype=X.dtype, ensure_non_negative=True)

    def _choose(self, samples: Samples, given: Any, before: Factorization | None = None) -> None:
        """The features for these samples, the last of which were given, near those before."""
        X = samples.X
        names = list(self.feature_names_in_) if hasattr(self, "feature_names_in_") else None
        options: Any = {**self._options(), "threads": threads_of(self.n_jobs)}
        seen, weights = weighed(X, samples.weights, self.method)
        rank: Any = self._rank(X)
        begins = before is not None and self.method == "auto" and rank != "auto"
        if before is not None and begins and not samples.is_much_more:
            options["start"] = before.hott
        result = factored(seen.T, rank, self.method, names, options, "feature", weights)
        if seen is not X:  # W is in the units of X
            columns = X.tocsc() if is_sparse(X) else X
            result = replace(result, W=columns[:, result.hott].T)
        self._keep(result, X.dtype)
        #: For `partial_fit`, as long as the model is neither saved nor pickled.
        self._samples = samples
        warn_of_limits(result.stop, level=4)
        advise_on_answer(given if is_sparse(given) else X, result.error.mean_l1, level=5)

    def _validated(self, X: Any, reset: bool, gaps: bool = False) -> Any:
        """Samples x features as numbers that are not negative."""
        formats = ("csc", "csr", "coo") if reset else "csc"
        return numbers(self, X, formats, reset, gaps or (reset and self.missing == "observed"))

    def _fit_on_ray(self, X: Any, sample_weight: Any) -> Hottopixx:
        """Choose features on a cluster."""
        if sample_weight is not None:
            raise ValueError("sample_weight does not go with ray_address: scale the documents")
        if self.constraints is not None:
            raise ValueError("constraints do not go with ray_address: leave them out")
        if self.outliers is not None or self.feature_weights is not None:
            raise ValueError("outliers and weights do not go with ray_address: leave them out")
        if self.missing != "refuse":
            raise ValueError("missing values do not go with ray_address: fill them")
        if self.n_components == "auto":
            raise ValueError('n_components="auto" does not go with ray_address: give a number')
        if not _lies_elsewhere(X):
            X = self._validated(X, reset=True)
            return self._keep(self._on_ray(X, self._rank(X)), X.dtype)
        self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
        rank = _USUAL_COMPONENTS if self.n_components is None else self.n_components
        result = self._on_ray(X, rank)
        if result.names is not None:
            self.feature_names_in_ = np.array(result.names, dtype=object)
        return self._keep(result, np.float64)

    def _options(self) -> dict[str, Any]:
        """What the functions are told, here and on a cluster."""
        return {
            "objective": self.objective,
            "effort": self.effort,
            "cleaning": self.cleaning,
            "candidates": self.candidates,
            "constraints": self.constraints,
            "weights": self.feature_weights,
            "outliers": self.outliers,
            "missing": self.missing,
            "epochs": self.epochs,
            "tau": self.tau,
            "epsilon": self.epsilon,
            "alpha": self.alpha,
            "max_seconds": self.max_seconds,
            "seed": seed_number(self.random_state, "random_state"),
            "verbose": bool(self.verbose),
        }

    def _on_ray(self, X: Any, rank: Any) -> Factorization:
        from . import ray

        names = list(self.feature_names_in_) if hasattr(self, "feature_names_in_") else None
        local = self.ray_address == "local"
        result = ray.factor(
            X,
            rank,
            names=names,
            address=None if local else self.ray_address,
            workers=threads_of(self.n_jobs) or None,
            **{**self._options(), "method": self.method},
        )
        self.n_features_in_ = result.F.shape[0]
        return result

    def _keep(self, result: Factorization, dtype: Any) -> Hottopixx:
        """The answer as attributes."""
        order = increasing(result)
        F = dense(result.F)
        self.result_ = result
        self.hott_ = result.hott[order]
        self.weights_ = result.weights[order]
        self.groups_ = [result.groups[k] for k in order]
        self.components_ = np.ascontiguousarray(F.T[order], dtype=dtype)
        self.certificate_ = result.certificate
        self.reconstruction_err_ = result.error.mean_l1
        self.n_components_ = len(order)
        return self

    def _rank(self, X: Any) -> int | str:
        """How many features to choose."""
        if self.n_components is None:
            nonzero = int(np.count_nonzero(np.asarray(X.sum(axis=0))))
            return min(_USUAL_COMPONENTS, max(nonzero, 1))
        return component_count(self.n_components, X.shape[1], "n_features")

    def transform(self, X: Any) -> Any:
        """The chosen features, or loadings, as `output` says.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Nonnegative for loadings.

        Returns
        -------
        {ndarray, sparse matrix} of shape (n_samples, n_components_)
            `X[:, hott_]` (output="selected"); or nonnegative Z for which `Z @ components_` is
            nearest to X in l1 (output="loadings").
        """
        if self.output == "selected":
            return super().transform(X)
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        components = sp.csr_array(self.components_) if is_sparse(X) else self.components_
        found = weights_on(
            components, X, threads=threads_of(self.n_jobs), verbose=bool(self.verbose)
        )
        return found.astype(X.dtype, copy=False)

    def inverse_transform(self, X: Any) -> Any:
        """All features, as mixtures of the chosen ones.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_components_)
            The chosen features, as `transform` returns them.

        Returns
        -------
        ndarray of shape (n_samples, n_features_in_)
            The other features are what the chosen ones say of them.
        """
        check_is_fitted(self)
        X = check_array(X, accept_sparse=True, dtype=(np.float64, np.float32))
        if X.shape[1] != self.n_components_:
            raise ValueError(
                f"X has {X.shape[1]} columns, but {self.n_components_} features were chosen"
            )
        return X @ self.components_

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """How well few features explain many on these samples: larger is better, 0 is perfect.

        Features that were chosen count as if they were not explained at all (1 each), because they
        have to be kept: with every feature chosen the score is -1, as with none. So searches such
        as `GridSearchCV` stop where one more feature explains less than itself.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Nonnegative.
        y : Ignored
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each sample counts, as in `fit`.

        Returns
        -------
        float
            Minus the mean over features of the l1 error, features scaled to sum 1, where the error
            of a chosen feature is 1.
        """
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        if sample_weight is not None:
            X = scaled(X, _check_sample_weight(sample_weight, X, dtype=X.dtype))
        chosen = X[:, self.hott_]
        total, counted = 0.0, 0
        for first in range(0, X.shape[1], _BLOCK):
            block = slice(first, first + _BLOCK)
            values = dense(X[:, block])
            errors = np.abs(values - chosen @ self.components_[:, block]).sum(axis=0)
            sums = values.sum(axis=0)
            own = self.hott_[(self.hott_ >= first) & (self.hott_ < first + _BLOCK)] - first
            errors[own] = sums[own]
            seen = sums > 0
            total += float((errors[seen] / sums[seen]).sum())
            counted += int(seen.sum())
        return -total / max(counted, 1)

    def _restore(self, result: Factorization, arrays: Any, facts: dict[str, Any]) -> None:
        """What `save` wrote."""
        self._keep(result, restore_features(self, facts))

    def __getstate__(self) -> Any:
        """Without the samples."""
        return {k: v for k, v in super().__getstate__().items() if k != "_samples"}

    def _get_support_mask(self) -> Any:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.hott_] = True
        return mask

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.input_tags.allow_nan = self.missing == "observed"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _lies_elsewhere(X: Any) -> bool:
    """Whether X is a folder, files or a Ray Dataset."""
    if isinstance(X, (list, tuple)) and X:
        return all(isinstance(path, (str, os.PathLike)) for path in X)
    return isinstance(X, (str, os.PathLike)) or hasattr(X, "to_arrow_refs")
