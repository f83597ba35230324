"""The places of the preload libraries, and of what belongs to them."""

from __future__ import annotations

from pathlib import Path

import tare
from tare.errors import CommandError

MEASURING = "libtare.so"
# The do-nothing twin: it forwards every call and records none, the baseline of weighing.
FORWARDING = "libtare-forward.so"
# The process that drains for the others of its node.
TARED = "tared"
# The process that collects what killed processes leave on a node without `tare run`.
KEEPER = "keeper"
# The process that tells what was sent to the whole process group (signals.py).
WITNESS = "signal-witness"


def find(name: str) -> Path:
    """The path of a library of this installation, as LD_PRELOAD takes it. CommandError if it is missing."""
    for folder in tare.__path__:
        path = Path(folder) / "lib" / name
        if path.is_file():
            return _preloadable(path)
    raise CommandError(f"{name} is missing from this installation of tare: install tare again")


def _preloadable(path: Path) -> Path:
    if any(character in str(path) for character in " :\t"):
        raise CommandError(
            f"{path}: the loader splits LD_PRELOAD at spaces and colons; "
            "install tare below a directory without them"
        )
    return path
