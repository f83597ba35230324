"""What `tare top` draws, by Textual's own pilot; tests/integration/test_top.py has it in a terminal."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import made_rounds
import pytest
from made_rounds import rank_set
from tare._native import Bins, Ranks, Round
from tare.analysis.rows import Placed
from tare.monitor import call_sites
from tare.monitor.call_sites import CallSite, Reading, Sums
from tare.monitor.heat import Column, Columns
from tare.monitor.live import Activity, Live
from tare.monitor.screen import CallSites, Top, Where
from tare.reporters import live as reporter
from textual.pilot import Pilot
from textual.widgets import DataTable, Static

if TYPE_CHECKING:
    from tare._native import Kind

NOBODY = Ranks(())
S = 1_000_000_000


class Made(Live):
    """A run whose rounds the test makes."""

    def __init__(self) -> None:
        super().__init__(Path())
        self.made: list[Activity] = []
        self.latest: Round | None = None
        self.lacking = Ranks(())
        self.new_rounds = 0
        self.silent_ns = 0

    def update(self) -> int:
        found, self.new_rounds = self.new_rounds, 0
        self.rounds += found
        return found

    @property
    def last(self) -> Round | None:
        return self.latest

    @property
    def ranks(self) -> int:
        return len(self.latest.ranks) if self.latest else 0

    @property
    def lost_ranks(self) -> Ranks:
        return self.lacking

    def silence_ns(self, now_ns: int) -> int:
        return self.silent_ns

    def activities(self, now_ns: int | None = None) -> list[Activity]:
        return [] if self.silent_ns and now_ns is not None else self.made

    def hand_over(self, number: int, *made: Activity, lacking: Ranks = NOBODY) -> None:
        lost = rank_set(*lacking.runs)
        (self.latest,) = made_rounds.decoded(
            made_rounds.a_round(number, 0, made_rounds.statistics([]), ranks=rank_set((0, 4)), lost=lost)
        )
        self.made = list(made)
        self.lacking = lacking
        self.taken, self.lost = self.taken + 4, self.lost + len(lacking)
        self.new_rounds += 1


def activity(event: str, share: float, value: float | None = None) -> Activity:
    kind: Any = "function" if value is None else "counter"
    return Activity(event, kind, share, 1234.0, 2048.0, value, 0.5, 1, 3, [0.0, share])


class MadeColumns(Columns):
    """Columns of events that the test names, one round with two ranks that differ."""

    def __init__(self, *events: tuple[Kind, str]) -> None:
        super().__init__()
        self.named = events

    def events(self) -> list[tuple[Kind, str]]:
        return sorted(self.named)

    def of(self, kind: Kind, event: str) -> list[Column]:
        return [Column(7, 0, Bins(20, 4, (1, 1)))] if (kind, event) in self.named else []


class Driven:
    def __init__(self) -> None:
        self.live = Made()
        self.going_on = True
        self.hang = ""
        self.app = Top(
            "a run",
            self.live,
            lambda: self.going_on,
            lambda: "rank 2 MPI_Recv",
            lambda: "monitoring: 8 offloads",
            lambda: self.hang,
            lambda: "MPI_Send solver.c:120",
        )

    def text(self, widget: str) -> str:
        return str(self.app.query_one(widget, Static).render())

    def rows(self) -> list[list[str]]:
        table = self.app.query_one("#activities", DataTable)
        return [[str(cell) for cell in table.get_row_at(row)] for row in range(table.row_count)]


def drive(steps: Callable[[Driven, Pilot[None]], Awaitable[None]]) -> Driven:
    driven = Driven()

    async def run() -> None:
        async with driven.app.run_test(size=(140, 30)) as pilot:
            await steps(driven, pilot)

    asyncio.run(run())
    return driven


def test_rounds_are_shown_as_they_come() -> None:
    async def steps(driven: Driven, pilot: Pilot[None]) -> None:
        assert "no round yet" in driven.text("#about")
        driven.live.hand_over(7, activity("MPI_Send", 0.25), activity("residual", 0, 0.125))
        driven.app.refresh_now()
        await pilot.pause()
        about = driven.text("#about")
        assert "round 7 of 4 ranks" in about and "delay 70 ns" in about and "none seen lost" in about
        assert "monitoring: 8 offloads" in about
        send, residual = driven.rows()
        assert send[:8] == ["MPI_Send", "function", "25.0 %", "1,234", "2.00 KiB", "+50 %", "3", "1"]
        assert residual[:3] == ["residual", "counter", "0.125"]
        driven.live.hand_over(8, activity("MPI_Recv", 0.5), lacking=Ranks(((2, 1),)))
        driven.app.refresh_now()
        await pilot.pause()
        assert [row[0] for row in driven.rows()] == ["MPI_Recv"]
        assert "without 2" in driven.text("#about") and "11.1 % lost at least" in driven.text("#about")

    drive(steps)


def test_how_ranks_differ_is_shown_of_the_event_under_the_cursor() -> None:
    async def steps(driven: Driven, pilot: Pilot[None]) -> None:
        driven.live.columns = MadeColumns(("function", "MPI_Send"), ("function", "MPI_Recv"))
        send, recv = activity("MPI_Send", 0.5), activity("MPI_Recv", 0.25)
        driven.live.hand_over(1, send, recv, activity("MPI_Wait", 0.1))
        driven.app.refresh_now()
        await pilot.pause()
        assert driven.text("#heat").startswith("MPI_Send: time") and "darker" in driven.text("#heat")
        await pilot.press("down")
        await pilot.pause()
        assert driven.text("#heat").startswith("MPI_Recv: time")
        # Rows change their places; the cursor stays with what it was put on.
        driven.live.hand_over(2, recv, send)
        driven.app.refresh_now()
        await pilot.pause()
        assert driven.text("#heat").startswith("MPI_Recv: time")
        assert driven.app.query_one("#activities", DataTable).cursor_row == 0
        await pilot.press("h")
        assert not driven.app.query_one("#heat", Static).display
        await pilot.press("h")
        assert driven.app.query_one("#heat", Static).display
        driven.live.hand_over(3, activity("MPI_Wait", 0.1))
        driven.app.refresh_now()
        await pilot.pause()
        assert driven.text("#heat") == "" and not driven.app.query_one("#heat", Static).display

    drive(steps)


def test_the_cursor_may_be_told_where_to_begin() -> None:
    async def steps(driven: Driven, pilot: Pilot[None]) -> None:
        driven.app._wished = "MPI_Recv"
        driven.live.columns = MadeColumns(("function", "MPI_Recv"))
        driven.live.hand_over(1, activity("MPI_Send", 0.5))
        driven.app.refresh_now()
        driven.live.hand_over(2, activity("MPI_Send", 0.5), activity("MPI_Recv", 0.25))
        driven.app.refresh_now()
        await pilot.pause()
        assert driven.text("#heat").startswith("MPI_Recv: time")

    drive(steps)


def test_histograms_alone_have_rows_without_rates() -> None:
    async def steps(driven: Driven, pilot: Pilot[None]) -> None:
        driven.live.columns = MadeColumns(("function", "MPI_Send"))
        driven.live.hand_over(1)
        driven.app.refresh_now()
        await pilot.pause()
        assert driven.rows() == [["MPI_Send", "function", *[""] * 7]]
        assert driven.text("#heat").startswith("MPI_Send: time")

    drive(steps)


def test_a_pause_keeps_what_is_shown() -> None:
    async def steps(driven: Driven, pilot: Pilot[None]) -> None:
        driven.live.hand_over(1, activity("MPI_Send", 0.25))
        driven.app.refresh_now()
        await pilot.press("p")
        driven.live.hand_over(2, activity("MPI_Recv", 0.25))
        driven.app.refresh_now()
        assert [row[0] for row in driven.rows()] == ["MPI_Send"] and "paused" in driven.text("#about")
        await pilot.press("p")
        assert [row[0] for row in driven.rows()] == ["MPI_Recv"]

    drive(steps)


def test_a_key_shows_where_ranks_are() -> None:
    async def steps(driven: Driven, pilot: Pilot[None]) -> None:
        await pilot.press("w")
        await pilot.pause()
        assert isinstance(driven.app.screen, Where)
        assert "rank 2 MPI_Recv" in str(driven.app.screen.query_one("#where", Static).render())
        await pilot.press("escape")
        await pilot.pause()
        assert not isinstance(driven.app.screen, Where)

    drive(steps)


def test_a_key_shows_call_sites() -> None:
    async def steps(driven: Driven, pilot: Pilot[None]) -> None:
        await pilot.press("c")
        await pilot.pause()
        screen = driven.app.screen
        assert isinstance(screen, CallSites)
        await driven.app.workers.wait_for_complete()
        screen.refresh_now()
        assert "MPI_Send solver.c:120" in str(screen.query_one("#where", Static).render())
        await pilot.press("c")
        await pilot.pause()
        assert not isinstance(driven.app.screen, CallSites)

    drive(steps)


def test_time_by_call_site_is_that_between_readings() -> None:
    send, wait = (CallSite(name, Placed(file="/a/solver.c", line=7, caller="main")) for name in ("S", "W"))
    readings = iter(
        [
            Reading(2, {send: Sums(10, 4 * S)}),
            Reading(2, {send: Sums(30, 5 * S), wait: Sums(4, 2 * S)}),
            Reading(2, {send: Sums(30, 5 * S), wait: Sums(4, 2 * S)}),
        ]
    )
    times = iter([100.0, 102.0, 103.0])
    sites = call_sites.CallSites(lambda: next(readings), lambda: next(times))
    assert sites.now() == []
    first, second = sites.now()
    assert (first.site, first.share, first.calls_per_s) == (wait, 0.5, 1)
    assert (second.site, second.share, second.calls_per_s) == (send, 0.25, 5)
    head, *lines = reporter.site_lines([first, second])
    assert head.split() == ["Time", "now", "Calls/s", "Function", "Caller", "and", "place"]
    assert lines[0].split() == ["50.0", "%", "1", "W", "main", "solver.c:7"]
    assert sites.now() == [] and len(reporter.site_lines([])) == 1


def test_silence_is_told_and_has_no_rates() -> None:
    async def steps(driven: Driven, pilot: Pilot[None]) -> None:
        driven.live.hand_over(1, activity("MPI_Send", 0.25))
        for silent_s, going_on, said, rows in (
            (0, True, "", 1),
            (60, True, "no round for 60 s: press w to see where the ranks are", 0),
            (0, True, "", 1),
            (60, False, "", 1),
        ):
            driven.live.silent_ns, driven.going_on, driven.app._stay = silent_s * S, going_on, True
            driven.app.refresh_now()
            await pilot.pause()
            assert (driven.text("#silence"), len(driven.rows())) == (said, rows)

    drive(steps)


def test_a_hang_is_told_while_it_lasts() -> None:
    async def steps(driven: Driven, pilot: Pilot[None]) -> None:
        driven.hang = "nothing comes from rank 1"
        for said in ("nothing comes from rank 1", ""):
            driven.app.refresh_now()
            await driven.app.workers.wait_for_complete()
            driven.app.refresh_now()
            await pilot.pause()
            assert driven.text("#silence") == said
            driven.hang = ""

    drive(steps)


@pytest.mark.parametrize("key", ["q", None])
def test_it_ends_by_a_key_or_with_the_run(key: str | None) -> None:
    async def steps(driven: Driven, pilot: Pilot[None]) -> None:
        if key:
            await pilot.press(key)
        else:
            driven.live.hand_over(3, activity("MPI_Send", 0.25))
            driven.going_on = False
            driven.app.refresh_now()
        await pilot.pause()
        assert not driven.app.is_running or driven.app._exit

    assert drive(steps).live.rounds == (0 if key else 1)


def test_it_may_stay() -> None:
    async def steps(driven: Driven, pilot: Pilot[None]) -> None:
        driven.app._stay = True
        driven.going_on = False
        driven.app.refresh_now()
        await pilot.pause()
        assert driven.app.is_running and not driven.app._exit

    drive(steps)
