"""TOML as people write it: every error names file, line and key, and says what to write instead."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from tare.errors import UsageError

Value = TypeVar("Value")
Scalar = str | int | float | bool

_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|min|h)?")
_SECONDS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, None: 1.0}
_NAMES = {str: "a text", int: "a whole number", float: "a number", bool: "true or false", dict: "a table"}


class Table:
    """A table of a document, at `path`; tells of keys that nobody has asked for."""

    def __init__(self, content: Mapping[str, Any], source: Source, path: tuple[str, ...] = ()) -> None:
        self.content = content
        self.source = source
        self.path = path
        self._known: set[str] = set()

    def __contains__(self, key: str) -> bool:
        return key in self.content

    def wrong(self, key: str, what: str) -> UsageError:
        """An error about a key of the table, with its line."""
        return self.source.wrong((*self.path, key) if key else self.path, what)

    def raw(self, key: str) -> Any:
        """The value of a key, unchecked; None if it is missing. The key counts as known from now on."""
        self._known.add(key)
        return self.content.get(key)

    def value(self, key: str, kind: type[Value], default: Value | None = None) -> Value:
        """The value of `key`, which has to be there if there is no default."""
        found = self.raw(key)
        if found is None:
            if default is None:
                raise self.wrong(key, "is missing")
            return default
        if kind is float and isinstance(found, int) and not isinstance(found, bool):
            found = float(found)
        if not isinstance(found, kind) or (kind is int and isinstance(found, bool)):
            raise self.wrong(key, f"must be {_NAMES[kind]}")
        return found

    def words(self, key: str) -> list[str]:
        """A command or its words; a text is split as a shell would."""
        found = self.raw(key)
        if found is None:
            return []
        if isinstance(found, str):
            import shlex

            try:
                return shlex.split(found)
            except ValueError as error:
                raise self.wrong(key, f"cannot be split into words: {error}") from None
        if isinstance(found, list) and all(isinstance(word, str) for word in found):
            return list(found)
        raise self.wrong(key, "must be a text, or a list of texts")

    def texts(self, key: str) -> dict[str, str]:
        """A table of texts; numbers and booleans are taken as they are written."""
        table = self.table(key)
        result = {name: table.raw(name) for name in table.content}
        for name, found in result.items():
            if not isinstance(found, str | int | float):
                raise table.wrong(name, "must be a text")
        return {name: label(found) for name, found in result.items()}

    def pattern(self, key: str, also: str = "") -> re.Pattern[str]:
        """A regular expression with one group; or with two, of which one is named `also`."""
        try:
            found = re.compile(self.value(key, str), re.MULTILINE)
        except re.error as error:
            raise self.wrong(key, f"is no regular expression: {error}") from None
        if found.groups != 1 + (also in found.groupindex):
            raise self.wrong(key, "must have one group, around the number: 'solve +([0-9.]+) s'")
        return found

    def seconds(self, key: str, default: float) -> float:
        """A duration in seconds: a number, or a text with a unit. UsageError if it is neither."""
        found = self.raw(key)
        if found is None:
            return default
        if isinstance(found, int | float) and not isinstance(found, bool):
            return float(found)
        match = _DURATION.fullmatch(found.strip()) if isinstance(found, str) else None
        if match is None:
            raise self.wrong(key, 'must be a duration like 30, "30 s" or "5 min"')
        return float(match[1]) * _SECONDS[match[2]]

    def fraction(self, key: str, default: float) -> float:
        """A share: a number, or a text in percent. UsageError if it is neither."""
        found = self.raw(key)
        if found is None:
            return default
        result = parse_fraction(found)
        if result is None:
            raise self.wrong(key, 'must be a share like 0.01 or "1 %"')
        return result

    def table(self, key: str) -> Table:
        """The table under a key, empty if it is missing. UsageError if it is no table."""
        found = self.raw(key)
        if found is None:
            found = {}
        if not isinstance(found, dict):
            raise self.wrong(key, "must be a table")
        return Table(found, self.source, (*self.path, key))

    def tables(self) -> Iterable[tuple[str, Table]]:
        """The tables in this one, by name."""
        for key in self.content:
            yield key, self.table(key)

    def finish(self) -> None:
        """Complains of the first key that is not known, and says which are near."""
        for key in self.content:
            if key not in self._known:
                import difflib

                near = difflib.get_close_matches(key, self._known, 1)
                hint = f"; do you mean '{near[0]}'?" if near else f"; known: {', '.join(sorted(self._known))}"
                raise self.wrong(key, f"is not known here{hint}")


class Source:
    """The text of a document, to say where in it something stands."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text

    def wrong(self, path: tuple[str, ...], what: str) -> UsageError:
        """An error about what is found at `path`, with its line."""
        line = self.line(path)
        where = f"{self.name}:{line}" if line else self.name
        return UsageError(f"{where}: {'.'.join(path) or 'the file'} {what}")

    def line(self, path: tuple[str, ...]) -> int | None:
        """The line of the key at `path`, or of the nearest table around it."""
        table: tuple[str, ...] = ()
        best: tuple[int, int] | None = None
        for number, text in enumerate(self.text.splitlines(), 1):
            header = re.match(r"\s*\[\[?\s*([^\]]+?)\s*\]", text)
            if header:
                table = _parts(header[1])
                found = table
            else:
                assignment = re.match(r"\s*([\w.\"'-]+)\s*=", text)
                if not assignment:
                    continue
                found = (*table, *_parts(assignment[1]))
            if path[: len(found)] == found and (best is None or len(found) > best[0]):
                best = len(found), number
        return best[1] if best else None


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(
        part.strip("\"' ") for part in re.findall(r"\"[^\"]*\"|'[^']*'|[^.]+", dotted) if part.strip()
    )


def parse(name: str, text: str) -> Table:
    """The content of a TOML text, which errors call `name`. UsageError if it is not TOML."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{name}: {error}") from None
    return Table(content, Source(name, text))


def read(path: Path) -> Table:
    """The content of a TOML file. UsageError if it is missing, or not TOML in UTF-8."""
    return parse(str(path), text_of(path))


def text_of(path: Path) -> str:
    """The text of a TOML file. UsageError if it is missing, or not UTF-8."""
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file; `tare study init {path}` writes one to begin with") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8: {error}") from None


def parse_fraction(text: Any) -> float | None:
    """0.005 of 0.005, "0.005" or "0.5 %"."""
    if isinstance(text, int | float) and not isinstance(text, bool):
        return float(text)
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(%?)", text.strip()) if isinstance(text, str) else None
    if match is None:
        return None
    return float(match[1]) / (100 if match[2] else 1)


def label(level: Scalar) -> str:
    """A level as it is written in commands, tables and keys."""
    if isinstance(level, bool):
        return "true" if level else "false"
    return str(level)
