"""Perfetto's user interface in headless Chromium, as `tare view` serves it."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

CHROMIUM = "/usr/bin/chromium"
QUERY = """
async (text) => {
  const result = await globalThis.app.trace.engine.query(text);
  const rows = [];
  for (const row = result.iter({name: 'str', n: 0}); row.valid(); row.next()) rows.push([row.name, row.n]);
  return rows;
}
"""

Query = Callable[[str], list[list[Any]]]


@contextmanager
def viewing(tare: Path, run: Path) -> Iterator[Query]:
    """Asks the trace processor for columns `name` and `n`. What tare serves is all that is loaded."""
    server = subprocess.Popen(
        [tare, "view", run], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert server.stdout is not None
    try:
        address = server.stdout.readline().strip()
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
            )
            page = browser.new_page()
            page.route(lambda url: not url.startswith(address.split("index")[0]), lambda route: route.abort())
            page.goto(address, wait_until="commit")
            page.wait_for_function("globalThis.app?.trace?.engine !== undefined", timeout=120_000)
            yield lambda text: list(page.evaluate(QUERY, text))
            browser.close()
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(timeout=60)
        server.stdout.close()
