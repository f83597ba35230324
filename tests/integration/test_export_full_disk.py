"""`tare export` of traces where the disk is full; of tables: test_export_tables.py."""

from __future__ import annotations

from pathlib import Path

import pytest
from exporting import TOO_LARGE, export_to_full_disk, measured


@pytest.mark.parametrize(("kind", "messages"), [("otf2", 3000), ("perfetto", 300), ("paje", 300)])
def test_a_full_disk(kind: str, messages: int, tare: Path, tmp_path: Path) -> None:
    run = measured(tare, tmp_path, "persistent.c", 2, str(messages)).directory
    out = tmp_path / "out"
    assert export_to_full_disk(tare, run, kind, out) == f"tare: cannot write {out}: {TOO_LARGE}\n"
