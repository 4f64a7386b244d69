"""A headless browser (chromium), asked through a pipe: no library, no port for others to use."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")


def found() -> str | None:
    """The browser of this machine, if it has one."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Tab:
    """One tab; everything it was told is in `events`."""

    def __init__(self, to: int, fro: int) -> None:
        self.to, self.fro, self.rest, self.count = to, fro, b"", 0
        self.events: list[dict[str, Any]] = []
        self.session: str | None = None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Calls a method of the protocol."""
        self.count += 1
        message: dict[str, Any] = {"id": self.count, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.next()
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return dict(answer["result"])

    def next(self) -> dict[str, Any]:
        """The next message; events are kept as well."""
        while b"\0" not in self.rest:
            more = os.read(self.fro, 1 << 20)
            if not more:
                raise RuntimeError("the browser has ended")
            self.rest += more
        one, self.rest = self.rest.split(b"\0", 1)
        message = dict(json.loads(one))
        if "method" in message:
            self.events.append(message)
        return message

    def open(self, url: str) -> None:
        """Opens a page and waits until it is there."""
        self.events.clear()
        self.ask("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def run(self, script: str) -> Any:
        """The value of an expression on the page."""
        answer = self.ask(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, script: str, seconds: float = 600) -> None:
        """Waits until an expression is true."""
        until = time.monotonic() + seconds
        while not self.run(script):
            if time.monotonic() > until:
                raise TimeoutError(script)
            time.sleep(0.05)

    def size(self, width: int, height: int, scale: float = 1) -> None:
        """Sets the size of the window; narrow ones are those of phones."""
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=width < 600,
        )

    def picture(self, path: Path, most: int = 6000) -> None:
        """Photographs the page, as long as it is up to some height."""
        height = min(most, self.run("document.documentElement.scrollHeight"))
        width = self.run("innerWidth")
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        shot = self.ask("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))

    def complaints(self) -> list[str]:
        """Errors that the page and the browser have told since it was opened."""
        told = []
        for event in self.events:
            params = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                told.append(json.dumps(params["exceptionDetails"]))
            elif event["method"] == "Log.entryAdded" and params["entry"]["level"] == "error":
                told.append(f"{params['entry']['text']} {params['entry'].get('url', '')}")
        return told

    def requests(self) -> list[str]:
        """What was asked for since the page was opened, but for what is within it."""
        asked = [e["params"] for e in self.events if e["method"] == "Network.requestWillBeSent"]
        urls = [str(one["request"]["url"]) for one in asked]
        return [url for url in urls if not url.startswith(("blob:", "data:", "about:"))]


@contextmanager
def tab() -> Iterator[Tab]:
    """A tab of a browser of its own, without a profile."""
    name = found()
    if name is None:
        raise SystemExit(f"none of {', '.join(NAMES)} is on the path")
    out, to = os.pipe()
    fro, back = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        # The browser reads from 3 and writes to 4.
        flags = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--hide-scrollbars",
            f"--user-data-dir={profile}",
            "--remote-debugging-pipe",
        ]
        words = ["bash", "-c", f'exec "$@" 3<&{out} 4>&{back}', "browser", name, *flags]
        browser = subprocess.Popen(words, pass_fds=(out, back), stderr=subprocess.DEVNULL)
        os.close(out)
        os.close(back)
        try:
            yield Tab(to, fro)
        finally:
            os.close(to)
            browser.terminate()
            browser.wait(timeout=30)
            os.close(fro)
