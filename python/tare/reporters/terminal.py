"""Tables for people, fitted to the terminal; whole lines when written to a file or a pipe."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from tare import units
from tare.analysis.rows import PLACE, AtPlace, Placed
from tare.reporters import cells, names
from tare.reporters.sheet import WORLD, Heading, Sheet
from tare.streams import visible
from tare.units import NOTHING, NS_PER_S

if TYPE_CHECKING:
    from tare.reporters.console import Console

COLUMN_GAP = "  "
PLACE_WITH_LINE = re.compile(r"(\.\w+:\d+|\+0x[0-9a-f]+)$")
BELOW = "    "
# The object of frames in Python code, whose names ("<module>") are no C++.
PYTHON = "python"
NARROWEST_TEXT = 8
# An optional column goes before texts become narrower than this.
READABLE_TEXT = 14
# Events are shown in pages of so many rows, each with a header and as wide as its content.
EVENTS_PER_PAGE = 1000
EVENT_COLUMNS = (
    Heading("Time"), Heading("Rank"), Heading("Thread"), Heading("Function", text=True),
    Heading("Where", text=True), Heading("Duration"), Heading("Peer"), Heading("Tag"), Heading("Bytes"),
    Heading("Communicator", text=True),
)  # fmt: skip
# Values of peers and tags that are no ranks and tags (docs/json.md).
PEERS = {-1: "MPI_ANY_SOURCE", -2: "MPI_PROC_NULL"}
TAGS = {-1: "MPI_ANY_TAG"}
NUMBERS: Mapping[int, str] = {}


def share(of: float | None) -> str:
    """A share in percent, or that it is not known."""
    return NOTHING if of is None else units.percent(of)


def show_sheet(
    out: Console,
    sheet: Sheet,
    indent: str = "",
    below: Sequence[Sequence[str]] | None = None,
    *,
    below_same_only: bool = False,
) -> None:
    """Prints as many of the columns as there is room for.

    `below`: for each row, lines that stand under it; `below_same_only`: only if its keys look like another's.
    """
    room = out.width - len(indent)
    sheet = fitted(sheet, room)
    widths = _widths(sheet)
    _narrow(widths, [column for column, each in enumerate(sheet.headings) if each.text], room)
    header = _sheet_line(sheet.headings, [each.title for each in sheet.headings], widths)
    out.line(f"{indent}{header}", bold=True)
    explained = _alike(sheet, widths) if below_same_only else range(len(sheet.rows))
    for number, row in enumerate(sheet.rows):
        out.line(f"{indent}{_sheet_line(sheet.headings, row, widths)}")
        for line in below[number] if below and number in explained else ():
            out.line(cells.cut(f"{indent}{BELOW}{visible(line)}", out.width))


def _alike(sheet: Sheet, widths: Sequence[int]) -> set[int]:
    """Rows whose keys look the same as those of another."""
    rows: dict[tuple[str, ...], list[int]] = {}
    for number, row in enumerate(sheet.rows):
        measured = zip(sheet.headings, row, widths, strict=True)
        keys = tuple(_cut_cell(cell, width) for heading, cell, width in measured if heading.key)
        rows.setdefault(keys, []).append(number)
    return {number for numbers in rows.values() if len(numbers) > 1 for number in numbers}


def _left_out(sheet: Sheet, column: int) -> Sheet:
    """The sheet without a column. The function takes the place of the object if no line is known."""
    if sheet.headings[column].key:
        for row in sheet.rows:
            if row[column] != NOTHING and PLACE_WITH_LINE.search(row[column + 1]) is None:
                row[column + 1] = row[column]
    return sheet.without(column)


def fitted(sheet: Sheet, room: int) -> Sheet:
    """The sheet with as many of its columns as there is room for."""
    sheet = _printable(sheet)
    widths = _widths(sheet)
    while (column := _expendable(sheet, widths, room)) is not None:
        sheet = _left_out(sheet, column)
        widths = _widths(sheet)
    return sheet


def show_whole_sheet(out: Console, sheet: Sheet, indent: str = "") -> None:
    """Nothing is cut or left out: where a row is too long, its first cell has a line of its own, and the
    others follow in as many lines as they need."""
    sheet = _printable(sheet)
    widths = _widths(sheet)
    room = out.width - len(indent)
    if sum(widths) + len(COLUMN_GAP) * (len(widths) - 1) <= room:
        return show_sheet(out, sheet, indent)
    lines_of_columns = [[column + 1 for column in line] for line in parts(widths[1:], room - len(BELOW))]
    for number, row in enumerate([[each.title for each in sheet.headings], *sheet.rows]):
        out.line(f"{indent}{row[0]}", bold=not number)
        for columns in lines_of_columns:
            of = [(sheet.headings[column], row[column], widths[column]) for column in columns]
            out.line(f"{indent}{BELOW}{_sheet_line(*zip(*of, strict=True))}", bold=not number)
    return None


def parts(widths: Sequence[int], room: int) -> list[list[int]]:
    """Columns of these widths, as many together as fit on a line."""
    lines: list[list[int]] = []
    left = 0
    for column, width in enumerate(widths):
        if not lines or width > left:
            lines.append([])
            left = room
        lines[-1].append(column)
        left -= width + len(COLUMN_GAP)
    return lines


def show_sheet_with_text(out: Console, sheet: Sheet, indent: str = "") -> None:
    """The last column is a text that is never cut: it goes on below itself."""
    sheet = _printable(sheet)
    widths = _widths(sheet)[:-1]
    left = sheet.without(len(widths))
    for number, row in enumerate([[each.title for each in sheet.headings], *sheet.rows]):
        start = f"{indent}{_sheet_line(left.headings, row[:-1], widths)}{COLUMN_GAP}"
        out.paragraph(row[-1], start, bold=not number)


def _printable(sheet: Sheet) -> Sheet:
    """The sheet with printable cells, before they are measured."""
    return Sheet(sheet.headings, [list(map(visible, row)) for row in sheet.rows])


def _widths(sheet: Sheet) -> list[int]:
    return [
        max(map(cells.width, (heading.title, *(row[column] for row in sheet.rows))))
        for column, heading in enumerate(sheet.headings)
    ]


def _expendable(sheet: Sheet, widths: Sequence[int], room: int) -> int | None:
    """The last optional column, if texts would be cut short for it."""
    pairs = zip(sheet.headings, widths, strict=True)
    least = [min(width, READABLE_TEXT) if heading.text else width for heading, width in pairs]
    if sum(least) + len(COLUMN_GAP) * (len(least) - 1) <= room:
        return None
    optional = [column for column, heading in enumerate(sheet.headings) if heading.optional]
    return optional[-1] if optional else None


def _sheet_line(headings: Sequence[Heading], row: Sequence[str], widths: Sequence[int]) -> str:
    fitted = []
    for heading, cell, width in zip(headings, row, widths, strict=True):
        blanks = " " * (width - cells.width(cell))
        fitted.append(_cut_cell(cell, width) + blanks if heading.text else blanks + cell)
    return COLUMN_GAP.join(fitted)


def _cut_cell(cell: str, width: int) -> str:
    """The cell, cut: the end of a path, "solver.c:202" and "Solver::step" says more than the beginning."""
    end_first = "::" in cell or cell.startswith("/") or PLACE_WITH_LINE.search(cell)
    return cells.cut_left(cell, width) if end_first else cells.cut(cell, width)


def _narrow(widths: list[int], texts: Sequence[int], room: int) -> None:
    """Takes from the widest texts until the line fits."""
    excess = sum(widths) + len(COLUMN_GAP) * (len(widths) - 1) - room
    while excess > 0 and texts:
        widest = max(texts, key=widths.__getitem__)
        if widths[widest] <= NARROWEST_TEXT:
            break
        widths[widest] -= 1
        excess -= 1


def place(of: AtPlace, *, exactly: bool = False) -> str:
    """`file:line` with debug information, else the object. The address is added if the function is unknown,
    or if `exactly` asks for it."""
    if of.file:
        name = PurePath(of.file).name
        return f"{name}:{of.line}" if of.line else name
    if not of.object:
        return NOTHING
    name = PurePath(of.object).name
    is_known = of.offset is None or (of.caller and not exactly)
    return name if is_known else f"{name}+{of.offset:#x}"


def call(function: str, at: AtPlace) -> str:
    """ "MPI_Recv at solver.c:12"; the function alone where its place is not known."""
    where = place(at)
    return function if where == NOTHING else f"{function} at {where}"


def call_in(function: str, at: AtPlace) -> str:
    """ "MPI_Recv at solver.c:12 (in step)"."""
    said = call(function, at)
    return f"{said} (in {caller(at)})" if at.caller and said != function else said


def last_call(function: str, at: AtPlace, *, inside: bool) -> str:
    """ "in MPI_Recv at solver.c:12 (in step)"; "after" a call that had returned."""
    return f"{'in' if inside else 'after'} {call_in(function, at)}"


def caller(of: AtPlace) -> str:
    """The function that contains the call, without the functions into which it was inlined.

    A function that has no frame because it was left by a tail call is shown before its caller.
    """
    name = (of.caller or NOTHING).partition(names.INLINED)[0]
    name = name if of.object == PYTHON else names.short(name)
    return f"{tail_call(of.tail_call)} < {name}" if of.tail_call else name


def tail_call(function: str) -> str:
    """How a frame that was left by a tail call is named."""
    return f"{names.short(function)} (tail call)"


def rank(number: int, pid: int | None = None) -> str:
    """The rank in its world; of a process that has not called MPI, its number or `-`."""
    return str(number) if number >= 0 else NOTHING if pid is None else f"process {pid}"


def events(out: Console, rows: Iterable[Mapping[str, Any]], start_ns: int, worlds: int) -> int:
    """Times are seconds since the start of the run. Returns the number of rows.

    Aligned page by page, as traces are long.
    """
    headings = [*EVENT_COLUMNS, *([WORLD] if worlds > 1 else [])]
    titles = [each.title for each in headings]
    lines = (list(map(visible, [*_event_cells(row, start_ns), *_world(row, worlds)])) for row in rows)
    shown = 0
    while page := list(islice(lines, EVENTS_PER_PAGE)):
        widths = _widths(Sheet(headings, page))
        for line in (titles, *page):
            out.line(_sheet_line(headings, line, widths)[: out.width])
        shown += len(page)
    return shown


def _event_cells(row: Mapping[str, Any], start_ns: int) -> list[str]:
    return [
        f"{(row['start_ns'] - start_ns) / NS_PER_S:.9f}",
        rank(row["rank"], row.get("pid")),
        _thread(row),
        *([row["name"], _what(row), NOTHING] if "kind" in row else _call_cells(row)),
        _both(row, "peer", "source", PEERS),
        _both(row, "tag", "source_tag", TAGS),
        _both(row, "bytes", "received"),
        row["mpi_file"] if "mpi_file" in row else _known(row, "communicator"),
    ]


def _thread(row: Mapping[str, Any]) -> str:
    """Its number, and of all but the first the name that it was given."""
    named = row["thread"] > 0 and "thread_name" in row
    return f"{row['thread']} {row['thread_name']}" if named else str(row["thread"])


def _both(row: Mapping[str, Any], sent: str, received: str, special: Mapping[int, str] = NUMBERS) -> str:
    """What is sent, and behind a stroke what is received, by a call that does both; MPI's names for values
    that are no numbers."""
    texts = [
        special.get(row[name], _known(row, name)) if row.get(name) is not None else NOTHING
        for name in (sent, *([received] if received in row else []))
    ]
    return "/".join(texts)


def _call_cells(row: Mapping[str, Any]) -> list[str]:
    at = Placed(**{name: row[name] for name in PLACE})
    return [row["function"], place(at), units.duration(row["duration_ns"])]


def _what(row: Mapping[str, Any]) -> str:
    """What an event of the program says, in place of the call site."""
    kind: str = row["kind"]
    if kind in ("region", "phase"):
        return f"{kind} {'begins' if row['begin'] else 'ends'}"
    if kind == "counter":
        value = NOTHING if row["value"] is None else f"{row['value']:.15g}"
        return f"{value} {row['unit']}".rstrip()
    if kind == "raw":
        return f'"{row["text"]}"'
    if "parameters" in row:
        return f"({', '.join(NOTHING if value is None else f'{value}' for value in row['parameters'])})"
    return kind


def _known(row: Mapping[str, Any], key: str) -> str:
    return str(row[key]) if row.get(key) is not None else NOTHING


def _world(row: Mapping[str, Any], worlds: int) -> list[str]:
    return [str(row.get("world", 0))] if worlds > 1 else []
