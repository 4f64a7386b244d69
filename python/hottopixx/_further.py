"""Samples so far, to which others are added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from ._arrays import dense, is_sparse

if TYPE_CHECKING:
    from ._answer import Factorization

_GROWTH = 2.0


def last_search(count: int, searched: int) -> int:
    """How many samples there were, or are, at the last search that does not stay near an answer.

    When there are twice as many as then, it is time for another one: near features that were chosen
    from few samples there may be none that are good for many.
    """
    return count if count >= _GROWTH * searched else searched


@dataclass(frozen=True)
class Samples:
    """Samples x features, and how much each sample counts."""

    X: Any
    weights: Any
    #: How many there were when features were last looked for everywhere.
    searched: int

    def own(self) -> Samples:
        """With copies of what the caller may change."""
        weights = None if self.weights is None else self.weights.copy()
        return Samples(self.X.copy(), weights, self.searched)

    def check(self, result: Factorization) -> None:
        """Refuses samples that are no longer those of an answer: they were not copied."""
        columns = self.X.tocsc() if is_sparse(self.X) else self.X
        chosen, kept = dense(columns[:, result.hott]), dense(result.W).T
        seen = ~np.isnan(chosen)  # what was missing has been completed
        if not np.allclose(chosen[seen], kept[seen], rtol=1e-5, atol=0.0):
            raise ValueError(
                "the samples that were given to fit have changed since: give a copy to fit, or "
                "begin with partial_fit, which copies them"
            )

    def and_these(self, X: Any, weights: Any) -> Samples:
        """These samples, then X; those without weights count once."""
        parts = self, Samples(X, weights, 0)
        both: Any
        if is_sparse(self.X) or is_sparse(X):
            both = sp.vstack([sp.csr_array(part.X) for part in parts], format="csr")
        else:
            both = np.vstack([part.X for part in parts])
        if self.weights is not None or weights is not None:
            weights = np.concatenate([part.counted() for part in parts])
        return Samples(both, weights, last_search(int(both.shape[0]), self.searched))

    @property
    def is_much_more(self) -> bool:
        """Whether features are to be looked for everywhere."""
        return bool(self.searched == self.X.shape[0])

    def counted(self) -> Any:
        """How much each sample counts."""
        if self.weights is None:
            return np.ones(self.X.shape[0], dtype=self.X.dtype)
        return self.weights
