"""Names from programs and files of others, as the page may show them."""

from __future__ import annotations

from typing import Any

from tare.streams import visible


def printable(value: Any) -> Any:
    """What is not printable in texts is escaped, also within lists and dictionaries."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(key) if isinstance(key, str) else key: printable(each) for key, each in value.items()}
    if isinstance(value, list) and not (value and isinstance(value[0], int)):
        return [printable(each) for each in value]
    return value
