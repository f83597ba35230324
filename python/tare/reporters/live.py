"""What a run does now, as a table of text."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tare import units
from tare.reporters import terminal
from tare.reporters.sheet import Column, Sheet
from tare.streams import visible

if TYPE_CHECKING:
    from tare._native import Round
    from tare.monitor.call_sites import SiteActivity
    from tare.monitor.live import Activity
    from tare.reporters.console import Console


def _timed(show: Callable[[Activity], str]) -> Callable[[Activity], str]:
    """What only events that take time have: counters have a value instead."""
    return lambda activity: show(activity) if activity.value is None else units.NOTHING


def _now(activity: Activity) -> str:
    return units.percent(activity.share) if activity.value is None else f"{activity.value:.6g}"


COLUMNS = (
    Column("What", text=True, key=True, cell=lambda activity: activity.event),
    Column("Kind", text=True, cell=lambda activity: activity.kind),
    Column("Time now", cell=_now),
    Column("Calls/s", cell=lambda activity: f"{activity.calls_per_s:,.0f}"),
    Column("Bytes/s", optional=True, cell=_timed(lambda activity: units.size(activity.bytes_per_s))),
    Column("Imbalance", optional=True, cell=_timed(lambda activity: f"+{100 * activity.imbalance:.0f} %")),
    Column("Most", optional=True, cell=_timed(lambda activity: str(activity.most_rank))),
    Column("Least", optional=True, cell=_timed(lambda activity: str(activity.least_rank))),
)


def show(
    out: Console, run: Path, rounds: int, last: Round | None, activities: Sequence[Activity], silent_ns: int
) -> None:
    """Prints the last round and the activities of `tare top --once`; `silent_ns`: how long none has come."""
    if last is None:
        return out.line("no round yet")
    missing = f", without {last.lost}" if len(last.lost) else ""
    out.line(
        f"{units.number_of(rounds, 'round')}; the last, number {last.round:,}, has "
        f"{units.number_of(len(last.ranks), 'rank')}{missing}; "
        f"delay {units.duration(last.delay_ns)}"
    )
    if silent_ns:
        out.line(
            f"no round has come for {units.duration(silent_ns)}: "
            f"`tare where {shlex.quote(str(run))}` says where the ranks are"
        )
    if not activities:
        return None
    terminal.show_sheet(out, Sheet.of(COLUMNS, activities))
    return None


def site_lines(sites: Sequence[SiteActivity]) -> list[str]:
    """The call sites at which time goes by now: a line for each, and one above them."""
    if not sites:
        return ["no call since it was looked last"]
    lines = [f"{'Time now':>9}  {'Calls/s':>9}  {'Function':<20}  Caller and place"]
    for each in sites:
        function, place = each.site.function, each.site.place
        now = f"{units.percent(each.share):>9}  {each.calls_per_s:>9,.0f}"
        lines.append(visible(f"{now}  {function:<20}  {terminal.caller(place)} {terminal.place(place)}"))
    return lines


def show_heat(out: Console, lines: Sequence[str]) -> None:
    """Prints the heat map, after an empty line."""
    for line in ("", *lines) if lines else ():
        out.line(line)
