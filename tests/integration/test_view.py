"""`tare view`: the page served from the run."""

from __future__ import annotations

import json
import shutil
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
import tare as package
from browser import READY, Opened, viewing
from environments import PYTHON, ROOT
from verbs import ask

RUN = ROOT / "tests" / "data" / "v1" / "stencil"


@pytest.fixture
def serving(tare: Path) -> Iterator[str]:
    with viewing(tare, RUN) as address:
        yield address


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
    done = ask(tare, "events", RUN, "--json", check=True)
    calls = [row for row in json.loads(done.stdout)["rows"] if row["function"].startswith("MPI_")]
    ranks = len(json.loads(read(f"{serving}data/recorded/timeline"))["ranks"])
    context = browser.new_context()
    opened = Opened(context.new_page(), serving)
    opened.page.locator("#timeline canvas.lanes").scroll_into_view_if_needed()
    opened.wait("document.querySelector('#timeline canvas.lanes').dataset.ready")
    opened.wait("tare.timeline.shown.picture.calls !== null")
    shown = opened.page.evaluate("tare.timeline.shown.picture.calls.count")
    assert opened.complaints == []
    context.close()
    is_calls, count = struct.unpack_from(
        "<II", read(f"{serving}data/recorded/picture?first=0&rows={ranks}&group=1")
    )
    assert is_calls == 1
    assert count == shown >= len(calls)  # with flushes


def test_only_who_knows_the_token_gets_an_answer(serving: str) -> None:
    at = urlsplit(serving)
    root = f"http://{at.netloc}"
    assert status(serving) == 200
    for path in (
        "/",
        "/data/recorded/content",
        at.path.rstrip("/"),
        f"{at.path}../",
        "/x/",
        "/x/data/recorded/content",
        "//",
    ):
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
    assert status(f"{serving}data/recorded/picture?{query}") == 400
    assert status(f"{serving}data/none") == 400
    assert status(serving) == 200


def test_policy_and_type_are_said(serving: str) -> None:
    with urllib.request.urlopen(serving, timeout=60) as answer:
        headers: Any = answer.headers
    said = headers["Content-Security-Policy"].split("; ")
    assert {
        "default-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
        "require-trusted-types-for 'script'", "trusted-types tare",
    } <= set(said)  # fmt: skip
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


def chosen(opened: Opened, times: str) -> None:
    """The page is drawn anew."""
    with opened.page.expect_event("load"):
        opened.page.select_option("#times", times)
    opened.wait(READY)
    assert opened.page.evaluate("tare.data.times") == times


def test_times_are_chosen_on_the_page(serving: str, browser: Any) -> None:
    """The timeline and all that is said of waits follow the choice: recorded or compensated times."""
    context = browser.new_context()
    opened = Opened(context.new_page(), f"{serving}#timeline?search=x")
    assert opened.page.evaluate("tare.data.times") == "recorded"
    assert opened.texts("#times option") == ["recorded", "corrected", "compensated"]
    for times in ("compensated", "corrected", "recorded"):
        chosen(opened, times)
        assert "search=x" in opened.page.url and ("times=" in opened.page.url) == (times != "recorded")
        run = package.open(RUN, times=times)
        traced = run.timeline()
        assert traced is not None
        length = opened.page.evaluate("tare.timeline.data.about.length_ns")
        assert length == traced.end_ns - traced.start_ns
        notes = " ".join(opened.texts("#overview .notice"))
        assert ("Measuring is taken out of all times" in notes) == (times == "compensated")
        assert opened.texts(".findings li") == page_sentences(run)
    assert opened.complaints == []
    context.close()
    assert status(f"{serving}data/nothing/content") == 400


def page_sentences(run: Any) -> list[str]:
    from tare.page import content

    return list(content.of_run(run)["overview"]["findings"])


def test_two_runs_side_by_side(tare: Path, browser: Any, tmp_path: Path) -> None:
    shutil.copytree(RUN, tmp_path / "other")
    context = browser.new_context()
    with viewing(tare, RUN, "--compare", tmp_path / "other") as address:
        opened = Opened(context.new_page(), address)
        said = page_sentences(package.open(RUN))
        assert opened.texts("#comparison .findings li") == said * 2
        chosen(opened, "compensated")
        said = page_sentences(package.open(RUN, times="compensated"))
        assert opened.texts("#comparison .findings li") == said * 2
        assert opened.complaints == []
        context.close()


def test_what_perfetto_cannot_compare(tare: Path) -> None:
    command: list[Path | str] = [tare, "view", RUN, "--compare", RUN, "--in", "perfetto"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (2, "tare: --compare is of the page: leave out --in perfetto\n")
