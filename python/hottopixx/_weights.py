"""Samples that count more than once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from ._arrays import is_sparse

if TYPE_CHECKING:
    from ._types import Floats


def scaled(X: Any, weights: Any) -> Any:
    """Samples times their weights."""
    if is_sparse(X):
        return (sp.diags_array(weights) @ X).asformat(X.format)
    return X * weights[:, None]


def weighed(X: Any, weights: Floats | None, method: str) -> tuple[Any, list[float] | None]:
    """The samples that a method is to see, such that weights are repetitions for it.

    l1 errors are sums over samples: a sample of weight w may be w times as large. Methods that see
    squares are told the weights, which come second. Algorithm 4 goes from sample to sample, so its
    answer depends on how often it meets one and when: it is given every sample once, in an order
    that depends on nothing but the samples.
    """
    if method == "hottopixx":
        return _once(X, weights), None
    if weights is None:
        return X, None
    return scaled(X, weights), [float(weight) for weight in weights]


def _once(X: Any, weights: Floats | None) -> Any:
    """Samples that are the same as one, times how often they are there.

    Without weights and repetitions these are the samples as they are. Sums of samples that are the
    same are the same: only samples whose sums occur twice are looked at.
    """
    given, X = X, X.tocsr() if is_sparse(X) else X
    if weights is not None:
        X, weights = X[weights > 0], weights[weights > 0]
    sums = np.asarray(X.sum(axis=1)).ravel()
    values, place, times = np.unique(sums, return_inverse=True, return_counts=True)
    plain = weights is None or bool((weights == 1).all())
    as_they_are = given if len(sums) == given.shape[0] else X
    if plain and len(values) == len(sums):
        return as_they_are
    groups: dict[tuple[int, bytes], list[int]] = {}
    for sample, at in enumerate(place.ravel()):
        key = _bytes_of(X, sample) if times[at] > 1 else b""
        groups.setdefault((int(at), key), []).append(sample)
    if plain and len(groups) == len(sums):
        return as_they_are
    each = [groups[key] for key in sorted(groups)]
    counts = np.ones(len(sums)) if weights is None else weights
    total = np.array([counts[samples].sum() for samples in each], dtype=X.dtype)
    return scaled(X[[samples[0] for samples in each]], total)


def _bytes_of(X: Any, sample: int) -> bytes:
    """What is the same for samples that are the same."""
    if not is_sparse(X):
        return bytes(np.asarray(X[sample]).tobytes())
    row = X[[sample]]
    row.sum_duplicates()
    row.eliminate_zeros()
    return bytes(row.indices.tobytes() + row.data.tobytes())
