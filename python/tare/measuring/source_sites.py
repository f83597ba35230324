"""Lines of compiled code in a SPEC of message sampling, or of monitoring, become addresses before the start.

No measured process reads debug information.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from tare import programs
from tare.errors import UsageError

if TYPE_CHECKING:
    from tare._native import LineCode

SITE_LINE = re.compile(r"site=(.+):(\d{1,9})")
ELF = b"\x7fELF"
LIBRARY = re.compile(r"(?:=>)?\s+(/\S.*) \(0x[0-9a-f]+\)$", re.MULTILINE)  # of ldd
SYSTEM = re.compile(r"(?:/usr)?/lib(?:32|64|x32)?/")
SHOWN = 6  # names in a message
LDD_TIMEOUT_S = 10


def with_addresses(spec: str, command: Sequence[str]) -> str:
    """`spec` with ranges of addresses for its lines of compiled code; UsageError if a line has no code."""
    places = _places("--sample", "samples.md", spec, command)
    return ",".join(
        chain.from_iterable(
            (f"site={place}" for place in places[word]) if word in places else [word]
            for word in spec.split(",")
        )
    )


def with_labelled_addresses(spec: str, command: Sequence[str]) -> str:
    """The same of `--monitor`: the ranges of a line are behind it, as in site=solver.c:7=app+0x10-0x20."""
    words = [word.strip() for word in spec.split(",")]
    places = _places("--monitor", "monitoring.md", ",".join(words), command)
    return ",".join("=".join([word, *places.get(word, [])]) for word in words)


def is_compiled_line(word: str) -> bool:
    """Whether the word is site=FILE:LINE; site=FILE.py:LINE is not."""
    return _compiled_line(word) is not None


def _places(option: str, page: str, spec: str, command: Sequence[str]) -> dict[str, list[str]]:
    """The places of each word of the spec that is a line of compiled code."""
    lines = {word: line for word in spec.split(",") if (line := _compiled_line(word))}
    if not lines:
        return {}
    objects = list(dict.fromkeys(objects_of(command)))
    found = {}
    for word, line in lines.items():
        try:
            found[word] = list(_ranges(*line, objects))
        except ValueError as error:
            raise UsageError(f"{option}: {word}: {error} (docs/{page})") from None
    return found


def _compiled_line(word: str) -> tuple[str, int] | None:
    found = SITE_LINE.fullmatch(word)
    if found is None or found[1].endswith(".py"):
        return None
    return os.path.normpath(found[1]), int(found[2])


def _ranges(file: str, line: int, objects: Sequence[Path]) -> Iterator[str]:
    """OBJECT+LOW-HIGH; ValueError, with the reason, if there is no code."""
    from tare import _native

    places = {path: _native.code_of_line(str(path), file, line) for path in objects}
    known = {path: code for path, code in places.items() if code.file_known}
    if not any(code.ranges for code in known.values()):
        raise ValueError(_no_code(known) if known else _no_file(objects))
    for path, code in known.items():
        for low, high in code.ranges:
            yield f"{path.name}+{low:#x}-{high:#x}"


def _no_code(known: Mapping[Path, LineCode]) -> str:
    before = max((code.before for code in known.values() if code.before), default=None)
    after = min((code.after for code in known.values() if code.after), default=None)
    nearest = " and ".join(str(line) for line in (before, after) if line)
    return f"no code of that line is in {_names(list(known))}; the nearest lines with code: {nearest}"


def _no_file(objects: Sequence[Path]) -> str:
    if not objects:
        return "no word of the command is a compiled program: name it, with --print-sample -- PROGRAM"
    return (
        f"no debug information of such a file is in {_names(objects)}: compile with -g, and name the program"
    )


def _names(objects: Sequence[Path]) -> str:
    names = ", ".join(path.name for path in objects[:SHOWN])
    return names if len(objects) <= SHOWN else f"{names} and {len(objects) - SHOWN} more"


def objects_of(command: Sequence[str]) -> Iterator[Path]:
    """Programs and libraries among the words of a command, and the libraries that the loader finds for them.

    Each by the name that it has in the process; no libraries of the system.
    """
    for word in command:
        path = Path(programs.find(word) or word)
        if _is_elf(path):
            # Of programs links are followed (/proc/self/exe); libraries have the name they are loaded by.
            yield path.absolute() if ".so" in path.name else path.resolve()
            yield from _libraries(path)


def _is_elf(path: Path) -> bool:
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(ELF)) == ELF
    except (OSError, ValueError):
        return False


def _libraries(program: Path) -> Iterator[Path]:
    listed = programs.output(programs.ldd(program.absolute()), LDD_TIMEOUT_S, errors="surrogateescape")
    for name in LIBRARY.findall(listed):
        # ldd names the loader itself, too, and links of the system lead into it.
        if not SYSTEM.match(name) and not SYSTEM.match(os.path.realpath(name)):
            yield Path(name)
