"""The lines around call sites, where the sources are at hand.

A run names its own source files, and may be somebody else's: so only files that look like source text are
read, and of them no more than a few lines at the places that calls were made from.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePath

from tare.analysis.rows import AtPlace
from tare.errors import CommandError
from tare.private_files import read_regular
from tare.streams import visible

SUFFIXES = frozenset(
    (
        ".c", ".h", ".cc", ".cpp", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".inl", ".cu", ".cuh", ".hip",
        ".f", ".for", ".f77", ".f90", ".f95", ".f03", ".f08", ".ftn", ".fpp", ".py", ".pyx", ".jl", ".rs",
    )
)  # fmt: skip
LARGEST_FILE = 4 << 20
LINES_AROUND = 3
LONGEST_LINE = 200
MAX_FILES = 200


def around(sites: Iterable[AtPlace]) -> dict[str, dict[int, str]]:
    """The lines around those of `sites`, by file and number."""
    wanted: dict[str, set[int]] = {}
    for site in sites:
        if site.file and site.line:
            wanted.setdefault(site.file, set()).add(site.line)
    found = {}
    for name in list(wanted)[:MAX_FILES]:
        lines = _lines(name)
        shown = {
            number: visible(lines[number - 1].expandtabs(4))[:LONGEST_LINE]
            for line in wanted[name]
            for number in range(line - LINES_AROUND, line + LINES_AROUND + 1)
            if 1 <= number <= len(lines)
        }
        if shown:
            found[name] = shown
    return found


def _lines(name: str) -> list[str]:
    """The lines of a file; none if it is not at hand, or no source text."""
    if PurePath(name).suffix.lower() not in SUFFIXES or not PurePath(name).is_absolute():
        return []
    try:
        return read_regular(Path(name), LARGEST_FILE).decode("utf-8", "replace").splitlines()
    except (OSError, ValueError, CommandError):
        return []
