"""What the estimators share that hold a factorization: views, files, warnings, checks."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from ._advice import about_no_numbers, advise_on_names, check_names
from ._arrays import is_sparse, refuse_path
from ._options import checked_rank

if TYPE_CHECKING:
    import os

    from ._answer import Factorization
    from ._path import RankPath
    from ._plots import Plots


def numbers(model: Any, X: Any, formats: Any, reset: bool, gaps: bool) -> Any:
    """Samples x features as numbers that are not negative; with `gaps` NaN may be among them."""
    X = validated(
        model,
        X,
        reset,
        accept_sparse=formats,
        dtype=(np.float64, np.float32),
        ensure_all_finite="allow-nan" if gaps else True,
    )
    values = X.data if is_sparse(X) else X
    negative = values[values < 0]  # NaN is not
    if negative.size:
        raise ValueError(
            f"Negative values in data passed to {type(model).__name__} (input X), the least "
            f"{negative.min():g}: give amounts, counts or intensities, before they are centred, "
            "scaled or taken the logarithm of"
        )
    return X


def validated(model: Any, X: Any, reset: bool, **checks: Any) -> Any:
    """What scikit-learn's checks make of X, with remedies for what they refuse.

    Advice about columns names the line that calls `fit`, which is two calls further up.
    """
    refuse_path(X)
    check_names(getattr(X, "columns", ()) if hasattr(X, "dtypes") else ())
    # Dates alone would pass as numbers.
    about = about_no_numbers(X) if hasattr(X, "dtype") or hasattr(X, "dtypes") else None
    if about:
        raise ValueError(about)
    try:
        X = validate_data(model, X, reset=reset, **checks)
    except ValueError as error:
        # scikit-learn names estimators of other kinds, and does not know what this one can do.
        said = str(error)
        if said.startswith("Input X contains NaN") and getattr(model, "missing", "") == "refuse":
            remedy = 'missing="observed" takes NaN as entries that were not observed'
            raise ValueError(f"Input X contains NaN: {remedy}") from None
        if said.startswith("Input X contains infinity"):
            raise ValueError(
                "Input X contains infinity, or a value that is too large: replace such entries, or "
                "drop the samples or features that have them"
            ) from None
        if about := about_no_numbers(X):
            raise ValueError(about) from None
        raise
    if reset and hasattr(model, "feature_names_in_"):
        advise_on_names(X, model.feature_names_in_, level=7)
    return X


class FittedAnswer:
    """Views of `result_`, in the words of the estimator."""

    result_: Factorization

    def members(self, topic: int | str, n: int = 10) -> list[tuple[str, float]]:
        """What leans most on something that was chosen.

        Parameters
        ----------
        topic : int or str
            Its place in `result_.hott`, from 0, or its name.
        n : int, default=10
            How many.

        Returns
        -------
        list of (str, float)
            Names, or numbers as text, with their weights.
        """
        check_is_fitted(self)
        return self.result_.members(topic, n)

    def to_frame(self, what: str = "hott", backend: str | None = None) -> Any:
        """The answer as a table.

        Parameters
        ----------
        what : {"hott", "rows"}, default="hott"
            A line for each that was chosen, with members and stand-ins, or for all of them, with
            errors and what they lean on.
        backend : {"pandas", "polars", "pyarrow"}, optional
            Who makes the table; unless given, the first that is installed.

        Returns
        -------
        pandas.DataFrame, polars.DataFrame or pyarrow.Table
            The table.
        """
        check_is_fitted(self)
        return self.result_.to_frame(what, backend)

    def path(self, *, max_seconds: float | None = None) -> RankPath:
        """Errors and bounds for every number of components up to that of this model.

        Parameters
        ----------
        max_seconds : float, optional
            After this many seconds the points found so far will do.

        Returns
        -------
        RankPath
            With `points`, the `suggested` number and the `reason`. A model that was loaded or
            unpickled has the path that it was saved with.
        """
        check_is_fitted(self)
        return self.result_.path(max_seconds=max_seconds)

    def report(self, path: str | os.PathLike[str], name: str = "X") -> None:
        """Write the answer as one page for a browser.

        Parameters
        ----------
        path : path-like
            Where to, such as "report.html".
        name : str, default="X"
            What the data are called, for the page's title.
        """
        check_is_fitted(self)
        self.result_.report(path, name)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file; `hottopixx.load` reads it.

        Parameters
        ----------
        path : path-like
            Where to, such as "model.hott".
        """
        check_is_fitted(self)
        from ._saving import save_estimator

        save_estimator(self, path, *self._kept())

    def _kept(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Arrays and facts that a file keeps beside `result_`, for `_restore`."""
        return {}, {}

    @property
    def plot(self) -> Plots:
        """Pictures: `topics()`, `errors()`, `path()`, `diagonal()`, `maps()`, `spectra()`."""
        check_is_fitted(self)
        return self.result_.plot

    def __str__(self) -> str:
        return repr(self.result_) if hasattr(self, "result_") else repr(self)

    def _repr_html_(self) -> str:
        if hasattr(self, "result_"):
            return self.result_._repr_html_()
        return str(super()._repr_html_())  # type: ignore[misc]

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return {"text/plain": str(self), "text/html": self._repr_html_()}


def warn_of_limits(stop: str, level: int = 3) -> None:
    """Says to the caller of `fit` that a limit came first."""
    if stop != "finished":
        why = stop.replace("_", " ")
        warnings.warn(
            f"stopped early ({why}): this is the best answer so far; raise max_seconds",
            ConvergenceWarning,
            stacklevel=level,
        )


def component_count(n_components: Any, most: int, what: str) -> int | str:
    """How many to choose of this many, or "auto"."""
    if isinstance(n_components, str) and n_components == "auto":
        return "auto"
    count = checked_rank(n_components, "n_components")
    if not 1 <= count <= most:
        raise ValueError(f"n_components={count} must be between 1 and {what}={most}")
    return count


def increasing(result: Factorization) -> Any:
    """The order in which the chosen ones increase."""
    return np.argsort(result.hott)
