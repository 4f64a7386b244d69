"""Corpora with classes from what is installed, in the form that `topics.py` reads.

`packages`: descriptions of Debian packages, their section as the class; long ones need
`apt-get -o Acquire::Languages=en update` first.
`docstrings`: docstrings of installed Python packages, the package as the class. Both also
go into a .csv file as text.

    python python/benchmarks/own_corpora.py corpora
    python python/benchmarks/topics.py --data corpora --corpora packages docstrings
"""

from __future__ import annotations

import ast
import csv
import re
import subprocess
import sys
import sysconfig
from collections import Counter
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

#: Documents of a class at most, so that none outweighs the others.
MOST = 1000
#: Classes of fewer documents are left out.
LEAST = 300
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


def docstrings():
    """(package, docstring) of functions and classes below the folder of installed packages."""
    for path in sorted(Path(sysconfig.get_paths()["purelib"]).rglob("*.py")):
        package = path.relative_to(sysconfig.get_paths()["purelib"]).parts[0]
        if "test" in str(path):
            continue
        try:
            tree = ast.parse(path.read_text())
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node):
                yield package, ast.get_docstring(node)


def write(folder: Path, documents) -> None:
    """Counts, words and classes."""
    chosen, of_class = [], Counter()
    for label, text in documents:
        if len(text.split()) >= SHORTEST and of_class[label] < MOST:
            chosen.append((label, text))
            of_class[label] += 1
    chosen = [(label, text) for label, text in chosen if of_class[label] >= LEAST]
    reader = CountVectorizer(min_df=2, token_pattern=r"[^\W\d_]{2,}")
    counts = reader.fit_transform([text for _, text in chosen])
    folder.mkdir(parents=True, exist_ok=True)
    sp.save_npz(folder / "X.npz", counts)
    (folder / "vocab.txt").write_text("\n".join(reader.get_feature_names_out()) + "\n")
    (folder / "labels.txt").write_text("\n".join(label for label, _ in chosen) + "\n")
    with (folder.parent / f"{folder.name}.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("class", "text"), *chosen])
    print(folder, counts.shape, dict(Counter(np.array([label for label, _ in chosen]))))


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write(Path(sys.argv[1]) / "packages", packages())
    write(Path(sys.argv[1]) / "docstrings", docstrings())


if __name__ == "__main__":
    main()
