"""The packages that `tare study` and `tare sql` need, and the other verbs do without."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from importlib.util import find_spec

from tare import programs
from tare.errors import CommandError

NEEDED = ("duckdb", "pandas", "statsmodels", "matplotlib")


def require() -> None:
    """Says in one line what is missing, before anything has been run."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise CommandError(f"tare study needs {', '.join(missing)}: {how_to_install(missing)}")


def how_to_install(names: Sequence[str]) -> str:
    """The command that brings them where this tare runs; tare itself is in no package index."""
    return shlex.join(programs.module("pip", "install", *names))
