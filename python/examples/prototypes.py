"""Prototypes among samples: digits that explain the others, and how many it takes.

`HottSamples` chooses images of scikit-learn's digits such that all others are nearly nonnegative
mixtures of them. Unlike the components of NMF they are digits that somebody wrote. The second
picture shows the error against their number.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from _common import plt, save
from sklearn.datasets import load_digits

from hottopixx import HottSamples


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=12, help="number of prototypes (default 12)")
    parser.add_argument("--samples", type=int, default=600, help="images (default 600)")
    parser.add_argument("--out", type=Path, default=Path("pictures"), help="folder for pictures")
    args = parser.parse_args()

    digits = load_digits()
    X, y = digits.data[: args.samples], digits.target[: args.samples]
    model = HottSamples(args.count, effort="quick").fit(X)
    print(model)
    print("digits among the prototypes:", np.bincount(y[model.sample_indices_], minlength=10))

    weights = model.transform(X)
    others = np.setdiff1d(np.arange(len(X)), model.sample_indices_)
    same = y[model.sample_indices_][weights[others].argmax(axis=1)] == y[others]
    print(f"the strongest prototype is of the same digit for {100 * same.mean():.0f} % of the rest")

    shown = np.array([np.flatnonzero(y == digit)[-1] for digit in range(10)])
    told = model.inverse_transform(weights[shown])
    figure, axes = plt.subplots(3, max(args.count, 10), figsize=(0.75 * max(args.count, 10), 2.6))
    for axis in axes.flat:
        axis.axis("off")
    for k, image in enumerate(model.components_):
        axes[0, k].imshow(image.reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
    for k in range(10):
        axes[1, k].imshow(X[shown[k]].reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
        axes[2, k].imshow(told[k].reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
    for line, name in enumerate(("prototypes", "others", "as mixtures")):
        axes[line, 0].text(-1.5, 3.5, name, ha="right", va="center", fontsize=9)
    save(figure, args.out, "prototypes.png")
    save(model.plot.path().figure, args.out, "prototypes-path.png")


if __name__ == "__main__":
    main()
