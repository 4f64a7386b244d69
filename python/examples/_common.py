"""What the examples share: reading files, and pictures that look alike."""

from __future__ import annotations

import gzip
from pathlib import Path

import matplotlib
import numpy as np
import scipy.sparse as sp

matplotlib.use("Agg")
from matplotlib import pyplot as plt

#: Colours that the colour-blind can tell apart (Okabe and Ito).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")

ASSETS = Path(__file__).parents[2] / "crates" / "hottopixx-cli" / "assets"


def built_in_corpus() -> tuple[sp.csr_array, list[str]]:
    """The 395 news stories of `hottopixx demo`: documents x words, and the words."""
    with gzip.open(ASSETS / "vocab.reuters.txt.gz", "rt") as file:
        words = file.read().split()
    with gzip.open(ASSETS / "docword.reuters.txt.gz", "rt") as file:
        documents, vocabulary, _ = (int(file.readline()) for _ in range(3))
        entries = np.loadtxt(file, dtype=int)
    shape = (documents, vocabulary)
    counts = sp.csr_array(
        (entries[:, 2].astype(float), (entries[:, 0] - 1, entries[:, 1] - 1)), shape
    )
    return counts, words


def save(figure: plt.Figure, out: Path, name: str) -> None:
    """Writes a picture and says where."""
    out.mkdir(parents=True, exist_ok=True)
    path = out / name
    figure.savefig(path, dpi=120, bbox_inches="tight")
    plt.close(figure)
    print(f"written: {path}")
