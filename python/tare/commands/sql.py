"""`tare sql`: queries of the tables of a run."""

from __future__ import annotations

import datetime
import decimal
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

from tare.commands import AnyMember, Json, RunDirectory, ShownTimes, print_json
from tare.commands.reading import conclude, open_readable
from tare.errors import UsageError
from tare.options import Argument, Option
from tare.runs.retiming import Times

# Names of columns, their types, and the rows.
Result = tuple[Sequence[str], Sequence[str], Iterator[Sequence[Any]]]
SCHEMA = "tare.sql/1"


def sql(
    run: RunDirectory,
    query: Annotated[
        str | None, Argument(metavar="QUERY", help="In DuckDB's SQL; none: lists the tables.")
    ] = None,
    times: ShownTimes = Times.RECORDED,
    member: AnyMember = None,
    files: Annotated[
        bool, Option("--files", help="Let the query read and write files (COPY, read_csv, ATTACH, ...).")
    ] = False,
    csv: Annotated[bool, Option("--csv", help="Print CSV.")] = False,
    json: Json = False,
) -> None:
    """Query the tables of a run with SQL.

    The tables and their columns: docs/tables.md. It needs DuckDB.

    Example: tare sql RUN "SELECT function, sum(time_ns) FROM profile GROUP BY 1"
    """
    if csv and json:
        raise UsageError("--csv and --json exclude each other")
    recording = open_readable(run, member, times)
    if query is None:
        from tare.runs.run import listed

        _write(run, (["table", "row"], ["VARCHAR", "VARCHAR"], iter(listed().items())), csv=csv, json=json)
        return conclude(recording)
    from tare.runs import sql as database

    with database.errors(), database.connect(recording.tables(), files=files) as connection:
        connection.execute(query)
        if connection.description is None:
            raise UsageError("the query is empty; without one, tare sql lists the tables")
        names, rows = database.result(connection)
        types = [str(each[1]) for each in connection.description or []]
        _write(run, (_distinct(names), types, rows), csv=csv, json=json)
    return conclude(recording)


def _write(run: Path, result: Result, *, csv: bool, json: bool) -> None:
    names, types, rows = result
    if json:
        columns = [{"name": name, "type": kind} for name, kind in zip(names, types, strict=True)]
        content = {"columns": columns, "rows": (_as_json(names, row) for row in rows)}
        print_json(SCHEMA, run, content)
    elif csv:
        from tare.reporters import csv as reporter_csv

        reporter_csv.write(sys.stdout, names, rows)
    else:
        from tare.reporters import query as reporter_query
        from tare.reporters.console import console

        reporter_query.show(console(), names, rows)


def _distinct(names: Sequence[str]) -> list[str]:
    """A name that occurs again gets a number."""
    seen: dict[str, int] = {}
    result = []
    for name in names:
        count = seen[name] = seen.get(name, 0) + 1
        result.append(name if count == 1 else f"{name}_{count}")
    return result


def _as_json(names: Sequence[str], row: Sequence[Any]) -> dict[str, Any]:
    return {name: _value(value) for name, value in zip(names, row, strict=True)}


def _value(value: Any) -> Any:
    """JSON has numbers, texts, lists and objects alone, and no NaN."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _value(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_value(each) for each in value]
    if isinstance(value, decimal.Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, bytes):  # as DuckDB writes it
        return "".join(chr(c) if 0x20 <= c < 0x7F and c not in b"\\\"'" else f"\\x{c:02X}" for c in value)
    if isinstance(value, datetime.date | datetime.time | datetime.timedelta):
        return str(value)
    return value if isinstance(value, int | str | None) else str(value)
