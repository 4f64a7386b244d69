"""The parts of the method that are of use alone, and instances to try it on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from . import _native
from ._advice import advise, check_counts, look_turned
from ._arrays import floats, from_native, to_native
from ._results import Instance, L1Fit, instance

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ._types import Floats, Run


def cooccurrence(counts: Any) -> Any:
    """How often words stand beside each other: what to factor instead of counts.

    Words x documents are too sparse to be nearly separable; words x words are not. Entry (i, j)
    estimates the probability that two tokens of a document are i and j, without bias: the sum over
    documents of `(h h^T - diag h) / (L (L - 1))`, h the counts and L their sum.

    Parameters
    ----------
    counts : array-like or scipy sparse matrix of shape (words, documents)
        How often each word occurs in each document: whole numbers.

    Returns
    -------
    ndarray or csr_array of shape (words, words)
        CSR for sparse counts, dense for dense ones.

    Raises
    ------
    ValueError
        When counts are not whole numbers, as tf-idf is not.

    See Also
    --------
    HottTopics : All the way from documents to topics.

    Examples
    --------
    >>> import hottopixx
    >>> hottopixx.cooccurrence([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]).tolist()
    [[0.0, 0.5, 0.5], [0.5, 0.0, 0.0], [0.5, 0.0, 0.0]]
    """
    native = to_native(counts)
    checked = counts if sp.issparse(counts) else native
    check_counts(checked, "counts")
    how: Run = {"max_seconds": None, "progress": None}
    pairs = from_native(_native.cooccurrence(native, how))
    if look_turned(checked):
        advise(
            "some columns of counts sum to much more than any row, as words do: if columns are "
            "words, give counts.T"
        )
    if sp.issparse(counts):
        return sp.csr_array(pairs)
    return pairs if isinstance(pairs, np.ndarray) else pairs.toarray()


def l1_fit(A: ArrayLike, x: ArrayLike, upper: ArrayLike | None = None) -> L1Fit:
    """The weights c, 0 <= c <= upper, with the least ||x - c A||_1, and a proof.

    Parameters
    ----------
    A : array-like of shape (atoms, n)
        One atom per row.
    x : array-like of shape (n,)
        What to explain.
    upper : array-like of shape (atoms,) or float, optional
        Bounds of the weights (default: none).

    Returns
    -------
    L1Fit
        With `weights`, `value`, `dual` and `lower_bound`.

    Examples
    --------
    >>> import hottopixx
    >>> fit = hottopixx.l1_fit([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]], [2.0, 1.0, 3.0])
    >>> fit.weights.tolist(), fit.value
    ([2.0, 1.0], 0.0)
    >>> hottopixx.l1_fit([[1.0, 1.0]], [2.0, 2.0], upper=0.5).value
    3.0
    """
    atoms = floats(A, 2, "A")
    bounds = None
    if upper is not None:
        bounds = np.broadcast_to(np.asarray(upper, dtype=float), len(atoms)).tolist()
    return L1Fit(*_native.l1_fit(atoms, floats(x, 1, "x"), bounds))


def squish(z: ArrayLike, diagonal: int = 0) -> Floats:
    """Project onto the simple constraints of a localising matrix (Algorithm 5).

    Parameters
    ----------
    z : array-like of shape (f,) or (f, f)
        A column, projected onto 0 <= x_i <= x_d <= 1; or a whole matrix, whose column j has its
        diagonal entry in row j.
    diagonal : int, default=0
        Place d of the diagonal entry of a column.

    Returns
    -------
    ndarray
        The projection, of the same shape.

    Examples
    --------
    >>> import hottopixx
    >>> hottopixx.squish([0.2, 0.8, 0.5, 0.1]).tolist()
    [0.5, 0.5, 0.5, 0.1]
    """
    array = np.asarray(z)
    if array.ndim == 2:
        rows, cols = array.shape
        if rows != cols:
            raise ValueError(f"z is {rows} x {cols}: a localising matrix is square")
        return _native.squish_matrix(floats(array, 2, "z"), list(range(cols)))
    if diagonal < 0:
        raise ValueError(f"diagonal is {diagonal}: places count from 0")
    return _native.squish(floats(array, 1, "z"), diagonal)


def generate(
    family: str,
    *,
    rank: int,
    features: int | None = None,
    examples: int | None = None,
    duplicates: int | None = None,
    noise: float | None = None,
    ill: float | None = None,
    tokens: int | None = None,
    seed: int = 0,
) -> Instance:
    """An instance whose answer is known.

    Parameters
    ----------
    family : str
        "paper" (section 5 of the paper), "midpoints", "ill-conditioned", "near-duplicates",
        "outliers", "multinomial" or "documents" (sparse counts), or "scene" (pixels x bands, with
        `shape` and `spectra`).
    rank : int
        Number of hott rows.
    features, examples : int, optional
        Rows and columns; each family has its defaults.
    duplicates : int, optional
        Copies of each hott row.
    noise : float, optional
        What it means depends on the family: eta for "paper", delta for "midpoints", a factor on the
        noise that the seed draws for "scene".
    ill : float, optional
        How ill-conditioned the hott rows are; for "scene", the share of other materials that every
        pixel has at least.
    tokens : int, optional
        Words in a document.
    seed : int, default=0
        Fixes everything random.

    Returns
    -------
    Instance
        With `X`, `hott`, `groups` and more.

    Examples
    --------
    >>> import hottopixx
    >>> hottopixx.generate("paper", features=40, examples=400, rank=5, duplicates=1).X.shape
    (40, 400)
    >>> scene = hottopixx.generate("scene", rank=4, features=400, examples=50)
    >>> scene.cube.shape, scene.spectra.shape
    ((20, 20, 50), (4, 50))
    """
    numbers = {"rank": rank, "features": features, "examples": examples, "seed": seed}
    for name, value in {**numbers, "duplicates": duplicates, "tokens": tokens}.items():
        if value is not None and value < 0:
            raise ValueError(f"{name} is {value}: it must not be negative")
    matrix, truth = _native.generate(
        family, rank, features, examples, duplicates, noise, ill, tokens, seed
    )
    return instance(from_native(matrix), truth)
