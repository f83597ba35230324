"""`tare import`: traces of other tools as runs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from tare import streams, units
from tare.commands import new_output
from tare.options import Argument
from tare.runs.archive import refuse_existing


def import_trace(
    trace: Annotated[
        Path,
        Argument(
            "TRACE",
            "An OTF2 archive: its anchor file (traces.otf2), or the directory of that. Or a trace of LiTL.",
        ),
    ],
    output: Annotated[
        Path | None,
        new_output("RUN", "The run directory to make; must be new. By default here, named after the trace."),
    ] = None,
) -> None:
    """Make a run of a trace that another tool has recorded (docs/import.md).

    Example: tare import scorep-trace/traces.otf2 -o app-scorep
    """
    from tare.runs import imported

    if imported.is_litl(trace):
        made = output or Path(f"{trace.stem}-imported")
        with _new(made):
            events = imported.import_litl(trace, made)
        streams.say(
            f"{made}: {units.number_of(events.events, 'event')} of "
            f"{units.number_of(events.threads, 'thread')}"
        )
        return
    anchor = imported.anchor_of(trace)
    made = output or Path(f"{anchor.resolve().parent.name}-imported")
    with _new(made):
        done = imported.import_otf2(anchor, made)
    if done.unfinished:
        regions = units.number_of(done.unfinished, "region is", "regions are")
        streams.tell(f"tare: {regions} never left in the trace; the end is missing")
    streams.say(
        f"{made}: {units.number_of(done.calls, 'MPI call')} of "
        f"{units.number_of(done.processes, 'process', 'processes')}"
    )


@contextmanager
def _new(made: Path) -> Iterator[None]:
    """What becomes a run, or nothing."""
    refuse_existing(made)
    try:
        yield
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
