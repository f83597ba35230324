"""JSON: one object with `schema`, `run` and the data; documented in docs/json.md."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

from tare.analysis.rows import record

_as_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, default=record).encode


def write(stream: TextIO, schema: str, run: Path | None, content: Mapping[str, Any]) -> None:
    """A field a line; of lists of objects, and iterators, which are written as they come, an element a line.

    By parts, as a whole would be encoded ten times as slowly, and take as much memory as it is long.
    """
    _as_utf8(stream)
    head = {"schema": schema} | ({"run": str(run.resolve())} if run else {})
    separator = "{"
    for name, value in (head | dict(content)).items():
        stream.write(f"{separator}{_encode(name)}: ")
        if _has_rows(value):
            _write_rows(stream, value)
        else:
            stream.write(_encode(value))
        separator = ",\n"
    stream.write("}\n")


def _encode(value: Any) -> str:
    """JSON has to escape few control characters, and may escape all: what it holds reaches terminals, too."""
    text = _as_json(value)
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in text)


def _has_rows(value: Any) -> bool:
    if isinstance(value, list) and value:
        return isinstance(value[0], dict) or hasattr(value[0], "__match_args__")
    return isinstance(value, Iterator)


def _write_rows(stream: TextIO, rows: Iterable[Any]) -> None:
    stream.write("[")
    separator = "\n"
    for row in rows:
        stream.write(separator + _encode(row))
        separator = ",\n"
    stream.write("\n]")


def _as_utf8(stream: TextIO) -> None:
    """JSON is UTF-8 in every locale; bytes that are not text come out as JSON's own escapes."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")
