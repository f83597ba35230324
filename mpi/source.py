"""The table of a source of events other than MPI: functions.toml in the folder of src/ that intercepts it.

    [files]                    the name of the source
    fsync = { class = "file", waits = "storage", arguments = ["bytes"] }

Names are whole names of functions. `class` and `waits` are words of mpi/functions.toml. `arguments` names the
numbers that records of the function have beside its object; one that is called bytes counts in the profile.
`access` is what it does with a file, a word of mpi/functions.toml.
`interface` is "stdio" if it works on a stream of C.
`role` is what OTF2 calls a region of this kind (OTF2_RegionRole); without it, exports have that of the class.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from table import ACCESSES, CLASSES, WAITS, TableError

MOST_ARGUMENTS = 10


@dataclass(frozen=True)
class SourceFunction:
    """The row of a function."""

    name: str
    kind: str  # its class
    waits: str
    arguments: tuple[str, ...]
    access: str  # "" if it has none, as the next two
    interface: str
    role: str


@dataclass(frozen=True)
class Source:
    """A source and its functions, in the order of their numbers."""

    name: str
    functions: tuple[SourceFunction, ...]


def source_of(tables: dict[str, Any]) -> Source:
    """Reads and checks a table."""
    if len(tables) != 1:
        raise TableError(f"a source has one table, named like it; not {', '.join(sorted(tables)) or 'none'}")
    ((name, rows),) = tables.items()
    return Source(name, tuple(_function(key, row) for key, row in sorted(rows.items())))


def of_sources(mpi_functions: int, others: Sequence[Source]) -> dict[str, list[str]]:
    """The files of generate.py about sources. Their numbers follow those of MPI."""
    ranges = [f'TARE_SOURCE("MPI", 1, {mpi_functions})']
    first = mpi_functions + 1
    for source in others:
        ranges.append(f'TARE_SOURCE("{source.name}", {first}, {len(source.functions)})')
        first += len(source.functions)
    functions = [function for source in others for function in source.functions]
    return {
        "sources.inc": ranges,
        "source_functions.inc": [
            f'TARE_SOURCE_FUNCTION({each.name}, "{",".join(each.arguments)}")' for each in functions
        ],
        "source_meanings.inc": [
            f"TARE_MEANING({each.name}, {each.kind}, blocking, {each.waits}, none, none, none, "
            f"{each.access or 'none'}{', .is_stdio = true' if each.interface == 'stdio' else ''})"
            for each in functions
        ],
        "source_roles.inc": [
            f"TARE_SOURCE_ROLE({each.name}, {each.role.upper()})" for each in functions if each.role
        ],
    }


def _function(name: str, row: dict[str, Any]) -> SourceFunction:
    if not re.fullmatch(r"[a-z]\w*", name):
        raise TableError(f"{name!r} is no name of a function of a source; it begins with a small letter")
    if unknown := sorted(row.keys() - {"class", "waits", "access", "interface", "arguments", "role"}):
        raise TableError(
            f"{name}: what is {unknown[0]!r}? Attributes are class, waits, access, interface, arguments, role"
        )
    for attribute, words in (("class", CLASSES), ("waits", WAITS)):
        if row.get(attribute) not in words:
            raise TableError(f"{name}: {attribute} is one of {', '.join(words)}; not {row.get(attribute)!r}")
    arguments = tuple(row.get("arguments", ()))
    if len(arguments) > MOST_ARGUMENTS or not all(re.fullmatch(r"[a-z]\w*", each) for each in arguments):
        raise TableError(f"{name}: arguments are at most {MOST_ARGUMENTS} names; not {list(arguments)}")
    if (access := row.get("access", "")) not in ("", *ACCESSES):
        raise TableError(f"{name}: access is one of {', '.join(ACCESSES)}; not {access!r}")
    if (interface := row.get("interface", "")) not in ("", "stdio"):
        raise TableError(f"{name}: interface is stdio, or not said; not {interface!r}")
    role = row.get("role", "")
    if role and not re.fullmatch(r"[a-z]\w*", role):
        raise TableError(f"{name}: role is a word of OTF2 in small letters; not {role!r}")
    return SourceFunction(name, row["class"], row["waits"], arguments, access, interface, role)
