"""The line of each key of a TOML text, which tomllib does not tell."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from contextlib import suppress

# Names of keys and tables from the outermost to the innermost; what is in an array has its number there.
KeyPath = tuple[str | int, ...]

_SPACE = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_DOT = re.compile(r"[ \t]*\.[ \t]*")
_EQUALS = re.compile(r"[ \t]*=[ \t]*")
_BASIC, _LITERAL = r'(?!""")"(?:\\.|[^"\\\n])*"', r"(?!''')'[^'\n]*'"
_LONG_BASIC, _LONG_LITERAL = r'"""(?:\\.|[^\\])*?"""(?:"{0,2})', r"'''.*?'''(?:'{0,2})"
_KEY = re.compile(rf"[\w-]+|{_BASIC}|{_LITERAL}")
_TEXT = re.compile("|".join([_LONG_BASIC, _LONG_LITERAL, _BASIC, _LITERAL]), re.DOTALL)
_OTHER = re.compile(r"[^,\]}#\n]+")


class _Lost(Exception):
    """Something that this module does not know."""


def key_lines(text: str) -> dict[KeyPath, int]:
    """The line of each key and table, counted from 1, of a text that tomllib takes.

    A table without a line of its own has that of the first key within it. Where the text cannot be followed,
    the rest has no lines.
    """
    walk = _Walk(text)
    with suppress(_Lost, RecursionError):
        walk.document()
    return walk.found


def line_without_end(text: str) -> int | None:
    """The line where the text within quotes begins that has no end; None if there is none."""
    walk = _Walk(text)
    with suppress(_Lost, RecursionError):
        walk.document()
    return walk.line() if text[walk.at : walk.at + 1] in ('"', "'") else None


class _Walk:
    """A text, and how far it has been read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.found: dict[KeyPath, int] = {}
        self._line, self._counted = 1, 0
        self._tables_of: dict[KeyPath, int] = {}  # number of tables, by the path of an array that has [[...]]

    def document(self) -> None:
        table: KeyPath = ()
        self.skip(_SPACE)
        while self.at < len(self.text):
            if self.text.startswith("[[", self.at):
                table = self.header("[[", "]]")
            elif self.text.startswith("[", self.at):
                table = self.header("[", "]")
            else:
                self.assignment(table)
            self.skip(_SPACE)

    def header(self, begin: str, end: str) -> KeyPath:
        line = self.line()
        self.expect(begin)
        *names, last = self.key()
        path: KeyPath = ()
        for name in names:
            path = self.newest((*path, name))
        path = (*path, last)
        if begin == "[[":
            self._tables_of[path] = self._tables_of.get(path, 0) + 1
        path = self.newest(path)
        self.expect(end)
        self.remember(path, line)
        return path

    def newest(self, path: KeyPath) -> KeyPath:
        """The last table of this array, or what it is if it is none."""
        number = self._tables_of.get(path, 0)
        return (*path, number - 1) if number else path

    def assignment(self, table: KeyPath) -> None:
        line = self.line()
        path = (*table, *self.key())
        self.remember(path, line)
        self.take(_EQUALS)
        self.value(path)

    def key(self) -> list[str]:
        self.skip(_SPACE)
        names = [self.name()]
        while _DOT.match(self.text, self.at):
            self.take(_DOT)
            names.append(self.name())
        self.skip(_SPACE)
        return names

    def name(self) -> str:
        written = self.take(_KEY)
        return str(tomllib.loads(f"x = {written}")["x"]) if written[0] in "\"'" else written

    def value(self, path: KeyPath) -> None:
        if self.text.startswith("[", self.at):
            self.array(path)
        elif self.text.startswith("{", self.at):
            self.inline_table(path)
        elif self.text[self.at : self.at + 1] in ('"', "'"):
            self.take(_TEXT)
        else:
            self.take(_OTHER)

    def array(self, path: KeyPath) -> None:
        for number, _ in enumerate(self.elements("[", "]")):
            self.remember((*path, number), self.line())
            self.value((*path, number))

    def inline_table(self, path: KeyPath) -> None:
        for _ in self.elements("{", "}"):
            self.assignment(path)

    def elements(self, begin: str, end: str) -> Iterator[None]:
        """Stops at the start of each element, and goes on where that ends."""
        self.expect(begin)
        self.skip(_SPACE)
        while not self.text.startswith(end, self.at):
            yield
            self.skip(_SPACE)
            if self.text.startswith(",", self.at):
                self.expect(",")
                self.skip(_SPACE)
        self.expect(end)

    def remember(self, path: KeyPath, line: int) -> None:
        for length in range(1, len(path) + 1):
            self.found.setdefault(path[:length], line)

    def line(self) -> int:
        self._line += self.text.count("\n", self._counted, self.at)
        self._counted = self.at
        return self._line

    def skip(self, what: re.Pattern[str]) -> None:
        self.take(what)

    def take(self, what: re.Pattern[str]) -> str:
        match = what.match(self.text, self.at)
        if match is None:
            raise _Lost
        self.at = match.end()
        return match[0]

    def expect(self, what: str) -> None:
        if not self.text.startswith(what, self.at):
            raise _Lost
        self.at += len(what)
