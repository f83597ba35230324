"""Tables for people, fitted to the terminal; whole lines when written to a file or a pipe."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.table import Column, Table

from tare import units
from tare.analysis.profile import OUTSIDE_NET
from tare.units import NOTHING, NS_PER_S

if TYPE_CHECKING:
    from tare.analysis.profile import FunctionRow, RankRow, SiteRow

DEFAULT_WIDTH = 80
COLUMN_GAP = "  "
NARROWEST_TEXT = 8
# Wide enough that no line written to a file is ever cut.
UNLIMITED_WIDTH = 10_000
# Events are shown in pages of so many rows, each with a header and as wide as its content.
EVENTS_PER_PAGE = 1000
EVENT_COLUMNS = (
    "Time", "Rank", "Thread", "Function", "Where", "Duration", "Peer", "Tag", "Bytes", "Communicator",
)  # fmt: skip
LEFT_EVENT_COLUMNS = {EVENT_COLUMNS.index(name) for name in ("Function", "Where", "Communicator")}


def console(stream: TextIO | None = None, *, cut: bool = False) -> Console:
    """Cuts to the width of the terminal; elsewhere only if `cut` is wished."""
    stream = stream or sys.stdout
    width = None
    if not stream.isatty() and "COLUMNS" not in os.environ:
        width = DEFAULT_WIDTH if cut else UNLIMITED_WIDTH
    return Console(file=stream, width=width, highlight=False, markup=False, emoji=False)


def table(*columns: Column) -> Table:
    return Table(*columns, box=None, pad_edge=False, padding=(0, len(COLUMN_GAP), 0, 0), header_style="bold")


def text_column(header: str) -> Column:
    return Column(header, no_wrap=True, overflow="ellipsis")


def number_column(header: str) -> Column:
    return Column(header, justify="right", no_wrap=True)


def show_table(out: Console, shown: Table, indent: str = "") -> None:
    """Prints `shown`, indented, without the blanks that fill the last column."""
    _fit(shown, out.width - len(indent))
    with out.capture() as captured:
        out.print(shown, width=out.width - len(indent))
    for line in captured.get().splitlines():
        out.file.write(f"{indent}{line}".rstrip() + "\n")


def _fit(shown: Table, width: int) -> None:
    """Narrows the widest texts, not the numbers, until the table fits: Rich would narrow them all."""
    widths = [max(map(cell_len, map(str, (column.header, *column.cells)))) for column in shown.columns]
    texts = [index for index, column in enumerate(shown.columns) if column.justify == "left"]
    excess = sum(widths) + len(COLUMN_GAP) * (len(widths) - 1) - width
    while excess > 0 and texts:
        widest = max(texts, key=widths.__getitem__)
        if widths[widest] <= NARROWEST_TEXT:
            break
        widths[widest] -= 1
        excess -= 1
    for index in texts:
        shown.columns[index].max_width = widths[index]


def place(row: Mapping[str, Any]) -> str:
    """`file:line` where there is debug information, else the object."""
    if row.get("file"):
        name = PurePath(row["file"]).name
        return f"{name}:{row['line']}" if row.get("line") else name
    return PurePath(row["object"]).name if row.get("object") else NOTHING


def rank(row: Mapping[str, Any]) -> str:
    """The rank in its world; none of a process that has not called MPI."""
    return str(row["rank"]) if row["rank"] >= 0 else NOTHING


def profile_by_function(out: Console, rows: Sequence[FunctionRow], total_ns: int, worlds: int) -> None:
    """`total_ns`: net time in MPI of all functions, also of those not shown."""
    shown = table(text_column("Function"), *_figures(), *_world_column(worlds))
    for row in rows:
        shown.add_row(row["function"], *_values(row, total_ns), *_world(row, worlds))
    show_table(out, shown)


def profile_by_site(
    out: Console, rows: Sequence[SiteRow], total_ns: int, worlds: int, indent: str = ""
) -> None:
    """`total_ns`: net time in MPI of all call sites, also of those not shown."""
    shown = table(
        text_column("Function"),
        text_column("Caller"),
        text_column("Where"),
        *_figures(),
        *_world_column(worlds),
    )
    for row in rows:
        shown.add_row(
            row["function"],
            row["caller"] or NOTHING,
            place(row),
            *_values(row, total_ns),
            *_world(row, worlds),
        )
    show_table(out, shown, indent)


def profile_by_rank(out: Console, rows: Sequence[RankRow], worlds: int) -> None:
    headers = ("Rank", "Calls", "MPI time", "Bytes", "MPI share")
    shown = table(*map(number_column, headers), *_world_column(worlds))
    for row in rows:
        shown.add_row(
            rank(row),
            units.count(row["calls"]),
            units.duration(row["time_ns"]),
            units.size(row["bytes"]),
            units.percent(row["mpi_share"]),
            *_world(row, worlds),
        )
    show_table(out, shown)


def events(out: Console, rows: Iterable[Mapping[str, Any]], start_ns: int, worlds: int) -> int:
    """Times are seconds since the start of the run. Returns the number of rows.

    Aligned by hand, page by page: Rich needs half a millisecond a row, and traces are long.
    """
    headers = [*EVENT_COLUMNS, *(["World"] if worlds > 1 else [])]
    lines = ([*_event_cells(row, start_ns), *_world(row, worlds)] for row in rows)
    shown = 0
    while page := list(islice(lines, EVENTS_PER_PAGE)):
        widths = [max(map(len, column)) for column in zip(headers, *page, strict=True)]
        for cells in (headers, *page):
            out.file.write(_aligned(cells, widths)[: out.width].rstrip() + "\n")
        shown += len(page)
    return shown


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    return COLUMN_GAP.join(
        cell.ljust(width) if column in LEFT_EVENT_COLUMNS else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )


def _event_cells(row: Mapping[str, Any], start_ns: int) -> list[str]:
    return [
        f"{(row['start_ns'] - start_ns) / NS_PER_S:.9f}",
        rank(row),
        str(row["thread"]),
        *([_printable(row["name"]), _what(row), NOTHING] if "kind" in row else _call_cells(row)),
        *(_known(row, key) for key in ("peer", "tag", "bytes", "communicator")),
    ]


def _call_cells(row: Mapping[str, Any]) -> list[str]:
    return [row["function"], place(row), units.duration(row["duration_ns"])]


def _what(row: Mapping[str, Any]) -> str:
    """What an event of the program says, in place of the call site."""
    kind: str = row["kind"]
    if kind in ("region", "phase"):
        return f"{kind} {'begins' if row['begin'] else 'ends'}"
    if kind == "counter":
        value = NOTHING if row["value"] is None else f"{row['value']:.15g}"
        return _printable(f"{value} {row['unit']}".rstrip())
    if kind == "raw":
        return f'"{_printable(row["text"])}"'
    if "parameters" in row:
        return f"({', '.join(NOTHING if value is None else f'{value}' for value in row['parameters'])})"
    return kind


def _printable(text: str) -> str:
    """Texts come from the program: what would move the cursor is escaped."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _known(row: Mapping[str, Any], key: str) -> str:
    return str(row[key]) if row.get(key) is not None else NOTHING


def _figures() -> list[Column]:
    return [number_column(name) for name in ("Calls", "Time", "Bytes", "of MPI")]


def _values(row: FunctionRow | SiteRow, total_ns: int) -> list[str]:
    within = row["timed"] and row["function"] not in OUTSIDE_NET
    return [
        units.count(row["calls"]),
        units.duration(row["time_ns"]) if row["timed"] else "counted",
        units.size(row["bytes"]) if row["bytes"] else NOTHING,
        units.percent(row["time_ns"] / total_ns) if within and total_ns else NOTHING,
    ]


def _world_column(worlds: int) -> list[Column]:
    return [number_column("World")] if worlds > 1 else []


def _world(row: Mapping[str, Any], worlds: int) -> list[str]:
    return [str(row.get("world", 0))] if worlds > 1 else []
