"""Corpora with classes from what is installed, in the form that `topics.py` reads.

`packages`: descriptions of Debian packages, their section as the class; long ones need
`apt-get -o Acquire::Languages=en update` first.
`docstrings`: docstrings of installed Python packages, the package as the class.
`stdlib`: those of Python's own modules, the module as the class.
`manpages`: manual pages, the package that they belong to as the class.
`reuters`: the news stories that the package `lda` carries, if it is installed; they have no
classes, so that only coherence can be compared.
All but the last also go into a .csv file as text. No setting was chosen with any of these.

    python python/benchmarks/own_corpora.py corpora
    python python/benchmarks/topics.py --data corpora --corpora stdlib manpages docstrings
"""

from __future__ import annotations

import ast
import csv
import gzip
import importlib.util
import re
import subprocess
import sys
import sysconfig
from collections import Counter
from pathlib import Path

import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

#: Documents of a class at most, so that none outweighs the others.
MOST = 1000
#: Classes of fewer documents are left out.
LEAST = 100
#: Words of a document at least.
SHORTEST = 20
#: Sections that say what a package is made of, not what it is about.
GENERAL = {"libs", "libdevel", "devel", "doc", "oldlibs", "misc", "utils", "debug", "metapackages"}


def packages():
    """(section, description) of the packages that the system knows."""
    found = subprocess.run(
        ["apt-cache", "-o", "Acquire::Languages=en", "show", "--no-all-versions", ".*"],
        capture_output=True,
        text=True,
        check=False,
    )
    seen = set()
    for record in found.stdout.split("\n\n"):
        section = re.search(r"^Section: (?:.*/)?(\S+)", record, re.M)
        text = re.search(r"^Description(?:-en)?: (.*(?:\n .*)*)", record, re.M)
        if not section or not text or section[1] in GENERAL or text[1] in seen:
            continue
        seen.add(text[1])
        yield section[1], text[1]


def docstrings(where: str = "purelib"):
    """(package, docstring) of functions and classes below a folder of Python's."""
    folder = Path(sysconfig.get_paths()[where])
    for path in sorted(folder.rglob("*.py")):
        inside = path.relative_to(folder)
        package = inside.parts[0].removesuffix(".py")
        if "test" in str(inside) or package in {"site-packages", "dist-packages"}:
            continue
        try:
            tree = ast.parse(path.read_text())
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node):
                yield package, ast.get_docstring(node)


def manpages():
    """(package, text) of the manual pages that are there."""
    owner = {}
    for listed in sorted(Path("/var/lib/dpkg/info").glob("*.list")):
        for line in listed.read_text().splitlines():
            owner[line] = listed.stem.split(":")[0]
    for path in sorted(Path("/usr/share/man").glob("man[1-9]/*.gz")):
        if str(path) not in owner or path.is_symlink():
            continue
        text = gzip.decompress(path.read_bytes()).decode(errors="replace")
        text = re.sub(r"^[.']\\?.*$", " ", text, flags=re.M)  # requests of roff
        yield owner[str(path)], re.sub(r"\\(f.|\(..|\[.*?\]|.)", " ", text)


def reuters(folder: Path) -> None:
    """The stories of the package `lda`, as they are counted there, all of one class."""
    found = importlib.util.find_spec("lda")
    if found is None or found.origin is None:
        print("lda is not installed: reuters is left out")
        return
    where = Path(found.origin).parent / "tests"
    words = (where / "reuters.tokens").read_text().split()
    rows = [line.split()[1:] for line in (where / "reuters.ldac").read_text().splitlines()]
    counts = sp.lil_array((len(rows), len(words)))
    for d, row in enumerate(rows):
        for pair in row:
            word, count = pair.split(":")
            counts[d, int(word)] = int(count)
    store(folder, sp.csr_matrix(counts), words, ["all"] * len(rows))


def store(folder: Path, counts, words, labels) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    sp.save_npz(folder / "X.npz", counts)
    (folder / "vocab.txt").write_text("\n".join(words) + "\n")
    (folder / "labels.txt").write_text("\n".join(labels) + "\n")
    print(folder, counts.shape, dict(Counter(labels)))


def write(folder: Path, documents) -> None:
    """Counts, words and classes."""
    chosen, of_class = [], Counter()
    for label, text in documents:
        if len(text.split()) >= SHORTEST and of_class[label] < MOST:
            chosen.append((label, text))
            of_class[label] += 1
    chosen = [(label, text) for label, text in chosen if of_class[label] >= LEAST]
    if not chosen:
        print(f"{folder.name}: no class has {LEAST} documents here, left out")
        return
    reader = CountVectorizer(min_df=2, token_pattern=r"[^\W\d_]{2,}")
    counts = reader.fit_transform([text for _, text in chosen])
    labels = [label for label, _ in chosen]
    store(folder, counts, reader.get_feature_names_out(), labels)
    with (folder.parent / f"{folder.name}.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("class", "text"), *chosen])


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    for name, documents in {
        "packages": packages(),
        "docstrings": docstrings(),
        "stdlib": docstrings("stdlib"),
        "manpages": manpages(),
    }.items():
        write(folder / name, documents)
    reuters(folder / "reuters")


if __name__ == "__main__":
    main()
