"""Samples that explain the others, as a scikit-learn estimator."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import (
    _check_feature_names_in,
    check_array,
    check_is_fitted,
)

from ._advice import advise
from ._arrays import dense, has_gaps, is_sparse
from ._fits import weights_on
from ._fitted import FittedAnswer, component_count, increasing, numbers, warn_of_limits
from ._functions import factored
from ._options import index_names, seed_number, threads_of
from ._saving import restore_features
from ._scene import Scene, unmixed

if TYPE_CHECKING:
    from ._answer import Factorization
    from ._plots import Plots
    from ._types import Floats

_ABUNDANCES = ("free", "shares", "sum-to-one")


class HottSamples(FittedAnswer, TransformerMixin, BaseEstimator):
    """Choose the few samples that explain all the others as nonnegative mixtures.

    The contract of `sklearn.decomposition.NMF` with components that are samples of the data: pure
    pixels of a hyperspectral image, prototypes, archetypes that exist. X is nearly
    `transform(X) @ components_`.

    Parameters
    ----------
    n_components : int or "auto", default=4
        How many samples to choose; "auto" takes the number that stands out on the path of up to 20
        (see `path`).
    method : str, default="auto"
        How they are found: "auto", "hottopixx", "minimax", "total", "gradient", "spa", "snpa" or
        "xray", as in `hottopixx.factor`, which count all samples alike; or "unmix", as `hottopixx
        unmix` does for real scenes: bands count by their noise, dark pixels less, neighbours are
        averaged, and outliers name nothing.
    abundances : {"free", "shares", "sum-to-one"}, default="free"
        What `transform` returns: nonnegative weights with the least l1 error, in the units of X;
        these divided by their sum, which leaves the brightness of a sample free (what `hottopixx
        unmix` calls sum-to-one); or weights that must sum to one when they are fitted, for data
        without shadows.
    smooth : bool, default=False
        Whether `components_` are means of the purest pixels instead of single ones, which are
        noisy; for "unmix" alone.
    objective : {"mean", "max"}, default="mean"
        Which error is made small: the mean l1 error of a sample, or the largest.
    effort : {"quick", "normal", "thorough"}, default="normal"
        How long "auto" looks for a better answer.
    candidates : array-like, default=None
        Which samples may be chosen: their numbers, or True or False for each; None for all.
    missing : {"refuse", "observed"}, default="refuse"
        Whether X may have missing values (NaN): they are left out of fits and errors, and
        `components_` are completed. Not for "unmix", nor for abundances "sum-to-one".
    max_seconds : float, default=None
        After this many seconds the best answer so far will do.
    random_state : int, RandomState instance, Generator or None, default=None
        Fixes everything random: numbers of any size. None is 0: results are always reproducible.
    n_jobs : int, default=None
        Threads: None or -1 for all the machine has, -2 for all but one. The answer does not
        depend on it.
    verbose : int, default=0
        Whether to show progress.

    Attributes
    ----------
    sample_indices_ : ndarray of shape (n_components_,)
        The chosen samples, increasing: rows of X; of a cube, pixel `line * width + column`.
    components_ : ndarray of shape (n_components_, n_features_in_)
        The chosen samples themselves, in the units of X.
    groups_ : list of ndarray
        For each, all samples that could stand in its place with nearly the same error.
    certificate_ : Certificate or None
        Proven bounds, where the method has them.
    reconstruction_err_ : float
        Mean over samples of the l1 error with free weights, samples scaled to sum 1: 0 is perfect,
        1 explains nothing. Of all samples, outliers and dark ones too, as mixtures of the chosen
        samples themselves, with `smooth` as well; `hottopixx unmix` tells the mean error of the
        other samples as mixtures of `spectra_`.
    spectra_ : ndarray of shape (n_components_, n_features_in_) or None
        Means of the purest pixels of each, for "unmix".
    outliers_, dark_ : ndarray
        Samples that nothing explains, and samples near the noise, for "unmix"; empty otherwise.
    image_shape_ : tuple of int or None
        Height and width, where X was a cube.
    result_ : Factorization
        Everything else: `F` (samples x components), errors by sample, notes; with the most
        distinctive sample first.
    n_components_ : int
        Number of chosen samples.
    n_features_in_ : int
        Number of features (bands) seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen during fit, when X has names that are all strings.

    See Also
    --------
    Hottopixx : Features that explain the others.
    sklearn.decomposition.NMF : Components that are not samples of the data.

    Examples
    --------
    >>> import numpy as np
    >>> from hottopixx import HottSamples
    >>> X = np.array([[1.0, 0.0, 2.0], [0.5, 1.0, 1.0], [0.0, 2.0, 0.0], [0.25, 1.5, 0.5]])
    >>> model = HottSamples(n_components=2, abundances="sum-to-one").fit(X)
    >>> model.sample_indices_
    array([0, 2])
    >>> model.transform(X).round(2)
    array([[1.  , 0.  ],
           [0.5 , 0.5 ],
           [0.  , 1.  ],
           [0.25, 0.75]])
    """

    def __init__(
        self,
        n_components: int | str = 4,
        *,
        method: str = "auto",
        abundances: str = "free",
        smooth: bool = False,
        objective: str = "mean",
        effort: str = "normal",
        candidates: Any = None,
        missing: str = "refuse",
        max_seconds: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.abundances = abundances
        self.smooth = smooth
        self.objective = objective
        self.effort = effort
        self.candidates = candidates
        self.missing = missing
        self.max_seconds = max_seconds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> HottSamples:
        """Choose samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or a cube
            Nonnegative; or an array of height x width x bands, whose pixels are the samples, or an
            image of the package spectral, such as `spectral.open_image("scene.hdr")`.
        y : Ignored
            Not used.

        Returns
        -------
        HottSamples
            The fitted estimator.
        """
        if self.abundances not in _ABUNDANCES:
            raise ValueError(
                f"abundances is {self.abundances!r}: choose one of {', '.join(_ABUNDANCES)}"
            )
        names = index_names(X)
        X, shape = _flat(X)
        X = self._validated(X, reset=True)
        rank: Any = component_count(self.n_components, X.shape[0], "n_samples")
        options: Any = {
            "objective": self.objective,
            "effort": self.effort,
            "candidates": self.candidates,
            "missing": self.missing,
            "max_seconds": self.max_seconds,
            "seed": seed_number(self.random_state, "random_state"),
            "threads": threads_of(self.n_jobs),
            "verbose": bool(self.verbose),
        }
        scene = None
        if self._unmixes():
            scene = unmixed(dense(X), rank, shape, names, options)
            result = scene.answer
        else:
            result = factored(X, rank, self.method, names, options, "sample")
        self._keep(result, X.dtype, shape, scene)
        if scene is not None and self.n_components_ > X.shape[1]:
            advise(
                f"{self.n_components_} materials are more than the {X.shape[1]} bands can tell "
                "apart: ask for fewer, or see whether bands come last in X"
            )
        warn_of_limits(result.stop)
        return self

    def _unmixes(self) -> bool:
        """Whether the method is that of scenes, and the options are such that it can be."""
        if self.method != "unmix":
            if self.smooth:
                raise ValueError(f'smooth goes with method="unmix", not with {self.method!r}')
            return False
        if self.missing != "refuse":
            raise ValueError('missing values do not go with method="unmix": fill them')
        if self.objective != "mean" or self.effort != "normal" or self.candidates is not None:
            raise ValueError(
                'objective, effort and candidates do not go with method="unmix": leave them out'
            )
        return True

    def _validated(self, X: Any, reset: bool) -> Any:
        """Samples x features as numbers that are not negative."""
        return numbers(self, X, "csr", reset, self.missing == "observed")

    def _keep(
        self,
        result: Factorization,
        dtype: Any,
        shape: tuple[int, int] | None,
        scene: Scene | None,
    ) -> None:
        """The answer as attributes."""
        order = increasing(result)
        self.result_ = result
        self.image_shape_ = shape
        self.sample_indices_ = result.hott[order]
        self.spectra_ = None if scene is None else scene.spectra[order].astype(dtype)
        self.outliers_ = np.zeros(0, np.intp) if scene is None else scene.outliers
        self.dark_ = np.zeros(0, np.intp) if scene is None else scene.dark
        chosen = self.spectra_ if self.smooth else dense(result.W)[order]
        self.components_ = np.ascontiguousarray(chosen, dtype=dtype)
        self.groups_ = [result.groups[k] for k in order]
        self.certificate_ = result.certificate
        self.reconstruction_err_ = result.error.mean_l1
        self.n_components_ = len(order)

    def transform(self, X: Any) -> Any:
        """How much of each chosen sample is in each sample, old or new.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or a cube
            Nonnegative, with the features of `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_components_)
            Nonnegative weights, as `abundances` says. A sample of zeros has weights of zero, unless
            they must sum to one.
        """
        check_is_fitted(self)
        X = self._validated(_flat(X)[0], reset=False)
        atoms = sp.csr_array(self.components_) if is_sparse(X) else self.components_
        if self.missing == "observed" and has_gaps(X):
            found = self._observed_weights(X)
        else:
            found = weights_on(
                atoms,
                X,
                sum_to_one=self.abundances == "sum-to-one",
                threads=threads_of(self.n_jobs),
                verbose=bool(self.verbose),
            )
        if self.abundances == "shares":
            sums = found.sum(axis=1, keepdims=True)
            found = found / np.where(sums > 0, sums, 1.0)
        return found.astype(X.dtype, copy=False)

    def _observed_weights(self, X: Any) -> Any:
        """Free weights with the least l1 error over what was observed."""
        if self.abundances == "sum-to-one":
            raise ValueError('missing values do not go with abundances "sum-to-one": fill them')
        answer = replace(self.result_, W=self.components_.astype(np.float64))
        threads = threads_of(self.n_jobs)
        return dense(answer.apply(X, missing="observed", threads=threads).F)

    def inverse_transform(self, X: Any) -> Any:
        """Samples from how much of each chosen one is in them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_components_)
            Abundances, as `transform` returns them.

        Returns
        -------
        ndarray of shape (n_samples, n_features_in_)
            `X @ components_`.
        """
        check_is_fitted(self)
        X = check_array(X, accept_sparse=True, dtype=(np.float64, np.float32))
        if X.shape[1] != self.n_components_:
            raise ValueError(
                f"X has {X.shape[1]} columns, but {self.n_components_} samples were chosen"
            )
        return X @ self.components_

    def maps_(self, shape: Any = None, X: Any = None) -> Floats:
        """Abundances as pictures.

        Parameters
        ----------
        shape : (int, int), optional
            Height and width; those of the cube unless given. A cube in its place is taken for X.
        X : array-like, optional
            A cube, or pixels x bands; what the model was fitted to unless given.

        Returns
        -------
        ndarray of shape (height, width, n_components_)
            A map for each chosen sample.
        """
        check_is_fitted(self)
        if X is None and np.ndim(shape) > 1:
            X, shape = shape, None
        if X is None:
            if self.result_.source is None:
                raise ValueError("a model that was loaded or unpickled has no data: give maps_(X)")
            X, own = self.result_.source.X, self.image_shape_
        else:
            X, own = _flat(X)
        shape = own if shape is None else shape
        found = self.transform(X)
        if shape is None:
            raise ValueError("give shape=(height, width): X was no cube")
        if int(np.prod(shape)) != len(found):
            raise ValueError(f"shape {tuple(shape)} does not hold {len(found)} pixels")
        return np.asarray(found.reshape(*shape, -1))

    @property
    def plot(self) -> Plots:
        """Pictures: `topics()`, `errors()`, `path()`, `diagonal()`, `maps()`, `spectra()`."""
        from ._plots import Plots

        check_is_fitted(self)
        return Plots(self.result_, self.image_shape_, self.components_)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the columns of `transform`: the chosen samples.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Only checked, as everywhere in scikit-learn.

        Returns
        -------
        ndarray of str
            The labels of a data frame's rows, or "sample17" and the like.
        """
        check_is_fitted(self)
        _check_feature_names_in(self, input_features)
        names = self.result_.names
        called = [names[i] if names else f"sample{i}" for i in self.sample_indices_]
        return np.array(called, dtype=object)

    def _kept(self) -> tuple[dict[str, Any], dict[str, Any]]:
        arrays = {}
        if self.spectra_ is not None:
            arrays = {"spectra": self.spectra_, "outliers": self.outliers_, "dark": self.dark_}
        return arrays, {"image_shape_": self.image_shape_}

    def _restore(self, result: Factorization, arrays: Any, facts: dict[str, Any]) -> None:
        """What `save` wrote."""
        dtype, shape = restore_features(self, facts), facts["image_shape_"]
        scene = None
        if arrays:
            back = np.argsort(increasing(result))  # as they were before they were sorted
            scene = Scene(result, arrays["spectra"][back], arrays["outliers"], arrays["dark"])
        self._keep(result, dtype, None if shape is None else tuple(shape), scene)

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.input_tags.three_d_array = True
        tags.input_tags.allow_nan = self.missing == "observed"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _flat(X: Any) -> tuple[Any, tuple[int, int] | None]:
    """Pixels x bands, and height and width where X is a cube.

    An image that the package `spectral` has opened is loaded: ENVI and other formats of sensors.
    """
    if hasattr(X, "nbands") and hasattr(X, "load"):
        X = X.load()
    if getattr(X, "ndim", 3) > 3:
        raise ValueError(
            f"X has {X.ndim} dimensions: give samples x features, or height x width x bands"
        )
    if is_sparse(X) or getattr(X, "ndim", 3) != 3 or hasattr(X, "columns"):
        return X, None
    array = np.asarray(X)
    if array.ndim != 3:
        return X, None
    height, width, bands = array.shape
    return array.reshape(height * width, bands), (height, width)
