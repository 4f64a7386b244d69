"""Uses the page try.html of a built site as a reader does.

From a folder and from a server, by a click and with files; looks at the reports and at what was
asked of the network.

    python site/try_page.py target/site
"""

from __future__ import annotations

import functools
import sys
import tempfile
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np

import hottopixx

sys.path.insert(0, str(Path(__file__).parent))

from browser import Tab, tab


class Quiet(SimpleHTTPRequestHandler):
    """A server that logs nothing."""

    def log_message(self, *_: object) -> None:
        """Nothing."""


def main() -> None:
    """Runs all of it; an assertion that fails names what was seen."""
    site = Path(sys.argv[1]).resolve()
    handler = functools.partial(Quiet, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, tab() as page:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        served = f"http://127.0.0.1:{server.server_port}/try.html"
        for url in (served, (site / "try.html").as_uri()):
            page.open(url)
            page.wait("!document.getElementById('try').hidden")
            # A busy machine is not what is tested.
            page.run("document.getElementById('try-seconds').value = 600")
            examples(page)
            with tempfile.TemporaryDirectory() as folder:
                files(page, Path(folder))
            refuses_to_connect(page)
            assert page.complaints() == [], page.complaints()
            print(f"{url.split(':')[0]}: reports of examples and of files, nothing asked for")
        server.shutdown()


def report(page: Tab) -> str:
    """The report, once it is there, and that nothing was asked for meanwhile."""
    page.wait(
        "/^done/.test(document.getElementById('try-status').textContent) || "
        "document.getElementById('try-status').classList.contains('wrong')"
    )
    said = page.run("document.getElementById('try-status').textContent")
    assert said.startswith("done in"), said
    # The icon of the tab comes when the browser finds the time.
    asked = [url for url in page.requests() if not url.endswith("/icon.svg")]
    assert asked == [], asked
    return str(page.run("document.getElementById('try-report').srcdoc"))


def examples(page: Tab) -> None:
    """The two that the page offers."""
    page.events.clear()
    page.run("document.querySelector('[data-example=\"notes.txt\"]').click()")
    text = report(page)
    assert "hottopixx topics notes.txt --rank 3" in text and "harbour" in text
    # The report in its frame runs its own script.
    page.run("document.querySelector('[data-example=\"paints.csv\"]').click()")
    text = report(page)
    for paint in ("cadmium red", "lemon yellow", "ultramarine", "chalk white"):
        assert f">{paint}<" in text, paint


def files(page: Tab, folder: Path) -> None:
    """Files of the reader: the answer is that of the package, and faults are sentences."""
    made = hottopixx.generate("paper", features=40, examples=120, rank=4, seed=3)
    np.save(folder / "X.npy", made.X)
    drop(page, folder / "X.npy", kind=2, rank=4)
    text = report(page)
    expected = sorted(hottopixx.factor(made.X, 4).hott.tolist())
    rows = page.run(
        "[...new DOMParser().parseFromString(document.getElementById('try-report').srcdoc,"
        " 'text/html').querySelectorAll('.topics > section')]"
        ".map((card) => Number(card.dataset.row))"
    )
    assert sorted(rows) == expected, (rows, expected, text[:200])
    (folder / "wrong.csv").write_text("a,b\n1,2\n3,-4\n")
    drop(page, folder / "wrong.csv", kind=2, rank=1)
    page.wait("document.getElementById('try-status').classList.contains('wrong')")
    said = page.run("document.getElementById('try-status').textContent")
    assert said.startswith("wrong.csv, line 3") and "-4 is negative" in said, said


def drop(page: Tab, file: Path, kind: int, rank: int) -> None:
    """Gives the page a file, as the dialog does."""
    page.events.clear()
    page.run(f"document.getElementById('try-kind').value = {kind}")
    page.run(f"document.getElementById('try-rank').value = {rank}")
    found = page.ask("Runtime.evaluate", expression="document.getElementById('try-file')")
    page.run("document.getElementById('try-status').textContent = ''")
    page.ask("DOM.setFileInputFiles", files=[str(file)], objectId=found["result"]["objectId"])


def refuses_to_connect(page: Tab) -> None:
    """The page's own policy lets nothing out, whatever a script on it may try."""
    tried = page.run(
        "fetch('https://example.org/', {mode: 'no-cors'}).then(() => 'sent', (error) => 'refused')"
    )
    assert tried == "refused", tried
    page.events.clear()


if __name__ == "__main__":
    main()
