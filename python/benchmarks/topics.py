"""Topics against scikit-learn's NMF (tf-idf) and LDA, and topica's AnchorLDA where it is installed.

For every corpus in `--data` (folders with X.npz, documents x words; vocab.txt; labels.txt) and as
many topics as classes, and twice that: normalised mutual information (NMI) of each document's
strongest topic with its class (corpora without classes have none); mean NPMI against the corpus of
the ten words that each method shows first for a topic, and of the ten most probable ones; CPU
seconds. Then planted topics
(`--planted`): the l1 error of p(word | topic), topics matched one to one. All methods get the same
counts: words in at least five documents, without English stop words; AnchorLDA, whose memory grows
with the square of that, the 8000 most frequent. `hottopixx` is the program, with its own start,
reading and writing included.

    python python/benchmarks/topics.py --data corpora --planted 30 100 300

`own_corpora.py` makes corpora with classes from what is installed.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import resource
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from sklearn.decomposition import NMF, LatentDirichletAllocation
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfTransformer
from sklearn.metrics import normalized_mutual_info_score

TOP = 10
MIN_DF = 5
#: Topics of a corpus without classes, and twice that.
WITHOUT_CLASSES = 10
#: AnchorLDA holds several matrices of words x words: 20 GB for 29,000 words.
ANCHOR_WORDS = 8000


def cpu() -> float:
    """CPU seconds of this process and of those it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def corpus(folder: Path):
    """Counts, words and classes, without stop words and rare words."""
    counts = sp.csr_array(sp.load_npz(folder / "X.npz"), dtype=float)
    words = (folder / "vocab.txt").read_text().split("\n")[: counts.shape[1]]
    labels = np.array([line.split()[0] for line in (folder / "labels.txt").open()])
    frequency = np.diff(counts.tocsc().indptr)
    stop = np.array([word in ENGLISH_STOP_WORDS or len(word) < 2 for word in words])
    kept = np.flatnonzero((frequency >= MIN_DF) & ~stop)
    return counts[:, kept], [words[i] for i in kept], labels


class Answer(NamedTuple):
    """What a method says."""

    #: Topics x words.
    topics: Any
    #: Documents x topics.
    shares: Any
    #: The numbers of the words that a topic is shown with, by topic.
    shown: list


def probable(topics) -> list:
    return [np.argsort(-topic, kind="stable")[:TOP] for topic in topics]


def npmi(counts, lists) -> float:
    """Mean over topics and pairs of their words, from how many documents have both.

    As Bouma (2009) and Lau, Newman and Baldwin (2014) define it, with whole documents as windows.
    """
    present = (counts > 0).astype(float).tocsc()
    n, values = counts.shape[0], []
    for top in lists:
        some = present[:, top]
        both = (some.T @ some).toarray() / n
        for i in range(len(top)):
            for j in range(i):
                if both[i, j] == 0:
                    values.append(-1.0)
                else:
                    pmi = np.log(both[i, j] / (both[i, i] * both[j, j]))
                    values.append(pmi / -np.log(both[i, j]))
    return float(np.mean(values))


def ours(counts, words, rank: int, program: str, *flags: str) -> Answer:
    """Topics and shares of the program, which reads files and writes a folder."""
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        sp.save_npz(where / "X.npz", sp.csr_matrix(counts))
        (where / "vocab.txt").write_text("\n".join(words) + "\n")
        command = [program, "topics", where / "X.npz", "--names", where / "vocab.txt", "--quiet"]
        command += ["--rank", str(rank), "--out", where / "answer", *flags]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        answer = where / "answer"
        rows = list(csv.reader((answer / "documents.csv").open()))
        shares = np.array([row[3:] for row in rows[1:]], dtype=float)
        place = {word: i for i, word in enumerate(words)}
        topics = np.zeros((rank, len(words)))
        for row in list(csv.reader((answer / "words.csv").open()))[1:]:
            topics[:, place[row[0]]] = [float(value) for value in row[3:]]
        told = json.loads((answer / "summary.json").read_text())["topics"]
        shown = [[place[word["word"]] for word in topic["words"][:TOP]] for topic in told]
        print("    " + ", ".join(topic["name"] for topic in told))
        return Answer(topics, shares, shown)


def nmf(counts, words, rank: int) -> Answer:
    weighted = TfidfTransformer().fit_transform(counts)
    model = NMF(rank, init="nndsvd", max_iter=400).fit(weighted)
    return Answer(model.components_, model.transform(weighted), probable(model.components_))


def lda(counts, words, rank: int) -> Answer:
    model = LatentDirichletAllocation(rank, random_state=0, max_iter=20).fit(counts)
    return Answer(model.components_, model.transform(counts), probable(model.components_))


def anchor_lda(counts, words, rank: int, **settings) -> Answer:
    import topica

    frequency = np.diff(counts.tocsc().indptr)
    most = np.sort(np.argsort(-frequency, kind="stable")[:ANCHOR_WORDS])
    names, counts = np.array(words, dtype=object)[most], counts[:, most].tocsr()
    documents = [
        np.repeat(names[counts.indices[a:b]], counts.data[a:b].astype(int)).tolist()
        for a, b in itertools.pairwise(counts.indptr)
    ]
    model = topica.AnchorLDA(num_topics=rank, **settings)
    model.fit(documents)
    place = {word: i for i, word in enumerate(words)}
    topics = np.zeros((rank, len(words)))
    topics[:, [place[word] for word in model.vocabulary]] = np.asarray(model.topic_word)
    shown = [[place[word] for word in top] for top in model.top_words(TOP)]
    return Answer(topics, np.asarray(model.doc_topic), shown)


def methods(program: str) -> dict:
    known = {
        "hottopixx": lambda counts, words, rank: ours(counts, words, rank, program),
        "NMF": nmf,
        "LDA": lda,
    }
    try:
        import topica  # noqa: F401
    except ImportError:
        print("topica is not installed: AnchorLDA is left out")
        return known
    known["AnchorLDA"] = anchor_lda
    return known


#: For p(word | topic) itself, without the exponent on frequencies that is for readers' sake.
EXACT = {"AnchorLDA": partial(anchor_lda, frequency_temper=1.0)}


def planted(tokens: int, rank: int = 25, words: int = 1000, documents: int = 20000):
    """Counts from topics with an anchor word each, and the topics."""
    random = np.random.default_rng(tokens)
    topics = random.dirichlet(np.full(words, 0.1), size=rank)
    topics[:, :rank] = np.diag(np.full(rank, 0.01))
    topics[:, rank:] *= (0.99 / topics[:, rank:].sum(axis=1))[:, None]
    shares = random.dirichlet(np.full(rank, 0.1), size=documents)
    rows = [random.multinomial(tokens, share @ topics) for share in shares]
    return sp.csr_array(np.array(rows, dtype=float)), topics


def l1_error(found, truth) -> float:
    """Mean l1 distance of topics, matched one to one."""
    found = found / found.sum(axis=1, keepdims=True)
    distances = np.abs(truth[:, None, :] - found[None, :, :]).sum(axis=2)
    return float(distances[linear_sum_assignment(distances)].mean())


def agreement(labels, shares) -> float:
    """NMI of the strongest topics with the classes, where there are some."""
    if len(set(labels)) < 2:
        return float("nan")
    return float(normalized_mutual_info_score(labels, shares.argmax(axis=1)))


def judged(name: str, counts, words, labels, rank: int, chosen: dict) -> list:
    """A row of the table for every method."""
    print(f"{name}, {rank} topics, {counts.shape[0]} x {counts.shape[1]}", flush=True)
    rows = []
    for method, run in chosen.items():
        before = cpu()
        answer = run(counts, words, rank)
        seconds = cpu() - before
        figures = [
            agreement(labels, answer.shares),
            npmi(counts, answer.shown),
            npmi(counts, probable(answer.topics)),
            seconds,
        ]
        rows.append([f"{name}, {rank}", method, *figures])
        print(f"  {method:16} " + " ".join(f"{figure:7.3f}" for figure in figures), flush=True)
    return rows


def table(rows: list, titles: list) -> str:
    """Markdown, with the place of every figure among those of the same question."""
    lines = ["| " + " | ".join(["corpus, topics", "method", *titles]) + " |"]
    lines.append("|" + "---|" * (2 + len(titles)))
    for row in rows:
        same = [other for other in rows if other[0] == row[0]]
        cells = []
        for column, title in enumerate(titles, start=2):
            sign = -1 if title.startswith("NM") or title.startswith("NP") else 1
            better = sum(sign * other[column] < sign * row[column] for other in same)
            digits = 1 if title == "CPU s" else 3
            cells.append(f"{row[column]:.{digits}f} ({better + 1})")
        lines.append("| " + " | ".join([*row[:2], *cells]) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of corpora")
    parser.add_argument("--corpora", nargs="+", default=["bbc_news", "classic3", "newsgroups20"])
    parser.add_argument("--program", default="hottopixx")
    parser.add_argument("--planted", type=int, nargs="*", help="tokens of a document")
    parser.add_argument("--methods", nargs="+", help="some of the methods")
    args = parser.parse_args()
    known = methods(args.program)
    chosen = {name: known[name] for name in args.methods or known}
    rows: list = []
    for name in args.corpora if args.data else []:
        counts, words, labels = corpus(args.data / name)
        classes = len(set(labels))
        classes = classes if classes > 1 else WITHOUT_CLASSES
        for rank in (classes, 2 * classes):
            rows += judged(name, counts, words, labels, rank, chosen)
    errors = []
    for tokens in args.planted or []:
        counts, truth = planted(tokens)
        words = [f"w{i}" for i in range(counts.shape[1])]
        print(f"planted, {len(truth)} topics, documents of {tokens} tokens", flush=True)
        for method, run in chosen.items():
            before = cpu()
            run = EXACT.get(method, run)
            error = l1_error(run(counts, words, len(truth)).topics, truth)
            errors.append([f"planted, {tokens} tokens", method, error, cpu() - before])
            print(f"  {method:16} {error:.3f} {errors[-1][-1]:7.1f}", flush=True)
    if rows:
        print("\n" + table(rows, ["NMI", "NPMI shown", "NPMI probable", "CPU s"]))
    if errors:
        print("\n" + table(errors, ["l1 error", "CPU s"]))


if __name__ == "__main__":
    main()
