"""The output of text for people, line by line: as wide as the terminal, names from runs made visible."""

from __future__ import annotations

import os
import sys
import textwrap
from typing import TextIO

from tare.streams import visible

DEFAULT_WIDTH = 80
# Wide enough that no line written to a file is ever cut.
UNLIMITED_WIDTH = 10_000
WITHOUT_STYLES = ("", "dumb", "unknown")


class Console:
    """Lines of at most `width` columns, where whoever prints them cares for that."""

    def __init__(self, stream: TextIO, width: int) -> None:
        self.width = width
        self._stream = stream
        self._has_bold = stream.isatty() and os.environ.get("TERM", "") not in WITHOUT_STYLES
        # Whether pictures of characters are wanted here, and can be shown (drawing.py).
        self.draws = self._has_bold and (stream.encoding or "").lower().replace("-", "") == "utf8"

    def line(self, text: str = "", *, bold: bool = False) -> None:
        """One line, whatever is in the text."""
        text = visible(text.rstrip())
        self._stream.write(f"\033[1m{text}\033[0m\n" if bold and self._has_bold and text else f"{text}\n")

    def title(self, text: str) -> None:
        """An empty line, and the title of what follows."""
        self.line()
        self.line(text, bold=True)

    def paragraph(self, text: str, first: str = "", *, bold: bool = False) -> None:
        """Lines that fit, the first behind `first`, the others indented as far."""
        for line in wrapped(text, self.width, first):
            self.line(line, bold=bold)


def console(stream: TextIO | None = None, *, cut: bool = False) -> Console:
    """Cuts to the width of the terminal; elsewhere only if `cut` is wished."""
    stream = stream or sys.stdout
    return Console(stream, _width(stream) or (DEFAULT_WIDTH if cut else UNLIMITED_WIDTH))


def wrapped(text: str, width: int, first: str = "") -> list[str]:
    """Words are not broken."""
    return textwrap.wrap(
        visible(text), width, initial_indent=visible(first), subsequent_indent=" " * len(visible(first)),
        break_long_words=False, break_on_hyphens=False,
    ) or [first]  # fmt: skip


def _width(stream: TextIO) -> int | None:
    wished = os.environ.get("COLUMNS", "")
    if wished.isdecimal() and int(wished):
        return int(wished)
    if not stream.isatty():
        return None
    try:
        return os.get_terminal_size(stream.fileno()).columns or DEFAULT_WIDTH
    except OSError:
        return DEFAULT_WIDTH
