"""What rows of different analyses have in common: a place in the program, and fields by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

if TYPE_CHECKING:
    from tare._native import Frame, Site

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


def placed(frame: Frame | Site) -> Placed:
    """The place of a frame, or of the frame that represents a call site."""
    return Placed(
        file=frame.file,
        line=frame.line,
        caller=frame.caller,
        object=frame.object or None,
        offset=frame.offset,
        tail_call=frame.tail_call,
    )


def place_of(site: int, sites: Sequence[Site]) -> Placed:
    """The place of a call site; unknown for -1, the number of functions that are only counted."""
    return placed(sites[site]) if 0 <= site < len(sites) else UNKNOWN


def record(row: Any) -> dict[str, Any]:
    """All fields of a row of a table, or of an object of the native module, in their order."""
    return fields(row, row.__match_args__)


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
