"""What the page is made of: nothing in it comes from the run but as data."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fake_native
import pytest
import tare as package
from browser import Opened, chromium
from environments import ROOT
from some_run import metadata
from tare import cli
from tare.analysis.rows import Placed
from tare.page import call_sites, document, source_text
from tare.runs.metadata import Options, encode

VENDOR = ROOT / "python" / "tare" / "page" / "vendor"
EVIL = "</script><script>window.harmed=1</script><img src=x onerror=window.harmed=1>\u202e\"'&{{\x1b[31m"


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The page of a run all of whose names are made to harm it."""
    run_dir = tmp_path / "measured"
    run_dir.mkdir()
    for name in ("sampled", "node.tare"):
        (run_dir / name).touch()
    meta = metadata(
        segment_dir=str(run_dir), options=Options(trace=True), name=EVIL, host=EVIL, cwd=EVIL,
        command=["./app", EVIL], environment={EVIL: EVIL},
    )  # fmt: skip
    (run_dir / "meta.json").write_bytes(encode(meta))
    monkeypatch.setattr(fake_native, "EVIL", EVIL)
    fake_native.make_names_hostile(monkeypatch)
    monkeypatch.setitem(sys.modules, "tare._native", fake_native)
    monkeypatch.setattr(package, "_native", fake_native, raising=False)
    to = tmp_path / "page.html"
    assert cli.run(["report", str(run_dir), "-o", str(to)]) == 0
    return to


@pytest.fixture
def browser() -> Iterator[Any]:
    with chromium() as running:
        yield running


def test_hostile_names_are_shown_and_do_nothing(hostile: Path, browser: Any) -> None:
    opened = Opened(browser.new_page(), hostile.as_uri())
    assert opened.page.evaluate("document.documentElement.dataset.failed") is None
    for chart in opened.page.query_selector_all(".chart"):
        chart.scroll_into_view_if_needed()
    rows = opened.page.query_selector_all("#callsites .tabulator-row")
    assert rows
    for row in rows:
        row.click()
        row.hover()
    assert opened.page.evaluate("window.harmed") is None
    assert opened.page.query_selector("main img, main script, main iframe") is None
    box = opened.page.locator("#timeline canvas.lanes").bounding_box()
    for x in (0.3, 0.55, 0.7):
        opened.page.mouse.move(box["x"] + x * box["width"], box["y"] + 10)
    assert opened.page.evaluate("window.harmed") is None
    assert any("<script>window.harmed=1</script>" in text for text in opened.texts("main"))
    assert opened.complaints == []


def test_markup_from_the_run_is_in_the_title_alone(hostile: Path) -> None:
    text = hostile.read_text("utf-8")
    assert text.count("harmed") == 2  # twice in the title, escaped
    assert "<title>&lt;/script&gt;" in text


def test_only_scripts_of_the_page_may_run() -> None:
    policy = document.policy("'none'")
    assert "unsafe" not in policy and "*" not in policy and "http" not in policy
    assert "default-src 'none'" in policy


def test_nothing_of_a_document_ends_its_script() -> None:
    page = document.embedded("x", {"content": {"a": "</script>"}})
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL)
    assert len(scripts) == page.count("<script") == page.count("</script")


def test_what_is_vendored_is_what_was_released() -> None:
    listed = dict(re.findall(r"^([0-9a-f]{64})  (\S+)$", (VENDOR / "README.md").read_text(), re.MULTILINE))
    listed = {name: checksum for checksum, name in listed.items()}
    files = {path.name for path in VENDOR.iterdir()} - {"README.md"}
    assert {name for name in files if not name.endswith(".LICENSE")} == set(listed)
    for name, checksum in listed.items():
        assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == checksum


def test_classes_are_those_of_the_reader() -> None:
    """In the order in which the page reads their shares; what the reader calls flush is tare's there."""
    header = (ROOT / "src" / "reader" / "timeline" / "activity.h").read_text()
    named = re.findall(r'"([a-z-]+)"', header)
    assert [*call_sites.CLASSES, "flush"] == named
    script = (ROOT / "python" / "tare" / "page" / "assets" / "timeline_data.js").read_text()
    listed = re.search(r"ACTIVITIES = \[(.*?)\]", script)
    assert listed and re.findall(r'"([a-z-]+)"', listed[1]) == [*call_sites.CLASSES, "tare"]


def test_only_source_text_is_read(tmp_path: Path) -> None:
    """A run that names somebody's secrets as its source files gets none of them."""
    text = "".join(f"line {number}\n" for number in range(1, 20))
    for name in ("secret", "id_rsa.pub", "solver.c"):
        (tmp_path / name).write_text(text)
    sites = [Placed(file=str(tmp_path / name), line=10) for name in ("secret", "id_rsa.pub", "solver.c")]
    found = source_text.around([*sites, Placed(file="solver.c", line=3), Placed()])
    assert list(found) == [str(tmp_path / "solver.c")]
    assert found[str(tmp_path / "solver.c")] == {number: f"line {number}" for number in range(7, 14)}
