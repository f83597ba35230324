"""Perfetto's user interface in headless Chromium, as `tare view` serves it."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

QUERY = """
async (text) => {
  const result = await globalThis.app.trace.engine.query(text);
  const rows = [];
  for (const row = result.iter({name: 'str', n: 0}); row.valid(); row.next()) rows.push([row.name, row.n]);
  return rows;
}
"""

GROUPS = "globalThis.app.trace.workspace.children.filter((each) => /^rank/.test(each.name))"

Query = Callable[[str], list[list[Any]]]


@contextmanager
def viewing(tare: Path, run: Path, browser: Any) -> Iterator[tuple[Query, Any]]:
    """Asks the trace processor for columns `name` and `n`; and the page. It loads only what tare serves."""
    server = subprocess.Popen(
        [tare, "view", run, "--in", "perfetto"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert server.stdout is not None
    context = browser.new_context()
    try:
        address = server.stdout.readline().strip()
        page = context.new_page()
        page.route(lambda url: not url.startswith(address.split("index")[0]), lambda route: route.abort())
        page.goto(address, wait_until="commit")
        page.wait_for_function("globalThis.app?.trace?.engine !== undefined", timeout=120_000)
        yield lambda text: list(page.evaluate(QUERY, text)), page
    finally:
        context.close()
        server.send_signal(signal.SIGINT)
        assert server.wait(timeout=60) == 0
        server.stdout.close()


def groups(page: Any) -> list[str]:
    """The ranks in the order in which they are shown; waits until all are unfolded."""
    page.wait_for_function(f"{GROUPS}.length > 0 && {GROUPS}.every((each) => each.expanded)", timeout=120_000)
    return [str(name) for name in page.evaluate(f"{GROUPS}.map((each) => each.name)")]
