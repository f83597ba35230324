"""The page of the API's functions, which tools/api_page.py makes of docstrings and headers."""

from __future__ import annotations

import re
import subprocess
import sys

import tare
from environments import ROOT


def test_it_has_each_function_that_is_exported() -> None:
    page = subprocess.run(
        [sys.executable, ROOT / "tools" / "api_page.py"],
        capture_output=True, text=True, check=True, timeout=60,
    ).stdout  # fmt: skip
    titles = set(re.findall(r"`([\w.]+)`", "\n".join(re.findall(r"^### .*", page, re.MULTILINE))))
    exported = (ROOT / "packaging" / "symbols").glob("*.txt")
    names = {line.partition("@")[0] for file in exported for line in file.read_text().split()}
    functions = {name for name in names if name.startswith("tare_")}
    assert len(functions) > 30
    assert functions <= titles
    assert {f"tare.{name}" for name in (*tare.__all__, "open", "send", "request_round")} <= titles
