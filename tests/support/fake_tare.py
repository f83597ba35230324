"""The command line on the fake reader, as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
SOURCES = HERE.parent.parent / "python"

Tare = Callable[..., "subprocess.CompletedProcess[str]"]


def fake_command(*arguments: str | Path) -> list[str]:
    return [sys.executable, str(HERE / "fake_native.py"), *map(str, arguments)]


def fake_environment(**variables: str) -> dict[str, str]:
    path = os.pathsep.join([str(SOURCES), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path, **variables}
