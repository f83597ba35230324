"""Those that collect on other nodes (src/keeper), when a command has ended."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from tare.runs import directory

# A keeper that was killed itself leaves its note.
SILENT_FOR_S = 2.0
LOOK_EVERY_S = 0.02


def wait(run_dir: Path) -> None:
    """Waits until they have written what killed ranks left, as long as they write anything."""
    seen = _state(run_dir)
    heard_s = time.monotonic()
    while seen[0] and time.monotonic() - heard_s < SILENT_FOR_S:
        time.sleep(LOOK_EVERY_S)
        state = _state(run_dir)
        if state != seen:
            seen, heard_s = state, time.monotonic()


def forget(run_dir: Path) -> None:
    """Removes the notes of those that were killed themselves. The others do not need theirs."""
    for note in directory.keepers(run_dir):
        with suppress(OSError):
            note.unlink()


def _state(run_dir: Path) -> tuple[int, int]:
    """How many there are, and the bytes that the run holds."""
    size = sum(file.stat().st_size for file in run_dir.glob("*.tare"))
    return len(directory.keepers(run_dir)), size
