"""Waiting for what a test needs to come to pass."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from typing import Any


def wait_until(
    condition: Callable[[], object], patience_s: float = 180, process: subprocess.Popen[Any] | None = None
) -> None:
    """Waits until it holds; fails after so long, or if the process ends before that."""
    until = time.monotonic() + patience_s
    while not condition():
        assert process is None or process.poll() is None, "it has ended before it came to that"
        assert time.monotonic() < until, "it does not come to that"
        time.sleep(0.02)
