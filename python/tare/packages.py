"""What some verbs and options need, and tare is installed or built without."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from importlib.util import find_spec

from tare import programs
from tare._version import WITHOUT
from tare.errors import CommandError

# The libraries that a build may do without (cmake/TareDependencies.cmake), and their packages in Debian.
LIBRARIES = {
    "OTF2": "libotf2-trace-dev",
    "protozero": "libprotozero-dev",
    "ZeroMQ": "libzmq3-dev cppzmq-dev",
}


def require(what: str, names: Sequence[str], hint: str = "") -> None:
    """CommandError with one line of how to install what `what` needs, if any of the packages is missing."""
    missing = [name for name in names if find_spec(name) is None]
    if missing:
        raise CommandError(f"{what} needs {', '.join(missing)}: {how_to_install(missing)}{hint}")


def require_library(what: str, name: str) -> None:
    """CommandError with one line of what to do if this tare was built without a library that `what` needs."""
    if name in WITHOUT:
        raise CommandError(
            f"{what} needs {name}, without which this tare was built: install it "
            f"(Debian: apt install {LIBRARIES[name]}) and build tare again"
        )


def how_to_install(names: Sequence[str]) -> str:
    """The command that brings them where this tare runs; tare itself is in no package index."""
    return shlex.join(programs.module("pip", "install", *names))
