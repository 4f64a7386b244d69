"""Hott features before a linear SVM: test error against the number of features.

The last figure of the paper: how many features does a linear classifier need? The horizontal line
is the test error with all features. Two reductions are shown: hott words alone, which is what
`transform` keeps, and the documents weighed by `components_`, where every word counts for the hott
words that it leans on. The second needs far fewer. With a thousand documents, words that are kept
alone do no better than others as frequent; the paper had 800,000.

Data: a folder with `X.npz` (documents x words), `labels.txt` and, in `--train`, how many documents
train; `sklearn.datasets.fetch_rcv1` with `--rcv1`; a made-up corpus otherwise.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from _common import COLOURS, plt, save
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import LinearSVC

import hottopixx
from hottopixx import Hottopixx


def made_up(seed: int = 0):
    """Documents of 20 topics; the class is whether the first ten outweigh the others."""
    instance = hottopixx.generate(
        "multinomial", features=1500, examples=3000, rank=20, tokens=80, seed=seed
    )
    X = instance.X.T.tocsr()
    topics = hottopixx.evaluate(instance.X, instance.hott, cleaning="least-squares").F
    share = X @ (topics.toarray() if sp.issparse(topics) else topics)
    share /= np.maximum(share.sum(axis=1, keepdims=True), 1e-12)
    score = share[:, :10].sum(axis=1)
    return X, (score > np.median(score)).astype(int), 2000, "made-up corpus"


def from_folder(folder: Path, train: int | None, positive: list[int] | None):
    X = sp.csr_array(sp.load_npz(folder / "X.npz"), dtype=float)
    labels = np.loadtxt(folder / "labels.txt", dtype=int)
    y = np.isin(labels, positive) if positive else labels == labels.max()
    return X, y.astype(int), train or 2 * len(y) // 3, folder.name


def from_rcv1():
    from sklearn.datasets import fetch_rcv1

    data = fetch_rcv1()
    return data.data, (data.target[:, 33].toarray().ravel()).astype(int), 23149, "RCV1, CCAT"


def test_error(X, y, train):
    """Share of the test documents that a linear SVM gets wrong."""
    svm = make_pipeline(Normalizer(), LinearSVC(dual="auto", random_state=0))
    svm.fit(X[:train], y[:train])
    return 1 - svm.score(X[train:], y[train:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with X.npz and labels.txt")
    parser.add_argument("--rcv1", action="store_true", help="fetch RCV1 over the network")
    parser.add_argument("--train", type=int, help="documents that train, the first ones")
    parser.add_argument("--positive", type=int, nargs="+", help="labels of the positive class")
    parser.add_argument("--method", default="spa", help="as in hottopixx.factor")
    parser.add_argument("--most", type=int, default=200, help="most features (default 200)")
    parser.add_argument("--min-df", type=int, default=20, help="fewest documents per word")
    parser.add_argument("--tfidf", action="store_true", help="weight counts by tf-idf first")
    parser.add_argument("--out", type=Path, default=Path("pictures"), help="folder for pictures")
    args = parser.parse_args()

    if args.rcv1:
        X, y, train, title = from_rcv1()
    elif args.data is not None:
        X, y, train, title = from_folder(args.data, args.train, args.positive)
    else:
        X, y, train, title = made_up()
    if args.tfidf:
        X = TfidfTransformer(norm=None).fit(X[:train]).transform(X)
    X = sp.csr_array(X)
    # Rare words look extreme because they are noisy: they would be hott, and say little.
    X = X[:, np.flatnonzero(np.diff(X[:train].tocsc().indptr) >= args.min_df)]
    print(f"{title}: {X.shape[0]} documents, {X.shape[1]} words, {train} train")
    whole = test_error(X, y, train)
    print(f"{'all':>6} features: test error {whole:.3f}")

    counts = [k for k in (10, 20, 50, 100, 200, 500, 1000, 2000) if k <= min(args.most, X.shape[1])]
    random = np.random.default_rng(0)
    curves = {"hott words alone": [], "all words, by hott words": [], "words at random": []}
    for count in counts:
        model = Hottopixx(count, method=args.method, cleaning="least-squares").fit(X[:train])
        weights = model.components_.T
        weights = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
        guess = random.choice(X.shape[1], count, replace=False)
        reduced = (X[:, model.hott_], X @ weights, X[:, guess])
        for errors, part in zip(curves.values(), reduced, strict=True):
            errors.append(test_error(part, y, train))
        figures = ", ".join(f"{name} {errors[-1]:.3f}" for name, errors in curves.items())
        print(f"{count:>6} features: {figures}", flush=True)

    figure, axis = plt.subplots(figsize=(6.5, 4.2))
    for (name, errors), colour, style in zip(
        curves.items(), COLOURS, ("o-", "^-", "s--"), strict=False
    ):
        axis.semilogx(counts, errors, style, color=colour, label=name)
    axis.axhline(whole, color="#444444", ls=":", label=f"all {X.shape[1]:,} features")
    axis.set(
        xlabel="number of features",
        ylabel="test error (share wrong)",
        ylim=(0, None),
        title=f"Linear SVM on {title}",
    )
    axis.set_xticks(counts, [str(count) for count in counts])
    axis.minorticks_off()
    axis.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    save(figure, args.out, "features.png")


if __name__ == "__main__":
    main()
