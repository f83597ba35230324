"""Progress of what takes over a second: one line that replaces itself, for people only."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tare import streams, units

if TYPE_CHECKING:
    import threading

PATIENCE_S = 1.0
INTERVAL_S = 0.2


@contextmanager
def copying(name: str, total: int) -> Iterator[Callable[[int], None]]:
    """Gives the function that is told of every stretch of bytes that was copied."""
    done = 0
    begin = time.monotonic()
    next_at = begin + PATIENCE_S

    def advance(count: int) -> None:
        nonlocal done, next_at
        done += count
        now = time.monotonic()
        if now < next_at or not sys.stderr.isatty():
            return
        next_at = now + INTERVAL_S
        shown = f"{name}: {units.size(done)} of {units.size(max(done, total))}"
        streams.progress(shown)

    try:
        yield advance
    finally:
        if next_at > begin + PATIENCE_S:
            streams.progress("")


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Says that a run is being read, and since when, while its native reader is at work."""
    if not sys.stderr.isatty():
        yield
        return
    import threading

    done = threading.Event()
    teller = threading.Thread(target=_tell, args=(name, done), daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()


def _tell(name: str, done: threading.Event) -> None:
    begin = time.monotonic()
    if done.wait(PATIENCE_S):
        return
    while not done.wait(INTERVAL_S):
        seconds = time.monotonic() - begin
        streams.progress(f"reading {name}: {seconds:.0f} s")
    streams.progress("")
