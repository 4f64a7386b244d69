"""A few features in the place of several hundred: how well samples can still be told apart.

`Hottopixx` chooses without labels; `SelectKBest` sees them. Test accuracy of logistic regression
on k features, mean over splits, for

- spectra: 300 bands, eight materials that are mixed (made up). Neighbouring bands say the same, so
  that choosing bands one by one, as variance and `SelectKBest` do, takes many copies of one; hott
  bands stand for different materials, and so do those of SPA. Five bands at random do as well;
  ten do not.
- genes: counts of 500 genes, ten programs (made up). Hott genes are as good as the most variable
  ones, which are the marker genes here, and far ahead of `SelectKBest` and SPA (which takes the
  rarest genes); loadings are better still.
- digits: 64 pixels of scikit-learn's digits. Here hott pixels do *not* help: those at the rim are
  the most distinctive, and say little. Variance and `SelectKBest` are better.
- with `--pbmc`: 765 genes of 700 blood cells, from the package scanpy, if that is installed. Hott
  genes are about as good as those that `SelectKBest` finds with the labels, and five or ten of
  them better than the most variable ones.
"""

from __future__ import annotations

import argparse
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from _common import COLOURS, plt, save
from sklearn.datasets import load_digits
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hottopixx import AdviceWarning, Hottopixx


def spectra(bands=300, materials=8, samples=800, seed=0):
    """Smooth spectra, mixed and shaded, a little noise; the class is the main material."""
    random = np.random.default_rng(seed)
    x = np.linspace(0, 1, bands)
    pure = np.full((materials, bands), 0.15)
    for _ in range(4):
        height, place = random.uniform(0.2, 1, (2, materials, 1))
        width = random.uniform(0.02, 0.12, (materials, 1))
        pure += height * np.exp(-(((x - (place - 0.2) / 0.8) / width) ** 2))
    y, shares = mixed(random, materials, samples, 0.4)
    X = shares @ pure * random.uniform(0.6, 1.2, (samples, 1))
    return np.maximum(X + 0.01 * random.standard_normal(X.shape), 0), y


def genes(count=500, programs=10, samples=600, seed=0):
    """Counts of genes that programs switch on together; the class is the main program."""
    random = np.random.default_rng(seed)
    expressed = random.dirichlet(np.full(count, 0.05), programs)
    y, shares = mixed(random, programs, samples, 0.5)
    X = random.poisson(shares @ expressed * 3000).astype(float)
    return X[:, X.sum(axis=0) > 0], y


def mixed(random, parts, samples, least):
    """Classes, and shares of which that of the class is at least this."""
    y = random.integers(0, parts, samples)
    shares = random.dirichlet(np.full(parts, 0.25), samples) * (1 - least)
    shares[np.arange(samples), y] += least
    return y, shares


def pbmc():
    """Log-normalised genes x cells of the package scanpy, and what kind the cells are."""
    import h5py

    where = find_spec("scanpy")
    if where is None:
        raise SystemExit("--pbmc needs the data of scanpy: pip install scanpy")
    folder = Path(where.submodule_search_locations[0]) / "datasets"
    with h5py.File(folder / "10x_pbmc68k_reduced.h5ad") as file:
        parts = [file["raw.X"][part][()] for part in ("data", "indices", "indptr")]
        X = sp.csr_array(tuple(parts), shape=file["X"].shape).toarray().astype(float)
        y = file["obs"][()]["bulk_labels"]
    frequent = np.isin(y, [kind for kind in np.unique(y) if (y == kind).sum() >= 12])
    return X[frequent], y[frequent]


def accuracy(train, test, y_train, y_test):
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300))
    return model.fit(train, y_train).score(test, y_test)


def choices(X, y, k, random):
    """What each way makes of X: functions from samples x features to fewer columns."""
    hott = Hottopixx(k, effort="quick").fit(X)
    loadings = Hottopixx(k, effort="quick", output="loadings").fit(X)
    variance = np.argsort(-X.var(axis=0))[:k]
    seen = SelectKBest(scores, k=k).fit(X, y)
    guess = random.choice(X.shape[1], k, replace=False)
    with warnings.catch_warnings():  # that those of SPA explain next to nothing
        warnings.simplefilter("ignore", AdviceWarning)
        spa = Hottopixx(k, method="spa").fit(X)
    return {
        "hott features": hott.transform,
        "hott loadings": loadings.transform,
        "SPA features": spa.transform,
        "largest variance": lambda Z: Z[:, variance],
        "random features": lambda Z: Z[:, guess],
        "SelectKBest (sees y)": seen.transform,
    }


def scores(X, y):
    """F statistics, 0 for features that are constant."""
    varies = X.std(axis=0) > 0
    found = np.zeros(X.shape[1])
    found[varies] = f_classif(X[:, varies], y)[0]
    return found


def measured(X, y, counts, splits):
    """Accuracies by way, counts x splits; and with all features."""
    found: dict[str, np.ndarray] = {}
    whole = np.zeros(splits)
    random = np.random.default_rng(0)
    for split in range(splits):
        parts = train_test_split(X, y, test_size=0.5, random_state=split, stratify=y)
        train, test, y_train, y_test = parts
        whole[split] = accuracy(train, test, y_train, y_test)
        for c, k in enumerate(counts):
            for name, reduced in choices(train, y_train, k, random).items():
                table = found.setdefault(name, np.zeros((len(counts), splits)))
                table[c, split] = accuracy(reduced(train), reduced(test), y_train, y_test)
    return {name: table.mean(axis=1) for name, table in found.items()}, whole.mean()


def draw(axis, title, counts, found, whole):
    styles = ("o-", "^-", "v:", "s--", "x:", "d--")
    for (name, means), style, colour in zip(found.items(), styles, COLOURS, strict=True):
        axis.plot(counts, means, style, color=colour, ms=5, label=name)
    axis.axhline(whole, color="#444444", lw=1, ls=":", label="all features")
    axis.set_xticks(counts)
    axis.set(title=title, xlabel="number of features", ylim=(0, 1.02))
    axis.spines[["top", "right"]].set_visible(False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pbmc", action="store_true", help="blood cells of scanpy as well")
    parser.add_argument("--splits", type=int, default=5, help="splits to take the mean of")
    parser.add_argument("--quick", action="store_true", help="smaller data, one split")
    parser.add_argument("--out", type=Path, default=Path("pictures"), help="folder for pictures")
    args = parser.parse_args()

    counts = [5, 10, 20]
    cases = {"spectra, 300 bands": spectra(), "genes, 500": genes()}
    digits = load_digits()
    cases["digits, 64 pixels"] = digits.data, digits.target
    if args.pbmc:
        cases["blood cells, 765 genes"] = pbmc()
    if args.quick:
        counts, args.splits = [5], 1
        cases = {name: (X[:120], y[:120]) for name, (X, y) in cases.items()}
    figure, axes = plt.subplots(
        1, len(cases), figsize=(3.6 * len(cases), 3.8), sharey=True, layout="constrained"
    )
    for axis, (title, (X, y)) in zip(axes, cases.items(), strict=True):
        found, whole = measured(X, y, counts, args.splits)
        print(f"\n{title}: {len(y)} samples, {len(np.unique(y))} classes; all features {whole:.3f}")
        print(f"{'k':>24} " + " ".join(f"{k:>6}" for k in counts))
        for name, means in found.items():
            print(f"{name:>24} " + " ".join(f"{mean:6.3f}" for mean in means), flush=True)
        draw(axis, title, counts, found, whole)
    axes[0].set_ylabel("test accuracy")
    axes[-1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    save(figure, args.out, "features.png")


if __name__ == "__main__":
    main()
