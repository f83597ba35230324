"""Tables that must be whole, however narrow the terminal is."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace

import pytest
from tare.analysis.rows import Placed
from tare.reporters import terminal
from tare.reporters.console import Console
from tare.reporters.sheet import Heading, Sheet

WIDTH = 40
NUMBERS = [f"number {at}" for at in range(6)]


def shown(show: Callable[[Console, Sheet, str], None], sheet: Sheet, width: int = WIDTH) -> list[str]:
    out = io.StringIO()
    show(Console(out, width), sheet, "  ")
    return out.getvalue().splitlines()


def wide(label: str) -> Sheet:
    values = [f"{at}.00 s" for at in range(len(NUMBERS))]
    return Sheet([Heading("run", text=True), *map(Heading, NUMBERS)], [[label, *values]])


def test_figures_without_room_go_below_their_row() -> None:
    lines = shown(terminal.show_whole_sheet, wide("a tool and what it was given"))
    assert [line.split("  ")[1] for line in lines if line[2] != " "] == [
        "run",
        "a tool and what it was given",
    ]
    for text in (*NUMBERS, *(f"{at}.00 s" for at in range(len(NUMBERS)))):
        assert sum(text in line for line in lines) == 1
    assert max(map(len, lines)) <= WIDTH


def test_figures_with_room_stay_in_their_row() -> None:
    assert len(shown(terminal.show_whole_sheet, wide("a tool"), 200)) == 2


@pytest.mark.parametrize(
    "text", ["", "short", "no library of that name: build it, or say where it is installed"]
)
def test_a_text_goes_on_below_itself(text: str) -> None:
    sheet = Sheet([Heading("Tool", text=True), Heading("What", text=True)], [["a tool", text]])
    first, *more = (line[10:] for line in shown(terminal.show_sheet_with_text, sheet)[1:])
    assert " ".join([first, *more]) == text
    assert (len(more) > 0) == (len(text) > WIDTH)


def test_a_place_of_which_no_name_is_known_is_an_address() -> None:
    """The address is as `--sample site=` takes it."""
    stripped = Placed(object="/usr/bin/lmp", offset=0x1F)
    assert terminal.place(stripped) == "lmp+0x1f"
    assert terminal.place(replace(stripped, caller="exchange")) == "lmp"


def site_sheet(rows: list[list[str]]) -> Sheet:
    headings = [
        Heading("Function", text=True, key=True), Heading("Caller", text=True, optional=True, key=True),
        Heading("Where", text=True, key=True), Heading("Calls"), Heading("Longest", optional=True),
    ]  # fmt: skip
    return Sheet(headings, rows)


def test_rows_that_look_the_same_are_told_apart_below() -> None:
    rows = [["MPI_Send", "f", "a.c:1", "5", "1 s"], ["MPI_Send", "f", "a.c:1", "7", "2 s"], ["MPI_Recv"] * 5]
    below = [["f  a.c:1", "left  a.c:8"], ["f  a.c:1", "right  a.c:9"], ["never"]]
    out = io.StringIO()
    terminal.show_sheet(Console(out, WIDTH), site_sheet(rows), below=below, below_same_only=True)
    lines = out.getvalue().splitlines()
    assert [line.split()[0] for line in lines[1:]] == [
        "MPI_Send",
        "f",
        "left",
        "MPI_Send",
        "f",
        "right",
        "MPI_Recv",
    ]


def test_without_room_for_it_the_caller_stands_where_no_line_is_known() -> None:
    rows = [
        ["MPI_Send", "solve_the_system", "libsolver.so.1", "5", "1 s"],
        ["MPI_Recv", "main", "a.c:12", "7", "2 s"],
    ]
    lines = shown(terminal.show_sheet, site_sheet(rows), 36)
    assert [line.split() for line in lines] == [
        ["Function", "Where", "Calls"], ["MPI_Send", "solve_the_system", "5"], ["MPI_Recv", "a.c:12", "7"],
    ]  # fmt: skip
