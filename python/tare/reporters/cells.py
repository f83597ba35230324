"""The columns of a terminal that a text takes."""

from __future__ import annotations

from unicodedata import category, east_asian_width


def width(text: str) -> int:
    """Columns that a terminal needs for the text; some characters take two, or none."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def cut(text: str, room: int) -> str:
    """Its beginning, in at most `room` columns, with a mark where something is left out."""
    return text if width(text) <= room else f"{_beginning(text, room - 1)}…"


def cut_left(text: str, room: int) -> str:
    """Its end."""
    return text if width(text) <= room else f"…{_beginning(text[::-1], room - 1)[::-1]}"


def _beginning(text: str, room: int) -> str:
    if text.isascii():
        return text[: max(room, 0)]
    for at, character in enumerate(text):
        room -= _columns(character)
        if room < 0:
            return text[:at]
    return text


def _columns(character: str) -> int:
    if category(character) in ("Mn", "Me"):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1
