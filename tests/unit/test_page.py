"""What the page is made of: nothing in it comes from the run but as data."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from environments import ROOT
from tare._functions import TABLE
from tare.analysis.rows import Placed
from tare.functions import meaning
from tare.page import call_sites, document, source_text
from tare.runs.retiming import Times

VENDOR = ROOT / "python" / "tare" / "page" / "vendor"


def test_only_scripts_of_the_page_may_run() -> None:
    policy = document.policy("'none'")
    assert "unsafe" not in policy and "*" not in policy and "http" not in policy
    assert "default-src 'none'" in policy


def test_nothing_of_a_document_ends_its_script() -> None:
    page = document.embedded("x", {Times.RECORDED: {"content": {"a": "</script>"}}})
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
    """They have the order in which the page reads their shares; the reader's flush is tare's on the page."""
    others = ["flush", "waiting", "untraced"]
    header = (ROOT / "src" / "reader" / "timeline" / "activity.h").read_text()
    named = re.findall(r'"([a-z-]+)"', header)
    assert [*call_sites.CLASSES, *others] == named
    script = (ROOT / "python" / "tare" / "page" / "assets" / "timeline_data.js").read_text()
    listed = re.search(r"ACTIVITIES = \[(.*?)\]", script)
    assert listed and re.findall(r'"([a-z-]+)"', listed[1]) == [
        *call_sites.CLASSES,
        "tare",
        "waiting",
        "untraced",
    ]


def test_constructs_of_openmp_are_of_no_class_of_mpi() -> None:
    """Whatever their rows of the table say: a region is no send, and a task no wait for a request."""
    found = {call_sites.class_of(name) for name in TABLE if meaning(name).source == "openmp"}
    assert found == {"openmp"}
    assert call_sites.class_of("MPI_Init") == "other"
    assert {call_sites.class_of(name) for name in TABLE if meaning(name).source == "files"} == {"file"}


def test_only_source_text_is_read(tmp_path: Path) -> None:
    """A run that names somebody's secrets as its source files gets none of them."""
    text = "".join(f"line {number}\n" for number in range(1, 20))
    for name in ("secret", "id_rsa.pub", "solver.c"):
        (tmp_path / name).write_text(text)
    sites = [Placed(file=str(tmp_path / name), line=10) for name in ("secret", "id_rsa.pub", "solver.c")]
    found = source_text.around([*sites, Placed(file="solver.c", line=3), Placed()])
    assert list(found) == [str(tmp_path / "solver.c")]
    assert found[str(tmp_path / "solver.c")] == {number: f"line {number}" for number in range(7, 14)}
