"""Materials in a hyperspectral image: the pure pixels, their spectra, and where each material is.

Pixels are rows: a pure pixel is a hott row, and F says how much of each material is in every pixel.
The image is a file (`--data`, numpy .npz with `X` of bands x pixels and the number of columns in
`--width`), the Indian Pines scene of the package tensorly if that is installed, or a made-up one.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from _common import COLOURS, plt, save

import hottopixx


def made_up(height: int = 30, width: int = 40, bands: int = 80, seed: int = 0):
    """Four materials with smooth spectra that fade into each other."""
    random = np.random.default_rng(seed)
    x = np.linspace(0, 1, bands)
    peaks = random.uniform(0.1, 0.9, (4, 3))
    spectra = 0.2 + sum(np.exp(-((x - peaks[:, [k]]) ** 2) / 0.02) for k in range(3))
    rows, cols = np.mgrid[0:height, 0:width]
    corners = [(0, 0), (0, width - 1), (height - 1, 0), (height - 1, width - 1)]
    near = np.array([np.exp(-((rows - r) ** 2 + (cols - c) ** 2) / 300.0) for r, c in corners])
    shares = (near / near.sum(axis=0)).reshape(4, -1).T
    shares[shares < 0.03] = 0
    shares /= shares.sum(axis=1, keepdims=True)
    image = shares @ spectra * random.uniform(0.9, 1.1, (height * width, 1))
    return image + random.normal(0, 0.002, image.shape).clip(-0.005, 0.005), width, "made-up scene"


def scene(data: Path | None, width: int | None):
    """Pixels x bands, pixels in a line of the image, and what it is."""
    if data is not None:
        if width is None:
            raise SystemExit("--data needs --width: pixels in a line of the image")
        return np.load(data)["X"].T.astype(float).clip(min=0), width, data.stem
    try:
        from tensorly.datasets import load_indian_pines
    except ImportError:
        return made_up()
    cube = np.asarray(load_indian_pines().tensor, dtype=float)
    # Every third line and pixel: 2,304 pixels are enough for a picture.
    cube = cube[::3, ::3]
    return cube.reshape(-1, cube.shape[2]).clip(min=0), cube.shape[1], "Indian Pines"


def draw(title, answer, pixels, width, out):
    rank = len(answer.hott)
    height = len(pixels) // width
    F = answer.F * answer.W.sum(axis=1)
    shares = F / np.maximum(F.sum(axis=1, keepdims=True), 1e-300)
    columns = min(rank, 4)
    lines = -(-rank // columns)
    figure = plt.figure(figsize=(3.1 * columns, 3.6 + 2.6 * lines), layout="constrained")
    grid = figure.add_gridspec(lines + 1, columns, height_ratios=[1.4] + [1] * lines)
    axis = figure.add_subplot(grid[0, :])
    for k, row in enumerate(answer.hott):
        line, col = divmod(int(row), width)
        axis.plot(
            pixels[row],
            color=COLOURS[k % len(COLOURS)],
            ls=("-", "--")[k // len(COLOURS) % 2],
            label=f"{k + 1}: pixel ({line}, {col})",
        )
    axis.set(
        xlabel="band",
        ylabel="radiance (units of the image)",
        title=f"{title}: spectra of the {rank} hott pixels",
    )
    axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)
    for k, row in enumerate(answer.hott):
        axis = figure.add_subplot(grid[1 + k // columns, k % columns])
        picture = axis.imshow(shares[:, k].reshape(height, width), cmap="cividis", vmin=0, vmax=1)
        line, col = divmod(int(row), width)
        axis.plot(col, line, "o", mfc="none", mec=COLOURS[1], ms=9, mew=1.6)
        axis.set_title(f"material {k + 1}", fontsize=10)
        axis.set_xticks([])
        axis.set_yticks([])
    figure.colorbar(picture, ax=figure.axes[1:], shrink=0.7, label="share of the pixel")
    save(figure, out, "materials.png")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help=".npz with X, bands x pixels")
    parser.add_argument("--width", type=int, help="pixels in a line of the image")
    parser.add_argument("--rank", type=int, default=4, help="number of materials (default 4)")
    parser.add_argument("--method", default="auto", help="as in hottopixx.factor")
    parser.add_argument("--objective", default="mean", choices=("mean", "max"))
    parser.add_argument("--out", type=Path, default=Path("pictures"), help="folder for pictures")
    args = parser.parse_args()

    pixels, width, title = scene(args.data, args.width)
    print(f"{title}: {len(pixels)} pixels, {pixels.shape[1]} bands")
    answer = hottopixx.factor(pixels, args.rank, args.method, objective=args.objective)
    print(answer)
    draw(title, answer, pixels, width, args.out)


if __name__ == "__main__":
    main()
