"""JSON: one object with `schema`, `run` and the data; documented in docs/json.md."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TextIO


def write(stream: TextIO, schema: str, run: Path | None, content: Mapping[str, Any]) -> None:
    """One object, indented."""
    _as_utf8(stream)
    head = {"schema": schema} | ({"run": str(run.resolve())} if run else {})
    json.dump(head | dict(content), stream, indent=1, ensure_ascii=False)
    stream.write("\n")


def write_rows(
    stream: TextIO,
    schema: str,
    run: Path,
    rows: Iterable[Mapping[str, Any]],
    content: Mapping[str, Any] | None = None,
) -> None:
    """One object with `content` and `rows`, these written as they come, one a line."""
    _as_utf8(stream)
    encode = json.JSONEncoder(ensure_ascii=False).encode
    head = encode({"schema": schema, "run": str(run.resolve()), **(content or {})})
    stream.write(f'{head[:-1]}, "rows": [')
    separator = "\n"
    for row in rows:
        stream.write(separator + encode(row))
        separator = ",\n"
    stream.write("\n]}\n")


def _as_utf8(stream: TextIO) -> None:
    """JSON is UTF-8 in every locale; bytes that are not text come out as JSON's own escapes."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")
