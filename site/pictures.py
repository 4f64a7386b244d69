"""Makes the pictures of the site and of the README, `docs/pictures`, from what the program gives.

Pages are photographed by a browser (chromium), if there is one; everything else is drawn. All data
come with the program or with scikit-learn, or are made up here with a fixed seed.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from PIL import Image
from sklearn.datasets import load_breast_cancer, load_digits

import hottopixx
from hottopixx import Hottopixx, HottSamples

OUT = Path(__file__).parents[1] / "docs" / "pictures"
#: Colours that the colour-blind can tell apart (Okabe and Ito).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


def main() -> None:
    """Makes them all."""
    plt.rcParams.update(
        {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "svg.hashsalt": "0"}
    )
    OUT.mkdir(parents=True, exist_ok=True)
    simplex()
    diagonal()
    greedy()
    path()
    features()
    genes()
    prototypes()
    with tempfile.TemporaryDirectory() as folder:
        reports(Path(folder))
        maps(Path(folder))


def save(figure: Figure, name: str, dpi: int = 110) -> None:
    """Writes a picture; the small ones of 64 colours."""
    target = OUT / name
    figure.savefig(
        target,
        dpi=dpi,
        bbox_inches="tight",
        metadata={"Date": None} if name.endswith("svg") else {},
    )
    plt.close(figure)
    if target.suffix == ".png":
        shrink(target)
    print(f"written: {target} ({target.stat().st_size // 1024} KiB)")


def shrink(path: Path, colours: int = 64) -> None:
    """The same with few colours: a third of the bytes."""
    picture = Image.open(path).convert("RGB")
    picture.quantize(colours, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(
        path, optimize=True
    )


def simplex() -> None:
    """Rows as points of a triangle, with and without noise."""
    random = np.random.default_rng(4)
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
    weights = np.vstack([np.eye(3), random.dirichlet([0.8] * 3, 40)])
    figure, axes = plt.subplots(1, 2, figsize=(7.2, 3.1))
    for axis, noise, title in zip(axes, (0.0, 0.05), ("separable", "with noise"), strict=True):
        noisy = np.abs(weights + noise * random.standard_normal(weights.shape))
        rows = noisy / noisy.sum(axis=1, keepdims=True)
        hott = hottopixx.factor(rows, 3).hott
        points = rows @ corners
        axis.plot(*corners[[0, 1, 2, 0]].T, color="0.8", lw=1)
        axis.plot(*points.T, "o", color=COLOURS[5], ms=4)
        chosen = points[hott]
        axis.plot(*chosen[[0, 1, 2, 0]].T, color=COLOURS[0], lw=1.2)
        axis.plot(*chosen.T, "o", color=COLOURS[1], ms=8)
        axis.set_title(title)
        axis.set_aspect("equal")
        axis.axis("off")
    save(figure, "simplex.svg")


def diagonal() -> None:
    """The diagonal of a linear program in falling order."""
    made = hottopixx.generate("paper", features=40, examples=400, rank=5, noise=0.95, seed=1)
    answer = hottopixx.factor(made.X, 5, "minimax")
    figure, axis = plt.subplots(figsize=(5.2, 2.6))
    entries = np.sort(np.asarray(answer.diagonal))[::-1][:20]
    axis.bar(range(1, 21), entries, color=[COLOURS[1] if k < 5 else COLOURS[5] for k in range(20)])
    axis.set(xlabel="row, in falling order", ylabel="diagonal of C", xticks=[1, 5, 10, 15, 20])
    save(figure, "diagonal.svg")


def greedy() -> None:
    """Recall on midpoints that are pushed outward."""
    shifts = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    figure, axis = plt.subplots(figsize=(5.2, 2.8))
    for k, method in enumerate(("auto", "spa", "xray")):
        recall = []
        for shift in shifts:
            share = []
            for seed in range(5):
                made = hottopixx.generate("midpoints", examples=50, rank=10, noise=shift, seed=seed)
                found = hottopixx.factor(made.X, 10, method, effort="quick").hott
                share.append(len(set(found) & set(made.hott)) / 10)
            recall.append(100 * np.mean(share))
        axis.plot(shifts, recall, "os^"[k] + "-", color=COLOURS[k], label=method)
    axis.set(
        xlabel="delta: how far midpoints are pushed out", ylabel="hott rows found, %", ylim=(0, 105)
    )
    axis.legend(frameon=False)
    save(figure, "greedy.svg")


def path() -> None:
    """Errors and proven bounds for every rank."""
    made = hottopixx.generate("paper", features=40, examples=400, rank=6, noise=4.0, seed=3)
    points = hottopixx.factor(made.X, 12).path().points
    ranks = [point.rank for point in points]
    figure, axis = plt.subplots(figsize=(5.2, 2.8))
    axis.plot(
        ranks,
        [point.mean_l1 for point in points],
        "o-",
        color=COLOURS[0],
        label="error of the rows found",
    )
    proven = [(point.rank, point.lower_bound) for point in points if point.lower_bound is not None]
    axis.fill_between(
        *zip(*proven, strict=True),
        color=COLOURS[5],
        alpha=0.3,
        lw=0,
        label="proven: no choice is here",
    )
    axis.axvline(6, color="0.7", lw=1, ls=":")
    axis.set(xlabel="number of rows", ylabel="mean l1 error", ylim=(0, None))
    axis.legend(frameon=False)
    figure.savefig(OUT / "path.png", dpi=110, bbox_inches="tight")
    shrink(OUT / "path.png", 32)
    save(figure, "path.svg")


def features() -> None:
    """Columns of a table as mixtures of five of them."""
    table = load_breast_cancer(as_frame=True).data
    model = Hottopixx(5).fit(table)
    sums = table.to_numpy().sum(axis=0)
    shares = model.components_ * sums[model.hott_][:, None] / sums[None, :]
    order = np.lexsort((-shares.max(axis=0), shares.argmax(axis=0)))
    figure, axis = plt.subplots(figsize=(7.2, 4.4))
    left = np.zeros(len(order))
    for k, name in enumerate(model.get_feature_names_out()):
        axis.barh(range(len(order)), shares[k][order], left=left, color=COLOURS[k], label=name)
        left += shares[k][order]
    axis.set_yticks(range(len(order)), table.columns[order], fontsize=7)
    axis.set(xlabel="mixture of the chosen columns", ylim=(len(order) - 0.4, -0.6))
    axis.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1), title="chosen")
    save(figure, "features.png", 100)


def genes() -> None:
    """Activities of programs in cells, and their genes."""
    random = np.random.default_rng(0)
    programs = random.gamma(0.5, size=(4, 80)) + 0.3
    programs[:, :4] = 5 * np.eye(4)
    programs /= programs.sum(axis=1, keepdims=True)
    activity = random.dirichlet(np.full(4, 0.3), 200)
    counts = random.poisson(activity @ programs * 5000)
    names = np.array([f"marker{j}" if j < 4 else f"gene{j}" for j in range(80)])
    model = Hottopixx(4, output="loadings").fit(counts)
    loadings = model.transform(counts)
    loadings = loadings / np.maximum(loadings.max(axis=0), 1e-12)
    figure, axes = plt.subplots(2, 1, figsize=(7.2, 3.0), sharex=False, layout="constrained")
    cells = np.lexsort((-loadings.max(axis=1), loadings.argmax(axis=1)))
    axes[0].imshow(loadings[cells].T, aspect="auto", cmap="viridis", interpolation="nearest")
    axes[0].set(title="activity of programs in 200 cells", xticks=[])
    weights = model.components_ / model.components_.sum(axis=0)
    order = np.lexsort((-weights.max(axis=0), weights.argmax(axis=0)))
    axes[1].imshow(weights[:, order], aspect="auto", cmap="viridis", interpolation="nearest")
    axes[1].set(title="genes as mixtures of markers", xticks=[])
    for axis in axes:
        axis.set_yticks(range(4), names[model.hott_])
    save(figure, "genes.png", 100)


def prototypes() -> None:
    """Handwritten digits that explain the others."""
    digits = load_digits()
    model = HottSamples(12, effort="quick").fit(digits.data[:600])
    figure, axes = plt.subplots(1, 12, figsize=(7.2, 0.8))
    for axis, sample in zip(axes, model.sample_indices_, strict=True):
        axis.imshow(digits.images[sample], cmap="gray_r")
        axis.axis("off")
    save(figure, "prototypes.png", 100)


def run(folder: Path, *words: str) -> None:
    """A command of the program of this environment."""
    subprocess.run(
        [sys.executable, "-m", "hottopixx", *words],
        cwd=folder,
        check=True,
        stdout=subprocess.DEVNULL,
    )


def maps(folder: Path) -> None:
    """Spectra and abundance maps of the sample scene."""
    run(folder, "sample", "scene")
    run(folder, "unmix", "scene.npy", "--rank", "4", "--out", "scene")
    spectra, pure, abundances = (
        np.load(folder / "scene" / f"{name}.npy")
        for name in ("spectra", "pixel_spectra", "abundances")
    )
    figure = plt.figure(figsize=(7.2, 4.2), layout="constrained")
    grid = figure.add_gridspec(2, 4, height_ratios=[1.1, 1])
    axis = figure.add_subplot(grid[0, :])
    for k in range(4):
        axis.plot(spectra[k], color=COLOURS[k], lw=1.6, label=f"material {k + 1}")
        axis.plot(pure[k], ".", color=COLOURS[k], ms=2.5)
    axis.set(xlabel="band", ylabel="reflectance", ylim=(0, None))
    axis.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    for k in range(4):
        axis = figure.add_subplot(grid[1, k])
        axis.imshow(
            abundances[:, :, k], cmap="cividis", vmin=0, vmax=np.quantile(abundances[:, :, k], 0.99)
        )
        axis.set_title(f"material {k + 1}", fontsize=9, color=COLOURS[k])
        axis.axis("off")
    save(figure, "scene-maps.png", 100)
    photograph(folder / "scene" / "report.html", "unmix-report.png", 1000, 760)


def reports(folder: Path) -> None:
    """Pages of answers in a browser."""
    run(folder, "sample", "news")
    run(folder, "topics", "news.csv", "--title", "story", "--rank", "10", "--out", "topics")
    photograph(folder / "topics" / "report.html", "topics-report.png", 1100, 1155, top=0.305)
    run(
        folder,
        "generate",
        "paper",
        "--features",
        "40",
        "--examples",
        "400",
        "--rank",
        "5",
        "--out",
        "X.npy",
    )
    run(folder, "factor", "X.npy", "--rank", "5", "--out", "factor")
    photograph(folder / "factor" / "report.html", "factor-report.png", 1000, 760)


def photograph(page: Path, name: str, width: int, height: int, top: float = 0.0) -> None:
    """The page in a window of this size, without its upper part."""
    browser = (
        shutil.which("chromium")
        or shutil.which("chromium-browser")
        or shutil.which("google-chrome")
    )
    if browser is None:
        print(f"left as it is, there is no chromium: {name}")
        return
    target = OUT / name
    command = [
        *[browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"],
        *[f"--window-size={width},{height}", f"--screenshot={target}", page.as_uri()],
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    picture = Image.open(target)
    picture.crop((0, int(top * picture.height), picture.width, picture.height)).save(target)
    shrink(target)
    print(f"written: {target} ({target.stat().st_size // 1024} KiB)")


if __name__ == "__main__":
    main()
