"""What rows of different analyses have in common: a place in the program, and fields by name."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

if TYPE_CHECKING:
    from tare._native import Site

_Row = TypeVar("_Row")

PLACE = ("file", "line", "caller", "object", "offset", "tail_call")


@dataclass(frozen=True, kw_only=True)
class Placed:
    """Something at a place in the program; fields are None if unknown."""

    file: str | None = None  # source file, with its directory
    line: int | None = None  # source line, from 1
    caller: str | None = None  # function that contains the place
    object: str | None = None  # path of the executable or library
    offset: int | None = None  # address in the object
    tail_call: str | None = None  # function called here that went on by a tail call


class AtPlace(Protocol):
    """What has the fields of a place, such as rows of the profile."""

    @property
    def file(self) -> str | None: ...
    @property
    def line(self) -> int | None: ...
    @property
    def caller(self) -> str | None: ...
    @property
    def object(self) -> str | None: ...
    @property
    def offset(self) -> int | None: ...
    @property
    def tail_call(self) -> str | None: ...


UNKNOWN = Placed()


def placed(at: AtPlace) -> Placed:
    """The place of a row, of a frame, or of the frame that represents a call site."""
    return Placed(**{**fields(at, PLACE), "object": at.object or None})


def place_of(site: int, sites: Sequence[Site]) -> Placed:
    """The place of a call site; unknown for -1, the number of functions that are only counted."""
    return placed(sites[site]) if 0 <= site < len(sites) else UNKNOWN


def line_of(at: Placed) -> Placed:
    """The place without what tells copies of a line apart."""
    if at.file is None or at.line is None:
        is_known = at.object or at.caller
        return replace(at, file=None, line=None) if is_known else UNKNOWN
    return replace(at, offset=None)


def row_place(row: AtPlace) -> Placed:
    """The line of a row of the profile; see `line_of`."""
    return line_of(placed(row))


def record(row: Any) -> dict[str, Any]:
    """All fields of a row of a table, or of an object of the native module, in their order."""
    return fields(row, row.__match_args__)


def flat(row: Any) -> dict[str, Any]:
    """A dataclass as JSON has it: its fields, those of its own place last, then those of the places in it.

    A field `at` is taken for its own place; of `cause_at`, fields are `cause_file`, `cause_line`, …
    """
    found: dict[str, Any] = {}
    places: dict[str, Any] = {}
    for name in _names(row.__class__):
        value = getattr(row, name)
        if type(value) is Placed:
            prefix = name.removesuffix("at")
            places |= {f"{prefix}{part}": known for part, known in fields(value, PLACE).items()}
        elif isinstance(value, list | tuple):
            found[name] = [flat(each) if dataclasses.is_dataclass(each) else each for each in value]
        else:
            found[name] = value
    return found | places


@cache
def _names(kind: Any) -> tuple[str, ...]:
    names = [each.name for each in dataclasses.fields(kind)]
    return tuple(sorted(names, key=PLACE.__contains__))


class _Changed(SimpleNamespace):
    """What has the fields of an object of the native module."""

    @property
    def __match_args__(self) -> tuple[str, ...]:
        return tuple(vars(self))


def changed(row: _Row, **values: Any) -> _Row:
    """An object like this one of the native module, but for these fields."""
    known = record(row)
    if unknown := values.keys() - known:
        raise TypeError(f"there is no field {', '.join(sorted(unknown))}")
    return cast(_Row, _Changed(**(known | values)))


def fields(row: object, names: Sequence[str]) -> dict[str, Any]:
    """The named attributes of a row, in this order: a row of JSON."""
    return {name: getattr(row, name) for name in names}
