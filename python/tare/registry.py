"""What parts of tare and packages of users add to it: verbs, exporters, findings and pages.

A part of tare registers its own in an `entry_points.txt` beside its modules, as an installed package does in
its metadata (docs/extending.md). Both files have the format of Python's entry points and are read alike. They
are read here because importlib.metadata takes longer to load than a verb may take to start.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from tare.errors import CommandError, TareError

VERBS = "tare.verbs"
EXPORTERS = "tare.exporters"
FINDINGS = "tare.findings"
PAGES = "tare.pages"
_HERE = __file__.rpartition("/")[0]
_NOUNS = {VERBS: "verb", EXPORTERS: "exporter", FINDINGS: "finding", PAGES: "page"}


class Entry:
    """An object by name. `package` is the distribution that registers it; "" stands for tare itself."""

    def __init__(self, group: str, name: str, target: str, package: str) -> None:
        self.group = group
        self.name = name
        self.target = target  # module:object
        self.package = package

    @property
    def title(self) -> str:
        """What it is called in messages."""
        of = f" of the package '{self.package}'" if self.package else ""
        return f"the {_NOUNS.get(self.group, self.group)} '{self.name}'{of}"

    def load(self) -> Any:
        """The object that is registered. CommandError if a user's package cannot provide it."""
        with self.named("cannot be loaded"):
            from importlib import import_module

            module, _, attributes = self.target.partition(":")
            found: Any = import_module(module)
            for attribute in attributes.split("."):
                found = getattr(found, attribute)
            return found

    @contextmanager
    def named(self, what: str = "failed") -> Iterator[None]:
        """Turns errors in the code of a user's package into a CommandError that names the package."""
        try:
            yield
        except TareError:
            raise
        except (Exception, SystemExit) as error:
            if not self.package:
                raise
            text = " ".join(str(error).split())
            raise CommandError(
                f"{self.title} {what}: {type(error).__name__}: {text}{_line_of(error)}"
            ) from error


def find(group: str, name: str) -> Entry | None:
    """The entry of this name. Installed packages are looked at only if tare has none."""
    return _own().get((group, name)) or _of_packages().get((group, name))


def entries(group: str) -> dict[str, Entry]:
    """All entries of a group by name: those of tare in the order of their files, then those of packages."""
    found: dict[str, Entry] = {}
    for each in (*_own().values(), *_of_packages().values()):
        if each.group == group:
            found.setdefault(each.name, each)
    return found


def taken(group: str) -> list[str]:
    """What packages register in vain, because tare or another package has the name: one line each."""
    used = entries(group)
    return [
        f"{each.title} is not used: {used[each.name].package or 'tare'} has one of that name"
        for each in _registered()
        if each.group == group and used[each.name].package != each.package
    ]


@cache
def _own() -> dict[tuple[str, str], Entry]:
    parts = sorted(part for part in _names(_HERE) if "." not in part)
    return _by_name(
        entry for part in parts for entry in _parsed(_text(f"{_HERE}/{part}/entry_points.txt"), "")
    )


@cache
def _of_packages() -> dict[tuple[str, str], Entry]:
    return _by_name(_registered())


@cache
def _registered() -> tuple[Entry, ...]:
    """The entries of installed packages. Of two copies of a package the first counts, as for imports."""
    found: dict[str, tuple[Entry, ...]] = {}
    for place in sys.path:
        for package, file in _metadata(place or os.curdir):
            if package not in found:
                found[package] = tuple(_parsed(_text(file), package))
    return tuple(entry for entries in found.values() for entry in entries)


def _metadata(place: str) -> Iterator[tuple[str, str]]:
    """The packages that a directory of the search path has, with the files of their entry points."""
    for name in sorted(_names(place)):
        if name.endswith((".dist-info", ".egg-info")):
            package = name.rpartition(".")[0].partition("-")[0].replace("_", "-").lower()
            yield package, f"{place}/{name}/entry_points.txt"


def _names(directory: str) -> list[str]:
    try:
        return os.listdir(directory)  # noqa: PTH208
    except OSError:
        return []


def _text(file: str) -> str:
    try:
        with open(file, encoding="utf-8") as opened:  # noqa: PTH123
            return opened.read()
    except (OSError, ValueError):
        return ""


def _parsed(text: str, package: str) -> Iterator[Entry]:
    """The entries of tare's groups in a file (packaging.python.org/specifications/entry-points)."""
    group = ""
    for line in text.splitlines() if "tare." in text else ():
        if line.startswith("["):
            group = line.strip().strip("[]").strip()
        elif group.startswith("tare.") and "=" in line and not line.startswith(("#", ";")):
            name, _, target = line.partition("=")
            yield Entry(group, name.strip(), target.partition("[")[0].strip(), package)


def _by_name(found: Iterator[Entry] | tuple[Entry, ...]) -> dict[tuple[str, str], Entry]:
    named: dict[tuple[str, str], Entry] = {}
    for each in found:
        named.setdefault((each.group, each.name), each)
    return named


def _line_of(error: BaseException) -> str:
    """The line of its code that raised it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "" if trace is None else f" ({trace.tb_frame.f_code.co_filename}:{trace.tb_lineno})"
