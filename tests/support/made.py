"""Objects as of the native module, made of their fields."""

from __future__ import annotations

from typing import Any, TypeVar

from tare.analysis.rows import changed

_Of = TypeVar("_Of")


def made(of: type[_Of], **fields: Any) -> _Of:
    """What has the fields of an object of this class; those that are not given are as in an empty one."""
    return changed(of(), **fields)
