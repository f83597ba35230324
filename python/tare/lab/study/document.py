"""TOML as people write it: every error names file, line and key, and says what to write instead."""

from __future__ import annotations

import ast
import math
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

import msgspec

from tare.errors import UsageError
from tare.lab.study import limits
from tare.lab.study.key_lines import KeyPath, key_lines, line_without_end

Struct = TypeVar("Struct", bound=msgspec.Struct)
Scalar = str | int | float | bool

_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|min|h)?")
_SECONDS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, None: 1.0}
# What to write instead of what tomllib does not take, by the beginning of what it says.
_REMEDIES = {
    "Invalid value": "write a text in quotes, a number, true or false",
    "Invalid statement": "write [TABLE] or KEY = VALUE",
    "Invalid initial character for a key part": "write KEY = VALUE, with signs other than - and _ in quotes",
    "Invalid date or datetime": "write it in quotes",
    "Expected newline or end of document": "write one KEY = VALUE in a line, and texts in quotes",
    "Expected '='": "write KEY = VALUE",
    "Expected ']": "write [TABLE], or [[TABLE]] for one of several",
    "Cannot declare": "write each table once",
    "Cannot mutate immutable namespace": "write all keys of a table in one place",
    "Cannot overwrite a value": "write each key once",
    "Duplicate inline table key": "write each key once",
    "Unclosed array": "end it with ]",
    "Unclosed inline table": "end it with } in the same line",
    "Unterminated string": "end it with the quote that it begins with",
    "Expected \"'": "end the text with the quote that it begins with",
    "Found invalid character '\\n'": "end the text in its line, with the quote that it begins with",
    "Illegal character '\\n'": "end the text in its line, with the quote that it begins with",
    "Unescaped '\\'": "write the text in single quotes, or \\\\ for each backslash",
    "Invalid hex value": "write the text in single quotes, or \\\\ for each backslash",
}
# What msgspec calls the kinds of values.
_NAMES = {
    "str": "a text", "int": "a whole number", "float": "a number", "bool": "true or false",
    "object": "a table", "array": "a list of tables, as in [[exclude]]",
}  # fmt: skip


class Keys(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The keys of a table, with the types of their values."""


class Text(str):
    """A text; numbers and booleans are taken as they are written."""


class Words(tuple[str, ...]):
    """A command or its words; a text is split as a shell would."""


class Seconds(float):
    """A duration in seconds, above 0: a number, or a text with a unit."""

    may_be_0 = False
    longest_h = limits.LONGEST_H


class Pause(Seconds):
    """A duration in seconds that may be 0."""

    may_be_0 = True


class SecondsInAll(Seconds):
    """A duration in seconds that may be the sum over all ranks."""

    longest_h = limits.LONGEST_IN_ALL_H


class Share(float):
    """A share: a number from 0 on, or a text in percent."""

    most = math.inf


class PartOfOne(Share):
    """A share that is at most 1."""

    most = 1.0


class Confidence(float):
    """The confidence of intervals: a share above 0 and below 1."""


def whole(least: int, most: int) -> msgspec.Meta:
    """What limits an int: `Annotated[int, whole(1, 9)]`. A default may lie outside: then it is not given."""
    return msgspec.Meta(ge=least, le=most)


Blocks = Annotated[int, whole(1, limits.MOST_BLOCKS)]
Texts = dict[str, Text]
Pattern = re.Pattern[str]  # with one group; or with two, of which one is named `rank`


class Table:
    """A table of a document, at `path`."""

    def __init__(self, content: Mapping[str, Any], source: Source, path: KeyPath = ()) -> None:
        self.content = content
        self.source = source
        self.path = path

    def wrong(self, key: str | KeyPath, what: str) -> UsageError:
        """An error about a key of the table, or of a table within it, with its line."""
        return self.source.wrong((*self.path, *((key,) if isinstance(key, str) else key)), what)

    def take(self, kind: type[Struct], *others: str) -> Struct:
        """The table as an object; `others`: keys that it has, and that are taken otherwise.

        UsageError if a key is missing or not known, or its value is of another type.
        """
        content = {key: value for key, value in self.content.items() if key not in others}
        try:
            return msgspec.convert(content, kind, dec_hook=_taken)
        except msgspec.ValidationError as error:
            found = re.fullmatch(r"(.*) - at `\$([^`]*)`", str(error), re.DOTALL)
            what, at = found.groups() if found else (str(error), "")
            path = _path(at, content)
            names = [step for step in path if isinstance(step, str)]
            if missing := re.fullmatch(r"Object missing required field `(.+)`", what):
                path, what = [*path, missing[1]], "is missing"
            elif unknown := re.fullmatch(r"Object contains unknown field `(.+)`", what, re.DOTALL):
                known = [*_fields(kind, names), *(() if path else others)]
                path, what = [*path, unknown[1]], f"is not known here{_hint(unknown[1], known)}"
            elif choices := _choices(_type(kind, names)):
                what = f"must be one of {', '.join(map(str, choices))}"
            elif path and (limited := _limits(_type(kind, names))):
                what = f"must be a whole number from {limited.ge} to {limited.le}"
            elif expected := re.match(r"Expected `(\w+)[^`]*`, got", what):
                what = f"must be {_NAMES.get(expected[1], expected[1])}"
            raise self.source.wrong((*self.path, *path), what) from None

    def table(self, key: str) -> Table:
        """The table under a key, empty if it is missing. UsageError if it is no table."""
        found = self.content.get(key, {})
        if not isinstance(found, dict):
            raise self.wrong(key, "must be a table")
        return Table(found, self.source, (*self.path, key))

    def tables(self) -> Iterable[tuple[str, Table]]:
        """The tables in this one, by name."""
        for key in self.content:
            yield key, self.table(key)


def _fields(kind: Any, path: Iterable[str]) -> dict[str, Any]:
    """The types of the keys of a table that lies at a path of an object of this type."""
    for name in path:
        kind = _fields(kind, ()).get(name)
        kind = next((each for each in get_args(kind) if hasattr(each, "__struct_fields__")), kind)  # or None
    if not hasattr(kind, "__struct_fields__"):
        return {}
    return {each.encode_name: each.type for each in msgspec.structs.fields(kind)}


def _type(kind: Any, path: Sequence[str]) -> Any:
    """The type of the key at a path of an object of this type; None if it is a key that the user names."""
    return _fields(kind, path[:-1]).get(path[-1]) if path else None


def _path(at: str, content: Any) -> list[str | int]:
    """The path of what msgspec names in an error: `.study.title`, `.exclude[1][...]`."""
    path: list[str | int] = []
    for name, place in re.findall(r"\.([^.\[`]+)|\[([^\]]+)\]", at):
        if place != "...":
            step = int(place) if place else name
        elif wrong := [key for key, value in content.items() if not isinstance(value, Scalar)]:
            step = wrong[0]  # msgspec does not name keys of the user; of those values only texts are limited
        else:
            break
        if step not in (content if isinstance(content, dict) else range(len(content))):
            break  # a key of the user looked like a path
        path.append(step)
        content = content[step]
    return path


def _limits(kind: Any) -> msgspec.Meta | None:
    """What limits a whole number of this type; None if nothing does."""
    return next((each for each in get_args(kind) if isinstance(each, msgspec.Meta)), None)


def _choices(kind: Any) -> tuple[Any, ...]:
    """The values that a type of literals has; none if it is another."""
    literals = [kind, *get_args(kind)]
    return next((get_args(each) for each in literals if get_origin(each) is Literal), ())


def _hint(key: str, known: Iterable[str]) -> str:
    import difflib

    near = difflib.get_close_matches(key, known, 1)
    return f"; do you mean '{near[0]}'?" if near else f"; known: {', '.join(sorted(known))}"


def _taken(kind: Any, found: Any) -> Any:
    """A value of one of the types above. ValueError if it is none."""
    if kind is Text and isinstance(found, Scalar):
        return Text(label(found))
    if kind is Words:
        return _words(found)
    if isinstance(kind, type) and issubclass(kind, Seconds):
        return _seconds(kind, found)
    if isinstance(kind, type) and issubclass(kind, Share):
        share = parse_fraction(found)
        if share is None or not 0 <= share < math.inf:
            raise ValueError('must be a share like 0.01 or "1 %"')
        if share > kind.most:
            raise ValueError(f'must be from 0 to {kind.most:g}, like 0.01 or "1 %"')
        return kind(share)
    if kind is Confidence:
        if (share := parse_fraction(found)) is not None and 0 < share < 1:
            return Confidence(share)
        raise ValueError('must be above 0 and below 1, like 0.95 or "95 %"')
    if kind in (Pattern, re.Pattern) and isinstance(found, str):
        return _pattern(found)
    raise ValueError("must be a text")


def _seconds(kind: type[Seconds], found: Any) -> Seconds:
    like = 'like 30, "30 s" or "5 min"'
    match = _DURATION.fullmatch(found.strip()) if isinstance(found, str) else None
    if match is not None:
        seconds = float(match[1]) * _SECONDS[match[2]]
    elif isinstance(found, int | float) and not isinstance(found, bool):
        seconds = _float(found)
    else:
        raise ValueError(f"must be a duration {like}")
    if 0 < seconds <= 3600 * kind.longest_h or (seconds == 0 and kind.may_be_0):
        return kind(seconds)
    least = "from 0 to" if kind.may_be_0 else "above 0, and at most"
    raise ValueError(f"must be {least} {kind.longest_h} h, {like}")


def _float(number: float) -> float:
    """The number, infinite if it is a whole number that is too large."""
    try:
        return float(number)
    except OverflowError:
        return math.copysign(math.inf, number > 0 or -1)


def _words(found: Any) -> Words:
    if isinstance(found, str):
        import shlex

        try:
            return Words(shlex.split(found))
        except ValueError as error:
            raise ValueError(f"cannot be split into words: {error}") from None
    if isinstance(found, list) and all(isinstance(word, str) for word in found):
        return Words(found)
    raise ValueError("must be a text, or a list of texts")


def _pattern(text: str) -> Pattern:
    try:
        found = re.compile(text, re.MULTILINE)
    except re.error as error:
        raise ValueError(f"is no regular expression: {error}") from None
    if found.groups != 1 + ("rank" in found.groupindex):
        raise ValueError("must have one group, around the number: 'solve +([0-9.]+) s'")
    return found


class Source:
    """The text of a document, to say where in it something stands."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text

    def wrong(self, path: KeyPath, what: str) -> UsageError:
        """An error about what is found at `path`, with its line."""
        line = self.line(path)
        where = f"{self.name}:{line}" if line else self.name
        key = ".".join(step for step in path if isinstance(step, str))
        return UsageError(f"{where}: {key or 'the file'} {what}")

    def line(self, path: KeyPath) -> int | None:
        """The line of the key at `path`, or of the nearest table around it; None if neither is there."""
        around = (path[:length] for length in range(len(path), 0, -1))
        return next((self._lines[each] for each in around if each in self._lines), None)

    @cached_property
    def _lines(self) -> dict[KeyPath, int]:
        return key_lines(self.text)


def parse(name: str, text: str) -> Table:
    """The content of a TOML text, which errors call `name`. UsageError if it is not TOML."""
    if text.startswith("\ufeff"):
        raise UsageError(f"{name}:1: begins with a byte order mark; save it as UTF-8 without one")
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(_no_toml(name, text, str(error))) from None
    except RecursionError:
        raise UsageError(f"{name}: has too many brackets within one another") from None
    except ValueError:  # of whole numbers with thousands of digits
        raise UsageError(f"{name}: has a number that is too long; write one of fewer digits") from None
    return Table(content, Source(name, text))


def _no_toml(name: str, text: str, error: str) -> str:
    """What tomllib says, with the line before it, and what to write instead behind it."""
    what, _, at = error.rpartition(" (at ")
    place = re.match(r"line (\d+)", at)
    # A text without an end has the rest of the file in it.
    begin = None if place else line_without_end(text)
    line = int(place[1]) if place else begin or 1 + text.rstrip("\n").count("\n")
    end = "" if place or begin else " at the end of the file"
    if names := re.fullmatch(r"(Cannot [a-z ]+)(\(.+,?\))(.*)", what):
        what = f"{names[1]}[{'.'.join(ast.literal_eval(names[2]))}]{names[3]}"
    remedy = next((remedy for begin, remedy in _REMEDIES.items() if what.startswith(begin)), "")
    return f"{name}:{line}: {what}{end}{remedy and f'; {remedy}'}"


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
        line = 1 + error.object.count(b"\n", 0, error.start)
        wrong = error.object[error.start]
        raise UsageError(f"{path}:{line}: byte 0x{wrong:02x} is not UTF-8; save the file as UTF-8") from None


def parse_fraction(text: Any) -> float | None:
    """0.005 of 0.005, "0.005" or "0.5 %"."""
    if isinstance(text, int | float) and not isinstance(text, bool):
        return _float(text)
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(%?)", text.strip()) if isinstance(text, str) else None
    if match is None:
        return None
    return float(match[1]) / (100 if match[2] else 1)


def label(level: Scalar) -> str:
    """A level as it is written in commands, tables and keys."""
    if isinstance(level, bool):
        return "true" if level else "false"
    return str(level)
