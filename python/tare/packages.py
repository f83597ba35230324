"""Packages that some verbs and options need, and tare is installed without."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from importlib.util import find_spec

from tare import programs
from tare.errors import CommandError


def require(what: str, names: Sequence[str], hint: str = "") -> None:
    """CommandError with one line of how to install what `what` needs, if any of the packages is missing."""
    missing = [name for name in names if find_spec(name) is None]
    if missing:
        raise CommandError(f"{what} needs {', '.join(missing)}: {how_to_install(missing)}{hint}")


def how_to_install(names: Sequence[str]) -> str:
    """The command that brings them where this tare runs; tare itself is in no package index."""
    return shlex.join(programs.module("pip", "install", *names))
