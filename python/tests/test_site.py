"""The five-minute pages, run as they stand, and the commands and Python that others mention."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted(str(page) for page in (ROOT / "docs" / "start").glob("*.md"))


MENTIONING = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md"]


def runner(name: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "site" / name), *words]
    return subprocess.run(command, check=False, capture_output=True, text=True)


def snippets(*words: str) -> subprocess.CompletedProcess[str]:
    return runner("snippets.py", *words)


def test_the_pages_run_and_print_what_they_show() -> None:
    assert len(PAGES) > 5
    ran = snippets(*PAGES)  # in one process, which imports what they use once
    assert ran.returncode == 0, ran.stderr + "\nscripts/site outputs shows what is printed now"


def test_what_is_not_printed_or_fails_is_told(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\nprint('rows 3')\n```\n\n```output\nrows 4\n```\n")
    ran = snippets(str(page))
    assert ran.returncode == 1 and "shown, but not printed: rows 4" in ran.stderr
    assert snippets("--write", str(page)).returncode == 0
    assert "rows 3\n```" in page.read_text() and snippets(str(page)).returncode == 0
    page.write_text("```python\nprint('error 0.50')\n```\n\n```output\nerror 0.60\n```\n")
    assert snippets(str(page)).returncode == 1
    page.write_text("```bash\nhottopixx factor nowhere.npy --rank 2\n```\n")
    ran = snippets(str(page))
    assert ran.returncode != 0 and "nowhere.npy" in ran.stderr


def test_what_the_other_pages_mention_runs() -> None:
    ran = runner("mentions.py", *map(str, MENTIONING))
    assert ran.returncode == 0, ran.stderr
    counted = re.search(r"guide\.md: (\d+) commands", ran.stdout)
    assert counted and int(counted[1]) > 40


def test_mentions_of_what_there_is_not_are_told(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "Run `hottopixx elect X.npy`, `hottopixx factor X.npy --rank 99`, with `--zeal`, and\n"
        "`hottopixx-study luck`.\n\n```python\nanswer.rows_that_are_lucky\n```\n"
    )
    ran = runner("mentions.py", str(page))
    assert ran.returncode == 1
    for what in ("command elect", "99", "flag --zeal", "study luck", "rows_that_are_lucky"):
        assert what in ran.stderr, what
