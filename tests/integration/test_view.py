"""`tare view`: the page served from the run."""

from __future__ import annotations

import json
import signal
import socket
import struct
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from browser import Opened
from environments import PYTHON, ROOT

RUN = ROOT / "tests" / "data" / "v1" / "stencil"


@pytest.fixture
def serving(tare: Path) -> Iterator[str]:
    """The address; in the end, Ctrl-C ends it quietly."""
    process = subprocess.Popen([tare, "view", RUN], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stderr is not None
    yield process.stdout.readline().strip()
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "")
    assert errors == "Open this address in a browser. Ctrl-C ends it.\n"


def test_a_request_that_is_under_way_at_the_end_is_no_leak() -> None:
    """The thread that answers it keeps the timeline until the process has ended."""
    script = f"""
import threading
import tare._native
has_it = threading.Event()
def answer(timeline):
    has_it.set()
    threading.Event().wait()
threading.Thread(target=answer, args=[tare._native.Run({str(RUN)!r}).timeline()], daemon=True).start()
has_it.wait()
"""
    done = subprocess.run([PYTHON, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def status(url: str, **headers: str) -> int:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=60) as answer:
            code: int = answer.status
            return code
    except urllib.error.HTTPError as error:
        return error.code


def read(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=60) as answer:
        body: bytes = answer.read()
        return body


def test_the_page_has_every_detail(serving: str, tare: Path, browser: Any) -> None:
    done = subprocess.run([tare, "events", RUN, "--json"], capture_output=True, text=True, check=True)
    calls = [row for row in json.loads(done.stdout)["rows"] if row["function"].startswith("MPI_")]
    ranks = len(json.loads(read(f"{serving}data/timeline"))["ranks"])
    context = browser.new_context()
    opened = Opened(context.new_page(), serving)
    opened.page.locator("#timeline canvas.lanes").scroll_into_view_if_needed()
    opened.wait("document.querySelector('#timeline canvas.lanes').dataset.ready")
    opened.wait("tare.timeline.shown.picture.calls !== null")
    shown = opened.page.evaluate("tare.timeline.shown.picture.calls.count")
    assert opened.complaints == []
    context.close()
    is_calls, count = struct.unpack_from("<II", read(f"{serving}data/picture?first=0&rows={ranks}&group=1"))
    assert is_calls == 1
    assert count == shown >= len(calls)  # with flushes


def test_only_who_knows_the_token_gets_an_answer(serving: str) -> None:
    at = urlsplit(serving)
    root = f"http://{at.netloc}"
    assert status(serving) == 200
    for path in ("/", "/data/content", at.path.rstrip("/"), f"{at.path}../", "/x/", "/x/data/content", "//"):
        assert status(root + path) == 404, path
    # A page of another origin whose name resolves to this machine.
    assert status(serving, Host="evil.example:80") == 404
    assert at.hostname == "127.0.0.1"
    addresses = {entry[4][0] for entry in socket.getaddrinfo(socket.gethostname(), at.port, socket.AF_INET)}
    for address in addresses - {"127.0.0.1"}:
        with socket.socket() as other:
            assert other.connect_ex((address, at.port)) != 0 or str(address).startswith("127.")


@pytest.mark.parametrize(
    "query",
    [
        "first=-1", "rows=0", "rows=1000000000&columns=1000000", "columns=0", "from=5&to=4", "from=x",
        "group=0", "to=99999999999999999999", "first=100000", "columns=-5",
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(serving: str, query: str) -> None:
    assert status(f"{serving}data/picture?{query}") == 400
    assert status(f"{serving}data/none") == 400
    assert status(serving) == 200


def test_policy_and_type_are_said(serving: str) -> None:
    with urllib.request.urlopen(serving, timeout=60) as answer:
        headers: Any = answer.headers
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"


def test_a_port_that_is_taken_is_one_line(tare: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = subprocess.run(
            [tare, "view", RUN, "--port", str(port)], capture_output=True, text=True, timeout=60, check=False
        )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1 and f"port {port}" in done.stderr
