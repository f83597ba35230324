"""Processes of a run that goes on."""

from __future__ import annotations

from pathlib import Path


def tared_of(run: Path) -> int:
    """The tared of a run on this machine; LookupError if there is none."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"/tared") and str(run).encode() in words:
            return int(process.name)
    raise LookupError(f"no tared serves {run}")
