"""Against NMF and MiniBatchNMF of scikit-learn at the same rank, on words of a corpus.

Seconds of `fit`; error: mean over words of the l1 error, each word scaled to sum 1, for
documents that trained; test error of a linear SVM on the reduced features, one class against the
rest. Hottopixx reduces in two ways: `transform` keeps the hott words alone, of which one needs
many; `X @ components_.T` weighs all words by the hott words that they lean on. `--data` is a
folder with X.npz (documents x words) and labels.txt; without it a made-up corpus stands in.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import NMF, MiniBatchNMF
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, Normalizer
from sklearn.svm import LinearSVC

import hottopixx
from hottopixx import Hottopixx

BLOCK = 512


def corpus(folder: Path | None, train: int | None, positive: list[int] | None):
    if folder is not None:
        X = sp.csr_array(sp.load_npz(folder / "X.npz"), dtype=float)
        labels = np.loadtxt(folder / "labels.txt", dtype=int)
        return X, np.isin(labels, positive or [labels.max()]), train or 2 * X.shape[0] // 3
    instance = hottopixx.generate("multinomial", features=3000, examples=6000, rank=30, tokens=80)
    X = instance.X.T.tocsr()
    signal = np.asarray(X[:, instance.hott[:15]].sum(axis=1)).ravel()
    return X, signal > np.median(signal), 4000


def mean_l1(X, Z, components) -> float:
    """Mean over columns of ||x - Z h||_1 / ||x||_1, a block of columns at a time."""
    X = X.tocsc()
    errors = []
    for first in range(0, X.shape[1], BLOCK):
        values = X[:, first : first + BLOCK].toarray()
        product = Z @ components[:, first : first + BLOCK]
        product = product.toarray() if sp.issparse(product) else product
        sums = values.sum(axis=0)
        seen = sums > 0
        errors.append(np.abs(values - product).sum(axis=0)[seen] / sums[seen])
    return float(np.concatenate(errors).mean())


def svm_error(one, other, y, train) -> float:
    svm = make_pipeline(MaxAbsScaler(), Normalizer(), LinearSVC(dual="auto", random_state=0))
    return 1 - svm.fit(one, y[:train]).score(other, y[train:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with X.npz and labels.txt")
    parser.add_argument("--train", type=int, help="documents that train, the first ones")
    parser.add_argument("--positive", type=int, nargs="+", help="labels of the positive class")
    parser.add_argument("--rank", type=int, default=50)
    parser.add_argument("--min-df", type=int, default=10, help="fewest documents per word")
    parser.add_argument("--methods", nargs="+", default=["hottopixx", "spa"])
    args = parser.parse_args()

    X, y, train = corpus(args.data, args.train, args.positive)
    frequency = np.diff(X[:train].tocsc().indptr)
    X = X[:, np.flatnonzero(frequency >= args.min_df)]
    one, other = X[:train], X[train:]
    print(f"{train} documents x {X.shape[1]} words, {one.nnz} nonzeros, rank {args.rank}\n")
    models = [(f"Hottopixx, {m}", Hottopixx(args.rank, method=m)) for m in args.methods]
    models += [
        ("NMF", NMF(args.rank, random_state=0)),
        ("MiniBatchNMF", MiniBatchNMF(args.rank, random_state=0)),
    ]
    print("| model | seconds | error | SVM test error | of all words |")
    print("| --- | ---: | ---: | ---: | ---: |", flush=True)
    for name, model in models:
        begun = time.perf_counter()
        model.fit(one)
        seconds = time.perf_counter() - begun
        Z = model.transform(one)
        error = mean_l1(one, Z, model.components_)
        wrong = svm_error(Z, model.transform(other), y, train)
        mixed = ""
        if isinstance(model, Hottopixx):
            mixtures = (
                model.components_.T / np.maximum(model.components_.sum(axis=0), 1e-300)[:, None]
            )
            mixed = f"{svm_error(one @ mixtures, other @ mixtures, y, train):.3f}"
        print(f"| {name} | {seconds:.1f} | {error:.3f} | {wrong:.3f} | {mixed} |", flush=True)


if __name__ == "__main__":
    main()
