"""Topics against scikit-learn's NMF (tf-idf) and LDA, and topica's AnchorLDA where it is installed.

For every corpus in `--data` (folders with X.npz, documents x words; vocab.txt; labels.txt) and as
many topics as classes, and twice that: normalised mutual information of each document's strongest
topic with its class, mean NPMI of the ten most probable words of the topics against the corpus,
CPU seconds. Then planted topics (`--planted`): the l1 error of p(word | topic), topics matched
one to one. `hottopixx` is the program; all others get its vocabulary: words in at least five
documents, without English stop words.
"""

from __future__ import annotations

import argparse
import csv
import resource
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from sklearn.decomposition import NMF, LatentDirichletAllocation
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfTransformer
from sklearn.metrics import normalized_mutual_info_score

TOP = 10
MIN_DF = 5


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


def npmi(counts, topics) -> float:
    """Mean over topics and pairs of their most probable words."""
    present = (counts > 0).astype(float).tocsc()
    n, values = counts.shape[0], []
    for topic in topics:
        top = np.argsort(-topic, kind="stable")[:TOP]
        some = present[:, top]
        both = (some.T @ some).toarray() / n
        for i in range(TOP):
            for j in range(i):
                if both[i, j] == 0:
                    values.append(-1.0)
                else:
                    pmi = np.log(both[i, j] / (both[i, i] * both[j, j]))
                    values.append(pmi / -np.log(both[i, j]))
    return float(np.mean(values))


def ours(counts, words, rank: int, program: str, *flags: str):
    """Topics and shares of the program, which reads files and writes a folder."""
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        sp.save_npz(where / "X.npz", sp.csr_matrix(counts))
        (where / "vocab.txt").write_text("\n".join(words) + "\n")
        command = [program, "topics", where / "X.npz", "--names", where / "vocab.txt", "--quiet"]
        command += ["--rank", str(rank), "--out", where / "answer", *flags]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        rows = list(csv.reader((where / "answer" / "documents.csv").open()))
        shares = np.array([row[3:] for row in rows[1:]], dtype=float)
        place = {word: i for i, word in enumerate(words)}
        topics = np.zeros((rank, len(words)))
        for row in list(csv.reader((where / "answer" / "words.csv").open()))[1:]:
            topics[:, place[row[0]]] = [float(value) for value in row[3:]]
        return topics, shares


def nmf(counts, words, rank: int):
    weighted = TfidfTransformer().fit_transform(counts)
    model = NMF(rank, init="nndsvd", max_iter=400).fit(weighted)
    return model.components_, model.transform(weighted)


def lda(counts, words, rank: int):
    model = LatentDirichletAllocation(rank, random_state=0, max_iter=20).fit(counts)
    return model.components_, model.transform(counts)


def anchor_lda(counts, words, rank: int):
    import topica

    documents = [
        [words[j] for j, h in zip(row.indices, row.data, strict=True) for _ in range(int(h))]
        for row in (counts[[d]].tocsr() for d in range(counts.shape[0]))
    ]
    model = topica.AnchorLDA(num_topics=rank)
    model.fit(documents)
    found = list(model.vocabulary)
    place = {word: i for i, word in enumerate(words)}
    topics = np.zeros((rank, len(words)))
    topics[:, [place[word] for word in found]] = np.asarray(model.topic_word)
    return topics, np.asarray(model.doc_topic)


def methods(program: str) -> dict:
    known = {
        "hottopixx": lambda counts, words, rank: ours(counts, words, rank, program),
        "NMF": nmf,
        "LDA": lda,
    }
    try:
        import topica  # noqa: F401

        known["AnchorLDA"] = anchor_lda
    except ImportError:
        print("topica is not installed: AnchorLDA is left out")
    return known


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
    for name in args.corpora if args.data else []:
        counts, words, labels = corpus(args.data / name)
        classes = len(set(labels))
        for rank in (classes, 2 * classes):
            print(f"{name}, {rank} topics, {counts.shape[0]} x {counts.shape[1]}")
            for method, run in chosen.items():
                before = cpu()
                topics, shares = run(counts, words, rank)
                seconds = cpu() - before
                score = normalized_mutual_info_score(labels, shares.argmax(axis=1))
                coherent = npmi(counts, topics)
                print(f"  {method:10} NMI {score:.3f}  NPMI {coherent:.3f}  CPU {seconds:6.1f} s")
    for tokens in args.planted or []:
        counts, truth = planted(tokens)
        words = [f"w{i}" for i in range(counts.shape[1])]
        print(f"planted, {len(truth)} topics, documents of {tokens} tokens")
        for method, run in chosen.items():
            before = cpu()
            found = run(counts, words, len(truth))[0]
            print(f"  {method:10} l1 {l1_error(found, truth):.3f}  CPU {cpu() - before:6.1f} s")


if __name__ == "__main__":
    main()
