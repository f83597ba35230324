"""The development files as they are installed, and commands that use them."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from environments import ROOT


def succeed(command: Sequence[str | Path], **options: Any) -> str:
    """What a command prints that must end well."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, **options)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return str(done.stdout)


def built(project: Path, build: Path, prefix: Path) -> Path:
    """The directory of the examples, built by a project that finds with CMake what is installed."""
    examples = ROOT / "examples"
    succeed(["cmake", "-S", project, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DEXAMPLES={examples}"])
    succeed(["cmake", "--build", build])
    return build


def install_devel(folder: Path) -> Path:
    """The place where the component devel is installed; moved afterwards, because packages may be."""
    first = folder / "first"
    succeed(["cmake", "--install", ROOT / "build" / "release", "--component", "devel", "--prefix", first])
    return first.rename(first.with_name("moved"))
