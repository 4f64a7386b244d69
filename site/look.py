"""Photographs every page of a built site, wide and on a phone, and says what browsers complain of.

    python site/look.py target/site target/looks [PAGE ...]

A page that is wider than a phone, or that makes the browser complain, is an error.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from browser import tab

SIZES = {"wide": (1280, 900), "phone": (390, 844)}
#: Tabs fade in, and anew for each picture.
AT_ONCE = "document.head.insertAdjacentHTML('beforeend', '<style>* {transition: none !important}')"


def main() -> int:
    """Looks at all pages, or those named; 1 if one is wrong."""
    site, out = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    named = [site / name for name in sys.argv[3:]]
    # The page for addresses that do not exist has links from the root of a server.
    every = [page for page in sorted(site.glob("**/*.html")) if page.name != "404.html"]
    every = [page for page in every if "rust" not in page.parts]
    wrong = 0
    with tab() as browser:
        for page in named or every:
            name = page.relative_to(site).with_suffix("").as_posix().replace("/", "-")
            for kind, size in SIZES.items():
                browser.size(*size)
                browser.open(page.as_uri())
                browser.run(AT_ONCE)
                beyond = browser.run("document.documentElement.scrollWidth - innerWidth")
                told = browser.complaints()
                browser.picture(out / f"{name}-{kind}.png")
                if beyond > 0:
                    told.append(f"wider than the window by {beyond}")
                wrong += len(told)
                for one in told:
                    print(f"{name}, {kind}: {one}", flush=True)
    print(f"{len(named or every)} pages, {wrong} complaints")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
