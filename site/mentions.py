"""Runs what pages mention: commands in blocks and in the text, Python in blocks and in the text.

Pages such as the guide speak of `X.npy`, `news.csv` or `model` without saying where they come from.
Here such files and names exist (`prepared`, `names`), small ones; what speaks of sizes that would
take minutes is made smaller (`SMALLER`). Everything of a page is run in its order, in one folder.
What stands for something else (`FILE`, `DIR`) or takes another machine is not run, but its command
and its flags must exist, as must every flag that a page names.

    python site/mentions.py docs/*.md README.md
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

import hottopixx
from hottopixx import Hottopixx, HottSamples, HottTopics

sys.path.insert(0, str(Path(__file__).parent))

from snippets import inside

ROOT = Path(__file__).parents[1]

#: Sizes of which the pages speak, and others that give an answer at once.
SMALLER = [
    ("--features 1600 --examples 64000", "--features 120 --examples 150"),
    ("--features 1280 --examples 12800", "--features 120 --examples 150"),
    ("--features 40 --examples 400", "--features 40 --examples 60"),
    ("--rank 30 --path", "--rank 8 --path"),
    ("X, 60, constraints", "X, 6, constraints"),
    ("HottTopics(20, ", "HottTopics(4, "),
    ("n_components=10", "n_components=3"),
    ("n_components=20", "n_components=3"),
    ("HottTopics(10)", "HottTopics(3)"),
    ("Hottopixx(20)", "Hottopixx(4)"),
]
#: What is not run: it takes a network, a cluster, a package that the tests lack, or minutes.
ELSEWHERE = re.compile(
    r"hottopixx\.ray|ray_address|pyLDAvis|h5ad|parquet|hottopixx (reproduce|self-test|demo)|nytimes"
    r"|factor\(hottopixx\.cooccurrence"
)
#: What is run before something that goes on from another answer than that of the page so far.
BEFORE = {"X_today.npy": "hottopixx factor X_before.npy --rank 4 --out answer"}
#: Flags of programs that are not ours, which pages name without these.
OTHERS = {"--address", "--cfg", "--generate", "--head", "--node-ip-address", "--port"}
#: Stands for something that readers put there.
PLACEHOLDER = re.compile(r"(?:^|[\s=])(?:[A-Z]{1,12}|\.\.\.)(?=$|[\s\]])|…|\[--")


class Mention(NamedTuple):
    """Something to run: where it is, what it is, and the text."""

    line: int
    kind: str
    code: str


FENCE = re.compile(r"(?ms)^```(\w*)[^\n]*\n(.*?)^```$")
INDENTED = re.compile(r"(?m)(?:^ {4}[^\n]*\n|^\n(?= {4}))+")
SPAN = re.compile(r"`([^`\n]+)`")


def mentions(text: str) -> list[Mention]:
    """What a page mentions, in its order."""
    found = []
    line = lambda at: text.count("\n", 0, at) + 1  # noqa: E731
    blank = lambda match: re.sub(r"[^\n]", " ", match.group())  # noqa: E731
    for block in FENCE.finditer(text):
        if block.group(1) in ("python", "bash"):
            found.append(Mention(line(block.start(2)), block.group(1), block.group(2)))
    text = FENCE.sub(blank, text)
    for block in INDENTED.finditer(text):
        code = "".join(one[4:] or "\n" for one in block.group().splitlines(keepends=True))
        if re.match(r"\s*(hottopixx |for )", code) and "\n" * 2 not in code.strip():
            found.append(Mention(line(block.start()), "bash", code.strip()))
    for span in SPAN.finditer(INDENTED.sub(blank, text)):
        code = span.group(1).strip()
        if re.match(r"(… \| )?hottopixx ", code):
            found.append(Mention(line(span.start()), "bash", code.replace("… |", "cat X.csv |")))
        elif re.match(r"(model|answer|hottopixx|Hott\w+)[.(].*\)(\.\w+)?$", code):
            found.append(Mention(line(span.start()), "python", code))
    return sorted(found)


def flags(text: str) -> set[str]:
    """The flags that a page names in code, but for those of other programs."""
    code = [span.group(1) for span in SPAN.finditer(text)]
    code += [block.group() for block in INDENTED.finditer(FENCE.sub("", text))]
    ours = [
        one
        for one in code
        if not re.search(r"\b(cargo|pip|maturin|rustup|scripts/|twine|study)\b", one)
    ]
    return {flag for one in ours for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]+", one)}


def main() -> int:
    """Runs the pages; 1 if something fails."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("-v", action="store_true", help="say what is run, and what it takes")
    args = parser.parse_args()
    os.environ["PATH"] = os.pathsep.join([str(place()), os.environ["PATH"]])
    pages = {page: page.read_text(encoding="utf-8") for page in args.pages}
    known = manual()
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "made"
        made.mkdir()
        prepared(made)
        for page, text in pages.items():
            here = Path(folder) / "-".join(page.parts).lstrip("/")
            shutil.copytree(made, here)
            ran, before = 0, spent()
            for mention, fault in outcomes(text, page.name, here, known):
                ran += 1
                if args.v:
                    print(f"{spent() - before:6.2f} CPU s  {mention.code.strip()}", flush=True)
                before = spent()
                if fault:
                    wrong.append(f"{page}:{mention.line}: {mention.code.strip()}\n    {fault}")
            unknown = flags(text) - known["flags"] - OTHERS
            wrong += [f"{page}: no command has the flag {flag}" for flag in sorted(unknown)]
            studies = set(re.findall(r"hottopixx-study ([a-z]+)", text)) - known["studies"]
            wrong += [f"{page}: there is no study {study}" for study in sorted(studies)]
            print(f"{page}: {ran} commands and pieces of Python")
    print("\n".join(wrong), file=sys.stderr)
    return min(len(wrong), 1)


def spent() -> float:
    """CPU seconds of this process and of those that have ended."""
    return sum(os.times()[:4])


def place() -> Path:
    """The folder of the programs: that of the tests, which starts at once, or the package's."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = [target / profile for profile in ("debug", "release")]
    built = [folder for folder in built if (folder / "hottopixx").exists()]
    newest = max(built, key=lambda folder: (folder / "hottopixx").stat().st_mtime, default=None)
    return newest or Path(sys.executable).parent


def manual() -> dict[str, set[str]]:
    """The commands and flags that there are; flags of studies, benchmarks and scripts too."""

    def said(*command: str) -> str:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def commands(text: str) -> set[str]:
        listed = text.split("Commands:")[1].split("Options:")[0]
        return set(re.findall(r"(?m)^  ([a-z][a-z-]*) ", listed))

    text, studies = said("hottopixx", "--help"), said("hottopixx-study", "--help")
    parts = [text, said("hottopixx", "man", "--markdown")]
    parts += [said("hottopixx-study", study, "--help") for study in commands(studies) - {"help"}]
    for pattern in ("python/benchmarks/*.py", "site/*.py", "scripts/*"):
        parts += [path.read_text(encoding="utf-8") for path in ROOT.glob(pattern)]
    flags = set(re.findall(r"--[a-z][a-z-]+", "\n".join(parts)))
    return {"commands": commands(text), "studies": commands(studies), "flags": flags}


def outcomes(
    text: str, name: str, here: Path, known: dict[str, set[str]]
) -> Iterator[tuple[Mention, str]]:
    """Runs everything of a page; gives what went wrong, or nothing."""
    known_names = names(name)
    with inside(str(here)):
        for mention in mentions(text):
            code = mention.code
            for before, after in SMALLER:
                code = code.replace(before, after)
            words = re.match(r"hottopixx\s+([a-z][a-z-]*)", code)
            if mention.kind == "bash" and words and words.group(1) not in known["commands"]:
                yield mention, f"there is no command {words.group(1)}"
            elif ELSEWHERE.search(code) or (mention.kind == "bash" and PLACEHOLDER.search(code)):
                continue
            elif (
                mention.kind == "bash"
                and words
                and len(code.split()) == 2
                and words.group(1) != "sample"
            ):
                continue  # the name of a command
            elif mention.kind == "bash":
                # Every answer to a folder of its own, as a reader would; those that go on need one.
                before = [words for name, words in BEFORE.items() if name in code]
                if before or ("--out answer" in code and not re.match(r"[^\n]*--update", code)):
                    shutil.rmtree("answer", ignore_errors=True)
                code = "\n".join([*before, code])
                if words and words.group(1) == "sample":
                    code += " --out samples"  # files of these names are here already
                command = ["bash", "-euo", "pipefail", "-c", code]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                # No answer (3) is one that the guide speaks of.
                yield mention, "" if done.returncode in (0, 3) else done.stderr.strip()
            else:
                yield mention, python(code, f"{name}:{mention.line}", known_names)


def python(code: str, name: str, known: dict[str, object]) -> str:
    """Runs Python; gives what went wrong, or nothing."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(code, name, "exec"), known)
        except Exception as fault:  # whatever it is, it is told
            return f"{type(fault).__name__}: {fault}"
    return ""


TOPICS = (
    "oil price barrel market",
    "court judge trial verdict",
    "goal team match player",
    "bank loan rate fund",
)


def prepared(folder: Path) -> None:
    """The files of which the pages speak."""
    random = np.random.default_rng(0)
    made = hottopixx.generate("paper", features=48, examples=60, rank=5, noise=0.3, seed=1)
    X = np.asarray(made.X)
    np.save(folder / "X.npy", X)
    np.save(folder / "more.npy", X[:7])
    np.save(folder / "X_before.npy", X)
    np.save(folder / "X_today.npy", X + 0.01 * X.mean())
    np.savetxt(folder / "X.csv", X, delimiter=",")
    sp.save_npz(folder / "X.npz", sp.csr_matrix(np.rint(X * 200)))
    texts = [" ".join(random.choice(TOPICS[d % 4].split(), 12)) for d in range(80)]
    (folder / "news.csv").write_text("text\n" + "\n".join(texts) + "\n")
    (folder / "new.csv").write_text("text\n" + "\n".join(texts[:5]) + "\n")
    scene = hottopixx.generate("paper", features=64, examples=12, rank=4, noise=0.1, seed=2)
    for name in ("cube.npy", "scene.npy"):
        np.save(folder / name, np.asarray(scene.X).reshape(8, 8, 12))
    genes = [f"G{k}" for k in range(88)] + ["ACTB", "GAPDH"]
    sp.save_npz(folder / "genes.npz", sp.csr_matrix(random.poisson(2.0, (90, 70)) + 1))
    (folder / "genes.txt").write_text("\n".join(genes))
    (folder / "panel.txt").write_text("G3\nG7\n")
    kinds = ["kinase" if k < 9 else f"other{k % 9}" for k in range(90)]
    (folder / "types.csv").write_text("\n".join(map(",".join, zip(genes, kinds, strict=True))))
    (folder / "prices.txt").write_text("\n".join("5" for _ in genes))
    for name in ("words.npz", "counts.npz", "more.npz"):
        sp.save_npz(folder / name, sp.csr_matrix(random.poisson(1.0, (40, 60)) + 1))
    (folder / "counts.txt").write_text("\n".join(str(k + 1) for k in range(40)))
    (folder / "ratings.csv").write_text(
        "\n".join(
            ",".join("" if random.random() < 0.1 else f"{v:.3f}" for v in row) for row in X + 1e-3
        )
    )
    (folder / "prices.csv").write_text("country;YEAR;a;b\nIceland;2001;1,5;2\nPeru;2002;3;0,5\n")
    pairs = [(d + 1, w + 1) for d in range(90) for w in range(30) if (d * w) % 5 != 2]
    lines = [f"{d} {w} {1 + (d * w) % 4}" for d, w in pairs]
    (folder / "docword.nips.txt").write_text(
        "\n".join(["90", "30", str(len(pairs)), *lines]) + "\n"
    )
    subprocess.run(["gzip", str(folder / "docword.nips.txt")], check=True)
    for name in ("first", "more"):
        shutil.copy(folder / "docword.nips.txt.gz", folder / f"docword.{name}.txt.gz")
    for name in ("vocab.nips.txt", "vocab.txt"):
        (folder / name).write_text("\n".join(f"word{w}" for w in range(30)))
    command = "hottopixx generate paper --features 120 --examples 150 --rank 5 --out X.hpx"
    subprocess.run(command, shell=True, cwd=folder, check=True, capture_output=True)


def names(page: str) -> dict[str, object]:
    """The names of which the pages speak."""
    random = np.random.default_rng(1)
    documents = [" ".join(random.choice(TOPICS[d % 4].split(), 12)) for d in range(80)]
    X = np.asarray(hottopixx.generate("paper", features=40, examples=60, rank=4, noise=0.3).X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        topics = page in ("guide.md", "README.md")
        model = HottTopics(3).fit(documents) if topics else Hottopixx(3).fit(X.T)
        answer = hottopixx.factor(X, 4)
    return {
        "__name__": "__main__",
        "hottopixx": hottopixx,
        "Hottopixx": Hottopixx,
        "HottSamples": HottSamples,
        "HottTopics": HottTopics,
        "np": np,
        "documents": documents,
        "titles": [f"document {d}" for d in range(80)],
        "dates": [f"{2001 + d % 3}-05-01" for d in range(80)],
        "model": model,
        "answer": answer,
        "hott": [0, 3, 5],
        "rows": X[:5],
        "k": 1,
        "rank": 4,
        "p": np.ones(40),
        "X": X,
        "table": X.T,
        "cells": X.T,
        "cube": X.reshape(8, 5, 60),
    }


if __name__ == "__main__":
    sys.exit(main())
