"""`tare top`: what a run does now."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tare import units
from tare.commands import Json, RunDirectory
from tare.errors import CommandError, TareError
from tare.options import Option
from tare.runs import directory, runner

if TYPE_CHECKING:
    from tare.monitor.live import Live
    from tare.runs.metadata import Metadata

SCHEMA = "tare.top/1"


def top(
    run: RunDirectory,
    stay: Annotated[bool, Option("--stay", help="Do not end when the run has ended.")] = False,
    once: Annotated[bool, Option("--once", help="Print what there is now, and end.")] = False,
    json: Json = False,
) -> None:
    """Show what a run that is monitored does now.

    For runs of tare run --monitor (docs/monitoring.md). Needs Textual, unless --once or --json is given.
    Keys: w shows where the ranks are, p pauses, q ends.

    Example: tare top app-20260131-120000
    """
    from tare import _native
    from tare.monitor.live import Live

    meta = directory.read_meta(run, _native.FORMAT_VERSION)
    if not meta.options.monitor and not any(run.glob("monitor-*.tare")):
        raise CommandError(f"{run} is not monitored: start it with tare run --monitor -- COMMAND")
    filtered = [part for part in (meta.options.monitor or "").split(",") if part.startswith("filter=")]
    if filtered and filtered != ["filter=statistics"]:
        raise CommandError(
            f"tare top shows the filter statistics, and {run} has {filtered[0].removeprefix('filter=')}: "
            f"tare sql {run} 'SELECT * FROM reductions' shows that"
        )
    live = Live(run)
    if json:
        live.update()
        return _write_json(run, meta, live)
    if once or not sys.stdout.isatty():
        live.update()
        return _print(live)
    try:
        from tare.monitor.screen import Top
    except ImportError as error:
        from tare.packages import how_to_install

        raise CommandError(
            f"tare top needs textual: {how_to_install(['textual'])}; without it: tare top --once"
        ) from error
    Top(
        run.resolve().name,
        live,
        lambda: (
            runner.is_going_on(run, meta)
            and directory.read_meta(run, _native.FORMAT_VERSION).state == "running"
        ),
        lambda: _where(run),
        lambda: _cost(run),
        _hang(run, live),
        stay=stay,
    ).run()
    _print(live)
    return None


def _print(live: Live) -> None:
    from tare.reporters import live as reporter
    from tare.reporters.console import console

    reporter.show(console(), live.rounds, live.last, live.activities())


def _write_json(run: Path, meta: Metadata, live: Live) -> None:
    from tare.reporters import json as reporter

    last = live.last
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
        "rows": [vars(activity) for activity in live.activities()],
    }
    reporter.write(sys.stdout, SCHEMA, run, content)


def _where(run: Path) -> str:
    """What `tare where` prints."""
    import subprocess

    done = subprocess.run(
        [sys.executable, "-m", "tare", "where", str(run)], capture_output=True, text=True, check=False
    )
    return done.stdout or done.stderr


def _hang(run: Path, live: Live) -> Callable[[], str]:
    """What to say of ranks that hang; may take a second."""
    from tare.commands.hanging import Hanging
    from tare.monitor.alerts import HANGS_AFTER_NS

    hanging = Hanging(run, live)

    def verdict() -> str:
        found = hanging.verdict(HANGS_AFTER_NS)
        return found.message if found else ""

    return verdict


def _cost(run: Path) -> str:
    """What monitoring costs the ranks."""
    from tare.analysis import ranks
    from tare.runs.run import open_run

    with suppress(TareError, OSError):
        cost = ranks.total_cost(open_run(run).processes)
        mean = units.duration(cost.offload_ns / max(cost.offloads, 1))
        waits = f", {units.duration(cost.offload_wait_ns)} of it waiting" if cost.offload_wait_ns else ""
        return (
            f"monitoring: {cost.offloads:,} offloads, {mean} each{waits}; all measuring "
            f"{units.percent(cost.net_share)} of net time"
        )
    return ""
