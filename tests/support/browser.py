"""Headless Chromium, as Debian ships it, driven by Playwright."""

from __future__ import annotations

import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

PATIENCE_S = 120
NO_NETWORK = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
READY = "document.documentElement.dataset.ready || document.documentElement.dataset.failed"


class Opened:
    """A page, with what it said on the console and what it asked for; `url` is shown when it says that it is
    ready."""

    def __init__(self, page: Any, url: str) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda said: self.complaints.append(said.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(url)
        self.wait(READY)

    def texts(self, selector: str) -> list[str]:
        """The texts of all elements that match, also of those out of view."""
        found: list[str] = self.page.eval_on_selector_all(
            selector, "elements => elements.map(each => each.textContent)"
        )
        return found

    def wait(self, condition: str) -> None:
        """Waits for a condition in JavaScript; the page's policy lets Playwright wait for none by itself."""
        deadline = time.monotonic() + PATIENCE_S
        while not self.page.evaluate(condition):
            assert time.monotonic() < deadline, f"{condition} has not come: {self.complaints}"
            self.page.wait_for_timeout(10)


@contextmanager
def chromium() -> Iterator[Any]:
    """Starts the browser, which reaches no network.

    Playwright cannot run twice at a time in one process: tests take the fixture `browser`.
    """
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium")
    if path is None:
        pytest.fail("chromium is not installed (run `make test`)", pytrace=False)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path,
            args=["--no-sandbox", NO_NETWORK],
        )
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def viewing(tare: Path, *arguments: Path | str) -> Iterator[str]:
    """The address at which `tare view` shows a run; in the end, Ctrl-C ends it quietly."""
    process = subprocess.Popen(
        [tare, "view", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=60)
    finally:
        process.kill()  # also if the test has failed
    assert (process.returncode, out) == (0, "")
    assert errors == "Open this address in a browser. Ctrl-C ends it.\n"
