"""The examples and the code of the README, run as they stand."""

import importlib
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "python" / "examples"


@pytest.mark.parametrize(
    ("name", "words", "files"),
    [
        ("features", ["--quick"], ["features.png"]),
        ("prototypes", ["--samples", "80", "--count", "4"], ["prototypes.png"]),
        ("measurements", ["--genes", "60"], ["wine-path.png", "breast-cancer.html", "genes.csv"]),
        ("materials", ["--rank", "3", "--method", "spa"], ["materials.png"]),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::hottopixx.AdviceWarning")
def test_an_example_makes_its_pictures(name, words, files, tmp_path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.setattr(sys, "argv", [name, *words, "--out", str(tmp_path)])
    importlib.import_module(name).main()
    for file in files:
        assert (tmp_path / file).stat().st_size > 500
    assert capsys.readouterr().out


def blocks(path):
    """The blocks of Python in a file, with the headings that they stand below."""
    heading, found = "", []
    text = (ROOT / path).read_text(encoding="utf-8")
    for part in re.findall(r"(?ms)^## ([^\n]*)|```python\n(.*?)```", text):
        if part[0]:
            heading = part[0]
        else:
            found.append((heading, part[1]))
    return found


class Stub:
    """In the place of pyLDAvis, which is not among the packages for tests."""

    def prepare(self, **parts):
        assert {"topic_term_dists", "doc_topic_dists"} <= set(parts)


@pytest.fixture
def readers(tmp_path, monkeypatch):
    """Names that the README uses without saying where they come from, and its files."""
    from sklearn.feature_extraction.text import CountVectorizer

    import hottopixx

    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    topics = ["oil price barrel market", "court judge trial verdict", "goal team match player"]
    documents = [
        " ".join([*random.choice(topics[d % 3].split(), 12).tolist(), "report"]) for d in range(90)
    ]
    vectorizer = CountVectorizer()
    counts = vectorizer.fit_transform(documents)
    X = hottopixx.generate("paper", features=40, examples=60, rank=4, noise=0.3).X.T
    pd.DataFrame({"text": documents}).to_parquet("news.parquet")
    return {
        "documents": documents,
        "new": documents[:3],
        "titles": [f"document {d}" for d in range(90)],
        "dates": [f"{2001 + d % 3}-05-01" for d in range(90)],
        "pyLDAvis": Stub(),
        "pd": pd,
        "np": np,
        "CountVectorizer": CountVectorizer,
        "my_tokeniser": str.split,
        "counts": counts,
        "words": list(vectorizer.get_feature_names_out()),
        "X": X,
        "cube": X.reshape(6, 10, 40),
        "wavelengths": np.linspace(400, 900, 40),
        "labels": [],
    }


#: Data of the sizes that the files speak of would take minutes.
SMALLER = [
    (r"n_components=(10|20)", "n_components=3"),
    (r"HottTopics\((10|20)", "HottTopics(3"),
    (r"(factor|certify|compare)\((X), 20", r"\1(\2, 3"),
    (r'(hottopixx\.)?read\("cells.h5ad"\)\.matrix', "X_of_the_test"),
    (r'"oil"', "model.anchors_[0]"),
    (r"\[3, 17, 42\]", "[3, 17, 29]"),
]


@pytest.mark.filterwarnings("ignore::hottopixx.AdviceWarning")
@pytest.mark.parametrize(("path", "least"), [("python/README.md", 4), ("README.md", 2)])
def test_every_line_of_the_readme_runs(path, least, readers, monkeypatch):
    names = {**readers, "X_of_the_test": readers["X"]}
    ran = 0
    for heading, code in blocks(path):
        if heading == "On a cluster":
            continue  # python/tests/scale_out starts clusters
        for pattern, word in SMALLER:
            code = re.sub(pattern, word, code)
        if heading == "In the paper's orientation":
            # There, rows are features and counts are words x documents.
            names |= {"X": readers["X"].T, "counts": readers["counts"].T}
        exec(compile(code, f"{path}: {heading}", "exec"), names)
        ran += 1
    assert ran >= least
