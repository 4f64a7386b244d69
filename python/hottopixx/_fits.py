"""New data as nonnegative mixtures of what was chosen."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _native
from ._arrays import dense, from_native, is_sparse, to_native
from ._options import prepared

#: Matrices below and beside each other, as CSR.
_sparse_stacks: Any = (
    lambda parts: sp.csr_array(sp.vstack(parts)),
    lambda parts: sp.csr_array(sp.hstack(parts)),
)
#: How many times the largest l1 norm of an atom a sum that is not 1 costs.
_PENALTY = 4.0


def weights_on(
    atoms: Any,
    X: Any,
    *,
    sum_to_one: bool = False,
    threads: int = 0,
    verbose: bool = False,
) -> Any:
    """The weights A >= 0 with the least `||x - a atoms||_1` for every row x of X.

    Fits are exact, in parallel, and independent of each other; beyond some size free weights are
    fitted by least squares instead, as everywhere in the library.

    With `sum_to_one` the weights of a row sum to one. This is asked for by one more column, M in
    all atoms and rows: it adds `M |1 - sum a|` to the error. To bring a sum that is off by d back
    to one costs at most d times the largest l1 norm of an atom, so that for any larger M the
    penalty is exact: the best weights sum to one, up to rounding, which is then removed.

    Parameters
    ----------
    atoms : ndarray or sparse matrix of shape (k, columns)
        What to mix.
    X : ndarray or sparse matrix of shape (rows, columns)
        What to explain.
    sum_to_one : bool, default=False
        Whether weights sum to one.
    threads : int, default=0
        Number of threads, 0 for all.
    verbose : bool, default=False
        Whether to show progress.

    Returns
    -------
    ndarray of shape (rows, k)
        The weights.
    """
    count = atoms.shape[0]
    tall, wide = _sparse_stacks if is_sparse(X) else (np.vstack, np.hstack)
    stack = tall([atoms, X])
    cleaning = "auto"
    if sum_to_one:
        norms = np.asarray(abs(stack[:count]).sum(axis=1)).ravel()
        sums = np.full((stack.shape[0], 1), _PENALTY * max(float(norms.max(initial=0.0)), 1e-300))
        stack = wide([stack, sums])
        cleaning = "exact"
    options: Any = {"cleaning": cleaning, "groups": False, "threads": threads, "verbose": verbose}
    with prepared("auto", options, noun="sample") as (settings, run):
        answer = _native.evaluate(to_native(stack), list(range(count)), settings, run)
    weights = dense(from_native(answer[1]))[count:]
    if sum_to_one:
        weights = weights / weights.sum(axis=1, keepdims=True)
    return weights
