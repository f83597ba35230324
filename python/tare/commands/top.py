"""`tare top`: what a run does now."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tare import programs, units
from tare.commands import DirectoryAlone, Json, followed, print_json
from tare.errors import CommandError, TareError
from tare.options import Option
from tare.runs import directory, runner
from tare.runs.rounds import chosen_filter, names_of_filters, of_nodes_alone

if TYPE_CHECKING:
    from tare._native import Kind
    from tare.monitor.live import Activity, Live
    from tare.runs.metadata import Metadata

SCHEMA = "tare.top/1"


def top(
    run: DirectoryAlone,
    stay: Annotated[bool, Option("--stay", help="Do not end when the run has ended.")] = False,
    once: Annotated[bool, Option("--once", help="Print what there is now, and end.")] = False,
    event: Annotated[
        str | None,
        Option(metavar="NAME", help="Show how the ranks differ in it (default: the one with most time now)."),
    ] = None,
    json: Json = False,
) -> None:
    """Show what a run that is monitored does now.

    For runs of tare run --monitor (docs/monitoring.md). Needs Textual, unless --once or --json is given.
    Below the table: how the ranks differ in the event that the cursor is on, round by round.
    Keys: c shows time by call site, w where the ranks are, h hides how ranks differ, p pauses, q ends.

    Example: tare top app-20260131-120000
    """
    meta, live = followed(run)
    _check_filter(run, meta)
    if json:
        live.update_once(lambda: _goes_on(run, meta))
        return _write_json(run, meta, live, event)
    if once or not sys.stdout.isatty():
        live.update_once(lambda: _goes_on(run, meta))
        return _print(run, meta, live, event)
    from tare import packages

    packages.require("tare top", ["textual"], "; without it: tare top --once")
    from tare.monitor.screen import Top

    Top(
        run.resolve().name,
        live,
        lambda: _goes_on(run, meta),
        lambda: _where(run),
        lambda: _cost(run),
        _hang(run, meta, live),
        _call_sites(run),
        stay=stay,
        event=event,
    ).run()
    _print(run, meta, live, event)
    return None


def _goes_on(run: Path, meta: Metadata) -> bool:
    return runner.is_going_on(run, meta) and directory.read_meta(run).state == "running"


def _check_filter(run: Path, meta: Metadata) -> None:
    chosen = chosen_filter(meta.options.monitor)
    if chosen and not {"statistics", "histogram"} & set(names_of_filters(chosen)):
        raise CommandError(
            f"tare top shows the filters statistics and histogram, and {run} has {chosen}: "
            f"tare sql {run} 'SELECT * FROM reductions' shows that"
        )


def _now_ns(run: Path, meta: Metadata) -> int | None:
    """The Unix time; None if the run has ended, of which the last rounds are shown."""
    return time.time_ns() if _goes_on(run, meta) else None


def _shown(live: Live, activities: Sequence[Activity], event: str | None) -> tuple[Kind, str] | None:
    """The event whose histograms are shown: the chosen one, or the one with most time now that has any."""
    known = live.columns.events()
    if event is None:
        first = [(activity.kind, activity.event) for activity in activities] + known
        return next((each for each in first if each in known), None)
    found = next((each for each in known if each[1] == event), None)
    if found is None and live.last is not None:
        from tare.monitor.history import hint

        names = {name for _, name in known}
        said = hint(event, names) if names else ": its filter gives no histograms"
        raise CommandError(f"no round has a histogram of '{event}'{said}")
    return found


def _print(run: Path, meta: Metadata, live: Live, event: str | None) -> None:
    from tare.monitor import heat
    from tare.reporters import live as reporter
    from tare.reporters.console import console

    out = console()
    now_ns = _now_ns(run, meta)
    if now_ns is None:
        out.line(f"{run} has ended.")
    activities = live.activities(now_ns)
    silent_ns = 0 if now_ns is None else live.silence_ns(now_ns)
    reporter.show(out, run, live.rounds, live.last, activities, silent_ns)
    for line in of_nodes_alone(live.files):
        out.paragraph(line, "! ")
    if shown := _shown(live, activities, event):
        shades = heat.SHADES if out.draws else heat.PLAIN_SHADES
        reporter.show_heat(out, heat.text_lines(*shown, live.columns.of(*shown), shades))


def _histogram(live: Live, activities: Sequence[Activity], event: str | None) -> dict[str, Any] | None:
    from tare import _native

    shown = _shown(live, activities, event)
    if shown is None:
        return None
    rounds = [
        {
            "round": column.round,
            "time_ns": column.time_ns,
            "bins": [
                {"low": column.bins.low(i), "high": column.bins.low(i + 1), "ranks": ranks}
                for i, ranks in enumerate(column.bins.counts)
            ],
        }
        for column in live.columns.of(*shown)
    ]
    return {"event": shown[1], "kind": shown[0], "metric": _native.main_metric(shown[0]), "rounds": rounds}


def _write_json(run: Path, meta: Metadata, live: Live, event: str | None) -> None:
    last, activities = live.last, live.activities(_now_ns(run, meta))
    content: dict[str, Any] = {
        "going_on": runner.is_going_on(run, meta),
        "rounds": live.rounds,
        "round": last.round if last else None,
        "time_ns": last.first_ns if last else None,
        "delay_ns": last.delay_ns if last else None,
        "ranks": live.ranks,
        "lost_ranks": str(live.lost_ranks) or None,
        "taken": live.taken,
        "lost": live.lost,
        "warnings": of_nodes_alone(live.files),
        "histogram": _histogram(live, activities, event),
        "rows": [vars(activity) for activity in activities],
    }
    print_json(SCHEMA, run, content)


def _where(run: Path) -> str:
    """What `tare where` prints."""
    import subprocess

    command = programs.tare("where", str(run))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout or done.stderr or f"tare where ended ({units.ending(done.returncode)})\n"


def _call_sites(run: Path) -> Callable[[], str]:
    """What goes on by call site, since it was asked last; may take a second."""
    from tare.monitor.call_sites import CallSites, of_run
    from tare.reporters import live as reporter
    from tare.runs.run import open_run

    sites = CallSites(lambda: of_run(open_run(run)))

    def text() -> str:
        try:
            return "\n".join(reporter.site_lines(sites.now()))
        except (TareError, OSError) as error:
            return str(error)

    return text


def _hang(run: Path, meta: Metadata, live: Live) -> Callable[[], str]:
    """What to say of ranks that hang; may take a second."""
    from tare.commands.hanging import Hanging
    from tare.monitor.alerts import HANGS_AFTER_NS

    hanging = Hanging(run, live, has_sources=bool(meta.options.sources))

    def verdict() -> str:
        found = hanging.verdict(HANGS_AFTER_NS)
        return found.message if found else ""

    return verdict


def _cost(run: Path) -> str:
    """What monitoring costs the ranks."""
    from tare.analysis.budget import base_of_cost
    from tare.runs.run import open_run

    with suppress(TareError, OSError):
        opened = open_run(run)
        cost = opened.total_cost()
        mean = units.duration(cost.offload_ns / max(cost.offloads, 1))
        waits = f", {units.duration(cost.offload_wait_ns)} of it waiting" if cost.offload_wait_ns else ""
        return (
            f"monitoring: {units.number_of(cost.offloads, 'offload')}, {mean} each{waits}; all measuring "
            f"{units.percent(cost.net_share)} of {base_of_cost(opened)}"
        )
    return ""
