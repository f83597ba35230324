"""Programs by name, and Python's own; without shutil, which takes its time to load.

What the user names is found as shells find it. What tare itself needs is never taken from the current
directory, which may be somebody else's.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

PYTHON = sys.executable
children_ignored = False  # whether our caller ignores SIGCHLD


def expect_children() -> None:
    """Nobody learns how a child has ended as long as SIGCHLD is ignored, which programs inherit."""
    global children_ignored
    if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
        children_ignored = True
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def find(name: str, path: str | None = None) -> str | None:
    """The file of this name that may be started, in PATH (or `path`) where the name has no folder."""
    return _first([""] if "/" in name else _folders(path), name)


def tool(name: str) -> str | None:
    """A program that tare itself needs: in a folder of PATH, but in none that depends on where we are."""
    return _first(absolute_folders(), name)


def absolute_folders() -> list[str]:
    """Those of PATH that mean the same everywhere."""
    return [folder for folder in _folders(None) if folder.startswith("/")]


def module(name: str, *arguments: str) -> list[str]:
    """The command that runs a module of this Python; not one of the current directory (-P)."""
    return [PYTHON, "-P", "-m", name, *arguments]


def tare(*arguments: str) -> list[str]:
    """The command that runs a verb of this tare."""
    command = str(own_command())
    return [command, *arguments] if _may_start(command) else module("tare", *arguments)


def own_command() -> Path:
    """The command `tare`, which is in the bin of the prefix that has lib/python*/*-packages/tare."""
    command = Path(__file__).parents[4] / "bin" / "tare"
    return command if _may_start(str(command)) else Path(PYTHON).with_name("tare")


def ldd(file: str | Path) -> list[str]:
    """The command that lists the libraries which the loader finds for a file."""
    return [tool("ldd") or "/usr/bin/ldd", str(file)]


def output(
    command: Sequence[str],
    timeout_s: float,
    environment: Mapping[str, str] | None = None,
    errors: str = "replace",
) -> str:
    """What a command prints, its errors last; empty if it cannot run. `errors`: of bytes that are no text."""
    import subprocess

    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors=errors,
            timeout=timeout_s, env=environment, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr


def _folders(path: str | None) -> list[str]:
    return os.get_exec_path(None if path is None else {"PATH": path})


def _first(folders: Sequence[str], name: str) -> str | None:
    for folder in folders:
        path = os.path.join(folder, name)  # noqa: PTH118
        if _may_start(path):
            return path
    return None


def _may_start(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)  # noqa: PTH113
