"""Runs the commands and the Python on pages, and compares what they print with what is shown.

On a page, blocks of `bash` and `python` are run one after the other in an empty folder; a block of
`output` shows what the one before it printed. Paragraphs (lines between empty lines) of the real
output may be left out, and so are times and memory; what is shown must have been printed: words and
whole numbers as they are, decimals within 2 %, and any figures in lines about bounds and gaps,
which get better as the solvers do.

    python site/snippets.py docs/start/*.md            # run and compare
    python site/snippets.py --write docs/start/*.md    # run, and show what was printed

When writing, a paragraph that is shown is replaced by the one that begins with the same word, and
an empty block by everything.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

BLOCK = re.compile(r"(?ms)^```(bash|python|output)\n(.*?)^```$")
#: Lines that differ from run to run, or say only where things are.
VARYING = ("time ", "memory ", "written ", "hottopixx ", "input ", "data ")


def main() -> int:
    """Runs the pages; 1 if something shown was not printed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true", help="show what was printed")
    args = parser.parse_args()
    wrong = 0
    for page in args.pages:
        text = page.read_text(encoding="utf-8")
        replaced, at = [], 0
        for block, printed in ran(text, page.name):
            shown = fitting(block.group(2), printed) if args.write else block.group(2)
            replaced += [text[at : block.start(2)], shown]
            at = block.end(2)
            for line in missing(shown, printed):
                wrong += 1
                print(f"{page}: shown, but not printed: {line}", file=sys.stderr)
        if args.write:
            page.write_text("".join([*replaced, text[at:]]), encoding="utf-8")
    return min(wrong, 1)


def ran(text: str, name: str) -> Iterator[tuple[re.Match[str], str]]:
    """Every block of output, with what the block before it printed."""
    names: dict[str, object] = {"__name__": "__main__"}
    printed = ""
    with tempfile.TemporaryDirectory() as folder, inside(folder):
        for block in BLOCK.finditer(text):
            kind, code = block.groups()
            if kind == "output":
                yield block, printed
            elif kind == "bash":
                command = ["bash", "-euo", "pipefail", "-c", code]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                if done.returncode != 0:
                    raise SystemExit(f"{name}: {code}{done.stderr}")
                printed = done.stdout
            else:
                line = text.count("\n", 0, block.start(2))
                told = io.StringIO()
                with contextlib.redirect_stdout(told), warnings.catch_warnings():
                    warnings.simplefilter("error")  # a page that warns is a page to mend
                    exec(compile("\n" * line + code, name, "exec"), names)
                printed = told.getvalue()


@contextlib.contextmanager
def inside(folder: str) -> Iterator[None]:
    """Works in a folder (`contextlib.chdir` is of Python 3.11)."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def paragraphs(text: str) -> list[list[str]]:
    """Lines between empty lines, without those that vary."""
    parts: list[list[str]] = [[]]
    for line in text.splitlines():
        if not line.strip():
            parts.append([])
        elif not line.startswith(VARYING):
            parts[-1].append(line.rstrip())
    return [part for part in parts if part]


def fitting(shown: str, printed: str) -> str:
    """The paragraphs of what was printed that begin like those shown; all, if none does."""
    real = paragraphs(printed)
    keys = [part[0].split()[0] for part in paragraphs(shown)]
    chosen = [part for part in real if part[0].split()[0] in keys] or real
    return "\n\n".join("\n".join(part) for part in chosen) + "\n"


def missing(shown: str, printed: str) -> list[str]:
    """Lines that are shown, in this order, but were not printed; an empty block is one."""
    real = iter([line for part in paragraphs(printed) for line in part])
    lines = [line for part in paragraphs(shown) for line in part]
    if not lines:
        return ["(an empty block)"]
    return [line for line in lines if not any(alike(line, other) for other in real)]


DECIMAL = re.compile(r"\d+\.\d+(?:e[-+]?\d+)?|\d+e[-+]?\d+")


def alike(shown: str, printed: str) -> bool:
    """Whether a line says the same: see above."""
    if DECIMAL.sub("0", shown).split() != DECIMAL.sub("0", printed).split():
        return False
    if re.search(r"bound|gap|at least|below", shown):
        return True
    pairs = zip(DECIMAL.findall(shown), DECIMAL.findall(printed), strict=True)
    return all(abs(float(a) - float(b)) <= 0.02 * abs(float(b)) for a, b in pairs)


if __name__ == "__main__":
    os.environ.setdefault("MPLBACKEND", "Agg")
    # The program is that of the environment that runs this.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    sys.exit(main())
