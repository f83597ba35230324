"""The page in a browser, of a run all of whose names are made to harm it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import fake_native
import pytest
import tare as package
from browser import Opened
from hostile_names import make_names_hostile
from some_run import metadata
from tare import cli
from tare.runs.metadata import Options, encode

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
    make_names_hostile(fake_native, monkeypatch, EVIL)
    monkeypatch.setitem(sys.modules, "tare._native", fake_native)
    monkeypatch.setattr(package, "_native", fake_native, raising=False)
    to = tmp_path / "page.html"
    assert cli.run(["report", str(run_dir), "-o", str(to)]) == 0
    return to


def test_hostile_names_are_shown_and_do_nothing(hostile: Path, browser: Any) -> None:
    context = browser.new_context(offline=True)
    opened = Opened(context.new_page(), hostile.as_uri())
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
    context.close()


def test_markup_from_the_run_is_in_the_title_alone(hostile: Path) -> None:
    text = hostile.read_text("utf-8")
    assert text.count("harmed") == 2  # twice in the title, escaped
    assert "<title>&lt;/script&gt;" in text
