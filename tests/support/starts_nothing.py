"""Runs a verb of tare as `tare` does. Names a program that it would start, and exits with 99 then."""

from __future__ import annotations

import os
import sys
from typing import Any

from tare.__main__ import main

# Python's events (docs.python.org/3/library/audit_events.html) that begin a program, or a process for one.
STARTS = (
    "subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty",
    "pty.spawn", "webbrowser.open",
)  # fmt: skip


def refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if event in STARTS:
        # Not an exception, which somebody may catch.
        os.write(2, f"started: {event} {arguments}\n".encode())
        os._exit(99)


if __name__ == "__main__":
    sys.addaudithook(refuse)
    sys.exit(main())
