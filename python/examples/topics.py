"""Topics of a text corpus: hott words, beside the topics of NMF and LDA.

Hott topics are named by a word of the corpus, because they *are* words. The picture shows the
strongest words of each topic for all three methods, and how long each took.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from _common import COLOURS, corpus, frequent, plt, save
from sklearn.decomposition import NMF, LatentDirichletAllocation

import hottopixx


def strongest(weights: np.ndarray, words: list[str], count: int, skip: str = "") -> list[str]:
    order = [words[j] for j in np.argsort(-weights)]
    return [word for word in order if word != skip][:count]


def hott_topics(X, words, frequency, rank, candidate_df, count):
    """Hott words of the co-occurrence matrix, each with the words that lean on it most."""
    cooccurrence = hottopixx.cooccurrence(X.T)
    answer = hottopixx.factor(cooccurrence, rank, names=words, candidates=frequency >= candidate_df)
    F = answer.F.toarray() if hasattr(answer.F, "toarray") else answer.F
    # Mass of each word in each topic, times its share there: large words that are everywhere
    # describe no topic.
    mass = F * np.asarray(answer.W.sum(axis=1)).ravel()
    score = mass**2 / np.maximum(mass.sum(axis=1, keepdims=True), 1e-300)
    topics = [
        (name, strongest(score[:, k], words, count, name))
        for k, name in enumerate(answer.hott_names)
    ]
    return topics, answer.error


def draw(columns, out):
    figure, axes = plt.subplots(1, len(columns), figsize=(5.2 * len(columns), 6.5))
    for axis, (title, topics), colour in zip(axes, columns, COLOURS, strict=False):
        axis.axis("off")
        axis.set_title(title, loc="left", fontsize=12, color=colour, fontweight="bold")
        for k, (name, members) in enumerate(topics):
            y = 1 - (k + 0.5) / len(topics)
            axis.text(0, y + 0.018, name or f"topic {k + 1}", fontsize=11, fontweight="bold")
            axis.text(0, y - 0.022, " ".join(members), fontsize=8.5, color="#444444")
    figure.suptitle("Topics: a hott topic is named by one of its own words", fontsize=13)
    save(figure, out, "topics.png")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with X.npz and vocab.txt")
    parser.add_argument("--rank", type=int, default=10, help="number of topics (default 10)")
    parser.add_argument("--min-df", type=int, default=20, help="fewest documents per word")
    parser.add_argument("--out", type=Path, default=Path("pictures"), help="folder for pictures")
    args = parser.parse_args()

    X, words = corpus(args.data)
    X, words, frequency = frequent(X, words, args.min_df)
    X = X[np.diff(X.indptr) > 1]
    print(f"{X.shape[0]} documents, {X.shape[1]} words, {args.rank} topics")

    begun = time.perf_counter()
    topics, error = hott_topics(X, words, frequency, args.rank, args.min_df, 7)
    columns = [(f"Hottopixx, {time.perf_counter() - begun:.1f} s", topics)]
    print(f"mean l1 error of a word: {error.mean_l1:.3f}")
    for name, model in (
        ("NMF", NMF(args.rank, init="nndsvda", max_iter=400, random_state=0)),
        ("LDA", LatentDirichletAllocation(args.rank, max_iter=30, random_state=0)),
    ):
        begun = time.perf_counter()
        model.fit(X)
        topics = [("", strongest(row, words, 7)) for row in model.components_]
        columns.append((f"{name}, {time.perf_counter() - begun:.1f} s", topics))
    for title, topics in columns:
        print(f"\n{title}")
        for name, members in topics:
            print(f"  {name:14} {' '.join(members)}")
    draw(columns, args.out)


if __name__ == "__main__":
    main()
