"""Topics of documents, each named by a word of its own, beside the topics of NMF and LDA.

Give a table with a column of text (CSV, JSON lines or Parquet), a folder of `.txt` files, or
nothing for the built-in corpus of newswire. The picture shows the strongest words of each topic for
all three methods, and how long each took.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd
from _common import COLOURS, built_in_corpus, plt, save
from sklearn.decomposition import NMF, LatentDirichletAllocation
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from hottopixx import HottTopics


def read(path: Path | None, column: str):
    """Documents as strings, or a table of counts (documents x words)."""
    if path is None:
        counts, words = built_in_corpus()
        return pd.DataFrame.sparse.from_spmatrix(counts, columns=words)
    if path.is_dir():
        return [file.read_text(errors="replace") for file in sorted(path.glob("**/*.txt"))]
    readers = {".csv": pd.read_csv, ".parquet": pd.read_parquet}
    if path.suffix in readers:
        return readers[path.suffix](path)[column].fillna("")
    return pd.read_json(path, lines=True)[column].fillna("")


def others(X, rank: int, count: int):
    """Topics of NMF on tf-idf and of LDA on counts, with the seconds they took."""
    if isinstance(X, pd.DataFrame):
        counts, words = X.sparse.to_coo().tocsr(), list(X.columns)
    else:
        vectorizer = CountVectorizer(stop_words="english", min_df=5)
        counts = vectorizer.fit_transform(X)
        words = vectorizer.get_feature_names_out()
    tfidf = TfidfTransformer().fit_transform(counts)
    for name, model, given in (
        ("NMF", NMF(rank, init="nndsvda", max_iter=400, random_state=0), tfidf),
        ("LDA", LatentDirichletAllocation(rank, max_iter=30, random_state=0), counts),
    ):
        begun = time.perf_counter()
        model.fit(given)
        strongest = [[words[j] for j in np.argsort(-row)[:count]] for row in model.components_]
        yield f"{name}, {time.perf_counter() - begun:.1f} s", [("", topic) for topic in strongest]


def draw(columns, out: Path) -> None:
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
    parser.add_argument("data", type=Path, nargs="?", help="table or folder of documents")
    parser.add_argument("--column", default="text", help="the column of text (default text)")
    parser.add_argument("--rank", type=int, default=10, help="number of topics (default 10)")
    parser.add_argument("--out", type=Path, default=Path("pictures"), help="folder for pictures")
    args = parser.parse_args()

    X = read(args.data, args.column)
    begun = time.perf_counter()
    model = HottTopics(args.rank).fit(X)
    seconds = time.perf_counter() - begun
    print(model)
    for note in model.notes_:
        print(note)

    topics = [
        (name, [word for word, _ in model.top_words(k, 7, measure="relevance")])
        for k, name in enumerate(model.anchors_)
    ]
    columns = [(f"HottTopics, {seconds:.1f} s", topics), *others(X, args.rank, 7)]
    for title, topics in columns:
        print(f"\n{title}")
        for name, members in topics:
            print(f"  {name:14} {' '.join(members)}")
    draw(columns, args.out)


if __name__ == "__main__":
    main()
